"""One SQLite file: opening it, taking turns, and the secret that keys its digests.

A transaction either holds the write lock from its first statement or only reads; there is never a read, a decision and then a write
without the lock. Being busy is met with one retry loop of our own around the lock and around COMMIT, with waits that shrink, because
SQLite's own busy timeout can starve one writer of eight. What the tables mean is not here: `store.py` and its neighbours own them.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import random
import secrets
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from importlib.resources import files
from pathlib import Path
from types import TracebackType

from sqlite_utils import Database as SqliteUtils

from memkit.errors import Busy, Corrupt, MemkitError, NotFound, Refused

APPLICATION_ID = 0x6D656D6B  # "memk"
VERSION = 2
WAIT = 10.0  # seconds before Busy
SUFFIXES = ("", "-journal", "-wal", "-shm", ".key")  # of the files beside the database, which has none
SNAPSHOT = ".snapshot-"  # begins the suffix of a disposable copy of one tenant's memories


def random_id() -> str:
    """Return 128 random bits in hex: the default id source."""
    return secrets.token_hex(16)


class Database:
    """A memkit database that is open, in one process.

    `path` is a file, or ":memory:". Every connection erases what it deletes (`secure_delete=ON`) and is durable at COMMIT
    (`synchronous=FULL`, rollback journal). Threads take turns. Raises NotFound for a folder that is not there, and Corrupt for a file
    that is not memkit's, is newer, or lost its key file; such a file is left untouched.
    """

    def __init__(self, path: str | os.PathLike[str] = ":memory:", *, ids: Callable[[], str] = random_id, wait: float = WAIT) -> None:
        self.path = None if path == ":memory:" else _usable(path)
        self.wait = wait
        self._mine = _Turn(self.path)
        self._connection = _connect(self.path)
        self._mine.file = _identity(self.path)
        try:
            self._prepare(ids)
        except BaseException:
            self._connection.close()
            raise

    @property
    def files(self) -> list[Path]:
        """Return every file memkit owns for this database that exists now."""
        if self.path is None:
            return []
        fixed = [Path(f"{self.path}{suffix}") for suffix in SUFFIXES]
        return [file for file in fixed if file.exists()] + sorted(self.path.parent.glob(f"{escape(self.path.name)}{SNAPSHOT}*"))

    def owns(self, file: Path) -> bool:
        """Return whether a file is, or would be, memkit's own for this database."""
        start = os.path.normcase(os.path.realpath(self.path or ""))
        name = os.path.normcase(file)
        if self.path is None or not name.startswith(start):
            return False
        rest = name[len(start) :]
        return rest in SUFFIXES or (rest.startswith(SNAPSHOT) and os.sep not in rest)

    @contextmanager
    def write(self) -> Iterator[SqliteUtils]:
        """Run a block that holds the write lock; it commits as a whole or leaves everything as it was. Raises Busy after `wait` s."""
        with self._mine:
            self._patiently("begin immediate")
            try:
                yield self._sql
                self._patiently("commit")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("rollback")
                raise

    @contextmanager
    def read(self) -> Iterator[SqliteUtils]:
        """Run a block that sees one moment of the database. Raises Busy after `wait` seconds."""
        with self._mine:
            self._connection.execute("begin")
            try:
                self._patiently("select count(*) from sqlite_schema")  # takes the shared lock, so nothing after it can be busy
                yield self._sql
            finally:
                self._connection.execute("rollback")

    def image(self) -> bytes:
        """Return the raw bytes of an in-memory database, free pages included."""
        with self._mine:
            return self._connection.serialize()

    @contextmanager
    def traced(self) -> Iterator[list[str]]:
        """Collect the statements that are run inside the block, values filled in, for a lesson to show; they hold content."""
        statements: list[str] = []
        with suppress(sqlite3.ProgrammingError):  # closed: then nothing is run
            self._connection.set_trace_callback(statements.append)
        try:
            yield statements
        finally:
            with suppress(sqlite3.ProgrammingError):
                self._connection.set_trace_callback(None)

    def vacuum(self) -> None:
        """Rewrite the file without its free pages."""
        with self._mine:
            self._patiently("vacuum")

    def close(self) -> None:
        """Close the file; calling it again does nothing."""
        self._connection.close()

    def keyed_digest(self, text: str) -> str:
        """Return HMAC-SHA256 of `text` under this database's secret: a plain hash of a short value is guessed in milliseconds."""
        return hmac.new(self._secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def _patiently(self, statement: str) -> list[tuple[object, ...]]:
        started, attempt = 0.0, 0
        while True:
            try:
                return self._connection.execute(statement).fetchall()
            except sqlite3.OperationalError as error:
                if not _is_busy(error):
                    raise
            attempt += 1
            started = started or time.monotonic()
            if (waited := time.monotonic() - started) > self.wait:
                raise Busy(waited, str(self.path))
            time.sleep(random.uniform(0.0002, 0.010 / (1 + attempt / 4)))  # subtle: waits shrink, so who has waited longest goes next

    def _prepare(self, ids: Callable[[], str]) -> None:
        self._sql = SqliteUtils(self._connection, execute_plugins=False)
        with self._mine:
            for pragma in ("secure_delete=on", "synchronous=full", "foreign_keys=on"):  # of this connection: the file is not touched yet
                self._patiently(f"pragma {pragma}")
            if self._number("application_id") == 0:
                self._create(ids)
            self._check_identity()
            self._patiently("pragma journal_mode=delete")
            self._secret = self._load_secret()

    def _create(self, ids: Callable[[], str]) -> None:
        with self.write() as tx:
            tables = tx.execute("select count(*) from sqlite_schema").fetchone()[0]
            if tables or self._number("application_id") or (self.path is not None and self.path.stat().st_size):
                return  # somebody else's file, or another process was faster
            self._secret = _fresh(ids)
            if self.path is not None:
                self._secret = _kept(Path(f"{self.path}.key"), self._secret)
            for statement in _statements(files("memkit.record").joinpath("schema.sql").read_text(encoding="utf-8")):
                tx.execute(statement)
            tx.execute("insert into meta values ('key_check', :digest)", {"digest": self.keyed_digest("memkit")})
            tx.execute(f"pragma application_id={APPLICATION_ID}")
            tx.execute(f"pragma user_version={VERSION}")

    def _check_identity(self) -> None:
        if (found := self._number("application_id")) != APPLICATION_ID:
            raise Corrupt(
                f"{self.path} is an SQLite file of another application (id {found}); memkit did not touch it. Choose another path"
            )
        if (found := self._number("user_version")) != VERSION:
            raise Corrupt(f"{self.path} has schema version {found} and this memkit reads {VERSION}; open it with the memkit that wrote it")

    def _load_secret(self) -> bytes:
        if self.path is None:
            return self._secret
        try:
            self._secret = Path(f"{self.path}.key").read_bytes()
        except OSError:
            raise Corrupt(f"{self.path}.key cannot be read; put the key file back beside the database, tombstones need it") from None
        with self.read() as tx:
            (expected,) = tx.execute("select value from meta where name = 'key_check'").fetchone()
        if not hmac.compare_digest(expected, self.keyed_digest("memkit")):
            raise Corrupt(f"{self.path}.key belongs to another database; put back the key file that was made with this one")
        return self._secret

    def _number(self, pragma: str) -> int:
        return int(str(self._patiently(f"pragma {pragma}")[0][0]))


class _Turn:
    """A thread's turn at the connection, in the process that opened it; what SQLite raises meanwhile comes out in memkit's words."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._pid, self._lock = path, os.getpid(), threading.RLock()
        self.file = _identity(path)

    def __enter__(self) -> None:
        if os.getpid() != self._pid:  # subtle: an SQLite connection carried through fork corrupts the file
            raise MemkitError("this store was opened before the process forked; open it again in the new process")
        if self.file != _identity(self._path):  # subtle: SQLite goes on reading the file that was there, with what was forgotten since
            raise MemkitError(f"{self._path} was removed or replaced while it was open, so nothing was read or written; open it again")
        self._lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lock.release()
        if isinstance(error, sqlite3.ProgrammingError):
            if "closed" in str(error):
                raise MemkitError("this store is closed; open it again with memkit.open") from None
        elif isinstance(error, sqlite3.DatabaseError):
            raise _translated(error, self._path) from error
        elif isinstance(error, UnicodeDecodeError):
            raise Corrupt(f"{self._path} holds text that is damaged; restore a backup") from None


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Return which file stands under a path, None for none: another file under the same name is another store."""
    with suppress(OSError):
        if path is not None:
            found = path.stat()
            return found.st_dev, found.st_ino
    return None


def _fresh(ids: Callable[[], str]) -> bytes:
    made = [ids(), ids()]
    if not all(isinstance(each, str) for each in made):
        raise Refused("BAD_IDS", f"ids returned {type(made[0]).__name__}; it must return fresh text that is hard to guess")
    return "".join(made).encode()


def _usable(path: str | os.PathLike[str]) -> Path:
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else path
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise NotFound(f"the path of the store is {text!r}; pass the name of a file, or ':memory:'")
    whole = Path(text).absolute()
    try:
        if whole.is_dir():
            raise NotFound(f"{whole} is a folder; pass the name of a file in it")
        if not whole.parent.is_dir():
            raise NotFound(f"{whole} cannot be made, because {whole.parent} is not a folder; make the folder first")
    except OSError as error:
        raise NotFound(f"the path of the store, {len(text):,} characters, cannot be used ({error.strerror}); pass a shorter one") from None
    return whole


def _connect(path: Path | None) -> sqlite3.Connection:
    try:
        if path is not None and not path.exists():
            with suppress(
                FileExistsError
            ):  # subtle: never open and close a database that exists, or POSIX drops this process's locks on it
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        return sqlite3.connect(path or ":memory:", isolation_level=None, timeout=0, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NotFound(f"{path} cannot be opened for writing ({reason}); choose a file you may write") from None


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _translated(error: sqlite3.DatabaseError, path: Path | None) -> Exception:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT) or any(sign in str(error) for sign in ("Could not decode", "no such table")):
        return Corrupt(
            f"{path} is not a memkit database, or is damaged ({error}); memkit did not touch it. Restore a backup or choose another path"
        )
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        return MemkitError(
            f"{path} could not be written ({error}); nothing was changed. Free some space or check the permissions, then call again"
        )
    return error


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of `schema.sql` one by one: `executescript` would commit the open transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _kept(path: Path, data: bytes) -> bytes:
    """Return what the file holds; where there is none, write it first so that a crash leaves no file or a whole one.

    A key file that is there already is kept: it may belong to a database that was moved away and will come back.
    """
    if path.exists():
        if len(there := path.read_bytes()) < 16:
            raise Corrupt(f"{path} is in the way: it holds {len(there)} bytes and is no key of memkit. Move it, or choose another path")
        return there
    replace_file(path, data)
    return data


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that a crash leaves the old one or the new one, whole: beside it, to the disk, read again, then renamed."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if Path(temporary).read_bytes() != data:
            raise MemkitError(f"{path.name} could not be written: the disk gave back something else; nothing was changed")
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)
