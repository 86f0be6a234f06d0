"""What lessons are made of, apart from widgets. These names are public; widgets import nothing of this room but them."""

from memkit.lab import checks as check
from memkit.lab import races as race
from memkit.lab.rivals import compete
from memkit.lab.sandbox import data_folder, notebooks_folder, project_folder, reset
from memkit.lab.story import clock, day, ids, look
from memkit.lab.watch import Watcher
from memkit.lab.watch import watch as watch_folder
from memkit.lab.workspace import Workspace

__all__ = [
    "Watcher",
    "Workspace",
    "check",
    "clock",
    "compete",
    "data_folder",
    "day",
    "ids",
    "look",
    "notebooks_folder",
    "project_folder",
    "race",
    "reset",
    "watch_folder",
]
