"""Claims about the scripted conversation: what is proposed, refused and missed, what a question counts, what the checks explain."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import memkit
from memkit import lab
from memkit.errors import NotFound
from memkit.lab.conversation import Conversation, compare, script_of, unmarked
from memkit.lab.evaluate_extraction import Gold
from memkit.read.context import Context

SHOP = memkit.Scope(workspace="shop")
FORMS = ("text", "markdown", "xml", "chat")


@pytest.fixture
def talk():
    now = lab.clock("2026-11-30T09:00+00:00")
    with memkit.open(clock=now, ids=lab.ids()) as kit:
        yield Conversation(kit, SHOP, now)


def reasons(turns) -> dict[int, list[str]]:
    """Return by turn what became of it: a candidate's reason, or a refusal's."""
    return {turn.episode.number: [one.reason for one in turn.proposals] + [one.reason for one in turn.refused] for turn in turns}


def test_the_script_has_every_kind_of_turn_and_each_is_told_apart(talk):
    assert reasons(talk.play(14)) == {
        1: ["SAID_BY_USER", "SAID_BY_USER"],
        2: ["ASSISTANT_CLAIM"],
        3: ["AWAITS_A_PERSON", "SAID_BY_USER"],
        4: ["OUTPUT"],
        5: ["SAID_BY_USER", "SAID_BY_USER"],
        6: ["EXPERIENCE_INCOMPLETE"],
        7: ["SAID_BY_USER"],
        8: ["ONE_OFF", "HYPOTHETICAL"],
        9: ["SAID_BY_USER"],
        10: ["AWAITS_A_PERSON", "AWAITS_A_PERSON"],
        11: ["RECALLED", "QUESTION"],
        12: ["SAID_BY_USER"],
        13: ["SAID_BY_USER"],
        14: ["NOTHING_CURRENT"],
    }
    assert [one.flags for one in talk.kit.inbox(scope=SHOP)] == [()] * 9 + [("persistence",)] + [()]
    assert talk.left == 0
    with pytest.raises(NotFound, match="all 14 turns of the script were played"):
        talk.play()


def test_turn_by_turn_or_at_once_the_same_candidates_wait(talk):
    for _ in range(14):
        talk.play()
    with memkit.open(clock=talk.clock, ids=lab.ids()) as kit:
        Conversation(kit, SHOP, talk.clock).play(99)
        assert kit.inbox(scope=SHOP) == talk.kit.inbox(scope=SHOP) != []


def test_what_a_person_marked_is_found_or_said_to_be_missed(talk):
    talk.play(5)
    assert [mark.gold.value for mark in talk.marks() if mark.proposal is None] == []
    talk.play(9)
    assert [mark.gold.value for mark in talk.marks() if mark.proposal is None] == ["Lena"]
    assert len(talk.marks()) == len(script_of("launch").gold) == 11
    assert unmarked(talk.marks(), talk.turns) == [9, 10]
    talk.say("user", "数据库用 PostgreSQL 16。")
    assert (talk.turns[-1].proposals[0].id, unmarked(talk.marks(), talk.turns)) == (12, [9, 10])


def test_one_candidate_answers_for_one_mark_and_nearest_first(talk):
    talk.say("user", "The tests run on Node 22.")
    found = [one for turn in talk.turns for one in turn.proposals]
    twice = [Gold(1, "fact", "tests", "Node 22"), Gold(1, "fact", "node", "22"), Gold(1, "preference", "tests", "Node 22")]
    assert [mark.proposal is not None for mark in compare(twice, found)] == [True, False, False]
    assert [mark.proposal for mark in compare(twice, [])] == [None, None, None]


def test_a_request_to_forget_waits_once_there_is_something_to_forget(talk):
    talk.play(5)
    talk.kit.admit(6)
    *_, last = talk.play(9)
    assert [one.reason for one in last.proposals] == ["ASKED_TO_FORGET"]
    talk.kit.admit(last.proposals[0])
    assert talk.kit.current("发布窗口", scope=SHOP) is None
    assert "发布窗口是每周四下午" in talk.turns[4].episode.text


def test_a_question_counts_what_waits_once_and_returns_only_what_is_known(talk):
    talk.play(5)
    first = talk.ask("发布窗口是什么时候？")
    again = talk.ask("  发布窗口是什么时候?")
    assert (first.context.hits, [one.id for one in first.counted], [one.recalls for one in again.counted]) == ((), [6], [1])
    talk.kit.admit(6)
    known = talk.ask("发布窗口是什么时候？")
    assert [hit.memory.key for hit in known.context.hits] == ["发布窗口"]
    assert 6 not in [one.id for one in known.counted]


def test_what_was_forgotten_is_nowhere_in_a_conversation_that_looks_again(talk):
    talk.play(5)
    talk.kit.admit(6)
    assert "周四下午" in repr(talk.turns)
    talk.kit.forget("发布窗口", scope=SHOP, expected=1, reason="asked")
    talk.look_again()
    assert "周四下午" not in repr(talk.turns)
    assert "集成测试" in repr(talk.turns)


def bare(context: Context) -> str:
    """Return what a careless agent logs: the memories, without the fence around them."""
    return " ".join(f"{hit.memory.content}." for hit in context.hits)


def rounds(talk: Conversation, told: Callable[[Context], str]) -> list[memkit.Proposal]:
    """Admit an inference, and log what a model was shown as the user's own words, a hundred times; return what was proposed."""
    talk.play(3)
    talk.kit.admit(3)
    added = []
    for number in range(100):
        context = talk.kit.context("How do I start the API server?", scope=SHOP, budget=300, form=FORMS[number % 4])
        assert "8081" in context.text
        talk.kit.record("loop", "user", f"{told(context)}\nHow do I start it, attempt {number}?", scope=SHOP)
        added += talk.kit.extract("loop", scope=SHOP)
    return added


def test_a_hundred_rounds_of_recalled_text_add_nothing_in_a_fence(talk):
    """mem0 #4573: recalled text was extracted again."""
    assert rounds(talk, lambda context: context.text) == []
    assert [one.id for one in talk.kit.inbox(scope=SHOP)] == [1, 2, 4]


def test_without_the_fence_a_guess_comes_back_as_the_users_word(talk):
    """The sabotaged twin: the same loop with nothing around what was recalled."""
    added = rounds(talk, bare)
    assert [one.reason for one in added if one.id] == ["SAID_BY_USER"] * len([one for one in added if one.id]) != []
    assert talk.kit.admit(added[0]).memory.trust == "STATED"


@pytest.mark.parametrize(
    ("check", "answer", "why"),
    [
        ("candidates_1", ..., "replace the three dots"),
        ("candidates_1", {"A": "candidate"}, "B is missing"),
        ("candidates_1", {"A": "QUESTION"}, "A: not 'QUESTION' but 'candidate': somebody states something"),
        ("candidates_2", ..., "replace the three dots"),
        ("candidates_2", "", "memkit refuses to record that"),
        ("candidates_2", "Is it 8081?", "refused as QUESTION"),
        ("candidates_2", "It is 8081.", "the rules find no statement in it"),
        ("candidates_2", "No, it's 8081.", "once admitted, it is INFERRED"),
        ("candidates_2", "Our staging port is 8081.", "does not answer the question by itself"),
        ("candidates_3", ..., "pass the function itself"),
        ("candidates_3", lambda case: ..., "replace the three dots"),
        ("candidates_3", lambda case: case.wrong, "your rule raises AttributeError"),
        ("candidates_3", lambda case: True, "memkit says False (TOO_FEW_RECALLS)"),
    ],
)
def test_a_wrong_answer_is_told_what_happened(check, answer, why):
    answered = getattr(lab.check, check)(answer)
    assert (answered.right, why in answered.why) == (False, True), answered


@pytest.mark.parametrize("sentence", ["The API server listens on port 8081.", "不对，API 服务器监听 8081 端口。"])
def test_a_sentence_that_stands_alone_is_right_in_both_languages(sentence):
    assert lab.check.candidates_2(sentence).right
