"""How the confidence of an inference moves when it is used: confirmed or contradicted. Not here: who may say so, and writing it."""

from __future__ import annotations

FACTOR = 3.0
LEAST, MOST = 0.02, 0.98


def revised(confidence: float, confirmed: bool) -> float:
    """Return the confidence after one more piece of feedback, from 0.02 to 0.98.

    Bayes' rule in its odds form: the odds, confidence : 1 - confidence, are multiplied by 3 when it was confirmed and divided by 3 when it
    was contradicted, as if either were three times as likely of what is true. So the order of feedback does not matter, one of each
    cancels out, and no amount of it makes certain. A ratio of about three (10 to the power 1/2) is where Jeffreys, Theory of Probability
    (1961), appendix B, begins to call evidence substantial.

    >>> revised(0.5, True), revised(0.75, False), round(revised(0.75, True), 2)
    (0.75, 0.5, 0.9)
    """
    held = min(max(confidence, LEAST), MOST)
    odds = held / (1 - held) * (FACTOR if confirmed else 1 / FACTOR)
    return round(min(max(odds / (1 + odds), LEAST), MOST), 12)
