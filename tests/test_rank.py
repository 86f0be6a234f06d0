"""read/signals.py, rank.py, links.py, rerank.py, dense.py: every score is the sum of its parts, and each signal does what it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from math import fsum, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memkit
from memkit.read import dense, links, rank, rerank, signals
from memkit.read.analyze import analyze
from memkit.read.index import Document, Partition, View
from memkit.read.recipes import BALANCED, SEMANTIC, TFIDF, THOROUGH, Fusion, Recipe

SHOP = memkit.Scope(workspace="shop")
WORDS = ["timeout", "retry", "cache", "deploy", "payment", "超时", "部署", "缓存策略", "user_id", "v1.2.3", "src/app.py"]
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
needs_model = pytest.mark.skipif(find_spec("wordllama") is None, reason="wordllama is not installed: pip install 'memkit[embedding]'")


def view_of(*texts: str) -> View:
    partition = Partition()
    for number, text in enumerate(texts):
        partition.put(Document(f"m{number:03}", tokens=10), text)
    return View([partition])


def ranked(view: View, question: str, recipe: Recipe, *, texts: tuple[str, ...] = (), order: list[str] | None = None) -> rank.Ranked:
    return rank.rank(view, question, recipe, links.in_order(order or []), lambda: texts)


# --- sums


@given(st.lists(sentences, min_size=1, max_size=8), sentences, st.sampled_from([TFIDF, BALANCED, THOROUGH]), st.sampled_from(Fusion))
@settings(max_examples=40, deadline=None)
def test_every_hit_of_every_recipe_is_the_sum_of_its_parts(texts: list[str], question: str, recipe: Recipe, fusion: Fusion) -> None:
    with memkit.open() as kit:
        for number, text in enumerate(texts):
            kit.remember(f"k{number}", text, scope=SHOP, kind=["fact", "preference"][number % 2])
        found = kit.recall(question, scope=SHOP, budget=10**6, recipe=replace(recipe, fusion=fusion))
        assert [hit.score for hit in found.hits] == [fsum(hit.parts.values()) for hit in found.hits]
        assert [hit.score for hit in found.hits] == pytest.approx(sorted((hit.score for hit in found.hits), reverse=True))


def test_bm25_is_the_published_formula_as_a_share_of_the_most_there_can_be() -> None:
    texts = ("cache cache timeout", "deploy on Friday", "the cache")
    view, terms = view_of(*texts), Counter(analyze("cache deploy zebra"))
    counted = [Counter(analyze(text)) for text in texts]
    typical = sum(map(len, map(analyze, texts))) / 3

    def idf(term: str) -> float:
        df = sum(term in one for one in counted)
        return log(1 + (3 - df + 0.5) / (df + 0.5))

    def score(one: Counter[str]) -> float:
        room = 1.2 * (0.25 + 0.75 * one.total() / typical)
        return sum(idf(term) * one[term] / (one[term] + room) for term in terms) / sum(map(idf, terms))

    found = signals.bm25(view, terms)
    assert found.rows.tolist() == [0, 1, 2] and found.scores.tolist() == pytest.approx([score(one) for one in counted])


def test_two_signals_that_know_a_term_give_it_one_part() -> None:
    view = view_of("cache timeout", "deploy")
    both = ranked(view, "cache", Recipe("both", weights={"tfidf": 0.5, "bm25": 1.0}))
    alone = [ranked(view, "cache", Recipe("one", weights={name: 1.0})).scores[0] for name in ("tfidf", "bm25")]
    assert both.parts([0]) == [(("cach", pytest.approx(0.5 * alone[0] + alone[1])),)]


def test_fusion_by_place_gives_weight_over_sixty_and_the_place() -> None:
    view = view_of("cache cache", "cache and some other words", "deploy")
    found = ranked(view, "cache", Recipe("places", weights={"bm25": 1.0, "tfidf": 2.0}, fusion=Fusion.RANK))
    assert found.parts([0, 1]) == [(("(bm25)", 1 / 61), ("(tfidf)", 2 / 61)), (("(bm25)", 1 / 62), ("(tfidf)", 2 / 62))]


# --- signals


def test_characters_find_a_misspelled_word_that_terms_do_not() -> None:
    texts = ("the deployment window", "a cache")
    assert ranked(view_of(*texts), "deploymnet", Recipe("words", weights={"bm25": 1.0})).rows.tolist() == []
    assert ranked(view_of(*texts), "deploymnet", Recipe("groups", weights={"characters": 1.0}), texts=texts).rows.tolist() == [0]


def test_names_count_whole_identifiers_and_no_words() -> None:
    view = view_of("see src/app.py", "see app", "v1.2 of app")
    found = signals.names(view, Counter(analyze("app src/app.py v1.2")))
    assert 0 in found.rows and 1 not in found.rows and 2 in found.rows


def test_latent_topics_join_words_that_keep_the_same_company() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install 'memkit[course]'")
    view = view_of(
        "car engine wheel", "automobile engine wheel", "car engine", "automobile wheel", "bread flour yeast", "bread yeast", "flour"
    )
    found = dense.latent(view, "car", Counter(["car"]))
    scores = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
    assert scores[0] > 0.2 and scores.get(4, 0.0) < 0.05


@needs_model
def test_the_packaged_embedding_finds_what_shares_no_word_without_any_download() -> None:
    texts = ("The physician was late", "Bread needs yeast")
    found = ranked(view_of(*texts), "doctor", Recipe("meaning", weights={"embedding": 1.0}), texts=texts)
    scores = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
    assert scores[0] > scores.get(1, 0.0)


def test_a_model_that_is_not_installed_is_refused_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    dense.packaged.cache_clear()
    monkeypatch.setattr(dense, "find_spec", lambda name: None)
    with memkit.open() as kit:
        kit.remember("k", "cache", scope=SHOP)
        with pytest.raises(memkit.Refused, match=r"pip install 'memkit\[embedding\]'"):
            kit.recall("cache", scope=SHOP, budget=10, recipe=SEMANTIC)
    dense.packaged.cache_clear()


def test_a_signal_that_does_not_exist_is_refused_by_name() -> None:
    with memkit.open() as kit, pytest.raises(memkit.Refused, match="no signal 'magic'; there are tfidf, bm25"):
        kit.recall("cache", scope=SHOP, budget=10, recipe=Recipe("mine", weights={"magic": 1.0}))


NAN = float("nan")


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": None}, {"weights": {"bm25": "1"}}, {"weights": {"bm25": NAN}}, {"weights": {"bm25": 1e300}}, {"threshold": None},
        {"threshold": NAN}, {"coverage": "x"}, {"neighbours": float("inf")}, {"rerank": NAN}, {"fusion": "magic"}, {"reader": 3},
    ],
)  # fmt: skip
def test_a_recipe_of_anything_but_numbers_is_refused_when_it_is_made(wrong: dict[str, object]) -> None:
    (name,) = wrong
    with pytest.raises(memkit.Refused, match=f"^({name}|bm25) is .*; pass") as refused:
        replace(BALANCED, **wrong)
    assert refused.value.reason == "BAD_RECIPE"


@pytest.mark.parametrize("said", [None, [], [1.0], [NAN] * 2, ["a"] * 2, [1e300] * 2, [1.0] * 3])
def test_a_reader_that_does_not_say_one_number_a_text_is_refused(said: object) -> None:
    with memkit.open() as kit:
        for n in range(2):
            kit.remember(f"k{n}", f"cache {n}", scope=SHOP)
        with pytest.raises(memkit.Refused, match="^of 2 texts the reader found . numbers; it must return one for each") as refused:
            kit.recall("cache", scope=SHOP, budget=100, recipe=replace(BALANCED, reader=lambda question, texts: said))
        assert refused.value.reason == "BAD_READER"
        fine = replace(BALANCED, reader=lambda question, texts: np.ones(len(texts), np.float32))
        assert len(kit.recall("cache", scope=SHOP, budget=100, recipe=fine).hits) == 2


# --- neighbours


def told_in_lines(kit: memkit.Kit, lines: Sequence[str]) -> None:
    """Learn each line of chat.txt; a secret one in another workspace."""
    for number, text in enumerate(lines, 1):
        scope = memkit.Scope(workspace="elsewhere") if text == "secret" else SHOP
        kit.learn(f"line{number}", text, scope=scope, cite=f"chat.txt#lines={number}")


def test_a_neighbour_of_several_matches_is_found_without_a_word_of_the_question_and_only_within_its_source() -> None:
    lines = ["where is the cat?", "on the roof", "the cat is well there", "bread", "butter"]
    with memkit.open(sources={"chat.txt": "\n".join(lines), "other.txt": "the dog sleeps\n"}) as kit:
        told_in_lines(kit, lines)
        kit.learn("other", "the dog sleeps", scope=SHOP, cite="other.txt#lines=1")
        found = {hit.memory.key: hit for hit in kit.recall("cat", scope=SHOP, budget=10**4).hits}
        alone = {hit.memory.key: hit for hit in kit.recall("cat", scope=SHOP, budget=10**4, recipe=replace(BALANCED, neighbours=0)).hits}
        assert found.keys() == {"line1", "line2", "line3"} and alone.keys() == {"line1", "line3"}
        given = (alone["line1"].score + alone["line3"].score) / 2
        assert found["line2"].parts == {"(neighbours)": pytest.approx(given)}
        assert found["line1"].score == pytest.approx(alone["line1"].score + alone["line3"].score / 4)


def test_a_sibling_of_a_single_match_is_not_found_in_a_file_or_in_a_session() -> None:
    lines = ["port = 8080", "theme = dark", "owner = Ann"]
    with memkit.open(sources={"chat.txt": "\n".join(lines)}) as kit:
        told_in_lines(kit, lines)
        kit.record("monday", "user", "We use pnpm for packages. Releases go out on Tuesday.", scope=SHOP)
        for proposal in kit.extract("monday", scope=SHOP):
            kit.admit(proposal)
        for question, key in (("Which port?", "line1"), ("Is pnpm used?", "package-manager")):
            assert [hit.memory.key for hit in kit.recall(question, scope=SHOP, budget=10**4).hits] == [key]
        assert len(kit.check(scope=SHOP)) == 5


def test_a_neighbour_in_another_scope_is_not_found_and_leaves_no_gap() -> None:
    lines = ["where is the cat?", "secret", "on the roof", "secret", "the cat is well there"]
    with memkit.open(sources={"chat.txt": "\n".join(lines)}) as kit:
        told_in_lines(kit, lines)
        found = {hit.memory.key: hit for hit in kit.recall("cat", scope=SHOP, budget=10**4).hits}
        assert found.keys() == {"line1", "line3", "line5"}
        matched = [found[key].score - found[key].parts["(neighbours)"] for key in ("line1", "line5")]
        assert found["line3"].score == pytest.approx(sum(matched) / 2)


# --- enough, and several needs


def test_a_question_of_which_nothing_is_known_gives_nothing_and_says_why() -> None:
    with memkit.open() as kit:
        for number, word in enumerate(["cache", "deploy", "payment", "retry", "long"]):
            kit.remember(f"k{number}", f"the {word} of the shop", scope=SHOP)
        found = kit.recall("How long do marathons through Mongolia usually take?", scope=SHOP, budget=1000)
        assert found.hits == () and [skip.reason for skip in found.skipped] == ["BELOW_THRESHOLD"]
        assert "25%" in found.skipped[0].why
        assert [hit.memory.key for hit in kit.recall("How long?", scope=SHOP, budget=1000).hits] == ["k4"]


def test_each_need_of_a_question_gets_its_share_however_many_match_the_first() -> None:
    with memkit.open() as kit:
        for number in range(20):
            kit.remember(f"cache{number}", f"cache rule number {number} of the cache", scope=SHOP)
        kit.remember("oncall", "Priya keeps the rota", scope=SHOP)
        found = kit.recall("What are the cache rules? Who keeps the rota?", scope=SHOP, budget=33)
        assert "oncall" in [hit.memory.key for hit in found.hits[:2]] and len(found.hits) > 2


def test_where_a_task_stands_is_sent_to_state_and_not_recalled() -> None:
    with memkit.open() as kit:
        kit.remember("branch", "the branch main is protected", scope=SHOP)
        found = kit.recall("Which branch am I on?", scope=SHOP, budget=1000)
        assert found.hits == () and found.elsewhere == ("kit.state.get('branch', scope=scope)",)
        assert [hit.memory.key for hit in kit.recall("Which branch is protected?", scope=SHOP, budget=1000).hits] == ["branch"]


# --- rerank


def test_trust_freshness_use_and_conflict_each_move_a_score_as_said() -> None:
    now = datetime(2026, 7, 1, tzinfo=UTC)
    with memkit.open(clock=lambda: now) as kit:
        memory = kit.remember("k", "cache", scope=SHOP, kind="experience", task="speed up", verification="measured").memory
    assert memory is not None
    later = now + timedelta(days=180)
    assert rerank.changes(memory, (), rerank.Use(), now) == {}
    assert rerank.changes(memory, (), rerank.Use(), later) == {"(freshness)": -0.5}
    assert rerank.changes(memory, (), rerank.Use(confirmed=2), now) == {"(use)": 0.5}
    assert rerank.changes(memory, (), rerank.Use(contradicted=2), now) == {"(use)": -0.5}
    guessed = replace(memory, trust=memkit.Trust.INFERRED, confidence=0.75)
    assert rerank.changes(guessed, (), rerank.Use(), now) == {"(trust)": -0.25}
    assert rerank.changes(memory, (replace(memory, scope="env=prod"),), rerank.Use(), now) == {"(conflict)": -1.0}
    assert rerank.changes(memory, (replace(memory, scope=f"env=prod&{memory.scope}"),), rerank.Use(), now) == {}


def test_a_reader_decides_among_the_best_and_its_part_is_shown() -> None:
    with memkit.open() as kit:
        kit.remember("a", "cache cache", scope=SHOP)
        kit.remember("b", "cache of the second kind", scope=SHOP)
        recipe = replace(BALANCED, reader=lambda question, texts: [float("second" in text) for text in texts])
        found = kit.recall("cache", scope=SHOP, budget=1000, recipe=recipe)
        assert [(hit.memory.key, hit.parts["(reader)"]) for hit in found.hits] == [("b", 1.0), ("a", 0.0)]
        assert kit.recall("cache", scope=SHOP, budget=1000).hits[0].memory.key == "a"


def test_a_name_in_latin_letters_covers_as_much_as_a_word_of_two_characters() -> None:
    shop = view_of("Redis 保存购物车", *(f"note {n}" for n in range(30)))
    by_name, by_word, by_neither = (
        signals.coverage(shop, Counter(analyze(asked))) for asked in ("Redis 缓冲期限", "保存 缓冲期限", "Kafka 缓冲期限")
    )
    assert by_name == pytest.approx(by_word) and by_name > 0.25 and by_neither == 0
    assert signals.coverage(shop, Counter(analyze("保存购物车"))) == pytest.approx(1.0)


def test_coverage_asks_little_of_a_small_store_and_more_of_a_large_one() -> None:
    small, large = view_of("cache"), view_of("cache", *["deploy"] * 100)
    terms = Counter(["cach", "zebra"])
    assert signals.coverage(small, terms) > 0.4 and np.isclose(signals.coverage(large, Counter(["cach"])), 1.0)
