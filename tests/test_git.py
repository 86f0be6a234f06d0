"""In a git work tree an observation notes the commit and whether the file was dirty; a hostile repository starts nothing."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memkit
from memkit.record import git
from memkit.record.evidence import Reader, check, observe
from memkit.record.model import Verdict
from memkit.record.sources import Folder, Texts

NOW = datetime(2026, 1, 2, tzinfo=UTC)

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git on the PATH")


def run(root: Path, *words: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false")
    return subprocess.run(["git", "-C", str(root), *who, *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "商店"
    (root / "conf").mkdir(parents=True)
    (root / "conf" / "超时.cfg").write_bytes(b"timeout = 30\n")
    run(root, "init", "--quiet", "--initial-branch=main")
    run(root, "add", ".")
    run(root, "commit", "--quiet", "-m", "Begin")
    return root


def version(root: Path, name: str = "conf/超时.cfg") -> str:
    return observe(name, Reader(Folder(root)), NOW).source_version.partition(" ")[2]


def test_a_clean_file_is_noted_with_its_commit_and_a_changed_one_as_dirty(root: Path) -> None:
    commit = run(root, "rev-parse", "HEAD")
    file = root / "conf" / "超时.cfg"
    seen = [version(root)]
    file.write_bytes(b"timeout = 30\r\n")
    seen.append(version(root))
    file.write_bytes(b"timeout = 60\n")
    seen.append(version(root))
    run(root, "add", ".")
    seen.append(version(root))
    assert seen == [f"git:{commit}", f"git:{commit}", f"git:{commit}+dirty", f"git:{commit}+dirty"]
    run(root, "commit", "--quiet", "-m", "Wait longer")
    assert version(root) == f"git:{run(root, 'rev-parse', 'HEAD')}" != f"git:{commit}"


def test_the_root_may_be_a_folder_of_the_work_tree(root: Path) -> None:
    assert version(root / "conf", "超时.cfg") == f"git:{run(root, 'rev-parse', 'HEAD')}"


def test_a_file_that_is_not_in_the_commit_is_dirty(root: Path) -> None:
    (root / "new.cfg").write_text("a = 1\n", encoding="utf-8")
    assert version(root, "new.cfg") == f"git:{run(root, 'rev-parse', 'HEAD')}+dirty"


def test_a_repository_of_long_names_is_read_too(tmp_path: Path) -> None:
    run(tmp_path, "init", "--quiet", "--object-format=sha256")
    (tmp_path / "a.cfg").write_text("a = 1\n", encoding="utf-8", newline="")
    assert version(tmp_path, "a.cfg") == ""
    run(tmp_path, "add", ".")
    run(tmp_path, "commit", "--quiet", "-m", "Begin")
    assert version(tmp_path, "a.cfg") == f"git:{run(tmp_path, 'rev-parse', 'HEAD')}"
    assert len(version(tmp_path, "a.cfg")) == len("git:") + 64


def test_outside_a_work_tree_and_without_git_nothing_is_noted(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.cfg").write_text("a = 1\n", encoding="utf-8")
    (tmp_path / "broken" / ".git").mkdir(parents=True)
    (tmp_path / "broken" / "a.cfg").write_text("a = 1\n", encoding="utf-8")
    assert (version(tmp_path, "a.cfg"), version(tmp_path / "broken", "a.cfg"), git.branch_of(tmp_path)) == ("", "", None)
    assert " " not in observe("a.cfg", Reader(Texts({"a.cfg": "a = 1"})), NOW).source_version
    assert version(root) != ""
    monkeypatch.setattr(git.shutil, "which", lambda _: None)
    assert version(root) == ""


def test_the_branch_is_read_from_the_work_tree(root: Path) -> None:
    seen = [git.branch_of(root), git.branch_of(root / "conf")]
    run(root, "switch", "--quiet", "-c", "feature/超时")
    seen.append(git.branch_of(root))
    run(root, "switch", "--quiet", "--detach")
    assert [*seen, git.branch_of(root)] == ["main", "main", "feature/超时", None]


@pytest.mark.parametrize("root", [None, "a\0b", 3])
def test_the_branch_of_what_is_no_path_is_refused(root: str) -> None:
    with pytest.raises(memkit.NotFound, match="pass the path of a folder"):
        memkit.branch_of(root)


def test_a_scope_may_take_its_branch_from_the_work_tree(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(root, "switch", "--quiet", "-c", "feature/pay")
    monkeypatch.chdir(root / "conf")
    scopes = [memkit.Scope(workspace="shop", branch=memkit.branch_of(where)) for where in (root, str(root), ".")]
    assert scopes == [memkit.Scope(workspace="shop", branch="feature/pay")] * 3
    assert memkit.Scope(workspace="shop", branch=memkit.branch_of("/")) == memkit.Scope(workspace="shop")


def test_a_branch_switch_is_judged_by_content_and_not_by_commit(root: Path) -> None:
    evidence = observe("conf/超时.cfg#key=timeout", Reader(Folder(root)), NOW)
    run(root, "switch", "--quiet", "-c", "other")
    (root / "conf" / "超时.cfg").write_text("# new\ntimeout = 30\n", encoding="utf-8")
    run(root, "commit", "--quiet", "-am", "Comment")
    verdicts = [check(evidence, Reader(Folder(root))).verdict]
    (root / "conf" / "超时.cfg").write_text("timeout = 60\n", encoding="utf-8")
    run(root, "commit", "--quiet", "-am", "Wait longer")
    verdicts.append(check(evidence, Reader(Folder(root))).verdict)
    run(root, "switch", "--quiet", "main")
    verdicts.append(check(evidence, Reader(Folder(root))).verdict)
    assert verdicts == [Verdict.VALID, Verdict.CHANGED, Verdict.VALID]


def test_a_hostile_repository_starts_nothing_and_nothing_is_written(root: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'started'}'\ncat\n", encoding="utf-8")
    evil.chmod(0o755)
    (root / ".gitattributes").write_text("* filter=evil\n", encoding="utf-8")
    for key in (
        "filter.evil.clean",
        "filter.evil.smudge",
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "diff.external",
        "alias.rev-parse",
    ):
        run(root, "config", key, str(evil))
    for hook in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(evil, root / ".git" / "hooks" / hook)
    run(root, "config", "remote.origin.url", f"ext::{evil}")
    run(root, "config", "remote.origin.promisor", "true")
    run(root, "config", "extensions.partialClone", "origin")
    run(root, "config", "protocol.ext.allow", "always")
    before = set((root / ".git").rglob("*"))
    (tmp_path / "started").unlink(missing_ok=True)
    assert version(root).startswith("git:")
    for tree in (root / ".git" / "objects").glob("??/*"):
        tree.chmod(0o644)
        if tree.read_bytes() and run_kind(root, tree) == "tree":
            tree.unlink()
    version(root)
    git.branch_of(root)
    assert not (tmp_path / "started").exists()
    assert set((root / ".git").rglob("*")) <= before


def run_kind(root: Path, file: Path) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), "cat-file", "-t", file.parent.name + file.name],
        capture_output=True,
        text=True,
        check=False,
        env={"GIT_ALLOW_PROTOCOL": "none", "PATH": "/usr/bin:/bin"},
    )
    return done.stdout.strip()
