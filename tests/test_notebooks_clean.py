"""Committed lessons hold no live views and nothing that differs from machine to machine; and the clean step removes exactly that."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import nbformat
import pytest

from memkit.lab.clean import VIEW, clean, drop_live_views, main

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))


def output(**data: object) -> dict[str, object]:
    return {"output_type": "display_data", "metadata": {}, "data": data}


def notebook(*outputs: dict[str, object], **metadata: object) -> dict[str, object]:
    cell = {
        "cell_type": "code",
        "id": "one",
        "execution_count": 3,
        "metadata": {"execution": {"iopub.status.busy": "2024-01-01T00:00:00Z"}, "tags": ["predict"]},
        "source": "desk",
        "outputs": list(outputs),
    }
    return {"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


LIVE = {VIEW: {"model_id": "1"}, "text/plain": "SourceDesk", "text/html": "<p>超时 30</p>"}
DEAD = {"text/plain": "SourceDesk", "text/html": "<p>超时 30</p>"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_committed_lesson_is_clean(path):
    text = path.read_text(encoding="utf-8")
    assert text == clean(text), f"run `python -m memkit.lab.clean {path.name}`"


def test_clean_drops_views_state_timing_and_versions_and_keeps_the_rest():
    info = {"name": "python", "version": "3.12.1"}
    kernel = {"display_name": "my venv", "language": "python", "name": "my-venv"}
    before = notebook(output(**LIVE), widgets={"state": {}}, kernelspec=kernel, language_info=info)
    expected = notebook(
        output(**DEAD),
        kernelspec={"display_name": "Python 3", "language": "python", "name": "python3"},
        language_info={"name": "python"},
    )
    expected["cells"][0]["metadata"] = {"tags": ["predict"]}
    assert json.loads(clean(json.dumps(before))) == expected


def test_clean_drops_a_view_without_snapshot_too_and_is_idempotent():
    once = clean(json.dumps(notebook(output(**{VIEW: {"model_id": "1"}, "text/plain": "IntSlider"}))))
    assert json.loads(once)["cells"][0]["outputs"] == [output(**{"text/plain": "IntSlider"})]
    assert clean(once) == once


def test_clean_keeps_the_layout_of_nbformat():
    written = nbformat.writes(nbformat.from_dict(notebook(output(**DEAD))))
    text = clean(written)
    parsed = nbformat.reads(text, as_version=4)
    nbformat.validate(parsed)
    assert nbformat.writes(parsed) + "\n" == text


def test_the_save_hook_drops_a_view_only_where_a_snapshot_replaces_it():
    alone = output(**{VIEW: {"model_id": "2"}, "text/plain": "IntSlider"})
    model = {"type": "notebook", "content": notebook(output(**LIVE), alone, widgets={"state": {}})}
    drop_live_views(model=model, path="a.ipynb", contents_manager=None)
    assert model == {"type": "notebook", "content": notebook(output(**DEAD), alone)}


@pytest.mark.parametrize("model", [{"type": "file", "content": VIEW}, {"type": "directory", "content": None}, {"type": "notebook"}])
def test_the_save_hook_leaves_what_is_not_a_notebook(model):
    before = copy.deepcopy(model)
    drop_live_views(model=model, path="a", contents_manager=None)
    assert model == before


def test_the_command_cleans_in_place_and_says_which_file_changed(tmp_path, capsys):
    dirty, tidy = tmp_path / "dirty.ipynb", tmp_path / "tidy.ipynb"
    dirty.write_text(json.dumps(notebook(output(**LIVE))), encoding="utf-8")
    tidy.write_text(clean(dirty.read_text(encoding="utf-8")), encoding="utf-8")
    assert main([str(dirty), str(tidy)]) == 0
    assert capsys.readouterr().out == f"cleaned {dirty}\n"
    assert dirty.read_bytes() == tidy.read_bytes()
