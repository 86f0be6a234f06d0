"""lab/recall_moves.py and lab/recall_curves.py: what one switch changes is said rightly, and curves are what was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memkit
from memkit import lab
from memkit.errors import NotFound
from memkit.lab.evaluate_retrieval import answers, row
from memkit.lab.recall_curves import Told, baselines
from memkit.lab.retrieval_rivals import by_recipe
from memkit.lab.retrieval_sets import Collection, Question
from memkit.read.recipes import Fusion

SHOP = memkit.Scope(workspace="shop")
QUESTION = "How many times is a failed payment retried after a payment timeout, and when do we deploy?"


@pytest.fixture(scope="module")
def kit():
    with memkit.open() as found:
        found.remember("timeout", "The payment timeout is 30 seconds.", scope=SHOP)
        found.remember("retries", "A failed payment is retried 3 times.", scope=SHOP)
        found.remember("deploy", "We deploy on Tuesday and Thursday, never on Friday.", scope=SHOP)
        found.remember("zh", "支付超时是三十秒。", scope=SHOP)
        yield found


def told(before: lab.Ask, after: lab.Ask, kit: memkit.Kit) -> list[tuple[str, int | None, int | None, str, str]]:
    return [(move.key, move.before, move.after, move.how, move.why) for move in lab.moves(before.of(kit), after.of(kit))]


def test_what_entered_and_what_left_says_what_stood_against_it(kit):
    two = lab.Ask(QUESTION, SHOP, 31)
    assert told(two, lab.flipped(two, "the question as one need"), kit) == [
        ("retries", 1, 1, "stays", ""),
        ("timeout", None, 2, "entered", "before: OVER_BUDGET"),
        ("deploy", 2, None, "left", "now: OVER_BUDGET"),
    ]


def test_what_changed_places_is_up_or_down(kit):
    first, second = (lab.Ask(words, SHOP, 100, memkit.TFIDF) for words in ("timeout retried retried", "timeout timeout retried"))
    assert told(first, second, kit) == [("timeout", 2, 1, "up", ""), ("retries", 1, 2, "down", "")]


def test_what_was_not_even_found_says_so(kit):
    assert told(lab.Ask("payment", SHOP, 100), lab.Ask("deploy", SHOP, 100), kit) == [
        ("deploy", None, 1, "entered", "before: not found"),
        ("timeout", 1, None, "left", "now: not found"),
        ("retries", 2, None, "left", "now: not found"),
    ]


@given(
    st.sampled_from([QUESTION, "timeout 超时", "deploy", "nothing of this", "", "Which branch am I on?"]),
    st.sampled_from(list(lab.SWITCHES)),
    st.integers(0, 60),
)
@settings(max_examples=60, deadline=None)
def test_places_before_and_after_are_those_of_the_two_recalls(kit, query, switch, budget):
    first = lab.Ask(query, SHOP, budget)
    before, after = first.of(kit), lab.flipped(first, switch).of(kit)
    found = lab.moves(before, after)
    assert {move.id: move.before for move in found if move.before} == {hit.memory.id: n for n, hit in enumerate(before.hits, 1)}
    assert {move.id: move.after for move in found if move.after} == {hit.memory.id: n for n, hit in enumerate(after.hits, 1)}
    assert all(move.why for move in found if move.how in ("entered", "left"))
    assert {(move.id, move.how) for move in lab.moves(before, before)} == {(hit.memory.id, "stays") for hit in before.hits}


def test_every_switch_changes_one_thing_and_is_known_by_name():
    first = lab.Ask("why?", SHOP, 100, memkit.THOROUGH)
    changes = {name: lab.flipped(first, name) for name in lab.SWITCHES}
    assert all(replace(one, recipe=first.recipe, budget=first.budget) == first for one in changes.values())
    assert {name for name, one in changes.items() if one == first} == {"also groups of characters"}  # THOROUGH has them already
    assert lab.flipped(lab.Ask("why?", SHOP, 100), "also groups of characters").recipe.weights == memkit.THOROUGH.weights
    with pytest.raises(NotFound, match="no switch 'louder'; there are: half the budget"):
        lab.flipped(first, "louder")


@pytest.mark.parametrize("recipe", [*lab.RECIPES.values(), *(lab.flipped(lab.Ask("?", SHOP, 9), name).recipe for name in lab.SWITCHES)])
def test_the_code_of_a_recipe_makes_that_recipe(recipe):
    assert eval(lab.recipe_code(recipe), {"memkit": memkit, "replace": replace}) == recipe


def test_the_code_of_a_recipe_of_ones_own_makes_it_too():
    mine = memkit.Recipe("mine", weights={"bm25": 1.0, "names": 0.5}, fusion=Fusion.RANK, neighbours=0.25)
    assert eval(lab.recipe_code(mine), {"memkit": memkit, "replace": replace}) == mine


def test_what_is_looked_for_are_the_needs_and_terms_that_recall_uses(kit):
    found = lab.looked_for("支付超时? Which branch am I on?", memkit.BALANCED)
    assert [(need.text, need.call) for need in found] == [
        ("支付超时", None),
        ("Which branch am I on", "kit.state.get('branch', scope=scope)"),
    ]
    assert kit.recall("支付超时? Which branch am I on?", scope=SHOP, budget=100).elsewhere == (found[1].call,)
    assert set(kit.recall("支付超时", scope=SHOP, budget=100, recipe=memkit.TFIDF).hits[0].parts) == set(found[0].terms)
    assert [need.call for need in lab.looked_for("Which branch am I on?", memkit.TFIDF)] == [None]


def test_a_recipe_whose_model_is_absent_is_not_called_installed(monkeypatch):
    assert all(lab.is_installed(recipe) for recipe in (memkit.TFIDF, memkit.BALANCED, memkit.THOROUGH))
    monkeypatch.setattr("memkit.lab.recall_moves.find_spec", lambda name: None)
    assert [name for name, recipe in lab.RECIPES.items() if not lab.is_installed(recipe)] == ["SEMANTIC"]


# --- measured


@pytest.fixture(scope="module")
def few() -> Collection:
    found = lab.retrieval.own_set(12)
    assert {question.kind for question in found.questions} >= {"answer", "unrelated"}
    return found


def test_figures_are_those_of_the_evaluation(few):
    (asked,) = [one for one in lab.retrieval.ask(few, [memkit.BALANCED]) if one.rival == "memkit balanced"]
    figures = row("balanced", "all", answers(few, by_recipe(memkit.BALANCED)(few))).values
    curve, budgets = lab.retrieval.recall_curve(asked.answers), lab.retrieval.budget_curve(asked.answers)
    assert round(curve[10], 4) == figures["recall@10"][0] and round(budgets[500], 4) == figures["in 500"][0]
    table = lab.retrieval.table([asked])["memkit balanced"]
    assert round(table["noise"], 4) == figures["noise"][0] and round(table["wrong"], 4) == figures["wrong"][0]


def test_curves_never_fall_and_the_baselines_are_what_they_are(few):
    told = {name: Told(name, tuple(answers(few, made(few)))) for name, made in baselines().items()}
    for one in told.values():
        for group in ("all", "en", "zh", "mixed"):
            for curve in (lab.retrieval.recall_curve(one.of(group)), lab.retrieval.budget_curve(one.of(group))):
                assert list(curve.values()) == sorted(curve.values())
    assert set(lab.retrieval.recall_curve(told["empty"].answers).values()) == {0.0}
    assert lab.retrieval.recall_curve(told["full dump"].answers, (10_000,)) == {10_000: 1.0}


def test_a_threshold_of_nothing_keeps_all_and_one_of_everything_keeps_little(few):
    found = lab.retrieval.thresholds(few, [0.0, 1.0])
    assert found[0.0][0] == 1.0 and found[0.0][1] > found[1.0][1] == 0.0 and found[1.0][0] < 0.5


def test_a_threshold_is_judged_as_the_evaluation_judges_it(few):
    shown = answers(few, by_recipe(memkit.BALANCED)(few))
    kept = [bool(one.shown) for one in shown if one.question.gold]
    assert lab.retrieval.thresholds(few, [memkit.BALANCED.coverage])[memkit.BALANCED.coverage][0] == sum(kept) / len(kept)


def test_no_question_gives_no_share():
    only = Told("empty", (*answers(Collection("none", (), (Question("?", frozenset(), "stale", "en"),), len), lambda question: ()),))
    assert lab.retrieval.table([only])["empty"] == {"recall@1": 0.0, "recall@5": 0.0, "wrong": 0.0, "noise": 0.0}
