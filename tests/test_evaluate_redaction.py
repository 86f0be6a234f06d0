"""Claims about the evaluation of redaction: it counts what it says, on our corpus or another, and blames a redactor that does nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from memkit.cli import main
from memkit.errors import Refused
from memkit.lab.evaluate_redaction import Row, as_json, as_table, measure, own_corpus, read_samples, vanished
from memkit.lab.redaction_corpus import Sample, samples
from memkit.lab.sandbox import data_folder

SECRET = "q7Zp0aLm" + "X2vB9Tk4"


def table(rows: list[Row]) -> dict[str, list[str]]:
    lines = as_table(rows).split("\n\n")[0].split("\n")[1:]
    return {line[:14].strip(): line[14:].split() for line in lines}


def test_the_matrix_counts_what_was_masked_and_what_was_left():
    corpus = [
        Sample("credential", "a", f"password={SECRET}", SECRET),
        Sample("credential", "b", f"the cat sat on {SECRET}", SECRET),
        Sample("look-alike", "c", "keyboard", None),
        Sample("look-alike", "d", f"password={SECRET}", None),
    ]
    rows = measure(corpus)
    assert rows == [Row("credential", "a", 1, 1), Row("credential", "b", 1, 0), Row("look-alike", "c", 1, 1), Row("look-alike", "d", 1, 0)]
    assert table(rows) == {"credential": ["2", "2", "1", "1", "50.0%"], "look-alike": ["2", "2", "1", "1", "50.0%"]}
    assert as_table(rows).endswith("not handled rightly:\n  credential: b (1 of 1)\n  look-alike: d (1 of 1)")
    assert json.loads(as_json(rows))[0] == {"group": "credential", "kind": "a", "samples": 1, "right": 1}


def test_a_redactor_that_does_nothing_fails_and_one_that_masks_everything_fails_too():
    corpus = list(samples(4))
    lazy = {row.group: row.right for row in measure(corpus, mask=str)}
    eager = {row.group: row.right for row in measure(corpus, mask=lambda text: "[redacted:x]")}
    assert (lazy["credential"], lazy["look-alike"]) == (0, 1)
    assert (eager["look-alike"], eager["credential"] > 0) == (0, True)


def test_our_own_corpus_meets_the_figures_that_are_asked_for():
    shares = {group: float(cells[-1].rstrip("%")) for group, cells in table(measure(own_corpus())).items()}
    assert shares["credential"] >= 97 and shares["personal"] >= 97 and shares["disguised"] >= 90 and shares["look-alike"] >= 99, shares


def test_a_corpus_is_always_the_same_for_a_seed_and_another_for_another():
    one, again, other = list(samples(5)), list(samples(5)), list(samples(6))
    assert one == again != other
    assert [sample for sample in one if sample.secret and sample.secret not in sample.text] == []
    assert [sample.text for sample in one if re.search(r"<[a-z0-9]+:[^<>]*>", sample.text)] == []


def test_the_recipes_hold_nothing_that_would_be_masked_as_a_credential():
    """No committed file looks like a credential: each is made from its recipe at run time."""
    for name in ("credentials", "personal"):
        text = (data_folder() / "redaction" / f"{name}.toml").read_text(encoding="utf-8")
        assert re.findall(r"[A-Za-z0-9+]{28,}", text) == []


@pytest.mark.parametrize(("left", "gone"), [("", True), (SECRET, False), (SECRET[:12], False), (SECRET[:11], True), (SECRET[3:15], False)])
def test_a_secret_has_vanished_when_no_telling_part_is_left(left, gone):
    assert vanished(f"a {left} b", SECRET) is gone


def test_a_file_of_samples_may_be_measured_instead(tmp_path: Path):
    rows = [
        {"id": "1", "kind": "x", "text": f"password={SECRET}", "secret": SECRET},
        {"id": "2", "kind": "y", "text": "keyboard", "secret": None},
    ]
    path = tmp_path / "samples.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = CliRunner().invoke(main, ["eval", "redaction", str(path), "--json"])
    assert done.exit_code == 0
    assert json.loads(done.output) == [
        {"group": "credential", "kind": "x", "samples": 1, "right": 1},
        {"group": "look-alike", "kind": "y", "samples": 1, "right": 1},
    ]


@pytest.mark.parametrize("line", ["no json", "[]", '{"kind": "x"}', "3"])
def test_a_line_that_is_no_sample_is_refused_by_its_number(tmp_path: Path, line: str):
    path = tmp_path / "samples.jsonl"
    path.write_text(f'{{"kind": "x", "text": "t", "secret": null}}\n{line}\n', encoding="utf-8")
    with pytest.raises(Refused, match="line 2 "):
        list(read_samples(path))
    done = CliRunner().invoke(main, ["eval", "redaction", str(path)])
    assert done.exit_code == 1 and "line 2 " in done.output
