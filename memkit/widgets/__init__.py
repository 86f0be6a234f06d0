"""Views over memkit: the only place that imports ipywidgets."""
