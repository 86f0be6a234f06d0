"""What lessons are made of, apart from widgets. These names are public; widgets import nothing of this room but them."""

from memkit.lab import checks as check
from memkit.lab.sandbox import data_folder, notebooks_folder, project_folder, reset
from memkit.lab.story import clock, ids, look
from memkit.lab.trial import Edit, Score, Trial, Tried, Versions, place, versions
from memkit.lab.watch import Watcher
from memkit.lab.watch import watch as watch_folder
from memkit.lab.workspace import Workspace

__all__ = [
    "Edit",
    "Score",
    "Trial",
    "Tried",
    "Versions",
    "Watcher",
    "Workspace",
    "check",
    "clock",
    "data_folder",
    "ids",
    "look",
    "notebooks_folder",
    "place",
    "project_folder",
    "reset",
    "versions",
    "watch_folder",
]
