"""A value is stated only by whole tokens, in any script."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit.record.evidence import Found, locate, mentions
from memkit.record.locator import Locator


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
        ("30%", "30", False),
        ("about 30%", "30%", True),
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
    data = b'{"t": {"a": 1}, "b": true, "n": 30, "z": null}'
    found: Callable[[str], Found] = lambda path: locate(Locator("a.json", "key", path), data)  # noqa: E731
    answers = [
        mentions('{"a":1}', found("t")),
        mentions("it is true", found("b")),
        mentions("30 s", found("n")),
        mentions("300 s", found("n")),
        mentions("it is null", found("z")),
    ]
    assert answers == [False, True, True, False, False]


@given(st.text(max_size=20), st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=5), st.text(max_size=20))
def test_a_value_between_spaces_is_always_mentioned(before: str, words: str, after: str) -> None:
    assert mentions(f"{before} {words} {after}", words)


@given(st.text(max_size=30).filter(str.strip))
def test_a_content_mentions_itself(text: str) -> None:
    assert mentions(text, text)
