"""Take out of a notebook what must not be kept: live widget views, widget state, and marks that differ from machine to machine.

A widget's output carries a static HTML snapshot beside its live view. The view is worthless once its kernel is gone, and JupyterLab
would then show "model not found" instead of the snapshot; so `drop_live_views` drops it whenever a learner saves, and `clean` does the
same for committed lessons. Text outputs and execution counts stay. Not here: running notebooks, or comparing outputs (nbval does).

    python -m memkit.lab.clean notebooks/*.ipynb
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import Any, cast

VIEW = "application/vnd.jupyter.widget-view+json"
SNAPSHOT = "text/html"
TRANSIENT = ("execution", "ExecuteTime", "papermill", "trusted", "scrolled", "collapsed")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}

_Node = dict[str, Any]  # a piece of notebook JSON; its shape is given by nbformat, not by us


def drop_live_views(model: MutableMapping[str, object], path: str, contents_manager: object, **_: object) -> None:
    """Drop live views that have a snapshot, and all widget state, from a notebook that is about to be saved.

    This is a `pre_save_hook` of Jupyter Server: `model["content"]` is the notebook, changed in place; other files are left alone.

    >>> output = {"output_type": "display_data", "data": {VIEW: {"model_id": "1"}, SNAPSHOT: "<p>30</p>"}}
    >>> model = {"type": "notebook", "content": {"cells": [{"outputs": [output]}], "metadata": {"widgets": {}}}}
    >>> drop_live_views(model, "00_tour.ipynb", None)
    >>> model["content"]
    {'cells': [{'outputs': [{'output_type': 'display_data', 'data': {'text/html': '<p>30</p>'}}]}], 'metadata': {}}
    """
    if model.get("type") != "notebook" or not isinstance(model.get("content"), dict):
        return
    notebook = cast(_Node, model["content"])
    notebook.get("metadata", {}).pop("widgets", None)
    for output in _outputs(notebook):
        if SNAPSHOT in output.get("data", {}):
            output["data"].pop(VIEW, None)


def clean(text: str) -> str:
    """Return the notebook as it is committed, in the layout that nbformat writes; cleaning twice changes nothing more.

    >>> notebook = '{"cells": [], "metadata": {"widgets": {}, "language_info": {"name": "python", "version": "3.13.0"}}}'
    >>> print(clean(notebook))  # doctest: +ELLIPSIS
    {
     "cells": [],
     "metadata": {
      "kernelspec": {
      ...
      "language_info": {
       "name": "python"
      }
     }
    }
    <BLANKLINE>
    """
    notebook = cast(_Node, json.loads(text))
    notebook["metadata"] = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in notebook["cells"]:
        for name in TRANSIENT:
            cell.get("metadata", {}).pop(name, None)
    for output in _outputs(notebook):
        output.get("data", {}).pop(VIEW, None)
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _outputs(notebook: _Node) -> Iterator[_Node]:
    for cell in notebook.get("cells", []):
        yield from cell.get("outputs", [])


def main(names: Sequence[str]) -> int:
    """Clean the named files in place, say which changed, and return 0."""
    for path in map(Path, names):
        before = path.read_text(encoding="utf-8")
        after = clean(before)
        if after != before:
            path.write_text(after, encoding="utf-8", newline="\n")
            print(f"cleaned {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
