"""lab.predict: a prediction is asked as plain text, kept, and explained when it is known what happened."""

from __future__ import annotations

import pytest

from memkit import lab

OPTIONS = {"Both fall": "The summary did not change.", "only the fact falls": "", "都不失效": ""}


def test_an_open_question_lists_its_answers_and_says_how_to_answer() -> None:
    assert repr(lab.predict("Who falls?", OPTIONS)).split("\n") == [
        "Who falls?",
        "  1. Both fall",
        "  2. only the fact falls",
        "  3. 都不失效",
        "Replace the three dots with your number, and run this cell again. Then read on.",
    ]


@pytest.mark.parametrize("said", [1, "Both fall", "  both   FALL "])
def test_a_number_or_the_words_are_remembered(said: object) -> None:
    asked = lab.predict("Who falls?", OPTIONS, said)
    assert asked.said == "Both fall" and repr(asked).endswith("\nYou say: Both fall.")


@pytest.mark.parametrize(
    ("said", "right", "why"),
    [
        (..., False, "you have not said anything. What happened: only the fact falls."),
        (1, False, "you said: Both fall. What happened: only the fact falls. The summary did not change."),
        (2, True, "as you said, only the fact falls."),
        (3, False, "you said: 都不失效. What happened: only the fact falls."),
    ],
)
def test_what_happened_is_compared_and_a_wrong_answer_explained(said: object, right: bool, why: str) -> None:
    answer = lab.predict("Who falls?", OPTIONS, said).check("only the fact falls")
    assert (answer.right, answer.why) == (right, why)


@pytest.mark.parametrize("said", [0, 4, True, None, "neither", 1.0])
def test_what_is_no_answer_is_told_what_one_is(said: object) -> None:
    with pytest.raises(ValueError, match="say a number from 1 to 3, or the words of one"):
        lab.predict("Who falls?", OPTIONS, said)
    with pytest.raises(ValueError, match="none of the answers"):
        lab.predict("Who falls?", OPTIONS, 2).check("something else")
