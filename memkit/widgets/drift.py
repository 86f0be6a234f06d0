"""A lab for locators: choose a piece of a file, see every way to cite it, edit the file, and count which citations err.

Left the file, which may be edited by hand; right the piece, the edits, and a row for each citation with its verdict and both error rates.
Every proposal and verdict comes from the package, and what really changed from `memkit.lab`. Not here: HTML (`drift_view.py`), or how
edits are judged (`lab/trial.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.errors import NotFound
from memkit.lab import Edit, Trial, Tried, Versions, place, versions
from memkit.record.sources import decode
from memkit.widgets import drift_view as view
from memkit.widgets.controls import button, column, grow, heading, row
from memkit.widgets.markup import LIVE, STATIC
from memkit.widgets.panel import Panel
from memkit.write.redact import redact

GONE = "(the file is gone)"


class DriftLab(Panel):
    """A lab over the files of `memkit.lab.versions()`, or others of that form; it begins with `piece` of `file`.

    `trial` is the `memkit.lab.Trial` on view, `tried` what was tried last. Raises NotFound for a file that is not there, and BadLocator
    where the piece does not stand in it.
    """

    def __init__(self, files: Mapping[str, Versions] | None = None, *, file: str = "", piece: str = "", name: str = "drift") -> None:
        super().__init__(name)
        self.files = dict(versions() if files is None else files)
        self.tried: Tried | None = None
        self.trial: Trial
        self.text = ""
        self._also: list[str] = []
        self._make_controls()
        file = file or next(iter(self.files))
        self.choose(file, piece or self._file(file).piece)
        self._connect()
        self.children = self._rows()

    # --- what a person does, as calls

    def choose(self, file: str, piece: str, number: int = 1) -> None:
        """Choose a piece of a file, the `number`-th of several; what was counted before is dropped."""
        found = self._file(file)
        trial = Trial(found, piece, place(found.first, piece.strip(), number))
        former, self.trial = getattr(self, "trial", None), trial
        if former is not None:
            former.kit.close()
        self._also, self.tried = [], None
        self._show(None)

    def cite_also(self, locator: str) -> None:
        """Cite the piece in one more way (`lines=2-5`, or a whole citation), and try it with every edit made so far."""
        name = self.trial.versions.name
        cite = locator if locator.partition("#")[0] == name else f"{name}#{locator}"
        known = list(self.trial.cites)
        self.trial.add(cite)
        if cite not in known:
            self._also.append(cite)
        self.tried = None
        self.trial.restore()
        self._show(None)

    def apply(self, title: str) -> None:
        """Try one of the proposed edits, by its title."""
        if title not in self.trial.edits:
            raise NotFound(f"there is no edit {title!r}; there are: {', '.join(self.trial.edits)}")
        self._try(self.trial.edits[title])

    def apply_text(self, text: str) -> None:
        """Try an edit that a person typed: the whole text afterwards."""
        self._try(Edit("yours", "what you typed", text))

    def apply_all(self) -> None:
        """Try every proposed edit, each from the first version, and come back to it."""
        for edit in self.trial.edits.values():
            self.trial.apply(edit)
        self.back()

    def back(self) -> None:
        """Show the first version again; what was counted stays."""
        self.trial.restore()
        self.tried = None
        self._show(None)

    def count_anew(self) -> None:
        """Forget what was counted."""
        self.trial.tried.clear()
        self.back()

    @property
    def verdicts(self) -> dict[str, str]:
        """Return the verdict of each citation after the edit tried last, by its locator; empty on the first version."""
        return {view.part_of(check.memory.key): check.verdict.value for check in self.tried.checks} if self.tried else {}

    # --- what is shown where there is no kernel

    def snapshot(self) -> str:
        """Return the static HTML view."""
        return view.page(self.trial, self.tried, self.text, self.call, STATIC)

    def as_text(self) -> str:
        """Return the plain text view."""
        return view.as_text(self.trial, self.tried)

    def close(self) -> None:
        """Close the lab and its store."""
        if (trial := getattr(self, "trial", None)) is not None:
            trial.kit.close()
        super().close()

    # --- inside

    def _file(self, name: str) -> Versions:
        if name not in self.files:
            raise NotFound(f"there is no file {name!r} in this lab; there are: {', '.join(self.files)}")
        return self.files[name]

    def _try(self, edit: Edit) -> None:
        self.tried = self.trial.apply(edit)
        self._show(edit)

    def _show(self, edit: Edit | None) -> None:
        after = self.trial.versions.first if edit is None else edit.after
        self.text = GONE if after is None else (decode(after) if isinstance(after, bytes) else after).replace("\r\n", "\n")
        self.show_call(*(redact(line).text for line in view.calls(self.trial, edit, self._also)))
        with self.quietly():
            self.chooser.value, self.piece.value = self.trial.versions.name, self.trial.piece
            self.area.value = self.text
            titles = [(title, title) for title in self.trial.edits]
            if self.edits.options != tuple(titles):
                self.edits.options = titles
        self.chosen.value = view.chosen(self.trial, LIVE)
        self.status.value = view.status_line(self.trial, self.tried, LIVE, live=True)
        self.results.value = view.table(self.trial, self.tried, LIVE)

    def _make_controls(self) -> None:
        wide = widgets.Layout(width="auto")
        self.chooser = widgets.Dropdown(options=list(self.files), description="File", tooltip="the file to look at", layout=wide)
        self.area = widgets.Textarea(rows=20, tooltip="the file's text", layout=wide, placeholder="(empty)")
        self.try_text = button("Try what I typed", "play", "check the text as it stands above, and count it")
        self.first = button("First version", "undo", "show the file as it was at first")
        self.piece = widgets.Textarea(
            description="Piece", rows=1, continuous_update=False, tooltip="copy a piece of the file here, exactly", layout=wide
        )
        self.number = widgets.BoundedIntText(
            value=1, min=1, max=999, description="Which", tooltip="which of several such pieces", layout=widgets.Layout(width="10em")
        )
        self.also = widgets.Text(placeholder="lines=2-5", tooltip="one more way to cite the piece", layout=grow("8em"))
        self.add = button("Cite so too", "plus", "learn the piece by this citation as well")
        self.edits = widgets.Dropdown(description="Edit", tooltip="what happens to the file", layout=wide)
        self.apply_one = button("Apply", "play", "make this edit in the first version")
        self.apply_each = button("Apply all", "forward", "make each edit in the first version, and count")
        self.anew = button("Count anew", "eraser", "set all counts to zero")
        self.chosen, self.status, self.results = widgets.HTML(), widgets.HTML(), widgets.HTML()

    def _connect(self) -> None:
        self.on_value(self.chooser, lambda name: self._pick_file(str(name)))
        self.on_value(self.piece, lambda piece: self._pick(str(piece), 1))
        self.on_value(self.number, lambda number: self._pick(self.piece.value, int(str(number))))
        self.on_click(self.try_text, lambda: self.apply_text(self.area.value))
        self.on_click(self.first, self.back)
        self.on_click(self.add, lambda: self.cite_also(self.also.value.strip()))
        self.on_click(self.apply_one, lambda: self.apply(self.edits.value))
        self.on_click(self.apply_each, self.apply_all)
        self.on_click(self.anew, self.count_anew)

    def _pick_file(self, name: str) -> None:
        self._pick(self._file(name).piece, 1)

    def _pick(self, piece: str, number: int) -> None:
        self.choose(self.chooser.value, piece, number)
        with self.quietly():
            self.number.value = number

    def _rows(self) -> tuple[widgets.Widget, ...]:
        left = [heading("The file as it is now"), self.chooser, self.area, row(self.try_text, self.first)]
        choose = [heading("What the memory rests on"), self.piece, row(self.number, self.also, self.add), self.chosen]
        edit = [heading("What happens to the file"), self.edits, row(self.apply_one, self.apply_each, self.anew)]
        columns = widgets.HBox(
            [widgets.VBox(left, layout=column()), widgets.VBox([*choose, *edit, self.status, self.error_area], layout=column())],
            layout=_flow(),
        )
        return columns, self.results, self.call_area


def _flow() -> widgets.Layout:
    return widgets.Layout(flex_flow="row wrap", align_items="flex-start")
