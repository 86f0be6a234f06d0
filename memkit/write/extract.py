"""From a conversation to candidates: what an extractor takes, what it gives, and what became of it.

`Extractor` is the seam. Two extractors are real: `rules.py` needs no model, `extract_model.py` asks one. Both are pure: episodes in, an
`Extraction` out, and nothing is written. Left out: the session log and its cursor, admission, and redaction, which came before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memkit.errors import Refused
from memkit.record.model import Episode, Kind, Proposal, Role
from memkit.record.text import compiled, fold
from memkit.write.arguments import check_form
from memkit.write.table import read

MOST_TOKENS = 160  # of a single fact, extracted or consolidated: DEFAULT_MEMORY_DEEP_DREAMING_MAX_PROMOTED_SNIPPET_TOKENS of openclaw
LONGEST_TALK = 200  # characters; whoever says more may say something


@dataclass(frozen=True, slots=True)
class Extracted:
    """One candidate. `content` None asks to withdraw the key. `quote` stands literally in the episode; `literal`: so does the content.

    `also` cites further first-hand words as (episode number, quote). `stated`: the person said it. An experience has its `task` and, where
    something showed that the fix works, its `verification`. `flags` are the techniques that the screen found.
    """

    key: str
    content: str | None
    kind: Kind
    confidence: float
    episode: int
    quote: str
    subject: str
    stated: bool = True
    task: str | None = None
    verification: str | None = None
    also: tuple[tuple[int, str], ...] = ()
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_form(self, "BAD_EXTRACTION", key=str, quote=str, subject=str, episode=int, stated=bool, also=tuple, flags=tuple)
        check_form(self, "BAD_EXTRACTION", content=str | None, task=str | None, verification=str | None)
        pairs = all(isinstance(pair, tuple) and [*map(type, pair)] == [int, str] for pair in self.also)
        if not pairs or not all(isinstance(flag, str) and flag.isidentifier() for flag in self.flags):
            raise Refused("BAD_EXTRACTION", "`also` or `flags` hold something else; pass pairs of a number and a quote, and names")

    @property
    def literal(self) -> bool:
        return self.content is not None and self.content in self.quote


@dataclass(frozen=True, slots=True)
class NotKept:
    """Something that looked like a candidate and was refused: where it stands, a named reason, and one sentence. It holds no content."""

    episode: int
    start: int
    end: int
    reason: str
    why: str

    def __post_init__(self) -> None:
        check_form(self, "BAD_EXTRACTION", episode=int, start=int, end=int, reason=str, why=str)


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor found. Both may be empty, and that is a success."""

    candidates: tuple[Extracted, ...] = ()
    refused: tuple[NotKept, ...] = ()

    def __post_init__(self) -> None:
        check_form(self, "BAD_EXTRACTION", candidates=tuple, refused=tuple)
        if not all(isinstance(one, Extracted) for one in self.candidates) or not all(isinstance(one, NotKept) for one in self.refused):
            raise Refused("BAD_EXTRACTION", "an Extraction holds something else; pass a tuple of Extracted and one of NotKept")


class Drawn(list[Proposal]):
    """What became of each candidate of an extraction, and in `refused` what the extractor turned away before it was one, in its order.

    `waits_until`: when the lease ends of somebody else who is extracting, or was and died, so that nothing was read; None where it was.

    >>> Drawn([], [NotKept(2, 0, 34, "ASSISTANT_CLAIM", "what the assistant says is never evidence")])
    []
        refused: episode 2, characters 0 to 34: ASSISTANT_CLAIM, what the assistant says is never evidence
    """

    def __init__(self, proposals: Iterable[Proposal] = (), refused: Iterable[NotKept] = (), waits_until: datetime | None = None) -> None:
        super().__init__(proposals)
        self.refused, self.waits_until = tuple(refused), waits_until

    def __repr__(self) -> str:
        away = [f"refused: episode {one.episode}, characters {one.start} to {one.end}: {one.reason}, {one.why}" for one in self.refused]
        waits = f"waits: somebody else is extracting, or died doing it; call again after {self.waits_until}, when their lease ends"
        return "\n    ".join([super().__repr__(), *away, *([waits] if self.waits_until else [])])

    def and_then(self, later: Drawn) -> Drawn:
        """Return what this run and a later one made together."""
        return Drawn([*self, *later], [*self.refused, *later.refused])


class Extractor(Protocol):
    """Anything that turns the episodes of one session into candidates."""

    def extract(self, episodes: Sequence[Episode]) -> Extraction:
        """Return what these episodes state, in their order."""
        ...


def readable(episodes: Sequence[Episode]) -> list[Episode]:
    """Return the episodes an extractor may read: what the model saw and what may be of the task.

    Not of the task are the system's own text, and an episode of nothing but small talk or marks. What was forgotten is gone.
    """
    return [one for one in episodes if one.visible and one.text and one.role is not Role.SYSTEM and not small_talk(one.text)]


def small_talk(text: str) -> bool:
    """Return whether a text only greets, thanks, takes leave or fills a pause (`small_talk.toml`): nothing with a letter or digit is left.

    >>> small_talk("Hi there! Thanks a lot 👍"), small_talk("好的，谢谢！"), small_talk("ok, we use pnpm"), small_talk("8081")
    (True, True, False, False)
    """
    words = read("small_talk.toml")["words"]
    idle = compiled(rf"\b(?:{'|'.join(words['english'])})\b|{'|'.join(words['chinese'])}")
    return len(text) <= LONGEST_TALK and not compiled(r"[^\W_]").search(idle.sub("", fold(text).text.casefold()))
