"""The front door: the life of a memory in one screen.

Each verb checks who asks, turns its arguments into values, and hands them to the room that does the work. Nothing is decided here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from types import TracebackType
from typing import Self, TypeVar

from memkit.errors import NotFound, Refused, shown
from memkit.govern import forget as forgetting
from memkit.govern.access import require, require_person
from memkit.govern.admin import Admin
from memkit.govern.forget import Receipt
from memkit.govern.steps import Steps
from memkit.read import recall as recalling
from memkit.read.analyze import forget_cached
from memkit.read.follow import Index
from memkit.read.recall import TFIDF, Recall, Recipe
from memkit.record import store, tombstone
from memkit.record.database import Database, random_id
from memkit.record.evidence import Reader, check_memory
from memkit.record.locate import Reading
from memkit.record.model import (
    Candidate,
    Check,
    Event,
    Kind,
    Memory,
    Op,
    Outcome,
    Proposal,
    ProposalStatus,
    Support,
    Times,
    Trust,
    Why,
)
from memkit.record.scope import Principal, Scope, require_scope
from memkit.record.sources import Folder, Sources, Texts, check_name
from memkit.write import proposals
from memkit.write.arguments import check_expected, check_key, check_moments, choice, confidence_of, flags_of, said
from memkit.write.citing import observed, repeats, require_evidence
from memkit.write.commit import Place, commit, rescope
from memkit.write.redact import redact

Clock = Callable[[], datetime]
MOST_PLACES = 100  # scopes that were found free of secrets and are remembered
LONGEST_QUERY = 10_000  # characters of a query that are looked at
_Choice = TypeVar("_Choice", bound=StrEnum)


def open(
    path: str | os.PathLike[str] = ":memory:",
    *,
    root: str | os.PathLike[str] | None = None,
    sources: MutableMapping[str, str | bytes] | None = None,
    principal: Principal | None = None,
    clock: Clock | None = None,
    ids: Callable[[], str] | None = None,
) -> Kit:
    """Open a store, for use in a `with` block, and the sources its memories may cite: a folder (`root`, only read) or a dict of texts.

    `clock` returns the present as a datetime with a zone; `ids` returns fresh hard-to-guess text. Raises NotFound for a folder that is
    not there, Corrupt for a file that is not memkit's, and Refused for both `root` and `sources`.

    >>> with open(sources={"prod.cfg": "timeout=30"}) as kit:
    ...     kit.learn("timeout", "the timeout is 30 s", scope=Scope(env="prod"), cite="prod.cfg#key=timeout").reason
    'NEW'
    """
    if root is not None and sources is not None:
        raise Refused("TWO_KINDS_OF_SOURCES", "both root and sources were given; pass the folder or the dict, not both")
    for name, function in (("clock", clock), ("ids", ids)):
        if function is not None and not callable(function):
            raise Refused(f"BAD_{name.upper()}", f"{name} is {shown(function)}; pass a function without arguments")
    folder = None if root is None else Folder(root)
    db = Database(path, ids=random_id if ids is None else ids)
    if folder is not None:
        folder.keep_out(db.owned)
    readable = folder if folder is not None else Texts({} if sources is None else sources)
    who = Principal() if principal is None else principal
    return Kit(db, readable, who, (lambda: datetime.now(UTC)) if clock is None else clock)


class Kit:
    """An open store seen by one principal. Every verb takes the scope it applies to; a missing one is BadScope, never "all"."""

    def __init__(self, db: Database, sources: Sources, principal: Principal, clock: Clock, indexes: dict[str, Index] | None = None) -> None:
        if not isinstance(principal, Principal):
            raise Refused("BAD_PRINCIPAL", f"the principal is {shown(principal)}; pass a memkit.Principal")
        self.db, self.sources, self.principal, self._clock = db, sources, principal, clock
        self._parsed: dict[str, Reading] = {}
        self._places: dict[Scope, Place] = {}
        self._indexes = {} if indexes is None else indexes
        self._index = self._indexes.setdefault(principal.tenant, Index(principal.tenant))
        self.admin = Admin(self.db, self._index, principal)
        self.state = Steps(self.db, sources, principal, self._now)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; calling it again does nothing."""
        self.db.close()

    def acting_as(self, principal: Principal) -> Kit:
        """Return the same store as another principal sees it."""
        return Kit(self.db, self.sources, principal, self._clock, self._indexes)

    # --- write

    def remember(
        self,
        key: str,
        content: str,
        *,
        scope: Scope,
        expected: int = 0,
        kind: str = Kind.PREFERENCE,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        expires_at: datetime | None = None,
        review_at: datetime | None = None,
    ) -> Outcome:
        """Keep what a person states: STATED, at once. Raises Conflict where the current revision is not `expected`."""
        require(self.principal, "write")
        require_person(self.principal, "state a memory")
        times = Times(valid_from, valid_to, review_at, expires_at)
        candidate = Candidate(key, content, choice(Kind, "kind", kind), Trust.STATED, 1.0, "user", (), times)
        return self._told(commit(self.db, candidate, self._place(scope), expected=expected, now=self._now()))

    def learn(
        self,
        key: str,
        content: str,
        *,
        scope: Scope,
        cite: str | Sequence[str],
        support: str = Support.ALL,
        expected: int = 0,
        kind: str = Kind.FACT,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        expires_at: datetime | None = None,
        review_at: datetime | None = None,
    ) -> Outcome:
        """Keep what sources say: they are read and hashed now. VERIFIED when a person calls it, or when the content repeats what stands
        at every citation and looks like no instruction; otherwise it becomes a proposal. `support` says whether "all" citations must
        hold from then on, or "any" of them. Raises BadLocator, UnsafePath, Refused, Conflict.
        """
        require(self.principal, "write")
        reader, place, now = self._reader(), self._place(scope), self._now()
        if not (evidence := observed(cite, reader, now)):
            raise Refused(
                "NO_CITATION", "nothing is cited; pass cite='prod.cfg#key=timeout' or the like, or use remember for a person's word"
            )
        vouched = self.principal.actor == "person"
        flags = () if vouched else flags_of(content)
        bears_out = vouched or (not (flags or self._was_forgotten(key, place)) and repeats(content, evidence, reader))
        trust, times = Trust.VERIFIED if bears_out else Trust.INFERRED, Times(valid_from, valid_to, review_at, expires_at)
        rests = (evidence, times, choice(Support, "support", support))
        candidate = Candidate(key, content, choice(Kind, "kind", kind), trust, 1.0, "source", *rests)
        if bears_out:
            return self._told(commit(self.db, candidate, place, expected=expected, now=now))
        proposal = proposals.propose(self.db, candidate, place, flags=flags, now=now)
        return Outcome(proposal.op, proposal.reason, proposal.why, None, proposal)

    def propose(
        self, key: str, content: str, *, scope: Scope, kind: str = Kind.INFERENCE, confidence: float = 0.5, cite: str | Sequence[str] = ()
    ) -> Proposal:
        """Put an inference into the inbox, where it waits for a person: INFERRED, and never recalled while it waits."""
        require(self.principal, "write")
        evidence = observed(cite, self._reader(), self._now())
        candidate = Candidate(key, content, choice(Kind, "kind", kind), Trust.INFERRED, confidence_of(confidence), "model", evidence)
        return proposals.propose(self.db, candidate, self._place(scope), flags=flags_of(content), now=self._now())

    def rescope(self, key: str, *, scope: Scope, to: Scope, expected: int) -> Outcome:
        """Move a memory to another scope, as it is: a linked retire and add in one transaction. Raises NotFound and Conflict."""
        require(self.principal, "write")
        check_key(key)
        return rescope(self.db, key, self._place(scope), self._place(to), expected=expected, now=self._now())

    def inbox(self, *, scope: Scope, status: str = ProposalStatus.PENDING) -> list[Proposal]:
        """Return the proposals of the scopes visible here that have a status, oldest first."""
        require(self.principal, "read")
        with self.db.read() as tx:
            return proposals.listed(tx, self.principal, self._visible(scope), choice(ProposalStatus, "status", status))

    def admit(self, proposal: Proposal | int) -> Outcome:
        """Write a proposal, as a person decides; it stays INFERRED. Raises Conflict where the value it was proposed against has changed,
        and Refused where its evidence no longer holds or somebody decided before."""
        require(self.principal, "write")
        require_person(self.principal, "admit a proposal")
        with self.db.read() as tx:
            waiting = proposals.fetch(tx, self.principal, proposal)
        require_evidence(waiting.candidate, self._reader())
        with self.db.write() as tx:
            waiting = proposals.fetch(tx, self.principal, waiting)
            return proposals.admit(tx, self.db, waiting, Place(self.principal, waiting.scope), self._now())

    def reject(self, proposal: Proposal | int, why: str = "") -> Outcome:
        """Turn a proposal down, as a person decides. `why` is returned, masked, and not kept."""
        require(self.principal, "write")
        require_person(self.principal, "reject a proposal")
        told = said(why)
        with self.db.write() as tx:
            waiting = proposals.fetch(tx, self.principal, proposal)
            place = Place(self.principal, waiting.scope)
            settled = proposals.settle(tx, waiting, place, ProposalStatus.REJECTED, "REJECTED")
            store.log(tx, Op.NOOP, "REJECTED", principal=self.principal, scope=waiting.scope, key=waiting.key, revision=0, now=self._now())
        return Outcome(Op.NOOP, "REJECTED", told or "a person turned it down", None, settled)

    # --- read

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
        reader, now = self._reader(), self._now()
        return [check_memory(memory, reader, search=True) for memory in memories if not memory.ended(now)]

    def affected(self, source: str, *, scope: Scope) -> list[Memory]:
        """Return the memories visible here that cite a source."""
        require(self.principal, "read")
        check_name(source)
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
                return Why(revision, check_memory(revision, self._reader(), search=True), told)
        raise NotFound(f"there is no revision {memory.revision} of {memory.key!r} in this store; kit.history lists those that are there")

    def recall(self, query: str, *, scope: Scope, budget: int, limit: int | None = None, recipe: Recipe | None = None) -> Recall:
        """Return the memories that answer a query, within a budget of tokens, and what was skipped with its reason. Only reads."""
        require(self.principal, "search", "read")
        recalling.check_request(query, budget, limit, recipe)
        query = redact(query[:LONGEST_QUERY]).text  # it comes back in the result, and its words in the cache of `analyze`
        matches = recalling.rank(self.db, self._index, query, self._visible(scope))
        return recalling.fill(
            matches, self._reader(), query, budget=budget, limit=limit, recipe=TFIDF if recipe is None else recipe, now=self._now()
        )

    # --- govern

    def forget(self, key: str, *, scope: Scope, expected: int, reason: str) -> Receipt:
        """Erase a key everywhere, as a person asks, lay tombstones for its values, and prove it. `reason` is returned, masked, not kept."""
        require(self.principal, "forget")
        require_person(self.principal, "forget")
        check_key(key)
        place = self._place(scope)
        identity = store.memory_id(self.principal.tenant, place.scope, key)

        def index_copies() -> int:
            forget_cached()
            with self.db.read() as tx:
                self._index.catch_up(tx)
                return self._index.copies(identity)

        told = said(reason)
        return forgetting.forget(self.db, key, place, expected=expected, reason=told, now=self._now(), derived=index_copies)

    def restore_right(self, key: str, *, scope: Scope, reason: str) -> int:
        """Lift the tombstones of a key, as a person decides, on the record; returns how many. It brings nothing back."""
        require(self.principal, "forget")
        require_person(self.principal, "lift a tombstone")
        check_key(key)
        said(reason)
        return forgetting.restore_right(self.db, key, self._place(scope), now=self._now())

    # --- arguments

    def _place(self, scope: Scope) -> Place:
        place = self._places.get(require_scope(scope))
        if place is None:
            names = scope.dimensions(self.principal)
            names.pop("user", None)  # the login gives it, not the caller
            if redact(" ".join(names.values())).findings:
                raise Refused("SECRET_IN_SCOPE", "a name in the scope looks like a secret; scopes are never erased, so choose another name")
            if len(self._places) >= MOST_PLACES:
                self._places.clear()
            place = self._places[scope] = Place(self.principal, scope.stored(self.principal))
        return place

    def _visible(self, scope: Scope) -> list[str]:
        return require_scope(scope).visible(self.principal)

    def _now(self) -> datetime:
        now = self._clock()
        check_moments(clock=now)
        return now

    def _reader(self) -> Reader:
        return Reader(self.sources, lambda text: redact(text).text, self._parsed)

    def _told(self, outcome: Outcome) -> Outcome:
        """Return the outcome, without the memory for who may write and not read."""
        return outcome if "read" in self.principal.grants else replace(outcome, memory=None)

    def _was_forgotten(self, key: str, place: Place) -> bool:
        """Return whether a tombstone stands under this key: what replaces a forgotten value waits for a person."""
        with self.db.read() as tx:
            return tombstone.stands_under(tx, self.principal.tenant, place.scope, key)
