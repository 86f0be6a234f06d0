"""A map of which memories are visible from where: choose who asks and from which place, and see every memory as it stands there.

Above who asks and from where, below every known memory (visible, hidden by a narrower one, not applicable), the exact scope strings that
are looked up, and what recall returns there. Not here: HTML (`scope_view.py`), and how a memory stands (`memkit.lab.standings`).
"""

from __future__ import annotations

from collections.abc import Mapping

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.errors import MemkitError, NotFound, Refused
from memkit.kit import Kit
from memkit.lab import known_memories, looked_up, standings
from memkit.read.recall import Recall
from memkit.record.model import Memory
from memkit.record.scope import Principal, Scope
from memkit.widgets import scope_view as view
from memkit.widgets.calls import recall_code, scope_code
from memkit.widgets.controls import button, grow, heading, row
from memkit.widgets.markup import LIVE, STATIC
from memkit.widgets.panel import Panel

DIMENSIONS = ("workspace", "branch", "env", "session")
NOT_NAMED = "(not named)"


class ScopeMap(Panel):
    """A map over an open kit.

    `scopes` are the places that are known, by the name of the variable that holds each: a whole store cannot be listed, so the map shows
    what is visible from these. It starts in the first. `people` are those who may be chosen to ask, by the name of their variable, all
    given by the code and none by the page; by default the kit's own principal. Raises Refused for no scope.
    """

    def __init__(
        self,
        kit: Kit,
        scopes: Mapping[str, Scope],
        *,
        people: Mapping[str, Principal] | None = None,
        query: str = "",
        budget: int = 200,
        name: str = "scope-map",
        watch: bool = True,
    ) -> None:
        if not scopes:
            raise Refused("NO_SCOPE", "scopes is empty; pass at least one, for instance {'shop': memkit.Scope(workspace='shop')}")
        super().__init__(name)
        self.kit, self.scopes = kit, dict(scopes)
        self.people = dict(people or {kit.principal.user: kit.principal})
        self.who = next(iter(self.people))
        self.query, self.budget = query, budget
        self._shown: view.Map | None = None
        self._make_controls()
        for scope in self.scopes.values():
            for dimension in DIMENSIONS:
                self._offer(dimension, getattr(scope, dimension))
        self._connect()
        self.look_from(next(iter(self.scopes.values())))
        if watch:
            self.follow(self._look_again)

    # --- what a person does, as calls

    @property
    def principal(self) -> Principal:
        """Return who is asking."""
        return self.people[self.who]

    @property
    def stands(self) -> dict[tuple[str, str], str]:
        """Return how each known memory stands, by its key and the stored form of its scope; empty without a scope."""
        return {(s.memory.key, s.memory.scope): s.stand.value for s in self._map().standings}

    @property
    def strings(self) -> list[str]:
        """Return the exact strings that are looked up."""
        return [name for name, _ in self._map().lookups]

    @property
    def recall(self) -> Recall | None:
        """Return what recall gave, or None where nothing was asked."""
        return self._map().recall

    def look_from(self, scope: Scope) -> None:
        """Stand in a scope."""
        with self.quietly():
            for dimension, control in self.named.items():
                self._offer(dimension, getattr(scope, dimension))
                control.value = getattr(scope, dimension) or ""
            self.mine.value = scope.user
        self._update()

    def become(self, who: str) -> None:
        """Let somebody else ask: one of `people`."""
        if who not in self.people:
            raise NotFound(f"there is nobody {who!r} on this map; there are: {', '.join(self.people)}")
        self.who = who
        self._update()

    def ask(self, query: str, budget: int | None = None) -> Recall | None:
        """Recall from here within a budget of tokens; an empty query asks nothing."""
        self.query, self.budget = query, self.budget if budget is None else budget
        self._update()
        return self.recall

    def use_name(self, dimension: str, name: str) -> None:
        """Stand where a dimension has this exact name, known or not. Raises BadScope for what cannot be a name."""
        Scope(user=False, **{dimension: name})
        with self.quietly():
            self._offer(dimension, name)
            self.named[dimension].value = name
        self._update()

    def refresh(self) -> None:
        """Ask the package again; the map does so by itself after each cell."""
        self._update()

    # --- showing

    def _scope(self) -> Scope:
        return Scope(user=self.mine.value, **{dimension: control.value or None for dimension, control in self.named.items()})

    def _map(self) -> view.Map:
        if self._shown is None:
            raise Refused("NOT_SHOWN", "the map shows nothing yet; call refresh()")
        return self._shown

    def _memories(self) -> list[Memory]:
        return known_memories(self.kit, self.scopes.values(), self.people.values())

    def _update(self) -> None:
        """Ask the package and show what it answers; without a scope show that, and raise what memkit says."""
        known = self._memories()
        with self.quietly():
            for named in [memory.dimensions for memory in known]:
                for dimension in self.named.keys() & named.keys():
                    self._offer(dimension, named[dimension])
        try:
            scope = self._scope()
        except MemkitError:
            self._show(view.Map(self.principal.user, None, (), (), self.query, self.budget, None, ""))
            raise
        self.show_call(*self._calls(scope))
        who, asked = self.principal, self.query.strip()
        kit = self.kit.acting_as(who)
        self._show(
            view.Map(
                user=who.user,
                here=scope.stored(who),
                standings=tuple(standings(known, scope=scope, principal=who)),
                lookups=tuple(looked_up(known, scope=scope, principal=who)),
                query=self.query,
                budget=self.budget,
                recall=kit.recall(self.query, scope=scope, budget=self.budget) if asked else None,
                call=self.call,
            )
        )

    def _show(self, shown: view.Map) -> None:
        self._shown = shown
        self.status.value = view.status(shown, live=True)
        self.table.value = view.memories(shown, LIVE)
        self.lookups.value = view.lookups(shown, LIVE)
        self.recalled.value = view.recalled(shown, LIVE)
        if shown.here is None:
            self.show_call("memkit.Scope()")
        with self.quietly():
            self.person.value = self.who
            self.question.value, self.tokens.value = self.query, self.budget

    def _calls(self, scope: Scope) -> list[str]:
        here = scope_code(scope, self.scopes)
        if self.principal == self.kit.principal:
            kit, who = "kit", "kit.principal"
        else:
            who = self.who if self.who.isidentifier() else f"memkit.Principal(user={self.principal.user!r})"
            kit = f"kit.acting_as({who})"
        asked = [recall_code(self.query, here, self.budget).replace("kit", kit, 1)] if self.query.strip() else []
        return [f"{here}.visible({who})", *asked]

    def _look_again(self) -> None:
        """See whether a cell has changed the memories."""
        try:
            before = [standing.memory for standing in self._map().standings]
            if self._map().here is not None and before != self._memories():
                self._update()
        except MemkitError as error:
            if type(error) is not MemkitError:  # subtle: the plain error says that the store is closed, which is no fault of the map's
                raise
            self.stop_following()

    def snapshot(self) -> str:
        """Return the static HTML view, secrets masked: a snapshot is kept in a file."""
        return view.page(view.masked(self._map()), STATIC)

    def as_text(self) -> str:
        """Return the plain text view, secrets masked."""
        return view.as_text(view.masked(self._map()))

    # --- controls

    def _make_controls(self) -> None:
        self.person = widgets.Dropdown(
            options=[(f"{label}: {who.user} ({who.actor})", label) for label, who in self.people.items()],
            description="Who asks",
            tooltip="comes from the login, never from the request",
            layout=grow("15em", "26em"),
        )
        self.mine = widgets.Checkbox(description="user=True: also what is mine alone", indent=False, layout=grow("15em", "26em"))
        self.named = {
            dimension: widgets.Dropdown(
                options=[(NOT_NAMED, "")], description=dimension, tooltip=f"the {dimension} you stand in", layout=grow("15em", "26em")
            )
            for dimension in DIMENSIONS
        }
        self.which = widgets.Dropdown(
            options=DIMENSIONS, description="Another", tooltip="the dimension to name", layout=grow("13em", "26em")
        )
        self.typed = widgets.Text(placeholder="any exact name", tooltip="an exact name", layout=grow("9em", "26em"))
        self.use = button("Use this name", "check", "stand where it has this name")
        self.question = widgets.Text(
            description="Ask", placeholder="what would an agent ask?", tooltip="the query", layout=grow("14em", "26em")
        )
        self.tokens = widgets.BoundedIntText(
            description="Budget", min=0, max=1_000_000, tooltip="tokens at most", layout=widgets.Layout(width="12em")
        )
        self.status, self.table, self.lookups, self.recalled = (widgets.HTML() for _ in range(4))
        stand = [row(self.person, self.mine), row(*self.named.values()), row(self.which, self.typed, self.use)]
        told = [heading("Every memory this map knows"), self.table, heading("What is looked up"), self.lookups]
        asked = [heading("What an agent would get here"), row(self.question, self.tokens), self.recalled]
        self.children = (*stand, self.status, self.error_area, *told, *asked, self.call_area)

    def _connect(self) -> None:
        self.on_value(self.person, lambda who: self.become(str(who)))
        for control in (self.mine, *self.named.values()):
            self.on_value(control, lambda _: self._update())
        self.on_value(self.question, lambda query: self.ask(str(query)))
        self.on_value(self.tokens, lambda budget: self.ask(self.query, budget if isinstance(budget, int) else 0))
        self.on_click(self.use, lambda: self.use_name(self.which.value, self.typed.value))

    def _offer(self, dimension: str, name: str | None) -> None:
        """Add a name to the choices of a dimension; what is chosen stays chosen."""
        control = self.named[dimension]
        if name and name not in [value for _, value in control.options]:
            chosen = control.value
            control.options = [*control.options, (name, name)]
            control.value = chosen
