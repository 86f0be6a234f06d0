"""The race lab without a browser: what is lost is shown as lost, and every order can be replayed."""

from __future__ import annotations

import pytest
from test_ledger import Tags, walk

from memkit import lab
from memkit.errors import NotFound, Refused
from memkit.widgets.race import RaceLab


@pytest.fixture
def races():
    found = RaceLab()
    yield found
    found.close()


def press(races: RaceLab, order: str) -> None:
    for who in order:
        races.buttons[who].click()


def test_stepped_by_hand_blind_writing_loses_a_day_in_view(races):
    press(races, "ABABA")
    assert "Still running: B." in races.verdict.value
    assert (races.buttons["A"].disabled, races.buttons["B"].disabled) == (True, False)
    press(races, "B")
    assert "Thursday is lost, and nobody was told." in races.verdict.value
    assert races.buttons["B"].disabled
    assert races.call.splitlines() == ["race.step('B')", "# kit.remember('days', 'Tuesday, Friday', scope=SHOP, expected=memkit.ANY)"]
    races.again.click()
    assert "Who goes first?" in races.verdict.value
    assert [button.disabled for button in races.buttons.values()] == [False, False]


def test_compare_and_swap_tells_the_later_writer_and_loses_nothing(races):
    races.rules.value = "compare-and-swap"
    press(races, "ABABABBBB")
    assert races.heat.lost == ()
    assert "Nothing is lost. 1 Conflict: the later writer was told" in races.verdict.value
    assert "Conflict: expected 1, actual 2" in races.steps.value


def test_every_order_of_each_rule_is_counted_side_by_side(races):
    for rule in races.writers:
        races.rules.value = rule
        races.count.click()
    assert {rule: lab.race.tally(runs)["lost"] for rule, runs in races.runs.items()} == {
        "blind write": 18,
        "check, then act": 12,
        "compare-and-swap": 0,
    }
    assert "All 20 orders of compare-and-swap" in races.sums.value
    assert "check, then act" in races.sums.value
    races.rules.value = "check, then act"
    assert races.sums.value.count("and nobody was told") == 12
    assert races.error == ""


def test_an_order_of_the_list_can_be_replayed(races):
    lost = next(run for run in lab.race.every(lab.race.blind) if run.lost)
    races.order.value = lost.order
    assert races.heat.lost == lost.lost
    assert races.call == f"lab.race.Race(lab.race.blind).run({lost.order!r})"
    assert eval(races.call, {"lab": lab}) == lab.race.Race(lab.race.blind).run(lost.order)


def test_a_step_too_many_or_an_order_that_is_none_is_an_error_in_view(races):
    races.replay("AAABBB")
    assert races.guard(races.step, "A") is False
    assert races.error.startswith("Refused: writer 'A' has no step left")
    with pytest.raises(Refused, match="an order is made of A and B"):
        races.replay("ABC")
    with pytest.raises(NotFound, match="no rule 'luck'"):
        races.choose("luck")
    with pytest.raises(Refused, match="writers is empty"):
        RaceLab({})
    races.again.click()
    assert races.error == ""


def test_a_learners_own_writer_is_raced_by_its_name():
    def mine(kit, key, day):
        yield
        kit.remember(key, f"<b>{day}</b>", scope=lab.race.SHOP, expected=1)

    races = RaceLab({"<i>mine</i>": mine}, name="mine")
    races.replay("ABAB")
    races.run_every()
    assert races.call == "lab.race.tally(lab.race.every(mine))"
    assert "def mine(kit, key, day):" in races.program.value
    pages = [races.snapshot(), *(w.value for w in walk(races) if type(w).__name__ == "HTML")]
    assert "&lt;b&gt;Thursday" in pages[0]
    allowed = {"div", "b", "br", "i", "span", "pre", "code", "table", "tr", "th", "td", "details", "summary"}
    assert {tag for page in pages for tag, _ in Tags(page).found} <= allowed
    assert [page for page in pages if "<b>Thursday" in page or "<i>mine" in page] == []
    races.close()


def test_a_snapshot_survives_a_sanitiser_and_is_the_same_twice(races):
    races.run_every()
    races.replay("ABABAB")
    page = races.snapshot()
    for word in ("blind write", "Thursday is lost", "expected=memkit.ANY", "All 20 orders", "def blind", "lab.race.Race"):
        assert word in page
    for tag, attributes in Tags(page).found:
        assert set(attributes) <= {"style", "title"}
        coloured = [part.split(":")[0].strip() for part in (attributes.get("style") or "").split(";")]
        assert ("color" in coloured) == ("background" in coloured), (tag, attributes)
    other = RaceLab(name="other")
    other.run_every()
    other.replay("ABABAB")
    assert (other.snapshot(), other.as_text()) == (page, races.as_text())
    other.close()


def test_every_control_says_what_it_is_for_and_closing_leaves_none_open(races):
    controls = [w for w in walk(races) if type(w).__name__ in {"ToggleButtons", "Dropdown", "Button"}]
    assert len(controls) == 6
    assert [w for w in controls if not (w.tooltip or w.tooltips)] == []
    kit = races.heat.kit
    again = RaceLab()
    assert races.comm is None
    with pytest.raises(Exception, match="this store is closed"):
        kit.current("days", scope=lab.race.SHOP)
    again.close()
