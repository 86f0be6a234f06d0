"""The ways memkit says no.

Every error carries its data in attributes and says in one sentence what was found, what was expected and the way out. Nothing here
decides anything; the modules that refuse raise these.
"""

from __future__ import annotations


def shown(value: object) -> str:
    """Return a wrong argument for a message: a number as it is, anything else by its type alone, because it may hold a secret.

    >>> shown(-2), shown(None), shown("1 token of mine")
    ('-2', 'None', 'of type str')
    """
    return repr(value) if value is None or isinstance(value, (bool, int, float)) else f"of type {type(value).__name__}"


class MemkitError(Exception):
    """The root of the tree: catch this to catch everything memkit raises on purpose."""


class Conflict(MemkitError):
    """Somebody else wrote first: the current revision is not the one the writer had seen. Nothing was written.

    Attributes: `expected` and `actual`, revision numbers; 0 means "no current value". `occupied`: the scope that a memory was to move into
    and that has a value of its own, or nothing.

    >>> print(Conflict("retries", expected=1, actual=2))
    'retries' is at revision 2, not at the expected 1: read the current value, decide again, and pass expected=2
    """

    def __init__(self, key: str, *, expected: int, actual: int, occupied: str = "") -> None:
        self.key, self.expected, self.actual, self.occupied = key, expected, actual, occupied
        if occupied:
            super().__init__(
                f"{key!r} cannot move into {occupied}, which has its own value at revision {actual}: decide which holds;"
                f" correct it there with remember(..., expected={actual}), or move to a scope without one"
            )
            return
        found = f"is at revision {actual}" if actual else "has no current value"
        wanted = f"at the expected {expected}" if expected else "absent, as expected=0 says"
        super().__init__(f"{key!r} {found}, not {wanted}: read the current value, decide again, and pass expected={actual}")


class Refused(MemkitError):
    """The request itself is not acceptable. Attribute: `reason`, a named reason such as SECRET_IN_CITATION."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


class AccessDenied(MemkitError):
    """The principal lacks a grant, or is not a person where only a person may act. Attribute: `needed`."""

    def __init__(self, needed: str, message: str) -> None:
        self.needed = needed
        super().__init__(message)


class NotFound(MemkitError):
    """There is no such thing for this caller; a thing of another tenant reads exactly the same."""


class BadScope(MemkitError):
    """A scope is missing, empty, or has a dimension that cannot be used."""


class BadLocator(MemkitError):
    """A citation cannot be understood, or what it names is not in the source. Attribute: `text`, the citation as given."""

    def __init__(self, text: str, message: str) -> None:
        self.text = text
        super().__init__(message)


class UnsafePath(MemkitError):
    """A source name could lead out of the root, to a hidden file, or to something that is not a plain file. Attribute: `name`."""

    def __init__(self, name: str, message: str) -> None:
        self.name = name
        super().__init__(message)


class LeaseLost(MemkitError):
    """A job's lease expired and somebody else took over; what it wanted to commit was not written."""


class FuseTripped(MemkitError):
    """A plan would change or lose more prior entries than the cap allows; the store is as it was."""


class Busy(MemkitError):
    """Another process holds the database, and the bounded wait is over. Nothing was changed. Attribute: `waited`, in seconds."""

    def __init__(self, waited: float, path: str) -> None:
        self.waited = waited
        super().__init__(
            f"another process kept {path} locked for {waited:.1f} s; nothing was changed. Close the other reader or writer, then call again"
        )


class Corrupt(MemkitError):
    """The file is not a memkit database, is newer than this memkit, or lost its key file. It was left untouched."""
