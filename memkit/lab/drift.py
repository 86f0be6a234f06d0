"""Measure drift: over pairs of real file versions, how often does each way of citing call a fact stale falsely, or miss its change?

A pair is one file before and after a commit, with facts: a locator, and whether what it names really changed. Beside memkit's locators
stand three plainer ways: the hash of the whole file, the line with the number where the fact began, and that line's text anywhere in it.
Who says what really changed is not memkit: the labels of the data, or `drift_truth.py`. Left out: how often files change at all.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from memkit.errors import MemkitError, Refused
from memkit.lab.drift_truth import Pair, repository_pairs
from memkit.record.evidence import Reader, check, observe
from memkit.record.locator import Locator, key_parts, numbered, section_value
from memkit.record.sources import Texts

METHODS = ("memkit", "whole file", "fixed line", "line text")
BAR = 40  # characters of a full bar

_NEVER = datetime(2000, 1, 1, tzinfo=UTC)  # the moment is written into evidence and decides nothing


@dataclass(frozen=True, slots=True)
class Row:
    """How one way of citing did on one kind of locator: facts that changed and were missed, facts that did not and fell."""

    kind: str
    method: str
    changed: int
    missed: int
    same: int
    false: int
    not_located: int

    @property
    def missed_rate(self) -> float:
        return self.missed / self.changed if self.changed else 0.0

    @property
    def false_rate(self) -> float:
        return self.false / self.same if self.same else 0.0


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of a file of JSON lines with `path`, `before`, `after` and `facts` (each `locator` and `changed`).

    Raises Refused for a line that is something else, with its number.
    """
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        try:
            if line.strip():
                yield _pair(json.loads(line))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            found = f"line {number} of {path.name} is no pair ({type(error).__name__})"
            expected = "JSON with path, before, after, and facts, each with a locator and changed: true or false"
            raise Refused("BAD_PAIRS", f"{found}; expected {expected}; mend or remove that line") from None


def _pair(found: dict[str, object]) -> Pair:
    path, before, after = texts = [found[name] for name in ("path", "before", "after")]
    facts = [(fact["locator"], fact["changed"]) for fact in found["facts"]]  # type: ignore[attr-defined]  # TypeError is caught
    if not all(isinstance(text, str) for text in [*texts, *(locator for locator, _ in facts)]):
        raise TypeError("a text is missing")
    if not all(isinstance(changed, bool) for _, changed in facts):
        raise TypeError("changed is neither true nor false")
    return Pair(str(path), str(before), str(after), tuple(facts))


def measure(pairs: Iterable[Pair]) -> list[Row]:
    """Return a row for each kind of locator and each way of citing.

    >>> pair = Pair("a.toml", "x = 1\\ny = [\\n 2]\\n", "# new\\nx = 1\\ny = [\\n 3]\\n", (("key=x", False), ("key=y", True)))
    >>> [(row.method, row.false, row.missed) for row in measure([pair])]
    [('memkit', 0, 0), ('whole file', 1, 0), ('fixed line', 1, 0), ('line text', 0, 1)]
    """
    counts: dict[tuple[str, str], list[int]] = {}
    for pair in pairs:
        name = _name(pair.path)
        before, after = Reader(Texts({name: pair.before})), Reader(Texts({name: pair.after}))
        lines = pair.before.split("\n"), pair.after.split("\n")
        for locator, changed in pair.facts:
            fell = _fell(f"{name}#{locator}", before, after), pair.before != pair.after, *_line_fell(name, locator, *lines)
            for method, stale in zip(METHODS, fell, strict=True):
                count = counts.setdefault((locator.partition("=")[0], method), [0] * 5)
                if stale is None:
                    count[4] += 1
                else:
                    count[0 if changed else 2] += 1
                    count[1 if changed else 3] += stale is not changed
    order = sorted(counts, key=lambda place: (place[0], METHODS.index(place[1])))
    return [Row(*place, *counts[place]) for place in order]


def as_table(rows: Iterable[Row]) -> str:
    """Return the rows as a table for people, rates in percent."""
    head = f"{'kind':<9}{'way of citing':<15}{'changed':>8}{'missed':>8}{'':>9}{'same':>8}{'false':>8}{'':>9}{'not located':>13}"
    body = [
        f"{row.kind:<9}{row.method:<15}{row.changed:>8}{row.missed:>8}{row.missed_rate:>9.2%}"
        f"{row.same:>8}{row.false:>8}{row.false_rate:>9.2%}{row.not_located:>13}"
        for row in rows
    ]
    return "\n".join([head, *body])


def as_bars(rows: Iterable[Row]) -> str:
    """Return both rates of each row as bars of text under a scale, a kind at a time; a rate above 0 always shows.

    >>> for line in as_bars([Row("key", "line text", 20, 10, 200, 1, 0)]).splitlines()[1:]:
    ...     print(line.split())
    ['line', 'text', 'false-stale', '|▎', '0.5%', '1', 'of', '200']
    ['missed-stale', '|████████████████████', '50.0%', '10', 'of', '20']
    """
    lines, kind = list[str](), ""
    for row in rows:
        if row.kind != kind:
            lines += [""] * bool(kind) + [f"{row.kind + '=':<27}|0%{'50%':^{BAR - 6}}100%|"]
            kind = row.kind
        for label, rate, count in (
            (f"  {row.method:<12}false-stale", row.false_rate, f"{row.false} of {row.same}"),
            (f"{'':<14}missed-stale", row.missed_rate, f"{row.missed} of {row.changed}"),
        ):
            lines.append(f"{label:<27}|{_bar(rate):<{BAR}} {rate:>6.1%}  {count}")
    return "\n".join(lines)


def _bar(rate: float) -> str:
    """Draw a rate with eighths of a character, at least one of them where it is not 0.

    >>> _bar(0.0), _bar(0.0001), _bar(1.0) == "█" * BAR
    ('', '▏', True)
    """
    eighths = max(round(rate * BAR * 8), rate > 0)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def as_json(rows: Iterable[Row]) -> str:
    """Return the rows for a program: the counts, and both rates as fractions."""
    return json.dumps([{**asdict(row), "missed_rate": row.missed_rate, "false_rate": row.false_rate} for row in rows], indent=2)


@click.command("drift")
@click.argument("data", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--repo", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Make the pairs from the history of a git work tree."
)
@click.option("--most", default=400, show_default=True, type=click.IntRange(1), help="Pairs taken from the history, newest first.")
@click.option("--each", default=40, show_default=True, type=click.IntRange(1), help="Pairs taken of one file.")
@click.option("--plot/--no-plot", default=True, show_default=True, help="Draw the rates as bars of text under the table.")
@click.option("--json", "as_json_", is_flag=True, help="Print the rows for a program.")
def command(*, data: Path | None, repo: Path | None, most: int, each: int, plot: bool, as_json_: bool) -> None:
    """Count how often each way of citing falls falsely or misses a change, over pairs of real file versions.

    DATA holds labelled pairs as JSON lines; --repo makes them from the history of a repository.
    """
    if (data is None) == (repo is None):
        raise click.UsageError("found neither or both of DATA and --repo; give exactly one of them")
    try:
        rows = measure(read_pairs(data) if data else repository_pairs(repo or Path(), most=most, each=each))
    except MemkitError as error:
        raise click.ClickException(str(error)) from error
    if not rows:
        raise click.ClickException("found no fact to measure; expected labelled pairs, or a git work tree whose history changes such files")
    click.echo(as_json(rows) if as_json_ else as_table(rows) + (f"\n\n{as_bars(rows)}" if plot else ""))


def _name(path: str) -> str:
    """Return a name that may be cited: hidden folders are left out, for what is measured is the locator and not the guard of paths."""
    last = path.rpartition("/")[2]
    return last if last.startswith(".env") else last.lstrip(".") or "file"


def _fell(cite: str, before: Reader, after: Reader) -> bool | None:
    for form in (cite, _plain_heading(cite)):
        try:
            return not check(observe(form, before, _NEVER), after).verdict.holds
        except MemkitError:
            continue
    return None


def _plain_heading(cite: str) -> str:
    """Read `section=` as a heading as it stands: data may not have written `#` as memkit does."""
    name, _, title = cite.partition("#section=")
    return f"{name}#section={section_value(title)}" if title else cite


def _line_fell(name: str, locator: str, before: list[str], after: list[str]) -> tuple[bool | None, bool | None]:
    try:
        at = _first_line(Locator.parse(f"{name}#{locator}"), before)
    except (MemkitError, SyntaxError):
        at = None
    if at is None:
        return None, None
    return at >= len(after) or after[at] != before[at], before[at] not in after


def _first_line(locator: Locator, lines: list[str]) -> int | None:
    """Return the line, from 0, where a plain reader would say that the fact stands."""
    if locator.kind == "def":
        return _definition_line(numbered(locator.value)[0], lines)
    if locator.kind == "section":
        title = re.escape(numbered(locator.value)[0])
        return _matching(rf"\s*#*\s*{title}\s*#*\s*", lines, 0)
    if locator.kind != "key":
        return None
    *tables, last = key_parts(locator.value)
    headers = [f"[{'.'.join(tables)}]", *(f"[{table}]" for table in reversed(tables))]
    start = next((n for header in headers for n, line in enumerate(lines) if line.replace('"', "").strip().startswith(header)), 0)
    pattern = rf"[\s{{\-]*[\"']?{re.escape(last)}[\"']?\s*[=:].*"
    found = _matching(pattern, lines, start)
    return _matching(pattern, lines, 0) if found is None else found


def _matching(pattern: str, lines: list[str], start: int) -> int | None:
    compiled = re.compile(pattern)
    return next((n for n in range(start, len(lines)) if compiled.fullmatch(lines[n])), None)


def _definition_line(name: str, lines: list[str]) -> int | None:
    last = re.escape(name.rpartition(".")[2])
    body: Iterable[ast.AST] = ast.walk(ast.parse("\n".join(lines)))
    starts = [node.lineno - 1 for node in body if isinstance(node, ast.stmt)]
    return next((n for n in sorted(set(starts)) if re.match(rf"\s*(?:(?:async\s+)?def|class)?\s*{last}\b", lines[n])), None)
