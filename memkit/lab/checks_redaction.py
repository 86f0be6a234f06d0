"""Check the answers to the exercises of the lesson on redaction, by redacting. Not here: the exercises' words."""

from __future__ import annotations

from collections.abc import Collection

from memkit.errors import MemkitError
from memkit.lab.answer import Answer
from memkit.lab.evaluate_redaction import vanished
from memkit.lab.hunting import secret
from memkit.write.policy import RedactionPolicy
from memkit.write.redact import redact

PHRASE = "tulip-garden"
LINES = {
    "a": "the password reset page is slow",
    "b": "password = hunter2" + "horse",
    "c": "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "d": "api_key = os.environ['API_KEY']",
    "e": "my PIN is 4821",
    "f": "ISBN 978-3-16-148410-0",
}
"""Lines of the first exercise, by letter."""


def redaction_1(masked: object) -> Answer:
    """Check which of LINES lose something: the letters, as a set.

    >>> redaction_1({"a"}).right
    False
    """
    if not isinstance(masked, Collection) or isinstance(masked, str):
        return Answer(False, "replace the three dots with a set of letters, for instance {'a'}")
    found = {letter: [finding.kind for finding in redact(line).findings] for letter, line in LINES.items()}
    wrong = [letter for letter, kinds in found.items() if bool(kinds) is not (letter in masked)]
    told = "; ".join(f"{letter}: {', '.join(found[letter]) or 'nothing is found'}" for letter in wrong or found)
    return Answer(not wrong, f"{told}.")


def redaction_2(text: object) -> Answer:
    """Check whether PHRASE slips through in a text that tells it.

    >>> redaction_2("password: tulip-garden7").right
    False
    """
    if not isinstance(text, str) or PHRASE not in text:
        return Answer(False, f"write a sentence with the words {PHRASE!r} in it")
    if vanished(masked := redact(text).text, PHRASE):
        return Answer(False, f"it was masked: {masked!r}. Say it as a person would, who does not think of a filter.")
    return Answer(True, "it slips through, and anybody who reads it knows it. No pattern can tell a garden from a secret.")


def redaction_3(policy: object) -> Answer:
    """Check a policy for a help desk: it keeps addresses to answer to, and no password and no key."""
    if not isinstance(policy, RedactionPolicy):
        return Answer(False, "make a memkit.RedactionPolicy(...)")
    try:
        kept = policy.apply(f"ann@example.test wrote: my password is hunter2{PHRASE}, the key {secret('github')}")
    except MemkitError as refusal:
        return Answer(False, f"nothing was kept ({refusal}); a help desk could not answer")
    if "ann@example.test" not in kept:
        return Answer(False, f"it keeps {kept!r}, so nobody knows whom to answer")
    return Answer(True, f"it keeps {kept!r}.")
