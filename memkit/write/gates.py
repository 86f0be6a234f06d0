"""The gates an inference must pass before consolidation may keep it without asking: pure functions over values.

A candidate is counted by the distinct questions it would have answered while it waited (shadow recalls); it is never returned for them.
Counting promotes nothing that was flagged, nothing that claims to be more than an inference, and nothing that contradicts what is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from memkit.record.model import Decision, Kind, Memory, Op, Proposal, ProposalStatus, Trust


@dataclass(frozen=True, slots=True)
class Gates:
    """How sure an inference must be (0 to 1), and how many distinct questions it must have been wanted for."""

    confidence: float = 0.75
    recalls: int = 3


def through(proposal: Proposal, gates: Gates, *, now: datetime, current: Memory | None = None) -> Decision:
    """Say whether a waiting proposal may be kept without a person: ADD, or NOOP with the gate that holds it.

    `current` is the value it would replace; counting replaces nothing but another inference.

    >>> from datetime import UTC
    >>> from memkit.record.model import Candidate
    >>> guess = Candidate("cache", "the cache is cold on Mondays", Kind.INFERENCE, Trust.INFERRED, 0.6, "model")
    >>> waiting = Proposal(1, "workspace=shop", ProposalStatus.PENDING, guess, 0, Op.PROPOSED, "", "", datetime(2026, 1, 1, tzinfo=UTC))
    >>> through(waiting, Gates(), now=datetime(2026, 1, 2, tzinfo=UTC)).reason
    'LOW_CONFIDENCE'
    """
    for held, reason, why in _held(proposal, gates, now, current):
        if held:
            return Decision(Op.NOOP, reason, why)
    sure = f"confidence {proposal.candidate.confidence:.2f}, wanted by {proposal.recalls} distinct questions"
    return Decision(Op.ADD, "PASSED_THE_GATES", sure)


def _held(proposal: Proposal, gates: Gates, now: datetime, current: Memory | None) -> Iterator[tuple[bool, str, str]]:
    """Yield each gate: whether it holds the proposal back, and with which reason."""
    candidate, expires_at = proposal.candidate, proposal.candidate.times.expires_at
    inferred = candidate.kind is Kind.INFERENCE and candidate.trust is Trust.INFERRED
    yield proposal.status is not ProposalStatus.PENDING, "NOT_PENDING", f"it is {proposal.status}"
    flagged = f"it looks like an instruction ({', '.join(proposal.flags)}); counting never promotes that, a person may"
    yield bool(proposal.flags), "FLAGGED", flagged
    yield not inferred, "ASKS_A_PERSON", f"it is of kind {candidate.kind}, which a person admits; only an inference may pass by itself"
    yield expires_at is not None and expires_at <= now, "EXPIRED", "it expired while it waited"
    replaces = current is not None and not (current.trust is Trust.INFERRED and current.kind is Kind.INFERENCE)
    yield replaces, "ASKS_A_PERSON", "it would replace what is no inference; a person decides between them"
    moved = proposal.expected != (current.revision if current else 0)
    yield moved, "ASKS_A_PERSON", f"it was proposed against revision {proposal.expected}, which is not the current one"
    low = f"its confidence is {candidate.confidence:.2f}, below {gates.confidence:.2f}"
    yield candidate.confidence < gates.confidence, "LOW_CONFIDENCE", low
    few = f"{proposal.recalls} distinct questions wanted it, fewer than {gates.recalls}"
    yield proposal.recalls < gates.recalls, "TOO_FEW_RECALLS", few
