"""Note which commit a file was read at, where its root is in a git work tree.

`git:<commit>` says that the bytes read are those of the commit (up to line endings), `git:<commit>+dirty` that they are not, or that the
commit does not have the file. Git itself is asked, and only for names of objects: no hook, filter, monitor or fetch that a repository may
configure is run, nothing is written, and the bytes compared are the bytes read. Without git, or outside a work tree, nothing is noted.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from memkit.errors import NotFound, shown

LONGEST_WAIT = 5.0  # seconds

_SAFE = ("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def commit_of(root: Path, name: str, data: bytes) -> str:
    """Return `git:<commit>` or `git:<commit>+dirty` for a file of `root` that was read as `data`; empty outside a work tree."""
    lines = ask(root, "rev-parse", "HEAD", f"HEAD:./{name}").decode(errors="replace").split("\n")
    if not _OBJECT.fullmatch(lines[0]):
        return ""
    kept = lines[1] if len(lines) > 1 else ""
    clean = kept in (_blob(data, len(kept)), _blob(data.replace(b"\r\n", b"\n"), len(kept)))
    return f"git:{lines[0]}" + ("" if clean else "+dirty")


def branch_of(root: str | os.PathLike[str]) -> str | None:
    """Return the branch that is checked out around the folder `root`, or None (no work tree, no branch); NotFound for what is no path.

    It is what a scope may name: `memkit.Scope(workspace="shop", branch=memkit.branch_of("."))`; without a branch it names none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(branch_of(folder))
    None
    """
    try:
        folder = Path(root).resolve()
    except (OSError, ValueError, TypeError):
        raise NotFound(f"root is {shown(root)} and no path; pass the path of a folder") from None
    return ask(folder, "symbolic-ref", "--quiet", "--short", "HEAD").decode(errors="replace").strip() or None


def _blob(data: bytes, digits: int) -> str:
    """Return the name git gives to a file of these bytes, in a repository whose names have this many digits."""
    kind = hashlib.sha256 if digits == 64 else hashlib.sha1
    return kind(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def ask(root: Path, *question: str, wait: float = LONGEST_WAIT) -> bytes:
    """Return what git answers about the work tree around `root`, or nothing: outside one, or after `wait` seconds.

    Only for commands that read objects: what looks at the work tree itself may run a filter.
    """
    git = shutil.which("git")
    if git is None or not any((folder / ".git").exists() for folder in (root, *root.parents)):
        return b""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    command = [git, "-C", str(root), *_SAFE, *question]
    try:
        return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=wait, check=False).stdout
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return b""
