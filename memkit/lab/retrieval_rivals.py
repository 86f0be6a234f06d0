"""Who answers the questions of a collection: nobody, everything, a text file with grep, and memkit by each recipe.

Each gives the ids of what it would show, in the order it would show it. Left out: what the answers are worth (`evaluate_retrieval.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec

from memkit.lab.retrieval_sets import Collection, Question, filled, scope_of
from memkit.read.recipes import BALANCED, SEMANTIC, TFIDF, THOROUGH, Recipe
from memkit.record.model import Memory

MOST = 200  # hits that are looked at: more than fit in 2,000 tokens
EVERYTHING = 10**6  # tokens: what a budget lets through is worked out from the order

Rival = Callable[[Question], Sequence[str]]
Made = Callable[[Collection], Rival]

_WORDS = re.compile(r"[a-z]{4,}|\d+|(?=([\u4e00-\u9fff]{2}))")


def nothing(collection: Collection) -> Rival:
    """Show nothing: it is never wrong, and never of use."""
    return lambda question: ()


def full_dump(collection: Collection) -> Rival:
    """Show every line that was ever written, in that order."""
    every = [identity for identity, _ in collection.written]
    return lambda question: every


def text_file(collection: Collection) -> Rival:
    """Show the lines that grep finds for the longer words of the question, those with most of them first.

    Chinese is cut into pairs of characters, which is kinder to grep than a person at a terminal would be.
    """
    lines = [(identity, text.casefold()) for identity, text in collection.written]

    def answer(question: Question) -> Sequence[str]:
        words = {found[1] or found[0] for found in _WORDS.finditer(question.text.casefold())}
        found = [(-sum(word in text for word in words), at, identity) for at, (identity, text) in enumerate(lines)]
        return [identity for hits, _, identity in sorted(found) if hits]

    return answer


def by_recipe(recipe: Recipe) -> Made:
    """Show what memkit recalls by a recipe, through its front door, evidence verified."""

    def made(collection: Collection) -> Rival:
        kit = filled(collection)

        def answer(question: Question) -> Sequence[str]:
            found = kit.recall(question.text, scope=scope_of(question.env), budget=EVERYTHING, limit=MOST, recipe=recipe)
            return [_id(hit.memory) for hit in found.hits]

        return answer

    return made


def top_then_checked(recipe: Recipe, most: int = 20) -> Made:
    """Show what is still true of the best few: a fixed number is taken as if nothing had changed, and checked afterwards."""

    def made(collection: Collection) -> Rival:
        unchecked = by_recipe(recipe)(replace(collection, later={}))
        return lambda question: [one for one in unchecked(question)[:most] if one not in question.wrong]

    return made


def _id(memory: Memory) -> str:
    env = memory.dimensions.get("env")
    return f"{memory.key}@{env}" if env else memory.key


def recipes() -> tuple[Recipe, ...]:
    """Return the recipes that take part; the one with an embedding only where its model is installed."""
    return TFIDF, BALANCED, THOROUGH, *([SEMANTIC] if find_spec("wordllama") else [])


def rivals() -> dict[str, Made]:
    """Return who takes part, by name."""
    plain = {"empty": nothing, "full dump": full_dump, "text file + grep": text_file}
    return plain | {f"memkit {recipe.name}": by_recipe(recipe) for recipe in recipes()}


def filling() -> dict[str, Made]:
    """Return two ways to go about stale memories, by name: skip them and go on filling, or take a fixed number and check it afterwards."""
    return {"memkit balanced": by_recipe(BALANCED), "top 20, checked": top_then_checked(BALANCED)}
