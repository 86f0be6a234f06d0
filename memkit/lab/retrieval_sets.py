"""Sets of memories and questions: memkit's own bilingual one, and conversations in the layout of LoCoMo.

A set is written into a store the way anybody would write it: stated, corrected, learned with a citation, and some sources changed later.
Beside it stands what a plain text file of the same words would hold: every line that was ever written, old ones and those of other scopes
included. Left out: asking the questions (`retrieval_rivals.py`) and what the answers are worth (`evaluate_retrieval.py`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import memkit
from memkit.errors import Refused
from memkit.lab.sandbox import data_folder
from memkit.record.text import count_tokens

WORKSPACE = "shop"
LIVED = ("keep the shop running", "seen to work afterwards")  # task and verification of every experience


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was written down. `id` names it in gold and wrong answers; `before` is what stood there first."""

    id: str
    key: str
    text: str
    env: str | None = None
    kind: str = "fact"
    cite: str | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the ids of the lines that answer it, and those that must not be shown: what is old, stale, or true elsewhere."""

    text: str
    gold: frozenset[str]
    kind: str
    group: str
    env: str | None = None
    wrong: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Collection:
    """Lines, the sources they cite as they were and as they are later, and the questions. `tokens` says what a text costs."""

    name: str
    lines: tuple[Line, ...]
    questions: tuple[Question, ...]
    tokens: Callable[[str], int]
    sources: dict[str, str] = field(default_factory=dict)
    later: dict[str, str] = field(default_factory=dict)

    @property
    def written(self) -> list[tuple[str, str]]:
        """Return (id, text) of every line that was ever written, in order: what a plain text file would hold."""
        old = [(f"{line.id}~old", line.before) for line in self.lines if line.before]
        return old + [(line.id, line.text) for line in self.lines]


def scope_of(env: str | None) -> memkit.Scope:
    """Return where a line or a question belongs."""
    return memkit.Scope(workspace=WORKSPACE, env=env)


def filled(collection: Collection) -> memkit.Kit:
    """Return a store in memory that holds a collection, its sources changed to what they are later."""
    sources: dict[str, str | bytes] = dict(collection.sources)
    kit = memkit.open(sources=sources)
    for line in collection.lines:
        scope = scope_of(line.env)
        task, verification = LIVED if line.kind == "experience" else (None, None)
        if line.before:
            kit.remember(line.key, line.before, scope=scope, kind=line.kind)
        if line.cite:
            kit.learn(line.key, line.text, scope=scope, kind=line.kind, cite=line.cite)
        else:
            expected = 1 if line.before else 0
            kit.remember(line.key, line.text, scope=scope, kind=line.kind, expected=expected, task=task, verification=verification)
    sources.update(collection.later)
    return kit


def own(folder: Path | None = None) -> list[Collection]:
    """Read memkit's own set: memories about two shops, one in English and one in Chinese, and questions of every kind."""
    folder = folder or data_folder() / "retrieval"
    rows = list(_rows(folder / "memories.jsonl"))
    lines = tuple(
        Line(_id(row["key"], row.get("env")), row["key"], row["content"], row.get("env"), row["kind"], row.get("cite"), row.get("before"))
        for row in rows
    )
    cited = {row["cite"].partition("#")[0]: row for row in rows if "cite" in row}
    sources = {name: row["source"] for name, row in cited.items()}
    later = {name: row["later"] for name, row in cited.items() if "later" in row}
    stale = {_id(row["key"], row.get("env")) for row in rows if "later" in row}
    questions = tuple(_question(row, lines, frozenset(stale)) for row in _rows(folder / "questions.jsonl"))
    return [Collection("own", lines, questions, count_tokens, sources, later)]


def _question(row: dict[str, str], lines: tuple[Line, ...], stale: frozenset[str]) -> Question:
    """Return a question; wrong is what is stale, and what was replaced or belongs elsewhere under the keys that answer."""
    env, keys = row.get("env"), set(row["gold"])
    gold = frozenset(line.id for line in lines if line.key in keys and line.env in (None, env))
    old = {f"{line.id}~old" for line in lines if line.before}
    elsewhere = {line.id for line in lines if line.env not in (None, env)}
    return Question(row["question"], gold, row["kind"], row["lang"], env, frozenset(old | elsewhere | stale))


def _id(key: str, env: str | None) -> str:
    return f"{key}@{env}" if env else key


def _rows(path: Path) -> Iterator[dict[str, str]]:
    if not path.is_file():
        raise Refused("NO_DATA", f"there is no {path.name} in {path.parent.name}; memkit's own set comes with the package")
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line:
            yield json.loads(line)


def conversations(path: Path) -> list[Collection]:
    """Read conversations in the layout of LoCoMo: each is a set of its own, its turns are the memories, a token is four characters."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return [_conversation(number, one) for number, one in enumerate(found, 1)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        told = "a list of conversations, each with `conversation` and `qa`"
        raise Refused("BAD_DATA", f"{path.name} is not in the layout of LoCoMo ({type(error).__name__}); it must be {told}") from None


def spoiled(collection: Collection, share: float, seed: int = 0) -> Collection:
    """Return a conversation of which a share of the turns (0 to 1) reads otherwise by the time somebody asks.

    What was spoiled is wrong for every question and gold for none; a question that loses all its gold is left out.

    >>> turns = (Line("D1:1", "D1:1", "hi", cite="session_1#lines=1"), Line("D1:2", "D1:2", "bye", cite="session_1#lines=2"))
    >>> asked = (Question("who?", frozenset({"D1:1"}), "answer", "en"), Question("when?", frozenset({"D1:2"}), "answer", "en"))
    >>> talk = spoiled(Collection("talk", turns, asked, len, {"session_1": "hi\\nbye\\n"}), 0.5)
    >>> talk.later, [(one.text, sorted(one.wrong)) for one in talk.questions]
    ({'session_1': 'hi\\nbye, it said later\\n'}, [('who?', ['D1:2'])])
    """
    chosen = Random(seed).sample([line for line in collection.lines if line.cite], round(share * len(collection.lines)))
    later = {source: text.split("\n") for source, text in collection.sources.items()}
    for line in chosen:
        source, _, at = str(line.cite).partition("#lines=")
        later[source][int(at) - 1] += ", it said later"
    stale = frozenset(line.id for line in chosen)
    asked = tuple(replace(one, gold=one.gold - stale, wrong=one.wrong | stale) for one in collection.questions if one.gold - stale)
    return replace(collection, questions=asked, later={source: "\n".join(lines) for source, lines in later.items()})


def _conversation(number: int, one: Mapping[str, Any]) -> Collection:
    lines: list[Line] = []
    sources: dict[str, str] = {}
    names = [name for name in one["conversation"] if re.fullmatch(r"session_\d+", name)]
    for session in sorted(names, key=lambda name: int(name.split("_")[1])):
        said = [" ".join(_said(turn).split()) for turn in one["conversation"][session]]
        sources[session] = "\n".join(said) + "\n"
        turns = zip(one["conversation"][session], said, strict=True)
        lines += [Line(turn["dia_id"], turn["dia_id"], text, cite=f"{session}#lines={at}") for at, (turn, text) in enumerate(turns, 1)]
    known = frozenset(line.id for line in lines)
    asked = [_asked(row, known) for row in one["qa"]]
    tokens = lambda text: math.ceil(len(text) / 4)  # noqa: E731  the protocol's token, four characters
    return Collection(f"conversation {number}", tuple(lines), tuple(row for row in asked if row.gold), tokens, sources)


def _said(turn: dict[str, str]) -> str:
    return f"{turn['speaker']}: {turn['text']}" + (f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else "")


def _asked(row: Mapping[str, Any], known: frozenset[str]) -> Question:
    evidence = row.get("evidence") or []
    ids = re.split(r"[;,\s]+", evidence) if isinstance(evidence, str) else [one for each in evidence for one in re.split(r"[;,\s]+", each)]
    return Question(str(row["question"]), known & frozenset(ids), "answer", f"category {row.get('category')}")
