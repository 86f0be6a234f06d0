"""What lessons are made of, apart from widgets."""

from memkit.lab.sandbox import data_folder, notebooks_folder, reset

__all__ = ["data_folder", "notebooks_folder", "reset"]
