"""Turn text into the terms it can be found by; documents and queries go through the same function.

Terms are stemmed English words, identifiers whole and in parts, and single characters and pairs of characters for scripts that put no
space between words (Chinese, Japanese, Korean; also Thai, Lao, Burmese, Khmer). Any string is legal, and time is linear in its length.

Left out: word segmentation by dictionary, stemming of other languages, synonyms, spelling correction, emoji (they yield no term),
punctuation with a meaning (`C++` is found by `c`) and camelCase in alphabets other than Latin. Negations are never stop words: "use npm"
and "do not use npm" must not look alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path

from memkit.record.text import fold

LONGEST = 128  # characters of one term; what is longer is cut, so an over-long word stands for all that begin alike

# "no" and "not" are absent on purpose. The single letters are what an apostrophe leaves behind: it's, don't, we'll.
STOP_WORDS = frozenset(
    """a an and any are as at be been being but by can could d did do does for from had has have he her his how i if in into is it its ll m
    me my of on or our please re s she should so some t than that the their them then there these they this those to ve was we were what
    when where which who whom whose why will with would you your""".split()  # noqa: SIM905
)
CHINESE_STOP_WORDS = re.compile(  # a longer word stands before those it begins with
    "为什么|什么|怎么样|怎么|怎样|如何|哪里|哪些|哪个|哪儿|哪种|多少|是否|请问|我们|你们|他们|它们|她们|这个|那个|这些|那些|一个|"
    "以及|并且|或者|因为|所以"
)
CHINESE_STOP_CHARACTERS = frozenset("的了是在和与及或吗呢吧啊呀嘛着把被为就也都而之其于谁哪几我你他她它这那个么请")

# Characters of scripts written without spaces: Thai and Lao, Burmese, Hangul, Khmer, kana, Han.
_UNSPACED = (
    "\u0e01-\u0ece\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Signs that belong to the letter before them (accents, Hebrew and Arabic points, Indic vowels) but are not letters to `re`.
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0dff"
_WORD = rf"[^\W_{_UNSPACED}]++(?:[{_MARKS}]++[^\W_{_UNSPACED}]*+)*+"
_TOKEN = re.compile(rf"({_WORD}(?:_{{0,2}}[-._/\\@]_{{0,2}}{_WORD})*+)|([{_UNSPACED}]++)")
_PAIR = re.compile(rf"[{_UNSPACED}]")

# Where an identifier comes apart, widest cut first: path and address, version mark, dots, snake and kebab, camelCase and digits.
_CUTS = (
    re.compile(r"[/\\@]"),
    re.compile(r"^[vV](?=\d)"),
    re.compile(r"\."),
    re.compile(r"[-_]+"),
    re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])|(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)"),
)


def analyze(text: str) -> list[str]:
    """Return the terms of `text` in reading order, repeated as often as they occur; `[]` where nothing but stop words is left.

    >>> analyze("The retries of the HTTPServer were raised")
    ['retri', 'httpserver', 'http', 'server', 'rais']
    >>> analyze("src/app/main.py")
    ['src/app/main.py', 'src', 'app', 'main.py', 'main', 'py']
    >>> analyze("max_retry-count maxRetryCount")
    ['max_retry-count', 'max', 'retri', 'count', 'maxretrycount', 'max', 'retri', 'count']
    >>> analyze("Python 3.11.2, v1.2")
    ['python', '3.11.2', '3', '11', '2', 'v1.2', '1.2', '1', '2']
    >>> analyze("用pnpm安装")
    ['用', 'pnpm', '安', '装', '安装']
    >>> analyze("数据库的密码是什么")
    ['数', '据', '库', '密', '码', '数据', '据库', '库的', '的密', '密码', '码是']
    >>> analyze("備份") == analyze("备份")
    True
    >>> analyze("What is it?"), analyze("为什么？"), analyze("🙂")
    ([], [], [])
    """
    terms: list[str] = []
    for token, run in _TOKEN.findall(fold(text).text):
        if run:
            terms.extend(_grams(simplified(run)))
        elif len(token) <= LONGEST:
            terms.extend(_cached_terms(token))
        else:
            terms.extend(_terms(token))
    return terms


def simplified(text: str) -> str:
    """Write traditional characters as simplified ones, one for one: a question in one script finds what was written in the other.

    >>> simplified("當前分支")
    '当前分支'
    """
    return text.translate(_simplified())


@cache
def _simplified() -> dict[int, str]:
    """Read the table of traditional characters."""
    lines = Path(__file__).with_name("traditional.txt").read_text(encoding="utf-8").split("\n")
    return {ord(one): line[0] for line in lines if line and line[0] != "#" for one in line[2:]}


def is_pair(term: str) -> bool:
    """Return whether a term is two characters of a script without spaces, each of which is a term as well.

    >>> is_pair("密码"), is_pair("密"), is_pair("py")
    (True, False, False)
    """
    return len(term) == 2 and _PAIR.match(term) is not None


def is_character(term: str) -> bool:
    """Return whether a term is one character of a script without spaces.

    >>> is_character("密"), is_character("密码"), is_character("3")
    (True, False, False)
    """
    return len(term) == 1 and _PAIR.match(term) is not None


def forget_cached() -> None:
    """Empty the cache of words seen, because it may hold one that has to be forgotten.

    >>> forget_cached()
    >>> _cached_terms.cache_info().currsize
    0
    """
    _cached_terms.cache_clear()


@lru_cache(maxsize=16_384)
def _cached_terms(token: str) -> tuple[str, ...]:
    """Remember the terms of words seen lately; stemming is most of the work, and most words come again."""
    return _terms(token)


def _terms(token: str) -> tuple[str, ...]:
    """Return the terms of one spaced word or identifier: the whole first, then its parts.

    >>> _terms("alice@example.org")
    ('alice@example.org', 'alic', 'example.org', 'exampl', 'org')
    """
    pieces = [piece for piece in _pieces(token) if len(piece) > 1 or piece.isdigit() or piece == token]
    return tuple(_term(piece) for piece in pieces if piece.casefold() not in STOP_WORDS)


def _pieces(piece: str, level: int = 0) -> Iterator[str]:
    """Yield everything an identifier is made of: each part that comes apart further, and the parts that do not.

    >>> list(_pieces("docs/readMe.md"))
    ['docs/readMe.md', 'docs', 'readMe.md', 'readMe', 'read', 'Me', 'md']
    """
    if level == len(_CUTS):
        yield piece
        return
    parts = [part for raw in _CUTS[level].split(piece) if (part := raw.strip("-_"))]
    if parts != [piece]:
        yield piece
    for part in parts:
        yield from _pieces(part, level + 1)


def _term(piece: str) -> str:
    r"""Write a piece as a term: folded case, a Windows path as any other, an English word as its stem.

    >>> _term("Connections"), _term("src\\app"), _term("Straße")
    ('connect', 'src/app', 'strass')
    """
    term = piece[:LONGEST].casefold().replace("\\", "/")
    return _stem(term) if term.isascii() and term.isalpha() else term


def _stem(word: str) -> str:
    """Take the ending off an English word (Porter2). A stemmer keeps its word inside itself, so each call, hence each thread, has its own.

    >>> _stem("retries"), _stem("retrying")
    ('retri', 'retri')
    """
    return str(_stemmer_class()().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer_class() -> type:
    """Import the stemmer when the first word needs it: it loads thirty languages and would double what `import memkit` may add.

    >>> _stemmer_class().__name__
    'EnglishStemmer'
    """
    found: type = import_module("snowballstemmer.english_stemmer").EnglishStemmer
    return found


def _grams(run: str) -> Iterator[str]:
    """Yield the characters and the pairs of characters of unspaced text, without those made of stop words alone.

    >>> list(_grams("目的是什么"))
    ['目', '目的']
    """
    for stretch in CHINESE_STOP_WORDS.split(run):
        yield from (character for character in stretch if character not in CHINESE_STOP_CHARACTERS)
        pairs = (stretch[at : at + 2] for at in range(len(stretch) - 1))
        yield from (pair for pair in pairs if not CHINESE_STOP_CHARACTERS.issuperset(pair))
