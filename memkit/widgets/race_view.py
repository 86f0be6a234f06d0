"""What a race lab shows, as HTML and as plain text: the steps of two writers side by side, every order there is, and the sum.

Not here: controls, or any decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memkit.lab import race
from memkit.widgets.markup import Paint, box, esc, plain
from memkit.widgets.tables import BAD, GOOD, Row, badge, note, status, table, title, whole

WARNING = "#8a4b00"


@dataclass(frozen=True, slots=True)
class Lab:
    """Everything shown: the rule and its code, the steps so far with what was lost, and every rule's runs where they were made."""

    rule: str
    program: str
    steps: tuple[race.Step, ...]
    running: tuple[str, ...]
    content: str
    lost: tuple[str, ...]
    runs: Mapping[str, Sequence[race.Run]]
    call: str


def verdict(lab: Lab) -> str:
    """Return how the race stands, in one sentence."""
    if not lab.steps:
        return f"The record says {lab.content!r}. A wants to add {race.DAYS['A']}, B {race.DAYS['B']}. Who goes first?"
    if lab.running:
        return f"The record says {lab.content!r}. Still running: {' and '.join(lab.running)}."
    if lab.lost:
        return f"The record says {lab.content!r}. {' and '.join(lab.lost)} is lost, and nobody was told."
    told = sum(call.conflict for step in lab.steps for call in step.calls)
    why = f" {told} Conflict: the later writer was told, and began again." if told else ""
    return f"The record says {lab.content!r}. Nothing is lost.{why}"


def steps(lab: Lab, paint: Paint) -> str:
    """Return the steps as two columns, with the record beside them."""
    rows = [Row((str(number), *_sides(step), _record(step)), _mark(step)) for number, step in enumerate(lab.steps, 1)]
    return table(("", "writer A", "writer B", "the record now"), rows, paint) or note("No step taken yet.", paint)


def _sides(step: race.Step) -> tuple[str, str]:
    told = "<br>".join(f"<code>{esc(call.code)}</code><br>{esc(call.told)}" for call in step.calls) or "computes"
    end = f"<br><i>{'is done' if step.ends == 'done' else 'gives up'}</i>" if step.ends else ""
    return (told + end, "") if step.who == "A" else ("", told + end)


def _record(step: race.Step) -> str:
    return f"{whole(f'revision {step.revision}')}<br>{esc(step.content)}"


def _mark(step: race.Step) -> str:
    if any(call.conflict for call in step.calls):
        return "old"
    return "new" if any("remember" in call.code for call in step.calls) else ""


def program(lab: Lab, paint: Paint) -> str:
    """Return the code of the writer, folded."""
    return f'<details><summary style="{paint.text}">The code of this writer</summary>{box(lab.program, paint.code)}</details>'


def every(lab: Lab, paint: Paint) -> str:
    """Return every order of the chosen rule with what came of it, folded, under the sums of all rules."""
    runs = lab.runs.get(lab.rule, ())
    rows = [Row((f"<code>{run.order}</code>", esc(run.content), _came_of(run)), "old" if run.lost else "") for run in runs]
    orders = table(("order", "kept in the end", "what came of it"), rows, paint)
    folded = f'<details><summary style="{paint.text}">All {len(runs)} orders of {esc(lab.rule)}</summary>{orders}</details>' if runs else ""
    return sums(lab, paint) + folded


def sums(lab: Lab, paint: Paint) -> str:
    """Return, for each rule that was run in every order, how often an update was lost."""
    rows = [_sum(rule, runs) for rule, runs in lab.runs.items()]
    heads = ("rule", "orders", "one after the other", "told in time", "lost, and nobody told")
    return table(heads, rows, paint) or note("Not counted yet: press “Run every order”.", paint)


def _sum(rule: str, runs: Sequence[race.Run]) -> Row:
    count = race.tally(runs)
    lost = badge(str(count["lost"]), BAD if count["lost"] else GOOD)
    return Row((esc(rule), str(count["orders"]), str(count["in turn"]), str(count["told"]), lost))


def _came_of(run: race.Run) -> str:
    if run.lost:
        return f"{badge('lost', BAD)} {esc(' and '.join(run.lost))}, and nobody was told"
    return f"{badge('told', WARNING)} and began again" if run.told else f"{badge('in turn', GOOD)} nothing overlapped"


def page(lab: Lab, paint: Paint) -> str:
    """Return the whole lab as static HTML."""
    code = f'<div style="{paint.quiet}">The memkit call just made:</div>{box(lab.call, paint.code)}'
    parts = (
        f"<div><b>Rule:</b> {esc(lab.rule)}</div>",
        program(lab, paint),
        status(verdict(lab), paint, good=not lab.lost, live=False),
        steps(lab, paint),
        title("Every order there is", paint),
        every(lab, paint),
        code if lab.call else "",
    )
    return f'<div style="{paint.text}padding:8px">{"".join(parts)}</div>'


def as_text(lab: Lab) -> str:
    """Return the whole lab as plain text."""
    lines = [f"{plain(lab.rule)}: {plain(verdict(lab), 300)}"]
    lines += [f"  {number} {plain(step, 300)} | revision {step.revision}" for number, step in enumerate(lab.steps, 1)]
    for rule, runs in lab.runs.items():
        count = race.tally(runs)
        lines.append(f"{plain(rule)}: of {count['orders']} orders {count['lost']} lose an update, in {count['told']} somebody is told")
    return "\n".join(lines)
