"""The bug museum, continued: what tidying broke elsewhere, as the promise memkit keeps and a sabotaged memkit that breaks it.

As in `test_museum.py`: each check runs on memkit as it is, then memkit is broken in a few lines, and the same check must fail.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from test_museum import SHOP, contents, fails

import memkit
from memkit.lab.deaths import passing
from memkit.lab.evening import empties_the_inbox, fingerprint, inferred, retiring, shop
from memkit.lab.story import clock
from memkit.record import snapshot, store, tombstone
from memkit.record.model import Kind, Memory, Op, Outcome
from memkit.write import consolidate, fuse, proposals
from memkit.write.fuse import Fuse
from memkit.write.plan import Plan, Seen, tidy

START = datetime(2026, 3, 1, tzinfo=UTC)


def infer(kit: memkit.Kit, key: str, content: str, **more: object) -> memkit.Proposal:
    """Propose what three distinct questions wanted."""
    proposal = kit.propose(key, content, scope=SHOP, confidence=0.9, **more)  # type: ignore[arg-type]
    with kit.db.write() as tx:
        for question in ("one", "two", "three"):
            proposals.count_wanted(tx, kit.db, "local", [proposal.id], query=question, now=START)
    return proposal


def test_what_rests_on_two_sources_outlives_the_first_and_goes_with_the_last(monkeypatch):
    """graphiti `remove_episode`: a fact supported by two episodes died with the first."""

    def check() -> None:
        sources = {"a.txt": "cold", "b.txt": "cold"}
        with memkit.open(sources=sources, clock=lambda: START) as kit:
            infer(kit, "cache", "the cache is cold on Mondays", cite="a.txt")
            infer(kit, "cold", "The cache is cold on Mondays.", cite="b.txt")
            kit.consolidate(scope=SHOP)  # merges the two candidates
            kit.consolidate(scope=SHOP)
            found = []
            for gone in ("", "a.txt", "b.txt"):
                sources.pop(gone, None)
                found.append(contents(kit.recall("cache", scope=SHOP, budget=100)))
            assert found == [["the cache is cold on Mondays"]] * 2 + [[]]
            assert len(kit.current("cache", scope=SHOP).evidence) == 2

    def all_of_them(tx, place, waiting, candidate):
        honest(tx, place, waiting, candidate)
        tx.execute("update proposal set support = 'all' where number = :number", {"number": waiting.id})
        return proposals.fetch(tx, place.principal, waiting.id)

    check()
    honest = proposals.support
    monkeypatch.setattr(proposals, "support", all_of_them)
    assert fails(check)


def test_consolidation_does_not_bring_back_what_was_retired_or_forgotten(monkeypatch):
    """hindsight #1951: consolidation re-created what had been invalidated."""

    def check() -> None:
        kit, now = shop()
        with kit:
            kit.forget("reviews", scope=SHOP, expected=1, reason="asked")
            kit.consolidate(scope=SHOP)  # retires "mondays"
            for key in ("reviews", "checkout"):
                infer(kit, key, "Reviews of the checkout take two days")
            now.advance(days=1)
            shown: list[Seen] = []
            kit.consolidate(scope=SHOP, planner=lambda seen: (shown.append(seen), tidy(seen))[1])
            assert {"reviews", "mondays", "checkout"} & {memory.key for memory in shown[0].memories} == set()
            assert [kit.current(key, scope=SHOP) for key in ("reviews", "checkout", "mondays")] == [None] * 3
            assert kit.current("builds", scope=SHOP) is not None

    check()
    monkeypatch.setattr(tombstone, "buried_under", lambda tx, tenant, found: [])
    assert fails(check)


def test_what_was_written_during_a_long_consolidation_survives_it(monkeypatch):
    """odysseus #1940: writes made during a long consolidation vanished."""

    def check() -> None:
        kit, _ = shop()
        with kit:
            written = []

            def slow(seen: Seen) -> Plan:
                if not written:
                    written.append(kit.remember("mondays", "On Mondays the cache is warm", scope=SHOP, expected=1))
                    written.append(kit.remember("door", "The door code changes weekly", scope=SHOP))
                return tidy(seen)

            kit.consolidate(scope=SHOP, planner=slow)
            told = [kit.current(key, scope=SHOP) for key in ("mondays", "door", "images")]
            assert [memory and memory.content for memory in told] == [
                "On Mondays the cache is warm",
                "The door code changes weekly",
                "Image uploads fail while the disk is almost full",
            ]

    check()
    monkeypatch.setattr(store, "APPEND", store.APPEND.replace("where :expected = -1 or", "where true or :expected = -1 or"))
    assert fails(check)


def test_tidying_that_would_destroy_745_of_931_entries_trips_the_fuse(monkeypatch):
    """vellum PR #24045: tidying destroyed 745 of 931 entries."""

    def check() -> None:
        with memkit.open(clock=lambda: START) as kit:
            kit.admit(kit.propose("key 0", "statement number 0", scope=SHOP))
            with kit.db.write() as tx:
                row = tx.execute("select * from revision").fetchone()
                rows = [(None, *row[1:3], f"key {n}", 1, "ADD", f"statement number {n}", *row[7:]) for n in range(1, 931)]
                tx.conn.executemany(f"insert into revision values ({', '.join('?' * len(row))})", rows)
            before = fingerprint(kit)
            with pytest.raises(memkit.FuseTripped, match="745 of 931 entries would be changed or lost"):
                kit.consolidate(scope=SHOP, planner=lambda seen: retiring(seen, inferred(seen)[:745]))
            assert fingerprint(kit) == before

    check()
    monkeypatch.setattr(consolidate, "check_plan", lambda *plan: None)
    assert fails(check)


def test_a_planner_cannot_empty_the_inbox_and_what_really_expired_goes(monkeypatch):
    """A clean-up that clears the queue together with what nobody has decided yet."""

    def check() -> None:
        kit, now = shop()
        with kit:
            before, waiting = fingerprint(kit), {waits.key for waits in kit.inbox(scope=SHOP)}
            for planner, said in ((empties_the_inbox, "has not expired"), (silent, "10 proposals are missing")):
                with pytest.raises(memkit.Refused, match=said) as error:
                    kit.consolidate(scope=SHOP, planner=planner)
                assert (error.value.reason, fingerprint(kit) == before) == ("BAD_PLAN", True)
                now.advance(hours=2)
            assert {waits.key for waits in kit.inbox(scope=SHOP)} == waiting
            kit.consolidate(scope=SHOP)
            assert waiting - {waits.key for waits in kit.inbox(scope=SHOP)} >= {"stock"}  # forty days old
            now.advance(days=31)
            assert len(kit.consolidate(scope=SHOP, planner=empties_the_inbox).written) > 0
            assert kit.inbox(scope=SHOP) == []

    def silent(seen: Seen) -> Plan:
        return Plan((), tuple(memory.id for memory in seen.memories), {})

    check()
    monkeypatch.setattr(fuse, "_partings", lambda *plan: ())
    assert fails(check)
    monkeypatch.undo()
    monkeypatch.setattr(fuse, "_check_all_named", lambda *plan: None)
    assert fails(check)


def test_output_that_was_cut_or_is_too_long_is_refused_and_its_evidence_stays(monkeypatch):
    """grok-build dream: output cut at a limit, evidence then deleted."""

    def check() -> None:
        kit, now = shop()
        with kit:
            kit.remember("elsewhere", "never shown to the job", scope=memkit.Scope(workspace="other"))
            before = fingerprint(kit)
            long = infer(kit, "essay", "word " * 200)
            for planner in (cut, wordy):
                with pytest.raises(memkit.Refused) as error:
                    kit.consolidate(scope=SHOP, planner=planner)
                assert error.value.reason == "BAD_PLAN"
                now.advance(hours=2)
            kit.reject(long)
            waiting = {waits.key: len(waits.candidate.evidence) for waits in kit.inbox(scope=SHOP)}
            assert (waiting["retries"], waiting["region"], fingerprint(kit) == before) == (1, 1, False)
            assert len(kit.consolidate(scope=SHOP).written) == 7
            assert kit.current("elsewhere", scope=memkit.Scope(workspace="other")) is not None

    def cut(seen: Seen) -> Plan:
        plan = tidy(seen)
        return replace(plan, steps=(), kept=plan.kept[: len(plan.kept) // 2])

    def wordy(seen: Seen) -> Plan:
        return tidy(replace(seen, long=frozenset()))

    check()
    monkeypatch.setattr(consolidate, "check_plan", lambda *plan: None)
    assert fails(check)


def test_recall_during_consolidation_sees_the_old_or_the_new_and_never_neither(monkeypatch, tmp_path):
    """muninndb #779: sources archived before the merged entry was indexed."""
    paths = (tmp_path / f"{number}.db" for number in itertools.count())
    honest = consolidate._carried_out

    def check() -> None:
        path = next(paths)
        kit, now = shop(path)
        with kit, memkit.open(path, clock=now) as reader:
            seen: list[list[str | None]] = []
            with passing(kit, lambda phase, point: seen.append(contents(reader.recall("mail queue", scope=SHOP, budget=50)))):
                assert len(kit.consolidate(scope=SHOP).written) == 7
            assert contents(reader.recall("mail queue", scope=SHOP, budget=50)) == ["The mail queue is longest at eleven"]
            assert list(itertools.chain(*dict.fromkeys(map(tuple, seen)))) == [
                "The mail queue is longest at noon",
                "The mail queue is longest at eleven",
            ]
            assert len(seen) > 30 and all(len(found) == 1 for found in seen)

    def archive_first(tx, db, step, job, seen):
        if step.op is not Op.UPDATE:
            return honest(tx, db, step, job, seen)
        candidate = proposals.fetch(tx, job.principal, step.proposal).candidate
        where = {"tenant": "local", "scope": step.scope, "actor": "job", "now": seen.now}
        store.append(tx, Op.DELETE, replace(candidate, content=None), expected=step.expected, **where)
        store.log(tx, Op.DELETE, "X", principal=job.principal, scope=step.scope, key=step.key, revision=2, now=seen.now)
        tx.execute("commit")
        tx.execute("begin immediate")
        memory = store.append(tx, Op.ADD, candidate, expected=0, **where)
        store.log(tx, Op.ADD, "X", principal=job.principal, scope=step.scope, key=step.key, revision=3, now=seen.now)
        return Outcome(Op.ADD, "X", "", memory)

    check()
    monkeypatch.setattr(consolidate, "_carried_out", archive_first)
    assert fails(check)


def test_a_snapshot_that_is_written_anew_is_the_old_one_or_the_new_one_at_every_moment(monkeypatch, tmp_path):
    """ai-agent-book #239: truncate, then write; a crash left an empty file."""
    paths = (tmp_path / f"{number}.db" for number in itertools.count())

    def check() -> None:
        kit, _ = shop(next(paths))
        with kit:
            snapshot.write_snapshot(kit.db, "local")
            file = snapshot.snapshot_path(kit.db, "local")
            assert file is not None
            seen = [file.read_bytes()]
            with passing(kit, lambda phase, point: seen.append(file.read_bytes())):
                kit.consolidate(scope=SHOP)
            seen.append(file.read_bytes())
            assert list(dict.fromkeys(seen)) == [seen[0], seen[-1]] and len(seen) > 30
            assert [kind in text for text in (seen[0], seen[-1]) for kind in (b"noon", b"eleven")] == [True, False, False, True]

    def truncating(path: Path, data: bytes) -> None:
        with path.open("wb") as file:
            os.fsync(file.fileno())
            file.write(data)

    check()
    monkeypatch.setattr(snapshot, "replace_file", truncating)
    assert fails(check)


def test_merging_keeps_the_oldest_time_of_creation(monkeypatch):
    """deer-flow PR #3996: merging made everything look new."""

    def check() -> None:
        now = clock("2026-03-01T00:00+00:00")
        with memkit.open(clock=now) as kit:
            for number, key in enumerate(("cache", "queue", "disk", "door", "again")):
                kit.admit(kit.propose(key, "The cache is cold on Mondays" if key in ("cache", "again") else f"number {number}", scope=SHOP))
                now.advance(days=1)
            infer(kit, "queue", "The queue is long at noon")
            report = kit.consolidate(scope=SHOP, fuse=Fuse(percent=40))
            assert sorted(step.key for step in report.plan.steps) == ["again", "queue"]
            known = {memory.key: memory for memory in (check.memory for check in kit.check(scope=SHOP))}
            assert {key: age(memory) for key, memory in known.items()} == {"cache": 0, "queue": 1, "disk": 2, "door": 3}
            assert known["queue"].recorded_at == START + timedelta(days=5) and known["queue"].kind is Kind.INFERENCE

    def age(memory: Memory) -> int:
        return (memory.created_at - START).days

    check()
    monkeypatch.setattr(store, "APPEND", store.APPEND.replace("else newest.created_at end", "else :now end"))
    assert fails(check)
