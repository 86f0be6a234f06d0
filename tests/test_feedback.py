"""read/feedback.py, kit.confirm and kit.contradict: what use teaches about a memory, and what it may not change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memkit
from memkit.read.feedback import DOUBTFUL
from memkit.record import store
from memkit.record.model import Memory
from memkit.record.use import Use, record_of_use

SHOP = memkit.Scope(workspace="shop")
START = datetime(2026, 1, 1, tzinfo=UTC)
ROBOT = memkit.Principal(actor="agent")


def seen(kit: memkit.Kit, session: str = "monday", role: str = "tool", trusted: bool = True) -> str:
    """Record an episode that shows something, and return its source."""
    return kit.record(session, role, "curl says 81", scope=SHOP, trusted=trusted).source


def use(kit: memkit.Kit, memory: Memory) -> Use:
    with kit.db.read() as tx:
        return record_of_use(tx, memory.tenant, [memory.id]).get(memory.id, Use())


def inferred(kit: memkit.Kit, confidence: float = 0.75, key: str = "guess") -> Memory:
    outcome = kit.admit(kit.propose(key, f"{key}: the port is 80", scope=SHOP, confidence=confidence))
    assert outcome.memory is not None
    return outcome.memory


def stated(kit: memkit.Kit) -> Memory:
    memory = kit.remember("port", "the port is 80", scope=SHOP).memory
    assert memory is not None
    return memory


def verified(kit: memkit.Kit) -> Memory:
    memory = kit.learn("cfg", "port=80", scope=SHOP, cite="a.cfg#key=port").memory
    assert memory is not None
    return memory


def reasons(kit: memkit.Kit) -> dict[str, str]:
    return {skip.memory.key: skip.reason for skip in kit.recall("port", scope=SHOP, budget=900).skipped}


def test_a_context_counts_a_use_and_recall_counts_none() -> None:
    with memkit.open(clock=lambda: START) as kit:
        memory, other = stated(kit), kit.remember("door", "the door is red", scope=SHOP).memory
        assert other is not None
        kit.recall("port", scope=SHOP, budget=900)
        assert use(kit, memory) == Use()
        for _ in range(2):
            kit.context("port", scope=SHOP, budget=900)
        assert use(kit, memory) == Use(uses=2, last_used=START) and use(kit, other) == Use()
        kit.context("port", scope=SHOP, budget=0)
        assert use(kit, memory).uses == 2, "what the budget dropped was not used"


def test_what_proved_useful_ranks_before_what_did_not() -> None:
    with memkit.open() as kit:
        for key in ("north", "south"):
            kit.remember(key, f"deploy with make, {key} says", scope=SHOP)

        def order() -> list[str]:
            return [hit.memory.key for hit in kit.recall("deploy with make", scope=SHOP, budget=900, recipe=memkit.BALANCED).hits]

        first, second = order()
        for n in range(3):
            kit.confirm(kit.current(second, scope=SHOP), episode=seen(kit, f"s{n}"))  # type: ignore[arg-type]
        assert order() == [second, first]
        assert kit.recall("deploy with make", scope=SHOP, budget=900).hits[0].parts["(use)"] > 0


def test_a_confirmed_inference_gains_confidence_by_a_revision() -> None:
    with memkit.open() as kit:
        memory = inferred(kit)
        outcome = kit.acting_as(ROBOT).confirm(memory, episode=seen(kit))
        assert (outcome.op, outcome.reason) == ("UPDATE", "CONFIDENCE_RAISED") and outcome.memory == kit.current("guess", scope=SHOP)
        assert [(m.revision, m.content, m.confidence) for m in kit.history("guess", scope=SHOP)] == [
            (1, memory.content, 0.75),
            (2, memory.content, 0.9),
        ]
        told = kit.events(scope=SHOP)[-1]
        assert (told.op, told.reason, told.revision, told.detail, told.actor) == (
            "CONFIRM",
            "CONFIDENCE_RAISED",
            2,
            "session:monday/1",
            "agent",
        )
        assert use(kit, memory).confirmed == 1


def test_a_contradicted_inference_loses_confidence_until_it_is_not_shown() -> None:
    now = [START]
    with memkit.open(clock=lambda: now[0]) as kit:
        memory = inferred(kit)
        now[0] += timedelta(days=5)
        first = kit.contradict(memory, "the tool saw 81", episode=seen(kit, "monday"))
        assert (first.op, first.reason, first.memory.confidence) == ("UPDATE", "CONFIDENCE_LOWERED", 0.5)  # type: ignore[union-attr]
        assert reasons(kit) == {} and "the tool saw 81" in first.why
        assert kit.recall("port", scope=SHOP, budget=900).hits[0].age == timedelta(days=5), "a contradiction makes nothing younger"
        second = kit.contradict(first.memory, "again", episode=seen(kit, "tuesday"))  # type: ignore[arg-type]
        assert second.reason == "FLAGGED" and second.memory.confidence < DOUBTFUL and reasons(kit) == {"guess": "FLAGGED"}  # type: ignore[union-attr]
        third = kit.confirm(second.memory, episode=seen(kit, "wednesday"))  # type: ignore[arg-type]
        assert third.memory.confidence == 0.5 and reasons(kit) == {} and use(kit, memory).contradicted == 2  # type: ignore[union-attr]


def test_a_doubtful_inference_that_an_agent_confirms_a_little_stays_marked() -> None:
    with memkit.open() as kit:
        memory = inferred(kit, 0.2)
        marked = kit.contradict(memory, "no", episode=seen(kit, "a")).memory
        assert reasons(kit) == {"guess": "FLAGGED"}
        again = kit.acting_as(ROBOT).confirm(marked, episode=seen(kit, "a"))  # type: ignore[arg-type]
        assert again.memory.confidence < DOUBTFUL and reasons(kit) == {"guess": "FLAGGED"}  # type: ignore[union-attr]


def test_what_evidence_overturns_is_skipped_with_its_reason_until_it_is_learned_anew() -> None:
    with memkit.open(sources={"a.cfg": "port=80"}) as kit:
        outcome = kit.acting_as(ROBOT).contradict(verified(kit), "the tool saw 81", episode=seen(kit, "monday"))
        assert (outcome.op, outcome.reason) == ("NOOP", "FLAGGED") and reasons(kit) == {"cfg": "FLAGGED"}
        skipped = kit.context("port", scope=SHOP, budget=900).skipped
        assert [(s.reason, "learn it anew" in s.why) for s in skipped] == [("FLAGGED", True)]
        kit.sources["a.cfg"] = "port=81"
        kit.learn("cfg", "port=81", scope=SHOP, cite="a.cfg#key=port", expected=1)
        assert reasons(kit) == {} and [h.memory.content for h in kit.recall("port", scope=SHOP, budget=900).hits] == ["port=81"]


def test_only_a_person_lifts_the_mark_of_what_does_not_move() -> None:
    with memkit.open(sources={"a.cfg": "port=80"}) as kit:
        memory = verified(kit)
        kit.contradict(memory, "I saw 81")
        kit.acting_as(ROBOT).confirm(memory, episode=seen(kit, "monday"))
        assert reasons(kit) == {"cfg": "FLAGGED"}
        assert kit.confirm(memory).reason == "CONFIRMED" and reasons(kit) == {}


def test_what_a_person_stated_is_not_overturned_by_an_agent_and_the_person_is_asked() -> None:
    with memkit.open() as kit:
        memory = stated(kit)
        asked = kit.acting_as(ROBOT).contradict(memory, "the tool saw 81", episode=seen(kit, "monday"))
        assert (
            (asked.op, asked.reason) == ("NOOP", "NEEDS_CONFIRMATION") and reasons(kit) == {} and kit.current("port", scope=SHOP) == memory
        )
        assert kit.contradict(memory, "I was wrong").reason == "FLAGGED" and reasons(kit) == {"port": "FLAGGED"}


def test_the_same_episode_counts_once_and_no_episode_of_an_agent_moves_nothing() -> None:
    with memkit.open() as kit:
        robot, memory = kit.acting_as(ROBOT), inferred(kit)
        cite = seen(kit)
        newer = robot.confirm(memory, episode=cite).memory
        assert newer is not None
        for _ in range(100):
            assert robot.confirm(newer, episode=cite).reason == "ALREADY_COUNTED"
            assert robot.contradict(newer, "hm").reason == "COUNTED"
        assert kit.current("guess", scope=SHOP) == newer and newer.confidence == 0.9 and reasons(kit) == {}
        assert (use(kit, newer).confirmed, use(kit, newer).contradicted) == (1, 0), "ranking and review follow these counts"


def test_an_agent_that_confirms_its_own_inference_keeps_it_from_no_review() -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with memkit.open(clock=lambda: now[0]) as kit:
        memory = inferred(kit)
        kit.acting_as(ROBOT).confirm(memory)
        now[0] += timedelta(days=91)
        assert [one.reason for one in kit.consolidate(scope=SHOP).written] == ["REVIEW_PROPOSED"]


def test_what_the_assistant_said_moves_nothing_and_what_nobody_vouches_for_only_downwards() -> None:
    with memkit.open(sources={"a.cfg": "port=80"}) as kit:
        robot, memory, fact = kit.acting_as(ROBOT), inferred(kit), verified(kit)
        assert robot.confirm(memory, episode=seen(kit, role="assistant")).reason == "COUNTED"
        assert robot.confirm(memory, episode=seen(kit, trusted=False)).reason == "COUNTED"
        assert robot.contradict(fact, "no", episode=seen(kit, role="assistant")).reason == "COUNTED" and reasons(kit) == {}
        assert robot.contradict(fact, "no", episode=seen(kit, trusted=False)).reason == "FLAGGED"
        assert robot.confirm(memory, episode=seen(kit)).reason == "CONFIDENCE_RAISED"


@given(st.lists(st.booleans(), max_size=8))
def test_confidence_stays_between_nothing_and_certainty_whatever_is_observed(held: list[bool]) -> None:
    with memkit.open() as kit:
        memory: Memory | None = inferred(kit, 0.6)
        for holds in held:
            assert memory is not None
            before, cite = memory, seen(kit)
            memory = (kit.confirm(memory, episode=cite) if holds else kit.contradict(memory, "", episode=cite)).memory
            assert memory is not None and 0 < memory.confidence < 1
            assert (memory.confidence >= before.confidence) if holds else (memory.confidence <= before.confidence)


def test_feedback_on_what_has_changed_meanwhile_is_a_conflict_and_writes_nothing() -> None:
    with memkit.open() as kit:
        memory = stated(kit)
        kit.remember("port", "the port is 81", scope=SHOP, expected=1)
        for verb in (lambda: kit.confirm(memory), lambda: kit.contradict(memory, "no")):
            with pytest.raises(memkit.Conflict) as caught:
                verb()
            assert (caught.value.expected, caught.value.actual) == (1, 2)
        assert use(kit, memory) == Use() and len(kit.events(scope=SHOP)) == 2


def test_nobody_gives_feedback_on_what_they_cannot_see() -> None:
    with memkit.open() as kit:
        memory = kit.remember("port", "the port is 80", scope=memkit.Scope(user=True)).memory
        for who in (memkit.Principal(tenant="other"), memkit.Principal(user="bob")):
            with pytest.raises(memkit.NotFound):
                kit.acting_as(who).confirm(memory)  # type: ignore[arg-type]
        with pytest.raises(memkit.AccessDenied):
            kit.acting_as(memkit.Principal(grants=frozenset({"read"}))).confirm(memory)  # type: ignore[arg-type]
        with pytest.raises(memkit.Refused, match="pass one that"):
            kit.confirm("port")  # type: ignore[arg-type]
        private = kit.record("mine", "user", "hm", scope=memkit.Scope(user=True)).source
        for who, wrong in ((None, "monday"), (None, 3), (None, "session:monday/9"), (memkit.Principal(user="bob"), private)):
            shared = kit.remember("door", "the door is red", scope=SHOP, expected=memkit.ANY).memory
            with pytest.raises(memkit.NotFound, match="no such episode"):
                (kit.acting_as(who) if who else kit).confirm(shared, episode=wrong)  # type: ignore[arg-type]
        assert kit.confirm(memory).reason == "CONFIRMED"  # type: ignore[arg-type]


def test_forgetting_takes_the_record_of_use_along_and_what_was_said_of_it() -> None:
    with memkit.open() as kit:
        memory = stated(kit)
        kit.context("port", scope=SHOP, budget=900)
        kit.contradict(memory, "because the ferry to Zanzibar left")
        assert use(kit, memory).uses == 1
        kit.rescope("port", scope=SHOP, to=memkit.Scope(workspace="bank"), expected=1)
        assert kit.forget("port", scope=memkit.Scope(workspace="bank"), expected=1, reason="asked").verified
        with kit.db.read() as tx:
            assert store.select(tx, "select * from use", {}) == []
        assert kit.admin.sweep("Zanzibar") == {":memory:": 0}
