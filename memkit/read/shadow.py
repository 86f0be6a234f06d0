"""Which waiting candidates a question would have found: counted, never returned.

The scores are TF-IDF over the candidates alone, so they neither move nor are moved by those of memories. Left out: keeping the count
(`write/proposals.py`), and what a count is worth (`write/gates.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from memkit.read.index import Document, Partition, search

WANTED = 0.2
"""The cosine from which a candidate counts as wanted by a question."""


def wanted(candidates: Iterable[tuple[int, str]], query: str, *, threshold: float = WANTED) -> list[int]:
    """Return the numbers of the candidates, given as (number, content), that the query would have found, in ascending order.

    >>> wanted([(1, "the cache timeout is 30 s"), (2, "deploy on Friday")], "What is the cache timeout?")
    [1]
    """
    waiting = Partition()
    for number, content in candidates:
        waiting.put(Document(str(number)), content)
    return sorted(int(hit.id) for hit in search([waiting], query) if hit.score >= threshold)
