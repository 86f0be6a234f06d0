"""Measure what is recalled: `memkit eval retrieval`, on memkit's own bilingual set or on conversations in the layout of LoCoMo.

Recall counts a question's gold lines among those shown, averaged over questions; within a budget, lines are taken in order while they fit
and skipped where they do not. Intervals are bootstraps over questions, with a fixed seed. An empty store, a full dump and a text file with
grep always stand beside memkit: the first is never wrong, the second never misses. Left out: whether a model answers well with what it is
shown, and how fast any of it is (`memkit bench`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click
import numpy as np

from memkit.errors import MemkitError
from memkit.lab.retrieval_rivals import Made, Rival, by_recipe, filling, recipes, rivals
from memkit.lab.retrieval_sets import Collection, Question, conversations, own, spoiled
from memkit.read.recipes import BALANCED, Recipe

RESAMPLES = 1_000
STEPS = tuple(at / 20 for at in range(11))  # coverages that are tried
KEPT = 0.99  # the share of questions with an answer that a threshold has to let through, with room for sets that are harder


@dataclass(frozen=True, slots=True)
class Answer:
    """One question and what somebody showed for it: ids in order, and what each costs."""

    question: Question
    shown: tuple[str, ...]
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """What one rival reached on one group of questions: `values` by column, with the bounds of a 95 % interval each; None: no question."""

    rival: str
    group: str
    questions: int
    values: dict[str, tuple[float, float, float] | None]


def answers(collection: Collection, rival: Rival) -> list[Answer]:
    """Ask one rival every question of a collection."""
    cost = {identity: collection.tokens(text) for identity, text in collection.written}
    told = ((question, tuple(rival(question))) for question in collection.questions)
    return [Answer(question, shown, tuple(cost[one] for one in shown)) for question, shown in told]


def recall_at(answer: Answer, k: int) -> float:
    """Return the share of the gold among the first k.

    >>> question = Question("who?", frozenset({"a", "b"}), "answer", "en")
    >>> recall_at(Answer(question, ("a", "x", "b"), (3, 9, 3)), 2)
    0.5
    """
    return len(answer.question.gold & set(answer.shown[:k])) / len(answer.question.gold)


def recall_within(answer: Answer, budget: int) -> float:
    """Return the share of the gold among what fits, taken in order, what is too large skipped.

    >>> question = Question("who?", frozenset({"a", "b"}), "answer", "en")
    >>> recall_within(Answer(question, ("a", "x", "b"), (3, 9, 3)), 7)
    1.0
    """
    taken = set()
    for identity, tokens in zip(answer.shown, answer.tokens, strict=True):
        if tokens <= budget:
            budget -= tokens
            taken.add(identity)
    return len(answer.question.gold & taken) / len(answer.question.gold)


def reciprocal_rank(answer: Answer) -> float:
    """Return 1 / the place of the first gold line, 0 where none is shown.

    >>> reciprocal_rank(Answer(Question("who?", frozenset({"b"}), "answer", "en"), ("a", "b"), (1, 1)))
    0.5
    """
    return next((1 / place for place, identity in enumerate(answer.shown, 1) if identity in answer.question.gold), 0.0)


MEASURES: dict[str, Callable[[Answer], float]] = {
    "hit@1": lambda one: float(bool(one.question.gold & set(one.shown[:1]))),
    "hit@5": lambda one: float(bool(one.question.gold & set(one.shown[:5]))),
    "recall@10": lambda one: recall_at(one, 10),
    "MRR": reciprocal_rank,
    "in 500": lambda one: recall_within(one, 500),
    "in 1000": lambda one: recall_within(one, 1_000),
    "in 2000": lambda one: recall_within(one, 2_000),
    "empty": lambda one: float(not one.shown),
    "wrong": lambda one: float(bool(one.question.wrong & set(one.shown[:5]))),
    "noise": lambda one: float(bool(one.shown)),
}
"""What is measured: `wrong` of every question (something old, stale or true elsewhere among the first five), `noise` of the unrelated, the
rest of those that have an answer."""


def row(rival: str, group: str, told: Sequence[Answer]) -> Row:
    """Return what a rival reached on some answers."""
    asked = {
        "wrong": [one for one in told if one.question.wrong],
        "noise": [one for one in told if one.question.kind == "unrelated"],
    }
    answerable = [one for one in told if one.question.gold]
    values = {name: interval([measure(one) for one in asked.get(name, answerable)]) for name, measure in MEASURES.items()}
    return Row(rival, group, len(told), values)


def interval(values: Sequence[float]) -> tuple[float, float, float] | None:
    """Return the mean and the bounds that hold 95 % of the means of resampled values; None for no values. The same for the same values.

    >>> interval([1.0, 1.0]), interval([])
    ((1.0, 1.0, 1.0), None)
    """
    if not values:
        return None
    drawn = np.random.default_rng(0).choice(np.array(values), (RESAMPLES, len(values))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return round(float(np.mean(values)), 4), round(float(low), 4), round(float(high), 4)


def measure(collections: Sequence[Collection], taking_part: dict[str, Made]) -> list[Row]:
    """Ask every rival everything, and return a row for all questions of each and one for each group."""
    rows = []
    for name, made in taking_part.items():
        told = [one for collection in collections for one in answers(collection, made(collection))]
        rows.append(row(name, "all", told))
        rows += [row(name, group, [one for one in told if one.question.group in named]) for group, named in groups(told).items()]
    return rows


def groups(told: Iterable[Answer]) -> dict[str, set[str]]:
    """Return the groups that are shown apart: languages, or categories, with the four that have an answer together first."""
    found = sorted({one.question.group for one in told})
    usual = {f"category {number}" for number in (1, 2, 3, 4)} & set(found)
    return ({"categories 1-4": usual} if usual else {}) | {group: {group} for group in found}


def calibrated(collection: Collection, steps: Sequence[float], recipe: Recipe = BALANCED) -> list[tuple[float, str, float, float]]:
    """Return (coverage, half, kept, noise) for each threshold and both halves of the questions, even and odd; choose on the even ones."""
    found = []
    for coverage in steps:
        told = answers(collection, by_recipe(replace(recipe, coverage=coverage))(collection))
        for half, mine in (("even", told[::2]), ("odd", told[1::2])):
            kept = np.mean([bool(one.shown) for one in mine if one.question.gold])
            found.append(
                (coverage, half, float(kept), float(np.mean([bool(one.shown) for one in mine if one.question.kind == "unrelated"])))
            )
    return found


def chosen(found: Sequence[tuple[float, str, float, float]]) -> float | None:
    """Return the largest coverage that keeps enough of the questions with an answer, on the even half; None where none does.

    >>> chosen([(0.1, "even", 1.0, 0.3), (0.2, "even", 0.995, 0.1), (0.3, "even", 0.9, 0.0)])
    0.2
    """
    return max((coverage for coverage, half, kept, _ in found if half == "even" and kept >= KEPT), default=None)


def as_table(rows: Sequence[Row]) -> str:
    """Return rows as lines of text: the mean of each measure, and the interval of recall@10."""
    lines = [f"{'':18} {'questions':>19} " + " ".join(f"{name:>9}" for name in MEASURES) + "   95 % of recall@10"]
    for one in rows:
        figures = [f"{found[0]:9.3f}" if (found := one.values[name]) else f"{'-':>9}" for name in MEASURES]
        bounds = f"   {found[1]:.3f} to {found[2]:.3f}" if (found := one.values["recall@10"]) else ""
        lines.append(f"{one.rival:18} {one.group:>14} {one.questions:>4} " + " ".join(figures) + bounds)
    return "\n".join(lines)


@click.command()
@click.argument("data", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the rows for a program.")
@click.option(
    "--calibrate", is_flag=True, help="Choose the coverage of each recipe that asks for one on half of memkit's own questions; show both."
)
@click.option(
    "--stale",
    type=click.FloatRange(0, 1),
    help="Change this share of the turns of DATA before asking, and set a fixed top 20, checked afterwards, beside memkit.",
)
def command(*, data: Path | None, as_json: bool, calibrate: bool, stale: float | None) -> None:
    """Measure what is recalled, beside an empty store, a full dump and a text file with grep.

    DATA is a file in the layout of LoCoMo. Without it, memkit's own set: two shops, in English and Chinese, with questions that have no
    answer, whose answer was corrected, is stale, or is true elsewhere.
    """
    try:
        if calibrate:
            for recipe in (one for one in recipes() if one.coverage):
                found = calibrated(own()[0], STEPS, recipe)
                for at, half, kept, noise in found:
                    click.echo(f"{recipe.name}, coverage {at:.2f}, {half} half: kept {kept:.3f}, noise {noise:.3f}")
                click.echo(f"{recipe.name}, chosen: {chosen(found)} (the largest that keeps {KEPT:.1%} of the answers, on the even half)")
            return
        if stale is not None and data is None:
            raise click.UsageError("--stale changes turns of a conversation: name DATA, a file in the layout of LoCoMo")
        collections, taking_part = conversations(data) if data else own(), rivals()
        if stale is not None:
            collections, taking_part = [spoiled(one, stale) for one in collections], filling()
        rows = measure(collections, taking_part)
        click.echo(json.dumps([asdict(one) for one in rows], indent=1) if as_json else as_table(rows))
    except MemkitError as error:
        raise click.ClickException(str(error)) from error
