"""A recipe says how memories are ranked: which signals with which weights, how they are fused, and what is too little.

Recipes are data, so two designs can be compared by flipping one switch: `dataclasses.replace(BALANCED, neighbours=0)`. Their numbers were
chosen on three conversations of a public set and looked at on two others (`memkit eval retrieval`); they are few and round on purpose.
Left out: what a signal does (`signals.py`, `dense.py`) and how they are put together (`rank.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from numbers import Real
from typing import Protocol

from memkit.errors import Refused, shown

MOST = 1_000_000  # a larger number leaves no digit for what tells two scores apart


class Fusion(StrEnum):
    """SUM adds weighted scores, each 0 to 1 by nature; RANK adds weight / (60 + place) (Cormack, Clarke and Buettcher 2009)."""

    SUM = "sum"
    RANK = "rank"


class CrossEncoder(Protocol):
    """What reads a question and texts together and says how well each text answers it, 0 to 1: a model that somebody has, or a test's."""

    def __call__(self, question: str, texts: Sequence[str], /) -> Sequence[float]: ...


@dataclass(frozen=True, slots=True)
class Recipe:
    """How memories are ranked. With nothing but a name it is exact TF-IDF.

    `threshold`: a memory must score more than that. `weights`: of the signals tfidf, bm25, characters, names, latent, embedding.
    `neighbours`: the share of its score that a memory gives to the next one of its session or source; half of that to the one after.
    What nothing else found needs more than one match can give (`links.py`).
    `coverage`: what the best memory must cover of the question, as a share of its weight, or nothing is returned.
    `needs`: whether a question that asks for several things is split, and what is asked of a task's state is sent there.
    `rerank`: the most that each of trust, freshness, use and conflict moves a score, as a share. `reader`: what reads the best texts again.
    """

    name: str
    threshold: float = 0.0
    weights: Mapping[str, float] = field(default_factory=lambda: {"tfidf": 1.0})
    fusion: Fusion = Fusion.SUM
    neighbours: float = 0.0
    coverage: float = 0.0
    needs: bool = False
    rerank: float = 0.0
    reader: CrossEncoder | None = None

    def __post_init__(self) -> None:
        weights = self.weights if isinstance(self.weights, Mapping) else {}
        numbers = {**weights, **{name: getattr(self, name) for name in ("threshold", "neighbours", "coverage", "rerank")}}
        told = [(name, number, is_number(number), f"a number, from -{MOST:,} to {MOST:,}") for name, number in numbers.items()]
        told.append(("weights", self.weights, weights is self.weights, "signals with their weights, for instance {'bm25': 1.0}"))
        told.append(("fusion", self.fusion, self.fusion in tuple(Fusion), "one of sum and rank"))
        told.append(("reader", self.reader, self.reader is None or callable(self.reader), "a function of a question and texts, or None"))
        for name, found, fits, expected in told:
            if not fits:
                raise Refused("BAD_RECIPE", f"{name} is {shown(found)}; pass {expected}")


def is_number(value: object) -> bool:
    """Return whether a value may stand in a score.

    >>> is_number(0.5), is_number(float("nan")), is_number("1"), is_number(10**400), is_number(True)
    (True, False, False, False, False)
    """
    with suppress(OverflowError):  # of a whole number that no float can be
        return isinstance(value, Real) and not isinstance(value, bool) and bool(abs(float(value)) <= MOST)
    return False


TFIDF = Recipe("tfidf")
"""Exact TF-IDF: the scores of scikit-learn's TfidfVectorizer fitted on the current rows of the visible scopes."""

BALANCED = Recipe("balanced", weights={"bm25": 1.0}, neighbours=0.5, coverage=0.25, needs=True, rerank=0.2)
"""The default: BM25 and neighbours. Costs the postings it touches, and no more."""

THOROUGH = replace(BALANCED, name="thorough", weights={"bm25": 1.0, "characters": 0.5})
"""The best without a model: also by groups of characters, which finds other forms of a word and most misspellings. Reads every row."""

SEMANTIC = replace(BALANCED, name="semantic", weights={"bm25": 1.0, "embedding": 0.5})
"""The best: also by meaning, with a small model that comes inside a package (`pip install 'memkit[embedding]'`). Reads every row."""
