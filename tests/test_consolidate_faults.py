"""Consolidation killed at every statement, flush and rename, and among other writers: old or new, never half, nothing lost."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memkit
from memkit.record import snapshot
from memkit.record.database import Database
from memkit.write import proposals

SHOP = memkit.Scope(workspace="shop")
START = datetime(2026, 3, 1, tzinfo=UTC)
FACTS = [f"{word} is slow on Mondays" for word in ("the cache", "the queue", "the disk", "部署", "缓存")]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, which this system lacks")


def opened(path: Path, now: datetime = START) -> memkit.Kit:
    return memkit.open(path, clock=lambda: now)


def fill(path: Path) -> None:
    with opened(path) as kit:
        for n, fact in enumerate(FACTS):
            proposal = kit.propose(f"key {n}", fact, scope=SHOP, confidence=0.9)
            with kit.db.write() as tx:
                for question in ("one", "two", "three"):
                    proposals.count_wanted(tx, kit.db, "local", [proposal.id], query=question, now=START)


class Fuse:
    """Kill this process, as kill -9 does, at the n-th point that it passes."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(self, function: Callable[..., object]) -> Callable[..., object]:
        def guarded(*arguments: object, **named: object) -> object:
            self()
            result = function(*arguments, **named)
            self()
            return result

        return guarded


def consolidate_until_killed(path: Path, at: int) -> None:
    fuse = Fuse(at)
    with opened(path) as kit:
        kit.db._connection.set_trace_callback(fuse)  # each statement, BEGIN and COMMIT among them
        os.fsync, os.replace = fuse.before(os.fsync), fuse.before(os.replace)
        kit.consolidate(scope=SHOP)
        kit.db._connection.set_trace_callback(None)
    os._exit(0)


def run(target: Callable[..., None], *arguments: object) -> int:
    """Run a function in a process of its own and return its exit code."""
    process = multiprocessing.get_context("fork").Process(target=target, args=arguments)
    process.start()
    process.join(60)
    return int(process.exitcode if process.exitcode is not None else 1)


def state(path: Path) -> tuple[int, int]:
    """Return how many of the facts are memories and how many wait; a memory is found by recall and has one revision."""
    with opened(path) as kit:
        known = kit.check(scope=SHOP)
        assert all(len(kit.history(check.memory.key, scope=SHOP)) == 1 for check in known)
        assert len(kit.recall("Mondays 缓存 部署", scope=SHOP, budget=2000).hits) == len(known)
        return len(known), len(kit.inbox(scope=SHOP))


def test_killed_at_every_point_it_leaves_the_old_state_or_the_new_and_the_retry_completes(tmp_path):
    first = tmp_path / "first"
    first.mkdir()
    fill(first / "memory.db")
    seen, at, code = set(), 0, -signal.SIGKILL
    while code == -signal.SIGKILL:
        at += 1
        path = Path(shutil.copytree(first, tmp_path / str(at))) / "memory.db"
        code = run(consolidate_until_killed, path, at)
        seen.add(state(path))
        with opened(path, START + timedelta(hours=1)) as kit:  # the lease of the dead has run out
            kit.consolidate(scope=SHOP)
            snapshot.write_snapshot(kit.db, "local")
            assert [row["content"] for row in snapshot.read_snapshot(kit.db, "local")] == FACTS
        assert state(path) == (len(FACTS), 0)
    assert code == 0 and at > 40, f"only {at} points were passed"
    assert seen == {(0, len(FACTS)), (len(FACTS), 0)}  # both happened, and nothing between


def test_forgetting_reaches_what_a_killed_run_left_half_written(tmp_path):
    path = tmp_path / "memory.db"
    fill(path)
    with opened(path) as kit:
        kit.consolidate(scope=SHOP)
        stray = Path(f"{snapshot.snapshot_path(kit.db, 'local')}abc123")
        stray.write_text(FACTS[0], encoding="utf-8")
        assert kit.admin.sweep(FACTS[0])[stray.name] == 1
        receipt = kit.forget("key 0", scope=SHOP, expected=1, reason="asked")
        assert (receipt.verified, stray.exists()) == (True, False)
        assert sum(kit.admin.sweep(FACTS[0]).values()) == 0


def consolidate_for(path: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    with memkit.open(path) as kit:
        while time.monotonic() < end:
            try:
                kit.consolidate(scope=SHOP)
            except (memkit.Refused, memkit.Conflict, memkit.LeaseLost):
                time.sleep(0.005)
    os._exit(0)


def infer_and_correct_for(path: Path, seconds: float, told: Path) -> None:
    """Propose, let it be wanted, and correct half of it as a person; note each correction once it was acknowledged."""
    end, n = time.monotonic() + seconds, 0
    with memkit.open(path) as kit, told.open("w", encoding="utf-8") as notes:
        while time.monotonic() < end:
            n += 1
            proposal = kit.propose(f"key {n}", f"guess number {n}", scope=SHOP, confidence=0.9)
            with kit.db.write() as tx:
                for question in ("one", "two", "three"):
                    proposals.count_wanted(tx, kit.db, "local", [proposal.id], query=question, now=datetime.now(UTC))
            if n % 2:
                kit.remember(f"key {n}", f"correction number {n}", scope=SHOP, expected=memkit.ANY)
                notes.write(f"{n}\n")
                notes.flush()
    os._exit(0)


@pytest.mark.parametrize("seconds", [3, pytest.param(30, marks=pytest.mark.long)])
def test_two_consolidate_while_a_third_corrects_and_no_correction_is_lost(tmp_path, seconds):
    path, told = tmp_path / "memory.db", tmp_path / "told"
    memkit.open(path).close()
    context = multiprocessing.get_context("fork")
    jobs = [(consolidate_for, (path, seconds + 1)), (consolidate_for, (path, seconds + 1)), (infer_and_correct_for, (path, seconds, told))]
    processes = [context.Process(target=target, args=arguments) for target, arguments in jobs]
    for process in processes:
        process.start()
    for process in processes:
        process.join(seconds + 60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    corrected = [int(line) for line in told.read_text(encoding="utf-8").split("\n") if line]
    assert len(corrected) > 3
    kept = 0
    with memkit.open(path) as kit:
        for n in corrected:
            assert kit.current(f"key {n}", scope=SHOP).content == f"correction number {n}"
        for check in kit.check(scope=SHOP):
            history = kit.history(check.memory.key, scope=SHOP)
            assert [memory.revision for memory in history] == list(range(1, len(history) + 1))
            contents = [memory.content for memory in history]
            assert len(set(contents)) == len(contents), "the same was written twice"
            kept += any(memory.actor == "job" for memory in history)
    assert kept > 0


WATCH = """
import os, sys
allowed = sys.argv[1]
def watch(event, args):
    if event.startswith("socket."):
        raise SystemExit(f"opened a socket: {event}")
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn"):
        raise SystemExit(f"started a process: {event}")
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        told(args[0])
    if event == "open" and args[1] is None and args[2] & (os.O_WRONLY | os.O_RDWR):
        told(args[0])
    if event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink", "sqlite3.connect"):
        told(args[0])
    if event in ("os.rename", "os.link", "os.symlink"):
        told(args[1])
def told(name):
    if not isinstance(name, int) and not str(name).startswith(allowed) and str(name) != os.devnull:
        raise SystemExit(f"wrote outside: {name}")
import memkit
from datetime import UTC, datetime, timedelta
with memkit.open(allowed, clock=lambda: datetime(2026, 3, 1, 1, tzinfo=UTC)) as kit:
    kit.consolidate(scope=memkit.Scope(workspace="shop"), dry_run=True)  # loads what is loaded at first use
    sys.addaudithook(watch)
    report = kit.consolidate(scope=memkit.Scope(workspace="shop"))
    print(len(report.written))
    if len(sys.argv) > 2:
        exec(sys.argv[2])
"""


def watched(path: Path, *extra: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-c", WATCH, str(path), *extra], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def test_the_job_writes_only_memkits_own_files_and_opens_no_socket(tmp_path):
    path = tmp_path / "memory.db"
    fill(path)
    assert watched(path) == (0, "5")
    assert watched(path, "import socket; socket.socket()")[1].endswith("opened a socket: socket.__new__")
    assert "started a process" in watched(path, "os.system('true')")[1]
    other, own = repr(str(tmp_path / "other")), repr(f"{path}-mine")
    for outside in (
        f"open({other}, 'w')",
        f"open({own}, 'w').close(); os.rename({own}, {other})",
        f"import sqlite3; sqlite3.connect({other})",
    ):
        assert "wrote outside" in watched(path, outside)[1]


def test_a_database_says_which_files_are_its_own(tmp_path):
    with memkit.open(tmp_path / "memory.db") as kit:
        names = ("memory.db", "memory.db-journal", "memory.db.key", "memory.db.snapshot-0123")
        root = Path(os.path.realpath(tmp_path))
        assert all(kit.db.owns(root / name) for name in names)
        assert not any(kit.db.owns(root / name) for name in ("other.db", "memory.db.md", "memory.db.snapshot-1/x", "xmemory.db"))
    assert not Database().owns(root / "memory.db")
