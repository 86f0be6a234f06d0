"""The verbs of sessions: what happened, and what may be learned from it."""

from __future__ import annotations

from memkit.govern.access import require
from memkit.record import sessions
from memkit.record.model import Episode
from memkit.record.scope import Scope
from memkit.verbs.base import Opened
from memkit.write import episodes
from memkit.write.arguments import check_expected


class SessionVerbs(Opened):
    """Record a session and read it back."""

    def record(self, session: str, role: str, text: str, *, scope: Scope, visible: bool = True, trusted: bool | None = None) -> Episode:
        """Append what somebody said or did to a session, with secrets masked; it is never rewritten, and no memory yet.

        `visible`: the model saw it. `trusted`: where it comes from is vouched for; by default what the user and the system say, where a
        person records it. Episodes of one session may be recorded in several scopes; their numbers have no gaps.
        """
        require(self.principal, "write")
        return episodes.record(self.db, session, role, text, place=self._place(scope), visible=visible, trusted=trusted, now=self._now())

    def episodes(self, session: str, *, scope: Scope, after: int = 0) -> list[Episode]:
        """Return the episodes of a session that are visible here, after a number, in order.

        Raises NotFound where there is none at all, for a session of another tenant or another user exactly as for none.
        """
        require(self.principal, "history")
        episodes.check_session(session)
        check_expected(after)
        visible = self._visible(scope)
        with self.db.read() as tx:
            sessions.require_session(tx, self.principal.tenant, session, visible)
            return sessions.listed(tx, self.principal.tenant, session, visible, after=after)
