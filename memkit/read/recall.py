"""Recall: visible, scored, filtered, verified in rank order, and filled to the budget; whatever is left out says why.

Only rows of scopes that apply are ever looked at, counted or weighed. Evidence is read again before a memory is returned, lazily, in
rank order, each source at most once. Recall only reads. Other signals than TF-IDF and reranking are not here yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlite_utils import Database as SqliteUtils

from memkit.errors import Refused, shown
from memkit.read.follow import Index
from memkit.read.index import Scored, search
from memkit.record import store
from memkit.record.evidence import Reader, check_memory
from memkit.record.model import Check, Memory, Verdict, shortened
from memkit.record.scope import is_narrower
from memkit.record.text import count_tokens, plain


@dataclass(frozen=True, slots=True)
class Recipe:
    """How memories are ranked. `threshold` is the score below which one is skipped: a memory must score more than that."""

    name: str
    threshold: float = 0.0


TFIDF = Recipe("tfidf")
"""Exact TF-IDF: the scores of scikit-learn's TfidfVectorizer fitted on the current rows of the visible scopes."""


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


@dataclass(frozen=True, slots=True, repr=False)
class Recall:
    """What a query found: hits best first, and what was skipped. `tokens` never exceeds `budget`."""

    query: str
    budget: int
    hits: tuple[Hit, ...]
    skipped: tuple[Skipped, ...]

    @property
    def tokens(self) -> int:
        return sum(hit.tokens for hit in self.hits)

    def __repr__(self) -> str:
        lines = [f"Recall({shortened(self.query)}: {self.tokens} of {self.budget} tokens)", *map(repr, self.hits), *map(repr, self.skipped)]
        return "\n    ".join(lines)


@dataclass(slots=True)
class _Fill:
    """What has been taken so far."""

    budget: int
    limit: int | None
    used: int = 0
    hits: list[Hit] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    contents: set[str] = field(default_factory=set)

    def take(self, hit: Hit) -> None:
        self.hits.append(hit)
        self.used += hit.tokens
        self.contents |= set() if hit.memory.negative else {plain(hit.memory.content or "")}


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every memory that matched, best first, and every current one with the same keys: one moment of the record."""

    order: list[tuple[Memory, Scored]]
    by_key: dict[str, list[Memory]]


def rank(tx: SqliteUtils, index: Index, query: str, scopes: Sequence[str]) -> Ranked:
    """Score the current rows of the visible scopes and fetch those that matched."""
    scored = search(index.partitions(tx, scopes), query)
    keys = sorted({index.where[found.id][1] for found in scored})
    memories = store.current_memories(tx, index.tenant, list(scopes), keys)
    by_id = {memory.id: memory for memory in memories}
    by_key: dict[str, list[Memory]] = {}
    for memory in memories:
        by_key.setdefault(memory.key, []).append(memory)
    return Ranked([(by_id[found.id], found) for found in scored], by_key)


def fill(ranked: Ranked, reader: Reader, query: str, *, budget: int, limit: int | None, recipe: Recipe, now: datetime) -> Recall:
    """Take memories in rank order while they fit, reading evidence only of those that would be taken.

    An item too large for what is left is skipped, not a stop. A larger budget never gives fewer tokens: where two budgets one token apart
    first differ, the larger one took an item that fills it exactly. What only says that a search found nothing comes last and hides
    nothing, so all else is taken as if it were not there.
    """
    state = _Fill(budget, limit)
    for memory, scored in sorted(ranked.order, key=lambda pair: pair[0].negative):
        others = [other for other in ranked.by_key[memory.key] if other.id != memory.id and _stands(other, now)]
        check: Check | None = None
        refusal = _policy(memory, scored, others, recipe, now) or _room(memory, state)
        if refusal is None:
            check = check_memory(memory, reader)
            refusal = None if check.verdict.holds else (check.verdict.withheld_as, check.why)
        if refusal is None and check is not None:
            state.take(_hit(memory, scored, check, others, now))
        elif refusal is not None:
            state.skipped.append(Skipped(memory, scored.score, *refusal, check))
    return Recall(query, budget, tuple(state.hits), tuple(state.skipped))


def _stands(other: Memory, now: datetime) -> bool:
    return other.begun(now) and not other.ended(now) and not other.negative


def check_request(query: object, budget: object, limit: object, recipe: object) -> None:
    """Raise Refused for a query that is not text, a budget or limit that is not a whole number from 0 on, or what is no recipe."""
    if recipe is not None and not isinstance(recipe, Recipe):
        raise Refused("BAD_RECIPE", f"the recipe is {type(recipe).__name__}; pass memkit.TFIDF or another memkit.Recipe")
    if not isinstance(query, str):
        raise Refused("BAD_QUERY", f"the query is {type(query).__name__}; pass text, any text")
    for name, number in (("budget", budget), ("limit", limit)):
        if name == "limit" and number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise Refused(f"BAD_{name.upper()}", f"{name} is {shown(number)}; pass a whole number, 0 or more")


def tokens_of(memory: Memory) -> int:
    """Return what a memory costs of a budget: the tokens of its content."""
    return count_tokens(memory.content or "")


Refusal = tuple[str, str]


def _policy(memory: Memory, scored: Scored, others: Iterable[Memory], recipe: Recipe, now: datetime) -> Refusal | None:
    if memory.ended(now):
        return "EXPIRED", f"it expired at {memory.expires_at or memory.valid_to}"
    if not memory.begun(now):
        return "NOT_YET_VALID", f"it becomes true at {memory.valid_from}"
    if memory.due(now):
        return "REVIEW_DUE", f"its review was due at {memory.review_at}; state it again with a new date, or correct it"
    for other in others:
        if is_narrower(other.scope, memory.scope):
            return "HIDDEN_BY_NARROWER", f"{other.scope} has its own value for {memory.key!r}, which applies here"
    if scored.score <= recipe.threshold:
        return "BELOW_THRESHOLD", f"its score {scored.score:.3f} is not above {recipe.threshold}"
    return None


def _room(memory: Memory, state: _Fill) -> Refusal | None:
    if plain(memory.content or "") in state.contents:
        return "DUPLICATE", "a better match says the same"
    if state.limit is not None and len(state.hits) >= state.limit:
        return "OVER_LIMIT", f"{state.limit} better matches were taken already, as many as were asked for"
    if (needs := tokens_of(memory)) > state.budget - state.used:
        return "OVER_BUDGET", f"it needs {needs} tokens and {state.budget - state.used} are left of {state.budget}"
    return None


def _hit(memory: Memory, scored: Scored, check: Check, others: Iterable[Memory], now: datetime) -> Hit:
    rivals = tuple(other.id for other in others if not is_narrower(memory.scope, other.scope))
    return Hit(memory, scored.score, dict(scored.parts), tokens_of(memory), now - memory.seen, check, rivals)
