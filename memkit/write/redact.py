"""Find secrets and personal data in a text and mask them, before anything is kept.

What to look for stands elsewhere (`detectors.toml`, `named.py`); here is only how: fold, look, look once inside URL and base64 encoding,
mask in place.
Left out: what the caller does about findings (mask or refuse), and any storage. A finding never holds what it found.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memkit.errors import Refused
from memkit.record.text import Folded, fold, latinise
from memkit.write.detectors import detect
from memkit.write.named import named

MAX_ROUNDS = 8

_MARK = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")
_WALL = "\ue000"  # stands for a mark while we look: no pattern matches across it by name
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})|\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|&#x([0-9A-Fa-f]{2,5});|&#([0-9]{2,6});|\\[nrt]")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_SPACED = re.compile(r" (?:[!-~] ){6}")
_GAP = re.compile(r"(?<![^\s].)(?<=[!-~]) (?=[!-~](?:\s|$))")
_JOINT = re.compile(r"[\"'`]\s{0,3}(?:\+|\.|&|\\\n|\n)?\s{0,8}[\"'`]|\\\n\s{0,8}")


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


def redact(text: str) -> Redacted:
    """Mask every secret in `text` as `[redacted:kind]` and leave the rest byte for byte.

    Looks at the folded text, so that width, invisible characters and look-alikes do not hide a secret. Masking again changes nothing.
    Raises `Refused("REDACTION_FAILED")`, without any of the text, when something inside fails: what cannot be checked is not kept.

    >>> redact("Call me at ann@example.test, please").text
    'Call me at [redacted:email], please'
    """
    try:
        return _settle(text)
    except Exception:
        raise Refused(
            "REDACTION_FAILED", "the text could not be checked for secrets, so nothing was kept: shorten it or remove unusual characters"
        ) from None


def _settle(text: str) -> Redacted:
    """Mask until nothing more is found, so that the result is a fixed point."""
    found: list[Finding] = []
    now = text
    for _ in range(MAX_ROUNDS):
        fresh = _find(now)
        if not fresh:
            return Redacted(now, tuple(found))
        found = sorted(found + _to_original(fresh, found), key=lambda f: f.start)
        now = _masked(text, found)
    raise RecursionError("masking does not come to rest")


def _masked(text: str, findings: list[Finding]) -> str:
    pieces, at = [], 0
    for finding in findings:
        pieces += [text[at : finding.start], f"[redacted:{finding.kind}]"]
        at = finding.end
    return "".join(pieces) + text[at:]


def _to_original(fresh: list[Finding], earlier: list[Finding]) -> list[Finding]:
    """Move findings of a masked text back to the positions of the original."""
    edges, shifts, shift = [-1], [0], 0
    for finding in earlier:
        edges.append(finding.start - shift + len(f"[redacted:{finding.kind}]"))
        shift += finding.end - finding.start - len(f"[redacted:{finding.kind}]")
        shifts.append(shift)
    moved = [(f.kind, f.start, f.end, shifts[bisect_right(edges, f.start) - 1]) for f in fresh]
    return [Finding(kind, start + by, end + by) for kind, start, end, by in moved]


def _find(text: str) -> list[Finding]:
    """Find what to mask in `text`: disjoint, in order, outside the marks that are there already."""
    folded = fold(text)
    if "[redacted:" in folded.text:
        folded = Folded(_MARK.sub(lambda m: _WALL * len(m[0]), folded.text), folded.offsets, folded.ends)
    spans = [(*view.original_span(start, end), kind) for view in _views(folded) for start, end, kind in _detect(view.text)]
    spans += [(*folded.original_span(start, end), kind) for start, end, kind in _inside_base64(folded.text)]
    if not spans:
        return []
    marks = [m.span() for m in _MARK.finditer(text)]
    return [Finding(kind, start, end) for start, end, kind in _outside(_merged(spans), marks)]


def _merged(spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Join overlapping spans; the kind found first (the most specific table comes first) names the whole."""
    merged: list[tuple[int, int, str]] = []
    for start, end, kind in sorted(spans, key=lambda s: s[0]):
        if merged and start < merged[-1][1]:
            first, last, known = merged[-1]
            merged[-1] = (first, last if (known, kind) == ("url-password", "email") else max(last, end), known)
        else:
            merged.append((start, end, kind))
    return merged


def _outside(spans: list[tuple[int, int, str]], marks: list[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Cut the marks out of the spans; both are in order."""
    at = 0
    for start, end, kind in spans:
        while at < len(marks) and marks[at][1] <= start:
            at += 1
        n = at
        while n < len(marks) and marks[n][0] < end:
            if start < marks[n][0]:
                yield start, marks[n][0], kind
            start = marks[n][1]  # noqa: PLW2901
            n += 1
        if start < end:
            yield start, end, kind


def _views(folded: Folded) -> Iterator[Folded]:
    """Yield the folded text, and each disguise undone that it may wear: escapes, look-alikes, spaced letters, split literals."""
    text = folded.text
    yield folded
    if "%" in text or "\\" in text or "&#" in text:
        yield _rewritten(folded, _ESCAPE, _unescape)
    if not text.isascii() and (latin := latinise(text)) != text:
        yield Folded(latin, folded.offsets, folded.ends)
    if _SPACED.search(text):
        yield _rewritten(folded, _GAP, lambda match: "")
    if ('"' in text or "'" in text or "`" in text or "\\\n" in text) and _JOINT.search(text):
        yield _rewritten(folded, _JOINT, lambda match: "")


def _rewritten(folded: Folded, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str]) -> Folded:
    """Replace each match by at most a few characters, keeping the way back to the original."""
    parts: list[str] = []
    offsets: list[int] = []
    ends: list[int] = []
    at = 0
    for match in pattern.finditer(folded.text):
        start, stop = match.span()
        new = change(match)
        parts += [folded.text[at:start], new]
        offsets += [*folded.offsets[at:start], *([folded.offsets[start]] * len(new))]
        ends += [*folded.ends[at:start], *([folded.ends[stop - 1]] * len(new))]
        at = stop
    return Folded("".join([*parts, folded.text[at:]]), [*offsets, *folded.offsets[at:]], [*ends, *folded.ends[at:]])


def _unescape(match: re.Match[str]) -> str:
    if match.lastindex is None:
        return "\n"
    code = int(match[match.lastindex], 10 if match.lastindex == 5 else 16)
    return chr(code) if code < 0xD800 else _WALL


def _inside_base64(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each base64 run whose plain text holds something to mask: the whole run goes."""
    for match in _BASE64.finditer(text):
        run = match[0].rstrip("=").translate(str.maketrans("-_", "+/"))
        try:
            plain = base64.b64decode(run[: len(run) - (len(run) % 4 == 1)] + "=" * (-len(run) % 4 % 3)).decode()
        except (binascii.Error, ValueError):
            continue
        inner = next(iter(_detect(fold(plain).text)), None)
        if inner:
            yield *match.span(), inner[2]


def _detect(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind): what has a shape first, then what is only known by the name before it."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    yield from detect(text, lower)
    yield from named(text, lower)
