"""The verbs that write and admit. Each checks who asks, turns its arguments into values, and hands them to the room that does the work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memkit.errors import Refused
from memkit.govern.access import require, require_person
from memkit.record import store
from memkit.record.evidence import Reader
from memkit.record.model import Candidate, Evidence, Kind, Op, Outcome, Proposal, ProposalStatus, Support, Times, Trust
from memkit.record.scope import Scope, visible_from
from memkit.record.sessions import is_session
from memkit.verbs.base import Opened
from memkit.write import proposals
from memkit.write.arguments import check_flag, check_key, choice, confidence_of, flags_of, kind_of, said
from memkit.write.citing import cites_of, first_hand, observed, repeats, require_evidence
from memkit.write.commit import Place, commit, rescope
from memkit.write.drafts import said_by_user


class WritingVerbs(Opened):
    """What a person states, what sources say, what a model infers, and what becomes of it."""

    def remember(
        self,
        key: str,
        content: str,
        *,
        scope: Scope,
        expected: int = 0,
        kind: str = Kind.PREFERENCE,
        task: str | None = None,
        verification: str | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        expires_at: datetime | None = None,
        review_at: datetime | None = None,
    ) -> Outcome:
        """Keep what a person states: STATED, at once. Raises Conflict where the current revision is not `expected`.

        An experience says in which `task` it was made and by which `verification` it is known to be so, here and in the other verbs.
        """
        require(self.principal, "write")
        require_person(self.principal, "state a memory")
        times = Times(valid_from, valid_to, review_at, expires_at)
        candidate = Candidate(key, content, kind_of(kind), Trust.STATED, 1.0, "user", (), times, Support.ALL, task, verification)
        return self._told(commit(self.db, candidate, self._place(scope), expected=expected, now=self._now()))

    def learn(
        self,
        key: str,
        content: str,
        *,
        scope: Scope,
        cite: str | Sequence[str],
        support: str = Support.ALL,
        expected: int = 0,
        kind: str = Kind.FACT,
        task: str | None = None,
        verification: str | None = None,
        second_hand: bool = False,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        expires_at: datetime | None = None,
        review_at: datetime | None = None,
    ) -> Outcome:
        """Keep what sources say: they are read and hashed now. VERIFIED when a person calls it, or when the content repeats what stands
        at every citation and looks like no instruction; otherwise it becomes a proposal. `support` says whether "all" citations must
        hold from then on, or "any" of them. A summary or the like (`second_hand` declares one) is refused for a fact, and leaves anything
        else INFERRED. Raises BadLocator, UnsafePath, Refused, Conflict.
        """
        require(self.principal, "write")
        check_flag("second_hand", second_hand)
        place, now, sort = self._place(scope), self._now(), kind_of(kind)
        reader = self._reader(visible_from(place.scope))
        if not (evidence := self._observed(cite, reader, now)):
            raise Refused("NO_CITATION", "nothing is cited; pass cite='prod.cfg#key=timeout' or use remember for a person's word")
        first = first_hand(evidence, reader, sort, declared=second_hand)
        vouched = self.principal.actor == "person"
        flags = () if vouched else flags_of(content)
        bears_out = first and (vouched or (not (flags or self._was_forgotten(key, place)) and repeats(content, evidence, reader)))
        trust, times = Trust.VERIFIED if bears_out else Trust.INFERRED, Times(valid_from, valid_to, review_at, expires_at)
        rests = (evidence, times, choice(Support, "support", support), task, verification)
        candidate = Candidate(key, content, sort, trust, 1.0, "source", *rests)
        if bears_out:
            return self._told(commit(self.db, candidate, place, expected=expected, now=now))
        proposal = proposals.propose(self.db, candidate, place, flags=flags, now=now)
        return Outcome(proposal.op, proposal.reason, proposal.why, None, proposal)

    def propose(
        self,
        key: str,
        content: str,
        *,
        scope: Scope,
        kind: str = Kind.INFERENCE,
        confidence: float = 0.5,
        cite: str | Sequence[str] = (),
        task: str | None = None,
        verification: str | None = None,
        expires_at: datetime | None = None,
        second_hand: bool = False,
    ) -> Proposal:
        """Put an inference into the inbox, where it waits for a person: INFERRED, and never recalled while it waits.

        What a search did not find is an absence (kind="absence", here and in the other verbs), and must expire.
        """
        require(self.principal, "write")
        check_flag("second_hand", second_hand)
        place, now, sort = self._place(scope), self._now(), kind_of(kind)
        reader = self._reader(visible_from(place.scope))
        evidence = self._observed(cite, reader, now)
        first_hand(evidence, reader, sort, declared=second_hand)
        rests = (evidence, Times(expires_at=expires_at), Support.ALL, task, verification)
        candidate = Candidate(key, content, sort, Trust.INFERRED, confidence_of(confidence), "model", *rests)
        reason = proposals.SAID if said_by_user(candidate, reader) else proposals.WAITS
        return proposals.propose(self.db, candidate, place, flags=flags_of(content), now=now, reason=reason)

    def rescope(self, key: str, *, scope: Scope, to: Scope, expected: int) -> Outcome:
        """Move a memory to another scope, as it is: a linked retire and add in one transaction. Raises NotFound and Conflict.

        What is STATED only a person may move (else AccessDenied): it would be out of sight where it was said, or be seen where it was not.
        What is VERIFIED or INFERRED whoever may write moves, an agent or a job too: it stays what it is, and whoever learns may say the
        same elsewhere.
        """
        require(self.principal, "write")
        check_key(key)
        return rescope(self.db, key, self._place(scope), self._place(to), expected=expected, now=self._now())

    def inbox(self, *, scope: Scope, status: str = ProposalStatus.PENDING) -> list[Proposal]:
        """Return the proposals of the scopes visible here that have a status, oldest first."""
        require(self.principal, "read")
        with self.db.read() as tx:
            return proposals.listed(tx, self.principal, self._visible(scope), choice(ProposalStatus, "status", status))

    def admit(self, proposal: Proposal | int) -> Outcome:
        """Write a proposal, as a person decides; an inference stays INFERRED, what a user said literally in a session is STATED.

        Raises Conflict where the value it was proposed against has changed, and Refused where its evidence no longer holds, its time
        is over, or somebody decided before.
        """
        require(self.principal, "write")
        require_person(self.principal, "admit a proposal")
        with self.db.read() as tx:
            waiting = proposals.fetch(tx, self.principal, proposal)
        reader = self._reader(visible_from(waiting.scope))
        require_evidence(waiting.candidate, reader)
        stated = said_by_user(waiting.candidate, reader)
        with self.db.write() as tx:
            waiting = proposals.fetch(tx, self.principal, waiting)
            return proposals.admit(tx, self.db, waiting, Place(self.principal, waiting.scope), self._now(), stated=stated)

    def reject(self, proposal: Proposal | int, why: str = "") -> Outcome:
        """Turn a proposal down, as a person decides. `why` is returned, redacted by the policy, and not kept."""
        require(self.principal, "write")
        require_person(self.principal, "reject a proposal")
        told = said(why, self._policy)
        with self.db.write() as tx:
            waiting = proposals.fetch(tx, self.principal, proposal)
            place = Place(self.principal, waiting.scope)
            settled = proposals.settle(tx, waiting, place, ProposalStatus.REJECTED, "REJECTED")
            store.log(tx, Op.NOOP, "REJECTED", principal=self.principal, scope=waiting.scope, key=waiting.key, revision=0, now=self._now())
        return Outcome(Op.NOOP, "REJECTED", told or "a person turned it down", None, settled)

    def _observed(self, cite: str | Sequence[str], reader: Reader, now: datetime) -> tuple[Evidence, ...]:
        """Read and hash what is cited; who cites a session reads it."""
        if any(is_session(each) for each in cites_of(cite)):
            require(self.principal, "history")
        return observed(cite, reader, now, self._policy)
