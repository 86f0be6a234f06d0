"""Find words as whole tokens: 30 stands in "30 s" and in "超时是30秒", not in "300", "1.30" or "-30".

Two neighbouring characters are *joined* when they belong to one token: letters, digits and `_` are; `.`, `-`, `@` and `/` join what
stands on both of their sides, `,` and `:` only digits. Chinese, Japanese and Korean characters are boundaries, except numerals among
themselves (三十五 does not state 三十) and a scale after a digit (30万 and 30% do not state 30). Left out: stemming, case, meaning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

MOST_TRIES = 100_000  # occurrences inside longer tokens that are passed over before giving up, so that the time stays linear

CJK = "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]"
_CJK = re.compile(CJK)
_NUMERALS = frozenset("〇零一二三四五六七八九十百千万亿两壹贰叁肆伍陆柒捌玖拾佰仟萬億兩")
_SCALES = frozenset("十百千万亿拾佰仟萬億%‰")


def occurrences(text: str, words: str, start: int = 0) -> Iterator[int]:
    """Yield where `words` stand in `text` from `start` on, in order, also inside longer tokens and overlapping each other."""
    at = text.find(words, start)
    for _ in range(MOST_TRIES):
        if at < 0:
            return
        yield at
        at = text.find(words, at + 1)


def whole_places(text: str, words: str, start: int = 0) -> Iterator[int]:
    """Yield where `words` stand in `text` as whole tokens, in order.

    >>> list(whole_places("30 of 300, 1.30 or 30.", "30"))
    [0, 19]
    """
    return (at for at in occurrences(text, words, start) if not joined(text, at) and not joined(text, at + len(words)))


def joined(text: str, at: int) -> bool:
    """Return whether the characters before and after position `at` belong to one token.

    >>> joined("300", 2), joined("30 s", 2), joined("1.30", 2), joined("是30", 1)
    (True, False, True, False)
    """
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if (before in _NUMERALS and after in _NUMERALS) or (before.isdigit() and after in _SCALES):
        return True
    if (_wordlike(before) and _wordlike(after)) or (before in "-\u2212" and after.isdigit()):
        return True
    return _bridges(text, at) or _bridges(text, at - 1)


def _bridges(text: str, at: int) -> bool:
    """Return whether the mark at `at` joins what stands on its two sides."""
    if not 0 < at < len(text) - 1:
        return False
    before, mark, after = text[at - 1], text[at], text[at + 1]
    if mark in ",:":
        return before.isdigit() and after.isdigit()
    return mark in ".-@/" and _wordlike(before) and _wordlike(after)


def _wordlike(character: str) -> bool:
    return (character == "_" or unicodedata.category(character)[0] in "LMN") and not _CJK.match(character)
