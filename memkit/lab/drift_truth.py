"""Make labelled pairs from the history of a git work tree, by parsers that memkit's locators do not use.

`key=` compares values as tomllib, configparser, json and yaml.safe_load return them, `def=` `ast.dump` of the first definition of a name,
`section=` the text under the first heading of a title as plain patterns find it. Versions that one of these refuses are left out.
"""

from __future__ import annotations

import ast
import configparser
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

import yaml

from memkit.record import git
from memkit.record.locator import key_value, section_value

MOST_FACTS = 60  # of one pair, taken evenly
LONGEST_WAIT = 60.0  # seconds for git to answer one question
MOST_BYTES = 256 * 1024  # of one version

_CHANGE = re.compile(r":\d+ 100\d+ ([0-9a-f]+) ([0-9a-f]+) M")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_PLAIN_TEXT = re.compile(r" {0,3}(?![*+>|<-]|\d+[.)]\s)\S.*")

Facts = dict[str, object]


@dataclass(frozen=True, slots=True)
class Pair:
    """One file before and after a change, with facts: a locator without the file's name, and whether what it names changed."""

    path: str
    before: str
    after: str
    facts: tuple[tuple[str, bool], ...]


def repository_pairs(repo: Path, *, most: int = 400, each: int = 40) -> Iterator[Pair]:
    """Yield at most `most` labelled pairs, newest first, at most `each` of one file; none where there is no git history."""
    yield from islice(filter(None, (_pair(repo, *change) for change in _changes(repo.resolve(), each))), most)


def facts(path: str, text: str) -> Facts:
    """Return each locator of a file with what it names; raises where the parser of its kind refuses it.

    >>> facts("a.toml", "x = 1")
    {'key=x': 1}
    """
    read = next((read for endings, read in _READERS if path.lower().endswith(endings)), None)
    return {} if read is None else read(text)


def label(path: str, before: str, after: str) -> Pair | None:
    """Return the pair with its labels, or None where a version cannot be parsed or has no facts."""
    try:
        old, new = facts(path, before), facts(path, after)
    except (ValueError, SyntaxError, RecursionError, AttributeError, configparser.Error, yaml.YAMLError):  # AttributeError: gh-105763
        return None
    step = len(old) // MOST_FACTS + 1
    labelled = tuple((name, name not in new or not _same(new[name], value)) for name, value in list(old.items())[::step])
    return Pair(path, before, after, labelled) if labelled else None


def _same(one: object, two: object) -> bool:
    return repr(one) == repr(two)  # subtle: True == 1 == 1.0 in Python, and in no file


def _changes(repo: Path, each: int) -> Iterator[tuple[str, str, str]]:
    """Yield path, old and new blob of each modification, newest first."""
    log = git.ask(repo, "log", "--no-merges", "--no-renames", "--raw", "-z", "--abbrev=64", "--format=", wait=LONGEST_WAIT)
    words = log.decode(errors="replace").replace("\n", "").split("\0")
    seen: Counter[str] = Counter()
    for word, path in pairwise(words):
        change = _CHANGE.fullmatch(word)
        if change and seen[path] < each and any(path.lower().endswith(endings) for endings, _ in _READERS):
            seen[path] += 1
            yield path, change[1], change[2]


def _pair(repo: Path, path: str, old: str, new: str) -> Pair | None:
    data = [git.ask(repo, "cat-file", "blob", name, wait=LONGEST_WAIT) for name in (old, new)]
    if max(map(len, data)) > MOST_BYTES:
        return None
    try:
        before, after = (version.decode() for version in data)
    except UnicodeDecodeError:
        return None
    return label(path, before, after)


def _keys(tree: object, above: tuple[str, ...] = ()) -> Iterator[tuple[str, object]]:
    if isinstance(tree, dict) and tree:
        for name, value in tree.items():
            if isinstance(name, str) and name.isprintable():
                yield from _keys(value, (*above, name))
    elif above:
        yield f"key={key_value(above)}", _sorted(tree)


def _sorted(value: object) -> object:
    """Put mappings inside lists in one order, which the formats give no meaning to."""
    if isinstance(value, dict):
        return sorted((repr(name), repr(_sorted(item))) for name, item in value.items())
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _ini(text: str) -> Facts:
    parser = configparser.RawConfigParser(allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # the documented way to keep the case of keys
    parser.read_string(text)
    return {f"key={key_value((section, key))}": value for section in parser.sections() for key, value in parser.items(section)}


def _definitions(text: str) -> Facts:
    found: Facts = {}

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.setdefault(f"def={prefix}{child.name}", ast.dump(child))
                inner = f"{prefix}{child.name}."
            walk(child, inner)

    walk(ast.parse(text), "")
    return found


def _sections(text: str) -> Facts:
    lines = text.replace("\r\n", "\n").split("\n")
    heads = list(_headings(lines))
    found: Facts = {}
    for n, (line, level, title) in enumerate(heads):
        end = next((later for later, deep, _ in heads[n + 1 :] if deep <= level), len(lines))
        if title:
            found.setdefault(f"section={section_value(title)}", "\n".join(lines[line:end]).rstrip())
    return found


def _headings(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield line from 0, level and title; `begun` is where the present paragraph began, -1 where it is inside a list or a quotation."""
    fence = ""
    begun: int | None = None
    for n, line in enumerate(lines):
        mark = _FENCE.fullmatch(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and not mark[2].strip() else fence
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence, begun = mark[1], None
        elif heading := _HEADING.fullmatch(line):
            yield n, len(heading[1]), " ".join((heading[2] or "").split())
            begun = None
        elif begun is not None and begun >= 0 and _UNDERLINE.fullmatch(line):
            yield begun, 1 if "=" in line else 2, " ".join(" ".join(lines[begun:n]).split())
            begun = None
        elif not line.strip():
            begun = None
        elif begun is None and not line.startswith(("    ", "\t")):
            begun = n if _PLAIN_TEXT.fullmatch(line) else -1


_READERS: tuple[tuple[tuple[str, ...], Callable[[str], Facts]], ...] = (
    ((".toml",), lambda text: dict(_keys(tomllib.loads(text)))),
    ((".json",), lambda text: dict(_keys(json.loads(text)))),
    ((".yaml", ".yml"), lambda text: dict(_keys(yaml.safe_load(text)))),
    ((".cfg", ".ini"), _ini),
    ((".py",), _definitions),
    ((".md", ".markdown"), _sections),
)
