"""Which part of a model's prefix cache survives from one context to the next.

A cache keeps the work on a prompt up to the first byte that differs, and throws away the rest. Left out: the block size of a real cache,
which rounds this down.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from memkit.read.context import Context


@dataclass(frozen=True, slots=True)
class Stable:
    """What two contexts share from the beginning: whole layers, their tokens, and bytes to the first that differs.

    `changed` names the first layer that differs, "" where none does; `of_tokens` and `of_bytes` are what the second context has in all.
    """

    layers: tuple[str, ...]
    changed: str
    tokens: int
    of_tokens: int
    bytes: int
    of_bytes: int

    @property
    def share(self) -> float:
        """Return the part of the second context that need not be computed again, from 0 to 1."""
        return self.bytes / self.of_bytes if self.of_bytes else 1.0


def prefix_stable(before: Context, after: Context) -> Stable:
    """Compare two contexts from their beginning, byte by byte.

    >>> import memkit
    >>> with memkit.open() as kit:
    ...     one, two = (kit.context("?", scope=memkit.Scope(workspace="shop"), budget=0, prefix="You help.", goal=g) for g in ("a", "b"))
    >>> prefix_stable(one, two).layers, prefix_stable(one, two).changed
    (('prefix',), 'goal')
    """
    pairs = list(zip(before.layers, after.layers, strict=False))
    same = [old for old, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    rest = after.layers[len(same) :] or before.layers[len(same) :]
    old, new = (context.text.encode("utf-8", "surrogatepass") for context in (before, after))
    shared = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))
    kept, total = sum(layer.tokens for layer in same), sum(layer.tokens for layer in after.layers)
    return Stable(tuple(layer.name for layer in same), rest[0].name if rest else "", kept, total, shared, len(new))
