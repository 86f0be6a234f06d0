"""`import memkit` is light: it brings in nothing that a lesson may never need."""

from __future__ import annotations

import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import memkit

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("sklearn", "numpy", "scipy", "ipywidgets", "IPython", "jupyterlab", "watchfiles")


def loaded_by(statement: str) -> set[str]:
    """Return which heavy packages a fresh Python has loaded after `statement`."""
    probe = f"{statement}\nimport sys\nprint(*set({HEAVY!r}) & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def seconds(*statements: str, tries: int = 5) -> list[float]:
    """Return the fastest of some fresh starts of Python with each statement, taken in turn, so that a busy moment hits them all."""

    def once(statement: str) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], cwd=ROOT, check=True)
        return time.perf_counter() - begin

    return [min(times) for times in zip(*([once(statement) for statement in statements] for _ in range(tries)), strict=True)]


def test_import_memkit_loads_nothing_heavy():
    assert loaded_by("import memkit") == set()


def test_using_memkit_loads_nothing_heavy_of_its_own():
    """sqlite-utils loads numpy by itself where it is installed; memkit adds nothing to that."""
    used = "import memkit; memkit.open().recall('x', scope=memkit.Scope(env='prod'), budget=9)"
    assert loaded_by(used) == loaded_by("import sqlite_utils") <= {"numpy"}


def test_every_exported_name_is_found_and_no_other():
    assert all(getattr(memkit, name) is not None for name in (*memkit.__all__, "open"))
    assert set(memkit._HOME) < {*memkit.__all__, "open"} and not hasattr(memkit, "no_such_name")


def test_the_heavy_packages_are_there_and_would_be_seen():
    assert [name for name in HEAVY if find_spec(name) is None] == []
    assert loaded_by("import ipywidgets, sklearn") >= {"ipywidgets", "IPython", "sklearn", "numpy", "scipy"}


def test_the_time_of_import_is_shown_beside_that_of_sqlite_utils(capsys):
    names = ("import memkit", "import memkit; memkit.open")
    bare, theirs, *ours = seconds("pass", "import sqlite_utils", *names)
    with capsys.disabled():
        for name, taken in zip(names, ours, strict=True):
            print(f"\n{name}: {taken - bare:.3f} s, {(taken - bare) / (theirs - bare):.2f} of import sqlite_utils", end="")
    assert min(bare, theirs, *ours) > 0
