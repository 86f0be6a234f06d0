"""write/lease.py: one holder at a time, a token that only rises, a wait that doubles, and a sleeper who is found out."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database as SqliteUtils
from test_museum import fails
from test_races import start

import memkit
from memkit.record.database import Database
from memkit.write import lease as leases
from memkit.write.lease import TTL, Lease, back_off, claim, decide, release, renew, require, standing

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("lease", "reason", "until"),
    [
        (Lease("t", "job"), "FREE", None),
        (Lease("t", "job", "", 3), "FREE", None),
        (Lease("t", "job", "ann", 3, NOON + SECOND), "HELD", NOON + SECOND),
        (Lease("t", "job", "ann", 3, NOON), "EXPIRED", None),
        (Lease("t", "job", "", 3, None, 1, NOON + SECOND), "BACKING_OFF", NOON + SECOND),
        (Lease("t", "job", "", 3, None, 1, NOON), "FREE", None),
    ],
)
def test_a_claim_is_decided_by_what_stands(lease: Lease, reason: str, until: datetime | None) -> None:
    assert decide(lease, NOON) == leases.Claim(reason, None, until)


def test_a_second_holder_waits_until_the_first_gives_it_back() -> None:
    db = Database()
    with db.write() as tx:
        mine = claim(tx, "t", "job", holder="ann", now=NOON)
        assert mine == leases.Claim("FREE", Lease("t", "job", "ann", 1, NOON + TTL))
        assert claim(tx, "t", "job", holder="bob", now=NOON) == leases.Claim("HELD", None, NOON + TTL)
        assert claim(tx, "t", "other job", holder="bob", now=NOON).reason == claim(tx, "u", "job", holder="bob", now=NOON).reason == "FREE"
        assert mine.lease is not None
        release(tx, mine.lease, failed=False, now=NOON)
        assert standing(tx, "t", "job") == Lease("t", "job", "", 1)
        assert claim(tx, "t", "job", holder="bob", now=NOON).lease == Lease("t", "job", "bob", 2, NOON + TTL)


def test_a_sleeper_who_wakes_after_a_takeover_can_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sabotaged twin compares holders alone: the same holder, started again, then passes for the sleeper."""

    def check() -> None:
        db = Database()
        with db.write() as tx:
            sleeper = claim(tx, "t", "job", holder="ann", now=NOON).lease
            taker = claim(tx, "t", "job", holder="ann", now=NOON + TTL)
            assert sleeper is not None and taker.reason == "EXPIRED" and taker.lease is not None and taker.lease.failures == 1
            for act in (
                lambda: require(tx, sleeper),
                lambda: renew(tx, sleeper, now=NOON),
                lambda: release(tx, sleeper, failed=True, now=NOON),
            ):
                with pytest.raises(memkit.LeaseLost, match="from token 1 to 2"):
                    act()
            require(tx, taker.lease)
            assert standing(tx, "t", "job") == taker.lease

    def by_holder_alone(tx: SqliteUtils, lease: Lease) -> None:
        if standing(tx, lease.tenant, lease.name).holder != lease.holder:
            raise memkit.LeaseLost

    check()
    monkeypatch.setattr(leases, "require", by_holder_alone)
    assert fails(check)


def test_a_holder_who_is_late_keeps_the_lease_while_nobody_took_over() -> None:
    db = Database()
    with db.write() as tx:
        mine = claim(tx, "t", "job", holder="ann", now=NOON).lease
        assert mine is not None
        require(tx, mine)
        longer = renew(tx, mine, now=NOON + 2 * TTL)
        assert longer == Lease("t", "job", "ann", 1, NOON + 3 * TTL) == standing(tx, "t", "job")
        assert claim(tx, "t", "job", holder="bob", now=NOON + 2 * TTL).reason == "HELD"


def test_after_each_failure_the_wait_doubles_and_a_success_forgets_it() -> None:
    db, now, waits = Database(), NOON, []
    with db.write() as tx:
        for _ in range(9):
            mine = claim(tx, "t", "job", holder="ann", now=now).lease
            assert mine is not None
            release(tx, mine, failed=True, now=now)
            refused = claim(tx, "t", "job", holder="ann", now=now)
            assert refused.reason == "BACKING_OFF" and refused.until is not None
            waits.append((refused.until - now).total_seconds())
            now = refused.until
        assert waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
        mine = claim(tx, "t", "job", holder="ann", now=now).lease
        assert mine is not None and mine.failures == 9
        release(tx, mine, failed=False, now=now)
        assert standing(tx, "t", "job") == Lease("t", "job", "", 10)


def test_the_wait_is_finite_after_any_number_of_failures() -> None:
    assert back_off(10**6) == timedelta(hours=1)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["claim", "renew", "release", "fail"]), st.sampled_from("abc"), st.integers(0, 900)), max_size=30)
)
def test_never_two_holders_and_tokens_only_rise(steps: list[tuple[str, str, int]]) -> None:
    """The oracle: whoever was granted the lease last is the only one `require` lets pass."""
    db, now, granted, tokens = Database(), NOON, list[Lease](), [0]
    with db.write() as tx:
        for act, holder, seconds in steps:
            now += seconds * SECOND
            if act == "claim":
                won = claim(tx, "t", "job", holder=holder, now=now).lease
                granted += [won] if won else []
            elif granted:
                try:
                    renew(tx, granted[-1], now=now) if act == "renew" else release(tx, granted[-1], failed=act == "fail", now=now)
                except memkit.LeaseLost:
                    assert standing(tx, "t", "job").holder == ""  # it was given back before
            for old in granted[:-1]:
                with pytest.raises(memkit.LeaseLost):
                    require(tx, old)
            tokens.append(standing(tx, "t", "job").token)
        assert tokens == sorted(tokens) and [lease.token for lease in granted] == list(range(1, len(granted) + 1))


def test_the_database_itself_refuses_a_token_that_falls_and_a_row_that_goes() -> None:
    db = Database()
    with db.write() as tx:
        claim(tx, "t", "job", holder="ann", now=NOON)
    for statement in ("update lease set token = 0", "delete from lease"):
        with pytest.raises(sqlite3.DatabaseError, match=r"token|released"), db.write() as tx:
            tx.execute(statement)


CLAIMER = """
import sys
from datetime import UTC, datetime
from memkit.record.database import Database
from memkit.write.lease import claim, release
db, noon = Database(sys.argv[1]), datetime(2026, 1, 1, tzinfo=UTC)
print("ready", flush=True); sys.stdin.readline()
while True:
    with db.write() as tx:
        won = claim(tx, "t", "job", holder=sys.argv[2], now=noon).lease
    if won is None:
        continue
    print(won.token, flush=True)
    with db.write() as tx:
        release(tx, won, failed=False, now=noon)
    if won.token >= 60:
        break
"""


def test_processes_that_claim_at_once_each_get_tokens_of_their_own(tmp_path: Path) -> None:
    Database(tmp_path / "memory.db").close()
    racers = [start(CLAIMER, str(tmp_path / "memory.db"), name) for name in ("ann", "bob")]
    for racer in racers:
        assert racer.stdout is not None and racer.stdout.readline() == "ready\n"
    outputs = [racer.communicate("\n", timeout=60) for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0], outputs
    tokens = sorted(int(line) for out, _ in outputs for line in out.split())
    assert tokens == list(range(1, max(tokens) + 1)) and max(tokens) >= 60


def test_a_clock_that_ran_ahead_locks_nobody_out_and_its_holder_is_still_fenced() -> None:
    with Database().write() as tx:
        ahead = claim(tx, "t", "job", holder="ann", now=NOON + timedelta(days=400))
        taken = claim(tx, "t", "job", holder="bob", now=NOON)
        assert ahead.lease and taken.lease and (taken.reason, taken.lease.token) == ("EXPIRED", 2)
        with pytest.raises(memkit.LeaseLost):
            require(tx, ahead.lease)
        release(tx, taken.lease, failed=True, now=NOON + timedelta(days=400))
        assert claim(tx, "t", "job", holder="ann", now=NOON).reason == "FREE"
