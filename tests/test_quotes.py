"""`quote=`: the words, however they are wrapped, and the one of several that stands in the context given."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit.errors import BadLocator
from memkit.record.evidence import Reader, check, observe
from memkit.record.locator import Locator, quote_parts, quote_value
from memkit.record.model import Verdict
from memkit.record.quotes import folded, quoted_places
from memkit.record.sources import Texts
from memkit.record.tokens import joined, whole_places

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TWO = "In prod a call waits 30 seconds.\nIn test a call waits 30 seconds.\n"
PROD = "quote=30&before=prod a call waits&after=seconds"


def verdict(part: str, before: str, after: str) -> Verdict:
    evidence = observe(f"a.md#{part}", Reader(Texts({"a.md": before})), NOW)
    return check(evidence, Reader(Texts({"a.md": after}))).verdict


@pytest.mark.parametrize(
    ("part", "before", "after", "expected"),
    [
        ("quote=retry at most twice", "We retry at most twice.", "New.\n\nWe retry\n  at  most\ttwice.", Verdict.VALID),
        ("quote=retry at%0Amost twice", "We retry at\nmost twice.", "We retry at most twice.", Verdict.VALID),
        ("quote=超时是30秒", "支付的超时是30秒。", "支付的超\n时是30秒。", Verdict.VALID),
        ("quote=retry at most", "We retry at most.", "We retry atmost.", Verdict.CHANGED),
        ("quote=三十", "等三十秒", "等三 十秒", Verdict.CHANGED),
        (PROD, TWO, "# New\n" + "".join(reversed(TWO.splitlines(keepends=True))), Verdict.VALID),
        (PROD, TWO, "In prod a call\nwaits\n30\nseconds. In test it waits 30 seconds.", Verdict.VALID),
        (PROD, TWO, TWO.replace("30", "60", 1), Verdict.CHANGED),
        (PROD, TWO, "In test a call waits 30 seconds.\n", Verdict.CHANGED),
        (PROD, TWO, TWO.replace("prod a call", "nonprod a call"), Verdict.CHANGED),
        (PROD, TWO, TWO + TWO, Verdict.AMBIGUOUS),
        ("quote=30&after=s,", "30 s, 30 m", "30\ns, 30 m", Verdict.VALID),
        ("quote=30&before=(", "30 (30)", "(30) 30", Verdict.VALID),
    ],
)
def test_words_in_their_context_survive_what_leaves_them_as_they_are(part: str, before: str, after: str, expected: Verdict) -> None:
    assert verdict(part, before, after) is expected


def test_who_quotes_words_that_stand_twice_is_told_to_give_context() -> None:
    with pytest.raises(BadLocator, match="&before= or &after="):
        observe("a.md#quote=30", Reader(Texts({"a.md": TWO})), NOW)


WORDS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("%&\n =") | st.just("b"), min_size=1, max_size=20).filter(
    str.strip
)
TEXTS = st.one_of(WORDS, st.sampled_from(["&before=x", "a&after=b", "&&before==", "%26after="]))


@given(TEXTS, st.just("") | TEXTS, st.just("") | TEXTS)
def test_quotes_with_context_round_trip(exact: str, before: str, after: str) -> None:
    locator = Locator("a.md", "quote", quote_value(exact, before, after))
    assert Locator.parse(str(locator)) == locator
    plain = exact.replace("\r\n", "\n").replace("\r", "\n")
    assert quote_parts(locator.value) == (plain, " ".join(before.split()), " ".join(after.split()))


@pytest.mark.parametrize("cite", ["a#quote=x&before=a&before=b", "a#quote=x&after=a&before=c&after=b"])
def test_context_is_given_once(cite: str) -> None:
    with pytest.raises(BadLocator, match="twice"):
        Locator.parse(cite)


def test_context_may_come_in_any_order_and_is_written_in_one() -> None:
    assert str(Locator.parse("a#quote=x&after=c  d&before=b")) == "a#quote=x&before=b&after=c d"


WORDS = st.lists(st.sampled_from(["30", "1.30", "a", "b.", "-", "是", "三", "十", "万", "%", ",", "wait", "@"]), min_size=1, max_size=40)


@given(WORDS, st.lists(st.sampled_from(["", " "]), min_size=40, max_size=40), st.data())
def test_words_are_found_where_each_place_looked_at_alone_has_the_context(words: list[str], blanks: list[str], data: st.DataObject) -> None:
    text = folded("".join(f"{word}{blank}" for word, blank in zip(words, blanks, strict=False)))
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    exact = text[first:last].strip() or text[:1]
    before, after = (
        text[max(0, first - data.draw(st.integers(0, 6))) : first].strip(),
        text[last : last + data.draw(st.integers(0, 6))].strip(),
    )
    expected = []
    for at in whole_places(text, exact):
        left, right = text[:at].rstrip(), text[at + len(exact) :].lstrip()
        if left.endswith(before) and right.startswith(after) and not (before and joined(text, len(left) - len(before))):
            expected.append(at)
    assert sorted(quoted_places(text, exact, before, after)) == expected
