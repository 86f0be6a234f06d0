"""Tombstones: what must not be learned again, kept as keyed digests.

One value gives one digest for its key, and a second one for every key of its scope when it has 12 characters or more; values are
compared after `text.normalise`, by the same function when storing and when checking. When to lay or lift one is decided in `govern/`.
"""

from __future__ import annotations

import json

from sqlite_utils import Database as SqliteUtils

from memkit.record.database import Database
from memkit.record.text import compiled, normalise

_MARK = r"\[redacted:[a-z0-9-]{1,40}\]"
REACHES_SCOPE = 12  # characters of the normalised value


def digests(db: Database, tenant: str, scope: str, key: str, value: str) -> list[str]:
    """Return the keyed digests of a value: the one for its key and, for 12 characters or more, the one for its whole scope.

    The mark of a secret says nothing and does not count: two secrets that were masked are not one value.
    """
    plain, said = normalise(value), normalise(compiled(_MARK).sub("", value))
    names = [[tenant, scope, key, plain]] + ([[tenant, scope, plain]] if len(said) >= REACHES_SCOPE else [])
    return [db.keyed_digest(json.dumps(name)) for name in names]


def any_stands(tx: SqliteUtils, tenant: str) -> bool:
    """Return whether the tenant has any tombstone at all: where none stands, no digest has to be made."""
    return bool(tx.execute("select 1 from tombstone where tenant = :tenant limit 1", {"tenant": tenant}).fetchall())


def buried_under(tx: SqliteUtils, tenant: str, found: list[str]) -> list[str]:
    """Return the keys whose tombstones stand for any of these digests."""
    query = """
        select distinct key from tombstone
        where tenant = :tenant and digest in (select value from json_each(:digests)) order by key"""
    return [key for (key,) in tx.execute(query, {"tenant": tenant, "digests": json.dumps(found)}).fetchall()]


def stands_under(tx: SqliteUtils, tenant: str, scope: str, key: str) -> bool:
    """Return whether a value of this key was forgotten in this scope."""
    query = "select 1 from tombstone where tenant = :tenant and scope = :scope and key = :key limit 1"
    return bool(tx.execute(query, {"tenant": tenant, "scope": scope, "key": key}).fetchall())


def bury(tx: SqliteUtils, found: list[str], *, tenant: str, scope: str, key: str, at: str) -> None:
    """Lay a tombstone for each digest; one that stands already stays."""
    for digest in found:
        tx.execute(
            "insert or ignore into tombstone (tenant, scope, key, digest, at) values (:tenant, :scope, :key, :digest, :at)",
            {"tenant": tenant, "scope": scope, "key": key, "digest": digest, "at": at},
        )


def lift(tx: SqliteUtils, tenant: str, scope: str, key: str) -> int:
    """Remove the tombstones laid when this key was forgotten, and return how many there were."""
    where = {"tenant": tenant, "scope": scope, "key": key}
    return len(tx.execute("delete from tombstone where tenant = :tenant and scope = :scope and key = :key returning id", where).fetchall())
