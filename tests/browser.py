"""Drive JupyterLab in a real Chromium, as a person would: start it, open a notebook, run it, look, type, and keep screenshots.

    with JupyterLab(folder) as lab, lab.page(chromium) as page:
        notebook = page.open("tour.ipynb")
        notebook.run_all()

Settings, kernels' history and workspaces live in a temporary folder, so nothing of the person's own Jupyter is read or changed.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from playwright.sync_api import ConsoleMessage, Locator, Page, sync_playwright

from memkit.lab.serve import arguments

ROOT = Path(__file__).resolve().parents[1]
ARTIFACTS = ROOT / "artifacts"
PATIENCE = 60_000  # milliseconds: a busy machine, a cold start
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none", "autoStartDefaultKernel": True},
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {"fetchNews": "false", "checkForUpdates": False},
}

NOISE: dict[str, str] = {}
"""Console errors that are JupyterLab's own, by their exact text, each with why it may be passed over."""


class JupyterLab:
    """A server of its own on a free port, over one folder; use it in a `with` block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = secrets.token_hex(16)
        self._home = tempfile.TemporaryDirectory(prefix="jupyter-")
        self.port = free_port()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        home = Path(self._home.name)
        for name, settings in SETTINGS.items():
            file = home / "settings" / name
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps(settings), encoding="utf-8")
        places = {"CONFIG": "JUPYTER_CONFIG_DIR", "DATA": "JUPYTER_DATA_DIR", "RUNTIME": "JUPYTER_RUNTIME_DIR", "IPYTHON": "IPYTHONDIR"}
        environment = os.environ | {variable: str(home / place.lower()) for place, variable in places.items()}
        environment |= {"JUPYTERLAB_SETTINGS_DIR": str(home / "settings"), "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces")}
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        self.log = home / "log"
        command = [sys.executable, "-m", "jupyterlab", *arguments(self.folder, port=self.port, browser=False)]
        command += [f"--IdentityProvider.token={self.token}", "--ServerApp.port_retries=0", "--LabApp.expose_app_in_browser=True"]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            self._wait()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.terminate()  # the server then ends its kernels
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._home.cleanup()

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE / 1000
        while time.monotonic() < end and self._process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.url}/api/status?token={self.token}", timeout=2).close()
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
            else:
                return
        raise RuntimeError(f"JupyterLab did not start:\n{self.log.read_text(errors='replace')[-3000:]}")

    @contextmanager
    def page(self, chromium: str, *, width: int = 1400, height: int = 1000) -> Iterator[Browser]:
        """Open a Chromium with one empty page."""
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
            try:
                page = browser.new_page(viewport={"width": width, "height": height})
                page.set_default_timeout(PATIENCE)
                found = Browser(self, page)
                try:
                    yield found
                except BaseException:
                    found.keep("failed")
                    raise
            finally:
                browser.close()


class Browser:
    """One page, the console errors it had, and where its screenshots go."""

    def __init__(self, lab: JupyterLab, page: Page) -> None:
        self.lab, self.page = lab, page
        self._errors: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self._errors.append(str(error)))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._errors.append(message.text)

    @property
    def errors(self) -> list[str]:
        """Return the console errors so far that are not known noise."""
        return [error for error in self._errors if error not in NOISE]

    def open(self, name: str) -> Notebook:
        """Open a notebook alone, without the side bar, and wait for its kernel."""
        self.page.goto(f"{self.lab.url}/lab/tree/{name}?token={self.lab.token}&reset")
        self.page.locator(".jp-Notebook").wait_for()
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")
        self.command("application:toggle-left-area")
        notebook = Notebook(self)
        notebook.wait_idle()
        return notebook

    def command(self, name: str, **arguments: object) -> None:
        """Execute one of JupyterLab's commands, as its menus do, and wait until it is done."""
        self.page.evaluate("async ([name, args]) => { await window.jupyterapp.commands.execute(name, args); }", [name, arguments])

    def theme(self, name: str) -> None:
        """Change the theme, "JupyterLab Light" or "JupyterLab Dark"."""
        self.command("apputils:change-theme", theme=name)
        light = str("Light" in name).lower()
        self.page.locator(f'body[data-jp-theme-light="{light}"]').wait_for(state="attached")
        self.page.wait_for_timeout(500)  # the style sheet follows the mark

    def resize(self, width: int, height: int = 1000) -> None:
        """Change the size of the window."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_timeout(300)

    def keep(self, name: str, what: Locator | None = None) -> Path:
        """Save a screenshot of the page, or of one element, into the artefact folder; return its path."""
        ARTIFACTS.mkdir(exist_ok=True)
        path = ARTIFACTS / f"{name}.png"
        (what or self.page).screenshot(path=path)
        return path


class Notebook:
    """The notebook that is open."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self.page = browser, browser.page

    def run_all(self) -> None:
        """Run all cells and wait until the last has its number and the kernel is idle; a cell that failed fails the test."""
        self.browser.command("notebook:run-all-cells")
        self.page.wait_for_function(
            """() => { const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputArea-prompt')];
                       return prompts.length > 0 && prompts.every(p => /\\[\\d+\\]/.test(p.textContent)); }"""
        )
        self.wait_idle()
        failed = self.page.locator('[data-mime-type="application/vnd.jupyter.stderr"], .jp-OutputArea-output[data-mime-type*="error"]')
        texts = failed.all_inner_texts()
        assert texts == [], texts

    def wait_idle(self) -> None:
        """Wait until the kernel has nothing to do."""
        self.page.wait_for_function(
            """async () => { const context = window.jupyterapp.shell.currentWidget?.sessionContext;
                             await context?.ready;
                             const kernel = context?.session?.kernel;
                             return kernel?.connectionStatus === 'connected' && kernel?.status === 'idle'; }"""
        )

    def settle(self) -> None:
        """Wait until what was typed has come through. Subtle: while the kernel works on one state of a text area the front end holds back
        the newest, but never a click; so a click right after the last key would be done before it."""
        for _ in range(2):
            self.wait_idle()
            self.page.wait_for_timeout(300)

    def panel(self, number: int = 0) -> Locator:
        """Return a widget of memkit, in the order of the page."""
        return self.page.locator(".memkit-panel").nth(number)


def free_port() -> int:
    """Return a port of this machine that nobody uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    """Write a notebook of code cells."""
    nodes = [
        {"cell_type": "code", "id": f"cell-{n}", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        for n, source in enumerate(cells)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    path.write_text(json.dumps({"cells": nodes, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
