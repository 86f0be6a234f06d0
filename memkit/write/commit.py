"""Deciding and writing in one transaction: the only way a revision comes into being, whichever path it came by.

The order is fixed: redact, take the write lock, read the current value and the tombstones, decide, compare-and-swap, log. What may call
this, and with which trust, is settled above it, in `kit.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlite_utils import Database as SqliteUtils

from memkit.errors import Refused, shown
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
    decision, memory = judge(tx, db, candidate, place)
    if decision.op is not Op.NOOP:
        memory = store.append(
            tx, decision.op, candidate, tenant=tenant, scope=place.scope, expected=expected, actor=place.principal.actor, now=now
        )
    revision = memory.revision if memory else 0
    store.log(tx, decision.op, decision.reason, principal=place.principal, scope=place.scope, key=key, revision=revision, now=now)
    return Outcome(decision.op, decision.reason, decision.why, None if decision.op is Op.DELETE else memory)


def judge(tx: SqliteUtils, db: Database, candidate: Candidate, place: Place) -> tuple[Decision, Memory | None]:
    """Return the decision about a candidate as things stand, and the current value."""
    tenant = place.principal.tenant
    current = store.current_memory(tx, tenant, place.scope, candidate.key)
    buried = candidate.content is not None and tombstone.is_buried(
        tx, tenant, tombstone.digests(db, tenant, place.scope, candidate.key, candidate.content)
    )
    return decide(candidate, current, buried=buried), current


def check_key(key: str) -> None:
    """Raise Refused for a key that is empty, too long, or holds a secret."""
    _check_text("key", key, LONGEST_KEY)
    if redact(key).findings:
        raise Refused("SECRET_IN_KEY", "the key holds what looks like a secret; keys are never erased, so name the thing instead")


def check_moments(**times: datetime | None) -> None:
    """Raise Refused for a time that is not a datetime with a zone."""
    for name, time in times.items():
        if time is not None and (not isinstance(time, datetime) or time.tzinfo is None):
            found = "has no zone" if isinstance(time, datetime) else f"is {shown(time)}"
            raise Refused("BAD_TIME", f"{name} {found}; pass a datetime with a zone, for instance datetime.now(UTC)")


def check_expected(expected: int) -> None:
    """Raise Refused unless `expected` is a revision number, 0, or ANY."""
    if isinstance(expected, bool) or not isinstance(expected, int) or expected < ANY:
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
