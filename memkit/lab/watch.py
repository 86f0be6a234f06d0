"""Notice that files in a folder changed, and say so on the event loop that asked.

A thread waits for the file system's events (the `watchfiles` library) and, once a second, compares a listing of names, sizes and times,
because network homes give no events and a folder can be removed and made again. What changed is handed over with
`loop.call_soon_threadsafe`, so whoever is told runs on the loop's own thread, beside the widgets and the database. It is only a nudge:
file times prove nothing, so the one who is told reads the sources again. Not here: reading, or judging, what a file holds.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from memkit.errors import NotFound, Refused, UnsafePath
from memkit.record.sources import check_name

try:
    import watchfiles
except ImportError:  # an optional dependency; `watch` says which extra brings it
    watchfiles = None  # type: ignore[assignment]

Notify = Callable[[frozenset[str]], object]
Listing = dict[str, tuple[int, ...]]

TICK = 1.0  # seconds between two looks at the listing
DEBOUNCE, STEP = 200, 50  # milliseconds: changes this close together are told together
MOST_LISTED = 5_000  # entries in one listing; events, where there are any, cover the rest
POLLING = "WATCHFILES_FORCE_POLLING"  # the environment variable that turns the events off, as in watchfiles
SKIPPED = frozenset({"__pycache__", "node_modules"})
TEMPORARY = ("~", ".tmp", ".swp", ".swx", ".part", ".crdownload")


def watch(folder: str | os.PathLike[str], notify: Notify, *, poll: bool | None = None) -> Watcher:
    """Call `notify` with the names that changed, on the running event loop, until the watcher is stopped.

    Names are relative to `folder`, with `/`; hidden and temporary files are left out. `poll=True` only compares listings, `False` only
    listens to events, and None does both (the environment variable WATCHFILES_FORCE_POLLING set makes None mean True). Either way a
    change is told within about a second. Raises NotFound for a folder that is not there, and Refused where no loop runs or the library
    `watchfiles` is missing.
    """
    if watchfiles is None:
        raise Refused("MISSING_EXTRA", "the library watchfiles is not installed: python -m pip install 'memkit[course]' brings it")
    path = Path(os.path.realpath(folder))
    if not path.is_dir():
        raise NotFound(f"there is no folder {path.name!r} to watch; pass the folder whose files are cited")
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise Refused("NO_LOOP", "no event loop runs here, so nobody could be told; call watch in a notebook or in a coroutine") from None
    if poll is None and os.environ.get(POLLING, "").lower() not in ("", "0", "false", "disable", "disabled"):
        poll = True
    return Watcher(path, notify, loop, events=poll is not True, listing=poll is not False)


class Watcher:
    """A thread that watches one folder. Made by `watch`; `stop` ends it."""

    def __init__(self, folder: Path, notify: Notify, loop: asyncio.AbstractEventLoop, *, events: bool, listing: bool) -> None:
        self._folder, self._notify, self._loop = folder, notify, loop
        self._events, self._lists = events, listing
        self._stopping = threading.Event()
        self._listing = listing_of(folder) if listing else {}  # subtle: before the thread starts, so that no change falls between
        self._thread = threading.Thread(target=self._run, name="memkit-watch", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Say whether the thread still watches."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Stop watching, at once; what was noticed and not yet told is dropped. Calling it again does nothing."""
        self._stopping.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=2)

    def _run(self) -> None:
        """Follow the folder; when it is removed and made again, start over with the new one."""
        while not self._stopping.is_set():
            followed = identity(self._folder)
            for changed in self._changes() if followed and self._events else iter(()):
                self._tell(changed | self._listed_changes())
                if identity(self._folder) != followed:
                    break
            else:  # no events here: the listing alone
                self._stopping.wait(TICK)
            self._tell(self._listed_changes())

    def _changes(self) -> Iterator[set[str]]:
        """Yield what the file system reports, an empty set once a tick; ends where it reports nothing (no watches left, folder gone)."""
        try:
            yield from map(
                self._relative,
                watchfiles.watch(
                    self._folder,
                    watch_filter=None,
                    stop_event=self._stopping,
                    debounce=DEBOUNCE,
                    step=STEP,
                    rust_timeout=int(TICK * 1000),
                    yield_on_timeout=True,
                    raise_interrupt=False,
                    force_polling=False,
                    ignore_permission_denied=True,
                ),
            )
        except (OSError, RuntimeError):  # for instance: the system's limit of watches is reached
            self._events = self._events and not self._folder.is_dir()
            self._lists = True

    def _relative(self, changes: set[tuple[watchfiles.Change, str]]) -> set[str]:
        inside = [Path(path) for _, path in changes if Path(path).is_relative_to(self._folder)]
        return {name for path in inside if is_told(name := path.relative_to(self._folder).as_posix())}

    def _listed_changes(self) -> set[str]:
        if not self._lists or self._stopping.is_set():
            return set()
        before, self._listing = self._listing, listing_of(self._folder)
        return {name for name in before.keys() | self._listing.keys() if before.get(name) != self._listing.get(name)}

    def _tell(self, changed: set[str]) -> None:
        if not changed or self._stopping.is_set():
            return
        try:
            self._loop.call_soon_threadsafe(self._deliver, frozenset(changed))
        except RuntimeError:  # the loop was closed: nobody is left to be told
            self._stopping.set()

    def _deliver(self, changed: frozenset[str]) -> None:
        if not self._stopping.is_set():
            self._notify(changed)


def is_told(name: str) -> bool:
    """Say whether a change of this name is worth telling: it may be cited, and is no editor's temporary file.

    >>> [is_told(name) for name in ("conf/prod.cfg", ".env", ".~prod.cfg", ".git/HEAD", "prod.cfg~", "#prod.cfg#")]
    [True, True, False, False, False, False]
    """
    try:
        parts = check_name(name).split("/")
    except UnsafePath:
        return False
    return not SKIPPED.intersection(parts) and not name.endswith(TEMPORARY) and not parts[-1].startswith(("#", "~"))


def listing_of(folder: Path) -> Listing:
    """Return size, times and inode of what may be told, by name: the upper folders first, at most MOST_LISTED entries looked at.

    The time of the last change of the inode is among them: unlike the time of the last write, a program cannot set it back.
    """
    found: Listing = {}
    folders, left = deque([folder]), MOST_LISTED
    while folders and left > 0:
        for entry in _entries(folders.popleft(), left):
            left -= 1
            name = Path(entry.path).relative_to(folder).as_posix()
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in SKIPPED:
                    folders.append(Path(entry.path))
            elif is_told(name):
                found[name] = _mark(entry)
    return found


def _entries(folder: Path, most: int) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for _, entry in zip(range(most), entries, strict=False)]
    except OSError:
        return []


def _mark(entry: os.DirEntry[str]) -> tuple[int, ...]:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return ()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def identity(folder: Path) -> tuple[int, int] | None:
    """Return what tells this folder from another one of the same name made later, or None where there is none."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino
