"""The inbox: candidates that wait for a person.

A proposal keeps what was proposed, what it rests on, and the revision that was current when it came; a person admits or rejects it.
What admission refuses at once (a tombstone stands, it is known already, it contradicts higher trust) never enters the inbox, only the
log. The same statement in other words adds its evidence to the proposal that waits, not a row. While a proposal waits, the distinct
questions that would have found it are counted, as keyed digests; what that is worth is in `gates.py`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlite_utils import Database as SqliteUtils

from memkit.errors import NotFound, Refused, shown
from memkit.record import store
from memkit.record.database import Database
from memkit.record.model import Candidate, Decision, Evidence, Kind, Memory, Op, Outcome, Proposal, ProposalStatus, Support, Times, Trust
from memkit.record.scope import Principal, named_dimensions
from memkit.record.text import normalise
from memkit.write.citing import MOST_CITES
from memkit.write.commit import Place, clean, commit_inside, judge
from memkit.write.duplicates import same_statement

_EMPTY = """
    update proposal set status = 'EXPIRED', reason = 'REPLAYED', content = null where id in (select value from json_each(:ids))
    and not exists (select 1 from evidence where proposal_id = proposal.id)"""
_UNSAY = """
    update proposal set reason = :waits where reason = :said and id in (select value from json_each(:ids)) and not exists (
        select 1 from evidence join episode on source = 'session:' || session || '/' || number and episode.tenant = evidence.tenant
        where proposal_id = proposal.id and role = 'user' and trusted)"""
_MET = "select distinct detail from event where tenant = :tenant and op = 'MET' and revision = :number"
_RECALLS = "(select count(*) from shadow where proposal_id = proposal.id) as recalls"
WAITS, SAID, FORGET, REVIEW = "AWAITS_A_PERSON", "SAID_BY_USER", "ASKED_TO_FORGET", "REVIEW_PROPOSED"
BY_ITSELF = ("session", "consolidation")  # where a candidate comes from that nobody made by hand
FORGOTTEN = ("TOMBSTONED", "UNSAID")  # why a candidate is not kept, and its words are not shown either
_WHY = {
    WAITS: "it waits in the inbox until a person admits or rejects it",
    SAID: "a user said this in these words; it waits until a person admits it, and is STATED then",
    FORGET: "a user asked to forget this; admitting it withdraws the value, and kit.forget erases every copy",
    REVIEW: "its record of use does not bear it out; admitting this withdraws the value, rejecting it lets the value stand",
}


def propose(db: Database, candidate: Candidate, place: Place, *, flags: tuple[str, ...], now: datetime, reason: str = WAITS) -> Proposal:
    """Put a candidate into the inbox, once, or say why not. Raises Refused for text that may not be kept.

    What waits already is returned as it is, and what a person rejected is not asked again in other spelling.
    """
    candidate = clean(candidate, place.policy)
    with db.write() as tx:
        return propose_inside(tx, db, candidate, place, flags=flags, now=now, reason=reason)


def propose_inside(
    tx: SqliteUtils, db: Database, candidate: Candidate, place: Place, *, flags: tuple[str, ...], now: datetime, reason: str = WAITS
) -> Proposal:
    """Do what `propose` does inside a transaction that already holds the write lock, with a clean candidate.

    `reason` is why it waits. What a user said literally is judged as what it is once admitted: STATED; until then it is INFERRED.
    """
    judged = replace(candidate, trust=Trust.STATED) if reason == SAID else candidate
    decision, current = judge(tx, db, judged, place, now)
    revision = current.revision if current else 0
    for earlier in [] if decision.reason in FORGOTTEN else _same(tx, place, candidate):
        if earlier.status is ProposalStatus.PENDING:
            if reason == SAID:
                query = "update proposal set reason = :reason where tenant = :tenant and number = :number"
                tx.execute(query, {"reason": SAID, "tenant": place.principal.tenant, "number": earlier.id})
            return fetch(tx, place.principal, earlier if flags and not earlier.flags else support(tx, place, earlier, candidate, now))
        if decision.op is not Op.NOOP:
            decision = Decision(Op.NOOP, "REJECTED_BEFORE", f"a person turned this down before, as proposal {earlier.id}")
    if decision.op is Op.NOOP:
        again = "" if flags or decision.reason in FORGOTTEN else _met_again(candidate, current)
        return not_kept(tx, candidate, place, decision, flags=flags, revision=revision, now=now, detail=again)
    store.log(tx, Op.PROPOSED, reason, **_where(place), key=candidate.key, revision=revision, now=now)
    number = _insert(tx, candidate, place, flags=flags, expected=revision, reason=reason, now=now)
    return fetch(tx, place.principal, number)


def not_kept(
    tx: SqliteUtils,
    candidate: Candidate,
    place: Place,
    decision: Decision,
    *,
    flags: tuple[str, ...],
    now: datetime,
    revision: int = 0,
    detail: str = "",
) -> Proposal:
    """Log why a candidate does not enter the inbox, and return it as a proposal that was never kept, number 0."""
    store.log(tx, Op.NOOP, decision.reason, **_where(place), key=candidate.key, revision=revision, now=now, detail=detail)
    shown = candidate.withdrawn() if decision.reason in FORGOTTEN else candidate
    return Proposal(0, place.scope, ProposalStatus.REJECTED, shown, revision, Op.NOOP, decision.reason, decision.why, now, flags)


def listed(tx: SqliteUtils, principal: Principal, scopes: list[str], status: ProposalStatus) -> list[Proposal]:
    """Return the proposals of these scopes with a status, oldest first."""
    where = "status = :status and scope in (select value from json_each(:scopes))"
    return _proposals(tx, principal.tenant, where, status=status, scopes=json.dumps(scopes))


def withdrawals(tx: SqliteUtils, tenant: str, scopes: Sequence[str]) -> set[tuple[str, str, int]]:
    """Return (scope, key, revision) of the values that a person was asked to withdraw, whether still undecided or kept."""
    query = """
        select scope, key, expected from proposal where tenant = :tenant and content is null and status in ('PENDING', 'REJECTED')
        and scope in (select value from json_each(:scopes))"""
    return set(tx.execute(query, {"tenant": tenant, "scopes": json.dumps(list(scopes))}).fetchall())


def fetch(tx: SqliteUtils, principal: Principal, wanted: Proposal | int) -> Proposal:
    """Return one proposal by its number, or as it stands now.

    Raises NotFound, for another tenant's, for what is another user's own, and for one of another store, exactly as for none.
    """
    number = wanted.id if isinstance(wanted, Proposal) else wanted
    if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 2**63:
        for proposal in _proposals(tx, principal.tenant, "number = :number", number=number):
            given = wanted if isinstance(wanted, Proposal) else proposal
            same = (given.scope, given.key, given.created_at) == (proposal.scope, proposal.key, proposal.created_at)
            if same and named_dimensions(proposal.scope).get("user", principal.user) == principal.user:
                return proposal
    raise NotFound(f"there is no proposal {shown(number)}; kit.inbox(scope=...) lists those that wait")


def admit(tx: SqliteUtils, db: Database, proposal: Proposal, place: Place, now: datetime, *, stated: bool = False) -> Outcome:
    """Write a waiting proposal as a person decided. Raises Conflict where the value it was proposed against has changed, and
    Refused for what has expired: it would take the place of what holds, and end it.

    `stated`: a user said it literally, so it is STATED now. A request to forget withdraws the value; what it rested on is not kept.
    """
    ends = proposal.candidate.times.expires_at
    if ends is not None and ends <= now:
        raise Refused("EXPIRED", f"what was proposed ended at {ends.isoformat()}; reject it, or propose it anew with another expires_at")
    candidate = replace(proposal.candidate, trust=Trust.STATED) if stated else proposal.candidate
    candidate = replace(candidate, evidence=()) if candidate.content is None else candidate
    outcome = commit_inside(tx, db, candidate, place, expected=proposal.expected, now=now)
    status = ProposalStatus.REJECTED if outcome.op is Op.NOOP else ProposalStatus.ADMITTED
    settled = settle(tx, proposal, place, status, outcome.reason)
    return replace(outcome, proposal=settled)


def settle(tx: SqliteUtils, proposal: Proposal, place: Place, status: ProposalStatus, reason: str) -> Proposal:
    """Move a proposal out of PENDING. Raises Refused where somebody decided about it already."""
    query = """
        update proposal set status = :status, reason = :reason
        where number = :number and tenant = :tenant and status = 'PENDING' returning id"""
    row = {"status": status, "reason": reason, "number": proposal.id, "tenant": place.principal.tenant}
    if not tx.execute(query, row).fetchall():
        now = fetch(tx, place.principal, proposal).status
        raise Refused("NOT_PENDING", f"proposal {proposal.id} is {now}, not PENDING: it was decided before; look at kit.inbox(scope=...)")
    return fetch(tx, place.principal, proposal)


def drop_extracted(tx: SqliteUtils, place: Place, session: str, now: datetime) -> None:
    """Take from what waits what was extracted from a session in this scope, so that a replay can make it again.

    What rests on another session too waits on without this one; as the user's word only where a user's episode is left to it.
    """
    mine = """
        tenant = :tenant and substr(source, 1, length(:prefix)) = :prefix
        and instr(substr(source, length(:prefix) + 1), '/') = 0"""  # subtle: else session "a" would take what is of "a/b"
    ours = f"""
        select id, key from proposal where tenant = :tenant and scope = :scope and status = 'PENDING' and source_type = 'session'
        and id in (select proposal_id from evidence where {mine})"""
    row = {"tenant": place.principal.tenant, "scope": place.scope, "prefix": f"session:{session}/", "said": SAID, "waits": WAITS}
    found = tx.execute(ours, row).fetchall()
    row["ids"] = json.dumps([identity for identity, _ in found])
    tx.execute(f"delete from evidence where {mine} and proposal_id in (select value from json_each(:ids))", row)
    for query in (_EMPTY, _UNSAY):
        tx.execute(query, row)
    for key in sorted({key for _, key in found}):  # who follows the log must hear of it
        store.log(tx, Op.NOOP, "REPLAYED", **_where(place), key=key, revision=0, now=now)


def waiting(tx: SqliteUtils, tenant: str, scope: str, keys: Sequence[str] | None) -> list[tuple[int, str, str]]:
    """Return (number, key, content) of what waits in a scope, of all keys (None) or of these; a request to forget says nothing."""
    query = """
        select number, key, content from proposal
        where tenant = :tenant and scope = :scope and status = 'PENDING' and content is not null"""
    some = " and key in (select value from json_each(:keys))" if keys is not None else ""
    return list(tx.execute(query + some, {"tenant": tenant, "scope": scope, "keys": json.dumps(keys)}).fetchall())


def waiting_on(tx: SqliteUtils, tenant: str, source: str, scopes: Sequence[str]) -> list[Proposal]:
    """Return the proposals of these scopes that wait, were made by hand, say something and cite a source."""
    where = """status = 'PENDING' and content is not null and source_type not in (select value from json_each(:machines))
        and scope in (select value from json_each(:scopes))
        and exists (select 1 from evidence where proposal_id = proposal.id and tenant = :tenant and source = :source)"""
    return _proposals(tx, tenant, where, source=source, scopes=json.dumps(scopes), machines=json.dumps(BY_ITSELF))


def count_wanted(tx: SqliteUtils, db: Database, tenant: str, numbers: Sequence[int], *, query: str, now: datetime) -> None:
    """Note that a question would have found these proposals; the same question, in any spelling, counts once."""
    insert = """
        insert into shadow (tenant, proposal_id, digest, at)
        select :tenant, id, :digest, :at from proposal
        where tenant = :tenant and number in (select value from json_each(:numbers)) and status = 'PENDING'
        on conflict do nothing"""
    digest = db.keyed_digest(f"query\0{tenant}\0{normalise(query)}")
    tx.execute(insert, {"tenant": tenant, "digest": digest, "at": store.stamp(now), "numbers": json.dumps(numbers)})


def support(tx: SqliteUtils, place: Place, waiting: Proposal, candidate: Candidate, now: datetime, *, was: int = 0) -> Proposal:
    """Add what a candidate rests on to the proposal that says the same already: where each place says all of it, any may hold.

    Quotes that hold only together are not mixed with others; the log alone notes, by this proposal's number, in which session such an
    experience was met again, and where proposal `was` becomes part of this one, in which sessions that one had been.
    """
    known = {(piece.cite, piece.digest) for piece in waiting.candidate.evidence}
    fresh = tuple(piece for piece in candidate.evidence if (piece.cite, piece.digest) not in known)
    alone = all(len(side.evidence) <= 1 or side.support is Support.ANY for side in (waiting.candidate, candidate))
    added = bool(fresh) and alone and len(known) + len(fresh) <= MOST_CITES
    met = {session for (session,) in tx.execute(_MET, {"tenant": place.principal.tenant, "number": was})}
    if not added and _met_again(candidate, waiting.candidate):
        met |= {piece.source.rpartition("/")[0] for piece in candidate.evidence}
    for session in sorted(met):
        store.log(tx, "MET", "MET_AGAIN", **_where(place), key=waiting.key, revision=waiting.id, now=now, detail=session)
    if not added:
        return waiting
    row = {"tenant": place.principal.tenant, "number": waiting.id, "support": Support.ANY}
    query = "update proposal set support = :support where tenant = :tenant and number = :number returning id"
    ((identity,),) = tx.execute(query, row).fetchall()
    store.add_evidence(tx, place.principal.tenant, fresh, proposal_id=identity)
    return fetch(tx, place.principal, waiting.id)


def _same(tx: SqliteUtils, place: Place, candidate: Candidate) -> list[Proposal]:
    """Return the proposals of the key that wait or were rejected and say the same, disguises undone."""
    where = "scope = :scope and key = :key and status in ('PENDING', 'REJECTED')"
    earlier = _proposals(tx, place.principal.tenant, where, scope=place.scope, key=candidate.key)
    if candidate.content is None:  # the same request, by what it rests on
        cites = {piece.cite for piece in candidate.evidence}
        return [one for one in earlier if one.content is None and any(piece.cite in cites for piece in one.candidate.evidence)]
    return [one for one in earlier if one.content is not None and same_statement(one.content, candidate.content)]


def _met_again(candidate: Candidate, current: Memory | Candidate | None) -> str:
    """Return in which session a known or waiting experience was met once more ("session:monday"), "" for anything else."""
    kinds = {candidate.kind, current.kind if current else None}
    same = current is not None and kinds == {Kind.EXPERIENCE} and same_statement(current.content or "", candidate.content or "")
    return candidate.evidence[0].source.rpartition("/")[0] if same and candidate.source == "session" else ""


def _insert(
    tx: SqliteUtils, candidate: Candidate, place: Place, *, flags: tuple[str, ...], expected: int, reason: str, now: datetime
) -> int:
    row = store.terms_of(candidate) | {"tenant": place.principal.tenant, "scope": place.scope, "flags": " ".join(flags)}
    row |= {"expected": expected, "status": ProposalStatus.PENDING, "reason": reason, "created_at": store.stamp(now)}
    names, values = ", ".join(row), ", ".join(f":{name}" for name in row)
    query = f"""
        insert into proposal (number, {names}) select coalesce(max(number), 0) + 1, {values}
        from proposal where tenant = :tenant returning id, number"""
    ((identity, number),) = tx.execute(query, row).fetchall()
    store.add_evidence(tx, place.principal.tenant, candidate.evidence, proposal_id=identity)
    return int(number)


def _where(place: Place) -> dict[str, Any]:
    return {"principal": place.principal, "scope": place.scope}


def _proposals(tx: SqliteUtils, tenant: str, where: str, **values: object) -> list[Proposal]:
    query = f"select *, {_RECALLS} from proposal where tenant = :tenant and {where} order by id"
    rows = store.select(tx, query, {"tenant": tenant, **values})
    evidence = store.evidence_of(tx, tenant, "proposal_id", [row["id"] for row in rows]) if rows else {}
    return [_proposal(row, evidence.get(row["id"], ())) for row in rows]


def _proposal(row: dict[str, Any], evidence: tuple[Evidence, ...]) -> Proposal:
    times = Times(*(store.moment(row[name]) for name in ("valid_from", "valid_to", "review_at", "expires_at")))
    kept = (row["key"], row["content"], Kind(row["kind"]), Trust(row["trust"]), row["confidence"], row["source_type"])
    status = ProposalStatus(row["status"])
    candidate = Candidate(*kept, evidence, times, Support(row["support"]), row["task"], row["verification"])
    why = _WHY.get(row["reason"], "") if status is ProposalStatus.PENDING else f"it was decided: {status}"
    told = (row["expected"], Op.PROPOSED, row["reason"], why, datetime.fromisoformat(row["created_at"]), tuple(row["flags"].split()))
    return Proposal(row["number"], row["scope"], status, candidate, *told, row["recalls"])
