"""The redaction lab in JupyterLab in a real Chromium: typed in, looked at, reported, cleared."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser, JupyterLab, write_notebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

CELLS = ["from memkit.widgets.redaction import RedactionLab", "RedactionLab('我的邮箱是 ann@example.test, the PIN is 4821')"]
PHRASE = "tulip-garden"

expect.set_options(timeout=15_000)


def test_a_learner_hunts_and_reports_what_slipped_through(chromium: str, tmp_path: Path) -> None:
    write_notebook(tmp_path / "redaction.ipynb", CELLS)
    with JupyterLab(tmp_path) as server, server.page(chromium, height=1200) as browser:
        notebook = browser.open("redaction.ipynb")
        notebook.run_all()
        panel = notebook.panel(0)
        hunt(panel)
        keep_pictures(browser, panel)
        panel.get_by_role("button", name="Clear").click()
        expect(panel.get_by_role("status")).to_contain_text("Nothing was found")
        expect(panel.get_by_label("Text", exact=True)).to_have_value("")
        assert browser.errors == []


def hunt(panel: Locator) -> None:
    """See the first text, type another in two languages, find what slips, and report it."""
    expect(panel.get_by_role("status")).to_contain_text("2 found: email, password.")
    panel.get_by_label("Text", exact=True).fill(f"密码是Zq7p{'0aLm'}。The door opens with {PHRASE}")
    expect(panel.locator("tr", has_text="refer to a secret store")).to_contain_text(
        f"密码是[redacted:password](drawer:1)。The door opens with {PHRASE}"
    )
    panel.get_by_label("Slipped").fill(PHRASE)
    panel.get_by_role("button", name="Report as a test").click()
    expect(panel.get_by_role("alert")).to_contain_text("holds what looks like a secret too")
    panel.get_by_label("Text", exact=True).fill(f"The door opens with {PHRASE} <script>")
    expect(panel.get_by_role("status")).to_contain_text("Nothing was found")
    panel.get_by_role("button", name="Report as a test").click()
    expect(panel.locator("pre", has_text="def test_what_slipped_through_is_masked")).to_contain_text("lab.hunt.alike('', 'aaaaa-aaaaaa')")
    expect(panel.locator("pre", has_text="lab.hunt.report(text, secret)")).to_be_visible()


def keep_pictures(browser: Browser, panel: Locator) -> None:
    """Keep the panel narrow and wide, light and dark; nothing may stick out."""
    panel.get_by_label("Text", exact=True).fill(f"mail ann@example.test, PIN: 4821, 密码是Zq7p{'0aLm'} and {PHRASE}")
    expect(panel.get_by_role("status")).to_contain_text("3 found")
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        browser.theme(theme)
        for size, width in (("wide", 1400), ("narrow", 700)):
            browser.resize(width, 1400)
            browser.keep(f"redaction-{size}-{theme.split()[1].lower()}", panel)
