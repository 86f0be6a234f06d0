"""The drift lab without a browser: it shows what the trial says, its calls can be pasted, and everything hostile is text."""

from __future__ import annotations

import html.parser
import re

import pytest

import memkit
from memkit import lab
from memkit.widgets import drift_view as view
from memkit.widgets.drift import DriftLab

EXCHANGED = "changing: the two timeouts are exchanged"
HOSTILE = '[s]\nk = <img src=x onerror="alert(1)"></pre><script>\n'


@pytest.fixture
def drift():
    found = DriftLab(file="setup.cfg", piece="30")
    yield found
    found.close()


def test_it_begins_with_the_proposals_narrowest_first_and_nothing_counted(drift):
    assert drift.trial.cites == [
        "setup.cfg#key=server.timeout",
        "setup.cfg#quote=30",
        "setup.cfg#lines=5",
        "setup.cfg#key=server",
        "setup.cfg",
    ]
    assert drift.verdicts == {}
    assert drift.area.value == lab.versions()["setup.cfg"].first
    assert "the first version" in drift.status.value
    assert drift.results.value.count("not read again yet") == 5


def test_an_edit_shows_each_verdict_and_who_erred(drift):
    drift.edits.value = EXCHANGED
    drift.apply_one.click()
    assert drift.verdicts == {
        "key=server.timeout": "CHANGED",
        "quote=30": "VALID",
        "lines=5": "MOVED",
        "key=server": "CHANGED",
        "the whole file": "CHANGED",
    }
    assert drift.results.value.count("no: missed") == 2
    assert drift.results.value.count("yes: fell") == 3
    assert "2 of 5 erred" in drift.status.value
    assert "timeout = 10" in drift.area.value.split("[client]")[0]


def test_all_edits_are_counted_and_the_first_version_comes_back(drift):
    drift.apply_each.click()
    assert len(drift.trial.tried) == len(drift.trial.edits) == 15
    assert "9 of 9" in drift.results.value and "Edits counted: 15." in drift.status.value
    assert drift.area.value == lab.versions()["setup.cfg"].first
    drift.anew.click()
    assert drift.trial.tried == {} and "9 of 9" not in drift.results.value


def test_a_typed_edit_is_tried_and_counted(drift):
    drift.area.value = drift.area.value.replace("port = 8080", "port = 1")
    assert drift.trial.tried == {}
    drift.try_text.click()
    assert (drift.verdicts["key=server.timeout"], drift.verdicts["key=server"]) == ("VALID", "CHANGED")
    assert "Yours, what you typed" in drift.status.value
    drift.first.click()
    drift.try_text.click()
    assert drift.error.startswith("Refused: the file is as it was at first")
    assert len(drift.trial.tried) == 1


def test_another_file_or_piece_begins_a_new_trial(drift):
    drift.apply(EXCHANGED)
    drift.chooser.value = "guide.md"
    assert drift.piece.value == "waits 30 seconds" and drift.trial.tried == {}
    drift.piece.value = "先切换到备用通道"
    assert drift.trial.cites[0] == "guide.md#quote=先切换到备用通道"
    drift.chooser.value = "setup.cfg"
    drift.piece.value = "timeout"
    drift.number.value = 2
    assert drift.trial.cites[0] == "setup.cfg#key=client.timeout"
    assert drift.error == ""


def test_a_piece_that_is_not_there_is_an_error_in_view_and_the_lab_goes_on(drift):
    drift.piece.value = "patience"
    assert drift.error.startswith("BadLocator: the piece stands 0 times")
    assert drift.trial.piece == "30"
    drift.piece.value = "8080"
    assert drift.error == "" and drift.trial.cites[0] == "setup.cfg#key=server.port"


def test_one_more_citation_is_compared_and_a_bad_one_is_refused_in_view(drift):
    drift.apply(EXCHANGED)
    drift.also.value = "lines=4-5"
    drift.add.click()
    assert "lines=4-5" in drift.results.value
    drift.also.value = "key=server.patience"
    drift.add.click()
    assert drift.error == (
        "BadLocator: setup.cfg has no key server.patience (where the path ends there are: host, port, timeout); "
        "cite a part that is there exactly once"
    )
    assert len(drift.trial.cites) == 6


@pytest.mark.parametrize("name", lab.versions())
def test_the_calls_shown_give_the_verdicts_shown(name):
    drift = DriftLab(file=name, name="calls")
    drift.cite_also("lines=2-3")
    typed = drift.trial.versions.first.replace("\n\n", "\n\n\n", 1)
    for edit in (*drift.trial.edits, ""):
        drift.apply(edit) if edit else drift.apply_text(typed + "#\n")
        names: dict[str, object] = {"memkit": memkit, "lab": lab}
        *before, last = drift.call.split("\n")
        exec("\n".join(before), names)
        found = {view.part_of(check.memory.key): check.verdict.value for check in eval(last, names)}
        assert found == drift.verdicts, edit
    drift.close()


def test_the_call_for_a_second_place_names_it(drift):
    drift.choose("setup.cfg", "timeout", 2)
    assert f"start={lab.place(drift.trial.versions.first, 'timeout', 2)}" in drift.call
    names: dict[str, object] = {"memkit": memkit, "lab": lab}
    exec(drift.call, names)
    assert names["cite"] == "setup.cfg" and names["kit"].current("setup.cfg#key=client.timeout", scope=names["here"]) is not None


def test_what_is_hostile_is_shown_as_text_live_and_static():
    files = {"evil.cfg": lab.Versions("evil.cfg", HOSTILE, "alert", {})}
    drift = DriftLab(files, name="hostile")
    drift.apply("changing: exactly what you chose")
    drift.piece.value = "<b>not there</b>"
    tags: set[str] = set()
    parser = html.parser.HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.add(tag)
    areas = (drift.chosen, drift.status, drift.results, drift.error_area, drift.call_area)
    parser.feed(drift.snapshot() + "".join(area.value for area in areas))
    assert tags <= {"b", "br", "code", "details", "div", "pre", "span", "summary", "table", "td", "th", "tr"}
    assert "&lt;script&gt;" in drift.snapshot()
    drift.close()


def test_a_secret_that_is_typed_is_in_no_view(drift):
    secret = "ghp_" + "Ab3dEf6h" * 4 + "Zz19"
    drift.apply_text(drift.trial.versions.first + f"# {secret}\n")
    assert drift.verdicts["the whole file"] == "CHANGED"
    shown = drift.snapshot() + drift.as_text() + "".join(area.value for area in (drift.status, drift.results, drift.call_area))
    assert secret not in shown


def test_the_snapshot_says_what_the_table_says_in_inline_colours(drift):
    drift.apply(EXCHANGED)
    page = drift.snapshot()
    assert [word for word in ("var(", "role=", "<style", "id=", "class=") if word in page] == []
    assert page.count("no: missed") == 2 and "1 of 1" in page
    assert all("background" in style for style in re.findall(r'<td style="([^"]*)"', page))
    assert drift.as_text().count("\n") == 5


def test_a_second_lab_closes_the_first():
    first = DriftLab(file="setup.cfg", piece="30")
    second = DriftLab(file="setup.cfg", piece="30")
    assert first.comm is None and second.comm is not None
    assert first.guard(first.apply, EXCHANGED) is False
    second.close()
