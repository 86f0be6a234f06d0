"""Say how old an observation is, in words: `today`, `yesterday`, `3 days ago`.

Counted in whole periods of 24 hours since then, so that the words depend on no time zone and a replay gives them again. Left out: dates;
a model compares "3 days ago" with the present, and a date only with its guess of the present.
"""

from __future__ import annotations

from datetime import datetime, timedelta

DAY = timedelta(days=1)
CHECK = "an observation of that time: check it against the present"


def in_words(then: datetime, now: datetime) -> str:
    """Return the age of an observation in words, with the notice that it may no longer be so once it is older than a day.

    >>> from datetime import UTC
    >>> in_words(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 4, 9, tzinfo=UTC))
    '3 days ago (an observation of that time: check it against the present)'
    """
    days = max(0, (now - then) // DAY)
    words = ("today", "yesterday")[days] if days < 2 else f"{days} days ago"
    return words if days == 0 else f"{words} ({CHECK})"
