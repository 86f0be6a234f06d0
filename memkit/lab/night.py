"""One night with two consolidators, a person and a clock on one record, stepped by hand.

Each consolidator is the real `kit.consolidate`, stopped where a real job is slow: in its planner, after it has the lease and has looked,
and before it writes. So it can be made to sleep there while the clock goes on, another job starts, or a person corrects something. Not
here: the rules of leases (`write/lease.py`), jobs that are killed (`deaths.py`), and any view.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from memkit.errors import MemkitError, Refused, shown
from memkit.kit import Kit
from memkit.lab.evening import SHOP, shop
from memkit.record.model import Memory
from memkit.write import lease as leases
from memkit.write.consolidate import NAME, Report
from memkit.write.lease import Lease
from memkit.write.plan import Plan, Seen, tidy

JOBS = ("A", "B")
LONGEST = 60  # turns of one night
PATIENCE = 30  # seconds until a job that neither stops nor ends is given up


class Sleeper:
    """One consolidation on a thread of its own, which stops whenever it has looked at the record, until it is woken."""

    def __init__(self, kit: Kit) -> None:
        self._kit, self._stopped, self._go = kit, threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._ends, self._given_up = Future[Report](), False

    @property
    def asleep(self) -> bool:
        return self._thread is not None and not self._ends.done()

    def start(self) -> Report | None:
        """Begin, and return once it sleeps (None) or has ended. Raises what stopped it."""
        self._stopped.clear()
        self._ends = Future()
        self._thread = threading.Thread(target=self._run, args=(self._ends,), daemon=True)
        self._thread.start()
        return self._until_it_stops()

    def wake(self) -> Report | None:
        """Let one that sleeps go on, and return its report, or None where it looks again and sleeps again. Raises what stopped it."""
        self._stopped.clear()
        self._go.set()
        return self._until_it_stops()

    def close(self) -> None:
        """Give the job up, wherever it is; it writes nothing more."""
        self._given_up = True
        self._go.set()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def _run(self, ends: Future[Report]) -> None:
        try:
            ends.set_result(self._kit.consolidate(scope=SHOP, planner=self._plan))
        except Exception as error:
            ends.set_exception(error)
        self._stopped.set()

    def _plan(self, seen: Seen) -> Plan:
        self._stopped.set()
        self._go.wait()
        self._go.clear()
        if self._given_up:
            raise Refused("GIVEN_UP", "this job was given up; nothing was written")
        return tidy(seen)

    def _until_it_stops(self) -> Report | None:
        if not self._stopped.wait(PATIENCE):
            raise Refused("NO_END", f"the job neither stopped nor ended within {PATIENCE} seconds; begin the night again")
        return self._ends.result() if self._ends.done() else None


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was done and what came of it, then: whose the lease is, its token, until when, and how many memories there are.

    `good` is False where somebody was turned away or found out.
    """

    who: str
    did: str
    told: str
    good: bool
    at: str
    holder: str
    token: int
    until: str
    memories: int

    def __str__(self) -> str:
        lease = f"{self.holder} holds token {self.token} until {self.until}" if self.holder else f"token {self.token}, nobody holds it"
        return f"{self.at} {self.who}: {self.did} -> {self.told} | {lease} | {self.memories} memories"


class Night:
    """A shop's memory, and two jobs that tidy it. Each method is one turn, and returns it; `turns` holds them all."""

    def __init__(self) -> None:
        self.kit, self.now = shop()
        self.turns: list[Turn] = []
        self._jobs = {who: Sleeper(self.kit) for who in JOBS}
        self._tokens: dict[int, str] = {}

    @property
    def asleep(self) -> list[str]:
        """Return the jobs that sleep between looking and writing."""
        return [who for who in JOBS if self._jobs[who].asleep]

    def start(self, who: str) -> Turn:
        """Let a job begin: it takes the lease if it may, looks, and falls asleep."""
        if who in self.asleep:
            raise Refused("ASLEEP", f"job {who} sleeps already; wake it")
        return self._let(who, "kit.consolidate(scope=SHOP)", self._job(who).start, "has the lease, has looked, and falls asleep")

    def wake(self, who: str) -> Turn:
        """Let a job that sleeps go on, to its end or until it has looked again. Raises Refused where it does not sleep."""
        if not self._job(who).asleep:
            raise Refused("NOT_ASLEEP", f"job {who} does not sleep; start it first")
        again = "somebody wrote what it wanted to change: it looks again, and falls asleep"
        return self._let(who, "wakes and wants to write", self._job(who).wake, again)

    def wait(self, minutes: int = 11) -> Turn:
        """Let time pass."""
        self.now.advance(minutes=minutes)
        return self._add("clock", f"{minutes} minutes pass", "", True)

    def correct(self, key: str = "images", content: str = "Image uploads fail while antivirus runs") -> Turn:
        """Let a person state something under a key, whatever stands there."""
        current = self.kit.current(key, scope=SHOP)
        expected = current.revision if current else 0
        outcome = self.kit.remember(key, content, scope=SHOP, expected=expected)
        return self._add("person", f"kit.remember({key!r}, ...)", f"{outcome.op} {outcome.reason}", True)

    def memory(self, key: str) -> Memory | None:
        """Return the current value of a key."""
        return self.kit.current(key, scope=SHOP)

    def close(self) -> None:
        """Give up the jobs that sleep, and close the record."""
        for job in self._jobs.values():
            job.close()
        self.kit.close()

    # --- inside

    def _job(self, who: str) -> Sleeper:
        if who not in self._jobs:
            raise Refused("NO_SUCH_JOB", f"there is no job {shown(who)}; there are A and B")
        return self._jobs[who]

    def _let(self, who: str, did: str, act: Callable[[], Report | None], asleep: str) -> Turn:
        before = self._lease().token
        try:
            report = act()
            told, good = asleep if report is None else _told(report), True
        except MemkitError as error:
            told, good = f"{type(error).__name__}: {error}", False
        if self._lease().token > before:
            self._tokens[before + 1] = who
        return self._add(who, did, told, good)

    def _lease(self) -> Lease:
        with self.kit.db.read() as tx:
            return leases.standing(tx, self.kit.principal.tenant, NAME)

    def _add(self, who: str, did: str, told: str, good: bool) -> Turn:
        if len(self.turns) >= LONGEST:
            raise Refused("ENDLESS", f"the night has had {LONGEST} turns; begin it again")
        lease = self._lease()
        holder = self._tokens.get(lease.token, "") if lease.holder else ""
        until = f"{lease.expires_at:%H:%M}" if holder and lease.expires_at else ""
        known = len(self.kit.check(scope=SHOP))
        self.turns.append(Turn(who, did, told, good, f"{self.now():%H:%M}", holder, lease.token, until, known))
        return self.turns[-1]


def _told(report: Report) -> str:
    written = [outcome.memory.key for outcome in report.written if outcome.memory]
    told = (
        f"{len(report.written)} steps carried out (memories: {', '.join(written) or 'none'})" if report.written else "nothing is left to do"
    )
    refused = [f"{outcome.reason}" for outcome in report.refused]
    return f"{told}; turned down: {', '.join(refused)}" if refused else told
