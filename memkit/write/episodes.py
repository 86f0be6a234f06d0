"""The session log: record what happened, and read on from where extraction stopped.

Nothing that was recorded is ever rewritten; forgetting alone masks words in it or erases them, and the schema refuses anything else. What a
person says is trusted where a person records it; what an agent reports of a person, and what tools and the assistant said, is not.

One process at a time extracts from a session, under a lease: what is new since the last time is read, proposed, and marked as read in one
transaction. A request that comes meanwhile leaves one more run to whoever holds the lease. A run that fails writes nothing and is not
tried again before a wait. The extractor runs outside any transaction, and is shown some earlier episodes as context. Left out: what an
episode states (`extract.py`), how that becomes a proposal (`drafts.py`), and reading episodes back (`record/sessions.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from sqlite_utils import Database as SqliteUtils

from memkit.errors import LeaseLost, Refused, shown
from memkit.record import sessions, store
from memkit.record.database import Database
from memkit.record.evidence import Reader
from memkit.record.model import Episode, Progress, Role
from memkit.write import lease, proposals
from memkit.write.arguments import check_flag, check_text, choice, progress_of
from memkit.write.commit import Place
from memkit.write.drafts import Draft, draft, settle
from memkit.write.extract import Drawn, Extraction, Extractor, NotKept
from memkit.write.redact import redact

LONGEST_SESSION = 200  # characters of a session's name
LONGEST_EPISODE = 100_000  # characters
CONTEXT = 20  # earlier numbers that are shown to the extractor again


def record(
    db: Database, session: str, role: str, text: str, *, place: Place, visible: bool, trusted: bool | None, now: datetime
) -> Episode:
    """Append an episode, redacted by the policy, and return it as it is kept. Raises Refused for text that may not be kept."""
    check_session(session)
    check_text("text", text, LONGEST_EPISODE)
    who = choice(Role, "role", role)
    given = trusted_origin(who, trusted, by_a_person=place.principal.actor == "person")
    check_flag("visible", visible)
    episode = Episode(session, 0, who, place.policy.apply(text), visible, given, now, place.scope)
    with db.write() as tx:
        return sessions.add(tx, place.principal.tenant, episode)


def trusted_origin(role: Role, trusted: bool | None, *, by_a_person: bool) -> bool:
    """Return whether an episode's origin is trusted: a payload cannot say so, only a person can.

    >>> trusted_origin(Role.USER, None, by_a_person=True), trusted_origin(Role.TOOL, None, by_a_person=True)
    (True, False)
    """
    if trusted is None:
        return by_a_person and role in (Role.USER, Role.SYSTEM)
    if not isinstance(trusted, bool):
        raise Refused("BAD_TRUSTED", f"trusted is {shown(trusted)}; pass True, False, or None for what the role implies")
    if trusted and not by_a_person:
        raise Refused("NOT_YOURS_TO_TRUST", "only a person may vouch for where an episode comes from; leave trusted out")
    return trusted


def check_session(session: str) -> None:
    """Raise Refused for a session's name that is blank, too long, unprintable, or holds a secret."""
    check_text("session", session, LONGEST_SESSION)
    if not session.isprintable():
        raise Refused("BAD_SESSION", "the session's name has a control or invisible character; name it in printable text")
    if redact(session).findings:
        raise Refused("SECRET_IN_SESSION", "the session's name holds what looks like a secret; names are never erased, so choose another")


@dataclass(frozen=True, slots=True)
class Session:
    """What was recorded of one session in one scope, and what is needed to extract from it."""

    db: Database
    name: str
    place: Place
    extractor: Extractor
    reader: Callable[[], Reader]
    now: Callable[[], datetime]
    count: Callable[[str], int]

    @property
    def at(self) -> dict[str, str]:
        return {"tenant": self.place.principal.tenant, "session": self.name, "scope": self.place.scope}

    def episodes(self, tx: SqliteUtils, after: int) -> list[Episode]:
        return sessions.listed(tx, self.place.principal.tenant, self.name, [self.place.scope], after=after)

    def log(self, tx: SqliteUtils, reason: str, number: int, detail: str = "") -> None:
        principal, scope = self.place.principal, self.place.scope
        store.log(tx, "EXTRACT", reason, principal=principal, scope=scope, key=self.name, revision=number, now=self.now(), detail=detail)


def extract(session: Session, *, again: bool = False, progress: Progress | None = None) -> Drawn:
    """Propose what is new in a session, and return what became of each candidate, and what the extractor refused there.

    Returns nothing but `waits_until` where somebody else is extracting: one more run follows theirs. `again` reads everything once more,
    run by run as it was read before, and lets it take the place of what waits. Raises NotFound for a session that was not recorded in this
    scope, Refused("BACKING_OFF") after a failure, and whatever the extractor raises; what waited waits on then.
    """
    told = progress_of(progress)
    claim, ends = _begin(session, again=again)
    held, found = claim.lease, Drawn(waits_until=claim.until)
    try:
        while held is not None:
            drawn, held = _run(session, held, ends, told)
            found, ends = found.and_then(drawn), []
    except BaseException as error:
        with session.db.write() as tx, suppress(LeaseLost):
            if held is not None:
                lease.release(tx, held, failed=isinstance(error, Exception), now=session.now())
                session.log(tx, "FAILED", 0, type(error).__name__)
        raise
    return found


def was_low(session: Session) -> bool:
    """Return whether the context was nearly full already, and was flushed for that."""
    with session.db.read() as tx:
        return bool(_cursor(tx, session)["low"])


def note(session: Session, *, low: bool) -> None:
    """Note whether the context is nearly full and was flushed for that; while a run is still due, it was not."""
    with session.db.write() as tx:
        sessions.require_session(tx, session.place.principal.tenant, session.name, [session.place.scope])
        _cursor(tx, session, low=int(low and not _cursor(tx, session)["wanted"]))


def _begin(session: Session, *, again: bool) -> tuple[lease.Claim, list[int]]:
    """Claim the lease, or ask its holder for one more run. Returns the claim and where the runs that are repeated had ended."""
    tenant, name = session.place.principal.tenant, f"extract {session.name} in {session.place.scope}"
    with session.db.write() as tx:
        sessions.require_session(tx, tenant, session.name, [session.place.scope])
        claim = lease.claim(tx, tenant, name, holder=session.place.principal.user, now=session.now())
        if claim.reason == "BACKING_OFF":
            raise Refused("BACKING_OFF", f"extraction failed before and is not tried again before {claim.until}; mend the cause, then wait")
        if claim.lease is None and again:
            raise Refused("EXTRACTING", f"somebody is extracting from this session, at most until {claim.until}; call again after that")
        if claim.lease is None:
            _cursor(tx, session, wanted=1)
        return claim, _ends(tx, session) if again else []


def _run(session: Session, held: lease.Lease, ends: Sequence[int], told: Progress) -> tuple[Drawn, lease.Lease | None]:
    """Read on to the end, or all once more in runs that stop at `ends`; then write what was found, in one transaction.

    Returns the lease where another run is due, else None.
    """
    while True:
        with session.db.read() as tx:
            bounds = list(pairwise([0, *ends])) if ends else [_rest(tx, session)]
            said = _between(tx, session, bounds)
        runs = list[tuple[list[Draft], list[NotKept]]]()
        for (done, _), heard in zip(bounds, said, strict=True):
            runs.append(_drafts(session, heard, done))
            told(len(runs), len(bounds))
            if ends:
                with session.db.write() as tx:
                    held = lease.renew(tx, held, now=session.now())
        with session.db.write() as tx:
            lease.require(tx, held)
            if said != _between(tx, session, bounds):
                continue  # words were forgotten meanwhile: read again
            if ends:
                proposals.drop_extracted(tx, session.place, session.name, session.now())
            found = Drawn()
            for (done, end), (drafts, refused) in zip(bounds, runs, strict=True):
                settled = [each for one in drafts for each in settle(tx, session.db, one, session.place, session.now())]
                found = found.and_then(Drawn(settled, refused))
                if end > done:
                    session.log(tx, "READ", end, f"candidates: {len(drafts)}")
            if _cursor(tx, session, done=bounds[-1][1], wanted=0)["wanted"]:
                return found, lease.renew(tx, held, now=session.now())
            lease.release(tx, held, failed=False, now=session.now())
            return found, None


def _rest(tx: SqliteUtils, session: Session) -> tuple[int, int]:
    """Return how far the session was read, and its last episode."""
    done = _cursor(tx, session)["done"]
    return done, max([done, *(episode.number for episode in session.episodes(tx, done))])


def _between(tx: SqliteUtils, session: Session, bounds: Sequence[tuple[int, int]]) -> list[list[Episode]]:
    """Return what was said within each of some bounds, with some of what came before."""
    return [[one for one in session.episodes(tx, max(0, done - CONTEXT)) if one.number <= end] for done, end in bounds]


def _drafts(session: Session, said: Sequence[Episode], done: int) -> tuple[list[Draft], list[NotKept]]:
    """Let the extractor read, make ready what it found that rests on something new, and return it with what it refused there."""
    seen = [episode for episode in said if episode.visible and episode.text is not None]
    if not any(episode.number > done for episode in seen):
        return [], []
    found = session.extractor.extract(seen)
    if not isinstance(found, Extraction):
        raise Refused("BAD_EXTRACTION", f"the extractor returned {shown(found)}; return an Extraction, which may be empty")
    fresh = [one for one in found.candidates if max([one.episode, *(number for number, _ in one.also)]) > done]
    reader, numbered = session.reader(), {episode.number: episode for episode in seen}
    refused = [one for one in found.refused if one.episode > done or one.episode not in numbered]
    how, count = session.place.policy, session.count
    return [draft(one, numbered, reader, session.now(), policy=how, count=count) for one in fresh], refused


def _cursor(tx: SqliteUtils, session: Session, **changes: int) -> dict[str, int]:
    """Change some columns of the session's cursor and return the row as it was before."""
    where = "tenant = :tenant and session = :session and scope = :scope"
    rows = store.select(tx, f"select done, wanted, low from extraction where {where}", session.at)
    before = rows[0] if rows else {"done": 0, "wanted": 0, "low": 0}
    if changes:
        query = """
            insert into extraction (tenant, session, scope, done, wanted, low) values (:tenant, :session, :scope, :done, :wanted, :low)
            on conflict (tenant, session, scope) do update set done = :done, wanted = :wanted, low = :low"""
        tx.execute(query, session.at | before | changes)
    return before


def _ends(tx: SqliteUtils, session: Session) -> list[int]:
    """Return the episodes at which runs ended, from the log, in order; the last episode where none was logged."""
    query = """
        select distinct revision from event
        where tenant = :tenant and scope = :scope and key = :session and op = 'EXTRACT' and reason = 'READ' order by revision"""
    return [row["revision"] for row in store.select(tx, query, session.at)] or [_rest(tx, session)[1]]
