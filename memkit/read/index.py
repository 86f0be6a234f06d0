"""Find documents by TF-IDF and cosine: partitions of term counts, and a search over the partitions somebody may see.

The weights are scikit-learn's (`TfidfVectorizer` with its defaults), fitted on exactly the documents of the partitions given to `search`:
nothing else can move a score. There is no fit: a document frequency is the length of a postings list, so adding or dropping a document
costs its own terms, and a search costs the postings it touches. Only terms and counts are kept, never the text.

Left out: which partitions a caller may see (`record/scope.py`), every other signal (`rank.py`), persistence (the index is disposable) and
locks (one thread at a time). The same id in two of the given partitions is the caller's mistake and is not detected.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import fsum, log, sqrt
from typing import NamedTuple

from memkit.read.analyze import analyze

VISIBLE_SETS = 8  # for how many sets of partitions one partition remembers the norms of its documents


class Scored(NamedTuple):
    """A document found: its cosine with the query (0 to 1), and what each term gave to it, in order of terms; `parts` add up to `score`."""

    id: str
    score: float
    parts: tuple[tuple[str, float], ...]


class Partition:
    """The documents of one scope, as counts of terms both by document and by term.

    >>> shop = Partition()
    >>> shop.put("m1", "retry twice, then retry later")
    >>> len(shop), "m1" in shop, list(shop), shop.df("retri"), dict(shop.postings("retri")), dict(shop.counts("m1"))
    (1, True, ['m1'], 1, {'m1': 2}, {'retri': 2, 'twice': 1, 'later': 1})
    >>> shop.drop("m1")
    >>> len(shop), shop.df("retri")
    (0, 0)
    """

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self._postings: dict[str, dict[str, int]] = {}
        self._norms: dict[frozenset[object], dict[str, float]] = {}
        self.stamp = object()  # another one after every change, so a set of stamps names a visible set at one moment

    def put(self, id: str, text: str) -> None:
        """Index `text` under `id`, in place of what stood there. Costs the terms of the two texts and touches nothing else."""
        counts = Counter(analyze(text))
        if self._counts.get(id) == counts:
            return
        self.drop(id)
        self._counts[id] = counts
        for term, count in counts.items():
            self._postings.setdefault(term, {})[id] = count
        self._changed()

    def drop(self, id: str) -> None:
        """Forget the document, and every term that only it had. An unknown id is no error."""
        if id not in self._counts:
            return
        for term in self._counts.pop(id):
            del self._postings[term][id]
            if not self._postings[term]:
                del self._postings[term]
        self._changed()

    def __len__(self) -> int:
        return len(self._counts)

    def __contains__(self, id: object) -> bool:
        return id in self._counts

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def df(self, term: str) -> int:
        """Return in how many documents the term occurs."""
        return len(self.postings(term))

    def postings(self, term: str) -> Mapping[str, int]:
        """Return how often the term occurs in each document that has it; read it, do not keep it."""
        return self._postings.get(term, {})

    def counts(self, id: str) -> Mapping[str, int]:
        """Return how often each term occurs in one document; empty for an unknown id. Read it, do not keep it."""
        return self._counts.get(id, {})

    def norms(self, visible: frozenset[object]) -> dict[str, float]:
        """Return the norms known so far in this visible set (the stamps of its partitions), for `search` to fill; old sets are let go."""
        if visible not in self._norms:
            while len(self._norms) >= VISIBLE_SETS:
                del self._norms[next(iter(self._norms))]
            self._norms[visible] = {}
        return self._norms[visible]

    def _changed(self) -> None:
        self._norms.clear()
        self.stamp = object()


class Weights(dict[str, float]):
    """How much each term says, seen from the given partitions together: `ln((1 + n) / (1 + df)) + 1`, worked out when first asked for.

    1 for a term that every visible document has, more for a rarer one. Made for one search, because every change moves it.

    >>> here = Partition()
    >>> here.put("m1", "cache"); here.put("m2", "cache timeout")
    >>> weights = Weights([here])
    >>> round(weights["cach"], 4), round(weights["timeout"], 4)
    (1.0, 1.4055)
    """

    def __init__(self, partitions: Sequence[Partition]) -> None:
        super().__init__()
        self.partitions = partitions
        self.documents = sum(len(partition) for partition in partitions)

    def __missing__(self, term: str) -> float:
        self[term] = idf = log((1 + self.documents) / (1 + self.df(term))) + 1
        return idf

    def df(self, term: str) -> int:
        """Return in how many of the visible documents the term occurs."""
        return sum([len(partition._postings.get(term, ())) for partition in self.partitions])  # the hot line after a change

    def norm(self, counts: Mapping[str, int]) -> float:
        """Return the Euclidean length of a document or query; `fsum` makes it independent of the order of its terms."""
        return sqrt(fsum([(weight := count * self[term]) * weight for term, count in counts.items()]))


def search(partitions: Sequence[Partition], query: str) -> list[Scored]:
    """Return the documents of the given partitions that share a term with the query, best first.

    The score is the cosine of TF-IDF vectors. Query terms that no given partition knows are ignored, as scikit-learn ignores them. Equal
    scores, compared to twelve digits, are ordered by id; so the list depends on the present documents alone, never on how they came.

    >>> shop, mine = Partition(), Partition()
    >>> shop.put("m1", "deploy on Friday"); shop.put("m2", "the cache timeout is 30 s"); mine.put("m3", "cache nothing")
    >>> [(hit.id, round(hit.score, 3)) for hit in search([shop, mine], "What is the cache timeout?")]
    [('m2', 0.782), ('m3', 0.366)]
    >>> [(term, round(gain, 3)) for term, gain in search([shop, mine], "cache timeout")[0].parts]
    [('cach', 0.287), ('timeout', 0.496)]
    >>> search([shop], "what is it?")
    []
    """
    weights = Weights(partitions)
    counts = {term: count for term, count in Counter(analyze(query)).items() if weights.df(term)}
    length = weights.norm(counts)
    wanted = {term: counts[term] * weights[term] ** 2 / length for term in sorted(counts)}
    visible = frozenset(partition.stamp for partition in partitions)
    hits = [hit for partition in partitions for hit in _score(partition, wanted, weights, partition.norms(visible))]
    return sorted(hits, key=lambda hit: (-round(hit.score, 12), hit.id))


def _score(partition: Partition, wanted: Mapping[str, float], weights: Weights, norms: dict[str, float]) -> Iterator[Scored]:
    """Yield the documents of one partition that have a wanted term. `wanted` is what one occurrence gives before division by the norm."""
    touched: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for term, gain in wanted.items():
        for id, count in partition.postings(term).items():
            touched[id].append((term, count * gain))
    for id, gains in touched.items():
        norm = norms.get(id) or norms.setdefault(id, weights.norm(partition.counts(id)))
        parts = tuple([(term, gain / norm) for term, gain in gains])
        yield Scored(id, fsum([gain for _, gain in parts]), parts)
