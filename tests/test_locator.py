"""Citations: every locator round-trips through a short printable string, and everything else is refused with the way out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit.errors import BadLocator
from memkit.record.locator import LONGEST, Locator, key_parts, key_value, line_range, numbered, quote_parts, quote_value, section_value

NAMES = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("%#25"), min_size=1, max_size=20)
PARTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('."#%\\0'), max_size=8), min_size=1, max_size=4)
WORDS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("%\n\r\t #=2"), min_size=1, max_size=40).filter(str.strip)

TITLES = st.text(st.sampled_from("%25#23 0A/E2808D\u200dC\n"), min_size=1, max_size=12).filter(str.strip)
IDENTIFIERS = st.lists(st.sampled_from(["pay", "_x1", "超时", "Ünï"]), min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("cite", "locator"),
    [
        ("prod.cfg", Locator("prod.cfg", "file", "")),
        ("prod.cfg#lines=2-5", Locator("prod.cfg", "lines", "2-5")),
        ("prod.cfg#lines=2-2", Locator("prod.cfg", "lines", "2")),
        ("a/b.toml#key=server.timeout", Locator("a/b.toml", "key", "server.timeout")),
        ('setup.cfg#key=options.extras_require."flask.ext"', Locator("setup.cfg", "key", 'options.extras_require."flask.ext"')),
        ('a.json#key="plain".0."\\u8d85"', Locator("a.json", "key", "plain.0.超")),
        ("setup.cfg#key=tool:pytest.a+b", Locator("setup.cfg", "key", '"tool:pytest"."a+b"')),
        ("a.json#key=服务.超时", Locator("a.json", "key", "服务.超时")),
        ("n.md#quote=100%25 sure%0d%0athat#x=y", Locator("n.md", "quote", "100%25 sure%0Athat#x=y")),
        ("shop.py#def=Checkout.pay", Locator("shop.py", "def", "Checkout.pay")),
        ('shop.py#def="\\u8d85".pay#2', Locator("shop.py", "def", "超.pay#2")),
        ("shop.py#def=ﬁ#1", Locator("shop.py", "def", "fi")),
        ("n.md#section=Install/C# and  F%23", Locator("n.md", "section", "Install/C%23 and F%23")),
        ("n.md#section=PR #12", Locator("n.md", "section", "PR %2312")),
        ("n.md#section=Notes#2", Locator("n.md", "section", "Notes#2")),
        ("n.md#section=a%20b 5%", Locator("n.md", "section", "a%2520b 5%25")),
        ("100%25%231.txt#lines=1", Locator("100%#1.txt", "lines", "1")),
        ("%2523", Locator("%23", "file", "")),
    ],
)
def test_a_citation_is_read_as_written(cite: str, locator: Locator) -> None:
    assert Locator.parse(cite) == locator


@given(
    st.one_of(
        st.builds(Locator, NAMES),
        st.builds(
            lambda n, a, b: Locator(n, "lines", str(a) if b == 0 else f"{a}-{a + b}"), NAMES, st.integers(1, 10**6), st.integers(0, 10**6)
        ),
        st.builds(lambda n, parts: Locator(n, "key", key_value(parts)), NAMES, PARTS),
        st.builds(lambda n, words: Locator(n, "quote", quote_value(words)), NAMES, WORDS),
        st.builds(lambda n, title, m: Locator(n, "section", section_value(title, m)), NAMES, WORDS | TITLES, st.integers(1, 12)),
        st.builds(lambda n, names, m: Locator(n, "def", ".".join(names) + f"#{m}" * (m > 1)), NAMES, IDENTIFIERS, st.integers(1, 12)),
    )
)
def test_every_locator_round_trips_through_its_string(locator: Locator) -> None:
    assert Locator.parse(str(locator)) == locator
    assert locator.part.isprintable()
    assert "\n" not in locator.part


@given(PARTS)
def test_key_parts_round_trip(parts: list[str]) -> None:
    assert key_parts(key_value(parts)) == tuple(parts)


@given(WORDS)
def test_quoted_words_round_trip_with_newlines_as_one_kind(words: str) -> None:
    assert quote_parts(quote_value(words))[0] == words.replace("\r\n", "\n").replace("\r", "\n")


@given(
    st.text(max_size=30)
    | st.text(st.sampled_from('#=%25lineskeyquot-."a1\\dfci&br'), max_size=30)
    | st.text(st.sampled_from('."\\a0'), max_size=12).map("a#key=".__add__)
)
def test_any_text_is_a_locator_or_a_bad_one(cite: str) -> None:
    try:
        locator = Locator.parse(cite)
    except BadLocator as error:
        assert error.text == cite
    else:
        assert Locator.parse(str(locator)) == locator


@pytest.mark.parametrize(
    ("cite", "found", "way_out"),
    [
        ("", "names no source", "prod.cfg#key=timeout"),
        ("#key=a", "names no source", "prod.cfg#key=timeout"),
        ("a#", "says ''", "one of lines=, key=, def=, section=, quote="),
        ("a#lines", "says 'lines'", "one of lines=, key=, def=, section=, quote="),
        ("a#page=f", "says 'page'", "one of lines=, key=, def=, section=, quote="),
        ("notes#1.txt", "says '1.txt'", "%23"),
        ("50%.txt", "'%' at position 2", "%25"),
        ("a%20b", "'%' at position 1", "%25"),
        ("a#lines=", "no range", "lines=2-5"),
        ("a#lines=0", "no range", "lines=2-5"),
        ("a#lines=5-2", "no range", "lines=2-5"),
        ("a#lines=1-", "no range", "lines=2-5"),
        ("a#lines=-1", "no range", "lines=2-5"),
        ("a#lines=١", "no range", "lines=2-5"),
        ("a#lines=" + "9" * 30, "no range", "lines=2-5"),
        ("a#key=", "cannot be read", '"flask.ext"'),
        ("a#key=.a", "cannot be read", '"flask.ext"'),
        ("a#key=a.", "cannot be read", '"flask.ext"'),
        ("a#key=a..b", "cannot be read", '"flask.ext"'),
        ("a#key=a\u202eb", "cannot be read", '"flask.ext"'),
        ("a#key=a\ud800", "cannot be read", '"flask.ext"'),
        ("a#key=a b", "cannot be read", '"flask.ext"'),
        ('a#key="a', "cannot be read", '"flask.ext"'),
        ('a#key="a"b', "cannot be read", '"flask.ext"'),
        ('a#key="\\x"', "not JSON", '"flask.ext"'),
        ('a#key="\\ud800"', "not JSON", '"flask.ext"'),
        ("a#def=", "cannot be read", '"flask.ext"'),
        ("a#def=1a", "not Python's", "def=Checkout.pay"),
        ("a#def=a-b", "not Python's", "def=Checkout.pay"),
        ("a#def=a#0", "not Python's", "def=Checkout.pay"),
        ("a#def=a#2#3", "not Python's", "def=Checkout.pay"),
        ("a#section=", "names no section", "section=Install/Windows"),
        ("a#section= %0A", "names no section", "section=Install/Windows"),
        ("a#section=a\ud800", "names no section", "section=Install/Windows"),
        ("a#quote=", "quotes nothing", "quote=retry"),
        ("a#quote=%20%0A", "quotes nothing", "quote=retry"),
        ("a#quote=50%", "does not start an encoded character", "%25"),
        ("a#quote=%ff", "does not start an encoded character", "%25"),
        ("a#quote=" + "x" * LONGEST, "at most 4096", "cite lines or a key"),
    ],
)
def test_everything_else_is_refused_with_the_way_out(cite: str, found: str, way_out: str) -> None:
    with pytest.raises(BadLocator) as caught:
        Locator.parse(cite)
    assert found in str(caught.value)
    assert way_out in str(caught.value)


def test_a_citation_that_is_not_text_is_refused() -> None:
    with pytest.raises(BadLocator, match="must be text"):
        Locator.parse(3)  # type: ignore[arg-type]


@given(TITLES | WORDS, st.integers(1, 99))
def test_titles_round_trip_with_blanks_as_one(title: str, number: int) -> None:
    assert numbered(section_value(title, number)) == (" ".join(title.split()), number)


def test_lines_count_from_one() -> None:
    assert (line_range("7"), line_range("2-10")) == ((7, 7), (2, 10))
