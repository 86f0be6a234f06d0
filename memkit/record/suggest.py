"""Propose citations for a piece of text that somebody selected: the narrowest parts of the source that cover it.

Which keys a selection belongs to is found by trial, the same for every format: the selection is changed, the file is parsed again, and the
keys whose values differ are the ones it belongs to. Every proposal is located before it is returned, so it can be cited as it is.
Left out: which of them says best what is meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate

from memkit.errors import BadLocator, Refused, shown
from memkit.record import formats, python
from memkit.record.evidence import Reader, cited
from memkit.record.locate import FIND, MARKDOWN, PYTHON, NotThere, Reading
from memkit.record.locator import Locator, key_value, quote_value, section_value
from memkit.record.quotes import folded, quoted_places
from memkit.record.sections import sections
from memkit.record.sessions import check_source
from memkit.record.sources import Sources, Unreadable
from memkit.record.tokens import joined, whole_places

LONGEST_QUOTE = 300  # characters that are proposed as a quote
REACHES = (0, 10, 20, 40, 80, 160)  # characters around a quote that are tried as its context
MOST_PATHS = 5000  # keys that are compared

Paths = dict[tuple[str, ...], str]


def suggest(source: str, text: str, *, sources: Sources | Reader, start: int | None = None) -> list[str]:
    """Return citations that cover `text` as it stands in `source`, the one that covers least first; the whole file is the last.

    `sources` may be a reader: what it made of the source serves every selection. `start` (characters, line endings counted as one) says
    which of several places is meant; by default the first. Raises BadLocator where the text does not stand there, NotFound (no such
    source), UnsafePath, and Refused("UNREADABLE_SOURCE").

    >>> from memkit.record.sources import Texts
    >>> suggest("prod.cfg", "30", sources=Texts({"prod.cfg": "[pay]\\ntimeout = 30\\n"}))
    ['prod.cfg#key=pay.timeout', 'prod.cfg#quote=30', 'prod.cfg#lines=2', 'prod.cfg#key=pay', 'prod.cfg']
    """
    if not (isinstance(text, str) and (isinstance(sources, Reader) or hasattr(sources, "read"))):
        given = f"text is {shown(text)} and sources is {type(sources).__name__}"
        raise Refused("BAD_SELECTION", f"{given}; pass the selected text, and sources=kit.sources")
    file, reader = str(Locator(check_source(source))), sources if isinstance(sources, Reader) else Reader(sources)
    cited(file, reader)
    reading = reader.reading(source)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    at = reading.text.find(text, start or 0)
    if at < 0 or not text.strip() or (start is not None and at != start):
        raise BadLocator(source, f"the selected text does not stand in {source!r} there; pass text exactly as the source has it")
    at, text = at + len(text) - len(text.lstrip()), text.strip()
    sizes: dict[str, int] = {}
    for kind, value in _proposals(reading, at, text):
        locator = Locator(source, kind, value)
        try:
            found = FIND[kind](locator, reading)
            whole = found.stateable and kind in ("key", "def")  # one value: nothing narrower means anything
            sizes.setdefault(str(locator), min(len(found.text), len(text)) if whole else len(found.text))
        except (NotThere, Unreadable, BadLocator):
            continue
    return [*sorted(sizes, key=sizes.__getitem__), file]


def _proposals(reading: Reading, at: int, text: str) -> Iterator[tuple[str, str]]:
    first = reading.text.count("\n", 0, at) + 1
    last = first + text.count("\n")
    yield from (("key", key_value(path)) for path in _keys(reading, at, text))
    with suppress(Unreadable):
        if reading.name.lower().endswith(PYTHON):
            yield from (("def", value) for value in _definitions(reading, first, last))
        if reading.name.lower().endswith(MARKDOWN):
            yield from (("section", value) for value in _sections(reading, first, last))
    if len(text) <= LONGEST_QUOTE:
        yield from (("quote", value) for value in _quotes(reading, at, text))
    yield "lines", f"{first}-{last}" if last > first else str(first)


def _keys(reading: Reading, at: int, text: str) -> list[tuple[str, ...]]:
    """Return the path that covers the selection and every path above it, or nothing."""
    kind = formats.format_of(reading.name)
    before = {} if kind is None else _paths(kind, reading.text)
    if kind is None or not before:
        return []
    for other in ("".join(map(_turned, text)), "0", '"0"', ""):
        after = _paths(kind, reading.text[:at] + other + reading.text[at + len(text) :])
        changed = [path for path, value in before.items() if after and after.get(path) != value]
        leaves = [path for path in changed if not any(inner[: len(path)] == path and inner != path for inner in changed)]
        if leaves:
            common = next(n for n in range(len(leaves[0]), -1, -1) if all(path[:n] == leaves[0][:n] for path in leaves))
            return [leaves[0][:n] for n in range(common, 0, -1)]
    return []


def _paths(kind: str, text: str) -> Paths:
    """Return the canonical value of every key path; empty where the text cannot be read or has too many."""
    found: Paths = {}
    try:
        work: list[tuple[tuple[str, ...], object]] = [((), formats.parse(kind, text))]
        while work and len(found) < MOST_PATHS:
            path, value = work.pop()
            inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            work += [((*path, str(name)), item) for name, item in inner]
            if path:
                found[path] = formats.canonical(value)
    except (Unreadable, KeyError):
        return {}
    return {} if work else found


def _turned(c: str) -> str:
    """Change a letter or a digit into another one, so that the file usually still parses."""
    return {"9": "8", "z": "y", "Z": "Y"}.get(c, chr(ord(c) + 1)) if c.isascii() and c.isalnum() else c


def _definitions(reading: Reading, first: int, last: int) -> list[str]:
    nodes = [(name, n, node) for name, nodes in reading.parsed(python.definitions).items() for n, node in enumerate(nodes, 1)]
    return [name + f"#{n}" * (n > 1) for name, n, node in nodes if _starts(node) <= first and last <= (node.end_lineno or 0)]


def _starts(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _sections(reading: Reading, first: int, last: int) -> list[str]:
    found = reading.parsed(sections)
    covering = [section for section in found if section.line <= first and last <= section.line + section.text.count("\n")]
    names: list[str] = []
    for section in covering:
        titles = ["/".join(section.path[n:]) for n in range(len(section.path) - 1, -1, -1)]
        alone = next((title for title in titles if sum(other.is_called(title) for other in found) == 1), None)
        same = [other for other in found if other.is_called(titles[0])]
        names.append(section_value(alone) if alone else section_value(titles[0], same.index(section) + 1))
    return names


def _quotes(reading: Reading, at: int, text: str) -> Iterator[str]:
    """Yield the selection as a quote, with as much of what stands around it as makes it the only one."""
    whole, exact = reading.parsed(folded), folded(text)
    near = reading.parsed(_folded_before)[at]
    begin = next(whole_places(whole, exact, near), near + 2)
    if begin > near + 1 or _never_alone(whole, *_around(whole, begin, begin + len(exact), REACHES[-1])):
        return
    for reach in REACHES:
        left, right = _around(whole, begin, begin + len(exact), reach)
        before, after = whole[left:begin].strip(), whole[begin + len(exact) : right].strip()
        for context in dict.fromkeys(((before, ""), ("", after), (before, after))):
            found = quoted_places(whole, exact, *context)
            if next(found, None) is not None and next(found, None) is None:
                yield quote_value(exact, *context)
                return


def _folded_before(text: str) -> list[int]:
    """Return for each place of a text how long what stands before it is when folded: that keeps what is no blank, in order, and no more."""
    ends = [0, *(at + 1 for at, character in enumerate(folded(text)) if character != " ")]
    return [ends[count] for count in accumulate((not character.isspace() for character in text), initial=0)]


def _around(whole: str, left: int, right: int, reach: int) -> tuple[int, int]:
    """Widen a span by `reach` characters on both sides, and on to the edges of words."""
    left, right = max(0, left - reach), min(len(whole), right + reach)
    while reach and joined(whole, left):
        left -= 1
    while reach and joined(whole, right):
        right += 1
    return left, right


def _never_alone(whole: str, left: int, right: int) -> bool:
    """Return whether a span stands twice with the two characters beside it that say where words end: then so does whatever is in it.

    Subtle: an end of the text bounds a word exactly as a blank does.
    """
    padded = f" {whole} "
    wide = padded[max(0, left - 1) : right + 3]
    return padded.find(wide, padded.find(wide) + 1) >= 0
