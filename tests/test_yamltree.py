"""`key=` in YAML: the values a safe reader sees, keys as they are written, and nothing that a tag could start."""

from __future__ import annotations

from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memkit.errors import BadLocator, MemkitError, Refused
from memkit.record import formats
from memkit.record.evidence import Reader, find
from memkit.record.sources import Texts
from memkit.record.yamltree import LONGEST, tree


def value(path: str, text: str) -> str:
    return find(f"a.yaml#key={path}", Reader(Texts({"a.yaml": text}))).text


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        ("server:\n  timeout: 30 # s\n", "server.timeout", "30"),
        ("on: [push, {a: b}]\n", "on.1.a", "b"),
        ("on: yes\n", "on", "true"),
        ("8080: x\n", "8080", "x"),
        ('"a.b": {"c d": 1}\n', '"a.b"."c d"', "1"),
        ("超时: 30秒\n", "超时", "30秒"),
        ("a: 1_000\n", "a", "1000"),
        ("a: 0x1F\n", "a", "31"),
        ("a: '1'\n", "a", "1"),
        ("a: 2026-01-02\n", "a", "2026-01-02"),
        ("a: null\n", "a", "null"),
        ("a: |\n  one\n  two\n", "a", "one\ntwo\n"),
        ("a: >\n  one\n  two\n", "a", "one two\n"),
        ("base: &b {p: 1, q: 2}\nx: {<<: *b, q: 3}\n", "x", '{"p":1,"q":3}'),
        ("x: {<<: [{p: 1}, {p: 2, q: 2}]}\n", "x", '{"p":1,"q":2}'),
        ("a: &x [1]\nb: *x\n", "b.0", "1"),
        ("kind: A\n---\nkind: B\n", "1.kind", "B"),
        ("url: !Sub '${x}'\n", 'url."!Sub"', "${x}"),
        ("a: !x {b: 1}\n", 'a."!x".b', "1"),
        ("a: !!binary aGk=\n", "a", '{"$binary":"aGk="}'),
        ("a: !!set {x, y}\n", "a", '{"x":null,"y":null}'),
        ("a: !!python/object/apply:os.system [x]\n", "a", '{"tag:yaml.org,2002:python/object/apply:os.system":["x"]}'),
    ],
)
def test_a_key_names_one_value(text: str, path: str, found: str) -> None:
    assert value(path, text) == found


@pytest.mark.parametrize("text", ["a: 1\na: 1\n", "a: 1\n'a': 2\n", "a: {b: 1, b: 2}\n"])
def test_a_key_that_stands_twice_is_reported(text: str) -> None:
    with pytest.raises(BadLocator, match="stands twice"):
        value("a", text)


def test_two_spellings_of_one_key_are_one_key_twice() -> None:
    for path in ("8080", "0x1F90"):
        with pytest.raises(BadLocator, match="stands twice"):
            value(path, "8080: a\n0x1F90: b\n")
    assert value("b", "8080: a\n0x1F90: b\nb: 3\n") == "3"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [1\nb: 2\n", r"YAML .line"),
        ("a: b: c\n", r"YAML .line 1"),
        ("a: *x\n", r"YAML .line 1"),
        ("a: &a [*a]\n", "YAML"),
        ("? [1]\n: 2\n", "YAML"),
        ("<<: 1\n", "YAML"),
        ("a: 2026-13-45\n", "YAML"),
        ("[" * 100_000, "YAML"),
        ("a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)), "YAML"),
        ("a0: &a0 {x: y}\n" + "".join(f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}\n" for n in range(1, 60)), "YAML"),
        ("#" * (LONGEST + 1), "too long"),
    ],
)
def test_what_cannot_be_read_says_why_and_not_what(text: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        value("a", text)


def test_aliases_within_proportion_are_read() -> None:
    assert value("b.8", "a: &a " + "x" * 1000 + "\nb: [" + ", ".join(["*a"] * 9) + "]\n") == "x" * 1000


JSONISH = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text("ab超 .:#", max_size=4), JSONISH, min_size=1), st.booleans())
def test_a_tree_is_what_safe_load_returns(data: dict[str, object], flow: bool) -> None:
    text = yaml.safe_dump(data, allow_unicode=True, default_flow_style=flow)
    assert formats.canonical(tree(text, None)) == formats.canonical(yaml.safe_load(text))


@given(
    st.lists(
        st.sampled_from(
            ["a", "b", ": ", "- ", "\n", "  ", "[", "]", "{", "}", ",", "&x ", "*x", "!t ", "<<", "|", "'", '"', "---\n", "? ", "1"]
        ),
        max_size=20,
    )
)
def test_no_text_raises_anything_but_a_refusal(pieces: list[str]) -> None:
    with suppress(MemkitError):
        value("a", "".join(pieces))
