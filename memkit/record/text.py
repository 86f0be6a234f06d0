"""Fold, normalise and count text: the one place where a string is made comparable.

`fold` undoes disguises that do not change what a reader sees (width, compatibility forms, invisible characters) and can say where each
character came from. `normalise` goes further, to a value that is only good for comparing. `count_tokens` estimates length for budgets.
Left out: stemming and splitting into terms (`read/analyze.py`), and any judgement of what the text says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

MAX_MARKS = 30  # the Stream-Safe Text Format of Unicode Standard Annex 15; canonical ordering is quadratic in longer runs

compiled = cache(re.compile)  # a pattern is compiled when it is first used, and kept

_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
_EDGES = r"(?<!\S)(?![-+]\d)[^\w\s]+(?=\w)|(?<=\w)[^\w\s]+(?!\S)|[\u0300-\u036f\u2800]"
_ALONE = (
    r"[\t\n\r -~\u00c0-\u0131\u0400-\u0482\u2018-\u201d\u3000-\u3002ぁ-ゖァ-ー\u4e00-\u9fff가-힣\uff01-\uff5e]*"  # letters without marks
)
_WIDE = {0x3000: " ", **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}}
_INVISIBLE = frozenset(map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
_COMPOSING = (range(0x1161, 0x1200), range(0x16D63, 0x16D6B))  # letters, not marks, that still compose with what stands before them

_ASCII_TOKEN = (
    r"[A-Z][a-z]{1,3}|[a-z]{1,4}|[A-Z]{1,3}|[0-9]|[!-/:-@\[-`{-~]"
    r"| {1,16}(?= [0-9])| {2,16}| (?=[0-9])|\t{1,16}|[\n\r]{1,16}|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_NO_WORD = r"[0-9][A-Za-z]|[A-Za-z][0-9]|[A-Za-z]{17}"
_HASH = rf"(?<![A-Za-z0-9])(?=[A-Za-z0-9]*?(?:{_NO_WORD}))[A-Za-z0-9]+"  # what is no word: a digit at a letter, or too long


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text, and for each of its characters where the original character (or cluster) starts and ends."""

    text: str
    offsets: Sequence[int]
    ends: Sequence[int]

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Map a span of the folded text to the smallest span of the original that holds it.

        >>> fold("x\\u200b\\uff21y").original_span(1, 2)
        (2, 3)
        """
        if start >= end:
            at = self.offsets[start] if start < len(self.offsets) else (self.ends[-1] if self.ends else 0)
            return at, at
        return self.offsets[start], self.ends[end - 1]

    def rewrite(self, changes: Iterable[tuple[int, int, str]]) -> Folded:
        """Replace disjoint spans (start, end, new), in order; what is new stands for all that it replaces.

        >>> fold("say g h p").rewrite([(5, 6, ""), (7, 8, "")]).text
        'say ghp'
        """
        parts, offsets, ends, at = list[str](), list[int](), list[int](), 0
        for start, stop, new in (*changes, (len(self.text), len(self.text), "")):
            parts += [self.text[at:start], new]
            offsets += [*self.offsets[at:start], *(self.offsets[start] for _ in new)]
            ends += [*self.ends[at:start], *(self.ends[stop - 1] for _ in new)]
            at = stop
        return Folded("".join(parts), offsets, ends)

    def within(self, start: int, end: int, text: str) -> Folded:
        """Return what a span really says as a text of its own, each character of which stands for the whole span."""
        return Folded(text, [self.offsets[start]] * len(text), [self.ends[end - 1]] * len(text))


def fold(text: str) -> Folded:
    """Fold `text` to NFKC without invisible characters, in linear time, keeping the way back.

    Full-width and other compatibility forms become plain ones; format, tag, variation and control characters go (tab and line ends
    stay); more than 30 marks on one letter are cut. The result equals `unicodedata.normalize("NFKC", ...)` of what is left.

    >>> fold("\\uff50a\\u200bss").text
    'pass'
    """
    if (narrow := _one_for_one(text)) is not None:
        return Folded(narrow, range(len(text)), range(1, len(text) + 1))
    alphabet = {char: _alone(char) for char in set(text)}
    if all(len(form) == 1 for form in alphabet.values()):
        return Folded("".join([alphabet[char] for char in text]), range(len(text)), range(1, len(text) + 1))
    clusters = list(_clusters(text, alphabet))
    offsets = [first for first, _, form in clusters for _ in form]
    return Folded("".join([form for _, _, form in clusters]), offsets, [last for _, last, form in clusters for _ in form])


def _one_for_one(text: str) -> str | None:
    """Return the folded text where each character, whatever stands beside it, folds to one; None for what takes a closer look."""
    if text.isascii():
        return None if compiled(_CONTROL).search(text) else text
    if not compiled(_ALONE).fullmatch(text):
        return None
    return text.translate(_WIDE) if compiled("[\u3000\uff01-\uff5e]").search(text) else text


def _clusters(text: str, alphabet: dict[str, str]) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, folded) of each character together with the marks and invisible characters that follow it."""
    starts = [at for at, char in enumerate(text) if alphabet[char] or not at]
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        kept = [at for at in range(start, stop) if _role(text[at]) != "drop"][: MAX_MARKS + 1]
        if stop - start == 1 and alphabet[text[start]]:
            yield start, stop, alphabet[text[start]]
        elif kept:
            form = _nfkc("".join([text[at] for at in kept]))
            yield kept[0], kept[-1] + 1, "".join([c for c in form if _role(c) != "drop"])


@lru_cache(maxsize=4096)
def _nfkc(cluster: str) -> str:
    return unicodedata.normalize("NFKC", cluster)


@lru_cache(maxsize=4096)
def _alone(char: str) -> str:
    return "" if _role(char) else _nfkc(char)


@lru_cache(maxsize=4096)
def _role(char: str) -> str:
    """Say whether a character is invisible ("drop"), may join the one before it ("join"), or stands alone ("")."""
    if char in "\t\n\r":
        return ""
    if char in _INVISIBLE or unicodedata.category(char) in ("Cf", "Cc"):
        return "drop"
    first = unicodedata.normalize("NFKD", char)[0]
    if unicodedata.category(first)[0] == "M" or any(ord(first) in span for span in _COMPOSING):
        return "join"
    return ""


@cache
def _look_alikes() -> tuple[dict[int, str], dict[int, str]]:
    """Read the table of look-alikes: all of them, and the small forms of each as `casefold` leaves them."""
    lines = Path(__file__).with_name("confusables.txt").read_text(encoding="utf-8").split("\n")
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    exact = {ord(char): latin for latin, chars in rows for char in chars}
    folded = {ord(char.casefold()): latin.casefold() for latin, chars in rows for char in chars if len(char.casefold()) == 1}
    return exact, {**folded, **{code: latin.casefold() for code, latin in exact.items() if chr(code) == chr(code).casefold()}}


@cache
def _any_look_alike() -> str:
    return f"[{re.escape(''.join(map(chr, _look_alikes()[0])))}]"


def latinise(text: str) -> str:
    """Replace each look-alike letter by its Latin twin, one for one, so that positions stay.

    >>> latinise("g\\u04bbp_")
    'ghp_'
    """
    return text.translate(_look_alikes()[0]) if not text.isascii() and compiled(_any_look_alike()).search(text) else text


def plain(value: str) -> str:
    """Return the text as a reader sees it, for asking whether two say the same: folded, blanks as one; case and look-alikes count.

    >>> plain("  Deploy   on Friday ")
    'Deploy on Friday'
    """
    narrow = _one_for_one(value)
    return " ".join((fold(value).text if narrow is None else narrow).split())


def normalise(value: str) -> str:
    """Reduce `value` to what two disguises of it share: the key of tombstones and of duplicate detection.

    Folded, case-folded, look-alike letters replaced by Latin ones; punctuation at the edges of words, loose marks and all white space go.
    Digits, signs before digits, punctuation inside words and accents stay. It repeats until nothing changes. Not for showing:
    "\\u0441o" and "co" are one.

    >>> normalise("  TKT\\u2010100 is \\uff2f\\u039aAY ")
    'tkt-100isokay'
    """
    if value.isascii() and not compiled(_CONTROL).search(value):
        return _bare(value.lower())
    now = fold(value).text
    if any(c.isascii() and c.isalpha() for c in now):  # capitals of another script among Latin letters are Latin capitals
        now = latinise(now)
    before = None
    while now != before:
        before = now
        now = _bare(fold(now.casefold()).text.translate(_look_alikes()[1]))
    return now


def spelled(text: str) -> Folded:
    """Return text as it reads, in small Latin letters wherever it looks like them, keeping the way back.

    >>> spelled("\u041e\uff2b (yes)").text
    'ok (yes)'
    """
    seen = fold(text)
    now = latinise(seen.text) if any(c.isascii() and c.isalpha() for c in set(seen.text)) else seen.text
    forms = {char: _small(char) for char in set(now)}
    if all(len(form) == 1 for form in forms.values()):
        return Folded("".join([forms[char] for char in now]), seen.offsets, seen.ends)
    return Folded(now, seen.offsets, seen.ends).rewrite((at, at + 1, forms[c]) for at, c in enumerate(now) if forms[c] != c)


@lru_cache(maxsize=4096)
def _small(char: str) -> str:
    return char.casefold().translate(_look_alikes()[1])


def comparable(view: Folded) -> Folded:
    """Return `spelled` text nearly as `normalise` sees it: for finding what a longer text says in another spelling.

    >>> comparable(spelled("It is  \u041e\uff2b-ed, (yes)")).text
    'itisok-edyes'
    """
    return view.rewrite((*gone.span(), "") for gone in compiled(rf"{_EDGES}|\s+").finditer(view.text))


def _bare(text: str) -> str:
    for _ in range(2):  # once for each word, once for the whole
        text = "".join(compiled(_EDGES).sub("", text).split())
    return text


def count_tokens(text: str) -> int:
    """Estimate the tokens of `text`, deliberately high, without a model.

    The rule: each started group of four ASCII letters, or of three capitals, each digit, each ASCII punctuation or control character, each
    started run of 2 to 16 blanks, and of 1 to 16 tabs or line ends, is 1 (a single blank is free, as it joins its word, but not before a
    digit); a word in which a digit and a letter meet, or of more than 16 letters, costs 1 a character, as a hash does; any other
    character is 2, and 4 outside the basic plane; and 1 more for any text at all. "" is 0, and text never costs less for being part of a
    longer one. Words of random letters, up to 16 of them, may cost a model more.

    >>> count_tokens("Retry twice, then stop."), count_tokens("重试两次"), count_tokens("at 8 on db3c")
    (9, 9, 10)
    """
    spread = compiled(_HASH).sub(lambda word: "0" * len(word[0]), text) if compiled(_NO_WORD).search(text) else text
    ascii_part = len(compiled(_ASCII_TOKEN).findall(spread)) + bool(text)
    if text.isascii():
        return ascii_part
    near = len(compiled(r"[\x80-\uffff]").findall(text))
    far = len(compiled(r"[\U00010000-\U0010ffff]").findall(text))
    return ascii_part + 2 * near + 4 * far
