"""The controls of a source desk and where they stand: two columns where there is room, one where there is not.

Stock ipywidgets only. Every control has a description or a tooltip, and can be reached by keyboard. Not here: what a control does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.record.model import Check
from memkit.widgets import desk_view as view
from memkit.widgets.controls import button, column, grow, heading, row
from memkit.widgets.desk_files import Shown
from memkit.widgets.markup import LIVE, box, esc


class Controls:
    """All controls of one desk. `fill` shows a state; nothing here reacts to a person."""

    def __init__(self, labels: Iterable[str], *, editable: bool) -> None:
        self.editable = editable
        self.environment = widgets.ToggleButtons(
            options=list(labels), description="Environment", tooltips=[f"look from {x}" for x in labels]
        )
        self.status, self.note, self.recalled, self.problem = widgets.HTML(), widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.chooser = widgets.Dropdown(description="Source", tooltip="the source to look at", layout=_full())
        self.text = widgets.Textarea(
            rows=16, continuous_update=True, disabled=not editable, tooltip="the source's text", layout=_full(), placeholder="(empty)"
        )
        self.reading = widgets.HTML()  # instead of the text area where nothing may be edited
        self.restore_one = button("Restore this", "undo", "bring this source back to what it was at first")
        self.restore_all = button("Restore all", "refresh", "bring every source back")
        self.delete = button("Delete", "trash", "remove this source")
        self.new_name = widgets.Text(placeholder="new name", tooltip="the new name of this source", layout=grow("8em"))
        self.rename = button("Rename", "i-cursor", "give this source the name typed beside")
        self.cards = widgets.VBox()
        self._cards: dict[str, widgets.HTML] = {}
        self.query = widgets.Text(description="Ask", placeholder="what would an agent ask?", tooltip="the query", layout=grow("14em"))
        self.budget = widgets.BoundedIntText(
            description="Budget", min=0, max=1_000_000, tooltip="tokens at most", layout=widgets.Layout(width="12em")
        )
        self.fallen = widgets.Dropdown(description="Fallen", tooltip="the fallen memory to learn anew", layout=_full())
        self.content = widgets.Textarea(description="Says now", rows=2, tooltip="the new content; correct the draft", layout=_full())
        self.cite = widgets.Textarea(description="Rests on", rows=1, tooltip="one citation a line", layout=_full())
        self._drafted = ("", "", "")
        self._held = ("", "")
        self.relearn = button("Re-learn from the source as it is now", "check", "a new revision; the old one is superseded")
        self.repair = widgets.VBox([heading("Learn anew what fell"), self.fallen, self.content, self.cite, self.relearn], layout=column())

    def children(self, error: widgets.HTML, call: widgets.HTML) -> tuple[widgets.Widget, ...]:
        """Return the rows of the desk, top to bottom."""
        edit = [
            row(self.restore_one, self.restore_all, self.delete),
            row(self.new_name, self.rename),
        ]
        shown = [self.text, *edit] if self.editable else [self.reading]
        left = widgets.VBox([heading("Sources"), self.chooser, self.problem, *shown, self.note, self._help()], layout=column())
        right = widgets.VBox([heading("Memories"), self.cards], layout=column())
        asked = row(self.query, self.budget)
        recall = widgets.VBox([heading("What an agent would get now"), asked, self.recalled], layout=column())
        top = [self.environment] if len(self.environment.options) > 1 else []
        return (*top, self.status, error, _both(left, right), _both(recall, self.repair), call)

    def _help(self) -> widgets.HTML:
        if not self.editable:
            return widgets.HTML(f'<div style="{LIVE.quiet}line-height:1.5">{esc(view.READ_ONLY)}</div>')
        asks = f'<summary style="{LIVE.quiet}">Why does JupyterLab\'s editor ask “Revert or Overwrite”?</summary>'
        return widgets.HTML(f'<details>{asks}<div style="{LIVE.quiet}line-height:1.5">{esc(view.EDITOR_HELP)}</div></details>')

    def fill(self, state: view.Desk, sources: Mapping[str, Shown]) -> None:
        """Show a state. A control whose value is right already is not touched, so that a cursor stays where it is."""
        self.environment.value = state.label
        self.chooser.options = [(f"{name} (gone)" if shown.gone else name, name) for name, shown in sources.items()]
        self.chooser.value = state.file if state.file in sources else None
        problem = state.source.problem
        if self._held != (state.file, state.source.text):
            self.holds(state.file, state.source.text)
            self.text.value = state.source.text
        self.text.disabled = not self.editable or bool(problem)
        self.reading.value = "" if problem or self.editable else box(state.source.text, LIVE.code)
        self.problem.value = f'<div style="{LIVE.quiet}">{esc(problem)}</div>' if problem else ""
        self.status.value = view.status_line(state.status, state.checks, live=True)
        self.query.value, self.budget.value = state.query, state.budget
        self.recalled.value = view.recalled(state.recall, LIVE)
        self._show_cards(state)
        self._show_fallen([check for check in state.checks if not check.verdict.holds])

    def holds(self, name: str, text: str) -> None:
        """Note what the text area shows, or will once the person's own typing has come through."""
        self._held = (name, text)

    def say(self, text: str) -> None:
        """Show a line under the source."""
        self.note.value = f'<div style="{LIVE.quiet}">{esc(text)}</div>'

    def draft(self, checks: Sequence[Check]) -> None:
        """Propose what the chosen fallen memory could say now; a draft that a person has corrected stays while the proposal does."""
        for check in checks:
            proposal = (check.memory.id, view.suggest(check), "\n".join(piece.cite for piece in check.memory.evidence))
            if check.memory.id == self.fallen.value and proposal != self._drafted:
                self._drafted = proposal
                _, self.content.value, self.cite.value = proposal

    def cites(self) -> list[str]:
        """Return the citations as typed, one a line."""
        return [line.strip() for line in self.cite.value.splitlines() if line.strip()]

    def _show_cards(self, state: view.Desk) -> None:
        """Redraw the cards that differ: the others keep their place, and a history that is open stays open."""
        shown = {check.memory.id: view.card(check, state.histories.get(check.memory.id, ()), LIVE) for check in state.checks}
        for memory_id in shown.keys() - self._cards.keys():
            self._cards[memory_id] = widgets.HTML()
        for memory_id, drawn in shown.items():
            self._cards[memory_id].value = drawn
        self.cards.children = tuple(self._cards[memory_id] for memory_id in shown)
        for gone in self._cards.keys() - shown.keys():
            self._cards.pop(gone).close()

    def _show_fallen(self, fallen: Sequence[Check]) -> None:
        options = [(f"{check.memory.key} ({', '.join(check.memory.dimensions.values())})", check.memory.id) for check in fallen]
        ids = [memory_id for _, memory_id in options]
        chosen = self.fallen.value if self.fallen.value in ids else None
        self.fallen.options = options
        self.fallen.value = chosen or (ids[0] if ids else None)
        self.repair.layout.display = None if ids else "none"
        self.draft(fallen)


def _full() -> widgets.Layout:
    return widgets.Layout(width="auto")


def _both(left: widgets.Widget, right: widgets.Widget) -> widgets.HBox:
    """Return two columns, one under the other where there is no room."""
    return widgets.HBox([left, right], layout=widgets.Layout(flex_flow="row wrap", align_items="flex-start"))
