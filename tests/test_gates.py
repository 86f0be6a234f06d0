"""What an inference must pass, and what counting can never do for a candidate."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

import memkit
from memkit.read.shadow import wanted
from memkit.record.model import Candidate, Kind, Op, Proposal, ProposalStatus, Times, Trust
from memkit.write import proposals
from memkit.write.gates import Gates, through

SHOP = memkit.Scope(workspace="shop")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
GUESS = Candidate("cache", "the cache is cold on Mondays", Kind.INFERENCE, Trust.INFERRED, 0.75, "model")
WAITING = Proposal(1, "workspace=shop", ProposalStatus.PENDING, GUESS, 0, Op.PROPOSED, "", "", NOW, recalls=3)


def test_an_inference_passes_at_the_stated_confidence_and_number_of_questions():
    assert (through(WAITING, Gates(), now=NOW).op, through(WAITING, Gates(), now=NOW).reason) == ("ADD", "PASSED_THE_GATES")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"recalls": 2}, "TOO_FEW_RECALLS"),
        ({"candidate": replace(GUESS, confidence=0.74)}, "LOW_CONFIDENCE"),
        ({"flags": ("command",), "recalls": 1000}, "FLAGGED"),
        ({"candidate": replace(GUESS, kind=Kind.FACT)}, "ASKS_A_PERSON"),
        ({"candidate": replace(GUESS, kind=Kind.EXPERIENCE)}, "ASKS_A_PERSON"),
        ({"candidate": replace(GUESS, trust=Trust.VERIFIED)}, "ASKS_A_PERSON"),
        ({"expected": 2}, "ASKS_A_PERSON"),
        ({"status": ProposalStatus.REJECTED}, "NOT_PENDING"),
        ({"candidate": replace(GUESS, times=Times(expires_at=NOW))}, "EXPIRED"),
    ],
)
def test_each_gate_holds_alone(change, reason):
    decision = through(replace(WAITING, **change), Gates(), now=NOW)
    assert (decision.op, decision.reason) == ("NOOP", reason)


def test_both_gates_are_parameters():
    assert through(replace(WAITING, recalls=1), Gates(confidence=0.5, recalls=1), now=NOW).op is Op.ADD
    assert through(WAITING, Gates(confidence=0.9), now=NOW).reason == "LOW_CONFIDENCE"


def ask(kit: memkit.Kit, query: str) -> list[int]:
    with kit.db.write() as tx:
        waiting = proposals.listed(tx, kit.principal, SHOP.visible(kit.principal), ProposalStatus.PENDING)
        found = wanted([(proposal.id, proposal.content or "") for proposal in waiting], query)
        proposals.count_wanted(tx, kit.db, kit.principal.tenant, found, query=query, now=NOW)
    return found


def test_a_waiting_candidate_is_counted_once_for_each_distinct_question_and_never_returned():
    with memkit.open(clock=lambda: NOW) as kit:
        kit.propose("cache", "the cache is cold on Mondays", scope=SHOP, confidence=0.8)
        for query in ("when is the cache cold?", "When is the   cache COLD", "what happens on mondays with the cache", "deploy on friday"):
            ask(kit, query)
            assert kit.recall(query, scope=SHOP, budget=500).hits == ()
        (waiting,) = kit.inbox(scope=SHOP)
        assert waiting.recalls == 2
        ask(kit, "cold cache")
        (waiting,) = kit.inbox(scope=SHOP)
        assert through(waiting, Gates(), now=NOW).reason == "PASSED_THE_GATES"
        kit.admit(waiting)
        assert [hit.memory.key for hit in kit.recall("cold cache", scope=SHOP, budget=500).hits] == ["cache"]


def test_assembling_a_context_counts_what_waits_and_a_recall_only_reads():
    with memkit.open(clock=lambda: NOW) as kit:
        kit.propose("cache", "the cache is cold on Mondays", scope=SHOP, confidence=0.8)
        for query in ("when is the cache cold?", "When is the   cache COLD", "what happens on mondays with the cache", "cold cache?"):
            kit.recall(query, scope=SHOP, budget=500)
        assert [one.recalls for one in kit.inbox(scope=SHOP)] == [0]
        seen = []
        for query in ("when is the cache cold?", "When is the   cache COLD", "what happens on mondays with the cache", "deploy on friday"):
            assert "cold" not in kit.context(query, scope=SHOP, budget=500).text
            seen.append(kit.inbox(scope=SHOP)[0].recalls)
        assert seen == [1, 1, 2, 2]
        kit.context("cold cache?", scope=SHOP, budget=0)
        assert through(kit.inbox(scope=SHOP)[0], Gates(), now=NOW).reason == "PASSED_THE_GATES"


def test_a_context_counts_only_what_waits_in_scopes_visible_there():
    with memkit.open(clock=lambda: NOW) as kit:
        kit.propose("cache", "the cache is cold on Mondays", scope=memkit.Scope(workspace="shop", env="test"), confidence=0.8)
        kit.context("when is the cache cold?", scope=SHOP, budget=500)
        other = kit.acting_as(memkit.Principal(tenant="other"))
        other.context("when is the cache cold?", scope=memkit.Scope(workspace="shop", env="test"), budget=500)
        assert [one.recalls for one in kit.inbox(scope=memkit.Scope(workspace="shop", env="test"))] == [0]
        kit.context("when is the cache cold?", scope=memkit.Scope(workspace="shop", env="test"), budget=500)
        assert [one.recalls for one in kit.inbox(scope=memkit.Scope(workspace="shop", env="test"))] == [1]


def test_what_was_decided_is_not_counted_any_more():
    with memkit.open(clock=lambda: NOW) as kit:
        proposal = kit.propose("cache", "the cache is cold on Mondays", scope=SHOP)
        kit.reject(proposal)
        assert ask(kit, "cold cache") == []
        with kit.db.write() as tx:
            proposals.count_wanted(tx, kit.db, "local", [proposal.id], query="cold cache", now=NOW)
        assert kit.inbox(scope=SHOP, status="REJECTED")[0].recalls == 0


def test_the_same_statement_from_another_place_adds_support_and_no_row():
    with memkit.open(sources={"a.txt": "cold cache", "b.txt": "mondays"}, clock=lambda: NOW) as kit:
        first = kit.propose("cache", "The cache is cold on Mondays", scope=SHOP, cite="a.txt")
        again = kit.propose("cache", "the cache is cold on mondays.", scope=SHOP, cite="b.txt")
        assert (again.id, again.supports, again.candidate.support) == (first.id, 2, "any")
        for _ in range(100):
            kit.propose("cache", "the cache is cold on Mondays", scope=SHOP, cite="b.txt")
        (waiting,) = kit.inbox(scope=SHOP)
        assert (waiting.supports, first.supports) == (2, 1)
        kit.sources["a.txt"] = "changed"
        assert kit.admit(waiting).memory.content == "The cache is cold on Mondays"


def test_a_contradiction_waits_beside_what_it_contradicts():
    with memkit.open(clock=lambda: NOW + timedelta(days=1)) as kit:
        kit.propose("timeout", "the timeout of every payment call is 30 s", scope=SHOP)
        kit.propose("timeout", "the timeout of every payment call is 60 s", scope=SHOP)
        assert [proposal.content[-4:] for proposal in kit.inbox(scope=SHOP)] == ["30 s", "60 s"]
