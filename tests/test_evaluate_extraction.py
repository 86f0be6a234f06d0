"""Claims about `memkit eval extraction`: it counts what annotators wrote, not what the extractor thinks of itself."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from memkit import cli
from memkit.errors import Refused
from memkit.lab.evaluate_extraction import Growth, Row, measure, read_sessions, total
from memkit.write.extract import Extraction

SESSION = """
session: tiny
language: en
held_back: false
at: 2026-11-30T09:00:00+00:00
turns:
  - user: We use pnpm.
    gold: [{kind: fact, key: package-manager, value: pnpm}]
  - user: I prefer tabs.
    gold: [{kind: preference, key: tabs, value: tabs}]
  - user: Ask Ada about the schema.
    gold: [{kind: fact, key: schema, value: Ada}]
  - assistant: The API listens on port 80.
  - user: The port is 80.
"""


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(SESSION, encoding="utf-8")
    return path


def test_each_kind_is_counted_by_what_was_annotated(tiny):
    measured = measure(read_sessions(tiny))
    assert measured.rows == (
        Row("development", "en", "fact", 2, 2, 1, 1),
        Row("development", "en", "preference", 1, 1, 1, 0),
    )
    assert [(row.precision, row.recall) for row in measured.rows] == [(0.5, 0.5), (1.0, 1.0)]
    assert total(measured.rows, "development") == Row("development", "both", "all", 3, 3, 2, 1)


def test_errors_pile_up_most_where_nothing_gates_them(tiny):
    assert measure(read_sessions(tiny)).growth == (Growth("tiny", 2, 1, 1),)


def test_an_extractor_that_finds_nothing_has_no_recall_and_no_errors(tiny):
    class Silent:
        def extract(self, episodes):
            return Extraction()

    measured = measure(read_sessions(tiny), Silent())
    assert [row.recall for row in measured.rows] == [0.0, 0.0]
    assert measured.growth == (Growth("tiny", 0, 0, 0),)


def test_the_projects_sessions_are_in_both_languages_and_some_were_held_back():
    sessions = read_sessions()
    assert len(sessions) >= 12
    for language in ("en", "zh"):
        assert sum(session.language == language for session in sessions) >= 6
        assert sum(session.language == language and session.held_back for session in sessions) >= 2
    assert all(10 <= len(session.episodes) <= 25 for session in sessions)


def test_the_rules_do_better_where_they_were_developed_and_the_report_says_so():
    shown = json.loads(CliRunner().invoke(cli.main, ["eval", "extraction", "--json"]).output)
    totals = {row["sessions"]: row for row in shown["rows"] if row["kind"] == "all"}
    assert totals["development"]["recall"] > 0.9
    assert 0.4 < totals["held back"]["recall"] < totals["development"]["recall"]
    assert totals["held back"]["precision"] > 0.75
    assert shown["growth"][-1]["ungated"] > 3 * shown["growth"][-1]["gated"]


@pytest.mark.parametrize("text", ["- 1", "turns: [", "session: x\nlanguage: en\nheld_back: no\nat: never\nturns: []"])
def test_a_file_of_another_form_is_refused(tmp_path, text):
    path = tmp_path / "other.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Refused) as error:
        read_sessions(path)
    assert error.value.reason == "BAD_SESSION"


def test_a_folder_without_sessions_is_refused(tmp_path):
    with pytest.raises(Refused) as error:
        read_sessions(tmp_path)
    assert error.value.reason == "NO_SESSIONS"
