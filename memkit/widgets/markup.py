"""Colours and small pieces of HTML that every widget uses, for the live view and for the static snapshot.

A live view uses the theme's colours. A snapshot must survive a sanitiser, so it has inline hex colours, foreground and background always
together, and says everything in words. All text goes through `esc`: what a memory or a source holds is hostile. Not here: any widget.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

from memkit.record.model import Trust, Verdict


@dataclass(frozen=True, slots=True)
class Paint:
    """The inline styles of one view."""

    text: str
    quiet: str
    card: str
    code: str
    tag: str
    line: str
    old: str
    new: str


LIVE = Paint(
    text="color:var(--jp-ui-font-color1,#1f1f1f);",
    quiet="color:var(--jp-ui-font-color2,#555);font-size:12px;",
    card="background:var(--jp-layout-color1,#fff);color:var(--jp-ui-font-color1,#1f1f1f);border:1px solid var(--jp-border-color2,#ccc);",
    code="background:var(--jp-layout-color2,#f0f0f0);color:var(--jp-ui-font-color1,#1f1f1f);"
    "font-family:var(--jp-code-font-family,monospace);font-size:12px;",
    tag="background:var(--jp-layout-color2,#eeeeee);color:var(--jp-ui-font-color1,#1f1f1f);",
    line="border:1px solid var(--jp-border-color2,#cccccc);",
    old="background:#fdecea;color:#5f1410;",
    new="background:#e6f4ea;color:#0f3d1f;",
)
STATIC = Paint(
    text="background:#ffffff;color:#1f1f1f;",
    quiet="background:#ffffff;color:#555555;font-size:12px;",
    card="background:#ffffff;color:#1f1f1f;border:1px solid #cccccc;",
    code="background:#f3f3f3;color:#1f1f1f;font-family:monospace;font-size:12px;",
    tag="background:#e4e7ec;color:#24292f;",
    line="border:1px solid #cccccc;",
    old="background:#fdecea;color:#5f1410;",
    new="background:#e6f4ea;color:#0f3d1f;",
)

VERDICTS = {
    Verdict.VALID: ("✓", "#1b6e35"),
    Verdict.MOVED: ("→", "#1b6e35"),
    Verdict.CHANGED: ("✗", "#b3261e"),
    Verdict.MISSING: ("∅", "#b3261e"),
    Verdict.UNREADABLE: ("!", "#8a4b00"),
    Verdict.AMBIGUOUS: ("?", "#8a4b00"),
    Verdict.UNVERSIONED: ("○", "#4a5568"),
}
"""Verdict -> icon, and a colour dark enough for white letters."""

TRUSTS = {
    Trust.STATED: "a person said it",
    Trust.VERIFIED: "its evidence was read",
    Trust.INFERRED: "a model inferred it",
}
"""Trust -> what it means."""


def esc(text: object) -> str:
    """Return text that HTML shows as it is, in element content and in quoted attributes; direction marks and controls become visible.

    >>> esc('<img onerror="x">')
    '&lt;img onerror=&quot;x&quot;&gt;'
    """
    shown = "".join(c if c.isprintable() or c in "\n\t" or c == "\u3000" else "\ufffd" for c in str(text))
    return html.escape(shown, quote=True)


def plain(text: object, most: int = 100) -> str:
    """Return text on one line, without control characters, at most `most` characters long.

    >>> plain("one\\ntwo\\x1b[31m three", 14)
    'one two\ufffd[31m …'
    """
    line = " ".join("".join(c if c.isprintable() or c.isspace() else "\ufffd" for c in str(text)).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def badge(verdict: Verdict) -> str:
    """Return a verdict as icon, word and colour."""
    icon, colour = VERDICTS[verdict]
    style = f"background:{colour};color:#ffffff;padding:1px 8px;border-radius:9px;font-weight:600;font-size:12px;white-space:nowrap"
    return f'<span style="{style}">{icon} {verdict.value}</span>'


def tag(text: str, paint: Paint, title: str = "") -> str:
    """Return a small label with an explanation that appears under the pointer."""
    style = f"{paint.tag}padding:1px 6px;border-radius:4px;font-size:12px;white-space:nowrap"
    return f'<span style="{style}" title="{esc(title)}">{esc(text)}</span>'


def box(text: str, style: str) -> str:
    """Return a passage of a source or a memory as it is, scrolling where it is long."""
    scrolls = "margin:0;padding:4px 8px;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;overflow:auto;max-height:20em"
    return f'<pre style="{style}{scrolls}">{esc(text)}</pre>'
