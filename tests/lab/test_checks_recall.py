"""lab/checks_recall.py: the exercises of lesson 07 are judged by what memkit does, and the notebook's table is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memkit.lab import check, checks_recall
from memkit.record.text import count_tokens

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "07_recall.ipynb"


def test_the_table_of_the_first_exercise_is_what_memkit_says():
    found = checks_recall.puzzle(10_000)
    scores = {hit.memory.key: hit.score for hit in found.hits} | {skip.memory.key: skip.score for skip in found.skipped}
    text = NOTEBOOK.read_text(encoding="utf-8")
    told = {letter: float(score) for letter, score in re.findall(r"\| ([A-F]) \| ([\d.]+) \| \d+ \|", text)}
    assert told == {key: round(score, 3) for key, score in scores.items()}
    tokens = {letter: int(count) for letter, count in re.findall(r"\| ([A-G]) \| [\d.]+ \| (\d+) \|", text)}
    assert tokens == {key: count_tokens(said) for key, said in checks_recall.PUZZLE.items()}


@pytest.mark.parametrize(
    ("letters", "said"),
    [
        (["C", "F", "E"], "Right: C, F, E take 49 of 50 tokens; 3 are skipped, each with its reason."),
        (["C", "E", "F"], "Not yet: these are the ones, but not in rank order: that is C, F, E."),
        (["C", "F"], "Not yet: E is missing: it holds, says something new, and fits into what is left."),
        (["C", "D"], "Not yet: D is skipped: DUPLICATE, a better match says the same."),
        (["C", "B"], "Not yet: B is skipped: OVER_BUDGET, it needs 65 tokens and 35 are left of 50."),
        (["C", "F", "E", "G"], "Not yet: G is not even found: it has no term of the question."),
        ("CFE", "Not yet: replace the three dots with a list of letters, for instance ['A', 'C']"),
        (..., "Not yet: replace the three dots with a list of letters, for instance ['A', 'C']"),
        ([], "Not yet: C is missing: it holds, says something new, and fits into what is left."),
    ],
)
def test_which_memories_are_returned(letters, said):
    assert repr(check.recall_1(letters)) == said


def test_a_function_is_compared_case_by_case_and_may_fail():
    assert repr(check.recall_2(...)) == "Not yet: pass the function itself: lab.check.recall_2(scores)"
    assert "raises ZeroDivisionError" in check.recall_2(lambda question, texts: 1 / 0).why
    assert "raises TypeError" in check.recall_2(lambda question, texts: None).why
    assert "your function [1.0]" in check.recall_2(lambda question, texts: [1.0]).why
    assert check.recall_2(checks_recall.scored_by_memkit)


def test_a_function_that_does_not_know_chinese_or_the_weight_of_repetition_is_told_the_case():
    def words_only(question, texts):
        return checks_recall.scored_by_memkit(question, texts) if question.isascii() else [0.0] * len(texts)

    def once(question, texts):
        return checks_recall.scored_by_memkit(" ".join(dict.fromkeys(question.split())), texts)

    assert "when it is in Chinese" in check.recall_2(words_only).why
    assert "when a word is repeated in the question" in check.recall_2(once).why


@pytest.mark.parametrize("coverage", [..., True, "0.25", -0.1, 1.1, None])
def test_what_is_no_coverage_is_told_so(coverage):
    assert "a number from 0 to 1" in check.recall_3(coverage).why


def test_a_coverage_is_judged_on_questions_it_was_not_chosen_on(monkeypatch):
    asked = []
    monkeypatch.setattr(checks_recall, "own_set", lambda every, first: asked.append((every, first)) or every)
    answers = {0.1: (1.0, 0.5), 0.25: (0.98, 0.07), 0.6: (0.85, 0.0)}
    monkeypatch.setattr(checks_recall, "thresholds", lambda collection, coverages: {one: answers[one] for one in coverages})
    assert "too lax" in check.recall_3(0.1).why and "too strict" in check.recall_3(0.6).why and check.recall_3(0.25)
    assert asked == [(2, 1)] * 3
