"""One tree of values for four formats, and a reason without content where there is none."""

from __future__ import annotations

import pytest

from memkit.errors import BadLocator, Refused
from memkit.record.evidence import Reader, find
from memkit.record.locator import key_value
from memkit.record.sources import Texts


def value(name: str, path: str, text: str | bytes) -> str:
    return find(f"{name}#key={path}", Reader(Texts({name: text}))).text


@pytest.mark.parametrize(
    ("name", "text", "path", "found"),
    [
        ("a.toml", "[server]\ntimeout = 30\n", "server.timeout", "30"),
        ("a.toml", "on = true\n", "on", "true"),
        ("a.toml", "t = 1979-05-27T07:32:00Z\n", "t", "1979-05-27 07:32:00+00:00"),
        ("a.toml", '[[p]]\nn = "a"\n[[p]]\nn = "b"\n', "p.1.n", "b"),
        ("a.toml", 'x."a.b" = 1\n', 'x."a.b"', "1"),
        ("a.toml", "x = {b = 1, a = 2}\n", "x", '{"a":2,"b":1}'),
        ("package.json", '{"scripts": {"test:unit": "jest"}, "files": ["a", "b"]}', 'scripts."test:unit"', "jest"),
        ("package.json", '{"files": ["a", "b"]}', "files.1", "b"),
        ("package.json", '{"1": "one"}', "1", "one"),
        ("package.json", '{"a": false, "b": null}', "a", "false"),
        ("prod.cfg", "timeout=30", "timeout", "30"),
        ("prod.cfg", "timeout=30\n[server]\nport: 80\nRaw = 100%\n", "server.Raw", "100%"),
        ("setup.cfg", "[options.extras_require]\nx =\n    a\n    b\n", '"options.extras_require".x', "\na\nb"),
        ("tox.ini", "[DEFAULT]\na = 1\n[s]\nb = 2\n", "s.a", "1"),
        ("tox.ini", "[DEFAULT]\na = 1\n[s]\na = 2\n", "s", '{"a":"2"}'),
        ("x.conf", "skip-networking\nport = 1\n", "port", "1"),
        (".env", "A=1\nB=${A}\n", "B", "${A}"),
        ("conf/.env.local", "export A='x y'\n", "A", "x y"),
        ("prod.env", 'A="two\nlines"\n', "A", "two\nlines"),
        ("PROD.TOML", "a = 1", "a", "1"),
    ],
)
def test_a_key_names_one_value(name: str, text: str, path: str, found: str) -> None:
    assert value(name, path, text) == found


def test_the_section_for_keys_before_any_section_cannot_be_named() -> None:
    for path in (key_value(["\0"]), key_value(["\0", "timeout"]), "DEFAULT.timeout", key_value(["\0\0"])):
        with pytest.raises(BadLocator, match="no key"):
            value("prod.cfg", path, "timeout=30\n[s]\na=1\n")


@pytest.mark.parametrize(
    ("name", "text", "path"),
    [
        ("a.json", '{"a": 1, "a": 1}', "a"),
        ("a.json", '{"a": {"b": 1}, "a": {"b": 1}}', "a.b"),
        ("a.json", '{"x": {"a": 1, "a": 2}}', "x"),
        (".env", "A=1\nA=1\n", "A"),
        ("a.cfg", "s = 1\n[s]\na = 1\n", "s"),
    ],
)
def test_a_key_that_stands_twice_is_reported_and_not_guessed(name: str, text: str, path: str) -> None:
    with pytest.raises(BadLocator, match="stands twice"):
        value(name, path, text)


def test_a_key_that_stands_twice_leaves_the_others_alone() -> None:
    assert (value("a.json", "b", '{"a": 1, "a": 2, "b": 3}'), value(".env", "B", "A=1\nA=2\nB=3\n")) == ("3", "3")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.toml", "a = 1\na = 2\n", "TOML .line 2"),
        ("a.toml", "\nx y", "TOML .line 2"),
        ("a.json", '{"a":\n 1,}', "JSON .line 2"),
        ("a.json", "", "JSON"),
        ("a.ini", "a=1\na=2\n", "INI .line 2"),
        ("a.ini", "[s]\na=1\n[s]\n", "INI .line 3"),
        (".env", "A=1\nB='x\n", "ENV .line 2"),
        ("a.json", "[" * 200_000, "RecursionError"),
        ("a.toml", "a=" + "[" * 200_000, "RecursionError"),
        ("a.json", '{"a": ' + "9" * 5000 + "}", "JSON"),
        ("a.toml", "a." * 5000 + "a = 1", "intricate"),
        ("a.ini", "a" + " " * 5000 + "b", "intricate"),
        (".env", "a=b" + " " * 5000 + "c", "intricate"),
        ("a.ini", "[DEFAULT]\n" + "".join(f"k{i}=1\n" for i in range(5000)) + "".join(f"[s{i}]\n" for i in range(5000)), "intricate"),
        ("a.toml", "#" * 1024 * 1025, "too long"),
        ("a.json", b"\xff", "not text"),
        ("a.json", '{"a": "\\ud800"}', "not text"),
        ("a.json", '{"a": 1e99999999999999999999}', "JSON"),
        ("a.ini", "a\n b\n", "INI"),
    ],
)
def test_what_cannot_be_parsed_says_why_and_where_but_not_what(name: str, text: str | bytes, reason: str) -> None:
    with pytest.raises(Refused, match=reason) as caught:
        value(name, "a", text)
    assert caught.value.reason == "UNREADABLE_SOURCE"


def test_parse_errors_do_not_repeat_the_source() -> None:
    canary = "hunter" + "2"
    for name, text in (("a.toml", f"{canary}"), ("a.json", f'{{"a": {canary}}}'), ("a.ini", f"[s\n= {canary}"), (".env", f"A='{canary}\n")):
        with pytest.raises(Refused) as caught:
            value(name, "a", text)
        assert canary not in str(caught.value)
