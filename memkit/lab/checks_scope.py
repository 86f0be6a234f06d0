"""Check the answers to the exercises of lesson 02, on scope and state, by doing with memkit what each exercise describes.

Not here: the exercises' words, and their solutions; both stand in the notebook.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import memkit
from memkit.lab.answer import Answer

Named = dict[str, str]  # the dimensions of a scope

SHOP, BLOG = {"workspace": "shop"}, {"workspace": "blog"}
PROD, TEST = SHOP | {"env": "prod"}, SHOP | {"env": "test"}
BRANCH, BOTH = SHOP | {"branch": "main"}, SHOP | {"branch": "main", "env": "prod"}

LETTERS = {"A": SHOP, "B": PROD, "C": TEST, "D": BRANCH, "E": {"workspace": "shop2", "env": "prod"}, "F": {"env": "prod"}}


def returned_by_memkit(memories: Sequence[Named], here: Named) -> list[Named]:
    """Return which memories of one key a recall gives from a place, in the order they were given.

    >>> returned_by_memkit([SHOP, PROD, TEST], PROD)
    [{'workspace': 'shop', 'env': 'prod'}]
    """
    with memkit.open() as kit:
        for number, named in enumerate(memories):
            kit.remember("reply", f"answer number {number}", scope=memkit.Scope(user=False, **named))
        hits = kit.recall("answer", scope=memkit.Scope(user=False, **here), budget=1000).hits
    scopes = [dict(hit.memory.dimensions) for hit in hits]
    return [named for named in memories if named in scopes]


def scope_1(letters: object) -> Answer:
    """Check which of LETTERS are recalled in production on branch main of the shop: the letters, as a set.

    >>> print(scope_1({"A"}))
    Not yet: A is not returned: a narrower one hides it here.
    """
    if not isinstance(letters, Collection) or isinstance(letters, str):
        return Answer(False, "replace the three dots with a set of letters, for instance {'A', 'C'}")
    got = returned_by_memkit(list(LETTERS.values()), BOTH)
    for letter, named in LETTERS.items():
        if letter in letters and named not in got:
            applies = named.items() <= BOTH.items()
            why = "a narrower one hides it here" if applies else "it names a dimension that is another one here"
            return Answer(False, f"{letter} is not returned: {why}.")
        if letter not in letters and named in got:
            return Answer(False, f"{letter} is missing: all that it names matches, and nothing narrower hides it.")
    told = " and ".join(letter for letter, named in LETTERS.items() if named in got)
    return Answer(True, f"{told} are returned, each marked as the other's rival.")


CASES: dict[str, tuple[list[Named], Named]] = {  # what is stored -> the memories of one key, and the place that is asked from
    "nothing is stored": ([], PROD),
    "one wide memory is stored": ([SHOP], PROD),
    "only another workspace has one": ([BLOG], SHOP),
    "a narrower one is stored, for another environment": ([SHOP, TEST], PROD),
    "a wide and a narrow one are stored": ([SHOP, PROD], PROD),
    "a narrow one is stored and the place names less": ([SHOP, PROD], SHOP),
    "the name of the place only begins alike": ([{"workspace": "sho"}, {"workspace": "shop2"}], SHOP),
    "two are stored, neither wider nor narrower": ([BRANCH, PROD], BOTH),
    "one is narrower than two others": ([BRANCH, BOTH, PROD, SHOP], BOTH),
}


def scope_2(rule: object) -> Answer:
    """Check that a rule returns, of memories with one key, those that memkit returns. `rule(memories, here)` gets dicts of dimensions.

    >>> print(scope_2(lambda memories, here: [named for named in memories if named == here]))
    Not yet: when one wide memory is stored, memkit returns [{'workspace': 'shop'}] and your rule [].
    """
    if not callable(rule):
        return Answer(False, "pass the function itself: lab.check.scope_2(returned)")
    for case, (memories, here) in CASES.items():
        wanted = returned_by_memkit(memories, here)
        try:
            said = rule([dict(named) for named in memories], dict(here))
            same = isinstance(said, list) and len(said) == len(wanted) and all(named in said for named in wanted)
        except Exception as error:  # the learner's code may raise anything
            return Answer(False, f"when {case}, your rule raises {type(error).__name__}: {error}")
        if not isinstance(said, list):
            return Answer(False, f"when {case}, your rule returns no list but something of type {type(said).__name__}.")
        if not same:
            return Answer(False, f"when {case}, memkit returns {wanted} and your rule {said}.")
    return Answer(True, f"your rule agrees with memkit in all {len(CASES)} cases.")


BEFORE: dict[str, str | bytes] = {"fix.patch": "+ timeout=45\n", "report.json": '{"passed": 12}', "notes.md": "fixed the timeout"}
AFTER: dict[str, str | bytes] = {"fix.patch": "+ timeout=45\n", "report.json": '{"passed": 11}', "sent.log": "mail sent"}
ADVICE = {True: "do", False: "leave", None: "look"}


def scope_3(advice: object) -> Answer:
    """Check what to do with each step after a restart: its name -> "leave", "do" or "look".

    >>> print(scope_3({"patch": "leave", "tests": "leave", "notes": "do", "mail": "do", "deploy": "do"}))
    Not yet: tests: 'look', not 'leave', because report.json#key=passed is not what it was: '12' became '11': it counts as planned again.
    """
    if not isinstance(advice, Mapping):
        return Answer(False, "replace the three dots with a dict, for instance {'patch': 'do', 'tests': 'look'}")
    place = memkit.Scope(user=False, **SHOP)
    sources = dict(BEFORE)
    with memkit.open(sources=sources) as kit:
        kit.state.done("patch", "the patch is written", scope=place, proof="fix.patch")
        kit.state.done("tests", "the tests pass", scope=place, proof="report.json#key=passed")
        kit.state.done("notes", "the notes are written", scope=place, proof="notes.md")
        kit.state.plan("mail", "tell the team", scope=place, proof="sent.log")
        kit.state.plan("deploy", "deploy the fix", scope=place)
        sources.clear()
        sources.update(AFTER)
        results = kit.state.reconcile(scope=place)
    for step in results:
        right, said = ADVICE[step.repeat], advice.get(step.state.name)
        if said != right:
            return Answer(False, f"{step.state.name}: {right!r}, not {said!r}, because {step.why}.")
    return Answer(True, f"one of {len(results)} steps is still proved; two may have happened, so look before you do them twice.")
