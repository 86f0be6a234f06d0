"""The inbox in JupyterLab in a real Chromium, used as a learner uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser, JupyterLab, Notebook, write_notebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

CELLS = [
    "import memkit\nfrom memkit import lab\nfrom memkit.widgets.inbox import Inbox",
    "shop, now = memkit.Scope(workspace='shop'), lab.clock('2026-11-30T09:00+00:00')\n"
    "talk = lab.conversation.Conversation(memkit.open(clock=now, ids=lab.ids()), shop, now)\ntalk.play(3)",
    "Inbox(talk, {'shop': shop})",
]

expect.set_options(timeout=30_000)


def test_the_inbox_is_used_with_mouse_and_keyboard(chromium: str, tmp_path: Path) -> None:
    write_notebook(tmp_path / "candidates.ipynb", CELLS)
    with JupyterLab(tmp_path) as server, server.page(chromium, height=1500) as browser:
        notebook = browser.open("candidates.ipynb")
        notebook.run_all()
        use_the_inbox(notebook, notebook.panel(0))
        keep_pictures(browser, notebook.panel(0))
        assert browser.errors == []


def use_the_inbox(notebook: Notebook, inbox: Locator) -> None:
    """Play, admit, be told of a Conflict, reject, ask, and say something."""
    told = inbox.get_by_role("status")
    expect(told.first).to_contain_text("11 turns of the script are to come, and 4 candidates wait.")
    inbox.get_by_role("button", name="Next turn").click()
    expect(told.first).to_contain_text("Turn 4: candidates none; refused 1.")
    inbox.get_by_role("button", name="Play the rest").click()
    expect(told.first).to_contain_text("Turns 5 to 14")
    expect(inbox.get_by_role("button", name="Next turn")).to_be_disabled()
    inbox.get_by_role("button", name="Admit").click()
    expect(told.first).to_contain_text("It is STATED now: a person said it.")
    inbox.get_by_label("Candidate").select_option("11 · package-manager")
    notebook.settle()
    inbox.get_by_role("button", name="Admit").click()
    expect(inbox.get_by_role("alert")).to_contain_text("Conflict: 'package-manager' is at revision 1")
    expect(told.first).to_contain_text("Nothing was written.")
    inbox.get_by_placeholder("why not").fill("不对")
    notebook.settle()
    inbox.get_by_role("button", name="Reject").click()
    expect(told.first).to_contain_text("Candidate 11: NOOP REJECTED, 不对.")
    expect(inbox.locator("pre", has_text="kit.reject")).to_have_text("kit.reject(11, '不对')")
    inbox.get_by_placeholder("ask a question").fill("Which port does the payment gateway use?")
    notebook.settle()
    inbox.get_by_role("button", name="Ask").click()
    expect(inbox.locator("tr", has_text="counted")).to_contain_text("candidate 9wanted by 1")
    inbox.get_by_placeholder("or say something").fill("数据库用 PostgreSQL 16。")
    notebook.settle()
    inbox.get_by_role("button", name="Say").click()
    expect(told.first).to_contain_text("Turn 15: candidates 12; refused 0.")
    expect(inbox.get_by_text("in session:launch/15")).to_be_visible()


def keep_pictures(browser: Browser, inbox: Locator) -> None:
    """Keep the widget narrow and wide, light and dark; nothing may stick out."""
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        browser.theme(theme)
        for size, width in (("wide", 1400), ("narrow", 700)):
            browser.resize(width, 3600)
            browser.keep(f"inbox-{size}-{theme.split()[1].lower()}", inbox)
            outside = inbox.evaluate("e => e.scrollWidth - e.clientWidth")
            assert outside <= 0, f"{outside} pixels stick out of the {size} inbox"
