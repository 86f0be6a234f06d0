"""Signals: pure functions from a view and a question to rows and scores between 0 and 1, each with what gave them.

BM25 and names look at terms and cost the postings they touch; characters read every row once and keep what they counted as long as the
view lives. Left out: TF-IDF (`index.py`), what needs a matrix or a model (`dense.py`), and how signals are put together (`rank.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from memkit.read.analyze import is_character, is_pair
from memkit.read.index import DIGITS, Floats, Found, Ints, View
from memkit.record.text import fold

SATURATION, EVENNESS = 1.2, 0.75  # k1 and b of BM25, at the values everybody uses
GRAM = 4  # characters in a group

Texts = Callable[[], Sequence[str]]  # what each row of the view says, asked for only by signals that must read it


def bm25(view: View, terms: Mapping[str, int]) -> Found:
    """Score rows by BM25 (Robertson and Zaragoza 2009) as a share of what a row could get at most, so that 0.5 means the same everywhere.

    A term that no row has counts in that most: a question of which little is known gets low scores.

    >>> from memkit.read.index import Document, Partition
    >>> shop = Partition()
    >>> shop.put(Document("m1"), "the cache timeout is 30 s"); shop.put(Document("m2"), "deploy on Friday")
    >>> bm25(View([shop]), {"cach": 1, "deploy": 1}).scores.round(3).tolist()
    [0.21, 0.248]
    >>> bm25(View([shop]), {"cach": 1, "zebra": 1}).scores.round(3).tolist()
    [0.117]
    """
    weights = {term: surprise(view, term) for term in sorted(terms)}
    most = sum(weights.values()) or 1.0
    typical = max(float(view.lengths.mean()), 1.0) if view.size else 1.0
    gains = []
    for term, weight in weights.items():
        rows, counts = view.postings(term)
        room = SATURATION * (1 - EVENNESS + EVENNESS * view.lengths[rows] / typical)
        gains.append((term, rows, counts / (counts + room) * (weight / most)))
    return added(view, gains)


def surprise(view: View, term: str, prior: float = 0.5) -> float:
    """Return how much a term tells rows apart: `ln(1 + (size - df + prior) / (df + prior))`; least for one that every row has.

    `prior` is how many rows are imagined beforehand to have the term, and how many not to.
    """
    df = view.df(term)
    return log(1 + (view.size - df + prior) / (df + prior))


def coverage(view: View, terms: Mapping[str, int]) -> float:
    """Return the largest share of the question's weight that one row has, 0 to 1: how much of it somebody wrote anything about.

    Two Chinese characters and their pair are about one word, so together they weigh as one (2/5 each, and 1/5): in a mixed question a
    name in Latin letters, which is one term, counts as a word beside the many characters around it.

    >>> from memkit.read.index import Document, Partition
    >>> shop = Partition()
    >>> shop.put(Document("m1"), "the cache timeout is 30 s")
    >>> coverage(View([shop]), {"cach": 1, "timeout": 1}), round(coverage(View([shop]), {"cach": 1, "zebra": 1}), 3)
    (1.0, 0.435)
    """
    # in a small store absence says little, hence the prior
    weights = {term: surprise(view, term, prior=5.0) * share_of_word(term) for term in sorted(terms)}
    total = np.zeros(view.size)
    for term, weight in weights.items():
        total[view.postings(term)[0]] += weight
    return float(total.max(initial=0.0)) / (sum(weights.values()) or 1.0)


def share_of_word(term: str) -> float:
    """Return how much of a word a term is.

    >>> share_of_word("redis"), share_of_word("缓"), share_of_word("缓存")
    (1.0, 0.4, 0.2)
    """
    return 0.2 if is_pair(term) else 0.4 if is_character(term) else 1.0


def names(view: View, terms: Mapping[str, int]) -> Found:
    """Score rows by the share of the question's identifiers (paths, versions, numbers, addresses) that they have whole.

    >>> from memkit.read.index import Document, Partition
    >>> shop = Partition()
    >>> shop.put(Document("m1"), "src/app.py needs v1.2"); shop.put(Document("m2"), "app needs two")
    >>> found = names(View([shop]), {"src/app.py": 1, "app": 1, "v1.2": 1})
    >>> found.rows.tolist(), found.scores.tolist()
    ([0], [1.0])
    """
    wanted = [term for term in sorted(terms) if len(term) > 1 and not term.isalpha()]
    found = [(term, view.postings(term)[0]) for term in wanted]
    return added(view, [(term, rows, np.full(len(rows), 1 / len(wanted))) for term, rows in found])


def characters(view: View, question: str, texts: Texts) -> Found:
    """Score rows by the cosine of TF-IDF over groups of four characters, inside words and across their edges.

    Finds other forms of a word, compounds and most misspellings, in any script (McNamee and Mayfield 2004).
    """
    grams = _grams_of.get(view) or _grams_of.setdefault(view, Grams(texts()))
    return collapsed("characters", view, *grams.cosines(question))


class Grams:
    """Texts as counts of their groups of characters.

    >>> rows, scores = Grams(["misspelling", "deployment"]).cosines("mispelling")
    >>> rows.tolist(), scores.round(2).tolist()
    ([0], [0.84])
    """

    def __init__(self, texts: Sequence[str]) -> None:
        postings: dict[str, list[tuple[int, int]]] = {}
        for row, text in enumerate(texts):
            for gram, count in _grams(text).items():
                postings.setdefault(gram, []).append((row, count))
        self.size = len(texts)
        self.weights = {gram: log((1 + self.size) / (1 + len(found))) + 1 for gram, found in postings.items()}
        self.postings: dict[str, NDArray[np.int64]] = {gram: np.array(found).T for gram, found in postings.items()}
        squares = np.zeros(self.size)
        for gram, (rows, counts) in sorted(self.postings.items()):  # subtle: sums depend on their order, and this one on no row's place
            squares[rows] += ((1 + np.log(counts)) * self.weights[gram]) ** 2
        self.norms = np.sqrt(squares)

    def cosines(self, question: str) -> tuple[Ints, Floats]:
        """Return the rows that share a group with the question, and the cosine of each."""
        wanted = {gram: (1 + log(n)) * self.weights[gram] for gram, n in sorted(_grams(question).items()) if gram in self.weights}
        total = np.zeros(self.size)
        for gram, weight in wanted.items():
            rows, counts = self.postings[gram]
            total[rows] += (1 + np.log(counts)) * self.weights[gram] * weight
        rows = np.flatnonzero(total)
        return rows.astype(np.int64), total[rows] / (self.norms[rows] * sqrt(sum(weight**2 for weight in wanted.values())))


_grams_of: WeakKeyDictionary[View, Grams] = WeakKeyDictionary()  # goes with the view, and so never outlives what it was made of


def _grams(text: str) -> Counter[str]:
    """Return the groups of each word, which is marked at both ends: cache gives " cac", "cach", "ache" and "che "."""
    words = [f" {word} " for word in fold(text).text.casefold().split()]
    return Counter(word[at : at + GRAM] for word in words for at in range(max(len(word) - GRAM + 1, 1)))


def added(view: View, gains: Sequence[tuple[str, Ints, Floats]]) -> Found:
    """Return the rows of some gains with their sums."""
    total = np.zeros(view.size)
    for _, rows, gained in gains:
        total[rows] += gained
    rows = np.flatnonzero(total).astype(np.int64)
    return Found(rows, np.round(total[rows], DIGITS), gains)


def collapsed(name: str, view: View, rows: Ints, scores: Floats) -> Found:
    """Return a signal that has one part, written in brackets because no term has any, and without the digits that do not count."""
    return added(view, [(f"({name})", rows, np.round(scores, DIGITS))])
