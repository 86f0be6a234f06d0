"""What a tidy lab shows, as HTML and as plain text: a plan as a diff with its fuse, a night of two jobs, and what kills leave.

Not here: controls, or any decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memkit.lab import Night, Turn, killed, tidying
from memkit.widgets.markup import Paint, box, esc, plain
from memkit.widgets.tables import BAD, GOOD, Row, badge, note, status, table, title, whole

SIGNS = {"+": "+ add", "~": "~ change", "-": "- retire"}
SHORT = 16  # characters of a key that is never broken


@dataclass(frozen=True, slots=True)
class Lab:
    """Everything shown: the planner, its last try, whether that was a dry run and left the store as it was; the night; the kills."""

    planner: str
    tried: tidying.Tried | None
    dry_run: bool
    untouched: bool
    percent: int
    night: Night
    deaths: Sequence[killed.Death]
    call: str


# --- the plan


def verdict(lab: Lab) -> str:
    """Return what came of the plan, in one or two sentences."""
    tried = lab.tried
    if tried is None:
        return "No plan yet: press “Dry run”."
    if tried.error is not None:
        as_before = " Every row but the lease is as it was." if lab.untouched else ""
        return f"{type(tried.error).__name__}: {tried.error}.{as_before}"
    if lab.dry_run:
        return f"A dry run: {len(tried.plan.steps)} steps would be taken, and the guard lets them through. Nothing was written."
    written = len(tried.report.written) if tried.report else 0
    return f"{written} steps were carried out, in one transaction." if written else "Nothing was left to do."


def fuse(lab: Lab, paint: Paint) -> str:
    """Return how many entries the plan would change or lose, as squares and in words."""
    if lab.tried is None or not lab.tried.seen.memories:
        return ""
    seen, lost = len(lab.tried.seen.memories), lab.tried.lost
    squares = f'<span style="{paint.old}">{"■" * lost}</span><span style="{paint.new}">{"□" * (seen - lost)}</span>'
    words = f"{lost} of {seen} entries changed or lost: {100 * lost // seen} %. The fuse allows {lab.percent} %."
    return f'<div style="{paint.text}line-height:1.6">{squares} {esc(words)}</div>'


def changes(lab: Lab, paint: Paint) -> str:
    """Return the steps of the plan as a diff."""
    rows = [_change(change, paint) for change in lab.tried.changes] if lab.tried else []
    return table(("", "key", "known now", "then", "why"), rows, paint) or note("The plan has no step.", paint)


def _change(change: tidying.Change, paint: Paint) -> Row:
    before = f'<span style="{paint.old}">{esc(change.before)}</span>' if change.before else ""
    after = f'<span style="{paint.new}">{esc(change.after)}</span>' if change.sign in "+~" else esc(change.after)
    sign = SIGNS.get(change.sign, f"candidate: {change.act}")
    why = f"{whole(change.reason)}<br>{esc(change.why)}"
    return Row((f"{whole(sign)}<br>stage: {esc(change.stage)}", _name(change.key), before, after, why))


def _name(key: str) -> str:
    """Return a key, on one line where it is short."""
    return whole(key) if len(key) <= SHORT else esc(key)


def waiting(lab: Lab, paint: Paint) -> str:
    """Return the candidates that would go on waiting, folded, with their reasons."""
    rows = [Row((_name(key), esc(content), whole(reason))) for key, content, reason in lab.tried.waiting] if lab.tried else []
    if not rows:
        return ""
    listed = table(("key", "candidate", "why it waits"), rows, paint)
    return f'<details><summary style="{paint.text}">{len(rows)} candidates wait on</summary>{listed}</details>'


# --- the night


def asleep(lab: Lab) -> str:
    """Return how the night stands, in one sentence."""
    if not lab.night.turns:
        return "It is evening, and nobody tidies yet. Let A start."
    turn, sleeps = lab.night.turns[-1], lab.night.asleep
    told = f"{turn.who}: {turn.told}." if turn.told else f"{turn.did}."
    return f"{told} Asleep between looking and writing: {' and '.join(sleeps) or 'nobody'}."


def night(lab: Lab, paint: Paint) -> str:
    """Return the turns as columns, with the lease beside them."""
    rows = [_turn(turn) for turn in lab.night.turns]
    return table(("at", "job A", "job B", "the lease", "memories"), rows, paint)


def _turn(turn: Turn) -> Row:
    did = f"<code>{esc(turn.did)}</code>" if "(" in turn.did else esc(turn.did)
    told = "<br>".join(part for part in (did, esc(turn.told)) if part)
    sides = [told if turn.who == side else "" for side in ("A", "B")]
    at = whole(turn.at) + ("" if any(sides) else f"<br>{esc(turn.who)}: {told}")
    lease = (
        f"{whole(f'{turn.holder} holds token {turn.token}')}<br>until {turn.until}" if turn.holder else whole(f"free, token {turn.token}")
    )
    return Row((at, *sides, lease, str(turn.memories)), "" if turn.good else "old")


# --- the kills


def survived(lab: Lab) -> str:
    """Return what the kills left, in two sentences."""
    if not lab.deaths:
        return "Nothing was killed yet."
    found = [death.found for death in lab.deaths]
    again = sum(death.again == "complete" for death in lab.deaths)
    return (
        f"Killed at {len(found)} points: {found.count('old')} times the old memory was there, {found.count('new')} times the new, "
        f"{found.count('half')} times something between. The retry completed {again} times."
    )


def phases(lab: Lab, paint: Paint) -> str:
    """Return the kills summed by phase, and folded each of them."""
    rows = [_phase(phase, [death for death in lab.deaths if death.phase == phase]) for phase in killed.PHASES]
    each = [Row((str(d.number), esc(d.phase), esc(d.point), _found(d.found), esc(d.again))) for d in lab.deaths]
    if not each:
        return ""
    listed = table(("point", "phase", "killed", "found", "retry"), each, paint)
    folded = f'<details><summary style="{paint.text}">All {len(each)} points</summary>{listed}</details>'
    return table(("phase", "points", "found afterwards", "retry"), [row for row in rows if row.cells[1] != "0"], paint) + folded


def _phase(phase: str, deaths: Sequence[killed.Death]) -> Row:
    found = " ".join(_found(name) for name in dict.fromkeys(death.found for death in deaths))
    again = ", ".join(dict.fromkeys(death.again for death in deaths))
    return Row((esc(phase), str(len(deaths)), found, esc(again)))


def _found(name: str) -> str:
    return badge(name, BAD if name == "half" else GOOD)


# --- the whole


def page(lab: Lab, paint: Paint) -> str:
    """Return the whole lab as static HTML."""
    code = f'<div style="{paint.quiet}">The memkit call just made:</div>{box(lab.call, paint.code)}'
    failed = lab.tried is not None and lab.tried.error is not None
    calm = all(turn.good for turn in lab.night.turns[-1:])
    parts = (
        title("The plan", paint),
        f"<div><b>Planner:</b> {esc(lab.planner)}</div>",
        status(verdict(lab), paint, good=not failed, live=False),
        fuse(lab, paint),
        changes(lab, paint) if lab.tried else "",
        waiting(lab, paint),
        title("Two jobs, one lease", paint),
        status(asleep(lab), paint, good=calm, live=False),
        night(lab, paint),
        title("Killed at every point", paint),
        status(survived(lab), paint, good=all(death.found != "half" for death in lab.deaths), live=False),
        phases(lab, paint),
        code if lab.call else "",
    )
    return f'<div style="{paint.text}padding:8px">{"".join(parts)}</div>'


def as_text(lab: Lab) -> str:
    """Return the whole lab as plain text."""
    lines = [f"Plan by {plain(lab.planner)}: {plain(verdict(lab), 300)}"]
    for change in lab.tried.changes if lab.tried else ():
        words = " => ".join(plain(text, 60) for text in (change.before, change.after) if text)
        lines.append(f"  {change.sign} {change.stage} {change.act} {plain(change.key)}: {words} ({change.reason})")
    lines += [f"  waits: {plain(key)} ({reason})" for key, _, reason in (lab.tried.waiting if lab.tried else ())]
    lines += [f"Night: {plain(asleep(lab), 300)}", *(f"  {plain(turn, 300)}" for turn in lab.night.turns)]
    return "\n".join([*lines, survived(lab)])
