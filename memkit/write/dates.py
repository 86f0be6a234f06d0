"""Make relative dates absolute, against the day on which something was said: "yesterday" means nothing to who reads it next month.

English and Chinese forms are in `dates.toml`. Weeks begin on Monday; "next Friday" is the first Friday after the day, 下周五 the one of
next week, as each language has it. The day is the one in UTC. Left out: hours, holidays, and days without a direction ("on Friday").
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from memkit.record.text import compiled
from memkit.write.table import read

_PREPOSITIONS = r"(?:\b(?:on|in|by|since|until|till|from|before|after|for|of|during|as of|at|every|the)\s+)$"


def absolute(text: str, at: datetime) -> str:
    """Replace every relative date in `text` by the date it means, seen from `at`.

    >>> from datetime import UTC
    >>> absolute("we moved yesterday; 下周五发版", datetime(2026, 11, 30, tzinfo=UTC))
    'we moved on 2026-11-29; 2026-12-11 发版'
    """
    for row in _rows(text):
        text = compiled(row["find"]).sub(partial(_written, row=row, today=at.date()), text)
    return text


def _rows(text: str) -> list[dict[str, Any]]:
    """Return the forms to try, with their edges: none inside a longer word, a path or code."""
    forms = read("dates.toml")["form"]
    english = [row | {"find": rf"(?i)(?<![\w`/.-])(?:{row['find']})(?![\w`/])(?!-\w)(?:'s)?"} for row in forms["english"]]
    return english if text.isascii() else [*english, *forms["chinese"]]


def _written(match: re.Match[str], row: dict[str, Any], today: date) -> str:
    """Write the date a match means, with the preposition it needs where none stands before it."""
    form, found = row.get("form", "day"), match.groupdict()
    count = _number(found["n"]) if row.get("times") else 1
    day = _weekday(found["weekday"], row, today) if "weekday" in found else _moved(today, row, count)
    monday = day - timedelta(days=day.weekday())
    if not match[0].isascii():
        shown = {"day": f"{day}", "week": f"{monday} 那周", "month": f"{day:%Y-%m}", "year": f"{day:%Y} 年"}[form]
        left, right = match.string[: match.start()], match.string[match.end() :]
        return f"{' ' if left[-1:].isalnum() else ''}{shown}{' ' if right[:1].isalnum() else ''}"
    shown = {"day": f"{day}", "week": f"the week of {monday}", "month": f"{day:%Y-%m}", "year": f"{day:%Y}"}[form]
    if match[0].endswith("'s"):
        return f"{shown}'s"
    governed = compiled(f"(?i){_PREPOSITIONS}").search(match.string[: match.start()][-12:])
    return shown if governed else f"{'on' if form == 'day' else 'in'} {shown}"


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else int(read("dates.toml")["number"][word.lower()])


def _weekday(name: str, row: dict[str, Any], today: date) -> date:
    wanted = read("dates.toml")["weekday"][name[:3].lower()]
    if "week" in row:
        return today + timedelta(days=wanted - today.weekday() + 7 * row["week"])
    ahead = (wanted - today.weekday()) % 7
    if row["past"]:
        return today - timedelta(days=7 - ahead)
    return today + timedelta(days=ahead or (0 if row.get("same") else 7))


def _moved(today: date, row: dict[str, Any], count: int) -> date:
    """Move a day; a month or a year keeps only the month or the year."""
    if "days" in row:
        return today + timedelta(days=row["days"] * count)
    months = today.year * 12 + today.month - 1 + (row.get("months", 0) + 12 * row.get("years", 0)) * count
    return date(months // 12, months % 12 + 1, 1)
