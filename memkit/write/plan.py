"""Plan a consolidation: what a job would do with the candidates that wait and the memories they meet. Pure, printable, changes nothing.

Four stages, named after what they cost. *Light*: what expired or was overtaken goes, one statement under two keys becomes one, and of
contradicting candidates the one with the better evidence stays. *Deep*: what passes the gates is kept. *Pattern*: an experience met in
several sessions becomes a proposal for a skill, a text that a person decides about, never code that runs. And *review*: an inference that
its record of use does not bear out is put before a person. Left out: whether the plan may be carried out (`fuse.py`), and carrying it out
(`consolidate.py`). A planner of another make, a model for instance, returns the same `Plan`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby

from memkit.record.confidence import FACTOR
from memkit.record.model import Kind, Memory, Op, Proposal, Trust, shortened
from memkit.record.text import compiled
from memkit.write.arguments import LONGEST_KEY
from memkit.write.duplicates import Statements
from memkit.write.gates import Gates, through
from memkit.write.proposals import REVIEW
from memkit.write.table import read

GATES = Gates()
PATIENCE = timedelta(days=30)  # how long a candidate waits for somebody to decide
SESSIONS = 3  # in how many sessions an experience must have been met to become a proposal for a skill
NO_ROOM = "NO_ROOM"  # why a change waits: the fuse leaves no room for it, or what it would replace stands for what goes in this run


class Stage(StrEnum):
    """Which part of a consolidation a step belongs to."""

    LIGHT = "light"
    DEEP = "deep"
    PATTERN = "pattern"
    REVIEW = "review"


class Act(StrEnum):
    """What a step does."""

    ADMIT = "admit"  # a proposal becomes a memory
    MERGE = "merge"  # a proposal's evidence goes to another that says the same
    EXPIRE = "expire"  # a proposal waits no longer
    RETIRE = "retire"  # a memory goes, because another says the same
    PROPOSE = "propose"  # a new proposal


@dataclass(frozen=True, slots=True)
class Seen:
    """What a plan is made from: the current memories and the waiting proposals of some scopes, and which proposals' evidence fell.

    Of requests to withdraw a value, which have no content, it holds those alone that were overtaken; the others wait for a person.
    `used` counts how often a memory was confirmed and contradicted; `asked` are those whose withdrawal a person was asked about at this
    revision; `met` has (scope, key, revision, session) of experiences that were met again while they waited or when they were known;
    `long` has the numbers and ids of what says more than one fact may, so that no plan may write it; `room` is how many memories the fuse
    still lets a run change or lose. `version` names it all: the same input has the same one.
    """

    memories: tuple[Memory, ...]
    proposals: tuple[Proposal, ...]
    fallen: Mapping[int, str]
    now: datetime
    used: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    met: frozenset[tuple[str, str, int, str]] = frozenset()
    long: frozenset[int | str] = frozenset()
    room: int = 0

    @property
    def version(self) -> str:
        """Return a digest of what was seen; it holds no content."""
        rows = [[memory.id, memory.revision, *self.used.get(memory.id, ()), *[0] * (memory.id in self.asked)] for memory in self.memories]
        waiting = [[proposal.id, proposal.recalls, proposal.supports, self.fallen.get(proposal.id, "")] for proposal in self.proposals]
        return hashlib.sha256(json.dumps([rows, waiting, self.room, *sorted(self.met)]).encode()).hexdigest()


@dataclass(frozen=True, slots=True, repr=False)
class Step:
    """One thing to do. `proposal` and `memory` are what it uses up; `into` is what remains instead (a number, or an id)."""

    stage: Stage
    act: Act
    scope: str
    key: str
    reason: str
    why: str
    content: str | None = None
    proposal: int = 0
    memory: str = ""
    expected: int = 0
    into: int | str = ""

    @property
    def op(self) -> Op:
        """Return what it does to the record."""
        if self.act is Act.RETIRE:
            return Op.DELETE
        return {Act.ADMIT: Op.UPDATE if self.expected else Op.ADD}.get(self.act, Op.NOOP)

    def __repr__(self) -> str:
        sign = {Op.ADD: "+", Op.UPDATE: "~", Op.DELETE: "-"}.get(self.op, " ")
        return f"{sign} {self.stage} {self.act} {self.key} in {self.scope}: {shortened(self.content)} ({self.reason}: {self.why})"


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """The steps, the ids of the memories that stay as they are, and with its reason what waits for a later run.

    `held` names the proposals that go on waiting by number, and by id the memories that would have been retired, had there been room.
    """

    steps: tuple[Step, ...]
    kept: tuple[str, ...]
    held: Mapping[int | str, str]

    @property
    def lost(self) -> tuple[str, ...]:
        """Return the ids of the memories that would be changed or retired."""
        return tuple(step.memory for step in _changes(self.steps))

    def __repr__(self) -> str:
        waiting, late = sum(isinstance(one, int) for one in self.held), list(self.held.values()).count(NO_ROOM)
        head = f"Plan({len(self.steps)} steps, {len(self.kept)} memories stay, {waiting} proposals wait on)"
        more = [f"{late} changes wait for a later run: the fuse leaves this one no room for them ({NO_ROOM})"] * bool(late)
        return "\n    ".join([head, *map(repr, self.steps), *more])


Planner = Callable[[Seen], Plan]


def tidy(seen: Seen, *, gates: Gates = GATES, patience: timedelta = PATIENCE) -> Plan:
    """Plan with the rules of this module; a candidate waits for `patience` at most.

    What the fuse leaves no room for waits as NO_ROOM, and the rest is done: duplicates go, then values are replaced, the oldest first.

    >>> from datetime import UTC
    >>> tidy(Seen((), (), {}, datetime(2026, 1, 1, tzinfo=UTC)))
    Plan(0 steps, 0 memories stay, 0 proposals wait on)
    """
    steps = [*_expired(seen, patience)]
    for stage in (_merged, _outweighed, _retired, _skills):
        steps = [*steps, *stage(seen, steps)]
    held = dict[int | str, str]()
    stand = {step.into for step in steps if step.act is Act.RETIRE}
    contested, known = _contested(seen, _left(seen, steps)), _known(seen)
    current = {(memory.scope, memory.key): memory for memory in seen.memories}
    for proposal in _left(seen, steps):
        meets = current.get((proposal.scope, proposal.key))
        decision = through(proposal, gates, now=seen.now, current=meets)
        gate = "" if decision.op is Op.ADD else decision.reason
        second = NO_ROOM if meets and meets.id in stand else ""  # subtle: its copy goes first, or the old value would live on in that
        if waits := seen.fallen.get(proposal.id) or gate or _waits_on(proposal, seen, contested, known) or second:
            held[proposal.id] = waits
        else:
            steps.append(_step(Stage.DEEP, Act.ADMIT, proposal, decision.reason, decision.why, memory=meets))
    replaced = {step.memory for step in steps if step.act is Act.ADMIT}
    steps = [step for step in steps if step.act is not Act.RETIRE or step.memory not in replaced]
    held |= {step.proposal or step.memory: NO_ROOM for step in _changes(steps)[seen.room :]}
    steps = [step for step in steps if held.get(step.proposal or step.memory) != NO_ROOM]
    lost = {step.memory for step in _changes(steps)}
    stay = [memory for memory in seen.memories if memory.id not in lost]
    return Plan((*steps, *_reviews(seen, stay)), tuple(memory.id for memory in stay), held)


def _changes(steps: Sequence[Step]) -> list[Step]:
    return [step for step in steps if step.op in (Op.UPDATE, Op.DELETE)]


def _left(seen: Seen, steps: Sequence[Step]) -> list[Proposal]:
    used = {step.proposal for step in steps}
    return [proposal for proposal in seen.proposals if proposal.id not in used]


def _waits_on(proposal: Proposal, seen: Seen, contested: set[tuple[str, str]], known: Mapping[str, Statements[Memory]]) -> str:
    """Return why what passed the gates waits nevertheless, or "" where it is kept. Kept twice, it would only have to be retired."""
    if proposal.id in seen.long:
        return "TOO_LONG"
    if (proposal.scope, proposal.key) in contested:
        return "ASKS_A_PERSON"
    alike = known[proposal.scope].like(proposal.content or "") if proposal.scope in known else ()
    return "DUPLICATE" if any(memory.key != proposal.key for memory in alike) else ""


def _known(seen: Seen) -> dict[str, Statements[Memory]]:
    known: dict[str, Statements[Memory]] = {}
    for memory in _inferred(seen.memories):
        known.setdefault(memory.scope, Statements()).add(memory, memory.content or "")
    return known


def _inferred(memories: Iterable[Memory]) -> list[Memory]:
    return [memory for memory in memories if memory.kind is Kind.INFERENCE and memory.trust is Trust.INFERRED]


def _contested(seen: Seen, left: Sequence[Proposal]) -> set[tuple[str, str]]:
    """Return the (scope, key) for which several candidates still stand, so that none passes by itself; what is flagged contests nothing."""
    met = Counter((one.scope, one.key) for one in left if one.id not in seen.fallen and not one.flags)
    return {place for place, times in met.items() if times > 1}


def speaking_for_others(seen: Seen, steps: Sequence[Step]) -> set[int]:
    """Return the proposals into which what was proposed under another key was merged, and with which it would be lost."""
    keys = {proposal.id: proposal.key for proposal in seen.proposals}
    return {step.into for step in steps if step.act is Act.MERGE and isinstance(step.into, int) and keys.get(step.into) != step.key}


def _step(stage: Stage, act: Act, proposal: Proposal, reason: str, why: str, *, memory: Memory | None = None, into: int = 0) -> Step:
    replaced, revision = (memory.id, memory.revision) if memory and act is Act.ADMIT else ("", 0)
    fixed = (stage, act, proposal.scope, proposal.key, reason, why, proposal.content)
    return Step(*fixed, proposal=proposal.id, memory=replaced, expected=revision, into=into)


def _expired(seen: Seen, patience: timedelta) -> Iterator[Step]:
    for proposal in seen.proposals:
        if why := expired(proposal, seen.now, patience):
            yield _step(Stage.LIGHT, Act.EXPIRE, proposal, "OVERTAKEN" if proposal.content is None else "EXPIRED", why)


def expired(proposal: Proposal, now: datetime, patience: timedelta) -> str:
    """Return why a proposal waits no longer, or "" where it still does."""
    expires_at = proposal.candidate.times.expires_at
    if proposal.content is None:
        return f"revision {proposal.expected}, which it asks to withdraw, was replaced or has ended"
    if expires_at is not None and expires_at <= now:
        return "its own time is over"
    return f"nobody decided within {patience.days} days" if proposal.created_at + patience <= now else ""


def _merged(seen: Seen, steps: Sequence[Step]) -> Iterator[Step]:
    """Let of several proposals that say the same in one scope, under whatever keys, the oldest stay."""
    stay: dict[str, Statements[Proposal]] = {}
    for proposal in _left(seen, steps):
        said = stay.setdefault(proposal.scope, Statements())
        alike = [one for one in said.like(proposal.content or "") if one.id not in seen.fallen or proposal.id in seen.fallen]
        if alike:
            yield _step(Stage.LIGHT, Act.MERGE, proposal, "DUPLICATE", f"proposal {alike[0].id} says the same", into=alike[0].id)
        else:
            said.add(proposal, proposal.content or "")


def _outweighed(seen: Seen, steps: Sequence[Step]) -> Iterator[Step]:
    """Let of several candidates for one key, whose evidence holds, the best evidenced stay; where none is, or it is risky, all wait.

    What speaks for another key too has its weight and stays.
    """
    sound, spare = [proposal for proposal in _left(seen, steps) if proposal.id not in seen.fallen], speaking_for_others(seen, steps)
    for _, group in groupby(sorted(sound, key=lambda p: (p.scope, p.key)), key=lambda p: (p.scope, p.key)):
        rivals = list(group)
        best = strongest(rivals)
        for proposal in rivals if best else ():
            if proposal is not best and proposal.id not in spare:
                yield _step(Stage.LIGHT, Act.EXPIRE, proposal, "OUTWEIGHED", f"proposal {best.id if best else 0} has the better evidence")


def strongest(rivals: Sequence[Proposal]) -> Proposal | None:
    """Return which of several contradicting candidates the evidence favours, or None where a person must be asked.

    Of a preference or a setting the one evidenced last; of knowledge the one with more supports, then with more confidence. A tie asks, and
    so do what a user said literally, what looks like an instruction, and whatever concerns money, rights, secrets, deletion or production
    (`risky.toml`).
    """
    if len(rivals) < 2 or any(one.literal or one.flags or risky(f"{one.key} {one.content}") for one in rivals):
        return None
    setting = any(proposal.candidate.kind is Kind.PREFERENCE or _cites_a_setting(proposal) for proposal in rivals)
    weights = [_last_seen(proposal) if setting else _supported(proposal) for proposal in rivals]
    best = max(weights)
    return rivals[weights.index(best)] if weights.count(best) == 1 and best > (0, 0) else None


def _cites_a_setting(proposal: Proposal) -> bool:
    return any(piece.locator.startswith("key=") for piece in proposal.candidate.evidence)


def _last_seen(proposal: Proposal) -> tuple[float, float]:
    return max((piece.observed_at.timestamp() for piece in proposal.candidate.evidence), default=0.0), 0.0


def _supported(proposal: Proposal) -> tuple[float, float]:
    return float(len(proposal.candidate.evidence)), proposal.candidate.confidence


def risky(text: str) -> bool:
    """Return whether a text is about something where a wrong guess is costly.

    >>> risky("who may delete the production database"), risky("支付超时"), risky("the theme is dark")
    (True, True, False)
    """
    words = read("risky.toml")["words"]
    return bool(compiled(rf"\b(?:{'|'.join(words['english'])})|{'|'.join(words['chinese'])}").search(text.casefold()))


def _retired(seen: Seen, steps: Sequence[Step]) -> Iterator[Step]:
    """Retire an inference that an older one of the same scope says already."""
    stay: dict[str, Statements[Memory]] = {}
    for memory in sorted(_inferred(seen.memories), key=lambda m: (m.created_at, m.id)):
        said = stay.setdefault(memory.scope, Statements())
        if alike := said.like(memory.content or ""):
            rest = (memory.scope, memory.key, "DUPLICATE", f"{alike[0].key!r}, which is older, says the same", memory.content)
            yield Step(Stage.LIGHT, Act.RETIRE, *rest, memory=memory.id, expected=memory.revision, into=alike[0].id)
        else:
            said.add(memory, memory.content or "")


def _skills(seen: Seen, steps: Sequence[Step]) -> Iterator[Step]:
    """Propose a skill for an experience that was met in enough sessions and is not proposed or known yet."""
    known = {memory.key for memory in seen.memories} | {proposal.key for proposal in seen.proposals}
    for memory in seen.memories:
        sessions = {piece.source.rpartition("/")[0] for piece in memory.evidence if piece.source.startswith("session:")}
        sessions |= {one[3] for one in seen.met if one[:3] == (memory.scope, memory.key, memory.revision)}
        key = f"skill/{memory.key}"
        fits = memory.id not in seen.long and len(key) <= LONGEST_KEY
        if fits and memory.kind is Kind.EXPERIENCE and len(sessions) >= SESSIONS and key not in known:
            why = f"the experience was met in {len(sessions)} sessions; a person may make it a skill file"
            yield Step(Stage.PATTERN, Act.PROPOSE, memory.scope, key, "PATTERN", why, memory.content, into=memory.id)


def stands_for(confirmed: int, contradicted: int, unjudged: timedelta = timedelta(days=90)) -> timedelta | None:
    """Return how long an inference stands after it was last seen to hold until a person is asked about it; None: it stays.

    What was confirmed more often than contradicted stays. What nobody judged, or as many for as against, has `unjudged`, three of its
    half-lives in ranking. Each contradiction more divides that by three, as it divides the odds (`record/confidence.py`).

    >>> [str(stands_for(*counts)) for counts in ((1, 0), (0, 0), (2, 2), (0, 1), (1, 3))]
    ['None', '90 days, 0:00:00', '90 days, 0:00:00', '30 days, 0:00:00', '10 days, 0:00:00']
    """
    return None if confirmed > contradicted else unjudged / FACTOR ** (contradicted - confirmed)


def _reviews(seen: Seen, stay: Sequence[Memory]) -> Iterator[Step]:
    """Propose the withdrawal of each inference that stays and has stood for as long as its record of use allows, once for each revision."""
    for memory in _inferred(stay):
        confirmed, contradicted = seen.used.get(memory.id, (0, 0))
        most = stands_for(confirmed, contradicted)
        if most is not None and memory.seen + most <= seen.now and memory.id not in seen.asked:
            days = (seen.now - memory.seen).days
            why = f"confirmed {confirmed} and contradicted {contradicted} times, and last seen to hold {days} days ago; a person decides"
            yield Step(Stage.REVIEW, Act.PROPOSE, memory.scope, memory.key, REVIEW, why, memory.content, into=memory.id)
