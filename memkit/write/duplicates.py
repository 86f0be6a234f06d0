"""Say whether two statements under one key are two wordings of the same, or two statements.

Equal after normalising, they are the same. Otherwise they are the same only when they share at least nine tenths of their pairs of
characters *and* nothing with a meaning of its own differs: no number, no name, no word of content, no negation. So "30 s" against "60 s"
and "use npm" against "do not use npm" are contradictions, however alike they look. Left out: synonyms and other languages' small words;
two wordings that differ more wait as two candidates, which loses nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import count
from typing import Generic, TypeVar

from memkit.record.text import fold, normalise
from memkit.record.tokens import CJK
from memkit.write.table import read

Item = TypeVar("Item")
ALIKE = 0.9
_TOKEN = re.compile(rf"{CJK}|(?:(?!{CJK})\w)+(?:[-./@:](?:(?!{CJK})\w)+)*|[^\w\s.,;!?。，；！？、]")


def same_statement(one: str, other: str, *, alike: float = ALIKE) -> bool:
    """Return whether two texts say the same in other words at most.

    >>> same_statement("The timeout is 30 s.", "the timeout  is 30 s"), same_statement("The timeout is 30 s", "The timeout is 60 s")
    (True, False)
    >>> same_statement("发布前必须跑完整的集成测试和回归测试", "发布前必须跑完整集成测试和回归测试")
    True
    >>> same_statement("周五可以发布", "周五不可以发布")
    False
    """
    return normalise(one) == normalise(other) or (_tokens(one) == _tokens(other) and similarity(one, other) >= alike)


class Statements(Generic[Item]):
    """Things that say something, in the order they came, found again by what may say the same: cost follows what is alike.

    >>> said = Statements[str]()
    >>> said.add("a", "The timeout is 30 s."); said.add("b", "The cache is cold")
    >>> said.like("the timeout  is 30 s"), said.like("The timeout is 60 s")
    (['a'], [])
    """

    def __init__(self) -> None:
        self._by_sign: dict[object, list[tuple[int, Item, str]]] = {}
        self._numbers = count()

    def add(self, item: Item, text: str) -> None:
        """Keep one more."""
        entry = (next(self._numbers), item, text)
        for sign in _signs(text):
            self._by_sign.setdefault(sign, []).append(entry)

    def like(self, text: str) -> list[Item]:
        """Return what says the same as `text`, oldest first."""
        near = {number: (item, said) for sign in _signs(text) for number, item, said in self._by_sign.get(sign, ())}
        return [item for _, (item, said) in sorted(near.items(), key=lambda one: one[0]) if same_statement(said, text)]


def _signs(text: str) -> set[object]:
    """Return two signs, one of which is the same in any two texts that are one statement: as normalised, and what has a meaning in it."""
    return {normalise(text), tuple(_tokens(text))}


def similarity(one: str, other: str) -> float:
    """Return the share of pairs of neighbouring characters that two texts have in common, 0 to 1: the coefficient of Dice (1945).

    >>> similarity("night", "night"), similarity("night", "nacht")
    (1.0, 0.25)
    """
    first, second = _pairs(one), _pairs(other)
    whole = first.total() + second.total()
    return 2 * (first & second).total() / whole if whole else 1.0


def _pairs(text: str) -> Counter[str]:
    plain = "".join(fold(text).text.casefold().split())
    return Counter(plain[at : at + 2] for at in range(len(plain) - 1))


def _tokens(text: str) -> list[str]:
    """Return the words and signs that mean something, in their order."""
    words, characters = _light()
    found = _TOKEN.findall(fold(text).text.casefold())
    return [_singular(token) for token in found if token not in words and token not in characters]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.isalpha() and word.endswith("s") and not word.endswith("ss") else word


@cache
def _light() -> tuple[frozenset[str], frozenset[str]]:
    words = read("light.toml")["words"]
    return frozenset(words["english"]), frozenset(words["chinese"])
