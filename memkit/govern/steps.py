"""The verbs of task state, as `kit.state`: plan, done with proof, get, and reconcile after a restart.

A plan is an intention and is never reported as done. After a crash the record may be behind the world (the step happened, nobody wrote
it down) or ahead of it (the proof is gone), so `reconcile` reads the proofs again before anybody goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlite_utils import Database as SqliteUtils

from memkit.errors import MemkitError, Refused
from memkit.govern.access import require
from memkit.record import state as states
from memkit.record import store
from memkit.record.database import Database
from memkit.record.evidence import Reader, check, observe, worst
from memkit.record.locator import Locator
from memkit.record.model import Evidence, Kind, Verdict
from memkit.record.scope import Principal, Scope, require_scope
from memkit.record.sources import Sources, check_name
from memkit.record.state import Phase, State
from memkit.write.arguments import LONGEST_CONTENT, check_key, check_text
from memkit.write.citing import cites_of, first_hand, observed
from memkit.write.policy import MASK, RedactionPolicy
from memkit.write.redact import clean


@dataclass(frozen=True, slots=True)
class Reconciled:
    """One step as re-reading showed it. `repeat`: True, do it (again); False, it is proved; None, look first, it may have happened."""

    state: State
    verdict: Verdict | None
    why: str
    repeat: bool | None


class Steps:
    """Task state of one open store, as `kit.state`."""

    def __init__(
        self, db: Database, sources: Sources, principal: Principal, clock: Callable[[], datetime], policy: RedactionPolicy = MASK
    ) -> None:
        self._db, self._sources, self._principal, self._clock, self._policy = db, sources, principal, clock, policy

    def plan(self, name: str, value: str, *, scope: Scope, proof: str | Sequence[str] = ()) -> State:
        """Note what is meant to happen, and optionally the citations that will prove it. Overwrites what stood under the name.

        What they name need not be there yet. Raises BadLocator and UnsafePath for what could never be cited.
        """
        cites = cites_of(proof)
        if not clean(*cites, leave=self._policy.leave):
            raise Refused("SECRET_IN_CITATION", "the proof holds what looks like a secret; cite by lines or by key instead")
        for cite in cites:
            check_name(Locator.parse(cite).source)
        return self._put(State(self._stored(scope), name, value, Phase.PLANNED, self._clock(), (), cites))

    def done(self, name: str, value: str, *, scope: Scope, proof: str | Sequence[str]) -> State:
        """Note what happened, with proof that is read and hashed now. Raises Refused without proof, and what `learn` raises for one."""
        cites = cites_of(proof)
        if not cites:
            raise Refused("NO_PROOF", f"nothing proves {name!r}; cite what shows it, such as proof='report.json#key=passed', or use plan")
        reader = Reader(self._sources)
        evidence = observed(cites, reader, self._clock(), self._policy)
        first_hand(evidence, reader, Kind.FACT)  # that a step is done is a fact
        return self._put(State(self._stored(scope), name, value, Phase.DONE, self._clock(), evidence))

    def get(self, name: str, *, scope: Scope) -> State | None:
        """Return the state of exactly this name in exactly this scope, or None. Looks nothing up by likeness."""
        require(self._principal, "read")
        check_key(name)
        with self._db.read() as tx:
            return states.get(tx, self._principal.tenant, self._stored(scope), name)

    def reconcile(self, *, scope: Scope) -> list[Reconciled]:
        """Read every proof of a scope again, and put a DONE step whose proof no longer holds back to PLANNED, on the record."""
        require(self._principal, "read", "write")
        stored, reader = self._stored(scope), Reader(self._sources)
        with self._db.read() as tx:
            before = states.listed(tx, self._principal.tenant, stored)
        results = [_judged(state, reader, self._clock()) for state in before]
        for state, result in zip(before, results, strict=True):
            if result.state.phase is not state.phase:
                self._demote(state, result.state)
        return results

    def _demote(self, before: State, after: State) -> None:
        with self._db.write() as tx:
            if states.get(tx, self._principal.tenant, before.scope, before.name) == before:  # nobody wrote it meanwhile
                states.put(tx, self._principal.tenant, after)
                self._log(tx, after, "PROOF_LOST")

    def _put(self, state: State) -> State:
        require(self._principal, "write")
        check_key(state.name)
        check_text("value", state.value, LONGEST_CONTENT)
        state = replace(state, value=self._policy.apply(state.value))
        with self._db.write() as tx:
            states.put(tx, self._principal.tenant, state)
            self._log(tx, state, state.phase)
        return state

    def _log(self, tx: SqliteUtils, state: State, reason: str) -> None:
        store.log(tx, "STATE", reason, principal=self._principal, scope=state.scope, key=state.name, revision=0, now=self._clock())

    def _stored(self, scope: Scope) -> str:
        return require_scope(scope).stored(self._principal)


def _judged(state: State, reader: Reader, now: datetime) -> Reconciled:
    if state.phase is Phase.DONE:
        checks = [check(piece, reader) for piece in state.proof]
        verdict = worst(checks)
        why = next(piece.why for piece in checks if piece.verdict is verdict)
        if verdict.holds:
            return Reconciled(state, verdict, why, False)
        lost = replace(state, phase=Phase.PLANNED, proof=(), awaited=tuple(piece.cite for piece in state.proof))
        return Reconciled(lost, verdict, f"{why}: it counts as planned again", True if verdict is Verdict.MISSING else None)
    if state.awaited and (seen := _seen(state.awaited, reader, now)):
        cites = ", ".join(piece.cite for piece in seen)
        return Reconciled(state, Verdict.UNVERSIONED, f"what would prove it is there ({cites}): it may have happened, so look first", None)
    return Reconciled(state, None, "nothing proves it: it was planned", True)


def _seen(cites: Sequence[str], reader: Reader, now: datetime) -> list[Evidence]:
    try:
        return [observe(cite, reader, now) for cite in cites]
    except MemkitError:
        return []
