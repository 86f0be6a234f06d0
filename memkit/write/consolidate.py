"""Consolidate: take the lease, look, plan, check the plan, and carry it out in one transaction, or not at all.

Nothing a plan touches may have changed since it was looked at: each step compares and swaps, so a correction made meanwhile wins, and the
run looks again. The lease is checked inside the transaction, so a job that slept through a takeover writes nothing. A run that was killed
leaves the old state or the new one. Left out: the rules (`plan.py`), the guard (`fuse.py`), and the disposable snapshot (`snapshot.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlite_utils import Database as SqliteUtils

from memkit.errors import Conflict, Refused
from memkit.record import store
from memkit.record.database import Database, random_id
from memkit.record.evidence import Reader, check, decided
from memkit.record.model import Candidate, Kind, Memory, Op, Outcome, Progress, Proposal, ProposalStatus, Trust
from memkit.record.scope import Principal, named_dimensions, visible_from
from memkit.record.text import count_tokens
from memkit.record.use import record_of_use
from memkit.write import lease as leases
from memkit.write import proposals
from memkit.write.arguments import untold
from memkit.write.commit import Place
from memkit.write.extract import MOST_TOKENS
from memkit.write.fuse import FUSE, Fuse, Run, check_plan
from memkit.write.lease import Lease
from memkit.write.plan import Act, Plan, Planner, Seen, Step

NAME = "consolidate"  # of the lease: one consolidation a tenant at a time
ATTEMPTS = 5  # looks, when what was planned is overtaken by other writes
ENOUGH, OLD = 20, timedelta(days=1)  # waiting candidates, or the age of the oldest, from which a run is due

_NOT_NOW = {"HELD": "another consolidation has the lease", "BACKING_OFF": "the last consolidation failed, so the next one has to wait"}

_SCOPES = """
    select scope from proposal where tenant = :tenant and status = 'PENDING'
    union select scope from memory where tenant = :tenant and kind in ('inference', 'experience') order by scope"""


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """What a consolidation did. `written` are the outcomes that changed the record, `refused` those that admission turned down.

    `loss_fraction` is the share of the memories seen that were changed or lost, 0 to 1; `input_version` names what was looked at.
    """

    plan: Plan
    written: tuple[Outcome, ...]
    refused: tuple[Outcome, ...]
    seen: int
    input_version: str
    dry_run: bool

    @property
    def loss_fraction(self) -> float:
        return len(self.plan.lost) / self.seen if self.seen else 0.0

    def __repr__(self) -> str:
        did = "nothing was written, this was a dry run" if self.dry_run else f"{len(self.written)} written, {len(self.refused)} refused"
        return f"Report({did}; {len(self.plan.lost)} of {self.seen} memories changed or lost)\n    {self.plan!r}"


@dataclass(frozen=True, slots=True)
class Job:
    """What one consolidation works with: whose it is, where (None: every scope of the tenant it may write), how it plans and reads."""

    principal: Principal
    scopes: tuple[str, ...] | None
    planner: Planner
    reader: Callable[[Sequence[str]], Reader]
    clock: Callable[[], datetime]
    fuse: Fuse = FUSE
    count: Callable[[str], int] = count_tokens
    progress: Progress = untold


def consolidate(db: Database, job: Job, *, dry_run: bool = False) -> Report:
    """Run one consolidation, or only plan it.

    Raises Refused while another job holds the lease or a failed one backs off, and for a bad plan; FuseTripped for a plan that takes too
    much; LeaseLost after a takeover; Conflict where other writers were faster every time. Nothing is written then.
    """
    if dry_run:
        return _attempt(db, job, None)
    held = _claimed(db, job)
    try:
        report = _patiently(db, job, held)
    except BaseException as error:
        _give_back(db, held, failed=not isinstance(error, Conflict), now=job.clock())
        raise
    _give_back(db, held, failed=False, now=job.clock())
    return report


def is_due(tx: SqliteUtils, tenant: str, scope: str, waiting: Sequence[Proposal], now: datetime) -> bool:
    """Return whether enough candidates came since the last consolidation of their scope, or one waited long and none looked lately."""
    runs = [store.moment(row["at"]) for row in store.select(tx, _PAST, {"tenant": tenant, "scopes": json.dumps([scope])})]
    last = max((at for at in runs if at is not None and at <= now), default=None)  # subtle: a clock that ran ahead did not look tomorrow
    fresh = [proposal for proposal in waiting if last is None or proposal.created_at > last]
    looked_at = last is not None and now < last + OLD
    return len(fresh) >= ENOUGH or (not looked_at and any(proposal.created_at + OLD <= now for proposal in waiting))


def look(db: Database, job: Job, held: Lease | None = None) -> tuple[Seen, list[Run]]:
    """Return what a plan is made from, as it stands now, and what former runs of the window that reached these scopes took.

    `held` is renewed while the evidence is read. Subtle: what they *saw* counts only where they saw the same scopes, or a large scope would
    let a small one be emptied step by step.
    """
    now, tenant = job.clock(), job.principal.tenant
    with db.read() as tx:
        scopes = list(job.scopes) if job.scopes is not None else _own(tx, job.principal)
        memories = [memory for memory in store.current_memories(tx, tenant, scopes) if not memory.ended(now)]
        asked = proposals.listed(tx, job.principal, scopes, ProposalStatus.PENDING)
        overtaken = _overtaken(asked, memories)
        waiting = [one for one in asked if one.content is not None or one.id in overtaken]  # other requests wait for a person alone
        used = {name: (use.confirmed, use.contradicted) for name, use in record_of_use(tx, tenant, [one.id for one in memories]).items()}
        met = frozenset(tx.execute(_MET, {"tenant": tenant, "scopes": json.dumps(scopes)}).fetchall())
        told = proposals.withdrawals(tx, tenant, scopes)
        runs = store.select(tx, _PAST, {"tenant": tenant, "scopes": json.dumps(job.scopes)})
        past = [Run(row["seen"], row["lost"]) for row in runs if (store.moment(row["at"]) or now) > now - job.fuse.window]
    readers = {scope: job.reader(visible_from(scope)) for scope in {proposal.scope for proposal in waiting}}
    fallen = dict[int, str]()
    for done, proposal in enumerate(waiting, 1):
        if proposal.candidate.evidence and (reason := _verdict(proposal, readers[proposal.scope])):
            fallen[proposal.id] = reason
        held = _alive(db, held, job.clock())
        job.progress(done, len(waiting))
    asked_about = frozenset(one.id for one in memories if (one.scope, one.key, one.revision) in told)
    judged = {name: counts for name, counts in used.items() if any(counts)}  # to be shown says nothing of being right
    written: list[Memory | Proposal] = [*waiting, *(memory for memory in memories if memory.kind is Kind.EXPERIENCE)]
    long = frozenset(one.id for one in written if job.count(one.content or "") > MOST_TOKENS)
    room = job.fuse.room(len(memories), past)
    return Seen(tuple(memories), tuple(waiting), fallen, now, judged, asked_about, met, long, room), past


# subtle: `cross join` keeps the log outside, read once; SQLite would read it once for each experience
_MET = """
    select distinct m.scope, m.key, m.revision, e.detail from event e cross join memory m using (tenant, scope, key)
    left join (select scope, key, max(seq) as seq from event where tenant = :tenant and op in ('DELETE', 'FORGET') group by scope, key)
        ended using (scope, key)
    where tenant = :tenant and scope in (select value from json_each(:scopes)) and kind = 'experience' and detail like 'session:%'
    and (e.op = 'NOOP' and e.seq > coalesce(ended.seq, 0) or e.op = 'MET' and exists (select 1 from proposal p
        where p.tenant = m.tenant and p.number = e.revision and p.status = 'ADMITTED' and p.content = m.content))"""
_PAST = """
    select at, lost, case when scopes = :scopes then seen else 0 end as seen from run
    where tenant = :tenant and (scopes in (:scopes, 'null') or :scopes = 'null') order by id"""
_NOTE = """
    insert into run (tenant, scopes, at, input_version, seen, lost, written)
    values (:tenant, :scopes, :at, :version, :seen, :lost, :written)"""


def _own(tx: SqliteUtils, principal: Principal) -> list[str]:
    found = [row["scope"] for row in store.select(tx, _SCOPES, {"tenant": principal.tenant})]
    return [scope for scope in found if named_dimensions(scope).get("user", principal.user) == principal.user]


def _overtaken(asked: Sequence[Proposal], memories: Sequence[Memory]) -> set[int]:
    """Return the requests to withdraw a value that another has replaced: of a review always, of a user where the user asked again since."""
    current = {(one.scope, one.key, one.revision) for one in memories}
    last = {(one.scope, one.key): one.expected for one in asked if one.reason == proposals.FORGET}
    past = [one for one in asked if one.content is None and (one.scope, one.key, one.expected) not in current]
    return {one.id for one in past if one.reason == proposals.REVIEW or one.expected < last.get((one.scope, one.key), 0)}


def _verdict(proposal: Proposal, reader: Reader) -> str:
    """Return why a proposal's evidence no longer holds, or "" where it does."""
    verdict = decided([check(piece, reader) for piece in proposal.candidate.evidence], proposal.candidate.support)
    return "" if verdict.holds else verdict.withheld_as


def _claimed(db: Database, job: Job) -> Lease:
    with db.write() as tx:
        claim = leases.claim(tx, job.principal.tenant, NAME, holder=random_id(), now=job.clock())
    if claim.lease is None:
        raise Refused(claim.reason, f"{_NOT_NOW[claim.reason]}; try again after {claim.until:%Y-%m-%d %H:%M:%S}")
    return claim.lease


def _alive(db: Database, held: Lease | None, now: datetime) -> Lease | None:
    """Renew the lease where half of its time is over, so that a long look is no silence. Raises LeaseLost after a takeover."""
    if held is None or held.expires_at is None or now < held.expires_at - leases.TTL / 2:
        return held
    with db.write() as tx:
        return leases.renew(tx, held, now=now)


def _give_back(db: Database, held: Lease, *, failed: bool, now: datetime) -> None:
    with db.write() as tx:
        standing = leases.standing(tx, held.tenant, held.name)
        if (standing.token, standing.holder) == (held.token, held.holder):  # else somebody took over, and it is theirs
            leases.release(tx, held, failed=failed, now=now)


def _patiently(db: Database, job: Job, held: Lease) -> Report:
    """Look and plan again where somebody wrote what the plan touches before it was carried out."""
    for _ in range(ATTEMPTS - 1):
        with suppress(Conflict):
            return _attempt(db, job, held)
    return _attempt(db, job, held)


def _attempt(db: Database, job: Job, held: Lease | None) -> Report:
    seen, past = look(db, job, held)
    plan = job.planner(seen)
    check_plan(plan, seen, past, job.fuse, job.count)
    outcomes: list[Outcome] = []
    if held is not None:
        with db.write() as tx:
            leases.renew(tx, held, now=job.clock())  # raises LeaseLost: the fencing check, inside the transaction that commits
            for done, step in enumerate(plan.steps, len(seen.proposals) + 1):
                outcomes.append(_carried_out(tx, db, step, job, seen))
                job.progress(done, len(seen.proposals) + len(plan.steps))
            _note(tx, job, plan, seen, outcomes)
    written = tuple(outcome for outcome in outcomes if outcome.op is not Op.NOOP)
    refused = tuple(outcome for outcome in outcomes if outcome.op is Op.NOOP)
    return Report(plan, written, refused, len(seen.memories), seen.version, held is None)


def _note(tx: SqliteUtils, job: Job, plan: Plan, seen: Seen, outcomes: Sequence[Outcome]) -> None:
    if not (plan.steps or seen.proposals):
        return
    row = {"tenant": job.principal.tenant, "scopes": json.dumps(job.scopes), "at": store.stamp(seen.now), "version": seen.version}
    numbers = {"seen": len(seen.memories), "lost": len(plan.lost), "written": sum(outcome.op is not Op.NOOP for outcome in outcomes)}
    tx.execute(_NOTE, row | numbers)


def _carried_out(tx: SqliteUtils, db: Database, step: Step, job: Job, seen: Seen) -> Outcome:
    place = Place(job.principal, step.scope)
    if step.act is Act.RETIRE:
        gone = Candidate(step.key, None, Kind.INFERENCE, Trust.INFERRED, 1.0, "consolidation")
        tenant, actor = place.principal.tenant, place.principal.actor
        memory = store.append(tx, Op.DELETE, gone, tenant=tenant, scope=step.scope, expected=step.expected, actor=actor, now=seen.now)
        _log(tx, place, step, memory.revision, seen.now)
        return Outcome(Op.DELETE, step.reason, step.why, memory)
    if step.act is Act.PROPOSE:
        origin = next(memory for memory in seen.memories if memory.id == step.into)
        told = replace(store.as_candidate(origin), key=step.key, trust=Trust.INFERRED, source="consolidation")
        told, reason = (told.withdrawn(), proposals.REVIEW) if step.reason == proposals.REVIEW else (told, proposals.WAITS)
        made = proposals.propose_inside(tx, db, told, place, flags=(), now=seen.now, reason=reason)
        if reason == proposals.REVIEW and made.expected != origin.revision:
            raise Conflict(step.key, expected=origin.revision, actual=made.expected)
        return Outcome(made.op, made.reason, made.why, None, made)
    proposal = _waiting(tx, step, place)
    if step.act is Act.ADMIT:
        return proposals.admit(tx, db, proposal, place, seen.now)
    if step.act is Act.MERGE and not proposal.flags:  # what looks like an instruction lends no weight to anything
        proposals.support(tx, place, proposals.fetch(tx, job.principal, int(step.into)), proposal.candidate, seen.now, was=proposal.id)
    settled = proposals.settle(tx, proposal, place, ProposalStatus.EXPIRED, step.reason)
    _log(tx, place, step, proposal.expected, seen.now)
    return Outcome(Op.PROPOSED, step.reason, step.why, None, settled)


def _waiting(tx: SqliteUtils, step: Step, place: Place) -> Proposal:
    """Return the proposal of a step, if it still waits and says the same. Raises Conflict."""
    proposal = proposals.fetch(tx, place.principal, step.proposal)
    if proposal.status is not ProposalStatus.PENDING or proposal.content != step.content:
        raise Conflict(step.key, expected=proposal.expected, actual=proposal.expected)
    return proposal


def _log(tx: SqliteUtils, place: Place, step: Step, revision: int, now: datetime) -> None:
    who, what = place.principal, f"{step.stage} {step.act}"
    store.log(tx, step.op, step.reason, principal=who, scope=step.scope, key=step.key, revision=revision, now=now, detail=what)
