"""Tidy a shop's memory by a good planner or a bad one, let two jobs meet in the night, and kill the job at every point.

All of it is memkit's own consolidation on real stores, made by `memkit.lab.tidying`. Not here: HTML (`tidy_view.py`), or any rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.errors import NotFound, Refused
from memkit.kit import Kit
from memkit.lab import Night, killed, tidying
from memkit.widgets import tidy_view as view
from memkit.widgets.controls import button, heading, row
from memkit.widgets.markup import LIVE, STATIC
from memkit.widgets.panel import Panel
from memkit.widgets.tables import status
from memkit.write.fuse import FUSE
from memkit.write.plan import Planner


class TidyLab(Panel):
    """A lab over some planners, by default those of `memkit.lab.tidying`; the first is chosen. Raises Refused for none."""

    kit: Kit | None = None  # the store that the plans are for
    night: Night | None = None
    tried: tidying.Tried | None = None

    def __init__(self, planners: Mapping[str, Planner] | None = None, *, name: str = "tidy") -> None:
        self.planners = dict(tidying.PLANNERS if planners is None else planners)
        if not self.planners:
            raise Refused("NO_PLANNER", "planners is empty; pass at least one, for instance {'mine': planner}")
        super().__init__(name)
        self.planner = next(iter(self.planners))
        self.dry_run, self.untouched, self.deaths = True, True, tuple[killed.Death, ...]()
        self._make_controls()
        self._connect()
        self.begin_night()
        self.start()

    # --- the plan

    def choose(self, planner: str) -> None:
        """Take another planner; what it would do is shown by a dry run."""
        if planner not in self.planners:
            raise NotFound(f"there is no planner {planner!r}; there are: {', '.join(self.planners)}")
        self.planner = planner
        self.plan()

    def start(self) -> None:
        """Start again, with the shop's memory as it was in the evening."""
        former = self.kit
        self._tell(0, 1)
        (self.kit, self.now), self.tried = tidying.shop(), None
        if former is not None:
            former.close()
        self._show("kit, now = lab.tidying.shop()")

    def plan(self) -> tidying.Tried:
        """Plan, let the guard check the plan, and write nothing."""
        return self._try(dry_run=True)

    def consolidate(self) -> tidying.Tried:
        """Plan, and carry it out if the guard lets it. Raises Refused while a job that failed has to wait."""
        return self._try(dry_run=False)

    def wait(self) -> None:
        """Let a day pass."""
        self.now.advance(days=1)
        self._show("now.advance(days=1)")

    def _try(self, *, dry_run: bool) -> tidying.Tried:
        if self.kit is None:
            raise NotFound("there is no store; press “Start again”")
        before = tidying.fingerprint(self.kit)
        tried = tidying.attempt(self.kit, self.planners[self.planner], dry_run=dry_run, progress=self._tell)
        self.tried, self.dry_run = tried, dry_run
        self.untouched = tidying.fingerprint(self.kit) == before
        self._show(f"kit.consolidate(scope=lab.tidying.SHOP, planner={self._name()}{', dry_run=True' if dry_run else ''})")
        return tried

    def _tell(self, done: int, total: int) -> None:
        self.bar.max, self.bar.value = total, done
        self.bar.description = f"{done} of {total}"

    # --- the night

    def begin_night(self) -> None:
        """Begin the night again, with a new record."""
        former, self.night = self.night, Night()
        if former is not None:
            former.close()
        self._show("night = lab.Night()")

    def turn(self, method: str, *arguments: str) -> None:
        """Let one thing happen in the night: "start" or "wake" with a job, "wait", or "correct"."""
        getattr(self._night(), method)(*arguments)
        self._show(f"night.{method}({', '.join(map(repr, arguments))})")

    # --- the kills

    def kill_everywhere(self) -> Sequence[killed.Death]:
        """Kill the job at every point, and open what is left."""
        self.deaths = killed.rehearse()
        self._show("lab.killed.rehearse()")
        return self.deaths

    # --- showing

    def _show(self, *calls: str) -> None:
        self.show_call(*calls)
        if self.kit is None or self.night is None:
            return  # it is being made
        lab = self._state()
        failed = self.tried is not None and self.tried.error is not None
        self.verdict.value = status(view.verdict(lab), LIVE, good=not failed, live=True)
        self.diff.value = view.fuse(lab, LIVE) + (view.changes(lab, LIVE) if self.tried else "")
        self.left.value = view.waiting(lab, LIVE)
        self.asleep.value = status(view.asleep(lab), LIVE, good=all(turn.good for turn in self.night.turns[-1:]), live=True)
        self.turns.value = view.night(lab, LIVE)
        self.survived.value = status(view.survived(lab), LIVE, good=all(death.found != "half" for death in self.deaths), live=True)
        self.phases.value = view.phases(lab, LIVE)
        with self.quietly():
            self.which.value = self.planner
        for who, (start, wake) in self.jobs.items():
            start.disabled, wake.disabled = who in self.night.asleep, who not in self.night.asleep

    def _state(self) -> view.Lab:
        return view.Lab(self.planner, self.tried, self.dry_run, self.untouched, FUSE.percent, self._night(), self.deaths, self.call)

    def snapshot(self) -> str:
        """Return the static HTML view."""
        return view.page(self._state(), STATIC)

    def as_text(self) -> str:
        """Return the plain text view."""
        return view.as_text(self._state())

    def close(self) -> None:
        """Give up the jobs that sleep, and close the stores and the widget."""
        if self.night is not None:
            self.night.close()
        if self.kit is not None:
            self.kit.close()
        super().close()

    def _night(self) -> Night:
        if self.night is None:
            raise NotFound("no night has begun; press “Begin again”")
        return self.night

    def _name(self) -> str:
        planner = self.planners[self.planner]
        known = tidying.PLANNERS.get(self.planner) is planner
        return f"lab.tidying.PLANNERS[{self.planner!r}]" if known else str(getattr(planner, "__name__", "planner"))

    # --- making

    def _make_controls(self) -> None:
        names = ("verdict", "diff", "left", "asleep", "turns", "survived", "phases")
        self.verdict, self.diff, self.left, self.asleep, self.turns, self.survived, self.phases = (widgets.HTML() for _ in names)
        wide = widgets.Layout(width="20em")
        self.which = widgets.Dropdown(options=list(self.planners), description="Planner", tooltip="who makes the plan", layout=wide)
        self.dry = button("Dry run", "eye", "make the plan and check it, write nothing", align="flex-start")
        self.go = button("Consolidate", "check", "make the plan, check it, and carry it out", align="flex-start")
        self.later = button("A day passes", "clock-o", "move the clock by a day", align="flex-start")
        self.again = button("Start again", "undo", "the shop's memory as it was in the evening", align="flex-start")
        self.bar = widgets.IntProgress(description="0 of 1", tooltip="candidates looked at and steps carried out", layout=wide)
        self.jobs = {who: _pair(who) for who in ("A", "B")}
        self.minutes = button(
            "11 minutes pass", "clock-o", "move the clock of the night by 11 minutes; a lease runs for 10", align="flex-start"
        )
        self.person = button("A person corrects", "user", "state something under a key that the plan is about", align="flex-start")
        self.dawn = button("Begin again", "undo", "begin the night again, with a new record", align="flex-start")
        self.kill = button(
            "Kill it at every point", "bolt", "kill the job at each statement, flush and rename, and open what is left", align="flex-start"
        )
        night = row(*self.jobs["A"], *self.jobs["B"], self.minutes, self.person, self.dawn)
        plan = [row(self.which, self.dry, self.go, self.later, self.again, self.bar), self.verdict, self.error_area, self.diff, self.left]
        jobs = [heading("Two jobs, one lease"), night, self.asleep, self.turns]
        kills = [heading("Killed at every point"), row(self.kill), self.survived, self.phases]
        self.children = [heading("The plan"), *plan, *jobs, *kills, self.call_area]

    def _connect(self) -> None:
        self.on_value(self.which, lambda planner: self.choose(str(planner)))
        for pressed, action in ((self.dry, self.plan), (self.go, self.consolidate), (self.later, self.wait), (self.again, self.start)):
            self.on_click(pressed, action)
        for who, (start, wake) in self.jobs.items():
            self.on_click(start, partial(self.turn, "start", who))
            self.on_click(wake, partial(self.turn, "wake", who))
        self.on_click(self.minutes, lambda: self.turn("wait"))
        self.on_click(self.person, lambda: self.turn("correct"))
        self.on_click(self.dawn, self.begin_night)
        self.on_click(self.kill, self.kill_everywhere)


def _pair(who: str) -> tuple[widgets.Button, widgets.Button]:
    start = button(f"{who} starts", "play", f"let job {who} take the lease, look, and fall asleep", align="flex-start")
    return start, button(f"{who} wakes", "bell", f"let job {who} go on and write", align="flex-start")
