"""Signals that compare directions in a space: latent semantic analysis, and a small embedding that comes inside a package.

Both are optional (scikit-learn; wordllama) and read every visible row once; what they work out is kept as long as the view lives. The
model's two files are read where the package put them: nothing is downloaded, and none of the package's own code runs. Left out:
approximate search; at the sizes this signal is for, one product of a matrix and a vector is faster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from memkit.errors import Refused
from memkit.read.index import Floats, Found, View
from memkit.read.signals import Texts, collapsed

TOPICS = 100  # dimensions of the latent space, fewer where there are fewer rows or terms


class Space(Protocol):
    """Rows as directions, and the way a question gets there."""

    rows: Floats

    def place(self, question: str, terms: Mapping[str, int]) -> Floats: ...


def latent(view: View, question: str, terms: Mapping[str, int]) -> Found:
    """Score rows by the cosine in the space of latent topics (Deerwester and others 1990), found by scikit-learn's TruncatedSVD.

    Raises Refused where scikit-learn is not installed.
    """
    return _nearest("latent", view, _latent_of.get(view) or _latent_of.setdefault(view, Latent(view)), question, terms)


def embedding(view: View, question: str, texts: Texts) -> Found:
    """Score rows by the cosine of word vectors, summed with more weight on rarer pieces (Arora and others 2017).

    Raises Refused where wordllama is not installed.
    """
    return _nearest("embedding", view, _embedded.get(view) or _embedded.setdefault(view, Embedded(texts())), question, {})


def _nearest(name: str, view: View, space: Space, question: str, terms: Mapping[str, int]) -> Found:
    scores = space.rows @ space.place(question, terms)
    rows = np.flatnonzero(scores > 0).astype(np.int64)
    return collapsed(name, view, rows, scores[rows].astype(np.float64))


class Latent:
    """The rows of a view in the space of their latent topics."""

    def __init__(self, view: View) -> None:
        decomposition, sparse = _installed("sklearn.decomposition", "course"), _installed("scipy.sparse", "course")
        self.columns = {term: at for at, term in enumerate(sorted(view.terms()))}
        self.weights = np.array([view.idf(term) for term in self.columns])
        found = [view.postings(term) for term in self.columns]
        rows, counts = (np.concatenate([pair[side] for pair in found] or [np.zeros(0, np.int64)]) for side in (0, 1))
        columns = np.repeat(np.arange(len(found)), [len(pair[0]) for pair in found])
        matrix = sparse.csr_matrix(((1 + np.log(counts)) * self.weights[columns], (rows, columns)), (view.size, len(found)))
        kept = min(TOPICS, view.size, len(found)) if min(view.size, len(found)) > 1 else 0
        by_id = sorted(range(view.size), key=view.id)  # whatever row each has, or rebuilding would find other topics
        fitted = decomposition.TruncatedSVD(kept, random_state=0).fit(matrix[by_id]) if kept else None
        self.topics: Floats = fitted.components_ if fitted else np.zeros((0, len(found)))
        self.rows = _directions(matrix @ self.topics.T)

    def place(self, question: str, terms: Mapping[str, int]) -> Floats:
        vector = np.zeros(len(self.columns))
        for term, count in terms.items():
            if (at := self.columns.get(term)) is not None:
                vector[at] = (1 + np.log(count)) * self.weights[at]
        place: Floats = _directions((self.topics @ vector)[None, :])[0]
        return place


class Embedded:
    """Texts as sums of the vectors of their pieces."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.model = packaged()
        pieces = self.model.pieces(texts)
        seen = Counter(piece for found in pieces for piece in set(found))
        df = np.bincount(list(seen), list(seen.values()), len(self.model.vectors)) if seen else np.zeros(len(self.model.vectors))
        self.weights = np.log((1 + len(texts)) / (1 + df)) + 1e-3  # a piece that every text has says nearly nothing
        self.rows = self._summed(pieces)

    def place(self, question: str, terms: Mapping[str, int]) -> Floats:
        place: Floats = self._summed(self.model.pieces([question]))[0]
        return place

    def _summed(self, pieces: Sequence[list[int]]) -> Floats:
        return _directions(np.array([self.weights[found] @ self.model.vectors[found] for found in pieces]))


class Tokenizer(Protocol):
    """What is used of `tokenizers.Tokenizer`."""

    def encode_batch(self, texts: Sequence[str], *, add_special_tokens: bool) -> Sequence[Encoding]: ...


class Encoding(Protocol):
    """What is used of `tokenizers.Encoding`: the numbers of the pieces."""

    ids: list[int]


@dataclass(frozen=True, slots=True)
class Model:
    """A vector for each piece of a word, and what cuts texts into pieces."""

    vectors: NDArray[np.float32]
    tokenizer: Tokenizer

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the numbers of the pieces of each text."""
        return [found.ids for found in self.tokenizer.encode_batch(list(texts), add_special_tokens=False)]


@lru_cache(maxsize=1)
def packaged() -> Model:
    """Load the model that comes inside the package wordllama: 32,000 pieces, 256 numbers each, 19 MB."""
    home = find_spec("wordllama")
    if home is None or home.origin is None:
        raise _missing("wordllama", "embedding")
    weights = _only(Path(home.origin).parent.glob("weights/*_256.safetensors"))
    words = _only(Path(home.origin).parent.glob("tokenizer*/*.json"))
    tables = _installed("safetensors.numpy", "embedding").load_file(weights)
    (vectors,) = tables.values()
    tokenizer = _installed("tokenizers", "embedding").Tokenizer.from_file(str(words))
    return Model(vectors.astype(np.float32), tokenizer)


def _only(files: Iterator[Path]) -> Path:
    for file in files:
        return file
    raise _missing("the model's files inside wordllama", "embedding")


def _installed(module: str, extra: str) -> ModuleType:
    if find_spec(module.partition(".")[0]) is None:
        raise _missing(module.partition(".")[0], extra)
    return import_module(module)


def _missing(what: str, extra: str) -> Refused:
    return Refused("NOT_INSTALLED", f"this recipe needs {what}, which is not installed; run: pip install 'memkit[{extra}]'")


def _directions(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


_latent_of: WeakKeyDictionary[View, Latent] = WeakKeyDictionary()
_embedded: WeakKeyDictionary[View, Embedded] = WeakKeyDictionary()
