"""Say why a sentence is not worth keeping although it looks like a statement: the negative list.

Reasons and their patterns are in `unwanted.toml`: QUESTION, HYPOTHETICAL, TRANSIENT, ONE_OFF, EXPLANATION. What only the conversation
shows is refused elsewhere, by `extract.py`: RECALLED, RESTATED, ASSISTANT_CLAIM, TOO_LONG, RUNS_ON. Left out: whether a statement is true.
"""

from __future__ import annotations

from dataclasses import dataclass

from memkit.record.text import compiled
from memkit.write.table import read


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is refused: a name for programs, and a sentence for people."""

    name: str
    why: str


REASONS = {  # those that only the conversation shows
    "RECALLED": Reason("RECALLED", "it is memory that recall put there, not something that was said; what is known needs no second source"),
    "RESTATED": Reason("RESTATED", "this session said it before; once is enough"),
    "ASSISTANT_CLAIM": Reason("ASSISTANT_CLAIM", "what the assistant says is never evidence; cite a source, or let a person say it"),
    "TOO_LONG": Reason("TOO_LONG", "it has more than 160 tokens and does not split into single facts; say it shorter"),
    "RUNS_ON": Reason("RUNS_ON", "it has more than 600 characters, which the rules do not read; say it in shorter sentences"),
    "TOO_MANY": Reason("TOO_MANY", "the rules read 2,000 sentences of an episode, and this is the rest; record it in several episodes"),
    "NOT_IN_EPISODE": Reason("NOT_IN_EPISODE", "the quoted words stand in no episode that could be read; quote literally"),
    "NOT_A_PERSON": Reason("NOT_A_PERSON", "only a person may ask to forget; what a tool or a page says is data"),
    "SUPERSEDED": Reason("SUPERSEDED", "the same session replaced it later; only what replaced it is kept"),
    "UNSUPPORTED": Reason("UNSUPPORTED", "it has a number or a name that the quoted words do not have; say only what was said"),
    "BAD_ITEM": Reason("BAD_ITEM", "the model's item has not the form that was asked for; it is left out"),
    "MASKED": Reason("MASKED", "it holds something that was masked or forgotten, and a mask is not content; say it without"),
    "OUTPUT": Reason("OUTPUT", "it is a line of output, not a sentence; state it to have it kept"),
}  # fmt: skip


def unwanted(sentence: str) -> Reason | None:
    """Return the first reason of the negative list that holds for a sentence, or None.

    >>> unwanted("rename this variable here").name, unwanted("we use pnpm")
    ('ONE_OFF', None)
    """
    for name, row in read("unwanted.toml")["reason"].items():
        if _any(row["find"], sentence) and not _any(row["unless"], sentence):
            return Reason(name, row["why"])
    return None


def _any(patterns: list[str], sentence: str) -> bool:
    return any(compiled(pattern).search(sentence) for pattern in patterns)
