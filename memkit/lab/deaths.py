"""Kill a consolidation at every point it passes, and look what is left: the old memory or the new one, and a retry that completes.

Two ways. `rehearse` keeps a picture of the store's files at each point: what a process that is killed there leaves behind, since no code of
its own runs any more. It is quick enough to take every point. `kill` runs the job in a process of its own and really ends it at one point.
Points are the statements of the database and, of the snapshot, each flush and rename. Not here: the writes and flushes that SQLite makes
inside its COMMIT (`tests/test_killed_in_commit.py` kills at each of them), and a disk that lies about what it has kept.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from types import FrameType

import memkit
from memkit.errors import MemkitError
from memkit.kit import Kit
from memkit.lab.evening import PROD_NOW, SHOP, shop

NAME = "memory.db"
PHASES = ("look at the lease", "take the lease", "look and plan", "carry out the plan", "give the lease back", "write the snapshot")
PATIENCE = 120  # seconds
_JOB = "import sys; from memkit.lab.deaths import die; die(*sys.argv[1:])"
_STATEMENT = re.compile(r"\s*(insert into|update|delete from|begin immediate|begin|commit|rollback)\b\s*(\w*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Stand:
    """What a store says when it is opened: its memories, and the keys of what waits."""

    memories: tuple[str, ...]
    waiting: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Death:
    """One point at which the job was killed: its number, the phase, and what it was about to do; what was found; what a retry made of it.

    `found` is "old" or "new", or "half", which must not be; `again` is "complete" or "differs".
    """

    number: int
    phase: str
    point: str
    found: str
    again: str

    def __str__(self) -> str:
        return f"{self.number:3} {self.phase}: {self.point}: {self.found}, retry {self.again}"


@cache
def rehearse() -> tuple[Death, ...]:
    """Tidy the shop once, take a picture of its files at every point, and open each picture as after a restart.

    Equal pictures are opened once. Takes a few seconds, once a process.
    """
    film = filmed()
    after = {picture: _after_a_kill(picture, film) for picture in dict.fromkeys(film.pictures)}
    told = zip(film.points, film.pictures, strict=True)
    return tuple(Death(number, *point, *after[picture]) for number, (point, picture) in enumerate(told, 1))


def kill(at: int) -> Death:
    """Run the job on a new store in a process of its own, end that process at a point, and open what it leaves.

    `at` is a number of `rehearse`. Raises MemkitError where the process ended by itself: then there is no such point.
    """
    film = filmed()
    with tempfile.TemporaryDirectory() as folder:
        path = _put(Path(folder), film.first)
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(Path(memkit.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        }
        command = [sys.executable, "-c", _JOB, os.fspath(path), str(at), film.now.isoformat()]
        ended = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=False)
        if ended.returncode == 0 or ended.stderr:
            said = ended.stderr.decode(errors="replace")[-500:]
            raise MemkitError(f"the job was not killed at point {at}; it passes {len(film.points)} points. {said}")
        return Death(at, *film.points[at - 1], *_after_a_kill(_taken(path), film))


# --- watching

Files = tuple[tuple[str, bytes], ...]
"""The files of a store: name and bytes of each."""


@dataclass(frozen=True, slots=True)
class Film:
    """One run: the files before it, what they said before and after, the points passed as (phase, what), the files at each, and when."""

    first: Files
    old: Stand
    new: Stand
    points: Sequence[tuple[str, str]]
    pictures: Sequence[Files]
    now: datetime


@cache
def filmed() -> Film:
    """Fill a store, tidy it, and keep a picture of its files at each point. Done once a process."""
    points, pictures = list[tuple[str, str]](), list[Files]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        kit, now = shop(path)
        kit.close()
        first, old = _taken(path), _opened(path, now())

        def picture(phase: str, point: str) -> None:
            points.append((phase, point))
            pictures.append(_taken(path))

        with _reopened(path, now()) as kit, passing(kit, picture):
            kit.consolidate(scope=SHOP)
        return Film(first, old, _opened(path, now()), points, pictures, now())


def _taken(path: Path) -> Files:
    return tuple((file.name, file.read_bytes()) for file in sorted(path.parent.iterdir()))


def _put(folder: Path, files: Files) -> Path:
    for name, data in files:
        (folder / name).write_bytes(data)
    return folder / NAME


@contextmanager
def passing(kit: Kit, told: Callable[[str, str], None]) -> Iterator[None]:
    """Call `told` with a phase and a name before each statement that changes anything, and around each flush and rename of a file."""
    locks = 0

    def statement(sql: str) -> None:
        nonlocal locks
        if found := _STATEMENT.match(sql):
            words = " ".join(word.lower() for word in found.groups() if word)
            locks += words == "begin immediate"
            told(_phase(locks, words), f"before {words}")

    def function(frame: FrameType, event: str, called: object) -> None:
        if event in ("c_call", "c_return") and called in (os.fsync, os.replace):
            name = "flush of the file" if called is os.fsync else "rename"
            told(PHASES[-1], f"{'before' if event == 'c_call' else 'after'} the {name}")

    with kit.db.read() as tx:
        connection = tx.conn
    former = sys.getprofile()
    connection.set_trace_callback(statement)
    sys.setprofile(function)  # subtle: it sees the calls of built-in functions without any of them being replaced
    try:
        yield
    finally:
        sys.setprofile(former)
        connection.set_trace_callback(None)


def _phase(locks: int, words: str) -> str:
    return PHASES[2] if words in ("begin", "rollback") else PHASES[[0, 1, 3, 4, 5][min(locks, 4)]]


# --- opening again


def _reopened(path: Path, now: datetime) -> Kit:
    return memkit.open(path, sources={"prod.cfg": PROD_NOW}, clock=lambda: now)


def _opened(path: Path, now: datetime) -> Stand:
    with _reopened(path, now) as kit:
        memories = tuple(f"{check.memory.key}: {check.memory.content}" for check in kit.check(scope=SHOP))
        return Stand(memories, tuple(proposal.key for proposal in kit.inbox(scope=SHOP)))


def _after_a_kill(files: Files, film: Film) -> tuple[str, str]:
    """Open files as after a restart, then once more when the lease of the dead has run out, and consolidate."""
    later = film.now + timedelta(hours=1)
    named = {film.old: "old", film.new: "new"}
    with tempfile.TemporaryDirectory() as folder:
        path = _put(Path(folder), files)
        found = named.get(_opened(path, film.now), "half")
        with _reopened(path, later) as kit:
            kit.consolidate(scope=SHOP)
        return found, "complete" if _opened(path, later) == film.new else "differs"


def die(path: str, at: str, now: str) -> None:
    """Consolidate the shop in the store at `path`, and end this process at a point."""
    left = int(at)

    def countdown(phase: str, point: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))  # where there is no SIGKILL, this ends the process as hard

    with _reopened(Path(path), datetime.fromisoformat(now)) as kit, passing(kit, countdown):
        kit.consolidate(scope=SHOP)
