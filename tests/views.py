"""Look at a panel without a browser: every widget in it, and the tags of what it shows."""

from __future__ import annotations

import html.parser
from collections.abc import Iterator

import ipywidgets as widgets


class Tags(html.parser.HTMLParser):
    """Collects every tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


class Reader(html.parser.HTMLParser):
    """Collects tags and attributes, and sees that every tag is closed; `open` is what still stands open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes += attrs
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def walk(widget: widgets.Widget) -> Iterator[widgets.Widget]:
    """Yield a widget and everything in it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)
