"""Understand a question without a model: how many needs it has, and which of them memory is not the place to ask.

"Which branch am I on" has one right answer that changes by the hour: it is looked up in task state by its exact name, never recalled.
Patterns are data (`needs.toml`), English and Chinese. Left out: pronouns that point from one need to another, other languages, and
questions whose second half has no question word of its own ("the timeout and the port").
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from memkit.read.analyze import analyze, simplified
from memkit.record.text import fold

MOST = 5  # needs of one question; what comes after stays with the last


def split(question: str) -> list[str]:
    """Return the needs of a question, in order; what holds nothing to look for stays with its neighbour. Never empty.

    >>> split("What is the cache timeout, and who deploys on Friday?")
    ['What is the cache timeout', 'who deploys on Friday']
    >>> split("超时是多少？另外，谁负责部署？")
    ['超时是多少', '谁负责部署']
    >>> split("When did Ann and Bob meet?"), split("")
    (['When did Ann and Bob meet'], [''])
    """
    lines = [" ".join(line.split()) for line in fold(question).text.split("\n")]  # or a run of blanks costs its square
    pieces = [piece.strip(" ,，.。") for piece in _patterns()["between"].split("\n".join(filter(None, lines)))]
    found: list[str] = []
    for piece in pieces:
        if found and (len(found) == MOST or not analyze(piece) or not analyze(found[-1])):
            found[-1] = f"{found[-1]} {piece}".strip()
        else:
            found.append(piece)
    return found


def asks_for_state(need: str) -> str | None:
    """Return the call that answers a need about where a task stands, or None where it is for memory.

    >>> asks_for_state("Which branch am I on?"), asks_for_state("我们现在在哪个分支？")
    ("kit.state.get('branch', scope=scope)", "kit.state.get('branch', scope=scope)")
    >>> asks_for_state("任务做到哪一步了？"), asks_for_state("Which branch is protected?")
    ('kit.state.reconcile(scope=scope)', None)
    """
    said = simplified(fold(need).text.casefold()).strip()
    for name, pattern in _patterns().items():
        if name != "between" and pattern.search(said):
            return "kit.state.reconcile(scope=scope)" if name == "*" else f"kit.state.get({name!r}, scope=scope)"
    return None


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    table = tomllib.loads(Path(__file__).with_name("needs.toml").read_text(encoding="utf-8"))
    lists = {"between": table["between"], **table["state"]}
    return {name: re.compile("|".join(patterns), re.IGNORECASE) for name, patterns in lists.items()}
