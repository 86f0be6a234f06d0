"""The drift bench counts what the labels say, beside three plainer ways of citing, on given pairs and on real histories."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from memkit.lab.drift import Row, as_bars, as_table, command, measure, read_pairs
from memkit.lab.drift_truth import Pair, facts, label, repository_pairs

HISTORY = Path(__file__).parents[2].parent / "shared" / "data" / "history_dev.jsonl"

BEFORE = "# shop\n[pay]\ntimeout = 30\nhosts = [\n  'a',\n]\n"
AFTER = "# the shop\n\n[pay]\ntimeout = 30\nhosts = [\n  'b',\n]\n"
PAIR = Pair("conf/a.toml", BEFORE, AFTER, (("key=pay.timeout", False), ("key=pay.hosts", True)))


def test_each_way_of_citing_is_counted_by_the_labels() -> None:
    assert measure([PAIR]) == [
        Row("key", "memkit", 1, 0, 1, 0, 0),
        Row("key", "whole file", 1, 0, 1, 1, 0),
        Row("key", "fixed line", 1, 0, 1, 1, 0),
        Row("key", "line text", 1, 1, 1, 0, 0),
    ]


def test_wrong_labels_show_as_errors_of_memkit() -> None:
    wrong = Pair("a.toml", BEFORE, AFTER, (("key=pay.timeout", True), ("key=pay.hosts", False), ("key=none", False)))
    assert measure([wrong])[0] == Row("key", "memkit", 1, 1, 1, 1, 1)


def test_every_kind_is_measured_also_in_a_hidden_folder_and_with_plain_headings() -> None:
    python = Pair(
        ".ci/a.py", "class A:\n    def f(self): return 1\n", "\nclass A:\n    def f(self): return 2\n", (("def=A.f", True), ("def=A", True))
    )
    text = Pair("a.md", "# Fix#12\na\n# C#\nb\n", "# Fix#12\na\n\n# C#\nc\n", (("section=Fix#12", False), ("section=C#", True)))
    rows = [row for row in measure([python, text, PAIR]) if row.method == "memkit"]
    assert rows == [
        Row("def", "memkit", 2, 0, 0, 0, 0),
        Row("key", "memkit", 1, 0, 1, 0, 0),
        Row("section", "memkit", 1, 0, 1, 0, 0),
    ]


def test_the_table_and_the_bars_say_both_rates() -> None:
    rows = [Row("key", "fixed line", 4, 1, 8, 2, 3)]
    assert as_table(rows).split("\n")[1].split() == ["key", "fixed", "line", "4", "1", "25.00%", "8", "2", "25.00%", "3"]
    assert [line.count("█") for line in as_bars(rows).split("\n")] == [0, 10, 10]
    assert (Row("key", "memkit", 0, 0, 0, 0, 1).missed_rate, Row("key", "memkit", 0, 0, 0, 0, 1).false_rate) == (0.0, 0.0)


def test_bars_never_hide_a_small_rate_nor_pass_the_scale() -> None:
    rows = [Row(kind, "memkit", 1000, missed, 10**6, 1, 0) for kind in ("def", "key") for missed in (0, 1000)]
    told = [line for line in as_bars(rows).split("\n") if " of " in line]
    assert [line.split("|")[1].split()[0] for line in told] == ["▏", "0.0%", "▏", "█" * 40] * 2
    assert {len(line.split("%")[0]) for line in told} == {len(told[0].split("%")[0])}


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"\xff",
        b"3",
        b"{}",
        b'{"path": "a", "before": 1, "after": "", "facts": []}',
        b'{"path": "a", "before": "", "after": "", "facts": [{"locator": "key=a", "changed": "false"}]}',
        b"[" * 10**5,
    ],
)
def test_a_line_that_is_no_pair_is_named_by_its_number(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(b"\n" + line + b"\n")
    done = CliRunner().invoke(command, [str(path)])
    assert done.exit_code == 1 and "line 2 of pairs.jsonl is no pair" in done.output and "changed: true or false" in done.output


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    labelled = [{"locator": locator, "changed": changed} for locator, changed in PAIR.facts]
    line = json.dumps(
        {"name": "shop", "path": PAIR.path, "before": BEFORE, "after": f"{AFTER}# \u2028\n", "facts": labelled}, ensure_ascii=False
    )
    path.write_text(f"{line}\n\n", encoding="utf-8")
    return path


def test_the_command_prints_a_table_bars_or_json(data: Path) -> None:
    table, bars, rows = (CliRunner().invoke(command, [str(data), *more]).output for more in (["--no-plot"], [], ["--json"]))
    assert table == as_table(measure([PAIR])) + "\n"
    assert bars == f"{table}\n{as_bars(measure([PAIR]))}\n"
    assert json.loads(rows)[3] == {
        "kind": "key",
        "method": "line text",
        "changed": 1,
        "missed": 1,
        "same": 1,
        "false": 0,
        "not_located": 0,
        "missed_rate": 1.0,
        "false_rate": 0.0,
    }


def test_the_command_wants_exactly_one_source_of_pairs(data: Path, tmp_path: Path) -> None:
    for words in ([], [str(data), "--repo", str(tmp_path)]):
        done = CliRunner().invoke(command, words)
        assert (done.exit_code, "exactly one" in done.output) == (2, True)
    done = CliRunner().invoke(command, ["--repo", str(tmp_path)])
    assert (done.exit_code, "found no fact" in done.output) == (1, True)


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.toml", 'x = 1\n[a."b.c"]\ny = [{q = 1, p = 2}]\n', {"key=x": 1, 'key=a."b.c".y': [[("'p'", "2"), ("'q'", "1")]]}),
        ("a.json", '{"a": {"b": null}, "c": {}}', {"key=a.b": None, "key=c": []}),
        ("a.yml", "on: 1\na: {b: 2}\n", {"key=a.b": 2}),
        ("a.cfg", "[s]\nA = 1\n", {"key=s.A": "1"}),
        (
            "a.md",
            "# A\nx\n\n```\n# no\n```\n\nB\n---\ny\n# A\nz\n",
            {"section=A": "# A\nx\n\n```\n# no\n```\n\nB\n---\ny", "section=B": "B\n---\ny"},
        ),
        ("a.txt", "x", {}),
    ],
)
def test_the_truth_of_each_format(path: str, text: str, found: dict[str, object]) -> None:
    assert facts(path, text) == found


def test_the_truth_tells_values_of_different_kinds_apart() -> None:
    for one, two in (("1", "true"), ("1", "1.0"), ("'1'", "1")):
        assert label("a.toml", f"x = {one}", f"x = {two}") == Pair("a.toml", f"x = {one}", f"x = {two}", (("key=x", True),))
    assert label("a.toml", "x = 1", "x = 1 # c") == Pair("a.toml", "x = 1", "x = 1 # c", (("key=x", False),))
    assert label("a.toml", "x = 1", "x") is None


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git on the PATH")
def test_a_history_gives_labelled_pairs_newest_first(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false")
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    git("init", "--quiet")
    (tmp_path / "配置").mkdir()
    for text in (BEFORE, AFTER, "not TOML", AFTER, AFTER.replace("30", "60")):
        (tmp_path / "配置" / "a b.toml").write_text(text, encoding="utf-8", newline="")
        (tmp_path / "notes.txt").write_text(text, encoding="utf-8", newline="")
        git("add", ".")
        git("commit", "--quiet", "-m", "Change")
    pairs = list(repository_pairs(tmp_path))
    assert [(pair.path, pair.facts) for pair in pairs] == [
        ("配置/a b.toml", (("key=pay.timeout", True), ("key=pay.hosts", False))),
        ("配置/a b.toml", (("key=pay.timeout", False), ("key=pay.hosts", True))),
    ]
    assert (list(repository_pairs(tmp_path, most=1)), list(repository_pairs(tmp_path, each=1))) == (pairs[:1], pairs[:1])
    done = CliRunner().invoke(command, ["--repo", str(tmp_path), "--json"])
    row = json.loads(done.output)[0]
    assert (row["method"], row["changed"], row["missed"], row["same"], row["false"]) == ("memkit", 2, 0, 2, 0)


@pytest.mark.skipif(not HISTORY.exists(), reason="the history of real projects is not beside this repository")
def test_locators_are_exact_on_the_history_of_real_projects() -> None:
    rows = {row.kind: row for row in measure(read_pairs(HISTORY)) if row.method == "memkit"}
    assert set(rows) == {"key", "def", "section"}
    assert {kind: (row.missed, row.false, row.not_located) for kind, row in rows.items()} == dict.fromkeys(rows, (0, 0, 0))
    assert min(min(row.changed, row.same) for row in rows.values()) > 100
