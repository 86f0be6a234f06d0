"""The record: revisions, their evidence, their history, and the append-only events.

Every function takes an open transaction and names its tenant; ids of another tenant find nothing. `append` is the only statement that
makes a revision, and its `where` clause is the compare-and-swap. Whether something *should* be written is decided in `write/`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Any

from sqlite_utils import Database as SqliteUtils

from memkit.errors import Conflict
from memkit.record.model import Candidate, Event, Evidence, Kind, Memory, Op, Status, Support, Times, Trust
from memkit.record.scope import Principal

_MEMORY = """
    seq, tenant, scope, key, revision, op, content, kind, trust, confidence, source_type, actor, created_at, recorded_at, last_verified_at,
    valid_from, valid_to, review_at, expires_at, support, task, verification"""

APPEND = """
insert into revision (tenant, scope, key, revision, op, content, kind, trust, confidence, source_type, actor, created_at, recorded_at,
                      last_verified_at, valid_from, valid_to, review_at, expires_at, support, task, verification)
select :tenant, :scope, :key, coalesce(newest.revision, 0) + 1, :op, :content, :kind, :trust, :confidence, :source_type, :actor,
       case when coalesce(newest.op, 'DELETE') = 'DELETE' then coalesce(:created_at, :now) else newest.created_at end, :now,
       :last_verified_at, :valid_from, :valid_to, :review_at, :expires_at, :support, :task, :verification
from (select 1) left join (
    select revision, op, created_at from revision
    where tenant = :tenant and scope = :scope and key = :key order by revision desc limit 1
) newest
where :expected = -1 or :expected = case when coalesce(newest.op, 'DELETE') = 'DELETE' then 0 else newest.revision end
returning seq, revision, created_at
"""

_NEWEST = f"select {_MEMORY} from revision where tenant = :tenant and scope = :scope and key = :key order by revision desc limit 1"

ADD_EVIDENCE = """
insert into evidence (tenant, revision_seq, proposal_id, state_id, source, locator, digest, quote, source_version, observed_at)
values (:tenant, :revision_seq, :proposal_id, :state_id, :source, :locator, :digest, :quote, :source_version, :observed_at)
"""

LOG = """
insert into event (tenant, seq, at, user, actor, op, scope, key, revision, reason, detail)
select :tenant, coalesce(max(seq), 0) + 1, :at, :user, :actor, :op, :scope, :key, :revision, :reason, :detail
from event where tenant = :tenant
"""

_WORDS: dict[str, Any] = {str(word): word for words in (Op, Kind, Trust, Status, Support) for word in words}

_STATUS = """
    case when op = 'DELETE' then 'RETIRED' when exists (
        select 1 from revision n where n.tenant = r.tenant and n.scope = r.scope and n.key = r.key and n.revision > r.revision
    ) then 'SUPERSEDED' else 'CURRENT' end as status"""


@lru_cache(maxsize=64)  # one write stores its moment several times
def stamp(moment: datetime | None) -> str | None:
    """Return a moment as it is stored: ISO 8601, UTC, microseconds.

    >>> stamp(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05.000000+00:00'
    """
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds")


@lru_cache(maxsize=1024)
def moment(text: str | None) -> datetime | None:
    """Return a stored moment as a datetime with its zone."""
    return None if text is None else datetime.fromisoformat(text)


@lru_cache(maxsize=4096)  # what is recalled once is recalled again
def memory_id(tenant: str, scope: str, key: str) -> str:
    """Return the id of a memory: the same key in the same scope always has the same one.

    >>> memory_id("local", "workspace=shop", "timeout")
    'm-52a341edf6a9af91'
    """
    names = ", ".join(map(encode_basestring_ascii, (tenant, scope, key)))  # what json.dumps writes, without its encoder
    return "m-" + hashlib.sha256(f"[{names}]".encode()).hexdigest()[:16]


def append(
    tx: SqliteUtils,
    op: Op,
    candidate: Candidate,
    *,
    tenant: str,
    scope: str,
    expected: int,
    actor: str,
    now: datetime,
    created_at: datetime | None = None,
    verified_at: datetime | None = None,
) -> Memory:
    """Append one revision with its evidence, in one statement each, and return it as it was written.

    Raises Conflict where the current revision is not `expected` (0: no current value; ANY: whatever it is). Numbers never restart. A first
    revision was created at `created_at`, by default now; a later one keeps the time of the first. What has evidence was verified now,
    unless `verified_at` says otherwise.
    """
    at = stamp(now)
    verified = stamp(verified_at) or (at if candidate.evidence else None)
    row: dict[str, Any] = terms_of(candidate) | {"tenant": tenant, "scope": scope, "op": str(op), "expected": expected, "actor": actor}
    row |= {"now": at, "created_at": stamp(created_at), "last_verified_at": verified}
    written = tx.execute(APPEND, row).fetchall()
    if not written:
        current = current_memory(tx, tenant, scope, candidate.key)
        raise Conflict(candidate.key, expected=expected, actual=current.revision if current else 0)
    seq, revision, created = written[0]
    add_evidence(tx, tenant, candidate.evidence, revision_seq=seq)
    until = (row["valid_from"], row["valid_to"], row["review_at"], row["expires_at"])
    times = [moment(text) for text in (created, at, verified, *until)]
    kept = (candidate.key, revision, op, candidate.content, candidate.kind, candidate.trust, candidate.confidence, candidate.source, actor)
    identity = memory_id(tenant, scope, candidate.key)
    rests = (candidate.evidence, candidate.support, candidate.task, candidate.verification)
    fields: list[Any] = [identity, tenant, scope, *kept, Status.CURRENT, *times, *rests]
    return Memory(*fields)


def add_evidence(tx: SqliteUtils, tenant: str, evidence: Iterable[Evidence], **owner: int) -> None:
    """Keep what something rests on; the owner is one of `revision_seq`, `proposal_id` and `state_id`."""
    owners: dict[str, int | None] = {"revision_seq": None, "proposal_id": None, "state_id": None}
    for piece in evidence:
        row = {
            "tenant": tenant,
            "source": piece.source,
            "locator": piece.locator,
            "digest": piece.digest,
            "quote": piece.quote,
            "source_version": piece.source_version,
            "observed_at": stamp(piece.observed_at),
        }
        tx.execute(ADD_EVIDENCE, owners | owner | row)


def log(
    tx: SqliteUtils, op: str, reason: str, *, principal: Principal, scope: str, key: str, revision: int, now: datetime, detail: str = ""
) -> None:
    """Append one event. It names things and never holds content, so it can stay when content is forgotten."""
    tx.execute(
        LOG,
        {
            "at": stamp(now),
            "tenant": principal.tenant,
            "user": principal.user,
            "actor": principal.actor,
            "op": str(op),
            "scope": scope,
            "key": key,
            "revision": revision,
            "reason": reason,
            "detail": detail,
        },
    )


def current_memory(tx: SqliteUtils, tenant: str, scope: str, key: str) -> Memory | None:
    """Return the current value of a key in exactly this scope, or None."""
    newest = _memories(tx, tenant, _NEWEST, {"tenant": tenant, "scope": scope, "key": key})
    return newest[0] if newest and newest[0].op is not Op.DELETE else None


def current_memories(tx: SqliteUtils, tenant: str, scopes: Sequence[str], keys: Sequence[str] | None = None) -> list[Memory]:
    """Return the current values in these scopes, of all keys or of these, in the order they were written."""
    only = "" if keys is None else "and key in (select value from json_each(:keys))"
    query = f"select {_MEMORY} from memory where tenant = :tenant and scope in (select value from json_each(:scopes)) {only} order by seq"
    return _memories(tx, tenant, query, {"tenant": tenant, "scopes": json.dumps(scopes), "keys": json.dumps(keys)})


def texts(tx: SqliteUtils, tenant: str, scope: str, keys: Sequence[str] | None = None) -> list[tuple[int, str, str, str]]:
    """Return (seq, key, content, kind) of the current values in one scope, of all keys or of these: what a derived copy needs of them."""
    only = "" if keys is None else "and key in (select value from json_each(:keys))"
    query = f"select seq, key, content, kind from memory where tenant = :tenant and scope = :scope {only} order by seq"
    return list(tx.execute(query, {"tenant": tenant, "scope": scope, "keys": json.dumps(keys)}).fetchall())


def at(tx: SqliteUtils, tenant: str, seqs: Sequence[int]) -> dict[int, Memory]:
    """Return revisions by number, as they were when they were the current ones; one that was forgotten since is left out.

    Subtle: the `+` keeps SQLite from walking through everything the tenant has. `evidence_of` has it too.
    """
    where = "seq in (select value from json_each(:seqs)) and +tenant = :tenant and content is not null"
    query = f"select {_MEMORY} from revision where {where}"
    return dict(_numbered(tx, tenant, query, {"tenant": tenant, "seqs": json.dumps(seqs)}))


def revisions(tx: SqliteUtils, tenant: str, scope: str, key: str) -> list[Memory]:
    """Return every revision of a key, oldest first; forgotten ones have no content."""
    where = {"tenant": tenant, "scope": scope, "key": key}
    query = f"select {_MEMORY}, {_STATUS} from revision r where tenant = :tenant and scope = :scope and key = :key order by revision"
    return _memories(tx, tenant, query, where)


def believed(tx: SqliteUtils, tenant: str, scopes: Sequence[str], when: datetime, known_at: datetime) -> list[Memory]:
    """Return what was known at `known_at` to be true at `when`: of the revisions recorded by then, the newest that is valid then.

    A revision that retired its key ends what came before it, and one that had expired at `known_at` was not believed any more.
    """
    query = f"""
        select {_MEMORY}, {_STATUS} from revision r
        where tenant = :tenant and scope in (select value from json_each(:scopes)) and recorded_at <= :known and op <> 'DELETE'
          and content is not null and coalesce(expires_at, '~') > :known
          and coalesce(valid_from, '') <= :when and coalesce(valid_to, '~') > :when
          and not exists (
              select 1 from revision n where n.tenant = r.tenant and n.scope = r.scope and n.key = r.key
                and n.revision > r.revision and n.recorded_at <= :known
                and (n.op = 'DELETE' or (coalesce(n.valid_from, '') <= :when and coalesce(n.valid_to, '~') > :when)))
        order by seq"""
    return _memories(tx, tenant, query, {"tenant": tenant, "scopes": json.dumps(scopes), "when": stamp(when), "known": stamp(known_at)})


def resting_on(tx: SqliteUtils, tenant: str, source: str, scopes: Sequence[str]) -> list[Memory]:
    """Return the current memories of these scopes that cite a source."""
    query = f"""
        select {_MEMORY} from memory
        where tenant = :tenant and scope in (select value from json_each(:scopes))
          and seq in (select revision_seq from evidence where tenant = :tenant and source = :source) order by seq"""
    return _memories(tx, tenant, query, {"tenant": tenant, "scopes": json.dumps(scopes), "source": source})


def events(tx: SqliteUtils, tenant: str, *, after: int = 0, scopes: Sequence[str] | None = None, key: str | None = None) -> list[Event]:
    """Return the events of a tenant after a sequence number, oldest first, of all scopes or of these."""
    query = """
        select seq, at, tenant, actor, op, scope, key, revision, reason, detail from event
        where seq > :after and tenant = :tenant and (:scopes is null or scope in (select value from json_each(:scopes)))
          and (:key is null or key = :key) order by seq"""
    where = {"after": after, "tenant": tenant, "scopes": None if scopes is None else json.dumps(scopes), "key": key}
    return [Event(**{**row, "at": moment(row["at"])}) for row in select(tx, query, where)]


def former_scopes(tx: SqliteUtils, tenant: str, scope: str, key: str) -> list[tuple[str, int]]:
    """Return (scope, last revision) of every scope a key was moved out of on its way to this one, found in the log."""
    found: list[tuple[str, int]] = []
    waiting, seen = [scope], {scope}
    query = """
        select scope, revision from event
        where tenant = :tenant and key = :key and op = 'DELETE' and reason = 'RESCOPED' and detail = :scope order by seq"""
    while waiting:
        rows = select(tx, query, {"tenant": tenant, "key": key, "scope": waiting.pop()})
        found += [(row["scope"], row["revision"]) for row in rows]
        fresh = {row["scope"] for row in rows} - seen
        waiting += sorted(fresh)
        seen |= fresh
    return found


def changes(tx: SqliteUtils, tenant: str, after: int) -> list[tuple[int, str, str, str]]:
    """Return (seq, op, scope, key) of every event of a tenant after a sequence number: what a derived copy must look at again."""
    query = "select seq, op, scope, key from event where tenant = :tenant and seq > :after order by seq"
    return list(tx.execute(query, {"after": after, "tenant": tenant}).fetchall())


def last_event(tx: SqliteUtils, tenant: str) -> int:
    """Return the sequence number of a tenant's newest event, 0 where there is none."""
    return int(tx.execute("select coalesce(max(seq), 0) from event where tenant = :tenant", {"tenant": tenant}).fetchall()[0][0])


def evidence_of(tx: SqliteUtils, tenant: str, owner: str, ids: Sequence[int]) -> dict[int, tuple[Evidence, ...]]:
    """Return the evidence of several owners at once; `owner` is "revision_seq", "proposal_id" or "state_id"."""
    query = f"""
        select {owner} as owner, source, locator, digest, quote, source_version, observed_at from evidence
        where {owner} in (select value from json_each(:ids)) and +tenant = :tenant order by id"""
    found: dict[int, tuple[Evidence, ...]] = {}
    for row in select(tx, query, {"ids": json.dumps(ids), "tenant": tenant}):
        mine = row.pop("owner")
        piece = Evidence(**row | {"observed_at": moment(row["observed_at"])})
        found[mine] = (*found.get(mine, ()), piece)
    return found


def terms_of(candidate: Candidate) -> dict[str, object]:
    """Return what a revision and a proposal keep of a candidate, as columns; words as plain text, which `sqlite3` binds at once."""
    return {
        "key": candidate.key,
        "content": candidate.content,
        "kind": str(candidate.kind),
        "trust": str(candidate.trust),
        "confidence": candidate.confidence,
        "source_type": candidate.source,
        "valid_from": stamp(candidate.times.valid_from),
        "valid_to": stamp(candidate.times.valid_to),
        "review_at": stamp(candidate.times.review_at),
        "expires_at": stamp(candidate.times.expires_at),
        "support": str(candidate.support),
        "task": candidate.task,
        "verification": candidate.verification,
    }


def as_candidate(memory: Memory) -> Candidate:
    """Return what was once proposed to the record to make this memory."""
    times = Times(memory.valid_from, memory.valid_to, memory.review_at, memory.expires_at)
    kept = (memory.key, memory.content, memory.kind, memory.trust, memory.confidence, memory.source)
    return Candidate(*kept, memory.evidence, times, memory.support, memory.task, memory.verification)


def select(tx: SqliteUtils, query: str, where: dict[str, Any]) -> list[dict[str, Any]]:
    cursor = tx.execute(query, where)
    rows = cursor.fetchall()  # exhausted: a half-read query would keep its lock
    names = [column[0] for column in cursor.description] if rows else []
    return [dict(zip(names, row, strict=True)) for row in rows]


def _memories(tx: SqliteUtils, tenant: str, query: str, where: dict[str, Any]) -> list[Memory]:
    return [memory for _, memory in _numbered(tx, tenant, query, where)]


def _numbered(tx: SqliteUtils, tenant: str, query: str, where: dict[str, Any]) -> list[tuple[int, Memory]]:
    """Run a query of `_MEMORY`, with `_STATUS` after it or all rows current, and return each memory with its number."""
    rows = tx.execute(query, where).fetchall()
    evidence = evidence_of(tx, tenant, "revision_seq", [row[0] for row in rows]) if rows else {}
    return [(row[0], _memory(row, evidence.get(row[0], ()))) for row in rows]


def _memory(row: tuple[Any, ...], evidence: tuple[Evidence, ...]) -> Memory:
    _, tenant, scope, key, revision, op, content, kind, trust, confidence, source, actor, *times = row[:19]
    support, task, verification, *status = row[19:]
    said = (_WORDS[op], content, _WORDS[kind], _WORDS[trust], confidence, source, actor, _WORDS[status[0] if status else "CURRENT"])
    rests = (evidence, _WORDS[support], task, verification)
    fields: Any = (memory_id(tenant, scope, key), tenant, scope, key, revision, *said, *map(moment, times), *rests)
    return Memory(*fields)
