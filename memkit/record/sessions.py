"""The session log as rows, and as a source: `session:monday/3` is the third episode of the session called monday.

Every function takes an open transaction and names its tenant. An episode is read through the scopes that are visible to whoever asks: one
of another tenant, another user or a narrower scope reads as none. No file can have such a name, because a colon is refused in them. Left
out: what may be recorded, and what becomes of it (`write/`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlite_utils import Database as SqliteUtils

from memkit.errors import NotFound
from memkit.record import store
from memkit.record.database import Database
from memkit.record.model import Episode, Evidence, Role
from memkit.record.scope import Principal, named_dimensions
from memkit.record.sources import SourceMissing, check_name

PREFIX = "session:"
FORGOTTEN = "forgotten"  # stands for the digest of words that were forgotten: nothing ever has it

_NAME = re.compile(rf"{PREFIX}(.+)/([1-9][0-9]{{0,17}})", re.DOTALL)
_EPISODE = "session, number, role, text, visible, trusted, at, scope"
ADD = """
insert into episode (tenant, session, number, scope, role, text, visible, trusted, at)
select :tenant, :session, coalesce(max(number), 0) + 1, :scope, :role, :text, :visible, :trusted, :at
from episode where tenant = :tenant and session = :session returning number"""


class SessionSource:
    """The episodes of one tenant that are visible from some scopes, as sources: `read` gives the text as it is kept, in UTF-8."""

    def __init__(self, db: Database, tenant: str, scopes: Sequence[str]) -> None:
        self._db, self._tenant, self._scopes = db, tenant, scopes

    def episode(self, name: str) -> Episode:
        """Return the episode that a source name stands for. Raises SourceMissing, for what may not be seen exactly as for none."""
        if match := _NAME.fullmatch(name):
            with self._db.read() as tx:
                for episode in listed(tx, self._tenant, match[1], self._scopes, after=int(match[2]) - 1, most=1):
                    if episode.source == name:
                        return episode
        raise SourceMissing(name)

    def names(self) -> list[str]:
        """Return nothing: a session is asked for by its name, and not searched for likeness."""
        return []

    def read(self, name: str) -> bytes:
        """Return the bytes of an episode. Raises SourceMissing where it was forgotten, too."""
        if (text := self.episode(name).text) is None:
            raise SourceMissing(name)
        return text.encode()


def is_session(name: object) -> bool:
    """Return whether a source name means an episode.

    >>> is_session("session:monday/3"), is_session("session/3.md")
    (True, False)
    """
    return isinstance(name, str) and name.startswith(PREFIX)


def check_source(name: str) -> str:
    """Return the name of a source, an episode or a file, or raise UnsafePath."""
    return name if is_session(name) else check_name(name)


def as_read(tx: SqliteUtils, tenant: str, evidence: Evidence) -> bool:
    """Return whether an episode still says what it said when it was cited: forgetting may have masked words of it since. A file: True."""
    if not (match := _NAME.fullmatch(evidence.source)):
        return True
    query = "select text from episode where tenant = :tenant and session = :session and number = :number"
    rows = store.select(tx, query, {"tenant": tenant, "session": match[1], "number": int(match[2])})
    return [hashlib.sha256((row["text"] or "").encode()).hexdigest() for row in rows] == [evidence.source_version]


def add(tx: SqliteUtils, tenant: str, episode: Episode) -> Episode:
    """Append an episode, in one statement, and return it with its number: the next one of its session."""
    row = {name: getattr(episode, name) for name in ("session", "scope", "role", "text")} | {"tenant": tenant}
    row |= {"visible": int(episode.visible), "trusted": int(episode.trusted), "at": store.stamp(episode.at) or ""}
    ((number,),) = tx.execute(ADD, row).fetchall()
    return replace(episode, number=number)


def listed(tx: SqliteUtils, tenant: str, session: str, scopes: Sequence[str], *, after: int = 0, most: int = -1) -> list[Episode]:
    """Return the episodes of a session that were recorded in these scopes, after a number, in order; at most `most`."""
    query = f"""
        select {_EPISODE} from episode
        where tenant = :tenant and session = :session and number > :after and scope in (select value from json_each(:scopes))
        order by number limit :most"""
    where = {"tenant": tenant, "session": session, "after": after, "scopes": json.dumps(list(scopes)), "most": most}
    return [_episode(row) for row in store.select(tx, query, where)]


def mine(tx: SqliteUtils, principal: Principal, source: object) -> Episode:
    """Return the episode a source name stands for, in any scope. Raises NotFound for none, and for another user's as for none."""
    if isinstance(source, str) and (match := _NAME.fullmatch(source)):
        query = f"select {_EPISODE} from episode where tenant = :tenant and session = :session and number = :number"
        for row in store.select(tx, query, {"tenant": principal.tenant, "session": match[1], "number": int(match[2])}):
            if named_dimensions(row["scope"]).get("user", principal.user) == principal.user:
                return _episode(row)
    raise NotFound("there is no such episode; pass what kit.record or kit.episodes returned, or its source, such as 'session:monday/3'")


def require_session(tx: SqliteUtils, tenant: str, session: str, scopes: Sequence[str]) -> None:
    """Raise NotFound unless an episode of the session was recorded in these scopes."""
    if not listed(tx, tenant, session, scopes, most=1):
        raise NotFound(f"there is no session {session[:200]!r} here; kit.record(session, role, text, scope=...) begins one")


def _episode(row: dict[str, Any]) -> Episode:
    flags = {"visible": bool(row["visible"]), "trusted": bool(row["trusted"])}
    return Episode(**row | flags | {"role": Role(row["role"]), "at": store.moment(row["at"])})
