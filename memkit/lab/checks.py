"""Check the answers to a lesson's exercises, and explain them.

A check never compares with an answer that somebody typed in: it does what the exercise describes, with memkit itself, and compares with
what happened. It never raises for a wrong answer. Not here: the exercises' words, and their solutions; both stand in the notebooks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection

import memkit
from memkit.lab.answer import Answer
from memkit.lab.checks_candidates import candidates_1, candidates_2, candidates_3
from memkit.lab.checks_context import context_1, context_2, context_3
from memkit.lab.checks_evidence import evidence_1, evidence_2, evidence_3
from memkit.lab.checks_recall import recall_1, recall_2, recall_3
from memkit.lab.checks_redaction import redaction_1, redaction_2, redaction_3
from memkit.lab.checks_revisions import revisions_1, revisions_2, revisions_3
from memkit.lab.checks_scope import scope_1, scope_2, scope_3
from memkit.lab.checks_tidying import tidying_1, tidying_2, tidying_3
from memkit.lab.sandbox import data_folder

__all__ = [
    "Answer",
    "candidates_1",
    "candidates_2",
    "candidates_3",
    "context_1",
    "context_2",
    "context_3",
    "evidence_1",
    "evidence_2",
    "evidence_3",
    "recall_1",
    "recall_2",
    "recall_3",
    "redaction_1",
    "redaction_2",
    "redaction_3",
    "revisions_1",
    "revisions_2",
    "revisions_3",
    "scope_1",
    "scope_2",
    "scope_3",
    "tidying_1",
    "tidying_2",
    "tidying_3",
    "tour_1",
    "tour_2",
    "tour_3",
]

SHOP = memkit.Scope(workspace="shop")

BEFORE = "timeout=30\nretries=3\nregion=eu-west\n"
AFTER = "# Reviewed in March.\nregion=eu-west\ntimeout = 30\n"


def tour_1(fallen: object) -> Answer:
    """Check which memories fall when BEFORE becomes AFTER: the keys, as a set.

    >>> tour_1({"region"}).right
    False
    """
    if not isinstance(fallen, Collection):
        return Answer(False, "replace the three dots with a set of keys, for instance {'timeout'}")
    sources: dict[str, str | bytes] = {"prod.cfg": BEFORE}
    with memkit.open(sources=sources) as kit:
        for line in BEFORE.splitlines():
            key = line.split("=")[0]
            kit.learn(key, f"The file says {line}", scope=SHOP, cite=f"prod.cfg#key={key}")
        sources["prod.cfg"] = AFTER
        checks = kit.check(scope=SHOP)
    wrong = [check for check in checks if check.verdict.holds is (check.memory.key in fallen)]
    told = [
        f"{check.memory.key} is {check.verdict}" + ("" if check.verdict.holds else f", because {check.why}") for check in wrong or checks
    ]
    return Answer(not wrong, "; ".join(told) + ".")


EDITS = {  # what somebody does to package.json -> what is replaced, by what, and whether the fact is then no longer true
    "the Node version is raised": ('">=20.11"', '">=22.0"', True),
    "the engines are removed": ('"engines"', '"formerly"', True),
    "a new version of the shop is released": ('"2.4.0"', '"2.5.0"', False),
    "a script is renamed": ('"lint"', '"check"', False),
    "a line is added at the top": ('"name"', '"license": "MIT",\n  "name"', False),
    "the file is written without line breaks": ("", "", False),
}


def tour_2(cite: object) -> Answer:
    """Check that a citation of package.json falls exactly when the Node version it speaks of changes.

    >>> print(tour_2("package.json"))
    Not yet: when a new version of the shop is released, your memory is CHANGED, although the Node version is what it was.
    """
    if not isinstance(cite, str):
        return Answer(False, "replace the three dots with a citation, for instance 'package.json#lines=1-3'")
    try:
        for edit, (old, new, should_fall) in EDITS.items():
            verdict = _after(cite, old, new)
            if verdict.holds is should_fall:
                although = "although the fact is no longer true" if should_fall else "although the Node version is what it was"
                return Answer(False, f"when {edit}, your memory is {verdict}, {although}.")
    except memkit.MemkitError as error:
        return Answer(False, f"memkit refuses this citation: {error}")
    return Answer(True, f"of {len(EDITS)} edits, your memory fell at exactly those {sum(fall for *_, fall in EDITS.values())} that matter.")


def _after(cite: str, old: str, new: str) -> memkit.Verdict:
    """Return the verdict on a memory that cites package.json so, once the file is edited; no `old` writes it on one line."""
    text = (data_folder() / "shop" / "package.json").read_text(encoding="utf-8")
    sources: dict[str, str | bytes] = {"package.json": text}
    with memkit.open(sources=sources) as kit:
        kit.learn("node", "The front end needs Node 20.11 or newer", scope=SHOP, cite=cite)
        sources["package.json"] = text.replace(old, new) if old else json.dumps(json.loads(text))
        return kit.check(scope=SHOP)[0].verdict


CASES = {  # what happens to the sources -> the sources afterwards
    "nothing changes": {"prod.cfg": BEFORE},
    "a value changes": {"prod.cfg": BEFORE.replace("30", "45")},
    "a comment is added": {"prod.cfg": "# hello\n" + BEFORE},
    "the file is deleted": {},
    "another file is added": {"prod.cfg": BEFORE, "test.cfg": "timeout=5\n"},
}


def tour_3(rule: object) -> Answer:
    """Check that a rule gives the verdicts that memkit gives for a memory that cites a whole file.

    `rule(fact, sources)` gets a fact with `says`, `source` and `digest` (SHA-256 of the whole text), and the texts by name.

    >>> print(tour_3(lambda fact, sources: "VALID" if fact["source"] in sources else "MISSING"))
    Not yet: when a value changes, memkit says 'CHANGED' and your rule says 'VALID'.
    """
    if not callable(rule):
        return Answer(False, "pass the function itself: lab.check.tour_3(verdict)")
    fact = {"says": "the timeout is 30 s", "source": "prod.cfg", "digest": hashlib.sha256(BEFORE.encode()).hexdigest()}
    for case, sources in CASES.items():
        wanted = _verdict_of_memkit(fact["says"], sources)
        try:
            said = rule(dict(fact), dict(sources))
        except Exception as error:  # the learner's code may raise anything
            return Answer(False, f"when {case}, your rule raises {type(error).__name__}: {error}")
        if said != wanted:
            return Answer(False, f"when {case}, memkit says {wanted!r} and your rule says {said!r}.")
    return Answer(True, f"your rule agrees with memkit in all {len(CASES)} cases.")


def _verdict_of_memkit(content: str, after: dict[str, str]) -> str:
    """Return the verdict on a memory that cites all of prod.cfg as it is in BEFORE, once the sources are as in `after`."""
    sources: dict[str, str | bytes] = {"prod.cfg": BEFORE}
    with memkit.open(sources=sources) as kit:
        kit.learn("timeout", content, scope=SHOP, cite="prod.cfg")
        sources.clear()
        sources.update(after)
        return kit.check(scope=SHOP)[0].verdict.value
