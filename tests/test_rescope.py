"""kit.rescope: where a memory applies can change, in one linked transaction, and forgetting follows it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memkit

SHOP, PROD, TEST = (memkit.Scope(workspace="shop", **({"env": env} if env else {})) for env in (None, "prod", "test"))


def test_it_leaves_one_scope_and_arrives_in_the_other_as_it_was() -> None:
    with memkit.open(sources={"prod.cfg": "timeout=30"}) as kit:
        before = kit.learn("timeout", "timeout=30", scope=SHOP, cite="prod.cfg#key=timeout").memory
        after = kit.rescope("timeout", scope=SHOP, to=PROD, expected=1).memory
        assert before is not None and after is not None
        assert (after.content, after.trust, after.evidence, after.created_at) == (
            "timeout=30",
            "VERIFIED",
            before.evidence,
            before.created_at,
        )
        assert kit.current("timeout", scope=SHOP) is None and kit.recall("timeout", scope=TEST, budget=50).hits == ()
        assert [hit.memory.id for hit in kit.recall("timeout", scope=PROD, budget=50).hits] == [after.id]
        assert [(e.op, e.reason, e.scope, e.detail) for e in kit.events(scope=PROD)][1:] == [
            ("DELETE", "RESCOPED", "workspace=shop", "env=prod&workspace=shop"),
            ("ADD", "RESCOPED", "env=prod&workspace=shop", "workspace=shop"),
        ]


def test_what_cannot_move_stays_and_nothing_is_half_done() -> None:
    with memkit.open() as kit:
        kit.remember("k", "one value", scope=SHOP)
        kit.remember("k", "another", scope=PROD)
        with pytest.raises(memkit.Conflict) as caught:
            kit.rescope("k", scope=SHOP, to=PROD, expected=1)
        assert (caught.value.expected, caught.value.actual, caught.value.occupied) == (0, 1, "env=prod&workspace=shop")
        assert str(caught.value) == (
            "'k' cannot move into env=prod&workspace=shop, which has its own value at revision 1: decide which holds; correct it there with"
            " remember(..., expected=1), or move to a scope without one"
        )
        with pytest.raises(memkit.Conflict):
            kit.rescope("k", scope=SHOP, to=TEST, expected=2)
        with pytest.raises(memkit.NotFound):
            kit.rescope("no", scope=SHOP, to=TEST, expected=1)
        with pytest.raises(memkit.Refused, match="already"):
            kit.rescope("k", scope=SHOP, to=SHOP, expected=1)
        kit.remember("k", "a forgotten value", scope=TEST)
        kit.forget("k", scope=TEST, expected=1, reason="asked")
        kit.remember("k", "a forgotten value", scope=SHOP, expected=1)
        assert kit.rescope("k", scope=SHOP, to=TEST, expected=2).reason == "TOMBSTONED"
        values = {scope: memory.content for scope in (SHOP, PROD, TEST) if (memory := kit.current("k", scope=scope))}
        assert values == {SHOP: "a forgotten value", PROD: "another"}


@pytest.mark.parametrize("actor", ["agent", "job"])
def test_only_a_person_moves_what_a_person_stated(actor: str) -> None:
    mine = memkit.Scope(user=True, workspace="shop")
    with memkit.open(sources={"a.cfg": "port=80"}) as kit:
        robot = kit.acting_as(memkit.Principal(actor=actor))
        for scope, to in ((SHOP, PROD), (mine, SHOP)):  # to hide it from the test environment; to show everybody what is only mine
            kit.remember("k", "stated", scope=scope, expected=memkit.ANY)
            before = kit.events(scope=mine)
            with pytest.raises(memkit.AccessDenied) as caught:
                robot.rescope("k", scope=scope, to=to, expected=memkit.ANY)
            assert caught.value.needed == "person" and str(caught.value) == (
                f"only a person may move 'k': it is STATED, and this is {actor!r}; ask one, or propose it"
            )
            assert kit.current("k", scope=scope).content == "stated" and kit.current("k", scope=to) is None
            assert kit.events(scope=mine) == before
            kit.rescope("k", scope=scope, to=TEST if scope is SHOP else to, expected=memkit.ANY)
        robot.learn("port", "port=80", scope=SHOP, cite="a.cfg#key=port")
        kit.admit(kit.propose("guess", "the queue is short", scope=SHOP))
        moved = [robot.rescope(key, scope=SHOP, to=PROD, expected=1).memory for key in ("port", "guess")]
        assert [one.trust for one in moved if one] == ["VERIFIED", "INFERRED"]


def test_what_has_ended_or_was_only_not_found_stands_in_no_way() -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    week = now[0] + timedelta(days=7)
    with memkit.open(clock=lambda: now[0]) as kit:
        kit.remember("absent", "the flag", scope=PROD, kind="absence", expires_at=week)
        kit.remember("ended", "an old value", scope=PROD, expires_at=now[0] + timedelta(days=1))
        now[0] += timedelta(days=2)
        for key in ("absent", "ended"):
            kit.remember(key, "the wide value", scope=SHOP)
            assert kit.rescope(key, scope=SHOP, to=PROD, expected=1).memory.revision == 2
            assert (kit.current(key, scope=PROD).content, kit.current(key, scope=SHOP)) == ("the wide value", None)


def test_forgetting_follows_it_back_through_every_scope_it_came_from(tmp_path: Path) -> None:
    words = "the ferry to Zanzibar leaves at nine"
    with memkit.open(tmp_path / "memory.db") as kit:
        kit.remember("ferry", words, scope=SHOP)
        kit.rescope("ferry", scope=SHOP, to=PROD, expected=1)
        kit.rescope("ferry", scope=PROD, to=TEST, expected=1)
        kit.remember("ferry", "another ferry, from another harbour", scope=SHOP)
        assert kit.admin.sweep(words)["memory.db"] == 3
        receipt = kit.forget("ferry", scope=TEST, expected=1, reason="asked")
        assert receipt.verified and kit.admin.sweep(words)["memory.db"] == 0
        sibling = kit.current("ferry", scope=SHOP)
        assert sibling is not None and sibling.content == "another ferry, from another harbour"


@pytest.mark.parametrize("where", [SHOP, memkit.Scope(workspace="店")])
def test_forgetting_reaches_what_was_proposed_where_it_came_from(tmp_path: Path, where: memkit.Scope) -> None:
    words = "the ferry to Zanzibar leaves at nine"
    with memkit.open(tmp_path / "memory.db") as kit, memkit.open(tmp_path / "memory.db") as other:
        kit.admit(kit.propose("ferry", words, scope=where, confidence=0.9))
        kit.propose("ferry", f"{words} or at ten", scope=where, confidence=0.9)
        kit.rescope("ferry", scope=where, to=PROD, expected=1)
        kit.rescope("ferry", scope=PROD, to=TEST, expected=1)
        later = kit.propose("ferry", "another ferry, from another harbour", scope=where)
        assert other._missed("the ferry to Zanzibar", where) and kit.admin.sweep(words)["memory.db"] == 5
        assert kit.forget("ferry", scope=TEST, expected=1, reason="asked").verified
        assert kit.admin.sweep("Zanzibar")["memory.db"] == 0 and kit.inbox(scope=where) == [later]
        assert other._missed("Zanzibar at nine", where) == []


def test_what_was_overturned_is_overturned_and_as_old_where_it_was_moved_to() -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with memkit.open(sources={"a.cfg": "port=80"}, clock=lambda: now[0]) as kit:
        kit.learn("port", "the port is 80", scope=SHOP, cite="a.cfg#key=port")
        fact = kit.current("port", scope=SHOP)
        kit.contradict(fact, "I saw 81")
        guess = kit.admit(kit.propose("guess", "the queue is short", scope=SHOP, confidence=0.9)).memory
        assert fact and guess
        now[0] += timedelta(days=91)
        robot = kit.acting_as(memkit.Principal(actor="agent"))
        moved = [robot.rescope(one.key, scope=SHOP, to=PROD, expected=1).memory for one in (fact, guess)]
        assert [one and one.seen for one in moved] == [fact.seen, guess.seen] and fact.seen == datetime(2026, 1, 1, tzinfo=UTC)
        found = kit.recall("which port?", scope=PROD, budget=100)
        assert found.hits == () and [skip.reason for skip in found.skipped] == ["FLAGGED"]
        assert [one.reason for one in kit.consolidate(scope=PROD).written] == ["REVIEW_PROPOSED"]
        kit.remember("port", "the port is 81", scope=PROD, expected=1)
        kit.rescope("port", scope=PROD, to=TEST, expected=2)
        assert len(kit.recall("which port?", scope=TEST, budget=100).hits) == 1
        assert kit.forget("port", scope=TEST, expected=1, reason="asked").verified
