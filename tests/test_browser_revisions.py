"""The ledger and the race lab in JupyterLab in a real Chromium: one session, used as a learner uses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser, JupyterLab, write_notebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

CELLS = [
    "import memkit\nfrom memkit import lab\nfrom memkit.widgets.ledger import Ledger\nfrom memkit.widgets.race import RaceLab",
    "team, now = memkit.Scope(workspace='shop'), lab.clock('2026-03-02T09:00+00:00')\nkit = memkit.open(clock=now, ids=lab.ids())\n"
    "kit.remember('node', 'Node 18', scope=team)\nnow.advance(days=7)\n"
    "kit.remember('node', 'Node 20', scope=team, expected=1, valid_from=lab.day('2026-03-04'))",
    "Ledger(kit, {'team': team}, true_on='2026-03-06')",
    "RaceLab()",
]

expect.set_options(timeout=15_000)


def test_both_widgets_are_used_with_mouse_and_keyboard(chromium: str, tmp_path: Path) -> None:
    write_notebook(tmp_path / "revisions.ipynb", CELLS)
    with JupyterLab(tmp_path) as server, server.page(chromium, height=1500) as browser:
        notebook = browser.open("revisions.ipynb")
        notebook.run_all()
        use_the_ledger(browser, notebook.panel(0))
        use_the_race_lab(notebook.panel(1))
        keep_pictures(browser, {"ledger": notebook.panel(0), "race": notebook.panel(1)})
        assert browser.errors == []


def use_the_ledger(browser: Browser, ledger: Locator) -> None:
    """Ask both clocks, correct, and be told of a Conflict."""
    expect(ledger.get_by_text("True on 2026-03-06, as known that same day: Node 18 (revision 1)")).to_be_visible()
    ledger.get_by_label("Known on").fill("2026-03-10")
    ledger.get_by_label("Known on").press("Enter")
    expect(ledger.get_by_text("True on 2026-03-06, as known on 2026-03-10: Node 20 (revision 2)")).to_be_visible()
    ledger.get_by_label("Says now").fill("Node 22 长期支持")
    ledger.get_by_role("button", name="Remember").click()
    expect(ledger.get_by_role("status")).to_contain_text("UPDATE CORRECTED, revision 3")
    expect(ledger.get_by_label("Expected")).to_have_value("3")
    ledger.get_by_label("Says now").fill("Node 24")
    ledger.get_by_label("Expected").fill("1")
    ledger.get_by_label("Expected").press("Tab")
    ledger.get_by_role("button", name="Remember").click()
    expect(ledger.get_by_role("alert")).to_contain_text("Conflict: 'node' is at revision 3, not at the expected 1")
    expect(ledger.get_by_role("status")).to_contain_text("Nothing was written.")
    expect(ledger.locator("pre", has_text="kit.remember")).to_contain_text("expected=1)")
    expect(ledger.locator("tr", has_text="CURRENT")).to_contain_text("Node 22 长期支持")


def use_the_race_lab(races: Locator) -> None:
    """Lose a day by hand, count all orders, and find that compare-and-swap loses none."""
    for who in "ABABAB":
        done = races.locator("table").first.locator("tr").count() if races.locator("table").count() else 1
        races.get_by_role("button", name=f"{who}: next step").click()
        expect(races.locator("table").first.locator("tr")).to_have_count(done + 1 if done > 1 else 2)
    expect(races.get_by_role("status")).to_contain_text("Thursday is lost, and nobody was told.")
    expect(races.get_by_role("button", name="A: next step")).to_be_disabled()
    races.get_by_role("button", name="Run every order").click()
    expect(races.locator("tr", has_text="blind write")).to_contain_text("18")
    races.get_by_role("button", name="compare-and-swap").click()
    races.get_by_role("button", name="Run every order").click()
    expect(races.locator("tr", has_text="compare-and-swap")).to_have_text("compare-and-swap202180")
    races.get_by_label("Replay").select_option("ABABAB")
    expect(races.get_by_role("status")).to_contain_text("Nothing is lost. 1 Conflict")


def keep_pictures(browser: Browser, panels: dict[str, Locator]) -> None:
    """Keep each widget narrow and wide, light and dark; nothing may stick out."""
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        browser.theme(theme)
        for size, width in (("wide", 1400), ("narrow", 700)):
            browser.resize(width, 2200)
            for name, panel in panels.items():
                browser.keep(f"{name}-{size}-{theme.split()[1].lower()}", panel)
                outside = panel.evaluate("e => e.scrollWidth - e.clientWidth")
                assert outside <= 0, f"{outside} pixels stick out of the {size} {name}"
