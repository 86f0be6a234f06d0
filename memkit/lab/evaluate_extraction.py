"""Measure extraction on annotated sessions: what is found of what was said, what is wrong, what is new, and how errors pile up.

A session is a YAML file: turns, and under a turn what it states (`gold`: kind, key, value). A candidate is right where its kind is and the
value stands in its content; whether the key is the annotator's is counted apart. Sessions marked `held_back` were written after the
rules were finished. Left out: whether a candidate is well worded, and anything a person decides later.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import yaml

from memkit.errors import Refused
from memkit.lab.sandbox import data_folder
from memkit.record.model import Episode, Role
from memkit.record.text import normalise
from memkit.write.extract import Extracted, Extractor, NotKept
from memkit.write.rules import Rules
from memkit.write.statements import statement

GATE = 0.75  # the confidence below which nothing is kept without asking


@dataclass(frozen=True, slots=True)
class Gold:
    """What one turn states, as a person annotated it; `kind` is also "forget"."""

    turn: int
    kind: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Session:
    """One annotated conversation."""

    name: str
    language: str
    held_back: bool
    episodes: tuple[Episode, ...]
    gold: tuple[Gold, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """How one kind was found in one language: how many were stated, found, right, and right under the annotator's key."""

    sessions: str
    language: str
    kind: str
    stated: int
    found: int
    right: int
    same_key: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.stated if self.stated else 1.0


@dataclass(frozen=True, slots=True)
class Growth:
    """Wrong entries by the end of a session, all so far: without any gate, without the negative list's refusals, and behind both gates."""

    session: str
    ungated: int
    listed: int
    gated: int


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that was measured. `novelty` is the share of what was said that no earlier sentence had said."""

    rows: tuple[Row, ...]
    growth: tuple[Growth, ...]
    novelty: float
    low_trust: int


def read_sessions(path: Path | None = None) -> list[Session]:
    """Return the annotated sessions of a file or a folder, by default the project's own, oldest first. Raises Refused for another form."""
    root = path or data_folder() / "sessions"
    files = sorted(root.glob("*.yaml")) if root.is_dir() else [root]
    try:
        sessions = [_session(yaml.safe_load(file.read_text(encoding="utf-8"))) for file in files]
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise Refused("BAD_SESSION", f"a session could not be read ({type(error).__name__}); expected YAML with at and turns") from None
    if not sessions:
        raise Refused("NO_SESSIONS", f"there is no session in {root.name!r}; pass a YAML file, or a folder of them")
    return sorted(sessions, key=lambda session: session.episodes[0].at)


def _session(raw: dict[str, object]) -> Session:
    name, turns, at = str(raw["session"]), raw["turns"], raw["at"]
    if not isinstance(turns, list) or not isinstance(at, datetime):
        raise ValueError
    pairs = [next((role, text) for role, text in turn.items() if role != "gold") for turn in turns]
    when = at.astimezone(UTC)
    episodes = [Episode(name, n, Role(role), text, True, role == "user", when, "{}") for n, (role, text) in enumerate(pairs, 1)]
    gold = [Gold(n, one["kind"], one["key"], str(one["value"])) for n, turn in enumerate(turns, 1) for one in turn.get("gold", ())]
    return Session(name, str(raw["language"]), bool(raw["held_back"]), tuple(episodes), tuple(gold))


def measure(sessions: Sequence[Session], extractor: Extractor | None = None) -> Measured:
    """Run an extractor (the rules by default) over every session and count."""
    found = {session.name: (extractor or Rules()).extract(session.episodes) for session in sessions}
    sides = [(session, *_sides(session, found[session.name].candidates)) for session in sessions]
    known, new, said, wrong, growth = set[str](), 0, 0, [0, 0, 0], list[Growth]()
    for session, pairs, lost in sides:
        extraction = found[session.name]
        low = [one for one in extraction.candidates if not _believed(one)]
        refused = [one for one in extraction.refused if one.reason != "RESTATED" and _states(session, one)]
        wrong[0] += len(lost) + len(low) + len(refused)
        wrong[1] += len(lost) + len(low)
        wrong[2] += len([one for one in lost if _passes(one)])
        growth.append(Growth(session.name, *wrong))
        contents = [normalise(f"{one.key} {one.content}") for one in [one for one, _ in pairs] + lost]
        said += len(contents) + len([one for one in extraction.refused if one.reason == "RESTATED"])
        new += len(set(contents) - known)
        known |= set(contents)
    low_trust = sum(not _believed(one) for extraction in found.values() for one in extraction.candidates)
    return Measured(tuple(_rows(sides)), tuple(growth), new / said if said else 1.0, low_trust)


def _sides(session: Session, candidates: Iterable[Extracted]) -> tuple[list[tuple[Extracted, Gold]], list[Extracted]]:
    """Pair candidates with what was stated, one to one and within a turn first; return the pairs and the candidates that are wrong."""
    left, pairs, wrong = list(session.gold), list[tuple[Extracted, Gold]](), list[Extracted]()
    for one in filter(_believed, candidates):
        fitting = [gold for gold in left if fits(gold, one.kind, one.content)]
        best = min(fitting, key=lambda gold: (gold.key != one.key, abs(gold.turn - one.episode)), default=None)
        if best is None:
            wrong.append(one)
        else:
            left.remove(best)
            pairs.append((one, best))
    return pairs, wrong


def fits(gold: Gold, kind: str, content: str | None) -> bool:
    """Return whether a candidate of this kind and content states what was annotated; None asks to forget it.

    >>> fits(Gold(1, "fact", "tests", "Node 22"), "fact", "the tests run on Node 22")
    True
    """
    if content is None:
        return gold.kind == "forget"
    return gold.kind == kind and normalise(gold.value) in normalise(content)


def _rows(sides: Iterable[tuple[Session, list[tuple[Extracted, Gold]], list[Extracted]]]) -> Iterable[Row]:
    counts: dict[tuple[str, str, str], list[int]] = {}
    for session, pairs, wrong in sides:
        group = "held back" if session.held_back else "development"

        def add(kind: str, *numbers: int, group: str = group, session: Session = session) -> None:
            count = counts.setdefault((group, session.language, kind), [0, 0, 0, 0])
            count[:] = [one + other for one, other in zip(count, numbers, strict=True)]

        for gold in session.gold:
            add(gold.kind, 1, 0, 0, 0)
        for one, gold in pairs:
            add(gold.kind, 0, 1, 1, int(one.key == gold.key))
        for one in wrong:
            add(_kind(one), 0, 1, 0, 0)
    return [Row(*names, *numbers) for names, numbers in sorted(counts.items())]


def _kind(one: Extracted) -> str:
    return "forget" if one.content is None else str(one.kind)


def _believed(one: Extracted) -> bool:
    """Return whether it is more than what a tool or a page said."""
    return one.stated or one.kind == "experience"


def _passes(one: Extracted) -> bool:
    """Return whether the gates let it through without asking."""
    proved = one.kind != "experience" or one.verification is not None
    return one.confidence >= GATE and not one.flags and proved


def _states(session: Session, refused: NotKept) -> bool:
    """Return whether what was refused would have been an entry without the negative list."""
    text = session.episodes[refused.episode - 1].text or ""
    return statement(text[refused.start : refused.end]) is not None


def total(rows: Iterable[Row], sessions: str) -> Row:
    """Return the sum of the rows of one group of sessions."""
    of = [row for row in rows if row.sessions == sessions]
    numbers = [sum(getattr(row, name) for row in of) for name in ("stated", "found", "right", "same_key")]
    return Row(sessions, "both", "all", *numbers)


def report(data: Path | None, *, for_program: bool = False) -> str:
    """Measure the sessions of `data` and return a table, or JSON for a program."""
    measured = measure(read_sessions(data))
    groups = sorted({row.sessions for row in measured.rows})
    rows = [*measured.rows, *(total(measured.rows, group) for group in groups)]
    if for_program:
        shown = [asdict(row) | {"precision": row.precision, "recall": row.recall} for row in rows]
        rest = {"growth": [asdict(one) for one in measured.growth], "novelty": measured.novelty, "low_trust": measured.low_trust}
        return json.dumps({"rows": shown, **rest}, indent=2, ensure_ascii=False)
    return "\n".join([*_table(rows), "", *_curve(measured)])


def _table(rows: Iterable[Row]) -> list[str]:
    head = (
        f"{'sessions':<13}{'language':<10}{'kind':<12}{'stated':>7}{'found':>7}{'right':>7}{'precision':>11}{'recall':>8}{'same key':>10}"
    )
    body = [
        f"{row.sessions:<13}{row.language:<10}{row.kind:<12}{row.stated:>7}{row.found:>7}{row.right:>7}"
        f"{row.precision:>11.0%}{row.recall:>8.0%}{row.same_key:>10}"
        for row in rows
    ]
    return [head, *body]


def _curve(measured: Measured) -> list[str]:
    lines = [f"{one.session:<18}{one.ungated:>8}{one.listed:>18}{one.gated:>12}" for one in measured.growth]
    return [
        f"novelty: {measured.novelty:.0%} of what was stated had not been said before; {measured.low_trust} more of low trust, from tools",
        "",
        "wrong entries so far, if kept as they come:",
        f"{'after session':<18}{'no gate':>8}{'negative list':>18}{'and gates':>12}",
        *lines,
    ]
