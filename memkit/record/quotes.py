"""Find quoted words in a text that has been wrapped anew or moved, by a W3C TextQuoteSelector: the exact words, before them, after them.

Blanks of any length and kind are one blank, and a line break beside a Chinese, Japanese or Korean character is none. The words must stand
as whole tokens, with all of the context given: where `30` stood twice and one became 60, what is left is not evidence for the other. Left
out: words that were changed a little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from memkit.record.tokens import CJK, joined, occurrences

_WRAPPED = re.compile(rf"(?<={CJK})\n|\n(?={CJK})")


def folded(text: str) -> str:
    """Return `text` as it reads, however it is wrapped.

    >>> folded("retry  at\\n most twice"), folded("超时是\\n30 秒")
    ('retry at most twice', '超时是30 秒')
    """
    lines = (line.strip() for line in text.split("\n"))
    return " ".join(_WRAPPED.sub("", "\n".join(line for line in lines if line)).split())


def quoted_places(text: str, exact: str, before: str = "", after: str = "") -> Iterator[int]:
    """Yield where `exact` stands in a folded text, right after `before` and right before `after`, which neither end nor begin with a blank.

    All of it is searched for at once, with and without a blank at each seam: words that stand everywhere cost no more than others.

    >>> list(quoted_places("prod waits 30 s, test waits 30 s", "30", before="test waits"))
    [28]
    """
    for left, right in product(dict.fromkeys((before, before and f"{before} ")), dict.fromkeys((after, after and f" {after}"))):
        for found in occurrences(text, f"{left}{exact}{right}"):
            at = found + len(left)
            if not (joined(text, at) or joined(text, at + len(exact)) or (before and joined(text, found))):
                yield at
