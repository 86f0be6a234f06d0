"""Find secrets that have no shape of their own and are known by the name before them: `password = ...`, `the PIN is ...`, `口令：...`.

Names in some twenty languages come from the table. What follows a name must look like a secret, the less so the more plainly the form
announces one. Left out: secrets with a shape (`detectors.py`), and entropy: a word nobody would choose is not thereby a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from memkit.write.checks import mixed, opaque, scrambled, stand_in
from memkit.write.detectors import table

_VALUE = (
    r"(?:\\?\"(?P<d>[^\"\\\n]{1,400})\\?\"|\\?'(?P<s>[^'\\\n]{1,400})\\?'|`(?P<t>[^`\n]{1,400})`|[“「『«‹](?P<c>[^”」』»›\n]{1,200})[”」』»›]"
    r"|(?P<bare>[!#-&*+/-9<?-Z^a-z~][!#-&(-+\--:<-_a-~]{2,400}))"
)
_PRINTABLE = re.compile(r"[!-~“「『«‹]")
_TAIL = r"(?:[_.-]?(?i:\d{1,3}|prod(?:uction)?|dev|test|staging|base|v\d|old|new|live|value|text|plain|hex|env|id)(?![A-Za-z])){0,2}"
_TYPED = r"(?:\s{0,2}:\s{0,2}&?[A-Za-z][\w\[\]<>|. ]{1,30}?\s{0,2}(?==))?"
_SIGN = r"(?::=|=>|->|={1,3}|:{1,2}|\((?=[\"'])|(?<=[\"'])\s?,|[\"',]{0,2}\s{1,20}[\"']?value[\"']?\s{0,3}[:=])"
_SIGNED = re.compile(rf"{_TAIL}[\"'`\]\\)*]{{0,4}}{_TYPED}\s{{0,8}}{_SIGN}\s{{0,8}}[*(\[]{{0,3}}{_VALUE}")
_ABOUT = re.compile(rf"(?:\s{{0,2}}\([^()\n]{{1,30}}\)|的|\s)[^\n:=,.;。\"'`]{{0,40}}[:=][ \t]{{0,4}}{_VALUE}")
_BESIDE = re.compile(rf"{_TAIL}[ \t,]{{0,3}}(?=[\"'`A-Za-z0-9#@$!]){_VALUE}")


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a secret where it occurs: its family, the text of the name, and where it ends."""

    family: str
    text: str
    end: int


@cache
def _names() -> dict[str, tuple[tuple[str, str], ...]]:
    """Sort the names, in every spelling of their spaces, under a short part that must occur for them to occur."""
    sorted_names: dict[str, list[tuple[str, str]]] = {}
    for family in ("password", "token"):
        for name in table().names[family]:
            gate = next((g for g in ("key", "pass", "secret", "token") if g in name), max(re.split("[ _-]", name), key=len))
            spellings = {name.replace(" ", sep) for sep in (" ", "_", "-", "")}
            sorted_names.setdefault(gate, []).extend((family, spelling) for spelling in sorted(spellings))
    return {gate: tuple(names) for gate, names in sorted_names.items()}


@cache
def _spoken() -> re.Pattern[str]:
    words = sorted(table().names["spoken"], key=len, reverse=True)
    latin = "|".join(re.escape(w) for w in words if w.isascii() or w in "éè")
    other = "|".join(re.escape(w) for w in words if not w.isascii() and w not in "éè")
    return re.compile(rf"[^\n:=。;；]{{0,48}}?(?:(?<![A-Za-z])(?i:{latin})[ \t:]{{1,4}}|(?:{other})[ \t:]{{0,3}}){_VALUE}")


def _occurrences(text: str, lower: str) -> Iterator[Name]:
    """Yield each place where a name ends and no letter follows; the longest name wins."""
    found: dict[int, tuple[str, str]] = {}
    for gate, names in _names().items():
        if gate not in lower:
            continue
        for family, name in names:
            at = lower.find(name)
            while at >= 0:
                end = at + len(name)
                if len(name) > len(found.get(end, ("", ""))[1]) and _whole(text, at, end):
                    found[end] = (family, name)
                at = lower.find(name, end)
    for end in sorted(found):
        yield Name(found[end][0], text[end - len(found[end][1]) : end], end)


def _whole(text: str, start: int, end: int) -> bool:
    """Turn down `compass` and `passport`: no letter goes on, and before a short name none stands, unless `dbPass` marks the seam."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if not text[start:end].isascii():
        return True
    if after.isascii() and after.isalpha():
        return False
    return end - start > 5 or not (before.isascii() and before.isalpha()) or (before.islower() and text[start].isupper())


def named(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of the values that follow the name of a secret in folded `text`."""
    done = 0
    for name in _occurrences(text, lower):
        if name.end < done or not _PRINTABLE.search(text, name.end, name.end + 64):
            continue
        for form, pattern in (("sign", _SIGNED), ("about", _ABOUT), ("spoken", _spoken()), ("beside", _BESIDE)):
            match = pattern.match(text, name.end)
            if match and (span := _believed(name, form, match, text)):
                yield *span, "password" if name.family == "password" else "secret"
                done = span[1]
                break


def _believed(name: Name, form: str, match: re.Match[str], text: str) -> tuple[int, int] | None:
    group = match.lastgroup or "bare"
    quoted = group != "bare"
    value = match[group] if quoted else _trimmed(match[group])
    rest = text[match.start(group) + len(value) : match.start(group) + len(value) + 2]
    called = not quoted and rest.isascii() and rest[:1] in ("(", "[")
    if len(value) < 3 or stand_in(value) or called or (quoted and " " in value and "phrase" not in name.text.lower()):
        return None
    if not (_password if name.family == "password" else _token)(name.text, form, value, quoted=quoted):
        return None
    return match.start(group), match.start(group) + len(value)


def _token(name: str, form: str, value: str, *, quoted: bool) -> bool:
    """Believe an opaque value; after a plain sign also a mixed or a long one."""
    if value.isdecimal():
        return False
    return opaque(value) or (form == "sign" and len(value) >= 6 and (mixed(value) or (len(value) >= 16 and value.isalnum())))


def _password(name: str, form: str, value: str, *, quoted: bool) -> bool:
    """Believe digits (a PIN) and mixed values; a plain word only in quotes or behind NAME=."""
    if value.isdecimal():
        return form != "beside" and len(value) >= 4 and name.lower() != "pass"
    if form == "sign":
        return quoted or mixed(value) or scrambled(value) or not name.isascii() or (name.isupper() and value.isalpha())
    digits = any(c.isdigit() for c in value)
    return len(value) >= (4 if form == "spoken" else 6) and (
        (mixed(value) and (digits or form != "beside")) or (scrambled(value) and len(value) >= 8)
    )


def _trimmed(value: str) -> str:
    """Cut what belongs to the sentence or the syntax around a bare value, not to the value."""
    if "=" in value.partition("&")[2]:
        value = value.partition("&")[0]
    while value and (value[-1] in ".:*]}|(" or (value[-1] == ")" and "(" not in value)):
        value = value[:-1]
    return value
