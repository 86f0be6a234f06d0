"""Every kind of locator by every kind of edit, on real files: what is hidden is exactly what changed.

One document for each kind, the same in shape: some lines, the cited one, some lines. An edit works on those lines, or on the file as a
whole. The table says what must come out; a row that a format makes different (a comment in JSON, an indent in INI) says so.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memkit
from memkit.record.evidence import Reader, check, observe
from memkit.record.model import Verdict
from memkit.record.sources import LIMIT, Folder

SHOP = memkit.Scope(workspace="shop")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
KINDS = ("file", "lines", "quote", "toml", "json", "ini", "env")


@dataclass(frozen=True)
class Doc:
    """A document whose line `at` is cited, and how that line looks after the edits that are about it."""

    name: str
    part: str
    lines: tuple[str, ...]
    changed: str
    renamed: str
    spare: str  # a further line that is legal anywhere between the others
    at: int = 3

    @property
    def path(self) -> str:
        return f"conf/{self.name}"

    @property
    def cite(self) -> str:
        return f"{self.path}#{self.part}" if self.part else self.path


_PROSE = ("商店", "alpha", "beta", "retry at most 2 times", "gamma", "omega")


def _prose(part: str) -> Doc:
    return Doc("notes.md", part, _PROSE, changed="retry at most 3 times", renamed="again at most 2 times", spare="new")


DOCS = {
    "file": _prose(""),
    "lines": _prose("lines=4"),
    "quote": _prose("quote=retry at most 2 times"),
    "toml": Doc(
        "a.toml",
        "key=server.timeout",
        ("# 商店", "[server]", "port = 80", "timeout = 30", "retries = 3", "end = 1"),
        "timeout = 60",
        "timeouts = 30",
        "x = 1",
    ),
    "json": Doc(
        "a.json",
        "key=timeout",
        ("{", '"商店": 1,', '"port": 80,', '"timeout": 30,', '"retries": 3,', '"end": 1}'),
        '"timeout": 60,',
        '"timeouts": 30,',
        '"x": 1,',
    ),
    "ini": Doc(
        "a.cfg",
        "key=server.timeout",
        ("# 商店", "[server]", "port = 80", "timeout = 30", "retries = 3", "end = 1"),
        "timeout = 60",
        "timeouts = 30",
        "x = 1",
    ),
    "env": Doc(".env", "key=TIMEOUT", ("# 商店", "", "PORT=80", "TIMEOUT=30", "RETRIES=3", "END=1"), "TIMEOUT=60", "TIMEOUTS=30", "X=1"),
}

Lines = Callable[[Doc], list[str]]
Disk = Callable[[Doc, Path], None]


def _with(doc: Doc, line: str) -> list[str]:
    return [*doc.lines[: doc.at], line, *doc.lines[doc.at + 1 :]]


def _target(doc: Doc) -> str:
    return doc.lines[doc.at]


LINE_EDITS: dict[str, Lines] = {
    "nothing": lambda doc: list(doc.lines),
    "inside": lambda doc: _with(doc, doc.changed),
    "outside": lambda doc: [*doc.lines[:2], doc.lines[2].replace("80", "81").replace("beta", "Beta"), *doc.lines[3:]],
    "insert before": lambda doc: [*doc.lines[:2], doc.spare, *doc.lines[2:]],
    "insert after": lambda doc: [*doc.lines[:4], doc.spare, *doc.lines[4:]],
    "reorder": lambda doc: [*doc.lines[:2], *(doc.lines[n] for n in (4, 2, 3)), doc.lines[5]],
    "re-indent": lambda doc: _with(doc, f"  {_target(doc)}"),
    "comment above": lambda doc: [*doc.lines[:3], "# a comment", *doc.lines[3:]],
    "comment behind": lambda doc: _with(doc, f"{_target(doc)} # a comment"),
    "comment out": lambda doc: _with(doc, f"# {_target(doc)}"),
    "delete the line": lambda doc: [*doc.lines[:3], *doc.lines[4:]],
    "truncate before it": lambda doc: list(doc.lines[:3]),
    "truncate to nothing": lambda doc: [],
    "append": lambda doc: [*doc.lines, " " if doc.name.endswith("json") else doc.spare],
    "rename the key": lambda doc: _with(doc, doc.renamed),
    "say it twice": lambda doc: [*doc.lines[:4], _target(doc), *doc.lines[4:]],
    "move and say it twice": lambda doc: [
        *doc.lines[:2],
        doc.spare,
        doc.lines[2],
        doc.spare.replace("1", "2").replace("x", "y").replace("X", "Y"),
        *[_target(doc)] * 2,
        *doc.lines[4:],
    ],
}


def _text(doc: Doc) -> str:
    return "".join(f"{line}\n" for line in doc.lines)


def _encoded(encoding: str, mark: bytes = b"", end: str = "\n") -> Disk:
    return lambda doc, root: _ignore((root / doc.path).write_bytes(mark + _text(doc).replace("\n", end).encode(encoding)))


def _ignore(_: object) -> None:
    return None


def _keep_size_and_time(doc: Doc, root: Path) -> None:
    before = (root / doc.path).stat()
    (root / doc.path).write_text("".join(f"{line}\n" for line in _with(doc, doc.changed)), encoding="utf-8", newline="")
    os.utime(root / doc.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = (root / doc.path).stat()
    assert (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)


def _save_by_rename(doc: Doc, root: Path) -> None:
    (root / "conf" / "saved").write_text(_text(doc), encoding="utf-8", newline="")
    (root / "conf" / "saved").replace(root / doc.path)


def _swap_file_for_link(doc: Doc, root: Path) -> None:
    (root / doc.path).rename(root / "kept")
    (root / doc.path).symlink_to(root / "kept")


def _swap_folder_for_link(doc: Doc, root: Path) -> None:
    (root / "conf").rename(root / "kept")
    (root / "conf").symlink_to(root / "kept")


def _swap_file_for(make: Callable[[Path], object]) -> Disk:
    def edit(doc: Doc, root: Path) -> None:
        (root / doc.path).unlink()
        make(root / doc.path)

    return edit


DISK_EDITS: dict[str, Disk] = {
    "same size and time": _keep_size_and_time,
    "touch": lambda doc, root: os.utime(root / doc.path, (1, 1)),
    "save by rename": _save_by_rename,
    "CRLF": _encoded("utf-8", end="\r\n"),
    "CR": _encoded("utf-8", end="\r"),
    "BOM": _encoded("utf-8-sig"),
    "UTF-16": _encoded("utf-16"),
    "UTF-16 big end first": _encoded("utf-16-be", b"\xfe\xff"),
    "UTF-32 and CRLF": _encoded("utf-32", end="\r\n"),
    "an encoding that does not say so": _encoded("gbk"),
    "binary": lambda doc, root: _ignore((root / doc.path).write_bytes(_text(doc).encode() + b"\0")),
    "too large": lambda doc, root: _ignore((root / doc.path).write_bytes(_text(doc).encode() + b"\n" * LIMIT)),
    "remove the file": lambda doc, root: (root / doc.path).unlink(),
    "rename the file": lambda doc, root: _ignore((root / doc.path).rename(root / "conf" / "other")),
    "rename the folder": lambda _, root: _ignore((root / "conf").rename(root / "other")),
    "swap the file for a link": _swap_file_for_link,
    "swap the folder for a link": _swap_folder_for_link,
    "swap the file for a folder": _swap_file_for(Path.mkdir),
    "swap the file for a FIFO": _swap_file_for(os.mkfifo),
    "take the permission": lambda doc, root: (root / doc.path).chmod(0),
}

V, M, C, X, U, A = Verdict.VALID, Verdict.MOVED, Verdict.CHANGED, Verdict.MISSING, Verdict.UNREADABLE, Verdict.AMBIGUOUS
TABLE: dict[str, tuple[Verdict, ...]] = {
    #                                  file lines quote toml json ini env
    "nothing": (V, V, V, V, V, V, V),
    "touch": (V, V, V, V, V, V, V),
    "save by rename": (V, V, V, V, V, V, V),
    "inside": (C, C, C, C, C, C, C),
    "same size and time": (C, C, C, C, C, C, C),
    "outside": (C, V, V, V, V, V, V),
    "insert before": (C, M, V, V, V, V, V),
    "insert after": (C, V, V, V, V, V, V),
    "reorder": (C, M, V, V, V, V, V),
    "re-indent": (C, C, V, V, V, X, V),  # INI: an indented line continues the value above it
    "comment above": (C, M, V, V, U, V, V),  # JSON has no comments, so its parser refuses the file
    "comment behind": (C, C, V, V, U, C, V),  # INI has none behind a value, so it belongs to the value
    "comment out": (C, C, V, X, U, X, X),  # the quoted words still stand there
    "delete the line": (C, C, C, X, X, X, X),
    "truncate before it": (C, X, C, X, U, X, X),
    "truncate to nothing": (C, X, C, X, U, X, X),
    "append": (C, V, V, V, V, V, V),
    "rename the key": (C, C, C, X, X, X, X),
    "say it twice": (C, V, A, U, A, U, A),  # TOML and INI readers refuse a key that stands twice
    "move and say it twice": (C, A, A, U, A, U, A),
    "CRLF": (C, V, V, V, V, V, V),
    "CR": (C, V, V, V, V, V, V),
    "BOM": (C, V, V, V, V, V, V),
    "UTF-16": (C, V, V, V, V, V, V),
    "UTF-16 big end first": (C, V, V, V, V, V, V),
    "UTF-32 and CRLF": (C, V, V, V, V, V, V),
    "an encoding that does not say so": (U, U, U, U, U, U, U),
    "binary": (U, U, U, U, U, U, U),
    "too large": (U, U, U, U, U, U, U),
    "remove the file": (X, X, X, X, X, X, X),
    "rename the file": (X, X, X, X, X, X, X),
    "rename the folder": (X, X, X, X, X, X, X),
    "swap the file for a link": (U, U, U, U, U, U, U),
    "swap the folder for a link": (U, U, U, U, U, U, U),
    "swap the file for a folder": (U, U, U, U, U, U, U),
    "swap the file for a FIFO": (U, U, U, U, U, U, U),
    "take the permission": (U, U, U, U, U, U, U),
}


def _denied(really: Callable[..., int], name: str) -> Callable[..., int]:
    def opened(path: str, *arguments: int, **more: int | None) -> int:
        if str(path).endswith(name):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return really(path, *arguments, **more)

    return opened


def edit(name: str, doc: Doc, root: Path) -> None:
    """Apply one edit to the document in `root`."""
    if name in DISK_EDITS:
        DISK_EDITS[name](doc, root)
    else:
        (root / doc.path).write_text("".join(f"{line}\n" for line in LINE_EDITS[name](doc)), encoding="utf-8", newline="")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TABLE)
def test_what_is_hidden_is_exactly_what_changed(name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    doc = DOCS[kind]
    (tmp_path / "conf").mkdir()
    (tmp_path / doc.path).write_text(_text(doc), encoding="utf-8", newline="")
    with memkit.open(root=tmp_path) as kit:
        memory = kit.learn("fact", "what the shop does", scope=SHOP, cite=doc.cite).memory
        assert memory is not None and len(kit.recall("shop", scope=SHOP, budget=50).hits) == 1
        edit(name, doc, tmp_path)
        if name == "take the permission" and os.geteuid() == 0:  # the superuser may read everything, so the system's answer is played
            monkeypatch.setattr(os, "open", _denied(os.open, doc.name))
        (done,) = kit.check(scope=SHOP)[0].evidence
        assert done.verdict == TABLE[name][KINDS.index(kind)], done.why
        if done.verdict.holds:
            assert done.found == memory.evidence[0].quote
        found = kit.recall("shop", scope=SHOP, budget=50)
        assert [hit.verdict for hit in found.hits] == ([done.verdict] if done.verdict.holds else [])
        assert [skip.reason for skip in found.skipped] == ([] if done.verdict.holds else [done.verdict.withheld_as])


def test_the_table_is_complete() -> None:
    assert set(TABLE) == set(LINE_EDITS) | set(DISK_EDITS)
    assert {len(row) for row in TABLE.values()} == {len(KINDS)}


@pytest.mark.parametrize("kind", KINDS)
def test_an_edit_that_is_undone_brings_the_memory_back(kind: str, tmp_path: Path) -> None:
    doc = DOCS[kind]
    (tmp_path / "conf").mkdir()
    edit("nothing", doc, tmp_path)
    evidence = observe(doc.cite, Reader(Folder(tmp_path)), NOW)
    verdicts = []
    for name in ("inside", "nothing", "remove the file", "nothing"):
        edit(name, doc, tmp_path)
        verdicts.append(check(evidence, Reader(Folder(tmp_path))).verdict)
    assert verdicts == [C, V, X, V]
