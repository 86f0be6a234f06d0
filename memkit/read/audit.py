"""Keep account of what was put into a context, and show it again.

An entry holds revisions, verdicts, the moment, and keyed digests of the bytes; never content. So it can stay when a memory is forgotten,
and a replay then says that this is what differs. Left out: the caller's own texts, which memkit does not keep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlite_utils import Database as SqliteUtils

from memkit.errors import NotFound, shown
from memkit.read.render import LAYOUT, NOTICE, Item, block, line
from memkit.record import store
from memkit.record.model import Verdict
from memkit.record.scope import Principal

KEEP = """
insert into assembly (tenant, number, at, user, form, layout, fingerprint, snapshot_digest, memory_digest)
select :tenant, coalesce(max(number), 0) + 1, :at, :user, :form, :layout, :fingerprint, :snapshot_digest, :memory_digest
from assembly where tenant = :tenant returning id, number"""
KEEP_ITEM = """
insert into injected (assembly_id, n, layer, scope, key, revision, verdict, disputed)
values (:assembly, :n, :layer, :scope, :key, :revision, :verdict, :disputed)"""

Sign = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Shown:
    """The memory of one context: what stands in the snapshot, what was recalled, and how and when it was shown."""

    snapshot: tuple[Item, ...]
    recalled: tuple[Item, ...]
    form: str
    fingerprint: str
    at: datetime

    @property
    def items(self) -> tuple[Item, ...]:
        return (*self.snapshot, *self.recalled)

    def blocks(self, sign: Sign) -> tuple[str, str]:
        """Return the bytes of the snapshot and of the recalled memories: the same again for the same key."""
        profile = block([line(item, self.form, None) for item in self.snapshot], self.form, sign, heading(self.fingerprint))
        return profile, block([line(item, self.form, self.at) for item in self.recalled], self.form, sign)


@dataclass(frozen=True, slots=True)
class Replay:
    """What a context showed of memory, again: `text` is the snapshot and the recalled block, `differs` says why it is not what it was."""

    audit_id: int
    at: datetime
    text: str
    differs: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Return whether these are the bytes that were injected."""
        return not self.differs


def heading(fingerprint: str) -> str:
    """Return the notice of a snapshot, with its version and fingerprint."""
    return f"Snapshot {LAYOUT}, fingerprint {fingerprint}. {NOTICE}"


def keep(tx: SqliteUtils, shown: Shown, sign: Sign, *, principal: Principal, scope: str) -> int:
    """Write an entry with its event, and return its number, which counts within the tenant."""
    digests = dict(zip(("snapshot_digest", "memory_digest"), map(sign, shown.blocks(sign)), strict=True))
    row = {"tenant": principal.tenant, "user": principal.user, "at": store.stamp(shown.at), "form": shown.form, "layout": LAYOUT}
    ((assembly, number),) = tx.execute(KEEP, row | digests | {"fingerprint": shown.fingerprint}).fetchall()
    pairs = [("snapshot", item) for item in shown.snapshot] + [("memory", item) for item in shown.recalled]
    for n, (layer, item) in enumerate(pairs):
        place = {"scope": item.memory.scope, "key": item.memory.key, "revision": item.memory.revision}
        what = {"layer": layer, "verdict": item.verdict, "disputed": int(item.disputed)}
        tx.execute(KEEP_ITEM, {"assembly": assembly, "n": n} | place | what)
    store.log(tx, "CONTEXT", "ASSEMBLED", principal=principal, scope=scope, key="", revision=0, now=shown.at, detail=f"context {number}")
    return int(number)


def all_current(tx: SqliteUtils, tenant: str, items: Sequence[Item]) -> bool:
    """Return whether every memory is still the current value of its key: nobody corrected or forgot one meanwhile."""
    memories = [item.memory for item in items]
    now = store.current_memories(tx, tenant, list({memory.scope for memory in memories}), list({memory.key for memory in memories}))
    return {(memory.id, memory.revision) for memory in memories} <= {(memory.id, memory.revision) for memory in now}


def replay(tx: SqliteUtils, sign: Sign, number: int, principal: Principal) -> Replay:
    """Show the memory of a context again, from its revisions. Raises NotFound for no entry, and for another user's exactly as for none."""
    where = {"tenant": principal.tenant, "user": principal.user, "number": number}
    entries = store.select(tx, "select * from assembly where tenant = :tenant and user = :user and number = :number", where)
    if not entries:
        raise NotFound(f"there is no context {number} of yours; kit.context(...).audit_id names one")
    entry = entries[0]
    rows = store.select(tx, "select * from injected where assembly_id = :id order by n", {"id": entry["id"]})
    found = {"snapshot": list[Item](), "memory": list[Item]()}
    gone = []
    for row in rows:
        item = _again(tx, principal.tenant, row)
        if item is None:
            gone.append(f"revision {row['revision']} of {row['key']!r} in {row['scope']} was forgotten")
        else:
            found[row["layer"]].append(item)
    at = store.moment(entry["at"])
    assert at is not None
    again = Shown(tuple(found["snapshot"]), tuple(found["memory"]), entry["form"], entry["fingerprint"], at)
    texts = again.blocks(sign)
    changed = tuple(map(sign, texts)) != (entry["snapshot_digest"], entry["memory_digest"])
    other = f"it was written in layout {entry['layout']}, and this memkit writes {LAYOUT}, or some characters otherwise"
    return Replay(number, at, "\n\n".join(filter(None, texts)), tuple(gone or [other] * changed))


def check_number(number: object) -> int:
    """Return the number of an entry, or raise NotFound for what is none."""
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 2**63:
        raise NotFound(f"there is no context {shown(number)}; kit.context(...).audit_id names one")
    return number


def _again(tx: SqliteUtils, tenant: str, row: dict[str, Any]) -> Item | None:
    for memory in store.revisions(tx, tenant, row["scope"], row["key"]):
        if memory.revision == row["revision"] and memory.content is not None:
            return Item(memory, Verdict(row["verdict"]), bool(row["disputed"]))
    return None
