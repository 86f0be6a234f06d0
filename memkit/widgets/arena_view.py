"""What the arena shows, as HTML and as plain text: the prompt with what a reader sees outside the block, the verdict, and both rates.

Every piece says in words whose it is; the colour only repeats it. Not here: controls, or any decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memkit.lab import arena
from memkit.widgets.markup import Paint, box, esc, plain
from memkit.widgets.tables import Row, note, status, table, title


@dataclass(frozen=True, slots=True)
class Fight:
    """Everything shown: one memory under every defence, the one looked at, the counts over all texts (none: not yet), and the call."""

    trials: Sequence[arena.Trial]
    chosen: arena.Trial
    rows: Sequence[arena.Row]
    call: str


def verdict(fight: Fight) -> str:
    """Return the verdict on the one that is looked at, in one sentence."""
    word = "It holds" if fight.chosen.verdict == "HELD" else f"It breaks ({fight.chosen.verdict})"
    return f"Defence “{fight.chosen.defence}”. {word}: {fight.chosen.why}."


def beside(fight: Fight, paint: Paint) -> str:
    """Return the same memory under each defence, as a table."""
    rows = [Row((esc(trial.defence), esc(trial.verdict), esc(trial.why)), _mark(trial.verdict == "HELD")) for trial in fight.trials]
    return table(("defence", "verdict", "what the reader finds"), rows, paint)


def prompt(fight: Fight, paint: Paint) -> str:
    """Return the prompt as a model gets it, and under it what a reader makes of it."""
    reading = fight.chosen.reading
    pieces = [note("The prompt, with this memory between two honest ones:", paint), box(visible(fight.chosen.prompt), paint.code)]
    pieces.append(note("What a reader makes of it, who folds letters and line ends:", paint))
    outside = [("before the block", reading.before.strip("\n"), arena.BEFORE), ("after the block", reading.after.strip("\n"), arena.AFTER)]
    rows = [Row((esc(where), _words(text)), "" if text == own else "old") for where, text, own in outside]
    rows[1:1] = [Row((f"record {number}", _words(record))) for number, record in enumerate(reading.records, 1)]
    rows[-1:-1] = [Row(("a line that is no record", _words(line)), "old") for line in reading.loose]
    return "".join(pieces) + table(("where", "what"), rows, paint)


def rates(fight: Fight, paint: Paint) -> str:
    """Return the counts over all attacks and all honest memories, as a table."""
    if not fight.rows:
        return ""
    of = fight.rows[0]
    heads = ("defence", *arena.FAMILIES, f"success of {of.attacks} attacks", f"false alarms of {of.honest} honest")
    rows = [
        Row(
            (
                esc(row.defence),
                *(str(row.broke.get(family, 0)) for family in arena.FAMILIES),
                f"{row.success:.0%}",
                f"{row.false_alarm:.0%}",
            )
        )
        for row in fight.rows
    ]
    return table(heads, rows, paint) + note("A block that holds does not make a model disregard what stands in it.", paint)


def page(fight: Fight, paint: Paint) -> str:
    """Return the whole view."""
    call = f'<pre style="{paint.code}margin:4px 0 0;padding:6px 10px;white-space:pre-wrap;overflow-wrap:anywhere">{esc(fight.call)}</pre>'
    parts = [
        title("Arena", paint),
        status(verdict(fight), paint, good=fight.chosen.verdict == "HELD", live=False),
        beside(fight, paint),
        prompt(fight, paint),
        rates(fight, paint),
        call,
    ]
    return f'<div style="{paint.card}padding:10px 12px">{"".join(parts)}</div>'


def as_text(fight: Fight) -> str:
    """Return the whole view as plain text."""
    lines = [f"Arena. {verdict(fight)}", *(f"  {trial.defence}: {trial.verdict}, {plain(trial.why)}" for trial in fight.trials)]
    return "\n".join([*lines, *([arena.as_table(fight.rows)] if fight.rows else [])])


def visible(text: str) -> str:
    """Return text in which characters that no eye sees stand as their code point.

    >>> visible("a\\u202eb\\u00e9 c")
    'a[U+202E]b\u00e9 c'
    """
    return "".join(char if char.isprintable() or char in "\n\u3000" else f"[U+{ord(char):04X}]" for char in text)


def _words(text: str) -> str:
    return f'<code style="white-space:pre-wrap">{esc(visible(text))}</code>'


def _mark(held: bool) -> str:
    return "new" if held else "old"
