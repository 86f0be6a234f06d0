"""Observe and check: does this memory still rest on what it cites?

`observe` reads a citation and keeps the digest of what it names; `check` reads it again and compares. Digests decide and file times are
never looked at. Which bytes a digest is of is said in `locate.py`. Left out: what is done with a memory whose evidence fell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from memkit.errors import BadLocator, MemkitError, NotFound, Refused, UnsafePath
from memkit.record import git
from memkit.record.elsewhere import Judgement, other_files, other_lines, other_number
from memkit.record.locate import FIND, Found, NotThere, Reading, locate
from memkit.record.locator import Locator
from memkit.record.model import Check, Evidence, EvidenceCheck, Memory, Role, Support, Verdict, aside
from memkit.record.sessions import FORGOTTEN, SessionSource, is_session
from memkit.record.sources import Folder, SourceMissing, Sources, Unreadable
from memkit.record.tokens import whole_places

__all__ = ["Found", "Reader", "check", "check_memory", "find", "locate", "mentions", "observe", "worst"]

MOST_KEPT, LARGEST_KEPT = 256, 64 * 1024  # sources that stay parsed between two readers, and bytes of one
LONGEST_QUOTE = 2000  # characters of located text that are kept or shown

_WORST_FIRST = ("MISSING", "CHANGED", "AMBIGUOUS", "UNREADABLE", "UNVERSIONED", "MOVED", "VALID")


class Reader:
    """Read each source at most once, and remember failures too. One recall, or one check, owns one.

    >>> from memkit.record.sources import Texts
    >>> Reader(Texts({"prod.cfg": "timeout = 30"})).find(Locator.parse("prod.cfg#key=timeout")).text
    '30'
    """

    def __init__(
        self,
        sources: Sources,
        mask: Callable[[str], str] = str,
        parsed: dict[str, Reading] | None = None,
        sessions: SessionSource | None = None,
    ) -> None:
        self._sources, self.sessions = sources, sessions
        self._parsed = {} if parsed is None else parsed  # what earlier readers parsed: used again where the bytes read now are the same
        self.mask = mask  # applied to what is shown of a source that changed, after it was digested: it may hold secrets now
        self._read: dict[str, Reading | Exception] = {}
        self._names: list[str] | None = None

    def reading(self, name: str) -> Reading:
        """Return a source as read the first time; raises UnsafePath, SourceMissing or Unreadable, the same each time."""
        if name not in self._read:
            try:
                self._read[name] = self._fresh(name)
            except (UnsafePath, SourceMissing, Unreadable) as error:
                self._read[name] = error
        outcome = self._read[name]
        if isinstance(outcome, Exception):
            raise outcome.with_traceback(None)
        return outcome

    def _fresh(self, name: str) -> Reading:
        if self.sessions is not None and is_session(name):
            return Reading(name, self.sessions.read(name))  # subtle: not kept between readers, or forgetting would have to reach it there
        return self._as_before(name, self._sources.read(name))

    def _as_before(self, name: str, data: bytes) -> Reading:
        reading = self._parsed.pop(name, None)
        if reading is None or reading.data != data:
            reading = Reading(name, data)
        if len(self._parsed) >= MOST_KEPT:
            self._parsed.clear()  # one step, whatever other threads do
        if len(data) <= LARGEST_KEPT:
            self._parsed[name] = reading
        return reading

    def data(self, name: str) -> bytes:
        """Return the bytes of a source."""
        return self.reading(name).data

    def text(self, name: str) -> str:
        """Return the text of a source, line endings `\\n`."""
        return self.reading(name).text

    def role(self, name: str) -> Role | None:
        """Return who spoke in an episode; None for any other source."""
        return self.sessions.episode(name).role if self.sessions is not None and is_session(name) else None

    def version(self, name: str) -> str:
        """Return the SHA-256 of a whole source, and in a git work tree a blank and the commit: `git:<commit>`, or `+dirty` after it."""
        reading = self.reading(name)
        if is_session(name) or not isinstance(self._sources, Folder):
            return reading.version
        return f"{reading.version} {git.commit_of(self._sources.root, name, reading.data)}".rstrip()

    def names(self) -> list[str]:
        """Return the names that may be cited, listed once."""
        self._names = self._sources.names() if self._names is None else self._names
        return self._names

    def find(self, locator: Locator) -> Found:
        """Return the located part; raises what `reading` raises, BadLocator, and NotThere."""
        return FIND[locator.kind](locator, self.reading(locator.source))

    def cited(self, cite: str) -> tuple[Locator, Found]:
        """Return what a citation stands for and the part it names, looked for once in the same bytes; raises what `find` raises."""
        name = cite.partition("#")[0] if isinstance(cite, str) else ""
        known = self.reading(name).cited.get(cite) if name in self._read or name in self._parsed else None
        if known is None:
            locator = Locator.parse(cite)
            known = locator, self.find(locator)
            self.reading(locator.source).keep(cite, known)
        return known


def observe(cite: str, reader: Reader, now: datetime) -> Evidence:
    """Read what `cite` names and return it as evidence.

    Raises BadLocator (cannot be understood, is not there, or is there twice), NotFound (no such source), UnsafePath, and
    Refused("UNREADABLE_SOURCE").
    """
    locator, found = cited(cite, reader)
    return Evidence(locator.source, locator.part, found.digest, found.text[:LONGEST_QUOTE], reader.version(locator.source), now)


def find(cite: str, reader: Reader) -> Found:
    """Return the part that `cite` names, or raise what `observe` raises; for callers that need the whole located text."""
    return cited(cite, reader)[1]


def cited(cite: str, reader: Reader) -> tuple[Locator, Found]:
    """Return what `cite` stands for and the part it names, or raise what `observe` raises."""
    try:
        return reader.cited(cite)
    except SourceMissing:
        source = Locator.parse(cite).source
        raise NotFound(f"there is no source {source!r}; check the spelling: names are relative to the root, with '/'") from None
    except Unreadable as error:
        source = Locator.parse(cite).source
        raise Refused("UNREADABLE_SOURCE", f"{source!r} cannot be cited because it is {error.reason}; cite another source") from None
    except NotThere as error:
        raise BadLocator(cite, f"{error.why}{error.hint}; cite a part that is there exactly once") from None


def check(evidence: Evidence, reader: Reader, *, search: bool = False) -> EvidenceCheck:
    """Read the cited part again and say whether it is still what it was. Never raises for anything a source can do.

    With `search`, other files are read to say where the content of one that is gone now stands.
    """
    if not evidence.digest:
        since = evidence.observed_at.date().isoformat()
        why = f"not re-checked since {since}: nothing of {evidence.source} was hashed, so nothing can be compared"
        return EvidenceCheck(evidence, Verdict.UNVERSIONED, why)
    verdict, why, found = _judged(evidence, reader)
    if search and verdict is Verdict.MISSING and found is None:
        why += _hint(evidence, reader)
    if found is not None and verdict is not Verdict.VALID:
        found = reader.mask(found[: 16 * LONGEST_QUOTE])  # subtle: more than is shown, so that no secret is cut in two and missed
    return EvidenceCheck(evidence, verdict, reader.mask(why), None if found is None else found[:LONGEST_QUOTE])


def check_memory(memory: Memory, reader: Reader, *, search: bool = False) -> Check:
    """Check everything a memory rests on, and decide by its rule: the worst piece where all must hold, the best where any may.

    A memory that cites nothing is UNVERSIONED: there is nothing to hash, and only a review date can question it.
    """
    if not memory.evidence:
        why = f"{aside(memory, Verdict.UNVERSIONED)}: it cites no source, so nothing can be re-read"
        return Check(memory, Verdict.UNVERSIONED, why, ())
    checks = tuple(check(piece, reader, search=search) for piece in memory.evidence)
    verdict = decided(checks, memory.support)
    return Check(memory, verdict, next(piece.why for piece in checks if piece.verdict is verdict), checks)


def decided(checks: Sequence[EvidenceCheck], support: Support) -> Verdict:
    """Return the verdict that decides: the worst where all pieces must hold, the best where any may."""
    return worst(checks) if support is Support.ALL else best(checks)


def worst(checks: Iterable[EvidenceCheck]) -> Verdict:
    """Return the verdict over several pieces, all of which must hold; UNVERSIONED where there is none."""
    verdicts = {check.verdict.value for check in checks}
    return Verdict(next((verdict for verdict in _WORST_FIRST if verdict in verdicts), "UNVERSIONED"))


def best(checks: Iterable[EvidenceCheck]) -> Verdict:
    """Return the verdict over several pieces, any of which may hold; UNVERSIONED where there is none."""
    verdicts = {check.verdict.value for check in checks}
    return Verdict(next((verdict for verdict in reversed(_WORST_FIRST) if verdict in verdicts), "UNVERSIONED"))


def mentions(content: str, located: Found | str) -> bool:
    """Return whether the located value occurs in `content` as whole tokens (law 8); blanks folded, case kept.

    >>> mentions("The timeout is 30 seconds.", "30"), mentions("超时是30秒", "30"), mentions("It is 300, or 1.30", "30")
    (True, True, False)
    """
    if isinstance(located, Found):
        if not located.stateable:
            return False
        located = located.text
    value = one_line(located)
    return bool(value) and next(whole_places(one_line(content), value), None) is not None


def one_line(text: str) -> str:
    """Return a text with all blanks as one."""
    return " ".join(text.split())


def _judged(evidence: Evidence, reader: Reader) -> Judgement:
    name = evidence.source
    try:
        locator, found = reader.cited(evidence.cite)
    except SourceMissing:
        return Verdict.MISSING, f"{name} is not there any more", None
    except (Unreadable, MemkitError) as error:
        return Verdict.UNREADABLE, f"{name} cannot be compared: {error}", None
    except NotThere as error:
        return _elsewhere(evidence, Locator.parse(evidence.cite), reader, (error.verdict, error.why, error.now))
    if found.digest == evidence.digest:
        return Verdict.VALID, f"{_named(locator)} is as it was", found.text
    why = f"{_named(locator)} is not what it was{_values(evidence, found.text)}"
    return _elsewhere(evidence, locator, reader, (Verdict.CHANGED, why, found.text))


def _elsewhere(evidence: Evidence, locator: Locator, reader: Reader, here: Judgement) -> Judgement:
    """Judge a part that is not, or no longer, where it was."""
    reading = reader.reading(locator.source)
    if locator.kind == "lines":
        return other_lines(evidence, locator, reading, here[2])
    if locator.kind in ("def", "section") and "#" in locator.value:
        return other_number(evidence, locator, reading, here[2]) or here
    return here


def _hint(evidence: Evidence, reader: Reader) -> str:
    try:
        reader.reading(evidence.source)
    except SourceMissing:
        names = other_files(evidence, reader.names(), reader.reading)
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return f"; the same stands in {', '.join(names[:3])}{more}" if names else ""
    return ""


def _named(locator: Locator) -> str:
    """Name a part in a sentence without repeating any content."""
    return f"the passage quoted from {locator.source}" if locator.kind == "quote" else str(locator)


def _values(evidence: Evidence, now: str) -> str:
    """Return the two values for the end of a sentence where they are short, or why they look alike."""
    was = evidence.quote
    if evidence.digest == FORGOTTEN:
        return ": words of it were forgotten"
    if was == now[:LONGEST_QUOTE]:
        return ", although it reads the same" + (" as far as it was kept" if was != now else ": its type, its bytes or its layout differ")
    return f": {was!r} became {now!r}" if max(len(was), len(now)) <= 40 and "\n" not in was + now else ""
