"""Observe and check: does this memory still rest on what it cites?

`observe` reads a citation and keeps the digest of what it names; `check` reads it again and compares. Digests decide and file times are
never looked at. Which bytes a digest is of is said in `locate.py`. Left out: what is done with a memory whose evidence fell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from memkit.errors import BadLocator, MemkitError, NotFound, Refused, UnsafePath
from memkit.record.locate import FIND, Found, NotThere, Reading, locate, sha256
from memkit.record.locator import Locator, line_range
from memkit.record.model import Check, Evidence, EvidenceCheck, Memory, Verdict
from memkit.record.sources import SourceMissing, Sources, Unreadable
from memkit.record.tokens import whole_places

__all__ = ["Found", "Reader", "check", "check_memory", "find", "locate", "mentions", "observe", "worst"]

LONGEST_QUOTE = 2000  # characters of located text that are kept or shown
MOST_COMPARED = 16  # places whose whole text is compared when a long passage is looked for elsewhere

_WORST_FIRST = ("MISSING", "CHANGED", "AMBIGUOUS", "UNREADABLE", "UNVERSIONED", "MOVED", "VALID")


class Reader:
    """Read each source at most once, and remember failures too. One recall, or one check, owns one.

    >>> from memkit.record.sources import Texts
    >>> Reader(Texts({"prod.cfg": "timeout = 30"})).find(Locator.parse("prod.cfg#key=timeout")).text
    '30'
    """

    def __init__(self, sources: Sources, mask: Callable[[str], str] = str) -> None:
        self._sources = sources
        self.mask = mask  # applied to what is shown of a source that changed, after it was digested: it may hold secrets now
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
    if found is not None and verdict is not Verdict.VALID:
        found = reader.mask(found[: 16 * LONGEST_QUOTE])  # subtle: more than is shown, so that no secret is cut in two and missed
    return EvidenceCheck(evidence, verdict, reader.mask(why), None if found is None else found[:LONGEST_QUOTE])


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
        return (error.verdict, error.why, error.now) if locator.kind != "lines" else _elsewhere(evidence, locator, reader, error.now)
    if found.digest == evidence.digest:
        return Verdict.VALID, f"{_named(locator)} is as it was", found.text
    if locator.kind == "lines":
        return _elsewhere(evidence, locator, reader, found.text)
    return Verdict.CHANGED, f"{_named(locator)} is not what it was{_values(evidence.quote, found.text)}", found.text


def _named(locator: Locator) -> str:
    """Name a part in a sentence without repeating any content."""
    return f"the passage quoted from {locator.source}" if locator.kind == "quote" else str(locator)


def _values(was: str, now: str) -> str:
    """Return the two values for the end of a sentence where they are short."""
    return f": {was!r} became {now!r}" if max(len(was), len(now)) <= 40 and "\n" not in was + now else ""


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
    text, needle = "\n" + "".join(f"{line}\n" for line in reading.lines), f"\n{evidence.quote}" + ("\n" if short else "")
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
