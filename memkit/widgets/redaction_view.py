"""What a redaction lab shows, as HTML and as plain text: the spans that were found, and what each policy would keep.

A find is shown as its kind and its length, never as itself. Not here: controls, or any decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memkit.widgets.markup import Paint, box, esc, plain
from memkit.widgets.tables import Row, note, status, table, title


@dataclass(frozen=True, slots=True)
class Hunt:
    """Everything shown: the text in pieces, what each policy keeps, the test that was reported, and the call."""

    pieces: tuple[tuple[str, str], ...]
    kept: Mapping[str, str]
    test: str
    call: str


def verdict(hunt: Hunt) -> str:
    """Return what was found, in one sentence."""
    kinds = [kind for kind, _ in hunt.pieces if kind]
    if not kinds:
        return "Nothing was found: all of it would be kept."
    return f"{len(kinds)} found: {', '.join(dict.fromkeys(kinds))}."


def spans(hunt: Hunt, paint: Paint) -> str:
    """Return the text with each find as a coloured gap that says its kind and how long it was."""
    mark = f"{paint.old}padding:0 4px;border-radius:3px"
    pieces = [f'<b style="{mark}">{esc(kind)}, {esc(words)}</b>' if kind else esc(words) for kind, words in hunt.pieces]
    style = f"{paint.code}margin:0;padding:6px 10px;white-space:pre-wrap;overflow-wrap:anywhere"
    return f'<pre style="{style}">{"".join(pieces) or " "}</pre>'


def kept(hunt: Hunt, paint: Paint) -> str:
    """Return what would be kept under each policy, as a table."""
    rows = [
        Row((esc(name), f"<code>{esc(text)}</code>"), "old" if text.startswith("nothing: ") else "") for name, text in hunt.kept.items()
    ]
    return table(("policy", "what a memory would keep"), rows, paint)


def test(hunt: Hunt, paint: Paint) -> str:
    """Return the reported test as code, or what to do to get one."""
    if not hunt.test:
        return note("Found a form that slips through? Put what should have vanished below the text, and press “Report as a test”.", paint)
    return note("A test that fails until this form is masked. It holds the shape of the secret, not the secret:", paint) + box(
        hunt.test, paint.code
    )


def page(hunt: Hunt, paint: Paint) -> str:
    """Return the whole view."""
    call = f'<pre style="{paint.code}margin:4px 0 0;padding:6px 10px;white-space:pre-wrap">{esc(hunt.call)}</pre>'
    good = not any(kind for kind, _ in hunt.pieces)
    parts = [
        title("Redaction lab", paint),
        status(verdict(hunt), paint, good=good, live=False),
        spans(hunt, paint),
        kept(hunt, paint),
        test(hunt, paint),
        call,
    ]
    return f'<div style="{paint.card}padding:10px 12px">{"".join(parts)}</div>'


def as_text(hunt: Hunt) -> str:
    """Return the whole view as plain text."""
    lines = [f"Redaction lab. {verdict(hunt)}", *(f"  {name}: {plain(text)}" for name, text in hunt.kept.items())]
    return "\n".join([*lines, *([hunt.test] if hunt.test else [])])
