"""The checks of lesson 03 do what the exercises say, and tell each kind of wrong answer what is wrong with it."""

from __future__ import annotations

import pytest

import memkit
from memkit import lab
from memkit.lab.races import SHOP, blind, check_then_act, compare_and_swap

GIVE = ["ADD 1", "UPDATE 2", "Conflict", "NOOP 2", "ADD 4"]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (GIVE, ""),
        (tuple(text.lower() for text in GIVE), ""),
        (["ADD 1", "UPDATE 2", "UPDATE 3", "NOOP 2", "ADD 4"], "the third gives Conflict: the current revision was not the expected one"),
        (["ADD 1", "UPDATE 2", "Conflict", "Conflict", "ADD 4"], "the fourth gives NOOP 2: the current value says so already"),
        (["ADD 1", "UPDATE 2", "Conflict", "NOOP 2", "ADD 1"], "the last gives ADD 4: there was no current value"),
        (["ADD 0", 7, None, "", "x"], "the first gives ADD 1"),
        (GIVE[:4], "replace the three dots with five texts"),
        ("ADD 1", "replace the three dots"),
        (..., "replace the three dots"),
    ],
)
def test_revisions_1_does_the_five_writes(told, why):
    answer = lab.check.revisions_1(told)
    assert answer.right is (why == "")
    assert why in answer.why


def politely_blind(kit, key, day):
    new = f"{kit.current(key, scope=SHOP).content}, {day}"
    yield
    yield
    try:
        kit.remember(key, new, scope=SHOP, expected=1)
    except memkit.Conflict as conflict:
        yield
        kit.remember(key, new, scope=SHOP, expected=conflict.actual)


def in_one_step(kit, key, day):
    seen = kit.current(key, scope=SHOP)
    kit.remember(key, f"{seen.content}, {day}", scope=SHOP, expected=seen.revision)
    yield
    yield


def looks_in_the_last_step(kit, key, day):
    new = f"{kit.current(key, scope=SHOP).content}, {day}"
    yield
    yield
    kit.remember(key, new, scope=SHOP, expected=kit.current(key, scope=SHOP).revision)


def gives_up(kit, key, day):
    seen = kit.current(key, scope=SHOP)
    yield
    yield
    kit.remember(key, f"{seen.content}, {day}", scope=SHOP, expected=seen.revision)


def writes_twice(kit, key, day):
    while True:
        seen = kit.current(key, scope=SHOP)
        yield
        yield
        try:
            kit.remember(key, f"{seen.content}, {day}, {day}", scope=SHOP, expected=seen.revision)
            return
        except memkit.Conflict:
            yield


def endless(kit, key, day):
    while True:
        yield


def broken(kit, key, day):
    yield kit.nothing


@pytest.mark.parametrize(
    ("writer", "why"),
    [
        (compare_and_swap, ""),
        (blind, "in 18 of 20 orders a day is lost and nobody is told, for instance in AABABB: 'Tuesday, Friday' is kept."),
        (check_then_act, "in 12 of 20 orders a day is lost"),
        (politely_blind, "orders a day is lost and nobody is told"),
        (in_one_step, "your writer reads and writes in one step"),
        (looks_in_the_last_step, "your writer reads and writes in one step"),
        (gives_up, "in 18 of 20 orders a writer is told of a Conflict and gives up"),
        (writes_twice, "it should hold Tuesday and both days, once each"),
        (endless, "the race has had 60 steps and goes on"),
        (broken, "your writer raises AttributeError"),
        (lambda kit, key, day: None, "pass the function itself, and leave a bare `yield`"),
        (..., "pass the function itself"),
    ],
)
def test_revisions_2_runs_every_order(writer, why):
    answer = lab.check.revisions_2(writer)
    assert answer.right is (why == "")
    assert why in answer.why


@pytest.mark.parametrize(
    ("then", "now", "why"),
    [
        (("2026-03-06", "2026-03-06"), ("2026-03-06", "2026-03-09"), ""),
        (("2026-03-06", "2026-03-08"), ("2026-03-06", "2027-01-01"), ""),
        (("2026-03-06", "2026-03-10"), ("2026-03-06", "2026-03-10"), "'believed then' gives Node 20; on 6 March"),
        (("2026-03-06", "2026-03-01"), ("2026-03-06", "2026-03-10"), "'believed then' gives nothing"),
        (("2026-03-06", "2026-03-06"), ("2026-03-06", "2026-03-06"), "'so, as we know now' gives Node 18; the correction was recorded"),
        (("2026-03-02", "2026-03-02"), ("2026-03-06", "2026-03-10"), "both questions are about 6 March"),
        (("2026-03-06", "soon"), ("2026-03-06", "2026-03-10"), "write it as year-month-day"),
        (("2026-03-06", 6), ("2026-03-06", "2026-03-10"), "write it as year-month-day"),
        ("2026-03-06", ("2026-03-06", "2026-03-10"), "each answer is a pair"),
        (..., ..., "replace the dots"),
    ],
)
def test_revisions_3_asks_both_clocks(then, now, why):
    answer = lab.check.revisions_3({"believed then": then, "so, as we know now": now})
    assert answer.right is (why == "")
    assert why in answer.why
    assert not lab.check.revisions_3([then, now])
