"""Say what a chosen piece of text states, and whether that still holds, by parsers that memkit's locators do not use.

This is the judge of the drift lab: it never looks at a locator or a digest. Which values a piece belongs to is found by trial: the piece
is changed, the file is read again, and the values that differ are the ones. Where none differs (prose, a comment) the words count: as
many of them must stand there as before. Left out: whether a value that did not change still means the same.
"""

from __future__ import annotations

import ast
import configparser
import re
from dataclasses import dataclass

import yaml

from memkit.errors import NotFound
from memkit.lab.drift_truth import facts
from memkit.record.sources import Unreadable, decode

BAD = (ValueError, SyntaxError, RecursionError, configparser.Error, yaml.YAMLError)
READERS = {
    "toml": "tomllib",
    "json": "json",
    "yaml": "yaml.safe_load",
    "yml": "yaml.safe_load",
    "cfg": "configparser",
    "ini": "configparser",
}
READERS |= {"py": "ast"}

Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class Fact:
    """What a piece of `path` states: values by the locator of the independent reader, or, where there are none, the words themselves."""

    path: str
    values: Values
    words: str
    count: int

    @property
    def judge(self) -> str:
        """Return who says whether it still holds."""
        return READERS.get(self.path.rpartition(".")[2], "") if self.values else "counting the words"

    def holds(self, data: bytes | None) -> bool:
        """Return whether the fact still holds in a later version; None is a version where the file is gone."""
        try:
            text = decode(data or b"").replace("\r\n", "\n")
            now = read_values(self.path, text) if self.values else {}
        except (Unreadable, *BAD):
            return False
        if not self.values:
            return count_words(text, self.words) >= self.count
        return all(_within(value, now.get(name)) for name, value in self.values.items())


def fact_of(path: str, text: str, at: int, piece: str) -> Fact:
    """Return what `piece`, which begins at character `at`, states. Raises NotFound where it does not stand there.

    >>> fact = fact_of("a.toml", "x = 1\\ny = [2, 3]\\n", 11, "2")
    >>> fact.values, fact.holds(b"y = [3, 2] # again"), fact.holds(b"x = 2\\ny = [3]")
    ({'key=y': [2]}, True, False)
    """
    if not piece.strip() or text[at : at + len(piece)] != piece:
        raise NotFound("the piece does not stand in the text there; copy it from the text exactly as it is")
    values = {} if path.endswith(".md") else _values_at(path, text, at, piece)
    return Fact(path, values, piece, count_words(text, piece))


def read_values(path: str, text: str) -> Values:
    """Return every value the independent reader finds; for Python also the values of assigned names."""
    found = facts(path, text)
    if path.endswith(".py"):
        found |= {f"def={name}": value for name, value in _assigned(ast.parse(text), "")}
    return found


def count_words(text: str, words: str) -> int:
    """Return how often words stand in a text, however either is wrapped, and not as a part of longer ones.

    >>> count_words("waits 30\\nseconds, not 300", "30 seconds"), count_words("300", "30"), count_words("超时\\n三十秒", "超时三十秒")
    (1, 0, 1)
    """
    needle = _unwrapped(words)
    left, right = (r"(?<![A-Za-z0-9_])" if needle[:1].isascii() else ""), (r"(?![A-Za-z0-9_])" if needle[-1:].isascii() else "")
    return len(re.findall(left * needle[:1].isalnum() + re.escape(needle) + right * needle[-1:].isalnum(), _unwrapped(text)))


def turned(piece: str) -> str:
    """Return a piece in which each letter and digit is another one, so that the file around it usually still parses.

    >>> turned(">=3.19 Zz")
    '>=4.28 Yy'
    """
    return "".join(_TURNED.get(c, chr(ord(c) + 1)) if c.isascii() and c.isalnum() else "另" if c.isalnum() else c for c in piece)


_TURNED = {"9": "8", "z": "y", "Z": "Y"}


def _values_at(path: str, text: str, at: int, piece: str) -> Values:
    before = read_values(path, text)
    for other in (turned(piece), "0", '"0"', ""):
        try:
            after = read_values(path, text[:at] + other + text[at + len(piece) :])
        except BAD:
            continue
        if changed := {name: value for name, value in before.items() if not _within(value, after.get(name))}:
            inner = [name for name in changed if not any(longer.startswith(f"{name}.") for longer in changed)]
            return {name: _left(changed[name], after.get(name)) for name in inner}
    return {}


def _left(value: object, after: object) -> object:
    """Return what of a list is no longer in `after`: a piece of a list states its own elements, not the others."""
    if isinstance(value, list) and isinstance(after, list):
        return [item for item in value if not any(repr(item) == repr(other) for other in after)] or value
    return value


def _within(value: object, now: object) -> bool:
    """Return whether a value is what it was, or all elements of a list are still in the list."""
    if isinstance(value, list) and isinstance(now, list):
        return {repr(item) for item in value} <= {repr(item) for item in now}
    return repr(value) == repr(now)


def _assigned(node: ast.Module | ast.ClassDef, prefix: str) -> list[tuple[str, str]]:
    found = []
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            found += _assigned(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            found += [(f"{prefix}{target.id}", ast.dump(child)) for target in targets if isinstance(target, ast.Name)]
    return found


def _unwrapped(text: str) -> str:
    return re.sub(r"(?<=[^\x00-\x7f]) (?=[^\x00-\x7f])", "", " ".join(text.split()))
