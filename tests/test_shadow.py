"""read/shadow.py: what waits is counted as a fresh look would count it, whatever happened to it, at the cost of what is touched."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memkit
from memkit.read.shadow import wanted, wanted_in
from memkit.record.model import ProposalStatus
from memkit.write import proposals

SHOP = memkit.Scope(workspace="shop")
TEST = memkit.Scope(workspace="shop", env="test")
WORDS = ["cache", "queue", "disk", "retry", "deploy", "order", "refund", "stock"]


def fresh(kit, query, scope):
    with kit.db.read() as tx:
        waiting = proposals.listed(tx, kit.principal, kit._visible(scope), ProposalStatus.PENDING)
    return wanted(((one.id, one.content or "") for one in waiting), query)


def followed(kit, query, scope):
    with kit.db.read() as tx:
        return wanted_in(kit._waiting.view(tx, kit._visible(scope)), query)


steps = st.lists(
    st.tuples(
        st.sampled_from(["propose", "propose", "propose", "admit", "reject", "forget", "consolidate", "other", "rebuild"]),
        st.integers(0, 3),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
        st.sampled_from([SHOP, TEST]),
    ),
    max_size=14,
)


@given(steps)
@settings(max_examples=60, deadline=None)
def test_following_the_log_gives_what_a_fresh_look_gives(told):
    with memkit.open() as kit:
        bob = kit.acting_as(memkit.Principal(tenant="other"))
        for what, number, words, scope in told:
            waiting = kit.inbox(scope=scope)
            if what == "propose":
                kit.propose(f"key {number}", words, scope=scope, confidence=0.9)
            elif what == "other":
                bob.propose(f"key {number}", words, scope=scope, confidence=0.9)
            elif what in ("admit", "reject") and waiting:
                with suppress(memkit.Conflict):
                    getattr(kit, what)(waiting[number % len(waiting)])
            elif what == "forget":
                with suppress(memkit.NotFound, memkit.Conflict):
                    now = kit.current(f"key {number}", scope=scope)
                    kit.forget(f"key {number}", scope=scope, expected=now.revision if now else 0, reason="asked")
            elif what == "consolidate":
                kit.consolidate(scope=scope)
            elif what == "rebuild":
                kit.admin.rebuild()
            for query in (words, "cache", "queue retry"):
                for place in (SHOP, TEST):
                    assert followed(kit, query, place) == fresh(kit, query, place)


def test_a_context_reads_no_candidate_that_nothing_happened_to(monkeypatch):
    with memkit.open() as kit:
        for number in range(30):
            kit.propose(f"key {number}", f"the {WORDS[number % 8]} number {number} is cold", scope=SHOP, confidence=0.9)
        read = []
        told = kit._waiting._read
        monkeypatch.setattr(kit._waiting, "_read", lambda *place: [read.append(row[0]) or row for row in told(*place)])
        kit.context("is the cache cold?", scope=SHOP, budget=500)
        assert sorted(read) == list(range(1, 31)), "the first look reads everything"
        read.clear()
        kit.context("is the queue cold?", scope=SHOP, budget=500)
        assert read == []
        kit.propose("one more", "the cache is warm", scope=SHOP, confidence=0.9)
        kit.context("is the cache warm?", scope=SHOP, budget=500)
        assert read == [31] and kit.inbox(scope=SHOP)[-1].recalls == 1


def test_forgetting_reaches_what_is_indexed_also_under_another_key_and_in_another_process(tmp_path):
    with memkit.open(tmp_path / "memory.db") as kit, memkit.open(tmp_path / "memory.db") as other:
        for key in ("absence", "holiday"):
            kit.propose(key, "Ann is away in Lisbon until August", scope=SHOP, confidence=0.9)
        kit.remember("holiday", "Ann is away in Lisbon until August", scope=SHOP)
        for each in (kit, other):
            assert followed(each, "who is in Lisbon?", SHOP) == [1, 2]
        receipt = kit.forget("holiday", scope=SHOP, expected=1, reason="asked")
        assert receipt.verified and [copy.after for copy in receipt.copies if copy.place == "index"] in ([], [0])
        for each in (kit, other):
            assert followed(each, "who is in Lisbon?", SHOP) == fresh(each, "who is in Lisbon?", SHOP) == []
            assert each._waiting._partitions == {} and all(view.terms() == set() for view in each._waiting._views.values())


def test_what_a_replay_drops_is_no_longer_counted():
    with memkit.open() as kit:
        kit.record("monday", "user", "We use pnpm for packages.", scope=SHOP)
        kit.extract("monday", scope=SHOP)
        before = followed(kit, "which packages with pnpm?", SHOP)
        kit.reextract("monday", scope=SHOP)
        after = followed(kit, "which packages with pnpm?", SHOP)
        assert before and after == fresh(kit, "which packages with pnpm?", SHOP) != before


@pytest.mark.parametrize("query", ["", "\0", "🙂", '"; drop table', "a" * 100_000])
def test_any_query_is_legal(query):
    with memkit.open() as kit:
        kit.propose("cache", "the cache is cold", scope=SHOP, confidence=0.9)
        assert followed(kit, query, SHOP) == fresh(kit, query, SHOP)


def test_a_question_is_masked_and_cut_before_what_waits_is_asked(monkeypatch):
    seen = []
    monkeypatch.setattr("memkit.read.shadow.analyze", lambda text: seen.append(text) or [])
    with memkit.open() as kit:
        kit.propose("token", "the token is kept elsewhere", scope=SHOP)
        kit.context("why does ghp_0123456789abcdefghijABCDEFGHIJ012345 fail? " + "x " * 20_000, scope=SHOP, budget=100)
    assert ["ghp_" in text or len(text) > 10_100 for text in seen] == [False] and "why does" in seen[0]
