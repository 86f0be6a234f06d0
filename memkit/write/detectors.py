"""The table of what must never be written down, and how it is run over a text that is already folded.

A pattern is compiled and tried only when one of its words, or enough digits, occur in the text: an ordinary sentence costs a few dozen
substring tests. Left out: folding and masking (`redact.py`), secrets known only by the name before them (`named.py`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memkit.write.checks import CHECKS, placeholder

_DIGIT = re.compile(r"[0-9]")
_LONG_RUN = re.compile(r"[A-Za-z0-9_+/.~$:^@=-]{16}")


@dataclass(frozen=True, slots=True)
class Detector:
    """One line of the table: a kind, the words or digits that must occur, the pattern, and a check of what it matched."""

    kind: str
    near: tuple[str, ...]
    digits: int
    long: bool
    pattern: str
    check: Callable[[str], bool] | None

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield what to mask: the groups named `secret...` where there are any, else the whole match.

        Subtle: a number that fails its check is tried again one character on, or digits before a card would hide the card.
        """
        pattern, groups = _compiled(self.pattern), _secret_groups(self.pattern)
        match = pattern.search(text)
        while match:
            spans = [match.span(group) for group in groups if match.start(group) >= 0]
            found = [(start, end, self.kind) for start, end in spans if self.accepts(text[start:end])]
            yield from found
            match = pattern.search(text, match.end() if found or not self.digits else match.start() + 1)

    def accepts(self, value: str) -> bool:
        """Apply the named check, or else turn down placeholders such as `ghp_xxxxxxxx`."""
        if self.check:
            return self.check(value)
        return len(set(value[-12:])) > 2 and not (len(value) < 64 and (value.endswith("EXAMPLE") or placeholder(value)))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


@cache
def _secret_groups(pattern: str) -> tuple[str | int, ...]:
    return tuple(name for name in _compiled(pattern).groupindex if name.startswith("secret")) or (0,)


@dataclass(frozen=True, slots=True)
class Table:
    """The detectors in order of the file; the words that call for them; and the words that announce a secret (see `named.py`).

    Most tokens are long runs, most identities hold digits: `words` has three lists, tried always, with a long run, and with digits.
    """

    detectors: tuple[Detector, ...]
    words: tuple[dict[str, tuple[int, ...]], ...]
    by_digits: tuple[tuple[int, int], ...]
    names: dict[str, tuple[str, ...]]


@cache
def table() -> Table:
    """Read the table once, at first use."""
    raw = tomllib.loads(Path(__file__).with_name("detectors.toml").read_text(encoding="utf-8"))
    detectors = tuple(_detector(kind, row, section) for section in ("token", "identity") for kind, row in raw[section].items())
    words: tuple[dict[str, tuple[int, ...]], ...] = ({}, {}, {})
    for number, detector in enumerate(detectors):
        group = words[2 if detector.digits else 1 if detector.long else 0]
        for word in detector.near:
            group[word] = (*group.get(word, ()), number)
    by_digits = tuple((d.digits, n) for n, d in enumerate(detectors) if not d.near)
    return Table(detectors, words, by_digits, {family: tuple(names) for family, names in raw["assignment"].items()})


def _detector(kind: str, row: dict[str, object], section: str) -> Detector:
    find, near, digits = str(row["find"]), row.get("near", []), row.get("digits", 0)
    edge = r"(?<![A-Za-z0-9])" if section == "token" and row.get("left", True) else ""
    check = CHECKS[str(row["check"])] if "check" in row else None
    words = tuple(str(word) for word in near) if isinstance(near, list) else ()
    long = section == "token" and not row.get("short", False)
    return Detector(kind, words, digits if isinstance(digits, int) else 0, long, f"{edge}(?:{find})" if edge else find, check)


def detect(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) for every detector that finds something in folded `text`; `lower` is the same in lower case."""
    known, digits = table(), len(_DIGIT.findall(text))
    always, with_run, with_digits = known.words
    wanted = {number for word, numbers in always.items() if word in lower for number in numbers}
    if _LONG_RUN.search(text):
        wanted.update(number for word, numbers in with_run.items() if word in lower for number in numbers)
    if digits:
        wanted.update(number for word, numbers in with_digits.items() if word in lower for number in numbers)
        wanted.update(number for least, number in known.by_digits if digits >= least)
    for number in sorted(wanted):
        if digits >= known.detectors[number].digits:
            yield from known.detectors[number].spans(text)
