"""Write texts that a regular expression might match, from its parsed form; what stands around a match is left to the caller."""

from __future__ import annotations

from random import Random
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

ALPHABET = [*map(chr, range(32, 127)), *"\n\tÀé·，。一号"]
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def written_for(pattern: str, draw: Random) -> str:
    """Return a text for a pattern; what it looks ahead or back for is left to chance, so it need not match."""
    return _written(parser.parse(pattern), draw, {})


def _written(parts: Any, draw: Random, groups: dict[int, str]) -> str:
    text = ""
    for kind, what in parts:
        if kind is op.LITERAL:
            text += chr(what)
        elif kind is op.BRANCH:
            text += _written(draw.choice(what[1]), draw, groups)
        elif kind is op.SUBPATTERN:
            groups[what[0]] = _written(what[3], draw, groups)
            text += groups[what[0]]
        elif kind is op.GROUPREF:
            text += groups.get(what, "")
        elif kind in REPEATS:
            fewest, most, inner = what
            count = draw.choice([fewest, draw.randint(fewest, min(most, fewest + 6))])
            text += "".join(_written(inner, draw, groups) for _ in range(count))
        elif kind in (op.IN, op.NOT_LITERAL, op.ANY):
            text += draw.choice([char for char in ALPHABET if _allows(kind, what, char)] or [_first(what)])
    return text


def _allows(kind: Any, what: Any, char: str) -> bool:
    if kind is op.ANY:
        return True
    if kind is op.NOT_LITERAL:
        return bool(char != chr(what))
    negated = what[0][0] is op.NEGATE
    return negated != any(_is_one(each, value, char) for each, value in what[negated:])


def _is_one(kind: Any, value: Any, char: str) -> bool:
    if kind is op.CATEGORY:
        name = str(value).removeprefix("CATEGORY_")
        sort = {"DIGIT": char.isdecimal(), "SPACE": char.isspace(), "WORD": char.isalnum() or char == "_"}[name.removeprefix("NOT_")]
        return sort != name.startswith("NOT_")
    return value[0] <= ord(char) <= value[1] if kind is op.RANGE else ord(char) == value


def _first(what: Any) -> str:
    kind, value = what[0]
    return chr(value[0] if kind is op.RANGE else value)
