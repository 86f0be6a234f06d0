"""The inbox: candidates that wait for a person.

A proposal keeps what was proposed, what it rests on, and the revision that was current when it came; a person admits or rejects it.
What admission refuses at once (a tombstone stands, it is known already, it contradicts higher trust) never enters the inbox, only the
log. Gates and shadow recalls for inferences are not here yet.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlite_utils import Database as SqliteUtils

from memkit.errors import NotFound, Refused, shown
from memkit.record import store
from memkit.record.database import Database
from memkit.record.model import Candidate, Kind, Op, Outcome, Proposal, ProposalStatus, Times, Trust
from memkit.record.text import normalise
from memkit.write.commit import Place, clean, commit_inside, judge

_WAITS = "it waits in the inbox until a person admits or rejects it"


def propose(db: Database, candidate: Candidate, place: Place, *, flags: tuple[str, ...], now: datetime) -> Proposal:
    """Put a candidate into the inbox, once, or say why not. Raises Refused for text that may not be kept."""
    candidate = clean(candidate)
    with db.write() as tx:
        decision, current = judge(tx, db, candidate, place)
        revision = current.revision if current else 0
        reason = decision.reason if decision.op is Op.NOOP else "AWAITS_A_PERSON"
        op = Op.NOOP if decision.op is Op.NOOP else Op.PROPOSED
        store.log(tx, op, reason, principal=place.principal, scope=place.scope, key=candidate.key, revision=revision, now=now)
        if decision.op is Op.NOOP:
            refused = replace(candidate, content=None, evidence=()) if reason == "TOMBSTONED" else candidate
            return Proposal(0, place.scope, ProposalStatus.REJECTED, refused, revision, Op.NOOP, reason, decision.why, now, flags)
        for waiting in _waiting_for(tx, place, candidate):
            return waiting
        identity = _insert(tx, candidate, place, flags=flags, expected=revision, now=now)
        store.add_evidence(tx, place.principal.tenant, candidate.evidence, proposal_id=identity)
        return fetch(tx, place.principal.tenant, identity)


def listed(tx: SqliteUtils, tenant: str, scopes: list[str], status: ProposalStatus) -> list[Proposal]:
    """Return the proposals of these scopes with a status, oldest first."""
    rows = [row for scope in scopes for row in _select(tx, tenant, "scope = :scope and status = :status", scope=scope, status=status)]
    return [_proposal(tx, tenant, row) for row in sorted(rows, key=lambda row: int(row["id"]))]


def fetch(tx: SqliteUtils, tenant: str, identity: int) -> Proposal:
    """Return one proposal. Raises NotFound, for another tenant's exactly as for none."""
    for row in _select(tx, tenant, "id = :id", id=identity):
        return _proposal(tx, tenant, row)
    raise NotFound(f"there is no proposal {shown(identity)}; kit.inbox(scope=...) lists those that wait")


def admit(tx: SqliteUtils, db: Database, proposal: Proposal, place: Place, now: datetime) -> Outcome:
    """Write a waiting proposal as a person decided. Raises Conflict where the value it was proposed against has changed."""
    outcome = commit_inside(tx, db, proposal.candidate, place, expected=proposal.expected, now=now)
    status = ProposalStatus.REJECTED if outcome.op is Op.NOOP else ProposalStatus.ADMITTED
    settled = settle(tx, proposal, place, status, outcome.reason)
    return replace(outcome, proposal=settled)


def settle(tx: SqliteUtils, proposal: Proposal, place: Place, status: ProposalStatus, reason: str) -> Proposal:
    """Move a proposal out of PENDING. Raises Refused where somebody decided about it already."""
    tenant = place.principal.tenant
    query = """
        update proposal set status = :status, reason = :reason where id = :id and tenant = :tenant and status = 'PENDING' returning id"""
    if not tx.execute(query, {"status": status, "reason": reason, "id": proposal.id, "tenant": tenant}).fetchall():
        now = fetch(tx, tenant, proposal.id).status
        raise Refused("NOT_PENDING", f"proposal {proposal.id} is {now}, not PENDING: it was decided before; look at kit.inbox(scope=...)")
    return fetch(tx, tenant, proposal.id)


def _waiting_for(tx: SqliteUtils, place: Place, candidate: Candidate) -> list[Proposal]:
    rows = _select(tx, place.principal.tenant, "scope = :scope and key = :key and status = 'PENDING'", scope=place.scope, key=candidate.key)
    same = [row for row in rows if normalise(row["content"] or "") == normalise(candidate.content or "")]
    return [_proposal(tx, place.principal.tenant, row) for row in same]


def _insert(tx: SqliteUtils, candidate: Candidate, place: Place, *, flags: tuple[str, ...], expected: int, now: datetime) -> int:
    row = store.terms_of(candidate) | {"tenant": place.principal.tenant, "scope": place.scope, "flags": " ".join(flags)}
    row |= {"expected": expected, "status": ProposalStatus.PENDING, "reason": "AWAITS_A_PERSON", "created_at": store.stamp(now)}
    names = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    return int(tx.execute(f"insert into proposal ({names}) values ({values}) returning id", row).fetchall()[0][0])


def _select(tx: SqliteUtils, tenant: str, where: str, **values: object) -> list[dict[str, Any]]:
    return store.select(tx, f"select * from proposal where tenant = :tenant and {where} order by id", {"tenant": tenant, **values})


def _proposal(tx: SqliteUtils, tenant: str, row: dict[str, Any]) -> Proposal:
    evidence = store.evidence_of(tx, tenant, "proposal_id", [row["id"]]).get(row["id"], ())
    candidate = Candidate(
        key=row["key"],
        content=row["content"],
        kind=Kind(row["kind"]),
        trust=Trust(row["trust"]),
        confidence=row["confidence"],
        source=row["source_type"],
        evidence=evidence,
        times=Times(**{name: store.moment(row[name]) for name in ("valid_from", "valid_to", "review_at", "expires_at")}),
    )
    waits = row["status"] == ProposalStatus.PENDING
    return Proposal(
        id=row["id"],
        scope=row["scope"],
        status=ProposalStatus(row["status"]),
        candidate=candidate,
        expected=row["expected"],
        op=Op.PROPOSED,
        reason=row["reason"],
        why=_WAITS if waits else f"it was decided: {row['status']}",
        created_at=datetime.fromisoformat(row["created_at"]),
        flags=tuple(row["flags"].split()),
    )
