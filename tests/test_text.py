"""Claims about folding, normalising and counting."""
# ruff: noqa: E501

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit.record.text import MAX_MARKS, count_tokens, fold, latinise, normalise

ODD = st.text(st.sampled_from("aé\u0301\u0323\u200b\u00adｶﾞ가\u1100\u1161ﬁ㎏Å\u2126\U000e0041\ufe0fА10 \n"), max_size=40)
ANY = st.one_of(ODD, st.text(max_size=60))


def visible(text: str) -> str:
    """The oracle: drop what is invisible by its general category or by name, then let the standard library normalise."""
    extra = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
    return "".join(c for c in text if c in "\n\t\r" or (unicodedata.category(c) not in ("Cf", "Cc") and ord(c) not in extra))


@given(ANY)
def test_fold_equals_nfkc_of_what_is_visible(text):
    assert fold(text).text == visible(unicodedata.normalize("NFKC", visible(text)))


@given(ANY)
def test_every_span_maps_back_to_an_original_that_folds_to_it(text):
    folded = fold(text)
    spans = [folded.original_span(n, n + 1) for n in range(len(folded.text))]
    assert spans == sorted(spans)
    assert all(char in fold(text[start:end]).text for char, (start, end) in zip(folded.text, spans, strict=True))
    if folded.text:
        assert fold(text[slice(*folded.original_span(0, len(folded.text)))]).text == folded.text


def test_expanding_and_composing_characters_map_to_their_whole_cluster():
    folded = fold("x\u200bﬁe\u0301 ｶﾞ!")
    assert folded.text == "xfié ガ!"
    assert [folded.original_span(n, n + 1) for n in range(7)] == [(0, 1), (2, 3), (2, 3), (3, 5), (5, 6), (6, 8), (8, 9)]
    assert folded.original_span(7, 7) == (9, 9)


def test_printable_ascii_is_returned_as_it_is():
    text = "plain ASCII, with\ttabs\nand lines"
    assert fold(text).text is text


def test_a_letter_keeps_at_most_thirty_marks():
    assert fold("q" + "\u0323" * 1000).text == "q" + "\u0323" * MAX_MARKS


@given(ANY)
def test_normalise_is_idempotent(value):
    assert normalise(normalise(value)) == normalise(value)


@pytest.mark.parametrize(
    "disguise",
    ["TKT-100 OK", "tkt-100ok", " T K T - 1 0 0 o k ", "ＴＫＴ－１００ＯＫ", "T\u200bKT-1\u206000ok", "\u0422\u041a\u0422-100\u041e\u041a", "tkt\u2010100\u03bf\u03ba", "TKT-100\ufe0f O\u00adK"],
)  # fmt: skip
def test_case_space_width_invisible_and_look_alike_forms_share_one_value(disguise):
    assert normalise(disguise) == "tkt-100ok"


@pytest.mark.parametrize(
    ("one", "other"),
    [("TKT-100", "TKT-1000"), ("alice@x.test", "alice.smith@x.test"), ("1.2", "12"), ("a/b", "ab"), ("O0", "OO"), ("l1", "ll"), ("超时三十秒", "超时三十分"), ("v-1", "v1")],
)  # fmt: skip
def test_different_values_stay_different(one, other):
    assert normalise(one) != normalise(other)


@given(ANY)
def test_latinise_keeps_every_position(text):
    assert len(latinise(text)) == len(text)


@given(ANY, ANY)
def test_tokens_never_shrink_by_concatenation(one, other):
    assert max(count_tokens(one), count_tokens(other)) <= count_tokens(one + other)


WRITTEN = st.text(st.sampled_from("aeklmqxzABQX019 .-\t\n部"), max_size=40)


@given(WRITTEN, WRITTEN)
def test_tokens_never_shrink_by_concatenation_whatever_words_it_makes(one, other):
    assert max(count_tokens(one), count_tokens(other)) <= count_tokens(one + other)


@given(WRITTEN, WRITTEN)
def test_joined_lines_never_have_more_tokens_than_each_alone(one, other):
    assert count_tokens(f"{one}\n{other}") <= count_tokens(f"{one}\n") + count_tokens(other)


@pytest.mark.parametrize("text", ["a" * 400_000, "1" * 400_000, "a1" * 200_000, "xq" * 200_000, " " * 400_000])
def test_tokens_of_a_long_word_are_counted_in_linear_time(text):
    started = time.perf_counter()
    count_tokens(text)
    assert time.perf_counter() - started < 5


def test_tokens_follow_the_stated_rule():
    counts = {
        text: count_tokens(text) for text in ("", "word", "words", "one two", "1234", "a, b", "密码", "\n\n", "  ", "\U0001f600", "\x00")
    }
    bare = {"": -1, "word": 1, "words": 2, "one two": 2, "1234": 4, "a, b": 3, "密码": 4, "\n\n": 1, "  ": 1, "\U0001f600": 4, "\x00": 1}
    assert counts == {text: count + 1 for text, count in bare.items()}


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("at 8", 3),  # the blank before a digit
        ("at  8", 4),
        ("\tat", 2),
        ("README", 2),
        ("getUserName", 3),
        ("sha256", 6),  # a letter beside a digit
        ("a" * 16, 4),
        ("a" * 17, 17),  # no word is that long
        ("    8", 3),  # a run of blanks, and the one before a digit
        (" " * 32, 2),
    ],
)
def test_what_is_no_plain_word_costs_more(text, bare):
    assert count_tokens(text) == bare + 1


def test_ordinary_sentences_are_never_counted_below_a_real_tokenizer():
    """Its counts were taken from the published vocabulary of Qwen, which takes each digit alone; it is too large to be a dependency."""
    measured = {
        "We deploy on Tuesdays and Thursdays, never on a Friday afternoon.": 15,
        "The checkout service retries failed payments 3 times with an exponential backoff.": 15,
        "Internationalisation of the authentication middleware is unnecessarily complicated.": 10,
        "Please don't reformat generated files; it's confusing for reviewers.": 14,
        "发布前必须跑完整的集成测试和回归测试。": 11,
        "数据库连接池的最大连接数是 50，超时时间为 30 秒。": 20,
        "龘靐齉爩麤灪，饕餮魑魅魍魉。": 19,
        "The API 监听 8081 端口 since 2026-11-30.": 27,
    }
    assert {text: count_tokens(text) for text, known in measured.items() if count_tokens(text) < known} == {}


def test_numbers_and_random_strings_are_never_counted_below_four_real_tokenizers():
    """The highest of what the published vocabularies of Qwen 3, DeepSeek 3, Llama 3 and Claude give; the text is made up."""
    measured = {
        "3, 14, 159, 2653, 58979": 23,
        "1 2 3 4 5 6 7 8 9 10 11 12": 26,
        "5\t9\t51\t3.95\t-9\t3\t2\t-70": 22,
        "    [0, 1, 2, 3, 4, 5, 6, 7, 8,": 28,
        "6d25cf734c49a1dd273e4d8fab5f5bdb8d1099ec05e8fdc7": 39,
        "C1D734777648AB73BDE20182": 22,
        "UEXk2jLaXpZ5a50weOZFLylpzM3CcQyDhp7LeXn+P6HtZyyd": 38,
        "U4gAyyUUqS-TeRgYxu1TcoG0q02cr0wkJS82F-eJ": 32,
        "a26b7f62-b185-2f27-e3ef-f9c0cf44dd3f": 30,
        "btmouxtuftaqcbbghtayokos": 13,
        "Ryder, Zach and Daniel were OUT OF REACH, EVEN IF ADVISED.": 17,
        "MOS7AF5R2FQUOSBEGZGSYEBANND6YZ2E": 22,
        "sha256:0e38f59001f523a1d032": 25,
        "ghp x7Kq 9ZtL vB3w": 15,
        "}{)(][<>;:!?=+-*/&&||==!=->::": 17,
        "def f(x): return {k: v[::-1] for k, v in x.items()}": 22,
        "for (i = 0; i < n; ++i) { a[i] *= 2; }": 23,
        '\tif err != nil {\n\t\treturn fmt.Errorf("bad %d: %w", n, err)\n\t}': 28,
        "SELECT id, MAX(ts) FROM ev_log WHERE kind IN ('A1','B2') GROUP BY 1;": 25,
        "2026-11-30T10:05:00.123456Z 10.0.0.17 GET /v2/x?id=8f3a 200 512": 56,
    }
    assert {text: count_tokens(text) for text, known in measured.items() if count_tokens(text) < known} == {}
