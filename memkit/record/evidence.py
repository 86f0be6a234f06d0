"""Locate, digest, check: does this memory still rest on what it cites?

The digest is the plain SHA-256, in hex, of these bytes, so any tool can repeat it:

    whole file   the raw bytes of the file                                          sha256sum prod.cfg
    lines=       those lines as UTF-8, each followed by a newline                   sed -n 2,5p prod.cfg | sha256sum
    key=         the parsed value as canonical JSON, in UTF-8 (`formats.canonical`)
    quote=       the quoted words as UTF-8

Text is decoded by its byte order mark and its line endings become `\\n` first, so all but the whole file survive a change of either.
File times are never looked at. Left out: how many pieces must hold, beyond `worst`, and what is done with a memory that fell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from memkit.errors import BadLocator, MemkitError, NotFound, Refused, UnsafePath
from memkit.record import formats
from memkit.record.locator import Locator, key_parts, line_range, quoted_text
from memkit.record.model import Check, Evidence, EvidenceCheck, Memory, Verdict
from memkit.record.sources import SourceMissing, Sources, Unreadable, decode
from memkit.record.tokens import whole_places

LONGEST_QUOTE = 2000  # characters of located text that are kept or shown
MOST_COMPARED = 16  # places whose whole text is compared when a long passage is looked for elsewhere

_WORST_FIRST = ("MISSING", "CHANGED", "AMBIGUOUS", "UNREADABLE", "UNVERSIONED", "MOVED", "VALID")


@dataclass(frozen=True, slots=True)
class Found:
    """A located part: its whole text, its digest, and whether that text is a value a sentence could state (a table is not)."""

    text: str
    digest: str
    stateable: bool = True


class NotThere(Exception):
    """The source was read and does not have that part, or has it twice. Attributes: `verdict`, `why`, `hint` (may be empty)."""

    def __init__(self, verdict: Verdict, why: str, hint: str = "") -> None:
        self.verdict, self.why, self.hint = verdict, why, hint
        super().__init__(why)


class Reading:
    """One source as it was read: its bytes, and from these same bytes its text, lines and tree, each made once."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data = name, data

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
        """Return the parsed values; raises Unreadable, and remembers that too."""
        if isinstance(self._tree, Unreadable):
            raise self._tree.with_traceback(None)
        return self._tree

    @cached_property
    def _tree(self) -> object:
        try:
            return formats.parse(formats.format_of(self.name) or "", self.text)
        except Unreadable as error:
            return error


class Reader:
    """Read each source at most once, and remember failures too. One recall, or one check, owns one.

    >>> from memkit.record.sources import Texts
    >>> Reader(Texts({"prod.cfg": "timeout = 30"})).find(Locator.parse("prod.cfg#key=timeout")).text
    '30'
    """

    def __init__(self, sources: Sources, mask: Callable[[str], str] = str) -> None:
        self._sources = sources
        self.mask = mask  # applied to whatever is shown of a source, after it was digested: a source may hold secrets
        self._read: dict[str, Reading | Exception] = {}

    def reading(self, name: str) -> Reading:
        """Return a source as read the first time; raises UnsafePath, SourceMissing or Unreadable, the same each time."""
        if name not in self._read:
            try:
                self._read[name] = Reading(name, self._sources.read(name))
            except (UnsafePath, SourceMissing, Unreadable) as error:
                self._read[name] = error
        outcome = self._read[name]
        if isinstance(outcome, Exception):
            raise outcome.with_traceback(None)
        return outcome

    def data(self, name: str) -> bytes:
        """Return the bytes of a source."""
        return self.reading(name).data

    def text(self, name: str) -> str:
        """Return the text of a source, line endings `\\n`."""
        return self.reading(name).text

    def find(self, locator: Locator) -> Found:
        """Return the located part; raises what `reading` raises, BadLocator, and NotThere."""
        return FIND[locator.kind](locator, self.reading(locator.source))


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


def observe(cite: str, reader: Reader, now: datetime) -> Evidence:
    """Read what `cite` names and return it as evidence.

    Raises BadLocator (cannot be understood, is not there, or is there twice), NotFound (no such source), UnsafePath, and
    Refused("UNREADABLE_SOURCE").
    """
    locator = Locator.parse(cite)
    found = find(cite, reader)
    version = reader.reading(locator.source).version
    return Evidence(locator.source, locator.part, found.digest, found.text[:LONGEST_QUOTE], version, now)


def find(cite: str, reader: Reader) -> Found:
    """Return the part that `cite` names, or raise what `observe` raises; for callers that need the whole located text."""
    locator = Locator.parse(cite)
    try:
        return reader.find(locator)
    except SourceMissing:
        raise NotFound(f"there is no source {locator.source!r}; check the spelling: names are relative to the root, with '/'") from None
    except Unreadable as error:
        raise Refused(
            "UNREADABLE_SOURCE", f"{locator.source!r} cannot be cited because it is {error.reason}; cite another source"
        ) from None
    except NotThere as error:
        raise BadLocator(cite, f"{error.why}{error.hint}; cite a part that is there exactly once") from None


def check(evidence: Evidence, reader: Reader) -> EvidenceCheck:
    """Read the cited part again and say whether it is still what it was. Never raises for anything a source can do."""
    if not evidence.digest:
        return EvidenceCheck(evidence, Verdict.UNVERSIONED, f"nothing of {evidence.source} was hashed, so nothing can be compared")
    verdict, why, found = _judged(evidence, reader)
    return EvidenceCheck(evidence, verdict, reader.mask(why), None if found is None else reader.mask(found)[:LONGEST_QUOTE])


def check_memory(memory: Memory, reader: Reader) -> Check:
    """Check everything a memory rests on; all of it must hold, so the worst verdict is the memory's.

    A memory that cites nothing is UNVERSIONED: there is nothing to hash, and only a review date can question it.
    """
    checks = tuple(check(piece, reader) for piece in memory.evidence)
    verdict = worst(checks)
    why = next(
        (piece.why for piece in checks if piece.verdict is verdict), "it cites no source: somebody said it, and nothing can be re-read"
    )
    return Check(memory, verdict, why, checks)


def worst(checks: Iterable[EvidenceCheck]) -> Verdict:
    """Return the verdict over several pieces, all of which must hold; UNVERSIONED where there is none."""
    verdicts = {check.verdict.value for check in checks}
    return Verdict(next((verdict for verdict in _WORST_FIRST if verdict in verdicts), "UNVERSIONED"))


def mentions(content: str, located: Found | str) -> bool:
    """Return whether the located value occurs in `content` as whole tokens (law 8); blanks folded, case kept.

    >>> mentions("The timeout is 30 seconds.", "30"), mentions("超时是30秒", "30"), mentions("It is 300, or 1.30", "30")
    (True, True, False)
    """
    if isinstance(located, Found):
        if not located.stateable:
            return False
        located = located.text
    value = " ".join(located.split())
    return bool(value) and next(whole_places(" ".join(content.split()), value), None) is not None


def _judged(evidence: Evidence, reader: Reader) -> tuple[Verdict, str, str | None]:
    name = evidence.source
    try:
        locator = Locator.parse(evidence.cite)
        found = reader.find(locator)
    except SourceMissing:
        return Verdict.MISSING, f"{name} is not there any more", None
    except (Unreadable, MemkitError) as error:
        return Verdict.UNREADABLE, f"{name} cannot be compared: {error}", None
    except NotThere as error:
        return (error.verdict, error.why, None) if locator.kind != "lines" else _elsewhere(evidence, locator, reader, None)
    if found.digest == evidence.digest:
        return Verdict.VALID, f"{evidence.cite} is as it was", found.text
    if locator.kind == "lines":
        return _elsewhere(evidence, locator, reader, found.text)
    return Verdict.CHANGED, f"{evidence.cite} is not what it was", found.text


def _elsewhere(evidence: Evidence, locator: Locator, reader: Reader, now: str | None) -> tuple[Verdict, str, str | None]:
    """Judge lines that are not, or no longer, where they were."""
    first, last = line_range(locator.value)
    places = _places(evidence, reader.reading(locator.source), last - first + 1)
    if len(places) == 1:
        return Verdict.MOVED, f"the lines of {evidence.cite} now start at line {places[0]}", evidence.quote
    if places:
        return Verdict.AMBIGUOUS, f"the lines of {evidence.cite} have moved, and stand at line {places[0]} and at line {places[1]}", now
    if now is None:
        return Verdict.MISSING, f"{locator.source} has fewer lines now, and those of {evidence.cite} stand nowhere in it", None
    return Verdict.CHANGED, f"{evidence.cite} is not what it was, and the old lines stand nowhere else in the source", now


def _places(evidence: Evidence, reading: Reading, count: int) -> list[int]:
    """Return the first two line numbers where the old lines stand.

    Subtle: of a long passage only its beginning was kept, so places that begin alike are compared by digest, the first few of them.
    """
    short = sha256(f"{evidence.quote}\n".encode()) == evidence.digest
    text, needle = f"\n{reading.text.removesuffix(chr(10))}\n", f"\n{evidence.quote}" + ("\n" if short else "")
    places: list[int] = []
    at, tries = text.find(needle), 0
    while at >= 0 and len(places) < 2 and tries < MOST_COMPARED:
        if short or _passage(text, at + 1, count) == evidence.digest:
            places.append(text.count("\n", 0, at + 1))
        at, tries = text.find(needle, at + 1), tries + (not short)
    return places


def _passage(text: str, start: int, count: int) -> str:
    lines = text[start:].split("\n", count)[:count]
    return sha256("".join(f"{line}\n" for line in lines).encode())


def _file(_: Locator, reading: Reading) -> Found:
    return Found(reading.text, reading.version)


def _lines(locator: Locator, reading: Reading) -> Found:
    first, last = line_range(locator.value)
    lines = reading.lines[first - 1 : last]
    if not lines:
        raise NotThere(Verdict.MISSING, f"{locator.source} has {len(reading.lines)} lines and no line {first}")
    text = "\n".join(lines)
    return Found(text, sha256(f"{text}\n".encode()))


def _quote(locator: Locator, reading: Reading) -> Found:
    text = quoted_text(locator.value)
    places = whole_places(reading.text, text)
    if next(places, None) is None:
        raise NotThere(Verdict.CHANGED, f"the quoted words do not stand in {locator.source} as whole words")
    if next(places, None) is not None:
        raise NotThere(Verdict.AMBIGUOUS, f"the quoted words stand in {locator.source} more than once")
    return Found(text, sha256(text.encode()))


def _key(locator: Locator, reading: Reading) -> Found:
    if formats.format_of(locator.source) is None:
        raise BadLocator(
            str(locator),
            f"{locator.source!r} has no keys; key= reads .toml, .json, .cfg, .ini, .conf and .env files: cite lines= or quote=",
        )
    value = reading.tree
    for part in key_parts(locator.value):
        value = _step(value, part, locator)
    try:
        text = formats.canonical(value)
    except KeyError:
        raise NotThere(Verdict.AMBIGUOUS, f"a key at or under {locator.value} stands twice in {locator.source}") from None
    return Found(formats.plain(value), sha256(text.encode()), stateable=not isinstance(value, dict | list))


def _step(value: object, part: str, locator: Locator) -> object:
    if isinstance(value, dict) and part in value:
        return value[part]
    if isinstance(value, list) and part.isascii() and part.isdigit() and len(part) < 10 and int(part) < len(value):
        return value[int(part)]
    if value is formats.TWICE:
        raise NotThere(Verdict.AMBIGUOUS, f"a key on the way to {locator.value} stands twice in {locator.source}")
    raise NotThere(Verdict.MISSING, f"{locator.source} has no key {locator.value}", _keys_there(value))


def _keys_there(value: object) -> str:
    """Say where the path ends, for who is writing a citation; key names stay out of what `check` says."""
    if isinstance(value, dict):
        return f" (where the path ends there are: {', '.join(key[:40] for key in list(value)[:5]) or 'no keys'})"
    return f" (where the path ends there is a list of {len(value)})" if isinstance(value, list) else ""


FIND: dict[str, Callable[[Locator, Reading], Found]] = {"file": _file, "lines": _lines, "key": _key, "quote": _quote}
"""Kind -> function of (locator, reading) that returns the part or raises NotThere, Unreadable or BadLocator."""
