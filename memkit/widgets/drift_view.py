"""What a drift lab shows, as HTML and as plain text: pure functions of a trial and of the edit that was tried last.

The same functions draw the live view and the static snapshot; they differ in their `Paint`. Not here: controls, or any decision.
"""

from __future__ import annotations

from collections.abc import Sequence

from memkit.lab import Edit, Score, Trial, Tried
from memkit.record.model import Check
from memkit.widgets.markup import Paint, badge, box, esc, plain
from memkit.write.redact import redact

CELL = "padding:2px 8px;line-height:1.4;text-align:left;vertical-align:top;overflow-wrap:anywhere;"
FIRST = "This is the first version. Try an edit, and see which citations fall."
HEADS = ("cited so", "verdict now", "was that right?", "false-stale so far", "missed-stale so far")


def chosen(trial: Trial, paint: Paint) -> str:
    """Return what was chosen, where it stands, and what the judge takes it to say."""
    line = trial.versions.first.count("\n", 0, trial.at) + 1
    fact = f"<b>{esc(_short(trial.piece))}</b> in line {line}"
    values = ", ".join(f"<code>{esc(name)}</code>" for name in list(trial.fact.values)[:3])
    means = f"so the fact is what stands at {values}" if values else "so the fact is that these words stand there"
    return f'<div style="{paint.text}line-height:1.5">You chose {fact}, {means}. The judge: {esc(trial.fact.judge)}, not memkit.</div>'


def told(tried: Tried | None) -> str:
    """Return in words what was tried, whether the fact changed, and how many citations erred."""
    if tried is None:
        return FIRST
    erred = sum(tried.erred(check) for check in tried.checks)
    fact = "the fact changed, and every citation should fall" if tried.changed else "the fact is what it was, and no citation should fall"
    return f"{_title(tried.edit)}: {fact}. {erred or 'None'} of {len(tried.checks)} erred."


def status_line(trial: Trial, tried: Tried | None, paint: Paint, *, live: bool) -> str:
    """Return what was just tried; a live view announces it."""
    colours = paint.new if tried is None or not any(map(tried.erred, tried.checks)) else paint.old
    announced = ' role="status" aria-live="polite"' if live else ""
    count = f" Edits counted: {len(trial.tried)}." if trial.tried else ""
    style = f"{colours}padding:4px 10px;border-radius:4px;line-height:1.5;overflow-wrap:anywhere"
    return f'<div{announced} style="{style}">{esc(told(tried))}{count}</div>'


def table(trial: Trial, tried: Tried | None, paint: Paint) -> str:
    """Return a row for each citation, narrowest first: its verdict now, whether that was right, and both counts of errors."""
    head = "".join(f'<th style="{paint.code}{paint.line}{CELL}">{name}</th>' for name in HEADS)
    checks = {check.memory.key: check for check in tried.checks} if tried else {}
    rows = "".join(_row(cite, score, tried, checks.get(cite), paint) for cite, score in trial.scores().items())
    return f'<table style="border-collapse:collapse;margin:2px 0 8px 0;width:100%"><tr>{head}</tr>{rows}</table>'


def _row(cite: str, score: Score, tried: Tried | None, check: Check | None, paint: Paint) -> str:
    verdict, right, style = "not read again yet", "", paint.text
    if tried is not None and check is not None:
        verdict = f'{badge(check.verdict)}<div style="{paint.quiet}">{esc(plain(check.why, 160))}</div>'
        right, style = _right(tried, check), paint.old if tried.erred(check) else paint.new
    counts = ((score.false, score.same), (score.missed, score.changed))
    cells = (
        (paint.text, f"<code>{esc(part_of(cite))}</code>"),
        (paint.text, verdict),
        (style, right),
        *((paint.old if wrong else paint.text, f"{wrong} of {of}" if of else "no such edit yet") for wrong, of in counts),
    )
    return "<tr>" + "".join(f'<td style="{colour}{paint.line}{CELL}">{cell}</td>' for colour, cell in cells) + "</tr>"


def _right(tried: Tried, check: Check) -> str:
    if tried.erred(check):
        return "no: missed" if tried.changed else "no: fell falsely"
    return "yes: fell" if tried.changed else "yes: holds"


def part_of(cite: str) -> str:
    """Return a citation without the name of its file.

    >>> part_of("a.cfg#key=x"), part_of("a.cfg")
    ('key=x', 'the whole file')
    """
    return plain(cite.partition("#")[2], 80) or "the whole file"


def page(trial: Trial, tried: Tried | None, text: str, call: str, paint: Paint) -> str:
    """Return the whole lab as static HTML; secrets in what a learner typed are masked."""
    source = f"<details><summary><b>The file now:</b> {esc(trial.versions.name)}</summary>{box(redact(text).text, paint.code)}</details>"
    parts = (
        chosen(trial, paint),
        status_line(trial, tried, paint, live=False),
        table(trial, tried, paint),
        source,
        f'<div style="{paint.quiet}">The memkit calls just made:</div>{box(call, paint.code)}',
    )
    return f'<div style="{paint.text}padding:8px">{"".join(parts)}</div>'


def as_text(trial: Trial, tried: Tried | None) -> str:
    """Return the lab as plain text: what was tried, and a line a citation."""
    checks = {check.memory.key: check.verdict.value for check in tried.checks} if tried else {}
    lines = [f"  {checks.get(cite, ''):<11} {_counts(score)}: {part_of(cite)}" for cite, score in trial.scores().items()]
    return "\n".join([f"DriftLab({trial.versions.name}, {_short(trial.piece)!r}): {told(tried)}", *lines])


def _counts(score: Score) -> str:
    return f"false-stale {score.false} of {score.same}, missed-stale {score.missed} of {score.changed}"


def calls(trial: Trial, edit: Edit | None, also: Sequence[str]) -> tuple[str, ...]:
    """Return what the lab did as code that can be pasted where `memkit` and `lab` are imported."""
    name = trial.versions.name
    start = f", start={trial.at}" if trial.versions.first.find(trial.piece) != trial.at else ""
    more = f" + {list(also)!r}" if also else ""
    lines = (
        f"file, here = lab.versions()[{name!r}], memkit.Scope(workspace='drift')",
        f"kit = memkit.open(sources={{{name!r}: file.first}})",
        f"for cite in memkit.suggest({name!r}, {trial.piece!r}, sources=kit.sources{start}){more}:",
        f"    kit.learn(cite, {'What is meant: ' + trial.piece!r}, scope=here, cite=cite)",
    )
    if edit is None:
        return (*lines, "kit.check(scope=here)")
    done = f"del kit.sources[{name!r}]" if edit.after is None else f"kit.sources[{name!r}] = {_after(trial, edit)}"
    return (*lines, done, "kit.check(scope=here)")


def _after(trial: Trial, edit: Edit) -> str:
    """Return the text after an edit as an expression: by its name where it is recorded, else by where it differs."""
    first, after = trial.versions.first, edit.after
    if trial.versions.edits.get(edit.title) == edit:
        return f"file.edits[{edit.title!r}].after"
    if isinstance(after, bytes):
        return "file.first.encode('utf-16')"
    if after == first.replace("\n", "\r\n"):
        return "file.first.replace('\\n', '\\r\\n')"
    return _spliced(first, after or "")


def _spliced(first: str, after: str) -> str:
    """Return `after` as code, in terms of `file.first`.

    >>> _spliced("timeout = 30\\n", "timeout = 45\\n")
    "file.first[:10] + '45' + file.first[12:]"
    """
    shortest = min(len(first), len(after))
    head = next((n for n in range(shortest) if first[n] != after[n]), shortest)
    tail = next((n for n in range(shortest - head) if first[-1 - n] != after[-1 - n]), shortest - head)
    return f"file.first[:{head}] + {after[head : len(after) - tail]!r} + file.first[{len(first) - tail}:]"


def _title(edit: Edit) -> str:
    return f"{edit.group.capitalize()}, {edit.words}"


def _short(text: str) -> str:
    return plain(redact(text).text, 80)
