"""Task state: what is planned and what is done, by exact name, apart from memory.

"Which branch am I on" and "how far did I get" have one right answer each, so they are looked up, never searched: state is in no index
and no recall. A step is PLANNED until somebody shows proof, a citation that is read and hashed at that moment; `reconcile` reads the
proofs again after a restart. State is overwritten, not revised: what happened is in the event log.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlite_utils import Database as SqliteUtils

from memkit.record import store
from memkit.record.model import Evidence, shortened


class Phase(StrEnum):
    """Where a step stands: PLANNED (meant to happen) or DONE (happened, and there is proof)."""

    PLANNED = "PLANNED"
    DONE = "DONE"


@dataclass(frozen=True, slots=True, repr=False)
class State:
    """One named value of a task. `proof` is what a DONE step rests on; `awaited` is what would prove a PLANNED one."""

    scope: str
    name: str
    value: str
    phase: Phase
    at: datetime
    proof: tuple[Evidence, ...] = ()
    awaited: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"State({self.name} {self.phase}: {shortened(self.value)} in {self.scope})"


def put(tx: SqliteUtils, tenant: str, state: State) -> None:
    """Write a state over whatever stood under its name in its scope, its proof included."""
    query = """
        insert into state (tenant, scope, name, value, phase, awaited, at) values (:tenant, :scope, :name, :value, :phase, :awaited, :at)
        on conflict (tenant, scope, name) do update set value = :value, phase = :phase, awaited = :awaited, at = :at returning id"""
    row = {"tenant": tenant, "scope": state.scope, "name": state.name, "value": state.value, "phase": state.phase}
    row |= {"awaited": json.dumps(state.awaited, ensure_ascii=False), "at": store.stamp(state.at) or ""}
    ((identity,),) = tx.execute(query, row).fetchall()
    tx.execute("delete from evidence where state_id = :id", {"id": identity})
    store.add_evidence(tx, tenant, state.proof, state_id=identity)


def get(tx: SqliteUtils, tenant: str, scope: str, name: str) -> State | None:
    """Return the state of exactly this name in exactly this scope, or None."""
    return next(iter(_states(tx, tenant, "scope = :scope and name = :name", scope=scope, name=name)), None)


def listed(tx: SqliteUtils, tenant: str, scope: str) -> list[State]:
    """Return every state of a scope, in the order they were first written."""
    return _states(tx, tenant, "scope = :scope", scope=scope)


def _states(tx: SqliteUtils, tenant: str, where: str, **values: str) -> list[State]:
    rows = store.select(tx, f"select * from state where tenant = :tenant and {where} order by id", {"tenant": tenant, **values})
    proof = store.evidence_of(tx, tenant, "state_id", [row["id"] for row in rows])
    return [
        State(
            scope=row["scope"],
            name=row["name"],
            value=row["value"],
            phase=Phase(row["phase"]),
            at=datetime.fromisoformat(row["at"]),
            proof=proof.get(row["id"], ()),
            awaited=tuple(json.loads(row["awaited"])),
        )
        for row in rows
    ]
