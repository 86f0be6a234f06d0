"""Two writers stepped by hand, and every order of their steps: what blind writing loses, what checking first loses, and what memkit tells.

The writers are those of `memkit.lab.race`, on a real kit, or a learner's own. Not here: HTML (`race_view.py`), or any rule.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.errors import NotFound, Refused
from memkit.lab import race
from memkit.widgets import race_view as view
from memkit.widgets.controls import button, column, heading
from memkit.widgets.markup import LIVE, STATIC
from memkit.widgets.panel import Panel
from memkit.widgets.tables import note, status

WRITERS: dict[str, race.Writer] = {
    "blind write": race.blind,
    "check, then act": race.check_then_act,
    "compare-and-swap": race.compare_and_swap,
}


class RaceLab(Panel):
    """A lab over some writers, by default the three of `memkit.lab.race`.

    `writers` are generator functions by the name they are shown by; the first is chosen. Raises Refused for none.
    """

    heat: race.Race | None = None  # the race that is being stepped

    def __init__(self, writers: Mapping[str, race.Writer] | None = None, *, name: str = "race") -> None:
        self.writers = dict(WRITERS if writers is None else writers)
        if not self.writers:
            raise Refused("NO_WRITER", "writers is empty; pass at least one, for instance {'mine': writer}")
        super().__init__(name)
        self.rule, self.runs = next(iter(self.writers)), dict[str, Sequence[race.Run]]()
        self._make_controls()
        self._connect()
        self.start()

    # --- what a person does, as calls

    def choose(self, rule: str) -> None:
        """Take another rule, and start again."""
        if rule not in self.writers:
            raise NotFound(f"there is no rule {rule!r}; there are: {', '.join(self.writers)}")
        self.rule = rule
        self.start()

    def start(self) -> None:
        """Start again, with a new record."""
        former, self.heat = self.heat, race.Race(self.writers[self.rule])
        if former is not None:
            former.kit.close()
        self._show(f"race = lab.race.Race({self._name()})")

    def step(self, who: str) -> race.Step:
        """Let one writer take one step."""
        step = self._current().step(who)
        self._show(f"race.step({who!r})", *(f"# {call.code}" for call in step.calls))
        return step

    def replay(self, order: str) -> race.Run:
        """Start again and take the steps in a given order, for instance "ABABAB"."""
        if not order or set(order) - set(race.DAYS):
            raise Refused("BAD_ORDER", f"an order is made of A and B, and this one has {len(order)} characters; for instance 'ABABAB'")
        self.start()
        run = self._current().run(order)
        self._show(f"lab.race.Race({self._name()}).run({order!r})")
        return run

    def run_every(self) -> dict[str, int]:
        """Run every order of the chosen rule, and return the sums."""
        self.runs[self.rule] = race.every(self.writers[self.rule])
        self.runs = {rule: self.runs[rule] for rule in self.writers if rule in self.runs}
        self._show(f"lab.race.tally(lab.race.every({self._name()}))")
        return race.tally(self.runs[self.rule])

    # --- showing

    def _show(self, *calls: str) -> None:
        self.show_call(*calls)
        lab = self._state()
        self.verdict.value = status(view.verdict(lab), LIVE, good=not lab.lost, live=True)
        self.steps.value, self.sums.value = view.steps(lab, LIVE), view.every(lab, LIVE)
        code = view.program(lab, LIVE)
        if self.program.value != code:  # subtle: drawn anew it would be folded again
            self.program.value = code
        with self.quietly():
            self.rules.value = self.rule
        for who, step in self.buttons.items():
            step.disabled = who not in lab.running

    def _state(self) -> view.Lab:
        now = self._current()
        steps, running = tuple(now.steps), tuple(now.running)
        return view.Lab(self.rule, self._program(), steps, running, now.memory.content or "", now.lost, self.runs, self.call)

    def snapshot(self) -> str:
        """Return the static HTML view."""
        return view.page(self._state(), STATIC)

    def as_text(self) -> str:
        """Return the plain text view."""
        return view.as_text(self._state())

    def close(self) -> None:
        """Close the store of the race, and the widget."""
        if self.heat is not None:
            self.heat.kit.close()
        super().close()

    # --- finding

    def _current(self) -> race.Race:
        if self.heat is None:
            raise NotFound("no race has started; press “Start again”")
        return self.heat

    def _name(self) -> str:
        writer = self.writers[self.rule]
        known = getattr(race, getattr(writer, "__name__", ""), None) is writer
        return f"lab.race.{writer.__name__}" if known else str(getattr(writer, "__name__", "writer"))

    def _program(self) -> str:
        try:
            return inspect.getsource(self.writers[self.rule])
        except (OSError, TypeError):
            return "(the source of this writer cannot be found)"

    # --- making

    def _make_controls(self) -> None:
        self.verdict, self.steps, self.program, self.sums = (widgets.HTML() for _ in range(4))
        self.rules = widgets.ToggleButtons(options=list(self.writers), description="Rule", tooltips=[f"race by {x}" for x in self.writers])
        self.buttons = {
            who: button(f"{who}: next step", "step-forward", f"let writer {who} take one step", align="flex-start") for who in race.DAYS
        }
        self.again = button("Start again", "undo", "start again with a new record", align="flex-start")
        self.order = widgets.Dropdown(
            description="Replay", options=["choose an order", *race.orders()], tooltip="take the steps in this order", layout=_width("18em")
        )
        self.count = button("Run every order", "list", "run all orders of the chosen rule, and count what is lost", align="flex-start")
        by_hand = widgets.HBox([*self.buttons.values(), self.again, self.order], layout=widgets.Layout(flex_flow="row wrap"))
        left = widgets.VBox([heading("By hand"), by_hand, self.verdict, self.steps], layout=column("3 1 480px"))
        why = widgets.HTML(note("Each writer reads, computes and writes. Two programs of three steps can be mixed in 20 ways.", LIVE))
        right = [heading("Every order there is"), why, self.count, self.sums]
        both = [left, widgets.VBox(right, layout=column("2 1 340px"))]
        columns = widgets.HBox(both, layout=widgets.Layout(flex_flow="row wrap", align_items="flex-start"))
        self.children = (self.rules, self.program, self.error_area, columns, self.call_area)

    def _connect(self) -> None:
        self.on_value(self.rules, lambda rule: self.choose(str(rule)))
        self.on_value(self.order, self._replay)
        self.on_click(self.buttons["A"], lambda: self.step("A"))
        self.on_click(self.buttons["B"], lambda: self.step("B"))
        self.on_click(self.again, self.start)
        self.on_click(self.count, self.run_every)

    def _replay(self, order: object) -> None:
        if self.order.index:
            self.replay(str(order))


def _width(wide: str) -> widgets.Layout:
    return widgets.Layout(width=wide)
