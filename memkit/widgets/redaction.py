"""Type or paste, see what is found and what each policy would keep, and report a form that slips through as a failing test.

What is typed goes to the kernel and nowhere else: no file, no store, no history, and not into the snapshot of a panel that is shown again
empty. Looking and reporting are `memkit.lab`'s. Not here: HTML (`redaction_view.py`), or any rule.
"""

from __future__ import annotations

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.lab import hunt
from memkit.widgets import redaction_view as view
from memkit.widgets.controls import button, heading, row
from memkit.widgets.markup import LIVE, STATIC
from memkit.widgets.panel import Panel
from memkit.widgets.tables import status


class RedactionLab(Panel):
    """A lab over a text that a learner types; `text` is what stands in it at first."""

    def __init__(self, text: str = "", *, name: str = "redaction") -> None:
        super().__init__(name)
        self.looked: hunt.Looked = hunt.look("")
        self.test = ""
        self._make_controls()
        self._connect()
        self.look(text)

    # --- what a person does, as calls

    def look(self, text: str) -> hunt.Looked:
        """Look for secrets in a text, and show what each policy would keep."""
        self.looked, self.test = hunt.look(text), ""
        with self.quietly():
            self.text.value = text
        self._show("memkit.redact(text).findings", "[policy.apply(text) for policy in lab.hunt.policies().values()]")
        return self.looked

    def report(self, secret: str) -> str:
        """Show a test that fails until this form is masked, and return it. Raises Refused where nothing slipped through."""
        self.test = ""
        self._show("lab.hunt.report(text, secret)")
        self.test = hunt.report(self.text.value, secret)
        self._show("lab.hunt.report(text, secret)")
        return self.test

    def clear(self) -> None:
        """Take everything out of the panel again."""
        with self.quietly():
            self.missed.value = ""
        self.look("")

    # --- showing

    def _show(self, *calls: str) -> None:
        self.show_call(*calls)
        shown = self._state()
        good = not self.looked.findings
        self.verdict.value = status(view.verdict(shown), LIVE, good=good, live=True)
        self.spans.value, self.kept.value, self.tested.value = view.spans(shown, LIVE), view.kept(shown, LIVE), view.test(shown, LIVE)

    def _state(self) -> view.Hunt:
        return view.Hunt(self.looked.pieces, self.looked.kept, self.test, self.call)

    def snapshot(self) -> str:
        """Return the static HTML view."""
        return view.page(self._state(), STATIC)

    def as_text(self) -> str:
        """Return the plain text view."""
        return view.as_text(self._state())

    # --- making

    def _make_controls(self) -> None:
        self.verdict, self.spans, self.kept, self.tested = (widgets.HTML() for _ in range(4))
        wide = widgets.Layout(width="98%")
        self.text = widgets.Textarea(description="Text", rows=4, layout=wide, continuous_update=True, placeholder="type or paste")
        self.missed = widgets.Text(
            description="Slipped", layout=wide, placeholder="the words that should have vanished", tooltip="the secret"
        )
        self.reporting = button("Report as a test", "bug", "write a test that fails until this form is masked")
        self.clearing = button("Clear", "eraser", "let go of the text and of what slipped through")
        self.children = (
            *(heading("Redaction lab"), self.text, self.verdict, self.spans, self.kept, self.missed, row(self.reporting, self.clearing)),
            *(self.error_area, self.tested, self.call_area),
        )

    def _connect(self) -> None:
        self.on_value(self.text, lambda text: self.look(str(text)))
        self.on_click(self.reporting, lambda: self.report(self.missed.value))
        self.on_click(self.clearing, self.clear)
