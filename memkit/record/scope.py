"""Where a memory applies, and who is asking.

A scope is a set of named dimensions. A memory applies where every dimension it names matches the query, so the scopes visible from a
query are the non-empty subsets of its dimensions: at most 31 exact strings, and no prefix is ever compared. The `user` dimension is
only a flag; whose it is comes from the Principal, as the tenant does. What a principal may *do* is decided in `govern/access.py`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import combinations
from urllib.parse import quote, unquote

from memkit.errors import BadScope, shown

GRANTS = frozenset({"write", "search", "read", "history", "forget", "admin"})
ACTORS = ("person", "agent", "job")
LONGEST_NAME = 200  # characters in one dimension or name


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is asking: taken from the login, never from a request. `actor` is "person", "agent" or "job".

    >>> Principal(user="ada").user
    'ada'
    """

    tenant: str = "local"
    user: str = "me"
    actor: str = "person"
    grants: frozenset[str] = GRANTS

    def __post_init__(self) -> None:
        _check_name("tenant", self.tenant)
        _check_name("user", self.user)
        if self.actor not in ACTORS:
            raise BadScope(f"the actor is {shown(self.actor)}; it must be one of {', '.join(ACTORS)}")
        if not isinstance(self.grants, (set, frozenset, list, tuple)) or not all(isinstance(grant, str) for grant in self.grants):
            raise BadScope("the grants are no set of names; pass for instance grants={'search', 'read'}")
        object.__setattr__(self, "grants", frozenset(self.grants))
        if unknown := sorted(self.grants - GRANTS):
            raise BadScope(f"{len(unknown)} of the grants are unknown; the grants are {', '.join(sorted(GRANTS))}")


@dataclass(frozen=True, slots=True)
class Scope:
    """A set of dimensions, at least one of them named.

    `user=True` means "only mine". Names compare exactly, character for character; any printable text is a name.

    >>> Scope(workspace="shop", env="prod").stored(Principal())
    'env=prod&workspace=shop'
    """

    user: bool = False
    workspace: str | None = None
    branch: str | None = None
    env: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.user, bool):
            raise BadScope(f"user is {shown(self.user)}; it is a flag (True: only mine), because whose it is comes from the Principal")
        for field in fields(self)[1:]:
            if (value := getattr(self, field.name)) is not None:
                _check_name(field.name, value)
        if not self.dimensions(Principal()):
            raise BadScope("this scope names no dimension; name at least one, for instance Scope(workspace='shop')")

    def dimensions(self, principal: Principal) -> dict[str, str]:
        """Return the named dimensions, sorted by name, the user filled in from the principal."""
        named = {field.name: getattr(self, field.name) for field in fields(self)[1:]}
        if self.user:
            named["user"] = principal.user
        return {name: named[name] for name in sorted(named) if named[name] is not None}

    def stored(self, principal: Principal) -> str:
        """Return the exact string this scope is stored under; injective, since names are percent-encoded."""
        return _join(tuple(self.dimensions(principal).items()))

    def visible(self, principal: Principal) -> list[str]:
        """Return the stored form of every scope that applies here, narrowest first.

        >>> Scope(workspace="shop", env="prod").visible(Principal())
        ['env=prod&workspace=shop', 'env=prod', 'workspace=shop']
        """
        return [_join(subset) for subset in _subsets(tuple(self.dimensions(principal).items()))]


def require_scope(scope: object) -> Scope:
    """Return `scope`, or raise BadScope: a missing scope is an error, never "all"."""
    if isinstance(scope, Scope):
        return scope
    raise BadScope(f"scope is {type(scope).__name__}; pass a memkit.Scope, for instance Scope(workspace='shop')")


def named_dimensions(stored: str) -> dict[str, str]:
    """Return the dimensions of a stored scope.

    >>> named_dimensions("env=prod&workspace=a%26b")
    {'env': 'prod', 'workspace': 'a&b'}
    """
    return {name: unquote(value) for name, value in (part.split("=", 1) for part in stored.split("&"))}


@lru_cache(maxsize=1024)
def visible_from(stored: str) -> tuple[str, ...]:
    """Return every stored scope that applies where this stored one does: its subsets, itself first.

    >>> visible_from("env=prod&workspace=shop")
    ('env=prod&workspace=shop', 'env=prod', 'workspace=shop')
    """
    return tuple(_join(subset) for subset in _subsets(tuple(named_dimensions(stored).items())))


def is_narrower(one: str, other: str) -> bool:
    """Return whether stored scope `one` names everything that `other` names, and more.

    >>> is_narrower("env=prod&workspace=shop", "workspace=shop")
    True
    """
    return set(one.split("&")) > set(other.split("&"))


def _subsets(items: tuple[tuple[str, str], ...]) -> Iterator[tuple[tuple[str, str], ...]]:
    for size in range(len(items), 0, -1):
        yield from combinations(items, size)


def _join(items: tuple[tuple[str, str], ...]) -> str:
    return "&".join(f"{name}={quote(value, safe='')}" for name, value in items)


def _check_name(dimension: str, value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        raise BadScope(f"{dimension} is {'blank' if isinstance(value, str) else shown(value)}; it must be text that is not blank")
    if len(value) > LONGEST_NAME:
        raise BadScope(f"{dimension} has {len(value)} characters; at most {LONGEST_NAME} are allowed")
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in value):
        raise BadScope(f"{dimension} contains a control character or half a surrogate pair; use printable text")
