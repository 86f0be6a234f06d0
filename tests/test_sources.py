"""Names that are refused, files that cannot be read, and a root that nothing leads out of."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import memkit
from memkit.errors import NotFound, UnsafePath
from memkit.record import sources
from memkit.record.sources import LIMIT, Folder, SourceMissing, Texts, Unreadable, check_name, decode

UNSAFE = [
    "",
    "/",
    "/etc/passwd",
    "//server/share/x",
    "..",
    "../x",
    "a/../b",
    "a/..",
    ".",
    "./a",
    "a/./b",
    "a//b",
    "a/",
    ".git/config",
    "a/.ssh/key",
    ".hidden",
    ".env/x",
    "a/.env.d/b",
    ".environment",
    "a\\b",
    "\\\\server\\x",
    "C:",
    "C:x",
    "C:/x",
    "a:stream",
    "a\0b",
    "a\nb",
    "a\x7fb",
    "a\x85b",
    "\ud800",
    "a/\udc80",
    "CON",
    "nul",
    "Com1",
    "LPT9.txt",
    "a/aux.tar.gz",
    "COM¹",
    "con .txt",
    "CONIN$",
    "a.",
    "a ",
    "a./b",
    "a /b",
    ".env.",
    "x" * 256,
    "超" * 86,
    "/".join(["x" * 200] * 6),
]
SAFE = [
    "a",
    "prod.cfg",
    "a/b/c.toml",
    ".env",
    ".env.local",
    "conf/.env",
    "配置/超时.cfg",
    "a b",
    "a..b",
    "CONSOLE",
    "com",
    "com10.txt",
    "x" * 255,
    "超" * 85,
    "100%#1.txt",
    "~",
]
READS: list[Callable[[Folder, str], bytes]] = [Folder.read, lambda folder, name: folder._read_checked(name.split("/"))]
both_ways = pytest.mark.parametrize("read", READS, ids=["descriptors", "checked"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f.txt").write_text("OUTSIDE")
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "f.txt").write_text("inside")
    (root / ".env").write_text("A=1\n")
    return root


@pytest.mark.parametrize("name", UNSAFE, ids=lambda name: ascii(name)[:30])
def test_unsafe_names_are_refused_by_both_kinds_of_sources(name: str, root: Path) -> None:
    for kind in (Folder(root), Texts({name: "text"})):
        with pytest.raises(UnsafePath) as caught:
            kind.read(name)
        assert caught.value.name == name
        assert "inside the root" in str(caught.value)


@pytest.mark.parametrize("name", [None, 3, b"a", Path("a")])
def test_a_name_that_is_not_text_is_refused(name: str) -> None:
    with pytest.raises(UnsafePath, match="must be text"):
        check_name(name)


@pytest.mark.parametrize("name", SAFE, ids=lambda name: ascii(name)[:30])
def test_safe_names_are_read_by_both_kinds_of_sources(name: str, root: Path) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(b"there")
    assert (Folder(root).read(name), Texts({name: b"there"}).read(name)) == (b"there", b"there")


@given(st.text(max_size=40) | st.lists(st.sampled_from(["..", ".", "", "a", ".env", "nul", "a."]), max_size=4).map("/".join))
@example("a/../../b")
def test_a_name_that_passes_stays_inside(name: str) -> None:
    try:
        check_name(name)
    except UnsafePath:
        return
    joined = os.path.normpath(os.path.join("/root", name))
    assert joined == f"/root/{name}"


@both_ways
def test_links_are_refused_in_any_component(root: Path, read: Callable[[Folder, str], bytes]) -> None:
    (root / "dir").symlink_to(root.parent / "outside")
    (root / "f.txt").symlink_to(root / "sub" / "f.txt")
    (root / "sub" / "dangling").symlink_to("nowhere")
    for name in ("dir/f.txt", "f.txt", "sub/dangling", "dir"):
        with pytest.raises(UnsafePath, match="through a link"):
            read(Folder(root), name)
    assert read(Folder(root), "sub/f.txt") == b"inside"


@both_ways
def test_what_is_not_a_plain_file_says_so_at_once(
    root: Path, read: Callable[[Folder, str], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "fifo")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("sock")
        reasons = {}
        for name in ("fifo", "sock", "sub"):
            with pytest.raises(Unreadable) as caught:
                read(Folder(root), name)
            reasons[name] = caught.value.reason
    special = "a FIFO, socket or device, not a plain file"
    assert reasons == {"fifo": special, "sock": special, "sub": "a folder, not a file"}


def test_a_device_says_so_at_once() -> None:
    with pytest.raises(Unreadable, match="device"):
        Folder("/dev").read("null")


def test_a_file_on_the_way_or_no_file_is_missing(root: Path) -> None:
    for name in ("nothing.txt", "no/such/f.txt", "sub/f.txt/g"):
        with pytest.raises(SourceMissing):
            Folder(root).read(name)
        with pytest.raises(SourceMissing):
            Texts({}).read(name)


def test_the_limit_is_exact(root: Path) -> None:
    (root / "big").write_bytes(b"x" * LIMIT)
    assert (len(Folder(root).read("big")), len(Texts({"big": "x" * LIMIT}).read("big"))) == (LIMIT, LIMIT)
    (root / "big").write_bytes(b"x" * (LIMIT + 1))
    for kind in (Folder(root), Texts({"big": "x" * (LIMIT + 1)})):
        with pytest.raises(Unreadable, match="larger than 4194304 bytes"):
            kind.read("big")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied_is_a_reason(root: Path) -> None:
    (root / ".env").chmod(0)
    with pytest.raises(Unreadable, match="Permission denied"):
        Folder(root).read(".env")


def test_a_root_that_cannot_be_used_is_an_error_and_never_empty(root: Path) -> None:
    for bad in (root / "nowhere", root / ".env", "a\0b"):
        with pytest.raises(NotFound, match="pass a folder that exists"):
            Folder(bad)
    folder = Folder(root)
    root.rename(root.parent / "moved")
    with pytest.raises(Unreadable, match="root folder"):
        folder.read("sub/f.txt")
    root.symlink_to(root.parent / "outside")
    with pytest.raises(Unreadable, match="root folder"):
        folder.read("f.txt")


def test_a_link_to_the_root_is_resolved_once(root: Path) -> None:
    (root.parent / "link").symlink_to(root)
    folder = Folder(root.parent / "link")
    (root.parent / "link").unlink()
    (root.parent / "link").symlink_to(root.parent / "outside")
    assert (folder.root, folder.read("sub/f.txt")) == (root.resolve(), b"inside")


@both_ways
@pytest.mark.parametrize("swapped", ["folder", "file"])
def test_a_swap_for_a_link_never_yields_what_is_outside(root: Path, read: Callable[[Folder, str], bytes], swapped: str) -> None:
    place = root / "sub" if swapped == "folder" else root / "sub" / "f.txt"
    away, target = root / "away", root.parent / "outside" / ("" if swapped == "folder" else "f.txt")
    done = threading.Event()

    def swap() -> None:
        for _ in range(2000 if swapped == "folder" else 500):
            place.rename(away)
            place.symlink_to(target)
            time.sleep(0)
            place.unlink()
            away.rename(place)
        done.set()

    thread = threading.Thread(target=swap)
    thread.start()
    folder, outcomes = Folder(root), {"read": 0, "refused": 0}
    while not done.is_set():
        try:
            assert read(folder, "sub/f.txt") == b"inside"
            outcomes["read"] += 1
        except (UnsafePath, SourceMissing, Unreadable, FileNotFoundError, OSError):
            outcomes["refused"] += 1
    thread.join()
    assert read(folder, "sub/f.txt") == b"inside"
    assert outcomes["refused"] > 0, "the swap was never seen, so nothing was tested"


def test_opening_a_swapped_in_link_would_have_yielded_what_is_outside(root: Path) -> None:
    (root / "sub").rename(root / "away")
    (root / "sub").symlink_to(root.parent / "outside")
    assert (root / "sub" / "f.txt").read_text() == "OUTSIDE"
    with pytest.raises(UnsafePath):
        Folder(root).read("sub/f.txt")


def test_the_fallback_notices_a_swap_between_look_and_open(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_open = os.open

    def swap_then_open(path: str, flags: int) -> int:
        (root / "sub").rename(root / "away")
        (root / "sub").symlink_to(root.parent / "outside")
        fd = real_open(path, flags)
        (root / "sub").unlink()
        (root / "away").rename(root / "sub")
        return fd

    monkeypatch.setattr(os, "open", swap_then_open)
    with pytest.raises(UnsafePath, match="changed places"):
        Folder(root)._read_checked(["sub", "f.txt"])


@pytest.mark.parametrize("swapped", ["sub", "f.txt"])
@pytest.mark.parametrize("guarded", [True, False], ids=["no-follow", "sabotaged"])
def test_the_walk_notices_a_swap_between_look_and_open(root: Path, monkeypatch: pytest.MonkeyPatch, swapped: str, guarded: bool) -> None:
    real_stat, place = os.stat, root / "sub" if swapped == "sub" else root / "sub" / "f.txt"

    def look_then_swap(path: str, **how: Any) -> os.stat_result:
        found = real_stat(path, **how)
        if path == swapped and how:
            place.rename(root / "away")
            place.symlink_to(root.parent / "outside" / ("" if swapped == "sub" else "f.txt"))
        return found

    monkeypatch.setattr(os, "stat", look_then_swap)
    if guarded:
        with pytest.raises((UnsafePath, SourceMissing)):
            Folder(root).read("sub/f.txt")
    else:
        monkeypatch.setattr(sources, "_OPEN", os.O_RDONLY)
        assert Folder(root).read("sub/f.txt") == b"OUTSIDE"


def test_no_descriptor_is_left_open(root: Path) -> None:
    (root / "dir").symlink_to("sub")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else pytest.skip("this system lists no descriptors")
    folder = Folder(root)
    for read in READS:
        for name in ("sub/f.txt", "dir/f.txt", "sub", "sub/nothing", "no/thing"):
            try:
                read(folder, name)
            except (UnsafePath, SourceMissing, Unreadable, OSError):
                continue
    assert len(os.listdir("/proc/self/fd")) == before


def test_listings_hold_what_may_be_cited_and_nothing_else(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("x")
    (root / ".hidden").write_text("x")
    (root / "dir").symlink_to(root.parent / "outside")
    (root / "link.txt").symlink_to(root / "sub" / "f.txt")
    (root / "con.txt").write_text("x")
    (root / "目录").mkdir()
    (root / "目录" / "超时.cfg").write_text("x")
    os.mkfifo(root / "fifo")
    assert Folder(root).names() == [".env", "sub/f.txt", "目录/超时.cfg"]
    assert Texts({"b": "", "../a": "", ".env": "", ".x": ""}).names() == [".env", "b"]


def test_a_folder_is_only_read(root: Path) -> None:
    before = {path: (path.lstat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in root.rglob("*")}
    folder = Folder(root)
    for name in folder.names():
        folder.read(name)
    assert {path: (path.lstat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in root.rglob("*")} == before


def test_texts_share_the_dict_they_were_given() -> None:
    given: dict[str, str | bytes] = {"a": "1"}
    texts = Texts(given)
    texts["b"] = b"2"
    given["c"] = "3"
    del texts["a"]
    assert (given, dict(texts), texts.read("c"), len(texts)) == ({"b": b"2", "c": "3"}, {"b": b"2", "c": "3"}, b"3", 2)
    with pytest.raises(UnsafePath):
        texts["../x"] = "no"


def test_a_dict_value_that_is_not_text_is_unreadable() -> None:
    for value, reason in ((3, "type int"), ("\ud800", "surrogate")):
        with pytest.raises(Unreadable, match=reason):
            Texts({"a": value}).read("a")  # type: ignore[arg-type]


def test_a_mapping_that_fails_is_unreadable_and_what_is_taken_out_between_two_looks_is_missing() -> None:
    class Failing(dict[str, "str | bytes"]):
        def __getitem__(self, name: str) -> str | bytes:
            raise OSError(5, "a path nobody should see") if name == "a" else KeyError(name)

    texts = Texts(Failing(a="1", b="2"))
    with pytest.raises(Unreadable, match=r"^not to be read \(OSError\)$"):
        texts.read("a")
    assert "b" in texts.names()
    with pytest.raises(SourceMissing):
        texts.read("b")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")))
def test_decoding_gives_back_what_was_encoded(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a\0b", "NUL"),
        (b"\xff", "byte 0 is not UTF-8"),
        (b"abc\xc3(", "byte 3 is not UTF-8"),
        ("超时".encode("gbk"), "not UTF-8"),
        (b"\xff\xfea", "not UTF-16"),
        (b"\xff\xfe\0\xd8", "not UTF-16"),
        (b"\xed\xa0\x80", "not UTF-8"),
        ("a".encode("utf-16-le"), "NUL"),
        (b"\xff\xfe\0\0abc", "not UTF-32"),
        (b"\x7fELF\x02\x01\x01\0", "NUL"),
    ],
)
def test_what_is_not_text_says_so(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=f"not text: .*{reason}"):
        decode(data)


def test_big_endian_marks_are_understood() -> None:
    assert decode(b"\xfe\xff" + "超时".encode("utf-16-be")) == decode(b"\0\0\xfe\xff" + "超时".encode("utf-32-be")) == "超时"


def test_memkits_own_files_are_no_sources(tmp_path: Path) -> None:
    (tmp_path / "a.cfg").write_text("x=1")
    with memkit.open(tmp_path / "memory.db", root=tmp_path) as kit:
        for name in ("memory.db", "memory.db.key"):
            with pytest.raises(memkit.UnsafePath):
                kit.learn("k", "v", scope=memkit.Scope(workspace="w"), cite=name)
        assert kit.sources.names() == ["a.cfg"]


def test_reading_a_mapping_with_defaults_adds_nothing_to_it():
    texts = defaultdict(str, {"a.cfg": "timeout=30"})
    with memkit.open(sources=texts) as kit, pytest.raises(memkit.NotFound):
        kit.learn("x", "all", scope=memkit.Scope(workspace="shop"), cite="nosuch.txt")
    assert dict(texts) == {"a.cfg": "timeout=30"}
