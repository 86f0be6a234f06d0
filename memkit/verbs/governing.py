"""The verbs of forgetting, which a person alone may use; the operator's are in `govern/admin.py`."""

from __future__ import annotations

from memkit.govern import forget as forgetting
from memkit.govern.access import require, require_person
from memkit.govern.forget import Receipt
from memkit.read.analyze import forget_cached
from memkit.record import store
from memkit.record.scope import Scope
from memkit.verbs.base import Opened
from memkit.write.arguments import check_key, said


class GoverningVerbs(Opened):
    """Erase and prove it; lift what stands in the way of learning again."""

    def forget(self, key: str, *, scope: Scope, expected: int, reason: str) -> Receipt:
        """Erase a key everywhere, as a person asks, lay tombstones for its values, and prove it. `reason` is given back and not kept."""
        require(self.principal, "forget")
        require_person(self.principal, "forget")
        check_key(key)
        place = self._place(scope)
        identity = store.memory_id(self.principal.tenant, place.scope, key)

        def index_copies() -> int:
            forget_cached()
            with self.db.read() as tx:
                self._index.catch_up(tx)
                self._waiting.catch_up(tx)
                return self._index.copies(identity) + self._waiting.copies(place.scope, key)

        told = said(reason, self._policy)
        return forgetting.forget(self.db, key, place, expected=expected, reason=told, now=self._now(), derived=index_copies)

    def restore_right(self, key: str, *, scope: Scope, reason: str) -> int:
        """Lift the tombstones of a key, as a person decides, on the record; returns how many. It brings nothing back."""
        require(self.principal, "forget")
        require_person(self.principal, "lift a tombstone")
        check_key(key)
        said(reason, self._policy)
        return forgetting.restore_right(self.db, key, self._place(scope), now=self._now())
