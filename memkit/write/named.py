"""Find secrets that have no shape of their own and are known by the name before them: `password = ...`, `the PIN is ...`, `口令：...`.

Names in some twenty languages, and the forms in which a value follows one, come from `named.toml`. What follows a name must look like a
secret, the less so the more plainly the form announces one. Left out: secrets with a shape (`table.py`), and entropy: a word nobody would
choose is not thereby a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby

from memkit.record.text import compiled
from memkit.write.checks import mixed, opaque, scrambled, stand_in, titled, varied
from memkit.write.table import Span, any_of, read


@cache
def _names() -> tuple[str, str]:
    """Give two patterns: of short parts, one of which every name holds; and of all names, by their first letter and the longest first."""
    names = sorted({name for names in read("named.toml")["name"].values() for name in names}, key=lambda name: (name[0], -len(name)))
    starts = {next((part for part in ("key", "code") if part in name), name.split()[0]) for name in names}
    parts = [start for start in starts if not any(other in start for other in starts - {start})]
    groups = groupby(names, key=lambda name: name[0])
    tries = (f"{first}(?:{'|'.join(_rest(name) for name in group)})" for first, group in groups)
    return any_of(parts), "|".join(tries)


def _rest(name: str) -> str:
    return re.escape(name[1:]).replace(r"\ ", "[ _-]?") + ("(?![a-z])" if name[-1].isascii() else "")


def named(text: str) -> Iterator[Span]:
    """Yield (start, end, kind) of the values that follow the name of a secret in folded `text`."""
    lower, done = text.replace("\u0130", "I").lower(), 0  # the one letter whose small form is longer
    parts, pattern = _names()
    if not compiled(parts).search(lower):
        return
    for match in compiled(pattern).finditer(lower):
        begins = match.end() >= done and compiled("[!-~“「『«‹]").search(text, match.end(), match.end() + 64)
        if begins and _whole(text, *match.span()) and (span := _value(text[match.start() : match.end()], text, match.end())):
            yield span
            done = span[1]


def _whole(text: str, start: int, end: int) -> bool:
    """Turn down `compass`: before a short Latin name no letter stands, unless `dbPass` marks the seam."""
    before = text[start - 1 : start]
    return (
        end - start > 5
        or not (before.isascii() and before.isalpha() and text[start].isascii())
        or (before.islower() and text[start].isupper())
    )


def _value(name: str, text: str, at: int) -> Span | None:
    """Find the value after a name, by the first form that fits and is believed."""
    tables = read("named.toml")
    plain = re.sub("[ _-]", " ", name.lower())
    family = next((family for family in ("password", "code") if plain in tables["name"][family]), "secret")
    for form, pattern in tables["form"].items():
        match = compiled(pattern).match(text, at)
        if match:
            group = match.lastgroup or ""
            value = match[group] if group != "bare" else _trimmed(match[group])
            start, end = match.start(group), match.start(group) + len(value)
            called = group == "bare" and compiled(r"[(\[](?![^\x00-\x7f])").match(text, end)
            if not called and len(value) >= 3 and not stand_in(value) and _believed(name, family, form, value, group != "bare"):
                return start, end, "secret" if family == "secret" else "password"
    return None


def _believed(name: str, family: str, form: str, value: str, quoted: bool) -> bool:
    """Judge a value: a token must be opaque, signed or odd; a password may be digits (a PIN), mixed, or after a sign a quoted word."""
    if quoted and " " in value and "phrase" not in name.lower():
        return False
    if name.lower() == "pass" and form != "sign":  # mostly a verb: "pass expected=2"
        return "=" not in value and scrambled(value)
    if value.isdecimal():
        return family != "secret" and name.lower() != "pass" and len(value) >= 4 and (form not in ("beside", "below") or family == "code")
    if form == "below":
        return len(value) >= 8 and varied(value)
    return _token_like(form, value) if family == "secret" else _password_like(name, form, value, quoted)


def _token_like(form: str, value: str) -> bool:
    signed = form == "sign" and len(value) >= 6 and (mixed(value) or (len(value) >= 16 and value.isalnum() and not titled(value)))
    return opaque(value) or signed or (len(value) >= 10 and any(c in "!@#$%^&*~" for c in value) and varied(value))


def _password_like(name: str, form: str, value: str, quoted: bool) -> bool:
    if form == "sign":
        return quoted or mixed(value) or scrambled(value) or not name.isascii() or (name.isupper() and value.isalpha())
    plain = form == "beside" and not any(c.isdigit() for c in value)
    return len(value) >= (4 if form == "spoken" else 6) and ((mixed(value) and not plain) or scrambled(value))


def _trimmed(value: str) -> str:
    """Cut what belongs to the sentence or the syntax around a bare value, not to the value."""
    if "=" in value.partition("&")[2]:
        value = value.partition("&")[0]
    return value.rstrip(".:*]}|(" if "(" in value[:-1] else ".:*]}|()")
