"""The tidy lab in JupyterLab in a real Chromium: one session, used as a learner uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser, JupyterLab, write_notebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

CELLS = ["from memkit.widgets.tidy import TidyLab", "TidyLab()"]

expect.set_options(timeout=30_000)


def test_the_lab_is_used_with_mouse_and_keyboard(chromium: str, tmp_path: Path) -> None:
    write_notebook(tmp_path / "tidy.ipynb", CELLS)
    with JupyterLab(tmp_path) as server, server.page(chromium, height=1500) as browser:
        notebook = browser.open("tidy.ipynb")
        notebook.run_all()
        panel = notebook.panel(0)
        trip_the_fuse(panel)
        wake_the_sleeper(panel)
        kill_it(panel)
        keep_pictures(browser, panel)
        assert browser.errors == []


def press(panel: Locator, name: str) -> None:
    panel.get_by_role("button", name=name).click()


def trip_the_fuse(panel: Locator) -> None:
    """Lose half, be stopped, wait a day, and go by the rules."""
    panel.get_by_label("Planner").select_option("loses half")
    expect(panel.get_by_text("5 of 11 entries changed or lost: 45 %. The fuse allows 25 %.")).to_be_visible()
    press(panel, "Consolidate")
    expect(panel.get_by_role("status").first).to_contain_text("Every row but the lease is as it was.")
    press(panel, "Consolidate")
    expect(panel.get_by_role("alert")).to_contain_text("try again after")
    press(panel, "A day passes")
    expect(panel.get_by_role("alert")).to_have_count(0)
    panel.get_by_label("Planner").select_option("the rules")
    expect(panel.get_by_role("status").first).to_contain_text("7 steps would be taken")
    expect(panel.locator("tr", has_text="~ change")).to_contain_text("The mail queue is longest at eleven")


def wake_the_sleeper(panel: Locator) -> None:
    """Let B take over from A, who slept, and wake A."""
    night = panel.get_by_role("status").nth(1)
    for name, told in (
        ("A starts", "A: has the lease, has looked, and falls asleep"),
        ("11 minutes pass", "11 minutes pass."),
        ("B starts", "between looking and writing: A and B"),
        ("B wakes", "B: 7 steps carried out"),
        ("A wakes", "A: LeaseLost"),
    ):
        press(panel, name)
        expect(night).to_contain_text(told)
    expect(panel.get_by_role("button", name="A wakes")).to_be_disabled()


def kill_it(panel: Locator) -> None:
    press(panel, "Kill it at every point")
    expect(panel.get_by_role("status").nth(2)).to_contain_text("0 times something between")
    expect(panel.locator("pre", has_text="lab.killed.rehearse()")).to_be_visible()


def keep_pictures(browser: Browser, panel: Locator) -> None:
    """Keep it narrow and wide, light and dark; nothing may stick out."""
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        browser.theme(theme)
        for size, width in (("wide", 1400), ("narrow", 700)):
            browser.resize(width, 2200)
            browser.keep(f"tidy-{size}-{theme.split()[1].lower()}", panel)
            outside = panel.evaluate("e => e.scrollWidth - e.clientWidth")
            assert outside <= 0, f"{outside} pixels stick out of the {size} tidy lab"
