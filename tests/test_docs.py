"""README is executed: its code, its examples, its list of modules. `python tests/test_docs.py` rewrites that list."""

from __future__ import annotations

import ast
import doctest
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = re.compile(r"(?<=<!-- modules -->\n).*?(?=<!-- /modules -->)", re.DOTALL)


def fences(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def module_list() -> str:
    """Return README's list: each module with the first sentence of its docstring, in the order of the house."""
    files = [p for p in (ROOT / "memkit").rglob("*.py") if p.name not in {"__init__.py", "__main__.py"}]
    rooms = ["record", "write", "read", "govern", "verbs", "", "lab", "widgets"]

    def place(path: Path) -> tuple[int, str]:
        room = path.relative_to(ROOT / "memkit").parts[0] if path.parent != ROOT / "memkit" else ""
        return rooms.index(room), path.as_posix()

    return "".join(f"- `{p.relative_to(ROOT / 'memkit').as_posix()}`: {first_sentence(p)}\n" for p in sorted(files, key=place))


def first_sentence(path: Path) -> str:
    line = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0].replace("\n", " ")
    sentence = line.split(". ")[0].rstrip(".")
    return sentence if sentence.endswith("?") else sentence + "."


def test_the_python_blocks_of_readme_run_in_order():
    blocks = fences("python")
    assert len(blocks) >= 4
    namespace: dict[str, object] = {}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"<README block {number}>", "exec"), namespace)


def test_readme_lists_every_lesson():
    named = re.findall(r"^\| `(\d\d_\w+)` \|", README, re.MULTILINE)
    assert named == sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_the_examples_of_readme_give_what_is_printed():
    done = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert (done.failed, done.attempted) == (0, README.count("\n>>> "))
    assert done.attempted > 0


def test_readme_lists_exactly_the_modules_of_the_package():
    found = MODULES.search(README)
    assert found is not None
    assert found[0] == module_list(), "run `python tests/test_docs.py` to rewrite the list"


def test_every_module_says_what_it_does_in_its_docstring():
    for path in (ROOT / "memkit").rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path.name


@pytest.mark.parametrize("mark", ["course", "tests"])
def test_each_marked_command_of_readme_is_one_line(mark):
    command = re.search(rf"<!-- command: {mark} -->\n```sh\n(.*?)```", README, re.DOTALL)
    assert command is not None
    assert command[1].count("\n") == 1
    assert "pip install" in command[1]


def test_the_ci_script_reads_its_test_command_from_readme():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "<!-- command: tests -->" in script
    assert "-m pytest" not in script


def test_environment_yml_installs_the_package_of_pyproject_toml():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pip = {"pip": ["-e .[course]"]}
    assert environment["name"] == project["name"]
    assert environment["channels"] == ["conda-forge"]
    assert environment["dependencies"] == [f"python{project['requires-python']}", "pip", pip]
    assert "course" in project["optional-dependencies"]


def test_every_dependency_has_a_lower_bound():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["dependencies"] + [line for extra in project["optional-dependencies"].values() for line in extra]
    assert len(lines) > 10
    assert [line for line in lines if ">=" not in line] == ["memkit[course]"]


if __name__ == "__main__":
    (ROOT / "README.md").write_text(MODULES.sub(lambda _: module_list(), README), encoding="utf-8", newline="\n")
