"""Several processes on one file, and processes that are killed: real files, real signals."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import memkit

SHOP = memkit.Scope(workspace="shop")

COUNTER = """
import sys, memkit
path, name, rounds, keys = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4].split(",")
scope = memkit.Scope(workspace="shop")
print("ready", flush=True); sys.stdin.readline()
with memkit.open(path) as kit:
    for n in range(rounds):
        key = keys[n % len(keys)]
        while True:
            current = kit.current(key, scope=scope)
            count = int(current.content.split()[0]) + 1 if current else 1
            try:
                written = kit.remember(key, f"{count} {name} {n}", scope=scope, expected=current.revision if current else 0)
            except memkit.Conflict:
                continue
            print(key, written.memory.revision, written.memory.content, flush=True)
            break
"""

WRITER = """
import sys, memkit
scope = memkit.Scope(workspace="shop")
with memkit.open(sys.argv[1], sources={"a.cfg": "x=1"}) as kit:
    print("ready", flush=True)
    n = 0
    while True:
        n += 1
        kit.learn(f"k{n}", f"value {n} x=1 " + "w" * 3000, scope=scope, cite="a.cfg#key=x")
        print("wrote", n, flush=True)
        if n % 3 == 0:
            kit.forget(f"k{n}", scope=scope, expected=1, reason="asked")
            print("forgot", n, flush=True)
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(Path(memkit.__file__).parents[1])}
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def race(path: Path, processes: int, rounds: int, keys: str) -> list[tuple[str, int, str]]:
    """Run counters at once; return every acknowledged write as (key, revision, content)."""
    running = [start(COUNTER, str(path), f"p{n}", str(rounds), keys) for n in range(processes)]
    for process in running:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    written = []
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in running:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, ""), f"nothing but Conflict may reach a writer\n{err}"
        written += [(key, int(revision), content) for key, revision, content in (line.split(" ", 2) for line in out.splitlines())]
    return written


@pytest.mark.parametrize("keys", ["k", "a,b,c,d,e,f"])
def test_eight_processes_have_one_winner_per_revision_and_lose_nothing(tmp_path: Path, keys: str) -> None:
    path = tmp_path / "memory.db"
    memkit.open(path).close()
    written = race(path, processes=8, rounds=12, keys=keys)
    with memkit.open(path) as kit:
        stored = [(key, m.revision, m.content) for key in keys.split(",") for m in kit.history(key, scope=SHOP)]
        assert sorted(written) == sorted(stored) and len(stored) == 96
        assert all(content is not None and int(content.split()[0]) == revision for _, revision, content in stored)
        assert len(kit.events(scope=SHOP)) == 96


def test_eight_processes_may_create_the_store_at_once(tmp_path: Path) -> None:
    written = race(tmp_path / "new.db", processes=8, rounds=1, keys="k")
    with memkit.open(tmp_path / "new.db") as kit:
        assert sorted(revision for _, revision, _ in written) == [m.revision for m in kit.history("k", scope=SHOP)] == list(range(1, 9))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new.db", "new.db.key"]


def kill_while_writing(path: Path, writes: int, then: float) -> list[tuple[str, int]]:
    """Start a writer, kill it some seconds after so many acknowledged writes, and return everything it had acknowledged."""
    process = start(WRITER, str(path))
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    seen = "".join(process.stdout.readline() for _ in range(writes))
    time.sleep(then)
    process.kill()
    out = seen + process.communicate()[0]
    return [(word, int(n)) for word, n in (line.split() for line in out.splitlines() if line.count(" ") == 1)]


def assert_whole(path: Path, acknowledged: list[tuple[str, int]]) -> None:
    """Every acknowledged write is there, nothing is half: each revision has its evidence and its event, each forgotten one no content."""
    with memkit.open(path, sources={"a.cfg": "x=1"}) as kit:
        for word, n in acknowledged:
            history = kit.history(f"k{n}", scope=SHOP)
            assert history, f"k{n} was acknowledged ({word}) and is gone"
            if word == "forgot":
                assert [m.content for m in history] == [None, None]
        live = [check.memory for check in kit.check(scope=SHOP)]
        assert all(len(memory.evidence) == 1 and (memory.content or "").endswith("w" * 3000) for memory in live)
        events = kit.events(scope=SHOP)
        assert sum(event.op == "ADD" for event in events) - sum(event.op == "FORGET" for event in events) == len(live)
        forgotten = [event.key for event in events if event.op == "FORGET"]
        assert all(kit.admin.sweep(f"value {key[1:]} x=1 w")[path.name] == 0 for key in forgotten[-3:])
    check = sqlite3.connect(path)
    assert check.execute("pragma integrity_check").fetchall() == [("ok",)]
    check.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_killed_while_writing_every_acknowledged_write_is_there(tmp_path: Path) -> None:
    rng = random.Random(5)
    for n in range(6):
        path = tmp_path / f"{n}.db"
        assert_whole(path, kill_while_writing(path, writes=2 * n, then=rng.uniform(0, 0.1)))


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_killed_two_hundred_times(tmp_path: Path) -> None:
    rng = random.Random(6)
    for n in range(200):
        path = tmp_path / f"{n}.db"
        assert_whole(path, kill_while_writing(path, writes=rng.randrange(12), then=rng.uniform(0, 0.1)))
        path.unlink()


@pytest.mark.long
def test_eight_processes_for_a_long_time(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    memkit.open(path).close()
    written = race(path, processes=8, rounds=500, keys="a,b")
    with memkit.open(path) as kit:
        stored = [(key, m.revision, m.content) for key in "ab" for m in kit.history(key, scope=SHOP)]
    assert sorted(written) == sorted(stored) and len(stored) == 4000
