"""The drift lab in JupyterLab in a real Chromium: the lesson is run, and the lab used as a learner uses it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest
from browser import Browser, JupyterLab, Notebook
from playwright.sync_api import Locator, expect

from memkit.lab import notebooks_folder, reset

pytestmark = pytest.mark.browser

expect.set_options(timeout=15_000)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Run the whole lesson where a learner runs it, as a copy in `_work`, so that the committed one is not saved over."""
    reset("shop")
    lesson = notebooks_folder() / "_work" / "evidence-in-browser.ipynb"
    shutil.copyfile(notebooks_folder() / "01_evidence.ipynb", lesson)
    try:
        with JupyterLab(notebooks_folder()) as lab, lab.page(chromium, height=1300) as found:
            found.open(f"_work/{lesson.name}").run_all()
            yield found
    finally:
        lesson.unlink()


@pytest.fixture
def panel(browser: Browser) -> Locator:
    found = Notebook(browser).panel(0)
    found.scroll_into_view_if_needed()
    return found


def row(panel: Locator, cite: str) -> Locator:
    return panel.locator("tr").filter(has=panel.page.get_by_text(cite, exact=True)).locator("td")


def button(panel: Locator, name: str) -> Locator:
    return panel.get_by_role("button", name=re.compile(rf"{name}$"))  # subtle: the icon before it is a part of its name


def test_edits_are_applied_counted_and_judged(panel: Locator, browser: Browser) -> None:
    status = panel.get_by_role("status")
    expect(status).to_contain_text("2 of 5 erred")
    expect(row(panel, "quote=30").nth(2)).to_have_text("no: missed")
    button(panel, "Apply all").click()
    expect(status).to_contain_text("Edits counted: 15.")
    expect(row(panel, "key=server.timeout").nth(3)).to_have_text("0 of 9")
    expect(row(panel, "the whole file").nth(3)).to_have_text("9 of 9")
    panel.get_by_label("Edit", exact=True).select_option(label="moving: the client is described first")
    button(panel, "Apply").click()
    expect(row(panel, "lines=5").nth(1)).to_contain_text("MOVED")
    browser.keep("drift-1-wide-light")


def test_a_piece_is_chosen_an_edit_typed_and_an_error_shown_and_mended(panel: Locator) -> None:
    panel.get_by_label("File", exact=True).select_option(label="guide.md")
    piece, text = panel.get_by_label("Piece", exact=True), panel.locator("textarea").first
    expect(piece).to_have_value("waits 30 seconds")
    piece.fill("not in the guide")
    piece.press("Tab")
    expect(panel.get_by_role("alert")).to_contain_text("BadLocator: the piece stands 0 times")
    piece.fill("先切换到备用通道")
    piece.press("Tab")
    expect(panel.get_by_role("alert")).to_have_count(0)
    expect(row(panel, "section=值班")).to_have_count(5)
    text.fill(text.input_value().replace("再通知值班同事", "再通知主管"))
    button(panel, "Try what I typed").click()
    expect(row(panel, "section=值班").nth(2)).to_have_text("no: fell falsely")
    expect(row(panel, "quote=先切换到备用通道").nth(2)).to_have_text("yes: holds")
    expect(panel.locator("pre", has_text="kit.check")).to_contain_text("memkit.suggest('guide.md', '先切换到备用通道'")


def test_it_fits_narrow_and_dark_and_wide_and_light(panel: Locator, browser: Browser) -> None:
    for theme, name, width, height in (("JupyterLab Dark", "narrow", 700, 1900), ("JupyterLab Light", "wide", 1400, 1300)):
        browser.theme(theme)
        browser.resize(width, height)
        panel.scroll_into_view_if_needed()
        browser.keep(f"drift-2-{name}-{theme.split()[1].lower()}", panel)
        assert panel.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    assert browser.errors == []
