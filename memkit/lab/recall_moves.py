"""Ask one question two ways and say what changed: which memories moved, entered and left when one switch was flipped, and why.

Also what was looked for at all: the needs of the question, the terms of each, and the calls that answer what recall is not for.
A switch changes one field of a recipe or the budget, and nothing else. Left out: drawing any of it (`memkit.widgets`), and measuring
over many questions (`recall_curves.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from importlib.util import find_spec

from memkit.errors import NotFound
from memkit.kit import Kit
from memkit.read.analyze import analyze
from memkit.read.needs import asks_for_state, split
from memkit.read.recall import Recall
from memkit.read.recipes import BALANCED, SEMANTIC, TFIDF, THOROUGH, Fusion, Recipe
from memkit.record.scope import Scope

RECIPES: Mapping[str, Recipe] = {"TFIDF": TFIDF, "BALANCED": BALANCED, "THOROUGH": THOROUGH, "SEMANTIC": SEMANTIC}
"""The recipes that memkit names, by their names there."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One question as it is put to recall."""

    query: str
    scope: Scope
    budget: int
    recipe: Recipe = BALANCED

    def of(self, kit: Kit) -> Recall:
        """Ask a store."""
        return kit.recall(self.query, scope=self.scope, budget=self.budget, recipe=self.recipe)


@dataclass(frozen=True, slots=True)
class Move:
    """One memory in two recalls: its place among the hits, from 1, before and after (None: not returned), and why it left or came."""

    id: str
    key: str
    before: int | None
    after: int | None
    why: str = ""

    @property
    def how(self) -> str:
        """Return "entered", "left", "up", "down" or "stays"."""
        if self.before is None:
            return "entered"
        if self.after is None:
            return "left"
        return "up" if self.after < self.before else "down" if self.after > self.before else "stays"


@dataclass(frozen=True, slots=True)
class Need:
    """One need of a question: its words, its terms, and the call that answers it where that is not recall."""

    text: str
    terms: tuple[str, ...]
    call: str | None = None


def _recipe(**changed: object) -> Callable[[Ask], Ask]:
    return lambda ask: replace(ask, recipe=replace(ask.recipe, **changed))  # type: ignore[arg-type]  # fields of a recipe, by name


SWITCHES: Mapping[str, Callable[[Ask], Ask]] = {
    "half the budget": lambda ask: replace(ask, budget=ask.budget // 2),
    "twice the budget": lambda ask: replace(ask, budget=ask.budget * 2),
    "no neighbours": _recipe(neighbours=0.0),
    "no reranking": _recipe(rerank=0.0),
    "no coverage asked for": _recipe(coverage=0.0),
    "the question as one need": _recipe(needs=False),
    "TF-IDF in place of its signals": _recipe(weights={"tfidf": 1.0}),
    "also groups of characters": lambda ask: _recipe(weights={**ask.recipe.weights, "characters": 0.5})(ask),
    "fused by place": _recipe(fusion=Fusion.RANK),
}
"""What can be changed alone, by the words it is shown by."""


def flipped(ask: Ask, switch: str) -> Ask:
    """Return the question with one switch flipped. Raises NotFound for a switch that does not exist.

    >>> flipped(Ask("why?", Scope(workspace="shop"), 90), "half the budget").budget
    45
    """
    if switch not in SWITCHES:
        raise NotFound(f"there is no switch {switch!r}; there are: {', '.join(SWITCHES)}")
    return SWITCHES[switch](ask)


def moves(before: Recall, after: Recall) -> tuple[Move, ...]:
    """Return every memory that either recall returned, in the order of the second one, then those that left.

    >>> from memkit import open
    >>> with open() as kit:
    ...     here = Scope(workspace="shop")
    ...     for key, said in {"a": "deploy on Friday", "b": "deploy the cache"}.items():
    ...         outcome = kit.remember(key, said, scope=here)
    ...     wide, narrow = (kit.recall("cache, deploy", scope=here, budget=budget) for budget in (20, 8))
    >>> [(move.key, move.before, move.after, move.how) for move in moves(wide, narrow)]
    [('b', 1, 1, 'stays'), ('a', 2, None, 'left')]
    """
    former, present = ({hit.memory.id: place for place, hit in enumerate(one.hits, 1)} for one in (before, after))
    keys = {hit.memory.id: hit.memory.key for one in (before, after) for hit in one.hits}
    return tuple(
        Move(id, keys[id], former.get(id), present.get(id), _why(id, before, after, former, present))
        for id in [*present, *(id for id in former if id not in present)]
    )


def _why(id: str, before: Recall, after: Recall, former: Mapping[str, int], present: Mapping[str, int]) -> str:
    """Say what stands against a memory in the recall that does not return it."""
    if id in former and id in present:
        return ""
    other, when = (after, "now") if id in former else (before, "before")
    reason = next((skip.reason for skip in other.skipped if skip.memory.id == id), "not found")
    return f"{when}: {reason}"


def looked_for(query: str, recipe: Recipe) -> tuple[Need, ...]:
    """Return the needs of a question as a recipe sees them, each with its terms in reading order.

    >>> [(need.text, need.terms, need.call) for need in looked_for("Who deploys? Which branch am I on?", BALANCED)]
    [('Who deploys', ('deploy',), None), ('Which branch am I on', (), "kit.state.get('branch', scope=scope)")]
    """
    pieces = split(query) if recipe.needs else [query]
    calls = {piece: asks_for_state(piece) if recipe.needs else None for piece in pieces}
    return tuple(Need(piece, () if calls[piece] else tuple(dict.fromkeys(analyze(piece))), calls[piece]) for piece in pieces)


def recipe_code(recipe: Recipe) -> str:
    """Return how to write a recipe: the name of one that memkit names, or what differs from it.

    >>> recipe_code(THOROUGH), recipe_code(replace(BALANCED, needs=False))
    ('memkit.THOROUGH', 'replace(memkit.BALANCED, needs=False)')
    """
    name = next((name for name, one in RECIPES.items() if one.name == recipe.name), None)
    base = RECIPES[name] if name else Recipe(recipe.name)
    changed = {one.name: getattr(recipe, one.name) for one in fields(recipe) if getattr(recipe, one.name) != getattr(base, one.name)}
    told = [f"{field}={(str(value) if isinstance(value, Fusion) else value)!r}" for field, value in changed.items()]
    if name is None:
        return f"memkit.Recipe({', '.join([repr(recipe.name), *told])})"
    return f"replace(memkit.{name}, {', '.join(told)})" if told else f"memkit.{name}"


def is_installed(recipe: Recipe) -> bool:
    """Say whether all that a recipe needs is installed."""
    needed = {"embedding": "wordllama", "latent": "sklearn"}
    return all(find_spec(package) is not None for signal, package in needed.items() if recipe.weights.get(signal))
