"""Choose or write a hostile memory, show it under four defences, and see what a reader finds outside the block; then count over all.

Showing, reading and counting are `lab.arena`'s. Not here: HTML (`arena_view.py`), or any rule.
"""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.errors import Refused
from memkit.lab import DEFENCES, arena
from memkit.widgets import arena_view as view
from memkit.widgets.controls import button, heading, row
from memkit.widgets.markup import LIVE, STATIC
from memkit.widgets.panel import Panel
from memkit.widgets.tables import status

KINDS = {"": "honest", "order": "only said"}


class Arena(Panel):
    """An arena; `text` is the memory that enters it first, by default the first attack."""

    def __init__(self, text: str | None = None, *, defence: str = "fixed marks", name: str = "arena") -> None:
        super().__init__(name)
        self.texts = {_label(one): one.text for one in (*arena.attacks(), *arena.orders(), *arena.honest())}
        self.rows: Sequence[arena.Row] = ()
        self._make_controls(defence)
        self._connect()
        self.enter(next(iter(self.texts.values())) if text is None else text)

    # --- what a person does, as calls

    def enter(self, text: str) -> arena.Trial:
        """Let a memory enter: show it under every defence. Raises Refused for an empty one."""
        if not text.strip():
            raise Refused("NOTHING_TO_TRY", "the memory is empty; choose one from the list, or write one")
        self.trials = [arena.tried(defence, text) for defence in DEFENCES]
        with self.quietly():
            self.text.value = text
            self.chosen.value = next((label for label, known in self.texts.items() if known == text), None)
        return self.against(self.defence.value)

    def against(self, defence: str) -> arena.Trial:
        """Look at the memory under one defence."""
        (self.trial,) = [trial for trial in self.trials if trial.defence == defence]
        self._show(f"lab.arena.tried({defence!r}, text)")
        return self.trial

    def count(self) -> Sequence[arena.Row]:
        """Try all attacks and all honest memories under each defence, and show both rates."""
        self.rows = arena.measure()
        self._show("lab.arena.measure()")
        return self.rows

    # --- showing

    def _show(self, call: str) -> None:
        self.show_call(call)
        fight = self._state()
        self.verdict.value = status(view.verdict(fight), LIVE, good=self.trial.verdict == "HELD", live=True)
        self.beside.value, self.prompt.value, self.rates.value = view.beside(fight, LIVE), view.prompt(fight, LIVE), view.rates(fight, LIVE)

    def _state(self) -> view.Fight:
        return view.Fight(self.trials, self.trial, self.rows, self.call)

    def snapshot(self) -> str:
        """Return the static HTML view."""
        return view.page(self._state(), STATIC)

    def as_text(self) -> str:
        """Return the plain text view."""
        return view.as_text(self._state())

    # --- making

    def _make_controls(self, defence: str) -> None:
        self.verdict, self.beside, self.prompt, self.rates = (widgets.HTML() for _ in range(4))
        wide = widgets.Layout(width="98%")
        self.chosen = widgets.Dropdown(options=list(self.texts), description="Memory", layout=wide)
        self.text = widgets.Textarea(description="says", rows=3, layout=wide, continuous_update=False, placeholder="write your own")
        self.defence = widgets.Dropdown(options=list(DEFENCES), value=defence, description="Defence")
        self.counting = button("Count over all", "table", "try every attack and every honest text under every defence")
        self.children = (
            *(
                heading("Arena"),
                self.chosen,
                self.text,
                row(self.defence, self.counting),
                self.verdict,
                self.beside,
                self.prompt,
                self.rates,
            ),
            *(self.error_area, self.call_area),
        )

    def _connect(self) -> None:
        self.on_value(self.chosen, self._choose)
        self.on_value(self.text, lambda text: self.enter(str(text)))
        self.on_value(self.defence, lambda defence: self.against(str(defence)))
        self.on_click(self.counting, self.count)

    def _choose(self, label: object) -> None:
        if isinstance(label, str):
            self.enter(self.texts[label])


def _label(text: arena.Text) -> str:
    return f"{KINDS.get(text.family, text.family)} ({text.language}): {text.name}"
