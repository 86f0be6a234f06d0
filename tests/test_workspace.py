"""The learner's editor touches a lesson's private copy, and nothing else."""

from __future__ import annotations

import os

import pytest
from desks import workspace

from memkit.errors import NotFound, Refused, UnsafePath
from memkit.lab import Workspace, data_folder

ORIGINAL = (data_folder() / "shop" / "prod.cfg").read_text(encoding="utf-8")


def test_a_file_is_written_read_renamed_deleted_and_restored(tmp_path):
    place = workspace(tmp_path)
    place.write("prod.cfg", "timeout=60\n超时\n")
    assert place.read("prod.cfg") == "timeout=60\n超时\n"
    place.rename("prod.cfg", "conf/production.cfg")
    assert place.read("conf/production.cfg") == "timeout=60\n超时\n"
    place.delete("conf/production.cfg")
    with pytest.raises(NotFound, match=r"no file .conf/production\.cfg."):
        place.read("conf/production.cfg")
    place.restore("prod.cfg")
    assert place.read("prod.cfg") == ORIGINAL


def test_restoring_all_removes_what_was_added(tmp_path):
    place = workspace(tmp_path)
    before = place.names()
    place.write("extra.txt", "new")
    place.delete("README.md")
    place.restore()
    assert place.names() == before
    with pytest.raises(NotFound, match="at first"):
        place.restore("extra.txt")


def test_a_folder_that_memkit_did_not_make_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "_work" / "mine"):
        folder.mkdir(parents=True, exist_ok=True)
        with pytest.raises(Refused, match="not a copy that memkit made"):
            Workspace(folder)
    assert workspace(tmp_path).names() != []


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", ".hidden", "x\0y", "C:/x", ""])
def test_a_name_that_leads_elsewhere_is_refused_by_every_verb(tmp_path, name):
    place = workspace(tmp_path)
    for act in (place.read, place.delete, place.restore if name else place.delete, lambda n: place.write(n, "x")):
        with pytest.raises(UnsafePath):
            act(name)
    with pytest.raises(UnsafePath):
        place.rename("prod.cfg", name)
    assert place.read("prod.cfg") == ORIGINAL


def test_a_link_is_never_written_through(tmp_path):
    place = workspace(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("mine")
    os.symlink(outside, place.folder / "link")
    os.symlink(outside / "a.txt", place.folder / "a.txt")
    for name in ("link/a.txt", "a.txt"):
        with pytest.raises(UnsafePath, match="is a link"):
            place.write(name, "changed")
    assert (outside / "a.txt").read_text() == "mine"


def test_a_name_that_is_taken_is_not_overwritten(tmp_path):
    place = workspace(tmp_path)
    with pytest.raises(Refused, match="already"):
        place.rename("test.cfg", "prod.cfg")
    assert place.read("prod.cfg") == ORIGINAL


def test_windows_line_endings_are_kept(tmp_path):
    place = workspace(tmp_path)
    (place.folder / "prod.cfg").write_bytes(b"a=1\r\nb=2\r\n")
    place.write("prod.cfg", "a=1\nb=3\n")
    assert (place.folder / "prod.cfg").read_bytes() == b"a=1\r\nb=3\r\n"


def test_no_temporary_file_is_left(tmp_path):
    place = workspace(tmp_path)
    before = sorted(path.name for path in place.folder.parent.iterdir())
    place.write("prod.cfg", "timeout=1")
    assert sorted(path.name for path in place.folder.parent.iterdir()) == before
