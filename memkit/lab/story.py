"""What a lesson needs to come out the same every time: a clock that the lesson moves by hand, and ids that count.

Pass them to `memkit.open(clock=..., ids=...)`. Also `day`, which makes a moment of a date, and `look`, which says what stands at a citation
now. Not for a store that is kept: the secret that keys its tombstones is made of its first ids, and ids that count can be guessed.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta

import memkit
from memkit.errors import BadLocator, NotFound, Refused, shown


class Clock:
    """A clock that stands still until the lesson moves it; call it for the present. Made by `clock`."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def __call__(self) -> datetime:
        return self._now

    def __repr__(self) -> str:
        return f"Clock({self._now.isoformat()})"

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> datetime:
        """Move the clock forward and return the new present; raises Refused for a step back."""
        step = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        if step < timedelta(0):
            raise Refused("CLOCK_BACKWARDS", f"the step is {step.total_seconds():g} seconds; pass 0 or more, or make another clock")
        self._now += step
        return self._now


def clock(start: str) -> Clock:
    """Return a clock that stands at `start`, an ISO 8601 time with its offset from UTC. Raises Refused for any other text.

    >>> now = clock("2026-03-02T09:00+00:00")
    >>> now.advance(days=1, hours=2).isoformat()
    '2026-03-03T11:00:00+00:00'
    >>> now() == now()
    True
    """
    try:
        moment = datetime.fromisoformat(start)
    except ValueError:
        moment = datetime.min
    if moment.tzinfo is None:
        raise Refused("BAD_TIME", f"the time is {start!r}; write it with its offset from UTC, for instance '2026-03-02T09:00+00:00'")
    return Clock(moment.astimezone(UTC))


def day(text: str) -> datetime:
    """Return noon, UTC, of a day given as "2026-03-05"; or, of a whole ISO 8601 time with its offset, that moment. Else raises Refused.

    >>> day("2026-03-05").isoformat(), day("2026-03-05T09:00+08:00").isoformat()
    ('2026-03-05T12:00:00+00:00', '2026-03-05T01:00:00+00:00')
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except (AttributeError, ValueError):
        raise Refused("BAD_DAY", f"the day is {shown(text)}; write it as year-month-day, for instance 2026-03-05") from None
    if moment.tzinfo is not None:
        return moment.astimezone(UTC)
    if moment.time() != time.min:
        raise Refused("BAD_DAY", "the time has no offset from UTC; write a day alone, or a time such as 2026-03-05T09:00+00:00")
    return datetime.combine(moment.date(), time(12), UTC)


def ids(prefix: str = "id") -> Callable[[], str]:
    """Return a source of ids that count.

    >>> fresh = ids()
    >>> fresh(), fresh()
    ('id-1', 'id-2')
    """
    numbers = itertools.count(1)
    return lambda: f"{prefix}-{next(numbers)}"


def look(root: str | os.PathLike[str], cite: str) -> str | None:
    """Return what stands at a citation in a folder now, at most 2,000 characters of it, or None where it leads nowhere.

    Raises Refused where what stands there looks like a secret, and UnsafePath for a name that leads out of the folder.

    >>> from memkit.lab.sandbox import data_folder
    >>> look(data_folder() / "shop", "prod.cfg#key=timeout"), look(data_folder() / "shop", "prod.cfg#key=patience")
    ('30', None)
    """
    with memkit.open(root=root) as kit:
        try:
            outcome = kit.learn("seen", "what stands at a citation", scope=memkit.Scope(session="look"), cite=cite)
        except (BadLocator, NotFound):
            return None
    return outcome.memory.evidence[0].quote if outcome.memory else None
