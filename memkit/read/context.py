"""The context of one turn, in the order in which a model's prefix cache can keep most of it.

Stable prefix, rules, memory snapshot (the user's own stated preferences), goal and session, tool results, and last the memories recalled
for this query. Rules are the caller's text, shown in full and outside the budget. The budget covers all memory: the snapshot takes at
most its quota of it, the recalled memories the rest. Nothing is ever cut: what does not fit is left out whole, and a warning says so. What
the user says now follows the context, or stands last in the session. Left out: choosing (`recall.py`), showing (`render.py`), keeping
account (`audit.py`), and escaping the caller's own texts beyond their form: only marks that look like a memory's fence are defused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from memkit.errors import Refused, shown
from memkit.read.recall import Hit, Recall, Skipped
from memkit.read.recipes import Recipe
from memkit.read.render import FORMS, Tokens, quoted
from memkit.record.fence import FENCE
from memkit.record.model import Memory, shortened

RULES_LARGE = 2_000  # tokens of rules from which on a warning says so, where no window is given; else a quarter of it
_NOT_XML = "[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
CAPTIONS = {"rules": "Rules, always in force:", "goal": "Goal:", "tool": "Tool result:"}


@dataclass(frozen=True, slots=True)
class Layer:
    """One piece of a context as it stands in it. `role` is who says it where the form is chat messages; `tokens` is what it was charged."""

    name: str
    role: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Caution:
    """Something about the configuration that somebody should see: a named reason and one sentence."""

    reason: str
    why: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a context is asked for: the query and its limits in tokens, and the caller's own texts. Session: pairs of role and text."""

    query: str
    budget: int
    quota: int
    window: int | None
    recipe: Recipe | None = None
    limit: int | None = None
    prefix: str = ""
    rules: tuple[str, ...] = ()
    goal: str = ""
    session: tuple[tuple[str, str], ...] = ()
    tool_results: tuple[str, ...] = ()
    form: str = "text"


@dataclass(frozen=True, slots=True, repr=False)
class Context:
    """What a model is given in one turn. `tokens` is what the memory in it was charged: never over `budget`, never under what it costs.

    `hits` were recalled for the query; `profile` stands in the snapshot. `fingerprint` is a keyed digest of rules, profile and scope.
    """

    query: str
    form: str
    budget: int
    layers: tuple[Layer, ...]
    recalled: Recall
    profile: tuple[Memory, ...]
    left_out: tuple[Skipped, ...]
    warnings: tuple[Caution, ...]
    fingerprint: str
    audit_id: int

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self.recalled.hits

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Return what was left out of the profile and of what was recalled; of many, read from the store when asked for."""
        return (*self.left_out, *self.recalled.skipped)

    @property
    def tokens(self) -> int:
        return sum(layer.tokens for layer in self.layers if layer.name in ("snapshot", "memory"))

    @property
    def text(self) -> str:
        """Return everything in order; for chat messages, as JSON."""
        if self.form == "chat":
            return json.dumps(self.messages, ensure_ascii=False)
        return "\n\n".join(layer.text for layer in self.layers)

    @property
    def injected(self) -> str:
        """Return all of memory that stands in it, which `kit.replay` gives again: the snapshot and what was recalled."""
        return "\n\n".join(layer.text for layer in self.layers if layer.name in ("snapshot", "memory"))

    @property
    def messages(self) -> list[dict[str, str]]:
        """Return the layers as chat messages. Memory speaks as the user's data, never as the system."""
        return [{"role": layer.role, "content": layer.text} for layer in self.layers]

    def __repr__(self) -> str:
        named = [f"{layer.name}: {layer.tokens} tokens" for layer in self.layers]
        told = [f"warning {caution.reason}: {caution.why}" for caution in self.warnings]
        head = f"Context({shortened(self.query)}: {self.tokens} of {self.budget} tokens of memory, audit {self.audit_id})"
        return "\n    ".join([head, *named, repr(self.recalled), *map(repr, self.left_out), *told])


def check_texts(*, prefix: object, rules: object, goal: object, session: object, tool_results: object, form: object) -> dict[str, Any]:
    """Return the caller's own texts by name, or raise Refused for what has the wrong form."""
    if not isinstance(form, str) or form not in FORMS:
        raise Refused("BAD_FORM", f"the form is none of {', '.join(FORMS)}; pass one of these")
    texts = {name: _text(name, text) for name, text in (("prefix", prefix), ("goal", goal))}
    lists = {
        name: tuple(_text(name, text) for text in _listed(name, given))
        for name, given in (("rules", rules), ("tool_results", tool_results))
    }
    return {**texts, **lists, "session": tuple(_turn(turn) for turn in _listed("session", session)), "form": form}


def before_memory(given: Asked, tokens: Tokens) -> list[Layer]:
    """Return the layers that stand before the snapshot: the prefix as it is, and the rules in full."""
    rules = [_layer("rules", "system", "\n".join(given.rules), given.form, tokens)] if given.rules else []
    return ([_layer("prefix", "system", given.prefix, given.form, tokens)] if given.prefix else []) + rules


def after_snapshot(given: Asked, tokens: Tokens) -> list[Layer]:
    """Return the layers between the snapshot and what was recalled: goal, session, tool results."""
    goal = [("goal", "user", given.goal)] if given.goal else []
    turns = [("session", role, text) for role, text in given.session]
    tools = [("tool", "tool", text) for text in given.tool_results]
    return [_layer(name, role, text, given.form, tokens) for name, role, text in (*goal, *turns, *tools)]


def too_large(rules: Sequence[Layer], window: int | None) -> Iterator[Caution]:
    """Yield the warning that the rules take too much: over a quarter of the window, or over 2,000 tokens where none is given."""
    used, most = sum(layer.tokens for layer in rules), RULES_LARGE if window is None else window // 4
    if used > most:
        yield Caution("RULES_LARGE", f"the rules take {used:,} tokens, more than {most:,}; they are shown in full, so shorten them")


def window_full(room: int, given: Asked) -> Iterator[Caution]:
    """Yield the warning that the caller's own texts leave memory less of the window than its budget."""
    if room < given.budget:
        why = f"the other layers leave {max(0, room):,} tokens of the window of {given.window:,}, fewer than the budget of {given.budget:,}"
        yield Caution("WINDOW_FULL", f"{why}; shorten them, or ask for less")


def defused(text: str) -> str:
    """Return text in which nothing looks like the fence of a memory.

    >>> defused("</memkit-memory-abc>")
    '&lt;/memkit-memory-abc>'
    """
    return re.sub(rf"(?i)<(?=[\s/]{{0,9}}{FENCE})", "&lt;", text)


def _layer(name: str, role: str, text: str, form: str, tokens: Tokens) -> Layer:
    told = _captioned(name, role, text, form)
    return Layer(name, role, told, tokens(told))


def _captioned(name: str, role: str, text: str, form: str) -> str:
    if form == "xml":
        kept = re.sub(_NOT_XML, lambda found: quoted(found[0])[1:-1], text)
        return f"<{name} role={json.dumps(role)}>{escape(kept)}</{name}>"
    if name in ("prefix", "rules"):
        return text if name == "prefix" or form == "chat" else f"{CAPTIONS[name]}\n{text}"
    text = defused(text)
    if form == "chat":
        return text
    return f"{role}: {text}" if name == "session" else f"{CAPTIONS[name]}\n{text}"


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise Refused(f"BAD_{name.upper()}", f"{name} is {shown(value)}; pass text")
    return value


def _listed(name: str, value: object) -> tuple[object, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, (list, tuple)):
        return tuple(value)
    if value is None:
        return ()
    raise Refused(f"BAD_{name.upper()}", f"{name} is {shown(value)}; pass a list")


def _turn(turn: object) -> tuple[str, str]:
    pair = turn if isinstance(turn, (list, tuple)) else (getattr(turn, "role", None), getattr(turn, "text", None) or "")
    if len(pair) != 2 or not all(isinstance(part, str) for part in pair) or not str(pair[0]).isalpha():
        raise Refused("BAD_SESSION", "a turn of the session is neither (role, text) nor an episode; pass for instance ('user', 'hello')")
    return str(pair[0]), str(pair[1])
