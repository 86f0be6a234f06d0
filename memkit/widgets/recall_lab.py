"""A lab for one question: ask it with a budget and a recipe, see every part of every score, and flip one switch to see what changes.

Above the question, the place, the budget, the recipe and the switch; below what is looked for, the hits with their parts, what was
skipped with its reason, and the list before and after the switch. Not here: HTML (`recall_view.py`), and comparing (`memkit.lab`).
"""

from __future__ import annotations

from collections.abc import Mapping

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.errors import MemkitError, NotFound, Refused
from memkit.kit import Kit
from memkit.lab import RECIPES, SWITCHES, Ask, Move, flipped, is_installed, looked_for, moves, recipe_code
from memkit.read.recall import Recall
from memkit.read.recipes import Recipe
from memkit.record.scope import Scope
from memkit.widgets import recall_view as view
from memkit.widgets.calls import recall_code, scope_code
from memkit.widgets.controls import grow, heading, row
from memkit.widgets.markup import LIVE, STATIC
from memkit.widgets.panel import Panel

NO_SWITCH = "(none)"


class RecallLab(Panel):
    """A lab over an open kit.

    `scopes` are the places one may ask from, by the name of the variable that holds each; it starts in the first. `recipes` may be chosen
    by name, by default those of memkit; it starts with `recipe`. Raises Refused for no scope, NotFound for a name that is not there.
    """

    def __init__(
        self,
        kit: Kit,
        scopes: Mapping[str, Scope],
        *,
        query: str = "",
        budget: int = 200,
        recipe: str = "BALANCED",
        recipes: Mapping[str, Recipe] | None = None,
        name: str = "recall-lab",
        watch: bool = True,
    ) -> None:
        if not scopes:
            raise Refused("NO_SCOPE", "scopes is empty; pass at least one, for instance {'shop': memkit.Scope(workspace='shop')}")
        super().__init__(name)
        self.kit, self.scopes, self.recipes = kit, dict(scopes), dict(recipes or RECIPES)
        self.where, self.query, self.budget = next(iter(self.scopes)), query, budget
        self.recipe, self.switch = self._known(recipe, self.recipes, "recipe"), ""
        self._shown: view.Shown | None = None
        self._make_controls()
        self._connect()
        self._update()
        if watch:
            self.follow(self._look_again)

    # --- what a person does, as calls

    @property
    def asked(self) -> Ask:
        """Return the question as it stands, the switch not flipped."""
        return Ask(self.query, self.scopes[self.where], self.budget, self.recipes[self.recipe])

    @property
    def recall(self) -> Recall:
        """Return what is shown: with the switch flipped, if one is."""
        return self._view().recall

    @property
    def moves(self) -> tuple[Move, ...]:
        """Return what the switch changed; empty where none is flipped."""
        return self._view().moves

    def ask(self, query: str, budget: int | None = None) -> Recall:
        """Ask something else, or within another budget."""
        return self._change(query=query, budget=self.budget if budget is None else budget)

    def look_from(self, where: str) -> Recall:
        """Ask from another place: a name of `scopes`."""
        return self._change(where=self._known(where, self.scopes, "place"))

    def use(self, recipe: str) -> Recall:
        """Rank by another recipe: a name of `recipes`. Raises Refused where what it needs is not installed; the former one stays."""
        return self._change(recipe=self._known(recipe, self.recipes, "recipe"))

    def flip(self, switch: str) -> Recall:
        """Change one thing and compare; an empty name flips it back."""
        return self._change(switch=self._known(switch, SWITCHES, "switch") if switch else "")

    def refresh(self) -> None:
        """Ask the package again; the lab does so by itself after each cell."""
        self._update()

    # --- showing

    def _known(self, name: str, names: Mapping[str, object], what: str) -> str:
        if name not in names:
            raise NotFound(f"there is no {what} {name!r} here; there are: {', '.join(names)}")
        return name

    def _change(self, **changed: object) -> Recall:
        """Set what was asked for and show the answer; where it cannot be answered, all stays as it was."""
        before = {name: getattr(self, name) for name in changed}
        self._set(changed)
        try:
            self._update()
        except MemkitError:
            self._set(before)
            self._set_controls()
            raise
        return self.recall

    def _set(self, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            setattr(self, name, value)

    def _view(self) -> view.Shown:
        if self._shown is None:
            raise Refused("NOT_SHOWN", "the lab shows nothing yet; call refresh()")
        return self._shown

    def _answer(self) -> view.Shown:
        first = self.asked
        then = flipped(first, self.switch) if self.switch else first
        before = first.of(self.kit)
        after = then.of(self.kit) if self.switch else before
        calls = [self._code(first), *([self._code(then)] if self.switch else [])]
        changed = moves(before, after) if self.switch else ()
        needs = looked_for(after.query, then.recipe)
        return view.Shown(self.where, recipe_code(then.recipe), needs, after, self.switch, changed, "\n".join(calls))

    def _code(self, ask: Ask) -> str:
        call = recall_code(ask.query, scope_code(ask.scope, self.scopes), ask.budget)
        return f"{call[:-1]}, recipe={recipe_code(ask.recipe)})"

    def _update(self) -> None:
        shown = self._answer()
        self.show_call(shown.call)
        self._show(shown)

    def _show(self, shown: view.Shown) -> None:
        self._shown = shown
        self.status.value = view.status(shown, LIVE, live=True)
        self.needs.value = view.looked_for(shown, LIVE)
        self.returned.value = view.filled(shown, LIVE) + view.hits(shown, LIVE)
        self.left_out.value = view.skipped(shown, LIVE)
        self.changed.value = view.changed(shown, LIVE)
        self._set_controls()

    def _set_controls(self) -> None:
        with self.quietly():
            self.question.value, self.tokens.value = self.query, self.budget
            self.place.value, self.how.value, self.switched.value = self.where, self.recipe, self.switch

    def _look_again(self) -> None:
        """See whether a cell has changed what is recalled."""
        try:
            if self._answer() != self._view():
                self._update()
        except MemkitError as error:
            if type(error) is not MemkitError:  # subtle: the plain error says that the store is closed, which is no fault of the lab's
                raise
            self.stop_following()

    def snapshot(self) -> str:
        """Return the static HTML view, secrets masked: a snapshot is kept in a file."""
        return view.page(view.masked(self._view()), STATIC)

    def as_text(self) -> str:
        """Return the plain text view, secrets masked."""
        return view.as_text(view.masked(self._view()))

    # --- controls

    def _make_controls(self) -> None:
        self.question = widgets.Text(
            description="Ask", placeholder="what would an agent ask?", tooltip="the query", layout=grow("28em", "40em")
        )
        self.place = widgets.Dropdown(options=list(self.scopes), description="From", tooltip="the scope", layout=grow("12em", "40em"))
        self.tokens = widgets.BoundedIntText(
            description="Budget", min=0, max=2**53 - 1, tooltip="tokens at most", layout=widgets.Layout(width="12em")
        )
        options = [(f"{label}{'' if is_installed(one) else ' (not installed)'}", label) for label, one in self.recipes.items()]
        self.how = widgets.Dropdown(options=options, description="Recipe", tooltip="how it is ranked", layout=grow("14em", "40em"))
        switches = [(NO_SWITCH, ""), *((name, name) for name in SWITCHES)]
        self.switched = widgets.Dropdown(
            options=switches, description="Switch", tooltip="what is changed alone", layout=grow("16em", "40em")
        )
        fits = widgets.Layout(max_width="100%", overflow="auto")  # a wide table scrolls, and nothing sticks out
        self.status, self.needs, self.returned, self.left_out, self.changed = (widgets.HTML(layout=fits) for _ in range(5))
        self.children = (
            row(self.question, self.place, self.tokens),
            row(self.how, self.switched),
            self.status,
            self.error_area,
            heading("What is looked for"),
            self.needs,
            heading("What is returned"),
            self.returned,
            heading("What is skipped, and why"),
            self.left_out,
            heading("What one switch changes"),
            self.changed,
            self.call_area,
        )

    def _connect(self) -> None:
        self.on_value(self.question, lambda query: self.ask(str(query)))
        self.on_value(self.tokens, lambda budget: self.ask(self.query, budget if isinstance(budget, int) else 0))
        self.on_value(self.place, lambda where: self.look_from(str(where)))
        self.on_value(self.how, lambda recipe: self.use(str(recipe)))
        self.on_value(self.switched, lambda switch: self.flip(str(switch)))
