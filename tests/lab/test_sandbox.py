"""The lesson's private copy: restored in place, never outside itself; and lessons and data are found from a checkout and from a wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from memkit.errors import NotFound, Refused, UnsafePath
from memkit.lab import check_out, data_folder, notebooks_folder, reset
from memkit.lab.sandbox import find_beside
from memkit.record.git import branch_of

ROOT = Path(__file__).resolve().parents[2]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


ORIGINAL = contents(ROOT / "data" / "shop")


@pytest.fixture
def work(tmp_path) -> Path:
    return tmp_path / "_work"


def test_the_first_reset_makes_a_copy_of_every_file(work):
    assert contents(reset("shop", to=work)) == ORIGINAL
    assert {"prod.cfg", "test.cfg", "package.json", "shop/checkout.py", "README.md", "docs/约定.md"} == set(ORIGINAL)


def test_reset_restores_what_was_edited_deleted_renamed_and_added(work):
    copy = reset("shop", to=work)
    (copy / "prod.cfg").write_text("timeout=45", encoding="utf-8")
    (copy / "test.cfg").unlink()
    (copy / "README.md").rename(copy / "说明.md")
    shutil.rmtree(copy / "docs")
    (copy / "docs").write_text("a file where a folder was", encoding="utf-8")
    (copy / "shop" / "checkout.py").unlink()
    (copy / "shop" / "checkout.py").mkdir()
    (copy / "new" / "deep").mkdir(parents=True)
    (copy / "new" / "deep" / "x.txt").write_text("x", encoding="utf-8")
    assert contents(reset("shop", to=work)) == ORIGINAL
    assert {path.name for path in copy.iterdir()} == {"prod.cfg", "test.cfg", "package.json", "shop", "docs", "README.md"}
    assert {path.name for path in work.iterdir()} == {"shop", ".made-by-memkit-shop"}


def test_reset_leaves_unchanged_files_and_the_editors_checkpoints_untouched(work):
    copy = reset("shop", to=work)
    kept = copy / ".ipynb_checkpoints" / "prod-checkpoint.cfg"
    kept.parent.mkdir()
    kept.write_text("older", encoding="utf-8")
    os.utime(copy / "test.cfg", ns=(1, 1))
    (copy / "prod.cfg").write_text("timeout=45", encoding="utf-8")
    reset("shop", to=work)
    assert (copy / "test.cfg").stat().st_mtime_ns == 1
    assert kept.read_text(encoding="utf-8") == "older"
    assert (copy / "prod.cfg").read_bytes() == ORIGINAL["prod.cfg"]


def test_a_link_inside_the_copy_is_removed_and_what_it_points_to_stays(work, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "checkout.py").write_text("precious", encoding="utf-8")
    copy = reset("shop", to=work)
    shutil.rmtree(copy / "shop")
    (copy / "shop").symlink_to(outside, target_is_directory=True)
    (copy / "prod.cfg").unlink()
    (copy / "prod.cfg").symlink_to(outside / "checkout.py")
    assert contents(reset("shop", to=work)) == ORIGINAL
    assert contents(outside) == {"checkout.py": b"precious"}


@pytest.mark.parametrize("linked", ["work", "copy"])
def test_a_linked_work_folder_or_copy_is_refused(work, tmp_path, linked):
    outside = tmp_path / "outside"
    outside.mkdir()
    target = work if linked == "work" else work / "shop"
    target.parent.mkdir(exist_ok=True)
    target.symlink_to(outside, target_is_directory=True)
    with pytest.raises(UnsafePath, match="a link or not a folder"):
        reset("shop", to=work)
    assert list(outside.iterdir()) == []


def test_a_folder_that_memkit_did_not_make_is_refused_and_stays_as_it_is(work):
    (work / "shop").mkdir(parents=True)
    (work / "shop" / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(Refused) as refused:
        reset("shop", to=work)
    assert refused.value.reason == "NOT_A_COPY"
    assert contents(work) == {"shop/thesis.txt": b"mine"}


@pytest.mark.parametrize("name", ["nothing", "..", "../data/shop", "shop/shop", "", "/tmp", "."])
def test_an_unknown_name_is_refused_with_the_names_there_are(work, name):
    with pytest.raises(NotFound, match="there are: .*shop"):
        reset(name, to=work)
    assert not work.exists()


def test_a_file_that_cannot_be_replaced_gives_a_clear_refusal(work, monkeypatch):
    copy = reset("shop", to=work)
    (copy / "prod.cfg").write_text("timeout=45", encoding="utf-8")

    def locked(source: str, target: Path) -> None:
        raise PermissionError(13, "The process cannot access the file", str(target))

    monkeypatch.setattr(os, "replace", locked)
    with pytest.raises(Refused, match="close it in the program that has it open") as refused:
        reset("shop", to=work)
    assert refused.value.reason == "IN_USE"
    assert (copy / "prod.cfg").read_text(encoding="utf-8") == "timeout=45"
    assert [path.name for path in work.iterdir() if path.name.startswith(".restoring")] == []


def test_a_checkout_works_in_its_own_notebooks_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert reset() == ROOT / "notebooks" / "_work" / "shop"
    assert list(tmp_path.iterdir()) == []
    assert (data_folder(), notebooks_folder()) == (ROOT / "data", ROOT / "notebooks")


def test_a_folder_is_looked_for_in_the_package_first_and_beside_it_second(tmp_path):
    package = tmp_path / "memkit"
    (tmp_path / "data").mkdir()
    package.mkdir()
    with pytest.raises(NotFound):  # beside a package that is not in a checkout, somebody else's `data` may stand
        find_beside("data", package)
    (tmp_path / "pyproject.toml").touch()
    assert find_beside("data", package) == tmp_path / "data"
    (package / "data").mkdir()
    assert find_beside("data", package) == package / "data"


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Return a folder with the unpacked wheel of a copy of this checkout that has private work in it."""
    base = tmp_path_factory.mktemp("wheel")
    skip = shutil.ignore_patterns(".git", ".venv", "_work", ".*cache", "__pycache__", "artifacts", ".hypothesis")
    shutil.copytree(ROOT, base / "source", ignore=skip)
    (base / "source" / "notebooks" / "_work" / "shop").mkdir(parents=True)
    (base / "source" / "notebooks" / "_work" / "shop" / "private.txt").touch()
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(base), str(base / "source")]
    subprocess.run(command, check=True, capture_output=True)
    with zipfile.ZipFile(next(base.glob("*.whl"))) as wheel:
        wheel.extractall(base / "site")
    return base / "site"


def run(site: Path, here: Path, code: str) -> str:
    env = os.environ | {"PYTHONPATH": str(site), "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=here, env=env, check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout


def test_the_wheel_carries_data_lessons_and_package_data_and_no_private_work(installed):
    package = installed / "memkit"
    assert contents(package / "data" / "shop") == ORIGINAL
    lessons = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert {path.name for path in (package / "notebooks").glob("*.ipynb")} == lessons
    ours = {p.relative_to(ROOT).as_posix() for p in (ROOT / "memkit").rglob("*") if p.is_file() and p.suffix not in {".pyc", ".pyo"}}
    assert {"memkit/py.typed", "memkit/record/schema.sql"} <= ours
    assert ours <= {path.relative_to(installed).as_posix() for path in installed.rglob("*")}
    assert [path for path in installed.rglob("*") if path.name in {"_work", "private.txt"}] == []
    assert {path.name for path in installed.iterdir()} == {"memkit", next(installed.glob("*.dist-info")).name}


def test_from_a_wheel_the_data_is_the_packages_and_the_copy_is_made_in_the_current_folder(installed, tmp_path):
    printed = run(installed, tmp_path, "from memkit.lab import *; print(data_folder(), notebooks_folder(), reset(), sep='\\n')")
    package = installed / "memkit"
    assert printed.splitlines() == [str(package / "data"), str(package / "notebooks"), str(tmp_path / "_work" / "shop")]
    assert contents(tmp_path / "_work" / "shop") == ORIGINAL


def test_from_a_wheel_the_lessons_are_copied_once_and_never_over_the_learners_own(installed, tmp_path):
    (installed / "memkit" / "notebooks" / "98_test.ipynb").write_text("shipped", encoding="utf-8")
    code = "from pathlib import Path; from memkit.lab.serve import course_folder; print(course_folder(Path.cwd()).name)"
    assert run(installed, tmp_path, code) == "memkit-course\n"
    mine = tmp_path / "memkit-course" / "98_test.ipynb"
    assert mine.read_text(encoding="utf-8") == "shipped"
    mine.write_text("mine", encoding="utf-8")
    run(installed, tmp_path, code)
    assert mine.read_text(encoding="utf-8") == "mine"


def test_a_copy_can_be_checked_out_on_a_branch_and_reset_takes_that_away(tmp_path):
    copy = reset("shop", to=tmp_path / "_work")
    check_out(copy, "feature/pay-2")
    if shutil.which("git"):
        assert branch_of(copy) == "feature/pay-2"
    assert (copy / ".git" / "HEAD").read_text(encoding="utf-8") == "ref: refs/heads/feature/pay-2\n"
    check_out(copy, "main")
    assert (copy / ".git" / "HEAD").read_text(encoding="utf-8") == "ref: refs/heads/main\n"
    reset("shop", to=tmp_path / "_work")
    assert not (copy / ".git").exists()


@pytest.mark.parametrize("branch", ["", "a b", "../x", "a//b", "/a", "a\n", "a\nb", "-x", "a.lock"])
def test_a_folder_that_is_no_copy_and_a_name_that_is_no_branch_are_refused(tmp_path, branch):
    copy = reset("shop", to=tmp_path / "_work")
    with pytest.raises(Refused, match="the branch"):
        check_out(copy, branch)
    with pytest.raises(Refused, match="is not a copy"):
        check_out(tmp_path, "main")
    assert not list(tmp_path.rglob(".git"))
