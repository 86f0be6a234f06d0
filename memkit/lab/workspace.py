"""The learner's editor: change, remove and restore the files of a lesson's private copy.

memkit itself never writes a source; a learner does, and this is how a widget does it for one. It only ever touches a copy that
`memkit.lab.reset` made, inside a `_work` folder, and refuses every other folder and every link. A file is replaced in one step, so that
nobody ever reads half of it. Not here: watching (`watch.py`), or what memkit makes of a change.
"""

from __future__ import annotations

import os
from pathlib import Path

from memkit.errors import NotFound, Refused, UnsafePath
from memkit.lab.sandbox import data_folder, replace_whole, reset
from memkit.record.sources import Folder, SourceMissing, Unreadable, check_name, decode

WORK = "_work"


class Workspace:
    """A lesson's private copy, to be edited: `Workspace(memkit.lab.reset("shop"))`.

    Raises Refused for a folder that is not such a copy, and UnsafePath for one that is a link.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(os.path.abspath(folder))
        if self.folder.parent.name != WORK or not (self.folder.parent / f".made-by-memkit-{self.folder.name}").is_file():
            raise Refused(
                "NOT_A_COPY", f"{self.folder.name!r} is not a copy that memkit made in {WORK}: pass what memkit.lab.reset returns"
            )
        self._refuse_link(self.folder)

    def __repr__(self) -> str:
        return f"Workspace({self.folder.name!r})"

    def names(self) -> list[str]:
        """Return the names of the files that may be cited, sorted."""
        return Folder(self.folder).names()

    def read(self, name: str) -> str:
        """Return the text of one file; raises NotFound, UnsafePath, and Refused for what is not text."""
        try:
            return decode(Folder(self.folder).read(name))
        except SourceMissing:
            raise NotFound(f"there is no file {name!r} in this copy; restore it, or choose one of {', '.join(self.names()[:5])}") from None
        except Unreadable as error:
            raise Refused("UNREADABLE_SOURCE", f"{name!r} cannot be edited because it is {error.reason}") from None

    def write(self, name: str, text: str) -> None:
        """Replace the text of a file, or make it, in one step; a file with Windows line endings keeps them."""
        path = self._inside(name)
        data = text.encode()
        if path.is_file() and b"\r\n" in path.read_bytes():
            data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        replace_whole(path, data, self.folder.parent)

    def delete(self, name: str) -> None:
        """Remove one file."""
        self._existing(name).unlink()

    def rename(self, old: str, new: str) -> None:
        """Give a file another name; raises Refused where that name is taken."""
        source, target = self._existing(old), self._inside(new)
        if os.path.lexists(target):
            raise Refused("NAME_TAKEN", f"there is a file {new!r} already: choose another name, or delete that one first")
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(source, target)

    def restore(self, name: str | None = None) -> None:
        """Bring one file back to what it was at first, or the whole copy; raises NotFound for a file that was never there."""
        if name is None:
            reset(self.folder.name, to=self.folder.parent)
            return
        original = data_folder() / self.folder.name / check_name(name)
        if not original.is_file():
            raise NotFound(f"there was no file {name!r} at first, so nothing to bring back; restore all removes it")
        replace_whole(self._inside(name), original.read_bytes(), self.folder.parent)

    def _existing(self, name: str) -> Path:
        path = self._inside(name)
        if not path.is_file():
            raise NotFound(f"there is no file {name!r} in this copy; restore it, or choose one of {', '.join(self.names()[:5])}")
        return path

    def _inside(self, name: str) -> Path:
        """Return the path of a checked name, and refuse a link in any part of it."""
        path = self.folder
        self._refuse_link(path)
        for part in check_name(name).split("/"):
            path = path / part
            self._refuse_link(path)
        return path

    def _refuse_link(self, path: Path) -> None:
        if os.path.realpath(path) != os.path.join(os.path.realpath(path.parent), path.name):
            raise UnsafePath(path.name, f"{path.name!r} is a link; this editor only touches plain files of the copy")
