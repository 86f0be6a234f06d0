"""What a source desk shows, as HTML and as plain text: pure functions of what the package answered.

The same functions draw the live view and the static snapshot; they differ in their `Paint`. Not here: controls, or any decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memkit.read.recall import Hit, Recall, Skipped
from memkit.record.model import Check, EvidenceCheck, Memory, Outcome, Status
from memkit.record.tokens import whole_places
from memkit.widgets.desk_files import Shown
from memkit.widgets.markup import TRUSTS, Paint, badge, box, esc, plain, tag
from memkit.write.redact import redact

Histories = Mapping[str, Sequence[Memory]]


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything shown: the chosen environment and source, the checks, all revisions by memory id, and the recall (None: not asked)."""

    label: str
    file: str
    source: Shown
    status: str
    checks: tuple[Check, ...]
    histories: Histories
    query: str
    budget: int
    recall: Recall | None
    call: str


EDITOR_HELP = (
    "Both write the same file. A tab of JupyterLab's editor holds the text it read when it was opened. When the file on the disk has "
    "become newer, because this widget or another program wrote it, and you save that tab, JupyterLab asks: Revert takes the disk's text "
    "into the tab; Overwrite puts the tab's older text on the disk, and this widget follows it. Nothing is lost before you choose. "
    "A tab with nothing unsaved takes over the new text by itself, or when you choose File > Reload from Disk."
)

READ_ONLY = (
    "This folder is your own: it is read here and never written, secrets are masked. Edit its files in any editor; the desk follows within "
    "two seconds."
)


def masked(desk: Desk) -> Desk:
    """Return the desk with secrets masked in what is not memkit's own: the source, the question, the call that repeats it."""
    source = replace(desk.source, text=redact(desk.source.text).text)
    return replace(desk, source=source, query=redact(desk.query).text, call=redact(desk.call).text, status=redact(desk.status).text)


def learned(memory: Memory, outcome: Outcome) -> str:
    """Return what learning a memory anew did, in words."""
    now = outcome.memory.revision if outcome.memory else 0
    what = f"is now revision {now}" if now != memory.revision else "stays as it is"
    return f"{memory.key} {what}: {outcome.reason}, {outcome.why}."


def card(check: Check, history: Sequence[Memory], paint: Paint) -> str:
    """Return one memory: its verdict, what it says, what it rests on, and when it fell, why, with old and new content side by side."""
    memory, holds = check.memory, check.verdict.holds
    edge = "#1b6e35" if holds and memory.evidence else "#4a5568" if holds else "#b3261e"
    head = f'{badge(check.verdict)} <b style="overflow-wrap:anywhere">{esc(memory.key)}</b> {_tags(memory, paint)}'
    fallen = "" if holds else _fallen(check, paint)
    return (
        f'<div style="{paint.card}border-left:5px solid {edge};border-radius:4px;padding:6px 10px;margin:0 0 8px 0;line-height:1.5">'
        f'<div>{head}</div><div style="overflow-wrap:anywhere;max-height:12em;overflow:auto">{esc(memory.content or "")}</div>'
        f"{_rests_on(check, paint)}{fallen}{_history(history, paint)}</div>"
    )


def _tags(memory: Memory, paint: Paint) -> str:
    scope = ", ".join(f"{name}={value}" for name, value in memory.dimensions.items())
    revision = tag(f"revision {memory.revision}", paint, "how often this key has been written in this scope")
    return f"{tag(memory.trust.value, paint, TRUSTS[memory.trust])} {tag(scope, paint, 'where it applies')} {revision}"


def _rests_on(check: Check, paint: Paint) -> str:
    cites = ", ".join(f"<code style='{paint.code}padding:0 3px;overflow-wrap:anywhere'>{esc(e.cite)}</code>" for e in check.memory.evidence)
    said = f"rests on {cites}" if cites else "rests on no source: nothing to re-read"
    more = check.why if check.verdict.value == "MOVED" else check.aside
    return f'<div style="{paint.quiet}">{said}{f"; {esc(more)}" if more else ""}</div>'


def _fallen(check: Check, paint: Paint) -> str:
    pieces = "".join(_side_by_side(piece, paint) for piece in check.evidence if not piece.verdict.holds)
    return f'<div style="{paint.text}"><b>It fell:</b> {esc(check.why)}. It will not be recalled.</div>{pieces}'


def _side_by_side(piece: EvidenceCheck, paint: Paint) -> str:
    now = "nothing is there to be read" if piece.found is None else piece.found
    cell = f"{paint.line}padding:0;vertical-align:top;width:50%;text-align:left;"
    heads = f'<th style="{paint.old}{cell}padding:2px 8px">when it was learned</th><th style="{paint.new}{cell}padding:2px 8px">now</th>'
    shown = box(now, paint.new) if piece.found is not None else f'<i style="{paint.new}display:block;padding:4px 8px">{now}</i>'
    cells = f'<td style="{paint.old}{cell}">{box(piece.evidence.quote, paint.old)}</td><td style="{paint.new}{cell}">{shown}</td>'
    table = "border-collapse:collapse;width:100%;table-layout:fixed;margin:4px 0;"
    return f'<table style="{table}" title="{esc(piece.evidence.cite)}"><tr>{heads}</tr><tr>{cells}</tr></table>'


def _history(history: Sequence[Memory], paint: Paint) -> str:
    former = [memory for memory in history if memory.status is not Status.CURRENT]
    if not former:
        return ""
    lines = "".join(
        f"<li>revision {memory.revision}, {esc(memory.status.value)}: "
        f"{esc(memory.content) if memory.content is not None else '<i>no content</i>'}</li>"
        for memory in reversed(former)
    )
    count = f"{len(former)} former revision{'s' if len(former) > 1 else ''}"
    return f'<details><summary style="{paint.quiet}">{count}</summary><ul style="{paint.text}margin:2px 0">{lines}</ul></details>'


def recalled(recall: Recall | None, paint: Paint) -> str:
    """Return what an agent would get now, what each hit costs, and what is skipped with its reason."""
    if recall is None:
        return f'<div style="{paint.quiet}">Ask something: what an agent would be given now is shown here.</div>'
    hits = "".join(_hit(hit, paint) for hit in recall.hits)
    skipped = "".join(_skipped(item, paint) for item in recall.skipped)
    got = f"An agent would get {_count(len(recall.hits), 'memory', 'memories')}: {recall.tokens} of {recall.budget} tokens."
    left = f"Skipped: {_count(len(recall.skipped), 'memory', 'memories')}." if recall.skipped else "Nothing that matches was skipped."
    return (
        f'<div style="{paint.text}"><b>{got}</b></div>{_table(("memory", "what it says", "score", "tokens"), hits, paint)}'
        f'<div style="{paint.text}"><b>{left}</b></div>{_table(("memory", "reason", "why"), skipped, paint)}'
    )


def _hit(hit: Hit, paint: Paint) -> str:
    aside = f'<div style="{paint.quiet}">{esc(hit.check.aside)}</div>' if hit.check.aside else ""
    cells = (esc(hit.memory.key), esc(hit.memory.content or "") + aside, f"{hit.score:.3f}", str(hit.tokens))
    return _row(cells, paint)


def _skipped(item: Skipped, paint: Paint) -> str:
    return _row((esc(item.memory.key), esc(item.reason), esc(item.why)), paint)


CELL = "padding:2px 8px;text-align:left;vertical-align:top;overflow-wrap:break-word;"


def _row(cells: Sequence[str], paint: Paint) -> str:
    return "<tr>" + "".join(f'<td style="{paint.text}{paint.line}{CELL}">{cell}</td>' for cell in cells) + "</tr>"


def _table(heads: Sequence[str], rows: str, paint: Paint) -> str:
    if not rows:
        return ""
    top = "".join(f'<th style="{paint.code}{paint.line}{CELL}">{head}</th>' for head in heads)
    return f'<table style="border-collapse:collapse;margin:2px 0 8px 0"><tr>{top}</tr>{rows}</table>'


def status_line(text: str, checks: Sequence[Check], *, live: bool) -> str:
    """Return what just happened and how many memories hold; a live view announces it."""
    fallen = sum(not check.verdict.holds for check in checks)
    colours = "background:#fdecea;color:#5f1410;" if fallen else "background:#e6f4ea;color:#0f3d1f;"
    told = ' role="status" aria-live="polite"' if live else ""
    style = f"{colours}padding:4px 10px;border-radius:4px;line-height:1.5;overflow-wrap:anywhere"
    return f'<div{told} style="{style}"><b>{esc(tally(checks))}</b> {esc(text)}</div>'


def tally(checks: Sequence[Check]) -> str:
    """Return how many memories stand and how many fell, in words."""
    fallen = sum(not check.verdict.holds for check in checks)
    stand = f"{_count(len(checks) - fallen, 'memory', 'memories')} hold{'s' if len(checks) - fallen == 1 else ''}"
    return f"{stand}, {fallen} fell." if fallen else f"{stand}."


def what_changed(before: Sequence[Check], after: Sequence[Check]) -> str:
    """Return which memories fell and which hold again between two checks of the same scope, in words; empty where none did.

    >>> what_changed([], [])
    ''
    """
    held = {check.memory.id: check.verdict.holds for check in before}
    fell = [check.memory.key for check in after if held.get(check.memory.id) is True and not check.verdict.holds]
    rose = [check.memory.key for check in after if held.get(check.memory.id) is False and check.verdict.holds]
    told = [f"{words}: {', '.join(keys)}." for words, keys in (("Fell just now", fell), ("Holds again", rose)) if keys]
    return " ".join(told)


def suggest(check: Check) -> str:
    """Return the old content with each old located value replaced by what stands there now: a draft for a person to correct."""
    content = check.memory.content or ""
    for piece in check.evidence:
        old, new = piece.evidence.quote.strip(), piece.found
        if old and new is not None and not piece.verdict.holds:
            for at in reversed(list(whole_places(content, old))):
                content = content[:at] + new.strip() + content[at + len(old) :]
    return content


def page(desk: Desk, paint: Paint) -> str:
    """Return the whole desk as static HTML."""
    cards = "".join(card(check, desk.histories.get(check.memory.id, ()), paint) for check in desk.checks)
    source = (
        box(desk.source.text, paint.code) if not desk.source.problem else f'<div style="{paint.quiet}">{esc(desk.source.problem)}</div>'
    )
    code = f'<div style="{paint.quiet}">The memkit call just made:</div>{box(desk.call, paint.code)}'
    return (
        f'<div style="{paint.text}padding:8px">{status_line(desk.status, desk.checks, live=False)}'
        f"<div><b>Environment:</b> {esc(desk.label)}</div>"
        f"<details><summary><b>Source:</b> {esc(desk.file)}</summary>{source}</details><div><b>Memories</b></div>{cards}"
        f"<div><b>Recall</b>{f': {esc(desk.query)}' if desk.recall else ''}</div>{recalled(desk.recall, paint)}{code}</div>"
    )


def as_text(desk: Desk) -> str:
    """Return the whole desk as plain text."""
    lines = [f"Environment {plain(desk.label)}: {tally(desk.checks)} {plain(desk.status, 300)}".rstrip()]
    for check in desk.checks:
        memory = check.memory
        lines.append(f"  {check.verdict:<11} {plain(memory.key)} (revision {memory.revision}, {memory.trust}): {plain(memory.content)}")
        if more := check.aside if check.verdict.holds else check.why:
            lines.append(f"  {'':<11} {plain(more, 200)}")
    if desk.recall is not None:
        lines.append(f"Recall of {plain(desk.query)!r}: {desk.recall.tokens} of {desk.recall.budget} tokens")
        lines += [f"  {hit.score:.3f} {plain(hit.memory.key)}: {plain(hit.memory.content)}" for hit in desk.recall.hits]
        lines += [f"  skipped {plain(item.memory.key)}: {item.reason}, {plain(item.why, 200)}" for item in desk.recall.skipped]
    return "\n".join(lines)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
