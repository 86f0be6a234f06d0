"""What every widget of memkit has in common: a snapshot, an error in view, the call just made, and one life.

A panel is shown as its live view, and beside it as a static HTML snapshot and as plain text, so that a page reads well without a kernel.
Every callback goes through `guard`: an error is shown in the panel, and the panel stays usable. A front end may deliver what a person did
on another thread (JupyterLab's kernel subshells do); `guard` hands it to the thread that made the panel, so that widgets and the database
stay on one. Running a cell again closes the panel the cell made before. Not here: anything a particular panel shows, or any decision;
panels call the package.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.widgets.follow import Follow
from memkit.widgets.markup import LIVE, Paint, esc
from memkit.write.redact import redact

MOST_SQL = 60  # statements shown of one call
LONGEST_SQL = 600  # characters shown of one statement

_open: WeakValueDictionary[str, Panel] = WeakValueDictionary()


def close_former(name: str) -> bool:
    """Close the panel that was opened under this name, if there is one; say whether there was."""
    former = _open.pop(name, None)
    if former is not None:
        former.close()
    return former is not None


class Panel(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A column of controls with an area for the error of the last callback and one for the memkit call it made.

    `name` is what a later panel replaces it by. `error` is the text of the last error, empty after the next success; `failure` is the
    exception itself; `call` is the code shown.
    """

    _following: Follow | None = None
    name = ""  # subtle: ipywidgets closes a widget that is collected, even one whose making failed half-way

    def __init__(self, name: str) -> None:
        close_former(name)
        super().__init__()
        self.name, self.error, self.call = name, "", ""
        self.failure: Exception | None = None
        self._depth, self._quiet, self._closed = 0, False, False
        self._home, self._loop = threading.get_ident(), _running_loop()
        self.error_area = widgets.HTML()
        self.call_area = widgets.HTML()
        self.add_class("memkit-panel")
        _open[name] = self

    # --- what is shown where there is no kernel

    def snapshot(self) -> str:
        """Return the static HTML view: inline colours, no identifiers, no times."""
        raise NotImplementedError

    def as_text(self) -> str:
        """Return the plain text view."""
        raise NotImplementedError

    def _repr_mimebundle_(self, include: object = None, exclude: object = None, **kwargs: object) -> Mapping[str, object]:
        bundle: dict[str, object] = dict(super()._repr_mimebundle_(include=include, exclude=exclude, **kwargs))
        return bundle | {"text/plain": self.as_text(), "text/html": self.snapshot()}

    # --- callbacks

    def on_value(self, control: widgets.DOMWidget, action: Callable[[object], object]) -> None:
        """Call `action` with the new value whenever a person changes a control; not when the panel itself does, inside `quietly`."""

        def changed(change: Mapping[str, object]) -> None:
            if self._elsewhere() or not self._quiet:  # subtle: what comes from another thread is a person's, whatever this one is doing
                self.guard(action, change["new"])

        control.observe(changed, names="value")

    def on_click(self, button: widgets.Button, action: Callable[[], object]) -> None:
        """Call `action` when a button is pressed."""
        button.on_click(lambda _: self.guard(action))

    def guard(self, action: Callable[..., object], *arguments: object) -> bool:
        """Run a callback; show its error in the panel, or clear the former one; say whether it succeeded, or was handed over.

        Subtle: inside another guarded callback the error is passed on, so that the outer success cannot clear it. A call from another
        thread is handed to the panel's own loop, in order.
        """
        if self._closed:
            return False
        if self._loop is not None and self._elsewhere():
            self._loop.call_soon_threadsafe(partial(self.guard, action, *arguments))
            return True
        if self._depth:
            action(*arguments)
            return True
        self._depth += 1
        try:
            with self._traced() as statements:
                action(*arguments)
        except Exception as error:
            self.show_error(error)
            return False
        finally:
            self._depth -= 1
        self.show_error(None)
        self.call_area.value = code(self.call, LIVE) + sql(statements, LIVE)
        return True

    def _traced(self) -> AbstractContextManager[list[str]]:
        """Collect the SQL of a panel that has a store, as `kit`."""
        kit = getattr(self, "kit", None)
        return nullcontext([]) if kit is None else kit.db.traced()

    def _elsewhere(self) -> bool:
        return threading.get_ident() != self._home

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Set controls without their callbacks being called."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before

    def show_error(self, error: Exception | None) -> None:
        """Show the type and the message of an error, secrets masked, or clear the area."""
        self.failure = error
        self.error = "" if error is None else f"{type(error).__name__}: {redact(str(error)).text}"
        self.error_area.value = "" if error is None else alert(self.error)

    def show_call(self, *lines: str) -> None:
        """Show the memkit calls just made, as code that can be copied."""
        self.call = "\n".join(lines)
        self.call_area.value = code(self.call, LIVE)

    # --- its life

    def follow(self, look: Callable[[], object], folder: Path | None = None) -> str:
        """Call `look`, guarded, after each cell and when a file of `folder` changes; return why files cannot be followed, or ""."""
        self._following = Follow(lambda: self.guard(look), folder)
        return self._following.problem

    @property
    def watching(self) -> bool:
        """Say whether the panel follows files on disk."""
        return self._following is not None and self._following.running

    def stop_following(self) -> None:
        """Look no more; calling it again does nothing."""
        if self._following is not None:
            self._following.stop()

    def close(self) -> None:
        """Stop following, and close the panel and everything in it."""
        self.stop_following()
        self._closed = True
        if _open.get(self.name) is self:
            del _open[self.name]
        close_all(self.children)
        super().close()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def close_all(children: Sequence[widgets.Widget]) -> None:
    """Close widgets, and what is in them first."""
    for child in children:
        close_all(getattr(child, "children", ()))
        child.close()


def alert(text: str) -> str:
    """Return the live view of an error.

    >>> "&lt;b&gt;" in alert("<b>")
    True
    """
    style = "background:#fdecea;color:#7a1212;border-left:4px solid #b3261e;padding:6px 10px;overflow-wrap:anywhere"
    return f'<div role="alert" style="{style}"><b>This did not work.</b> {esc(text)}<br>Correct it, and go on.</div>'


def code(text: str, paint: Paint) -> str:
    """Return code as a block; a click in the live view selects all of it."""
    select = "user-select:all;" if paint is LIVE else ""
    return (
        f'<div style="{paint.quiet}">The memkit call just made:</div>'
        f'<pre style="{paint.code}{select}margin:2px 0;padding:6px 10px;overflow:auto;white-space:pre-wrap" title="copy and paste it">'
        f"{esc(text)}</pre>"
    )


def sql(statements: Sequence[str], paint: Paint) -> str:
    """Return the statements of a call as a block that opens, secrets masked; one that is run again and again is shown once.

    >>> sql([], LIVE)
    ''
    """
    if not statements:
        return ""
    times = Counter(" ".join(statement.split()) for statement in statements)
    shown = [f"{_masked(statement)};{f'  -- {count} times' * (count > 1)}" for statement, count in list(times.items())[:MOST_SQL]]
    shown += [f"-- and {len(times) - MOST_SQL} others"] * (len(times) > MOST_SQL)
    lines = esc("\n".join(shown))
    return (
        f'<details><summary style="{paint.quiet}">The SQL it ran: {len(statements)} statements</summary>'
        f'<pre style="{paint.code}margin:2px 0;padding:6px 10px;overflow:auto;white-space:pre-wrap">{lines}</pre></details>'
    )


def _masked(statement: str) -> str:
    text = redact(statement[: 10 * LONGEST_SQL]).text  # before it is shortened, or half a secret might stay
    return text if len(text) <= LONGEST_SQL else f"{text[:LONGEST_SQL]}…"
