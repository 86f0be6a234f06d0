"""lab/evaluate_retrieval.py and its sets: the figures are what the lines say, and memkit reaches what it promises on them."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from memkit.cli import main
from memkit.errors import Refused
from memkit.lab import evaluate_retrieval as evaluation
from memkit.lab import retrieval_rivals as rivals
from memkit.lab.retrieval_sets import Collection, Line, Question, conversations, own, spoiled
from memkit.read.recipes import BALANCED, SEMANTIC, TFIDF, THOROUGH, Recipe

LOCOMO = Path(__file__).parents[1].parent / "shared" / "data" / "locomo_dev.json"

GUARDED = [BALANCED, THOROUGH, *([SEMANTIC] if find_spec("wordllama") else [])]

TURNS = [
    {"speaker": "Ann", "dia_id": "D1:1", "text": "Where is the cat?"},
    {"speaker": "Bob", "dia_id": "D1:2", "text": "On the roof", "blip_caption": "a grey cat"},
    {"speaker": "Ann", "dia_id": "D1:3", "text": "I bake bread"},
]
ASKED = [
    {"question": "What does Ann bake?", "evidence": ["D1:3"], "category": 1},
    {"question": "Where is the cat?", "evidence": ["D1:1; D1:2"], "category": 2},
    {"question": "Lost?", "evidence": ["D9:9"], "category": 5},
]


def written(folder: Path) -> Path:
    path = folder / "talk.json"
    path.write_text(json.dumps([{"conversation": {"session_1": TURNS, "speaker_a": "Ann"}, "qa": ASKED}]), encoding="utf-8")
    return path


def total(rows: list[evaluation.Row], rival: str) -> dict[str, float]:
    (row,) = [row for row in rows if (row.rival, row.group) == (rival, "all")]
    return {name: found[0] for name, found in row.values.items() if found}


def test_a_conversation_is_read_by_the_protocol(tmp_path: Path) -> None:
    (talk,) = conversations(written(tmp_path))
    assert [line.text for line in talk.lines][1] == "Bob: On the roof [image: a grey cat]"
    assert [(question.text, sorted(question.gold)) for question in talk.questions] == [
        ("What does Ann bake?", ["D1:3"]),
        ("Where is the cat?", ["D1:1", "D1:2"]),
    ]
    assert talk.tokens("five!") == 2


def test_what_is_no_conversation_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(Refused, match="layout of LoCoMo"):
        conversations(tmp_path / "bad.json")


def test_the_three_baselines_stand_beside_and_each_fails_in_its_own_way() -> None:
    plain = {"empty": rivals.nothing, "full dump": rivals.full_dump, "text file + grep": rivals.text_file}
    rows = evaluation.measure(own(), plain)
    empty, dump, grep = (total(rows, name) for name in plain)
    assert empty["recall@10"] == 0 and empty["noise"] == 0 and empty["empty"] == 1
    assert dump["noise"] == 1 and dump["wrong"] > 0.9 and dump["empty"] == 0
    assert grep["wrong"] > 0.1 and grep["recall@10"] > 0.5
    assert list(plain) == list(rivals.rivals())[:3]


def test_the_default_reaches_its_promise_on_our_own_set_and_shows_nothing_wrong() -> None:
    rows = evaluation.measure(own(), {"balanced": rivals.by_recipe(BALANCED)})
    found = total(rows, "balanced")
    assert found["hit@1"] >= 0.88 and found["hit@5"] >= 0.97 and found["empty"] <= 0.025
    assert found["noise"] <= 0.15 and found["wrong"] == 0


def test_the_default_reaches_its_promise_in_chinese_and_in_mixed_text_alone() -> None:
    (mine,) = own()
    told = evaluation.answers(mine, rivals.by_recipe(BALANCED)(mine))
    found = evaluation.row("balanced", "zh and mixed", [one for one in told if one.question.group in ("zh", "mixed")]).values
    assert found["hit@1"] and found["hit@5"] and found["empty"] and found["noise"] and found["wrong"]
    assert found["hit@1"][0] >= 0.88 and found["hit@5"][0] >= 0.97 and found["empty"][0] <= 0.025
    assert found["noise"][0] <= 0.15 and found["wrong"][0] == 0


@pytest.mark.parametrize("group", ["en", "zh", "mixed"])
def test_the_default_leaves_at_most_one_answer_in_forty_empty_in_each_language_alone(group: str) -> None:
    (mine,) = own()
    told = evaluation.answers(mine, rivals.by_recipe(BALANCED)(mine))
    found = evaluation.row("balanced", group, [one for one in told if one.question.group == group]).values
    assert found["hit@1"] and found["hit@5"] and found["empty"]
    assert found["hit@1"][0] >= 0.88 and found["hit@5"][0] >= 0.97 and found["empty"][0] <= 0.025


@pytest.mark.parametrize("recipe", GUARDED, ids=lambda recipe: recipe.name)
def test_each_recipe_with_a_threshold_stays_quiet_on_unrelated_questions(recipe: Recipe) -> None:
    told = evaluation.measure(own(), {"guarded": rivals.by_recipe(recipe), "open": rivals.by_recipe(replace(recipe, coverage=0.0))})
    guarded, unguarded = total(told, "guarded"), total(told, "open")
    assert guarded["noise"] <= 0.15 < unguarded["noise"] and guarded["empty"] <= 0.025 and unguarded["empty"] == 0


def test_our_own_set_has_every_kind_of_question_in_both_languages() -> None:
    (mine,) = own()
    assert len(mine.lines) >= 150 and len(mine.questions) >= 150
    for group in ("en", "zh"):
        kinds = {question.kind for question in mine.questions if question.group == group}
        assert kinds >= {"answer", "paraphrase", "superseded", "scope", "elsewhere", "stale", "several", "state", "unrelated"}


@pytest.mark.skipif(not LOCOMO.is_file(), reason="the LoCoMo conversations are not beside this checkout")
def test_recall_on_one_conversation_reaches_what_was_measured() -> None:
    talk = conversations(LOCOMO)[:1]
    rows = evaluation.measure(talk, {"tfidf": rivals.by_recipe(TFIDF), "balanced": rivals.by_recipe(BALANCED)})
    exact, default = total(rows, "tfidf"), total(rows, "balanced")
    assert exact["recall@10"] >= 0.57 and default["recall@10"] >= 0.64 and default["in 1000"] >= 0.75
    assert default["recall@10"] > exact["recall@10"]


def gold_in_1000(collections: list[Collection], share: float) -> dict[str, float]:
    told = evaluation.measure([spoiled(one, share) for one in collections], rivals.filling())
    assert {total(told, name).get("wrong", 0) for name in rivals.filling()} == {0}, "neither shows what is stale"
    return {name: total(told, name)["in 1000"] for name in rivals.filling()}


def crowded() -> Collection:
    """Return a conversation in which fifty turns speak of each matter, in equal words but one, and each question asks for one of them."""
    said = [f"{matter}: visit number {number} went well" for number in range(50) for matter in ("roof", "boat", "farm")]
    lines = tuple(Line(f"t{at}", f"t{at}", text, cite=f"talk#lines={at}") for at, text in enumerate(said, 1))
    asked = tuple(Question(f"{lines[at].text.split(':')[0]} visit", frozenset({lines[at].id}), "answer", "en") for at in range(0, 150, 7))
    return Collection("crowded", lines, asked, lambda text: 20, {"talk": "\n".join(said)})


def test_at_30_percent_stale_sources_filling_beats_a_fixed_top_20_checked_afterwards() -> None:
    fresh, stale = gold_in_1000([crowded()], 0.0), gold_in_1000([crowded()], 0.3)
    assert stale["memkit balanced"] == 1.0 > max(fresh["top 20, checked"], stale["top 20, checked"]) > 0
    few = crowded().lines[:20]
    asked = tuple(question for question in crowded().questions if question.gold <= {line.id for line in few})
    told = gold_in_1000([replace(crowded(), lines=few, questions=asked)], 0.3)
    assert told["memkit balanced"] == told["top 20, checked"] == 1.0, "the control: where twenty are all there are, the two are one"


@pytest.mark.skipif(not LOCOMO.is_file(), reason="the LoCoMo conversations are not beside this checkout")
def test_at_30_percent_stale_turns_filling_beats_a_fixed_top_20_on_a_conversation() -> None:
    talk = conversations(LOCOMO)[:1]
    told = gold_in_1000(talk, 0.3)
    assert told["memkit balanced"] >= 0.75 and told["memkit balanced"] - told["top 20, checked"] >= 0.02


def test_stale_turns_need_a_conversation() -> None:
    result = CliRunner().invoke(main, ["eval", "retrieval", "--stale", "0.3"])
    assert result.exit_code == 2 and "name DATA" in result.output


def test_the_command_sets_a_fixed_top_20_beside_filling(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["eval", "retrieval", str(written(tmp_path)), "--stale", "0.34", "--json"])
    assert result.exit_code == 0, result.output
    assert {row["rival"] for row in json.loads(result.output)} == set(rivals.filling())


def test_the_interval_holds_the_mean_and_is_the_same_each_time() -> None:
    values = [0.0, 1.0, 1.0, 0.5] * 10
    assert evaluation.interval(values) == evaluation.interval(values)
    mean, low, high = evaluation.interval(values) or (0, 0, 0)
    assert low < mean == 0.625 < high


def test_the_command_prints_rows_for_a_program(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["eval", "retrieval", str(written(tmp_path)), "--json"])
    assert result.exit_code == 0, result.output
    rows = json.loads(result.output)
    assert {row["rival"] for row in rows} >= {"empty", "full dump", "text file + grep", "memkit tfidf", "memkit balanced"}
    (found,) = [row for row in rows if (row["rival"], row["group"]) == ("memkit balanced", "all")]
    assert found["questions"] == 2 and found["values"]["hit@1"][0] == 1.0


def test_calibration_says_what_it_chose_and_the_default_follows_it() -> None:
    few = evaluation.calibrated(_short(own()[0]), steps=(0.0, BALANCED.coverage, 0.9))
    assert [kept for _, half, kept, _ in few if half == "even"] == sorted(
        [kept for _, half, kept, _ in few if half == "even"], reverse=True
    )
    assert few[0][3] > few[-1][3] == 0.0


def test_the_command_calibrates_each_recipe_that_has_a_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    short = _short(own()[0])
    monkeypatch.setattr(evaluation, "own", lambda: [short])
    monkeypatch.setattr(evaluation, "STEPS", (0.0, 0.2))
    result = CliRunner().invoke(main, ["eval", "retrieval", "--calibrate"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert [line.partition(": ")[0] for line in lines if "largest" in line] == [f"{recipe.name}, chosen" for recipe in GUARDED]
    assert sum("even half: kept" in line for line in lines) == 2 * len(GUARDED)


def _short(collection: Collection) -> Collection:
    return Collection(collection.name, collection.lines, collection.questions[::3], collection.tokens, collection.sources, collection.later)
