"""A progress bar for whatever tells how far it is: pass it as `progress=` to `kit.warm`, `kit.consolidate` or `kit.reextract`.

It moves while the cell runs. Not here: the work, or how much of it there is.
"""

from __future__ import annotations

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.widgets.markup import STATIC, esc, plain
from memkit.widgets.panel import Panel


class Bar(Panel):
    """A bar with its numbers; `what` says of what."""

    def __init__(self, what: str = "done", *, name: str = "bar") -> None:
        super().__init__(name)
        self.what = what
        self.bar = widgets.IntProgress(value=0, max=1, tooltip=what, layout=widgets.Layout(width="20em", max_width="100%"))
        self.label = widgets.HTML()
        self.children = (widgets.HBox([self.bar, self.label], layout=widgets.Layout(flex_flow="row wrap")), self.error_area)
        self.told: tuple[int, int] | None = None
        self._show()

    def __call__(self, done: int, total: int) -> None:
        """Show that so much is done, of so much."""
        self.told = done, total
        self._show()

    def _show(self) -> None:
        if self.told is not None:
            done, total = self.told
            self.bar.max, self.bar.value = max(total, 1), done
        self.label.value = esc(self.as_text())

    def snapshot(self) -> str:
        """Return the static HTML view."""
        return f'<div style="{STATIC.text}padding:8px">{esc(self.as_text())}</div>'

    def as_text(self) -> str:
        """Return the plain text view."""
        if self.told is None:
            return f"{plain(self.what)}: not begun"
        return f"{plain(self.what)}: {self.told[0]:,} of {self.told[1]:,}"
