"""Four ways to show memories to a model, from none to memkit's own, each with the form by which a reader knows it again.

The first three are what people write first, and are here to be broken. The fourth is not a copy: it calls `kit.context`. Left out: the
texts that try to break out, the reader, and the counting (`breakouts.py`).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import memkit
from memkit.lab.story import clock, ids

SHOP = memkit.Scope(workspace="shop")
ROOM = 100_000  # tokens: what is shown must not depend on the budget here
NONCE = "NONCE"  # stands in a closing mark for the nonce of the opening one

_TAG = r"<\s*/\s*memory\s*>"
_STRING = r'"(?:[^"\\]|\\.)*"'
_LINE = re.compile(rf"m-[0-9a-f]{{16}} [A-Z]+(?: [\d.]+)? in \S+ from {_STRING}, [^\"]+: {_STRING} = ({_STRING})")


@dataclass(frozen=True, slots=True)
class Defence:
    """A way to show memories: its name, one sentence, and what shows them.

    `opens` and `closes` are the marks of its block, as patterns; `record` reads one line of it, or returns None for what is no record.
    """

    name: str
    why: str
    show: Callable[[Sequence[str]], str]
    opens: str
    closes: str
    record: Callable[[str], str | None]


def concatenated(memories: Sequence[str]) -> str:
    """Show memories as a list under a heading: no defence.

    >>> concatenated(["a", "b"])
    'Memories:\\n- a\\n- b'
    """
    return "\n".join(["Memories:", *(f"- {memory}" for memory in memories)])


def delimited(memories: Sequence[str]) -> str:
    """Show memories between two marks that are always the same.

    >>> delimited(["a", "b"])
    '<memory>\\n- a\\n- b\\n</memory>'
    """
    return "\n".join(["<memory>", *(f"- {memory}" for memory in memories), "</memory>"])


def escaped(memories: Sequence[str]) -> str:
    """Show memories between fixed marks, with the five characters of markup escaped, as for a web page.

    >>> escaped(["a < b"])
    '<memory>\\n- a &lt; b\\n</memory>'
    """
    return delimited([html.escape(memory) for memory in memories])


def fenced(memories: Sequence[str]) -> str:
    """Show memories as memkit does: a nonce, one escaped line each, and a notice of low authority.

    >>> print(fenced(["a < b"]).splitlines()[2])  # doctest: +ELLIPSIS
    m-... STATED in workspace=shop from "user", today, UNVERSIONED (not re-checked since 2026-03-02): "note 1" = "a \\u003c b"
    """
    with memkit.open(clock=clock("2026-03-02T09:00+00:00"), ids=ids()) as kit:
        for number, memory in enumerate(memories, 1):
            kit.remember(f"note {number}", memory, scope=SHOP, kind="fact")
        return kit.context(" ".join(memories), scope=SHOP, budget=ROOM).text


def own(line: Callable[[str], str]) -> Defence:
    """Make a defence of a function that writes any memory as one line of JSON, between the fixed marks.

    >>> own(json.dumps).show(["a\\nb"])
    '<memory>\\n- "a\\\\nb"\\n</memory>'
    """
    return Defence(
        "yours", "one line of JSON each, between fixed marks", lambda told: delimited(list(map(line, told))), "<memory>\n", _TAG, _json
    )


def _json(line: str) -> str | None:
    try:
        found = json.loads(line.removeprefix("- "))
    except ValueError:
        return None
    return found if isinstance(found, str) else None


def _item(line: str) -> str | None:
    return line[2:] if line.startswith("- ") else None


def _unescaped(line: str) -> str | None:
    item = _item(line)
    return None if item is None else html.unescape(item)


def _quoted(line: str) -> str | None:
    found = _LINE.fullmatch(line)
    return str(json.loads(found[1])) if found else None


DEFENCES = {
    "none": Defence("none", "a list under a heading", concatenated, "Memories:\n", r"\n\n", _item),
    "fixed marks": Defence("fixed marks", "a list between <memory> and </memory>", delimited, "<memory>\n", _TAG, _item),
    "escaped": Defence("escaped", "the same, with the characters of markup escaped", escaped, "<memory>\n", _TAG, _unescaped),
    "memkit": Defence(
        "memkit",
        "a nonce, one escaped line each, and a notice of low authority",
        fenced,
        r"<memkit-memory-(?P<nonce>[a-p]{8})>\n[^\n]+\n",
        rf"<\s*/\s*memkit-memory-{NONCE}\s*>",
        _quoted,
    ),
}
"""Name -> defence, from the weakest to the strongest."""
