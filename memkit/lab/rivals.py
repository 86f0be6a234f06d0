"""Several real processes that correct one memory of one file at once: `python -m memkit.lab.rivals FILE NAME ROUNDS` is one of them.

Each says "ready", waits for a line, and writes so often by compare-and-swap, beginning again whenever it is told of a Conflict. How often
that happens differs from run to run; who won each revision is what is returned. Not here: time (`writer.py` measures).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import memkit
from memkit.errors import MemkitError
from memkit.lab.races import FIRST, KEY, SHOP, Seat, compare_and_swap

PATIENCE = 120  # seconds
PAUSE = 0.002  # seconds between two steps, in which another process may come in between


def compete(path: str | os.PathLike[str], *, writers: int = 3, rounds: int = 4) -> list[tuple[int, str]]:
    """Let processes correct one memory at once; return (revision, "writer-round") of every write that was acknowledged, by revision.

    A store is made where none is. Raises MemkitError where a process ends with anything but its writes.
    """
    with memkit.open(path) as kit:
        kit.remember(KEY, FIRST, scope=SHOP)
    running = [_start(path, f"w{number}", rounds) for number in range(1, writers + 1)]
    try:
        for process in running:
            _hear(process)
        for process in running:
            _wake(process)
        return sorted(won for process in running for won in _wins(process))
    finally:
        for process in running:
            process.kill()
            process.communicate()


def _start(path: str | os.PathLike[str], name: str, rounds: int) -> subprocess.Popen[str]:
    places = [str(Path(memkit.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places)), "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "memkit.lab.rivals", os.fspath(path), name, str(rounds)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, encoding="utf-8", env=environment)


def _hear(process: subprocess.Popen[str]) -> None:
    if process.stdout is None or process.stdout.readline() != "ready\n":
        raise MemkitError(f"a writer did not start: {process.communicate()[1][-500:]}")


def _wake(process: subprocess.Popen[str]) -> None:
    if process.stdin is not None:
        process.stdin.write("go\n")
        process.stdin.flush()


def _wins(process: subprocess.Popen[str]) -> list[tuple[int, str]]:
    out, problem = process.communicate(timeout=PATIENCE)
    if process.returncode:
        raise MemkitError(f"a writer stopped: {problem[-500:]}")
    lines = [line.split(" ") for line in out.splitlines()]
    return [(int(revision), what) for revision, what in lines]


def main(path: str, name: str, rounds: str) -> None:
    with memkit.open(path) as kit:
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(1, int(rounds) + 1):
            seat = Seat(kit)
            for _ in compare_and_swap(seat, KEY, f"{name}-{number}"):
                time.sleep(PAUSE)
            print(seat.taken()[-1].revision, f"{name}-{number}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
