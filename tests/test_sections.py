"""`section=`: from a heading to the next of its level or above, as CommonMark sees headings."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memkit.errors import BadLocator, Refused
from memkit.record.evidence import Reader, check, find, observe
from memkit.record.locator import section_value
from memkit.record.model import Verdict
from memkit.record.sections import MOST_LINES, sections
from memkit.record.sources import Texts

NOW = datetime(2026, 1, 2, tzinfo=UTC)
GUIDE = """---
title: Guide
# not a heading
---
Guide
=====
intro

Install
-------
### Windows ###
run it

```sh
# a comment
## Notes
```
    # code as well

> # quoted

- # in a list

### Linux
make

## Notes
one
# C#
## Notes
two
## [Try it](https://example.org/a%20b/c)
## 👩‍💻 安装
装
"""


def text(value: str, source: str = GUIDE) -> str:
    return find(f"guide.md#section={value}", Reader(Texts({"guide.md": source}))).text


def verdict(value: str, before: str, after: str) -> Verdict:
    evidence = observe(f"guide.md#section={value}", Reader(Texts({"guide.md": before})), NOW)
    return check(evidence, Reader(Texts({"guide.md": after}))).verdict


@pytest.mark.parametrize(
    ("value", "first", "last"),
    [
        ("Guide", "Guide", "one"),
        ("Install", "Install", "make"),
        ("Windows", "### Windows ###", "- # in a list"),
        ("Install/Windows", "### Windows ###", "- # in a list"),
        ("Guide/Install/Linux", "### Linux", "make"),
        ("Notes", "## Notes", "one"),
        ("Notes#1", "## Notes", "one"),
        ("Notes#2", "## Notes", "two"),
        ("C#/Notes", "## Notes", "two"),
        ("C%23/Notes", "## Notes", "two"),
        ("C#", "# C#", "装"),
        ("[Try it](https://example.org/a%20b/c)", "## [Try it](https://example.org/a%20b/c)", "## [Try it](https://example.org/a%20b/c)"),
        ("👩‍💻 安装", "## 👩‍💻 安装", "装"),
        ("👩%E2%80%8D💻  安装", "## 👩‍💻 安装", "装"),
    ],
)
def test_a_section_goes_to_the_next_heading_of_its_level_or_above(value: str, first: str, last: str) -> None:
    lines = text(value).split("\n")
    assert (lines[0], lines[-1]) == (first, last)


@pytest.mark.parametrize(
    "value", ["a comment", "Notes#3", "quoted", "in a list", "not a heading", "title: Guide", "code as well", "Guide/Linux", "notes"]
)
def test_what_is_no_heading_is_not_found(value: str) -> None:
    with pytest.raises(BadLocator, match="names nothing"):
        text(value)


def test_every_section_knows_its_path_and_line() -> None:
    found = [("/".join(section.path), section.line) for section in sections(GUIDE)]
    assert found[:5] == [
        ("Guide", 5),
        ("Guide/Install", 9),
        ("Guide/Install/Windows", 11),
        ("Guide/Install/Linux", 24),
        ("Guide/Notes", 27),
    ]
    assert all(GUIDE.split("\n")[line - 1].strip("# ") == path.rpartition("/")[2].strip("# ") for path, line in found[:5])


def test_a_level_that_is_left_out_still_nests() -> None:
    assert [section.path for section in sections("# A\n### B\n## C\n#### D\n")] == [("A",), ("A", "B"), ("A", "C"), ("A", "C", "D")]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("new\n\n# A\none\n\n\n\n# B\n", Verdict.VALID),
        ("# A\r\none\r\n# B\r\n", Verdict.VALID),
        ("# A\none", Verdict.VALID),
        ("# B\n# A\none\n", Verdict.VALID),
        ("# A\none\ntwo\n# B\n", Verdict.CHANGED),
        ("# A\none\n## B\n", Verdict.CHANGED),
        ("# A\n# A\none\n", Verdict.CHANGED),
        ("## A\none\n", Verdict.CHANGED),
        ("A\none\n", Verdict.MISSING),
        ("```\n# A\none\n", Verdict.MISSING),
        ("", Verdict.MISSING),
        (b"\0", Verdict.UNREADABLE),
    ],
)
def test_a_section_falls_exactly_when_its_text_changed(after: str, expected: Verdict) -> None:
    assert verdict("A", "# A\none\n\n# B\n", after) is expected


def test_a_numbered_section_moves() -> None:
    assert verdict("A#2", "# A\none\n# A\ntwo\n", "# A\nnew\n# A\none\n# A\ntwo\n") is Verdict.MOVED
    assert verdict("A#2", "# A\none\n# A\ntwo\n", "# A\none\n") is Verdict.MISSING


def test_a_heading_with_slashes_and_marks_is_its_own_canonical_value() -> None:
    title = "5 % of C#/F#, a%20b"
    assert text(section_value(title), f"# {title}\nx\n") == f"# {title}\nx"


@pytest.mark.parametrize("source", ["x" * 512 * 1025, "\n" * (MOST_LINES + 1)])
def test_what_would_take_minutes_is_refused(source: str) -> None:
    with pytest.raises(Refused, match="too long"):
        text("A", source)


def test_section_reads_markdown_only() -> None:
    with pytest.raises(BadLocator, match=r"reads .md"):
        find("a.rst#section=A", Reader(Texts({"a.rst": "# A"})))
