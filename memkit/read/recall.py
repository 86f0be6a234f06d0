"""Recall: visible, scored, filtered, verified in rank order, and filled to the budget; whatever is left out says why.

Only rows of scopes that apply are ever looked at, counted or weighed. Evidence is read again before a memory is returned, lazily, in
rank order, each source at most once. Recall only reads. Left out: scores (`rank.py`, `rerank.py`) and how hits are shown (`context.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from memkit.errors import Refused, shown
from memkit.read import rank as ranking
from memkit.read.follow import Index
from memkit.read.links import recorded
from memkit.read.matches import Match, Matches
from memkit.read.recipes import Recipe
from memkit.read.rerank import HEAD, reranked
from memkit.record import store
from memkit.record.database import Database
from memkit.record.evidence import Reader, check_memory
from memkit.record.model import Check, Memory, Verdict, shortened
from memkit.record.scope import is_narrower
from memkit.record.text import plain
from memkit.record.use import record_of_use

FIRST = 16  # memories read at once to begin with; twice as many each time
AT_ONCE = 32  # skipped memories that are read without being asked for


@dataclass(frozen=True, slots=True, repr=False)
class Hit:
    """A memory that was recalled. `parts` adds up to `score`; `rivals` are the ids of others with its key, neither wider nor narrower."""

    memory: Memory
    score: float
    parts: Mapping[str, float]
    tokens: int
    age: timedelta
    check: Check
    rivals: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        return self.check.verdict

    def __repr__(self) -> str:
        aside = f"{self.check.aside}, " * bool(self.check.aside)
        return f"Hit({self.score:.3f} {self.memory.key} {self.verdict}: {shortened(self.memory.content)}, {aside}{self.tokens} tokens)"


@dataclass(frozen=True, slots=True, repr=False)
class Skipped:
    """A memory that matched and was left out: a named reason, one sentence, and the check where evidence was read."""

    memory: Memory
    score: float
    reason: str
    why: str
    check: Check | None = None

    def __repr__(self) -> str:
        return f"Skipped({self.score:.3f} {self.memory.key} {self.reason}: {self.why})"


@dataclass(frozen=True, repr=False, eq=False)
class Recall:
    """What a query found: hits best first, and what was skipped. `tokens` never exceeds `budget`; `matched` counts both.

    `elsewhere`: the calls that answer what was asked of where a task stands, which is never recalled.
    """

    query: str
    budget: int
    hits: tuple[Hit, ...]
    matched: int
    tell: Callable[[], tuple[Skipped, ...]] = field(default=tuple)
    elsewhere: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(hit.tokens for hit in self.hits)

    @cached_property
    def skipped(self) -> tuple[Skipped, ...]:
        """What matched and was left out, in rank order, each with its reason; of many, read from the store when asked for."""
        return self.tell()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recall) and self._compared == other._compared

    __hash__ = None  # type: ignore[assignment]

    @property
    def _compared(self) -> tuple[object, ...]:
        return self.query, self.budget, self.hits, self.skipped

    def __repr__(self) -> str:
        known: tuple[Skipped, ...] | None = vars(self).get("skipped")
        more = f"{self.matched - len(self.hits)} more matched; .skipped tells why each was left out"
        rest = [more] if known is None else map(repr, known)
        head = f"Recall({shortened(self.query)}: {self.tokens} of {self.budget} tokens)"
        return "\n    ".join([head, *map(repr, self.hits), *rest])


@dataclass(frozen=True, slots=True)
class Conditions:
    """What else decides a filling: the price of a memory (disputed by a rival or not), what is said already, and what was overturned.

    Without `price` a memory costs the tokens of its content. `beyond`: how much more than that a price is at least, so that what cannot
    fit is not read; None where a price may also be less.
    `flagged` maps the id of a memory to the revision that a later observation contradicted.
    """

    price: Callable[[Memory, bool], int] | None = None
    beyond: int | None = 0
    said: frozenset[str] = frozenset()
    flagged: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Fill:
    """What has been taken so far."""

    budget: int
    limit: int | None
    given: Conditions
    used: int = 0
    hits: list[Hit] = field(default_factory=list)
    contents: set[str] = field(default_factory=set)
    read: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.contents |= self.given.said

    @property
    def left(self) -> int:
        """Return the tokens of content that may still be taken: none once there are as many hits as were asked for."""
        left = 0 if self.limit is not None and len(self.hits) >= self.limit else self.budget - self.used
        return left - self.given.beyond if self.given.beyond is not None else sys.maxsize if left else 0

    def take(self, hit: Hit) -> None:
        self.hits.append(hit)
        self.used += hit.tokens
        if not hit.memory.negative:
            self.contents.add(self.plain(hit.memory))

    def plain(self, memory: Memory) -> str:
        """Return what a memory says as a reader sees it, made once."""
        said = memory.content or ""
        if said not in self.read:
            self.read[said] = plain(said)
        return self.read[said]


def rank(db: Database, index: Index, query: str, scopes: Sequence[str], *, recipe: Recipe, now: datetime) -> Matches:
    """Score the current rows of the visible scopes, and read only the few that are reranked."""
    with db.read() as tx:
        view = index.view(tx, scopes)

        def texts() -> list[str]:
            said = {row[0]: row[2] for scope in scopes for row in store.texts(tx, index.tenant, scope)}
            return [said[document.seq] for document in view.documents]

        ranked = ranking.rank(view, query, recipe, recorded(tx, index.tenant), texts)
        matches = Matches(db, index.tenant, scopes, view, ranked)
    if recipe.rerank or recipe.reader:
        head = matches.read(matches.best(HEAD, room=sys.maxsize, above=recipe.threshold))
        with db.read() as tx:
            uses = record_of_use(tx, index.tenant, [match.memory.id for match in head])
        return matches.scored_again(reranked(ranked, head, query, recipe, uses=uses, now=now))
    return matches


def fill(
    matches: Matches, reader: Reader, query: str, given: Conditions, *, budget: int, limit: int | None, recipe: Recipe, now: datetime
) -> Recall:
    """Take memories in rank order while they fit, reading only those that may be taken, and evidence only of those that would be.

    An item too large for what is left is skipped, not a stop. A larger budget never gives fewer tokens: where two budgets one token apart
    first differ, the larger one took an item that fills it exactly. What only says that a search found nothing comes last and hides
    nothing, so all else is taken as if it were not there.
    """
    state, seen = _Fill(budget, limit, given), dict[int, Hit | Skipped]()
    most = FIRST if limit is None else min(limit, FIRST)
    while rows := matches.best(most, room=state.left, above=recipe.threshold):
        for match in matches.read(rows):
            seen[match.row] = outcome = _judged(match, state, recipe, now, reader)
            if isinstance(outcome, Hit):
                state.take(outcome)
        most *= 2
    matches.forget_read()  # what is told later is told as it is then: it may be forgotten meanwhile

    def tell() -> tuple[Skipped, ...]:
        return tuple(_skipped(matches, seen, _Fill(budget, limit, given), recipe, now))

    found = Recall(query, budget, tuple(state.hits), len(matches), tell, matches.found.elsewhere)
    if len(matches) - len(seen) <= AT_ONCE:
        found.skipped  # noqa: B018  read now, so that a small answer can be looked at after the store is closed
    return found


def _judged(match: Match, state: _Fill, recipe: Recipe, now: datetime, reader: Reader) -> Hit | Skipped:
    """Decide about one match, reading its evidence only where nothing else speaks against it."""
    refusal, price, against = _refused(match, state, recipe, now)
    if refusal:
        return Skipped(match.memory, match.score, *refusal)
    check = check_memory(match.memory, reader)
    if check.verdict.holds:
        return Hit(match.memory, match.score, match.parts, price, now - match.memory.seen, check, against)
    return Skipped(match.memory, match.score, check.verdict.withheld_as, check.why, check)


def stands(other: Memory, now: datetime) -> bool:
    """Return whether another value of a key counts now: it is true, and more than that a search found nothing."""
    return other.begun(now) and not other.ended(now) and not other.negative


def _skipped(matches: Matches, seen: Mapping[int, Hit | Skipped], state: _Fill, recipe: Recipe, now: datetime) -> Iterator[Skipped]:
    """Go through every match once more, in rank order, and say why each that was not taken was left out, as things stood then."""
    order = matches.ordered()
    unseen = {match.row: match for match in matches.read(row for row in order if row not in seen)}
    for row in order:
        outcome = seen.get(row)
        if isinstance(outcome, Hit):
            state.take(outcome)
        elif outcome is not None:
            yield outcome
        elif (match := unseen.get(row)) and (refusal := _refused(match, state, recipe, now)[0]):
            yield Skipped(match.memory, match.score, *refusal)


def check_request(query: object, budget: object, limit: object, recipe: object) -> None:
    """Raise Refused for a query that is not text, a budget or limit that is not a whole number from 0 on, or what is no recipe."""
    if recipe is not None and not isinstance(recipe, Recipe):
        raise Refused("BAD_RECIPE", f"the recipe is {type(recipe).__name__}; pass memkit.TFIDF or another memkit.Recipe")
    if not isinstance(query, str):
        raise Refused("BAD_QUERY", f"the query is {type(query).__name__}; pass text, any text")
    check_whole(budget=budget, limit=limit)


def check_whole(**numbers: object) -> None:
    """Raise Refused for what is not a whole number from 0 on; a limit or a window may be None."""
    for name, number in numbers.items():
        missing = number is None and name in ("limit", "window")
        if not missing and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
            raise Refused(f"BAD_{name.upper()}", f"{name} is {shown(number)}; pass a whole number, 0 or more")


Refusal = tuple[str, str]


def _refused(match: Match, state: _Fill, recipe: Recipe, now: datetime) -> tuple[Refusal | None, int, tuple[str, ...]]:
    """Return why a match may not be taken, evidence aside, or None with its price and its rivals."""
    others = [other for other in match.others if stands(other, now)]
    refusal = withheld(match.memory, others, now, state.given.flagged) or _weak(match, recipe) or _crowded(match, state)
    if refusal:
        return refusal, 0, ()
    against, price, left = rivals(match.memory, others), match.tokens, state.budget - state.used
    if state.given.price is not None:
        price = state.given.price(match.memory, bool(against))
    over = price > left or not left  # subtle: where nothing is left, nothing fits, also what a caller's count calls free
    return (("OVER_BUDGET", f"it needs {price} tokens and {left} are left of {state.budget}") if over else None), price, against


def withheld(memory: Memory, others: Iterable[Memory], now: datetime, flagged: Mapping[str, int]) -> Refusal | None:
    """Return why a memory may not be shown, whatever the query is: its times, a narrower value of its key, or a contradiction."""
    if memory.ended(now):
        return "EXPIRED", f"it expired at {memory.expires_at or memory.valid_to}"
    if not memory.begun(now):
        return "NOT_YET_VALID", f"it becomes true at {memory.valid_from}"
    if memory.due(now):
        return "REVIEW_DUE", f"its review was due at {memory.review_at}; state it again with a new date, or correct it"
    for other in others:
        if is_narrower(other.scope, memory.scope):
            return "HIDDEN_BY_NARROWER", f"{other.scope} has its own value for {memory.key!r}, which applies here"
    if flagged.get(memory.id) == memory.revision:
        return "FLAGGED", "what was seen later contradicts it: learn it anew or correct it, or let a person confirm it"
    return None


def _weak(match: Match, recipe: Recipe) -> Refusal | None:
    if match.enough and match.ranked > recipe.threshold:  # as `Matches.best` judges it, or it would be neither taken nor told
        return None
    short = f"the best memory covers less than {recipe.coverage:.0%} of the question" if not match.enough else ""
    return "BELOW_THRESHOLD", short or f"its score {match.score:.3f} is not above {recipe.threshold}"


def _crowded(match: Match, state: _Fill) -> Refusal | None:
    if state.plain(match.memory) in state.contents:
        return "DUPLICATE", "a better match says the same, or the snapshot does"
    if state.limit is not None and len(state.hits) >= state.limit:
        return "OVER_LIMIT", f"{state.limit} better matches were taken already, as many as were asked for"
    return None


def rivals(memory: Memory, others: Iterable[Memory]) -> tuple[str, ...]:
    """Return the ids of other values of its key that are neither wider nor narrower: all of them are shown, and marked."""
    return tuple(other.id for other in others if not is_narrower(memory.scope, other.scope))
