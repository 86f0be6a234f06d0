"""The watcher tells what changed, whoever changed it and however, within a bounded wait; it tells nothing that is not worth telling."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from memkit.errors import NotFound, Refused
from memkit.lab import watch as module
from memkit.lab.watch import Watcher, watch

LONGEST_WAIT = 20.0  # seconds on a machine that is busy; what is promised is two

WAYS = pytest.mark.parametrize("poll", [True, False, None])


class Told:
    """What a watcher told, and on which thread."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.threads: set[threading.Thread] = set()

    def __call__(self, names: frozenset[str]) -> None:
        self.names |= names
        self.threads.add(threading.current_thread())

    async def of(self, *names: str) -> None:
        """Wait until these names were told, then forget them."""
        end = time.monotonic() + LONGEST_WAIT
        while not self.names >= set(names):
            assert time.monotonic() < end, f"waited for {names}, was told of {self.names}"
            await asyncio.sleep(0.02)
        self.names.clear()


def watching(folder: Path, scenario: Callable[[Told, Watcher], Awaitable[None]], poll: bool | None = None) -> None:
    """Run a scenario beside a watcher, then stop it."""

    async def run() -> None:
        told = Told()
        watcher = watch(folder, told, poll=poll)
        try:
            await asyncio.sleep(0.3)  # so that the system's watch stands before the first event
            await scenario(told, watcher)
        finally:
            watcher.stop()
        assert not watcher.running

    asyncio.run(run())


@WAYS
def test_it_tells_of_a_file_that_is_made_changed_renamed_and_removed(tmp_path, poll):
    async def scenario(told: Told, _: Watcher) -> None:
        file = tmp_path / "conf" / "prod.cfg"
        file.parent.mkdir()
        await asyncio.sleep(0.5)
        file.write_text("timeout=30")
        await told.of("conf/prod.cfg")
        file.write_text("timeout=31")
        await told.of("conf/prod.cfg")
        file.rename(tmp_path / "conf" / "超时.cfg")
        await told.of("conf/prod.cfg", "conf/超时.cfg")
        (tmp_path / "conf" / "超时.cfg").unlink()
        await told.of("conf/超时.cfg")
        assert told.threads == {threading.main_thread()}

    watching(tmp_path, scenario, poll)


@WAYS
def test_it_tells_of_an_edit_that_keeps_size_and_time(tmp_path, poll):
    file = tmp_path / "prod.cfg"
    file.write_text("timeout=30")
    kept = file.stat()

    async def scenario(told: Told, _: Watcher) -> None:
        file.write_text("timeout=60")
        os.utime(file, ns=(kept.st_atime_ns, kept.st_mtime_ns))
        await told.of("prod.cfg")
        assert (file.stat().st_size, file.stat().st_mtime_ns) == (kept.st_size, kept.st_mtime_ns)

    watching(tmp_path, scenario, poll)


@WAYS
def test_it_tells_of_an_edit_by_another_process(tmp_path, poll):
    (tmp_path / "prod.cfg").write_text("timeout=30")

    async def scenario(told: Told, _: Watcher) -> None:
        program = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('timeout=60')"
        subprocess.run([sys.executable, "-c", program, str(tmp_path / "prod.cfg")], check=True)
        await told.of("prod.cfg")

    watching(tmp_path, scenario, poll)


@WAYS
def test_it_survives_that_the_folder_is_removed_and_made_again(tmp_path, poll):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "prod.cfg").write_text("timeout=30")

    async def scenario(told: Told, _: Watcher) -> None:
        (folder / "prod.cfg").unlink()
        folder.rmdir()
        await told.of("prod.cfg")
        folder.mkdir()
        await asyncio.sleep(2.5)  # until the new folder is followed
        (folder / "test.cfg").write_text("timeout=5")
        await told.of("test.cfg")

    watching(folder, scenario, poll)


@WAYS
def test_it_does_not_tell_of_hidden_and_temporary_files_and_does_of_the_next_plain_one(tmp_path, poll):
    silent = [".hidden", ".ipynb_checkpoints/a.cfg", "a.cfg~", "#a.cfg#", ".~a.cfg", "a.tmp", "__pycache__/a.pyc", ".git/HEAD"]
    told_of: set[str] = set()

    async def scenario(told: Told, _: Watcher) -> None:
        for name in silent:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("x")
        (tmp_path / ".env").write_text("A=1")
        end = time.monotonic() + LONGEST_WAIT
        while ".env" not in told.names and time.monotonic() < end:
            await asyncio.sleep(0.02)
        told_of.update(told.names)

    watching(tmp_path, scenario, poll)
    assert told_of == {".env"}


def test_nothing_is_told_once_it_is_stopped_and_stopping_does_not_wait(tmp_path):
    async def run() -> None:
        told = Told()
        watcher = watch(tmp_path, told)
        (tmp_path / "a.cfg").write_text("x")
        await told.of("a.cfg")
        watcher.stop()
        watcher.stop()
        assert not watcher.running
        (tmp_path / "b.cfg").write_text("x")
        await asyncio.sleep(1.5)
        assert told.names == set()

    asyncio.run(run())


def test_the_thread_ends_when_the_loop_is_gone(tmp_path):
    async def start() -> Watcher:
        return watch(tmp_path, Told())

    watcher = asyncio.run(start())
    end = time.monotonic() + LONGEST_WAIT
    while watcher.running and time.monotonic() < end:
        (tmp_path / f"{time.monotonic_ns()}.cfg").write_text("x")
        time.sleep(0.1)
    assert not watcher.running


def test_it_falls_back_to_the_listing_where_the_system_has_no_watches_left(tmp_path, monkeypatch):
    def exhausted(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.watchfiles, "watch", exhausted)

    async def scenario(told: Told, _: Watcher) -> None:
        (tmp_path / "prod.cfg").write_text("timeout=30")
        await told.of("prod.cfg")

    watching(tmp_path, scenario, poll=False)


def test_the_variable_of_watchfiles_turns_the_events_off(tmp_path, monkeypatch):
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    monkeypatch.setattr(module.watchfiles, "watch", lambda *_, **__: pytest.fail("events were asked for"))

    async def scenario(told: Told, _: Watcher) -> None:
        (tmp_path / "prod.cfg").write_text("timeout=30")
        await told.of("prod.cfg")

    watching(tmp_path, scenario)


def test_each_way_it_cannot_watch_is_an_error_with_the_way_out(tmp_path, monkeypatch):
    with pytest.raises(Refused, match="no event loop"):
        watch(tmp_path, print)
    with pytest.raises(NotFound, match="no folder 'nowhere'"):
        watch(tmp_path / "nowhere", print)
    monkeypatch.setattr(module, "watchfiles", None)
    with pytest.raises(Refused, match=r"memkit\[course\]"):
        watch(tmp_path, print)
