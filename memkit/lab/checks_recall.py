"""Check the answers to the exercises of lesson 07, on recall, by asking memkit what each exercise asks.

Not here: the exercises' words, and their solutions; both stand in the notebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose

import memkit
from memkit.lab.answer import Answer
from memkit.lab.recall_curves import own_set, thresholds
from memkit.read.recall import Recall

SHOP = memkit.Scope(workspace="shop")

QUESTION, BUDGET = "payment timeout", 50
NOTE = "A longer payment timeout cured the sale in May."
PUZZLE = {  # key -> what it says; the first one cites prod.cfg, which changes before the question is asked
    "A": "The payment timeout is 30.",
    "B": "Payment timeout: when a payment runs into its timeout, look at the dashboard of the provider, write the order number into the "
    "incident channel, wait two minutes, and only then cancel the payment by hand; never cancel it twice.",
    "C": NOTE,
    "D": NOTE,
    "E": "Ask Priya before the payment timeout is changed in production; she tells the provider.",
    "F": "A payment is retried.",
    "G": "We deploy on Tuesday.",
}


def puzzle(budget: int = BUDGET) -> Recall:
    """Return what memkit recalls in the first exercise."""
    sources: dict[str, str | bytes] = {"prod.cfg": "timeout=30\n"}
    with memkit.open(sources=sources) as kit:
        kit.learn("A", PUZZLE["A"], scope=SHOP, cite="prod.cfg#key=timeout")
        for key, said in list(PUZZLE.items())[1:]:
            kit.remember(key, said, scope=SHOP)
        sources["prod.cfg"] = "timeout=45\n"
        return kit.recall(QUESTION, scope=SHOP, budget=budget, recipe=memkit.TFIDF)


def recall_1(keys: object) -> Answer:
    """Check which memories of PUZZLE are returned, and in which order: the letters, as a list.

    >>> print(recall_1(["A", "C"]))
    Not yet: A is skipped: STALE_SOURCE, prod.cfg#key=timeout is not what it was: '30' became '45'.
    """
    if not isinstance(keys, Sequence) or isinstance(keys, str):
        return Answer(False, "replace the three dots with a list of letters, for instance ['A', 'C']")
    found = puzzle()
    got = [hit.memory.key for hit in found.hits]
    for skip in found.skipped:
        if skip.memory.key in keys:
            return Answer(False, f"{skip.memory.key} is skipped: {skip.reason}, {skip.why}.")
    for key in keys:
        if key not in got:
            return Answer(False, f"{key} is not even found: it has no term of the question.")
    for key in got:
        if key not in keys:
            return Answer(False, f"{key} is missing: it holds, says something new, and fits into what is left.")
    if list(keys) != got:
        return Answer(False, f"these are the ones, but not in rank order: that is {', '.join(got)}.")
    return Answer(True, f"{', '.join(got)} take {found.tokens} of {BUDGET} tokens; {len(found.skipped)} are skipped, each with its reason.")


CASES: dict[str, tuple[str, list[str]]] = {  # what is special -> the question and the texts
    "every word is known": ("payment timeout", ["The payment timeout is 30.", "Ann deploys.", "A timeout of the cache."]),
    "a word is repeated in a text": ("retry", ["retry, retry and retry", "retry once", "never"]),
    "a word is repeated in the question": ("cache cache timeout", ["cache", "timeout", "cache timeout"]),
    "nobody has a word of the question": ("zebra timeout", ["the timeout is 30", "the cache", "a payment"]),
    "nobody has any word of the question": ("zebra", ["the timeout is 30", "the cache"]),
    "the question is empty": ("", ["the timeout is 30", "the cache"]),
    "it is in Chinese": ("支付超时", ["支付的超时是 30 秒", "缓存策略", "部署"]),
}


def recall_2(scores: object) -> Answer:
    """Check a function that returns the TF-IDF score of each text for a question, against what memkit recalls by `memkit.TFIDF`.

    >>> print(recall_2(lambda question, texts: [0.0 for _ in texts]))
    Not yet: when every word is known, memkit gives [0.782, 0.0, 0.366] and your function [0.0, 0.0, 0.0].
    """
    if not callable(scores):
        return Answer(False, "pass the function itself: lab.check.recall_2(scores)")
    for case, (question, texts) in CASES.items():
        wanted = scored_by_memkit(question, texts)
        try:
            said = [float(one) for one in scores(question, list(texts))]
        except Exception as error:  # the learner's code may raise anything
            return Answer(False, f"when {case}, your function raises {type(error).__name__}: {error}")
        if len(said) != len(wanted) or not all(isclose(a, b, abs_tol=1e-6) for a, b in zip(said, wanted, strict=True)):
            return Answer(False, f"when {case}, memkit gives {_short(wanted)} and your function {_short(said)}.")
    return Answer(True, f"your function gives memkit's scores in all {len(CASES)} cases.")


def scored_by_memkit(question: str, texts: Sequence[str]) -> list[float]:
    """Return the score of each text by exact TF-IDF; 0 for one that is not found.

    >>> scored_by_memkit("cache", ["cache", "deploy"])
    [1.0, 0.0]
    """
    with memkit.open() as kit:
        for number, text in enumerate(texts):
            kit.remember(str(number), text, scope=SHOP)
        found = kit.recall(question, scope=SHOP, budget=10_000, recipe=memkit.TFIDF)
    scores = {hit.memory.key: hit.score for hit in found.hits} | {skip.memory.key: skip.score for skip in found.skipped}
    return [scores.get(str(number), 0.0) for number in range(len(texts))]


def _short(scores: Sequence[float]) -> list[float]:
    return [round(score, 3) for score in scores]


KEPT, NOISE = 0.97, 0.15


def recall_3(coverage: object) -> Answer:
    """Check a threshold on the half of memkit's own questions that it was not chosen on.

    >>> print(recall_3("high"))
    Not yet: replace the three dots with a number from 0 to 1, for instance 0.5
    """
    if isinstance(coverage, bool) or not isinstance(coverage, int | float) or not 0 <= coverage <= 1:
        return Answer(False, "replace the three dots with a number from 0 to 1, for instance 0.5")
    kept, noise = thresholds(own_set(2, 1), [float(coverage)])[float(coverage)]
    told = f"on the other half, {kept:.1%} of the questions with an answer get one, and {noise:.1%} of the unrelated get something"
    if kept < KEPT:
        return Answer(False, f"{told}: too strict, at least {KEPT:.0%} must be kept.")
    if noise > NOISE:
        return Answer(False, f"{told}: too lax, at most {NOISE:.0%} may be noise.")
    return Answer(True, f"{told}.")
