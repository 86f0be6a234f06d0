"""Compare two things on one machine: side by side, taking turns, in one run; only the ratio is worth keeping.

A figure in seconds says more about the machine than about the code, so a row never stands without its other side, measured within the
same seconds. Left out: what is compared (`bench_read.py`, `bench_write.py`), and any judgement of whether a ratio is good.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

Round = tuple[float, float]
"""What one round measured: memkit's figure, then the other's."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured. `rounds` are repeated whole; `each` calls are made in a round of quick calls, `writes` in one of writes."""

    memories: int = 10_000
    scopes: int = 10
    rounds: int = 5
    each: int = 3
    writes: int = 300
    starts: int = 9
    processes: int = 8
    seconds: float = 10.0
    races: int = 3


FULL = Sizes()
QUICK = Sizes(memories=300, rounds=3, each=1, writes=10, starts=2, seconds=2.0, races=1)


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison. `ratio` is the median over the rounds; above 1, memkit's side is the better one.

    `agree` says whether both sides gave the same result where they can (None: there is nothing to compare). `raw` holds what else was
    measured or how large it was.
    """

    name: str
    ours: str
    theirs: str
    unit: str
    rounds: tuple[Round, ...]
    ratio: float
    target: str = ""
    agree: bool | None = None
    raw: dict[str, float] = field(default_factory=dict)

    @property
    def figures(self) -> Round:
        """Return the median figure of each side; zeros where there was nothing to compare with."""
        if not self.rounds:
            return 0.0, 0.0
        return median(ours for ours, _ in self.rounds), median(theirs for _, theirs in self.rounds)


def speed(rounds: Sequence[Round]) -> float:
    """Return how many times as fast as the other side memkit is, from seconds: the median of the rounds' ratios.

    >>> speed([(2.0, 4.0), (1.0, 3.0), (1.0, 2.5)])
    2.5
    """
    return median(theirs / ours for ours, theirs in rounds)


def alternate(
    ours: Callable[[int], object], theirs: Callable[[int], object], *, rounds: int, each: int, in_a_row: int = 1
) -> tuple[Round, ...]:
    """Call both sides in turn and return the seconds one call took, for each round; a call is given its number.

    Who goes first changes with every turn, so that a slow moment or a flushed disk is nobody's advantage. With one call `in_a_row` each
    side finds the processor's caches full of the other's data; with more, it is measured warm. `each` should be a multiple of it.

    >>> calls = []
    >>> timed = alternate(lambda n: calls.append(f"ours {n}"), lambda n: calls.append(f"theirs {n}"), rounds=1, each=2)
    >>> calls
    ['ours 0', 'theirs 0', 'theirs 1', 'ours 1']
    """
    turns, sides = itertools.count(), (ours, theirs)

    def one_round() -> Round:
        spent = [0.0, 0.0]
        for turn in itertools.islice(turns, each // in_a_row):
            for side in (0, 1) if turn % 2 == 0 else (1, 0):
                begin = time.perf_counter()
                for number in range(turn * in_a_row, (turn + 1) * in_a_row):
                    sides[side](number)
                spent[side] += time.perf_counter() - begin
        calls = each // in_a_row * in_a_row
        return spent[0] / calls, spent[1] / calls

    return tuple(one_round() for _ in range(rounds))
