"""Which waiting candidates a question would have found: counted, never returned.

The scores are TF-IDF over the candidates alone, so they neither move nor are moved by those of memories. What waits is indexed by scope and
follows the event log, so a question costs what it touches and not what waits. Left out: keeping the count (`write/proposals.py`), and what
a count is worth (`write/gates.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from sqlite_utils import Database as SqliteUtils

from memkit.read.analyze import analyze
from memkit.read.follow import Followed
from memkit.read.index import Document, Partition, View, tfidf
from memkit.record.model import Progress

WANTED = 0.2
"""The cosine from which a candidate counts as wanted by a question."""

Read = Callable[[SqliteUtils, str, str, Sequence[str] | None], Iterable[tuple[int, str, str]]]
"""Tenant, scope and keys (None: all) to (number, key, content) of what waits there."""


def wanted(candidates: Iterable[tuple[int, str]], query: str, *, threshold: float = WANTED) -> list[int]:
    """Return the numbers of the candidates, given as (number, content), that the query would have found, in ascending order.

    >>> wanted([(1, "the cache timeout is 30 s"), (2, "deploy on Friday")], "What is the cache timeout?")
    [1]
    """
    waiting = Partition()
    for number, content in candidates:
        waiting.put(Document(str(number)), content)
    return wanted_in(View([waiting]), query, threshold=threshold)


def wanted_in(view: View, query: str, *, threshold: float = WANTED) -> list[int]:
    """Return the same of candidates that are indexed already, each under its number."""
    found = tfidf(view, Counter(analyze(query)))
    return sorted(int(view.id(row)) for row in found.rows[found.scores >= threshold].tolist())


class _Waits(Partition):
    """What waits in one scope, and under which numbers each key does."""

    def __init__(self, rows: Iterable[tuple[int, str, str]]) -> None:
        super().__init__()
        self.numbers: dict[str, set[str]] = {}
        self.take(rows)

    def take(self, rows: Iterable[tuple[int, str, str]], keys: Iterable[str] = ()) -> None:
        """Take what waits of some keys in place of what was there of them."""
        now = {str(number): (key, content) for number, key, content in rows}
        for number in [number for key in keys for number in self.numbers.pop(key, ())]:
            if number not in now:
                self.drop(number)
        for number, (key, content) in now.items():
            self.put(Document(number, key), content)
            self.numbers.setdefault(key, set()).add(number)


class Waiting(Followed[_Waits]):
    """The waiting candidates of one tenant. `read` reads them."""

    wide = frozenset({"FORGET"})  # it reaches what says the same under other keys

    def __init__(self, tenant: str, read: Read) -> None:
        super().__init__(tenant)
        self._read = read

    def copies(self, scope: str, key: str) -> int:
        """Return how many candidates of a key are held here: copies that forgetting must reach."""
        return len(self._partitions[scope].numbers.get(key, ())) if scope in self._partitions else 0

    def _built(self, tx: SqliteUtils, scope: str, progress: Progress | None) -> _Waits:
        return _Waits(self._read(tx, self.tenant, scope, None))

    def _read_again(self, tx: SqliteUtils, partition: _Waits, scope: str, keys: set[str]) -> None:
        partition.take(self._read(tx, self.tenant, scope, sorted(keys)), keys)
