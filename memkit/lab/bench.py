"""Measure memkit against plain baselines on this machine, and show each comparison as one row.

Here are only the list of rows and how they are shown: as a table in Markdown, as JSON, or written into a document between two marks, so
that no number is ever typed by hand. How two sides are compared is in `measure.py`.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from memkit.errors import NotFound, Refused
from memkit.lab import bench_read, bench_scale, bench_write
from memkit.lab.measure import FULL, QUICK, Row, Sizes

ROWS: dict[str, Callable[[Sizes], list[Row]]] = {
    "import": bench_read.imports,
    "recall": bench_read.recall,
    "add-then-query": bench_read.add_then_query,
    "write": bench_write.write,
    "remember": bench_write.remember,
    "fairness": bench_write.fairness,
}
"""Name on the command line -> function that measures and returns rows."""

LONG: dict[str, Callable[[Sizes], list[Row]]] = {
    "check": bench_scale.verification,
    "memory": bench_scale.memory,
    "search": bench_scale.search,
    "add-large": bench_scale.add_large,
    "peers": bench_scale.recall_peers,
    "growth": bench_scale.growth,
    "growth-million": bench_scale.growth_million,
}
"""What is measured only where it is named: it takes minutes, or needs what `pip install 'memkit[bench]'` brings."""

_MARKED = re.compile(r"(?<=<!-- numbers -->\n).*?(?=<!-- /numbers -->)", re.DOTALL)


def measure(names: Sequence[str] = (), *, quick: bool = False) -> list[Row]:
    """Measure the rows of these names, of all but the long ones where none is given. Raises Refused for a name that is not there."""
    known = ROWS | LONG
    for name in names:
        if name not in known:
            raise Refused("NO_SUCH_ROW", f"there is nothing to measure called {name!r}; there are {', '.join(known)}")
    rows = []
    try:
        for name in names or ROWS:
            gc.collect()
            gc.freeze()  # what earlier rows left behind is not searched for garbage while this one is measured
            rows += known[name](QUICK if quick else FULL)
    finally:
        gc.unfreeze()
    return rows


def versions() -> dict[str, str]:
    """Return what was compared, by version, and how many cores there are."""
    found = {name: version(name) for name in ("scikit-learn", "sqlite-utils")}
    return {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version, **found, "cores": str(os.cpu_count())}


def as_json(rows: Sequence[Row]) -> str:
    """Return everything that was measured, for a program."""
    shown = [asdict(row) | {"figures": row.figures} for row in rows]
    return json.dumps({"versions": versions(), "rows": shown}, indent=2, ensure_ascii=False)


def as_table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table, and under it what it was measured with."""
    head = ("row", "memkit", "", "compared with", "", "ratio", "target", "same result")
    lines = [head, *map(_cells, rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    padded = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    with_ = ", ".join(f"{name} {number}" for name, number in versions().items() if name != "cores")
    under = f"Measured on {os.cpu_count()} cores with {with_}. Ratio: how many times as fast memkit's side is, median of the rounds."
    return "\n".join([padded[0], rule, *padded[1:], "", under])


def write_into(path: Path, table: str) -> None:
    """Put the table between `<!-- numbers -->` and `<!-- /numbers -->` of a document. Raises NotFound where there are no such marks."""
    text = path.read_text(encoding="utf-8")
    if not _MARKED.search(text):
        raise NotFound(f"{path.name} has no place for the table; put <!-- numbers --> and <!-- /numbers --> on lines of their own")
    path.write_text(_MARKED.sub(lambda _: f"{table}\n", text), encoding="utf-8", newline="\n")


def _cells(row: Row) -> tuple[str, ...]:
    ours, theirs = (_figure(value, row.unit) if row.rounds else "" for value in row.figures)
    same = {None: "", True: "yes", False: "NO"}[row.agree]
    return row.name, row.ours, ours, row.theirs, theirs, f"{row.ratio:.3g}" if row.rounds else "", row.target, same


def _figure(value: float, unit: str) -> str:
    """Write a figure with three digits and a unit.

    >>> _figure(0.00123, "s"), _figure(2.5, "s"), _figure(812, "writes")
    ('1.23 ms', '2.5 s', '812 writes')
    """
    if unit == "s" and value < 1:
        return f"{value * 1000:.3g} ms"
    return f"{value:.3g} {unit}" if unit == "s" else f"{value:.0f} {unit}"
