"""Open the course in JupyterLab, so that it works on the first try: right folder, right page, no news, no network.

In a checkout the lessons are opened where they are. Installed from a wheel they are copied to `memkit-course` in the current folder
first; a lesson that is already there is the learner's and is never overwritten. Not here: what is in the lessons.
"""

from __future__ import annotations

import os
import shutil
from importlib import import_module
from pathlib import Path

from memkit.lab.sandbox import is_installed, notebooks_folder

HOOK = "memkit.lab.clean.drop_live_views"
START = "00_tour.ipynb"
SETTINGS = Path(__file__).parent / "jupyter"  # defaults for JupyterLab: no question about news, no look for updates


class NoJupyter(Exception):
    """JupyterLab is not installed. The message says where to find the command that installs it."""


def open_course(*, port: int | None = None, browser: bool = True) -> None:
    """Run JupyterLab in this process until it is stopped; raises NoJupyter where it is not installed."""
    try:
        lab = import_module("jupyterlab.labapp")
    except ImportError as error:
        raise NoJupyter("JupyterLab is not installed here; `memkit doctor` prints the command that installs each missing part") from error
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [os.environ.get("JUPYTER_CONFIG_PATH"), str(SETTINGS)]))
    lab.main(arguments(course_folder(Path.cwd()), port=port, browser=browser))


def course_folder(here: Path) -> Path:
    """Return the folder of lessons to open: the checkout's own, or a copy under `here` that keeps what a learner has changed."""
    return copy_lessons(notebooks_folder(), here / "memkit-course") if is_installed() else notebooks_folder()


def copy_lessons(lessons: Path, course: Path) -> Path:
    """Copy what `course` does not have yet, and nothing else; return `course`."""
    for source in sorted(lessons.rglob("*")):
        target = course / source.relative_to(lessons)
        if source.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    return course


def arguments(course: Path, *, port: int | None, browser: bool) -> list[str]:
    """Return the command line of JupyterLab.

    >>> arguments(Path("notebooks"), port=8890, browser=False)[-2:]
    ['--ServerApp.port=8890', '--ServerApp.open_browser=False']
    """
    found = [
        f"--ServerApp.root_dir={course.resolve()}",
        f"--LabApp.default_url=/lab/tree/{START}",
        f"--FileContentsManager.pre_save_hook={HOOK}",
    ]
    if _is_root():
        found.append("--allow-root")  # a container's only user; Jupyter would refuse to start
    if port is not None:
        found.append(f"--ServerApp.port={port}")
    if not browser:
        found.append("--ServerApp.open_browser=False")
    return found


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
