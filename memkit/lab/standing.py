"""Say of each memory whether it applies where somebody stands, and if not, why not.

What is decided is decided below: `Scope.visible` says which scopes apply, `is_narrower` which of two hides the other; a test holds every
answer against `recall`. This only puts it in words, for a lesson and for a map. Not here: evidence, expiry to come, or ranking.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memkit.kit import Kit
from memkit.record.model import Memory, shortened
from memkit.record.scope import Principal, Scope, is_narrower


class Stand(StrEnum):
    """VISIBLE here, HIDDEN by a narrower memory of the same key, or ELSEWHERE: it does not apply here."""

    VISIBLE = "VISIBLE"
    HIDDEN = "HIDDEN"
    ELSEWHERE = "ELSEWHERE"


@dataclass(frozen=True, slots=True, repr=False)
class Standing:
    """One memory as it stands from one place. `rivals` are the scopes of visible ones with its key, neither wider nor narrower."""

    memory: Memory
    stand: Stand
    why: str
    rivals: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"{self.stand:<9} {self.memory.key} in {self.memory.scope}: {shortened(self.memory.content, 40)} ({self.why})"


def known_memories(kit: Kit, scopes: Iterable[Scope], people: Iterable[Principal] = ()) -> list[Memory]:
    """Return the current memories that any of these people sees from any of these scopes, by key, wider scopes first.

    There is no call that lists a whole store, for nobody may ask without a scope; so whoever wants a map names the places.
    """
    places = tuple(scopes)
    seen = [check.memory for who in tuple(people) or (kit.principal,) for here in places for check in kit.acting_as(who).check(scope=here)]
    return sorted({memory.id: memory for memory in seen}.values(), key=_order)


def standings(memories: Sequence[Memory], *, scope: Scope, principal: Principal) -> list[Standing]:
    """Say how each memory stands from a scope, as this principal, in the order given.

    >>> import memkit
    >>> with memkit.open() as kit:
    ...     wide = kit.remember("reply", "in English", scope=Scope(workspace="shop")).memory
    ...     narrow = kit.remember("reply", "用中文", scope=Scope(workspace="shop", env="prod")).memory
    ...     [s.stand.value for s in standings([wide, narrow], scope=Scope(workspace="shop", env="prod"), principal=kit.principal)]
    ['HIDDEN', 'VISIBLE']
    """
    visible = set(scope.visible(principal))
    here = scope.dimensions(principal)
    return [_stand(memory, [m for m in memories if m.scope in visible], here) for memory in memories]


def looked_up(memories: Sequence[Memory], *, scope: Scope, principal: Principal) -> list[tuple[str, int]]:
    """Return the exact strings that are looked up from a scope, narrowest first, and how many of these memories stand under each."""
    return [(name, sum(memory.scope == name for memory in memories)) for name in scope.visible(principal)]


def _stand(memory: Memory, visible: Sequence[Memory], here: Mapping[str, str]) -> Standing:
    if memory not in visible:
        return Standing(memory, Stand.ELSEWHERE, _difference(memory.dimensions, here))
    others = [other for other in visible if other.key == memory.key and other.id != memory.id]
    if narrower := [other for other in others if is_narrower(other.scope, memory.scope)]:
        return Standing(memory, Stand.HIDDEN, f"{narrower[0].scope} has its own value for this key")
    rivals = tuple(other.scope for other in others if not is_narrower(memory.scope, other.scope))
    if rivals:
        return Standing(memory, Stand.VISIBLE, f"so is the one in {', '.join(rivals)}, neither wider nor narrower", rivals)
    return Standing(memory, Stand.VISIBLE, "the narrowest that applies" if others else "it applies")


def _difference(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    name = next(name for name, value in there.items() if here.get(name) != value)
    return f"{name} is {here[name]} here, not {there[name]}" if name in here else f"{name}={there[name]} is not named here"


def _order(memory: Memory) -> tuple[str, int, str]:
    return memory.key, len(memory.dimensions), memory.scope
