"""What an inbox shows, as HTML and as plain text: the conversation, what waits and why, what was decided, and what was missed.

Not here: controls, or any decision.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memkit.lab import conversation
from memkit.record.model import Decision, Evidence, Memory, Op, Outcome, Proposal
from memkit.widgets.markup import LIVE, TRUSTS, Paint, box, esc, plain, tag
from memkit.widgets.tables import BAD, GOOD, Row, badge, note, status, table, title, whole

WARNING, NEUTRAL = "#8a4b00", "#4a5568"
ROLES = {"user": ("user", "#1d4ed8"), "assistant": ("assistant", "#6b21a8"), "tool": ("tool", NEUTRAL), "system": ("system", NEUTRAL)}
WORDS = {
    "SAID_BY_USER": "a user said this in these words; admit it, and it is STATED",
    "AWAITS_A_PERSON": "nobody said this in these words; admit it, and it stays INFERRED",
    "ASKED_TO_FORGET": "a user asked to forget this; admit it, and the value is withdrawn",
    "REVIEW_PROPOSED": "its record of use does not bear it out; admit this, and the value is withdrawn",
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A candidate that waits, what holds it back, and the candidates under its key that say something else."""

    proposal: Proposal
    held: Decision
    rivals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Decided:
    """A candidate that a person decided about, and the outcome where it was decided here."""

    proposal: Proposal
    outcome: Outcome | None

    @property
    def memory(self) -> Memory | None:
        return self.outcome.memory if self.outcome else None


@dataclass(frozen=True, slots=True)
class Book:
    """Everything that is shown."""

    turns: tuple[conversation.Turn, ...]
    left: int
    waiting: tuple[Waiting, ...]
    decided: tuple[Decided, ...]
    marks: tuple[conversation.Mark, ...]
    asked: conversation.Asked | None
    said: str
    call: str


def turns(book: Book, paint: Paint) -> str:
    """Return the conversation so far, with what was taken and what was refused under each turn; where it scrolls, newest first."""
    shown = "".join(_turn(turn, paint) for turn in (reversed(book.turns) if paint is LIVE else book.turns))
    return _scrolling(shown, paint) or note("Nothing was said yet: press “Next turn”.", paint)


def _turn(turn: conversation.Turn, paint: Paint) -> str:
    name, colour = ROLES[turn.episode.role]
    text = turn.episode.text or ""
    head = f"{whole(str(turn.episode.number))} {badge(name, colour)}"
    lines = [_taken(one, paint) for one in turn.proposals] + [_refused(one) for one in turn.refused]
    told = "".join(f'<div style="{paint.quiet}line-height:1.6;margin-left:12px">{line}</div>' for line in lines)
    quiet = note("nothing was found in it", paint) if not lines else ""
    style = f"{paint.card}border-radius:4px;padding:4px 10px;margin:4px 0"
    return f'<div style="{style}">{head}{box(text, paint.code)}{told}{quiet}</div>'


def _taken(one: Proposal, paint: Paint) -> str:
    if one.id:
        return f"{badge(f'candidate {one.id}', GOOD)} {tag(one.key, paint)}"
    return f"{badge(one.reason, WARNING)} {esc(one.why)}"


def _refused(one: conversation.Refusal) -> str:
    return f"{badge(one.reason, BAD)} “{esc(plain(one.words, 90))}”: {esc(one.why)}"


def inbox(book: Book, paint: Paint) -> str:
    """Return the candidates that wait, each with all that a person needs to decide."""
    shown = "".join(_waiting(one, paint) for one in book.waiting)
    return _scrolling(shown, paint) or note("Nothing waits.", paint)


def _scrolling(shown: str, paint: Paint) -> str:
    """Return cards as they are, or in the live view in a frame that scrolls where they are many."""
    return f'<div style="max-height:40em;overflow:auto">{shown}</div>' if shown and paint is LIVE else shown


def _waiting(one: Waiting, paint: Paint) -> str:
    proposal = one.proposal
    candidate = proposal.candidate
    stripe = BAD if proposal.flags else GOOD if proposal.literal else WARNING
    tags = [tag(candidate.kind.value, paint, "the kind"), tag(candidate.trust.value, paint, TRUSTS[candidate.trust])]
    tags += [tag(f"confidence {candidate.confidence:.2f}", paint, "how sure the rules are")]
    tags += [tag(f"support {proposal.supports}", paint, "distinct pieces of evidence")]
    tags += [tag(f"wanted by {proposal.recalls}", paint, "distinct questions it would have answered")] * bool(proposal.recalls)
    flags = "".join(f" {badge(f'flagged: {flag}', BAD)}" for flag in proposal.flags)
    said = "<i>withdraw the value</i>" if proposal.content is None else esc(proposal.content)
    rivals = f"<br>Says something else than: candidate {', '.join(map(str, one.rivals))}" if one.rivals else ""
    why = f"<br>{badge(proposal.reason, stripe)} {esc(WORDS.get(proposal.reason, proposal.why))}"
    held = f"<br>Without a person: {whole(one.held.reason)}, {esc(one.held.why)}"
    style = (
        f"{paint.card}border-left:5px solid {stripe};border-radius:4px;padding:6px 10px;margin:4px 0;line-height:1.6;overflow-wrap:anywhere"
    )
    head = f"<b>{proposal.id} · {esc(proposal.key)}</b>{flags}<br>{said}<br>{' '.join(tags)}"
    return f'<div style="{style}">{head}{_lived(proposal)}{_quotes(candidate.evidence)}{rivals}{why}{held}</div>'


def _lived(proposal: Proposal) -> str:
    """Say of an experience where it applies, in which task it was made and how it is known to work."""
    task, proof = proposal.candidate.task, proposal.candidate.verification
    if not task or not proof:
        return ""
    made = f"made in the task “{esc(plain(task))}”"
    return f"<br>Applies in {whole(proposal.scope)}, {made}<br>Known to work by: “{esc(plain(proof))}”"


def _quotes(evidence: Iterable[Evidence]) -> str:
    return "".join(f"<br>“{esc(plain(piece.quote, 200))}” {whole(_episode(piece))}" for piece in evidence)


def _episode(piece: Evidence) -> str:
    return f"in {piece.source}"


def decisions(book: Book, paint: Paint) -> str:
    """Return what a person decided, with the reason and the trust that came of it."""
    rows = [Row(_decided(one), "new" if one.memory else "") for one in book.decided]
    return table(("", "key", "decision", "why", "trust now"), rows, paint) or note("Nothing was decided yet.", paint)


def _decided(one: Decided) -> tuple[str, ...]:
    proposal, outcome = one.proposal, one.outcome
    colour = GOOD if proposal.status == "ADMITTED" else BAD
    why = f"{outcome.op} {outcome.reason}: {outcome.why}" if outcome else proposal.reason
    trust = "" if one.memory is None else f"{whole(one.memory.trust.value)}<br>{esc(TRUSTS[one.memory.trust])}"
    return (whole(str(proposal.id)), esc(proposal.key), badge(proposal.status.value, colour), esc(why), trust)


def marks(book: Book, paint: Paint) -> str:
    """Return what a person found worth keeping in these turns, beside the candidates."""
    rows = [Row(_mark(one), "" if one.proposal else "old") for one in book.marks]
    shown = table(("turn", "what a person marked", "the rules"), rows, paint)
    return status(missed(book), paint, good=not any(one.proposal is None for one in book.marks), live=False) + shown


def _mark(one: conversation.Mark) -> tuple[str, ...]:
    heard = badge("missed", BAD) if one.proposal is None else f"candidate {one.proposal.id}" if one.proposal.id else "heard"
    return (str(one.gold.turn), f"{esc(one.gold.kind)}: {esc(one.gold.value)}", heard)


def missed(book: Book) -> str:
    """Return in one sentence how much of what a person marked the rules found."""
    if not book.marks:
        return "A person marked nothing in these turns."
    lost = [one.gold.value for one in book.marks if one.proposal is None]
    found = f"Of {len(book.marks)} things that a person marked in these turns, the rules found {len(book.marks) - len(lost)}"
    told = f"{found}. Missed, and nobody was told: {', '.join(lost)}." if lost else f"{found}."
    others = conversation.unmarked(book.marks, book.turns)
    return f"{told} Candidates that nobody marked: {', '.join(map(str, others))}." if others else told


def asked(book: Book, paint: Paint) -> str:
    """Return what the last question found: what was returned, and what was only counted."""
    if book.asked is None:
        return note("Ask something. What waits is counted, and never returned.", paint)
    rows = [Row((badge("returned", GOOD), esc(hit.memory.content or ""), whole(hit.memory.trust.value))) for hit in book.asked.context.hits]
    rows += [Row((badge("counted", WARNING), f"candidate {one.id}", f"wanted by {one.recalls}")) for one in book.asked.counted]
    return table(("", "what", ""), rows, paint) or note("No memory answers that, and no candidate would.", paint)


def page(book: Book, paint: Paint) -> str:
    """Return the whole inbox as static HTML."""
    code = f'<div style="{paint.quiet}">The memkit call just made:</div>{box(book.call, paint.code)}'
    parts = (
        status(book.said, paint, good=True, live=False),
        title("The conversation", paint),
        turns(book, paint),
        title("Waiting for a person", paint),
        inbox(book, paint),
        title("Decided", paint),
        decisions(book, paint),
        title("Beside a person's marks", paint),
        marks(book, paint),
        code if book.call else "",
    )
    return f'<div style="{paint.text}padding:8px">{"".join(parts)}</div>'


def as_text(book: Book) -> str:
    """Return the whole inbox as plain text."""
    lines = [plain(book.said, 300), *(line for turn in book.turns for line in map(plain, repr(turn).splitlines()))]
    lines += [f"waits {one.proposal.id} {one.proposal.reason} {plain(one.proposal.key)}: {_flagged(one.proposal)}" for one in book.waiting]
    lines += [f"decided {one.proposal.id} {one.proposal.status} {plain(one.proposal.key)}" for one in book.decided]
    return "\n".join([*lines, plain(missed(book), 600)])


def _flagged(proposal: Proposal) -> str:
    flags = f" [flagged: {', '.join(proposal.flags)}]" if proposal.flags else ""
    return f"{plain(proposal.content or 'withdraw the value')}{flags}"


def outcome(done: Outcome, number: int) -> str:
    """Return a decision in one sentence."""
    trust = f" It is {done.memory.trust} now: {TRUSTS[done.memory.trust]}." if done.memory and done.op in (Op.ADD, Op.UPDATE) else ""
    return f"Candidate {number}: {done.op} {done.reason}, {done.why}.{trust}"
