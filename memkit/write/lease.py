"""Leases: who may do a job now, until when, and proof at commit that nobody took over meanwhile.

A lease is one row for each name. Claiming it raises its *token*, which never goes down, so a holder who slept past the end of the lease and
wakes after a takeover is found out by `require` inside the transaction that commits. A job that failed is not tried again before a wait
that doubles; a holder that vanished counts as a failure. All functions but `decide` and `back_off` need a transaction that holds the
write lock. Left out: what the job does, and any clock.

Source of the token: M. Kleppmann, "How to do distributed locking" (2016), there called a fencing token.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlite_utils import Database as SqliteUtils

from memkit.errors import LeaseLost
from memkit.record import store

TTL = timedelta(minutes=10)  # how long a holder may be silent
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(hours=1)

_READ = "select tenant, name, holder, token, expires_at, failures, not_before from lease where tenant = :tenant and name = :name"
_PUT = """
insert into lease (tenant, name, holder, token, expires_at, failures, not_before)
values (:tenant, :name, :holder, :token, :expires_at, :failures, :not_before)
on conflict (tenant, name) do update set
    holder = :holder, token = :token, expires_at = :expires_at, failures = :failures, not_before = :not_before"""


@dataclass(frozen=True, slots=True)
class Lease:
    """One name as it stands. `holder` is "" while nobody has it; `failures` counts since the last success."""

    tenant: str
    name: str
    holder: str = ""
    token: int = 0
    expires_at: datetime | None = None
    failures: int = 0
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """The answer to a claim: `lease` where it was granted, else None; why; and until when it is refused."""

    reason: str
    lease: Lease | None = None
    until: datetime | None = None


def decide(standing: Lease, now: datetime) -> Claim:
    """Decide a claim on a lease as it stands: FREE and EXPIRED grant it, HELD and BACKING_OFF refuse. Pure.

    What lies further ahead than twice the longest that is ever given was set by a clock that ran ahead, and binds nobody: a holder that is
    still there is fenced by its token.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> decide(Lease("local", "tidy", "ann", 3, noon + TTL), noon).reason
    'HELD'
    """
    if standing.holder and standing.expires_at is not None and now < standing.expires_at <= now + 2 * TTL:
        return Claim("HELD", until=standing.expires_at)
    if standing.not_before is not None and now < standing.not_before <= now + 2 * LONGEST_WAIT:
        return Claim("BACKING_OFF", until=standing.not_before)
    return Claim("EXPIRED" if standing.holder else "FREE")


def back_off(failures: int) -> timedelta:
    """Return how long to wait after so many failures in a row: 30 seconds, doubled each time, at most an hour.

    >>> [str(back_off(n)) for n in (0, 1, 2, 9)]
    ['0:00:00', '0:00:30', '0:01:00', '1:00:00']
    """
    return min(FIRST_WAIT * 2 ** min(failures - 1, 20), LONGEST_WAIT) if failures else timedelta(0)


def standing(tx: SqliteUtils, tenant: str, name: str) -> Lease:
    """Return a lease as it stands; one that nobody ever claimed is free."""
    for row in store.select(tx, _READ, {"tenant": tenant, "name": name}):
        return Lease(**row | {key: store.moment(row[key]) for key in ("expires_at", "not_before")})
    return Lease(tenant, name)


def claim(tx: SqliteUtils, tenant: str, name: str, *, holder: str, now: datetime, ttl: timedelta = TTL) -> Claim:
    """Take a lease that is free or expired, and past its wait, under a new token; else say who has to be waited for."""
    before = standing(tx, tenant, name)
    answer = decide(before, now)
    if answer.until is not None:
        return answer
    failures = before.failures + (answer.reason == "EXPIRED")
    return Claim(answer.reason, _put(tx, Lease(tenant, name, holder, before.token + 1, now + ttl, failures)))


def require(tx: SqliteUtils, lease: Lease) -> None:
    """Raise LeaseLost unless the lease is still this holder's. Being late alone is no loss while nobody took over."""
    found = standing(tx, lease.tenant, lease.name)
    if (found.token, found.holder) != (lease.token, lease.holder):
        passed = f"went from token {lease.token} to {found.token}" if found.token != lease.token else "was given back"
        raise LeaseLost(f"the lease on {lease.name!r} {passed} meanwhile, so nothing was written; start the job again")


def renew(tx: SqliteUtils, lease: Lease, *, now: datetime, ttl: timedelta = TTL) -> Lease:
    """Give a sign of life: the lease runs for `ttl` from now, under the same token. Raises LeaseLost after a takeover."""
    require(tx, lease)
    return _put(tx, Lease(lease.tenant, lease.name, lease.holder, lease.token, now + ttl, lease.failures))


def release(tx: SqliteUtils, lease: Lease, *, failed: bool, now: datetime) -> None:
    """Give a lease back. After a failure nobody gets it before the wait is over; after a success the failures are forgotten.

    Raises LeaseLost after a takeover, and then leaves the lease alone.
    """
    require(tx, lease)
    failures = lease.failures + 1 if failed else 0
    _put(tx, Lease(lease.tenant, lease.name, "", lease.token, None, failures, now + back_off(failures) if failed else None))


def _put(tx: SqliteUtils, lease: Lease) -> Lease:
    row = {"tenant": lease.tenant, "name": lease.name, "holder": lease.holder, "token": lease.token, "failures": lease.failures}
    tx.execute(_PUT, row | {"expires_at": store.stamp(lease.expires_at), "not_before": store.stamp(lease.not_before)})
    return lease
