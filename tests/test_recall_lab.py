"""The recall lab without a browser: what it shows is what recall answered, and everything hostile is shown as text."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from IPython.core.events import EventManager
from recalls import PLACES, PROD, QUESTION, SHOP, asked_kit
from views import Reader

import memkit
from memkit import lab as course
from memkit.errors import NotFound, Refused
from memkit.lab.retrieval_sets import Question
from memkit.widgets.markup import LIVE, STATIC
from memkit.widgets.recall_curves import RecallCurves
from memkit.widgets.recall_lab import RecallLab


@pytest.fixture
def kit():
    with asked_kit() as found:
        yield found


@pytest.fixture
def lab(kit):
    found = RecallLab(kit, PLACES, query=QUESTION, budget=60, watch=False)
    yield found
    found.close()


def keys(lab: RecallLab) -> list[str]:
    return [hit.memory.key for hit in lab.recall.hits]


def words(html: str) -> str:
    """Return what a reader sees of HTML, on one line."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


# --- what is shown


def test_it_shows_hits_with_parts_skipped_with_reasons_and_what_was_looked_for(lab, kit):
    assert lab.recall == kit.recall(QUESTION, scope=PROD, budget=60)
    assert keys(lab) == ["oncall", "runbook", "retries"]
    assert "3 hits, 50 of 60 tokens. 1 skipped: 1 STALE_SOURCE." in words(lab.status.value)
    for hit in lab.recall.hits:
        assert f"{hit.score:.3f} =" in lab.returned.value and hit.memory.content in lab.returned.value
        assert all(f"+{value:.3f} {name}" in words(lab.returned.value) for name, value in hit.parts.items())
    assert "&#x27;30&#x27; became &#x27;45&#x27;" in lab.left_out.value
    assert words(lab.needs.value) == "What is the payment timeout : payment timeout Who keeps the rota : keep rota"


def test_the_parts_drawn_add_up_to_the_score_however_many_there_are(lab, kit):
    kit.remember("many", "alpha beta gamma delta epsilon zeta eta theta iota", scope=PROD)
    lab.ask("alpha beta gamma delta epsilon zeta eta theta iota", 100)
    (hit,) = lab.recall.hits
    drawn = [float(sign + value) for sign, value in re.findall(r"([+−])(\d\.\d{3}) ", words(lab.returned.value).replace("−", "-"))]
    assert len(hit.parts) == 9 and len(drawn) == 7 and "3 more" in lab.returned.value
    assert sum(drawn) == pytest.approx(hit.score, abs=0.004)


def test_a_part_that_takes_away_is_drawn_with_its_sign():
    clock = course.clock("2026-03-02T09:00+00:00")
    with asked_kit(clock) as kit:
        kit.remember("sale", "A longer timeout cured the sale.", scope=SHOP, kind="experience", task="a sale", verification="seen")
        lab = RecallLab(kit, PLACES, query="cured the sale", watch=False)
        assert "−" not in words(lab.returned.value) and "today" in lab.returned.value
        clock.advance(days=180)
        lab.refresh()
        assert f"−{-lab.recall.hits[0].parts['(freshness)']:.3f} (freshness)" in words(lab.returned.value)
        assert "180 days" in lab.returned.value
        lab.close()


def test_the_budget_is_drawn_in_pieces_and_what_is_left(lab):
    pieces = [int(piece) for piece in words(lab.returned.value).split(" left")[0].split()]
    assert pieces == [*(hit.tokens for hit in lab.recall.hits), 60 - lab.recall.tokens]
    lab.tokens.value = 0
    assert (lab.recall.hits, lab.recall.tokens) == ((), 0)
    assert "A budget of 0 gives nothing, always." in lab.returned.value and "Nothing is returned." in lab.returned.value
    assert "OVER_BUDGET" in lab.status.value


def test_a_question_about_state_says_whom_to_ask(lab):
    lab.question.value = "Which branch am I on?"
    assert lab.recall.elsewhere == ("kit.state.get('branch', scope=scope)",)
    assert "kit.state.get(&#x27;branch&#x27;, scope=scope)" in lab.needs.value
    assert "0 hits, 0 of 60 tokens. Nothing skipped. Asked of state:" in words(lab.status.value)


def test_chinese_is_looked_for_and_found(lab):
    lab.question.value = "退款超时"
    assert keys(lab) == ["退款"]
    assert "超时" in lab.needs.value and "+0." in words(lab.returned.value)


# --- changing one thing


def test_place_budget_and_recipe_reach_recall(lab, kit):
    lab.place.value = "shop"
    assert lab.recall == kit.recall(QUESTION, scope=SHOP, budget=60) and set(keys(lab)) == {"oncall", "runbook"}
    lab.place.value = "prod"
    lab.how.value = "TFIDF"
    assert lab.recall == kit.recall(QUESTION, scope=PROD, budget=60, recipe=memkit.TFIDF)
    assert lab.error == ""
    lab.tokens.value = 15
    assert lab.recall.tokens <= 15 and "OVER_BUDGET" in lab.left_out.value


@pytest.mark.parametrize("switch", list(course.SWITCHES))
def test_a_switch_compares_the_two_lists_and_is_flipped_back(lab, kit, switch):
    before = lab.recall
    lab.switched.value = switch
    flipped = course.flipped(lab.asked, switch)
    assert lab.recall == flipped.of(kit) and lab.moves == course.moves(before, lab.recall)
    assert all(move.key in lab.changed.value for move in lab.moves) and switch in lab.changed.value
    lab.switched.value = ""
    assert (lab.recall, lab.moves) == (before, ())
    assert "Flip a switch" in lab.changed.value


def test_half_the_budget_says_what_left_and_why(lab):
    lab.flip("half the budget")
    assert [(move.key, move.before, move.after, move.why) for move in lab.moves] == [
        ("oncall", 1, 1, ""),
        ("retries", 3, 2, ""),
        ("runbook", 2, None, "now: OVER_BUDGET"),
    ]
    assert "✗ left" in lab.changed.value and "now: OVER_BUDGET" in lab.changed.value


def test_the_calls_shown_can_be_run_and_give_what_is_shown(lab, kit):
    names = {"kit": kit, "memkit": memkit, "replace": replace, **PLACES}
    for switch in ("", *course.SWITCHES):
        lab.flip(switch)
        assert eval(lab.call.splitlines()[-1], names) == lab.recall
        assert len(lab.call.splitlines()) == 1 + bool(switch)
    lab.flip("")
    assert lab.call == f"kit.recall({QUESTION!r}, scope=prod, budget=60, recipe=memkit.BALANCED)"
    assert "The SQL it ran" not in lab.call_area.value
    lab.tokens.value = 61
    assert "The SQL it ran" in lab.call_area.value


# --- saying no


def test_a_recipe_that_is_not_installed_is_refused_in_view_and_the_former_one_stays(lab, monkeypatch):
    before = lab.recall

    def absent(*arguments):
        raise Refused("NOT_INSTALLED", "wordllama is not installed: pip install 'memkit[embedding]'")

    monkeypatch.setattr("memkit.read.dense._installed", absent)
    monkeypatch.setattr("memkit.read.dense._model", absent, raising=False)
    lab.how.value = "SEMANTIC"
    assert isinstance(lab.failure, Refused) and "memkit[embedding]" in lab.error_area.value
    assert (lab.recipe, lab.how.value, lab.recall) == ("BALANCED", "BALANCED", before)
    lab.how.value = "TFIDF"
    assert lab.error == ""


def test_what_is_not_installed_is_marked(kit, monkeypatch):
    monkeypatch.setattr("memkit.lab.recall_moves.find_spec", lambda name: None)
    lab = RecallLab(kit, PLACES, watch=False)
    assert [label for label, _ in lab.how.options] == ["TFIDF", "BALANCED", "THOROUGH", "SEMANTIC (not installed)"]
    lab.close()


def test_what_is_not_there_is_said_and_nothing_changes(lab, kit):
    for action, name in ((lab.use, "BEST"), (lab.look_from, "moon"), (lab.flip, "louder")):
        with pytest.raises(NotFound, match=f"no .* {name!r} here; there are: "):
            action(name)
    assert (lab.recipe, lab.where, lab.switch) == ("BALANCED", "prod", "")
    with pytest.raises(Refused, match="pass at least one"):
        RecallLab(kit, {})


def test_a_recipe_of_ones_own_can_be_compared(kit):
    mine = memkit.Recipe("mine", weights={"names": 1.0})
    lab = RecallLab(kit, PLACES, query="prod.cfg v1.2", recipe="mine", recipes={"mine": mine}, watch=False)
    assert lab.call.endswith("recipe=memkit.Recipe('mine', weights={'names': 1.0}))")
    lab.close()


# --- living


def test_it_looks_again_after_each_cell_until_it_is_closed(kit, monkeypatch):
    events = EventManager(None, {"post_run_cell": lambda result: None})
    monkeypatch.setattr("memkit.widgets.follow.get_ipython", lambda: SimpleNamespace(events=events))
    lab = RecallLab(kit, PLACES, query=QUESTION)
    kit.sources["prod.cfg"] = "timeout=30\nretries=3\n"
    assert "timeout" not in keys(lab)
    events.trigger("post_run_cell", None)
    assert "timeout" in keys(lab) and "timeout" in lab.returned.value
    lab.close()
    assert events.callbacks["post_run_cell"] == []


def test_a_closed_store_ends_the_following_without_an_error():
    kit = asked_kit()
    lab = RecallLab(kit, PLACES, query=QUESTION, watch=False)
    kit.close()
    lab.guard(lab._look_again)
    assert lab.error == ""
    lab.close()


def test_running_the_cell_again_closes_the_former_lab(kit):
    first, second = (RecallLab(kit, PLACES, watch=False) for _ in range(2))
    assert (first._closed, second._closed) == (True, False)
    second.close()


# --- the view without a kernel


def read(markup: str) -> Reader:
    reader = Reader()
    reader.feed(markup)
    assert reader.open == []
    return reader


def test_the_snapshot_survives_a_sanitiser_and_says_everything_in_words(lab):
    lab.flip("half the budget")
    bundle = lab._repr_mimebundle_()
    reader = read(bundle["text/html"])
    assert reader.seen <= {"div", "b", "i", "br", "span", "code", "pre", "table", "tr", "th", "td"}
    assert {name for name, _ in reader.attributes} <= {"style", "title"}
    assert "var(" not in " ".join(value for name, value in reader.attributes if name == "style")
    for said in ("STALE_SOURCE", "OVER_BUDGET", "✗ left", "half the budget", "kit.recall(", "payment", "VALID", "today"):
        assert said in bundle["text/html"]
    lines = bundle["text/plain"].splitlines()
    assert lines[0].startswith(f"{QUESTION!r} in prod, memkit.BALANCED: ")
    assert "with half the budget:" in lines and "  skipped timeout" in bundle["text/plain"]


def test_hostile_text_and_names_are_shown_as_text(kit):
    attack = '<img src=x onerror="alert(1)">'
    scope = memkit.Scope(workspace=attack)
    kit.remember(attack, f"reply {attack}\u202e", scope=scope)
    lab = RecallLab(kit, {attack: scope}, query=attack, watch=False)
    lab.flip("half the budget")
    shown = [area.value for area in (lab.status, lab.needs, lab.returned, lab.left_out, lab.changed, lab.call_area)]
    for markup in (lab.snapshot(), *shown):
        assert "<img" not in markup and "\u202e" not in markup
        read(markup)
    lab.flip("")
    assert lab.recall.hits and "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in lab.returned.value
    lab.close()


def test_a_secret_in_a_question_is_not_kept_in_the_snapshot(lab):
    secret = "ghp_" + "Ab3dEf6h" * 4 + "Zz19"
    lab.ask(f"log in with {secret}")
    assert secret in lab.call
    assert secret not in lab.snapshot() + lab.as_text() + lab.needs.value
    assert "[redacted:" in lab.snapshot()


def test_live_and_static_views_differ_in_paint_alone(lab):
    bare = re.sub(r' style="[^"]*"', "", lab.returned.value)
    assert bare in re.sub(r' style="[^"]*"', "", lab.snapshot())
    assert LIVE.text not in lab.snapshot() and STATIC.text in lab.snapshot()


# --- curves


@pytest.fixture(scope="module")
def told():
    questions = [
        Question("who?", frozenset({"a"}), "answer", "en"),
        Question("谁？", frozenset({"b"}), "answer", "zh", wrong=frozenset({"a"})),
        Question("?", frozenset(), "unrelated", "en"),
    ]
    answers = {"empty": ((), (), ()), "memkit balanced": (("b", "a"), ("b",), ()), "full dump": (("a", "b"),) * 3}
    tokens = {"a": 30, "b": 40}
    return [
        course.retrieval.Told(
            rival,
            tuple(
                course.retrieval.Answer(one, shown, tuple(map(tokens.get, shown))) for one, shown in zip(questions, all_shown, strict=True)
            ),
        )
        for rival, all_shown in answers.items()
    ]


def test_curves_draw_what_was_measured_for_each_group_and_figure(told):
    curves = RecallCurves(told)
    assert curves.curves["memkit balanced"] == {1: 0.5, 2: 1.0, 3: 1.0, 5: 1.0, 10: 1.0}
    assert words(curves.drawn.value).startswith("first 1 first 2 first 3 first 5 first 10 wrong noise empty 0.00")
    curves.asked.value = "zh"
    assert curves.curves["full dump"] == {1: 0.0, 2: 1.0, 3: 1.0, 5: 1.0, 10: 1.0}
    assert "full dump 0.00 1.00 1.00 1.00 1.00 1.00 0.00" in re.sub(r"&nbsp; ?", "", words(curves.drawn.value))
    curves.chosen.value = "recall within a budget"
    assert curves.curves["full dump"] == {50: 0.0, 100: 1.0, 200: 1.0, 500: 1.0, 1_000: 1.0, 2_000: 1.0}
    assert "within so many tokens" in curves.drawn.value and "2,000" in curves.drawn.value and curves.error == ""
    with pytest.raises(NotFound, match="'fr' cannot be drawn"):
        curves.show(group="fr")
    curves.close()


def test_the_code_of_curves_makes_them_and_the_snapshot_is_whole(told):
    curves = RecallCurves(told, group="en", figure="recall within a budget")
    assert eval(curves.call, {"lab": course, "told": told}) == curves.curves
    bundle = curves._repr_mimebundle_()
    reader = read(bundle["text/html"])
    assert {name for name, _ in reader.attributes} <= {"style", "title"} and "var(" not in bundle["text/html"]
    assert "wrong 0.00 noise 1.00" in bundle["text/plain"] and "2 questions (en)" in bundle["text/html"]
    with pytest.raises(Refused, match="there are no answers"):
        RecallCurves([])
    curves.close()
