"""What matched a query, best first, read from the record only as far as somebody looks.

Scores, and what each memory costs of a budget, stand in arrays that were copied while the index was held still. A memory is read by the
number of its revision, which never changes; so all that is read later is of that one moment too, and what was forgotten since is gone
from it. Left out: how scores are made (`index.py`, `rank.py`), and what is done with a match (`recall.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from math import fsum
from typing import NamedTuple, Self

import numpy as np

from memkit.read.index import Floats, View
from memkit.read.rank import Ranked
from memkit.record import store
from memkit.record.database import Database
from memkit.record.model import Memory


class Match(NamedTuple):
    """One memory that matched: its row in the view, parts that add up to its score, and the current values of its key in other scopes.

    `ranked`: that score to twelve digits, by which alone it is ordered and judged.
    """

    row: int
    memory: Memory
    tokens: int
    score: float
    parts: dict[str, float]
    enough: bool
    ranked: float
    others: tuple[Memory, ...] = ()


class Matches:
    """The rows of a view that a query found, by score and then by id, the negative ones last; each is looked at once by `best`.

    Made inside the transaction that the view belongs to; reads the record in transactions of its own.
    """

    def __init__(self, db: Database, tenant: str, scopes: Sequence[str], view: View, found: Ranked) -> None:
        self.found, self._read = found, dict[int, tuple[Memory, tuple[Memory, ...]]]()
        self._db, self._tenant, self._scopes = db, tenant, list(scopes)
        self._documents, self._tokens = view.documents, view.tokens[found.rows]
        self._several = len(view.partitions) > 1  # else no other scope can have a value for the same key
        self._last = view.negative[found.rows]
        self._open, self._order = found.enough.copy(), self._placed(found)

    def scored_again(self, found: Ranked) -> Self:
        """Return the same rows with other scores, none looked at yet; what was read of them is kept."""
        again = copy(self)
        again.found, again._open, again._order = found, found.enough.copy(), self._placed(found)
        return again

    def __len__(self) -> int:
        return len(self.found.rows)

    def best(self, most: int, *, room: int, above: float) -> list[int]:
        """Return the next rows, best first, all above a score: at most `most`, and not many more than fit into `room` tokens."""
        if room <= 0:  # nothing is free, so nothing fits
            return []
        places = (self._open & (self._tokens <= room) & (self.found.scores > above)).nonzero()[0]
        if len(places) > most:  # subtle: all that equal the last one stay until ids have decided
            order = self._order[places]
            places = places[order <= np.partition(order, most - 1)[most - 1]]
        chosen = sorted(places.tolist(), key=self._rank)[:most]
        together = int(np.count_nonzero(self._tokens[chosen].cumsum() <= room))
        chosen = chosen[: max(together, most // 8, 1)]  # subtle: it grows with `most`, or many that are withheld cost a round each
        self._open[chosen] = False
        return [int(self.found.rows[place]) for place in chosen]

    def ordered(self) -> list[int]:
        """Return every row, best first. Costs all of them."""
        return [int(self.found.rows[place]) for place in sorted(range(len(self)), key=self._rank)]

    def read(self, rows: Iterable[int]) -> list[Match]:
        """Read the memories of some rows, in the order given; one that was forgotten since is left out."""
        rows = list(rows)
        self._fetch([row for row in rows if row not in self._read])
        there = [row for row in rows if row in self._read]
        at = self.found.rows.searchsorted(np.array(there, np.int64))
        return list(map(self._match, there, self.found.parts(there), self.found.enough[at].tolist(), self.found.scores[at].tolist()))

    def forget_read(self) -> None:
        """Let go of what was read, so that what is asked for later is read again."""
        self._read.clear()

    def _match(self, row: int, parts: tuple[tuple[str, float], ...], enough: bool, ranked: float) -> Match:
        memory, others = self._read[row]
        gained = dict(parts)
        return Match(row, memory, self._documents[row].tokens, fsum(gained.values()), gained, enough, ranked, others)

    def _fetch(self, rows: Sequence[int]) -> None:
        with self._db.read() as tx:
            memories = store.at(tx, self._tenant, [self._documents[row].seq for row in rows])
            keys = sorted({memory.key for memory in memories.values()}) if self._several else []
            same = store.current_memories(tx, self._tenant, self._scopes, keys) if keys else []
        others: dict[str, list[Memory]] = {}
        for memory in same:
            others.setdefault(memory.key, []).append(memory)
        for row in rows:
            if found := memories.get(self._documents[row].seq):
                self._read[row] = found, tuple([other for other in others.get(found.key, []) if other.id != found.id])

    def _placed(self, found: Ranked) -> Floats:
        """Return what the rows are ordered by, the negative ones behind all others."""
        order = found.order
        return order + self._last * (np.ptp(order) + 1) if self._last.any() else order

    def _rank(self, place: int) -> tuple[float, str]:
        return float(self._order[place]), self._documents[self.found.rows[place]].id
