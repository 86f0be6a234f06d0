"""Every lesson keeps its form: short cells, folded answers, exercises that can be solved, and cells that can be run again."""

from __future__ import annotations

import ast
import json
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SOLUTION = re.compile(r"<details><summary>Solution</summary>\n\n```python\n(.*?)```\n", re.DOTALL)
CHECK = re.compile(r"lab\.check\.(\w+)\((\w+)\)")

pytestmark = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)


def cells(lesson: Path, kind: str) -> list[str]:
    """Return the sources of the cells of a kind, in order."""
    return ["".join(cell["source"]) for cell in json.loads(lesson.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def solutions(lesson: Path) -> Iterator[tuple[str, str]]:
    """Yield each exercise's solution and the call that checks it: the last check before the solution."""
    check = ""
    for cell in json.loads(lesson.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and (found := CHECK.search(source)):
            check = found[0]
        for solution in SOLUTION.findall(source):
            yield solution, check


def sections(lesson: Path) -> dict[str, list[str]]:
    """Return the code cells under each numbered heading, in order."""
    found: dict[str, list[str]] = {}
    title = ""
    for cell in json.loads(lesson.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            title = ["", title, *re.findall(r"^## (.+)$", source, re.MULTILINE)][-1]
        elif title[:1].isdigit():
            found.setdefault(title, []).append(source)
    return found


def unclaimed(found: dict[str, list[str]]) -> list[str]:
    """Return the sections none of whose cells asserts anything."""
    return [title for title, sources in found.items() if not any(re.search(r"^\s*assert ", source, re.MULTILINE) for source in sources)]


def without_plain_call(found: dict[str, list[str]]) -> list[str]:
    """Return the sections with a widget where no other cell makes a call that a learner could keep."""
    return [
        title
        for title, sources in found.items()
        if any("from memkit.widgets" in source for source in sources)
        and not any(re.search(r"\w\.\w+\(", source) for source in sources if "memkit.widgets" not in source)
    ]


def unwanted(source: str) -> list[str]:
    """Return what a cell may not hold: an `Output` widget, and texts that are absolute paths."""
    nodes = list(ast.walk(ast.parse(source)))
    middles = [part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values[1:]]
    names = [node.attr if isinstance(node, ast.Attribute) else node.id for node in nodes if isinstance(node, ast.Attribute | ast.Name)]
    names += [alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in middles]
    return [name for name in names if name == "Output"] + [text for text in texts if re.match(r"(/|~/|[A-Za-z]:[\\/])\w", text)]


def run(source: str, names: dict[str, object]) -> None:
    exec(compile(source, "<cell>", "exec"), names)


def test_cells_are_short_and_define_no_classes(lesson):
    sources = cells(lesson, "code")
    sizes = [len([line for line in source.splitlines() if line.strip()]) for source in sources]
    assert max(sizes) <= 12
    assert statistics.median(sizes) <= 4
    assert not [node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]


def test_a_lesson_says_what_it_asks_takes_and_gives(lesson):
    first, *_, last = cells(lesson, "markdown")
    assert re.match(rf"# {lesson.stem[:2]} · .+\?\n", first)
    assert [word for word in ("What you'll do", "What you'll learn", "What you need", "minutes") if word not in first] == []
    assert [word for word in ("## Summary", "What a production system adds", "Further reading") if word not in last] == []


def test_each_term_that_a_lesson_promises_is_used_in_it(lesson):
    first, *others = cells(lesson, "markdown")
    promised = re.findall(r"(?<!\*)\*(\w[^*|]*)\*(?!\*)|`([^`]+)`", re.search(r"What you'll learn\*\* \|(.+)\|", first)[1])
    text = "\n".join([*others, *cells(lesson, "code")]).lower()
    assert [term for pair in promised for term in pair if term.lower() not in text] == []


def test_each_section_asserts_what_it_claims(lesson):
    found = sections(lesson)
    assert len(found) >= 5 and unclaimed(found) == []
    title = next(iter(found))
    assert unclaimed(found | {title: [source.replace("assert ", "") for source in found[title]]}) == [title]


def test_each_widget_has_its_plain_call_in_its_section(lesson):
    found = sections(lesson)
    assert without_plain_call(found) == []
    alone = {title: [source for source in sources if "memkit.widgets" in source] for title, sources in found.items()}
    assert without_plain_call(alone) == [title for title, sources in alone.items() if sources] != []


def test_no_cell_has_an_output_widget_or_an_absolute_path(lesson):
    assert [wrong for source in cells(lesson, "code") for wrong in unwanted(source)] == []
    sabotaged = "from ipywidgets import Output\nopen('" + "/" + "home')"
    assert unwanted(sabotaged) == ["Output", "/" + "home"]


def test_each_prediction_has_its_answer_folded(lesson):
    texts = cells(lesson, "markdown")
    predictions = sum(text.count("**Predict") for text in texts)
    assert predictions >= 3
    assert sum(len(re.findall(r"<details><summary>Answer", text)) for text in texts) >= predictions
    assert all(text.count("<details>") == text.count("</details>") for text in texts)


def test_each_prediction_that_is_typed_is_open_and_compared_with_what_happens(lesson):
    sources = cells(lesson, "code")
    asked = {name: at for at, source in enumerate(sources) for name in re.findall(r"^(\w+) = lab\.predict\(", source, re.MULTILINE)}
    compared = {name: at for at, source in enumerate(sources) for name in asked if f"{name}.check(" in source}
    assert sum(source.count("lab.predict(") for source in sources) == len(asked) >= lesson.stem.startswith("01")
    assert {name: compared.get(name, -1) > at for name, at in asked.items()} == dict.fromkeys(asked, True)
    assert all("..." in sources[at] for at in asked.values())


def test_what_is_shown_names_no_folder_of_a_machine_and_no_live_object(lesson):
    outputs = [output for cell in json.loads(lesson.read_text(encoding="utf-8"))["cells"] for output in cell.get("outputs", [])]
    shown = json.dumps(outputs, ensure_ascii=False)
    assert len(outputs) > 5
    assert re.findall(re.escape(str(ROOT)) + r"|(?<!\w)0x[0-9a-f]{6,}|Traceback", shown) == []
    assert [output for output in outputs if output["output_type"] == "error"] == []


def test_every_exercise_is_unsolved_and_its_solution_is_right(lesson, monkeypatch):
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for source in cells(lesson, "code"):
        run(source, names)
    found = list(solutions(lesson))
    assert len(found) == len(CHECK.findall("\n".join(cells(lesson, "code")))) >= 2
    for solution, check in found:
        assert not eval(check, names), "the exercise as it is committed is already solved"
        solved = dict(names)
        run(solution, solved)
        assert eval(check, solved), eval(check, solved)


@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
def test_any_cell_can_be_run_again_when_all_have_run(lesson, order, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sources = cells(lesson, "code")
    names: dict[str, object] = {}
    for source in sources:
        run(source, names)
    for source in sources[::order]:
        run(source, names)
    assert list(tmp_path.iterdir()) == []


def test_a_lesson_runs_where_memkit_came_as_a_wheel(lesson, tmp_path, monkeypatch):
    """There is no repository around it then: copies are made in the current folder, and the project to read is the shop."""
    monkeypatch.setattr("memkit.lab.sandbox.is_installed", lambda: True)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for source in cells(lesson, "code"):
        run(source, names)
    assert names["lab"].project_folder().parent == tmp_path / "_work"
    assert [path.name for path in tmp_path.iterdir()] == ["_work"]
