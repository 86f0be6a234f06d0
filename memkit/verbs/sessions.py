"""The verbs of sessions: what happened, and what may be learned from it."""

from __future__ import annotations

from memkit.errors import Refused, shown
from memkit.govern.access import require
from memkit.read.recall import check_whole
from memkit.record import sessions
from memkit.record.model import Episode, Progress
from memkit.record.scope import Scope
from memkit.verbs.base import Opened
from memkit.write import episodes
from memkit.write.arguments import check_expected
from memkit.write.episodes import Session
from memkit.write.extract import Drawn, Extractor
from memkit.write.rules import Rules

SOFT_THRESHOLD = 4_000  # tokens


class SessionVerbs(Opened):
    """Record a session and read it back."""

    def record(self, session: str, role: str, text: str, *, scope: Scope, visible: bool = True, trusted: bool | None = None) -> Episode:
        """Append what somebody said or did to a session, redacted by the store's policy; it is never rewritten, and no memory yet.

        `visible`: the model saw it. `trusted`: where it comes from is vouched for; by default what the user and the system say, where a
        person records it. Episodes of one session may be recorded in several scopes; their numbers have no gaps. Raises Refused
        for text that may not be kept, and for a secret where the policy refuses.
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

    def extract(self, session: str, *, scope: Scope, extractor: Extractor | None = None) -> Drawn:
        """Propose what a session states that is new since the last time, and return what became of each candidate.

        Reads what was recorded in exactly this scope and was visible to the model. What a user said literally waits as such (`reason`
        SAID_BY_USER) and is STATED once a person admits it; the rest stays INFERRED. What was not kept has number 0 and its reason; what
        the extractor made no candidate of is in `refused`, with where it stands and why. While somebody else extracts from the session
        nothing is read, and `waits_until` (else None) says when their lease ends: one more run follows theirs, or, where they were killed,
        the first call after that time reads all. Raises NotFound for no such session, Refused("BACKING_OFF") after a failure and
        Refused("BAD_EXTRACTION") for what is no Extraction, and passes on what the extractor raises; then nothing was written.
        """
        require(self.principal, "write", "history")
        return episodes.extract(self._session(session, scope, extractor))

    def flush(
        self, session: str, tokens_left: int, *, scope: Scope, threshold: int = SOFT_THRESHOLD, extractor: Extractor | None = None
    ) -> Drawn:
        """Extract before the context is compacted: when fewer than `threshold` tokens are left in it, once until more are left again.

        A run that failed, was killed, or waits for somebody else's was none, and the next call tries again.
        """
        require(self.principal, "write", "history")
        check_whole(tokens_left=tokens_left, threshold=threshold)
        asked = self._session(session, scope, extractor)
        low = tokens_left < threshold
        drawn = episodes.extract(asked) if low and not episodes.was_low(asked) else Drawn()
        episodes.note(asked, low=low)
        return drawn

    def reextract(self, session: str, *, scope: Scope, extractor: Extractor | None = None, progress: Progress | None = None) -> Drawn:
        """Extract a session once more from the beginning, as an operator, in the place of what was extracted from it and waits.

        What was forgotten stays away. What was read in several runs is read in the same runs again; `progress` is called after each with
        how many are done, of how many. Raises what `extract` raises, and what `progress` raises; what waited waits on then.
        """
        require(self.principal, "write", "history", "admin")
        return episodes.extract(self._session(session, scope, extractor), again=True, progress=progress)

    def _session(self, name: str, scope: Scope, extractor: Extractor | None) -> Session:
        episodes.check_session(name)
        place, reads = self._place(scope), Rules(self._tokens) if extractor is None else extractor
        if not callable(getattr(reads, "extract", None)):
            raise Refused("BAD_EXTRACTOR", f"the extractor is {shown(extractor)}; pass an object with a method extract(episodes)")
        return Session(self.db, name, place, reads, lambda: self._reader([place.scope]), self._now, self._tokens)
