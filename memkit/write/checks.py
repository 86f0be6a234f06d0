"""Decide whether a string that has the shape of a number or secret really is one: check digits, and what is plainly not a secret.

Pure functions from a string to a bool, named in `detectors.toml`. Left out: finding the string in the first place (`redact.py`).
"""

from __future__ import annotations

import base64
import binascii
import re
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

_CARD = re.compile(
    r"4\d{15}|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35\d{14}|62\d{14,17}"
)
_STAND_IN = re.compile(
    r"your|example|placeholder|xxxx|change[_-]?me|dummy|redacted|replace|insert|\.\.\.|…|\*\*\*|<|>|\{\{|\$\{|\$\(|%\(|%s|\[\w+[\]-]|_here\b|sample|todo",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\$\w+|%\w+%|[@#]?\{[\w. ]*\}|(?:file|env|vault|arn|ref|op|https?|ssm|secretsmanager|secret)(?:\+\w+)?:.+"
    r"|(?:[A-Za-z_$][\w$]*(?:\?|!|::|->)?[.(\[:]|new )[\w$.\"'()\[\]:, -]*[()\[\]][\w$.\"'()\[\]:, ;-]*"
    r"|[A-Za-z_$][A-Za-z_$]*(?:\.[A-Za-z_$]+)+"
    r"|(?:~|\.{1,2})?/?[a-z0-9_.-]{1,40}(?:/[a-z0-9_.-]{1,40})+/?|/[a-z_.-]{2,40}"
)
_MEASURE = re.compile(
    r"v?\d{1,4}(?:\.\d{1,4}){1,3}(?:[a-z]{1,4}\d{0,3})?|\d{4}-\d\d?-\d\d?(?:T.*)?|\d+(?:ms|[smhdwyk%]|min|px|kb|mb|gb|bits?|bytes|chars?|days?|hours?)|\d\d?:\d\d(?::\d\d)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|")


@cache
def _tables() -> tuple[frozenset[str], dict[str, int]]:
    """Read the ordinary words and the lengths of IBANs, once."""
    raw = tomllib.loads(Path(__file__).with_name("checks.toml").read_text(encoding="utf-8"))
    return frozenset(raw["ordinary"]), {country: row["length"] for row in raw["iban"] for country in row["countries"]}


def placeholder(value: str) -> bool:
    """Recognise what a manual writes where the reader's own secret goes.

    >>> placeholder("xoxb-your-token-here"), placeholder("hunter2")
    (True, False)
    """
    return bool(_STAND_IN.search(value[:400]))


def stand_in(value: str) -> bool:
    """Recognise a placeholder, a reference to a secret kept elsewhere, a measure, or an ordinary word.

    >>> [stand_in(v) for v in ("<YOUR_TOKEN>", "$HOME", "docs/auth.md", "os.environ.get('X')", "1.10.0rc2", "hunter2")]
    [True, True, True, True, True, False]
    """
    return (
        placeholder(value)
        or len(set(value)) <= (1 if value.isdecimal() else 2)
        or value.lower() in _tables()[0]
        or (len(value) <= 100 and bool(_REFERENCE.fullmatch(value) or _MEASURE.fullmatch(value)))
    )


def not_stand_in(value: str) -> bool:
    """Accept what is not a stand-in."""
    return not stand_in(value)


def opaque(value: str) -> bool:
    """Accept a run of twelve or more characters, one part of which mixes letters with digits or case as no word does.

    >>> opaque("q7Zp0aLmX2vB9"), opaque("scikit-learn-contrib-2"), opaque("xxxxxxxxxxxx1")
    (True, False, False)
    """
    if len(value) < 12 or len(set(value[:400])) <= 4 or placeholder(value):
        return False
    return any(not _WORD.fullmatch(part) for part in re.split(r"[-_./+=~:]", value[:400]))


def mixed(value: str) -> bool:
    """Accept a value in which letters stand beside digits or symbols, and which is no stand-in."""
    letters = any(c.isalpha() for c in value)
    return letters and any(not c.isalpha() and c not in "_-./" for c in value) and not stand_in(value)


def scrambled(value: str) -> bool:
    """Accept letters whose case changes too often for a name such as `userPassword`.

    >>> scrambled("AiyqkPUYUxQX"), scrambled("userPassword")
    (True, False)
    """
    changes = sum(a.isupper() != b.isupper() for a, b in pairwise(value))
    return len(value) >= 8 and changes * 3 >= len(value) and not stand_in(value)


def letters(value: str) -> bool:
    """Accept a token of more than four different characters that is no placeholder."""
    return len(set(value)) > 6 and any(c.isupper() for c in value[4:]) and not placeholder(value)


def digit(value: str) -> bool:
    """Accept a value with four digits or more."""
    return sum(c.isdigit() for c in value) >= 4


def basic(value: str) -> bool:
    """Accept base64 that decodes to `user:password`."""
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def _digits(value: str) -> list[int]:
    return [int(c) for c in value if c.isdecimal()]


def _weighted(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(d * w for d, w in zip(digits, weights, strict=False))


def mod10(value: str) -> bool:
    """Accept digits whose Luhn sum is a multiple of ten (ISO/IEC 7812-1)."""
    digits = _digits(value)[::-1]
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(d * 2 - 9 * (d > 4) for d in digits[1::2])) % 10 == 0


def luhn(value: str) -> bool:
    """Accept a payment card: a known range and length, and a correct Luhn digit.

    >>> luhn("4111 1111 1111 1111"), luhn("4111 1111 1111 1112")
    (True, False)
    """
    return bool(_CARD.fullmatch("".join(map(str, _digits(value))))) and mod10(value)


def china(value: str) -> bool:
    """Accept a Chinese identity number by its check character (GB 11643).

    >>> china("11010519491231002X"), china("110105194912310021")
    (True, False)
    """
    bare = re.sub(r"[ -]", "", value).upper()
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[_weighted(_digits(bare[:17]), weights) % 11] == bare[17]


def uscc(value: str) -> bool:
    """Accept a Chinese unified social credit code by its check character (GB 32100)."""
    order = "0123456789ABCDEFGHJKLMNPQRTUWXY"
    return order[-sum(order.index(c) * pow(3, i, 31) for i, c in enumerate(value[:17])) % 31] == value[17]


def iban(value: str) -> bool:
    """Accept an IBAN: its country's length, and remainder 1 modulo 97 (ISO 13616).

    >>> iban("GB82 WEST 1234 5698 7654 32"), iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    bare = value.replace(" ", "")
    return _tables()[1].get(bare[:2]) == len(bare) and int("".join(str(int(c, 36)) for c in bare[4:] + bare[:4])) % 97 == 1


def phone(value: str) -> bool:
    """Accept seven to fifteen digits that are neither a date nor a dotted version."""
    return 7 <= len(_digits(value)) <= 15 and not re.fullmatch(r"(?:19|20)\d\d[-/.]\d\d?[-/.]\d\d?|\d{1,3}(?:\.\d{1,3}){2,3}", value)


def mailbox(value: str) -> bool:
    """Accept an address that is not a decorated file name or a remote such as `git@host`."""
    local, _, domain = value.partition("@")
    return local not in ("git", "hg", "svn") and domain.rpartition(".")[2].lower() not in (
        "png",
        "jpg",
        "jpeg",
        "svg",
        "gif",
        "webp",
        "js",
        "css",
        "json",
        "py",
        "ts",
        "md",
    )


def hongkong(value: str) -> bool:
    """Accept a Hong Kong identity number by its check character."""
    bare = value.replace("(", "").replace(")", "").rjust(9)
    codes = [36 if c == " " else int(c, 36) for c in bare]
    return _weighted(codes, (9, 8, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def taiwan(value: str) -> bool:
    """Accept a Taiwanese identity number by its check digit."""
    code = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(value[0]) + 10
    return (code // 10 + code % 10 * 9 + _weighted(_digits(value[1:]), (8, 7, 6, 5, 4, 3, 2, 1, 1))) % 10 == 0


def mynumber(value: str) -> bool:
    """Accept a Japanese Individual Number by its check digit."""
    digits = _digits(value)
    rest = _weighted(digits[10::-1], (2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6)) % 11
    return digits[11] == (0 if rest <= 1 else 11 - rest)


def verhoeff(value: str) -> bool:
    """Accept an Aadhaar number by the Verhoeff scheme: the dihedral group of ten, computed rather than tabled."""
    permutation = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)
    total = 0
    for place, number in enumerate(reversed(_digits(value))):
        for _ in range(place % 8):
            number = permutation[number]  # noqa: PLW2901
        total = _dihedral(total, number)
    return total == 0


def _dihedral(a: int, b: int) -> int:
    if a < 5:
        return (a + b) % 5 + 5 * (b >= 5)
    return (a - b) % 5 + 5 * (b < 5)


def nhs(value: str) -> bool:
    """Accept an NHS number by its modulus 11 digit."""
    digits = _digits(value)
    return _weighted(digits, (10, 9, 8, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def spain(value: str) -> bool:
    """Accept a Spanish DNI or NIE by its letter."""
    bare = value.replace("-", "")
    number = bare[:-1].translate(str.maketrans("XYZ", "012"))
    return len(number) == 8 and "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == bare[-1]


def nir(value: str) -> bool:
    """Accept a French social security number by its key modulo 97."""
    bare = value.replace(" ", "").replace("2A", "19").replace("2B", "18")
    return (97 - int(bare[:13]) % 97) == int(bare[13:])


def cpf(value: str) -> bool:
    """Accept a Brazilian CPF by its two check digits."""
    digits = _digits(value)
    if len(set(digits)) == 1:
        return False
    return all(_weighted(digits, range(n + 1, 1, -1)) * 10 % 11 % 10 == digits[n] for n in (9, 10))


CHECKS: dict[str, Callable[[str], bool]] = {
    "value": not_stand_in,
    **{f.__name__: f for f in (opaque, mixed, letters, digit, basic, mod10, luhn, china, uscc, iban, phone, mailbox)},
    **{f.__name__: f for f in (hongkong, taiwan, mynumber, verhoeff, nhs, spain, nir, cpf)},
}
