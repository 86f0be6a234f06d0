"""The command line: every command explains itself, and says by its exit code how it went."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from memkit import cli
from memkit.lab import doctor, serve
from memkit.lab.doctor import Finding

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = ("lab", "tour", "doctor", "bench", "eval")


def run(*words: str):
    return CliRunner().invoke(cli.main, words)


def test_the_commands_are_the_documented_ones():
    listed = run("--help").output
    assert set(cli.main.commands) == set(COMMANDS)
    assert all(f"\n  {name} " in listed for name in COMMANDS)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"`memkit {name}`" in readme for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself(name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: main {name} [OPTIONS]")
    assert cli.main.commands[name].help.splitlines()[0] in result.output


def test_python_m_memkit_is_the_same_command_line(tmp_path):
    command = [sys.executable, "-m", "memkit", "doctor", "--help"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("Usage: python -m memkit doctor [OPTIONS]")


GOOD = Finding("python", True, "3.11.0")
BAD = Finding("sqlite", False, "3.30.0", "conda install sqlite")


@pytest.mark.parametrize(("findings", "code"), [([GOOD], 0), ([GOOD, BAD], 1)])
def test_doctor_fails_only_when_something_needed_is_wrong(monkeypatch, findings, code):
    monkeypatch.setattr(doctor, "examine", lambda: findings)
    plain, machine = run("doctor"), run("doctor", "--json")
    assert (plain.exit_code, machine.exit_code) == (code, code)
    assert plain.output == doctor.as_text(findings) + "\n"
    assert [finding["name"] for finding in json.loads(machine.output)] == [finding.name for finding in findings]


def test_lab_hands_its_options_on(monkeypatch):
    seen = []
    monkeypatch.setattr(serve, "open_course", lambda **options: seen.append(options))
    assert [run("lab").exit_code, run("lab", "--port", "8890", "--no-browser").exit_code] == [0, 0]
    assert seen == [{"port": None, "browser": True}, {"port": 8890, "browser": False}]


def test_lab_without_jupyterlab_says_so_and_fails(monkeypatch):
    def missing(**_: object) -> None:
        raise serve.NoJupyter("JupyterLab is not installed here")

    monkeypatch.setattr(serve, "open_course", missing)
    result = run("lab")
    assert (result.exit_code, result.output) == (1, "Error: JupyterLab is not installed here\n")


def test_a_port_that_cannot_be_one_is_refused():
    assert run("lab", "--port", "70000").exit_code == 2
