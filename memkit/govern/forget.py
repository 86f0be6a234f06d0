"""Forgetting: erase, propagate, and prove it by looking at the bytes.

A person names a key; every revision of it loses its content and its evidence, proposals of the key or of the same long value
lose theirs, episodes that state it have it masked (`unsay.py`), a tombstone is laid for every value it ever had, and a DELETE revision and
an event record that it happened, without content.
Afterwards the raw bytes of every file are searched by code that does not trust the erasure. Undoing one is `restore_right`, which lets
the value be told again; it brings nothing back. Expiry by time is another thing and lays no tombstone.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sqlite_utils import Database as SqliteUtils

from memkit.errors import Busy, Conflict, MemkitError, NotFound
from memkit.govern import sweep
from memkit.govern.unsay import Said, said_in, still_said, unsay
from memkit.read import feedback
from memkit.record import store, tombstone
from memkit.record.database import Database
from memkit.record.model import ANY, Candidate, Kind, Op, Trust
from memkit.record.snapshot import drop_snapshot
from memkit.record.text import normalise
from memkit.write.arguments import check_expected
from memkit.write.commit import Place, judge

_PROPOSALS = """
    select id, key, content, task, verification from proposal p where tenant = :tenant
    and (content is not null or id in (select proposal_id from evidence where tenant = :tenant))
    and (scope = :scope or (key = :key and exists (
        select 1 from json_each(:moved) m join revision r
        on r.scope = json_extract(m.value, '$[0]') and r.revision = json_extract(m.value, '$[1]')
        where r.tenant = p.tenant and r.scope = p.scope and r.key = p.key and p.created_at <= r.recorded_at)))"""
"""Of the scope all, and of those the key was moved out of what was proposed for it before that."""

SHORTEST = 8  # bytes: a shorter value occurs by chance, so it is proved by its rows alone

ERASE_QUERIES = {
    "revision": "update revision set content = null, task = null, verification = null where seq in (select value from json_each(:ids))",
    "evidence": "delete from evidence where id in (select value from json_each(:ids))",
    "proposal": "update proposal set content = null, task = null, verification = null,"
    " status = case status when 'PENDING' then 'REJECTED' else status end,"
    " reason = 'FORGOTTEN' where id in (select value from json_each(:ids))",
}


@dataclass(frozen=True, slots=True)
class Copy:
    """One place a forgotten value stood in, and how many copies were there before and after."""

    place: str
    before: int
    after: int


@dataclass(frozen=True, slots=True, repr=False)
class Receipt:
    """What forgetting did. It never holds the value: `tombstones` are keyed digests. `residue` counts copies left in raw bytes.

    `still_said_by` names the other keys of the scope whose current value contains it: they were not asked for, and stay.
    """

    key: str
    scope: str
    revision: int
    reason: str
    at: datetime
    copies: tuple[Copy, ...]
    residue: int
    tombstones: tuple[str, ...]
    problem: str = ""
    still_said_by: tuple[str, ...] = ()

    @property
    def tombstone(self) -> str:
        """Return the keyed digest of the newest value."""
        return self.tombstones[-1] if self.tombstones else ""

    @property
    def verified(self) -> bool:
        """Return whether it was looked everywhere, and nothing is left anywhere."""
        return not self.problem and self.residue == 0 and all(copy.after == 0 for copy in self.copies)

    def to_json(self) -> str:
        """Return the receipt as JSON, safe to hand out."""
        copies = [{"place": copy.place, "before": copy.before, "after": copy.after} for copy in self.copies]
        plain = {"key": self.key, "scope": self.scope, "revision": self.revision, "reason": self.reason, "at": store.stamp(self.at)}
        proof = {"residue": self.residue, "problem": self.problem, "verified": self.verified, "still_said_by": self.still_said_by}
        return json.dumps(plain | {"copies": copies, "tombstones": self.tombstones} | proof)

    def __repr__(self) -> str:
        result = "verified" if self.verified else f"NOT verified: {self.problem or f'{self.residue} left'}"
        done = f"forgotten as revision {self.revision}" if any(copy.before for copy in self.copies) else "nothing was left to forget"
        lines = [f"Receipt({self.key} in {self.scope}: {done}, {result})"]
        if self.still_said_by:
            lines.append(f"still said by: {', '.join(self.still_said_by)}")
        return "\n    ".join([*lines, *(f"{copy.place}: {copy.before} -> {copy.after}" for copy in self.copies)])


@dataclass(frozen=True, slots=True)
class Traces:
    """Where a key left content: row ids by table, and the values themselves (never shown, never kept)."""

    rows: dict[str, list[int]]
    values: list[str]
    quotes: list[str]
    said: list[Said]


def forget(db: Database, key: str, place: Place, *, expected: int, reason: str, now: datetime, derived: Callable[[], int]) -> Receipt:
    """Forget a key in a scope, in one transaction, and prove it.

    `derived` brings derived copies up to date and returns how many still hold the key. Raises NotFound where the key never was, Conflict
    where its revision is not `expected`, and Busy, with nothing changed, while another process keeps reading the file. Once the erasure
    is committed nothing is raised any more: what the proof could not do stands in the receipt as its `problem`.
    """
    check_expected(expected)
    with db.read() as tx:
        wanted = _wanted(find_traces(tx, place, key))
    raw, indexed = raw_counts(db, wanted), derived()
    with db.write() as tx:
        traces = find_traces(tx, place, key)  # again, now that nobody else can write
        drop_snapshot(db, place.principal.tenant)  # under the lock that writing one takes, and before the commit: a crash leaves no copy
        revision, tombstones = _erase(tx, db, key, place, traces, expected=expected, now=now)
    before = {table: len(ids) for table, ids in traces.rows.items()} | {"index": indexed}
    problem, after = "", dict.fromkeys(traces.rows, 0)
    others: tuple[str, ...] = ()
    try:
        others = _still_said(db, place, traces)
        live = _live_copies(db, wanted)
        before |= {name: _most(found, live) for name, found in raw.items()}
        after |= _proof(db, _wanted(traces), thorough=not traces.values or any(map(sweep.is_sampled, traces.values)))
        after |= {"index": derived()}
        with db.read() as tx:
            after |= {table: _still_there(tx, table, traces) for table in traces.rows}
    except (MemkitError, OSError, subprocess.SubprocessError) as error:
        what = "another process kept the file busy" if isinstance(error, Busy) else f"looking failed ({type(error).__name__})"
        problem = f"the value is erased, but {what}, so its bytes could not be searched; call forget again with expected=0"
    for value in traces.values:
        reason = reason.replace(value, "[forgotten]")
    copies = tuple(Copy(name, before.get(name, 0), after.get(name, 0)) for name in dict.fromkeys([*before, *after]))
    residue = sum(left for name, left in after.items() if name not in traces.rows)
    return Receipt(key, place.scope, revision, reason, now, copies, residue, tuple(tombstones), problem, others)


def _still_said(db: Database, place: Place, traces: Traces) -> tuple[str, ...]:
    """Return the keys of the scope whose current value contains a forgotten one of 8 bytes or more."""
    query = """
        select key from memory where tenant = :tenant and scope = :scope
        and (instr(content, :value) or instr(task, :value) or instr(verification, :value)) order by key"""
    where = {"tenant": place.principal.tenant, "scope": place.scope}
    long = [value for value in traces.values if len(value.encode()) >= SHORTEST]
    with db.read() as tx:
        return tuple(dict.fromkeys(row["key"] for value in long for row in store.select(tx, query, where | {"value": value})))


def _proof(db: Database, wanted: Sequence[bytes], *, thorough: bool) -> dict[str, int]:
    """Search the raw bytes; where something is left, and where a search alone would prove too little, rewrite the file and search again.

    That is so for a value longer than the pieces that are looked for, and where no value is known any more.
    """
    left = _residue(db, wanted)
    if thorough or any(left.values()):
        db.vacuum()
        left = _residue(db, wanted)
    return left


def find_traces(tx: SqliteUtils, place: Place, key: str) -> Traces:
    """Find every row that holds content of a key in a scope, and every proposal of the scope that says the same. Raises NotFound."""
    tenant = place.principal.tenant
    revisions = _revisions(tx, tenant, place.scope, key)
    moved = json.dumps(store.former_scopes(tx, tenant, place.scope, key))
    proposals = store.select(tx, _PROPOSALS, {"tenant": tenant, "scope": place.scope, "key": key, "moved": moved})
    if not revisions and not any(row["key"] == key for row in proposals):
        raise NotFound(f"there is nothing under {key!r} in {place.scope}; kit.check(scope=...) lists the keys that are there")
    values = [row["content"] for row in revisions if row["content"] is not None]
    long_values = {plain for value in values if len(plain := normalise(value)) >= tombstone.REACHES_SCOPE}
    mine = [row for row in proposals if row["key"] == key or normalise(row["content"] or "") in long_values]
    rows = {"revision": [row["seq"] for row in revisions if row["content"] is not None], "proposal": [row["id"] for row in mine]}
    owners = {"seqs": json.dumps([row["seq"] for row in revisions]), "proposals": json.dumps(rows["proposal"])}
    evidence = store.select(
        tx,
        "select id, source, locator, quote from evidence where revision_seq in (select value from json_each(:seqs))"
        " or proposal_id in (select value from json_each(:proposals)) order by id",
        owners,
    )
    rows["evidence"] = [row["id"] for row in evidence]
    values = list(dict.fromkeys([*(row["content"] for row in mine if row["key"] == key and row["content"]), *values]))
    carried = [row[name] for row in (*revisions, *mine) for name in ("task", "verification") if row[name] is not None]
    said = said_in(tx, place.principal, [*values, *carried], [(row["source"], row["locator"], row["quote"]) for row in evidence])
    rows["episode"] = [one.id for one in said]
    return Traces(rows, values, list(dict.fromkeys([*(row["quote"] for row in evidence), *carried])), said)


def _revisions(tx: SqliteUtils, tenant: str, scope: str, key: str) -> list[dict[str, Any]]:
    """Return seq and content of every revision of a key, here and in the scopes it was moved out of, up to where it left them."""
    query = """
        select seq, content, task, verification from revision
        where tenant = :tenant and scope = :scope and key = :key and revision <= :last order by seq"""
    places = [(scope, 2**62), *store.former_scopes(tx, tenant, scope, key)]
    return [row for place, last in places for row in store.select(tx, query, {"tenant": tenant, "scope": place, "key": key, "last": last})]


def restore_right(db: Database, key: str, place: Place, *, now: datetime) -> int:
    """Lift the tombstones of a key, on the record, and return how many there were. Raises NotFound where none stands."""
    with db.write() as tx:
        lifted = tombstone.lift(tx, place.principal.tenant, place.scope, key)
        if not lifted:
            raise NotFound(f"no tombstone stands for {key!r} in {place.scope}; nothing has to be lifted")
        store.log(tx, "RESTORE_RIGHT", "RIGHT_RESTORED", principal=place.principal, scope=place.scope, key=key, revision=0, now=now)
    return lifted


def _erase(tx: SqliteUtils, db: Database, key: str, place: Place, traces: Traces, *, expected: int, now: datetime) -> tuple[int, list[str]]:
    tenant = place.principal.tenant
    withdrawal = Candidate(key, None, Kind.FACT, Trust.STATED, 1.0, "user")
    decision, memory = judge(tx, db, withdrawal, place, now)
    if decision.op is Op.DELETE:
        memory = store.append(
            tx, Op.DELETE, withdrawal, tenant=tenant, scope=place.scope, expected=expected, actor=place.principal.actor, now=now
        )
    elif expected not in (0, ANY) and expected + 1 != _newest(tx, tenant, place.scope, key):  # the same request again is no conflict
        raise Conflict(key, expected=expected, actual=0)
    revision = memory.revision if memory else 0
    for table, query in ERASE_QUERIES.items():
        tx.execute(query, {"ids": json.dumps(traces.rows[table])})
    unsay(tx, tenant, traces.said)
    feedback.drop(tx, tenant, place.scope, key)
    laid = [digest for value in traces.values for digest in tombstone.digests(db, tenant, place.scope, key, value)]
    tombstone.bury(tx, laid, tenant=tenant, scope=place.scope, key=key, at=store.stamp(now) or "")
    query = "select distinct scope from proposal where id in (select value from json_each(:ids)) and scope <> :scope order by scope"
    reached = store.select(tx, query, {"ids": json.dumps(traces.rows["proposal"]), "scope": place.scope})
    for scope in [place.scope, *(row["scope"] for row in reached)]:  # who follows the log must hear of each
        told = revision if scope == place.scope else 0
        store.log(tx, "FORGET", "FORGOTTEN", principal=place.principal, scope=scope, key=key, revision=told, now=now)
    return revision, laid


def _newest(tx: SqliteUtils, tenant: str, scope: str, key: str) -> int:
    query = "select coalesce(max(revision), 0) from revision where tenant = :tenant and scope = :scope and key = :key"
    return int(tx.execute(query, {"tenant": tenant, "scope": scope, "key": key}).fetchall()[0][0])


def _wanted(traces: Traces) -> list[bytes]:
    words = [word for one in traces.said for word in one.words]
    long = [text for text in [*traces.values, *traces.quotes, *words] if len(text.encode("utf-8", "surrogatepass")) >= SHORTEST]
    return list(dict.fromkeys(piece for text in long for piece in sweep.pieces(text)))


def raw_counts(db: Database, wanted: Sequence[bytes]) -> dict[str, list[int]]:
    """Return how often each piece occurs in the raw bytes of every file memkit owns for this database, by file name."""
    if db.path is None:
        image = db.image()
        return {":memory:": [sweep.count(image, piece) for piece in wanted]}
    return {Path(name).name: counts for name, counts in sweep.sweep(db.files, wanted).items()}


def _residue(db: Database, wanted: Sequence[bytes]) -> dict[str, int]:
    """Return what is left in raw bytes once other live copies of the same words, of anybody, are subtracted unseen."""
    counts = raw_counts(db, wanted)
    live = _live_copies(db, wanted) if any(any(found) for found in counts.values()) else []
    return {name: _most(found, live) for name, found in counts.items()}


def _most(found: Sequence[int], live: Sequence[int]) -> int:
    """Return how often the most frequent piece was found beyond its live copies."""
    return max((max(0, here - there) for here, there in zip_longest(found, live, fillvalue=0)), default=0)


def _live_copies(db: Database, wanted: Sequence[bytes]) -> list[int]:
    """Count each piece in every text column of every row, as often as the column is stored: in its table and in each index over it."""
    totals = [0] * len(wanted)
    with db.read() as tx:
        for table, column, stored in _text_columns(tx):
            cursor = tx.execute(f"select cast({column} as blob) from {table} where {column} is not null")
            while rows := cursor.fetchmany(20_000):
                together = b"\n\0".join(value for (value,) in rows)
                for n, piece in enumerate(wanted):
                    totals[n] += stored * sweep.count(together, piece)
    return totals


def _text_columns(tx: SqliteUtils) -> list[tuple[str, str, int]]:
    tables = [name for (name,) in tx.execute("select name from sqlite_schema where type = 'table'").fetchall()]
    columns = []
    for table in tables:
        indexed = tx.execute("select i.name from pragma_index_list(:table) l join pragma_index_info(l.name) i", {"table": table}).fetchall()
        for _, column, kind, *_ in tx.execute(f"pragma table_info({table})").fetchall():
            if kind.lower() == "text":
                columns.append((table, f'"{column}"', 1 + [name for (name,) in indexed].count(column)))
    return columns


def _still_there(tx: SqliteUtils, table: str, traces: Traces) -> int:
    """Count rows that should have lost their content and have not: the proof that also holds for short values."""
    if table == "episode":
        return still_said(tx, traces.said)
    column = {"revision": "seq"}.get(table, "id")
    having = "" if table == "evidence" else "and coalesce(content, task, verification) is not null"
    query = f"select count(*) from {table} where {column} in (select value from json_each(:ids)) {having}"
    return int(tx.execute(query, {"ids": json.dumps(traces.rows[table])}).fetchall()[0][0])
