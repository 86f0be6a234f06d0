"""Lessons come out the same every time: the clock moves when told to, ids count, and citations can be looked at."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memkit
from memkit import lab

ROOT = Path(__file__).resolve().parents[2]
SHOP = memkit.Scope(workspace="shop")


def test_the_clock_stands_still_until_it_is_moved():
    clock = lab.clock("2026-03-02T17:00+08:00")
    assert [clock(), clock()] == [datetime(2026, 3, 2, 9, tzinfo=UTC)] * 2
    assert clock.advance(days=1, minutes=30) == clock() == datetime(2026, 3, 3, 9, 30, tzinfo=UTC)
    assert repr(clock) == "Clock(2026-03-03T09:30:00+00:00)"


@pytest.mark.parametrize("start", ["2026-03-02T09:00", "2026-03-02", "yesterday", ""])
def test_a_time_without_its_offset_is_refused(start):
    with pytest.raises(memkit.Refused, match="write it with its offset from UTC") as caught:
        lab.clock(start)
    assert caught.value.reason == "BAD_TIME"


def test_a_day_is_its_noon_and_a_whole_time_is_that_moment():
    assert lab.day("2026-03-05") == datetime(2026, 3, 5, 12, tzinfo=UTC)
    assert lab.day(" 2026-03-05T09:00+08:00 ") == datetime(2026, 3, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize("text", ["yesterday", "", "2026-02-30", "5.3.2026", "2026-03-05T09:00", 5, None])
def test_what_is_no_day_is_refused(text):
    with pytest.raises(memkit.Refused, match="a day alone|year-month-day") as caught:
        lab.day(text)
    assert caught.value.reason == "BAD_DAY"


def test_the_clock_does_not_go_back():
    clock = lab.clock("2026-03-02T09:00+00:00")
    with pytest.raises(memkit.Refused, match="the step is -60 seconds"):
        clock.advance(minutes=-1)
    assert clock.advance() == datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_a_kit_with_such_a_clock_and_ids_writes_the_same_record_twice():
    def story() -> tuple[object, ...]:
        clock = lab.clock("2026-03-02T09:00+00:00")
        with memkit.open(clock=clock, ids=lab.ids()) as kit:
            kit.remember("语气", "回答要简短。", scope=SHOP)
            clock.advance(days=1)
            receipt = kit.forget("语气", scope=SHOP, expected=1, reason="asked")
            return receipt, kit.events(scope=SHOP), kit.history("语气", scope=SHOP)

    first = story()
    assert first == story()
    assert first[0].tombstones and first[0].at == datetime(2026, 3, 3, 9, tzinfo=UTC)


def test_without_such_ids_the_record_differs():
    def tombstone() -> str:
        with memkit.open(clock=lab.clock("2026-03-02T09:00+00:00")) as kit:
            kit.remember("tone", "short", scope=SHOP)
            return kit.forget("tone", scope=SHOP, expected=1, reason="asked").tombstone

    assert tombstone() != tombstone()


def test_look_says_what_stands_at_a_citation_or_none(tmp_path):
    (tmp_path / "a.cfg").write_text("超时=30\nempty=\n", encoding="utf-8")
    cites = ["a.cfg#key=超时", "a.cfg#lines=1-1", "a.cfg#key=retries", "b.cfg"]
    assert [lab.look(tmp_path, cite) for cite in cites] == ["30", "超时=30", None, None]
    with pytest.raises(memkit.UnsafePath):
        lab.look(tmp_path, "../a.cfg")


def test_the_project_folder_of_a_checkout_is_the_checkout(monkeypatch, tmp_path):
    assert lab.look(lab.project_folder(), "pyproject.toml#key=project.name") == "memkit"
    monkeypatch.setattr("memkit.lab.sandbox.is_installed", lambda: True)
    monkeypatch.chdir(tmp_path)
    assert lab.project_folder() == tmp_path / "_work" / "shop"
    assert lab.look(lab.project_folder(), "package.json#key=name") == "shop-frontend"


def test_what_lessons_are_made_of_is_there_without_widgets():
    probe = "import sys; sys.modules['ipywidgets'] = None; from memkit import lab; print(lab.check.tour_1({'retries'}), lab.clock, lab.ids)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("Right: timeout is VALID; retries is MISSING")
