"""Try locators against edits: cite one piece of a file in every way that is proposed, edit the file, and count which citations err.

A citation errs in two ways: it falls although what it names still holds (false-stale), or it holds although that changed (missed-stale).
What really changed is judged by `chosen.py`, which knows nothing of locators. Every edit starts from the first version, so that trials do
not depend on their order. Not here: widgets; rates over many files (`drift.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import memkit
from memkit.errors import BadLocator, NotFound, Refused
from memkit.lab.chosen import Fact, fact_of, turned
from memkit.lab.sandbox import data_folder
from memkit.lab.story import clock, ids
from memkit.record.model import Check
from memkit.record.scope import Scope
from memkit.record.sources import Texts

HERE = Scope(workspace="drift")
GROUPS = ("harmless", "moving", "changing", "deleting", "commit", "yours")
REMARK = {"py": ("# ", ""), "md": ("<!-- ", " -->"), "json": ("", "")}  # ending of a file -> how a remark begins and ends; else "# "


@dataclass(frozen=True, slots=True)
class Edit:
    """One thing that happens to a file: its group, words for it, and the text or bytes afterwards (None: the file is gone)."""

    group: str
    words: str
    after: str | bytes | None

    @property
    def title(self) -> str:
        return f"{self.group}: {self.words}"


@dataclass(frozen=True, slots=True)
class Versions:
    """The first version of a file, a piece of it to begin with, and what is recorded to have happened to it, by its title."""

    name: str
    first: str
    piece: str
    edits: Mapping[str, Edit]


@dataclass(frozen=True, slots=True)
class Tried:
    """One edit, whether the fact changed by it, and what memkit said of each citation."""

    edit: Edit
    changed: bool
    checks: tuple[Check, ...]

    def erred(self, check: Check) -> bool:
        """Return whether a citation held although the fact changed, or fell although it did not."""
        return check.verdict.holds is self.changed


@dataclass(slots=True)
class Score:
    """How one citation did: edits that left the fact as it was and felled it, and edits that changed the fact and were missed."""

    same: int = 0
    false: int = 0
    changed: int = 0
    missed: int = 0


def versions() -> dict[str, Versions]:
    """Return the files of `data/drift/pairs.jsonl` with their edits, by name.

    >>> list(versions())
    ['pyproject.toml', 'setup.cfg', 'service.yaml', 'checkout.py', 'guide.md']
    """
    firsts: dict[str, tuple[str, str]] = {}
    edits: dict[str, dict[str, Edit]] = {}
    for line in (data_folder() / "drift" / "pairs.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            pair = json.loads(line)
            edit = Edit(pair["group"], pair["edit"], pair["after"])
            firsts[pair["path"]] = (pair["before"], pair["piece"])
            edits.setdefault(pair["path"], {})[edit.title] = edit
    return {name: Versions(name, *first, edits[name]) for name, first in firsts.items()}


@dataclass(slots=True)
class Trial:
    """A piece of a file, cited in every way that covers it, and what became of these citations so far.

    `start` says which place is meant where the piece stands several times, in characters; by default the first. Raises BadLocator where
    the piece does not stand there.

    >>> trial = Trial(versions()["setup.cfg"], "30")
    >>> [cite.partition("#")[2] for cite in trial.cites]
    ['key=server.timeout', 'quote=30', 'lines=5', 'key=server', '']
    >>> tried = trial.apply(trial.edits["changing: the two timeouts are exchanged"])
    >>> tried.changed, [check.verdict.value for check in tried.checks]
    (True, ['CHANGED', 'VALID', 'MOVED', 'CHANGED', 'CHANGED'])
    """

    versions: Versions
    piece: str
    start: int | None = None
    at: int = field(init=False)
    cites: list[str] = field(init=False)
    fact: Fact = field(init=False)
    edits: dict[str, Edit] = field(init=False)
    tried: dict[str | bytes | None, Tried] = field(init=False)
    kit: memkit.Kit = field(init=False)

    def __post_init__(self) -> None:
        name, first = self.versions.name, self.versions.first
        self.kit = memkit.open(sources={name: first}, clock=clock("2026-03-02T09:00+00:00"), ids=ids())
        self.cites = memkit.suggest(name, self.piece, sources=self.kit.sources, start=self.start)
        self.piece = self.piece.replace("\r\n", "\n").replace("\r", "\n").strip()
        at = first.find(self.piece, self.start or 0)
        self.fact = fact_of(name, first, at, self.piece)
        self.at = at
        edits = [*self.versions.edits.values(), *own_edits(self.versions, at, self.piece)]
        self.edits = {edit.title: edit for edit in sorted(edits, key=lambda edit: GROUPS.index(edit.group))}
        self.tried = {}
        for cite in self.cites:
            self._learn(cite)

    def add(self, cite: str) -> None:
        """Cite the piece in one more way, and try it with every edit made so far. Raises BadLocator and what `learn` raises."""
        self.restore()
        if self._learn(cite) not in self.cites:
            self.cites.append(cite)
        for tried in list(self.tried.values()):
            self.apply(tried.edit)

    def apply(self, edit: Edit) -> Tried:
        """Put the file as the edit leaves it, ask memkit about each citation, and count; the same edit again is not counted twice."""
        if edit.after == self.versions.first:
            raise Refused("NO_EDIT", "the file is as it was at first, so there is nothing to try: change something in it")
        self._put(edit.after)
        found = {check.memory.key: check for check in self.kit.check(scope=HERE)}
        data = edit.after.encode() if isinstance(edit.after, str) else edit.after
        tried = Tried(edit, not self.fact.holds(data), tuple(found[cite] for cite in self.cites))
        self.tried.pop(edit.after, None)
        self.tried[edit.after] = tried
        return tried

    def restore(self) -> None:
        """Bring the first version back; what was counted stays."""
        self._put(self.versions.first)

    def scores(self) -> dict[str, Score]:
        """Return how each citation did over the edits tried so far."""
        scores = {cite: Score() for cite in self.cites}
        for tried in self.tried.values():
            for check in tried.checks:
                score = scores[check.memory.key]
                score.changed += tried.changed
                score.same += not tried.changed
                score.missed += tried.changed and check.verdict.holds
                score.false += not tried.changed and not check.verdict.holds
        return scores

    def _learn(self, cite: str) -> str:
        self.kit.learn(cite, f"What is meant: {self.piece}", scope=HERE, cite=cite, expected=memkit.ANY)
        if cite.partition("#")[0] != self.versions.name:
            raise BadLocator(cite, f"the citation is of another file; cite {self.versions.name}, for instance {self.cites[0]}")
        return cite

    def _put(self, after: str | bytes | None) -> None:
        sources = self.kit.sources
        if not isinstance(sources, Texts):
            raise NotFound("the trial has lost its texts; make a new one")
        if after is None:
            sources.pop(self.versions.name, None)
        else:
            sources[self.versions.name] = after


def place(text: str, piece: str, number: int = 1) -> int:
    """Return at which character the `number`-th `piece` begins, counted from 1; raises BadLocator where there are fewer.

    >>> place("30 and 30", "30", 2)
    7
    """
    at = -1
    for count in range(number):
        at = text.find(piece, at + 1)
        if at < 0:
            raise BadLocator(piece, f"the piece stands {count} times in the first version; copy it exactly, and choose one of these")
    return at


def own_edits(versions: Versions, at: int, piece: str) -> Iterator[Edit]:
    """Yield edits made for a chosen piece: saved otherwise, pushed down, repeated, changed, deleted."""
    first, end = versions.first, at + len(piece)
    before, after = REMARK.get(versions.name.rpartition(".")[2], ("# ", ""))
    line, last = first.rfind("\n", 0, at) + 1, first.find("\n", end) % (len(first) + 1)
    yield Edit("harmless", "saved with Windows line endings", first.replace("\n", "\r\n"))
    yield Edit("harmless", "saved as UTF-16", first.encode("utf-16"))
    if before:
        yield Edit("moving", "three lines are put above it all", f"{before}one{after}\n{before}two{after}\n{before}three{after}\n{first}")
        yield Edit("harmless", "a remark at the end repeats it", f"{first}{before}once: {' '.join(piece.split())}{after}\n")
    yield Edit("changing", "exactly what you chose", first[:at] + turned(piece) + first[end:])
    yield Edit("deleting", "the lines it stands on", first[:line] + first[last + 1 :])
    yield Edit("deleting", "the whole file", None)
