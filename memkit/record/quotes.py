"""Find quoted words in a text that has been wrapped anew or moved, by a W3C TextQuoteSelector: the exact words, before them, after them.

Blanks of any length and kind are one blank, and a line break beside a Chinese, Japanese or Korean character is none. The words must stand
as whole tokens, with all of the context given: where `30` stood twice and one became 60, what is left is not evidence for the other. Left
out: words that were changed a little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memkit.record.tokens import CJK, joined, whole_places

_WRAPPED = re.compile(rf"(?<={CJK})\n|\n(?={CJK})")


def folded(text: str) -> str:
    """Return `text` as it reads, however it is wrapped.

    >>> folded("retry  at\\n most twice"), folded("超时是\\n30 秒")
    ('retry at most twice', '超时是30 秒')
    """
    lines = (line.strip() for line in text.split("\n"))
    return " ".join(_WRAPPED.sub("", "\n".join(line for line in lines if line)).split())


def quoted_places(text: str, exact: str, before: str = "", after: str = "") -> Iterator[int]:
    """Yield where `exact` stands in a folded text, right after `before` and right before `after`, in order.

    >>> list(quoted_places("prod waits 30 s, test waits 30 s", "30", before="test waits"))
    [28]
    """
    for at in whole_places(text, exact):
        end = at + len(exact)
        left, right = text[max(0, at - len(before) - 1) : at].rstrip(), text[end : end + len(after) + 1].lstrip()
        start = max(0, at - len(before) - 1) + len(left) - len(before)
        if left.endswith(before) and right.startswith(after) and not (before and joined(text, start)):
            yield at
