"""Hunt for what redaction misses: look at a text under every policy, and report a form that slips through as a failing test.

The test is made without the secret. It holds only its shape, from which another of the same form is drawn whenever it runs; nothing
that was looked at is written anywhere. Not here: the widget, or any detector.
"""

from __future__ import annotations

import random
import string
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memkit.errors import Refused
from memkit.lab.evaluate_redaction import vanished
from memkit.lab.redaction_corpus import make as follow
from memkit.lab.redaction_corpus import recipes
from memkit.record.text import compiled
from memkit.write.policy import MASK, RedactionPolicy
from memkit.write.redact import Finding, redact

TRIES = 20  # others of the same form that are drawn before a form is called missed
_GAP = "<secret>"  # a placeholder, so that it is no find itself
_CLASSES = {"A": string.ascii_uppercase, "a": string.ascii_lowercase, "9": string.digits}


class Drawer:
    """A stand-in for a secret store: it numbers what it is given, and forgets it at once."""

    def __init__(self) -> None:
        self.count = 0

    def keep(self, kind: str, secret: str) -> str:
        self.count += 1
        return f"drawer:{self.count}"


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found in a text, the text in pieces (kind, or "" for what is left alone; words, or how many), and what each policy keeps."""

    findings: tuple[Finding, ...]
    pieces: tuple[tuple[str, str], ...]
    kept: Mapping[str, str]


def policies() -> dict[str, RedactionPolicy]:
    """Return the policies that are compared, each fresh, by the name they are shown by."""
    leave, store = RedactionPolicy(leave=["email", "phone"]), RedactionPolicy(store=Drawer())
    return {"mask": MASK, "refuse": RedactionPolicy(refuse=True), "leave e-mail and phone": leave, "refer to a secret store": store}


def look(text: str) -> Looked:
    """Look for secrets in a text, and say what would be kept of it under each policy.

    >>> look("PIN: 4821").kept["mask"], look("PIN: 4821").pieces
    ('PIN: [redacted:password]', (('', 'PIN: '), ('password', '4 characters')))
    """
    findings, pieces, at = redact(text).findings, list[tuple[str, str]](), 0
    for finding in findings:
        pieces += [("", text[at : finding.start]), (finding.kind, f"{finding.end - finding.start} characters")]
        at = finding.end
    shown = tuple(piece for piece in (*pieces, ("", text[at:])) if piece[0] or piece[1])
    return Looked(findings, shown, MappingProxyType({name: _kept(policy, text) for name, policy in policies().items()}))


def _kept(policy: RedactionPolicy, text: str) -> str:
    try:
        return policy.apply(text)
    except Refused as refusal:
        return f"nothing: {refusal.reason}"


def secret(kind: str, seed: int = 1) -> str:
    """Make up a secret of a kind of the project's corpus, at run time. Raises Refused for a kind that is not there.

    >>> secret("rubygems").startswith("rubygems_"), len(secret("rubygems"))
    (True, 57)
    """
    return follow(recipes(kind)[0], random.Random(seed))


def shape(value: str) -> tuple[str, str]:
    """Return the telling beginning of a token, and the rest with A, a and 9 for its letters and digits.

    Only what a long rest with a digit follows is a beginning; of a phrase nothing is told but where its letters stand.

    >>> shape("acme_live_Zq7xZq7xZq7x"), shape("tulip-garden")
    (('acme_live_', 'Aa9aAa9aAa9a'), ('', 'aaaaa-aaaaaa'))
    """
    start = match.end() if (match := compiled("(?:[A-Za-z]{2,8}[_-]){1,3}(?=[A-Za-z0-9]{12})(?=.{0,200}[0-9])").match(value)) else 0
    rest = "".join("A" if c.isupper() else "a" if c.islower() else "9" if c.isdecimal() else c for c in value[start:])
    return value[:start], rest


def alike(start: str, rest: str, seed: int = 1) -> str:
    """Draw another value of a shape.

    >>> shape(alike("acme_", "Aa9aAa9aAa9a")) == ("acme_", "Aa9aAa9aAa9a")
    True
    """
    r = random.Random(seed)
    return start + "".join(r.choice(_CLASSES.get(c, c)) for c in rest)


def report(text: str, secret: str, name: str = "what_slipped_through") -> str:
    """Return a pytest function that fails until this form is masked. It holds the shape of the secret, not the secret.

    Raises Refused where the secret does not stand in the text, is masked already, or others of its shape are.
    """
    if not secret or secret not in text:
        raise Refused("NOT_IN_THE_TEXT", "the secret does not stand in the text; put the exact words that should have vanished")
    if vanished(redact(text).text, secret):
        raise Refused("MASKED_ALREADY", "the secret is masked already; try another form")
    if redact(frame := text.replace(secret, _GAP)).findings:
        raise Refused("MORE_SECRETS", "the rest of the text holds what looks like a secret too; take it out, and report this form alone")
    start, rest = shape(secret)
    if any(vanished(redact(frame.replace(_GAP, other)).text, other) for other in (alike(start, rest, seed) for seed in range(TRIES))):
        raise Refused("ONLY_THIS_ONE", "others of the same shape are masked; what slips through here is this very value, not a form")
    return (
        f"def test_{name}_is_masked():\n"
        f"    secret = lab.hunt.alike({start!r}, {rest!r})  # the shape of what slipped through\n"
        f"    text = {frame!r}.replace({_GAP!r}, secret)\n"
        f"    assert secret not in memkit.redact(text).text\n"
    )
