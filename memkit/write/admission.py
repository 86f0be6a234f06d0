"""Admission: candidate + current value -> ADD, UPDATE, DELETE or NOOP, with a named reason. Pure: no clock, no database, no files.

What a person states, what evidence verifies and what a model inferred all come through here, so one rule holds for every path: lower
trust never overwrites higher. Whether the revision number still fits is not decided here; the record's compare-and-swap does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memkit.record.model import Candidate, Decision, Kind, Memory, Op, Trust
from memkit.record.text import plain


def decide(candidate: Candidate, current: Memory | None, *, now: datetime, buried: Sequence[str] = ()) -> Decision:
    """Decide what a candidate does to the current value of its key; `buried` names the keys whose tombstones stand for its value.

    >>> from datetime import UTC
    >>> from memkit.record.model import Kind
    >>> dark = Candidate("theme", "dark", Kind.PREFERENCE, Trust.STATED, 1.0, "user")
    >>> decide(dark, None, now=datetime(2026, 1, 1, tzinfo=UTC)).reason
    'NEW'
    """
    if candidate.content is None:
        return _withdraw(current)
    if buried:
        under = ", ".join(repr(key) for key in buried)
        return Decision(
            Op.NOOP, "TOMBSTONED", f"this value was forgotten on request, under {under}; only a person may lift that, with restore_right"
        )
    if current is None:
        return Decision(Op.ADD, "NEW", "nothing was known under this key in this scope")
    return _by_kind(candidate, current, now) or _by_trust(candidate, current, now)


def _withdraw(current: Memory | None) -> Decision:
    if current is None:
        return Decision(Op.NOOP, "NOTHING_CURRENT", "there is no current value under this key in this scope")
    return Decision(Op.DELETE, "WITHDRAWN", "the value is withdrawn; the key has no current value from now on")


def _by_kind(candidate: Candidate, current: Memory, now: datetime) -> Decision | None:
    """Return what the kinds decide, whatever the trust; None where they leave it open."""
    if current.negative is not (candidate.kind is Kind.ABSENCE) and not current.ended(now):
        if current.negative:
            return Decision(Op.UPDATE, "FOUND", f"revision {current.revision} only said that a search had found nothing")
        return Decision(Op.NOOP, "STILL_KNOWN", f"a search that found nothing withdraws nothing; revision {current.revision} stands")
    if Kind.EXPERIENCE in (candidate.kind, current.kind) and not _same_experience(candidate, current):
        return Decision(
            Op.NOOP, "APPEND_ONLY", f"revision {current.revision} stands, and an experience is added, never overwritten; use another key"
        )
    return None


def _by_trust(candidate: Candidate, current: Memory, now: datetime) -> Decision:
    if current.ended(now):
        return Decision(Op.UPDATE, "RENEWED", f"revision {current.revision} had ended, and what has ended defends nothing")
    if plain(candidate.content or "") == plain(current.content or ""):
        return _same_value(candidate, current, now)
    return _other_value(candidate, current)


def _same_value(candidate: Candidate, current: Memory, now: datetime) -> Decision:
    if candidate.trust.rank > current.trust.rank:
        return Decision(Op.UPDATE, "TRUST_RAISED", f"revision {current.revision} says the same, and now it is {candidate.trust}")
    if candidate.trust is current.trust is Trust.VERIFIED and _rests_on(candidate) != _rests_on(current):
        return Decision(Op.UPDATE, "EVIDENCE_RENEWED", f"revision {current.revision} says the same, and now it rests on what was just read")
    if candidate.trust is current.trust and (current.due(now) or _other_times(candidate, current)):
        return Decision(Op.UPDATE, "RENEWED", f"revision {current.revision} says the same, and is confirmed with the times given now")
    return Decision(Op.NOOP, "ALREADY_KNOWN", f"the current value, revision {current.revision}, says this already")


_REPLACES = {
    Trust.STATED: ("CORRECTED", "a person corrected"),
    Trust.VERIFIED: ("SOURCE_CHANGED", "what the source says now replaces"),
    Trust.INFERRED: ("INFERENCE_REVISED", "another inference replaces"),
}


def _other_value(candidate: Candidate, current: Memory) -> Decision:
    if candidate.trust is current.trust:
        reason, does = _REPLACES[candidate.trust]
        return Decision(Op.UPDATE, reason, f"{does} revision {current.revision}")
    if candidate.trust.rank > current.trust.rank:
        return Decision(
            Op.UPDATE, "HIGHER_TRUST", f"it is {candidate.trust} and replaces revision {current.revision}, which is {current.trust}"
        )
    if candidate.trust is Trust.VERIFIED:
        return Decision(
            Op.NOOP, "NEEDS_CONFIRMATION", "a source contradicts what a person stated; ask the person, who may correct it with remember"
        )
    return Decision(Op.NOOP, "LOWER_TRUST", f"{candidate.trust} cannot replace revision {current.revision}, which is {current.trust}")


def _other_times(candidate: Candidate, current: Memory) -> bool:
    """Return whether the candidate names a time that the current value does not have."""
    times = candidate.times
    pairs = [(times.valid_from, current.valid_from), (times.valid_to, current.valid_to)]
    pairs += [(times.review_at, current.review_at), (times.expires_at, current.expires_at)]
    return any(new is not None and new != old for new, old in pairs)


def _same_experience(candidate: Candidate, current: Memory) -> bool:
    told = [(each.kind, plain(each.content or ""), each.task, each.verification) for each in (candidate, current)]
    return told[0] == told[1]


def _rests_on(holder: Candidate | Memory) -> tuple[str, set[tuple[str, str]]]:
    return holder.support, {(piece.cite, piece.digest) for piece in holder.evidence}
