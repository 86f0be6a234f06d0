"""Where the lessons and their data are, and a private copy to play with.

A wheel carries `data/` and `notebooks/` inside the package; a checkout keeps them at its top. Both are looked for, in this order.
`reset` gives a lesson its own copy of a sample folder in a git-ignored `_work`, or restores it in place: a file that is open in an
editor stays the same path. Nothing outside that copy is ever written or removed. Not here: what the lesson does with the copy.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from memkit.errors import NotFound, Refused, UnsafePath

PACKAGE = Path(__file__).resolve().parents[1]
KEPT = ".ipynb_checkpoints"  # JupyterLab keeps its own copies of opened files here


def data_folder() -> Path:
    """Return the folder of sample data: in the package where a wheel put it, else in the checkout around the package.

    >>> (data_folder() / "shop" / "prod.cfg").is_file()
    True
    """
    return find_beside("data", PACKAGE)


def notebooks_folder() -> Path:
    """Return the folder of lessons, found the same way.

    >>> notebooks_folder().name
    'notebooks'
    """
    return find_beside("notebooks", PACKAGE)


def find_beside(name: str, package: Path) -> Path:
    """Return folder `name` inside `package`, or beside it in a checkout; raises NotFound when it is in neither."""
    for found in (package / name, package.parent / name):
        if found.is_dir() and (found.parent == package or (package.parent / "pyproject.toml").is_file()):
            return found
    raise NotFound(f"there is no folder {name!r} in or beside the package: install memkit again, or clone the whole repository")


def is_installed() -> bool:
    """Say whether the lessons came in a wheel (True) or are those of a checkout (False)."""
    return notebooks_folder().parent == PACKAGE


def project_folder() -> Path:
    """Return a real project to read in place: this repository, or, when installed, which has none, the lesson's copy of the shop."""
    return reset("shop") if is_installed() else notebooks_folder().parent


def reset(name: str = "shop", *, to: Path | None = None) -> Path:
    """Give the lesson a fresh private copy of sample folder `name`, or restore the one it has, in place; return the copy.

    `to` is the folder that holds such copies: `notebooks/_work` in a checkout, `_work` in the current folder when installed.
    Files with other content are replaced, files that are not in the original are removed; unchanged files are not touched at all.
    Raises NotFound for an unknown name, UnsafePath where `to` or the copy is a link, and Refused where the folder is not a copy that
    memkit made, or where another program holds a file open and the system does not let it be replaced (Windows).
    """
    original = _original(name)
    work = to if to is not None else (Path.cwd() if is_installed() else notebooks_folder()) / "_work"
    copy = work / name
    _claim(work, copy)
    try:
        _remove_extras(copy, original)
        for file in _files(original):
            _restore(original / file, copy / file, work)
    except PermissionError as error:
        raise Refused(
            "IN_USE", f"{error.filename} could not be replaced: close it in the program that has it open, then reset again"
        ) from error
    return copy


def check_out(copy: Path, branch: str) -> None:
    """Make a lesson's copy a git work tree on this branch, without a commit; `reset` takes it away again.

    Raises Refused for a folder that `reset` did not make, and for a branch that is not words with / between them.
    """
    if not (copy.parent / f".made-by-memkit-{copy.name}").is_file() or _is_link(copy) or _is_link(copy / ".git"):
        raise Refused("NOT_A_COPY", f"{copy.name!r} is not a copy that memkit made: pass what memkit.lab.reset returns")
    if not re.fullmatch(r"\w+(?:[/-]\w+)*", branch):
        raise Refused("BAD_BRANCH", "the branch is not words with / or - between them; pass for instance 'feature/pay'")
    for part in ("objects", "refs/heads"):
        (copy / ".git" / part).mkdir(parents=True, exist_ok=True)
    (copy / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="utf-8", newline="\n")


def _original(name: str) -> Path:
    original = data_folder() / name
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name) or not original.is_dir():
        known = ", ".join(sorted(p.name for p in data_folder().iterdir() if p.is_dir()))
        raise NotFound(f"there is no sample folder {name!r}; there are: {known}")
    return original


def _claim(work: Path, copy: Path) -> None:
    """Make the folders; refuse links, and a folder of this name that memkit did not make (it leaves a mark beside its own)."""
    mark = work / f".made-by-memkit-{copy.name}"
    for folder in (work, copy):
        if _is_link(folder) or (os.path.lexists(folder) and not folder.is_dir()):
            raise UnsafePath(
                str(folder), f"{folder} is a link or not a folder; a lesson writes only in a real folder: remove it, then reset"
            )
    if copy.is_dir() and any(copy.iterdir()) and not mark.is_file():
        raise Refused("NOT_A_COPY", f"{copy} was not made by memkit and is not empty: move it away, or give another folder in `to`")
    copy.mkdir(parents=True, exist_ok=True)
    mark.touch()


def _is_link(path: Path) -> bool:
    """Say whether the last part of `path` leads elsewhere: a symbolic link, or a junction, which Python 3.11 cannot name."""
    return os.path.realpath(path) != os.path.join(os.path.realpath(path.parent), path.name)


def _files(folder: Path) -> list[Path]:
    return [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]


def _remove_extras(copy: Path, original: Path) -> None:
    """Remove what stands in the copy and not in the original, and links of any kind, which are never followed."""
    for path in sorted(copy.iterdir()):
        twin = original / path.name
        if path.is_dir() and not _is_link(path):
            if twin.is_dir():
                _remove_extras(path, twin)
            elif path.name != KEPT:
                shutil.rmtree(path)
        elif _is_link(path) or not twin.is_file():
            path.unlink()


def _restore(original: Path, target: Path, work: Path) -> None:
    """Write the original content unless it is there already."""
    content = original.read_bytes()
    if not target.is_file() or target.read_bytes() != content:
        replace_whole(target, content, work)


def replace_whole(target: Path, content: bytes, work: Path) -> None:
    """Write to a temporary file in `work`, outside the copy, then rename: whoever reads sees the old content or the new one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".writing-", dir=work)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    finally:
        Path(temporary).unlink(missing_ok=True)
