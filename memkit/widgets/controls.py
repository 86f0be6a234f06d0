"""Controls and layouts that several panels use: buttons, headings, rows and columns that wrap where there is no room.

Stock ipywidgets only. Not here: what a control does, and the base of all panels (`panel.py`).
"""

from __future__ import annotations

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.widgets.markup import LIVE
from memkit.widgets.tables import title


def button(text: str, icon: str, tooltip: str, *, align: str | None = None) -> widgets.Button:
    """Return a button as wide as its text; `align` is its place across a column, for instance "flex-start"."""
    return widgets.Button(description=text, icon=icon, tooltip=tooltip, layout=widgets.Layout(width="auto", align_self=align))


def heading(text: str) -> widgets.HTML:
    """Return the name of a part of a panel."""
    return widgets.HTML(title(text, LIVE))


def grow(least: str, most: str | None = None) -> widgets.Layout:
    """Return the layout of a control that takes what room there is, within CSS widths such as "14em"."""
    return widgets.Layout(flex=f"1 1 {least}", width="auto", min_width=least, max_width=most)


def column(flex: str = "1 1 380px") -> widgets.Layout:
    """Return the layout of one of several columns."""
    return widgets.Layout(flex=flex, min_width="0", margin="0 12px 0 0")


def row(*controls: widgets.Widget) -> widgets.HBox:
    """Return controls beside each other, and below each other where there is no room."""
    return widgets.HBox(list(controls), layout=widgets.Layout(flex_flow="row wrap"))
