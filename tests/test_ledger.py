"""The ledger without a browser: history apart from the current value, two clocks, and a Conflict with both numbers."""

from __future__ import annotations

import pytest
from views import Tags, walk

import memkit
from memkit import lab
from memkit.errors import Conflict, NotFound, Refused
from memkit.widgets.ledger import Ledger

TEAM = memkit.Scope(workspace="shop")
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'></pre></td>\u202ecod"


def told_twice() -> memkit.Kit:
    now = lab.clock("2026-03-02T09:00+00:00")
    kit = memkit.open(clock=now, ids=lab.ids())
    kit.remember("node", "Node 18", scope=TEAM)
    now.advance(days=7)
    kit.remember("node", "Node 20", scope=TEAM, expected=1, valid_from=lab.day("2026-03-04"))
    return kit


@pytest.fixture
def ledger():
    with told_twice() as kit:
        found = Ledger(kit, {"team": TEAM}, true_on="2026-03-06")
        yield found
        found.close()


def answers(ledger: Ledger) -> list[str | None]:
    return [memory.content for memory in ledger.answer or []]


def test_the_current_value_stands_apart_from_the_history(ledger):
    assert "Node 20" in ledger.now.value
    assert "Node 18" not in ledger.now.value
    assert [ledger.past.value.count(word) for word in ("Node 18", "SUPERSEDED", "Node 20", "CURRENT")] == [1, 1, 1, 1]
    assert ledger.past.value.count(">2026-03-04</span>") == 1


def test_two_clocks_answer_what_was_true_and_what_was_known(ledger):
    asked = {}
    for true_on in ("2026-03-01", "2026-03-03", "2026-03-06"):
        for known_on in ("", "2026-03-01", "2026-03-10"):
            ledger.when.value, ledger.known.value = true_on, known_on
            asked[true_on, known_on] = answers(ledger)
    assert asked == {
        ("2026-03-01", ""): [],
        ("2026-03-01", "2026-03-01"): [],
        ("2026-03-01", "2026-03-10"): ["Node 18"],
        ("2026-03-03", ""): ["Node 18"],
        ("2026-03-03", "2026-03-01"): [],
        ("2026-03-03", "2026-03-10"): ["Node 18"],
        ("2026-03-06", ""): ["Node 18"],
        ("2026-03-06", "2026-03-01"): [],
        ("2026-03-06", "2026-03-10"): ["Node 20"],
    }
    assert "True on 2026-03-06, as known on 2026-03-10: Node 20 (revision 2)" in ledger.told.value
    assert "2 ◀" in ledger.past.value
    ledger.when.value = ""
    assert (ledger.answer, "Type a day" in ledger.told.value, "◀" in ledger.past.value) == (None, True, False)


def test_a_day_that_is_none_is_an_error_in_view_and_the_answer_stays(ledger):
    ledger.when.value = "yesterday"
    assert ledger.error.startswith("Refused: the day is of type str; write it as year-month-day")
    assert answers(ledger) == ["Node 18"]
    ledger.when.value = "2026-03-10T08:00+00:00"
    assert (ledger.error, answers(ledger)) == ("", ["Node 20"])


def test_a_correction_makes_a_revision_and_an_event_with_a_day_it_is_true_from(ledger):
    ledger.content.value, ledger.since.value = "Node 22", "2026-03-08"
    assert ledger.expected.value == 2
    ledger.write.click()
    assert ledger.error == ""
    memory = ledger.kit.current("node", scope=TEAM)
    assert (memory.revision, memory.content, memory.valid_from) == (3, "Node 22", lab.day("2026-03-08"))
    assert (ledger.expected.value, ledger.content.value) == (3, "")
    assert ledger.events.value.count("CORRECTED") == 2
    assert "UPDATE CORRECTED, revision 3" in ledger.status.value
    assert ledger.call.splitlines()[0] == "kit.remember('node', 'Node 22', scope=team, expected=2, valid_from=lab.day('2026-03-08'))"


def test_a_write_made_elsewhere_meanwhile_is_a_conflict_with_both_numbers_and_changes_nothing(ledger):
    ledger.kit.remember("node", "Node 24", scope=TEAM, expected=2)
    ledger._look_again()
    assert ("Node 24" in ledger.now.value, ledger.expected.value) == (True, 2)
    before = (ledger.kit.history("node", scope=TEAM), ledger.kit.events(scope=TEAM))
    ledger.content.value = "Node 22"
    ledger.write.click()
    assert isinstance(ledger.failure, Conflict)
    assert (ledger.failure.expected, ledger.failure.actual) == (2, 3)
    assert ledger.error.endswith("read the current value, decide again, and pass expected=3")
    assert (ledger.kit.history("node", scope=TEAM), ledger.kit.events(scope=TEAM)) == before
    assert "Nothing was written." in ledger.status.value
    assert ledger.content.value == "Node 22"
    ledger.expected.value = 3
    ledger.write.click()
    assert (ledger.error, ledger.kit.current("node", scope=TEAM).content) == ("", "Node 22")


def test_saying_it_again_is_a_noop_with_an_event(ledger):
    ledger.correct("Node 20", expected=1, true_from="2026-03-04")
    assert "NOOP ALREADY_KNOWN" in ledger.said
    assert len(ledger.kit.history("node", scope=TEAM)) == 2
    assert "NOOP" in ledger.events.value


def test_any_writes_over_whatever_is_there_and_the_call_says_so(ledger):
    ledger.expected.value, ledger.content.value = -1, "Node 22"
    ledger.write.click()
    assert ledger.call.splitlines()[0] == "kit.remember('node', 'Node 22', scope=team, expected=memkit.ANY)"
    assert ledger.kit.current("node", scope=TEAM).revision == 3


def test_a_forgotten_key_has_a_history_without_content_and_its_numbers_go_on(ledger):
    ledger.kit.remember("days", "Tuesday", scope=TEAM)
    ledger.kit.forget("node", scope=TEAM, expected=2, reason="asked")
    ledger.refresh()
    assert list(ledger.chooser.options) == ["node", "days"]
    for shown in (ledger.now.value, ledger.past.value, ledger.snapshot(), ledger.as_text()):
        assert "Node" not in shown
    assert "has no current value" in ledger.now.value
    assert "RETIRED" in ledger.past.value
    ledger.choose("node")
    assert ledger.expected.value == 0
    assert ledger.correct("Node 24", expected=0).memory.revision == 4
    ledger.chooser.value = "days"
    assert "Tuesday" in ledger.now.value


def test_the_calls_shown_can_be_run_as_they_stand(ledger):
    ledger.ask("2026-03-06", "2026-03-10")
    names = {"kit": ledger.kit, "memkit": memkit, "lab": lab, "team": TEAM}
    results = [eval(line, names) for line in ledger.call.splitlines()]
    assert len(results) == 4
    assert [memory.content for memory in results[2]] == ["Node 20"]


def test_only_this_key_in_exactly_this_scope_is_shown(ledger):
    ledger.kit.remember("node", "Node 99", scope=memkit.Scope(workspace="shop", env="prod"))
    ledger.kit.remember("other", "something else", scope=TEAM)
    ledger.refresh()
    assert "Node 99" not in ledger.snapshot()
    assert "something else" not in ledger.snapshot()
    assert list(ledger.chooser.options) == ["node", "other"]


def test_a_ledger_of_nothing_or_of_no_scope_is_refused():
    with memkit.open() as kit:
        with pytest.raises(NotFound, match="nothing was ever written in this scope"):
            Ledger(kit, {"team": TEAM})
        with pytest.raises(Refused, match="scopes has 0 entries"):
            Ledger(kit, {})
        kit.remember("node", "Node 18", scope=TEAM)
        with pytest.raises(NotFound, match="'days' was never written in this scope; these were: node"):
            Ledger(kit, {"team": TEAM}, key="days")


def test_hostile_text_is_shown_as_text():
    with memkit.open() as kit:
        kit.remember(HOSTILE[:60], HOSTILE, scope=TEAM)
        ledger = Ledger(kit, {"team": TEAM}, true_on="2100-01-01")
        ledger.correct(f"{HOSTILE} again", expected=1)
        pages = [ledger.snapshot(), *(w.value for w in walk(ledger) if type(w).__name__ == "HTML")]
        assert sum("&lt;script&gt;" in page for page in pages) >= 4
        for page in pages:
            assert {tag for tag, _ in Tags(page).found} <= {"div", "b", "br", "i", "span", "pre", "table", "tr", "th", "td"}
            assert "\u202e" not in page
        ledger.close()


def test_a_snapshot_survives_a_sanitiser_and_is_the_same_twice(ledger):
    page = ledger.snapshot()
    for word in ("Node 18", "SUPERSEDED", "CURRENT", "True on 2026-03-06", "CORRECTED", "kit.as_of(lab.day("):
        assert word in page
    for tag, attributes in Tags(page).found:
        assert set(attributes) <= {"style", "title"}
        coloured = [part.split(":")[0].strip() for part in (attributes.get("style") or "").split(";")]
        assert ("color" in coloured) == ("background" in coloured), (tag, attributes)
    assert "var(" not in page
    with told_twice() as kit:
        other = Ledger(kit, {"team": TEAM}, true_on="2026-03-06", name="other")
        assert other.snapshot() == page
        assert other._repr_mimebundle_()["text/plain"] == other.as_text() == ledger.as_text()
        other.close()


def test_every_control_says_what_it_is_for(ledger):
    controls = [w for w in walk(ledger) if type(w).__name__ in {"Text", "Dropdown", "BoundedIntText", "Button"}]
    assert len(controls) == 7
    assert [w for w in controls if not w.tooltip] == []


def test_a_closed_store_ends_the_following_quietly(ledger):
    ledger.kit.close()
    assert ledger.guard(ledger._look_again) is True
    assert ledger.error == ""
