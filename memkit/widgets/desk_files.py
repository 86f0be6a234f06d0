"""The sources a desk shows, and who may edit them: a lesson's private copy, a dict of texts, or nobody.

Reading always goes through the kit's own sources. A learner's own folder has no editor, so nothing can ever write it. Not here: controls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memkit.errors import NotFound, Refused, UnsafePath
from memkit.record.sources import Folder, SourceMissing, Sources, Texts, Unreadable, decode
from memkit.write.redact import redact

LONGEST = 200_000  # characters of one source shown in a text area


class Editor(Protocol):
    """What can change sources; `memkit.lab.Workspace` is one."""

    def write(self, name: str, text: str) -> None: ...

    def delete(self, name: str) -> None: ...

    def rename(self, old: str, new: str) -> None: ...

    def restore(self, name: str | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class Shown:
    """The text of a source, or why there is none to show."""

    text: str
    problem: str = ""
    gone: bool = False


def show(sources: Sources, name: str, *, mask: bool = False) -> Shown:
    """Return a source as it is shown, line endings `\\n`, on request with secrets masked; never raises for anything a source can be.

    >>> show(Texts({"prod.cfg": "timeout=30"}), "test.cfg").problem
    'test.cfg is not there'
    """
    try:
        text = decode(sources.read(name)).replace("\r\n", "\n").replace("\r", "\n")
    except SourceMissing:
        return Shown("", f"{name} is not there", gone=True)
    except Unreadable as error:
        return Shown("", f"{name} cannot be shown because it is {error.reason}")
    except UnsafePath as error:
        return Shown("", str(error))
    if len(text) > LONGEST:
        return Shown("", f"{name} has {len(text):,} characters, more than are shown here; open it in JupyterLab's editor")
    return Shown(redact(text).text if mask else text)


def editor_of(sources: Sources, workspace: Editor | None) -> Editor | None:
    """Return who edits these sources: the lesson's copy, the dict itself, or None for a folder that is the learner's own."""
    if workspace is None:
        return TextsEditor(sources) if isinstance(sources, Texts) else None
    if isinstance(sources, Folder) and getattr(workspace, "folder", None) is not None:
        _require_same(sources, workspace)
    return workspace


def _require_same(sources: Folder, workspace: Editor) -> None:
    folder = Folder(getattr(workspace, "folder"))  # noqa: B009
    if folder.root != sources.root:
        raise Refused("OTHER_FOLDER", "the workspace is not the folder that kit reads: open kit with root=workspace.folder")


class TextsEditor:
    """Edit a dict of texts in place, and remember how it was at first."""

    def __init__(self, texts: Texts) -> None:
        self._texts, self._first = texts, dict(texts)

    def write(self, name: str, text: str) -> None:
        """Replace or add a text."""
        self._texts[name] = text

    def delete(self, name: str) -> None:
        """Remove a text."""
        self._existing(name)
        del self._texts[name]

    def rename(self, old: str, new: str) -> None:
        """Give a text another name; raises Refused where that is taken."""
        text = self._existing(old)
        if new in self._texts:
            raise Refused("NAME_TAKEN", f"there is a source {new!r} already: choose another name, or delete that one first")
        self._texts[new] = text
        del self._texts[old]

    def restore(self, name: str | None = None) -> None:
        """Bring back one text, or all of them and no others."""
        if name is None:
            self._texts.clear()
            self._texts.update(self._first)
        elif name in self._first:
            self._texts[name] = self._first[name]
        else:
            raise NotFound(f"there was no source {name!r} at first, so nothing to bring back; restore all removes it")

    def _existing(self, name: str) -> str | bytes:
        if name not in self._texts:
            raise NotFound(f"there is no source {name!r}; restore it, or choose one of {', '.join(self._texts)}")
        return self._texts[name]
