"""govern/forget.py and govern/sweep.py: erased, propagated, and proved from the bytes."""

from __future__ import annotations

import hashlib
import hmac
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memkit
from memkit.govern import sweep

SHOP = memkit.Scope(workspace="shop")
PROD = memkit.Scope(workspace="shop", env="prod")


def grep(folder: Path, text: str) -> int:
    """Count a text in every file of a folder, in code that is not memkit's."""
    return sum(file.read_bytes().count(text.encode()) for file in folder.rglob("*") if file.is_file())


def test_after_forget_nothing_is_left_in_any_file_and_every_place_was_counted(tmp_path: Path) -> None:
    words = "the ferry to Zanzibar leaves at nine"
    with memkit.open(tmp_path / "memory.db", sources={"notes.txt": f"about {words}\n"}) as kit:
        kit.learn("ferry", words, scope=SHOP, cite=["notes.txt#lines=1", "notes.txt"])
        kit.propose("guess", words, scope=SHOP)
        kit.remember("sibling", "the bus to town leaves at ten", scope=SHOP)
        kit.recall("ferry", scope=SHOP, budget=100)
        before = kit.admin.sweep(words)
        receipt = kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        assert before == {"memory.db": 4, "memory.db.key": 0} and grep(tmp_path, words) == 0 == grep(tmp_path, "Zanzibar")
        assert kit.admin.sweep(words) == {"memory.db": 0, "memory.db.key": 0}
        assert {copy.place: (copy.before, copy.after) for copy in receipt.copies if copy.before} == {
            "revision": (1, 0),
            "proposal": (1, 0),
            "evidence": (2, 0),
            "index": (1, 0),
            "memory.db": (4, 0),
        }
        assert receipt.verified and receipt.residue == 0
        assert kit.recall("ferry Zanzibar", scope=SHOP, budget=100).hits == () and kit.inbox(scope=SHOP) == []
        assert [m.content for m in kit.history("ferry", scope=SHOP)] == [None, None]
        assert [hit.memory.key for hit in kit.recall("leaves", scope=SHOP, budget=100).hits] == ["sibling"]


def test_what_was_forgotten_stays_forgotten_after_rebuild_and_reopening(tmp_path: Path) -> None:
    path, words = tmp_path / "memory.db", "the ferry to Zanzibar leaves at nine"
    with memkit.open(path) as kit:
        kit.remember("ferry", words, scope=SHOP)
        kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        kit.admin.rebuild()
        assert kit.recall("ferry", scope=SHOP, budget=100).hits == ()
    with memkit.open(path) as kit:
        assert kit.recall("ferry", scope=SHOP, budget=100).hits == () and kit.current("ferry", scope=SHOP) is None
        assert kit.propose("ferry", words, scope=SHOP).reason == "TOMBSTONED"


def test_every_former_value_of_the_key_is_erased_and_buried(tmp_path: Path) -> None:
    with memkit.open(tmp_path / "memory.db") as kit:
        kit.remember("colour", "first it was turquoise", scope=SHOP)
        kit.remember("colour", "then it was vermilion", scope=SHOP, expected=1)
        kit.forget("colour", scope=SHOP, expected=2, reason="asked")
        assert grep(tmp_path, "turquoise") == grep(tmp_path, "vermilion") == 0
        for text in ("first it was turquoise", "then it was vermilion"):
            assert kit.remember("colour", text, scope=SHOP).reason == "TOMBSTONED"
        assert kit.remember("colour", "now it is ochre", scope=SHOP).op == "ADD"


@pytest.mark.parametrize("size", [9, 31, 32, 33, 500, 5_000, 19_000])
def test_a_value_of_any_length_leaves_no_piece(tmp_path: Path, size: int) -> None:
    rng = random.Random(size)
    text = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz 部署缓存", k=size)).strip() + "z"
    with memkit.open(tmp_path / "memory.db") as kit:
        kit.remember("k", text, scope=SHOP)
        kit.remember("other", "stays", scope=SHOP)
        assert kit.admin.sweep(text)["memory.db"] > 0
        receipt = kit.forget("k", scope=SHOP, expected=1, reason="asked")
        raw = (tmp_path / "memory.db").read_bytes()
        assert receipt.verified and not any(text[at : at + 8].encode() in raw for at in range(0, len(text) - 8, 8))


@pytest.mark.parametrize(
    "again",
    [
        "My locker code is 4471-blue",
        "MY LOCKER CODE IS 4471-BLUE",
        "  my   locker\ncode is 4471-blue ",
        "my lоcker cоde is 4471-blue",  # Cyrillic letters
        "my loc\u200bker code is 4471\u2060-blue",
        "ｍｙ　ｌｏｃｋｅｒ code is ４４７１-blue",
    ],
)
def test_a_disguised_repetition_meets_the_tombstone_under_any_key(again: str) -> None:
    with memkit.open() as kit:
        kit.remember("locker", "my locker code is 4471-blue", scope=SHOP)
        kit.forget("locker", scope=SHOP, expected=1, reason="asked")
        for key in ("locker", "another"):
            proposal = kit.propose(key, again, scope=SHOP)
            assert (proposal.op, proposal.reason, proposal.content) == ("NOOP", "TOMBSTONED", None)
            assert kit.remember(key, again, scope=SHOP).reason == "TOMBSTONED"
        assert kit.inbox(scope=SHOP) == []
        assert (
            kit.propose("another", "the code of the locker is four, four, seven, one", scope=SHOP).op == "PROPOSED"
        )  # a paraphrase may pass


def test_a_short_value_is_buried_under_its_own_key_only() -> None:
    with memkit.open() as kit:
        kit.remember("pin", "4471", scope=SHOP)
        receipt = kit.forget("pin", scope=SHOP, expected=1, reason="asked")
        assert receipt.verified and len(receipt.tombstones) == 1
        assert kit.remember("pin", "4471", scope=SHOP).reason == "TOMBSTONED"
        assert kit.remember("house number", "4471", scope=SHOP).op == "ADD"


def test_only_a_person_lifts_a_tombstone_and_it_is_on_the_record() -> None:
    with memkit.open() as kit:
        kit.remember("ferry", "the ferry leaves at nine", scope=SHOP)
        kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        with pytest.raises(memkit.NotFound):
            kit.restore_right("bus", scope=SHOP, reason="a mistake")
        assert kit.restore_right("ferry", scope=SHOP, reason="a mistake") == 2
        assert kit.current("ferry", scope=SHOP) is None, "lifting brings nothing back"
        assert kit.remember("ferry", "the ferry leaves at nine", scope=SHOP).op == "ADD"
        assert [event.op for event in kit.events(scope=SHOP)] == ["ADD", "FORGET", "RESTORE_RIGHT", "ADD"]


def test_other_live_copies_of_the_same_words_are_left_alone_and_subtracted() -> None:
    words = "the ferry to Zanzibar leaves at nine"
    with memkit.open() as kit:
        kit.remember("ferry", words, scope=SHOP)
        kit.remember("ferry", words, scope=PROD)
        theirs = kit.acting_as(memkit.Principal(tenant="other"))
        theirs.remember("ferry", words, scope=SHOP)
        assert kit.forget("ferry", scope=SHOP, expected=1, reason="asked").verified
        assert kit.current("ferry", scope=PROD) is not None and theirs.current("ferry", scope=SHOP) is not None
        assert theirs.propose("x", words, scope=SHOP).op == "PROPOSED", "a tombstone binds its own tenant only"


def test_residue_that_the_erasure_left_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sabotaged twin: an erasure that skips a table, and a page that was not overwritten, must not be called verified."""
    words = "the ferry to Zanzibar leaves at nine"
    with memkit.open(tmp_path / "memory.db") as kit:
        kit.remember("ferry", words, scope=SHOP)
        monkeypatch.setitem(memkit.govern.forget.ERASE_QUERIES, "revision", "select :ids")
        receipt = kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        assert not receipt.verified and {copy.place: copy.after for copy in receipt.copies}["revision"] == 1


def test_freed_pages_that_kept_the_words_are_cleaned(tmp_path: Path) -> None:
    words = "the ferry to Zanzibar leaves at nine"
    path = tmp_path / "memory.db"
    with memkit.open(path) as kit:
        kit.remember("ferry", words, scope=SHOP)
        careless = sqlite3.connect(path)
        careless.executescript(
            f"pragma secure_delete=off; create table scrap (t); insert into scrap values ('{words}'); delete from scrap;"
        )
        careless.close()
        assert grep(tmp_path, words) == 2
        receipt = kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        assert receipt.verified and grep(tmp_path, words) == 0


def test_a_wrong_revision_forgets_nothing() -> None:
    with memkit.open() as kit:
        kit.remember("k", "a value that stays", scope=SHOP)
        with pytest.raises(memkit.Conflict):
            kit.forget("k", scope=SHOP, expected=2, reason="asked")
        assert kit.current("k", scope=SHOP) is not None and [event.op for event in kit.events(scope=SHOP)] == ["ADD"]


def test_while_another_process_reads_forget_waits_then_says_busy_with_nothing_changed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    reader = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('begin');"
        "c.execute('select count(*) from revision').fetchall(); print('reading', flush=True); sys.stdin.readline()"
    )
    with memkit.open(path) as kit:
        kit.remember("k", "the ferry leaves at nine", scope=SHOP)
        kit.db.wait = 0.5
        with subprocess.Popen([sys.executable, "-c", reader, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None and other.stdin is not None and other.stdout.readline() == "reading\n"
            with pytest.raises(memkit.Busy, match="nothing was changed"):
                kit.forget("k", scope=SHOP, expected=1, reason="asked")
            memory = kit.current("k", scope=SHOP)
            assert memory is not None and memory.content == "the ferry leaves at nine" and len(kit.events(scope=SHOP)) == 1
            other.stdin.write("\n")
            other.stdin.close()
        assert kit.forget("k", scope=SHOP, expected=1, reason="asked").verified and grep(tmp_path, "ferry leaves") == 0


def test_a_six_digit_code_cannot_be_found_from_an_exported_receipt() -> None:
    with memkit.open() as kit:
        kit.remember("code", "493817", scope=SHOP)
        exported = kit.forget("code", scope=SHOP, expected=1, reason="asked").to_json()
    assert "493817" not in exported
    plain = {hashlib.sha256(f"{code:06}".encode()).hexdigest() for code in range(1_000_000)}
    assert hashlib.sha256(b"493817").hexdigest() in plain and not any(digest in exported for digest in plain)
    name = '["local", "workspace=shop", "code", "%06d"]'  # what is digested, had it been without a key or with an empty one
    guesses = {hashlib.sha256((name % code).encode()).hexdigest() for code in range(1_000_000)}
    assert hashlib.sha256((name % 493817).encode()).hexdigest() in guesses and not any(digest in exported for digest in guesses)
    assert hmac.new(b"", (name % 493817).encode(), hashlib.sha256).hexdigest() not in exported


def test_what_is_digested_under_the_key_is_what_the_guesses_try() -> None:
    """The twin of the test above: with a known key, the receipt would tell."""
    with memkit.open(ids=lambda: "0" * 32) as kit:
        kit.remember("code", "493817", scope=SHOP)
        exported = kit.forget("code", scope=SHOP, expected=1, reason="asked").to_json()
    assert hmac.new(b"0" * 64, b'["local", "workspace=shop", "code", "493817"]', hashlib.sha256).hexdigest() in exported


def test_forgetting_takes_an_exact_key_never_a_similar_one() -> None:
    with memkit.open() as kit:
        for key in ("TKT-100", "TKT-1000"):
            kit.remember(key, f"about {key}", scope=SHOP)
        kit.forget("TKT-100", scope=SHOP, expected=1, reason="asked")
        assert kit.current("TKT-1000", scope=SHOP) is not None
        with pytest.raises(memkit.NotFound, match="lists the keys"):
            kit.forget("TKT", scope=SHOP, expected=0, reason="asked")


def test_a_plan_that_pieces_cover_the_whole_of_a_short_text() -> None:
    for size in (1, 31, 32, 33, 64, 100, 1_000, 40_000):
        found = [piece for piece in sweep.pieces("a" * size) if b"\0" not in piece]
        assert len(found) <= sweep.MOST_PIECES + 1 and all(len(piece) <= sweep.PIECE for piece in found)
    text = "".join(random.Random(1).choices("abcdef", k=200))
    assert text.encode()[:32] in sweep.pieces(text) and text.encode()[-32:] in sweep.pieces(text)


def test_a_reader_that_comes_after_the_commit_is_a_problem_in_the_receipt_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    with memkit.open(path) as kit:
        kit.remember("k", "the ferry leaves at nine", scope=SHOP)

        def busy() -> None:
            raise memkit.Busy(0.5, str(path))

        monkeypatch.setattr(kit.db, "vacuum", busy)
        monkeypatch.setattr(memkit.govern.sweep, "is_sampled", lambda text: True)
        receipt = kit.forget("k", scope=SHOP, expected=1, reason="asked")
        assert not receipt.verified and "call forget again" in receipt.problem and kit.current("k", scope=SHOP) is None
        monkeypatch.undo()
        again = kit.forget("k", scope=SHOP, expected=0, reason="asked")
        assert again.verified and grep(tmp_path, "ferry leaves") == 0


def test_forgetting_again_rewrites_the_file_because_no_value_is_known_any_more(tmp_path: Path) -> None:
    path, words = tmp_path / "memory.db", "the ferry to Zanzibar leaves at nine"
    with memkit.open(path) as kit:
        kit.remember("ferry", words, scope=SHOP)
        kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        careless = sqlite3.connect(path)
        careless.executescript(
            f"pragma secure_delete=off; create table scrap (t); insert into scrap values ('{words}'); delete from scrap;"
        )
        careless.close()
        assert grep(tmp_path, words) == 1
        assert kit.forget("ferry", scope=SHOP, expected=0, reason="asked").verified and grep(tmp_path, words) == 0
        assert kit.forget("ferry", scope=SHOP, expected=1, reason="asked").verified, "the same request again is no conflict"
        with pytest.raises(memkit.Conflict):
            kit.forget("ferry", scope=SHOP, expected=2, reason="asked")


def test_a_receipt_counts_nothing_of_others() -> None:
    words = "the ferry to Zanzibar leaves at nine"
    with memkit.open() as kit:
        kit.remember("ferry", words, scope=SHOP)
        for n in range(5):
            kit.acting_as(memkit.Principal(tenant=f"t{n}")).remember("ferry", words, scope=SHOP)
        receipt = kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        assert {copy.place: (copy.before, copy.after) for copy in receipt.copies if copy.before} == {"revision": (1, 0), ":memory:": (1, 0)}


def test_every_view_of_one_store_shares_the_index_that_forgetting_empties() -> None:
    with memkit.open() as kit:
        agent = kit.acting_as(memkit.Principal(actor="agent"))
        kit.remember("ferry", "the ferry to Zanzibar leaves at nine", scope=SHOP)
        assert len(agent.recall("ferry", scope=SHOP, budget=50).hits) == 1
        receipt = kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        assert {copy.place: (copy.before, copy.after) for copy in receipt.copies}["index"] == (1, 0)
        assert "zanzibar" not in str([vars(partition) for partition in agent._index._partitions.values()])


def test_lifting_one_keys_tombstone_leaves_anothers() -> None:
    words = "the ferry to Zanzibar leaves at nine"
    with memkit.open() as kit:
        for key in "ab":
            kit.remember(key, words, scope=SHOP)
        for key in "ab":
            kit.forget(key, scope=SHOP, expected=1, reason="asked")
        kit.restore_right("a", scope=SHOP, reason="a mistake")
        refused = kit.remember("a", words, scope=SHOP)
        assert refused.reason == "TOMBSTONED" and "under 'b'" in refused.why
        kit.restore_right("b", scope=SHOP, reason="a mistake")
        assert kit.remember("a", words, scope=SHOP).op == "ADD"


@pytest.mark.parametrize("text", ["", None, 5])
def test_a_sweep_for_nothing_is_refused(text: object) -> None:
    with memkit.open() as kit, pytest.raises(memkit.Refused, match="words to look for"):
        kit.admin.sweep(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("again", ["{}.", "\u201c{}\u201d", "{} .", "({})", "{}\u2800"])
def test_a_full_stop_or_quotes_are_no_disguise(again: str) -> None:
    words = "the ferry to Zanzibar leaves at nine"
    with memkit.open() as kit:
        kit.remember("ferry", words, scope=SHOP)
        kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        assert kit.propose("other", again.format(words), scope=SHOP).reason == "TOMBSTONED"


def test_what_an_agent_learns_anew_under_a_forgotten_key_waits_for_a_person() -> None:
    with memkit.open(sources={"prod.cfg": "timeout=45"}) as kit:
        kit.learn("timeout", "a call waits 45 seconds", scope=SHOP, cite="prod.cfg#key=timeout")
        kit.forget("timeout", scope=SHOP, expected=1, reason="asked")
        agent = kit.acting_as(memkit.Principal(actor="agent"))
        assert agent.learn("timeout", "Note that 45 is what a call waits", scope=SHOP, cite="prod.cfg#key=timeout").op == "PROPOSED"
        assert agent.learn("other", "Note that 45 is what a call waits", scope=SHOP, cite="prod.cfg#key=timeout").op == "ADD"


def test_a_forgotten_value_does_not_come_back_as_evidence() -> None:
    words = "the ferry to Zanzibar leaves at nine"
    with memkit.open(sources={"notes.txt": words}) as kit:
        kit.remember("ferry", words, scope=SHOP)
        kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        for cite in ("notes.txt", "notes.txt#lines=1"):
            assert kit.propose("b", "see the file", scope=SHOP, cite=cite).reason == "TOMBSTONED"
        assert kit.admin.sweep(words) == {":memory:": 0}


def test_a_receipt_names_the_other_keys_that_still_say_it_and_not_the_value_itself() -> None:
    words = "the ferry to Zanzibar leaves at nine"
    with memkit.open() as kit:
        kit.remember("a", words, scope=SHOP)
        kit.remember("b", f"as I said, {words}", scope=SHOP)
        receipt = kit.forget("a", scope=SHOP, expected=1, reason=f"because {words} is private")
        assert receipt.verified and receipt.still_said_by == ("b",) and "still said by: b" in repr(receipt)
        assert words not in receipt.to_json() and receipt.reason == "because [forgotten] is private"


@given(st.binary(max_size=60), st.lists(st.binary(max_size=6), max_size=4), st.integers(1, 9))
def test_a_file_read_in_parts_holds_as_many_pieces_as_in_one(data: bytes, wanted: list[bytes], at_once: int) -> None:
    wanted += [data[n : n + 3] for n in range(0, len(data), 7)]
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(sweep, "AT_ONCE", at_once):
        file = Path(folder, "bytes")
        file.write_bytes(data)
        assert sweep._count_file(str(file), wanted) == [sweep.count(data, piece) for piece in wanted]


def test_a_file_that_is_cut_short_while_it_is_searched_ends_no_search(tmp_path: Path) -> None:
    file, done = tmp_path / "memory.db-journal", threading.Event()
    file.touch()

    def write_and_cut() -> None:
        while not done.wait(0.001):
            os.truncate(file, 64 * 1024 * 1024)
            time.sleep(0.005)
            os.truncate(file, 0)

    with ThreadPoolExecutor(1) as other:
        other.submit(write_and_cut)
        try:
            assert [sweep.sweep([file], [b"zanzibar"] * 8) for _ in range(5)] == [{str(file): [0] * 8}] * 5
        finally:
            done.set()
