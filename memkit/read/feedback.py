"""After use: what became of a memory once it was shown. Counts, a mark on what was overturned, and what feedback does to confidence.

Assembling a context counts a use; recall counts nothing. A confirmation or contradiction is an observation, not a correction: the content
stays, and what may follow is decided here, purely. Left out: writing revisions (the record's compare-and-swap), reading the counts
(`record/use.py`), and what follows from them in ranking (`rerank.py`) and retention (`write/plan.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlite_utils import Database as SqliteUtils

from memkit.record import store
from memkit.record.confidence import revised
from memkit.record.model import Episode, Kind, Memory, Op, Role, Trust

COUNTED = "COUNTED"  # in the log, that is, and nowhere else
DOUBTFUL = 0.5  # an inference that is less likely than this is not shown any more

COUNT = """
insert into use (tenant, scope, memory, uses, last_used, confirmed, contradicted, flagged)
values (:tenant, :scope, :memory, :uses, :at, :confirmed, :contradicted, max(:flagged, 0))
on conflict (tenant, memory) do update set uses = uses + excluded.uses, last_used = coalesce(excluded.last_used, last_used),
    confirmed = confirmed + excluded.confirmed, contradicted = contradicted + excluded.contradicted,
    flagged = case when :flagged >= 0 then :flagged when flagged = :was then :revision else flagged end"""


@dataclass(frozen=True, slots=True)
class Effect:
    """What one observation does to a memory: its confidence from now on, whether it is marked (None: as before), a reason, a sentence."""

    confidence: float
    flagged: bool | None
    reason: str
    why: str


def confirmed(memory: Memory, by_person: bool) -> Effect:
    """Decide what a confirmation does: an experience or an inference gains confidence.

    A mark is lifted by a person, and from what confidence has made at least as likely as not.
    """
    gained = max(memory.confidence, revised(memory.confidence, True))
    lifts = False if by_person or (_movable(memory) and gained >= DOUBTFUL) else None
    if _movable(memory) and gained > memory.confidence:
        return Effect(gained, lifts, "CONFIDENCE_RAISED", f"its confidence was {memory.confidence:.2f} and is {gained:.2f} now")
    return Effect(memory.confidence, lifts, "CONFIRMED", "it is counted; its confidence does not move by being confirmed")


def contradicted(memory: Memory, by_person: bool) -> Effect:
    """Decide what a contradiction does.

    An experience or an inference loses confidence, and is marked once it is more likely wrong than right. What evidence verified is marked
    at once. What a person stated is marked by a person alone; anybody else's observation asks the person.
    """
    if _movable(memory):
        lost = min(memory.confidence, revised(memory.confidence, False))
        told = f"its confidence was {memory.confidence:.2f} and is {lost:.2f} now"
        if lost >= DOUBTFUL:
            return Effect(lost, None, "CONFIDENCE_LOWERED", told)
        return Effect(lost, True, "FLAGGED", f"{told}, under {DOUBTFUL}: it is not shown until it is learned anew or a person confirms it")
    if memory.trust is Trust.STATED and not by_person:
        return Effect(memory.confidence, None, "NEEDS_CONFIRMATION", "a person stated it, so it stands; ask the person, who may correct it")
    return Effect(memory.confidence, True, "FLAGGED", "it is not shown until it is learned anew or corrected, or a person confirms it")


def unshown(memory: Memory) -> Effect:
    """Decide what an observation does that no person makes and no episode that counts shows: it stands in the log, and moves nothing.

    Subtle: not even the counts, since ranking and the review of an inference follow them.
    """
    return Effect(memory.confidence, None, COUNTED, "no person says it and no episode that may move it shows it, so it is only logged")


def moves(episode: Episode | None, *, holds: bool) -> bool:
    """Return whether an episode may move a memory: never what the assistant itself said, and upwards only what is vouched for."""
    return episode is not None and episode.role is not Role.ASSISTANT and (episode.trusted or not holds)


def _movable(memory: Memory) -> bool:
    return memory.trust is Trust.INFERRED or memory.kind in (Kind.EXPERIENCE, Kind.INFERENCE)


def count_uses(tx: SqliteUtils, memories: Iterable[Memory], now: datetime) -> None:
    """Count one use of each memory that was shown."""
    for memory in memories:
        tx.execute(COUNT, _row(memory) | {"uses": 1, "at": store.stamp(now)})


def counted(tx: SqliteUtils, memory: Memory, op: str, cite: str) -> bool:
    """Return whether this episode has been counted for the key already: it counts once."""
    told = store.events(tx, memory.tenant, scopes=[memory.scope], key=memory.key)
    return any((event.op, event.detail) == (op, cite) for event in told)


def write(tx: SqliteUtils, memory: Memory, effect: Effect, *, holds: bool, actor: str, now: datetime) -> Memory:
    """Count an observation, set or lift the mark, and where confidence moves append a revision; return the current value.

    A contradiction makes nothing look younger than it is. Raises Conflict where somebody else wrote first.
    """
    seen, was = memory.seen, memory.revision
    if effect.confidence != memory.confidence:
        changed = replace(store.as_candidate(memory), confidence=effect.confidence)
        tenant, scope, expected, last = memory.tenant, memory.scope, memory.revision, now if holds else seen
        memory = store.append(tx, Op.UPDATE, changed, tenant=tenant, scope=scope, expected=expected, actor=actor, now=now, verified_at=last)
    mark = -1 if effect.flagged is None else memory.revision if effect.flagged else 0
    tx.execute(COUNT, _row(memory) | {"confirmed": int(holds), "contradicted": int(not holds), "flagged": mark, "was": was})
    return memory


def flagged(tx: SqliteUtils, tenant: str, scopes: Sequence[str]) -> dict[str, int]:
    """Return the memories of these scopes that were overturned, by id, with the revision that was."""
    query = """
        select memory, flagged from use
        where tenant = :tenant and scope in (select value from json_each(:scopes)) and flagged > 0"""
    return dict(tx.execute(query, {"tenant": tenant, "scopes": json.dumps(list(scopes))}).fetchall())


def drop(tx: SqliteUtils, tenant: str, scope: str, key: str) -> None:
    """Drop the record of use of a key, here and in the scopes it was moved out of: what is forgotten is not even counted."""
    scopes = [scope, *(former for former, _ in store.former_scopes(tx, tenant, scope, key))]
    ids = [store.memory_id(tenant, each, key) for each in scopes]
    where = {"tenant": tenant, "ids": json.dumps(ids)}
    tx.execute("delete from use where tenant = :tenant and memory in (select value from json_each(:ids))", where)


def _row(memory: Memory) -> dict[str, object]:
    counts = {"uses": 0, "at": None, "confirmed": 0, "contradicted": 0, "flagged": -1, "was": memory.revision}
    return {"tenant": memory.tenant, "scope": memory.scope, "memory": memory.id, "revision": memory.revision, **counts}
