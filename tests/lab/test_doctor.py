"""The doctor sees what is wrong, says which command mends it, and is silent about what is not."""

from __future__ import annotations

import json
import sqlite3
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from memkit.errors import NotFound
from memkit.lab import doctor
from memkit.lab.doctor import Finding, as_json, as_text, examine, healthy

PIP = f'"{sys.executable}" -m pip install '


def test_all_is_well_here_and_every_dependency_was_looked_at():
    findings = examine()
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {Requirement(line).name for line in project["dependencies"] + project["optional-dependencies"]["course"]}
    others = {"python", "sqlite", "jupyterlab frontend", "ipywidgets frontend", "data", "lessons", "current folder", "chromium"}
    assert [finding for finding in findings if finding.needed and not finding.ok] == []
    assert {finding.name for finding in findings} == wanted | others


def test_a_dependency_that_is_missing_is_named_with_its_command():
    found = doctor.package(Requirement("no-such-package-of-ours>=1.2"))
    assert found == Finding("no-such-package-of-ours", False, "not installed", PIP + '"no-such-package-of-ours>=1.2"')


def test_a_dependency_that_is_too_old_is_named_with_both_versions():
    assert doctor.package(Requirement("click>=9999")) == Finding(
        "click", False, f"{metadata.version('click')}, not >=9999", PIP + '"click>=9999"'
    )


def test_a_dependency_whose_import_fails_is_told_from_one_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "click", None)
    found = doctor.package(Requirement("click>=8.1"))
    assert found == Finding(
        "click",
        False,
        "installed, but its import fails: ModuleNotFoundError",
        f'"{sys.executable}" -m pip install --force-reinstall "click>=8.1"',
    )


def test_a_copy_of_the_package_without_metadata_is_found(monkeypatch, tmp_path):
    def unknown(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.metadata, "requires", unknown)
    assert {finding.name for finding in doctor.packages()} >= {"click", "jupyterlab"}  # a checkout says it in pyproject.toml
    monkeypatch.setattr(doctor, "PACKAGE", tmp_path / "memkit")
    assert [(finding.name, finding.ok) for finding in doctor.packages()] == [("memkit", False)]


def test_an_old_python_is_found(monkeypatch):
    monkeypatch.setattr(doctor, "OLDEST_PYTHON", (4, 0))
    assert [finding.ok for finding in doctor.python()] == [False]


def test_an_old_sqlite_is_found(monkeypatch):
    monkeypatch.setattr(doctor, "OLDEST_SQLITE", (99, 0, 0))
    assert [(f.ok, f.found) for f in doctor.sqlite()] == [(False, f"{sqlite3.sqlite_version}, older than 99.0.0")]


def test_missing_frontends_are_found(monkeypatch):
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda: ["nowhere"])
    assert [(finding.name, finding.ok) for finding in doctor.frontends()] == [
        ("jupyterlab frontend", False),
        ("ipywidgets frontend", False),
    ]


def test_missing_data_is_found(monkeypatch):
    def gone() -> Path:
        raise NotFound("there is no folder 'data'")

    monkeypatch.setattr(doctor, "data_folder", gone)
    assert [(finding.name, finding.ok) for finding in doctor.folders()] == [("data", False), ("lessons", True)]


def test_a_folder_that_cannot_be_written_is_found(monkeypatch):
    def refuse(*, dir: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
    assert [finding.found for finding in doctor.permission()] == [f"{Path.cwd()} cannot be written: Permission denied"]


def test_a_missing_browser_is_told_and_is_no_illness(monkeypatch):
    monkeypatch.setattr(doctor, "find_chromium", lambda: None)
    found = doctor.browser()
    assert [(finding.ok, finding.needed) for finding in found] == [(False, False)]
    assert healthy(found)


@pytest.mark.parametrize("finding", [f for f in examine() if f.ok], ids=lambda finding: finding.name)
def test_what_is_well_takes_one_line_and_no_command(finding):
    assert finding.mend == ""
    assert as_text([finding]).splitlines() == [f"ok       {finding.name}: {finding.found}"]


def test_json_has_every_field():
    bad = Finding("sqlite", False, "太旧", "conda install sqlite")
    assert json.loads(as_json([bad])) == [{"name": "sqlite", "ok": False, "found": "太旧", "mend": "conda install sqlite", "needed": True}]
    assert not healthy([bad])
