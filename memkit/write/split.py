"""Split what somebody said into single statements: sentences first, then the facts that one sentence joins.

Code, quoted mail and recalled memory are not speech and are passed over. A piece without a subject of its own takes the one of the piece
before it ("the API uses Go and listens on 8081"). English and Chinese. Left out: what a piece says (`statements.py`), and full grammar.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memkit.record.fence import recalled_spans
from memkit.record.text import compiled
from memkit.write.subjects import is_chinese
from memkit.write.table import read

_NOT_SPEECH = r"```[\s\S]*?(?:```|\Z)|~~~[\s\S]*?(?:~~~|\Z)|(?m:^[ \t]*>.*$)"
_END = r"[。！？；]+[\"'”’)）」]?|[!?;](?=\s|$)|(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)\.+[\"')]?(?=\s|$)|\n+"
_JOINT = r",?\s+(?:and|but|while|whereas|plus)\s+(?:that\s+|also\s+|then\s+)?|[;,]\s+|\s+[—–-]{1,2}\s+"
_CHINESE_JOINT = r"[，,；;]\s*(?:而且|并且|同时|另外|还有|但是?|不过|也|然后)?"


@dataclass(frozen=True, slots=True)
class Piece:
    """One statement: where it stands in the text, and the subject it takes from the piece before it, "" where it has its own."""

    start: int
    end: int
    subject: str = ""


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence starts and ends, its mark included.

    >>> [(start, end) for start, end in sentences("Use v1.2 here. `x`? 好。行")]
    [(0, 14), (15, 19), (20, 22), (22, 23)]
    """
    blanked = _speech(text)
    start = 0
    for match in compiled(_END).finditer(blanked):
        yield from _trimmed(blanked, start, match.end())
        start = match.end()
    yield from _trimmed(blanked, start, len(blanked))


def pieces(text: str, start: int, end: int, known: str = "") -> list[Piece]:
    """Split one sentence where both sides are statements; `known` is what "it" means in it.

    >>> said = "The API uses Go and listens on 8081, and tests use pytest"
    >>> [(said[p.start : p.end], p.subject) for p in pieces(said, 0, len(said))]
    [('The API uses Go', ''), ('listens on 8081', 'The API'), ('tests use pytest', '')]
    """
    sentence = text[start:end]
    chinese = is_chinese(sentence)
    found, begin, subject = list[Piece](), 0, ""
    for match in compiled(_CHINESE_JOINT if chinese else _JOINT).finditer(sentence):
        left, right = sentence[begin : match.start()], sentence[match.end() :]
        if _begins(right, chinese) and _states(left, right, chinese):
            found.append(Piece(start + begin, start + match.start(), subject))
            subject = _carried(left, right, subject or known, chinese)
            begin = match.end()
    return [*found, Piece(start + begin, end, subject)]


def _speech(text: str) -> str:
    """Blank out what is not speech, position by position."""
    parts, at = list[str](), 0
    for begin, end in recalled_spans(text):
        parts += [text[at:begin], "\n" * (end - begin)]
        at = end
    blanked: str = compiled(_NOT_SPEECH).sub(lambda match: "\n" * len(match[0]), "".join([*parts, text[at:]]))
    return blanked


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    said = text[start:end]
    start, end = start + len(said) - len(said.lstrip()), end - len(said) + len(said.rstrip())
    if start < end:
        yield start, end


def _verbs(chinese: bool) -> str:
    return f"(?:{read('split.toml')['words']['chinese' if chinese else 'english'][0]})"


def _states(left: str, right: str, chinese: bool) -> bool:
    """Return whether the left side is a statement of its own, and not a condition or a cause of what follows."""
    if compiled(read("split.toml")["rest"]["chinese_left" if chinese else "english_left"]).search(left):
        return False
    own = compiled(r"(?i)(?:we|i|our|my|it|you|please|pls|never|always)\b").match(right)
    return bool(chinese or own or compiled(f"(?i){_verbs(chinese)}").search(left))


def _begins(right: str, chinese: bool) -> bool:
    """Return whether a statement begins here: a verb at once, or after a short subject."""
    if compiled(read("split.toml")["rest"]["chinese_right" if chinese else "english_right"]).match(right):
        return False
    subject = r"[^，,；;。]{0,14}?" if chinese else r"(?:[\w`'’./-]{1,40} ){0,4}?"
    begins = compiled(rf"(?i){subject}{_verbs(chinese)}|(?:这|那|它)").match(right)
    return bool(begins and compiled(r"\S+\s+\S|[^\x00-\x7f]{3}").search(right))


def _carried(left: str, right: str, subject: str, chinese: bool) -> str:
    """Return the subject that a piece without one takes over."""
    own = compiled(read("split.toml")["rest"]["chinese_bare" if chinese else "english_bare"]).match(right)
    if not own:
        return ""
    verb = compiled(f"(?i){_verbs(chinese)}").search(left)
    stated = left[: verb.start()].strip() if verb else ""
    return subject if compiled(r"(?i)(?:it|they|that|它们?|它)?$").match(stated) else stated
