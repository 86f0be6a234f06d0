"""Suggested citations cover the selection, can be cited as they are, and come narrowest first."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memkit
from memkit.errors import BadLocator, MemkitError, NotFound, Refused, UnsafePath
from memkit.record.evidence import Reader, check, observe
from memkit.record.model import Verdict
from memkit.record.quotes import folded
from memkit.record.sources import Texts
from memkit.record.suggest import suggest
from memkit.record.tokens import joined

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TEXTS = {
    "a.toml": '# 商店\n[server]\ntimeout = 30 # s\nnames = ["a", "b"]\non = true\n',
    "a.json": '{"server": {"timeout": 30, "names": ["a", "b"]}, "x": 30}',
    "a.yaml": "server:\n  timeout: 30\n  names: [a, b]\n---\nserver: {on: yes}\n",
    "a.cfg": "[server]\ntimeout = 30\nhosts =\n  a\n  b\n",
    ".env": "TIMEOUT=30\nNAME='x y'\n",
    "shop.py": "X = 1\n\n@cache\ndef pay():\n    # wait\n    return 30\n\nclass A:\n    def f(self): return 1\n    def f(self): return 2\n",
    "guide.md": "# A\nIn prod a call waits 30 seconds.\nIn test a call waits 30 seconds.\n## B\none\n# C\n## B\ntwo\n",
    "notes.txt": "支付的超时是30秒。\n退款的超时是30秒。\n",
}


def first(source: str, text: str, start: int | None = None) -> list[str]:
    return [cite.partition("#")[2] for cite in suggest(source, text, sources=Texts(dict(TEXTS)), start=start)]


@pytest.mark.parametrize(
    ("source", "text", "narrowest"),
    [
        ("a.toml", "30", "key=server.timeout"),
        ("a.toml", "timeout = 30", "key=server.timeout"),
        ("a.toml", "timeout = 30 # s\n", "key=server.timeout"),
        ("a.toml", '"b"', "key=server.names.1"),
        ("a.toml", "true", "key=server.on"),
        ("a.json", '"timeout": 30', "key=server.timeout"),
        ("a.json", '"a"', "key=server.names.0"),
        ("a.yaml", "30", "key=0.server.timeout"),
        ("a.yaml", "yes", "key=1.server.on"),
        ("a.cfg", "30", "key=server.timeout"),
        ("a.cfg", "  b", "key=server.hosts"),
        (".env", "x y", "key=NAME"),
        ("shop.py", "X = 1", "def=X"),
        ("shop.py", "    def f(self): return 1", "quote=def f(self): return 1"),
        ("guide.md", "two", "quote=two"),
        ("guide.md", "30", "quote=30&before=In prod a call waits"),
        ("notes.txt", "30秒", "quote=30秒&before=支付的超时是"),
    ],
)
def test_the_narrowest_comes_first(source: str, text: str, narrowest: str) -> None:
    assert first(source, text)[0] == narrowest


@pytest.mark.parametrize(
    ("source", "text", "covering"),
    [
        ("shop.py", "return 30", ["quote=return 30", "lines=6", "def=pay", ""]),
        ("shop.py", "return 2", ["quote=return 2", "def=A.f#2", "lines=10", "def=A", ""]),
        ("shop.py", "# wait\n    return 30", ["quote=# wait return 30", "lines=5-6", "def=pay", ""]),
        ("guide.md", "one", ["quote=one", "lines=5", "section=A/B", "section=A", ""]),
        ("a.toml", "30 # s\nnames", ["quote=30 # s names", "lines=3-4", "key=server", ""]),
    ],
)
def test_everything_wider_follows(source: str, text: str, covering: list[str]) -> None:
    found = first(source, text)
    assert found == covering


def test_start_says_which_of_several_is_meant() -> None:
    at = TEXTS["guide.md"].rindex("30")
    assert first("guide.md", "30", at)[0] == "quote=30&before=In test a call waits"


@pytest.mark.parametrize(("text", "start"), [("31", None), ("", None), ("  ", None), ("30", 0)])
def test_what_does_not_stand_there_is_refused(text: str, start: int | None) -> None:
    with pytest.raises(BadLocator, match="does not stand"):
        first("a.toml", text, start)


@pytest.mark.parametrize(
    ("source", "text", "error", "says"),
    [
        ("none.cfg", "30", NotFound, "there is no source 'none.cfg'"),
        ("binary", "30", Refused, "it is not text"),
        ("../a.toml", "30", UnsafePath, "has the part '..'"),
        (None, "30", UnsafePath, "a source name is NoneType"),
        ("a.toml", None, Refused, "text is None and sources is Texts; pass the selected text, and sources=kit.sources"),
    ],
)
def test_what_cannot_be_read_is_refused_as_a_citation_of_it_would_be(source: str, text: str, error: type[MemkitError], says: str) -> None:
    with pytest.raises(error, match=re.escape(says)):
        suggest(source, text, sources=Texts({**TEXTS, "binary": b"\xff\xff"}))
    with pytest.raises(Refused, match="sources is dict"):
        suggest("a.toml", "30", sources=TEXTS)  # type: ignore[arg-type]


@given(st.sampled_from(sorted(TEXTS)), st.data())
def test_every_suggestion_can_be_cited_and_the_quotes_and_lines_hold_the_selection(source: str, data: st.DataObject) -> None:
    whole = TEXTS[source]
    start = data.draw(st.integers(0, len(whole) - 1))
    text = whole[start : data.draw(st.integers(start + 1, len(whole)))]
    if not text.strip():
        return
    texts = Texts(dict(TEXTS))
    for cite in suggest(source, text, sources=texts, start=start):
        evidence = observe(cite, Reader(texts), NOW)
        assert check(evidence, Reader(texts)).verdict is Verdict.VALID
        if evidence.locator.startswith(("lines=", "quote=", "section=")) or not evidence.locator:
            assert folded(text) in folded(evidence.quote)


def test_it_is_exported() -> None:
    with memkit.open(sources={"prod.cfg": "timeout=30"}) as kit:
        assert memkit.suggest("prod.cfg", "30", sources=kit.sources)[0] == "prod.cfg#key=timeout"


def test_a_citation_costs_the_same_however_often_its_words_stand_there(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def counted(text: str, at: int) -> bool:
        looked.append(at)
        return joined(text, at)

    for module in ("tokens", "quotes", "suggest"):
        monkeypatch.setattr(f"memkit.record.{module}.joined", counted)
    costs = []
    for times in (50, 500):
        unit = "it failed. we fixed it by running make. "
        text = f"{unit * times}once it failed. {unit * times}"
        reader = Reader(Texts({"log.txt": text}))
        looked.clear()
        found = [suggest("log.txt", "it failed.", sources=reader, start=at) for at in (0, len(unit) * 20, text.index("once") + 5)]
        assert found[0] == found[1] == ["log.txt#lines=1", "log.txt"]
        assert found[2][0] == "log.txt#quote=it failed.&before=make. once"
        costs.append(len(looked))
    assert costs[0] == costs[1] < 500
