"""A scripted conversation that plays turn by turn into a kit: what is recorded, what is proposed, what is refused, and what was missed.

The script is an annotated session, as `memkit eval extraction` reads them: beside its turns stands what a person found worth keeping.
`ask` puts a question and says which waiting candidates it counted. Left out: any decision; a person admits and rejects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from memkit.errors import NotFound
from memkit.kit import Kit
from memkit.lab.evaluate_extraction import Gold, Session, fits, read_sessions
from memkit.lab.sandbox import data_folder
from memkit.read.context import Context
from memkit.read.shadow import wanted
from memkit.record.model import Decision, Episode, Proposal, ProposalStatus
from memkit.record.scope import Scope
from memkit.verbs.base import Clock
from memkit.write.gates import Gates, through


@dataclass(frozen=True, slots=True)
class Refusal:
    """Words of an episode that no candidate was made of: where they stand, which words, a named reason, and one sentence."""

    start: int
    words: str
    reason: str
    why: str


@dataclass(frozen=True, slots=True, repr=False)
class Turn:
    """One turn that was played: its episode, what became of each candidate, what was refused in it, and what a person finds in it.

    `gold` is None for what is not in the script: no person has read that.
    """

    episode: Episode
    proposals: tuple[Proposal, ...]
    refused: tuple[Refusal, ...]
    gold: tuple[Gold, ...] | None

    def __repr__(self) -> str:
        lines = [f"{self.episode.number} {self.episode.role}: {' '.join((self.episode.text or '').split())}"]
        lines += [f"  candidate {one.id or '-'} {one.reason}: {one.key} = {one.content}" for one in self.proposals]
        lines += [f"  refused {one.reason}: {' '.join(one.words.split())}" for one in self.refused]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Mark:
    """What a person annotated, and the candidate that was made of it; None: it was missed."""

    gold: Gold
    proposal: Proposal | None


@dataclass(frozen=True, slots=True, repr=False)
class Asked:
    """What a question found: the context that was assembled, and the waiting candidates that were counted and are not in it."""

    context: Context
    counted: tuple[Proposal, ...]

    def __repr__(self) -> str:
        counted = ", ".join(f"{one.id} (now {one.recalls})" for one in self.counted) or "none"
        return f"Asked({len(self.context.hits)} recalled; waiting, counted and not returned: {counted})"


class Conversation:
    """A script, and how far it has been played into one session of an open kit.

    >>> import memkit
    >>> from memkit.lab.story import clock
    >>> talk = Conversation(memkit.open(), memkit.Scope(workspace="shop"), clock("2026-11-30T09:00+00:00"))
    >>> talk.play(2)[1]
    2 assistant: Good to know. The API server listens on port 8080.
      refused ASSISTANT_CLAIM: The API server listens on port 8080.
    """

    def __init__(self, kit: Kit, scope: Scope, clock: Clock, *, script: Session | None = None) -> None:
        self.kit, self.scope, self.clock = kit, scope, clock
        self.script = script_of("launch") if script is None else script
        self.turns: list[Turn] = []
        self.played = 0

    @property
    def session(self) -> str:
        return self.script.name

    @property
    def left(self) -> int:
        """Return how many turns of the script are still to come."""
        return len(self.script.episodes) - self.played

    def play(self, turns: int = 1) -> list[Turn]:
        """Record the next turns of the script, one by one, and extract after each. Raises NotFound where the script has ended."""
        if turns and not self.left:
            raise NotFound(f"all {self.played} turns of the script were played; say something yourself, or open a new store")
        return [self._next() for _ in range(min(turns, self.left))]

    def say(self, role: str, text: str) -> Turn:
        """Record something that is not in the script, and extract."""
        return self._heard(self.kit.record(self.session, role, text, scope=self.scope), None)

    def look_again(self) -> None:
        """Read what was played once more, so that nothing is shown here that was forgotten or decided since."""
        if self.turns:
            episodes = {one.number: one for one in self.kit.episodes(self.session, scope=self.scope)}
            now = {one.id: one for one in [*self.kit.inbox(scope=self.scope), *decided(self.kit, self.scope)]}
            self.turns = [_as_it_stands(turn, episodes[turn.episode.number], now) for turn in self.turns]

    def marks(self) -> list[Mark]:
        """Return what a person annotated in the turns so far, each beside the candidate that was made of it."""
        return compare([gold for turn in self.turns for gold in turn.gold or ()], [one for turn in self.turns for one in turn.proposals])

    def held(self, proposal: Proposal) -> Decision:
        """Say what holds a waiting proposal back from being kept without a person."""
        current = self.kit.current(proposal.key, scope=self.scope)
        return through(proposal, Gates(), now=self.clock(), current=current)

    def ask(self, query: str, *, budget: int = 300) -> Asked:
        """Ask a question, as `ask` does."""
        return ask(self.kit, query, scope=self.scope, budget=budget)

    def _next(self) -> Turn:
        said = self.script.episodes[self.played]
        self.played += 1
        gold = tuple(one for one in self.script.gold if one.turn == self.played)
        return self._heard(self.kit.record(self.session, said.role, said.text or "", scope=self.scope), gold)

    def _heard(self, episode: Episode, gold: tuple[Gold, ...] | None) -> Turn:
        found = self.kit.extract(self.session, scope=self.scope)
        text = episode.text or ""
        refused = [one for one in found.refused if one.episode == episode.number]
        told = tuple(Refusal(one.start, text[one.start : one.end], one.reason, one.why) for one in refused)
        self.turns.append(Turn(episode, tuple(found), told, gold))
        return self.turns[-1]


def script_of(name: str) -> Session:
    """Return a scripted conversation of the project, with what a person annotated in it.

    >>> len(script_of("launch").episodes)
    14
    """
    (session,) = read_sessions(data_folder() / "conversation" / f"{name}.yaml")
    return session


def _as_it_stands(turn: Turn, episode: Episode, now: dict[int, Proposal]) -> Turn:
    found = tuple(now.get(one.id, replace(one, candidate=one.candidate.withdrawn())) for one in turn.proposals)
    same = episode.text == turn.episode.text
    return Turn(episode, found, turn.refused if same else tuple(replace(one, words="[forgotten]") for one in turn.refused), turn.gold)


def unmarked(marks: Iterable[Mark], turns: Iterable[Turn]) -> list[int]:
    """Return the numbers of the candidates of the script, waiting or decided, that no person had marked."""
    marked = {mark.proposal.id for mark in marks if mark.proposal}
    return sorted({one.id for turn in turns if turn.gold is not None for one in turn.proposals if one.id} - marked)


def compare(gold: Iterable[Gold], found: Iterable[Proposal]) -> list[Mark]:
    """Put each annotation beside the candidate that states it, each candidate once; what is there already, or repeats, counts as found."""
    left = list({one.id or -number: one for number, one in enumerate(found)}.values())
    marks = list[Mark]()
    for one in gold:
        fitting = [each for each in left if _heard(each) and fits(one, each.candidate.kind, each.content)]
        best = min(fitting, key=lambda each: (each.key != one.key, abs(_episode(each) - one.turn)), default=None)
        if best is not None:
            left.remove(best)
        marks.append(Mark(one, best))
    return marks


def _heard(proposal: Proposal) -> bool:
    """Return whether it was kept, or was refused only because there is nothing to forget, or it is known already."""
    return proposal.id > 0 or proposal.reason in ("NOTHING_CURRENT", "ALREADY_KNOWN")


def _episode(proposal: Proposal) -> int:
    return min((int(piece.source.rpartition("/")[2]) for piece in proposal.candidate.evidence), default=0)


def ask(kit: Kit, query: str, *, scope: Scope, budget: int = 300) -> Asked:
    """Assemble a context for a question, and return what it shows and which waiting candidates it counted."""
    context = kit.context(query, scope=scope, budget=budget)
    waiting = kit.inbox(scope=scope)
    numbers = wanted([(one.id, one.content or "") for one in waiting], query)
    return Asked(context, tuple(one for one in waiting if one.id in numbers))


def decided(kit: Kit, scope: Scope) -> list[Proposal]:
    """Return the proposals a person has decided about, by their number."""
    settled = [ProposalStatus.ADMITTED, ProposalStatus.REJECTED, ProposalStatus.EXPIRED]
    return sorted((one for status in settled for one in kit.inbox(scope=scope, status=status)), key=lambda one: one.id)
