"""Who may do what: grants, and what only a person may do.

Search, read and history are separate grants, so that an agent may find a memory without reading its past. Which rows a principal can
see at all is not decided here: that is the tenant and the scope, in every statement.
"""

from __future__ import annotations

from memkit.errors import AccessDenied
from memkit.record.scope import Principal


def require(principal: Principal, *grants: str) -> None:
    """Raise AccessDenied for the first grant the principal lacks."""
    for grant in grants:
        if grant not in principal.grants:
            held = ", ".join(sorted(principal.grants)) or "no grant"
            raise AccessDenied(grant, f"this needs the grant {grant!r} and the principal has {held}; ask whoever opens the store for it")


def require_person(principal: Principal, act: str) -> None:
    """Raise AccessDenied unless a person acts: trust comes from the path, so no agent or job may speak as one."""
    if principal.actor != "person":
        raise AccessDenied(
            "person", f"only a person may {act}, and this principal is {principal.actor!r}; use propose, and let a person admit it"
        )
