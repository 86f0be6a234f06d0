"""The history of a key against its current value, the events beside it, and two clocks: what was true when, as known when.

A form corrects the key as a person would, on top of the revision that was seen; a Conflict is shown with both numbers. It looks again after
every cell. Not here: HTML (`ledger_view.py`), or any decision; every answer comes from the package.
"""

from __future__ import annotations

from dataclasses import replace

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.errors import MemkitError, NotFound, Refused
from memkit.kit import Kit
from memkit.lab import day
from memkit.record.model import ANY, Memory, Outcome
from memkit.record.scope import Scope
from memkit.widgets import ledger_view as view
from memkit.widgets.calls import scope_code
from memkit.widgets.controls import column, grow, heading
from memkit.widgets.markup import LIVE, STATIC
from memkit.widgets.panel import Panel
from memkit.widgets.tables import status
from memkit.write.redact import redact


class Ledger(Panel):
    """A ledger over one scope of an open kit.

    `scopes` holds one scope, by the name of the variable it is in. `key` is shown first, by default the first ever written there.
    `true_on` and `known_on` are days as texts (`lab.day`); an empty `known_on` means the same moment as `true_on`.

    Raises Refused for anything but one scope, and NotFound where nothing was ever written in it.
    """

    def __init__(
        self, kit: Kit, scopes: dict[str, Scope], *, key: str = "", true_on: str = "", known_on: str = "", name: str = "ledger"
    ) -> None:
        if len(scopes) != 1:
            raise Refused(
                "ONE_SCOPE", f"scopes has {len(scopes)} entries; pass one, for instance {{'shop': memkit.Scope(workspace='shop')}}"
            )
        (scope,) = scopes.values()
        keys = view.keys(kit.events(scope=scope), scope.stored(kit.principal))
        if not keys:
            raise NotFound("nothing was ever written in this scope; remember something first, then open its ledger")
        super().__init__(name)
        self.kit, self.scope, self.key = kit, scope, key or keys[0]
        self._code = scope_code(scope, scopes)
        self.true_on, self.known_on, self.said, self._good = true_on, known_on, "", True
        self._book: view.Book | None = None
        self._make_controls()
        self._connect()
        self.choose(self.key)
        self.follow(self._look_again)

    # --- what a person does, as calls

    @property
    def answer(self) -> list[Memory] | None:
        """Return what the two clocks answer for this key; None where no day is given."""
        return None if self._book is None or self._book.answer is None else list(self._book.answer)

    def choose(self, key: str) -> None:
        """Show another key; what is expected next is its current revision."""
        if key not in self._keys():
            raise NotFound(f"{key!r} was never written in this scope; these were: {', '.join(self._keys())}")
        self.key, self.said, self._good = key, "", True
        self._update()
        with self.quietly():
            self.expected.value = self._revision()

    def ask(self, true_on: str, known_on: str = "") -> list[Memory] | None:
        """Ask the two clocks; days as texts. Raises Refused for what is no day."""
        for text in filter(None, (true_on, known_on)):
            day(text)
        self.true_on, self.known_on = true_on, known_on
        self._update()
        return self.answer

    def correct(self, content: str, *, expected: int, true_from: str = "") -> Outcome:
        """State a new value on top of the revision that was seen. Raises Conflict where it is not the current one, and shows both."""
        self._good, self.said = False, f"You saw revision {expected}. Nothing was written."
        since = day(true_from) if true_from else None
        try:
            outcome = self.kit.remember(self.key, content, scope=self.scope, expected=expected, valid_from=since)
        except MemkitError:
            self._update(self._remember_code(content, expected, true_from))
            raise
        self._good, self.said = True, view.outcome(outcome)
        self._update(self._remember_code(content, expected, true_from))
        with self.quietly():
            self.expected.value, self.content.value = self._revision(), ""
        return outcome

    def refresh(self) -> None:
        """Read the record again."""
        self._update()

    # --- showing

    def _update(self, call: str = "") -> None:
        """Read the record and show it. Subtle: `expected` stays what the person saw, so a write made elsewhere becomes a Conflict here."""
        history = tuple(self.kit.history(self.key, scope=self.scope))
        stored = self.scope.stored(self.kit.principal)
        log = tuple(event for event in self.kit.events(scope=self.scope, key=self.key) if event.scope == stored)
        calls = "\n".join(filter(None, [call, *self._calls()]))
        current = self.kit.current(self.key, scope=self.scope)
        self._book = view.Book(self.key, history, current, log, self.true_on, self.known_on, self._ask(), self.said, calls)
        self.show_call(*redact(calls).text.splitlines())
        self.status.value = status(self.said or _invitation(self.key), LIVE, good=self._good, live=True)
        with self.quietly():
            self.chooser.options, self.chooser.value = self._keys(), self.key
            self.when.value, self.known.value = self.true_on, self.known_on
        for area, draw in ((self.now, view.now), (self.told, view.answer), (self.past, view.history), (self.events, view.events)):
            area.value = draw(self._book, LIVE)

    def _ask(self) -> tuple[Memory, ...] | None:
        if not self.true_on:
            return None
        known = day(self.known_on) if self.known_on else None
        return tuple(memory for memory in self.kit.as_of(day(self.true_on), scope=self.scope, known_at=known) if memory.key == self.key)

    def _calls(self) -> list[str]:
        calls = [f"kit.current({self.key!r}, scope={self._code})", f"kit.history({self.key!r}, scope={self._code})"]
        if self.true_on:
            known = f", known_at=lab.day({self.known_on!r})" if self.known_on else ""
            calls.append(f"kit.as_of(lab.day({self.true_on!r}), scope={self._code}{known})")
        return [*calls, f"kit.events(scope={self._code}, key={self.key!r})"]

    def _remember_code(self, content: str, expected: int, true_from: str) -> str:
        shown = "memkit.ANY" if expected == ANY else str(expected)
        since = f", valid_from=lab.day({true_from!r})" if true_from else ""
        return f"kit.remember({self.key!r}, {content!r}, scope={self._code}, expected={shown}{since})"

    def snapshot(self) -> str:
        """Return the static HTML view, secrets masked."""
        return view.page(self._masked(), STATIC)

    def as_text(self) -> str:
        """Return the plain text view, secrets masked."""
        return view.as_text(self._masked())

    def _masked(self) -> view.Book:
        if self._book is None:
            raise NotFound("this ledger shows nothing yet")
        return replace(self._book, call=redact(self._book.call).text)

    # --- finding

    def _keys(self) -> list[str]:
        return view.keys(self.kit.events(scope=self.scope), self.scope.stored(self.kit.principal))

    def _revision(self) -> int:
        return self._book.current.revision if self._book and self._book.current else 0

    # --- living

    def _look_again(self) -> None:
        """Show what was written by other cells, if anything was; a store that was closed ends the following."""
        try:
            log = self.kit.events(scope=self.scope, key=self.key)
        except MemkitError:
            self.stop_following()
            return
        if self._book is None or (log and log[-1].seq > max((event.seq for event in self._book.events), default=0)):
            self.said, self._good = "The record was changed outside this widget.", True
            self._update()

    def _make_controls(self) -> None:
        self.status, self.now, self.told, self.past, self.events = (widgets.HTML() for _ in range(5))
        self.chooser = widgets.Dropdown(
            description="Key", tooltip="the key to look at", layout=widgets.Layout(width="22em", max_width="100%")
        )
        day_hint = "a day, for instance 2026-03-05; then press Enter"
        self.when = _field("True on", "2026-03-05", f"valid time: what was true then? {day_hint}")
        self.known = _field("Known on", "that same day", f"recorded time: as it was known then; {day_hint}")
        self.content = _field("Says now", "the corrected value", "what the key should say from now on")
        self.since = _field("True from", "always", f"since when it is true in the world; {day_hint}")
        self.expected = widgets.BoundedIntText(
            description="Expected",
            min=ANY,
            max=1_000_000,
            tooltip="the revision you saw: 0 for none, -1 for memkit.ANY",
            layout=grow("11em", "30em"),
        )
        self.write = widgets.Button(description="Remember", icon="check", tooltip="write on top of the expected revision")
        wrap = widgets.Layout(flex_flow="row wrap")
        form = widgets.HBox([self.content, self.expected, self.since, self.write], layout=wrap)
        clocks = widgets.HBox([self.when, self.known], layout=wrap)
        left = widgets.VBox([heading("History, and two clocks"), clocks, self.told, self.past], layout=column("3 1 460px"))
        right = widgets.VBox([heading("Events: what happened, never what was said"), self.events], layout=column("2 1 320px"))
        both = widgets.HBox([left, right], layout=widgets.Layout(flex_flow="row wrap", align_items="flex-start"))
        heads = (heading("Current value"), self.now, heading("Correct it"), form)
        self.children = (self.chooser, self.status, self.error_area, *heads, both, self.call_area)

    def _connect(self) -> None:
        self.on_value(self.chooser, lambda key: self.choose(str(key)))
        self.on_value(self.when, lambda text: self.ask(str(text).strip(), self.known_on))
        self.on_value(self.known, lambda text: self.ask(self.true_on, str(text).strip()))
        self.on_click(
            self.write,
            lambda: self.correct(self.content.value, expected=self.expected.value, true_from=self.since.value.strip()),
        )


def _invitation(key: str) -> str:
    return f"This is {key}: correct it, or ask what was true on a day."


def _field(name: str, placeholder: str, tooltip: str) -> widgets.Text:
    layout = grow("14em", "30em")
    return widgets.Text(description=name, placeholder=placeholder, tooltip=tooltip, continuous_update=False, layout=layout)
