"""Check the exercises of lesson 06: what becomes of candidates, a planner the guard lets through, and when a job may still write.

As in `checks.py`: each check does what the exercise describes, with memkit itself, and never raises for a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

import memkit
from memkit.kit import Kit
from memkit.lab.answer import Answer
from memkit.lab.evening import SHOP, attempt, shop
from memkit.lab.story import Clock, clock
from memkit.record.model import Kind
from memkit.write import lease as leases
from memkit.write import proposals
from memkit.write.lease import Lease
from memkit.write.plan import Act, Plan, Planner, Seen

CANDIDATES = {
    "nightly": ("The nightly job ends at four", Kind.INFERENCE, 0.8, ("when does it end?", "nightly job?", "is it over at four?")),
    "weekly": ("The weekly job ends at six", Kind.INFERENCE, 0.7, tuple(f"question {n} about the weekly job" for n in range(9))),
    "port": ("Tests listen on port 9090", Kind.INFERENCE, 0.9, ("Which port?", "which  PORT?", "Tests listen where?", "which port?")),
    "indent": ("Indent with four blanks", Kind.PREFERENCE, 0.9, ("how to indent?", "tabs or blanks?", "how many blanks?")),
    "stock": ("Stock is counted in January", Kind.INFERENCE, 0.9, ("when is stock counted?", "stock?", "counted when?")),
}
"""Key -> content, kind, confidence and the questions that wanted it. The last one has waited for 31 days."""

WORDS = {Act.ADMIT: "kept", Act.EXPIRE: "expires", Act.MERGE: "merged"}


def tidying_1(told: object) -> Answer:
    """Check what a consolidation does with five candidates: "kept", "waits" or "expires", by key.

    >>> print(tidying_1({"nightly": "kept", "weekly": "kept", "port": "waits", "indent": "waits", "stock": "expires"}))
    Not yet: 'weekly' waits: LOW_CONFIDENCE.
    """
    if not isinstance(told, Mapping) or set(told) != set(CANDIDATES) or ... in told.values():
        return Answer(False, "replace each three dots with 'kept', 'waits' or 'expires'")
    for key, (became, why) in what_becomes_of_them().items():
        if str(told[key]).strip().lower() != became:
            return Answer(False, f"{key!r} {'is kept' if became == 'kept' else became}: {why}.")
    return Answer(True, "; ".join(f"{key}: {why}" for key, (_, why) in what_becomes_of_them().items()) + ".")


def what_becomes_of_them() -> dict[str, tuple[str, str]]:
    """Return what a consolidation does with each of the five candidates, and its reason, by doing it."""
    now = clock("2026-03-02T09:00+00:00")
    with memkit.open(clock=now) as kit:
        for key in reversed(CANDIDATES):  # "stock" came first
            _propose(kit, key)
            now.advance(days=31 if key == "stock" else 0)
        plan = kit.consolidate(scope=SHOP, dry_run=True).plan
        waiting: dict[int | str, str] = {proposal.id: proposal.key for proposal in kit.inbox(scope=SHOP)}
    became = {step.key: (WORDS[step.act], step.reason) for step in plan.steps}
    became |= {waiting[number]: ("waits", reason) for number, reason in plan.held.items()}
    return {key: became[key] for key in CANDIDATES}


def _propose(kit: Kit, key: str) -> None:
    content, kind, confidence, questions = CANDIDATES[key]
    proposal = kit.propose(key, content, scope=SHOP, kind=kind, confidence=confidence)
    with kit.db.write() as tx:
        for question in questions:
            proposals.count_wanted(tx, kit.db, kit.principal.tenant, [proposal.id], query=question, now=proposal.created_at)


# --- a planner


def tidying_2(planner: object) -> Answer:
    """Check that a planner retires as many entries as one run may, in stores of several sizes, and that the guard lets it through.

    >>> from memkit.lab.evening import loses
    >>> print(tidying_2(loses(50)))
    Not yet: of 11 entries, FuseTripped: 5 of 11 entries would be changed or lost, more than 25 %; the store is as it was.
    """
    if not callable(planner):
        return Answer(False, "pass the function itself: lab.check.tidying_2(planner)")
    took = []
    for kit, _ in _stores():
        with kit:
            answer = _may_go(kit, cast(Planner, planner))
        if not answer.right:
            return answer
        took.append(answer.why)
    return Answer(True, f"the guard lets it through, and it takes what it may: {', '.join(took)}.")


def _stores() -> Iterator[tuple[Kit, Clock]]:
    yield shop()
    for size in (9, 3):
        now = clock("2026-03-02T09:00+00:00")
        kit = memkit.open(clock=now)
        kit.remember("tone", "Answer in short sentences.", scope=SHOP)
        for number in range(1, size):
            kit.admit(kit.propose(f"key {number}", f"The machine number {number} is in room {number}", scope=SHOP))
            now.advance(minutes=1)
        yield kit, now


def _may_go(kit: Kit, planner: Planner) -> Answer:
    said: list[str] = []

    def watched(seen: Seen) -> Plan:
        try:
            plan = planner(seen)
        except Exception as error:  # the learner's code may raise anything
            said.append(f"your planner raises {type(error).__name__}: {error}")
            raise memkit.Refused("PLANNER_FAILED", "the planner failed") from None
        if not isinstance(plan, Plan):
            said.append("your planner returns no Plan; lab.tidying.retiring(seen, ...) makes one")
            raise memkit.Refused("NO_PLAN", "the planner returned none")
        return plan

    with suppress(memkit.MemkitError):
        return _measured(kit, watched)
    return Answer(False, f"{said[-1]}." if said else "the plan could not be made")


def _measured(kit: Kit, planner: Planner) -> Answer:
    tried = attempt(kit, planner, dry_run=True)
    seen = len(tried.seen.memories)
    if tried.error is not None:
        return Answer(False, f"of {seen} entries, {type(tried.error).__name__}: {tried.error}.")
    if tried.lost < tried.seen.room:
        return Answer(False, f"of {seen} entries your plan takes {tried.lost}; it could take {tried.seen.room}.")
    return Answer(True, f"{tried.lost} of {seen}")


# --- a lease

NOON = datetime.fromisoformat("2026-03-02T12:00+00:00")
LATE = NOON + timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Story:
    """What happened between looking and writing: `taker` is who claims the lease under which name, `back` who gives it back."""

    told: str
    taker: str = ""
    back: bool = False


STORIES = (
    Story("nothing happened"),
    Story("another job took over", "other"),
    Story("another job took over, finished and gave the lease back", "other", back=True),
    Story("the same program was started again, under the same name, and took over", "job"),
    Story("it gave the lease back itself", back=True),
)


def tidying_3(rule: object) -> Answer:
    """Check that `rule(held, standing, now)` says when a job may still write, as memkit does.

    `held` is the lease as the job got it and `standing` the one in the store now, each with `token`, `holder` and `expires_at`.

    >>> print(tidying_3(lambda held, standing, now: now < held.expires_at))
    Not yet: an hour late, nothing happened: memkit lets it write, and your rule does not. Nobody else came, so nothing can be lost.
    """
    if not callable(rule):
        return Answer(False, "pass the function itself: lab.check.tidying_3(may_write)")
    for when, now in (("an hour late", LATE), ("in time", NOON)):
        for story in STORIES:
            if now == LATE or not story.taker:  # nobody can take over before the lease has run out
                answer = _judged(rule, story, now)
                if not answer.right:
                    return Answer(False, f"{when}, {story.told}: {answer.why}")
    return Answer(True, "your rule agrees with memkit: what counts is whether the lease is still yours, not what time it is.")


def _judged(rule: Callable[..., object], story: Story, now: datetime) -> Answer:
    held, standing, may = _what_memkit_says(story, now)
    try:
        said = bool(rule(held, standing, now))
    except Exception as error:  # the learner's code may raise anything
        return Answer(False, f"your rule raises {type(error).__name__}: {error}")
    if may:
        return Answer(said, "memkit lets it write, and your rule does not. Nobody else came, so nothing can be lost.")
    return Answer(not said, "memkit refuses the write, and your rule does not. Somebody else may have written, or be about to.")


def _what_memkit_says(story: Story, now: datetime) -> tuple[Lease, Lease, bool]:
    """Play a story with a real lease: as it was taken, as it stands, and whether a write is let through."""
    with memkit.open() as kit, kit.db.write() as tx:
        held = leases.claim(tx, "local", "tidy", holder="job", now=NOON).lease
        last = leases.claim(tx, "local", "tidy", holder=story.taker, now=now).lease if story.taker else held
        if held is None or last is None:
            raise AssertionError("unreachable: the lease was free")
        if story.back:
            leases.release(tx, last, failed=False, now=now)
        standing = leases.standing(tx, "local", "tidy")
        try:
            leases.require(tx, held)
        except memkit.LeaseLost:
            return held, standing, False
        return held, standing, True
