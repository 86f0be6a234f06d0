"""record/masking.py: found in any spelling, as whole tokens, and nothing else is touched."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memkit.record.masking import MARK, masked, places, states
from memkit.record.text import comparable, normalise, spelled

SPELLINGS = [
    "my locker code is 4471-blue",
    "MY LOCKER CODE IS 4471-BLUE",
    "  my   locker\ncode is 4471-blue ",
    "my lоcker cоde is 4471-blue",  # Cyrillic letters
    "my loc\u200bker code is 4471\u2060-blue",
    "ｍｙ　ｌｏｃｋｅｒ code is ４４７１-blue",
    "“my locker” (code) is 4471-blue!",
]


@pytest.mark.parametrize("again", SPELLINGS)
@pytest.mark.parametrize("around", ["{}", "I said {}. And more", "对，{}，没错", "({})", "x, {} y"])
def test_every_spelling_is_masked_and_what_stands_around_it_stays(again: str, around: str) -> None:
    text = around.format(again)
    found = masked(text, ["my locker code is 4471-blue"])
    assert found is None if around in ("{}", "({})") else found is not None and MARK in found
    rest = (found or "").replace(MARK, "")
    assert "4471" not in rest and "ker" not in rest
    assert all(piece in rest for piece in ("I said", "And more") if piece in text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("TKT-1000 is open", "TKT-100"),
        ("alice.smith@shop.test wrote", "alice"),
        ("it is 300, or 1.30", "30"),
        ("the ferry leaves at nineteen", "the ferry leaves at nine"),
        ("三十五", "三十"),
        ("30万", "30"),
        ("abc", ""),
        ("abc", " . "),
        ("", "abc"),
        ("[forgotten]", "forgotten"),
        ("x [forgotten] y", "x y"),
    ],
)
def test_what_is_no_whole_token_stays(text: str, value: str) -> None:
    assert masked(text, [value]) == text and not states(text, value)


def test_several_values_may_overlap_and_masking_again_changes_nothing() -> None:
    text = "We deploy on Tuesday with make, and 我们用 pnpm 部署。"
    values = ["deploy on Tuesday", "Tuesday with make", "我们用 pnpm"]
    once = masked(text, values)
    assert once == "We [forgotten], and [forgotten] 部署。"
    assert masked(once, values) == once


def test_nothing_is_left_where_all_was_masked() -> None:
    assert masked("4471-blue.", ["4471-blue"]) is None and masked("a 4471-blue", ["4471-blue"]) == "a [forgotten]"


PARTS = st.lists(st.sampled_from([*"abАб1３. ,(-", "部署", "\u200b", "ﬁ", "ß", "É", "\n", "TKT-100", "x\u0301"]), max_size=14).map("".join)


@settings(max_examples=300, deadline=None)
@given(PARTS, PARTS, PARTS)
def test_what_is_found_says_the_value_and_what_is_left_does_not(left: str, value: str, right: str) -> None:
    """The oracle is `normalise`, which tombstones use: every place found is the value, and a text that is the value is found."""
    text = f"{left} {value} {right}"
    for start, end in places(text, value):
        assert normalise(text[start:end]) == normalise(value)
    if normalise(value):
        assert states(value, value) or "-" in re.split(r"\w", value)[0], "a value states itself, but for a sign before it"
    found = masked(text, [value])
    assert not states(found or "", value)
    if found is not None:
        pieces = found.split(MARK)
        assert text.startswith(pieces[0]) and text.endswith(pieces[-1])


def test_comparable_text_is_what_normalise_makes_of_it() -> None:
    rng = random.Random(3)
    alphabet = [*"abcXYZ019 .,!-()", "部署", "Ａ１", "о", "é", "\u200b", "\n"]
    same = 0
    for _ in range(400):
        text = "".join(rng.choices(alphabet, k=rng.randint(0, 20)))
        same += normalise(text) == comparable(spelled(text)).text
        view = comparable(spelled(text))
        assert len(view.offsets) == len(view.text)
    assert same > 360


def test_masking_takes_linear_time() -> None:
    hostile = "a" * 100_000
    assert masked(hostile, ["a" * 50]) == hostile
    assert masked("a " * 50_000, ["a b"]) == "a " * 50_000
