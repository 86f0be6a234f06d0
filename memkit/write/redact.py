"""Find secrets and personal data in a text and mask them, before anything is kept.

What to look for stands elsewhere (`detectors.toml`, `named.toml`), as does undoing disguises (`disguise.py`); here is only how: fold, look
at the text and at each disguise undone, make each find a wall, look again until nothing is found, and mask in place.
Left out: what the caller does about findings (mask or refuse), and any storage. A finding never holds what it found.
"""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from memkit.errors import Refused
from memkit.record.text import Folded, compiled, fold
from memkit.write.disguise import WALL, disguises
from memkit.write.named import named
from memkit.write.table import Span, merged, table

MOST_CLEAN = 1_000  # digests of clean texts that are remembered
_CLEAN: dict[bytes, None] = {}
_KEY = os.urandom(32)
MAX_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Finding:
    """A kind of secret and where it stood in the original text; never the secret itself."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """The masked text and what was masked, in order."""

    text: str
    findings: tuple[Finding, ...]


def redact(text: str, *, leave: Iterable[str] = ()) -> Redacted:
    """Mask every secret in `text` as `[redacted:kind]` and leave the rest byte for byte.

    Looks at the folded text, so that width, invisible characters and look-alikes do not hide a secret. Masking again changes nothing.
    `leave` holds beginnings of kinds not to look for, such as "email"; what else stands there is masked all the same.
    Raises `Refused("REDACTION_FAILED")`, without any of the text, when something inside fails: what cannot be checked is not kept.

    >>> redact("Call me at ann@example.test, please").text
    'Call me at [redacted:email], please'
    """
    try:
        return _settle(text, tuple(leave))
    except Exception:
        raise Refused(
            "REDACTION_FAILED", "the text could not be checked for secrets, so nothing was kept: shorten it or remove unusual characters"
        ) from None


def clean(*texts: str, leave: Iterable[str] = ()) -> bool:
    """Return whether none of the texts holds anything to mask: looked at together, which is quick, and one by one where something shows.

    >>> clean("timeout", "wait 30 s"), clean("timeout", "ask ann@example.test")
    (True, False)
    """
    return not redact("\n\n".join(texts), leave=leave).findings or not any(redact(text, leave=leave).findings for text in texts)


def clean_cited(*texts: str, leave: Iterable[str] = ()) -> bool:
    """Return what `clean` does, of citations: what was clean is remembered for a while, as a digest keyed by this process, because one
    part of a source is cited again and again.
    """
    told = [f"{sorted(leave)} {text}".encode("utf-8", "surrogatepass") for text in texts]
    digests = [hashlib.blake2b(each, key=_KEY, digest_size=16).digest() for each in told]
    if all(map(_CLEAN.__contains__, digests)):
        return True
    if not clean(*texts, leave=leave):
        return False
    if len(_CLEAN) >= MOST_CLEAN:
        _CLEAN.clear()  # one step, whatever other threads do
    _CLEAN.update(dict.fromkeys(digests))
    return True


@cache
def kinds() -> frozenset[str]:
    """Return every kind that may be found: the rows of the table, and what is only known by its name."""
    return frozenset(row.kind for row in table("detectors.toml", "token", "identity").rows) | {"password", "secret"}


def marks(text: str) -> list[tuple[int, int]]:
    """Return where marks of known kinds stand; what only looks like one is text like any other.

    >>> marks("[redacted:email] [redacted:of-no-kind]")
    [(0, 16)]
    """
    found = compiled(r"\[redacted:([a-z0-9-]{1,40})\]").finditer(text) if "[redacted:" in text else ()
    return [mark.span() for mark in found if mark[1] in kinds()]


def _settle(text: str, leave: tuple[str, ...]) -> Redacted:
    """Look until nothing more is found, each find and each mark that was there before made one wall: so the result is a fixed point."""
    view, found = fold(text), list[Span]()
    if walls := marks(view.text):
        view = view.rewrite((*span, WALL) for span in walls)
    for _ in range(MAX_ROUNDS):
        fresh = merged(span for span in _find(view) if not (leave and span[2].startswith(leave)))
        if not fresh:
            return _masked(text, found)
        view = view.rewrite((bisect_left(view.offsets, start), bisect_left(view.offsets, end), WALL) for start, end, _ in fresh)
        found = merged([*found, *fresh])
    raise RecursionError("masking does not come to rest")


def _find(view: Folded) -> list[Span]:
    """Look at the text as it is, and with each disguise undone: what has a shape first, then what is only known by its name."""
    looks = (table("detectors.toml", "token", "identity").spans, named)
    views = [view, *(undone for _, undone in disguises(view))]
    return [(*seen.original_span(start, end), kind) for seen in views for look in looks for start, end, kind in look(seen.text)]


def _masked(text: str, spans: list[Span]) -> Redacted:
    pieces, at = [], 0
    for start, end, kind in spans:
        pieces += [text[at:start], f"[redacted:{kind}]"]
        at = end
    return Redacted("".join([*pieces, text[at:]]), tuple(Finding(kind, start, end) for start, end, kind in spans))
