"""Put signals together as a recipe says: add them up or fuse their places, share with neighbours, merge the needs of one question.

Every score is the sum of named parts: what each term gave, and in brackets what else did: `(characters)`, `(neighbours)`, `(names)`.
Left out: the signals themselves, reading the record, and the changes that depend on a memory and not on its words (`rerank.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memkit.errors import Refused
from memkit.read import dense, signals
from memkit.read.analyze import analyze
from memkit.read.index import Floats, Found, Ints, View, tfidf
from memkit.read.links import Links, with_neighbours
from memkit.read.needs import asks_for_state, split
from memkit.read.recipes import Fusion, Recipe
from memkit.read.signals import Texts, added

SMOOTH = 60  # the constant of reciprocal rank fusion, as published


@dataclass(frozen=True, slots=True)
class Asked:
    """One need: its words, its terms, the rows it is asked of, and two ways to learn more of them."""

    view: View
    text: str
    terms: Counter[str]
    links: Links
    texts: Texts


SIGNALS: dict[str, Callable[[Asked], Found]] = {
    "tfidf": lambda asked: tfidf(asked.view, asked.terms),
    "bm25": lambda asked: signals.bm25(asked.view, asked.terms),
    "characters": lambda asked: signals.characters(asked.view, asked.text, asked.texts),
    "names": lambda asked: signals.names(asked.view, asked.terms),
    "latent": lambda asked: dense.latent(asked.view, asked.text, asked.terms),
    "embedding": lambda asked: dense.embedding(asked.view, asked.text, asked.texts),
}


@dataclass(frozen=True, slots=True)
class Ranked(Found):
    """Rows found for a question. `enough`: whether the need a row answers is covered by what somebody wrote; `coverage`: how far the best
    one is. `turns`: the order of the rows where there are several needs, else by score. `elsewhere`: the calls that answer the others."""

    enough: NDArray[np.bool_]
    coverage: float
    turns: Ints | None = None
    elsewhere: tuple[str, ...] = ()

    @property
    def order(self) -> Floats:
        """Return what the rows are ordered by, the least first."""
        return -self.scores if self.turns is None else self.turns.astype(np.float64)


def rank(view: View, question: str, recipe: Recipe, links: Links, texts: Texts) -> Ranked:
    """Return what a view holds for a question, by a recipe. Raises Refused for a signal that does not exist or is not installed.

    >>> from memkit.read.index import Document, Partition
    >>> from memkit.read.recipes import BALANCED
    >>> shop = Partition()
    >>> shop.put(Document("m1"), "the cache timeout is 30 s"); shop.put(Document("m2"), "Ann deploys on Friday")
    >>> ranked = rank(View([shop]), "Who deploys? Which branch am I on?", BALANCED, lambda *_: {}, list)
    >>> ranked.rows.tolist(), ranked.scores.round(3).tolist(), ranked.coverage, ranked.elsewhere
    ([1], [0.455], 1.0, ("kit.state.get('branch', scope=scope)",))
    """
    for name in recipe.weights.keys() - SIGNALS.keys():
        raise Refused("BAD_RECIPE", f"there is no signal {name!r}; there are {', '.join(SIGNALS)}")
    texts_of_needs = split(question) if recipe.needs else [question]
    calls = {text: call for text in texts_of_needs if recipe.needs and (call := asks_for_state(text))}
    told = [_answered(Asked(view, text, Counter(analyze(text)), links, texts), recipe) for text in texts_of_needs if text not in calls]
    elsewhere = tuple(dict.fromkeys(calls.values()))
    return replace(told[0] if len(told) == 1 else merged(view, told), elsewhere=elsewhere)


def _answered(asked: Asked, recipe: Recipe) -> Ranked:
    found = fused(asked, recipe)
    covered = signals.coverage(asked.view, asked.terms) if recipe.coverage else 1.0
    return Ranked(found.rows, found.scores, found.gains, np.full(len(found.rows), covered >= recipe.coverage), covered)


def fused(asked: Asked, recipe: Recipe) -> Found:
    """Return the rows that any signal of the recipe found, their scores put together, and neighbours given their share."""
    found = {name: SIGNALS[name](asked) for name, weight in recipe.weights.items() if weight}
    put = by_place if recipe.fusion == Fusion.RANK else by_score
    return with_neighbours(asked.view, put(asked.view, found, recipe.weights), recipe.neighbours, asked.links)


def by_score(view: View, found: Mapping[str, Found], weights: Mapping[str, float]) -> Found:
    """Add up what each signal gave, times its weight. A term that two signals know has one part."""
    if len(found) == 1 and all(weights[name] == 1 for name in found):
        return next(iter(found.values()))
    by_name: dict[str, list[tuple[str, Ints, Floats]]] = {}
    for signal, rows in found.items():
        for name, gained, gains in rows.gains:
            by_name.setdefault(name, []).append((name, gained, gains * weights[signal]))
    return added(view, [one for name, several in sorted(by_name.items()) for one in _as_one(view, name, several)])


def by_place(view: View, found: Mapping[str, Found], weights: Mapping[str, float]) -> Found:
    """Give each row weight / (60 + its place) for each signal that found it; rows that are equally good share a place.

    What is lost is how much better the first was than the second: a weak signal speaks as loudly as a strong one.
    """
    gains = []
    for signal, rows in found.items():
        places = np.searchsorted(np.sort(-rows.scores), -rows.scores) + 1
        gains.append((f"({signal})", rows.rows, weights[signal] / (SMOOTH + places)))
    return added(view, gains)


def merged(view: View, told: Sequence[Ranked]) -> Ranked:
    """Put the rows of several needs into one order: always the next best of the need that has been given the fewest tokens so far.

    So each need gets its share of whatever budget there is, and the order does not depend on how large that is. A row that two needs
    found counts for the one whose turn it was.
    """
    lines = [iter(_best_first(view, one)) for one in told]
    given, owner, turns = [0] * len(told), dict[int, int](), dict[int, int]()
    open_lines = set(range(len(told)))
    while open_lines:
        at = min(open_lines, key=lambda one: (given[one], one))
        row = next((row for row in lines[at] if row not in owner), None)
        if row is None:
            open_lines.remove(at)
        else:
            owner[row], turns[row] = at, len(turns)
            given[at] += view.documents[row].tokens
    rows = np.array(sorted(owner), np.int64)
    owners = np.array([owner[row] for row in rows.tolist()], np.int64)
    scores, enough, gains = np.zeros(len(rows)), np.zeros(len(rows), bool), []
    for at, one in enumerate(told):
        mine = owners == at
        places = np.searchsorted(one.rows, rows[mine])
        scores[mine], enough[mine] = one.scores[places], one.enough[places]
        for name, of, gained in one.gains:
            kept = np.isin(of, rows[mine])
            gains.append((name, of[kept], gained[kept]))
    order = np.array([turns[row] for row in rows.tolist()], np.int64)
    return Ranked(rows, scores, gains, enough, max((one.coverage for one in told), default=0.0), order)


def _best_first(view: View, found: Found) -> list[int]:
    pairs = sorted(zip(found.rows.tolist(), found.scores.tolist(), strict=True), key=lambda pair: (-pair[1], view.id(pair[0])))
    return [row for row, _ in pairs]


def _as_one(view: View, name: str, gains: list[tuple[str, Ints, Floats]]) -> list[tuple[str, Ints, Floats]]:
    if len(gains) == 1:
        return gains
    total = added(view, gains)
    return [(name, total.rows, total.scores)]
