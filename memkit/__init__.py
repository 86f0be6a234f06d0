"""memkit: the long-term memory of an AI agent, small enough to read.

Start with `memkit.open`; `kit.py` is the whole lifecycle in one screen. Each name below is loaded from its module when it is first used,
so that `import memkit` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    from memkit.read.context import Context
    from memkit.read.prefix import prefix_stable
    from memkit.read.recall import Recall
    from memkit.read.recipes import BALANCED, SEMANTIC, TFIDF, THOROUGH, Recipe
    from memkit.record.git import branch_of
    from memkit.record.model import ANY, Kind, Op, ProposalStatus, Status, Trust, Verdict
    from memkit.record.scope import Principal, Scope
    from memkit.record.suggest import suggest
    from memkit.write.policy import RedactionPolicy, SecretStore
    from memkit.write.redact import redact
    from memkit.write.screen import screen

__all__ = [  # without open: `from memkit import *` must not hide the built-in one
    "ANY",
    "BALANCED",
    "SEMANTIC",
    "TFIDF",
    "THOROUGH",
    "AccessDenied",
    "BadLocator",
    "BadScope",
    "Busy",
    "Conflict",
    "Context",
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
    "Recall",
    "Recipe",
    "RedactionPolicy",
    "Refused",
    "Scope",
    "SecretStore",
    "Status",
    "Trust",
    "UnsafePath",
    "Verdict",
    "branch_of",
    "prefix_stable",
    "redact",
    "screen",
    "suggest",
]

_HOMES = {
    "memkit.kit": "Kit open",
    "memkit.read.context": "Context",
    "memkit.read.prefix": "prefix_stable",
    "memkit.read.recall": "Recall",
    "memkit.read.recipes": "BALANCED Recipe SEMANTIC TFIDF THOROUGH",
    "memkit.record.git": "branch_of",
    "memkit.record.model": "ANY Kind Op ProposalStatus Status Trust Verdict",
    "memkit.record.scope": "Principal Scope",
    "memkit.record.suggest": "suggest",
    "memkit.write.policy": "RedactionPolicy SecretStore",
    "memkit.write.redact": "redact",
    "memkit.write.screen": "screen",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME and name not in __all__:
        raise AttributeError(f"module 'memkit' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME.get(name, "memkit.errors")), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "open"})
