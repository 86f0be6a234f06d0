"""Read TOML, JSON, INI, YAML and .env as one tree of values, so that a key path means the same in all of them.

Every parser is the standard library's, PyYAML's or python-dotenv's. A key that stands twice has no one value: JSON, YAML and .env then
hold `TWICE` there; TOML and INI refuse the file, as their readers do. What cannot be parsed is Unreadable with the line, never with the
text. Left out: interpolation (`%(x)s`, `${x}`), includes, and everything a program adds to what its file says.
"""

from __future__ import annotations

import configparser
import io
import json
import re
import tomllib
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal

import yaml
from dotenv.parser import parse_stream

from memkit.record import yamltree
from memkit.record.sources import Unreadable

TOP = "\0"  # subtle: no text holds NUL, so no file can name this section
LONGEST = 1024 * 1024  # characters of TOML, INI or .env: their parsers are pure Python and take seconds for this much
MOST_STEPS = 5_000_000  # of work that is not linear in the text, above which it is refused

_BLANKS = re.compile(r"(?<=\S)[^\S\n]{8,}")
_LINE = re.compile(r"line:?\s+(\d+)")
_FAULTS = (
    ValueError,
    RecursionError,
    ArithmeticError,
    AttributeError,
    configparser.Error,
    yaml.YAMLError,
)  # AttributeError: configparser, gh-105763


class Twice:
    """What stands where a key was given twice."""


TWICE = Twice()


def format_of(name: str) -> str | None:
    """Return "toml", "json", "ini", "yaml" or "env" by the file's name, or None.

    >>> format_of("conf/prod.cfg"), format_of(".env.local"), format_of("README.md")
    ('ini', 'env', None)
    """
    last = name.rpartition("/")[2].lower()
    if last == ".env" or last.startswith(".env.") or last.endswith(".env"):
        return "env"
    ending = last.rpartition(".")[2]
    return {"toml": "toml", "json": "json", "cfg": "ini", "ini": "ini", "conf": "ini", "yaml": "yaml", "yml": "yaml"}.get(ending)


def parse(kind: str, text: str) -> object:
    """Return the tree of `text` (line endings `\\n`); raises Unreadable where it is not what its name says.

    >>> parse("ini", "timeout = 30\\n[server]\\nport = 80\\n")
    {'timeout': '30', 'server': {'port': '80'}}
    """
    try:
        return _PARSERS[kind](text)
    except _FAULTS as error:
        line = _LINE.search(str(error)[:1000])
        where = f" (line {int(line[1]) - (kind == 'ini')})" if line else f" ({type(error).__name__})"
        raise Unreadable(f"not readable as {kind.upper()}{where}") from None


def canonical(value: object) -> str:
    """Return the one JSON text of a value: keys sorted, no spaces, not escaped to ASCII; dates and long decimals tagged.

    Raises Unreadable for what has no such text (half a surrogate pair, nesting too deep) and KeyError where a key stands twice.

    >>> canonical({"超时": 30, "on": True, "since": date(2026, 1, 2)})
    '{"on":true,"since":{"$date":"2026-01-02"},"超时":30}'
    """
    try:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_tagged)
        text.encode()
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"too deep, or not text, at that key ({type(error).__name__})") from None
    return text


def plain(value: object) -> str:
    """Return a scalar as a person would write it (true, 30, 2026-01-02), anything else as canonical JSON."""
    if isinstance(value, date | time | Decimal):
        return str(value)
    return value if isinstance(value, str) else canonical(value)


def _tagged(value: object) -> dict[str, str]:
    for kind in (datetime, date, time):
        if isinstance(value, kind):
            return {f"${kind.__name__}": value.isoformat()}
    if isinstance(value, Decimal):
        return {"$decimal": str(value.normalize())}
    raise KeyError("twice")


def _number(text: str) -> float | Decimal:
    """Return a float where it says all the digits do, else the exact decimal: 1e400 and 1e500 must not look the same."""
    short, exact = float(text), Decimal(text)
    return short if exact.is_nan() or Decimal(repr(short)) == exact else exact


def _toml(text: str) -> object:
    dots = max(line.count(".") for line in text.split("\n"))
    _refuse_costly(text, dots * (dots + text.count("\n")))  # tomllib walks each key from the top
    return tomllib.loads(text, parse_float=_number)


def _json(text: str) -> object:
    return json.loads(text, object_pairs_hook=_once, parse_float=_number)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    tree: dict[str, object] = {}
    for key, value in pairs:
        tree[key] = TWICE if key in tree else value
    return tree


def _yaml(text: str) -> object:
    _refuse_costly(text, 0 if len(text) <= yamltree.LONGEST else MOST_STEPS + 1)
    return yamltree.tree(text, TWICE)


def _ini(text: str) -> object:
    _refuse_costly(text, _steps(text))
    parser = configparser.RawConfigParser(strict=True, allow_no_value=True, default_section=TOP * 2)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # the documented way to keep the case of keys
    parser.read_string(f"[{TOP}]\n{text}")
    sections: dict[str, dict[str, object]] = {name: dict(parser[name]) for name in parser.sections()}
    top, defaults = sections.pop(TOP), sections.get("DEFAULT", {})
    _refuse_costly(text, len(defaults) * len(sections))
    return _once([*top.items(), *((name, {**defaults, **section}) for name, section in sections.items())])


def _env(text: str) -> object:
    _refuse_costly(text, _steps(text))
    bindings = list(parse_stream(io.StringIO(text)))
    for binding in bindings:
        if binding.error:
            raise ValueError(f"line {binding.original.line}")
    return _once([(binding.key, binding.value) for binding in bindings if binding.key is not None])


def _refuse_costly(text: str, steps: int) -> None:
    """Refuse what would take minutes: a hostile file must not hold up everybody else's check."""
    if len(text) > LONGEST or steps > MOST_STEPS:
        raise Unreadable(f"too long (over {LONGEST} characters) or too intricate to be read in reasonable time")


def _steps(text: str) -> int:
    """Count what lines and runs of blanks cost in configparser and python-dotenv; their patterns take the square of a run's length."""
    return 100 * text.count("\n") + sum((run.end() - run.start()) ** 2 for run in _BLANKS.finditer(text))


_PARSERS: dict[str, Callable[[str], object]] = {"toml": _toml, "json": _json, "ini": _ini, "yaml": _yaml, "env": _env}
