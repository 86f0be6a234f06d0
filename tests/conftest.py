"""What several tests share: a real browser, skipped or compulsory."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from memkit.lab.doctor import find_chromium

try:
    import fcntl
except ImportError:  # Windows: there, run the tests in one process
    fcntl = None  # type: ignore[assignment]

ONE_AT_A_TIME = re.compile(r"test_browser_.*|test_lessons|test_sandbox|\d\d_\w+")
_turn: list[IO[str]] = []  # the lock, while this process has it


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of a Chromium; without one, skip, or fail where MEMKIT_REQUIRE_BROWSER=1 says that it must be there."""
    found = find_chromium()
    if found is None:
        if os.environ.get("MEMKIT_REQUIRE_BROWSER") == "1":
            pytest.fail("MEMKIT_REQUIRE_BROWSER=1, and there is no Chromium on the PATH")
        pytest.skip("there is no Chromium on the PATH: `memkit doctor` prints the command that installs it")
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let a test that drives a real browser be run once more: front end, kernel and browser share the machine with whatever else runs.

    What was run again is counted in the last line of the report; a fault that is in the code fails both times.
    """
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Where several processes share the tests (`-n 2 --dist loadfile`), let one at a time run a lesson or drive a browser, file by file.

    Lessons share the folder `_work` beside them, and two browsers on two cores starve each other.
    """
    if "PYTEST_XDIST_WORKER" in os.environ and ONE_AT_A_TIME.fullmatch(item.path.stem) and not _turn:
        lock = (Path(tempfile.gettempdir()) / f"memkit-lessons-{os.getppid()}.lock").open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        _turn.append(lock)
    try:
        return (yield)
    finally:
        if _turn and (nextitem is None or nextitem.path != item.path):
            _turn.pop().close()
