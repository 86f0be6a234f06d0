"""What `memkit bench` measures of reading: the import, recall against a naive refit, and a question asked right after a write.

The naive way, which much code has, fits scikit-learn's TfidfVectorizer on the whole store for every question. It is measured with
scikit-learn's own tokenizer and with memkit's terms. A third row fits on the visible memories alone, which is the very ranking that
recall promises: there the two must agree, id by id.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import memkit
from memkit.lab.measure import Round, Row, Sizes, alternate, speed
from memkit.read.analyze import analyze

try:
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
except ImportError:
    raise memkit.MemkitError("memkit bench compares with scikit-learn, which is not here: pip install 'memkit[bench]'") from None

MOST = 10  # memories asked for
BUDGET = 2_000  # tokens
_CHINESE = "超时 重试 部署 缓存 数据库 迁移 支付 日志 回滚 配置".split()  # noqa: SIM905
_SYLLABLES = "ba do fe gi ju ka lo me ni pu ra so te vi wu ya zo che".split()  # noqa: SIM905
_WORDS = ["".join(parts) for parts in itertools.product(_SYLLABLES, repeat=3)]
_FREQUENCIES = list(itertools.accumulate(1 / (10 + rank) for rank in range(len(_WORDS))))  # Zipf's law, without the commonest words
_STARTS = "import time; begin = time.perf_counter(); {}; print(time.perf_counter() - begin)"

Tokenizer = Callable[[str], Sequence[str]] | str


def imports(sizes: Sizes) -> list[Row]:
    """Compare the time of importing memkit with that of sqlite-utils, which it stands on, each in fresh processes, best of several."""
    statements = ("import memkit", "import sqlite_utils", "import memkit; memkit.open")
    tries = [[_seconds(statement) for statement in statements] for _ in range(sizes.starts)]
    light, below, used = (min(times) for times in zip(*tries, strict=True))
    return [
        _import_row("import", statements[0], (light, below), sizes, "at least 0.77"),
        _import_row("import-and-use", statements[2], (used, below), sizes, ""),
    ]


def recall(sizes: Sizes) -> list[Row]:
    """Compare recall in one of the scopes with a refit for every question."""
    with filled(sizes) as kit:
        store = _contents(kit, range(sizes.scopes))
        begin = time.perf_counter()
        ask(kit, question(-1))
        raw = _sizes(sizes) | {"first_recall_seconds": time.perf_counter() - begin}
        visible = _contents(kit, [0])
        compare: list[tuple[str, dict[str, str], Tokenizer, str]] = [
            ("recall", store, "word", "refit per query on the whole store, scikit-learn's own tokenizer"),
            ("recall-same-terms", store, analyze, "refit per query on the whole store, memkit's terms"),
            ("recall-visible", visible, analyze, "refit per query on the visible memories alone, memkit's terms"),
        ]
        return [_recall_row(kit, sizes, raw, name=name, rows=rows, terms=terms, what=what) for name, rows, terms, what in compare]


def add_then_query(sizes: Sizes, name: str = "add-then-query", target: str = "") -> list[Row]:
    """Compare one more memory and a question right after it, index followed and never rebuilt, with a refit: both must find it first.

    Measured warm, a few of each side in a row.
    """
    found: list[tuple[list[str], list[str]]] = []
    with filled(sizes) as kit:
        store = _contents(kit, range(sizes.scopes))
        ask(kit, question(-1))

        def ours(number: int) -> None:
            kit.remember(f"new-{number}", f"novelty{number} {question(number)}", scope=scope(0))
            found.append((ask(kit, f"novelty{number}")[:1], [f"new-{number}"]))

        def theirs(number: int) -> None:
            store[f"new-{number}"] = f"novelty{number} {question(number)}"
            found.append((refit(store, f"novelty{number}", "word")[:1], [f"new-{number}"]))

        rounds = alternate(ours, theirs, rounds=sizes.rounds, each=sizes.each, in_a_row=sizes.each)
    what = "one more text, then a refit on the whole store, scikit-learn's own tokenizer"
    agree = all(got == expected for got, expected in found)
    return [Row(name, "remember one, then recall", what, "s", rounds, speed(rounds), target, agree, _sizes(sizes))]


def refit(rows: dict[str, str], query: str, terms: Tokenizer) -> list[str]:
    """Return the keys of the texts that match best, as a fresh fit on all of them ranks them; equal scores in order of memkit's ids.

    >>> refit({"a": "cache timeout", "b": "deploy on Friday"}, "timeout", analyze)
    ['a']
    """
    vectorizer = TfidfVectorizer(analyzer=terms)
    matrix = vectorizer.fit_transform(rows.values())
    scores = (matrix @ vectorizer.transform([query]).T).toarray().ravel()
    ranked = sorted((-round(float(score), 12), _id(key), key) for key, score in zip(rows, scores, strict=True) if score > 0)
    return [key for _, _, key in ranked[:MOST]]


def _id(key: str) -> str:
    return memkit.record.store.memory_id("local", scope(0).stored(memkit.Principal()), key)


def _recall_row(
    kit: memkit.Kit, sizes: Sizes, raw: dict[str, float], *, name: str, rows: dict[str, str], terms: Tokenizer, what: str
) -> Row:
    answers: dict[int, list[list[str]]] = {}

    def ours(number: int) -> None:
        answers.setdefault(number, []).append(ask(kit, question(number)))

    def theirs(number: int) -> None:
        answers.setdefault(number, []).append(refit(rows, question(number), terms))

    rounds = alternate(ours, theirs, rounds=sizes.rounds, each=sizes.each)
    agree = all(one == other for one, other in answers.values()) if name == "recall-visible" else None
    return Row(name, "recall in one of the scopes", what, "s", rounds, speed(rounds), "", agree, raw)


def _import_row(name: str, statement: str, best: Round, sizes: Sizes, target: str) -> Row:
    what = "import sqlite_utils"
    return Row(name, statement, what, "s", (best,), speed([best]), target, None, {"fresh_processes": sizes.starts})


def _seconds(statement: str) -> float:
    """Return how long a statement takes at the start of a fresh Python."""
    done = subprocess.run([sys.executable, "-c", _STARTS.format(statement)], check=True, capture_output=True, text=True)
    return float(done.stdout)


def scope(number: int) -> memkit.Scope:
    """Return one of the scopes."""
    return memkit.Scope(workspace=f"shop-{number}")


def filled(sizes: Sizes) -> memkit.Kit:
    """Return a store in memory with the same memories every time, spread evenly over the scopes: one is told, the others are its copies."""
    kit = memkit.open()
    kit.remember("fact-0", sentence(0), scope=scope(0))
    with kit.db.write() as tx:
        columns = [name for _, name, *_ in tx.execute("pragma table_info(revision)").fetchall()]
        copied = ", ".join({"seq": "null", "scope": "?", "key": "?", "content": "?"}.get(name, name) for name in columns)
        scopes = [scope(number).stored(kit.principal) for number in range(sizes.scopes)]
        rows = ((scopes[number % sizes.scopes], f"fact-{number}", sentence(number)) for number in range(1, sizes.memories))
        tx.conn.executemany(f"insert into revision select {copied} from revision where seq = 1", rows)
    return kit


def sentence(number: int) -> str:
    """Return the content of one of the memories."""
    return _sentence(random.Random(number), 14)


def _sentence(rng: random.Random, words: int) -> str:
    """Return English-like and Chinese words, a few of them frequent and most rare, as in language."""
    return " ".join(rng.choices(_WORDS, cum_weights=_FREQUENCIES, k=words - 1) + rng.choices(_CHINESE))


def question(number: int) -> str:
    """Return one of the questions."""
    return _sentence(random.Random(f"question {number}"), 6)


def ask(kit: memkit.Kit, query: str) -> list[str]:
    """Return the keys that recall in the first scope finds, by exact TF-IDF, as the other side ranks."""
    return [hit.memory.key for hit in kit.recall(query, scope=scope(0), budget=BUDGET, limit=MOST, recipe=memkit.TFIDF).hits]


def _contents(kit: memkit.Kit, numbers: Sequence[int]) -> dict[str, str]:
    return {check.memory.key: check.memory.content or "" for number in numbers for check in kit.check(scope=scope(number))}


def _sizes(sizes: Sizes) -> dict[str, float]:
    return {"memories": sizes.memories, "scopes": sizes.scopes, "visible": sizes.memories // sizes.scopes}
