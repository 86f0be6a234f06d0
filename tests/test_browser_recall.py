"""The recall lab, its curves and a progress bar in JupyterLab in a real Chromium: one session, used as a learner uses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser, JupyterLab, Notebook, write_notebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

SOON = 30_000  # milliseconds, on a machine that is busy
CELLS = [
    "import memkit\nfrom memkit import lab\nfrom memkit.widgets.recall_lab import RecallLab\n"
    "from memkit.widgets.recall_curves import RecallCurves",
    "shop = memkit.Scope(workspace='shop')\nprod = memkit.Scope(workspace='shop', env='prod')\nsources = {'prod.cfg': 'timeout=30\\n'}\n"
    "kit = memkit.open(sources=sources, clock=lab.clock('2026-03-02T09:00+00:00'), ids=lab.ids())\n"
    "kit.learn('timeout', 'The payment timeout is 30 seconds.', scope=prod, cite='prod.cfg#key=timeout')\n"
    "kit.remember('oncall', 'Priya keeps the on-call rota.', scope=shop)\n"
    "kit.remember('runbook', 'After a payment timeout, wait for two minutes and cancel by hand, never twice.', scope=shop)\n"
    "kit.remember('退款', '退款超时是三天。', scope=shop)\nsources['prod.cfg'] = 'timeout=45\\n'",
    "RecallLab(kit, {'prod': prod, 'shop': shop}, query='What is the payment timeout? Who keeps the rota?', budget=60)",
    "told = lab.retrieval.ask(lab.retrieval.own_set(40), [memkit.BALANCED])\nRecallCurves(told)",
    "from memkit.widgets.bar import Bar\n\nbar = Bar('memories indexed')\nbar",
    "kit.warm(scope=prod, progress=bar)",
]


def test_a_learner_asks_starves_and_flips_a_switch(chromium: str, tmp_path: Path) -> None:
    write_notebook(tmp_path / "recall.ipynb", CELLS)
    with JupyterLab(tmp_path) as server, server.page(chromium, height=1700) as browser:
        notebook = browser.open("recall.ipynb")
        notebook.run_all()
        use_the_lab(browser, notebook, notebook.panel(0))
        use_the_curves(notebook.panel(1))
        bar = notebook.panel(2)  # the cell after it has moved it
        expect(bar.get_by_text("memories indexed: 4 of 4")).to_be_visible(timeout=SOON)
        expect(bar.locator(".widget-hprogress")).to_be_visible()
        keep_pictures(browser, {"recall": notebook.panel(0), "curves": notebook.panel(1), "bar": bar})
        assert browser.errors == []


def use_the_lab(browser: Browser, notebook: Notebook, lab: Locator) -> None:
    """Ask in two languages, give less room, flip a switch, and read what changed and why."""
    status = lab.get_by_role("status")
    expect(status).to_contain_text("skipped: 1 STALE_SOURCE.", timeout=SOON)
    lab.get_by_label("Ask").fill("退款超时")
    lab.get_by_label("Ask").press("Enter")
    expect(status).to_contain_text("1 hit, ", timeout=SOON)
    expect(lab.locator("td", has_text="退款超时是三天。").first).to_be_visible()
    notebook.settle()
    lab.get_by_label("Ask").fill("payment timeout, and who keeps the rota?")
    lab.get_by_label("Ask").press("Enter")
    expect(status).to_contain_text("2 hits, ", timeout=SOON)
    notebook.settle()
    lab.get_by_label("Switch").select_option("half the budget")
    expect(lab.locator("tr", has_text="✗ left")).to_contain_text("now: OVER_BUDGET", timeout=SOON)
    expect(lab.locator("pre").first).to_contain_text("budget=30")
    browser.keep("recall-1-switch", lab)
    lab.get_by_label("Switch").select_option("(none)")
    expect(lab.get_by_text("Flip a switch above to compare")).to_be_visible(timeout=SOON)
    lab.get_by_label("Recipe").select_option("TFIDF")
    expect(lab.locator("pre").first).to_contain_text("recipe=memkit.TFIDF", timeout=SOON)
    lab.get_by_label("From").select_option("shop")
    expect(status).to_contain_text("Nothing skipped.", timeout=SOON)
    lab.get_by_label("Budget").fill("0")
    lab.get_by_label("Budget").press("Enter")
    expect(lab.get_by_text("A budget of 0 gives nothing, always.")).to_be_visible(timeout=SOON)
    notebook.settle()
    lab.get_by_label("Budget").fill("60")
    lab.get_by_label("Budget").press("Enter")
    lab.get_by_label("From").select_option("prod")
    expect(status).to_contain_text("1 STALE_SOURCE", timeout=SOON)


def use_the_curves(curves: Locator) -> None:
    """Look at the other figure, for one language."""
    expect(curves.locator("tr", has_text="text file + grep")).to_be_visible(timeout=SOON)
    curves.get_by_label("Figure").select_option("recall within a budget")
    expect(curves.get_by_text("within so many tokens")).to_be_visible(timeout=SOON)
    curves.get_by_label("Questions").select_option("zh")
    expect(curves.get_by_text("questions (zh)")).to_be_visible(timeout=SOON)


def keep_pictures(browser: Browser, panels: dict[str, Locator]) -> None:
    """Keep both widgets wide and narrow, light and dark; nothing may stick out."""
    for theme in ("Light", "Dark"):
        browser.theme(f"JupyterLab {theme}")
        for size, width in (("wide", 1400), ("narrow", 700)):
            browser.resize(width, 1700)
            for name, panel in panels.items():
                browser.keep(f"{name}-2-{size}-{theme.lower()}", panel)
                outside = panel.evaluate("e => e.scrollWidth - e.clientWidth")
                assert outside <= 0, f"{outside} pixels stick out of the {size} {name} panel"
