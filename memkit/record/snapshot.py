"""A disposable copy of what one tenant knows, in one file of plain JSON lines, made by consolidation and dropped by forgetting.

The first line says of which moment it is (the newest event) and the digest of the rest; then one memory a line, in a fixed order, so that
the same record gives the same bytes. It is written beside, flushed, read again and renamed, so a crash leaves the old one or the new one.
Nothing depends on it: the record is the truth, and `read_snapshot` says whether a copy still is. A store in memory has none.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from sqlite_utils import Database as SqliteUtils

from memkit.record import store
from memkit.record.database import SNAPSHOT, Database, replace_file
from memkit.record.model import Memory


def snapshot_path(db: Database, tenant: str) -> Path | None:
    """Return where a tenant's snapshot stands; its name tells nobody whose it is."""
    return None if db.path is None else Path(f"{db.path}{SNAPSHOT}{db.keyed_digest(f'snapshot {tenant}')[:16]}")


def write_snapshot(db: Database, tenant: str) -> str:
    """Write a tenant's snapshot as the record stands now, and return the SHA-256 of its bytes, "" for a store in memory."""
    path = snapshot_path(db, tenant)
    if path is None:
        return ""
    with db.write() as tx:  # the lock that forgetting takes: what it erases cannot be written here meanwhile
        data = snapshot_bytes(tx, tenant)
        replace_file(path, data)
    return hashlib.sha256(data).hexdigest()


def snapshot_bytes(tx: SqliteUtils, tenant: str) -> bytes:
    """Return the snapshot of a tenant's current memories as this transaction sees them."""
    scopes = [row["scope"] for row in store.select(tx, "select distinct scope from memory where tenant = :tenant", {"tenant": tenant})]
    memories = sorted(store.current_memories(tx, tenant, scopes), key=lambda memory: (memory.scope, memory.key))
    body = "".join(_line(memory) for memory in memories)
    head = {"version": store.last_event(tx, tenant), "memories": len(memories), "sha256": hashlib.sha256(body.encode()).hexdigest()}
    return f"{json.dumps(head)}\n{body}".encode()


def read_snapshot(db: Database, tenant: str) -> list[dict[str, object]] | None:
    """Return what the snapshot holds, or None where there is none, it is damaged, or the record has moved on: then do without."""
    path = snapshot_path(db, tenant)
    if path is None or not path.exists():
        return None
    head, _, body = path.read_bytes().partition(b"\n")
    with suppress(ValueError, KeyError, TypeError):
        told = json.loads(head)
        with db.read() as tx:
            current = told["version"] == store.last_event(tx, tenant)
        if current and told["sha256"] == hashlib.sha256(body).hexdigest():
            return [json.loads(line) for line in body.decode().split("\n") if line]
    return None


def drop_snapshot(db: Database, tenant: str) -> bool:
    """Overwrite a tenant's snapshot and remove it, also what a crash left of an unfinished one; say whether there was any."""
    path = snapshot_path(db, tenant)
    found = [] if path is None else [file for file in db.files if file.name.startswith(path.name)]
    for file in found:
        file.write_bytes(bytes(file.stat().st_size))
        file.unlink()
    return bool(found)


def _line(memory: Memory) -> str:
    cites = [{"cite": piece.cite, "sha256": piece.digest} for piece in memory.evidence]
    kept = {"id": memory.id, "scope": memory.scope, "key": memory.key, "revision": memory.revision, "content": memory.content}
    row = kept | {"kind": memory.kind, "trust": memory.trust, "created_at": store.stamp(memory.created_at), "evidence": cites}
    return json.dumps(row, ensure_ascii=False) + "\n"
