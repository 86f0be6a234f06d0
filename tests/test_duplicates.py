"""Two wordings of one statement are one; a contradiction never is, however alike it looks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memkit.write import duplicates
from memkit.write.duplicates import Statements, same_statement, similarity

SAME = [
    ("The timeout is 30 s.", "the timeout  is 30 s"),
    ("ＴＨＥ timeout is 30 s", "the timeout is 30 s"),
    ("The tests run before every deploy to production", "Tests run before every deploy to the production"),
    ("发布前必须跑完整的集成测试和回归测试", "发布前必须跑完整集成测试和回归测试"),
    ("Deploys to production need two approvals", "Deploy to production need two approval"),
]
OTHER = [
    ("The timeout of every payment call is 30 s", "The timeout of every payment call is 60 s"),
    ("Use npm for every package in this workspace", "Do not use npm for every package in this workspace"),
    ("Use npm for every package in this workspace", "Use pnpm for every package in this workspace"),
    ("Deploys are allowed on Friday after the tests pass", "Deploys are never allowed on Friday after the tests pass"),
    ("周五下午可以发布生产环境的新版本", "周五下午不可以发布生产环境的新版本"),
    ("生产环境的支付超时时间是三十秒不变", "生产环境的支付超时时间是六十秒不变"),
    ("A calls B before the order is written", "B calls A before the order is written"),
    ("retries=3 in the production settings file", "retries=4 in the production settings file"),
    ("the limit is 1.5 for every caller of the service", "the limit is 15 for every caller of the service"),
]


def test_other_wordings_of_one_statement_are_recognised():
    assert [pair for pair in SAME if not same_statement(*pair)] == []


def test_a_contradiction_is_never_a_duplicate_however_alike_it_looks():
    assert [pair for pair in OTHER if same_statement(*pair)] == []
    assert max(similarity(*pair) for pair in OTHER) > 0.9  # so it is not likeness alone that tells them apart


@given(st.text(max_size=60), st.text(max_size=60))
def test_it_does_not_matter_which_of_two_came_first(one, other):
    assert same_statement(one, other) == same_statement(other, one)
    assert same_statement(one, one)


WORDS = ["The", "the", "timeout", "timeouts", "is", "30 s", "60 s", "not", "ｔｉｍｅｏｕｔ", "缓存", "是", "冷的", ".", "!", "npm", "use"]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), max_size=12))
def test_what_says_the_same_is_found_without_comparing_all(texts):
    said = Statements()
    for number, text in enumerate(texts):
        assert said.like(text) == [before for before in range(number) if same_statement(texts[before], text)]
        said.add(number, text)


def test_a_plan_of_many_candidates_compares_only_what_is_alike(monkeypatch):
    calls = []
    monkeypatch.setattr(duplicates, "similarity", lambda one, other: calls.append(one) or 0.0)
    said = Statements()
    for number in range(500):
        assert said.like(f"the cache is cold on day {number}") == []
        said.add(number, f"the cache is cold on day {number}")
    assert len(calls) < 500
