"""The nouns: frozen dataclasses and enumerations, nothing that does anything.

A *memory* is the current revision of a key in a scope. What it rests on is *evidence*: a source, a locator that says which part of it,
and the digest that part had. Times are `datetime`s with a zone, always UTC. Scopes and principals are in `scope.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from memkit.record.scope import named_dimensions

Progress = Callable[[int, int], object]
"""Told how much of a long run is done, and of how much; the whole may grow while it runs."""

ANY = -1
"""Pass `expected=ANY` to write whatever the current revision is."""


class Kind(StrEnum):
    """What sort of thing a memory is; kinds age differently.

    A FACT does not decay: it falls when its evidence does. A PREFERENCE stands until a person corrects it. An EXPERIENCE is only
    appended, with its task and its verification, and never overwritten; it applies where its scope says. The confidence of an INFERENCE
    moves by feedback. An ABSENCE says that a search found nothing: it expires, and neither hides, replaces nor stops anything.
    """

    FACT = "fact"
    PREFERENCE = "preference"
    EXPERIENCE = "experience"
    INFERENCE = "inference"
    ABSENCE = "absence"


class Trust(StrEnum):
    """How a memory came in. STATED (a person said it) > VERIFIED (evidence was checked) > INFERRED."""

    STATED = "STATED"
    VERIFIED = "VERIFIED"
    INFERRED = "INFERRED"

    @property
    def rank(self) -> int:
        """Return 2, 1 or 0; lower never overwrites higher."""
        return {"STATED": 2, "VERIFIED": 1, "INFERRED": 0}[self.value]


class Op(StrEnum):
    """What a decision does. A DELETE revision has no content: the key has no current value from then on."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    NOOP = "NOOP"
    PROPOSED = "PROPOSED"


class Verdict(StrEnum):
    """What re-reading the cited part of a source showed."""

    VALID = "VALID"
    MOVED = "MOVED"
    CHANGED = "CHANGED"
    MISSING = "MISSING"
    UNREADABLE = "UNREADABLE"
    AMBIGUOUS = "AMBIGUOUS"
    UNVERSIONED = "UNVERSIONED"

    @property
    def holds(self) -> bool:
        """Return whether a memory with this verdict may be recalled (UNVERSIONED: while its review is not due)."""
        return self is Verdict.VALID or self is Verdict.MOVED or self is Verdict.UNVERSIONED

    @property
    def withheld_as(self) -> str:
        """Return the reason a memory with this verdict is withheld for."""
        return {"CHANGED": "STALE_SOURCE"}.get(self.value, f"{self.value}_SOURCE")


class Support(StrEnum):
    """How many pieces of evidence must hold: ALL of them, or ANY one."""

    ALL = "all"
    ANY = "any"


class Status(StrEnum):
    """Where a revision stands among the revisions of its key."""

    CURRENT = "CURRENT"
    SUPERSEDED = "SUPERSEDED"
    RETIRED = "RETIRED"


class Role(StrEnum):
    """Who spoke in a session."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class ProposalStatus(StrEnum):
    """Where a proposal stands."""

    PENDING = "PENDING"
    ADMITTED = "ADMITTED"
    REJECTED = "REJECTED"
    EXPIRED = "EXPIRED"


def shortened(text: str | None, longest: int = 60) -> str:
    """Return text as a Python literal of at most about `longest` characters, for one-line displays.

    >>> shortened("a" * 100, 10)
    "'aaaaaaaaa…'"
    """
    if text is None:
        return "(no content)"
    return repr(text if len(text) <= longest else text[: longest - 1] + "…")


@dataclass(frozen=True, slots=True, repr=False)
class Evidence:
    """One thing a memory rests on.

    `cite` is the citation (`prod.cfg#key=timeout`): `source` and `locator` joined. `digest` is the plain SHA-256, in hex, of the located
    part; `quote` is that part as it was read, shortened to 2,000 characters; `source_version` is the SHA-256 of the whole source.
    """

    source: str
    locator: str
    digest: str
    quote: str
    source_version: str
    observed_at: datetime

    @property
    def cite(self) -> str:
        return self.source.replace("%", "%25").replace("#", "%23") + (f"#{self.locator}" if self.locator else "")

    def __repr__(self) -> str:
        return f"Evidence({self.cite}: {shortened(self.quote)}, sha256 {self.digest[:8]}…)"


@dataclass(frozen=True, slots=True, repr=False)
class Memory:
    """One revision of one key in one scope. `content` is None for a revision that retired the key or was forgotten.

    An experience carries the `task` it was made in and the `verification` by which it is known; they are None for all other kinds. Where it
    applies is its scope, as for every memory.
    """

    id: str
    tenant: str
    scope: str
    key: str
    revision: int
    op: Op
    content: str | None
    kind: Kind
    trust: Trust
    confidence: float
    source: str
    actor: str
    status: Status
    created_at: datetime
    recorded_at: datetime
    last_verified_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    review_at: datetime | None
    expires_at: datetime | None
    evidence: tuple[Evidence, ...] = ()
    support: Support = Support.ALL
    task: str | None = None
    verification: str | None = None

    @property
    def dimensions(self) -> dict[str, str]:
        """Return the scope as a dict of its named dimensions."""
        return named_dimensions(self.scope)

    @property
    def negative(self) -> bool:
        """Return whether it only says that a search found nothing."""
        return self.kind is Kind.ABSENCE

    @property
    def seen(self) -> datetime:
        """Return when somebody last looked: when its evidence was verified, or it was recorded."""
        return self.last_verified_at or self.recorded_at

    def ended(self, now: datetime) -> bool:
        """Return whether it has expired or is no longer true, to the instant."""
        return (self.expires_at is not None and self.expires_at <= now) or (self.valid_to is not None and self.valid_to <= now)

    def begun(self, now: datetime) -> bool:
        """Return whether it is true already."""
        return self.valid_from is None or self.valid_from <= now

    def due(self, now: datetime) -> bool:
        """Return whether its review is due."""
        return self.review_at is not None and self.review_at <= now

    def __repr__(self) -> str:
        rests = f", rests on {', '.join(piece.cite for piece in self.evidence)}" if self.evidence else ""
        return f"Memory({self.key} r{self.revision} {self.trust} {self.status}: {shortened(self.content)} in {self.scope}{rests})"


@dataclass(frozen=True, slots=True)
class Times:
    """When something is true in the world (`valid_from`, `valid_to`), when to review it, and when it expires; None says nothing."""

    valid_from: datetime | None = None
    valid_to: datetime | None = None
    review_at: datetime | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """What somebody wants the record to say: judged by `admission.decide`. `content` None asks to withdraw the key."""

    key: str
    content: str | None
    kind: Kind
    trust: Trust
    confidence: float
    source: str
    evidence: tuple[Evidence, ...] = ()
    times: Times = Times()
    support: Support = Support.ALL
    task: str | None = None
    verification: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Return all that it says: the content and, of an experience, the task and its verification."""
        return tuple(text for text in (self.content, self.task, self.verification) if text is not None)

    def withdrawn(self) -> Candidate:
        """Return the candidate without anything that it says or rests on."""
        return replace(self, content=None, evidence=(), task=None, verification=None)


@dataclass(frozen=True, slots=True, repr=False)
class Proposal:
    """A candidate that waits for a person. `id` counts within a tenant; 0: it was refused at the door and nothing was kept.

    `recalls` is by how many distinct questions it was wanted while it waited.
    """

    id: int
    scope: str
    status: ProposalStatus
    candidate: Candidate
    expected: int
    op: Op
    reason: str
    why: str
    created_at: datetime
    flags: tuple[str, ...] = ()
    recalls: int = 0

    @property
    def supports(self) -> int:
        """Return how many distinct pieces of evidence, or else words of one proposer, stand behind it."""
        return len({(piece.cite, piece.digest) for piece in self.candidate.evidence}) or 1

    @property
    def literal(self) -> bool:
        """Return whether it waits as what a user said in these words; admitting it makes it STATED."""
        return self.reason == "SAID_BY_USER"

    @property
    def key(self) -> str:
        return self.candidate.key

    @property
    def content(self) -> str | None:
        return self.candidate.content

    def __repr__(self) -> str:
        return (
            f"Proposal({self.id} {self.status} {self.reason}: {self.key} {self.candidate.trust} {shortened(self.content)} in {self.scope})"
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """What admission decided: an op, a named reason, and one sentence."""

    op: Op
    reason: str
    why: str


@dataclass(frozen=True, slots=True, repr=False)
class Outcome:
    """What a write did. `memory` is the current value afterwards; `proposal` is set where the candidate waits instead."""

    op: Op
    reason: str
    why: str
    memory: Memory | None = None
    proposal: Proposal | None = None

    def __repr__(self) -> str:
        return f"Outcome({self.op} {self.reason}: {self.why})"


@dataclass(frozen=True, slots=True, repr=False)
class Episode:
    """One thing that was said or done in a session; `number` counts 1, 2, 3 within it. `text` is None once it was forgotten.

    `visible`: the model saw it. `trusted`: it comes from the person or from a source the caller vouches for, not from a web page.
    """

    session: str
    number: int
    role: Role
    text: str | None
    visible: bool
    trusted: bool
    at: datetime
    scope: str

    @property
    def source(self) -> str:
        """Return the name under which memories cite it, for instance `session:monday/3`."""
        return f"session:{self.session}/{self.number}"

    def __repr__(self) -> str:
        return f"Episode({self.source} {self.role}: {shortened(self.text)} in {self.scope})"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the append-only log; it never holds content. `seq` counts within a tenant."""

    seq: int
    at: datetime
    tenant: str
    actor: str
    op: str
    scope: str
    key: str
    revision: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, repr=False)
class EvidenceCheck:
    """One piece of evidence, read again now: `found` is what stands there today (None where nothing does)."""

    evidence: Evidence
    verdict: Verdict
    why: str
    found: str | None = None

    def __repr__(self) -> str:
        return f"EvidenceCheck({self.evidence.cite}: {self.verdict}, {self.why})"


def aside(memory: Memory, verdict: Verdict) -> str:
    """Return what belongs beside a memory wherever it is shown: that nobody looked since, or that nothing was found; or nothing."""
    if memory.negative:
        return f"searched and found nothing as of {memory.seen.date()}; search again"
    return f"not re-checked since {memory.seen.date()}" if verdict is Verdict.UNVERSIONED else ""


@dataclass(frozen=True, slots=True, repr=False)
class Check:
    """One memory and what its evidence is worth now: the verdict that decides, its sentence, and every piece with its own.

    Where all must hold the worst piece decides, where any may hold the best.
    """

    memory: Memory
    verdict: Verdict
    why: str
    evidence: tuple[EvidenceCheck, ...]

    @property
    def aside(self) -> str:
        """Return what belongs beside the memory wherever it is shown."""
        return aside(self.memory, self.verdict)

    def __repr__(self) -> str:
        return f"Check({self.memory.key}: {self.verdict}, {self.why})"


@dataclass(frozen=True, slots=True, repr=False)
class Why:
    """Why a memory is known: the revision, every source it rests on read again now, and what the log says of its key, oldest first."""

    memory: Memory
    check: Check
    events: tuple[Event, ...]

    def __repr__(self) -> str:
        told = [f"{event.seq}: {event.op} {event.reason} by {event.actor}, revision {event.revision}" for event in self.events]
        return "\n    ".join([f"Why({self.memory!r})", *map(repr, self.check.evidence), *told])
