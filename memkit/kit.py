"""The front door: the life of a memory in one screen.

The verbs stand in `verbs/`, one module a stage: `sessions`, `writing`, `reading`, `using`, `governing`. Each checks who asks, turns its
arguments into values, and hands them to the room that does the work. Nothing is decided here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, MutableMapping
from datetime import UTC, datetime

from memkit.errors import Refused, shown
from memkit.record.database import Database, random_id
from memkit.record.scope import Principal
from memkit.record.sources import Folder, Texts
from memkit.record.text import count_tokens
from memkit.verbs.base import Clock
from memkit.verbs.governing import GoverningVerbs
from memkit.verbs.sessions import SessionVerbs
from memkit.verbs.tidying import TidyingVerbs
from memkit.verbs.using import UsingVerbs
from memkit.verbs.writing import WritingVerbs
from memkit.write.policy import MASK, RedactionPolicy


def open(
    path: str | os.PathLike[str] = ":memory:",
    *,
    root: str | os.PathLike[str] | None = None,
    sources: MutableMapping[str, str | bytes] | None = None,
    principal: Principal | None = None,
    clock: Clock | None = None,
    ids: Callable[[], str] | None = None,
    redaction: RedactionPolicy = MASK,
    tokens: Callable[[str], int] | None = None,
) -> Kit:
    """Open a store, for use in a `with` block, and the sources its memories may cite: a folder (`root`, only read) or a dict of texts.

    `clock` returns the present as a datetime with a zone; `ids` returns fresh hard-to-guess text. `redaction` says what becomes of secrets
    in whatever is said and kept; a name (key, scope, session) or a citation with one is refused. `tokens` counts the tokens of a text, of
    which joined lines must not have more than each alone (by default `record.text.count_tokens`, deliberately high): budgets are counted
    by it, and the 160 that a fact may have. Raises NotFound for a folder that is not there, Corrupt for a file that is not memkit's, and
    Refused for both `root` and `sources`.

    >>> import memkit
    >>> with memkit.open(sources={"prod.cfg": "timeout=30"}) as kit:
    ...     kit.learn("timeout", "the timeout is 30 s", scope=memkit.Scope(env="prod"), cite="prod.cfg#key=timeout").reason
    'NEW'
    """
    if root is not None and sources is not None:
        raise Refused("TWO_KINDS_OF_SOURCES", "both root and sources were given; pass the folder or the dict, not both")
    if not isinstance(sources, Mapping | None):
        raise Refused("BAD_SOURCES", f"sources is {shown(sources)}; pass a dict of names and texts, or root= for a folder")
    for name, function in (("clock", clock), ("ids", ids), ("tokens", tokens)):
        if function is not None and not callable(function):
            expected = "a function of one text" if name == "tokens" else "a function without arguments"
            raise Refused(f"BAD_{name.upper()}", f"{name} is {shown(function)}; pass {expected}")
    folder = None if root is None else Folder(root)
    db = Database(path, ids=random_id if ids is None else ids)
    if folder is not None:
        folder.keep_out(db.owns)
    readable = folder if folder is not None else Texts({} if sources is None else sources)
    who = Principal() if principal is None else principal
    now = (lambda: datetime.now(UTC)) if clock is None else clock
    return Kit(db, readable, who, now, policy=redaction, tokens=count_tokens if tokens is None else tokens)


class Kit(SessionVerbs, WritingVerbs, TidyingVerbs, UsingVerbs, GoverningVerbs):
    """An open store seen by one principal. Every verb takes the scope it applies to; a missing one is BadScope, never "all"."""

    def acting_as(self, principal: Principal) -> Kit:
        """Return the same store as another principal sees it."""
        return Kit(self.db, self.sources, principal, self._clock, policy=self._policy, tokens=self._count, indexes=self._indexes)
