"""Views over memkit: the only place that imports ipywidgets."""

from memkit.widgets.desk import SourceDesk

__all__ = ["SourceDesk"]
