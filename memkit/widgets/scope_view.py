"""What a scope map shows, as HTML and as plain text: pure functions of what the package answered.

The same functions draw the live view and the static snapshot; they differ in their `Paint`. Not here: controls, or any decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memkit.lab import Stand, Standing
from memkit.read.recall import Recall
from memkit.record.scope import named_dimensions
from memkit.widgets.markup import Paint, box, esc, plain
from memkit.write.redact import redact

WORDS = {Stand.VISIBLE: "visible", Stand.HIDDEN: "hidden by a narrower one", Stand.ELSEWHERE: "not applicable"}
BADGES = {Stand.VISIBLE: ("✓", "#1b6e35"), Stand.HIDDEN: ("◐", "#8a4b00"), Stand.ELSEWHERE: ("–", "#4a5568")}
"""How a memory stands -> icon, and a colour dark enough for white letters."""

CELL = "padding:4px 8px;text-align:left;vertical-align:top;line-height:1.4;"
LONG = "overflow-wrap:anywhere;min-width:7em;"  # a cell whose words may be broken anywhere; the others keep theirs whole
NOWHERE = "No dimension is named, so there is no scope, and nothing is looked up. A missing scope is an error, never “all”."


@dataclass(frozen=True, slots=True)
class Map:
    """Everything shown: who asks, from where (stored; None: no scope), every memory as it stands, the strings looked up, the recall."""

    user: str
    here: str | None
    standings: tuple[Standing, ...]
    lookups: tuple[tuple[str, int], ...]
    query: str
    budget: int
    recall: Recall | None
    call: str


def masked(shown: Map) -> Map:
    """Return the map with secrets masked in what a person typed: names, the question, and the calls that repeat them."""
    lookups = tuple((redact(name).text, count) for name, count in shown.lookups)
    here = None if shown.here is None else redact(shown.here).text
    return replace(shown, here=here, lookups=lookups, query=redact(shown.query).text, call=redact(shown.call).text)


def in_words(stored: str) -> str:
    """Return a stored scope as it is read: its dimensions, names decoded.

    >>> in_words("env=prod&workspace=a%26b")
    'env=prod, workspace=a&b'
    """
    return ", ".join(f"{name}={value}" for name, value in named_dimensions(stored).items())


def tally(shown: Map) -> str:
    """Return how many memories are visible, hidden, and elsewhere, in words."""
    if shown.here is None:
        return "No scope: nothing is looked up."
    counts = Counter(standing.stand for standing in shown.standings)
    told = [f"{counts[Stand.VISIBLE]} of {len(shown.standings)} memories visible"]
    told += [f"{counts[Stand.HIDDEN]} hidden by a narrower one"] if counts[Stand.HIDDEN] else []
    told += [f"{counts[Stand.ELSEWHERE]} not applicable"] if counts[Stand.ELSEWHERE] else []
    return ", ".join(told) + "."


def status(shown: Map, *, live: bool) -> str:
    """Return where one stands and what is visible; a live view announces it."""
    colours = "background:#fdecea;color:#5f1410;" if shown.here is None else "background:#e6f4ea;color:#0f3d1f;"
    told = ' role="status" aria-live="polite"' if live else ""
    style = f"{colours}padding:4px 10px;border-radius:4px;line-height:1.5;overflow-wrap:anywhere"
    place = "" if shown.here is None else f" {esc(shown.user)} asks from {esc(in_words(shown.here))}."
    return f'<div{told} style="{style}"><b>{esc(tally(shown))}</b>{place}</div>'


def memories(shown: Map, paint: Paint) -> str:
    """Return every memory as a row: how it stands here, its key, what it says, where it applies, and why."""
    if shown.here is None:
        return f'<div style="{paint.text}">{esc(NOWHERE)}</div>'
    rows = "".join(_row(_memory(s, paint), paint, long=(2, 4), quiet=s.stand is Stand.ELSEWHERE) for s in shown.standings)
    return table(("from here", "memory", "what it says", "applies where", "because"), rows, paint)


def _memory(standing: Standing, paint: Paint) -> tuple[str, ...]:
    memory = standing.memory
    icon, colour = BADGES[standing.stand]
    look = "padding:1px 8px;border-radius:9px;font-weight:600;font-size:12px;display:inline-block;min-width:5em"
    style = f"background:{colour};color:#ffffff;{look}"
    rival = f'<div style="{paint.quiet}">⇄ has a rival</div>' if standing.rivals else ""
    badge = f'<span style="{style}">{icon} {WORDS[standing.stand]}</span>{rival}'
    return badge, f"<b>{esc(plain(memory.key))}</b>", esc(memory.content or ""), esc(in_words(memory.scope)), esc(standing.why)


def lookups(shown: Map, paint: Paint) -> str:
    """Return the exact strings that are looked up, narrowest first, and how many memories stand under each."""
    many = len(shown.lookups)
    found = sum(count > 0 for _, count in shown.lookups)
    rows = "".join(
        _row((f"<code style='{paint.code}'>{esc(name)}</code>", str(count or "–")), paint, long=(0,)) for name, count in shown.lookups
    )
    strings = "exact string is" if many == 1 else "exact strings are"
    said = f"<b>{many} {strings} looked up</b>, and {found} of them have something. No prefix, no pattern."
    opened = " open" if many <= 7 else ""
    listed = f"<details{opened}><summary>Show them</summary>{table(('scope', 'memories'), rows, paint)}</details>" if many else ""
    return f'<div style="{paint.text}">{said}{listed}</div>'


def recalled(shown: Map, paint: Paint) -> str:
    """Return what recall gives here for the question, rivals marked, and what it skips."""
    if shown.here is None:
        return f'<div style="{paint.quiet}">Nothing is recalled without a scope.</div>'
    if shown.recall is None:
        return f'<div style="{paint.quiet}">Ask something, and what an agent would be given here is shown.</div>'
    hits = "".join(
        _row(
            (
                esc(hit.memory.key),
                esc(hit.memory.content or ""),
                esc(in_words(hit.memory.scope)),
                f"⇄ {len(hit.rivals)}" if hit.rivals else "none",
            ),
            paint,
            long=(1, 2),
        )
        for hit in shown.recall.hits
    )
    skipped = "".join(_row((esc(skip.memory.key), esc(skip.reason), esc(skip.why)), paint, long=(2,)) for skip in shown.recall.skipped)
    many = len(shown.recall.hits)
    got = f"An agent would get {many} {'memory' if many == 1 else 'memories'}: {shown.recall.tokens} of {shown.recall.budget} tokens."
    return (
        f'<div style="{paint.text}"><b>{got}</b></div>{table(("memory", "what it says", "applies where", "rivals"), hits, paint)}'
        + (f'<div style="{paint.text}"><b>Skipped:</b></div>' if skipped else "")
        + table(("memory", "reason", "why"), skipped, paint)
    )


def table(heads: Sequence[str], rows: str, paint: Paint) -> str:
    """Return a table that scrolls sideways where there is no room; nothing for no rows."""
    if not rows:
        return ""
    top = "".join(f'<th style="{paint.code}{paint.line}{CELL}">{head}</th>' for head in heads)
    return f'<div style="overflow-x:auto"><table style="border-collapse:collapse;margin:2px 0 8px 0"><tr>{top}</tr>{rows}</table></div>'


def _row(cells: Sequence[str], paint: Paint, *, long: Sequence[int] = (), quiet: bool = False) -> str:
    style = f"{paint.quiet if quiet else paint.text}{paint.line}{CELL}"
    return "<tr>" + "".join(f'<td style="{style}{LONG if n in long else ""}">{cell}</td>' for n, cell in enumerate(cells)) + "</tr>"


def page(shown: Map, paint: Paint) -> str:
    """Return the whole map as static HTML."""
    code = f'<div style="{paint.quiet}">The memkit calls just made:</div>{box(shown.call, paint.code)}' if shown.call else ""
    return (
        f'<div style="{paint.text}padding:8px">{status(shown, live=False)}{memories(shown, paint)}{lookups(shown, paint)}'
        f"<div><b>Recall</b>{f': {esc(shown.query)}' if shown.recall else ''}</div>{recalled(shown, paint)}{code}</div>"
    )


def as_text(shown: Map) -> str:
    """Return the whole map as plain text."""
    lines = [f"{plain(shown.user)} in {plain(in_words(shown.here)) if shown.here else 'no scope'}: {tally(shown)}"]
    for standing in shown.standings if shown.here else ():
        memory = standing.memory
        lines.append(f"  {standing.stand:<9} {plain(memory.key)} in {plain(in_words(memory.scope))}: {plain(standing.why, 200)}")
    if shown.lookups:
        lines.append(f"{len(shown.lookups)} exact strings: {plain(' | '.join(name for name, _ in shown.lookups), 300)}")
    if shown.recall is not None:
        lines.append(f"Recall of {plain(shown.query)!r}: {shown.recall.tokens} of {shown.recall.budget} tokens")
        lines += [f"  {hit.score:.3f} {plain(hit.memory.key)}: {plain(hit.memory.content)}" for hit in shown.recall.hits]
        lines += [f"  skipped {plain(skip.memory.key)}: {skip.reason}" for skip in shown.recall.skipped]
    return "\n".join(lines)
