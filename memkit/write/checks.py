"""Decide whether a string that has the shape of a number or secret really is one: check digits, and what is plainly not a secret.

Pure functions from a string to a bool, named in `detectors.toml`. Left out: finding the string in the first place (`redact.py`).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence

IBAN_LENGTHS = dict(
    pair.split(":")
    for pair in (
        "AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BR:29 BY:28 CH:21 CR:22 CY:28 CZ:24 DE:22 DK:18 DO:28 EE:20 EG:29 ES:24 FI:18 "
        "FO:18 FR:27 GB:22 GE:22 GI:23 GL:18 GR:27 GT:28 HR:28 HU:28 IE:22 IL:23 IQ:23 IS:26 IT:27 JO:30 KW:30 KZ:20 LB:28 LC:32 LI:21 LT:20 "
        "LU:20 LV:21 MC:27 MD:24 ME:22 MK:19 MR:27 MT:31 MU:30 NL:18 NO:15 PK:24 PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 SA:24 SE:24 SI:19 SK:24 "
        "SM:27 TN:24 TR:26 UA:29 VA:22 VG:24 XK:20"
    ).split()
)
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
_ORDINARY = frozenset(
    "none null nil true false yes no on off undefined required optional string str text bytes number int integer bool boolean object any type password "
    "passwd secret token key apikey hidden masked empty unset default enabled disabled valid invalid expired missing wrong incorrect correct reset "
    "changed unknown self this await async return bearer basic input prompt hash hashed plain plaintext sha1 sha256 sha512 md5 base64 utf8 utf-8 "
    "oauth2 argon2 bcrypt pbkdf2 2fa mfa hs256 rs256 es256 aes256 aes-256 sha-256 sha-512 http2 ipv4 ipv6 n/a tbd abc123 mock fake stdin ask auto "
    "manual always never see docs read write admin user pass fail ed25519 rsa2048 rsa4096 x509 pkcs8 pkcs12 oauth2.0 sha3 s3 k8s ec2 uuid4".split()
)


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
        or len(set(value)) <= 2
        or value.lower() in _ORDINARY
        or bool(_REFERENCE.fullmatch(value[:400]) or _MEASURE.fullmatch(value[:400]))
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
    changes = sum(a.isupper() != b.isupper() for a, b in zip(value, value[1:], strict=False))
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
    return IBAN_LENGTHS.get(bare[:2]) == str(len(bare)) and int("".join(str(int(c, 36)) for c in bare[4:] + bare[:4])) % 97 == 1


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
