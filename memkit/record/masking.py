"""Find and mask what a text says, in whatever spelling: how forgetting reaches into the words of a session.

A value is found as tombstones compare it (`text.normalise`), and as whole tokens: TKT-100 does not stand in TKT-1000. What stood there
becomes `[forgotten]`, and the rest stays byte for byte, so that evidence for it still holds. Left out: paraphrases, and who may forget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memkit.record.text import Folded, comparable, compiled, fold, normalise, spelled
from memkit.record.tokens import joined, occurrences

MARK = "[forgotten]"
_WALL = "\ua66e" * len(MARK)  # a letter of one manuscript: what was masked before is no part of any words


def places(text: str, *values: str) -> Iterator[tuple[int, int]]:
    """Yield where `text` states each value as whole tokens, whatever its case, width, blanks and look-alikes.

    >>> list(places("About tkt\u2010100: TKT-1000 is open", "TKT-100"))
    [(6, 13)]
    """
    seen, wanted = fold(text.replace(MARK, _WALL)), [normalise(value) for value in values]
    view = spelled(seen.text)
    letters = _letters(view.text)
    if stated := [value for value in wanted if value and _letters(value) in letters]:  # else it cannot stand there: a quick no
        view = comparable(view)
        for value in stated:
            yield from (seen.original_span(start, end) for start, end in _whole(seen.text, view, value))


def _letters(text: str) -> str:
    return compiled(r"\W+").sub("", text)


def _whole(text: str, view: Folded, wanted: str) -> Iterator[tuple[int, int]]:
    done = 0
    for at in occurrences(view.text, wanted):
        start, end = view.original_span(at, at + len(wanted))
        if at >= done and not (joined(text, start) or joined(text, end) or _within(view, at) or _within(view, at + len(wanted))):
            yield start, end
            done = at + len(wanted)


def _within(view: Folded, at: int) -> bool:
    """Return whether a place lies within what one character became, as between the two letters of a sharp s."""
    return 0 < at < len(view.offsets) and view.offsets[at - 1] == view.offsets[at]


def states(text: str, value: str) -> bool:
    """Return whether a text states a value, in whatever spelling.

    >>> states("We deploy on TUESDAY.", "deploy on Tuesday"), states("It is 300", "30")
    (True, False)
    """
    return next(places(text, value), None) is not None


def masked(text: str, values: Iterable[str]) -> str | None:
    """Return `text` with these values masked; None where nothing is left of it but marks.

    >>> masked("My code is 4471-blue. I like tabs.", ["my code is 4471-blue"]), masked("4471-blue!", ["4471-blue"])
    ('[forgotten]. I like tabs.', None)
    """
    parts, at = list[str](), 0
    for start, end in sorted(places(text, *values)):
        if end > at:
            parts += [text[at:start], *([MARK] if start >= at else [])]
            at = end
    if not parts:
        return text
    result = "".join([*parts, text[at:]])
    return result if compiled(r"\w").search(result.replace(MARK, "")) else None
