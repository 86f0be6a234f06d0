"""The drift lab's logic: the judge knows nothing of locators, edits are counted once, and the pair set is what its script makes."""

from __future__ import annotations

import pytest
from drift_pairs import DATA, FILES, lines
from hypothesis import given
from hypothesis import strategies as st

import memkit
from memkit.errors import BadLocator, NotFound, Refused
from memkit.lab import checks, chosen
from memkit.lab.drift import measure, read_pairs
from memkit.lab.trial import Edit, Score, Trial, place, versions

SETUP = versions()["setup.cfg"]
EXCHANGED = "changing: the two timeouts are exchanged"


def shown(scores: dict[str, Score]) -> dict[str, tuple[int, int, int, int]]:
    return {cite.partition("#")[2]: (score.same, score.false, score.changed, score.missed) for cite, score in scores.items()}


# --- the pair set


def test_the_pair_set_is_what_its_script_makes_and_its_labels_are_those_of_independent_parsers():
    assert DATA.read_text(encoding="utf-8") == "".join(f"{line}\n" for line in lines())
    assert DATA.stat().st_size < 100_000


def test_every_pair_changes_its_file_and_every_group_is_there():
    for name, (before, edits) in FILES.items():
        found = versions()[name]
        assert found.first == before
        assert len(found.edits) == len(edits) >= 7
        assert all(edit.after != before for edit in found.edits.values())
        assert {edit.group for edit in found.edits.values()} == {"harmless", "moving", "changing", "deleting", "commit"}


def test_on_the_pair_set_lines_and_whole_files_err_and_the_parts_do_not():
    rows = {(row.kind, row.method): row for row in measure(read_pairs(DATA))}
    assert {kind for kind, _ in rows} == {"def", "key", "section"}
    for kind in ("def", "key", "section"):
        assert (rows[kind, "memkit"].missed, rows[kind, "memkit"].false, rows[kind, "memkit"].not_located) == (0, 0, 0)
        assert rows[kind, "memkit"].changed > 5 and rows[kind, "memkit"].same > 20
        assert rows[kind, "whole file"].false_rate == 1
        assert rows[kind, "fixed line"].missed > 0 and rows[kind, "fixed line"].false > 0


# --- the judge


@pytest.mark.parametrize(
    ("path", "text", "piece", "values"),
    [
        ("a.toml", "x = 1\ny = [2, 3]\n", "3", {"key=y": [3]}),
        ("a.toml", "[t]\nx = 1\n", "x = 1", {"key=t.x": 1}),
        ("a.json", '{"a": {"b": "c d"}}', "c d", {"key=a.b": "c d"}),
        ("a.yaml", "a:\n  b: on\n", "on", {"key=a.b": True}),
        ("a.cfg", "[s]\nk = v\n", "v", {"key=s.k": "v"}),
        ("a.cfg", "# says v\n[s]\nk = w\n", "says", {}),
        ("a.md", "# One\n\ntwo\n", "two", {}),
    ],
)
def test_a_piece_states_the_values_that_change_with_it(path, text, piece, values):
    assert chosen.fact_of(path, text, text.index(piece), piece).values == values


def test_a_piece_of_code_states_the_innermost_definition_or_the_assigned_name():
    text = versions()["checkout.py"].first
    names = {piece: list(chosen.fact_of("a.py", text, text.index(piece), piece).values) for piece in ("4_900", "append", "max(0")}
    assert names == {"4_900": ["def=FREE_SHIPPING_FROM"], "append": ["def=Basket.add"], "max(0": ["def=total"]}


@pytest.mark.parametrize(
    ("after", "holds"),
    [
        ("[server]\ntimeout=30", True),
        ("[server]\ntimeout = 30 \n[client]\ntimeout = 7\n", True),
        ("[server]\ntimeout = 3\n", False),
        ("[client]\ntimeout = 30\n", False),
        ("[server\ntimeout = 30\n", False),
        ("", False),
        (None, False),
    ],
)
def test_a_fact_holds_while_its_value_does(after, holds):
    fact = chosen.fact_of("setup.cfg", SETUP.first, SETUP.first.index("30"), "30")
    assert fact.holds(None if after is None else after.encode()) is holds
    if after:
        assert fact.holds(after.encode("utf-16")) is holds


def test_words_hold_while_they_stand_as_often_as_before_however_they_are_wrapped():
    text = "It waits 30 s. 值班的人三十秒内回答。\nSo 30 s.\n"
    fact = chosen.fact_of("a.md", text, text.index("30 s"), "30 s")
    assert fact.count == 2
    assert fact.holds(b"So 30\ns. It waits 30 s")
    assert not fact.holds(b"It waits 30 s, not 130 s")
    chinese = chosen.fact_of("a.md", text, text.index("三十"), "三十秒内")
    assert chinese.holds("三十\n秒内".encode()) and not chinese.holds("三秒内".encode())


def test_a_piece_that_is_not_there_is_refused():
    with pytest.raises(NotFound, match="does not stand in the text there"):
        chosen.fact_of("a.cfg", "[s]\nk = v\n", 0, "v")


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_turning_changes_every_letter_and_digit_and_keeps_the_length(piece):
    other = chosen.turned(piece)
    assert len(other) == len(piece)
    assert all((a != b) is a.isalnum() or a == "另" for a, b in zip(piece, other, strict=True))


# --- the trial


def test_each_citation_errs_as_its_width_makes_it():
    trial = Trial(SETUP, "30")
    for edit in trial.edits.values():
        trial.apply(edit)
    assert shown(trial.scores()) == {
        "key=server.timeout": (9, 0, 6, 0),
        "quote=30": (9, 1, 6, 1),
        "lines=5": (9, 1, 6, 1),
        "key=server": (9, 1, 6, 0),
        "": (9, 9, 6, 0),
    }


@pytest.mark.parametrize("name", versions())
def test_the_starting_piece_of_every_file_changes_and_stays_and_its_narrowest_citation_errs_least(name):
    trial = Trial(versions()[name], versions()[name].piece)
    for edit in trial.edits.values():
        trial.apply(edit)
    scores = list(trial.scores().values())
    assert scores[0].same > 5 and scores[0].changed > 2
    assert scores[0].missed == 0 and scores[0].false <= 1
    assert scores[-1].false == scores[-1].same


def test_the_same_edit_is_counted_once_and_does_not_depend_on_the_one_before():
    trial = Trial(SETUP, "30")
    first = trial.apply(trial.edits[EXCHANGED])
    trial.apply(trial.edits["deleting: the whole file"])
    again = trial.apply(trial.edits[EXCHANGED])
    assert again == first
    assert len(trial.tried) == 2


def test_an_edit_that_edits_nothing_is_refused():
    trial = Trial(SETUP, "30")
    with pytest.raises(Refused) as refused:
        trial.apply(Edit("yours", "nothing", SETUP.first))
    assert refused.value.reason == "NO_EDIT"
    assert trial.tried == {}


def test_one_more_citation_is_tried_with_every_edit_so_far():
    trial = Trial(SETUP, "30")
    trial.apply(trial.edits[EXCHANGED])
    trial.add("setup.cfg#lines=4-5")
    assert shown(trial.scores())["lines=4-5"] == (0, 0, 1, 0)
    assert len(trial.cites) == 6
    trial.add("setup.cfg#lines=4-5")
    assert len(trial.cites) == 6


@pytest.mark.parametrize("cite", ["setup.cfg#key=server.patience", "setup.cfg#quote=timeout", "setup.cfg#nonsense=1"])
def test_a_citation_that_leads_nowhere_or_to_two_places_is_refused_and_changes_nothing(cite):
    trial = Trial(SETUP, "30")
    trial.apply(trial.edits[EXCHANGED])
    before = shown(trial.scores())
    with pytest.raises(BadLocator):
        trial.add(cite)
    assert shown(trial.scores()) == before


def test_a_piece_that_stands_twice_is_chosen_by_its_number():
    trial = Trial(SETUP, "timeout", place(SETUP.first, "timeout", 2))
    assert trial.cites[0] == "setup.cfg#key=client.timeout"
    with pytest.raises(BadLocator, match="stands 2 times"):
        place(SETUP.first, "timeout", 3)


# --- the exercises


@pytest.mark.parametrize("answer", [..., "", "x", "pyproject.toml#key=project", "setup.cfg#lines=1", 7])
def test_a_wrong_answer_to_the_first_exercise_is_explained(answer):
    found = checks.evidence_1(answer)
    assert not found and len(found.why) > 30


@pytest.mark.parametrize("answer", [..., {}, {"MOVED": ""}, dict.fromkeys(("MOVED", "AMBIGUOUS", "MISSING", "UNREADABLE"), "x")])
def test_a_wrong_answer_to_the_second_exercise_is_explained(answer):
    found = checks.evidence_2(answer)
    assert not found and len(found.why) > 30


@pytest.mark.parametrize("answer", [..., lambda data, first, last: memkit.nowhere, lambda data, first, last: None])
def test_a_wrong_answer_to_the_third_exercise_is_explained(answer):
    found = checks.evidence_3(answer)
    assert not found and len(found.why) > 30
