"""Where text comes from: a folder on disk, or a dict of texts for lessons. Both are only ever read.

A source has a *name*: a relative path with `/` between its parts. `check_name` is the same rule for both kinds, so that what works in a
lesson works on a disk. `Folder` never follows a link and never leaves its root, even while somebody swaps a folder for a link: it walks
with directory descriptors and looks at the descriptor it opened. Not here: what part of a source a memory rests on (`evidence.py`).
A hard link to a file outside is a plain file of the root and cannot be told apart.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Protocol

from memkit.errors import NotFound, UnsafePath

LIMIT = 4 * 1024 * 1024  # bytes of one source
MOST_NAMES = 10_000  # names in one listing
LONGEST_PART, LONGEST_NAME = 255, 1024  # bytes in UTF-8

_DEVICES = re.compile(r"(?:CON|PRN|AUX|NUL|CLOCK\$|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])\s*(?:\..*)?", re.IGNORECASE | re.DOTALL)
_OPEN = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"))
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


class SourceMissing(Exception):
    """There is no source of that name. Does not leave `record`: `observe` and `check` turn it into an answer."""


class Unreadable(Exception):
    """The source is there and cannot be used. Attribute: `reason`, words that fit after "because it is"."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Sources(Protocol):
    """Anything that gives bytes for a name; `read` raises UnsafePath, SourceMissing or Unreadable."""

    def read(self, name: str) -> bytes: ...

    def names(self) -> list[str]: ...


def check_name(name: str) -> str:
    """Return `name`, or raise UnsafePath where it could mean anything but one plain file under the root.

    >>> check_name("conf/prod.cfg")
    'conf/prod.cfg'
    >>> check_name("../etc/passwd")
    Traceback (most recent call last):
    memkit.errors.UnsafePath: '../etc/passwd' has the part '..'; name a file inside the root, relative to it, such as 'conf/prod.cfg'
    """
    if not isinstance(name, str):
        raise UnsafePath(repr(name)[:80], f"a source name is {type(name).__name__}; it must be text, such as 'conf/prod.cfg'")
    if fault := _fault(name):
        shown = repr(name[:80]) + ("..." if len(name) > 80 else "")
        raise UnsafePath(name, f"{shown} {fault}; name a file inside the root, relative to it, such as 'conf/prod.cfg'")
    return name


@lru_cache(maxsize=1024)
def _fault(name: str) -> str | None:
    if not name:
        return "is empty"
    if not name.isprintable() and any(unicodedata.category(c) in ("Cc", "Cs") for c in name):
        return "has a control character or half a surrogate pair"
    if "\\" in name or ":" in name:
        return "has a backslash or a colon"
    if name.startswith("/"):
        return "is absolute"
    if len(name.encode()) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} bytes"
    parts = name.split("/")
    faults = (_part_fault(part, final=n == len(parts)) for n, part in enumerate(parts, 1))
    return next((fault for fault in faults if fault), None)


def _part_fault(part: str, *, final: bool) -> str | None:
    if part in ("", ".", ".."):
        return f"has the part {part!r}"
    if part.startswith(".") and not (final and (part == ".env" or part.startswith(".env."))):
        return "has a hidden part (of the names with a dot in front only .env and .env.* may be cited)"
    if part[-1] in ". ":
        return "has a part that ends in a dot or a space"
    if _DEVICES.fullmatch(part):
        return "has a part that is a device on Windows"
    return f"has a part longer than {LONGEST_PART} bytes" if len(part.encode()) > LONGEST_PART else None


def decode(data: bytes) -> str:
    """Return the text of `data`: by its byte order mark (UTF-8, UTF-16, UTF-32), else strictly as UTF-8. The mark is dropped.

    Raises Unreadable for anything that is not text. Line endings are left alone.

    >>> decode("超时".encode("utf-16")), decode(b"plain")
    ('超时', 'plain')
    """
    encoding = next((name for mark, name in _BOMS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"not text: byte {error.start} is not {encoding.removesuffix('-sig').upper()}") from None
    if "\0" in text:
        raise Unreadable("not text: it holds NUL characters")
    return text


class Texts(MutableMapping[str, str | bytes]):
    """A dict of texts as sources, by reference: editing it here or there is the same edit.

    >>> texts = Texts({"prod.cfg": "timeout=30"})
    >>> texts["prod.cfg"] = "timeout=60"
    >>> texts.read("prod.cfg")
    b'timeout=60'
    """

    def __init__(self, texts: MutableMapping[str, str] | MutableMapping[str, bytes] | MutableMapping[str, str | bytes]) -> None:
        self._texts: MutableMapping[str, str | bytes] = texts  # type: ignore[assignment]  # only values a caller put in come out

    def __getitem__(self, name: str) -> str | bytes:
        return self._texts[name]

    def __setitem__(self, name: str, text: str | bytes) -> None:
        self._texts[check_name(name)] = text

    def __delitem__(self, name: str) -> None:
        del self._texts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def read(self, name: str) -> bytes:
        """Return the bytes of one text, a str as UTF-8."""
        check_name(name)
        try:
            if name not in self._texts:  # subtle: asked first, since reading a mapping with defaults would add to it
                raise SourceMissing(name)
            text = self._texts[name]
        except (KeyError, SourceMissing):  # somebody may take it out meanwhile
            raise SourceMissing(name) from None
        except Exception as error:  # it may be any mapping, which reads from wherever it likes
            raise Unreadable(f"not to be read ({type(error).__name__})") from None
        if not isinstance(text, str | bytes):
            raise Unreadable(f"not text: the dict holds a value of type {type(text).__name__}")
        try:
            data = text.encode() if isinstance(text, str) else text
        except UnicodeEncodeError:
            raise Unreadable("not text: it holds half a surrogate pair") from None
        return _within_limit(data)

    def names(self) -> list[str]:
        """Return the names that may be cited, sorted."""
        return sorted(name for name in list(self._texts) if isinstance(name, str) and _fault(name) is None)[:MOST_NAMES]


class Folder:
    """A folder whose files may be cited. Nothing in it is ever written, created or locked.

    `root` is resolved once, here. Raises NotFound where it does not exist, is not a folder or cannot be listed.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._owns: Callable[[Path], bool] = lambda file: False
        try:
            if not os.fspath(root):
                raise ValueError(root)
            self.root = Path(os.path.realpath(root, strict=True))
            with os.scandir(self.root) as entries:
                next(entries, None)
        except (OSError, ValueError, TypeError) as error:
            why = getattr(error, "strerror", None) or "not a path"
            raise NotFound(f"root={str(root)[:200]!r} cannot be used ({why}); pass a folder that exists and that you may list") from None

    def __repr__(self) -> str:
        return f"Folder({self.root.name!r})"

    def keep_out(self, owns: Callable[[Path], bool]) -> None:
        """Treat files as if they were not there: memkit's own, when its database lies in the folder."""
        self._owns = owns

    def read(self, name: str) -> bytes:
        """Return the bytes of one file, at most LIMIT; never blocks on a FIFO or a device."""
        parts = check_name(name).split("/")
        if self._owns(self.root.joinpath(*parts)):
            raise UnsafePath(name, f"{name!r} is memkit's own file; cite a source")
        try:
            return self._walk(parts) if os.open in os.supports_dir_fd else self._read_checked(parts)
        except (FileNotFoundError, NotADirectoryError):
            raise SourceMissing(name) from None
        except OSError as error:
            if error.errno == errno.ELOOP:  # a link that appeared between the look and the opening
                raise _through_a_link(name) from None
            raise Unreadable(f"not to be opened ({error.strerror or 'input/output error'})") from None

    def names(self) -> list[str]:
        """Return the names of files that may be cited, sorted: no hidden folder, no link, at most MOST_NAMES entries looked at."""
        return sorted(self._listed())

    def _listed(self) -> Iterator[str]:
        folders, left = [self.root], MOST_NAMES
        while folders:
            for path, mode in _entries(folders.pop(), left):
                left -= 1
                name = path.relative_to(self.root).as_posix()
                if stat.S_ISDIR(mode) and not path.name.startswith("."):
                    folders.append(path)
                elif stat.S_ISREG(mode) and _fault(name) is None and not self._owns(path):
                    yield name

    def _open_root(self) -> int:
        try:
            return os.open(self.root, _OPEN | os.O_DIRECTORY)
        except OSError as error:
            raise Unreadable(f"in a root folder that can no longer be opened ({error.strerror})") from None

    def _walk(self, parts: list[str]) -> bytes:
        """Open each part in the one before it, never through a link: what was opened is what is under the root, whatever moves."""
        fd = self._open_root()
        try:
            for part in parts[:-1]:
                _refuse_link("/".join(parts), os.stat(part, dir_fd=fd, follow_symlinks=False))
                fd, above = os.open(part, _OPEN | os.O_DIRECTORY, dir_fd=fd), fd
                os.close(above)
            found = os.stat(parts[-1], dir_fd=fd, follow_symlinks=False)
            _refuse_special("/".join(parts), found)  # subtle: before opening, since opening a device may already do something
            file = os.open(parts[-1], _OPEN, dir_fd=fd)
        finally:
            os.close(fd)
        return _drain("/".join(parts), file)

    def _read_checked(self, parts: list[str]) -> bytes:
        """Read without directory descriptors (Windows): open first, then prove that what was opened lies under the root."""
        name, path = "/".join(parts), self.root
        for part in parts:
            path = path / part
            _refuse_link(name, os.lstat(path))
        _refuse_special(name, os.lstat(path))
        file = os.open(path, _OPEN)
        try:
            real = Path(os.path.realpath(path, strict=True))
            if not (real.is_relative_to(self.root) and os.path.samestat(os.fstat(file), os.lstat(real))):
                raise UnsafePath(name, f"{name!r} changed places while it was opened; cite a plain file that stays inside the root")
        except BaseException:
            os.close(file)
            raise
        return _drain(name, file)


def _entries(folder: Path, most: int) -> list[tuple[Path, int]]:
    """Return path and file mode of what a folder holds, links left out; a folder that went away or may not be listed holds nothing."""
    try:
        with os.scandir(folder) as entries:
            names = [Path(entry.path) for entry in islice(entries, most)]
    except OSError:
        return []
    found = []
    for path in names:
        with suppress(OSError):  # it may go away meanwhile
            if not _is_link(status := path.lstat()):
                found.append((path, status.st_mode))
    return found


def _is_link(found: os.stat_result) -> bool:
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_reparse_tag", 0))


def _refuse_link(name: str, found: os.stat_result) -> None:
    if _is_link(found):
        raise _through_a_link(name)


def _through_a_link(name: str) -> UnsafePath:
    return UnsafePath(name, f"{name!r} leads through a link; cite the file itself, by its path inside the root")


def _refuse_special(name: str, found: os.stat_result) -> None:
    _refuse_link(name, found)
    if stat.S_ISDIR(found.st_mode):
        raise Unreadable("a folder, not a file")
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable("a FIFO, socket or device, not a plain file")


def _drain(name: str, file: int) -> bytes:
    """Read the open descriptor to its end and close it, after looking at what it really is."""
    with os.fdopen(file, "rb") as stream:
        found = os.fstat(file)
        _refuse_special(name, found)
        if found.st_size > LIMIT:
            raise Unreadable(f"larger than {LIMIT} bytes")
        return _within_limit(stream.read(LIMIT + 1))


def _within_limit(data: bytes) -> bytes:
    if len(data) > LIMIT:
        raise Unreadable(f"larger than {LIMIT} bytes")
    return data
