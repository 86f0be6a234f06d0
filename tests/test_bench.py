"""lab/bench.py and its rows: both sides are really measured, and where they can agree, they do. No test asserts on a time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import memkit
from memkit.lab import bench, bench_read, bench_scale, bench_write, peers
from memkit.lab.measure import QUICK, Row, alternate, speed

ROOT = Path(__file__).resolve().parents[1]
NAMES = [
    "import",
    "import-and-use",
    "recall",
    "recall-same-terms",
    "recall-visible",
    "add-then-query",
    "write",
    "remember",
    "fairness",
]
AGREE = {"recall-visible", "add-then-query", "write", "remember"}


def run(*words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "memkit", "bench", *words]
    return subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=300)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], str]:
    """What `memkit bench --quick --json` printed, and the document it wrote its table into."""
    document = tmp_path_factory.mktemp("bench") / "page.md"
    document.write_text("before\n<!-- numbers -->\nold\n<!-- /numbers -->\nafter\n", encoding="utf-8")
    done = run("--quick", "--json", "--into", str(document))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), document.read_text(encoding="utf-8")


def test_every_row_has_two_sides_with_positive_figures_in_every_round(measured):
    found, _ = measured
    assert [row["name"] for row in found["rows"]] == NAMES
    for row in found["rows"]:
        assert row["rounds"] and all(len(both) == 2 and min(both) > 0 for both in row["rounds"]), row["name"]
        assert row["ratio"] > 0 and row["ours"] and row["theirs"] and row["raw"], row["name"]
    assert set(found["versions"]) == {"python", "sqlite", "scikit-learn", "sqlite-utils", "cores"}


def test_where_both_sides_can_agree_they_do(measured):
    found, _ = measured
    assert {row["name"]: row["agree"] for row in found["rows"]} == {name: True if name in AGREE else None for name in NAMES}


def test_the_table_goes_between_the_marks_and_says_what_was_measured(measured):
    found, page = measured
    assert page.startswith("before\n<!-- numbers -->\n| row ") and page.endswith("\n<!-- /numbers -->\nafter\n") and "old" not in page
    cells = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")]
    assert cells == ["row", *NAMES]
    assert f"sqlite {found['versions']['sqlite']}" in page


def test_the_table_of_readme_has_every_row_of_the_bench_once():
    found = re.search(r"<!-- numbers -->\n(.*?)<!-- /numbers -->", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    head, *rows = [line.split("|")[1].strip() for line in found[1].splitlines() if line.startswith("| ")]
    assert head == "row" and len(rows) == len(set(rows))
    assert set(rows) > set(NAMES), "README also has rows that are measured only where they are named"


def test_a_disagreement_is_shown():
    row = Row("x", "ours", "theirs", "s", ((1.0, 2.0),), 2.0, "", agree=False)
    assert "| NO " in bench.as_table([row]) and "| NO " not in bench.as_table([Row("x", "a", "b", "s", ((1.0, 2.0),), 2.0, agree=True)])


def test_a_name_that_is_not_there_is_refused_with_the_names_that_are():
    done = run("recal")
    assert (done.returncode, done.stdout) == (1, "")
    assert "'recal'" in done.stderr and all(name in done.stderr for name in (*bench.ROWS, *bench.LONG))


def test_a_document_without_marks_is_left_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing here\n")
    with pytest.raises(memkit.NotFound, match="no place for the table"):
        bench.write_into(page, "| table |")
    assert page.read_text() == "nothing here\n"


def test_the_sides_take_turns_and_each_is_timed_by_itself(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("memkit.lab.measure.time.perf_counter", lambda: float(next(clock)))
    calls: list[str] = []
    rounds = alternate(lambda n: calls.append("ours") or next(clock), lambda n: calls.append("theirs"), rounds=2, each=2)
    assert calls == ["ours", "theirs", "theirs", "ours"] * 2
    assert rounds == ((2.0, 1.0), (2.0, 1.0)) and speed(rounds) == 0.5


def test_a_refit_that_ranks_otherwise_is_noticed(monkeypatch):
    """The sabotaged twin: if recall and the refit did not agree, the row would say so."""
    honest = bench_read.refit
    monkeypatch.setattr(bench_read, "refit", lambda rows, query, terms: honest(rows, query, terms)[1:])
    assert [row.agree for row in bench_read.recall(QUICK)] == [None, None, False]


def test_a_bare_side_that_writes_something_else_is_noticed(monkeypatch):
    honest = bench_write.Bare.write
    monkeypatch.setattr(bench_write.Bare, "write", lambda self, key, content: honest(self, key, content + "!"))
    assert [row.agree for row in bench_write.remember(QUICK)] == [False]


def test_what_stops_a_writer_stops_the_measurement(monkeypatch, tmp_path):
    monkeypatch.setattr(bench_write.writer, "__name__", "memkit.no_such_writer")
    with pytest.raises(memkit.MemkitError, match="more than Conflict"):
        bench_write.fairness(QUICK)


ROWS_OF_PEERS = [("a", "k1", "the cache timeout is 30 s"), ("b", "k2", "cache timeout"), ("a", "k3", "deploy on Friday")]


@pytest.mark.parametrize("name", ["fts5", "bm25s", "langgraph", "chromadb"])
def test_each_peer_finds_the_right_key_in_the_scope_that_is_asked(name):
    try:
        ask = getattr(peers, name)(ROWS_OF_PEERS, "a")
    except peers.Missing as missing:
        pytest.skip(str(missing))
    assert ask("what is the cache timeout?")[0] == "k1" and "k2" not in ask("cache timeout")


def test_a_peer_that_is_not_installed_gives_a_row_that_says_so(monkeypatch):
    def absent(module: str) -> None:
        raise ImportError(module)

    monkeypatch.setattr(peers, "import_module", absent)
    rows = bench_scale.recall_peers(QUICK)
    named = [f"{start}-{peer}" for start in ("recall", "recall-one-of-ten") for peer in ("langgraph", "chromadb", "mem0")]
    assert [row.name for row in rows] == named
    assert all("not installed here: pip install 'memkit[bench]'" in row.theirs and row.rounds == () for row in rows)
    assert "not installed here" in bench.as_table(rows) and json.loads(bench.as_json(rows))["rows"][0]["ratio"] == 0


def test_the_index_ranks_a_scope_as_recall_does_whatever_the_size_of_the_store():
    with bench_read.filled(QUICK) as kit:
        question = bench_read.question(1)
        found = kit.recall(question, scope=bench_read.scope(0), budget=10**6, limit=3, recipe=memkit.TFIDF).hits
        assert [hit.memory.key for hit in found] == bench_scale._ranked(kit)(question)[:3] and len(found) == 3


def test_memory_and_verification_are_really_measured():
    rows = {row.name: row for row in (*bench_scale.memory(QUICK), *bench_scale.verification(QUICK))}
    assert set(rows) == {"index-memory", "check", "recall-verifies"}
    assert all(min(both) > 0 for row in rows.values() for both in row.rounds)
