"""What a search did not find may be remembered for a while, and stops no later search; what nobody re-read is never called verified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

import memkit
from memkit.read import follow
from memkit.read import recall as recalling
from memkit.record.evidence import Reader, check_memory
from memkit.record.sources import Texts
from memkit.write import commit

SHOP = memkit.Scope(workspace="shop")
PROD = memkit.Scope(workspace="shop", env="prod")
START = datetime(2026, 3, 1, tzinfo=UTC)
WEEK = START + timedelta(days=7)
NOTHING = "a --legacy flag of the deploy script"


def search(kit: memkit.Kit, scope: memkit.Scope = SHOP, key: str = "legacy flag", **more: object) -> memkit.record.model.Outcome:
    return kit.remember(key, NOTHING, scope=scope, kind="absence", expires_at=WEEK, **more)


def found(recall: memkit.Recall) -> list[tuple[str, str | None]]:
    return [(hit.memory.key, hit.memory.content) for hit in recall.hits]


def test_an_absence_needs_a_scope_and_an_expiry_by_every_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def check() -> None:
        with memkit.open(sources={"deploy.cfg": "x=1"}, clock=lambda: START) as kit:
            for act in (kit.remember, kit.propose, lambda *a, **b: kit.learn(*a, cite="deploy.cfg", **b)):
                with pytest.raises(memkit.Refused) as caught:
                    act("k", NOTHING, scope=SHOP, kind="absence")
                assert caught.value.reason == "NO_EXPIRY"
                with pytest.raises(memkit.BadScope):
                    act("k", NOTHING, scope=None, kind="absence", expires_at=WEEK)
            assert kit.events(scope=SHOP) == []
            assert kit.propose("k", NOTHING, scope=SHOP, kind="absence", expires_at=WEEK).op == "PROPOSED"
            kit.admit(kit.inbox(scope=SHOP)[0])
            memory = kit.current("k", scope=SHOP)
            assert (memory.negative, memory.expires_at, memory.trust) == (True, WEEK, "INFERRED")

    check()
    monkeypatch.setattr(commit, "check_kind", lambda candidate: None)
    with pytest.raises(pytest.fail.Exception):
        check()


def test_it_is_shown_as_a_search_that_found_nothing_and_leaves_no_tombstone_when_it_ends() -> None:
    now = [START]
    with memkit.open(clock=lambda: now[0]) as kit:
        search(kit)
        (hit,) = kit.recall("legacy flag", scope=SHOP, budget=100).hits
        assert hit.check.aside == "searched and found nothing as of 2026-03-01; search again"
        assert hit.check.aside in repr(hit) and hit.check.aside in repr(kit.check(scope=SHOP)[0])
        now[0] = WEEK
        (ended,) = kit.recall("legacy flag", scope=SHOP, budget=100).skipped
        assert ended.reason == "EXPIRED" and kit.current("legacy flag", scope=SHOP) is None
        assert kit.remember("legacy flag", NOTHING, scope=SHOP).reason == "RENEWED"


def test_one_that_rests_on_a_file_falls_with_it() -> None:
    sources = {"deploy.cfg": "x=1"}
    with memkit.open(sources=sources, clock=lambda: START) as kit:
        kit.learn("legacy flag", NOTHING, scope=SHOP, cite="deploy.cfg", kind="absence", expires_at=WEEK)
        (hit,) = kit.recall("legacy flag", scope=SHOP, budget=100).hits
        assert (hit.verdict, hit.check.aside) == ("VALID", "searched and found nothing as of 2026-03-01; search again")
        sources["deploy.cfg"] = "x=1\nlegacy=yes"
        assert [skip.reason for skip in kit.recall("legacy flag", scope=SHOP, budget=100).skipped] == ["STALE_SOURCE"]


def broken_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "Kind", SimpleNamespace(ABSENCE="another"))


def broken_hiding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalling, "stands", lambda other, now: True)


@pytest.mark.parametrize("sabotage", [broken_order, broken_hiding])
def test_it_never_stops_a_search_from_finding(monkeypatch: pytest.MonkeyPatch, sabotage: Callable[[pytest.MonkeyPatch], None]) -> None:
    def check() -> None:
        with memkit.open(clock=lambda: START) as kit:
            kit.remember("legacy flag", "the legacy flag of deploy is --old", scope=SHOP)
            kit.remember("deploy script", "deploy with make deploy; it takes a flag", scope=SHOP)
            asked = ("legacy flag", "deploy script", "flag", "没有")
            terms = [{"budget": budget, "limit": limit} for budget in (0, 12, 13, 30, 400) for limit in (1, None)]
            before = [found(kit.recall(query, scope=PROD, **term)) for query in asked for term in terms]
            search(kit, PROD)  # narrower, under the same key
            search(kit, SHOP, "deploy flag")
            after = [kit.recall(query, scope=PROD, **term) for query in asked for term in terms]
            kept = [[pair for pair, hit in zip(found(recall), recall.hits, strict=True) if not hit.memory.negative] for recall in after]
            assert kept == before and any(hit.memory.negative for recall in after for hit in recall.hits)

    check()
    sabotage(monkeypatch)
    with pytest.raises(AssertionError):
        check()


def test_what_is_found_later_replaces_it_whatever_the_trust() -> None:
    with memkit.open(sources={"deploy.cfg": "legacy=yes"}, clock=lambda: START) as kit:
        search(kit)
        robot = kit.acting_as(memkit.Principal(actor="agent"))
        outcome = robot.learn("legacy flag", "legacy=yes", scope=SHOP, cite="deploy.cfg#key=legacy", expected=1)
        assert (outcome.op, outcome.reason, outcome.memory.kind) == ("UPDATE", "FOUND", "fact")


def test_a_search_that_found_nothing_withdraws_nothing() -> None:
    with memkit.open(clock=lambda: START) as kit:
        kit.remember("legacy flag", "it is --old", scope=SHOP, kind="fact")
        assert search(kit, expected=1).reason == "STILL_KNOWN"
        assert kit.current("legacy flag", scope=SHOP).content == "it is --old"


def test_nobody_calls_verified_what_nobody_re_read() -> None:
    now = [START]
    with memkit.open(clock=lambda: now[0], sources={"a.cfg": "x=1"}) as kit:
        kit.remember("tone", "answer in two sentences", scope=SHOP, review_at=START + timedelta(days=30))
        kit.learn("x", "two is x=1 here", scope=SHOP, cite="a.cfg#key=x")
        now[0] += timedelta(days=20)
        said = "not re-checked since 2026-03-01"
        tone, fact = kit.check(scope=SHOP)
        assert (tone.verdict, tone.aside, fact.verdict, fact.aside) == ("UNVERSIONED", said, "VALID", "")
        assert tone.why == f"{said}: it cites no source, so nothing can be re-read"
        hits = {hit.memory.key: hit for hit in kit.recall("two", scope=SHOP, budget=100).hits}
        assert said in repr(hits["tone"]) and said not in repr(hits["x"])
        now[0] += timedelta(days=20)
        assert [skip.reason for skip in kit.recall("two", scope=SHOP, budget=100).skipped] == ["REVIEW_DUE"]
        kit.remember("tone", "answer in two sentences", scope=SHOP, expected=1, review_at=now[0] + timedelta(days=30))
        assert kit.check(scope=SHOP)[-1].aside == "not re-checked since 2026-04-10"


def test_evidence_without_a_digest_says_when_it_was_last_seen() -> None:
    with memkit.open(clock=lambda: START, sources={"a.cfg": "x=1"}) as kit:
        memory = kit.learn("x", "x=1", scope=SHOP, cite="a.cfg#key=x").memory
        blind = replace(memory, evidence=(replace(memory.evidence[0], digest=""),))
        checked = check_memory(blind, Reader(Texts({"a.cfg": "x=2"})))
        assert (checked.verdict, checked.aside) == ("UNVERSIONED", "not re-checked since 2026-03-01")
        assert checked.why == "not re-checked since 2026-03-01: nothing of a.cfg was hashed, so nothing can be compared"


def test_expiry_leaves_no_tombstone_and_forgetting_does() -> None:
    now = [START]
    with memkit.open(clock=lambda: now[0]) as kit:
        for key in ("expires", "forgotten"):
            kit.remember(key, f"the word that {key}", scope=SHOP, expires_at=WEEK)
        kit.forget("forgotten", scope=SHOP, expected=1, reason="asked")
        now[0] = WEEK
        kit.recall("word", scope=SHOP, budget=50)
        with kit.db.read() as tx:
            assert tx.execute("select distinct key from tombstone").fetchall() == [("forgotten",)]
        reasons = [kit.propose(key, f"the word that {key}", scope=SHOP).reason for key in ("expires", "forgotten")]
        assert reasons == ["AWAITS_A_PERSON", "TOMBSTONED"]
