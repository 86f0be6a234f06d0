"""The inbox without a browser: candidates with their evidence, decisions with their reasons, and what the rules missed."""

from __future__ import annotations

import pytest
from views import Tags, walk

import memkit
from memkit import lab
from memkit.errors import Conflict, NotFound, Refused
from memkit.widgets.inbox import Inbox

SHOP = memkit.Scope(workspace="shop")
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'></pre></td>\u202ecod"


def opened(turns: int = 0, name: str = "inbox") -> Inbox:
    now = lab.clock("2026-11-30T09:00+00:00")
    talk = lab.conversation.Conversation(memkit.open(clock=now, ids=lab.ids()), SHOP, now)
    talk.play(turns)
    return Inbox(talk, {"shop": SHOP}, name=name)


@pytest.fixture
def inbox():
    found = opened()
    yield found
    found.close()
    found.kit.close()


def area(inbox: Inbox, name: str) -> str:
    """Return what an area of the live view shows: turns, inbox, decisions, marks or asked."""
    (found,) = [widget.value for widget, draw in inbox._areas.items() if draw.__name__ == name]
    return found


def test_a_turn_plays_and_its_candidates_show_words_episode_trust_and_reason(inbox):
    assert (inbox.yes.disabled, inbox.chooser.options) == (True, (("nothing waits", 0),))
    inbox.next.click()
    assert inbox.error == ""
    waits = area(inbox, "inbox")
    for shown in (
        "package-manager",
        "We use pnpm in this repository",
        "in session:launch/1",
        "confidence 0.80",
        "SAID_BY_USER",
        "ASKS_A_PERSON",
    ):
        assert shown in waits
    assert inbox.chooser.options == (("1 · package-manager", 1), ("2 · tests-node-version", 2))
    inbox.next.click()
    assert "ASSISTANT_CLAIM" in area(inbox, "turns")
    assert "8080" not in area(inbox, "inbox")


def test_what_is_admitted_shows_its_trust_and_why(inbox):
    inbox.play(3)
    inbox.yes.click()
    assert inbox.said == "Candidate 1: ADD NEW, nothing was known under this key in this scope. It is STATED now: a person said it."
    inbox.chooser.value = 3
    inbox.yes.click()
    assert "It is INFERRED now" in inbox.said
    decided = area(inbox, "decisions")
    assert [decided.count(word) for word in ("ADMITTED", "STATED", "INFERRED")] == [2, 1, 1]
    assert [memory.trust for key in ("package-manager", "api-server-port") if (memory := inbox.kit.current(key, scope=SHOP))] == [
        "STATED",
        "INFERRED",
    ]


def test_an_experience_says_where_it_applies_when_a_person_decides_and_when_a_model_is_shown_it(inbox):
    inbox.play(6)
    assert "Applies in" not in area(inbox, "inbox"), "a fact says only what it is"
    inbox.play(1)
    (lived,) = [one for one in inbox.kit.inbox(scope=SHOP) if one.candidate.kind == "experience"]
    waits = area(inbox, "inbox")
    for shown in ("Applies in", "workspace=shop", f"made in the task “{lived.candidate.task}”", "Known to work by: “48 tests passed"):
        assert shown in waits
    inbox.kit.admit(lived)
    (line,) = [line for line in inbox.kit.context(lived.content, scope=SHOP, budget=500).text.split("\n") if lived.key in line]
    assert " in workspace=shop from " in line and " task " in line and " verification " in line


def test_a_rejection_needs_no_reason_and_gives_one_back(inbox):
    inbox.play()
    inbox.why.value = "not so any more"
    inbox.no.click()
    assert inbox.said == "Candidate 1: NOOP REJECTED, not so any more."
    assert (inbox.why.value, inbox.call) == ("", "kit.reject(1, 'not so any more')")
    inbox.no.click()
    assert [one.status for one in lab.conversation.decided(inbox.kit, SHOP)] == ["REJECTED", "REJECTED"]
    assert inbox.yes.disabled is True


def test_a_contradiction_waits_beside_and_a_conflict_is_shown_with_both_numbers(inbox):
    inbox.rest.click()
    waits = area(inbox, "inbox")
    assert "Says something else than: candidate 11" in waits
    assert "Says something else than: candidate 1<" in waits
    assert waits.count("support 2") == 1
    inbox.admit(1)
    inbox.chooser.value = 11
    inbox.yes.click()
    assert isinstance(inbox.failure, Conflict)
    assert "'package-manager' is at revision 1, not absent, as expected=0 says" in inbox.error
    assert (inbox.said, inbox.call) == ("Nothing was written.", "kit.admit(11)")
    assert inbox.kit.current("package-manager", scope=SHOP).content == "We use pnpm in this repository"
    assert 11 in [number for _, number in inbox.chooser.options]
    inbox.chooser.value = 4
    inbox.yes.click()
    assert inbox.error == ""


def test_what_gives_orders_is_flagged_and_nothing_else_is(inbox):
    inbox.rest.click()
    waits = area(inbox, "inbox")
    assert waits.count("flagged: persistence") == 1
    assert waits.index("shop-projects") < waits.index("flagged: persistence") < waits.index("All projects of the shop")
    assert "counting never promotes that" in waits


def test_what_the_rules_missed_is_said(inbox):
    inbox.play(5)
    assert "Of 6 things that a person marked in these turns, the rules found 6." in area(inbox, "marks")
    inbox.rest.click()
    marks = area(inbox, "marks")
    assert "the rules found 10. Missed, and nobody was told: Lena. Candidates that nobody marked: 9, 10." in marks
    assert marks.count(">missed<") == 1
    assert (inbox.next.disabled, inbox.rest.disabled) == (True, True)
    with pytest.raises(NotFound, match="all 14 turns"):
        inbox.play()


def test_a_question_returns_what_is_known_and_counts_what_waits(inbox):
    inbox.rest.click()
    inbox.query.value = "Which port does the payment gateway use?"
    inbox.search.click()
    assert "counted" in area(inbox, "asked") and "returned" not in area(inbox, "asked")
    assert "wanted by 1" in area(inbox, "inbox")
    inbox.admit(9)
    inbox.search.click()
    assert "returned" in area(inbox, "asked") and "9443" in area(inbox, "asked")


def test_a_learner_says_something_and_sees_what_becomes_of_it(inbox):
    inbox.words.value = "数据库用 PostgreSQL 16。"
    inbox.send.click()
    assert (inbox.said, inbox.words.value) == ("Turn 1: candidates 1; refused 0.", "")
    inbox.speaker.value, inbox.words.value = "assistant", "The shop uses Redis."
    inbox.send.click()
    assert inbox.said == "Turn 2: candidates none; refused 1."
    inbox.words.value = ""
    inbox.send.click()
    assert inbox.error.startswith("Refused: ")
    assert len(inbox.talk.turns) == 2


def test_the_calls_shown_can_be_run_as_they_stand(inbox):
    inbox.play()
    with memkit.open() as other:
        names = {"kit": other, "shop": SHOP}
        results = [eval(line, names) for line in inbox.call.splitlines()]
        assert [one.content for one in results[1]] == [one.content for one in inbox.kit.inbox(scope=SHOP)] != []
        inbox.admit(1)
        assert eval(inbox.call, names).op == "ADD"
    inbox.ask("pnpm?")
    assert len(eval(inbox.call, {"kit": inbox.kit, "shop": SHOP}).hits) == 1


def test_what_other_cells_do_is_seen_and_what_is_forgotten_is_nowhere(inbox):
    inbox.play(5)
    inbox.kit.admit(6)
    inbox._look_again()
    assert inbox.said == "The record was changed outside this widget."
    inbox.ask("发布窗口是什么时候？")
    assert [("周四下午" in area(inbox, name)) for name in ("turns", "asked")] == [True, True]
    inbox.kit.forget("发布窗口", scope=SHOP, expected=1, reason="asked")
    inbox._look_again()
    shown = [w.value for w in walk(inbox) if type(w).__name__ == "HTML" and w is not mark_area(inbox)]
    assert [page for page in [*shown, inbox.call] if "周四下午" in page] == []
    assert "集成测试" in area(inbox, "turns")


def mark_area(inbox: Inbox):
    """Return the area of marks: they are the script's own, and no memory."""
    (found,) = [widget for widget, draw in inbox._areas.items() if draw.__name__ == "marks"]
    return found


def test_secrets_and_hostile_text_are_shown_neither_raw_nor_as_markup(inbox):
    secret = "ghp_" + "a1B2" * 9
    inbox.say("user", f"We use {secret} in this repository.")
    inbox.say("user", f"We use {HOSTILE} in this repository.")
    inbox.ask(f"{HOSTILE} {secret}")
    pages = [inbox.snapshot(), inbox.as_text(), inbox.call, *(w.value for w in walk(inbox) if type(w).__name__ == "HTML")]
    assert sum("&lt;script&gt;" in page for page in pages) >= 3
    assert [page for page in pages if secret in page or "\u202e" in page] == []
    for page in [inbox.snapshot(), *(w.value for w in walk(inbox) if type(w).__name__ == "HTML")]:
        allowed = {"div", "b", "br", "i", "span", "pre", "table", "tr", "th", "td", "details", "summary"}
        assert {tag for tag, _ in Tags(page).found} <= allowed


def test_a_snapshot_survives_a_sanitiser_and_is_the_same_twice(inbox):
    inbox.rest.click()
    inbox.admit(1)
    page = inbox.snapshot()
    for word in ("ASSISTANT_CLAIM", "flagged: persistence", "STATED", "in session:launch/13", "Lena", "kit.admit(1)"):
        assert word in page
    for tag, attributes in Tags(page).found:
        assert set(attributes) <= {"style", "title"}
        coloured = [part.split(":")[0].strip() for part in (attributes.get("style") or "").split(";")]
        assert ("color" in coloured) == ("background" in coloured), (tag, attributes)
    assert "var(" not in page
    other = opened(name="other")
    other.play(14)
    other.admit(1)
    assert other.snapshot() == page
    assert other._repr_mimebundle_()["text/plain"] == other.as_text() == inbox.as_text()
    other.close()


def test_every_control_says_what_it_is_for(inbox):
    controls = [w for w in walk(inbox) if type(w).__name__ in {"Text", "Dropdown", "Button"}]
    assert len(controls) == 11
    assert [w for w in controls if not w.tooltip] == []


def test_a_scope_that_is_another_is_refused(inbox):
    with pytest.raises(Refused, match="scopes does not hold the scope of this conversation"):
        Inbox(inbox.talk, {"shop": memkit.Scope(workspace="blog")}, name="wrong")


def test_a_closed_store_ends_the_following_quietly(inbox):
    inbox.kit.close()
    assert inbox.guard(inbox._look_again) is True
    assert inbox.error == ""
