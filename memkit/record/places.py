"""Where in its source a memory rests: the number of an episode in a session, or of a line in a file.

A citation by key, quote, definition or section has no place: nothing comes before or after it. Left out: what neighbours are worth
(`read/links.py`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlite_utils import Database as SqliteUtils

Place = tuple[str, int]  # a source or session, and the number within it

_ROWS = "select revision_seq, source, locator from evidence where tenant = :tenant and revision_seq is not null"
_PLACED = "(source like 'session:%' or locator like 'lines=%')"


def places(tx: SqliteUtils, tenant: str, seqs: Sequence[int]) -> dict[int, Place]:
    """Return the place of each of these revisions that has one; of several, the last one cited."""
    query = f"{_ROWS} and revision_seq in (select value from json_each(:seqs)) and {_PLACED} order by id"
    return _placed(tx, query, {"tenant": tenant, "seqs": json.dumps(seqs)})


def places_in(tx: SqliteUtils, tenant: str, source: str) -> dict[int, Place]:
    """Return the place of every revision that has one in this source or session."""
    start = f"{source}/" if source.startswith("session:") else source
    end = f"{source}0" if source.startswith("session:") else source  # subtle: "0" is the character after "/"
    query = f"{_ROWS} and source between :start and :end and {_PLACED} order by id"
    return _placed(tx, query, {"tenant": tenant, "start": start, "end": end})


def place_of(source: str, locator: str) -> Place | None:
    """Return what a citation is a part of, and where in it; None where there is no order.

    >>> place_of("session:monday/3", "quote=yes"), place_of("notes.md", "lines=7-9"), place_of("prod.cfg", "key=timeout")
    (('session:monday', 3), ('notes.md', 7), None)
    """
    session, _, number = source.rpartition("/")
    if session.startswith("session:") and number.isdecimal():
        return session, int(number)
    if locator.startswith("lines="):
        return source, int(locator.removeprefix("lines=").split("-")[0])
    return None


def _placed(tx: SqliteUtils, query: str, where: dict[str, str]) -> dict[int, Place]:
    rows = tx.execute(query, where).fetchall()
    return {seq: place for seq, source, locator in rows if (place := place_of(source, locator))}
