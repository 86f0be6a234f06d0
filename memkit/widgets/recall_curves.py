"""How much of what was asked for is shown among the first k, or within a budget: memkit beside nothing, everything, and grep.

Drawn as a table with bars, from answers that were kept, so changing the group or the figure asks nobody again. Not here: asking and
counting (`memkit.lab.retrieval`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.errors import NotFound, Refused
from memkit.lab import retrieval
from memkit.widgets.markup import LIVE, STATIC, Paint, box, esc, plain
from memkit.widgets.panel import Panel
from memkit.widgets.tables import Row, note, table, whole

FIGURES = {"recall@k": retrieval.recall_curve, "recall within a budget": retrieval.budget_curve}
CODE = {"recall@k": "recall_curve", "recall within a budget": "budget_curve"}
MEANS = {
    "recall@k": "Of what answers a question, the share among the first k shown.",
    "recall within a budget": "Of what answers a question, the share within so many tokens.",
}
GROUPS = ("all", "en", "zh", "mixed")
WIDEST = 2.2  # em of a bar that stands for 1


class RecallCurves(Panel):
    """Curves over what some rivals told. Raises Refused for none."""

    def __init__(
        self, told: Sequence[retrieval.Told], *, group: str = "all", figure: str = "recall@k", name: str = "recall-curves"
    ) -> None:
        if not told:
            raise Refused("NO_ANSWERS", "there are no answers; pass what lab.retrieval.ask(lab.retrieval.own_set(3)) returns")
        super().__init__(name)
        self.told, self.group, self.figure = tuple(told), group, figure
        self.chosen = widgets.Dropdown(options=list(FIGURES), description="Figure", tooltip="what is drawn")
        self.asked = widgets.Dropdown(options=list(GROUPS), description="Questions", tooltip="in which language")
        self.drawn = widgets.HTML(layout=widgets.Layout(max_width="100%", overflow="auto"))  # a wide table scrolls
        rows = widgets.HBox([self.chosen, self.asked], layout=widgets.Layout(flex_flow="row wrap"))
        self.children = (rows, self.error_area, self.drawn, self.call_area)
        self.on_value(self.chosen, lambda figure: self.show(figure=str(figure)))
        self.on_value(self.asked, lambda group: self.show(group=str(group)))
        self.show(group=group, figure=figure)

    @property
    def curves(self) -> dict[str, dict[int, float]]:
        """Return what is drawn: the share by k or by budget, of each rival."""
        return {one.rival: FIGURES[self.figure](one.of(self.group)) for one in self.told}

    def show(self, *, group: str | None = None, figure: str | None = None) -> dict[str, dict[int, float]]:
        """Draw another group of questions or another figure."""
        group, figure = group or self.group, figure or self.figure
        for name, names in ((group, GROUPS), (figure, tuple(FIGURES))):
            if name not in names:
                raise NotFound(f"{name!r} cannot be drawn; there are: {', '.join(names)}")
        self.group, self.figure = group, figure
        self.show_call(f"{{one.rival: lab.retrieval.{CODE[figure]}(one.of({group!r})) for one in told}}")
        self.drawn.value = self._drawn(LIVE)
        with self.quietly():
            self.chosen.value, self.asked.value = figure, group
        return self.curves

    def _drawn(self, paint: Paint) -> str:
        figures = retrieval.table(self.told, self.group)
        curves = self.curves
        heads = ("", *(_head(at, self.figure) for at in next(iter(curves.values()))), "wrong", "noise")
        rows = [Row([_name(rival), *map(_bar, curve.values()), *_costs(figures[rival])], _mark(rival)) for rival, curve in curves.items()]
        asked = len(self.told[0].of(self.group))
        told = (
            f"{asked} questions ({self.group}). {MEANS[self.figure]} wrong: something old, stale or true elsewhere among the first five. "
            "noise: anything at all for a question of which nothing is known."
        )
        return table(heads, rows, paint) + note(told, paint)

    def snapshot(self) -> str:
        """Return the static HTML view."""
        call = f'<div style="{STATIC.quiet}">The memkit call just made:</div>{box(self.call, STATIC.code)}'
        return f'<div style="{STATIC.text}padding:8px">{note(self.figure, STATIC)}{self._drawn(STATIC)}{call}</div>'

    def as_text(self) -> str:
        """Return the plain text view."""
        figures = retrieval.table(self.told, self.group)
        lines = [f"{self.figure}, {len(self.told[0].of(self.group))} questions ({self.group})"]
        for rival, curve in self.curves.items():
            shares = " ".join(f"{at}: {share:.2f}" for at, share in curve.items())
            lines.append(f"  {plain(rival)}  {shares}  wrong {figures[rival]['wrong']:.2f} noise {figures[rival]['noise']:.2f}")
        return "\n".join(lines)


def _name(rival: str) -> str:
    return f"<b>{whole(rival)}</b>"


def _mark(rival: str) -> str:
    return "new" if rival == "memkit balanced" else ""


def _head(at: int, figure: str) -> str:
    return f"first {at}" if figure == "recall@k" else f"{at:,}"


def _bar(share: float) -> str:
    width = max(share * WIDEST, 0.1)
    drawn = f'<span style="display:inline-block;background:#4a8fd0;color:#4a8fd0;width:{width:.2f}em;height:0.7em">&nbsp;</span>'
    return f'<span style="white-space:nowrap">{share:.2f}</span><br>{drawn}'


def _costs(figures: Mapping[str, float]) -> list[str]:
    return [esc(f"{figures[name]:.2f}") for name in ("wrong", "noise")]
