"""What `memkit bench` measures of size: search beside its rivals, growth, memory, and what verification adds.

The rivals are in `peers.py`; one that is not installed gives a row that says so. Rows of search compare ranking alone; rows named
`recall-...` compare a whole verified recall, evidence read again, with what the other calls a search. Both are measured warm.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import quantiles

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]

import memkit
from memkit.lab import bench_read, peers
from memkit.lab.measure import Row, Sizes, alternate, speed
from memkit.read.analyze import analyze
from memkit.read.index import Document, Partition, tfidf
from memkit.record.model import Check

SOURCES = 200  # files that a thousand memories cite


def search(sizes: Sizes) -> list[Row]:
    """Compare ranking in one of a hundred scopes, and in one large one, with bm25s and FTS5 over ten times the usual memories."""
    rows = []
    for name, scopes in (("search", 100), ("search-one-scope", 1)):
        many = replace(sizes, memories=sizes.memories * 10, scopes=scopes)
        with bench_read.filled(many) as kit:
            ours, stored = _ranked(kit), _stored(many)
            for peer, target in ((peers.bm25s, "at least 1" if scopes > 1 else "at least 0.33"), (peers.fts5, "at least 10")):
                if peer is peers.bm25s or scopes > 1:
                    rows.append(_beside(f"{name}-{peer.__name__}", "rank in one scope", ours, (peer, stored, target), many))
    return rows


def add_large(sizes: Sizes) -> list[Row]:
    """Do what `add-then-query` does with ten times the memories in a hundred scopes."""
    return bench_read.add_then_query(replace(sizes, memories=sizes.memories * 10, scopes=100), "add-large", "at least 500")


def recall_peers(sizes: Sizes) -> list[Row]:
    """Compare a whole verified recall with what stores for agents call a search: in one scope of the usual size, and in one of several."""
    compared = ((peers.langgraph, "at least 4"), (peers.chromadb, "at least 8"), (peers.mem0, "at least 50"))
    rows = []
    for name, scopes in (("recall", 1), ("recall-one-of-ten", 10)):
        some = replace(sizes, scopes=scopes)
        with bench_read.filled(some) as kit:
            stored = _stored(some)
            for peer, target in compared:
                others = (peer, stored, target if scopes == 1 else "")
                what = f"recall in a scope of {some.memories // scopes:,}"
                rows.append(_beside(f"{name}-{peer.__name__}", what, partial(bench_read.ask, kit), others, some))
    return rows


def growth(sizes: Sizes) -> list[Row]:
    """Compare recall in a scope of a thousand in larger and larger stores with the same in a store that has only that scope."""
    return [row for times in (1, 10, 100) for row in _growth(sizes, times * 1_000)]


def growth_million(sizes: Sizes) -> list[Row]:
    """Do the same with a million memories in a thousand scopes."""
    return _growth(sizes, 1_000_000)


def memory(sizes: Sizes) -> list[Row]:
    """Compare the bytes that a document takes in the index with those of scikit-learn's matrix and vocabulary, over the same terms."""
    texts = [bench_read.sentence(number) for number in range(sizes.memories)]

    def index() -> object:
        partition = Partition()
        for number, text in enumerate(texts):
            partition.put(Document(f"m-{number:016x}", f"fact-{number}", number, 30), text)
        return partition

    def matrix() -> object:
        vectorizer = TfidfVectorizer(analyzer=analyze)
        return vectorizer, vectorizer.fit_transform(texts)

    pair = (_bytes(index) / len(texts), _bytes(matrix) / len(texts))
    what = "scikit-learn's matrix, which cannot be added to"
    return [
        Row("index-memory", "a document in the index, its id and key", what, "bytes", (pair,), speed([pair]), "", None, _counted(sizes))
    ]


def verification(sizes: Sizes) -> list[Row]:
    """Compare the check of memories that share files with reading and hashing those files, and a recall with a check of all."""
    count = min(1_000, sizes.memories)
    with tempfile.TemporaryDirectory() as folder, memkit.open(root=folder) as kit:
        files = [Path(folder, f"{at}.cfg") for at in range(SOURCES)]
        for at, file in enumerate(files):
            file.write_text("\n".join(f"k{number} = {number}" for number in range(at, 100 * SOURCES, SOURCES)), encoding="utf-8")
        for number in range(count):
            text = f"{bench_read.sentence(number)} k{number} = {number}"
            kit.learn(f"fact-{number}", text, scope=bench_read.scope(0), cite=f"{number % SOURCES}.cfg#key=k{number}")

        def hashed(_: int) -> list[str]:
            return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]

        def checked(_: int) -> list[Check]:
            return kit.check(scope=bench_read.scope(0))

        def recalled(number: int) -> list[str]:
            return bench_read.ask(kit, bench_read.question(number))

        bare = alternate(checked, hashed, rounds=sizes.rounds, each=sizes.each)
        lazy = alternate(recalled, checked, rounds=sizes.rounds, each=sizes.each)
    raw = {"memories": float(count), "sources": float(SOURCES)}
    return [
        Row("check", "check every visible memory", "read and hash every file they cite", "s", bare, speed(bare), "", None, raw),
        Row("recall-verifies", "recall ten, verified", "check every visible memory", "s", lazy, speed(lazy), "", None, raw),
    ]


def _growth(sizes: Sizes, memories: int) -> list[Row]:
    many = replace(sizes, memories=memories, scopes=memories // 1_000)
    with bench_read.filled(replace(many, memories=1_000, scopes=1)) as small, bench_read.filled(many) as large:
        begin = time.perf_counter()
        bench_read.ask(large, bench_read.question(-1))
        raw = _counted(many) | {"first_recall_seconds": time.perf_counter() - begin}
        bench_read.ask(small, bench_read.question(-1))
        times: list[float] = []

        def ours(number: int) -> None:
            began = time.perf_counter()
            bench_read.ask(large, bench_read.question(number))
            times.append(time.perf_counter() - began)

        rounds = alternate(
            ours, lambda number: bench_read.ask(small, bench_read.question(number)), rounds=sizes.rounds, each=10 * sizes.each
        )
    raw |= {f"p{at}_seconds": quantiles(times, n=100, method="inclusive")[at - 1] for at in (50, 99)}
    what = "the same scope in a store of its own"
    return [Row(f"growth-{memories}", "recall in a scope of 1,000", what, "s", rounds, speed(rounds), "at least 0.5", None, raw)]


def _ranked(kit: memkit.Kit) -> peers.Ask:
    """Return a function that ranks a scope by exact TF-IDF and reads no memory."""
    scopes = bench_read.scope(0).visible(kit.principal)

    def ask(query: str) -> list[str]:
        with kit.db.read() as tx:
            view = kit._index.view(tx, scopes)
            found = tfidf(view, Counter(analyze(query)))
        best = np.argpartition(-found.scores, peers.MOST)[: peers.MOST] if len(found.rows) > peers.MOST else np.arange(len(found.rows))
        top = best[np.argsort(-found.scores[best])]
        return [view.documents[row].key for row in found.rows[top].tolist()]

    return ask


def _beside(
    name: str, what: str, ours: peers.Ask, other: tuple[Callable[[peers.Rows, str], peers.Ask], peers.Rows, str], sizes: Sizes
) -> Row:
    """Return the row of one peer, or one that says that it is not here."""
    peer, stored, target = other
    try:
        theirs = peer(stored, stored[0][0])
    except peers.Missing as missing:
        return Row(name, what, str(missing), "s", (), 0.0, target, None, _counted(sizes))
    for warm in (ours, theirs):
        warm(bench_read.question(-1))
    rounds = alternate(
        lambda number: ours(bench_read.question(number)),
        lambda number: theirs(bench_read.question(number)),
        rounds=sizes.rounds,
        each=20 * sizes.each,
        in_a_row=10,
    )
    return Row(name, what, f"{peer.__name__} search", "s", rounds, speed(rounds), target, None, _counted(sizes))


def _stored(sizes: Sizes) -> peers.Rows:
    numbers = range(sizes.memories)
    return [(f"shop-{number % sizes.scopes}", f"fact-{number}", bench_read.sentence(number)) for number in numbers]


def _bytes(build: Callable[[], object]) -> float:
    build()  # so that what is remembered of words anyway is not counted
    tracemalloc.start()
    built = build()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del built
    return float(size)


def _counted(sizes: Sizes) -> dict[str, float]:
    return {"memories": sizes.memories, "scopes": sizes.scopes, "visible": sizes.memories // sizes.scopes}
