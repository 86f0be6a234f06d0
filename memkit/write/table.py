"""Read a table of patterns and run it over a text: the mechanism behind redaction (`detectors.toml`) and the screen (`techniques.toml`).

A pattern is compiled and tried only when one of its words, and enough digits, occur in the text: an ordinary sentence costs a few hundred
substring tests. Left out: what a find means and what is done about it (`redact.py`, `screen.py`), and undoing disguises (`disguise.py`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memkit.record.text import compiled
from memkit.write.checks import CHECKS

Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: what it finds, what must occur for it to be tried, the pattern, and the check of what it matched."""

    kind: str
    find: str
    near: tuple[str, ...]
    edge: str = ""
    needs: str = ""
    digits: int = 0
    check: str = "any"

    def spans(self, text: str) -> Iterator[Span]:
        """Yield what is found: the groups named `secret...` where there are any, else the whole match.

        Subtle: a number that fails its check is tried again one character on, or digits before a card would hide the card.
        """
        pattern, accept = compiled(f"{self.edge}(?:{self.find})"), CHECKS[self.check]
        groups: tuple[str | int, ...] = tuple(name for name in pattern.groupindex if name.startswith("secret")) or (0,)
        match = pattern.search(text)
        while match:
            spans = [match.span(group) for group in groups if match.start(group) >= 0]
            found = [(start, end, self.kind) for start, end in spans if accept(text[start:end])]
            yield from found
            match = pattern.search(text, match.end() if found or not self.digits else match.start() + 1)


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a section or more, in the order of the file, and which of them each word calls for.

    Words are kept by what else the text must hold, and then by their first two characters, so that only those are looked for whose
    beginning occurs.
    """

    rows: tuple[Row, ...]
    words: dict[str, dict[str, dict[str, list[int]]]]

    def spans(self, text: str) -> Iterator[Span]:
        """Yield (start, end, kind) for every row that finds something; the rows that stand first come first."""
        lower, wanted = text.lower(), set[int]()
        pairs = {lower[at : at + 2] for at in range(len(lower))} | set(lower) | {""}  # an empty word calls for its rows always
        for needs, starts in self.words.items():
            if not needs or compiled(needs).search(text):
                for pair in pairs & starts.keys():
                    wanted.update(*[rows for word, rows in starts[pair].items() if word in lower])
        digits = len(compiled("[0-9]").findall(text)) if wanted else 0
        for number in sorted(wanted):
            if digits >= self.rows[number].digits:
                yield from self.rows[number].spans(text)


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
    raw, rows = read(name), list[Row]()
    words: dict[str, dict[str, dict[str, list[int]]]] = {}
    for section in sections:
        for kind, found in raw[section].items():
            for each in found if isinstance(found, list) else [found]:
                row = Row(kind, **{key: value for key, value in (raw["each"][section] | each).items() if key != "doc"})
                for word in row.near:
                    words.setdefault(row.needs, {}).setdefault(word[:2], {}).setdefault(word, []).append(len(rows))
                rows.append(row)
    return Table(tuple(rows), words)
