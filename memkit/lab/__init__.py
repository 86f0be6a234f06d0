"""What lessons are made of, apart from widgets. These names are public; widgets import nothing of this room but them."""

from memkit.lab.sandbox import data_folder, notebooks_folder, reset
from memkit.lab.watch import Watcher
from memkit.lab.watch import watch as watch_folder
from memkit.lab.workspace import Workspace

__all__ = ["Watcher", "Workspace", "data_folder", "notebooks_folder", "reset", "watch_folder"]
