"""Ask memkit's own set of questions and keep what each rival showed, so that any figure can be drawn from it without asking again.

The rivals and the measures are those of `memkit eval retrieval`; a lesson asks every third question, which takes seconds. Left out: the
questions themselves (`retrieval_sets.py`), and drawing (`memkit.widgets`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from memkit.lab.evaluate_retrieval import Answer, answers, recall_at, recall_within
from memkit.lab.retrieval_rivals import Made, by_recipe, rivals
from memkit.lab.retrieval_sets import Collection, filled, own, scope_of
from memkit.read.recipes import BALANCED, TFIDF, THOROUGH, Recipe

KS = (1, 2, 3, 5, 10)
BUDGETS = (50, 100, 200, 500, 1_000, 2_000)
ENOUGH = 200  # tokens: room for any one memory of the set


@dataclass(frozen=True, slots=True)
class Told:
    """What one rival showed for every question it was asked."""

    rival: str
    answers: tuple[Answer, ...]

    def of(self, group: str = "all") -> tuple[Answer, ...]:
        """Return the answers to the questions of a group: "en", "zh", "mixed", or "all"."""
        return tuple(one for one in self.answers if group in ("all", one.question.group))


def own_set(every: int = 1, first: int = 0) -> Collection:
    """Return memkit's own set, with every n-th of its questions, from the first one given on.

    >>> len(own_set().questions) == len(own_set(2).questions) + len(own_set(2, 1).questions)
    True
    """
    found = own()[0]
    return replace(found, questions=found.questions[first::every])


def baselines() -> dict[str, Made]:
    """Return the three that always stand beside memkit: an empty store, a full dump, a text file with grep."""
    return dict(list(rivals().items())[:3])


def ask(collection: Collection, recipes: Sequence[Recipe] = (TFIDF, BALANCED, THOROUGH)) -> tuple[Told, ...]:
    """Ask the baselines and memkit by some recipes every question of a collection."""
    taking_part = baselines() | {f"memkit {recipe.name}": by_recipe(recipe) for recipe in recipes}
    return tuple(Told(name, tuple(answers(collection, made(collection)))) for name, made in taking_part.items())


def recall_curve(told: Sequence[Answer], ks: Sequence[int] = KS) -> dict[int, float]:
    """Return recall@k by k, over the questions that have an answer; 0 where none has.

    >>> from memkit.lab.retrieval_sets import Question
    >>> recall_curve([Answer(Question("who?", frozenset({"a"}), "answer", "en"), ("b", "a"), (3, 3))], (1, 2))
    {1: 0.0, 2: 1.0}
    """
    return {k: _mean([recall_at(one, k) for one in told if one.question.gold]) for k in ks}


def budget_curve(told: Sequence[Answer], budgets: Sequence[int] = BUDGETS) -> dict[int, float]:
    """Return the recall within a budget of tokens by budget, over the questions that have an answer."""
    return {budget: _mean([recall_within(one, budget) for one in told if one.question.gold]) for budget in budgets}


def noise(told: Sequence[Answer]) -> float:
    """Return how many of the questions that nothing is known of got anything at all, as a share; 0 where there is no such question."""
    return _mean([float(bool(one.shown)) for one in told if one.question.kind == "unrelated"])


def wrong(told: Sequence[Answer]) -> float:
    """Return how many questions got something old, stale or true elsewhere among their first five, as a share."""
    return _mean([float(bool(one.question.wrong & set(one.shown[:5]))) for one in told if one.question.wrong])


def thresholds(collection: Collection, coverages: Sequence[float], recipe: Recipe = BALANCED) -> dict[float, tuple[float, float]]:
    """Return what each threshold does: the share of questions with an answer that still get anything, and of the unrelated that do.

    Asks for one hit, so it is much faster than measuring what the hits are worth.
    """
    found = {}
    with filled(collection) as kit:
        for coverage in coverages:
            how = replace(recipe, coverage=coverage, rerank=0.0)  # the order is not looked at
            hits = [kit.recall(one.text, scope=scope_of(one.env), budget=ENOUGH, limit=1, recipe=how).hits for one in collection.questions]
            got = [(one, float(bool(hit))) for one, hit in zip(collection.questions, hits, strict=True)]
            kept, noisy = [hit for one, hit in got if one.gold], [hit for one, hit in got if one.kind == "unrelated"]
            found[coverage] = _mean(kept), _mean(noisy)
    return found


def table(told: Sequence[Told], group: str = "all") -> dict[str, Mapping[str, float]]:
    """Return the figures of each rival: recall@1, recall@5, wrong and noise."""
    rows = {one.rival: one.of(group) for one in told}
    return {rival: {**_named(recall_curve(found, (1, 5))), "wrong": wrong(found), "noise": noise(found)} for rival, found in rows.items()}


def _named(curve: Mapping[int, float]) -> dict[str, float]:
    return {f"recall@{k}": share for k, share in curve.items()}


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0
