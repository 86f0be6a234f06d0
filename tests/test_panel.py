"""The base panel: one guard, one life, and a view for pages without a kernel."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import ipywidgets as widgets

import memkit
from memkit.errors import Conflict
from memkit.widgets.markup import LIVE
from memkit.widgets.panel import Panel, close_former, sql

VIEW = "application/vnd.jupyter.widget-view+json"


class Counter(Panel):
    """A panel that counts, and fails when it is told to."""

    def __init__(self, name: str = "counter") -> None:
        super().__init__(name)
        self.count, self.fails = 0, False
        self.button, self.number = widgets.Button(), widgets.IntText()
        self.on_click(self.button, self.add)
        self.on_value(self.number, self.take)
        self.children = (self.button, self.number, self.error_area, self.call_area)

    def add(self) -> None:
        if self.fails:
            raise ValueError("no <b>more</b> & no less")
        self.count += 1
        with self.quietly():
            self.number.value = self.count

    def take(self, value: object) -> None:
        self.count = int(str(value))
        if self.count > 5:
            raise OverflowError("too many")

    def snapshot(self) -> str:
        return f"<p>{self.count}</p>"

    def as_text(self) -> str:
        return f"count {self.count}"


def test_a_failing_callback_is_shown_and_the_next_success_clears_it():
    panel = Counter()
    panel.fails = True
    panel.button.click()
    assert panel.error == "ValueError: no <b>more</b> & no less"
    assert isinstance(panel.failure, ValueError)
    assert 'role="alert"' in panel.error_area.value
    assert "ValueError: no &lt;b&gt;more&lt;/b&gt; &amp; no less" in panel.error_area.value
    assert "<b>more" not in panel.error_area.value
    panel.fails = False
    panel.button.click()
    assert (panel.error, panel.failure, panel.error_area.value, panel.count) == ("", None, "", 1)


def test_a_conflict_keeps_its_numbers_and_its_way_out_in_view():
    panel = Counter()
    panel.show_error(Conflict("retries", expected=1, actual=2))
    assert panel.error.endswith("not at the expected 1: read the current value, decide again, and pass expected=2")
    for error in (ValueError("password" + "=hunter2hunter2"), Conflict("password" + "=hunter2hunter2", expected=1, actual=2)):
        panel.show_error(error)
        assert "hunter2" not in panel.error + panel.error_area.value


def test_a_control_set_quietly_calls_nothing_and_one_set_by_a_person_does():
    panel = Counter()
    panel.button.click()
    assert panel.number.value == 1
    panel.number.value = 4
    assert panel.count == 4


def test_an_error_inside_a_nested_callback_is_not_cleared_by_the_outer_one():
    panel = Counter()
    assert panel.guard(lambda: setattr(panel.number, "value", 9)) is False
    assert panel.error == "OverflowError: too many"
    assert panel.guard(lambda: setattr(panel.number, "value", 2)) is True
    assert panel.error == ""


def test_what_a_front_end_delivers_on_another_thread_runs_on_the_panels_own_in_order():
    async def run() -> tuple[list[object], set[int]]:
        panel = Counter()
        taken: list[object] = []
        threads: set[int] = set()
        panel.on_value(panel.number, lambda value: (taken.append(value), threads.add(threading.get_ident())))

        def deliver() -> None:
            for number in (1, 2, 3):
                panel.number.value = number

        with panel.quietly():  # the panel is busy setting its own controls: the person's changes must not be lost
            await asyncio.to_thread(deliver)
        for _ in range(5):
            await asyncio.sleep(0)
        panel.close()
        await asyncio.to_thread(panel.guard, taken.append, "too late")
        await asyncio.sleep(0)
        return taken, threads

    assert asyncio.run(run()) == ([1, 2, 3], {threading.get_ident()})


def test_a_display_carries_the_live_view_the_snapshot_and_the_text():
    panel = Counter()
    bundle = panel._repr_mimebundle_()
    assert bundle[VIEW]["model_id"] == panel.model_id
    assert (bundle["text/html"], bundle["text/plain"]) == ("<p>0</p>", "count 0")


def test_running_a_cell_again_closes_the_panel_it_made_and_no_other():
    first, other = Counter("one"), Counter("two")
    second = Counter("one")
    assert first.comm is None
    assert first.button.comm is None
    assert other.comm is not None
    assert second.comm is not None
    assert close_former("one") is True
    assert close_former("one") is False
    assert second.comm is None


def test_the_call_just_made_is_shown_as_text_that_can_be_copied():
    panel = Counter()
    panel.show_call("kit.check(scope=prod)", "kit.recall('<i>')")
    assert panel.call == "kit.check(scope=prod)\nkit.recall('<i>')"
    assert "kit.recall(&#x27;&lt;i&gt;&#x27;)" in panel.call_area.value


def test_the_sql_of_a_call_can_be_opened_secrets_masked_and_markup_escaped():
    secret = "password" + "=hunter2hunter2"
    with memkit.open() as kit:
        panel = Counter()
        panel.kit = kit
        ask = partial(kit.remember, "tone", f"<i>dry</i>, {secret}", scope=memkit.Scope(workspace="shop"))
        assert panel.guard(lambda: (ask(), panel.show_call("kit.remember(...)")))
        assert "The SQL it ran:" in panel.call_area.value and "insert into revision" in panel.call_area.value
        assert "&lt;i&gt;dry&lt;/i&gt;, password=[redacted:" in panel.call_area.value
        assert "hunter2" not in panel.call_area.value and "<i>" not in panel.call_area.value
        assert "The SQL" not in panel.snapshot() + panel.as_text()


def test_sql_that_is_run_again_and_again_is_shown_once_and_a_long_list_is_cut():
    again = sql(["select 1"] * 3, LIVE)
    assert "3 statements" in again and again.count("select 1;") == 1 and "-- 3 times" in again
    assert "-- and 5 others" in sql([f"select {n}" for n in range(65)], LIVE)


def test_a_panel_over_a_closed_store_says_so():
    with memkit.open() as kit:
        panel = Counter()
        panel.kit = kit
    assert not panel.guard(lambda: kit.check(scope=memkit.Scope(workspace="shop")))
    assert "this store is closed" in panel.error
