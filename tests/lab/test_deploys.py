"""The rule over the record of a decision: exact in days and hours, and it refuses what it does not understand."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit.errors import Refused
from memkit.lab import deploys

RECORD = {"schema": 2, "days": ["Tue", "Thu"], "before": 12, "closed": ["2026-03-19"]}
RULE = deploys.read(json.dumps(RECORD))


def test_a_record_of_each_known_schema_is_read_as_a_whole():
    assert deploys.Deploys(frozenset({1, 3}), 12, frozenset({date(2026, 3, 19)})) == RULE
    assert deploys.read('{"schema": 1, "days": [], "before": 0}') == deploys.Deploys(frozenset(), 0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Deploy on Tuesday.", "NO_RECORD"),
        ("[]", "NO_RECORD"),
        ("null", "NO_RECORD"),
        ("{}", "NO_RECORD"),
        ("[" * 100_000, "NO_RECORD"),
        (json.dumps(RECORD | {"schema": 3}), "UNKNOWN_SCHEMA"),
        (json.dumps(RECORD | {"schema": "2"}), "UNKNOWN_SCHEMA"),
        (json.dumps(RECORD | {"schema": True}), "UNKNOWN_SCHEMA"),
        (json.dumps(RECORD | {"schema": [2]}), "UNKNOWN_SCHEMA"),
        (json.dumps(RECORD | {"schema": 1}), "BAD_RECORD"),
        (json.dumps(RECORD | {"run": "print(1)"}), "BAD_RECORD"),
        (json.dumps(RECORD | {"days": ["Tuesday"]}), "BAD_RECORD"),
        (json.dumps(RECORD | {"days": 2}), "BAD_RECORD"),
        (json.dumps(RECORD | {"closed": ["19 March"]}), "BAD_RECORD"),
        (json.dumps(RECORD | {"closed": [19]}), "BAD_RECORD"),
        (json.dumps(RECORD | {"before": "noon"}), "BAD_RECORD"),
        (json.dumps(RECORD | {"before": 25}), "BAD_RECORD"),
        (json.dumps(RECORD | {"before": True}), "BAD_RECORD"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_reason(text, reason):
    with pytest.raises(Refused) as refused:
        deploys.read(text)
    assert refused.value.reason == reason


@given(st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)), st.integers(-14, 14))
def test_one_moment_has_one_answer_in_every_zone(naive, hours):
    moment = naive.replace(tzinfo=UTC)
    elsewhere = moment.astimezone(timezone(timedelta(hours=hours)))
    expected = moment.strftime("%a") in ("Tue", "Thu") and moment.hour < 12 and moment.date() != date(2026, 3, 19)
    assert deploys.may_deploy(RULE, moment) is deploys.may_deploy(RULE, elsewhere) is expected


def test_a_moment_without_a_zone_is_refused():
    with pytest.raises(Refused, match="no zone"):
        deploys.may_deploy(RULE, datetime(2026, 3, 3, 9))


def test_days_are_counted_with_both_ends_and_without_the_closed_ones():
    assert [day.day for day in deploys.slots(RULE, date(2026, 3, 3), date(2026, 3, 26))] == [3, 5, 10, 12, 17, 24, 26]
    assert deploys.slots(RULE, date(2026, 3, 19), date(2026, 3, 19)) == []
    assert deploys.slots(RULE, date(2026, 3, 4), date(2026, 3, 3)) == []
    assert len(deploys.slots(RULE, date(2028, 2, 1), date(2028, 2, 29))) == 9  # a leap year: the 29th is a Tuesday
    with pytest.raises(Refused, match="at most 10,000"):
        deploys.slots(RULE, date.min, date.max)
