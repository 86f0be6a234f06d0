"""Check the exercises of lesson 01: each is tried out with memkit itself, and compared with what happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import memkit
from memkit.lab.answer import Answer
from memkit.lab.trial import HERE, Trial, versions

LINES = "[server]\ntimeout = 30\nretries = 3\n"
WANTED = ("MOVED", "AMBIGUOUS", "MISSING", "UNREADABLE")
HASHED = (  # text of a file, first and last line cited
    (b"one\ntwo\nthree\n", 2, 3),
    (b"one\ntwo", 2, 2),
    (b"one\r\ntwo\r\nthree\r\n", 1, 2),
    ("一\n二\n三\n".encode(), 2, 2),
)


def evidence_1(cite: object) -> Answer:
    """Check that a citation of the dependency on pydantic errs at none of the edits of `pyproject.toml`.

    >>> print(evidence_1("pyproject.toml"))
    Not yet: after 'harmless: a comment is added at the top' your memory is CHANGED, although pydantic>=2.6 is still required.
    """
    if not isinstance(cite, str):
        return Answer(False, "replace the three dots with a citation, for instance 'pyproject.toml#lines=11'.")
    trial = Trial(versions()["pyproject.toml"], "pydantic>=2.6")
    try:
        trial.add(cite)
    except memkit.MemkitError as error:
        return Answer(False, f"memkit refuses this citation: {error}.")
    for edit in trial.edits.values():
        tried = trial.apply(edit)
        check = next(check for check in tried.checks if check.memory.key == cite)
        if tried.erred(check):
            although = "is no longer required as it was" if tried.changed else "is still required"
            return Answer(False, f"after {edit.title!r} your memory is {check.verdict}, although pydantic>=2.6 {although}.")
    fell = sum(tried.changed for tried in trial.tried.values())
    return Answer(True, f"of {len(trial.tried)} edits, your memory fell at exactly the {fell} that matter.")


def evidence_2(afterwards: object) -> Answer:
    """Check that each text gives a memory that cites line 2 of LINES the verdict it is filed under.

    >>> evidence_2({"MOVED": LINES, "AMBIGUOUS": "", "MISSING": "", "UNREADABLE": ""}).why
    'with the text for MOVED the verdict is VALID: prod.cfg#lines=2 is as it was.'
    """
    if not isinstance(afterwards, Mapping) or set(afterwards) != set(WANTED):
        return Answer(False, f"pass a dict with exactly the keys {', '.join(WANTED)}.")
    for wanted in WANTED:
        if not isinstance(afterwards[wanted], str | bytes):
            return Answer(False, f"replace the three dots under {wanted} with the text, or the bytes, of prod.cfg afterwards.")
        with memkit.open(sources={"prod.cfg": LINES}) as kit:
            kit.learn("timeout", "The timeout is 30.", scope=HERE, cite="prod.cfg#lines=2")
            kit.sources["prod.cfg"] = afterwards[wanted]  # type: ignore[index]  # a dict of texts was opened
            check = kit.check(scope=HERE)[0]
        if check.verdict.value != wanted:
            return Answer(False, f"with the text for {wanted} the verdict is {check.verdict}: {check.why}.")
    return Answer(True, "four ways to lose a line, and four names for them.")


def evidence_3(rule: object) -> Answer:
    """Check that `rule(data, first, last)` gives the digest that memkit keeps for `lines=first-last` of a file with these bytes.

    >>> print(evidence_3(lambda data, first, last: ""))
    Not yet: for lines 2-3 of b'one\\ntwo\\nthree\\n' memkit keeps f3952ccd... and your rule says ''.
    """
    if not callable(rule):
        return Answer(False, "pass the function itself: lab.check.evidence_3(digest).")
    for data, first, last in HASHED:
        kept, said = _kept(data, first, last), _said(rule, data, first, last)
        if said != kept:
            return Answer(False, f"for lines {first}-{last} of {data!r} memkit keeps {kept[:8]}... and your rule says {said!r:.80}.")
    return Answer(True, f"your rule and memkit agree on all {len(HASHED)} files.")


def _kept(data: bytes, first: int, last: int) -> str:
    with memkit.open(sources={"notes.txt": data}) as kit:
        memory = kit.learn("lines", "what stands there", scope=HERE, cite=f"notes.txt#lines={first}-{last}").memory
    return memory.evidence[0].digest if memory else ""


def _said(rule: Callable[..., object], data: bytes, first: int, last: int) -> object:
    try:
        return rule(data, first, last)
    except Exception as error:  # the learner's code may raise anything
        return f"{type(error).__name__}: {error}"
