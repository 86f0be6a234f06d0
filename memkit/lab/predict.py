"""Predict before you run: a question, what a learner says to it, and afterwards what happened, with a word on each wrong answer.

It is plain text, so it reads the same with and without a kernel, in a terminal and by ear. An answer is a number of the list, or the
words themselves. What really happened comes from memkit, in the lesson's own cell. Not here: exercises, which are checked by doing what
they describe (`checks.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memkit.lab.answer import Answer


@dataclass(frozen=True, slots=True, repr=False)
class Prediction:
    """A question, its options with what to say to who chose one wrongly, and the option that was chosen; None: not yet."""

    question: str
    options: Mapping[str, str]
    said: str | None

    def check(self, happened: str) -> Answer:
        """Compare with what happened, one of the options, and explain; raises ValueError where it is none of them."""
        _number(happened, self.options)
        if self.said is None:
            return Answer(False, f"you have not said anything. What happened: {happened}.")
        if self.said == happened:
            return Answer(True, f"as you said, {happened}.")
        because = f" {self.options[self.said]}" if self.options[self.said] else ""
        return Answer(False, f"you said: {self.said}. What happened: {happened}.{because}")

    def __repr__(self) -> str:
        lines = [f"  {number}. {option}" for number, option in enumerate(self.options, 1)]
        said = f"You say: {self.said}." if self.said else "Replace the three dots with your number, and run this cell again. Then read on."
        return "\n".join([self.question, *lines, said])


def predict(question: str, options: Mapping[str, str], said: object = ...) -> Prediction:
    """Ask what will happen; `said` is the learner's number or words, and three dots stand for none yet. Raises ValueError for another.

    `options` maps each answer to the sentence for who chose it wrongly (empty for the one that is right).

    >>> fell = predict("The file changes. Who falls?", {"both": "The summary did not change.", "the fact": ""}, 1)
    >>> fell.check("the fact")
    Not yet: you said: both. What happened: the fact. The summary did not change.
    """
    return Prediction(question, options, None if said is ... else _number(said, options))


def _number(said: object, options: Mapping[str, str]) -> str:
    """Return the option that a number or words stand for."""
    names = list(options)
    if isinstance(said, int) and not isinstance(said, bool) and 1 <= said <= len(names):
        return names[said - 1]
    for name in names:
        if isinstance(said, str) and " ".join(said.split()).casefold() == name.casefold():
            return name
    raise ValueError(f"{said!r} is none of the answers; say a number from 1 to {len(names)}, or the words of one")
