"""memkit: the long-term memory of an AI agent, small enough to read.

Start with `memkit.open`; `kit.py` is the whole lifecycle in one screen.
"""

from memkit.errors import (
    AccessDenied,
    BadLocator,
    BadScope,
    Busy,
    Conflict,
    Corrupt,
    FuseTripped,
    LeaseLost,
    MemkitError,
    NotFound,
    Refused,
    UnsafePath,
)
from memkit.kit import Kit
from memkit.kit import open as open
from memkit.read.recall import TFIDF, Recipe
from memkit.record.model import ANY, Kind, Op, ProposalStatus, Status, Trust, Verdict
from memkit.record.scope import Principal, Scope
from memkit.write.redact import redact
from memkit.write.screen import screen

__all__ = [  # not open: `from memkit import *` must not hide the built-in one
    "ANY",
    "TFIDF",
    "AccessDenied",
    "BadLocator",
    "BadScope",
    "Busy",
    "Conflict",
    "Corrupt",
    "FuseTripped",
    "Kind",
    "Kit",
    "LeaseLost",
    "MemkitError",
    "NotFound",
    "Op",
    "Principal",
    "ProposalStatus",
    "Recipe",
    "Refused",
    "Scope",
    "Status",
    "Trust",
    "UnsafePath",
    "Verdict",
    "redact",
    "screen",
]
