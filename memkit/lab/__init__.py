"""What lessons are made of, apart from widgets. These names are public; widgets import nothing of this room but them."""

from memkit.lab import arena, defences, deploys
from memkit.lab import checks as check
from memkit.lab import evaluate_redaction as redaction
from memkit.lab import hunting as hunt
from memkit.lab import races as race
from memkit.lab.predict import Prediction, predict
from memkit.lab.rivals import compete
from memkit.lab.sandbox import check_out, data_folder, notebooks_folder, project_folder, reset
from memkit.lab.standing import Stand, Standing, known_memories, looked_up, standings
from memkit.lab.story import clock, day, ids, look
from memkit.lab.trial import Edit, Score, Trial, Tried, Versions, place, versions
from memkit.lab.watch import Watcher
from memkit.lab.watch import watch as watch_folder
from memkit.lab.workspace import Workspace

__all__ = [
    "Edit",
    "Prediction",
    "Score",
    "Stand",
    "Standing",
    "Trial",
    "Tried",
    "Versions",
    "Watcher",
    "Workspace",
    "arena",
    "check",
    "check_out",
    "clock",
    "compete",
    "data_folder",
    "day",
    "defences",
    "deploys",
    "hunt",
    "ids",
    "known_memories",
    "look",
    "looked_up",
    "notebooks_folder",
    "place",
    "predict",
    "project_folder",
    "race",
    "redaction",
    "reset",
    "standings",
    "versions",
    "watch_folder",
]
