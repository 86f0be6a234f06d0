"""Other ways to keep texts and find them again, each behind one call, for `memkit bench` to stand beside.

A peer is given rows of (scope, key, text) and the scope that will be asked, and returns a function from a query to the best keys. Those
that compare vectors share one tiny embedder, so that none is slow because of a model. Left out: how good the answers are (`memkit eval`).
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType, SimpleNamespace

import numpy as np

from memkit.errors import MemkitError
from memkit.read.analyze import analyze

MOST = 10  # keys that are asked for
WIDTH = 64  # numbers in a vector

Rows = Sequence[tuple[str, str, str]]
Ask = Callable[[str], list[str]]


class Missing(MemkitError):
    """A peer that is not installed."""


def embedded(text: str) -> list[float]:
    """Return a vector of length 1: each term adds to one of 64 places, by its checksum.

    >>> len(embedded("cache timeout")), round(sum(x * x for x in embedded("cache timeout")), 3)
    (64, 1.0)
    """
    vector = np.zeros(WIDTH)
    vector[0] = 1e-6
    for term in analyze(text):
        vector[zlib.crc32(term.encode("utf-8", "surrogatepass")) % WIDTH] += 1
    return [float(x) for x in vector / np.linalg.norm(vector)]


def fts5(rows: Rows, scope: str) -> Ask:
    """SQLite's full-text index with the scope as a column of it and in every query, best first by its BM25.

    >>> fts5([("a", "k1", "cache timeout"), ("b", "k2", "cache")], "a")("the cache")
    ['k1']
    """
    connection = sqlite3.connect(":memory:")
    connection.execute("create virtual table found using fts5(scope, key unindexed, text, tokenize='porter unicode61')")
    connection.executemany("insert into found values (?, ?, ?)", [(_word(where), key, text) for where, key, text in rows])

    def ask(query: str) -> list[str]:
        words = " OR ".join('"' + word.replace('"', '""') + '"' for word in query.split())
        match = f'scope : "{_word(scope)}" AND text : ({words})'
        return [key for (key,) in connection.execute("select key from found where found match ? order by rank limit ?", (match, MOST))]

    return ask


def bm25s(rows: Rows, scope: str) -> Ask:
    """The library bm25s over all rows, with a mask that leaves one scope."""
    library = _library("bm25s")
    kept = library.BM25()
    kept.index(library.tokenize([text for _, _, text in rows], show_progress=False), show_progress=False)
    mask = np.array([where == scope for where, _, _ in rows], np.float32)

    def ask(query: str) -> list[str]:
        words = library.tokenize(query, show_progress=False)
        found, scores = kept.retrieve(words, k=min(MOST, len(rows)), weight_mask=mask, show_progress=False)
        return [rows[at][1] for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    return ask


def langgraph(rows: Rows, scope: str) -> Ask:
    """LangGraph's SqliteStore with its vector search."""
    library = _library("langgraph.store.sqlite", "langgraph-checkpoint-sqlite")
    index = {"dims": WIDTH, "embed": lambda texts: [embedded(text) for text in texts], "fields": ["text"]}
    store = library.SqliteStore(_loadable().connect(":memory:", isolation_level=None, check_same_thread=False), index=index)
    store.setup()
    puts = [_library("langgraph.store.base", "langgraph").PutOp((where,), key, {"text": text}) for where, key, text in rows]
    for at in range(0, len(puts), 500):
        store.batch(puts[at : at + 500])
    return lambda query: [item.key for item in store.search((scope,), query=query, limit=MOST)]


def chromadb(rows: Rows, scope: str) -> Ask:
    """A collection of chromadb in memory, with the scope as metadata that every query names."""
    library = _library("chromadb")
    settings = _library("chromadb.config", "chromadb").Settings(anonymized_telemetry=False)
    collection = library.EphemeralClient(settings).get_or_create_collection("bench", embedding_function=None)
    for at in range(0, len(rows), 1_000):
        part = rows[at : at + 1_000]
        scopes, keys, texts = (list(column) for column in zip(*part, strict=True))
        metadata = [{"scope": where} for where in scopes]
        collection.upsert(ids=keys, documents=texts, embeddings=[embedded(text) for text in texts], metadatas=metadata)

    def ask(query: str) -> list[str]:
        found = collection.query(query_embeddings=[embedded(query)], n_results=MOST, where={"scope": scope})
        return [str(key) for key in found["ids"][0]]

    return ask


def mem0(rows: Rows, scope: str) -> Ask:
    """Memories of mem0 that are added as they are, without a model, and searched for one user."""
    os.environ.setdefault("MEM0_TELEMETRY", "False")
    library = _library("mem0", "mem0ai")
    config = {
        "embedder": {"provider": "openai", "config": {"api_key": "none"}},
        "vector_store": {"provider": "qdrant", "config": {"embedding_model_dims": WIDTH, "path": tempfile.mkdtemp()}},
        "llm": {"provider": "openai", "config": {"api_key": "none"}},
        "history_db_path": ":memory:",
    }
    memory = library.Memory.from_config(config)
    memory.embedding_model = _Tiny()
    for where, key, text in rows:
        memory.add(text, user_id=where, metadata={"key": key}, infer=False)

    def ask(query: str) -> list[str]:
        found = memory.search(query, filters={"user_id": scope}, top_k=MOST)
        return [str(item["metadata"]["key"]) for item in found["results"]]

    return ask


class _Tiny:
    """The shared embedder, with the methods that mem0 calls."""

    config = SimpleNamespace(embedding_dims=WIDTH)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return embedded(text)

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [embedded(text) for text in texts]


def _loadable() -> ModuleType:
    """Return a module sqlite3 that can load extensions, which LangGraph's vector search is; some builds of Python leave that out."""
    return sqlite3 if hasattr(sqlite3.Connection, "enable_load_extension") else _library("pysqlite3", "pysqlite3-binary")


def _word(scope: str) -> str:
    """Write a scope as one word that a full-text index keeps whole."""
    return "s" + scope.encode("utf-8", "surrogatepass").hex()


def _library(module: str, package: str | None = None) -> ModuleType:
    """Import a peer; raises Missing with the way to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise Missing(f"{package or module} is not installed here: pip install 'memkit[bench]'") from None
