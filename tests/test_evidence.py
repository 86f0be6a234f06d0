"""Observe, locate and check: digests anybody can repeat, verdicts that say why, and nothing that ever raises out of `check`."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import memkit
from memkit.errors import BadLocator, MemkitError, NotFound, Refused, UnsafePath
from memkit.record.evidence import Reader, check, observe, worst
from memkit.record.locate import NotThere, Reading
from memkit.record.locator import Locator, quote_value
from memkit.record.model import Evidence, EvidenceCheck, Verdict
from memkit.record.sources import LIMIT, SourceMissing, Texts

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ENDINGS = ("", ".toml", ".json", ".cfg", ".ini", ".conf", ".env", ".md")


def sha(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def recheck(cite: str, before: str | bytes, after: str | bytes | None) -> EvidenceCheck:
    name = Locator.parse(cite).source
    evidence = observe(cite, Reader(Texts({name: before})), NOW)
    return check(evidence, Reader(Texts({} if after is None else {name: after})))


def test_evidence_says_what_was_read_and_when() -> None:
    data = "timeout = 30\n重试 = 3\n"
    assert observe("prod.cfg#key=重试", Reader(Texts({"prod.cfg": data})), NOW) == Evidence(
        "prod.cfg", "key=重试", sha('"3"'), "3", sha(data), NOW
    )


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
    sources: dict[str, str | bytes] = {"a.md": "one\ntwo\n", "b.md": "one one", "a.toml": "a = 1", "bin.md": b"\0\1"}
    texts = Texts(sources)
    with pytest.raises(error, match=says):
        observe(cite, Reader(texts), NOW)


@pytest.mark.parametrize("cite", [None, 3, b"prod.cfg", {"prod.cfg"}, ["prod.cfg", None]])
def test_a_citation_that_is_no_text_is_refused_by_every_verb(cite: str) -> None:
    with memkit.open(sources={"prod.cfg": "timeout=30"}) as kit:
        for verb in (kit.learn, kit.propose):
            with pytest.raises(BadLocator, match="it must be text, such as"):
                verb("timeout", "it is 30", scope=memkit.Scope(workspace="shop"), cite=cite)


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
        "prod.cfg#key=timeout is not what it was: '30' became '60'",
    )
    gone = recheck("prod.cfg#key=timeout", "timeout=30", None)
    assert (gone.verdict, gone.found, gone.why) == (Verdict.MISSING, None, "prod.cfg is not there any more")
    moved = recheck("prod.cfg#lines=1", "timeout=30\n", "# new\ntimeout=30\n")
    assert (moved.verdict, moved.found, moved.why) == (Verdict.MOVED, "timeout=30", "the lines of prod.cfg#lines=1 now start at line 2")
    assert len(recheck("a.md", "x", "y" * 9999).found or "") == 2000


@pytest.mark.parametrize(
    ("cite", "before", "after", "says"),
    [
        ("a.json#key=x", '{"x": 30}', '{"x": "30"}', ": its type, its bytes or its layout differ"),
        ("a.md", "one\n", "one\r\n", ": its type, its bytes or its layout differ"),
        ("a.md", "x" * 3000, "x" * 2999 + "y", " as far as it was kept"),
    ],
)
def test_a_part_that_changed_and_reads_the_same_says_so(cite: str, before: str, after: str, says: str) -> None:
    done = recheck(cite, before, after)
    assert (done.verdict, done.why) == (Verdict.CHANGED, f"{cite} is not what it was, although it reads the same{says}")


def test_what_is_shown_of_a_changed_source_is_masked_before_it_is_cut() -> None:
    secret = "s" * 40
    texts: dict[str, str] = {"a.md": "x"}
    evidence = observe("a.md", Reader(Texts(texts)), NOW)
    texts["a.md"] = "y" * 1980 + secret
    shown = [check(evidence, Reader(Texts(texts), mask=mask)).found or "" for mask in (str, lambda text: text.replace(secret, "[masked]"))]
    assert shown == ["y" * 1980 + "s" * 20, "y" * 1980 + "[masked]"]


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
            done = check(Evidence(name, part, sha("none of these bytes"), "x", "", NOW), reader)
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


def test_all_pieces_must_hold_unless_it_is_said_that_any_may() -> None:
    shop = memkit.Scope(workspace="shop")
    with memkit.open(sources={"a.cfg": "x=1", "b.cfg": "x=1"}) as kit:
        cite = ["a.cfg#key=x", "b.cfg#key=x"]
        kit.learn("every", "x is 1, in both", scope=shop, cite=cite)
        kit.learn("either", "x is 1, says one of them", scope=shop, cite=cite, support="any")
        seen = []
        for change in (("a.cfg", "x=2"), ("b.cfg", "x=2"), ("a.cfg", "x=1")):
            kit.sources.update([change])
            seen.append({check.memory.key: check.verdict for check in kit.check(scope=shop)})
        assert seen == [
            {"every": "CHANGED", "either": "VALID"},
            {"every": "CHANGED", "either": "CHANGED"},
            {"every": "CHANGED", "either": "VALID"},
        ]
        assert [hit.memory.key for hit in kit.recall("x", scope=shop, budget=50).hits] == ["either"]
        with pytest.raises(memkit.Refused, match="all, any"):
            kit.learn("k", "x", scope=shop, cite=cite, support="most")
        waiting = kit.propose("guess", "x", scope=shop, cite=cite)
        kit.sources["a.cfg"] = "x=3"
        with pytest.raises(memkit.Refused) as caught:
            kit.admit(waiting)
        assert caught.value.reason == "STALE_SOURCE"


def test_what_a_citation_found_is_used_again_only_while_the_bytes_are_the_same() -> None:
    texts, parsed = Texts({"prod.cfg": "timeout=30\n"}), dict[str, Reading]()
    first = Reader(texts, parsed=parsed).cited("prod.cfg#key=timeout")
    assert Reader(texts, parsed=parsed).cited("prod.cfg#key=timeout") is first
    texts["prod.cfg"] = "timeout=60\n"
    assert Reader(texts, parsed=parsed).cited("prod.cfg#key=timeout")[1].text == "60"
    texts["prod.cfg"] = "retries=3\n"
    with pytest.raises(NotThere):
        Reader(texts, parsed=parsed).cited("prod.cfg#key=timeout")
    del texts["prod.cfg"]
    with pytest.raises(SourceMissing):
        Reader(texts, parsed=parsed).cited("prod.cfg#key=timeout")
