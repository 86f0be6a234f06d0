"""What matched a query, best first, read from the record only as far as somebody looks.

Scores, and what each memory costs of a budget, stand in arrays that were copied while the index was held still. A memory is read by the
number of its revision, which never changes; so all that is read later is of that one moment too, and what was forgotten since is gone
from it. Left out: how scores are made (`index.py`, `rank.py`), and what is done with a match (`recall.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from memkit.read.index import Found, View
from memkit.record import store
from memkit.record.database import Database
from memkit.record.model import Memory


@dataclass(frozen=True, slots=True)
class Match:
    """One memory that matched: its row in the view, parts that add up to its score, and the current values of its key in other scopes."""

    row: int
    memory: Memory
    tokens: int
    score: float
    parts: dict[str, float]
    others: tuple[Memory, ...] = ()


class Matches:
    """The rows of a view that a query found, by score and then by id, the negative ones last; each is looked at once by `best`.

    Made inside the transaction that the view belongs to; reads the record in transactions of its own.
    """

    def __init__(self, db: Database, tenant: str, scopes: Sequence[str], view: View, found: Found) -> None:
        self.found = found
        self._db, self._tenant, self._scopes = db, tenant, list(scopes)
        self._documents, self._tokens = view.documents, view.tokens[found.rows]
        self._several = len(view.partitions) > 1  # else no other scope can have a value for the same key
        self._last = np.fromiter((self._documents[row].negative for row in found.rows.tolist()), bool, len(found.rows))
        self._open = np.ones(len(found.rows), bool)

    def __len__(self) -> int:
        return len(self.found.rows)

    def best(self, most: int, *, room: int, above: float) -> list[int]:
        """Return the next rows, best first, all above a score: at most `most`, and not many more than fit into `room` tokens."""
        scores = self.found.scores
        places = np.flatnonzero(self._open & (self._tokens <= room) & (scores > above))
        places = places[~self._last[places]] if not self._last[places].all() else places
        if len(places) > most:  # subtle: all that equal the last one stay until ids have decided
            places = places[scores[places] >= np.partition(scores[places], -most)[-most]]
        chosen = sorted(places.tolist(), key=self._rank)[:most]
        together = int(np.count_nonzero(np.cumsum(self._tokens[chosen]) <= room))
        chosen = chosen[: max(together, most // 8, 1)]  # subtle: it grows with `most`, or many that are withheld cost a round each
        self._open[chosen] = False
        return [int(self.found.rows[place]) for place in chosen]

    def ordered(self) -> list[int]:
        """Return every row, best first. Costs all of them."""
        return [int(self.found.rows[place]) for place in sorted(range(len(self)), key=self._rank)]

    def read(self, rows: Iterable[int]) -> list[Match]:
        """Read the memories of some rows, in the order given; one that was forgotten since is left out."""
        seqs = {row: self._documents[row].seq for row in rows}
        with self._db.read() as tx:
            memories = store.at(tx, self._tenant, list(seqs.values()))
            keys = sorted({memory.key for memory in memories.values()}) if self._several else []
            same = store.current_memories(tx, self._tenant, self._scopes, keys) if keys else []
        others: dict[str, list[Memory]] = {}
        for memory in same:
            others.setdefault(memory.key, []).append(memory)
        there = [row for row, seq in seqs.items() if seq in memories]
        scores = self.found.scores[self.found.rows.searchsorted(there)].tolist()
        scored = zip(there, scores, self.found.parts(there), strict=True)
        return [self._match(row, memories[seqs[row]], score, dict(parts), others) for row, score, parts in scored]

    def _match(self, row: int, memory: Memory, score: float, parts: dict[str, float], others: dict[str, list[Memory]]) -> Match:
        elsewhere = [other for other in others.get(memory.key, []) if other.id != memory.id]
        return Match(row, memory, self._documents[row].tokens, score, parts, tuple(elsewhere))

    def _rank(self, place: int) -> tuple[bool, float, str]:
        return bool(self._last[place]), -float(self.found.scores[place]), self._documents[self.found.rows[place]].id
