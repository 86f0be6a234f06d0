"""Read a table of patterns and run it over a text: the mechanism behind redaction (`detectors.toml`) and the screen (`techniques.toml`).

A pattern is compiled and tried only when one of its words, and a stretch with room for its digits, occur in the text: an ordinary sentence
costs a few searches, each for many words. Left out: what a find means and what is done about it (`redact.py`, `screen.py`), and undoing
disguises (`disguise.py`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from memkit.record.text import compiled
from memkit.write.checks import CHECKS

Span = tuple[int, int, str]
_NUMBER = r"[0-9](?:[0-9A-Z ./()_:#-]*[0-9])?"  # digits, and what may stand between the digits of one number


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: what it finds, the pattern, what must occur for it to be tried, and the check of what it matched."""

    kind: str
    find: str
    near: tuple[str, ...]
    needs: str
    digits: int
    check: str

    def spans(self, text: str) -> Iterator[Span]:
        """Yield what is found: the groups named `secret...` where there are any, else the whole match.

        Subtle: a number that fails its check is tried again one character on, or digits before a card would hide the card.
        """
        pattern, accept = compiled(self.find), CHECKS[self.check]
        groups: tuple[str | int, ...] = tuple(name for name in pattern.groupindex if name.startswith("secret")) or (0,)
        match = pattern.search(text)
        while match:
            spans = [match.span(group) for group in groups if match.start(group) >= 0]
            found = [(start, end, self.kind) for start, end in spans if accept(text[start:end])]
            yield from found
            match = pattern.search(text, match.end() if found or not self.digits else match.start() + 1)


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a section or more, in the order of the file; and for each thing the text must hold, the fewest digits of these rows, a
    pattern of all their words, and which rows a word calls for: its own, and those of the words it begins with.
    """

    rows: tuple[Row, ...]
    words: dict[str, tuple[int, str, dict[str, set[int]]]]

    def spans(self, text: str) -> Iterator[Span]:
        """Yield (start, end, kind) for every row that finds something; the rows that stand first come first."""
        for number in sorted(self.called_for(text)):
            yield from self.rows[number].spans(text)

    def called_for(self, text: str) -> set[int]:
        """Return the numbers of the rows one of whose words occurs in the text, with what else it must hold."""
        room = max(map(len, compiled(_NUMBER).findall(text)), default=0)
        lower, called = text.lower(), set[int]()
        for needs, (fewest, pattern, rows) in self.words.items():
            if fewest <= room and (not needs or compiled(needs).search(text)):
                called.update(*[rows[word] for word in _beginnings(pattern, lower)])
        return {number for number in called if self.rows[number].digits <= room}


def _beginnings(pattern: str, text: str) -> set[str]:
    """Return what a pattern matches from any place of the text, inside an earlier match too, and nothing, which stands in every text."""
    found, match = {""}, compiled(pattern).search(text)
    while match:
        found.add(match[0])
        match = compiled(pattern).search(text, match.start() + 1)
    return found


def _of_its_beginnings(word: str, rows: dict[str, set[int]]) -> set[int]:
    return set[int]().union(*[rows.get(word[:length], ()) for length in range(len(word) + 1)])


def any_of(words: Collection[str]) -> str:
    """Return a pattern for the longest of these words that stands at a place; those of one first letter are tried together.

    >>> any_of(["tel", "cell", "te"])
    't(?:el|e)|c(?:ell)'
    """
    groups = groupby(sorted(filter(None, words), reverse=True), key=lambda word: word[0])
    tries = (f"{re.escape(first)}(?:{'|'.join(re.escape(word[1:]) for word in group)})" for first, group in groups)
    return "|".join(tries) or "(?!)"


def merged(spans: Iterable[Span]) -> list[Span]:
    """Join what overlaps, in order; what starts first names the whole, and an address never widens it (`user:password@host`)."""
    joined: list[Span] = []
    for start, end, kind in sorted(spans, key=lambda span: span[0]):
        first, last, known = joined[-1] if joined else (0, 0, "")
        if start >= last:
            joined.append((start, end, kind))
        elif kind != "email":
            joined[-1] = (first, max(last, end), known)
    return joined


@cache
def read(name: str) -> dict[str, Any]:
    """Read a table of this folder once, with {name} in a pattern replaced by the alternatives of that word list."""
    raw = tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    lists: dict[str, str] = {}

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: filled(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [filled(inner) for inner in value]
        return re.sub(r"\{([a-z_]+)\}", lambda m: lists.get(m[1], m[0]), value) if isinstance(value, str) else value

    for word, alternatives in raw.get("words", {}).items():
        lists[word] = f"(?:{'|'.join(alternatives)})"
    result: dict[str, Any] = filled(raw)
    return result


@cache
def table(name: str, *sections: str) -> Table:
    """Build the table of some sections of a file, once, at first use."""
    raw, rows, called = read(name), list[Row](), dict[str, dict[str, set[int]]]()
    for section in sections:
        for kind, found in raw[section].items():
            for each in found if isinstance(found, list) else [found]:
                row = {"needs": "", "edge": "", "digits": 0, "check": "any"} | raw["each"][section] | each
                calls = called.setdefault(row["needs"], {"": set()})
                for word in row["near"]:
                    calls.setdefault(word, set()).add(len(rows))
                rows.append(Row(kind, f"{row['edge']}(?:{row['find']})", *(row[term] for term in ("near", "needs", "digits", "check"))))
    words = {}
    for needs, calls in called.items():
        fewest = min(rows[number].digits for numbers in calls.values() for number in numbers)
        words[needs] = (fewest, any_of(calls), {word: _of_its_beginnings(word, calls) for word in calls})
    return Table(tuple(rows), words)
