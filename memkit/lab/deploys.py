"""One decision, when the shop may be deployed, as a record with a schema version and a rule that computes over it.

A text is for reading; counting, dates and hard limits are for code. The rule is here, in code that is reviewed and tested; a memory only
holds the record, which is data: it is read, checked field by field, and never run. Not here: why it was so decided.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from memkit.errors import Refused

SCHEMA = 2
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
FIELDS = {1: {"schema", "days", "before"}, 2: {"schema", "days", "before", "closed"}}
LONGEST = 10_000  # days that are counted at once


@dataclass(frozen=True, slots=True)
class Deploys:
    """On which weekdays (0 is Monday), before which hour (UTC), and on which days never."""

    days: frozenset[int]
    before: int
    closed: frozenset[date] = frozenset()


def read(text: str) -> Deploys:
    """Return what a record says; schema 1 knew no closed days. Raises Refused for another schema, and for fields that do not fit.

    >>> read('{"schema": 1, "days": ["Tue"], "before": 12}')
    Deploys(days=frozenset({1}), before=12, closed=frozenset())
    """
    try:
        record = json.loads(text)
        schema = record["schema"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Refused("NO_RECORD", 'this is no record: pass JSON with a schema, for instance {"schema": 2, ...}') from None
    if type(schema) is not int or schema not in FIELDS:
        raise Refused("UNKNOWN_SCHEMA", f"the record has a schema that this code does not know; it knows {', '.join(map(str, FIELDS))}")
    if set(record) != FIELDS[schema]:
        raise Refused("BAD_RECORD", f"a record of schema {schema} has exactly the fields {', '.join(sorted(FIELDS[schema]))}")
    try:
        days = frozenset(DAYS.index(day) for day in record["days"])
        closed = frozenset(date.fromisoformat(day) for day in record.get("closed", ()))
    except (ValueError, TypeError):
        raise Refused("BAD_RECORD", f"days are of {', '.join(DAYS)}, closed days like '2026-03-19'") from None
    if type(record["before"]) is not int or not 0 <= record["before"] <= 24:
        raise Refused("BAD_RECORD", "before is an hour, from 0 to 24")
    return Deploys(days, record["before"], closed)


def may_deploy(rule: Deploys, moment: datetime) -> bool:
    """Say whether a deployment may go out at a moment, a datetime with a zone; raises Refused for one without.

    >>> rule = read('{"schema": 2, "days": ["Tue", "Thu"], "before": 12, "closed": ["2026-03-19"]}')
    >>> [may_deploy(rule, datetime(2026, 3, day, 11, 59, tzinfo=UTC)) for day in (17, 18, 19)]
    [True, False, False]
    """
    if moment.tzinfo is None:
        raise Refused("BAD_TIME", "the moment has no zone; pass a datetime with one, for instance datetime.now(UTC)")
    utc = moment.astimezone(UTC)
    return _open(rule, utc.date()) and utc.hour < rule.before


def slots(rule: Deploys, first: date, last: date) -> list[date]:
    """Return the days from first to last, both included, on which a deployment may go out. Raises Refused for over 10,000 days.

    >>> len(slots(read('{"schema": 1, "days": ["Tue", "Thu"], "before": 12}'), date(2026, 3, 1), date(2026, 3, 31)))
    9
    """
    count = (last - first).days + 1
    if count > LONGEST:
        raise Refused("TOO_MANY_DAYS", f"there are {count:,} days from first to last; ask for at most {LONGEST:,}")
    return [day for day in (first + timedelta(n) for n in range(count)) if _open(rule, day)]


def _open(rule: Deploys, day: date) -> bool:
    return day.weekday() in rule.days and day not in rule.closed
