"""The guard between a plan and the record: whatever made the plan, code checks it against what was really there.

A plan must account for every memory and every waiting proposal it was shown, may touch only inferences, may write only what waited, and
may change or lose at most a quarter of the memories it was shown, counting also what earlier runs of the last days took. All in integers,
and reckoned in one place, `Fuse.room`, so that a planner can be told beforehand. Only an inference, under its own key, is put before a
person for review, and only an experience becomes a skill. It may let a proposal go only where its time is really over, or where another
that stays says the same or outweighs it, and a request to withdraw only where it was overtaken. What it was not shown never counts as
dropped. Left out: carrying the plan out.

Source of the cap: DEFAULT_MEMORY_DEEP_DREAMING_MAX_PRIOR_ENTRY_LOSS_FRACTION = 0.25 of openclaw.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from memkit.errors import FuseTripped, Refused, shown
from memkit.record.model import Kind, Op, Proposal, Trust
from memkit.record.text import count_tokens
from memkit.write.arguments import check_form, check_key
from memkit.write.duplicates import same_statement
from memkit.write.extract import MOST_TOKENS
from memkit.write.plan import PATIENCE, Act, Plan, Seen, Stage, Step, expired, speaking_for_others, strongest
from memkit.write.proposals import REVIEW

LONGEST = timedelta(days=36_500)  # of the spans of a fuse


@dataclass(frozen=True, slots=True)
class Fuse:
    """At most `percent` of the entries seen may be changed or lost, over one run and over all runs in a `window`; below `least`, none.

    A proposal without an expiry of its own may be let go when it has waited for `patience`.
    """

    percent: int = 25
    least: int = 4
    window: timedelta = timedelta(days=7)
    patience: timedelta = PATIENCE

    def __post_init__(self) -> None:
        check_form(self, "BAD_FUSE", percent=int, least=int, window=timedelta, patience=timedelta)
        if not all(timedelta(0) <= span <= LONGEST for span in (self.window, self.patience)):
            raise Refused("BAD_FUSE", f"window or patience is below 0 or over {LONGEST.days:,} days; pass a span between these")

    def room(self, seen: int, past: Sequence[Run] = ()) -> int:
        """Return how many of the entries seen a run may change or lose, after what these runs of the window took.

        >>> Fuse().room(11), Fuse().room(3), Fuse().room(11, [Run(seen=12, lost=2)])
        (2, 0, 1)
        """
        once = self.percent * seen // 100 if seen >= self.least else 0
        base, before = _taken(seen, past)
        return max(0, min(once, self.percent * base // 100 - before))


FUSE = Fuse()


@dataclass(frozen=True, slots=True)
class Run:
    """A former consolidation: how many entries it saw, and how many it changed or lost."""

    seen: int
    lost: int


def _taken(seen: int, past: Sequence[Run]) -> tuple[int, int]:
    """Return of how many entries runs take, with one that sees so many now, and how many they took."""
    return max([seen, *(run.seen for run in past)]), sum(run.lost for run in past)


def check_plan(plan: Plan, seen: Seen, past: Sequence[Run] = (), fuse: Fuse = FUSE, count: Callable[[str], int] = count_tokens) -> None:
    """Raise Refused("BAD_PLAN") for a plan that does not fit what was seen, and FuseTripped for one that takes too much.

    `past` are the former runs of the window; `count` counts the tokens of a text.
    """
    _check_kinds(plan)
    there = _There(plan, seen, fuse.patience)
    _check_all_named("memories", "memory", [*plan.kept, *plan.lost], list(there.memories))
    for step in plan.steps:
        # a review asks to withdraw, and writes nothing
        writes = step.act is Act.ADMIT or (step.act is Act.PROPOSE and step.reason != REVIEW)
        long = writes and count(step.content or "") > MOST_TOKENS
        faults = (long, f"writes more than {MOST_TOKENS} tokens"), *_faults(step, there)
        for wrong, what in (*faults, *_partings(step, there)):
            if wrong:
                raise Refused("BAD_PLAN", f"the step {step.act} {step.key!r} {what}; nothing was written")
    stay = there.memories.keys() - there.lost
    used = [*(step.proposal for step in plan.steps if step.proposal), *(one for one in plan.held if one not in stay)]
    _check_all_named("proposals", "proposal that waits", used, [proposal.id for proposal in seen.proposals])
    _check_loss(len(plan.lost), len(there.memories), past, fuse)


def _check_kinds(plan: object) -> None:
    """Raise Refused for what is no plan, and for a step that says what it does in anything but its names: reasons go into the log."""
    if not isinstance(plan, Plan):
        raise Refused("BAD_PLAN", f"the planner returned {shown(plan)}; return a Plan of tuples of steps and ids, and a mapping")
    check_form(plan, "BAD_PLAN", steps=tuple, kept=tuple, held=Mapping)
    for step in plan.steps:
        if not isinstance(step, Step):
            raise Refused("BAD_PLAN", f"a step is {shown(step)}; pass a Step")
        check_form(step, "BAD_PLAN", stage=Stage, act=Act, scope=str, key=str, reason=str, why=str, content=str | None)
        check_form(step, "BAD_PLAN", proposal=int, memory=str, expected=int, into=int | str)
        if not re.fullmatch("[A-Z][A-Z_]{0,39}", step.reason):
            raise Refused("BAD_PLAN", f"a step {step.act} has no reason in capitals; pass one such as DUPLICATE")
        if step.act is Act.PROPOSE:
            check_key(step.key)


def _check_all_named(many: str, one: str, named: Sequence[object], shown: Sequence[object]) -> None:
    accounted, there = Counter[object](one if isinstance(one, int | str) else "" for one in named), Counter(shown)
    if amiss := ((accounted - there) + (there - accounted)).total():
        raise Refused("BAD_PLAN", f"{amiss} {many} are missing, unknown or named twice; a plan accounts for each {one} it was shown, once")


def _check_loss(lost: int, seen: int, past: Sequence[Run], fuse: Fuse) -> None:
    if lost <= fuse.room(seen, past):
        return
    if seen < fuse.least:
        raise FuseTripped(f"{lost} of {seen} entries would be changed or lost, and below {fuse.least} entries a run may only add")
    if lost > fuse.room(seen):
        raise FuseTripped(f"{lost} of {seen} entries would be changed or lost, more than {fuse.percent} %; the store is as it was")
    base, before = _taken(seen, past)
    raise FuseTripped(
        f"{lost} more entries would be changed or lost after {before} in the last {fuse.window.days} days, together more than "
        f"{fuse.percent} % of {base}; the store is as it was"
    )


class _There:
    """What a plan was shown and what it does, each looked up once for all of its steps."""

    def __init__(self, plan: Plan, seen: Seen, patience: timedelta) -> None:
        self.memories = {memory.id: memory for memory in seen.memories}
        self.taken = {(memory.scope, memory.key) for memory in seen.memories}
        self.proposals = {proposal.id: proposal for proposal in seen.proposals}
        self.fallen = seen.fallen
        self.lost, self.uses = set(plan.lost), Counter(step.proposal for step in plan.steps)
        self.admitted = Counter((step.scope, step.key) for step in plan.steps if step.act is Act.ADMIT)
        self.merged = {step.proposal for step in plan.steps if step.act is Act.MERGE}
        self.over = {one.id for one in seen.proposals if expired(one, seen.now, patience)}
        self.spare = speaking_for_others(seen, plan.steps)
        self.rivals: dict[tuple[str, str], list[Proposal]] = {}
        gone = self.merged | self.over | seen.fallen.keys()
        for one in seen.proposals:
            if one.id not in gone:
                self.rivals.setdefault((one.scope, one.key), []).append(one)


def _faults(step: Step, there: _There) -> Iterator[tuple[bool, str]]:
    """Yield each rule for one step: whether it is broken, and how to say so."""
    proposal, memory = there.proposals.get(step.proposal), there.memories.get(step.memory)
    yield step.act in (Act.ADMIT, Act.MERGE, Act.EXPIRE) and proposal is None, "uses a proposal that was not waiting"
    yield there.uses[step.proposal] > 1 and bool(step.proposal), "uses a proposal that another step uses"
    if proposal is not None:
        rewritten = (proposal.scope, proposal.key, proposal.content) != (step.scope, step.key, step.content)
        yield rewritten, "says something else than the proposal it uses"
        yield step.act is not Act.EXPIRE and proposal.content is None, "does more than let go a request that was overtaken"
        yield step.act is Act.ADMIT and bool(proposal.flags), "admits what looks like an instruction"
        yield step.act is Act.ADMIT and there.admitted[step.scope, step.key] > 1, "admits one of several values for one key"
        yield step.act is Act.ADMIT and proposal.id in there.fallen, "admits what its evidence no longer bears out"
    if step.op in (Op.UPDATE, Op.DELETE):
        inferred = memory is not None and memory.trust is Trust.INFERRED and memory.kind is not Kind.EXPERIENCE
        yield not inferred, "touches what a person stated, what was verified, or an experience"
        named = memory is not None and (memory.scope, memory.key, memory.revision) == (step.scope, step.key, step.expected)
        yield not named, "names another key, scope or revision than its memory has"
    elif step.act is Act.ADMIT:
        yield (step.scope, step.key) in there.taken, "writes over a memory that it does not name"
    if step.act is Act.RETIRE and memory is not None:
        other = there.memories.get(str(step.into))
        remains = other is not None and other.id not in there.lost and other.scope == memory.scope and other.created_at <= memory.created_at
        yield not remains, "retires a memory without an older one of its scope that stays"
    if step.act is Act.PROPOSE:
        origin = there.memories.get(str(step.into))
        said = origin is not None and (origin.scope, origin.content) == (step.scope, step.content)
        own = origin is not None and said and (origin.key, origin.kind, origin.trust) == (step.key, Kind.INFERENCE, Trust.INFERRED)
        met = origin is not None and said and origin.kind is Kind.EXPERIENCE
        yield step.reason == REVIEW and not own, "reviews what is no inference of its key and scope"
        yield step.reason != REVIEW and not met, "proposes what no experience says"


def _partings(step: Step, there: _There) -> Iterator[tuple[bool, str]]:
    """Yield each rule for a step that lets a proposal wait no longer and writes no memory of it."""
    proposal = there.proposals.get(step.proposal)
    into = there.proposals.get(step.into if isinstance(step.into, int) else 0)
    if step.act is Act.MERGE:
        yield into is None or into.scope != step.scope or into.id == step.proposal, "merges into nothing that waits there"
        yield into is None or not same_statement(into.content or "", step.content or ""), "merges what does not say the same"
        yield step.into in there.merged, "merges into what is itself merged"
        yield step.into in there.fallen and step.proposal not in there.fallen, "merges into what its evidence no longer bears out"
        yield step.into in there.over and step.proposal not in there.over, "merges into what has waited too long"
    if step.act is Act.EXPIRE and proposal is not None and step.proposal not in there.over:
        best = strongest(there.rivals.get((step.scope, step.key), []))
        yield proposal.id in there.spare, "lets go what speaks for another key too"
        yield best is None or best.id == step.proposal, "lets go what has not expired and what nothing outweighs"
