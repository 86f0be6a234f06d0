"""Observe, locate and check: digests anybody can repeat, verdicts that say why, and nothing that ever raises out of `check`."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memkit.errors import BadLocator, MemkitError, NotFound, Refused, UnsafePath
from memkit.record.evidence import Found, Reader, check, find, locate, mentions, observe, worst
from memkit.record.locator import Locator, key_value, quote_value
from memkit.record.model import Evidence, EvidenceCheck, Verdict
from memkit.record.sources import LIMIT, Folder, Texts

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ENDINGS = ("", ".toml", ".json", ".cfg", ".ini", ".conf", ".env", ".md")


def sha(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def recheck(cite: str, before: str | bytes, after: str | bytes | None) -> EvidenceCheck:
    name = Locator.parse(cite).source
    evidence = observe(cite, Reader(Texts({name: before})), NOW)
    return check(evidence, Reader(Texts({} if after is None else {name: after})))


def value(name: str, path: str, text: str | bytes) -> str:
    return find(f"{name}#key={path}", Reader(Texts({name: text}))).text


def test_evidence_says_what_was_read_and_when() -> None:
    data = "timeout = 30\n重试 = 3\n"
    assert observe("prod.cfg#key=重试", Reader(Texts({"prod.cfg": data})), NOW) == Evidence(
        "prod.cfg", "key=重试", sha('"3"'), "3", sha(data), NOW
    )


@pytest.mark.parametrize(
    ("cite", "data", "hashed"),
    [
        ("a.txt", b"\xef\xbb\xbfone\r\ntwo", b"\xef\xbb\xbfone\r\ntwo"),
        ("a.txt", b"", b""),
        ("a.txt#lines=2-3", b"one\r\ntwo\rthree\nfour", b"two\nthree\n"),
        ("a.txt#lines=2", "\ufeff一\n二".encode("utf-16-le"), "二\n".encode()),
        ("a.txt#lines=1", b"one\x0cstill\x1done\xe2\x80\xa8\ntwo", b"one\x0cstill\x1done\xe2\x80\xa8\n"),
        ("a.txt#quote=two%0Athree", b"one\r\ntwo\r\nthree\r\n", b"two\nthree"),
        ("a.toml#key=s", b's = {b = 1, a = ["\xe8\xb6\x85", true, 1.5]}', '{"a":["超",true,1.5],"b":1}'.encode()),
        ("a.toml#key=d", b"d = 2026-01-02", b'{"$date":"2026-01-02"}'),
        ("a.toml#key=d", b'd = "2026-01-02"', b'"2026-01-02"'),
        ("a.json#key=d", b'{"d": null}', b"null"),
        ("a.json#key=d.1", b'{"d": [1, NaN]}', b"NaN"),
        ("a.ini#key=s.k", b"[s]\nk = 1\n", b'"1"'),
        (".env#key=K", b"export K='a b' # c\n", b'"a b"'),
    ],
)
def test_a_digest_is_of_exactly_the_bytes_documented(cite: str, data: bytes, hashed: bytes) -> None:
    assert locate(Locator.parse(cite), data).digest == sha(hashed)


@pytest.mark.skipif(not (shutil.which("sed") and shutil.which("sha256sum")), reason="this system has no sed or no sha256sum")
def test_sed_and_sha256sum_give_the_same_digests(tmp_path: Path) -> None:
    (tmp_path / "prod.cfg").write_bytes("a\n二\nc\nd\n".encode())
    reader = Reader(Folder(tmp_path))
    for cite, command in (("prod.cfg#lines=2-3", "sed -n 2,3p prod.cfg | sha256sum"), ("prod.cfg", "sha256sum prod.cfg")):
        output = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert observe(cite, reader, NOW).digest == output.split()[0]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
        max_leaves=8,
    )
)
def test_a_json_value_is_hashed_as_json_itself_writes_it(tree: object) -> None:
    found = locate(Locator("a.json", "key", "k"), json.dumps({"k": tree}, indent=3).encode())
    assert found.digest == sha(json.dumps(tree, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


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


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("1e400", "1e500"),
        ("0.1", "0.10000000000000000001"),
        ("1", "1.0"),
        ("1", '"1"'),
        ("true", '"true"'),
        ("null", '"null"'),
        ("NaN", '"NaN"'),
        ("[]", "{}"),
        ("-0.0", "0.0"),
    ],
)
def test_values_that_differ_have_digests_that_differ(one: str, two: str) -> None:
    before, after = f'{{"a": {one}}}', f'{{"a": {two}}}'
    assert recheck("a.json#key=a", before, before).verdict is Verdict.VALID
    assert recheck("a.json#key=a", before, after).verdict is Verdict.CHANGED


def test_dates_differ_from_text_that_looks_like_them() -> None:
    assert recheck("a.toml#key=a", "a = 2026-01-02", 'a = "2026-01-02"').verdict is Verdict.CHANGED
    assert recheck("a.toml#key=a", "a = 2026-01-02", "a = 2026-01-02T00:00:00").verdict is Verdict.CHANGED
    assert recheck("a.toml#key=a", "a = 2026-01-02", "b = 1\na   = 2026-01-02 # since").verdict is Verdict.VALID


@pytest.mark.parametrize(
    ("cite", "error", "says"),
    [
        ("a.md#lines=3", BadLocator, "has 2 lines"),
        ("a.md#lines=2-3", BadLocator, "has 2 lines"),
        ("a.md#quote=three", BadLocator, "do not stand"),
        ("a.md#quote=tw", BadLocator, "whole words"),
        ("b.md#quote=one", BadLocator, "more than once"),
        ("a.md#key=a", BadLocator, r"\.toml, \.json"),
        ("a.toml#key=b", BadLocator, "no key b .where the path ends there are: a"),
        ("a.toml#key=a.0", BadLocator, "no key"),
        ("a.toml#key=a.b", BadLocator, "no key"),
        ("none.md", NotFound, "check the spelling"),
        ("../a", UnsafePath, "inside the root"),
        ("bin.md", Refused, "not text"),
        ("bin.md#lines=1", Refused, "not text"),
        ("a.md#x=1", BadLocator, "one of"),
    ],
)
def test_observe_refuses_what_cannot_be_located(cite: str, error: type[MemkitError], says: str) -> None:
    texts = Texts({"a.md": "one\ntwo\n", "b.md": "one one", "a.toml": "a = 1", "bin.md": b"\0\1"})
    with pytest.raises(error, match=says):
        observe(cite, Reader(texts), NOW)


def test_each_source_is_read_once_even_when_it_fails() -> None:
    class Counting(Texts):
        def read(self, name: str) -> bytes:
            seen.append(name)
            return super().read(name)

    seen: list[str] = []
    texts = Counting({"a.json": '{"a": 1, "b": 2}', "bad.json": "{"})
    evidence = [observe(f"a.json#key={key}", Reader(texts), NOW) for key in "ab"]
    evidence += [replace(evidence[0], source=name) for name in ("bad.json", "gone.json", "../x")]
    seen.clear()
    reader = Reader(texts)
    verdicts = [check(e, reader).verdict for e in evidence * 3]
    assert (verdicts, seen) == (
        [Verdict.VALID, Verdict.VALID, Verdict.UNREADABLE, Verdict.MISSING, Verdict.UNREADABLE] * 3,
        ["a.json", "bad.json", "gone.json", "../x"],
    )


def test_the_bytes_hashed_are_the_bytes_parsed() -> None:
    class Changing(Texts):
        def read(self, name: str) -> bytes:
            data = super().read(name)
            self[name] = "a = 2"
            return data

    evidence = observe("a.toml#key=a", Reader(Changing({"a.toml": "a = 1"})), NOW)
    assert (evidence.quote, evidence.digest, evidence.source_version) == ("1", sha("1"), sha("a = 1"))


def test_a_long_passage_is_kept_short_and_still_found_when_it_moves() -> None:
    passage = "".join(f"line {n} of a long passage\n" for n in range(200))
    evidence = observe("a.md#lines=2-201", Reader(Texts({"a.md": f"head\n{passage}tail\n"})), NOW)
    assert (len(evidence.quote), evidence.digest) == (2000, sha(passage))
    verdicts = {
        "moved": check(evidence, Reader(Texts({"a.md": f"new\nhead\n{passage}tail\n"}))),
        "end changed": check(evidence, Reader(Texts({"a.md": f"new\nhead\n{passage[:-2]}!\ntail\n"}))),
        "twice": check(evidence, Reader(Texts({"a.md": f"new\nhead\n{passage}{passage}"}))),
    }
    assert {name: (c.verdict, c.why.split(" ")[-1]) for name, c in verdicts.items()} == {
        "moved": (Verdict.MOVED, "3"),
        "end changed": (Verdict.CHANGED, "source"),
        "twice": (Verdict.AMBIGUOUS, "203"),
    }


def test_a_check_says_what_it_found() -> None:
    done = recheck("prod.cfg#key=timeout", "timeout=30", "timeout=60")
    assert (done.verdict, done.found, done.evidence.quote, done.why) == (
        Verdict.CHANGED,
        "60",
        "30",
        "prod.cfg#key=timeout is not what it was",
    )
    gone = recheck("prod.cfg#key=timeout", "timeout=30", None)
    assert (gone.verdict, gone.found, gone.why) == (Verdict.MISSING, None, "prod.cfg is not there any more")
    moved = recheck("prod.cfg#lines=1", "timeout=30\n", "# new\ntimeout=30\n")
    assert (moved.verdict, moved.found, moved.why) == (Verdict.MOVED, "timeout=30", "the lines of prod.cfg#lines=1 now start at line 2")
    assert len(recheck("a.md", "x", "y" * 9999).found or "") == 2000


def test_what_was_never_hashed_is_unversioned_and_an_unknown_locator_unreadable() -> None:
    evidence = observe("a.md", Reader(Texts({"a.md": "x"})), NOW)
    reader = Reader(Texts({"a.md": "x"}))
    assert check(replace(evidence, digest=""), reader).verdict is Verdict.UNVERSIONED
    assert check(replace(evidence, locator="later=1"), reader).verdict is Verdict.UNREADABLE
    assert check(evidence, reader).verdict is Verdict.VALID


def test_the_worst_piece_decides() -> None:
    evidence = observe("a.md", Reader(Texts({"a.md": "x"})), NOW)
    pieces = {verdict: EvidenceCheck(evidence, verdict, "") for verdict in Verdict}
    order = [Verdict.MISSING, Verdict.CHANGED, Verdict.AMBIGUOUS, Verdict.UNREADABLE, Verdict.UNVERSIONED, Verdict.MOVED, Verdict.VALID]
    assert [worst(pieces[v] for v in order[n:]) for n in range(7)] == order
    assert worst([]) is Verdict.UNVERSIONED


@pytest.mark.parametrize(
    ("content", "located", "answer"),
    [
        ("The timeout is 30 seconds", "30", True),
        ("timeout=30", "30", True),
        ("30", "30", True),
        ("It is 30.", "30", True),
        ("(30)", "30", True),
        ("超时是30秒", "30", True),
        ("“30”", "30", True),
        ("It is 300", "30", False),
        ("It is 1.30", "30", False),
        ("It is 30.5", "30", False),
        ("1,300", "300", False),
        ("10:30", "30", False),
        ("timeout:30", "30", True),
        ("-30", "30", False),
        ("-30", "-30", True),
        ("30s", "30", False),
        ("30万", "30", False),
        ("v30", "30", False),
        ("a_30", "30", False),
        ("３００", "３０", False),
        ("mail alice.smith@x.org", "smith@x.org", False),
        ("mail alice@x.org.", "alice@x.org", True),
        ("see TKT-1000", "TKT-100", False),
        ("see TKT-100, too", "TKT-100", True),
        ("数据库是主库", "主库", True),
        ("限三十五天", "三十", False),
        ("限三十天", "三十", True),
        ("cafe\u0301", "cafe", False),
        ("naïve", "na", False),
        ("retry  at\n most twice", "retry at most\ttwice", True),
        ("True", "true", False),
        ("is true", "true", True),
        ("anything", "", False),
        ("a b", " \n", False),
        ("", "", False),
    ],
)
def test_a_value_is_mentioned_only_as_whole_tokens(content: str, located: str, answer: bool) -> None:
    assert mentions(content, located) is answer


def test_a_table_is_never_mentioned_and_a_scalar_by_its_plain_text() -> None:
    data = b'{"t": {"a": 1}, "b": true, "n": 30}'
    found: Callable[[str], Found] = lambda path: locate(Locator("a.json", "key", path), data)  # noqa: E731
    answers = [
        mentions('{"a":1}', found("t")),
        mentions("it is true", found("b")),
        mentions("30 s", found("n")),
        mentions("300 s", found("n")),
    ]
    assert answers == [False, True, True, False]


@given(st.text(max_size=20), st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=5), st.text(max_size=20))
def test_a_value_between_spaces_is_always_mentioned(before: str, words: str, after: str) -> None:
    assert mentions(f"{before} {words} {after}", words)


@given(st.text(max_size=30).filter(str.strip))
def test_a_content_mentions_itself(text: str) -> None:
    assert mentions(text, text)


PIECES = st.sampled_from(
    [
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        "=",
        ":",
        ",",
        "\n",
        "\r\n",
        " ",
        "a",
        "[s]",
        "a=1",
        '"a":1',
        "#",
        "\\",
        ".",
        "1e9",
        "\0",
        "\ufeff",
        "超",
        "export ",
        "[[a]]",
        "-",
        "2026-01-02",
    ]
)
HOSTILE = (
    st.binary(max_size=60)
    | st.lists(PIECES, max_size=25).map(lambda pieces: "".join(pieces).encode())
    | st.text(max_size=40).map(lambda t: t.encode("utf-16", "surrogatepass"))
)


@settings(max_examples=150)
@given(HOSTILE)
@example(b"a\n b")
@example(b'{"a": "\\ud800"}')
@example(b"a = 1e9999999999999999999")
def test_no_bytes_make_a_check_raise(data: bytes) -> None:
    for ending in ENDINGS:
        name = f"f{ending}"
        reader = Reader(Texts({name: data}))
        for part in ("", "lines=1-2", "key=a", "key=s.a.0", "quote=a"):
            done = check(Evidence(name, part, sha("x"), "x", "", NOW), reader)
            assert done.verdict in (Verdict.MOVED, Verdict.CHANGED, Verdict.MISSING, Verdict.UNREADABLE, Verdict.AMBIGUOUS)


@settings(max_examples=100)
@given(HOSTILE, HOSTILE)
def test_what_was_observed_is_valid_until_its_located_text_differs(before: bytes, after: bytes) -> None:
    for ending in ENDINGS:
        name = f"f{ending}"
        for part in ("", "lines=1", "key=a", "key=s", "quote=a"):
            cite = f"{name}#{part}" if part else name
            try:
                evidence = observe(cite, Reader(Texts({name: before})), NOW)
            except MemkitError:
                continue
            assert check(evidence, Reader(Texts({name: before}))).verdict is Verdict.VALID
            done = check(evidence, Reader(Texts({name: after})))
            if done.verdict is Verdict.VALID:
                assert done.found == evidence.quote


@given(
    st.lists(st.sampled_from(["a", "b", "ab", ""]), min_size=1, max_size=8),
    st.lists(st.sampled_from(["a", "b", "ab", ""]), max_size=8),
    st.data(),
)
def test_lines_agree_with_a_plain_search(before: list[str], after: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(before)))
    last = data.draw(st.integers(first, len(before)))
    wanted = before[first - 1 : last]
    done = recheck(f"f#lines={first}-{last}", "".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after))
    places = [n + 1 for n in range(len(after)) if after[n : n + len(wanted)] == wanted]
    expected = Verdict.VALID if first in places else {0: None, 1: Verdict.MOVED}.get(len(places), Verdict.AMBIGUOUS)
    assert done.verdict is (expected or (Verdict.CHANGED if after[first - 1 : last] else Verdict.MISSING))


def test_four_mebibytes_are_no_trouble() -> None:
    rows = (LIMIT - 100) // 4
    for cite, before, after, verdict in (
        ("a.txt#lines=1", "x\n", "ab\n" * rows, Verdict.CHANGED),
        ("a.txt#lines=1-3", "ab\n" * 3, "c\n" + "ab\n" * rows, Verdict.AMBIGUOUS),
        ("a.txt#quote=a", "a", "a" * LIMIT, Verdict.CHANGED),
        ("a.json#key=a", '{"a": 1}', '{"a":' * (LIMIT // 5), Verdict.UNREADABLE),
        ("a.txt", "x", "x" * (LIMIT + 1), Verdict.UNREADABLE),
        (f"a.txt#quote={quote_value('word ' * 300 + 'wo')}", "word " * 300 + "wo", "word " * (LIMIT // 5), Verdict.CHANGED),
    ):
        assert recheck(cite, before, after).verdict is verdict
