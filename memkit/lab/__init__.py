"""What lessons are made of, apart from widgets. These names are public; widgets import nothing of this room but them."""

from memkit.lab import breakouts as arena
from memkit.lab import checks as check
from memkit.lab import conversations as conversation
from memkit.lab import deaths as killed
from memkit.lab import deploys
from memkit.lab import evaluate_redaction as redaction
from memkit.lab import evening as tidying
from memkit.lab import hunting as hunt
from memkit.lab import races as race
from memkit.lab import recall_curves as retrieval
from memkit.lab.defences import DEFENCES
from memkit.lab.night import Night, Turn
from memkit.lab.predict import Prediction, predict
from memkit.lab.recall_moves import RECIPES, SWITCHES, Ask, Move, Need, flipped, is_installed, looked_for, moves, recipe_code
from memkit.lab.rivals import compete
from memkit.lab.sandbox import check_out, data_folder, notebooks_folder, project_folder, reset
from memkit.lab.standing import Stand, Standing, known_memories, looked_up, standings
from memkit.lab.story import clock, day, ids, look
from memkit.lab.trial import Edit, Score, Trial, Tried, Versions, place, versions
from memkit.lab.watch import Watcher
from memkit.lab.watch import watch as watch_folder
from memkit.lab.workspace import Workspace

__all__ = [
    "DEFENCES",
    "RECIPES",
    "SWITCHES",
    "Ask",
    "Edit",
    "Move",
    "Need",
    "Night",
    "Prediction",
    "Score",
    "Stand",
    "Standing",
    "Trial",
    "Tried",
    "Turn",
    "Versions",
    "Watcher",
    "Workspace",
    "arena",
    "check",
    "check_out",
    "clock",
    "compete",
    "conversation",
    "data_folder",
    "day",
    "deploys",
    "flipped",
    "hunt",
    "ids",
    "is_installed",
    "killed",
    "known_memories",
    "look",
    "looked_for",
    "looked_up",
    "moves",
    "notebooks_folder",
    "place",
    "predict",
    "project_folder",
    "race",
    "recipe_code",
    "redaction",
    "reset",
    "retrieval",
    "standings",
    "tidying",
    "versions",
    "watch_folder",
]
