"""The guard between a plan and the record: whatever made the plan, code checks it against what was really there.

A plan must account for every memory and every waiting proposal it was shown, may touch only inferences, may write only what waited, and
may change or lose at most a quarter of the memories it was shown, counting also what earlier runs of the last days took. All in integers.
It may let a proposal go only where its time is really over, or where another that stays says the same or outweighs it. What it was not
shown never counts as dropped. Left out: carrying the plan out.

Source of the cap: DEFAULT_MEMORY_DEEP_DREAMING_MAX_PRIOR_ENTRY_LOSS_FRACTION = 0.25 of openclaw.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memkit.errors import FuseTripped, Refused, shown
from memkit.record.model import Kind, Memory, Op, Trust
from memkit.record.text import count_tokens
from memkit.write.arguments import check_key
from memkit.write.duplicates import same_statement
from memkit.write.extract import MOST_TOKENS
from memkit.write.plan import PATIENCE, Act, Plan, Seen, Stage, Step, expired, speaks_for_another_key, strongest


@dataclass(frozen=True, slots=True)
class Fuse:
    """At most `percent` of the entries seen may be changed or lost, over one run and over all runs in a `window`; below `least`, none.

    A proposal without an expiry of its own may be let go when it has waited for `patience`.
    """

    percent: int = 25
    least: int = 4
    window: timedelta = timedelta(days=7)
    patience: timedelta = PATIENCE


FUSE = Fuse()


@dataclass(frozen=True, slots=True)
class Run:
    """A former consolidation: how many entries it saw, and how many it changed or lost."""

    at: datetime
    seen: int
    lost: int


def check_plan(plan: Plan, seen: Seen, past: Sequence[Run] = (), fuse: Fuse = FUSE, count: Callable[[str], int] = count_tokens) -> None:
    """Raise Refused("BAD_PLAN") for a plan that does not fit what was seen, and FuseTripped for one that takes too much.

    `count` counts the tokens of a text.
    """
    _check_kinds(plan)
    memories = {memory.id: memory for memory in seen.memories}
    _check_all_named("memories", "memory", [*plan.kept, *plan.lost], list(memories))
    for step in plan.steps:
        long = step.act in (Act.ADMIT, Act.PROPOSE) and count(step.content or "") > MOST_TOKENS
        faults = (long, f"writes more than {MOST_TOKENS} tokens"), *_faults(step, seen, memories, plan)
        for wrong, what in (*faults, *_partings(step, seen, plan, fuse.patience)):
            if wrong:
                raise Refused("BAD_PLAN", f"the step {step.act} {step.key!r} {what}; nothing was written")
    used = [step.proposal for step in plan.steps if step.proposal]
    _check_all_named("proposals", "proposal that waits", [*used, *plan.held], [proposal.id for proposal in seen.proposals])
    _check_loss(len(plan.lost), len(memories), [run for run in past if run.at > seen.now - fuse.window], fuse)


def _check_kinds(plan: object) -> None:
    """Raise Refused for what is no plan, and for a step that says what it does in anything but its names: reasons go into the log."""
    if not isinstance(plan, Plan) or not (
        isinstance(plan.steps, tuple) and isinstance(plan.kept, tuple) and isinstance(plan.held, Mapping)
    ):
        raise Refused("BAD_PLAN", f"the planner returned {shown(plan)}; return a Plan of tuples of steps and ids, and a mapping")
    for step in plan.steps:
        if not (isinstance(step, Step) and isinstance(step.stage, Stage) and isinstance(step.act, Act)):
            raise Refused("BAD_PLAN", f"a step is {shown(step)}; pass a Step with a Stage and an Act")
        named = isinstance(step.reason, str) and re.fullmatch("[A-Z][A-Z_]{0,39}", step.reason)
        if not named or not isinstance(step.content, str | None):
            raise Refused("BAD_PLAN", f"a step {step.act} has no reason in capitals, such as DUPLICATE, or a content that is no text")
        if step.act is Act.PROPOSE:
            check_key(step.key)


def _check_all_named(many: str, one: str, named: Sequence[object], shown: Sequence[object]) -> None:
    accounted, there = Counter(named), Counter(shown)
    if amiss := ((accounted - there) + (there - accounted)).total():
        raise Refused("BAD_PLAN", f"{amiss} {many} are missing, unknown or named twice; a plan accounts for each {one} it was shown, once")


def _check_loss(lost: int, seen: int, past: Sequence[Run], fuse: Fuse) -> None:
    if lost and seen < fuse.least:
        raise FuseTripped(f"{lost} of {seen} entries would be changed or lost, and below {fuse.least} entries a run may only add")
    if 100 * lost > fuse.percent * seen:
        raise FuseTripped(f"{lost} of {seen} entries would be changed or lost, more than {fuse.percent} %; the store is as it was")
    base, before = max([seen, *(run.seen for run in past)]), sum(run.lost for run in past)
    if lost and 100 * (lost + before) > fuse.percent * base:
        days = fuse.window.days
        raise FuseTripped(
            f"{lost} more entries would be changed or lost after {before} in the last {days} days, together more than "
            f"{fuse.percent} % of {base}; the store is as it was"
        )


def _faults(step: Step, seen: Seen, memories: dict[str, Memory], plan: Plan) -> Iterator[tuple[bool, str]]:
    """Yield each rule for one step: whether it is broken, and how to say so."""
    proposals = {proposal.id: proposal for proposal in seen.proposals}
    proposal, memory = proposals.get(step.proposal), memories.get(step.memory)
    yield step.act in (Act.ADMIT, Act.MERGE, Act.EXPIRE) and proposal is None, "uses a proposal that was not waiting"
    yield sum(other.proposal == step.proposal for other in plan.steps) > 1 and bool(step.proposal), "uses a proposal that another step uses"
    if proposal is not None:
        rewritten = (proposal.scope, proposal.key, proposal.content) != (step.scope, step.key, step.content)
        yield rewritten, "says something else than the proposal it uses"
        yield step.act is Act.ADMIT and bool(proposal.flags), "admits what looks like an instruction"
        yield step.act is Act.ADMIT and proposal.id in seen.fallen, "admits what its evidence no longer bears out"
    if step.op in (Op.UPDATE, Op.DELETE):
        inferred = memory is not None and memory.trust is Trust.INFERRED and memory.kind is not Kind.EXPERIENCE
        yield not inferred, "touches what a person stated, what was verified, or an experience"
        named = memory is not None and (memory.scope, memory.key, memory.revision) == (step.scope, step.key, step.expected)
        yield not named, "names another key, scope or revision than its memory has"
    elif step.act is Act.ADMIT:
        taken = any((other.scope, other.key) == (step.scope, step.key) for other in seen.memories)
        yield taken, "writes over a memory that it does not name"
    if step.act is Act.RETIRE and memory is not None:
        other = memories.get(str(step.into))
        remains = other is not None and other.id not in plan.lost and other.scope == memory.scope and other.created_at <= memory.created_at
        yield not remains, "retires a memory without an older one of its scope that stays"
    if step.act is Act.PROPOSE:
        origin = memories.get(str(step.into))
        yield origin is None or (origin.scope, origin.content) != (step.scope, step.content), "proposes what no experience says"


def _partings(step: Step, seen: Seen, plan: Plan, patience: timedelta) -> Iterator[tuple[bool, str]]:
    """Yield each rule for a step that lets a proposal wait no longer and writes no memory of it."""
    proposals = {proposal.id: proposal for proposal in seen.proposals}
    proposal, into = proposals.get(step.proposal), proposals.get(step.into if isinstance(step.into, int) else 0)
    merged = {other.proposal for other in plan.steps if other.act is Act.MERGE}
    over = {one.id for one in seen.proposals if expired(one, seen.now, patience)}
    if step.act is Act.MERGE:
        yield into is None or into.scope != step.scope or into.id == step.proposal, "merges into nothing that waits there"
        yield into is None or not same_statement(into.content or "", step.content or ""), "merges what does not say the same"
        yield step.into in merged, "merges into what is itself merged"
        yield step.into in seen.fallen and step.proposal not in seen.fallen, "merges into what its evidence no longer bears out"
        yield step.into in over and step.proposal not in over, "merges into what has waited too long"
    if step.act is Act.EXPIRE and proposal is not None and step.proposal not in over:
        rivals = [
            one
            for one in seen.proposals
            if (one.scope, one.key) == (step.scope, step.key) and one.id not in merged | over | seen.fallen.keys()
        ]
        best = strongest(rivals)
        yield speaks_for_another_key(proposal, plan.steps), "lets go what speaks for another key too"
        yield best is None or best.id == step.proposal, "lets go what has not expired and what nothing outweighs"
