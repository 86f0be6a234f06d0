"""Two writers correct one memory: stepped by hand, or in every order there is, counting corrections that are lost without a word.

A writer is a generator: at each `yield` the other one may come in between. Three are here. `compare_and_swap` is how memkit is meant to be
used; `blind` and `check_then_act` are broken, and lessons show what they lose. All of them write into a real kit. Not here: real
processes (`rivals.py`), and views (`widgets/race.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import memkit
from memkit.errors import NotFound, Refused
from memkit.kit import Kit
from memkit.lab.story import clock, ids
from memkit.record.model import Memory, Outcome

SHOP = memkit.Scope(workspace="shop")
KEY, FIRST = "days", "Tuesday"
DAYS = {"A": "Thursday", "B": "Friday"}
"""Writer -> the day it adds to the days on which the shop deploys."""
LONGEST = 60  # steps of one race


@dataclass(frozen=True, slots=True)
class Call:
    """One call that a writer made: as code, what came of it in words, the revision it saw or wrote, and whether it was a Conflict."""

    code: str
    told: str
    revision: int
    conflict: bool = False


class Seat:
    """The part of a kit that a writer uses, noting each call. `calls` are those since `taken` was last called."""

    def __init__(self, kit: Kit) -> None:
        self._kit, self._calls = kit, list[Call]()

    def current(self, key: str, *, scope: memkit.Scope) -> Memory:
        """Return the current value; raises NotFound where there is none."""
        memory = self._kit.current(key, scope=scope)
        if memory is None:
            raise NotFound(f"there is no current value under {key!r}; remember one first")
        self._calls.append(Call(f"kit.current({key!r}, scope=SHOP)", f"revision {memory.revision}: {memory.content}", memory.revision))
        return memory

    def remember(self, key: str, content: str, *, scope: memkit.Scope, expected: int = 0) -> Outcome:
        """State a new value, as `kit.remember` does. Raises Conflict."""
        shown = "memkit.ANY" if expected == memkit.ANY else str(expected)
        code = f"kit.remember({key!r}, {content!r}, scope=SHOP, expected={shown})"
        try:
            outcome = self._kit.remember(key, content, scope=scope, expected=expected)
        except memkit.Conflict as error:
            told = f"Conflict: expected {error.expected}, actual {error.actual}"
            self._calls.append(Call(code, told, error.actual, conflict=True))
            raise
        revision = outcome.memory.revision if outcome.memory else 0
        self._calls.append(Call(code, f"{outcome.op}: revision {revision}", revision))
        return outcome

    def taken(self) -> tuple[Call, ...]:
        """Return the calls since the last time."""
        calls, self._calls = tuple(self._calls), []
        return calls


Writer = Callable[[Seat, str, str], Iterator[None]]


def blind(kit: Seat, key: str, day: str) -> Iterator[None]:
    """Read, compute, write whatever happened meanwhile. Broken."""
    seen = kit.current(key, scope=SHOP)
    yield
    new = f"{seen.content}, {day}"
    yield
    kit.remember(key, new, scope=SHOP, expected=memkit.ANY)


def check_then_act(kit: Seat, key: str, day: str) -> Iterator[None]:
    """Read, compute and look whether anything happened meanwhile, write. Broken: something can happen after the look."""
    while True:
        seen = kit.current(key, scope=SHOP)
        yield
        new = f"{seen.content}, {day}"
        unchanged = kit.current(key, scope=SHOP).revision == seen.revision
        yield
        if unchanged:
            kit.remember(key, new, scope=SHOP, expected=memkit.ANY)
            return


def compare_and_swap(kit: Seat, key: str, day: str) -> Iterator[None]:
    """Read, compute, write only on top of what was read; told that something happened meanwhile, start again."""
    while True:
        seen = kit.current(key, scope=SHOP)
        yield
        new = f"{seen.content}, {day}"
        yield
        try:
            kit.remember(key, new, scope=SHOP, expected=seen.revision)
            return
        except memkit.Conflict:
            yield


@dataclass(frozen=True, slots=True)
class Step:
    """What one writer did between two yields, and the value that was current afterwards.

    `ends` says how its program ended with it: "" (it goes on), "done", or "told" (by a Conflict that it let pass).
    """

    who: str
    calls: tuple[Call, ...]
    ends: str
    revision: int
    content: str

    def __str__(self) -> str:
        told = "; ".join(f"{call.code} -> {call.told}" for call in self.calls) or "computes"
        return f"{self.who}: {told}"


class Race:
    """Two runs of one writer on one memory of a kit (by default a new one in memory), stepped by hand."""

    def __init__(self, writer: Writer, *, kit: Kit | None = None, key: str = KEY) -> None:
        self.kit = kit or memkit.open(clock=clock("2026-03-02T09:00+00:00"), ids=ids())
        self.kit.remember(key, FIRST, scope=SHOP)
        self.key, self.steps = key, list[Step]()
        self._seats = {who: Seat(self.kit) for who in DAYS}
        self._programs = {who: writer(seat, key, DAYS[who]) for who, seat in self._seats.items()}

    @property
    def running(self) -> list[str]:
        """Return the writers that have steps left."""
        ended = {step.who for step in self.steps if step.ends}
        return [who for who in DAYS if who not in ended]

    @property
    def memory(self) -> Memory:
        """Return the current value."""
        return Seat(self.kit).current(self.key, scope=SHOP)

    @property
    def lost(self) -> tuple[str, ...]:
        """Return the days whose writers ended well, and that are not in the current value."""
        kept = (self.memory.content or "").split(", ")
        return tuple(DAYS[step.who] for step in self.steps if step.ends == "done" and DAYS[step.who] not in kept)

    def step(self, who: str) -> Step:
        """Let a writer go on to its next yield, or to its end. Raises Refused for one that has ended, and for a race without end."""
        if who not in self.running:
            raise Refused("ENDED", f"writer {who!r} has no step left; those that have: {', '.join(self.running) or 'none'}")
        if len(self.steps) >= LONGEST:
            raise Refused("ENDLESS", f"the race has had {LONGEST} steps and goes on; a writer must end once its write is through")
        ends = ""
        try:
            next(self._programs[who])
        except StopIteration:
            ends = "done"
        except memkit.Conflict:
            ends = "told"
        memory = self.memory
        self.steps.append(Step(who, self._seats[who].taken(), ends, memory.revision, memory.content or ""))
        return self.steps[-1]

    def run(self, order: str) -> Run:
        """Take the steps of an order, then let who is left finish; a writer that has ended is passed over."""
        for who in order:
            if who in self.running:
                self.step(who)
        for who in DAYS:
            while who in self.running:
                self.step(who)
        told = any(call.conflict for step in self.steps for call in step.calls) or len(self.steps) > len(order)
        return Run(order, tuple(self.steps), self.memory.content or "", self.lost, told)


@dataclass(frozen=True, slots=True)
class Run:
    """One order of steps and what came of it: `lost` holds the days that vanished, `told` says whether somebody noticed and began again."""

    order: str
    steps: tuple[Step, ...]
    content: str
    lost: tuple[str, ...]
    told: bool


def orders(steps: int = 3) -> list[str]:
    """Return every order in which two programs of some steps each can be interleaved.

    >>> orders(1), len(orders(3))
    (['AB', 'BA'], 20)
    """
    places = combinations(range(2 * steps), steps)
    return ["".join("A" if n in mine else "B" for n in range(2 * steps)) for mine in map(set, places)]


def every(writer: Writer, orders: Sequence[str] = tuple(orders())) -> list[Run]:
    """Run two writers in every order of their first three steps. Once one is through only the other is left, so these are all there are.

    >>> [run.content for run in every(blind, ["AAABBB", "ABABAB"])]
    ['Tuesday, Thursday, Friday', 'Tuesday, Friday']
    """
    with memkit.open(clock=clock("2026-03-02T09:00+00:00"), ids=ids()) as kit:
        return [Race(writer, kit=kit, key=f"{KEY} {order}").run(order) for order in orders]


def tally(runs: Sequence[Run]) -> dict[str, int]:
    """Return in how many orders an update was lost, in how many somebody was told in time, and in how many neither was needed.

    >>> tally(every(blind, ["AAABBB", "ABABAB"]))
    {'orders': 2, 'lost': 1, 'told': 0, 'in turn': 1}
    """
    lost, told = sum(bool(run.lost) for run in runs), sum(run.told and not run.lost for run in runs)
    return {"orders": len(runs), "lost": lost, "told": told, "in turn": len(runs) - lost - told}
