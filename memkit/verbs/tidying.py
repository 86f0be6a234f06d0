"""The verb of consolidation: it runs as a job, whoever starts it, so that it can never speak as a person."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from memkit.errors import MemkitError, Refused, shown
from memkit.govern.access import require
from memkit.record.model import Progress, ProposalStatus
from memkit.record.scope import Scope, require_scope
from memkit.record.snapshot import write_snapshot
from memkit.verbs.base import Opened
from memkit.write import proposals
from memkit.write.arguments import check_flag, progress_of
from memkit.write.consolidate import Job, Report, consolidate, is_due
from memkit.write.fuse import FUSE, Fuse
from memkit.write.plan import Planner, tidy


class TidyingVerbs(Opened):
    """Turn candidates that wait into memories, or let them go, under a lease and a fuse."""

    def consolidate(
        self,
        *,
        scope: Scope | None = None,
        dry_run: bool = False,
        planner: Planner = tidy,
        fuse: Fuse = FUSE,
        progress: Progress | None = None,
    ) -> Report:
        """Consolidate one scope, exactly, or every scope of the tenant that this principal may write (None).

        `planner` makes the plan; code checks it, whoever made it, against `fuse`. With `dry_run` nothing is written. `progress` is called
        with how many candidates were looked at and steps carried out, and of how many; what it raises stops the run, and while steps are
        carried out it must not use the store. Raises FuseTripped, LeaseLost, Conflict, and Refused while another job holds the lease or for
        a bad plan; the store is then as it was.
        """
        require(self.principal, "write", "read")
        check_flag("dry_run", dry_run)
        if not callable(planner):
            raise Refused("BAD_PLANNER", f"the planner is {shown(planner)}; pass a function that returns a Plan of what it is shown")
        if not isinstance(fuse, Fuse):
            raise Refused("BAD_FUSE", f"the fuse is {shown(fuse)}; pass a Fuse, for instance Fuse(percent=10)")
        principal = replace(self.principal, actor="job")
        scopes = None if scope is None else (require_scope(scope).stored(principal),)
        told = progress_of(progress)
        report = consolidate(self.db, Job(principal, scopes, planner, self._reader, self._now, fuse, self._tokens, told), dry_run=dry_run)
        if report.written:
            with suppress(OSError, MemkitError):  # it is done and in the record; an older snapshot says of itself that it is old
                write_snapshot(self.db, principal.tenant)
        return report

    def is_due(self, *, scope: Scope) -> bool:
        """Return whether enough candidates came to exactly this scope since its last consolidation, or one waits long enough.

        Nothing consolidates by itself: whoever runs the agent asks this where it has time, between turns or at night.
        """
        require(self.principal, "read")
        where, now = require_scope(scope).stored(self.principal), self._now()
        with self.db.read() as tx:
            waiting = proposals.listed(tx, self.principal, [where], ProposalStatus.PENDING)
            return is_due(tx, self.principal.tenant, where, waiting, now)
