"""Hold documents as counts of terms in one partition a scope, and show the partitions somebody may see as one table: a View.

There is no fit: a document frequency is the length of a postings list, so adding or dropping a document costs its own terms, and a search
costs the postings it touches. Signals (`rank.py`) are functions of a view and the terms of a query; the exact one, TF-IDF, is here. Its
weights are scikit-learn's (`TfidfVectorizer` with its defaults), fitted on exactly the rows of the view: nothing else can move a score.
Only terms, counts, names and numbers are kept, never the text.

Left out: which partitions a caller may see (`record/scope.py`), every other signal (`rank.py`), persistence (the index is disposable) and
locks (one thread at a time). The same id in two of the given partitions is the caller's mistake and is not detected.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from memkit.read.analyze import analyze

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

COUNT = 0xFFFF_FFFF  # the low half of a posting
PACKED = 1024  # terms whose postings a view keeps at hand
DIGITS = 12  # of a score that count: what differs less is equal, and equal scores are ordered by id


class Document(NamedTuple):
    """What is known of one row without reading the record: its id and key, the number of its revision, what it costs of a budget, and
    whether it only says that a search found nothing, and so comes after all others."""

    id: str
    key: str = ""
    seq: int = 0
    tokens: int = 0
    negative: bool = False


class Partition:
    """The documents of one scope in rows 0, 1, 2..., as counts of terms both by row and by term.

    Rows have no gaps: when one goes, the last takes its number. A posting is one number, `row << 32 | count`, and a list of them ascends.

    >>> shop = Partition()
    >>> shop.put(Document("m1"), "retry twice, then retry later")
    >>> len(shop), "m1" in shop, list(shop), shop.counts("m1")
    (1, True, ['m1'], {'later': 1, 'retri': 2, 'twice': 1})
    >>> shop.drop("m1")
    >>> len(shop), shop.terms
    (0, {})
    """

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}  # term -> its number here
        self.names: list[str] = []  # number -> term
        self.postings: list[array[int]] = []  # by number of the term; empty where the number is free
        self.df: array[int] = array("i")  # by number of the term
        self.documents: list[Document] = []  # by row
        self.entries: list[bytes] = []  # by row: pairs of a term's number and its count, 32 bits each, in alphabetical order of terms
        self.lengths: array[int] = array("i")  # by row: terms, repeated ones as often as they occur
        self.tokens: array[int] = array("i")  # by row, as what follows: what its document says, in one piece for a view
        self.negative: array[int] = array("b")
        self.stamp = object()  # another one after every change
        self._rows: dict[str, int] = {}
        self._free: list[int] = []  # numbers of terms that are gone

    def put(self, document: Document, text: str) -> None:
        """Index `text` as this document, in place of what had its id. Costs the terms of the two texts and touches nothing else."""
        counts = dict(sorted(Counter(analyze(text)).items()))
        if document.id in self._rows:
            if self.documents[self._rows[document.id]] == document and self.counts(document.id) == counts:
                return
            self.drop(document.id)
        row = self._rows[document.id] = len(self.documents)
        numbers = [self._number(term) for term in counts]
        for number, count in zip(numbers, counts.values(), strict=True):
            self.postings[number].append(row << 32 | count)
            self.df[number] += 1
        self.entries.append(array("i", [n for pair in zip(numbers, counts.values(), strict=True) for n in pair]).tobytes())
        self.documents.append(document)
        self.lengths.append(sum(counts.values()))
        self.tokens.append(document.tokens)
        self.negative.append(document.negative)
        self.stamp = object()

    def drop(self, id: str) -> None:
        """Forget the document, and every term that only it had. An unknown id is no error."""
        row = self._rows.pop(id, None)
        if row is None:
            return
        for number, _ in self._pairs(row):
            self._take(number, row)
            self.df[number] -= 1
            if not self.postings[number]:
                del self.terms[self.names[number]]
                self.names[number] = ""
                self._free.append(number)
        self._close_gap(row)
        self.stamp = object()

    def __len__(self) -> int:
        return len(self.documents)

    def __contains__(self, id: object) -> bool:
        return id in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def counts(self, id: str) -> dict[str, int]:
        """Return how often each term occurs in one document; empty for an unknown id."""
        return {self.names[number]: count for number, count in self._pairs(self._rows[id])} if id in self._rows else {}

    def _pairs(self, row: int) -> list[tuple[int, int]]:
        flat = array("i", self.entries[row])
        return list(zip(flat[::2], flat[1::2], strict=True))

    def _take(self, number: int, row: int) -> int:
        """Take the posting of a row out of a list and return its count."""
        return self.postings[number].pop(bisect_left(self.postings[number], row << 32)) & COUNT

    def _number(self, term: str) -> int:
        if term not in self.terms:
            if not self._free:
                self._free.append(len(self.names))
                self.names.append("")
                self.postings.append(array("q"))
                self.df.append(0)
            self.terms[term] = number = self._free.pop()
            self.names[number] = term
        return self.terms[term]

    def _close_gap(self, row: int) -> None:
        """Give the last row the number of one that is gone."""
        last = len(self.documents) - 1
        if row != last:
            for number, _ in self._pairs(last):
                insort(self.postings[number], row << 32 | self._take(number, last))
            self._rows[self.documents[last].id] = row
        by_row: list[Any] = [self.documents, self.entries, self.lengths, self.tokens, self.negative]
        for values in by_row:
            values[row] = values[last]
            del values[last]


class View:
    """The documents of some partitions as one table of `size` rows without gaps, as it is until one of them changes.

    Every array is by row, or holds rows; read them, do not write into them. Nothing outside the given partitions is counted.

    >>> shop, mine = Partition(), Partition()
    >>> shop.put(Document("m1"), "cache timeout, cache"); shop.put(Document("m2"), "deploy"); mine.put(Document("m3"), "cache nothing")
    >>> view = View([shop, mine])
    >>> view.size, view.ids, view.lengths.tolist(), view.df("cach"), view.df("zebra")
    (3, ['m1', 'm2', 'm3'], [3, 1, 2], 2, 0)
    >>> rows, counts = view.postings("cach")
    >>> rows.tolist(), counts.tolist(), view.counts(0), round(view.idf("cach"), 3), view.norms(rows)[rows].round(3).tolist()
    ([0, 2], [2, 1], {'cach': 2, 'timeout': 1}, 1.288, [3.082, 2.127])
    """

    def __init__(self, partitions: Sequence[Partition]) -> None:
        self.partitions = [partition for partition in partitions if len(partition)]
        self.stamps = [partition.stamp for partition in self.partitions]
        self.starts = [0, *accumulate(map(len, self.partitions))]  # the first row of each partition, and the size
        self.size = self.starts[-1]
        self._norms = np.full(self.size, np.nan)
        self._packed: dict[str, Ints] = {}

    def shows(self, partitions: Sequence[Partition]) -> bool:
        """Return whether this is a view of exactly these partitions as they are now."""
        return self.stamps == [partition.stamp for partition in partitions if len(partition)]

    @cached_property
    def documents(self) -> list[Document]:
        """What is known of each row."""
        return list(chain.from_iterable(partition.documents for partition in self.partitions))

    @cached_property
    def ids(self) -> list[str]:
        """The id of each row."""
        return [document.id for document in self.documents]

    @cached_property
    def tokens(self) -> Ints:
        """What each row costs of a budget."""
        return self._by_row(np.int32, "tokens")

    @cached_property
    def negative(self) -> NDArray[np.bool_]:
        """Whether each row only says that a search found nothing."""
        return self._by_row(np.bool_, "negative")

    @cached_property
    def lengths(self) -> Ints:
        """The terms of each row, repeated ones as often as they occur."""
        return self._by_row(np.int32, "lengths")

    def id(self, row: int) -> str:
        """Return the id of a row."""
        return self.documents[row].id

    def terms(self) -> set[str]:
        """Return every term that some row has."""
        return {term for partition in self.partitions for term in partition.terms}

    def counts(self, row: int) -> dict[str, int]:
        """Return how often each term occurs in a row, in alphabetical order of terms."""
        at = bisect_left(self.starts, row + 1) - 1
        return self.partitions[at].counts(self.id(row))

    def df(self, term: str) -> int:
        """Return in how many rows the term occurs."""
        return sum([len(found) for _, found in self._lists(term)])

    def packed(self, term: str) -> Ints:
        """Return the postings of a term as they are kept, `row << 32 | count`, ascending; empty for an unknown term."""
        if (known := self._packed.get(term)) is None:
            lists = [np.array(found) + (start << 32) if start else np.array(found) for start, found in self._lists(term)]
            known = lists[0] if len(lists) == 1 else np.concatenate([np.zeros(0, np.int64), *lists])
            if len(self._packed) >= PACKED:
                self._packed.clear()
            self._packed[term] = known
        return known

    def postings(self, term: str) -> tuple[Ints, Ints]:
        """Return the rows that have the term, ascending, and how often each has it; both empty for an unknown term."""
        packed = self.packed(term)
        return packed >> 32, packed & COUNT

    def idf(self, term: str) -> float:
        """Return how much a term says: `ln((1 + size) / (1 + df)) + 1`; 1 for one that every row has, more for a rarer one."""
        return log((1 + self.size) / (1 + self.df(term))) + 1

    def norms(self, rows: Ints) -> Floats:
        """Return the Euclidean lengths of TF-IDF vectors by row, known at least for these rows: worked out when first asked for."""
        missing = rows[np.isnan(self._norms[rows])]
        for at, partition in enumerate(self.partitions if len(missing) else ()):
            start, end = missing.searchsorted(self.starts[at : at + 2])
            mine = missing[start:end]
            self._norms[mine] = self._lengths_of(partition, mine - self.starts[at])
        return self._norms

    def _by_row(self, kind: DTypeLike, name: str) -> NDArray[Any]:
        return np.concatenate([np.zeros(0, kind), *(np.array(getattr(partition, name), kind) for partition in self.partitions)])

    def _lists(self, term: str) -> list[tuple[int, array[int]]]:
        pairs = zip(self.starts, self.partitions, strict=False)
        return [(start, partition.postings[partition.terms[term]]) for start, partition in pairs if term in partition.terms]

    def _lengths_of(self, partition: Partition, rows: Ints) -> Floats:
        found = [partition.entries[row] for row in rows.tolist()]
        sizes = np.fromiter(map(len, found), np.int64, len(found)) // 8
        entries = np.frombuffer(b"".join(found), np.int32).reshape(-1, 2)
        weights = entries[:, 1] * self._weights(partition)[entries[:, 0]]
        return np.sqrt(np.bincount(np.repeat(np.arange(len(found)), sizes), weights * weights, len(found)))

    def _weights(self, partition: Partition) -> Floats:
        """Return the weight of each term of a partition by its number there, seen from all partitions."""
        df = np.array(partition.df)
        for other in self.partitions:
            if other is not partition:
                for term in partition.terms.keys() & other.terms.keys():
                    df[partition.terms[term]] += other.df[other.terms[term]]
        return np.log((1 + self.size) / (1 + df)) + 1


@dataclass(frozen=True, slots=True)
class Found:
    """Rows that a signal found, ascending, and their scores; `gains` says what each term gave: (term, rows, what each of them got)."""

    rows: Ints
    scores: Floats
    gains: Sequence[tuple[str, Ints, Floats]]

    def parts(self, rows: Sequence[int]) -> list[tuple[tuple[str, float], ...]]:
        """Return what each term gave to some rows, in alphabetical order of terms; they add up to the scores, to twelve digits."""
        told: list[list[tuple[str, float]]] = [[] for _ in rows]
        wanted = np.asarray(rows, np.int64)
        for term, having, gains in self.gains:
            for mine, row, place in zip(told, rows, having.searchsorted(wanted).tolist(), strict=True):
                if place < len(having) and having[place] == row:
                    mine.append((term, float(gains[place])))
        return [tuple(mine) for mine in told]


def tfidf(view: View, terms: Mapping[str, int]) -> Found:
    """Return the rows that share a term with the query, scored by the cosine of TF-IDF vectors (0 to 1).

    `terms` says how often each term occurs in the query. Those that no row has are ignored, as scikit-learn ignores them.
    """
    having = [(term, packed) for term in sorted(terms) if len(packed := view.packed(term))]
    sizes = [len(packed) for _, packed in having]
    weights = [log((1 + view.size) / (1 + size)) + 1 for size in sizes]
    times = [terms[term] * weight for (term, _), weight in zip(having, weights, strict=True)]
    length = sqrt(sum([x * x for x in times]))
    factors = [x * weight / length for x, weight in zip(times, weights, strict=True)]
    packed = np.concatenate([np.zeros(0, np.int64), *[packed for _, packed in having]])
    each, gained = packed >> 32, (packed & COUNT) * np.repeat(factors, sizes)
    total = np.bincount(each, gained, view.size)
    rows = total.nonzero()[0]
    norms = view.norms(rows)
    shares, ends = gained / norms[each], list(accumulate(sizes))
    gains = [(term, each[end - size : end], shares[end - size : end]) for (term, _), size, end in zip(having, sizes, ends, strict=True)]
    return Found(rows, np.round(total[rows] / norms[rows], DIGITS), gains)


class Scored(NamedTuple):
    """A document found: its score, and what each term gave to it, in order of terms; `parts` add up to `score`."""

    id: str
    score: float
    parts: tuple[tuple[str, float], ...]


def search(partitions: Sequence[Partition], query: str) -> list[Scored]:
    """Return the documents of the given partitions that share a term with the query, best first.

    Equal scores are ordered by id; so the list depends on the present documents alone, never on how they came.

    >>> shop, mine = Partition(), Partition()
    >>> shop.put(Document("m1"), "deploy on Friday"); shop.put(Document("m2"), "the cache timeout is 30 s")
    >>> mine.put(Document("m3"), "cache nothing")
    >>> [(hit.id, round(hit.score, 3)) for hit in search([shop, mine], "What is the cache timeout?")]
    [('m2', 0.782), ('m3', 0.366)]
    >>> [(term, round(gain, 3)) for term, gain in search([shop, mine], "cache timeout")[0].parts]
    [('cach', 0.287), ('timeout', 0.496)]
    >>> search([shop], "what is it?")
    []
    """
    view = View(partitions)
    found = tfidf(view, Counter(analyze(query)))
    rows = found.rows.tolist()
    hits = [Scored(view.id(row), score, parts) for row, score, parts in zip(rows, found.scores.tolist(), found.parts(rows), strict=True)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))
