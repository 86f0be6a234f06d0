"""Read Markdown as sections: a heading, and everything down to the next heading of its level or above.

markdown-it-py reads the blocks by CommonMark: `#` in fenced code is no heading, `===` below a line makes one, and a heading inside a
quotation or a list opens no section. YAML front matter is passed over. Left out: what the text means, links, and other dialects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt

from memkit.record.sources import Unreadable

LONGEST, MOST_LINES = 512 * 1024, 40_000  # the parser needs seconds for this much

_FRONT = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_BLOCKS = MarkdownIt("commonmark").disable("reference")  # subtle: link definitions take the square of their number, and open no section
_BLOCKS.core.ruler.enableOnly(["normalize", "block"])


@dataclass(frozen=True, slots=True)
class Section:
    """One section: the headings that lead to it (its own last), its text without trailing blanks, and its first line, from 1."""

    path: tuple[str, ...]
    text: str
    line: int

    def is_called(self, name: str) -> bool:
        """Return whether `name` is its heading, or the last headings of its path with `/` between.

        >>> Section(("Guide", "Install", "Windows"), "", 1).is_called("Install/Windows")
        True
        """
        return any("/".join(self.path[n:]) == name for n in range(len(self.path)))


def sections(text: str) -> list[Section]:
    """Return every section in the order of the source; raises Unreadable.

    >>> [(s.path, s.text) for s in sections("A\\n===\\none\\n\\n## B\\n\\n# C")]
    [(('A',), 'A\\n===\\none\\n\\n## B'), (('A', 'B'), '## B'), (('C',), '# C')]
    """
    if len(text) > LONGEST or text.count("\n") > MOST_LINES:
        raise Unreadable(f"too long (over {LONGEST} characters or {MOST_LINES} lines) to be read as Markdown")
    front = _FRONT.match(text)
    body = "\n" * text.count("\n", 0, front.end()) + text[front.end() :] if front else text
    tokens = _BLOCKS.parse(body)
    heads = [
        (token.map[0], int(token.tag[1]), " ".join(tokens[n + 1].content.split()))
        for n, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    return _nested(heads, text.split("\n"))


def _nested(heads: list[tuple[int, int, str]], lines: list[str]) -> list[Section]:
    """Give each heading (line from 0, level, title) its path and its text."""
    ends, above = [len(lines)] * len(heads), list[int]()
    paths: list[tuple[str, ...]] = []
    for n, (line, level, title) in enumerate(heads):
        while above and heads[above[-1]][1] >= level:
            ends[above.pop()] = line
        above.append(n)
        paths.append((*(heads[m][2] for m in above[:-1]), title))
    return [
        Section(path, "\n".join(lines[head[0] : end]).rstrip(), head[0] + 1) for path, head, end in zip(paths, heads, ends, strict=True)
    ]
