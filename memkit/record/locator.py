"""Which part of a source: a locator, its string form, and back.

    prod.cfg                        the whole file
    prod.cfg#lines=2-5              lines 2 to 5, counted from 1 (`lines=2`: one line)
    prod.cfg#key=server.timeout     a key path in TOML, JSON, INI or .env; a bare number picks from a list
    setup.cfg#key="tool:pytest".addopts         a part with dots, blanks or quotes in it is quoted as in JSON
    notes.md#quote=retry at most twice          exact words; newline, % and what does not print are percent-encoded

In the name `%` is written `%25` and `#` is `%23`. The string form is canonical: equal locators have equal strings, and every part of a key
that is not letters, digits, `_` or `-` comes out quoted. A new kind is one function in `SYNTAX` here and one in `FIND` of `locate.py`.
Left out: reading sources, and whether a name is safe.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import quote as percent
from urllib.parse import unquote_to_bytes

from memkit.errors import BadLocator

LONGEST = 4096  # characters of a citation

_LINES = re.compile(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?")
_BARE = re.compile(r"[\w-]+")
_PART = re.compile(r'([^\s."]+)|("(?:[^"\\]|\\.)*")', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Locator:
    """A part of a source. `kind` is "file", "lines", "key" or "quote"; `value` the canonical text after `=`, empty for a file.

    >>> Locator.parse("prod.cfg#lines=7-7")
    Locator(source='prod.cfg', kind='lines', value='7')
    >>> str(Locator.parse("100%25.cfg#key=server.timeout"))
    '100%25.cfg#key=server.timeout'
    """

    source: str
    kind: str = "file"
    value: str = ""

    @classmethod
    def parse(cls, cite: str) -> Locator:
        """Return the locator a citation stands for, or raise BadLocator."""
        if not isinstance(cite, str):
            raise BadLocator(repr(cite)[:80], f"a citation is {type(cite).__name__}; it must be text, such as 'prod.cfg#key=timeout'")
        if len(cite) > LONGEST:
            raise BadLocator(cite, f"a citation has {len(cite)} characters; at most {LONGEST} are allowed: cite lines or a key instead")
        name, mark, part = cite.partition("#")
        source = _source(cite, name)
        if not mark:
            return cls(source)
        kind, equals, value = part.partition("=")
        if not equals or kind not in SYNTAX:
            raise _bad(cite, f"says {kind[:40]!r} after '#'", f"one of {', '.join(f'{k}=' for k in SYNTAX)}", "a '#' in the name as %23")
        return cls(source, kind, SYNTAX[kind](cite, value))

    @property
    def part(self) -> str:
        """Return what follows `#`; empty for the whole file."""
        return "" if self.kind == "file" else f"{self.kind}={self.value}"

    def __str__(self) -> str:
        name = self.source.replace("%", "%25").replace("#", "%23")
        return f"{name}#{self.part}" if self.part else name


def line_range(value: str) -> tuple[int, int]:
    """Return first and last line, counted from 1.

    >>> line_range("2-5"), line_range("2")
    ((2, 5), (2, 2))
    """
    first, _, last = value.partition("-")
    return int(first), int(last or first)


def key_parts(value: str) -> tuple[str, ...]:
    """Return the parts of a canonical key path.

    >>> key_parts('options."flask.ext".0')
    ('options', 'flask.ext', '0')
    """
    return tuple(bare or json.loads(quoted) for bare, quoted in _PART.findall(value))


def key_value(parts: Iterable[str]) -> str:
    """Return the canonical key path of these parts.

    >>> key_value(("options", "flask.ext", "超时"))
    'options."flask.ext".超时'
    """
    return ".".join(p if _BARE.fullmatch(p) else json.dumps(p, ensure_ascii=not p.isprintable()) for p in parts)


def quoted_text(value: str) -> str:
    """Return the exact words of a canonical quote.

    >>> quoted_text("100%25%0Asure")
    '100%\\nsure'
    """
    return unquote_to_bytes(value).decode()


def quote_value(text: str) -> str:
    """Return the canonical form of exact words; line endings count as `\\n`.

    >>> quote_value("100%\\r\\nsure")
    '100%25%0Asure'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c if c.isprintable() and c != "%" else percent(c, safe="") for c in text)


def _source(cite: str, name: str) -> str:
    if stray := re.search(r"%(?!25|23)", name):
        raise _bad(cite, f"has a '%' at position {stray.start()} of the name", "%25 or %23 there", "a '%' as %25 and a '#' as %23")
    if not name:
        raise _bad(cite, "names no source", "a name before '#'", "for instance prod.cfg#key=timeout")
    return name.replace("%23", "#").replace("%25", "%")


def _lines(cite: str, value: str) -> str:
    match = _LINES.fullmatch(value)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if first > last:
        raise _bad(cite, "has no range of lines after 'lines='", "two numbers, first to last, counted from 1", "lines=2-5, or lines=2")
    return str(first) if first == last else f"{first}-{last}"


def _key(cite: str, value: str) -> str:
    parts, at = [], 0
    while match := _PART.match(value, at):
        parts.append(match[1] or _unquoted(cite, match[2]))
        at = match.end() + 1
        if value[match.end() : at] != ".":
            break
    if not parts or at <= len(value) or not value.isprintable():
        raise _bad(cite, "has a key path that cannot be read", "parts with dots between", 'server.timeout, or options."flask.ext"')
    return key_value(parts)


def _unquoted(cite: str, quoted: str) -> str:
    try:
        part = json.loads(quoted)
        part.encode()
    except ValueError:
        raise _bad(cite, "has a quoted part that is not JSON", "text as JSON quotes it", 'options."flask.ext"') from None
    return str(part)


def _quote(cite: str, value: str) -> str:
    try:
        if re.search(r"%(?![0-9A-Fa-f]{2})", value):
            raise ValueError
        text = unquote_to_bytes(value).decode()
    except ValueError:
        raise _bad(cite, "has a '%' that does not start an encoded character", "%25 for '%'", "quote=100%25 sure") from None
    if not text.strip():
        raise _bad(cite, "quotes nothing", "the exact words", "quote=retry at most twice")
    return quote_value(text)


def _bad(cite: str, found: str, expected: str, way_out: str) -> BadLocator:
    return BadLocator(cite, f"this citation {found}; expected {expected}: write {way_out}")


SYNTAX: dict[str, Callable[[str, str], str]] = {"lines": _lines, "key": _key, "quote": _quote}
"""Kind -> function of (whole citation, text after `=`) that returns the canonical text or raises BadLocator."""
