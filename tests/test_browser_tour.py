"""The tour in JupyterLab in a real Chromium: run it, break a source by hand, and see exactly the right memories fall."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, JupyterLab, Notebook
from playwright.sync_api import Locator, expect

from memkit.lab import notebooks_folder, reset

pytestmark = pytest.mark.browser

PROD = ["packages", "prices", "retries", "shipping", "timeout", "tone"]
SOON = 15_000  # milliseconds, on a machine that is busy; what is promised is two seconds
TITLE = ":scope > div > div:first-child > b"


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Run the whole tour where a learner runs it, as a copy in `_work`, so that the committed one is not saved over."""
    reset("shop")
    lesson = notebooks_folder() / "_work" / "tour-in-browser.ipynb"
    shutil.copyfile(notebooks_folder() / "00_tour.ipynb", lesson)
    try:
        with JupyterLab(notebooks_folder()) as lab, lab.page(chromium, height=1300) as found:
            notebook = found.open(f"_work/{lesson.name}")
            found.keep("tour-0-before")
            notebook.run_all()
            yield found
    finally:
        lesson.unlink()


@pytest.fixture
def desk(browser: Browser) -> Iterator[Locator]:
    """Return the desk over the shop, with every source restored."""
    panel = Notebook(browser).panel(0)
    panel.scroll_into_view_if_needed()
    yield panel
    panel.get_by_role("button", name="Restore all").click()
    shows(panel, PROD, fallen=[])


def cards(desk: Locator) -> Locator:
    return desk.locator(".widget-html-content", has_text="rests on").filter(has=desk.page.locator("span"))


def shows(desk: Locator, keys: list[str], *, fallen: list[str]) -> None:
    """Wait until exactly these memories are shown, and exactly these of them have fallen."""
    expect(cards(desk).locator(TITLE)).to_have_text(keys, timeout=SOON)
    expect(cards(desk).filter(has_text="It fell:").locator(TITLE)).to_have_text(fallen, timeout=SOON)


def source(desk: Locator) -> Locator:
    return desk.locator("textarea").first


def retype_second_line(browser: Browser, desk: Locator, digits: str) -> None:
    """Replace the last two characters of the second line, key by key."""
    source(desk).focus()
    for key in ("Control+Home", "ArrowDown", "End", "Backspace", "Backspace"):
        desk.page.keyboard.press(key)
    desk.page.keyboard.type(digits, delay=20)
    Notebook(browser).settle()


def test_every_cell_runs_and_both_desks_are_live(browser: Browser) -> None:
    expect(browser.page.locator(".memkit-panel")).to_have_count(2)
    outputs = browser.page.locator(".jp-OutputArea-output")
    expect(outputs.filter(has_text="STALE_SOURCE: prod.cfg#key=timeout is not what it was").first).to_be_attached()
    expect(outputs.filter(has_text="NOOP TOMBSTONED").first).to_be_attached()
    shows(Notebook(browser).panel(1), ["conda", "promise", "python", "version"], fallen=[])


def test_typing_in_the_source_fells_exactly_the_timeout_and_restoring_lifts_it(browser: Browser, desk: Locator) -> None:
    shows(desk, PROD, fallen=[])
    browser.keep("tour-1-desk", desk)
    retype_second_line(browser, desk, "45")
    shows(desk, PROD, fallen=["timeout"])
    expect(cards(desk).filter(has_text="It fell:").locator("td")).to_have_text(["30", "45"])
    expect(desk.locator("tr", has_text="STALE_SOURCE")).to_contain_text("timeout")
    browser.keep("tour-2-desk-fell", desk)
    desk.get_by_role("button", name="Restore this").click()
    shows(desk, PROD, fallen=[])


def test_a_comment_fells_nothing_and_a_deleted_file_what_rested_on_it(browser: Browser, desk: Locator) -> None:
    source(desk).focus()
    desk.page.keyboard.press("Control+Home")
    desk.page.keyboard.type("# one more line\n")
    Notebook(browser).settle()
    expect(desk.get_by_role("status")).to_contain_text("6 memories hold. You changed prod.cfg.", timeout=SOON)
    shows(desk, PROD, fallen=[])
    desk.get_by_role("button", name="Delete").click()
    shows(desk, PROD, fallen=["retries", "timeout"])


def test_chinese_can_be_edited_and_the_environment_switched(desk: Locator) -> None:
    desk.get_by_label("Source").select_option("docs/约定.md")
    expect(source(desk)).to_have_value(re.compile("分为单位"), timeout=SOON)
    text = source(desk).input_value()
    source(desk).fill(text.replace("分为单位", "元为单位"))
    shows(desk, PROD, fallen=["prices"])
    source(desk).fill(text.replace("通知值班同事", "告诉值班同事"))
    shows(desk, PROD, fallen=[])
    desk.get_by_role("button", name="test", exact=True).click()
    shows(desk, [key for key in PROD if key != "retries"], fallen=[])
    desk.get_by_role("button", name="prod", exact=True).click()
    shows(desk, PROD, fallen=[])
    desk.get_by_label("Source").select_option("prod.cfg")


def test_an_edit_on_the_disk_is_followed_without_a_click(browser: Browser, desk: Locator) -> None:
    file = notebooks_folder() / "_work" / "shop" / "prod.cfg"
    file.write_bytes(file.read_bytes().replace(b"retries=3", b"retries=7"))
    shows(desk, PROD, fallen=["retries"])
    expect(source(desk)).to_have_value(file.read_text(encoding="utf-8"))


def test_the_learners_own_folder_is_shown_and_cannot_be_written(browser: Browser) -> None:
    mine = Notebook(browser).panel(1)
    mine.scroll_into_view_if_needed()
    browser.keep("tour-3-own-folder", mine)
    assert mine.locator("textarea:enabled:visible").count() == 0
    assert mine.get_by_role("button", name="Delete").count() == 0
    assert Notebook(browser).panel(0).get_by_role("button", name="Delete").count() == 1


def test_it_can_be_read_in_the_dark_and_no_error_reached_the_console(browser: Browser, desk: Locator) -> None:
    browser.theme("JupyterLab Dark")
    retype_second_line(browser, desk, "45")
    shows(desk, PROD, fallen=["timeout"])
    browser.keep("tour-4-dark", desk)
    browser.theme("JupyterLab Light")
    assert browser.errors == []


def test_the_committed_tour_was_not_touched(browser: Browser) -> None:
    assert Path(notebooks_folder() / "_work" / "tour-in-browser.ipynb").is_file()
    assert "widget-view+json" not in (notebooks_folder() / "00_tour.ipynb").read_text(encoding="utf-8")
