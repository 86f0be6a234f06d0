"""The verbs of use: put memory before a model, show again what was put there, and say afterwards whether it held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memkit.errors import Conflict, MemkitError, NotFound, Refused, shown
from memkit.govern.access import require
from memkit.read import assemble, audit, feedback
from memkit.read import context as contexts
from memkit.read.audit import Replay
from memkit.read.context import Asked, Context
from memkit.read.feedback import Effect
from memkit.read.profile import stated
from memkit.read.recall import Conditions, Recall, check_request, check_whole
from memkit.read.recipes import Recipe
from memkit.read.render import LEAST
from memkit.read.shadow import wanted_in
from memkit.record import sessions, store
from memkit.record.model import Episode, Memory, Op, Outcome
from memkit.record.scope import Scope
from memkit.record.text import count_tokens
from memkit.verbs.reading import ReadingVerbs
from memkit.write import proposals
from memkit.write.arguments import said
from memkit.write.episodes import check_session

TRIES = 5  # a context is assembled anew where somebody corrected what it would show


class UsingVerbs(ReadingVerbs):
    """What a model is shown, and what becomes of it."""

    def context(
        self,
        query: str,
        *,
        scope: Scope,
        budget: int,
        rules: str | Sequence[str] = (),
        prefix: str = "",
        goal: str = "",
        session: str | Sequence[object] = (),
        tool_results: str | Sequence[str] = (),
        form: str = "text",
        profile_quota: int = 500,
        window: int | None = None,
        recipe: Recipe | None = None,
        limit: int | None = None,
    ) -> Context:
        """Assemble what a model is given in one turn: the caller's own texts, and memory as cited data behind them; count and audit it.

        `rules` are shown in full, outside the budget. `budget` is for all memory; the profile takes at most `profile_quota` of it, and with
        `window`, the tokens of the model, memory gets no more than is left. `session` holds (role, text) or episodes, or
        names a recorded one; `form` is "text", "markdown", "xml" or "chat". Proposals that the query would have found are counted,
        never shown; a budget of 0 counts nothing. Raises Refused, and NotFound for no such session.
        """
        require(self.principal, "search", "read")
        check_request(query, budget, limit, recipe)
        query = self._asked(query)
        check_whole(profile_quota=profile_quota, window=window)
        if isinstance(session, str):
            session = self._turns(session, scope)
        texts = contexts.check_texts(prefix=prefix, rules=rules, goal=goal, session=session, tool_results=tool_results, form=form)
        asked = Asked(query, budget, profile_quota, window, recipe, limit, **texts)
        stored, missed = self._place(scope).scope, self._missed(query, scope) if budget else []
        for _ in range(TRIES):
            context, shown = self._assembled(asked, scope)
            with self.db.write() as tx:
                if audit.all_current(tx, self.principal.tenant, shown.items):
                    feedback.count_uses(tx, [item.memory for item in shown.items], shown.at)
                    proposals.count_wanted(tx, self.db, self.principal.tenant, missed, query=query, now=shown.at)
                    number = audit.keep(tx, shown, self.db.keyed_digest, principal=self.principal, scope=stored)
                    return replace(context, audit_id=number)
        raise MemkitError(f"what would be shown was rewritten each of the {TRIES} times it was assembled; nothing was shown, so call again")

    def replay(self, audit_id: int) -> Replay:
        """Show the memory of a context again, byte for byte, from the revisions it showed, or say what differs. Raises NotFound."""
        require(self.principal, "read", "history")
        number = audit.check_number(audit_id)
        with self.db.read() as tx:
            return audit.replay(tx, self.db.keyed_digest, number, self.principal)

    def confirm(self, memory: Memory, *, episode: object = None) -> Outcome:
        """Note that a memory held when it was used, as an episode showed. An experience or an inference gains confidence.

        The same episode counts once. Unless a person says so, what no episode shows, or only what the assistant said or what nobody vouches
        for, stands in the log and moves nothing. Raises NotFound and Conflict.
        """
        return self._observed_in_use(memory, feedback.confirmed, episode, holds=True)

    def contradict(self, memory: Memory, why: str, *, episode: object = None) -> Outcome:
        """Note that what was seen contradicts a memory. `why` is returned, redacted by the policy, and not kept.

        An experience or an inference loses confidence; what is overturned is marked, and recall skips it as FLAGGED until it is learned
        anew or a person confirms it. What a person stated only asks that person. Raises NotFound and Conflict.
        """
        told = said(why, self._policy)
        outcome = self._observed_in_use(memory, feedback.contradicted, episode, holds=False)
        return replace(outcome, why=f"{told}: {outcome.why}" if told else outcome.why)

    def _turns(self, session: str, scope: Scope) -> list[Episode]:
        """Return what a model was shown of a recorded session, as it stands after forgetting."""
        require(self.principal, "history")
        check_session(session)
        with self.db.read() as tx:
            sessions.require_session(tx, self.principal.tenant, session, self._visible(scope))
            told = sessions.listed(tx, self.principal.tenant, session, self._visible(scope))
        return [episode for episode in told if episode.visible and episode.text]

    def _missed(self, query: str, scope: Scope) -> list[int]:
        """Return the numbers of the waiting proposals that the query would have found, had they been memories."""
        with self.db.read() as tx:
            return wanted_in(self._waiting.view(tx, self._visible(scope)), query)

    def _assembled(self, asked: Asked, scope: Scope) -> tuple[Context, audit.Shown]:
        now, visible, tenant = self._now(), self._visible(scope), self.principal.tenant
        with self.db.read() as tx:
            flagged = feedback.flagged(tx, tenant, visible)
            mine = stated(tx, tenant, visible, now, flagged) if asked.budget and asked.quota else []

        def recalled(room: int, given: Conditions) -> Recall:
            given = replace(given, beyond=count_tokens(LEAST) if self._count is count_tokens else None, flagged=flagged)
            return self._recalled(asked.query, scope, given, budget=room, limit=asked.limit, recipe=asked.recipe, now=now)

        return assemble.assembled(asked, mine, recalled, scope=visible[0], now=now, tokens=self._tokens, sign=self.db.keyed_digest)

    def _observed_in_use(self, memory: Memory, judge: Callable[[Memory, bool], Effect], episode: object, *, holds: bool) -> Outcome:
        require(self.principal, "write")
        if not isinstance(memory, Memory):
            raise Refused("BAD_MEMORY", f"the memory is {shown(memory)}; pass one that kit.current or kit.recall returned, or hit.memory")
        op, now, by_person = "CONFIRM" if holds else "CONTRADICT", self._now(), self.principal.actor == "person"
        mine = memory.dimensions.get("user", self.principal.user) == self.principal.user
        with self.db.write() as tx:
            current = store.current_memory(tx, self.principal.tenant, memory.scope, memory.key) if mine else None
            if current is None or current.id != memory.id:
                raise NotFound(f"there is no current value under {memory.key!r} in this store; kit.check(scope=...) lists the keys there")
            if current.revision != memory.revision:
                raise Conflict(memory.key, expected=memory.revision, actual=current.revision)
            shows = None if episode is None else sessions.mine(tx, self.principal, getattr(episode, "source", episode))
            cite = "" if shows is None else shows.source
            if cite and feedback.counted(tx, current, op, cite):
                return self._told(Outcome(Op.NOOP, "ALREADY_COUNTED", f"{cite} has been counted for this memory", current))
            effect = judge(current, by_person) if by_person or feedback.moves(shows, holds=holds) else feedback.unshown(current)
            actor, counts = self.principal.actor, effect.reason != feedback.COUNTED
            written = feedback.write(tx, current, effect, holds=holds, actor=actor, now=now) if counts else current
            who, revision = self.principal, written.revision
            store.log(tx, op, effect.reason, principal=who, scope=memory.scope, key=memory.key, revision=revision, now=now, detail=cite)
        return self._told(Outcome(Op.NOOP if written is current else Op.UPDATE, effect.reason, effect.why, written))
