"""Which part of a source: a locator, its string form, and back.

    prod.cfg                        the whole file
    prod.cfg#lines=2-5              lines 2 to 5, counted from 1 (`lines=2`: one line)
    prod.cfg#key=server.timeout     a key path in TOML, JSON, INI, YAML or .env; a bare number picks from a list
    setup.cfg#key="tool:pytest".addopts         a part with dots, blanks or quotes in it is quoted as in JSON
    shop.py#def=Checkout.pay        a Python function, class, or assigned name; `def=pay#2` the second of that name
    guide.md#section=Install/Windows            a Markdown section by its heading, or the last of the path to it; `Notes#2` the second
    notes.md#quote=retry at most twice          exact words; newline, % and what does not print are percent-encoded
    notes.md#quote=30&before=test waits&after=seconds       the one of several that stands between these words

In the name, and in a heading, `%` is written `%25` and `#` is `%23`. The string form is canonical: equal locators have equal strings, and
every part of a key that is not letters, digits, `_` or `-` comes out quoted. A new kind is one function in `SYNTAX` here and one in
`FIND` of `locate.py`. Left out: reading sources, and whether a name is safe.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import quote as percent
from urllib.parse import unquote_to_bytes

from memkit.errors import BadLocator

LONGEST = 4096  # characters of a citation

_LINES = re.compile(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?")
_BARE = re.compile(r"[\w-]+")
_NUMBERED = re.compile(r"(.*\S)#([1-9][0-9]{0,5})", re.DOTALL)  # subtle: "PR #12" is a heading, "Notes#2" the second called Notes
_CONTEXT = re.compile(r"&(before|after)=")
_ESCAPED = re.compile(r"%25|%23|(?:%(?!25|23)[0-9A-F]{2})+")
_PART = re.compile(r'([^\s."]+)|("(?:[^"\\]|\\.)*")', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Locator:
    """A part of a source. `kind` is "file" or one of SYNTAX; `value` the canonical text after `=`, empty for a file.

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


def numbered(value: str) -> tuple[str, int]:
    """Return the name in a canonical `def=` or `section=`, and which of that name is meant, counted from 1.

    >>> numbered("Checkout.pay#2"), numbered("C%23 and F%23")
    (('Checkout.pay', 2), ('C# and F#', 1))
    """
    name, mark, number = value.partition("#")
    return unquote_to_bytes(name).decode(), int(number) if mark else 1


def section_value(title: str, number: int = 1) -> str:
    """Return the canonical form of a heading, or of several with `/` between, as `section=` writes it.

    >>> section_value("C# in 5 % of   time"), section_value("Notes", 2)
    ('C%23 in 5 %25 of time', 'Notes#2')
    """
    return _encoded(" ".join(title.split()), "%#") + (f"#{number}" if number > 1 else "")


def quote_parts(value: str) -> tuple[str, str, str]:
    """Return the exact words of a canonical quote, the words before them, and the words after them.

    >>> quote_parts('100%25%0Asure&after=of it')
    ('100%\\nsure', '', 'of it')
    """
    exact, *context = _CONTEXT.split(value)
    given = dict(zip(context[::2], context[1::2], strict=True))
    texts = (exact, given.get("before", ""), given.get("after", ""))
    return tuple(unquote_to_bytes(text).decode() for text in texts)  # type: ignore[return-value]  # three of them


def quote_value(text: str, before: str = "", after: str = "") -> str:
    """Return the canonical form of exact words and their context; line endings count as `\n`, and blanks in the context as one.

    >>> quote_value("100%\\r\\nsure", after="of  it")
    '100%25%0Asure&after=of it'
    """
    exact = _words(text.replace("\r\n", "\n").replace("\r", "\n"))
    context = (f"&{name}={_words(' '.join(words.split()))}" for name, words in (("before", before), ("after", after)) if words.strip())
    return exact + "".join(context)


def _encoded(text: str, also: str) -> str:
    return "".join(c if c.isprintable() and c not in also else percent(c, safe="") for c in text)


def _words(text: str) -> str:
    return _CONTEXT.sub(lambda found: f"%26{found[0][1:]}", _encoded(text, "%"))


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


def _def(cite: str, value: str) -> str:
    match = _NUMBERED.fullmatch(value)
    names = [unicodedata.normalize("NFKC", part) for part in key_parts(_key(cite, match[1] if match else value))]
    if not all(name.isidentifier() for name in names):
        raise _bad(cite, "has a name that is not Python's", "names with dots between, and #2 for the second of them", "def=Checkout.pay")
    return ".".join(names) + _ordinal(match)


def _section(cite: str, value: str) -> str:
    match = _NUMBERED.fullmatch(value)
    title = _ESCAPED.sub(lambda found: _plain(found[0]), match[1] if match else value)
    if not title.strip() or any(0xD800 <= ord(c) < 0xE000 for c in title):
        raise _bad(cite, "names no section", "a heading, or several with '/' between", "section=Install/Windows")
    return section_value(title) + _ordinal(match)


def _plain(escaped: str) -> str:
    """Decode what `section_value` encodes and nothing else: a heading may hold an address, and that a `%20` of its own."""
    text = unquote_to_bytes(escaped).decode(errors="replace")
    return text if text in "%#" or not any(c.isprintable() for c in text) else escaped


def _ordinal(match: re.Match[str] | None) -> str:
    return f"#{match[2]}" if match and match[2] != "1" else ""


def _quote(cite: str, value: str) -> str:
    try:
        if re.search(r"%(?![0-9A-Fa-f]{2})", value):
            raise ValueError
        texts = quote_parts(value)
    except ValueError:
        raise _bad(cite, "has a '%' that does not start an encoded character", "%25 for '%'", "quote=100%25 sure") from None
    if not texts[0].strip():
        raise _bad(cite, "quotes nothing", "the exact words", "quote=retry at most twice")
    if len(found := _CONTEXT.findall(value)) > len(set(found)):
        raise _bad(cite, f"gives &{found[0]}= twice", "each once", "%26 for a '&' that is quoted")
    return quote_value(*texts)


def _bad(cite: str, found: str, expected: str, way_out: str) -> BadLocator:
    return BadLocator(cite, f"this citation {found}; expected {expected}: write {way_out}")


SYNTAX: dict[str, Callable[[str, str], str]] = {"lines": _lines, "key": _key, "def": _def, "section": _section, "quote": _quote}
"""Kind -> function of (whole citation, text after `=`) that returns the canonical text or raises BadLocator."""
