"""Find a located part in a source that has been read: one function for each kind of locator, in `FIND`.

The digest of a part is the plain SHA-256, in hex, of these bytes, so any tool can repeat it:

    whole file   the raw bytes of the file                                          sha256sum prod.cfg
    lines=       those lines as UTF-8, each followed by a newline                   sed -n 2,5p prod.cfg | sha256sum
    key=         the parsed value as canonical JSON, in UTF-8 (`formats.canonical`)
    def=         the syntax tree as canonical JSON (`python.canonical`)
    section=     its lines as UTF-8 without blanks at the end, and a newline
    quote=       the quoted words as UTF-8

Text is decoded by its byte order mark and its line endings become `\\n` first, so all but the whole file survive a change of either.
Everything here is pure. Left out: reading sources, and what a changed digest means (`evidence.py`).
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

from memkit.errors import BadLocator
from memkit.record import formats, python
from memkit.record.locator import Locator, key_parts, line_range, numbered, quote_parts
from memkit.record.model import Verdict
from memkit.record.quotes import folded, quoted_places
from memkit.record.sections import sections
from memkit.record.sources import Unreadable, decode

PYTHON, MARKDOWN = (".py", ".pyi"), (".md", ".markdown", ".mdown", ".mkd")

MOST_CITED = 256  # citations of one source whose finds are remembered

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """A located part: its whole text, its digest, and whether that text is a value a sentence could state (a table or null is not)."""

    text: str
    digest: str
    stateable: bool = True


class NotThere(Exception):
    """The source was read and does not have that part, or has it twice.

    Attributes: `verdict`, `why` (a sentence), `hint` (for who writes a citation; may be empty), `now` (what stands there instead).
    """

    def __init__(self, verdict: Verdict, why: str, *, hint: str = "", now: str | None = None) -> None:
        self.verdict, self.why, self.hint, self.now = verdict, why, hint, now
        super().__init__(why)


class Reading:
    """One source as it was read: its bytes, and from these same bytes its text, lines and tree, each made once."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data = name, data
        self.cited: dict[str, tuple[Locator, Found]] = {}  # what citations found here: they say nothing that the source does not
        self._made: dict[Callable[[str], object], object] = {}

    def keep(self, cite: str, found: tuple[Locator, Found]) -> None:
        """Remember what a citation found, for a while."""
        if len(self.cited) >= MOST_CITED:
            self.cited.clear()  # one step, whatever other threads do
        self.cited[cite] = found

    @cached_property
    def version(self) -> str:
        return sha256(self.data)

    @cached_property
    def text(self) -> str:
        """Return the decoded text with `\\n` line endings; raises Unreadable."""
        return decode(self.data).replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines without their ends; a last line needs no newline, and an empty text has none."""
        return self.text.removesuffix("\n").split("\n") if self.text else []

    @property
    def tree(self) -> object:
        """Return the values of a file with keys; raises Unreadable."""
        return self.parsed(self._tree)

    def parsed(self, parse: Callable[[str], T]) -> T:
        """Return what `parse` makes of the text, made once; raises Unreadable, and remembers that too."""
        if parse not in self._made:
            try:
                self._made[parse] = parse(self.text)
            except Unreadable as error:
                self._made[parse] = error
        made = self._made[parse]
        if isinstance(made, Unreadable):
            raise made.with_traceback(None)
        return cast(T, made)

    def _tree(self, text: str) -> object:
        return formats.parse(formats.format_of(self.name) or "", text)


def sha256(data: bytes) -> str:
    """Return the SHA-256 of `data` in hex.

    >>> sha256(b"30")[:8]
    '624b60c5'
    """
    return hashlib.sha256(data).hexdigest()


def locate(locator: Locator, data: bytes) -> Found:
    """Return the part of `data` that the locator names: pure. Raises Unreadable, BadLocator or NotThere.

    >>> locate(Locator.parse("notes.md#lines=2"), b"one\\r\\ntwo\\r\\n").text
    'two'
    """
    return FIND[locator.kind](locator, Reading(locator.source, data))


def _file(_: Locator, reading: Reading) -> Found:
    return Found(reading.text, reading.version)


def _lines(locator: Locator, reading: Reading) -> Found:
    first, last = line_range(locator.value)
    lines = reading.lines[first - 1 : last]
    text = "\n".join(lines)
    if len(reading.lines) < last:
        why = f"{locator.source} has {len(reading.lines)} lines, so {locator.part} reaches past its end"
        raise NotThere(Verdict.CHANGED if lines else Verdict.MISSING, why, now=text if lines else None)
    return Found(text, sha256(f"{text}\n".encode()))


def _quote(locator: Locator, reading: Reading) -> Found:
    exact, before, after = quote_parts(locator.value)
    text = reading.parsed(folded)
    where = " between the words given" if before or after else ""
    places = quoted_places(text, folded(exact), before, after)
    if next(places, None) is None:
        raise NotThere(Verdict.CHANGED, f"the quoted words do not stand in {locator.source} as whole words{where}")
    if next(places, None) is not None:
        hint = "" if where else " (say which one: add &before= or &after= and a few words of what stands there)"
        raise NotThere(Verdict.AMBIGUOUS, f"the quoted words stand in {locator.source} more than once{where}", hint=hint)
    return Found(exact, sha256(exact.encode()))


def named_parts(locator: Locator, reading: Reading) -> list[Found]:
    """Return every part a `def=` or `section=` could mean by its name, in the order of the source."""
    name, _ = numbered(locator.value)
    if locator.kind == "def":
        _require_ending(locator, PYTHON)
        nodes = reading.parsed(python.definitions).get(name, [])
        return [_defined(node) for node in nodes]
    _require_ending(locator, MARKDOWN)
    texts = [section.text for section in reading.parsed(sections) if section.is_called(name)]
    return [Found(text, sha256(f"{text}\n".encode()), stateable=False) for text in texts]


def _defined(node: ast.stmt) -> Found:
    text, stateable = python.shown(node)
    return Found(text, sha256(python.canonical(node).encode()), stateable)


def _named(locator: Locator, reading: Reading) -> Found:
    parts, (name, number) = named_parts(locator, reading), numbered(locator.value)
    if len(parts) < number:
        there = f"{len(parts) or 'no'} {'definition' if locator.kind == 'def' else 'section'}{'s' * (len(parts) > 1)}"
        raise NotThere(Verdict.MISSING, f"{locator.source} has {there} called {name!r}, so {locator.part} names nothing")
    return parts[number - 1]


def _require_ending(locator: Locator, endings: tuple[str, ...]) -> None:
    if not locator.source.lower().endswith(endings):
        raise BadLocator(
            str(locator),
            f"{locator.source!r} is not for {locator.kind}=, which reads {', '.join(endings)} files: cite lines= or quote=",
        )


def _key(locator: Locator, reading: Reading) -> Found:
    if formats.format_of(locator.source) is None:
        raise BadLocator(
            str(locator),
            f"{locator.source!r} has no keys; key= reads .toml, .json, .yaml, .yml, .cfg, .ini, .conf and .env: cite lines= or quote=",
        )
    value = reading.tree
    for part in key_parts(locator.value):
        value = _step(value, part, locator)
    try:
        text = formats.canonical(value)
    except KeyError:
        raise NotThere(Verdict.AMBIGUOUS, f"a key at or under {locator.value} stands twice in {locator.source}") from None
    return Found(formats.plain(value), sha256(text.encode()), stateable=not isinstance(value, dict | list | None))


def _step(value: object, part: str, locator: Locator) -> object:
    if isinstance(value, dict) and part in value:
        return value[part]
    if isinstance(value, list) and part.isascii() and part.isdigit() and len(part) < 10 and int(part) < len(value):
        return value[int(part)]
    if value is formats.TWICE:
        raise NotThere(Verdict.AMBIGUOUS, f"a key on the way to {locator.value} stands twice in {locator.source}")
    raise NotThere(Verdict.MISSING, f"{locator.source} has no key {locator.value}", hint=_keys_there(value))


def _keys_there(value: object) -> str:
    """Say where the path ends, for who is writing a citation; key names stay out of what `check` says."""
    if isinstance(value, dict):
        return f" (where the path ends there are: {', '.join(key[:40] for key in list(value)[:5]) or 'no keys'})"
    return f" (where the path ends there is a list of {len(value)})" if isinstance(value, list) else ""


FIND: dict[str, Callable[[Locator, Reading], Found]] = {
    "file": _file,
    "lines": _lines,
    "key": _key,
    "def": _named,
    "section": _named,
    "quote": _quote,
}
"""Kind -> function of (locator, reading) that returns the part or raises NotThere, Unreadable or BadLocator."""
