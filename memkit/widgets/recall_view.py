"""What a recall lab shows, as HTML and as plain text: pure functions of what recall answered.

The same functions draw the live view and the static snapshot; they differ in their `Paint`. Every bar has its number beside it, so that
nothing is lost where styles are. Not here: controls, or any decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import fsum

from memkit.lab import Move, Need
from memkit.read.recall import Hit, Recall, Skipped
from memkit.record.model import Memory
from memkit.widgets.markup import Paint, badge, box, esc, plain, tag
from memkit.widgets.tables import Row, note, table, title, whole
from memkit.widgets.tables import badge as word
from memkit.widgets.tables import status as told
from memkit.write.redact import redact

MOST_PARTS = 6  # parts of one score that are drawn; the others are summed
MOST_SKIPPED = 12  # rows of what was skipped
WIDEST = 6.0  # em of a bar that is as long as the best score
GAIN, LOSS = "#2e9e52", "#d9534f"  # seen on white and on black; no letters stand on them
HOW = {"entered": "＋ entered", "left": "✗ left", "up": "↑ up", "down": "↓ down", "stays": "= stays"}
NOTHING = "Nothing is returned. That is an answer too: what is shown without need costs tokens and misleads."


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything shown: where and how was asked, what was looked for, the answer, and what a switch changed (empty name: none flipped)."""

    where: str
    recipe: str
    needs: tuple[Need, ...]
    recall: Recall
    switch: str
    moves: tuple[Move, ...]
    call: str


def masked(shown: Shown) -> Shown:
    """Return the same with secrets masked in what a person typed: the recall's own question is masked already."""
    return replace(shown, call=redact(shown.call).text, where=redact(shown.where).text)


def tally(shown: Shown) -> str:
    """Return what was returned and skipped, in words."""
    found = shown.recall
    flipped = f"With {shown.switch}: " if shown.switch else ""
    hits = f"{flipped}{len(found.hits)} {'hit' if len(found.hits) == 1 else 'hits'}, {found.tokens} of {found.budget} tokens."
    reasons = Counter(skip.reason for skip in found.skipped)
    skipped = f" {len(found.skipped)} skipped: {', '.join(f'{count} {reason}' for reason, count in reasons.most_common())}."
    state = f" Asked of state: {', '.join(found.elsewhere)}." if found.elsewhere else ""
    return hits + (skipped if reasons else " Nothing skipped.") + state


def status(shown: Shown, paint: Paint, *, live: bool) -> str:
    """Return the line that says what happened; good where something was returned."""
    return told(tally(shown), paint, good=bool(shown.recall.hits), live=live)


def looked_for(shown: Shown, paint: Paint) -> str:
    """Return the needs of the question, each with its terms or the call that answers it."""
    lines = [f'<div style="{paint.text}line-height:1.9">{_need(need, paint)}</div>' for need in shown.needs]
    return "".join(lines)


def _need(need: Need, paint: Paint) -> str:
    said = f'<i style="overflow-wrap:anywhere">{esc(plain(need.text, 120)) or "(nothing)"}</i>: '
    if need.call:
        return f"{said}where a task stands is never recalled; ask <code style='{paint.code}padding:0 3px'>{esc(need.call)}</code>"
    terms = " ".join(tag(term, paint, "a term that is looked up") for term in need.terms[:40])
    return said + (terms or "no term is left to look up")


def filled(shown: Shown, paint: Paint) -> str:
    """Return the budget as a bar: a piece for each hit, in order, and what is left."""
    found = shown.recall
    if not found.budget:
        return note("A budget of 0 gives nothing, always.", paint)
    edge = "padding:1px 0;text-align:center;overflow:hidden;font-size:12px;white-space:nowrap;border:1px solid #ffffff;"
    pieces = [
        f'<td style="background:#2f5d8a;color:#ffffff;{edge}width:{100 * hit.tokens / found.budget:.2f}%" title="{esc(hit.memory.key)}">'
        f"{hit.tokens}</td>"
        for hit in found.hits
    ]
    left = found.budget - found.tokens
    pieces += [f'<td style="background:#e4e7ec;color:#24292f;{edge}" title="left of the budget">{left} left</td>'] * bool(left)
    row = "".join(pieces)
    return f'<table style="border-collapse:collapse;width:100%;max-width:60em;margin:2px 0 6px 0"><tr>{row}</tr></table>'


def hits(shown: Shown, paint: Paint) -> str:
    """Return the hits, best first, each with the parts of its score."""
    found = shown.recall.hits
    if not found:
        return note(NOTHING, paint)
    most = max(max(map(abs, hit.parts.values()), default=0.0) for hit in found) or 1.0
    rows = [Row(_hit(place, hit, most, paint)) for place, hit in enumerate(found, 1)]
    return table(("", "memory", "score and its parts", "evidence", "tokens", "age"), rows, paint)


def _hit(place: int, hit: Hit, most: float, paint: Paint) -> list[str]:
    rivals = f" {tag(f'⇄ {len(hit.rivals)}', paint, 'rivals: its key has another value that is neither wider nor narrower')}"
    memory = _memory(hit.memory) + rivals * bool(hit.rivals)
    kind = f'<div style="font-size:12px">{esc(hit.memory.kind.value)}, {esc(hit.memory.trust.value)}</div>'
    return [str(place), memory, parts(hit.score, hit.parts, most, paint), badge(hit.verdict) + kind, str(hit.tokens), whole(age(hit.age))]


def parts(score: float, found: Mapping[str, float], most: float, paint: Paint) -> str:
    """Return a score as the sum it is: the largest parts with a bar and a number each, the rest as one."""
    ordered = sorted(found.items(), key=lambda part: (-abs(part[1]), part[0]))
    shown = dict(ordered[:MOST_PARTS])
    if rest := ordered[MOST_PARTS:]:
        shown[f"{len(rest)} more"] = fsum(value for _, value in rest)
    lines = "".join(_part(name, value, most, paint) for name, value in shown.items())
    return f'<b style="white-space:nowrap">{score:.3f} =</b>{lines}'


def _part(name: str, value: float, most: float, paint: Paint) -> str:
    colour = GAIN if value >= 0 else LOSS
    width = max(min(abs(value) / most, 1.0) * WIDEST, 0.15)
    drawn = f'<span style="display:inline-block;background:{colour};color:{colour};width:{width:.2f}em;height:0.7em">&nbsp;</span>'
    return (
        f'<div style="white-space:nowrap;line-height:1.4">{drawn} {"+" if value >= 0 else "−"}{abs(value):.3f} {esc(plain(name, 24))}</div>'
    )


def skipped(shown: Shown, paint: Paint) -> str:
    """Return what matched and was left out, each with its reason and one sentence."""
    found = shown.recall.skipped
    if not found:
        return note("Nothing that matched was left out.", paint)
    rows = [Row(_skip(skip)) for skip in found[:MOST_SKIPPED]]
    more = note(f"and {len(found) - MOST_SKIPPED} more, with lower scores", paint) if len(found) > MOST_SKIPPED else ""
    return table(("memory", "score", "reason", "why"), rows, paint) + more


def _skip(skip: Skipped) -> list[str]:
    return [_memory(skip.memory), whole(f"{skip.score:.3f}"), word(skip.reason, "#4a5568"), esc(plain(skip.why, 200))]


def _memory(memory: Memory) -> str:
    return f"<b>{esc(plain(memory.key, 60))}</b><br>{esc(plain(memory.content or '', 160))}"


def changed(shown: Shown, paint: Paint) -> str:
    """Return the list before and after one switch was flipped."""
    if not shown.switch:
        return note("Flip a switch above to compare: the question stays the same, and one thing changes.", paint)
    rows = [Row(_move(move), {"entered": "new", "up": "new", "left": "old", "down": "old"}.get(move.how, "")) for move in shown.moves]
    counts = Counter(move.how for move in shown.moves)
    summary = ", ".join(f"{count} {HOW[how]}" for how, count in counts.items()) or "both lists are empty"
    return note(f"{shown.switch}: {summary}", paint) + table(("memory", "before", "after", "what changed", "why"), rows, paint)


def _move(move: Move) -> list[str]:
    return [f"<b>{esc(plain(move.key, 60))}</b>", _place(move.before), _place(move.after), whole(HOW[move.how]), esc(move.why)]


def _place(place: int | None) -> str:
    return "–" if place is None else str(place)


def age(passed: timedelta) -> str:
    """Return an age in whole days.

    >>> age(timedelta(hours=3)), age(timedelta(days=1)), age(timedelta(days=40, hours=1))
    ('today', '1 day', '40 days')
    """
    days = max(passed.days, 0)
    return "today" if not days else f"{days} day{'s' * (days != 1)}"


def page(shown: Shown, paint: Paint) -> str:
    """Return the whole lab as static HTML."""
    call = f'<div style="{paint.quiet}">The memkit call just made:</div>{box(shown.call, paint.code)}'
    asked = f"{plain(shown.recall.query)!r} in {shown.where}, {shown.recall.budget} tokens, {shown.recipe}"
    sections: Sequence[tuple[str, str]] = (
        ("What is looked for", looked_for(shown, paint)),
        ("What is returned", filled(shown, paint) + hits(shown, paint)),
        ("What is skipped, and why", skipped(shown, paint)),
        ("What one switch changes", changed(shown, paint)),
    )
    drawn = "".join(title(name, paint) + section for name, section in sections)
    return f'<div style="{paint.text}padding:8px">{note(asked, paint)}{status(shown, paint, live=False)}{drawn}{call}</div>'


def as_text(shown: Shown) -> str:
    """Return the whole lab as plain text."""
    lines = [f"{plain(shown.recall.query)!r} in {plain(shown.where)}, {shown.recipe}: {tally(shown)}"]
    for place, hit in enumerate(shown.recall.hits, 1):
        sums = " ".join(f"{value:+.3f} {plain(name, 24)}" for name, value in hit.parts.items())
        lines.append(f"  {place}. {hit.score:.3f} {plain(hit.memory.key)} ({hit.verdict}, {hit.tokens} tokens, {age(hit.age)}) = {sums}")
    lines += [f"  skipped {plain(skip.memory.key)} {skip.score:.3f} {skip.reason}" for skip in shown.recall.skipped[:MOST_SKIPPED]]
    if shown.switch:
        lines += [f"with {shown.switch}:"]
        lines += [f"  {plain(move.key)}: {_place(move.before)} to {_place(move.after)}, {move.how} {move.why}" for move in shown.moves]
    return "\n".join(line.rstrip() for line in lines)
