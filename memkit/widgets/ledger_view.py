"""What a ledger shows, as HTML and as plain text: pure functions of what the package answered.

Not here: controls, or any decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memkit.record.model import Event, Memory, Outcome, Status
from memkit.widgets.markup import TRUSTS, Paint, box, esc, plain, tag
from memkit.widgets.tables import BAD, GOOD, Row, badge, note, status, table, title, when, whole

COLOURS = {Status.CURRENT: GOOD, Status.SUPERSEDED: "#4a5568", Status.RETIRED: BAD}


@dataclass(frozen=True, slots=True)
class Book:
    """Everything shown of one key: its revisions, its events, and what the two clocks answer (None: not asked)."""

    key: str
    history: tuple[Memory, ...]
    current: Memory | None
    events: tuple[Event, ...]
    true_on: str
    known_on: str
    answer: tuple[Memory, ...] | None
    said: str
    call: str


def now(book: Book, paint: Paint) -> str:
    """Return the current value, apart from how it came about."""
    if book.current is None:
        return f'<div style="{paint.old}padding:6px 10px;border-radius:4px"><b>{esc(book.key)}</b> has no current value.</div>'
    memory = book.current
    tags = f"{tag(f'revision {memory.revision}', paint)} {tag(memory.trust.value, paint, TRUSTS[memory.trust])}"
    return (
        f'<div style="{paint.card}border-left:5px solid {GOOD};border-radius:4px;padding:6px 10px;line-height:1.5">'
        f"<b>{esc(memory.key)}</b> {tags}<br>{esc(memory.content or '')}</div>"
    )


def history(book: Book, paint: Paint) -> str:
    """Return every revision, oldest first; those that the two clocks answer with stand out."""
    found = {(memory.id, memory.revision) for memory in book.answer or ()}
    marked = [(memory, (memory.id, memory.revision) in found) for memory in book.history]
    rows = [Row(_revision(memory, answers), "new" if answers else "") for memory, answers in marked]
    heads = ("", "status", "what it says", "true from", "true until", "known since", "trust")
    return table(heads, rows, paint) or note("This key was never written in this scope.", paint)


def _revision(memory: Memory, found: bool) -> tuple[str, ...]:
    said = "<i>no content</i>" if memory.content is None else esc(memory.content)
    times = (_time(memory.valid_from) or "always", _time(memory.valid_to) or "no end", _time(memory.recorded_at))
    number = whole(f"{memory.revision}{' ◀' if found else ''}")
    return (number, badge(memory.status.value, COLOURS[memory.status]), said, *times, whole(memory.trust.value))


def _time(moment: datetime | None) -> str:
    """Return a moment that may be broken between day and hour, and nowhere else."""
    return " ".join(whole(part) for part in when(moment).split())


def answer(book: Book, paint: Paint) -> str:
    """Return what the two clocks answer, in words."""
    return status(answered(book), paint, good=bool(book.answer), live=False)


def answered(book: Book) -> str:
    """Return in one sentence what was true on a day, as known on a day."""
    if book.answer is None:
        return "Type a day: what was true then?"
    known = f"as known on {book.known_on}" if book.known_on else "as known that same day"
    if not book.answer:
        return f"True on {book.true_on}, {known}: the record says nothing."
    told = "; ".join(f"{memory.content} (revision {memory.revision})" for memory in book.answer)
    return f"True on {book.true_on}, {known}: {told}"


def events(book: Book, paint: Paint) -> str:
    """Return the log of the key: what happened, never what was said."""
    rows = [Row((str(e.seq), when(e.at), esc(e.op), esc(e.reason), str(e.revision), esc(e.actor))) for e in book.events]
    return table(("#", "at", "op", "reason", "revision", "actor"), rows, paint) or note("Nothing happened to this key yet.", paint)


def page(book: Book, paint: Paint) -> str:
    """Return the whole ledger as static HTML."""
    code = f'<div style="{paint.quiet}">The memkit call just made:</div>{box(book.call, paint.code)}'
    parts = (
        status(book.said, paint, good=True, live=False) if book.said else "",
        title("Current value", paint),
        now(book, paint),
        title("History", paint),
        answer(book, paint),
        history(book, paint),
        title("Events", paint),
        events(book, paint),
        code,
    )
    return f'<div style="{paint.text}padding:8px">{"".join(parts)}</div>'


def as_text(book: Book) -> str:
    """Return the whole ledger as plain text."""
    current = f"revision {book.current.revision}: {plain(book.current.content)}" if book.current else "no current value"
    lines = [f"{plain(book.key)}: {current}"]
    lines += [f"  {m.revision} {m.status:<10} known since {when(m.recorded_at)} {plain(m.content or '(no content)')}" for m in book.history]
    lines.append(plain(answered(book), 300))
    lines += [f"  event {e.seq} {when(e.at)} {e.op} {plain(e.reason)} revision {e.revision} {plain(e.actor)}" for e in book.events]
    return "\n".join(lines)


def outcome(done: Outcome) -> str:
    """Return what a write did, in words."""
    number = f", revision {done.memory.revision}" if done.memory else ""
    return f"{done.op} {done.reason}{number}: {done.why}."


def keys(log: Sequence[Event], scope: str) -> list[str]:
    """Return the keys that were ever written in exactly this scope, in the order of their first event."""
    return list(dict.fromkeys(event.key for event in log if event.scope == scope and event.revision))
