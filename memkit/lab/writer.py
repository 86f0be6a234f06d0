"""One of several processes that write at once: `python -m memkit.lab.writer FILE SECONDS NAME` prints how many writes it made.

It says "ready", waits for a line, and writes until its time is over, at least once. Each write is a new memory, and every fifth time a
correction of the one memory that all writers share, where losing (`Conflict`) is expected; anything else stops it.
"""

from __future__ import annotations

import sys
import time
from itertools import count

import memkit

SCOPE = memkit.Scope(workspace="race")
SHARED = "shared"


def write_for(kit: memkit.Kit, seconds: float, name: str) -> int:
    """Write until the time is over and return how many writes were acknowledged."""
    end, written = time.monotonic() + seconds, 0
    for number in count():
        try:
            _write(kit, number, name)
            written += 1
        except memkit.Conflict:
            pass
        if time.monotonic() >= end and written:
            return written
    return written


def _write(kit: memkit.Kit, number: int, name: str) -> None:
    if number % 5 == 4:
        current = kit.current(SHARED, scope=SCOPE)
        kit.remember(SHARED, f"{name} was here, {number}", scope=SCOPE, expected=current.revision if current else 0)
    else:
        kit.remember(f"{name}-{number}", f"write {number} of {name}", scope=SCOPE)


def main(path: str, seconds: str, name: str) -> None:
    with memkit.open(path) as kit:
        print("ready", flush=True)
        sys.stdin.readline()
        print(write_for(kit, float(seconds), name))


if __name__ == "__main__":
    main(*sys.argv[1:])
