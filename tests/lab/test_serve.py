"""`memkit lab` starts a real JupyterLab at the tour, whose saves drop live views that have a snapshot."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError

import pytest

from memkit.lab import notebooks_folder, serve
from memkit.lab.clean import VIEW

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "lesson"
NAME = "_work/test_serve.ipynb"


def test_the_course_of_a_checkout_is_opened_where_it_is(tmp_path):
    assert serve.course_folder(tmp_path) == notebooks_folder()
    assert list(tmp_path.iterdir()) == []


def test_jupyterlab_missing_is_a_clear_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", None)
    with pytest.raises(serve.NoJupyter, match="memkit doctor"):
        serve.open_course()


def ask(url: str, body: object = None) -> bytes:
    data = None if body is None else json.dumps(body).encode("utf-8")
    request = urllib.request.Request(url, data=data, method="PUT" if data else "GET", headers={"Authorization": f"token {TOKEN}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[str]:
    """Start `memkit lab` as a learner would, from another folder, and return its address."""
    here = tmp_path_factory.mktemp("server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = os.environ | {
        "PYTHONPATH": str(ROOT),
        "JUPYTER_TOKEN": TOKEN,
        "JUPYTER_CONFIG_DIR": str(here),
        "JUPYTER_RUNTIME_DIR": str(here),
    }
    command = [sys.executable, "-m", "memkit", "lab", "--no-browser", "--port", str(port)]
    with (here / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=here, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield wait_for(f"http://127.0.0.1:{port}", process, here / "log")
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(240):
        assert process.poll() is None, log.read_text(encoding="utf-8")
        try:
            ask(f"{url}/api/status")
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.25)
        else:
            return url
    pytest.fail(log.read_text(encoding="utf-8"))


def test_a_save_in_the_real_server_drops_the_view_that_has_a_snapshot(server):
    live = {VIEW: {"model_id": "1"}, "text/html": "<p>超时 30</p>"}
    output = {"output_type": "display_data", "metadata": {}, "data": live}
    cell = {"cell_type": "code", "id": "a", "execution_count": 1, "metadata": {}, "source": "", "outputs": [output]}
    content = {"cells": [cell], "metadata": {"widgets": {"x": 1}}, "nbformat": 4, "nbformat_minor": 5}
    target = notebooks_folder() / NAME
    target.parent.mkdir(exist_ok=True)
    try:
        ask(f"{server}/api/contents/{NAME}", {"type": "notebook", "content": content})
        saved = json.loads(target.read_text(encoding="utf-8"))
    finally:
        target.unlink(missing_ok=True)
    assert saved["cells"][0]["outputs"] == [output | {"data": {"text/html": ["<p>超时 30</p>"]}}]
    assert saved["metadata"] == {}


def test_the_real_server_opens_at_the_tour(server):
    with urllib.request.urlopen(f"{server}/?token={TOKEN}", timeout=10) as answer:
        assert answer.url.split("?")[0] == f"{server}/lab/tree/00_tour.ipynb"


def test_the_real_server_asks_nothing_about_news_and_looks_for_no_updates(server):
    schema = json.loads(ask(f"{server}/lab/api/settings/@jupyterlab/apputils-extension:notification"))["schema"]["properties"]
    assert (schema["fetchNews"]["default"], schema["checkForUpdates"]["default"]) == ("false", False)
