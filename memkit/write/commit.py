"""Deciding and writing in one transaction: the only way a revision comes into being, whichever path it came by.

The order is fixed: redact, take the write lock, read the current value and the tombstones, decide, compare-and-swap, log. What may call
this, and with which trust, is settled above it, in `kit.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlite_utils import Database as SqliteUtils

from memkit.errors import NotFound, Refused, shown
from memkit.record import store, tombstone
from memkit.record.database import Database
from memkit.record.model import ANY, Candidate, Decision, Memory, Op, Outcome
from memkit.record.scope import Principal
from memkit.write.admission import decide
from memkit.write.redact import redact

LONGEST_KEY = 200  # characters
LONGEST_CONTENT = 20_000  # characters


@dataclass(frozen=True, slots=True)
class Place:
    """Whose write it is, and where it goes: a principal and the stored form of a scope."""

    principal: Principal
    scope: str


def clean(candidate: Candidate) -> Candidate:
    """Return the candidate as it may be kept: checked and with secrets masked.

    Raises Refused for an empty or over-long key or content, for a key that holds a secret, and where redaction fails. Evidence was
    screened when it was observed, in full.
    """
    check_key(candidate.key)
    times = candidate.times
    check_moments(valid_from=times.valid_from, valid_to=times.valid_to, review_at=times.review_at, expires_at=times.expires_at)
    if times.valid_from is not None and times.valid_to is not None and times.valid_to <= times.valid_from:
        raise Refused("BAD_TIME", "valid_to is not after valid_from; pass the time when it stops being true")
    _check_text("content", candidate.content, LONGEST_CONTENT)
    return replace(candidate, content=redact(candidate.content or "").text)


def commit(db: Database, candidate: Candidate, place: Place, *, expected: int, now: datetime) -> Outcome:
    """Decide about a candidate and write the decision, in one transaction. Raises Conflict, Refused or Busy; then nothing was written."""
    candidate = clean(candidate)
    check_expected(expected)
    with db.write() as tx:
        return commit_inside(tx, db, candidate, place, expected=expected, now=now)


def commit_inside(tx: SqliteUtils, db: Database, candidate: Candidate, place: Place, *, expected: int, now: datetime) -> Outcome:
    """Do what `commit` does inside a transaction that already holds the write lock, with a clean candidate."""
    tenant, key = place.principal.tenant, candidate.key
    decision, memory = judge(tx, db, candidate, place, now)
    if expected == 0 and memory is not None and memory.ended(now):
        expected = memory.revision  # what has ended reads as no current value, so it is written over as one
    if decision.op is not Op.NOOP:
        memory = store.append(
            tx, decision.op, candidate, tenant=tenant, scope=place.scope, expected=expected, actor=place.principal.actor, now=now
        )
    revision = memory.revision if memory else 0
    store.log(tx, decision.op, decision.reason, principal=place.principal, scope=place.scope, key=key, revision=revision, now=now)
    return Outcome(decision.op, decision.reason, decision.why, None if decision.op is Op.DELETE else memory)


def rescope(db: Database, key: str, place: Place, to: Place, *, expected: int, now: datetime) -> Outcome:
    """Retire a key in one scope and add it, as it is, in another: one transaction, linked in the log.

    Content, trust, evidence and the time of creation go along. Raises NotFound where there is nothing to move, Refused for the scope it
    is in already, and Conflict where it is not at `expected` or the other scope has a current value; then nothing was written.
    """
    check_expected(expected)
    tenant, actor = place.principal.tenant, place.principal.actor
    if place.scope == to.scope:
        raise Refused("SAME_SCOPE", f"{key!r} is in {to.scope} already; name another scope")
    with db.write() as tx:
        memory = store.current_memory(tx, tenant, place.scope, key)
        if memory is None:
            raise NotFound(f"there is no current value under {key!r} in {place.scope}; kit.check(scope=...) lists the keys that are there")
        moved = store.as_candidate(memory)
        decision, _ = judge(tx, db, moved, to, now)
        if decision.reason == "TOMBSTONED":
            return Outcome(decision.op, decision.reason, decision.why, memory)
        retired = replace(moved, content=None, evidence=())
        gone = store.append(tx, Op.DELETE, retired, scope=place.scope, expected=expected, tenant=tenant, actor=actor, now=now)
        here = store.append(
            tx, Op.ADD, moved, scope=to.scope, expected=0, created_at=memory.created_at, tenant=tenant, actor=actor, now=now
        )
        for op, one, other, revision in ((Op.DELETE, place, to, gone.revision), (Op.ADD, to, place, here.revision)):
            store.log(tx, op, "RESCOPED", principal=one.principal, scope=one.scope, key=key, revision=revision, now=now, detail=other.scope)
    return Outcome(Op.UPDATE, "RESCOPED", f"it applies in {to.scope} now, and no longer in {place.scope}", here)


def judge(tx: SqliteUtils, db: Database, candidate: Candidate, place: Place, now: datetime) -> tuple[Decision, Memory | None]:
    """Return the decision about a candidate as things stand, and the current value."""
    tenant = place.principal.tenant
    current = store.current_memory(tx, tenant, place.scope, candidate.key)
    said = [] if candidate.content is None else [candidate.content, *(piece.quote for piece in candidate.evidence)]
    digests = [digest for text in said for digest in tombstone.digests(db, tenant, place.scope, candidate.key, text)]
    return decide(candidate, current, now=now, buried=tombstone.buried_under(tx, tenant, digests)), current


def check_key(key: str) -> None:
    """Raise Refused for a key that is empty, too long, or holds a secret."""
    _check_text("key", key, LONGEST_KEY)
    if not key.isprintable():
        raise Refused("BAD_KEY", "the key has a control or invisible character; name the thing in printable text")
    if redact(key).findings:
        raise Refused("SECRET_IN_KEY", "the key holds what looks like a secret; keys are never erased, so name the thing instead")


def check_moments(**times: datetime | None) -> None:
    """Raise Refused for a time that is not a datetime with a zone."""
    for name, time in times.items():
        if time is not None and not _is_moment(time):
            found = "has no zone, or is out of range in UTC" if isinstance(time, datetime) else f"is {shown(time)}"
            raise Refused("BAD_TIME", f"{name} {found}; pass a datetime with a zone, for instance datetime.now(UTC)")


def _is_moment(time: object) -> bool:
    try:
        return isinstance(time, datetime) and time.utcoffset() is not None and bool(time.astimezone(UTC))
    except (OverflowError, ValueError):
        return False


def check_expected(expected: int) -> None:
    """Raise Refused unless `expected` is a revision number, 0, or ANY."""
    if isinstance(expected, bool) or not isinstance(expected, int) or not ANY <= expected < 2**63:
        raise Refused("BAD_EXPECTED", f"expected is {shown(expected)}; pass the current revision, 0 for none, or memkit.ANY")


def _check_text(what: str, text: object, longest: int) -> None:
    if not isinstance(text, str) or not text.strip():
        raise Refused(
            f"EMPTY_{what.upper()}", f"the {what} is {type(text).__name__ if not isinstance(text, str) else 'blank'}; pass some text"
        )
    if len(text) > longest:
        raise Refused(f"LONG_{what.upper()}", f"the {what} has {len(text):,} characters; at most {longest:,} are kept, so split it")
    if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise Refused(f"BAD_{what.upper()}", f"the {what} has a NUL or half a surrogate pair; pass ordinary text")
