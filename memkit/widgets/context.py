"""Ask, and see the exact bytes of the context layer by layer; correct a memory, and see what a prefix cache keeps.

Every look is a real `kit.context`: it is audited and counts use. Not here: HTML (`context_view.py`), or any rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack

import ipywidgets as widgets  # type: ignore[import-untyped]

import memkit
from memkit.errors import Refused
from memkit.read.context import Context
from memkit.read.prefix import Stable, prefix_stable
from memkit.read.render import FORMS
from memkit.record.model import Memory
from memkit.widgets import context_view as view
from memkit.widgets.calls import scope_code, scope_of
from memkit.widgets.controls import button, heading, row
from memkit.widgets.markup import LIVE, STATIC
from memkit.widgets.panel import Panel
from memkit.widgets.tables import note, status
from memkit.write.redact import redact

MOST = 2**53 - 1  # tokens: the largest whole number a browser keeps exactly


class Given(TypedDict, total=False):
    """The caller's own texts, as `kit.context` takes them."""

    prefix: str
    rules: Sequence[str]
    goal: str
    session: Sequence[tuple[str, str]]
    tool_results: Sequence[str]


class ContextView(Panel):
    """A view of what a model is given. `given` are the caller's own texts, `context` is the newest, `stable` how it differs."""

    def __init__(
        self,
        kit: memkit.Kit,
        *,
        scope: memkit.Scope,
        query: str,
        budget: int = 900,
        form: str = "text",
        name: str = "context",
        **given: Unpack[Given],
    ) -> None:
        super().__init__(name)
        self.kit, self.scope, self.given = kit, scope, given
        self.stable: Stable | None = None
        self._make_controls(query, budget, form)
        self.context = self._asked()
        self._connect()
        self._show(self._call())

    # --- what a person does, as calls

    def look(self) -> Context:
        """Assemble the context that the controls ask for, and compare it with the one before."""
        before, self.context = self.context, self._asked()
        self.stable = prefix_stable(before, self.context)
        self._show(f"before, after = context, {self._call()}", "prefix_stable(before, after)")
        return self.context

    def correct(self, key: str, content: str) -> Context:
        """State a memory anew, and look again. Raises Refused where it is not in view, or nothing is typed."""
        memory = next((memory for memory in self._memories() if memory.key == key), None)
        if memory is None or not content.strip():
            raise Refused("NOTHING_TO_CORRECT", "choose a memory that stands in the context, and type what it says from now on")
        scope = scope_of(memory.scope)
        self.kit.remember(key, content, scope=scope, expected=memory.revision, kind=memory.kind)
        context = self.look()
        where = f"scope={scope_code(scope, {})}, expected={memory.revision}, kind={memory.kind.value!r}"
        self._show(f"kit.remember({key!r}, {content!r}, {where})", *self.call.splitlines())
        with self.quietly():
            self.content.value = ""
        return context

    # --- showing

    def _asked(self) -> Context:
        query, budget, form = self.query.value, self.budget.value, self.form.value
        return self.kit.context(query, scope=self.scope, budget=budget, form=form, **self.given)

    def _call(self) -> str:
        given = ", **given" if self.given else ""
        form = "" if self.form.value == "text" else f", form={self.form.value!r}"
        return f"kit.context({self.query.value!r}, scope={scope_code(self.scope, {})}, budget={self.budget.value}{form}{given})"

    def _memories(self) -> list[Memory]:
        return [*self.context.profile, *(hit.memory for hit in self.context.hits)]

    def _show(self, *calls: str) -> None:
        self.show_call(*(redact(call).text for call in calls))
        seen = self._state()
        self.summary.value = status(view.summary(seen), LIVE, good=True, live=True)
        self.cached.value = note(view.cache(seen), LIVE)
        self.layers.value, self.left_out.value = view.layers(seen, LIVE), view.left_out(seen, LIVE)
        keys = [memory.key for memory in self._memories()]
        with self.quietly():
            chosen = self.key.value
            self.key.options = keys
            self.key.value = chosen if chosen in keys else next(iter(keys), None)

    def _state(self) -> view.Seen:
        """Return what is shown, secrets masked: what a widget holds may be kept in a file."""
        return view.masked(view.Seen(self.context, self.stable, self.call))

    def snapshot(self) -> str:
        """Return the static HTML view."""
        return view.page(self._state(), STATIC)

    def as_text(self) -> str:
        """Return the plain text view."""
        return view.as_text(self._state())

    # --- making

    def _make_controls(self, query: str, budget: int, form: str) -> None:
        self.summary, self.cached, self.layers, self.left_out = (widgets.HTML() for _ in range(4))
        wide = widgets.Layout(width="98%")
        self.query = widgets.Text(query, description="Query", layout=wide, continuous_update=False)
        self.budget = widgets.BoundedIntText(budget, 0, MOST, description="Budget", layout=widgets.Layout(width="200px"))
        self.form = widgets.Dropdown(options=FORMS, value=form, description="Form", layout=widgets.Layout(width="220px"))
        self.again = button("Assemble", "refresh", "put the context together anew")
        self.key = widgets.Dropdown(description="Correct", layout=widgets.Layout(width="260px"))
        self.content = widgets.Text(description="to", layout=widgets.Layout(width="360px"), placeholder="what it says from now on")
        self.correcting = button("Correct it", "pencil", "state the memory anew")
        self.children = (
            heading("Context view"),
            self.query,
            row(self.budget, self.form, self.again),
            *(self.summary, self.cached, self.layers, self.left_out),
            row(self.key, self.content, self.correcting),
            *(self.error_area, self.call_area),
        )

    def _connect(self) -> None:
        for control in (self.query, self.budget, self.form):
            self.on_value(control, lambda _: self.look())
        self.on_click(self.again, self.look)
        self.on_click(self.correcting, lambda: self.correct(self.key.value or "", self.content.value))
