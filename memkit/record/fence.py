"""Recognise recalled memory inside other text, so that it is never read as something that was said.

A recalled block begins with `<memkit-memory ...>` and ends with its closing mark, or with the text where that is missing. Left out:
making such a block, and judging what it says.
"""

from __future__ import annotations

from memkit.record.text import compiled

FENCE = "memkit-memory"

_BLOCK = rf"(?i)<\s{{0,9}}{FENCE}\b[\s\S]*?(?:<\s{{0,9}}/\s{{0,9}}{FENCE}\b[^<>\n]{{0,99}}>?|\Z)"


def recalled_spans(text: str) -> list[tuple[int, int]]:
    """Return where recalled blocks stand, in order.

    >>> recalled_spans("hi <memkit-memory n=7>old</memkit-memory n=7> you")
    [(3, 45)]
    """
    return [match.span() for match in compiled(_BLOCK).finditer(text)]


def is_recalled(text: str) -> bool:
    """Return whether a text holds memory that recall put there.

    >>> is_recalled("<memkit-memory n=7>we use pnpm"), is_recalled("memkit-memory is a name")
    (True, False)
    """
    return bool(compiled(rf"(?i)<\s{{0,9}}/?\s{{0,9}}{FENCE}\b").search(text))
