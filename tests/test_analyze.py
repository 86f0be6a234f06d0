"""The terms of English, identifiers, Chinese and anything hostile."""

import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit.read import analyze as module
from memkit.read.analyze import LONGEST, STOP_WORDS, analyze, forget_cached

LONG = 200_000  # characters; anything quadratic would take minutes


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Retries were retrying", ["retri", "retri"]),
        ("parseJSONToMap", ["parsejsontomap", "pars", "json", "map"]),
        ("URLs getUserIDs", ["url", "getuserid", "get", "user", "id"]),
        ("HTTP_MAX-size", ["http_max-size", "http", "max", "size"]),
        ("__init__.py", ["init__.py", "init", "py"]),
        ("see src/app/main.py.", ["see", "src/app/main.py", "src", "app", "main.py", "main", "py"]),
        (r"src\app\main.py", ["src/app/main.py", "src", "app", "main.py", "main", "py"]),
        ("v1.2", ["v1.2", "1.2", "1", "2"]),
        ("3.11.2rc1", ["3.11.2rc1", "3", "11", "2rc1", "2", "rc", "1"]),
        ("TKT-100", ["tkt-100", "tkt", "100"]),
        ("a sha256 of 30s", ["sha256", "sha", "256", "30s", "30"]),
        ("用pnpm安装", ["用", "pnpm", "安", "装", "安装"]),
        ("配置 prod.cfg 的超时", ["配", "置", "配置", "prod.cfg", "prod", "cfg", "超", "时", "的超", "超时"]),
        ("ｐｎｐｍ", ["pnpm"]),
        ("データ ﾃﾞｰﾀ", ["デ", "ー", "タ", "デー", "ータ"] * 2),
        ("검색", ["검", "색", "검색"]),
        (unicodedata.normalize("NFD", "검색"), ["검", "색", "검색"]),
        ("cafe\u0301 café CAFÉ", ["café"] * 3),
        ("größeWert", ["grössewert", "grösse", "wert"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("हिन्दी", ["हिन्दी"]),
        ("pass\u200bword", ["password"]),
        ("don't use npm", ["don", "use", "npm"]),
        ("not no", ["not", "no"]),
    ],
)
def test_text_becomes_exactly_these_terms(text: str, terms: list[str]) -> None:
    assert analyze(text) == [unicodedata.normalize("NFKC", term) for term in terms]


@pytest.mark.parametrize(
    "text", ["", " ", "?!", "what is it", "为什么", "是什么", "请问这个是什么吗", "🙂👩‍👩‍👧", "\ud800", "\x00", "\u202e", "___", "-/-"]
)
def test_nothing_but_stop_words_and_signs_has_no_terms(text: str) -> None:
    assert analyze(text) == []
    assert analyze(f"{text} pnpm") == ["pnpm"]


@given(st.text(st.characters()) | st.text("aAB1._-/\\@' 的什么密码\u0301\u200d\ud800\u0e33ﷺ"))
def test_any_string_gives_folded_terms_of_bounded_length(text: str) -> None:
    for term in analyze(text):
        assert 0 < len(term) <= 3 * LONGEST  # folding case can make one letter three
        assert term.casefold() == term
        assert not term.isspace()


@given(st.lists(st.sampled_from(["pnpm", "HTTPServer", "src/app", "密码", "the", "v1.2"])))
def test_terms_of_a_text_are_the_terms_of_its_words_in_order(words: list[str]) -> None:
    assert analyze(" ".join(words)) == [term for word in words for term in analyze(word)]


@given(st.text(), st.booleans())
def test_the_cache_changes_no_answer(text: str, warm: bool) -> None:
    if warm:
        analyze(text)
    else:
        forget_cached()
    warm_or_cold = analyze(text)
    forget_cached()
    assert warm_or_cold == analyze(text)


def test_forget_cached_leaves_no_word_behind() -> None:
    analyze("quokkas")
    assert module._cached_terms.cache_info().currsize > 0
    forget_cached()
    assert module._cached_terms.cache_info().currsize == 0


def test_chinese_text_and_over_long_words_are_never_cached() -> None:
    forget_cached()
    assert analyze("密码" + " " + "x" * (LONGEST + 1)) == ["密", "码", "密码", "x" * LONGEST]
    assert module._cached_terms.cache_info().currsize == 0


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "A",
        "aB",
        "a.",
        "a/",
        "a_",
        "_",
        "a__",
        "1",
        "v1.",
        "中",
        "的",
        "什么",
        "\u0301\u0327",
        "a\u0301",
        "\u0915\u093f",
        "🙂",
        "\u200d",
        "ﷺ",
        "\ud800",
        "\u05d0",
        "-._/",
    ],
)
def test_a_long_run_of_anything_is_analysed(unit: str) -> None:
    terms = analyze((unit * LONG)[:LONG] + " pnpm")
    assert terms[-1] == "pnpm"


def test_threads_do_not_mix_their_words() -> None:
    words = [f"{stem}{ending}" for stem in ("connect", "deploy", "configur", "revers") for ending in ("ing", "ed", "s", "ation")]
    alone = [analyze(word) for word in words]
    forget_cached()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(module._terms, words * 200)) == [tuple(terms) for terms in alone] * 200


def test_stop_words_are_written_as_they_are_compared() -> None:
    assert {word.casefold() for word in STOP_WORDS} == STOP_WORDS
    assert "not" not in STOP_WORDS and "no" not in STOP_WORDS


def test_importing_the_analyser_loads_no_stemmer_until_a_word_needs_it() -> None:
    program = (
        "import sys; from memkit.read.analyze import analyze; before = 'snowballstemmer' in sys.modules\n"
        "analyze('words'); print(before, 'snowballstemmer' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
