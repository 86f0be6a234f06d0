"""Keep the index in step with the record by following the event log.

A partition is built from the record when its scope is first asked for, and afterwards only what the log names is read again. The whole
is disposable: a new one says the same. It belongs to one tenant and is used inside a transaction, so what it says and what the
record says are of one moment.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlite_utils import Database as SqliteUtils

from memkit.read.index import Partition
from memkit.record import store
from memkit.record.model import Memory

MOST = 1_000  # partitions that are kept; the one asked for longest ago goes first


class Index:
    """The partitions of one tenant, built on first use; `where` finds the scope and key of an id that a search returned."""

    def __init__(self, tenant: str) -> None:
        self.tenant = tenant
        self.where: dict[str, tuple[str, str]] = {}
        self._partitions: dict[str, Partition] = {}
        self._cursor = 0

    def partitions(self, tx: SqliteUtils, scopes: Sequence[str]) -> list[Partition]:
        """Return the partitions of these scopes as the record stands now."""
        self.catch_up(tx)
        found = []
        for scope in scopes:
            partition = self._partitions.pop(scope, None) or self._built(tx, scope)
            if len(partition):  # an empty one is not kept, since anybody may ask about any scope
                self._partitions[scope] = partition
            found.append(partition)
        while len(self._partitions) > max(MOST, len(scopes)):
            for identity in self._partitions.pop(next(iter(self._partitions))):
                del self.where[identity]
        return found

    def catch_up(self, tx: SqliteUtils) -> None:
        """Read again what the log says was written since last time, in the scopes that were built."""
        if not self._partitions:
            self._cursor = store.last_event(tx, self.tenant)
        changed: dict[str, set[str]] = {}
        for seq, scope, key in store.changes(tx, self.tenant, self._cursor):
            self._cursor = seq
            if scope in self._partitions:
                changed.setdefault(scope, set()).add(key)
        for scope, keys in changed.items():
            for key in keys:
                self._drop(scope, key)
            for memory in store.current_memories(tx, self.tenant, [scope], sorted(keys)):
                self._put(self._partitions[scope], memory)

    def copies(self, identity: str) -> int:
        """Return how many partitions hold a document of this id: a copy that forgetting must reach."""
        return sum(identity in partition for partition in self._partitions.values())

    def clear(self) -> None:
        """Drop everything; the next question builds it anew from the record."""
        self._partitions.clear()
        self.where.clear()

    def _built(self, tx: SqliteUtils, scope: str) -> Partition:
        partition = Partition()
        for memory in store.current_memories(tx, self.tenant, [scope]):
            self._put(partition, memory)
        return partition

    def _put(self, partition: Partition, memory: Memory) -> None:
        partition.put(memory.id, memory.content or "")
        self.where[memory.id] = (memory.scope, memory.key)

    def _drop(self, scope: str, key: str) -> None:
        identity = store.memory_id(self.tenant, scope, key)
        self._partitions[scope].drop(identity)
        self.where.pop(identity, None)
