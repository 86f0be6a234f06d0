"""The record of use: how often a memory was shown, and what became of it. Counts, never content.

Ranking and retention both read it. Left out: counting (`read/feedback.py`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlite_utils import Database as SqliteUtils

from memkit.record import store
from memkit.record.model import Memory


@dataclass(frozen=True, slots=True)
class Use:
    """How often a memory was shown, when last, and how often it was confirmed or contradicted. `flagged`: the overturned revision."""

    uses: int = 0
    last_used: datetime | None = None
    confirmed: int = 0
    contradicted: int = 0
    flagged: int = 0


MOVE = """
insert into use (tenant, scope, memory, uses, last_used, confirmed, contradicted, flagged)
select tenant, :scope, :memory, uses, last_used, confirmed, contradicted, case when flagged = :was then :revision else 0 end
from use where tenant = :tenant and memory = :old"""


def move(tx: SqliteUtils, before: Memory, after: Memory) -> None:
    """Take the record of use along to another scope, in place of what stood there; the mark of a current revision stays on it."""
    ids = {"tenant": before.tenant, "old": before.id, "memory": after.id, "scope": after.scope}
    tx.execute("delete from use where tenant = :tenant and memory = :memory", ids)
    tx.execute(MOVE, ids | {"was": before.revision, "revision": after.revision})
    tx.execute("delete from use where tenant = :tenant and memory = :old", ids)


def record_of_use(tx: SqliteUtils, tenant: str, ids: Sequence[str]) -> dict[str, Use]:
    """Return the record of use of memories, by id; one that was never used has none."""
    query = """
        select memory, uses, last_used, confirmed, contradicted, flagged from use
        where tenant = :tenant and memory in (select value from json_each(:ids))"""
    rows = store.select(tx, query, {"tenant": tenant, "ids": json.dumps(list(ids))})
    return {row.pop("memory"): Use(**row | {"last_used": store.moment(row["last_used"])}) for row in rows}
