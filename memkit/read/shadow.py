"""Which waiting candidates a question would have found: counted, never returned.

The scores are TF-IDF over the candidates alone, so they neither move nor are moved by those of memories. What waits is indexed by scope and
follows the event log, so a question costs what it touches and not what waits. Left out: keeping the count (`write/proposals.py`), and what
a count is worth (`write/gates.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sqlite_utils import Database as SqliteUtils

from memkit.read.analyze import analyze
from memkit.read.index import Document, Partition, View, tfidf
from memkit.record import store

WANTED = 0.2
"""The cosine from which a candidate counts as wanted by a question."""

MOST = 1_000  # scopes whose candidates are kept; the one asked for longest ago goes first

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


@dataclass(slots=True)
class _Scope:
    """What waits in one scope, and under which numbers each key does."""

    partition: Partition = field(default_factory=Partition)
    numbers: dict[str, set[str]] = field(default_factory=dict)

    def put(self, rows: Iterable[tuple[int, str, str]], keys: Iterable[str] = ()) -> None:
        """Take what waits of some keys in place of what was there of them."""
        now = {str(number): (key, content) for number, key, content in rows}
        for number in [number for key in keys for number in self.numbers.pop(key, ())]:
            if number not in now:
                self.partition.drop(number)
        for number, (key, content) in now.items():
            self.partition.put(Document(number, key), content)
            self.numbers.setdefault(key, set()).add(number)


class Waiting:
    """The waiting candidates of one tenant, built by scope on first use; use it inside a transaction. `read` reads them."""

    def __init__(self, tenant: str, read: Read) -> None:
        self.tenant, self._read = tenant, read
        self._scopes: dict[str, _Scope] = {}
        self._view = View([])
        self._cursor = 0

    def view(self, tx: SqliteUtils, scopes: Sequence[str]) -> View:
        """Return what waits in these scopes as the record stands now."""
        self.catch_up(tx)
        kept = {scope: self._scopes.get(scope) or self._built(tx, scope) for scope in scopes}
        for scope, one in kept.items():
            self._scopes.pop(scope, None)
            if one.numbers:  # an empty one is not kept, since anybody may ask about any scope
                self._scopes[scope] = one
        while len(self._scopes) > max(MOST, len(scopes)):
            del self._scopes[next(iter(self._scopes))]
        partitions = [one.partition for one in kept.values()]
        if not self._view.shows(partitions):
            self._view = View(partitions)
        return self._view

    def catch_up(self, tx: SqliteUtils) -> None:
        """Read again the keys that the log names in the scopes that were built; where something was forgotten, all of the scope."""
        if not self._scopes:
            self._cursor = store.last_event(tx, self.tenant)
        changed: dict[str, set[str]] = {}
        for event in store.events(tx, self.tenant, after=self._cursor):
            self._cursor = event.seq
            changed.setdefault(event.scope, set()).add(event.key)
            if event.op == "FORGET":  # it reaches what says the same under other keys
                self._scopes.pop(event.scope, None)
        for scope in changed.keys() & self._scopes.keys():
            keys = sorted(changed[scope])
            self._scopes[scope].put(self._read(tx, self.tenant, scope, keys), keys)
        if changed:
            self._view = View([])  # what it worked out may name what was forgotten

    def copies(self, scope: str, key: str) -> int:
        """Return how many candidates of a key are held here: copies that forgetting must reach."""
        return len(self._scopes[scope].numbers.get(key, ())) if scope in self._scopes else 0

    def clear(self) -> None:
        """Drop everything; the next question builds it anew from the record."""
        self._scopes.clear()
        self._view = View([])

    def _built(self, tx: SqliteUtils, scope: str) -> _Scope:
        made = _Scope()
        made.put(self._read(tx, self.tenant, scope, None))
        return made
