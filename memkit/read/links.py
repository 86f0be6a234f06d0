"""Links between memories of one source: those that rest on neighbouring episodes of a session, or on neighbouring lines of a file.

What was said just before and after often belongs to the answer, though it shares no word with the question; next to a single match it as
often does not. So what nothing but its place speaks for is found only among several matches. Next to each other means next
among the visible ones of that source: what somebody may not see leaves no gap. Left out: citations by key or quote, which have no order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from heapq import nsmallest
from weakref import WeakKeyDictionary

import numpy as np
from sqlite_utils import Database as SqliteUtils

from memkit.read.index import DIGITS, Found, Ints, View
from memkit.read.signals import added
from memkit.record.places import Place, places, places_in

SHARING = 100  # how many of the best rows share with their neighbours
ALONE = 1.1  # times what the best row gives to the one next to it: what a row that nothing else found has to be given

_rows: WeakKeyDictionary[View, dict[int, int]] = WeakKeyDictionary()  # the row of each revision, as long as the view lives

Places = dict[int, Place]  # by row
Links = Callable[[View, Ints], Places]  # where these rows and all others of their sources are


def with_neighbours(view: View, found: Found, share: float, links: Links) -> Found:
    """Return the rows found and their neighbours, each given `share` of the best rows' scores next to it and half of that two steps away.

    A source in which a row has several neighbours gives all of them: an answer surrounded by matches is likelier than one beside one. A
    row that was not found itself needs more than one match can give, even the best one (`ALONE`): a sibling of it is not yet an answer.

    >>> from memkit.read.index import Document, Partition
    >>> chat = Partition()
    >>> for number, text in enumerate(["where is the cat?", "on the roof", "the cat?", "fine"]):
    ...     chat.put(Document(f"m{number}"), text)
    >>> matched = added(View([chat]), [("cat", np.array([0, 2], np.int64), np.array([1.0, 0.75]))])
    >>> found = with_neighbours(View([chat]), matched, 0.5, in_order(["chat"] * 4))
    >>> found.rows.tolist(), found.scores.tolist(), found.parts([1])
    ([0, 1, 2], [1.1875, 0.875, 1.0], [(('(neighbours)', 0.875),)])
    """
    if not share or not len(found.rows):
        return found
    best = _best(view, found)
    placed = links(view, best)
    if not placed:
        return found
    own = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
    given: defaultdict[int, float] = defaultdict(float)
    sharing = set(best.tolist())
    for order in _orders(view, placed):
        for at, row in enumerate(order):
            for step in (-2, -1, 1, 2) if row in sharing else ():
                if 0 <= at + step < len(order):
                    given[order[at + step]] += own[row] * share / abs(step)
    enough = ALONE * share * max(own.values())
    rows = np.array(sorted(row for row, gained in given.items() if row in own or gained > enough), np.int64)
    return added(view, [*found.gains, ("(neighbours)", rows, np.array([round(given[row], DIGITS) for row in rows.tolist()]))])


def _best(view: View, found: Found) -> Ints:
    """Return the rows that share: of those that equal the last one, the first by id, whatever row each has."""
    if len(found.rows) <= SHARING:
        return found.rows
    least = np.partition(found.scores, -SHARING)[-SHARING]
    above, level = found.rows[found.scores > least], found.rows[found.scores == least]
    return np.array([*above, *nsmallest(SHARING - len(above), level.tolist(), key=view.id)], np.int64)


def _orders(view: View, placed: Places) -> list[list[int]]:
    """Return the rows of each source in its own order; what rests on the same place is ordered by id."""
    sources: defaultdict[str, list[int]] = defaultdict(list)
    for row in sorted(placed, key=lambda row: (placed[row], view.id(row))):
        sources[placed[row][0]].append(row)
    return list(sources.values())


def recorded(tx: SqliteUtils, tenant: str) -> Links:
    """Return links as the record has them."""

    def found(view: View, rows: Ints) -> Places:
        sources = {source for source, _ in places(tx, tenant, [view.documents[row].seq for row in rows.tolist()]).values()}
        if not sources:
            return {}
        visible = _rows.get(view) or _rows.setdefault(view, {document.seq: row for row, document in enumerate(view.documents)})
        beside = [(seq, place) for source in sorted(sources) for seq, place in places_in(tx, tenant, source).items()]
        return {visible[seq]: place for seq, place in beside if seq in visible}

    return found


def in_order(sources: Sequence[str]) -> Links:
    """Return links for rows that are already in the order of their sources: `sources` names the source of each row.

    >>> in_order(["monday", "monday", "friday"])(View([]), np.zeros(0, np.int64))
    {0: ('monday', 0), 1: ('monday', 1), 2: ('friday', 2)}
    """
    return lambda view, rows: {row: (source, row) for row, source in enumerate(sources)}
