"""Kinds age differently: facts do not decay, experiences are only added, inferences move by feedback, passing conclusions are refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memkit
from memkit.govern import forget as forgetting
from memkit.record.confidence import LEAST, MOST, revised
from memkit.write import admission

SHOP = memkit.Scope(workspace="shop")
TEST = memkit.Scope(workspace="shop", env="test")
START = datetime(2026, 1, 1, tzinfo=UTC)
LESSON = {"kind": "experience", "task": "raise the timeout (#214)", "verification": "pytest passed afterwards"}
SAID = "restarting twice cured the queue"


def told(memory: memkit.record.model.Memory | None) -> tuple[object, ...]:
    assert memory is not None
    return memory.revision, memory.kind, memory.content, memory.task, memory.verification


def test_a_world_fact_does_not_decay() -> None:
    now = [START]
    with memkit.open(clock=lambda: now[0], sources={"prod.cfg": "timeout=30"}) as kit:
        kit.learn("timeout", "the timeout is 30", scope=SHOP, cite="prod.cfg#key=timeout")
        (young,) = kit.recall("timeout", scope=SHOP, budget=50).hits
        now[0] += timedelta(days=3650)
        (old,) = kit.recall("timeout", scope=SHOP, budget=50).hits
        assert (old.score, old.verdict, old.memory) == (young.score, "VALID", young.memory)
        assert (old.age, old.memory.confidence) == (timedelta(days=3650), 1.0)


def test_an_experience_carries_its_task_and_its_verification_by_every_path() -> None:
    with memkit.open(sources={"log.txt": SAID}) as kit:
        kit.remember("a", SAID, scope=SHOP, **LESSON)
        kit.learn("b", SAID, scope=SHOP, cite="log.txt", **LESSON)
        waiting = kit.propose("c", SAID, scope=SHOP, **LESSON)
        assert (waiting.candidate.task, waiting.candidate.verification) == (LESSON["task"], LESSON["verification"])
        kit.admit(kit.inbox(scope=SHOP)[0])
        kit.rescope("a", scope=SHOP, to=TEST, expected=1)
        found = [kit.current("a", scope=TEST), kit.current("b", scope=SHOP), kit.current("c", scope=SHOP)]
        assert [told(memory) for memory in found] == [(1, "experience", SAID, LESSON["task"], LESSON["verification"])] * 3
        assert told(kit.history("a", scope=SHOP)[-1]) == (2, "experience", None, None, None)


@pytest.mark.parametrize("missing", [{"task"}, {"verification"}, {"task", "verification"}])
@pytest.mark.parametrize("blank", [None, " "])
def test_an_experience_without_both_is_refused(missing: set[str], blank: str | None) -> None:
    with memkit.open(sources={"log.txt": SAID}) as kit:
        words = LESSON | dict.fromkeys(missing, blank)
        for act in (kit.remember, kit.propose, lambda *a, **b: kit.learn(*a, cite="log.txt", **b)):
            with pytest.raises(memkit.Refused) as caught:
                act("k", SAID, scope=SHOP, **words)
            assert caught.value.reason in ({"EXPERIENCE_INCOMPLETE"} if blank is None else {"EMPTY_TASK", "EMPTY_VERIFICATION"})
        assert kit.events(scope=SHOP) == []


def test_task_and_verification_belong_to_no_other_kind() -> None:
    with memkit.open() as kit, pytest.raises(memkit.Refused) as caught:
        kit.remember("k", "so it is", scope=SHOP, kind="fact", task="some task")
    assert caught.value.reason == "NOT_AN_EXPERIENCE"


@pytest.mark.parametrize(
    "change", [{"content": "restarting did not help"}, {"task": "another"}, {"verification": "none"}, {"kind": "fact"}]
)
def test_an_experience_is_never_overwritten_by_anything(change: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"content": SAID} | LESSON | change
    if words["kind"] == "fact":
        del words["task"], words["verification"]

    def check() -> None:
        with memkit.open() as kit:
            first = kit.remember("k", SAID, scope=SHOP, **LESSON).memory
            assert kit.remember("k", scope=SHOP, expected=memkit.ANY, **words).reason == "APPEND_ONLY"
            refused = kit.propose("k", scope=SHOP, **words)
            assert (refused.op, refused.reason) == ("NOOP", "APPEND_ONLY") and kit.inbox(scope=SHOP) == []
            assert kit.current("k", scope=SHOP) == first and len(kit.history("k", scope=SHOP)) == 1
            assert kit.remember("k", SAID, scope=SHOP, **LESSON).reason == "ALREADY_KNOWN"
            assert kit.remember("another k", scope=SHOP, **words).op == "ADD"

    check()
    monkeypatch.setattr(admission, "_by_kind", lambda candidate, current, now: None)
    with pytest.raises(AssertionError):
        check()


def test_an_experience_overwrites_nothing_either() -> None:
    with memkit.open() as kit:
        kit.remember("k", "a rule of the house", scope=SHOP)
        assert kit.remember("k", SAID, scope=SHOP, expected=1, **LESSON).reason == "APPEND_ONLY"
        assert kit.current("k", scope=SHOP).content == "a rule of the house"


def test_forgetting_reaches_task_and_verification_in_every_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"kind": "experience", "task": "the zanzibar-quince ferry", "verification": "seen at the zanzibar-quince pier"}

    def check() -> None:
        with memkit.open() as kit:
            kit.propose("k", "another saying", scope=SHOP, **words)
            kit.remember("k", SAID, scope=SHOP, **words)
            receipt = kit.forget("k", scope=SHOP, expected=1, reason="asked")
            assert receipt.verified and kit.admin.sweep("zanzibar-quince") == {":memory:": 0}
            assert [told(memory)[2:] for memory in kit.history("k", scope=SHOP)] == [(None,) * 3] * 2

    check()
    for table in ("revision", "proposal"):
        with monkeypatch.context() as broken:
            query = (
                forgetting.ERASE_QUERIES[table]
                .replace("task = null, verification = null,", "")
                .replace(", task = null, verification = null", "")
            )
            broken.setitem(forgetting.ERASE_QUERIES, table, query)
            with pytest.raises(AssertionError):
                check()


def test_secrets_in_task_and_verification_are_masked_before_they_are_kept() -> None:
    secret = "".join(["gh", "p_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"])
    words = {"kind": "experience", "task": f"log in with {secret}", "verification": f"{secret} worked"}
    with memkit.open() as kit:
        kit.remember("k", SAID, scope=SHOP, **words)
        kit.propose("l", SAID, scope=SHOP, **words)
        assert set(kit.admin.sweep(secret).values()) == {0}
        assert told(kit.current("k", scope=SHOP))[3:] == ("log in with [redacted:forge-token]", "[redacted:forge-token] worked")


def test_an_experience_that_still_says_a_forgotten_value_in_its_task_is_named() -> None:
    with memkit.open() as kit:
        kit.remember("k", SAID, scope=SHOP, **LESSON)
        kit.remember("ticket", LESSON["task"], scope=SHOP)
        assert kit.forget("ticket", scope=SHOP, expected=1, reason="asked").still_said_by == ("k",)


def test_what_was_forgotten_does_not_come_back_as_a_task() -> None:
    with memkit.open() as kit:
        kit.remember("ferry", "the ferry to Zanzibar leaves at nine", scope=SHOP)
        kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        words = LESSON | {"task": "The ferry to Zanzibar leaves at nine"}
        assert kit.remember("k", SAID, scope=SHOP, **words).reason == "TOMBSTONED"


def test_a_passing_conclusion_is_refused_with_its_own_reason() -> None:
    with memkit.open(sources={"a.txt": "x"}) as kit:
        for act in (kit.remember, kit.propose, lambda *a, **b: kit.learn(*a, cite="a.txt", **b)):
            with pytest.raises(memkit.Refused, match=r"kit\.state") as caught:
                act("k", "the second file is the culprit", scope=SHOP, kind="transient")
            assert caught.value.reason == "TRANSIENT"
        assert kit.events(scope=SHOP) == []


@given(st.floats(0, 1), st.lists(st.booleans(), max_size=6))
def test_feedback_moves_confidence_the_right_way_and_never_to_certainty(confidence: float, feedback: list[bool]) -> None:
    for confirmed in feedback:
        before, confidence = min(max(confidence, LEAST), MOST), revised(confidence, confirmed)
        assert LEAST <= confidence <= MOST
        assert confidence == before in (LEAST, MOST) or (confidence > before) is confirmed


@given(st.floats(0.2, 0.8))
def test_one_of_each_cancels_out_in_either_order(confidence: float) -> None:
    assert revised(revised(confidence, True), False) == pytest.approx(confidence)
    assert revised(revised(confidence, False), True) == pytest.approx(confidence)
