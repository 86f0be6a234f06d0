"""Turn what a caller passed into values that can be trusted, or refuse it: keys, texts, times, revision numbers, choices.

Every refusal says what was found, what was expected and the way out, and never repeats a text that may hold a secret. Scopes and
citations have rooms of their own.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from types import UnionType
from typing import TypeVar

from memkit.errors import Refused, shown
from memkit.record.model import ANY, Candidate, Kind, Progress
from memkit.write.policy import RedactionPolicy
from memkit.write.redact import redact
from memkit.write.screen import screen

LONGEST_KEY = 200  # characters
LONGEST_CONTENT = 20_000  # characters

_Choice = TypeVar("_Choice", bound=StrEnum)


def check_key(key: str) -> None:
    """Raise Refused for a key that is empty, too long, or holds a secret."""
    check_name_of_key(key)
    if redact(key).findings:
        raise Refused("SECRET_IN_KEY", "the key holds what looks like a secret; keys are never erased, so name the thing instead")


def check_name_of_key(key: str) -> None:
    """Do what `check_key` does, but for the secret: for who looks at the key together with other text."""
    check_text("key", key, LONGEST_KEY)
    if not key.isprintable():
        raise Refused("BAD_KEY", "the key has a control or invisible character; name the thing in printable text")


def check_moments(**times: datetime | None) -> None:
    """Raise Refused for a time that is not a datetime with a zone."""
    for name, time in times.items():
        if time is not None and not _is_moment(time):
            found = "has no zone, or is out of range in UTC" if isinstance(time, datetime) else f"is {shown(time)}"
            raise Refused("BAD_TIME", f"{name} {found}; pass a datetime with a zone, for instance datetime.now(UTC)")


def _is_moment(time: object) -> bool:
    try:
        return isinstance(time, datetime) and (time.tzinfo is UTC or (time.utcoffset() is not None and bool(time.astimezone(UTC))))
    except (OverflowError, ValueError):
        return False


def check_flag(name: str, value: bool) -> None:
    """Raise Refused for what is neither True nor False: any other value would count as one of them unseen."""
    if not isinstance(value, bool):
        raise Refused(f"BAD_{name.upper()}", f"{name} is {shown(value)}; pass True or False")


def check_form(part: object, reason: str, /, **forms: type | UnionType) -> None:
    """Raise Refused for a part of something that is of another type than it says: it may be anybody's."""
    for name, form in forms.items():
        if not isinstance(value := getattr(part, name), form):
            wanted = form.__name__ if isinstance(form, type) else form
            raise Refused(reason, f"{name} of {type(part).__name__} is {shown(value)}; pass {wanted}")


def check_expected(expected: int) -> None:
    """Raise Refused unless `expected` is a revision number, 0, or ANY."""
    if isinstance(expected, bool) or not isinstance(expected, int) or not ANY <= expected < 2**63:
        raise Refused("BAD_EXPECTED", f"expected is {shown(expected)}; pass the current revision, 0 for none, or memkit.ANY")


def progress_of(progress: Progress | None) -> Progress:
    """Return what is to be told of the progress, nobody for None. Raises Refused for what cannot be called."""
    if progress is not None and not callable(progress):
        raise Refused("BAD_PROGRESS", f"progress is {shown(progress)}; pass a function of two numbers, done and total")
    return untold if progress is None else progress


def untold(done: int, total: int) -> None:
    """Tell nobody."""


def check_text(what: str, text: object, longest: int) -> None:
    if not isinstance(text, str) or not text.strip():
        found = "blank" if isinstance(text, str) else type(text).__name__
        raise Refused(f"EMPTY_{what.upper()}", f"the {what} is {found}; pass some text")
    if len(text) > longest:
        raise Refused(f"LONG_{what.upper()}", f"the {what} has {len(text):,} characters; at most {longest:,} are kept, so split it")
    if "\0" in text or text.encode("utf-8", "ignore").decode() != text:
        raise Refused(f"BAD_{what.upper()}", f"the {what} has a NUL or half a surrogate pair; pass ordinary text")


def flags_of(content: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(flag.technique for flag in screen(content))) if isinstance(content, str) else ()


def choice(choices: type[_Choice], name: str, value: str) -> _Choice:
    if not isinstance(value, str) or value not in list(choices):
        raise Refused(f"BAD_{name.upper()}", f"{name} is none of {', '.join(choices)}; pass one of these")
    return choices(value)


def kind_of(kind: str) -> Kind:
    """Return the kind of a memory; a conclusion of the moment is none."""
    if isinstance(kind, str) and kind == "transient":
        raise Refused(
            "TRANSIENT", "a passing conclusion belongs to kit.state, or to the session, not to memory: keep it there while it matters"
        )
    return choice(Kind, "kind", kind)


def check_kind(candidate: Candidate) -> None:
    """Raise Refused for an absence that never expires, an experience without task and verification, and anything else with them."""
    if candidate.kind is Kind.ABSENCE and candidate.times.expires_at is None:
        raise Refused("NO_EXPIRY", "a search that found nothing says little tomorrow; pass expires_at=, when to stop believing it")
    missing = candidate.task is None, candidate.verification is None
    if candidate.kind is not Kind.EXPERIENCE:
        if not all(missing):
            raise Refused("NOT_AN_EXPERIENCE", f"task and verification belong to an experience, not to a {candidate.kind}; leave them out")
    elif any(missing):
        raise Refused(
            "EXPERIENCE_INCOMPLETE", "an experience says in which task it was made and how it was verified; pass task= and verification="
        )
    else:
        check_text("task", candidate.task, LONGEST_CONTENT)
        check_text("verification", candidate.verification, LONGEST_CONTENT)


def confidence_of(confidence: float) -> float:
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 <= confidence <= 1:
        raise Refused("BAD_CONFIDENCE", f"confidence is {shown(confidence)}; pass a number from 0 to 1")
    return float(confidence)


def said(reason: object, policy: RedactionPolicy) -> str:
    """Return why somebody did something, as the policy lets it be given back. Raises Refused for no text, and where the policy refuses."""
    if not isinstance(reason, str):
        raise Refused("BAD_REASON", f"the reason is {shown(reason)}; pass some words")
    return policy.apply(reason)
