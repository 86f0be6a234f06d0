"""read/needs.py: how a question falls into needs, and which of them are about where a task stands."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit.read.analyze import analyze
from memkit.read.needs import asks_for_state, split

BRANCH, STEPS = "kit.state.get('branch', scope=scope)", "kit.state.reconcile(scope=scope)"


@pytest.mark.parametrize(
    ("question", "needs"),
    [
        ("What is the port and who keeps the rota?", ["What is the port", "who keeps the rota"]),
        ("What is the port? And the host?", ["What is the port", "And the host"]),
        ("发票保存多少年，订单满多少元包邮？", ["发票保存多少年", "订单满多少元包邮"]),
        ("值班表由谁维护？还有完整测试要多久？", ["值班表由谁维护", "完整测试要多久"]),
        ("Where did Ann and Bob go, and why?", ["Where did Ann and Bob go, and why"]),
        ("Which books by C. S. Lewis does Dr. Tim like?", ["Which books by C. S. Lewis does Dr. Tim like"]),
        ("", [""]),
        ("???", [""]),
    ],
)
def test_a_question_is_split_where_another_one_begins(question: str, needs: list[str]) -> None:
    assert split(question) == needs


@pytest.mark.parametrize(
    ("need", "call"),
    [
        ("Which branch am I on?", BRANCH),
        ("what's the current branch", BRANCH),
        ("我现在在哪个分支？", BRANCH),
        ("当前分支是什么", BRANCH),
        ("How far did we get with the migration?", STEPS),
        ("Where did I leave off?", STEPS),
        ("任务做到哪一步了？", STEPS),
        ("下一步是什么", STEPS),
        ("当前进度如何", STEPS),
        ("What's my branch?", BRANCH),
        ("I'm on which branch?", BRANCH),
        ("current branch?", BRANCH),
        ("当前是哪个分支", BRANCH),
        ("目前所在分支是哪个？", BRANCH),
        ("我當前在哪個分支", BRANCH),
        ("What's next?", STEPS),
        ("What is our current status?", STEPS),
        ("What is my progress on the migration?", STEPS),
        ("Which branch is it merged to?", None),
        ("Who protects the current branch?", None),
        ("What is my branch naming convention?", None),
        ("补丁在哪个分支发布？", None),
        ("当前分支由谁保护？", None),
        ("What is the current status of the cache?", None),
        ("What is next in the release process?", None),
        ("What colour is my progress bar?", None),
        ("工作进度表放在哪里？", None),
        ("How are branches named?", None),
        ("分支命名格式是什么", None),
        ("Which branch is protected?", None),
        ("How far is the moon?", None),
        ("部署的第一步是什么", None),
    ],
)
def test_where_a_task_stands_is_told_from_what_is_known(need: str, call: str | None) -> None:
    assert asks_for_state(need) == call


@given(st.text(max_size=200))
def test_any_text_is_a_question_and_no_term_is_lost_by_splitting(text: str) -> None:
    needs = split(text)
    assert 1 <= len(needs) <= 5
    assert {term for need in needs for term in analyze(need) if term.isascii() and term.isalpha()} <= set(analyze(text)) | set(
        analyze(" ".join(needs))
    )
    asks_for_state(text)


@pytest.mark.parametrize("blank", [" ", "\t", "\u3000", " \n", "\r\n\t"])
def test_a_question_of_blanks_costs_its_length_and_not_its_square(blank: str) -> None:
    started = time.perf_counter()
    assert split(f"What is the port{blank * 50_000}and who keeps the rota?")[0] == "What is the port"
    assert time.perf_counter() - started < 5
