"""What every verb needs: the store, the sources, who asks, and what time it is. The verbs themselves are in the modules beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Self

from memkit.errors import Refused, shown
from memkit.govern.admin import Admin
from memkit.govern.steps import Steps
from memkit.read.follow import Index
from memkit.read.shadow import Waiting
from memkit.record import tombstone
from memkit.record.database import Database
from memkit.record.evidence import Reader
from memkit.record.locate import Reading
from memkit.record.model import Outcome
from memkit.record.scope import Principal, Scope, require_scope
from memkit.record.sessions import SessionSource
from memkit.record.sources import Sources
from memkit.record.text import count_tokens
from memkit.write import proposals
from memkit.write.arguments import check_moments
from memkit.write.commit import Place
from memkit.write.policy import MASK, RedactionPolicy
from memkit.write.redact import redact

Clock = Callable[[], datetime]
Tokens = Callable[[str], int]
MOST_PLACES = 100  # scopes that were found free of secrets and are remembered


class Opened:
    """An open store seen by one principal."""

    def __init__(
        self,
        db: Database,
        sources: Sources,
        principal: Principal,
        clock: Clock,
        *,
        policy: RedactionPolicy = MASK,
        tokens: Tokens = count_tokens,
        indexes: dict[str, tuple[Index, Waiting]] | None = None,
    ) -> None:
        if not isinstance(principal, Principal):
            raise Refused("BAD_PRINCIPAL", f"the principal is {shown(principal)}; pass a memkit.Principal")
        if not isinstance(policy, RedactionPolicy):
            raise Refused("BAD_POLICY", f"the redaction is {shown(policy)}; pass a memkit.RedactionPolicy")
        self.db, self.sources, self.principal, self._clock = db, sources, principal, clock
        self._policy, self._count = policy, tokens
        self._parsed: dict[str, Reading] = {}
        self._places: dict[Scope, Place] = {}
        self._indexes = {} if indexes is None else indexes
        made = Index(principal.tenant), Waiting(principal.tenant, proposals.waiting)
        self._index, self._waiting = self._indexes.setdefault(principal.tenant, made)
        self.admin = Admin(self.db, (self._index, self._waiting), principal)
        self.state = Steps(self.db, sources, principal, self._now, policy)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; calling it again does nothing."""
        self.db.close()

    def _place(self, scope: Scope) -> Place:
        place = self._places.get(require_scope(scope))
        if place is None:
            names = scope.dimensions(self.principal)
            names.pop("user", None)  # the login gives it, not the caller
            if redact(" ".join(names.values())).findings:
                raise Refused("SECRET_IN_SCOPE", "a name in the scope looks like a secret; scopes are never erased, so choose another name")
            if len(self._places) >= MOST_PLACES:
                self._places.clear()
            place = self._places[scope] = Place(self.principal, scope.stored(self.principal), self._policy)
        return place

    def _visible(self, scope: Scope) -> list[str]:
        return require_scope(scope).visible(self.principal)

    def _now(self) -> datetime:
        now = self._clock()
        check_moments(clock=now)
        return now

    def _tokens(self, text: str) -> int:
        """Return what a text costs of a budget, by the function the store was opened with. Raises Refused for what is no count."""
        if isinstance(count := self._count(text), bool) or not isinstance(count, int) or count < 0:
            raise Refused("BAD_TOKENS", f"tokens returned {shown(count)}; it must return a whole number, 0 or more, for any text")
        return count

    def _reader(self, scopes: Sequence[str]) -> Reader:
        """Return what reads sources, and of sessions what was recorded in these scopes."""
        seen = SessionSource(self.db, self.principal.tenant, scopes)
        return Reader(self.sources, self._policy.mask, self._parsed, seen)

    def _told(self, outcome: Outcome) -> Outcome:
        """Return the outcome, without the memory for who may write and not read."""
        return outcome if "read" in self.principal.grants else replace(outcome, memory=None)

    def _was_forgotten(self, key: str, place: Place) -> bool:
        """Return whether a tombstone stands under this key: what replaces a forgotten value waits for a person."""
        with self.db.read() as tx:
            return tombstone.stands_under(tx, self.principal.tenant, place.scope, key)
