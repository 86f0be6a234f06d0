"""Look elsewhere for what is not where it was cited: other lines, another one of the same name, another file of the root.

The first two are in the same source and may make a verdict MOVED or AMBIGUOUS. A file is only ever a hint to a person: that the same part
stands in another file does not make that file the source. The search for it reads other files, so recall never asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from memkit.errors import MemkitError
from memkit.record.locate import FIND, NotThere, Reading, named_parts, sha256
from memkit.record.locator import Locator, line_range
from memkit.record.model import Evidence, Verdict
from memkit.record.sources import SourceMissing, Unreadable

MOST_COMPARED = 16  # places whose whole text is compared when a long passage is looked for elsewhere
MOST_FILES, MOST_BYTES = 200, 16 * 1024 * 1024  # that are read to find one file which is gone

Judgement = tuple[Verdict, str, str | None]


def other_lines(evidence: Evidence, locator: Locator, reading: Reading, now: str | None) -> Judgement:
    """Judge lines that are not, or no longer, where they were."""
    first, last = line_range(locator.value)
    places = _places(evidence, reading, last - first + 1)
    if len(places) == 1:
        return Verdict.MOVED, f"the lines of {evidence.cite} now start at line {places[0]}", evidence.quote
    if places:
        return Verdict.AMBIGUOUS, f"the lines of {evidence.cite} have moved, and stand at line {places[0]} and at line {places[1]}", now
    if now is None:
        return Verdict.MISSING, f"{locator.source} has fewer lines now, and those of {evidence.cite} stand nowhere in it", None
    return Verdict.CHANGED, f"{evidence.cite} is not what it was, and the old lines stand nowhere else in the source", now


def other_number(evidence: Evidence, locator: Locator, reading: Reading, now: str | None) -> Judgement | None:
    """Judge a numbered definition or section (`pay#2`) by the others of its name; None where none of them is what it was."""
    parts = named_parts(locator, reading)
    places = [n for n, part in enumerate(parts, 1) if part.digest == evidence.digest]
    if len(places) == 1:
        return Verdict.MOVED, f"what was {evidence.cite} is now number {places[0]} of that name", parts[places[0] - 1].text
    if places:
        return Verdict.AMBIGUOUS, f"what was {evidence.cite} is now number {places[0]} and number {places[1]} of that name", now
    return None


def other_files(evidence: Evidence, names: Iterable[str], read: Callable[[str], Reading]) -> list[str]:
    """Return the files whose same part is what it was: those with all the old bytes if there are any, files named alike first."""
    last = evidence.source.rpartition("/")[2]
    ending = last.rpartition(".")[2]

    def unlike(name: str) -> tuple[bool, bool, str]:
        return name.rpartition("/")[2] != last, not name.endswith(ending), name

    alike = list(_alike(evidence, sorted(names, key=unlike)[:MOST_FILES], read))
    return [reading.name for reading in alike if reading.version == evidence.source_version[:64]] or [reading.name for reading in alike]


def _alike(evidence: Evidence, names: list[str], read: Callable[[str], Reading]) -> Iterator[Reading]:
    locator, left = Locator.parse(evidence.cite), MOST_BYTES
    for name in names:
        try:
            reading = read(name)
            left -= len(reading.data)
            if left >= 0 and FIND[locator.kind](Locator(name, locator.kind, locator.value), reading).digest == evidence.digest:
                yield reading
        except (SourceMissing, Unreadable, NotThere, MemkitError):
            continue
        if left < 0:
            return


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
