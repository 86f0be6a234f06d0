"""Keep what is derived from the record in step with it by following the event log: the index of memories, and others like it.

A partition is built from the record when its scope is first asked for, and afterwards only what the log names is read again. The whole
is disposable: a new one says the same. It belongs to one tenant and is used inside a transaction, so what it says and what the
record says are of one moment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Generic, TypeVar

from sqlite_utils import Database as SqliteUtils

from memkit.read.analyze import forget_cached
from memkit.read.index import Document, Partition, View
from memkit.record import store
from memkit.record.model import Kind, Progress
from memkit.record.text import count_tokens

MOST = 1_000  # partitions that are kept; the one asked for longest ago goes first
STEP = 1_000  # documents between two words of the progress
VIEWS = 8  # sets of scopes whose view is kept while nothing in them changes

Kept = TypeVar("Kept", bound=Partition)


class Followed(ABC, Generic[Kept]):
    """Partitions of one tenant, built by scope on first use and then in step with the event log."""

    wide: ClassVar[frozenset[str]] = frozenset()  # operations that may reach more of a scope than the key they name

    def __init__(self, tenant: str) -> None:
        self.tenant = tenant
        self._partitions: dict[str, Kept] = {}
        self._views: dict[tuple[str, ...], View] = {}
        self._cursor = 0

    def view(self, tx: SqliteUtils, scopes: Sequence[str], progress: Progress | None = None) -> View:
        """Return the documents of these scopes as the record stands now, as one table; use it inside the transaction.

        `progress` is called with how many documents of a scope that has to be built are indexed, and of how many.
        """
        partitions, names = self.partitions(tx, scopes, progress), tuple(scopes)
        view = self._views.pop(names, None)
        if view is None or not view.shows(partitions):
            view = View(partitions)
        self._views[names] = view
        while len(self._views) > VIEWS:
            del self._views[next(iter(self._views))]
        return view

    def partitions(self, tx: SqliteUtils, scopes: Sequence[str], progress: Progress | None = None) -> list[Kept]:
        """Return the partitions of these scopes as the record stands now."""
        self.catch_up(tx)
        found = []
        for scope in scopes:
            partition = self._partitions.pop(scope, None) or self._built(tx, scope, progress)
            if len(partition):  # an empty one is not kept, since anybody may ask about any scope
                self._partitions[scope] = partition
            found.append(partition)
        while len(self._partitions) > max(MOST, len(scopes)):
            del self._partitions[next(iter(self._partitions))]
        return found

    def catch_up(self, tx: SqliteUtils) -> None:
        """Read again what the log says was written since last time, in the scopes that were built.

        Whatever interrupts it, nothing half read stays. Where anything was forgotten, the words seen lately are dropped here, too.
        """
        try:
            self._catch_up(tx)
        except BaseException:
            self.clear()
            raise

    def _catch_up(self, tx: SqliteUtils) -> None:
        if not self._partitions and self._cursor != (newest := store.last_event(tx, self.tenant)):
            self._cursor = newest
            forget_cached()
        changed, reached = dict[str, set[str]](), set[str]()
        for seq, op, scope, key in store.changes(tx, self.tenant, self._cursor):
            self._cursor = seq
            if op == "FORGET":
                forget_cached()
            if scope in self._partitions:
                changed.setdefault(scope, set()).add(key)
                reached |= {scope} if op in self.wide else set()
        for scope, keys in changed.items():
            if scope in reached:
                del self._partitions[scope]
            else:
                self._read_again(tx, self._partitions[scope], scope, keys)
        if changed:
            self._views.clear()  # what a view worked out may name what was forgotten

    def clear(self) -> None:
        """Drop everything; the next question builds it anew from the record."""
        self._partitions.clear()
        self._views.clear()

    @abstractmethod
    def _built(self, tx: SqliteUtils, scope: str, progress: Progress | None) -> Kept:
        """Return a scope as the record stands now."""

    @abstractmethod
    def _read_again(self, tx: SqliteUtils, partition: Kept, scope: str, keys: set[str]) -> None:
        """Put what now stands under some keys in place of what was there of them."""


class Index(Followed[Partition]):
    """The memories of one tenant. `count` says what a text costs of a budget."""

    def __init__(self, tenant: str, count: Callable[[str], int] = count_tokens) -> None:
        super().__init__(tenant)
        self._count = count

    def copies(self, identity: str) -> int:
        """Return how many partitions hold a document of this id: a copy that forgetting must reach."""
        return sum(identity in partition for partition in self._partitions.values())

    def _built(self, tx: SqliteUtils, scope: str, progress: Progress | None) -> Partition:
        partition, texts = Partition(), store.texts(tx, self.tenant, scope)
        for at in range(0, len(texts), STEP):
            self._put(partition, scope, texts[at : at + STEP])
            if progress is not None:
                progress(len(partition), len(texts))
        return partition

    def _read_again(self, tx: SqliteUtils, partition: Partition, scope: str, keys: set[str]) -> None:
        present = store.texts(tx, self.tenant, scope, sorted(keys))
        for key in keys - {key for _, key, _, _ in present}:
            partition.drop(store.memory_id(self.tenant, scope, key))
        self._put(partition, scope, present)

    def _put(self, partition: Partition, scope: str, texts: Iterable[tuple[int, str, str, str]]) -> None:
        for seq, key, text, kind in texts:
            identity = store.memory_id(self.tenant, scope, key)
            partition.put(Document(identity, key, seq, self._count(text), kind == Kind.ABSENCE), text)
