"""`memkit tour` tells the story in a terminal: each fact of it is in what it prints, from anywhere, for a person or into a file."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from memkit import cli
from memkit.lab import look, tour
from memkit.lab.workspace import Workspace
from memkit.read.recall import Recall

ROOT = Path(__file__).resolve().parents[1]
ANSI = "\x1b["


def told(folder: Path, **environment: str) -> bytes:
    """Return what `memkit tour` writes into a pipe when it is run in a folder."""
    clean = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "PYTHONIOENCODING"}}
    command = [sys.executable, "-m", "memkit", "tour"]
    done = subprocess.run(
        command, cwd=folder, env=clean | {"PYTHONPATH": str(ROOT)} | environment, check=True, capture_output=True, timeout=60
    )
    assert done.stderr == b""
    return done.stdout


@pytest.fixture(scope="module")
def story(tmp_path_factory) -> str:
    return told(tmp_path_factory.mktemp("elsewhere"), PYTHONIOENCODING="utf-8").decode("utf-8")


def scene(story: str, title: str) -> str:
    """Return one scene without its title."""
    found = re.search(rf"^\d+\. {re.escape(title)}\n(.*?)(?=^\d+\. |\Z)", story, re.DOTALL | re.MULTILINE)
    assert found is not None, title
    return found[1]


@pytest.mark.parametrize(
    ("title", "facts"),
    [
        ("A fact is learned from its source", ["ADD NEW", "rests on prod.cfg#key=timeout, which reads '30'"]),
        ("The source is unchanged", ["= Recalled: timeout (VALID). Withheld: nothing."]),
        ("The value changes", ["= Recalled: nothing. Withheld: timeout (STALE_SOURCE).", "= 30                    | 45\n"]),
        ("Other lines change, and the value moves", ["= Recalled: timeout (VALID). Withheld: nothing."]),
        ("The file is deleted", ["= Recalled: nothing. Withheld: timeout (MISSING_SOURCE)."]),
        ("The environment is switched", ["scope=test", "= Recalled: nothing. Withheld: nothing. In test, 0 memories are visible at all."]),
        ("The fact is learned again, from the source as it is now", ["= revision 1 is SUPERSEDED; revision 2 is CURRENT."]),
        (
            "Two sessions correct the same memory",
            ["Conflict: 'deploys' is at revision 2", "kept is 'Deployments go out on Tuesday and Thursday."],
        ),
        ("An agent proposes what it infers", ["is PENDING, and recall returns it 0 times", "AccessDenied", "it stays INFERRED"]),
        ("Somebody tells it a secret", ["= Kept is 'The build logs in with [redacted:", "on disk: 0."]),
        ("A person asks to forget", ["0 left; verified: True.", "bytes of 2 files: 1 before, 0 now.", "it is NOOP TOMBSTONED"]),
    ],
)
def test_the_story_has_each_of_its_facts(story, title, facts):
    text = scene(story, title)
    assert [fact for fact in facts if fact not in text] == []
    assert "  >>> " in text


def test_every_scene_is_tested_above_and_no_call_is_shown_without_being_made(story):
    marks = test_the_story_has_each_of_its_facts.pytestmark
    tested = [title for mark in marks for title, _ in mark.args[1]]
    assert tested == [scene.__doc__ for scene in tour.SCENES]
    assert story.count("  >>> ") == len(re.findall(r"^  >>> .*\n(?:  \.\.\. .*\n)*  \S", story, re.MULTILINE))


def test_the_same_story_is_told_from_any_folder_and_leaves_nothing(tmp_path, story):
    before = set(Path(tempfile.gettempdir()).glob("memkit-tour-*"))
    assert told(ROOT, PYTHONIOENCODING="utf-8").decode("utf-8") == story
    assert told(tmp_path, PYTHONIOENCODING="utf-8").decode("utf-8") == story
    assert list(tmp_path.iterdir()) == []
    assert set(Path(tempfile.gettempdir()).glob("memkit-tour-*")) <= before


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp936"])
def test_a_console_that_lacks_characters_still_gets_the_whole_story(tmp_path, story, encoding):
    text = told(tmp_path, PYTHONIOENCODING=encoding).decode(encoding)
    assert text.count("\n") == story.count("\n")
    assert "it is NOOP TOMBSTONED" in text


def test_what_an_encoding_lacks_is_shown_as_question_marks(monkeypatch, capsysbinary, tmp_path):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    probe = "from memkit.lab.tour import Stage; Stage(None, {}).note('约定: ok')"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=True, capture_output=True)
    assert done.stdout.splitlines() == [b"??: ok"]


def test_colours_are_for_people_only(monkeypatch, story):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert ANSI in CliRunner().invoke(cli.main, ["tour"], color=True).output
    assert ANSI not in story
    monkeypatch.setenv("NO_COLOR", "1")
    assert ANSI not in CliRunner().invoke(cli.main, ["tour"], color=True).output


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal, which Windows does not offer to Python")
def test_a_person_at_a_narrow_terminal_sees_colours_and_no_line_too_long(tmp_path, story):
    master, slave = os.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"PYTHONPATH": str(ROOT), "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "memkit", "tour"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=slave, stderr=slave) as process:
        os.close(slave)
        seen = read_all(master)
    assert (process.returncode, ANSI in seen) == (0, True)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in seen.splitlines()]
    assert [line for line in lines if len(line) > 80 and " " in line.strip().removeprefix(">>> ").removeprefix("= ")] == []
    assert max(len(line) for line in story.splitlines()) > 80
    assert "".join("".join(lines).split()) == "".join(story.split())


def read_all(terminal: int) -> str:
    """Return what is written to a pseudo-terminal until its other end is closed."""
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so where others return nothing
            piece = b""
        if not piece:
            os.close(terminal)
            return b"".join(pieces).decode("utf-8")
        pieces.append(piece)


def test_a_story_that_does_not_happen_fails_instead_of_being_told(tmp_path, monkeypatch):
    monkeypatch.setattr(Workspace, "delete", lambda self, name: None)
    result = CliRunner().invoke(cli.main, ["tour"])
    assert "Withheld: timeout (MISSING_SOURCE)" not in result.output
    with pytest.raises(TypeError, match="gave int, and the story needs Recall"):
        tour.Stage(None, {}).call(Recall, "1 + 1")  # type: ignore[arg-type]


# --- the same story as a lesson


def own_folder_shown() -> str:
    """Return what the committed lesson shows of this repository."""
    cells = json.loads((ROOT / "notebooks" / "00_tour.ipynb").read_text(encoding="utf-8"))["cells"]
    (cell,) = [cell for cell in cells if cell["id"] == "own-desk"]
    return html.unescape("".join(cell["outputs"][0]["data"]["text/html"]))


def test_the_lesson_shows_of_readme_and_pyproject_only_what_it_cites_so_that_other_edits_leave_it_as_it_is():
    shown = own_folder_shown()
    lines = {name: (ROOT / name).read_text(encoding="utf-8").splitlines() for name in ("README.md", "pyproject.toml", "environment.yml")}
    whole = {name: [line for line in texts if len(line) > 20 and line in shown] for name, texts in lines.items()}
    assert (whole["README.md"], whole["pyproject.toml"]) == ([], [])
    assert len(whole["environment.yml"]) > 0
    assert f"version: {look(ROOT, 'pyproject.toml#key=project.version')}" in shown
