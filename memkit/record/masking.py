"""Find and mask what a text says, in whatever spelling: how forgetting reaches into the words of a session.

A value is found as tombstones compare it (`text.normalise`), and as whole tokens: TKT-100 does not stand in TKT-1000. What stood there
becomes `[forgotten]`, and the rest stays byte for byte, so that evidence for it still holds. Left out: paraphrases, and who may forget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memkit.record.text import Folded, comparable, compiled, fold, normalise
from memkit.record.tokens import MOST_TRIES, joined

MARK = "[forgotten]"
_WALL = "\ua66e" * len(MARK)  # a letter of one manuscript: what was masked before is no part of any words


def places(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Yield where `value` stands in `text` as whole tokens, whatever its case, width, blanks and look-alikes.

    >>> list(places("About tkt\u2010100: TKT-1000 is open", "TKT-100"))
    [(6, 13)]
    """
    seen, wanted = fold(text.replace(MARK, _WALL)), normalise(value)
    view = comparable(seen.text)
    at = view.text.find(wanted) if wanted else -1
    for _ in range(MOST_TRIES):
        if at < 0:
            return
        start, end = view.original_span(at, at + len(wanted))
        whole = not joined(seen.text, start) and not joined(seen.text, end) and not (_within(view, at) or _within(view, at + len(wanted)))
        if whole:
            yield seen.original_span(start, end)
        at = view.text.find(wanted, at + (len(wanted) if whole else 1))


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
    for start, end in sorted(span for value in values for span in places(text, value)):
        if end > at:
            parts += [text[at:start], *([MARK] if start >= at else [])]
            at = end
    if not parts:
        return text
    result = "".join([*parts, text[at:]])
    return result if compiled(r"\w").search(result.replace(MARK, "")) else None
