"""record/database.py: opening, turns, the secret."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest

import memkit
from memkit.record.database import Database

SHOP = memkit.Scope(workspace="shop")


def test_a_folder_that_is_not_there_is_an_error_never_an_empty_store(tmp_path: Path) -> None:
    with pytest.raises(memkit.NotFound, match="make the folder first"):
        memkit.open(tmp_path / "missing" / "memory.db")
    with pytest.raises(memkit.NotFound, match="is a folder"):
        memkit.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_a_path_that_names_nothing_is_refused(path: str) -> None:
    with pytest.raises(memkit.NotFound, match="pass the name of a file"):
        memkit.open(path)


def test_another_applications_database_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with sqlite3.connect(path) as other:
        other.execute("pragma journal_mode=wal")
        other.execute("create table note (text)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(memkit.Corrupt, match="another application"):
        memkit.open(path)
    assert path.read_bytes() == before and [file.name for file in tmp_path.iterdir()] == ["notes.db"]


def test_a_file_that_is_no_database_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(b"dear reader, " * 200)
    with pytest.raises(memkit.Corrupt, match="not a memkit database"):
        memkit.open(path)
    assert path.read_bytes() == b"dear reader, " * 200


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    memkit.open(path).close()
    newer = sqlite3.connect(path)
    newer.execute("pragma user_version=99")
    newer.close()
    with pytest.raises(memkit.Corrupt, match="schema version 99"):
        memkit.open(path)


def test_a_lost_or_foreign_key_file_is_noticed(tmp_path: Path) -> None:
    for name in ("one.db", "two.db"):
        memkit.open(tmp_path / name).close()
    key = tmp_path / "one.db.key"
    key.write_bytes((tmp_path / "two.db.key").read_bytes())
    with pytest.raises(memkit.Corrupt, match="another database"):
        memkit.open(tmp_path / "one.db")
    key.unlink()
    with pytest.raises(memkit.Corrupt, match="put the key file back"):
        memkit.open(tmp_path / "one.db")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no mode bits")
def test_only_the_owner_may_read_the_files(tmp_path: Path) -> None:
    memkit.open(tmp_path / "memory.db").close()
    assert {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {"memory.db": 0o600, "memory.db.key": 0o600}


def test_every_connection_erases_and_is_durable(tmp_path: Path) -> None:
    db = Database(tmp_path / "memory.db")
    with db.read() as tx:
        settings = {
            name: tx.execute(f"pragma {name}").fetchone()[0] for name in ("secure_delete", "synchronous", "journal_mode", "foreign_keys")
        }
    assert settings == {"secure_delete": 1, "synchronous": 2, "journal_mode": "delete", "foreign_keys": 1}


def test_a_block_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    db = Database(tmp_path / "memory.db")
    with pytest.raises(ZeroDivisionError), db.write() as tx:
        tx.execute("insert into meta values ('half', 'written')")
        raise ZeroDivisionError
    with db.read() as tx:
        assert [name for (name,) in tx.execute("select name from meta").fetchall()] == ["key_check"]


def test_being_locked_out_ends_in_busy_and_the_store_still_works(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    db = Database(path, wait=0.2)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(memkit.Busy, match="nothing was changed") as caught, db.write():
        pass
    assert caught.value.waited >= 0.2
    other.execute("rollback")
    with db.write() as tx:
        tx.execute("insert into meta values ('now', 'it works')")


def test_threads_take_turns_on_one_store(tmp_path: Path) -> None:
    with memkit.open(tmp_path / "memory.db") as kit:
        won: list[int] = []

        def writer(number: int) -> None:
            for _ in range(5):
                current = kit.current("count", scope=SHOP)
                try:
                    kit.remember("count", f"{number} {os.urandom(4).hex()}", scope=SHOP, expected=current.revision if current else 0)
                    won.append(number)
                except memkit.Conflict:
                    kit.recall("count", scope=SHOP, budget=100)

        threads = [threading.Thread(target=writer, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == len(kit.history("count", scope=SHOP)) > 0


def test_threads_in_many_scopes_do_not_disturb_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memkit.verbs.base.MOST_PLACES", 2)
    monkeypatch.setattr("memkit.record.evidence.MOST_KEPT", 2)
    monkeypatch.setattr("memkit.write.redact.MOST_CLEAN", 2)
    with memkit.open(sources={f"{n}.cfg": f"x={n}" for n in range(8)}) as kit, ThreadPoolExecutor(8) as pool:

        def one(n: int) -> str:
            return kit.learn(f"k{n}", f"x is {n % 8}", scope=memkit.Scope(workspace=f"w{n % 16}"), cite=f"{n % 8}.cfg#key=x").op

        assert set(pool.map(one, range(200))) == {"ADD"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_store_carried_through_fork_says_so(tmp_path: Path) -> None:
    kit = memkit.open(tmp_path / "memory.db")
    child = os.fork()
    if child == 0:
        try:
            kit.current("x", scope=SHOP)
        except memkit.MemkitError as error:
            os._exit(7 if "fork" in str(error) else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_closed_store_says_so() -> None:
    kit = memkit.open()
    kit.close()
    with pytest.raises(memkit.MemkitError, match="open it again"):
        kit.current("x", scope=SHOP)


def test_opening_a_second_time_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    """Closing any descriptor of a database drops this process's POSIX locks on it; opening must not do that."""
    path = tmp_path / "memory.db"
    first = Database(path)
    probe = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=0); c.execute('begin immediate')"
    with first.write() as tx:
        tx.execute("insert into meta values ('mine', 'locked')")
        Database(path, wait=0.1).close()
        assert subprocess.run([sys.executable, "-c", probe, str(path)], capture_output=True, check=False).returncode != 0, (
            "another process could take the lock"
        )


def test_a_key_file_that_waits_for_its_database_is_kept(tmp_path: Path) -> None:
    memkit.open(tmp_path / "memory.db").close()
    (tmp_path / "memory.db").rename(tmp_path / "away.db")
    memkit.open(tmp_path / "memory.db").close()
    (tmp_path / "away.db").replace(tmp_path / "memory.db")
    with memkit.open(tmp_path / "memory.db") as kit:
        assert kit.remember("k", "v", scope=SHOP).op == "ADD"
    (tmp_path / "memory.db").unlink()
    (tmp_path / "memory.db.key").write_bytes(b"note")
    with pytest.raises(memkit.Corrupt, match="no key of memkit"):
        memkit.open(tmp_path / "memory.db")


def test_a_clock_without_a_zone_is_refused() -> None:
    with memkit.open(clock=datetime.now) as kit, pytest.raises(memkit.Refused, match="zone"):
        kit.remember("k", "v", scope=SHOP)


def test_read_verbs_refuse_what_is_no_key_or_name() -> None:
    with memkit.open() as kit:
        for verb in (
            lambda bad: kit.current(bad, scope=SHOP),
            lambda bad: kit.history(bad, scope=SHOP),
            lambda bad: kit.affected(bad, scope=SHOP),
            lambda bad: kit.events(scope=SHOP, key=bad),
            lambda bad: kit.as_of(bad, scope=SHOP),
            lambda bad: kit.inbox(scope=SHOP, status=bad),
            kit.admit,
        ):
            for bad in (object(), 5.5, "\ud800", b"bytes"):
                with pytest.raises(memkit.MemkitError):
                    verb(bad)


def test_a_store_whose_file_was_replaced_or_removed_says_so_and_reads_no_ghost(tmp_path):
    shop, path, other = memkit.Scope(workspace="shop"), tmp_path / "memory.db", tmp_path / "copy.db"
    with memkit.open(path) as kit:
        kit.remember("a", "the zebra is here", scope=shop)
        shutil.copy(path, other)
        other.replace(path)
        for act in (lambda: kit.recall("zebra", scope=shop, budget=99), lambda: kit.remember("b", "another", scope=shop)):
            with pytest.raises(memkit.MemkitError, match="was removed or replaced while it was open"):
                act()
        with memkit.open(path) as again:
            assert again.current("a", scope=shop).content == "the zebra is here" and again.remember("b", "c", scope=shop).op == "ADD"
        path.unlink()
        with pytest.raises(memkit.MemkitError, match="was removed or replaced"):
            kit.current("a", scope=shop)


def test_a_store_that_was_emptied_while_it_was_open_is_corrupt(tmp_path):
    shop, path = memkit.Scope(workspace="shop"), tmp_path / "memory.db"
    with memkit.open(path) as kit:
        kit.remember("a", "the zebra is here", scope=shop)
        os.truncate(path, 0)
        for act in (lambda: kit.current("a", scope=shop), lambda: kit.remember("b", "another", scope=shop)):
            with pytest.raises(memkit.Corrupt):
                act()
