"""The tidy lab without a browser: what a plan would take is in view, what is refused is said, and every control makes a memkit call."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_ledger import HOSTILE, Tags, walk

from memkit import lab
from memkit.errors import NotFound, Refused
from memkit.lab import tidying
from memkit.widgets.tidy import TidyLab


@pytest.fixture
def bench():
    found = TidyLab()
    yield found
    found.close()


def test_a_dry_run_shows_the_plan_as_a_diff_and_writes_nothing(bench):
    before = tidying.fingerprint(bench.kit)
    bench.dry.click()
    assert "7 steps would be taken, and the guard lets them through. Nothing was written." in bench.verdict.value
    for word in ("+ add", "~ change", "- retire", "The mail queue is longest at noon", "longest at eleven", "candidate: merge", "pattern"):
        assert word in bench.diff.value
    assert "5 candidates wait on" in bench.left.value and "FLAGGED" in bench.left.value
    assert tidying.fingerprint(bench.kit) == before
    assert repr(eval(bench.call, {"lab": lab, "kit": bench.kit})) == repr(bench.tried.report)


def test_a_bar_says_how_far_the_last_run_came(bench):
    def bar():
        return bench.bar.value, bench.bar.max, bench.bar.description

    assert bar() == (0, 1, "0 of 1")
    bench.dry.click()
    assert bar() == (10, 10, "10 of 10")  # ten candidates were looked at, and no step carried out
    bench.go.click()
    assert bar() == (17, 17, "17 of 17")
    bench.again.click()
    assert bar() == (0, 1, "0 of 1")


def test_half_trips_the_fuse_in_view_and_the_next_try_has_to_wait(bench):
    bench.which.value = "loses half"
    assert bench.dry_run and bench.diff.value.count("- retire") == 5
    assert "■" * 5 + "<" in bench.diff.value and "□" * 6 + "<" in bench.diff.value
    assert "5 of 11 entries changed or lost: 45 %. The fuse allows 25 %." in bench.diff.value
    bench.go.click()
    assert "FuseTripped: 5 of 11 entries would be changed or lost" in bench.verdict.value
    assert "Every row but the lease is as it was." in bench.verdict.value and bench.error == ""
    bench.go.click()
    assert bench.error.startswith("Refused: ") and "try again after" in bench.error
    bench.later.click()
    bench.which.value = "the rules"
    bench.go.click()
    assert (bench.error, "7 steps were carried out, in one transaction." in bench.verdict.value) == ("", True)
    bench.go.click()
    assert "Nothing was left to do." in bench.verdict.value
    bench.again.click()
    assert "No plan yet" in bench.verdict.value and len(bench.kit.check(scope=tidying.SHOP)) == 11


def test_the_night_is_played_with_buttons_and_only_who_sleeps_can_be_woken(bench):
    (start_a, wake_a), (start_b, wake_b) = bench.jobs["A"], bench.jobs["B"]
    assert [button.disabled for button in (start_a, wake_a, start_b, wake_b)] == [False, True, False, True]
    start_a.click()
    assert [button.disabled for button in (start_a, wake_a)] == [True, False]
    start_b.click()
    assert "another consolidation has the lease" in bench.turns.value
    for button in (bench.minutes, start_b, wake_b, wake_a):
        button.click()
    assert "LeaseLost" in bench.asleep.value and bench.call == "night.wake('A')"
    assert bench.turns.value.count("<tr>") == 7
    bench.dawn.click()
    start_a.click()
    bench.person.click()
    wake_a.click()
    assert "turned down: LOWER_TRUST" in bench.asleep.value
    assert bench.night.memory("images").trust == "STATED"


def test_every_kill_is_listed_with_what_was_found(bench):
    bench.kill.click()
    assert f"Killed at {len(bench.deaths)} points" in bench.survived.value
    assert "0 times something between" in bench.survived.value
    assert bench.phases.value.count("before insert into revision") == sum(d.point == "before insert into revision" for d in bench.deaths)
    assert bench.call == "lab.killed.rehearse()"


def test_a_learners_own_planner_is_tried_by_its_name_and_its_words_are_shown_as_they_are():
    def mine(seen):
        plan = tidying.retiring(seen, tidying.inferred(seen)[:1])
        return replace(plan, steps=(replace(plan.steps[0], why=HOSTILE),))

    bench = TidyLab({"<i>mine</i>": mine}, name="mine")
    bench.kit.remember("tone", HOSTILE, scope=tidying.SHOP, expected=1)
    bench.consolidate()
    bench.night.start("A")
    bench.night.correct("<b>key</b>", HOSTILE)
    bench.turn("wake", "A")
    assert bench.call == "night.wake('A')"
    pages = [bench.snapshot(), *(w.value for w in walk(bench) if type(w).__name__ == "HTML")]
    allowed = {"div", "b", "br", "i", "span", "pre", "code", "table", "tr", "th", "td", "details", "summary"}
    assert {tag for page in pages for tag, _ in Tags(page).found} <= allowed
    assert [page for page in pages if "<script" in page or "<i>mine" in page] == []
    assert "&lt;i&gt;mine" in pages[0] and "&lt;script&gt;" in pages[0]
    bench.close()


def test_a_snapshot_survives_a_sanitiser_and_is_the_same_twice(bench):
    def used(found):
        found.choose("the rules")
        found.turn("start", "A")
        found.kill_everywhere()
        return found.snapshot(), found.as_text()

    page, text = used(bench)
    for word in ("the rules", "~ change", "A holds token 1", "0 times something between", "All ", "lab.killed.rehearse()"):
        assert word in page
    for tag, attributes in Tags(page).found:
        assert set(attributes) <= {"style", "title"}
        coloured = [part.split(":")[0].strip() for part in (attributes.get("style") or "").split(";")]
        assert ("color" in coloured) == ("background" in coloured), (tag, attributes)
    other = TidyLab(name="other")
    assert used(other) == (page, text)
    other.close()


def test_what_is_not_there_is_an_error_in_view(bench):
    with pytest.raises(NotFound, match="no planner 'luck'"):
        bench.choose("luck")
    with pytest.raises(Refused, match="planners is empty"):
        TidyLab({})
    assert bench.guard(bench.turn, "wake", "A") is False
    assert bench.error == "Refused: job A does not sleep; start it first"
    bench.dry.click()
    assert bench.error == ""


def test_every_control_says_what_it_is_for_and_closing_leaves_nothing_open(bench):
    controls = [w for w in walk(bench) if type(w).__name__ in {"Dropdown", "Button"}]
    assert len(controls) == 13
    assert [w for w in controls if not w.tooltip] == []
    bench.turn("start", "A")
    kit, night = bench.kit, bench.night
    again = TidyLab()
    assert (bench.comm, night.asleep) == (None, [])
    with pytest.raises(Exception, match="this store is closed"):
        kit.check(scope=tidying.SHOP)
    again.close()
