"""Find secrets that have no shape of their own and are known by the name before them: `password = ...`, `the PIN is ...`, `口令：...`.

Names in some twenty languages, and the forms in which a value follows one, come from `named.toml`. What follows a name must look like a
secret, the less so the more plainly the form announces one. Left out: secrets with a shape (`table.py`), and entropy: a word nobody would
choose is not thereby a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memkit.record.text import compiled
from memkit.write.checks import mixed, opaque, scrambled, stand_in
from memkit.write.table import Span, any_of, read


@cache
def _names() -> tuple[str, str]:
    """Give the pattern of short parts, one of which every name holds, and the pattern of all names, the longest first."""
    names = sorted({name for names in read("named.toml")["name"].values() for name in names}, key=len, reverse=True)
    starts = {"key" if "key" in name else name.split()[0] for name in names}
    parts = [start for start in starts if not any(other in start for other in starts - {start})]
    ends = [re.escape(name).replace(r"\ ", "[ _-]?") + ("(?![a-z])" if name[-1].isascii() else "") for name in names]
    return any_of(parts), "|".join(ends)


def named(text: str) -> Iterator[Span]:
    """Yield (start, end, kind) of the values that follow the name of a secret in folded `text`."""
    lower, done = text.replace("\u0130", "I").lower(), 0  # the one letter whose small form is longer
    part, pattern = _names()
    if not compiled(part).search(lower):
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
    family = "password" if re.sub("[ _-]", " ", name.lower()) in tables["name"]["password"] else "secret"
    for form, pattern in tables["form"].items():
        match = compiled(pattern).match(text, at)
        if match:
            group = match.lastgroup or ""
            value = match[group] if group != "bare" else _trimmed(match[group])
            start, end = match.start(group), match.start(group) + len(value)
            called = group == "bare" and compiled(r"[(\[](?![^\x00-\x7f])").match(text, end)
            if not called and len(value) >= 3 and not stand_in(value) and _believed(name, family, form, value, group != "bare"):
                return start, end, family
    return None


def _believed(name: str, family: str, form: str, value: str, quoted: bool) -> bool:
    """Judge a value: a token must be opaque or signed; a password may be digits (a PIN), mixed, or after a sign a quoted word."""
    if quoted and " " in value and "phrase" not in name.lower():
        return False
    if name.lower() == "pass" and form != "sign":  # mostly a verb: "pass expected=2"
        return "=" not in value and scrambled(value)
    if family == "secret":
        signed = form == "sign" and len(value) >= 6 and (mixed(value) or (len(value) >= 16 and value.isalnum()))
        return not value.isdecimal() and (opaque(value) or signed)
    if value.isdecimal():
        return form != "beside" and len(value) >= 4 and name.lower() != "pass"
    if form == "sign":
        return quoted or mixed(value) or scrambled(value) or not name.isascii() or (name.isupper() and value.isalpha())
    plain = form == "beside" and not any(c.isdigit() for c in value)
    return len(value) >= (4 if form == "spoken" else 6) and ((mixed(value) and not plain) or scrambled(value))


def _trimmed(value: str) -> str:
    """Cut what belongs to the sentence or the syntax around a bare value, not to the value."""
    if "=" in value.partition("&")[2]:
        value = value.partition("&")[0]
    return value.rstrip(".:*]}|(" if "(" in value[:-1] else ".:*]}|()")
