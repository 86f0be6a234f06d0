"""Killed at every system call that changes a store's files, those inside SQLite's COMMIT among them: old or new, and a retry completes.

`test_consolidate_faults.py` kills between memkit's own statements; here strace ends the process on entering the n-th call of each kind.
strace counts for each process alone, and kills at one number: so each child first makes harmless calls, as many as bring its own point
to that number. Left out: a machine that loses power, where what was written and not yet flushed may be lost or out of order.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memkit
from memkit.record import snapshot
from memkit.write import proposals

SHOP = memkit.Scope(workspace="shop")
START = datetime(2026, 3, 1, tzinfo=UTC)
LATER = START + timedelta(hours=1)  # the lease of the dead has run out
WAITING = [f"{word} is slow on Mondays" for word in ("the cache", "the queue", "the disk", "部署", "缓存")]
STATED = [f"the {word} restarts on Mondays" for word in ("gateway", "printer", "mirror", "proxy")]
AT = 300  # the number of the call that kills: more than the process that forks ever makes
NOWHERE = "/dev/null"


def opened(path: Path, now: datetime = START) -> memkit.Kit:
    return memkit.open(path, clock=lambda: now)


def fill(path: Path) -> None:
    """Make a store with four stated memories and a snapshot of them, and five inferences that may be consolidated."""
    with opened(path) as kit:
        for n, fact in enumerate(STATED):
            kit.remember(f"stated {n}", fact, scope=SHOP)
        for n, fact in enumerate(WAITING):
            proposal = kit.propose(f"key {n}", fact, scope=SHOP, confidence=0.9)
            with kit.db.write() as tx:
                for question in ("one", "two", "three"):
                    proposals.count_wanted(tx, kit.db, "local", [proposal.id], query=question, now=START)
        snapshot.write_snapshot(kit.db, "local")


def admit(kit: memkit.Kit) -> None:
    waiting = [proposal for proposal in kit.inbox(scope=SHOP) if proposal.key == "key 0"]
    for proposal in waiting:  # none, where it was admitted before
        kit.admit(proposal)


def forget(kit: memkit.Kit) -> None:
    assert kit.forget("stated 0", scope=SHOP, expected=1, reason="asked").verified


VERBS: dict[str, Callable[[memkit.Kit], object]] = {
    "consolidate": lambda kit: kit.consolidate(scope=SHOP),
    "forget": forget,
    "admit": admit,
    "remember": lambda kit: kit.remember("stated 1", "the printer rests on Mondays", scope=SHOP, expected=1),
}


# --- the process that strace watches


def harmless(name: str) -> None:
    """Make a call of a kind that changes nothing; the two that find no file, and those on what has no bytes, fail."""
    null = os.open(NOWHERE, os.O_RDWR)
    calls: dict[str, Callable[[], object]] = {
        "pwrite64": lambda: os.pwrite(null, b"x", 0),
        "write": lambda: os.write(null, b"x"),
        "fsync": lambda: os.fsync(null),
        "fdatasync": lambda: os.fdatasync(null),
        "ftruncate": lambda: os.ftruncate(null, 0),
        "unlink": lambda: os.unlink(f"{NOWHERE}/x"),
        "rename": lambda: os.rename(f"{NOWHERE}/x", f"{NOWHERE}/y"),
    }
    try:
        calls[name]()
    except OSError:
        pass
    finally:
        os.close(null)


KINDS = ("pwrite64", "write", "fsync", "fdatasync", "ftruncate", "unlink", "rename")
TRACED = ",".join(f"?{name}" for name in (*KINDS, "unlinkat", "renameat", "renameat2"))


def die(path: Path, verb: str, kind: str, n: int, journal: str) -> None:
    """Carry out a verb; strace ends this process at its n-th call of a kind."""
    with opened(path) as kit:
        kit.db._connection.execute(f"pragma journal_mode={journal}")
        for _ in range(AT - n):
            harmless(kind)
        VERBS[verb](kit)
    os._exit(0)


def die_everywhere(first: Path, verb: str, journal: str) -> None:
    """For each kind of call, kill a child at its first, its second and so on, each on its own copy, until one comes through."""
    with tempfile.TemporaryDirectory() as scratch:
        VERBS[verb](opened(Path(shutil.copytree(first, Path(scratch) / "warm")) / "memory.db"))  # loads what is loaded at first use
    for place, kind in enumerate(KINDS):
        n, ended = 0, signal.SIGKILL.value
        while ended == signal.SIGKILL:
            n += 1
            path = Path(shutil.copytree(first, first.parent / f"{place} {kind} {n:03}")) / "memory.db"
            child = os.fork()
            if child == 0:
                try:
                    die(path, verb, kind, n, journal)
                finally:
                    os._exit(1)
            ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) * -1
        if ended:
            sys.exit(f"the child of {kind} {n} ended with {ended}")
        shutil.rmtree(path.parent)


# --- what is left


def why_not() -> str:
    """Return why strace cannot be used here, "" where it can."""
    if not sys.platform.startswith("linux"):
        return "strace is for Linux"
    if shutil.which("strace") is None:
        return "strace is not installed; `apt-get install strace` brings it"
    tried = subprocess.run(["strace", "-f", "-qq", "-o", NOWHERE, "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "this machine lets no process trace another"


needs_strace = pytest.mark.skipif(bool(why_not()), reason=why_not())


def killed(folder: Path, verb: str, journal: str = "delete") -> list[tuple[str, str, Path]]:
    """Kill a verb everywhere; return of each point the kind of call, the file it was about, and the store that is left."""
    first, log = folder / "first", folder.parent / f"{folder.name}.log"
    fill(first / "memory.db")
    traced = ["strace", "-f", "-qq", "-y", "-s", "0", "-o", str(log), "-e", f"trace={TRACED}", "-e"]
    injected = f"inject={TRACED}:signal=SIGKILL:error=EIO:when={AT}"  # the error, so that the call itself is surely not made
    environment = os.environ | {"PYTHONPATH": str(Path(memkit.__file__).parents[1])}
    run = [*traced, injected, sys.executable, __file__, str(first), verb, journal]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    last = re.findall(r"^(\d+) +(\w+)\((.*)\) += \?.*\n(?:\1 .*\n)*?\1 +\+\+\+ killed by SIGKILL", log.read_text(), re.MULTILINE)
    stores = sorted(folder.glob("? */memory.db"))
    assert len(last) == len(stores)
    return [(_kind(name), _suffix(about), store) for (_, name, about), store in zip(last, stores, strict=True)]


def _kind(name: str) -> str:
    """Return what a call does, however the system spells it."""
    return {"pwrite64": "write", "fdatasync": "fsync"}.get(name, name.removesuffix("2").removesuffix("at"))


def _suffix(about: str) -> str:
    """Return which of a store's files a call is about, by its suffix; "folder" for the folder, "pipe" for what is no file."""
    if named := re.search(r"/memory\.db(-journal|\.snapshot-)?", about):
        return named[1] or ""
    return "folder" if re.search(r"</.*>", about) else "pipe"


Stand = tuple[list[str], list[str]]


def stand(path: Path) -> Stand:
    """Return the memories, with their numbers of revisions, and what waits; recall finds exactly them, and no byte what is forgotten."""
    with opened(path) as kit:
        memories = [check.memory for check in kit.check(scope=SHOP)]
        assert kit.current("stated 0", scope=SHOP) or sum(kit.admin.sweep(STATED[0]).values()) == 0
        told = [f"{m.key}: {m.content} ({len(kit.history(m.key, scope=SHOP))})" for m in memories]
        hits = kit.recall("Mondays 缓存 部署 printer", scope=SHOP, budget=2000).hits
        assert {hit.memory.key for hit in hits} == {memory.key for memory in memories}
        copy = snapshot.read_snapshot(kit.db, "local")
        assert copy is None or [row["key"] for row in copy] == sorted(memory.key for memory in memories)
        return told, [proposal.key for proposal in kit.inbox(scope=SHOP)]


def whole(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        sound = connection.execute("pragma integrity_check").fetchall() == [("ok",)]
        return sound and not connection.execute("pragma foreign_key_check").fetchall()
    finally:
        connection.close()


def judged(path: Path, verb: str, old: Stand, new: Stand) -> tuple[str, str]:
    """Return what a store that was left says, and what it says once the verb was called again."""
    names = [(old, "old"), (new, "new")]
    try:
        found = next((name for known, name in names if known == stand(path)), "half")
        found = found if whole(path) else "broken"
        with opened(path, LATER) as kit:
            VERBS[verb](kit)
        return found, "complete" if stand(path) == new and whole(path) else "differs"
    except Exception:  # a broken store may raise anything
        return "broken", "refused"


def ends(folder: Path, verb: str) -> tuple[Stand, Stand]:
    """Return how a store stands before a verb and after it."""
    path = folder / "memory.db"
    folder.mkdir()
    fill(path)
    old = stand(path)
    with opened(path) as kit:
        VERBS[verb](kit)
    return old, stand(path)


# What a verb is about to do when it is killed: SQLite's own calls, and those on the snapshot.
COMMIT = {("write", "-journal"), ("fsync", "-journal"), ("fsync", "folder"), ("write", ""), ("fsync", ""), ("unlink", "-journal")}
SNAPSHOT = {
    "consolidate": {(kind, ".snapshot-") for kind in ("write", "fsync", "rename", "unlink")},
    "forget": {(kind, ".snapshot-") for kind in ("write", "unlink")},
}


@needs_strace
@pytest.mark.parametrize("verb", list(VERBS))
def test_killed_at_any_write_flush_or_rename_it_leaves_the_old_or_the_new_and_a_retry_completes(tmp_path, verb):
    (tmp_path / "stores" / "first").mkdir(parents=True)
    old, new = ends(tmp_path / "ends", verb)
    assert old != new
    points = killed(tmp_path / "stores", verb)
    found = {(kind, suffix, path.parent.name): judged(path, verb, old, new) for kind, suffix, path in points}
    wrong = {point: said for point, said in found.items() if said not in (("old", "complete"), ("new", "complete"))}
    assert wrong == {}
    assert {said for said, _ in found.values()} == {"old", "new"} if verb in ("consolidate", "forget") else {"old"}
    reached = {(kind, suffix) for kind, suffix, _ in found}
    assert reached - {("write", "pipe")} == COMMIT | SNAPSHOT.get(verb, set())


@needs_strace
def test_without_a_journal_a_kill_inside_the_commit_is_caught(tmp_path):
    (tmp_path / "stores" / "first").mkdir(parents=True)
    old, new = ends(tmp_path / "ends", "consolidate")
    found = {judged(path, "consolidate", old, new) for _, _, path in killed(tmp_path / "stores", "consolidate", "off")}
    assert {said for said, _ in found} - {"old", "new"}


if __name__ == "__main__":
    die_everywhere(Path(sys.argv[1]), *sys.argv[2:])
