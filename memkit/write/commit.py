"""Deciding and writing in one transaction: the only way a revision comes into being, whichever path it came by.

The order is fixed: redact, take the write lock, read the current value and the tombstones, decide, compare-and-swap, log. What may call
this, and with which trust, is settled above it, in `kit.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlite_utils import Database as SqliteUtils

from memkit.errors import AccessDenied, Conflict, NotFound, Refused
from memkit.record import sessions, store, tombstone, use
from memkit.record.database import Database
from memkit.record.model import Candidate, Decision, Memory, Op, Outcome, Trust
from memkit.record.scope import Principal
from memkit.write.admission import decide
from memkit.write.arguments import LONGEST_CONTENT, check_expected, check_key, check_kind, check_moments, check_name_of_key, check_text
from memkit.write.policy import MASK, RedactionPolicy
from memkit.write.redact import clean as nothing_to_mask


@dataclass(frozen=True, slots=True)
class Place:
    """Whose write it is, and where it goes: a principal and the stored form of a scope."""

    principal: Principal
    scope: str
    policy: RedactionPolicy = MASK


def clean(candidate: Candidate, policy: RedactionPolicy = MASK) -> Candidate:
    """Return the candidate as it may be kept: checked, and with secrets masked or whatever else the policy says.

    Raises Refused for an empty or over-long key or content, for a key that holds a secret, and where redaction fails. Evidence was
    screened when it was observed, in full.
    """
    check_name_of_key(candidate.key)
    times = candidate.times
    check_moments(valid_from=times.valid_from, valid_to=times.valid_to, review_at=times.review_at, expires_at=times.expires_at)
    if times.valid_from is not None and times.valid_to is not None and times.valid_to <= times.valid_from:
        raise Refused("BAD_TIME", "valid_to is not after valid_from; pass the time when it stops being true")
    check_text("content", candidate.content, LONGEST_CONTENT)
    check_kind(candidate)
    if nothing_to_mask(candidate.key, *candidate.words):
        return candidate
    check_key(candidate.key)
    content, task, verification = (text and policy.apply(text) for text in (candidate.content, candidate.task, candidate.verification))
    return replace(candidate, content=content, task=task, verification=verification)


def commit(db: Database, candidate: Candidate, place: Place, *, expected: int, now: datetime) -> Outcome:
    """Decide about a candidate and write the decision, in one transaction. Raises Conflict, Refused or Busy; then nothing was written."""
    candidate = clean(candidate, place.policy)
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

    Content, trust, evidence, age and record of use go along; in which sessions an experience was met again does not. Raises NotFound
    where there is nothing to move, Refused for the scope it is in already, AccessDenied where no person asks to move what a person stated,
    and Conflict where it is not at `expected` or the other scope has a current value; then nothing was written.
    """
    check_expected(expected)
    tenant, actor = place.principal.tenant, place.principal.actor
    if place.scope == to.scope:
        raise Refused("SAME_SCOPE", f"{key!r} is in {to.scope} already; name another scope")
    with db.write() as tx:
        memory = store.current_memory(tx, tenant, place.scope, key)
        if memory is None:
            raise NotFound(f"there is no current value under {key!r} in {place.scope}; kit.check(scope=...) lists the keys that are there")
        if memory.trust is Trust.STATED and actor != "person":  # to move it takes it out of sight: lower trust never overwrites higher
            raise AccessDenied("person", f"only a person may move {key!r}: it is STATED, and this is {actor!r}; ask one, or propose it")
        moved = store.as_candidate(memory)
        decision, there = judge(tx, db, moved, to, now)
        if decision.reason == "TOMBSTONED":
            return Outcome(decision.op, decision.reason, decision.why, memory)
        if there is not None and not (there.negative or there.ended(now)):
            raise Conflict(key, expected=0, actual=there.revision, occupied=to.scope)
        retired = moved.withdrawn()
        gone = store.append(tx, Op.DELETE, retired, scope=place.scope, expected=expected, tenant=tenant, actor=actor, now=now)
        free = there.revision if there else 0
        age = {"created_at": memory.created_at, "verified_at": memory.seen}  # to be moved makes nothing younger
        here = store.append(tx, Op.ADD, moved, scope=to.scope, expected=free, tenant=tenant, actor=actor, now=now, **age)
        use.move(tx, memory, here)
        for op, one, other, revision in ((Op.DELETE, place, to, gone.revision), (Op.ADD, to, place, here.revision)):
            store.log(tx, op, "RESCOPED", principal=one.principal, scope=one.scope, key=key, revision=revision, now=now, detail=other.scope)
    return Outcome(Op.UPDATE, "RESCOPED", f"it applies in {to.scope} now, and no longer in {place.scope}", here)


def judge(tx: SqliteUtils, db: Database, candidate: Candidate, place: Place, now: datetime) -> tuple[Decision, Memory | None]:
    """Return the decision about a candidate as things stand, and the current value."""
    tenant = place.principal.tenant
    current = store.current_memory(tx, tenant, place.scope, candidate.key)
    if not all(sessions.as_read(tx, tenant, piece) for piece in candidate.evidence):  # subtle: it was read before the lock was held
        return Decision(Op.NOOP, "UNSAID", "words of an episode that it cites were forgotten after it was read; read it again"), current
    if candidate.content is None or not tombstone.any_stands(tx, tenant):
        return decide(candidate, current, now=now), current
    said = [*candidate.words, *(piece.quote for piece in candidate.evidence)]
    digests = [digest for text in said for digest in tombstone.digests(db, tenant, place.scope, candidate.key, text)]
    return decide(candidate, current, now=now, buried=tombstone.buried_under(tx, tenant, digests)), current
