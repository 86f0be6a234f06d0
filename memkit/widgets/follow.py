"""Look again when a file changes on disk, and when a cell has run, for as long as a panel lives.

A cell may have written memories, forgotten one, or edited a dict of texts; no file changes then, so a panel looks after every cell.
Where no event loop runs (a plain script) nothing is followed, and `problem` says so. Not here: what a panel does when it looks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from IPython.core.getipython import get_ipython

from memkit.errors import Refused
from memkit.lab import Watcher, watch_folder


class Follow:
    """Calls `look` on the kernel's own thread until it is stopped. `folder` is the one whose files matter, or None."""

    def __init__(self, look: Callable[[], object], folder: Path | None) -> None:
        self.problem = ""
        self._look = look
        self._watcher: Watcher | None = None
        self._shell = get_ipython()
        if self._shell is not None:
            self._shell.events.register("post_run_cell", self._ran)
        if folder is not None:
            try:
                self._watcher = watch_folder(folder, lambda _: look())
            except Refused as error:
                self.problem = str(error)

    @property
    def running(self) -> bool:
        """Say whether files are followed."""
        return self._watcher is not None and self._watcher.running

    def stop(self) -> None:
        """Follow nothing any more; calling it again does nothing."""
        if self._watcher is not None:
            self._watcher.stop()
        if self._shell is not None:
            self._shell.events.unregister("post_run_cell", self._ran)
            self._shell = None

    def _ran(self, _: object) -> None:
        self._look()
