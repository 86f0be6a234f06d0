"""Decide whether a string that has the shape of a number or secret really is one: check digits, and what is plainly not a secret.

Pure functions from a string to a bool, named in `detectors.toml`. Left out: finding the string in the first place (`table.py`).
"""

from __future__ import annotations

import base64
import binascii
import tomllib
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

from memkit.record.text import compiled


@cache
def _stand_ins() -> tuple[frozenset[str], str, str]:
    """Read the ordinary words, and the patterns of placeholders and of references, once."""
    raw = tomllib.loads(Path(__file__).with_name("checks.toml").read_text(encoding="utf-8"))
    return frozenset(raw["ordinary"]), "(?i)" + "|".join(raw["placeholder"]), "|".join(raw["reference"])


def placeholder(value: str) -> bool:
    """Recognise what a manual writes where the reader's own secret goes.

    >>> placeholder("xoxb-your-token-here"), placeholder("hunter2")
    (True, False)
    """
    return bool(compiled(_stand_ins()[1]).search(value[:400]))


def stand_in(value: str) -> bool:
    """Recognise a placeholder, a reference to a secret kept elsewhere, a measure, or an ordinary word.

    >>> [stand_in(v) for v in ("<YOUR_TOKEN>", "$HOME", "docs/auth.md", "os.environ.get('X')", "1.10.0rc2", "hunter2")]
    [True, True, True, True, True, False]
    """
    ordinary, _, reference = _stand_ins()
    plain = len(set(value)) <= (1 if value.isdecimal() else 2) or value.lower() in ordinary
    return plain or placeholder(value) or (len(value) <= 100 and bool(compiled(reference).fullmatch(value)))


def token(value: str) -> bool:
    """Accept what has the prefix of a token, unless what follows is plainly made up, such as `ghp_xxxxxxxx`."""
    return len(set(value[-12:])) > 2 and not (len(value) < 64 and (value.endswith("EXAMPLE") or placeholder(value)))


def opaque(value: str) -> bool:
    """Accept a run of twelve or more characters, one part of which mixes letters with digits or case as no word does.

    >>> opaque("q7Zp0aLmX2vB9"), opaque("scikit-learn-contrib-2"), opaque("xxxxxxxxxxxx1")
    (True, False, False)
    """
    if len(value) < 12 or len(set(value[:400])) <= 4 or placeholder(value):
        return False
    return any(
        not compiled("[a-z]*(?:[A-Z][a-z]{2,})*[A-Z]{0,3}[0-9]{0,2}|[A-Z]?[a-z]+|[A-Z]+|[0-9]+").fullmatch(part)
        for part in compiled("[-_./+=~:,]").split(value[:400])
    )


def mixed(value: str) -> bool:
    """Accept a value in which letters stand beside digits or symbols, and which is no stand-in."""
    return any(c.isalpha() for c in value) and any(not c.isalpha() and c not in "_-./" for c in value) and not stand_in(value)


def scrambled(value: str) -> bool:
    """Accept letters whose case changes too often for a name such as `userPassword`.

    >>> scrambled("AiyqkPUYUxQX"), scrambled("userPassword")
    (True, False)
    """
    changes = sum(a.isupper() != b.isupper() for a, b in pairwise(value))
    return len(value) >= 8 and changes * 3 >= len(value) and not stand_in(value)


def varied(value: str) -> bool:
    """Accept a value of three kinds of characters or more: small and capital letters, digits, and symbols that join no words.

    >>> varied("Zq7!mk2p"), varied("main-branch-2"), varied("src/App.tsx")
    (True, False, False)
    """
    kinds = any(map(str.islower, value)) + any(map(str.isupper, value)) + any(map(str.isdecimal, value))
    return kinds + any(not c.isalnum() and c not in "_-./:,;()" for c in value) >= 3 and not stand_in(value)


def dense(value: str) -> bool:
    """Accept a rest, after any prefix, of 20 or more characters that mixes small and capital letters with digits as names do not.

    >>> dense("acme_" + "q7Zp0aLmX2vB9Tk" * 2), dense("get_UserAccountSettingsForTenant2"), dense("rev-" + "0a1b2c3d" * 5)
    (True, False, False)
    """
    rest = value.rstrip("=").rpartition("_")[2].rpartition("-")[2] if len(value) < 80 else value
    kinds = ["a" if c.islower() else "A" if c.isupper() else "0" if c.isdecimal() else "+" for c in rest]
    changes = sum(a != b for a, b in pairwise(kinds))
    return len(rest) >= 20 and {"a", "A", "0"} <= set(kinds) and changes * 20 >= len(rest) * 9 and not placeholder(value)


def titled(value: str) -> bool:
    """Recognise a name in camel case, such as `ClientSecretExpiresAfter`."""
    return bool(compiled("[a-z]*(?:[A-Z][a-z]{2,})+").fullmatch(value))


def basic(value: str) -> bool:
    """Accept base64 that decodes to `user:password`."""
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def luhn(value: str) -> bool:
    """Accept digits whose Luhn sum is a multiple of ten (ISO/IEC 7812-1), such as those of a payment card.

    >>> luhn("4111 1111 1111 1111"), luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(c) for c in value if c.isdecimal()][::-1]
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(d * 2 - 9 * (d > 4) for d in digits[1::2])) % 10 == 0


def china(value: str) -> bool:
    """Accept a Chinese identity number by its check character (GB 11643), whose weights are the powers of two modulo 11.

    >>> china("11010519491231002X"), china("110105194912310021")
    (True, False)
    """
    digits = [10 if c in "xX" else int(c) for c in value if c not in " -"]
    return sum(digit << place for place, digit in enumerate(reversed(digits))) % 11 == 1


def iban(value: str) -> bool:
    """Accept an IBAN: remainder 1 modulo 97 (ISO 13616).

    >>> iban("GB82 WEST 1234 5698 7654 32"), iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    bare = value.replace(" ", "")
    return int("".join(str(int(c, 36)) for c in bare[4:] + bare[:4])) % 97 == 1


def spain(value: str) -> bool:
    """Accept a Spanish DNI or NIE by its letter."""
    number = value[:-1].strip("-").translate(str.maketrans("XYZ", "012"))
    return len(number) == 8 and "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == value[-1]


def nir(value: str) -> bool:
    """Accept a French social security number by its key modulo 97."""
    bare = value.replace(" ", "").replace("2A", "19").replace("2B", "18")
    return (int(bare[:13]) + int(bare[13:])) % 97 == 0


CHECKS: dict[str, Callable[[str], bool]] = {
    "any": bool,
    "value": lambda value: not stand_in(value),
    **{check.__name__: check for check in (token, opaque, varied, dense, basic, luhn, china, iban, spain, nir)},
}
