"""Check the exercises of lesson 03: what each write does, a writer that loses nothing, and two clocks.

As in `checks.py`: each check does what the exercise describes, with memkit itself, and never raises for a wrong answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import memkit
from memkit.errors import Refused
from memkit.lab.answer import Answer
from memkit.lab.races import DAYS, Run, Writer, every, tally
from memkit.lab.story import clock, day
from memkit.record.model import Outcome

TEAM = memkit.Scope(workspace="shop")

WRITES: tuple[tuple[str, Callable[[memkit.Kit], Outcome]], ...] = (
    ("the first", lambda kit: kit.remember("node", "Node 18", scope=TEAM)),
    ("the second", lambda kit: kit.remember("node", "Node 20", scope=TEAM, expected=1)),
    ("the third", lambda kit: kit.remember("node", "Node 22", scope=TEAM, expected=1)),
    ("the fourth", lambda kit: kit.remember("node", "Node 20", scope=TEAM, expected=1)),
    ("the last", lambda kit: kit.remember("node", "Node 22", scope=TEAM)),
)
WHY = {
    "ADD": "there was no current value, as expected=0 says, and the numbers go on from the newest revision, forgotten or not",
    "UPDATE": "the current revision was the expected one",
    "NOOP": "the current value says so already, and that is asked before any revision is compared",
    "Conflict": "the current revision was not the expected one, so nothing was written",
}


def revisions_1(told: object) -> Answer:
    """Check what five writes do, given as five texts such as "ADD 1" or "Conflict"; before the last one the key is forgotten.

    >>> print(revisions_1(["ADD 1", "UPDATE 2", "UPDATE 3", "NOOP 3", "ADD 1"]))
    Not yet: the third gives Conflict: the current revision was not the expected one, so nothing was written.
    """
    if not isinstance(told, Sequence) or isinstance(told, str) or len(told) != len(WRITES):
        return Answer(False, "replace the three dots with five texts, for instance ['ADD 1', 'Conflict', 'NOOP 2', ...]")
    for said, (which, gave) in zip(told, what_they_give(), strict=True):
        if " ".join(str(said).split()).lower() != gave.lower():
            return Answer(False, f"{which} gives {gave}: {WHY[gave.split()[0]]}.")
    return Answer(True, f"the record says the same: {', '.join(gave for _, gave in what_they_give())}.")


def what_they_give() -> list[tuple[str, str]]:
    """Return what each of the five writes gives, by doing them."""
    given = []
    with memkit.open() as kit:
        for which, write in WRITES:
            if write is WRITES[-1][1]:
                kit.forget("node", scope=TEAM, expected=2, reason="asked")
            try:
                outcome = write(kit)
                given.append((which, f"{outcome.op} {outcome.memory.revision if outcome.memory else 0}"))
            except memkit.Conflict:
                given.append((which, "Conflict"))
    return given


def revisions_2(writer: object) -> Answer:
    """Check that a writer loses nothing and repeats nothing, whatever the order of its steps and another's: by running all orders.

    >>> from memkit.lab.races import check_then_act
    >>> print(revisions_2(check_then_act))
    Not yet: in 12 of 20 orders a day is lost and nobody is told, for instance in AABBAB: 'Tuesday, Friday' is kept.
    """
    if not inspect.isgeneratorfunction(writer):
        return Answer(
            False, "pass the function itself, and leave a bare `yield` between its steps: there the other one may come in between"
        )
    try:
        runs = every(cast(Writer, writer))
    except Refused as error:
        return Answer(False, f"{error}.")
    except Exception as error:  # the learner's code may raise anything
        return Answer(False, f"your writer raises {type(error).__name__}: {error}")
    return _told_of_losses(runs) if apart(runs) else Answer(False, ONE_STEP)


def _told_of_losses(runs: Sequence[Run]) -> Answer:
    lost = [run for run in runs if run.lost]
    if lost:
        example = f"for instance in {lost[0].order}: {lost[0].content!r} is kept"
        return Answer(False, f"in {len(lost)} of {len(runs)} orders a day is lost and nobody is told, {example}.")
    gave_up = [run for run in runs if any(step.ends == "told" for step in run.steps)]
    if gave_up:
        why = "that is honest, but its day is never written: catch memkit.Conflict, yield, and begin again with reading"
        return Answer(False, f"in {len(gave_up)} of {len(runs)} orders a writer is told of a Conflict and gives up; {why}.")
    odd = [run for run in runs if sorted(run.content.split(", ")) != sorted(["Tuesday", *DAYS.values()])]
    if odd:
        return Answer(
            False, f"in {odd[0].order} the value in the end is {odd[0].content!r}; it should hold Tuesday and both days, once each."
        )
    return Answer(True, f"of {len(runs)} orders none loses a day; in {tally(runs)['told']} of them a writer was told, and began again.")


ONE_STEP = "your writer reads and writes in one step; a real one cannot, so leave a `yield` between the two."


def apart(runs: Sequence[Run]) -> bool:
    """Say whether reading and writing are always two steps: in a real program the other one can come in between."""
    for step in (step for run in runs for step in run.steps):
        verbs = [call.code.split("(")[0] for call in step.calls]
        if "kit.remember" in verbs and "kit.current" in verbs[: verbs.index("kit.remember")]:
            return False
    return True


CLOCKS = {
    "believed then": ("Node 18", "on 6 March the record, as it stood that day, said Node 18"),
    "so, as we know now": ("Node 20", "the correction was recorded on 9 March"),
}
"""Question of the exercise -> what the record must answer, and why."""


def revisions_3(days: object) -> Answer:
    """Check two questions to the two clocks, each a pair of days as texts: (true on, known on).

    >>> print(revisions_3({"believed then": ("2026-03-06", "2026-03-10"), "so, as we know now": ("2026-03-06", "2026-03-10")}))
    Not yet: 'believed then' gives Node 20; on 6 March the record, as it stood that day, said Node 18.
    """
    if not isinstance(days, Mapping) or set(days) != set(CLOCKS) or ... in days.values():
        return Answer(False, "replace the dots with two pairs of days, for instance ('2026-03-02', '2026-03-02')")
    try:
        gave = {name: two_clocks(true_on, known_on) for name, (true_on, known_on) in days.items()}
        asked = {name: day(true_on).date().isoformat() for name, (true_on, _) in days.items()}
    except memkit.MemkitError as error:
        return Answer(False, f"{error}.")
    except (TypeError, ValueError):
        return Answer(False, "each answer is a pair of texts: (true on, known on)")
    if set(asked.values()) != {"2026-03-06"}:
        return Answer(
            False, "both questions are about 6 March, so the first day of each pair is 2026-03-06; what differs is what was known."
        )
    wrong = [name for name, (wanted, _) in CLOCKS.items() if gave[name] != wanted]
    if wrong:
        return Answer(False, f"{wrong[0]!r} gives {gave[wrong[0]]}; {CLOCKS[wrong[0]][1]}.")
    return Answer(
        True, "one day, two answers: Node 18 was believed, Node 20 was so. Both are in the record, and neither overwrites the other."
    )


def two_clocks(true_on: str, known_on: str) -> str:
    """Return what the record of the exercise says of one day as known on another; "nothing" where it is silent.

    >>> two_clocks("2026-03-06", "2026-03-06"), two_clocks("2026-03-06", "2026-03-09"), two_clocks("2026-03-06", "2026-03-01")
    ('Node 18', 'Node 20', 'nothing')
    """
    now = clock("2026-03-02T09:00+00:00")
    with memkit.open(clock=now) as kit:
        kit.remember("node", "Node 18", scope=TEAM)
        now.advance(days=7)
        kit.remember("node", "Node 20", scope=TEAM, expected=1, valid_from=day("2026-03-04"))
        found = kit.as_of(day(true_on), scope=TEAM, known_at=day(known_on))
    return next((memory.content or "" for memory in found), "nothing")
