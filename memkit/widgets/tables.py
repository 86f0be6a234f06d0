"""Tables, tags and notes as HTML, for panels that show rows of the record.

As everywhere, the same functions draw the live view and the static snapshot; they differ in their `Paint`. Not here: what a row says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memkit.widgets.markup import Paint, esc

HEAD = "padding:2px 8px;text-align:left;vertical-align:top;line-height:1.5;"
CELL = f"{HEAD}overflow-wrap:anywhere;"
GOOD, BAD = "#1b6e35", "#b3261e"


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its cells as HTML, and whether it stands out ("", "new" or "old")."""

    cells: Sequence[str]
    mark: str = ""


def table(heads: Sequence[str], rows: Sequence[Row], paint: Paint) -> str:
    """Return a table that scrolls sideways where there is no room, or nothing where there are no rows."""
    if not rows:
        return ""
    top = "".join(f'<th style="{paint.code}{paint.line}{HEAD}">{esc(head)}</th>' for head in heads)
    body = "".join(_row(row, paint) for row in rows)
    scrolls = f'<div style="{paint.text}overflow:auto;margin:2px 0 8px 0">'
    return f'{scrolls}<table style="border-collapse:collapse;margin:0"><tr>{top}</tr>{body}</table></div>'


def _row(row: Row, paint: Paint) -> str:
    colours = {"": paint.text, "new": paint.new, "old": paint.old}[row.mark]
    return "<tr>" + "".join(f'<td style="{colours}{paint.line}{CELL}">{cell}</td>' for cell in row.cells) + "</tr>"


def title(text: str, paint: Paint) -> str:
    """Return the name of a part of a panel."""
    return f'<div style="{paint.text}font-weight:600;font-size:15px;margin-top:4px">{esc(text)}</div>'


def note(text: str, paint: Paint) -> str:
    """Return a quiet line."""
    return f'<div style="{paint.quiet}line-height:1.5">{esc(text)}</div>'


def status(text: str, paint: Paint, *, good: bool, live: bool) -> str:
    """Return what just happened; a live view announces it."""
    told = ' role="status" aria-live="polite"' if live else ""
    style = f"{paint.new if good else paint.old}padding:4px 10px;border-radius:4px;line-height:1.5;overflow-wrap:anywhere"
    return f'<div{told} style="{style}">{esc(text)}</div>'


def badge(text: str, colour: str) -> str:
    """Return a word in white on a dark colour."""
    style = f"background:{colour};color:#ffffff;padding:1px 8px;border-radius:9px;font-weight:600;font-size:12px;white-space:nowrap"
    return f'<span style="{style}">{esc(text)}</span>'


def whole(text: str) -> str:
    """Return a short text that is never broken into two lines."""
    return f'<span style="white-space:nowrap">{esc(text)}</span>'


def when(moment: datetime | None) -> str:
    """Return a moment as people read it, in UTC; nothing for none.

    >>> from datetime import UTC
    >>> when(datetime(2026, 3, 2, 9, tzinfo=UTC)), when(None)
    ('2026-03-02 09:00', '')
    """
    return "" if moment is None else moment.strftime("%Y-%m-%d %H:%M")
