"""Checks of lesson 02 do what the exercise says, compare with what happened, explain, and never raise."""

from __future__ import annotations

import pytest

from memkit import lab
from memkit.lab.checks_scope import CASES, LETTERS, returned_by_memkit

RIGHT = {"patch": "leave", "tests": "look", "notes": "do", "mail": "look", "deploy": "do"}


@pytest.mark.parametrize(
    ("letters", "right", "why"),
    [
        ({"B", "D"}, True, "B and D are returned, each marked as the other's rival."),
        (["D", "B"], True, "B and D"),
        ({"B"}, False, "D is missing: all that it names matches, and nothing narrower hides it."),
        ({"B", "D", "F"}, False, "F is not returned: a narrower one hides it here."),
        ({"B", "C", "D"}, False, "C is not returned: it names a dimension that is another one here."),
        (set(), False, "B is missing"),
        ("BD", False, "replace the three dots"),
        (..., False, "replace the three dots"),
    ],
)
def test_scope_1_knows_by_asking_which_memories_are_returned(letters, right, why):
    answer = lab.check.scope_1(letters)
    assert (answer.right, why in answer.why) == (right, True), answer


def solution(memories, here):
    apply = [memory for memory in memories if memory.items() <= here.items()]
    return [memory for memory in apply if not any(memory.items() < other.items() for other in apply)]


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (lambda memories, here: memories, "when only another workspace has one"),
        (lambda memories, here: [m for m in memories if m.items() <= here.items()], "when a wide and a narrow one are stored"),
        (lambda memories, here: [m for m in memories if m == here], "when one wide memory is stored"),
        (lambda memories, here: solution(memories, here)[:1], "when two are stored, neither wider nor narrower"),
        (lambda memories, here: [m for m in memories if here["workspace"].startswith(m["workspace"])], "when "),
        (lambda memories, here: ..., "your rule returns no list"),
        (lambda memories, here: memories.clear() or here.clear() or 1 / 0, "your rule raises ZeroDivisionError"),
        (lambda: [], "your rule raises TypeError"),
        (None, "pass the function itself"),
    ],
)
def test_scope_2_finds_the_case_where_a_rule_is_wrong(rule, why):
    answer = lab.check.scope_2(rule)
    assert (answer.right, why in answer.why) == (False, True), answer


def test_scope_2_accepts_a_right_rule_and_its_cases_differ():
    assert repr(lab.check.scope_2(solution)) == f"Right: your rule agrees with memkit in all {len(CASES)} cases."
    assert {len(returned_by_memkit(*case)) for case in CASES.values()} == {0, 1, 2}
    assert len(LETTERS) == 6


@pytest.mark.parametrize("step", RIGHT)
def test_scope_3_compares_each_step_with_what_reconcile_says(step):
    assert lab.check.scope_3(RIGHT).right
    wrong = lab.check.scope_3(RIGHT | {step: "hope"})
    assert (wrong.right, wrong.why.startswith(f"{step}: {RIGHT[step]!r}, not 'hope', because ")) == (False, True)
    assert not lab.check.scope_3({name: said for name, said in RIGHT.items() if name != step})
    assert "replace the three dots" in lab.check.scope_3(...).why
