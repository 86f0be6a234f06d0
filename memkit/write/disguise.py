"""Undo the disguises that a text may wear, one at a time, keeping the way back to the original.

Folding (`record/text.py`) has undone what a reader does not even see; here are look-alike letters, digits of other scripts, escapes,
spaced letters, split literals and codes, each undone once. Left out: what only instructions wear (`screen.py`), and disguises inside
disguises.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from unicodedata import decimal

from memkit.record.text import Folded, compiled, fold, latinise

WALL = "\ue000"  # stands for what is masked: no pattern matches across it by name

_ESCAPE = (
    r"[%\\&](?:(?<=%)([0-9A-Fa-f]{2})|(?<=\\)(?:x([0-9A-Fa-f]{2})|u\{?([0-9A-Fa-f]{4})\}?|[nrt])|#x([0-9A-Fa-f]{2,5});|#([0-9]{2,6});)"
)
_SPACED = r"[ ._*-](?:[^\s._*-][ ._*-]){5}"
_GAP = r"[ ._*-](?<=\S.)(?<![^\s._*-]..)(?=\S(?:[\s._*-]|$))"
_JOINT = (
    r"[\"'`\\<*=\]](?:(?<=\\)\n\s{0,8}|(?<==)\n|(?<=\*)\*|(?<=\])\[|(?<=<)/?[A-Za-z]{1,10}\s?/?>"
    r"|(?<=[\"'`])\s{0,3}(?:[+.&\n]|\\\n)?\s{0,8}[\"'`])"
)
_WRAPPED = r"\n(?<=[\w./+-]{8}\n)(?=[\w./+-]{6,200}={0,2}(?:\n|$))"  # with "=" inside it is no rest of a word but the next setting
_DIGIT = r"(?![0-9])\d"  # of another script
_MARKS = "[\u0300-\u036f]+"
_CODED = (r"[A-Za-z0-9+/_-]{16,}={0,2}", r"[0-9A-Fa-f]{2}(?:[ :][0-9A-Fa-f]{2}){11,}")
_LINE_END = r"\n(?<=[A-Za-z0-9+/]{16}\n)"
_CODED_LINES = r"(?:[A-Za-z0-9+/]{16,76}\n){1,200}[A-Za-z0-9+/]{1,76}={0,2}"


def disguises(folded: Folded) -> Iterator[tuple[str, Folded]]:
    """Yield the name of each disguise that the text may wear, and the text without it.

    >>> [(name, view.text) for name, view in disguises(fold("g%68p"))]
    [('escape', 'ghp')]
    """
    text = folded.text
    if (latin := latinise(text)) != text:
        yield "homoglyph", Folded(latin, folded.offsets, folded.ends)
    if not text.isascii() and compiled(_DIGIT).search(text):
        yield "digits", folded.rewrite((*match.span(), str(decimal(match[0]))) for match in compiled(_DIGIT).finditer(text))
    if not text.isascii() and compiled(_MARKS).search(text):
        yield "combining_marks", folded.rewrite((*match.span(), "") for match in compiled(_MARKS).finditer(text))
    if compiled(_ESCAPE).search(text):
        yield "escape", folded.rewrite((*match.span(), _character(match)) for match in compiled(_ESCAPE).finditer(text))
    if compiled(_SPACED).search(text):
        yield "spaced_letters", folded.rewrite((*match.span(), "") for match in compiled(_GAP).finditer(text))
    if compiled(_JOINT).search(text):
        yield "split", folded.rewrite((*match.span(), "") for match in compiled(_JOINT).finditer(text))
    if compiled(_WRAPPED).search(text):
        yield "wrapped", folded.rewrite((*match.span(), "") for match in compiled(_WRAPPED).finditer(text))
    lines = [_CODED_LINES] if compiled(_LINE_END).search(text) else []
    for match in (match for coded in (*_CODED, *lines) for match in compiled(coded).finditer(text)):
        for name, plain in _decoded(match[0]):
            yield name, folded.within(*match.span(), fold(plain).text)


def _character(match: re.Match[str]) -> str:
    if match.lastindex is None:
        return "\n"
    code = int(match[match.lastindex], 10 if match.lastindex == 5 else 16)
    return chr(code) if code < 0xD800 else WALL


def _decoded(run: str) -> Iterator[tuple[str, str]]:
    """Yield what a run says in base 16 and in base 64, where that is text."""
    bare = run.replace("\n", "").rstrip("=").translate(str.maketrans("-_", "+/"))
    for name, decode, coded in (("hex", bytes.fromhex, run.replace(":", " ")), ("base64", base64.b64decode, bare + "=" * (-len(bare) % 4))):
        try:
            yield name, decode(coded).decode()
        except (binascii.Error, ValueError):
            continue
