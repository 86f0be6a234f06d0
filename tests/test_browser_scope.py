"""Lesson 02 in JupyterLab in a real Chromium: run it, and walk over its map as a learner does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from browser import Browser, JupyterLab, Notebook
from playwright.sync_api import Locator, expect

from memkit.lab import notebooks_folder, reset

pytestmark = pytest.mark.browser

SOON = 15_000  # milliseconds, on a machine that is busy


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Run the lesson where a learner runs it, as a copy in `_work`, so that the committed one is not saved over."""
    reset("shop")
    lesson = notebooks_folder() / "_work" / "scope-in-browser.ipynb"
    shutil.copyfile(notebooks_folder() / "02_scope_and_state.ipynb", lesson)
    try:
        with JupyterLab(notebooks_folder()) as lab, lab.page(chromium, height=1800) as found:
            found.open(f"_work/{lesson.name}").run_all()
            yield found
    finally:
        lesson.unlink()


def rows(panel: Locator, how: str) -> Locator:
    """Return the rows of memories that stand so."""
    return panel.locator("tr").filter(has=panel.page.locator("span", has_text=how))


def choose(panel: Locator, label: str, name: str) -> None:
    panel.get_by_label(label, exact=True).select_option(name)


def test_a_learner_walks_over_the_map(browser: Browser) -> None:
    panel = Notebook(browser).panel()
    panel.scroll_into_view_if_needed()
    status = panel.get_by_role("status")
    expect(status).to_contain_text("3 of 10 memories visible, 1 hidden by a narrower one, 6 not applicable.", timeout=SOON)
    browser.keep("scope-1-prod", panel)

    choose(panel, "env", "test")
    expect(status).to_contain_text("me asks from env=test, workspace=shop.", timeout=SOON)
    expect(rows(panel, "visible").locator("b")).to_have_text(["build api", "reply"])

    choose(panel, "env", "prod")
    choose(panel, "branch", "feature/pay")
    expect(rows(panel, "visible").filter(has_text="⇄ has a rival")).to_have_count(2, timeout=SOON)
    expect(panel.get_by_text("7 exact strings are looked up")).to_be_visible()
    browser.keep("scope-2-rivals", panel)

    panel.get_by_label("user=True").check()
    expect(rows(panel, "visible").filter(has_text="Reply in English, please.")).to_have_count(1, timeout=SOON)
    choose(panel, "Who asks", "bo: bo (person)")
    expect(rows(panel, "visible").filter(has_text="回复请用中文。")).to_have_count(1, timeout=SOON)
    expect(rows(panel, "not applicable").filter(has_text="Reply in English, please.")).to_have_count(1)
    expect(panel.locator("pre[title]").last).to_contain_text("kit.acting_as(bo).recall(")

    panel.get_by_placeholder("any exact name").fill("sho")
    panel.get_by_role("button", name="Use this name").click()
    expect(status).to_contain_text("workspace=sho.", timeout=SOON)
    expect(rows(panel, "visible").locator("b")).to_have_text(["restart"])

    panel.get_by_label("user=True").uncheck()
    for label in ("workspace", "branch", "env"):
        choose(panel, label, "(not named)")
    expect(panel.get_by_role("alert")).to_contain_text("BadScope: this scope names no dimension", timeout=SOON)
    expect(status).to_contain_text("No scope: nothing is looked up.")
    browser.keep("scope-3-no-scope", panel)
    choose(panel, "workspace", "blog")
    expect(panel.get_by_role("alert")).to_have_count(0, timeout=SOON)
    expect(rows(panel, "visible").locator("b")).to_have_text(["build api"])


def test_it_fits_a_narrow_window_and_the_dark_and_no_error_reached_the_console(browser: Browser) -> None:
    panel = Notebook(browser).panel()
    choose(panel, "workspace", "shop")
    choose(panel, "env", "prod")
    expect(panel.get_by_role("status")).to_contain_text("env=prod, workspace=shop", timeout=SOON)
    browser.theme("JupyterLab Dark")
    for name, width, height in (("wide", 1400, 1800), ("narrow", 700, 2200)):
        browser.resize(width, height)
        browser.keep(f"scope-4-{name}-dark", panel)
        outside = panel.evaluate("e => e.scrollWidth - e.clientWidth")
        assert outside <= 0, f"{outside} pixels stick out of the {name} map"
    assert browser.errors == []
