"""The signature widget: change a source, and watch exactly the memories that rested on it fall, each with its reason.

Left the sources, right the memories with their verdicts, below what an agent would be given now. It follows the real files, and shows the
memkit call it just made. Every verdict, reason and hit comes from the package. Not here: HTML (`desk_view.py`), the controls and their
layout (`desk_controls.py`), who may edit (`desk_files.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.errors import MemkitError, NotFound, Refused
from memkit.kit import Kit
from memkit.read.recall import Recall
from memkit.record.model import Check, Evidence, Memory, Outcome
from memkit.record.scope import Scope
from memkit.record.sources import Folder
from memkit.widgets import desk_view as view
from memkit.widgets.calls import check_code, learn_code, recall_code, scope_code, scope_of
from memkit.widgets.desk_controls import Controls
from memkit.widgets.desk_files import Editor, Shown, editor_of, show
from memkit.widgets.markup import STATIC
from memkit.widgets.panel import Panel

INVITATION = {
    True: "Change a source, and watch what rests on it.",
    False: "Change one of these files in any editor; the desk follows, and never writes them.",
}


class SourceDesk(Panel):
    """A desk over an open kit.

    `scopes` are the environments to choose from, by the name of the variable that holds each. `workspace` is a lesson's private copy
    (`memkit.lab.Workspace`), to be edited; a kit over a dict of texts is edited in place; any other folder is only read, and
    followed. `files` are the sources to choose from, by default all of them (of a learner's own folder: those that are cited).

    Raises Refused for no scope, or for a workspace that is not the folder the kit reads.
    """

    def __init__(
        self,
        kit: Kit,
        scopes: Mapping[str, Scope],
        *,
        workspace: Editor | None = None,
        files: Sequence[str] | None = None,
        query: str = "",
        budget: int = 200,
        name: str = "desk",
        watch: bool = True,
    ) -> None:
        if not scopes:
            raise Refused("NO_SCOPE", "scopes is empty; pass at least one, for instance {'shop': memkit.Scope(workspace='shop')}")
        editor = editor_of(kit.sources, workspace)
        super().__init__(name)
        self.kit, self.scopes, self.editor = kit, dict(scopes), editor
        self.label, self.query, self.budget = next(iter(self.scopes)), query, budget
        self.status, self._files = INVITATION[editor is not None], files
        self._seen: dict[str, Shown] = {}
        self._checks: tuple[Check, ...] = ()
        self._before: tuple[Check, ...] = ()
        self._cause: str | None = None
        self._recall: Recall | None = None
        self._known = {piece.source for other in self.scopes.values() for piece in self._cited(kit.check(scope=other))}
        self._known.update(self._names())
        self.file = self._first_file()
        self.controls = Controls(self.scopes, editable=editor is not None)
        self._connect()
        self.children = self.controls.children(self.error_area, self.call_area)
        self._update(None)
        if watch:
            self._start_following()

    # --- what a person does, as calls

    @property
    def scope(self) -> Scope:
        """Return the scope of the chosen environment."""
        return self.scopes[self.label]

    @property
    def verdicts(self) -> dict[str, str]:
        """Return the verdict of each memory visible now, by key."""
        return {check.memory.key: check.verdict.value for check in self._checks}  # of one key in two scopes: the narrower, which is later

    def choose(self, name: str) -> None:
        """Show another source."""
        if name not in self._names():
            raise NotFound(f"there is no source {name!r} on this desk; there are: {', '.join(self._names())}")
        self.file = name
        self._update(None)

    def edit(self, name: str, text: str) -> None:
        """Write a source, and check again."""
        self._editor().write(name, text)
        self._update(f"You changed {name}.")

    def delete(self, name: str) -> None:
        """Remove a source, and check again."""
        self._editor().delete(name)
        self._update(f"You deleted {name}.")

    def rename(self, old: str, new: str) -> None:
        """Give a source another name, and check again."""
        self._editor().rename(old, new)
        if self.file == old:
            self.file = new
        self._update(f"You renamed {old} to {new}.")

    def restore(self, name: str | None = None) -> None:
        """Bring one source back, or all of them, and check again."""
        self._editor().restore(name)
        if name is None and self.file not in self._names():
            self.file = self._first_file()
        self._update(f"You restored {name or 'all sources'}.")

    def switch(self, label: str) -> None:
        """Look from another environment."""
        if label not in self.scopes:
            raise NotFound(f"there is no environment {label!r}; there are: {', '.join(self.scopes)}")
        self.label, self._checks, self._before = label, (), ()
        self._update(f"You look from {label}: only what applies there is visible.")

    def ask(self, query: str, budget: int | None = None) -> Recall | None:
        """Recall within a budget of tokens; an empty query asks nothing."""
        self.query, self.budget = query, self.budget if budget is None else budget
        self._update(None)
        return self._recall

    def relearn(self, key: str, content: str, cite: str | Sequence[str] | None = None) -> Outcome:
        """Learn a key anew from its source as it is now, on top of the revision shown; `cite` is where it stands, by default as before."""
        memory = self._memory(key)
        cites = [cite] if isinstance(cite, str) else list(cite or (piece.cite for piece in memory.evidence))
        scope = scope_of(memory.scope)
        call = learn_code(memory, content, scope_code(scope, self.scopes), cites)
        outcome = self.kit.learn(memory.key, content, scope=scope, cite=cites, expected=memory.revision, kind=memory.kind)
        self._update(view.learned(memory, outcome), call)
        return outcome

    def refresh(self) -> None:
        """Read the sources again and check; the desk does so by itself when a file changes and after each cell."""
        self._update(None)

    # --- showing

    def _update(self, cause: str | None, *calls: str) -> None:
        """Ask the package again and show what it answers.

        Without a cause the status stays, unless something fell or holds again. Subtle: key after key typed in one source is one change,
        compared with what held before the first of them.
        """
        if cause is None or cause != self._cause:
            self._before = self._checks
        self._cause, self._checks = cause, self._check()
        self._recall = self.kit.recall(self.query, scope=self.scope, budget=self.budget) if self.query.strip() else None
        self._known.update(piece.source for piece in self._cited(self._checks))
        self._seen = {name: self._show(name) for name in self._names()}
        changed = view.what_changed(self._before, self._checks)
        if cause or changed:
            self.status = f"{cause or ''} {changed}".strip()
        self.show_call(*calls, *self._calls())
        with self.quietly():
            self.controls.fill(self._state(), self._seen)

    def _check(self) -> tuple[Check, ...]:
        return tuple(sorted(self.kit.check(scope=self.scope), key=_place))

    def _state(self) -> view.Desk:
        revised = [check.memory for check in self._checks if check.memory.revision > 1]
        histories = {memory.id: self.kit.history(memory.key, scope=scope_of(memory.scope)) for memory in revised}
        return view.Desk(
            label=self.label,
            file=self.file,
            source=self._seen.get(self.file, Shown("", "There is no source to show.", gone=True)),
            status=self.status,
            checks=self._checks,
            histories=histories,
            query=self.query,
            budget=self.budget,
            recall=self._recall,
            call=self.call,
        )

    def snapshot(self) -> str:
        """Return the static HTML view, secrets masked: a snapshot is kept in a file."""
        return view.page(view.masked(self._state()), STATIC)

    def as_text(self) -> str:
        """Return the plain text view, secrets masked."""
        return view.as_text(view.masked(self._state()))

    def _calls(self) -> list[str]:
        scope = scope_code(self.scope, self.scopes)
        return [check_code(scope), *([recall_code(self.query, scope, self.budget)] if self._recall else [])]

    # --- finding

    def _names(self) -> list[str]:
        """Return the sources to choose from: those given or all, and those that were there at first or that a memory cites."""
        default = self.kit.sources.names() if self.editor is not None else []
        return sorted({*(default if self._files is None else self._files), *self._known})

    def _cited(self, checks: Iterable[Check]) -> list[Evidence]:
        return [piece for check in checks for piece in check.memory.evidence]

    def _first_file(self) -> str:
        """Return the first of the files given, else the source that most memories rest on."""
        cited = Counter(piece.source for piece in self._cited(self._check()))
        return next(iter(self._files or [name for name, _ in cited.most_common(1)] or self._names()), "")

    def _show(self, name: str) -> Shown:
        return show(self.kit.sources, name, mask=self.editor is None)

    def _editor(self) -> Editor:
        if self.editor is None:
            raise Refused("READ_ONLY", "these sources are your own folder, which is never written; edit them elsewhere, the desk follows")
        return self.editor

    def _memory(self, key: str) -> Memory:
        found = [check.memory for check in self._checks if key in (check.memory.key, check.memory.id)]
        if not found:
            raise NotFound(f"there is no memory {key!r} in this environment; there are: {', '.join(self.verdicts)}")
        return found[-1]

    # --- living

    def _look_again(self) -> None:
        """See whether the sources and the memories are still what is shown; after the desk's own writes they are."""
        try:
            changed = [name for name in self._names() if self._show(name) != self._seen.get(name)]
            if changed:
                self._update(f"Changed outside this widget: {', '.join(changed)}. The text shown is the disk's.")
            elif self._check() != self._checks:
                self._update("The memories were changed outside this widget.")
        except MemkitError as error:
            if type(error) is not MemkitError:  # subtle: the plain error says that the store is closed, which is no fault of the desk's
                raise
            self.stop_following()
            self.controls.say(f"The desk follows nothing any more: {error}, then make the desk again.")

    def _start_following(self) -> None:
        folder = self.kit.sources.root if isinstance(self.kit.sources, Folder) else None
        if problem := self.follow(self._look_again, folder):
            self.controls.say(f"The desk does not follow the files by itself: {problem}")

    def _connect(self) -> None:
        c = self.controls
        self.on_value(c.environment, lambda label: self.switch(str(label)))
        self.on_value(c.chooser, lambda name: self.choose(str(name)))
        self.on_value(c.text, lambda text: self._typed(str(text)))
        self.on_value(c.query, lambda query: self.ask(str(query)))
        self.on_value(c.budget, lambda budget: self.ask(self.query, budget if isinstance(budget, int) else 0))
        self.on_value(c.fallen, lambda _: self._draft())
        clicks: list[tuple[widgets.Button, Callable[[], object]]] = [
            (c.restore_one, lambda: self.restore(self.file)),
            (c.restore_all, self.restore),
            (c.delete, lambda: self.delete(self.file)),
            (c.rename, lambda: self.rename(self.file, c.new_name.value)),
            (c.relearn, lambda: self.relearn(c.fallen.value, c.content.value, c.cites())),
        ]
        for button, action in clicks:
            self.on_click(button, action)

    def _typed(self, text: str) -> None:
        """Write what was typed. Subtle: the text area is not set in return, because more may have been typed meanwhile."""
        name = self.file
        self.controls.holds(name, text)
        self.edit(name, text)

    def _draft(self) -> None:
        with self.quietly():
            self.controls.draft(self._checks)


def _place(check: Check) -> tuple[str, int, str]:
    """Order by key, which stays when a new revision is written; then wider scopes first."""
    return check.memory.key, len(check.memory.dimensions), check.memory.scope
