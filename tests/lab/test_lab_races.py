"""Two writers in every order: what is lost, what is told, and that no order was left out."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import permutations

import pytest

import memkit
from memkit import lab
from memkit.lab.races import KEY, SHOP, Race, Seat, blind, check_then_act, compare_and_swap, every, orders, tally

ALL = {"Tuesday, Thursday, Friday", "Tuesday, Friday, Thursday"}


def gives_up(kit: Seat, key: str, day: str) -> Iterator[None]:
    seen = kit.current(key, scope=SHOP)
    yield
    yield
    kit.remember(key, f"{seen.content}, {day}", scope=SHOP, expected=seen.revision)


def test_the_orders_are_all_the_ways_to_mix_three_steps_with_three():
    assert orders() == sorted({"".join(mixed) for mixed in permutations("AAABBB")})
    assert len(orders(4)) == 70


def loses(order: str, last_safe_step: int) -> bool:
    """Say, from the order alone, whether the later writer had taken the step from which on it cannot notice before the first one wrote."""
    first = order[min(i for i in range(6) if order[: i + 1].count(order[i]) == 3)]
    other = "B" if first == "A" else "A"
    before = order[: [i for i, who in enumerate(order) if who == first][2]]
    return before.count(other) >= last_safe_step


def test_each_rule_loses_exactly_in_the_orders_that_reasoning_names():
    assert {run.order for run in every(blind) if run.lost} == {order for order in orders() if loses(order, 1)}
    assert {run.order for run in every(check_then_act) if run.lost} == {order for order in orders() if loses(order, 2)}
    assert {run.order for run in every(compare_and_swap) if run.lost} == set()
    assert {run.order for run in every(compare_and_swap) if run.told} == {order for order in orders() if loses(order, 1)}


def test_the_sums_of_the_three_rules():
    sums = {writer.__name__: tally(every(writer)) for writer in (blind, check_then_act, compare_and_swap, gives_up)}
    assert sums == {
        "blind": {"orders": 20, "lost": 18, "told": 0, "in turn": 2},
        "check_then_act": {"orders": 20, "lost": 12, "told": 6, "in turn": 2},
        "compare_and_swap": {"orders": 20, "lost": 0, "told": 18, "in turn": 2},
        "gives_up": {"orders": 20, "lost": 0, "told": 18, "in turn": 2},
    }


def test_compare_and_swap_keeps_both_days_in_every_order_and_numbers_without_a_gap():
    for order in orders():
        race = Race(compare_and_swap)
        run = race.run(order)
        assert run.content in ALL
        assert [memory.revision for memory in race.kit.history(KEY, scope=SHOP)] == [1, 2, 3]
        race.kit.close()


def test_no_walk_of_steps_by_hand_ends_where_no_order_ends():
    """Once one writer is through only the other is left, so the orders of the first three steps are all there are, retries included."""
    rng = random.Random(3)
    for writer in (blind, check_then_act, compare_and_swap):
        known = {(run.content, run.lost) for run in every(writer)}
        for _ in range(25):
            race = Race(writer)
            while race.running:
                race.step(rng.choice(race.running))
            assert (race.memory.content, race.lost) in known
            race.kit.close()


def test_a_step_says_which_calls_were_made_and_what_came_of_them():
    race = Race(compare_and_swap)
    run = race.run("ABABAB")
    assert [str(step) for step in run.steps][4:7] == [
        "A: kit.remember('days', 'Tuesday, Thursday', scope=SHOP, expected=1) -> UPDATE: revision 2",
        "B: kit.remember('days', 'Tuesday, Friday', scope=SHOP, expected=1) -> Conflict: expected 1, actual 2",
        "B: kit.current('days', scope=SHOP) -> revision 2: Tuesday, Thursday",
    ]
    assert [step.ends for step in run.steps] == ["", "", "", "", "done", "", "", "", "done"]
    assert str(run.steps[2]) == "A: computes"


def test_a_writer_that_lets_a_conflict_pass_was_told_and_lost_nothing():
    run = Race(gives_up).run("AABBAB")
    assert (run.steps[-1].ends, run.lost, run.content) == ("told", (), "Tuesday, Thursday")


def test_a_writer_that_has_ended_and_a_race_without_end_are_refused():
    def endless(kit: Seat, key: str, day: str) -> Iterator[None]:
        while True:
            yield

    race = Race(blind)
    race.run("AAABBB")
    with pytest.raises(memkit.Refused, match="writer 'A' has no step left; those that have: none"):
        race.step("A")
    with pytest.raises(memkit.Refused, match="the race has had 60 steps"):
        Race(endless).run("AB")


def test_processes_have_one_winner_for_each_revision_and_lose_nothing(tmp_path):
    won = lab.compete(tmp_path / "记忆.db", writers=2, rounds=3)
    with memkit.open(tmp_path / "记忆.db") as kit:
        history = kit.history(KEY, scope=SHOP)
    assert [revision for revision, _ in won] == [memory.revision for memory in history][1:] == [2, 3, 4, 5, 6, 7]
    assert [(memory.content or "").split(", ")[-1] for memory in history[1:]] == [who for _, who in won]
    assert sorted(who for _, who in won) == sorted((history[-1].content or "").split(", ")[1:])


def test_a_writer_process_that_fails_is_an_error_with_its_last_words(tmp_path, monkeypatch):
    monkeypatch.setattr("memkit.lab.rivals.sys.executable", "/bin/false")
    with pytest.raises(memkit.MemkitError, match="a writer did not start"):
        lab.compete(tmp_path / "a.db", writers=1, rounds=1)
