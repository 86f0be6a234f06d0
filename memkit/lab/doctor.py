"""What is wrong with this installation, and the one command that mends each thing.

Every check is a function that returns findings; `examine` runs them all, and none stops another. What is needed is read from the
installed metadata, so this list cannot drift from the package. Not here: mending; the reader runs the command.
"""

from __future__ import annotations

import json
import platform
import shutil
import sqlite3
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from pathlib import Path

from packaging.requirements import Requirement

from memkit.errors import MemkitError
from memkit.lab.sandbox import PACKAGE, data_folder, notebooks_folder

OLDEST_PYTHON = (3, 11)
OLDEST_SQLITE = (3, 37, 0)  # strict tables
EXTRAS = ("", "course")  # what lessons need; the tests' own needs are not checked
IMPORT_NAMES = {
    "markdown-it-py": "markdown_it",
    "python-dotenv": "dotenv",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
    "sqlite-utils": "sqlite_utils",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `mend` is a command and empty where all is well; `needed` is False where only tests want it."""

    name: str
    ok: bool
    found: str
    mend: str = ""
    needed: bool = True


def examine() -> list[Finding]:
    """Look at everything and return what was found, good and bad, in a fixed order."""
    looks: list[Callable[[], list[Finding]]] = [python, packages, sqlite, frontends, folders, permission, browser]
    return [finding for look in looks for finding in look()]


def healthy(findings: list[Finding]) -> bool:
    """Say whether nothing that is needed is wrong.

    >>> healthy([Finding("chromium", False, "not found", needed=False)])
    True
    """
    return all(finding.ok for finding in findings if finding.needed)


def as_text(findings: list[Finding]) -> str:
    """Return a line for each finding, and under a bad one the command that mends it.

    >>> print(as_text([Finding("sqlite", False, "3.30.0, older than 3.37.0", "conda install 'sqlite>=3.37'")]))
    WRONG    sqlite: 3.30.0, older than 3.37.0
             mend it: conda install 'sqlite>=3.37'
    """
    return "\n".join(line for finding in findings for line in _lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    mark = "ok" if finding.ok else "WRONG" if finding.needed else "optional"
    yield f"{mark:<9}{finding.name}: {finding.found}"
    if not finding.ok:
        yield f"{'':<9}mend it: {finding.mend}"


def as_json(findings: list[Finding]) -> str:
    """Return the findings as a JSON list of objects with the fields of `Finding`."""
    return json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False)


def python() -> list[Finding]:
    """Check the version of Python."""
    found, wanted = platform.python_version(), ".".join(map(str, OLDEST_PYTHON))
    if sys.version_info[:2] >= OLDEST_PYTHON:
        return [Finding("python", True, found)]
    return [Finding("python", False, f"{found}, older than {wanted}", f"conda create -n memkit 'python>={wanted}'")]


def packages() -> list[Finding]:
    """Check that every dependency of the package and of the course can be imported and is new enough."""
    try:
        return [package(requirement) for requirement in requirements() if _applies(requirement)]
    except FileNotFoundError:
        return [Finding("memkit", False, "not installed: this is a copy without metadata", _reinstall())]


def requirements() -> list[Requirement]:
    """Return what the installed metadata asks for; in a checkout that is not installed, what `pyproject.toml` asks for."""
    try:
        return [Requirement(line) for line in metadata.requires("memkit") or []]
    except metadata.PackageNotFoundError:
        project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        course = [f'{line}; extra == "course"' for line in project["optional-dependencies"]["course"]]
        return [Requirement(line) for line in project["dependencies"] + course]


def _applies(requirement: Requirement) -> bool:
    return requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in EXTRAS)


def package(requirement: Requirement) -> Finding:
    """Check one dependency: its version against the bound, then a real import."""
    name, mend = requirement.name, f'"{sys.executable}" -m pip install "{requirement.name}{requirement.specifier}"'
    try:
        found = metadata.version(name)
        if not requirement.specifier.contains(found, prereleases=True):
            return Finding(name, False, f"{found}, not {requirement.specifier}", mend)
        import_module(IMPORT_NAMES.get(name, name.replace("-", "_")))
    except metadata.PackageNotFoundError:
        return Finding(name, False, "not installed", mend)
    except Exception as error:  # a broken installation may raise anything at all
        return Finding(
            name, False, f"installed, but its import fails: {type(error).__name__}", mend.replace("install", "install --force-reinstall", 1)
        )
    return Finding(name, True, found)


def sqlite() -> list[Finding]:
    """Check SQLite: new enough, and able to overwrite what it erases."""
    wanted = ".".join(map(str, OLDEST_SQLITE))
    mend = f"conda install 'sqlite>={wanted}' (or a newer Python from python.org)"
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return [Finding("sqlite", False, f"{sqlite3.sqlite_version}, older than {wanted}", mend)]
    connection = sqlite3.connect(":memory:")
    answer = connection.execute("pragma secure_delete=on").fetchone()
    connection.close()
    erases = answer is not None and answer[0] == 1
    return [
        Finding(
            "sqlite", erases, f"{sqlite3.sqlite_version}, secure_delete {'works' if erases else 'is not supported'}", "" if erases else mend
        )
    ]


def frontends() -> list[Finding]:
    """Check that the browser's half of JupyterLab and of ipywidgets is where Jupyter looks for it."""
    mend = f'"{sys.executable}" -m pip install --force-reinstall '
    parts = {
        "jupyterlab frontend": ("lab/static/index.html", "jupyterlab"),
        "ipywidgets frontend": ("labextensions/@jupyter-widgets/jupyterlab-manager/package.json", "jupyterlab_widgets"),
    }
    return [_frontend(name, place, mend + project) for name, (place, project) in parts.items()]


def _frontend(name: str, place: str, mend: str) -> Finding:
    try:
        folders = import_module("jupyter_core.paths").jupyter_path()
    except ImportError:
        return Finding(name, False, "jupyter_core is not installed, so there is no place to look in", mend)
    found = any((Path(folder) / place).is_file() for folder in folders)
    return Finding(name, found, "found" if found else f"{place} is in none of Jupyter's folders", "" if found else mend)


def folders() -> list[Finding]:
    """Check that the sample data and the lessons are there."""
    return [_folder("data", data_folder), _folder("lessons", notebooks_folder)]


def _folder(name: str, find: Callable[[], Path]) -> Finding:
    try:
        return Finding(name, True, str(find()))
    except MemkitError as error:
        return Finding(name, False, str(error), _reinstall())


def _reinstall() -> str:
    return f'"{sys.executable}" -m pip install --force-reinstall -e ".[course]" (in a clone of the repository)'


def permission() -> list[Finding]:
    """Check that a lesson could write in the current folder."""
    here = Path.cwd()
    try:
        with tempfile.TemporaryFile(dir=here):
            return [Finding("current folder", True, f"{here} can be written")]
    except OSError as error:
        return [Finding("current folder", False, f"{here} cannot be written: {error.strerror}", f'cd "{Path.home()}"')]


def browser() -> list[Finding]:
    """Look for the Chromium that the browser tests drive; nothing else needs it."""
    found = find_chromium()
    if found is not None:
        return [Finding("chromium", True, found, needed=False)]
    return [Finding("chromium", False, "not on the PATH; only the browser tests need it", "sudo apt-get install chromium", needed=False)]


def find_chromium() -> str | None:
    """Return the path of a Chromium, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)
