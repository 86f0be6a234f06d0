"""What `memkit bench` measures of writing: durable writes against bare `sqlite3`, and eight processes that write at once.

The bare side runs the very statements of `record/store.py` with the values memkit wrote, on a file with memkit's schema and pragmas, in
`begin immediate` .. `commit`. What it leaves out is what memkit adds: checking and masking text, reading the source, the current
value and the tombstones, and deciding. Both write to real files and wait for the disk at each commit.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import memkit
from memkit.lab import writer
from memkit.lab.measure import Row, Sizes, alternate, speed
from memkit.record import store

SCOPE = memkit.Scope(workspace="shop", env="prod")
SOURCES = {"prod.cfg": "timeout=30\nretries=3\n"}
PRAGMAS = ("secure_delete=on", "synchronous=full", "foreign_keys=on", "journal_mode=delete")
_SAME = {  # what both files must hold alike in the end: all but moments and row numbers
    "revision": "tenant, scope, key, revision, op, content, kind, trust, confidence, source_type, actor",
    "evidence": "tenant, revision_seq, source, locator, digest, quote, source_version",
    "event": "tenant, user, actor, op, scope, key, revision, reason, detail",
}


def write(sizes: Sizes) -> list[Row]:
    """Compare learning from a source (memory, evidence and event in one transaction) with the same statements run bare."""

    def learn(kit: memkit.Kit, key: str, content: str) -> None:
        kit.learn(key, content, scope=SCOPE, cite="prod.cfg#key=timeout")

    return [_against_bare("write", "learn: memory, evidence, event", learn, sizes, "at least 0.65")]


def remember(sizes: Sizes) -> list[Row]:
    """Compare remembering (memory and event in one transaction) with the same statements run bare."""

    def state(kit: memkit.Kit, key: str, content: str) -> None:
        kit.remember(key, content, scope=SCOPE)

    return [_against_bare("remember", "remember: memory, event", state, sizes, "")]


def fairness(sizes: Sizes) -> list[Row]:
    """Let several processes write for some seconds, several times, and compare the slowest with the fastest."""
    counts = [_race(sizes) for _ in range(sizes.races)]
    rounds = tuple((float(min(race)), float(max(race))) for race in counts)
    ratio = median(slowest / fastest for slowest, fastest in rounds)
    raw = {"processes": sizes.processes, "seconds": sizes.seconds, "writes_in_all": median(map(sum, counts))}
    who = f"of {sizes.processes} processes that write at once for {sizes.seconds:g} s"
    return [Row("fairness", f"the slowest {who}", "the fastest of them", "writes", rounds, ratio, "at least 0.5", None, raw)]


class Bare:
    """A file with memkit's schema and pragmas, written with `sqlite3` alone, from the rows of one write that memkit made."""

    def __init__(self, path: Path, model: dict[str, list[dict[str, object]]]) -> None:
        memkit.open(path).close()
        self._connection = connect(path)
        for pragma in PRAGMAS:
            self._connection.execute(f"pragma {pragma}").fetchall()
        self._model = {table: rows[0] if rows else None for table, rows in model.items()}

    def write(self, key: str, content: str) -> None:
        """Run the statements of one write."""
        execute, model = self._connection.execute, self._model
        revision, evidence, event = model["revision"] or {}, model["evidence"], model["event"] or {}
        execute("begin immediate")
        wanted = revision | {"key": key, "content": content, "now": revision["recorded_at"], "expected": 0}
        ((seq, *_),) = execute(store.APPEND, wanted).fetchall()
        if evidence:
            execute(store.ADD_EVIDENCE, evidence | {"revision_seq": seq})
        execute(store.LOG, event | {"key": key})
        execute("commit")

    def close(self) -> None:
        self._connection.close()


def connect(path: Path) -> sqlite3.Connection:
    """Open a file as memkit does, without memkit."""
    return sqlite3.connect(path, isolation_level=None, timeout=0)


def contents(path: Path, columns: dict[str, str]) -> dict[str, list[dict[str, object]]]:
    """Return some columns of every row of some tables."""
    connection = connect(path)
    connection.row_factory = sqlite3.Row
    try:
        return {
            table: [dict(row) for row in connection.execute(f"select {names} from {table} order by rowid").fetchall()]
            for table, names in columns.items()
        }
    finally:
        connection.close()


def _against_bare(name: str, ours: str, verb: Callable[[memkit.Kit, str, str], None], sizes: Sizes, target: str) -> Row:
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{side}.db" for side in ("memkit", "bare", "model")]
        with memkit.open(paths[2], sources=dict(SOURCES)) as kit:
            verb(kit, "model", "the model of every write")
        bare = Bare(paths[1], contents(paths[2], dict.fromkeys(_SAME, "*")))
        with memkit.open(paths[0], sources=dict(SOURCES)) as kit:
            for write in (partial(verb, kit), bare.write):
                write("first", _content(-1))  # not counted: patterns are compiled and statements prepared
            rounds = alternate(
                lambda n: verb(kit, f"setting-{n}", _content(n)),
                lambda n: bare.write(f"setting-{n}", _content(n)),
                rounds=sizes.rounds,
                each=sizes.writes,
            )
        bare.close()
        agree = contents(paths[0], _SAME) == contents(paths[1], _SAME)
    raw = {"writes_a_round": float(sizes.writes)}
    return Row(name, ours, "the same statements in bare sqlite3", "s", rounds, speed(rounds), target, agree, raw)


def _content(number: int) -> str:
    return f"In production, payment call {number} waits timeout=30 seconds; 部署后生效"


def _race(sizes: Sizes) -> list[int]:
    """Start the writers, let them all go at once, and return how many writes each made. Raises what reached a writer."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        memkit.open(path).close()
        command = [sys.executable, "-m", writer.__name__, str(path), str(sizes.seconds)]
        running = [_started([*command, f"writer-{number}"]) for number in range(sizes.processes)]
        for process in running:
            if process.stdout:
                process.stdout.readline()
        for process in running:
            with suppress(BrokenPipeError):  # it stopped already, and says why below
                _send(process, "go\n")
        done = [process.communicate() for process in running]
        for process, (_, error) in zip(running, done, strict=True):
            if process.returncode:
                raise memkit.MemkitError(f"a writer was stopped by more than Conflict: {error.strip().splitlines()[-1]}")
        return [int(out) for out, _ in done]


def _send(process: subprocess.Popen[str], line: str) -> None:
    if process.stdin:
        process.stdin.write(line)
        process.stdin.flush()


def _started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
