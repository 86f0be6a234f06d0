"""The verbs that only read. Each checks who asks, turns its arguments into values, and hands them to the room that does the work."""

from __future__ import annotations

from datetime import datetime

from memkit.errors import NotFound, Refused, shown
from memkit.govern.access import require
from memkit.read import feedback
from memkit.read import recall as recalling
from memkit.read.recall import Conditions, Recall
from memkit.read.recipes import BALANCED, Recipe
from memkit.record import store
from memkit.record.evidence import check_memory
from memkit.record.model import Check, Event, Memory, Progress, Why
from memkit.record.scope import Scope, require_scope, visible_from
from memkit.record.sessions import check_source
from memkit.record.text import count_tokens
from memkit.verbs.base import Opened
from memkit.write.arguments import check_expected, check_key, check_moments, progress_of

LONGEST_QUERY = 10_000  # characters of a query that are looked at


class ReadingVerbs(Opened):
    """What is known, what was known, what it rests on, and what answers a question."""

    def current(self, key: str, *, scope: Scope) -> Memory | None:
        """Return the current value of a key in exactly this scope, or None where there is none or it has expired."""
        require(self.principal, "read")
        check_key(key)
        with self.db.read() as tx:
            memory = store.current_memory(tx, self.principal.tenant, require_scope(scope).stored(self.principal), key)
        return None if memory is None or memory.ended(self._now()) else memory

    def history(self, key: str, *, scope: Scope) -> list[Memory]:
        """Return every revision of a key in exactly this scope, oldest first; forgotten ones have no content."""
        require(self.principal, "history")
        check_key(key)
        with self.db.read() as tx:
            return store.revisions(tx, self.principal.tenant, require_scope(scope).stored(self.principal), key)

    def as_of(self, when: datetime, *, scope: Scope, known_at: datetime | None = None) -> list[Memory]:
        """Return what was true at `when` in the scopes visible here, as it was known at `known_at` (by default: at `when`)."""
        require(self.principal, "history")
        check_moments(when=when, known_at=known_at)
        if when is None:
            raise Refused("BAD_TIME", "when is missing; pass a datetime with a zone, for instance datetime.now(UTC)")
        with self.db.read() as tx:
            return store.believed(tx, self.principal.tenant, self._visible(scope), when, known_at or when)

    def events(self, *, scope: Scope, key: str | None = None, after: int = 0) -> list[Event]:
        """Return the log of the scopes visible here, oldest first."""
        require(self.principal, "history")
        if key is not None:
            check_key(key)
        check_expected(after)
        with self.db.read() as tx:
            return store.events(tx, self.principal.tenant, after=after, scopes=self._visible(scope), key=key)

    def check(self, *, scope: Scope) -> list[Check]:
        """Read again, now, what every memory visible here rests on; each source once."""
        require(self.principal, "read")
        with self.db.read() as tx:
            memories = store.current_memories(tx, self.principal.tenant, self._visible(scope))
        reader, now = self._reader(self._visible(scope)), self._now()
        return [check_memory(memory, reader, search=True) for memory in memories if not memory.ended(now)]

    def affected(self, source: str, *, scope: Scope) -> list[Memory]:
        """Return the memories visible here that cite a source."""
        require(self.principal, "read")
        check_source(source)
        with self.db.read() as tx:
            return store.resting_on(tx, self.principal.tenant, source, self._visible(scope))

    def why(self, memory: Memory) -> Why:
        """Walk back from a memory to every source it rests on, read again now, and to what the log says of its key.

        Raises NotFound for a revision that is not in this store, or that another tenant or user owns, exactly as for none.
        """
        require(self.principal, "read", "history")
        if not isinstance(memory, Memory):
            raise Refused("BAD_MEMORY", f"the memory is {shown(memory)}; pass one that kit.current, kit.recall or kit.history returned")
        mine = memory.dimensions.get("user", self.principal.user) == self.principal.user
        with self.db.read() as tx:
            known = store.revisions(tx, self.principal.tenant, memory.scope, memory.key) if mine else []
            told = tuple(store.events(tx, self.principal.tenant, scopes=[memory.scope], key=memory.key))
        for revision in known:
            if revision.revision == memory.revision:
                return Why(revision, check_memory(revision, self._reader(visible_from(memory.scope)), search=True), told)
        raise NotFound(f"there is no revision {memory.revision} of {memory.key!r} in this store; kit.history lists those that are there")

    def recall(self, query: str, *, scope: Scope, budget: int, limit: int | None = None, recipe: Recipe | None = None) -> Recall:
        """Return the memories that answer a query, within a budget of tokens, and what was skipped with its reason. Only reads."""
        require(self.principal, "search", "read")
        recalling.check_request(query, budget, limit, recipe)
        with self.db.read() as tx:
            flagged = feedback.flagged(tx, self.principal.tenant, self._visible(scope))
        price = None if self._count is count_tokens else lambda memory, _: self._tokens(memory.content or "")
        given = Conditions(price, beyond=None if price else 0, flagged=flagged)
        return self._recalled(query, scope, given, budget=budget, limit=limit, recipe=recipe, now=self._now())

    def warm(self, *, scope: Scope, progress: Progress | None = None) -> int:
        """Index what is visible here now and not at the first question, and return how many memories that is.

        `progress` is called with how many memories of a scope are indexed, and of how many, and at last with all that are visible; it
        must not use the store.
        """
        require(self.principal, "search")
        tell = progress_of(progress)
        with self.db.read() as tx:
            size = self._index.view(tx, self._visible(scope), tell).size
        tell(size, size)
        return size

    def _recalled(
        self, query: str, scope: Scope, given: Conditions, *, budget: int, limit: int | None, recipe: Recipe | None, now: datetime
    ) -> Recall:
        query = self._asked(query)
        visible, how = self._visible(scope), BALANCED if recipe is None else recipe
        matches = recalling.rank(self.db, self._index, query, visible, recipe=how, now=now)
        return recalling.fill(matches, self._reader(visible), query, given, budget=budget, limit=limit, recipe=how, now=now)

    def _asked(self, query: str) -> str:
        """Return the query as it is looked at: it comes back in the result, and its words in the cache of `analyze`.

        Subtle: all of it is masked before it is cut, so that no secret is cut in two and missed.
        """
        return self._policy.mask(query)[:LONGEST_QUERY]
