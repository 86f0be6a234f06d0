"""Rerank the best rows by what is known of their memories and not by their words: trust, freshness, use and conflict.

Each of the four moves a score by at most a share of it (`Recipe.rerank`), and each is shown as a part. Only the first rows are looked
at: what lies below them would need more than a share to come up. A reader (`Recipe.reader`) may score the same rows too.
Left out: who confirms and contradicts (`feedback.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from memkit.errors import Refused
from memkit.read.index import DIGITS
from memkit.read.matches import Match
from memkit.read.rank import Ranked
from memkit.read.recipes import CrossEncoder, Recipe, is_number
from memkit.record.model import Kind, Memory, Trust
from memkit.record.scope import is_narrower
from memkit.record.use import Use

HEAD = 16  # rows that are reranked

HALF_LIFE = {Kind.EXPERIENCE: timedelta(days=180), Kind.INFERENCE: timedelta(days=30)}
"""After how long half of the freshness of a kind is gone. Facts and preferences do not age: a source or a person changes them."""

TRUSTED = {Trust.STATED: 0.0, Trust.VERIFIED: 0.0, Trust.INFERRED: -1.0}


def changes(memory: Memory, others: Sequence[Memory], use: Use, now: datetime) -> dict[str, float]:
    """Return how each of the four speaks for (to 1) or against (to -1) a memory; what says nothing is left out.

    Trust: an inference loses what its confidence lacks. Freshness: kinds that age lose by half-life. Use: the share of confirmations
    among all reports, with one of each imagined beforehand. Conflict: another value of its key holds in a scope that is not wider.
    """
    age = max(now - (memory.last_verified_at or memory.recorded_at), timedelta(0))
    life = HALF_LIFE.get(memory.kind)
    rivals = [other for other in others if not is_narrower(memory.scope, other.scope) and not is_narrower(other.scope, memory.scope)]
    found = {
        "(trust)": TRUSTED[memory.trust] * (1 - memory.confidence),
        "(freshness)": 0.5 ** (age / life) - 1 if life else 0.0,
        "(use)": 2 * (1 + use.confirmed) / (2 + use.confirmed + use.contradicted) - 1,
        "(conflict)": -1.0 if rivals else 0.0,
    }
    return {name: value for name, value in found.items() if value}


def reranked(ranked: Ranked, head: Sequence[Match], question: str, recipe: Recipe, *, uses: Mapping[str, Use], now: datetime) -> Ranked:
    """Return the same rows with the scores of the head moved, by at most `recipe.rerank` times the score for each of the four.

    What `recipe.reader` says of a text is added as it is. Rows of several needs keep their turns.
    """
    read = _read(recipe.reader, question, head) if recipe.reader else []
    parts: dict[str, dict[int, float]] = {}
    for match in head:
        for name, value in changes(match.memory, match.others, uses.get(match.memory.id, Use()), now).items():
            parts.setdefault(name, {})[match.row] = value * recipe.rerank * match.score
    for match, value in zip(head, read, strict=False):
        parts.setdefault("(reader)", {})[match.row] = value
    scores, gains = ranked.scores.copy(), list(ranked.gains)
    for name, by_row in sorted(parts.items()):
        rows = np.array(sorted(by_row), np.int64)
        gains.append((name, rows, np.array([by_row[row] for row in rows.tolist()])))
        scores[np.searchsorted(ranked.rows, rows)] += gains[-1][2]
    return replace(ranked, scores=np.round(scores, DIGITS), gains=gains)


def _read(reader: CrossEncoder, question: str, head: Sequence[Match]) -> list[float]:
    """Return what a reader says of each text; raises Refused for anything but one number a text."""
    said = reader(question, [match.memory.content or "" for match in head])
    values = [float(value) for value in said if is_number(value)] if isinstance(said, Iterable) else []
    if len(values) != len(head):
        raise Refused("BAD_READER", f"of {len(head)} texts the reader found {len(values)} numbers; it must return one for each, 0 to 1")
    return values
