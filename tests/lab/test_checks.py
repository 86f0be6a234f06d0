"""Checks of exercises do what the exercise says, compare with what happened, explain, and never raise."""

from __future__ import annotations

import pytest

from memkit import lab
from memkit.lab.checks import AFTER, BEFORE, CASES, EDITS


def test_tour_1_knows_by_doing_it_which_memories_fall():
    assert BEFORE != AFTER
    answers = [lab.check.tour_1(answer) for answer in ({"retries"}, ["retries"], {"timeout", "retries"}, set(), None, ...)]
    assert [answer.right for answer in answers] == [True, True, False, False, False, False]
    assert repr(answers[2]) == "Not yet: timeout is VALID."
    assert repr(answers[3]) == "Not yet: retries is MISSING, because prod.cfg has no key retries."


@pytest.mark.parametrize(
    ("cite", "right", "why"),
    [
        ("package.json#key=engines.node", True, "of 6 edits, your memory fell at exactly those 2 that matter."),
        ("package.json", False, "when a new version of the shop is released, your memory is CHANGED, although"),
        ("package.json#key=engines", False, ""),
        ("package.json#key=version", False, "when the Node version is raised, your memory is VALID, although the fact is no longer true."),
        ("package.json#lines=7-7", False, "your memory is"),
        ("package.json#key=nothing", False, "memkit refuses this citation:"),
        ("prod.cfg#key=timeout", False, "memkit refuses this citation:"),
        ("", False, "memkit refuses this citation:"),
        ("/etc/passwd", False, "memkit refuses this citation:"),
        (..., False, "replace the three dots"),
    ],
)
def test_tour_2_tries_each_edit_on_the_citation(cite, right, why):
    answer = lab.check.tour_2(cite)
    if cite == "package.json#key=engines":  # as good: nothing else stands under engines
        right, why = True, "of 6 edits"
    assert (answer.right, bool(answer)) == (right, right)
    assert why in answer.why


def test_tour_2_has_edits_that_matter_and_edits_that_do_not():
    text = (lab.data_folder() / "shop" / "package.json").read_text(encoding="utf-8")
    assert {old for old, *_ in EDITS.values() if text.count(old) != 1} <= {""}
    assert {falls for *_, falls in EDITS.values()} == {True, False}


def right_rule(fact, sources):
    if fact["source"] not in sources:
        return "MISSING"
    return "VALID" if lab.checks.hashlib.sha256(sources[fact["source"]].encode()).hexdigest() == fact["digest"] else "CHANGED"


def test_tour_3_compares_a_rule_with_memkit_case_by_case():
    assert repr(lab.check.tour_3(right_rule)) == f"Right: your rule agrees with memkit in all {len(CASES)} cases."


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (lambda fact, sources: "VALID", "when a value changes, memkit says 'CHANGED' and your rule says 'VALID'."),
        (lambda fact, sources: ..., "when nothing changes, memkit says 'VALID' and your rule says Ellipsis."),
        (lambda fact, sources: sources["x"], "when nothing changes, your rule raises KeyError: 'x'"),
        (lambda: "VALID", "your rule raises TypeError"),
        ("VALID", "pass the function itself"),
    ],
)
def test_tour_3_explains_what_is_wrong(rule, why):
    answer = lab.check.tour_3(rule)
    assert not answer
    assert why in answer.why
