"""What only an operator does: look at raw bytes, and drop what can be made anew. Every verb needs the grant `admin`."""

from __future__ import annotations

from memkit.errors import Refused
from memkit.govern.access import require
from memkit.govern.forget import raw_counts
from memkit.govern.sweep import pieces
from memkit.read.follow import Index
from memkit.read.shadow import Waiting
from memkit.record.database import Database
from memkit.record.scope import Principal


class Admin:
    """The operator's verbs of one open store, as `kit.admin`."""

    def __init__(self, db: Database, derived: tuple[Index, Waiting], principal: Principal) -> None:
        self._db, self._derived, self._principal = db, derived, principal

    def sweep(self, text: str) -> dict[str, int]:
        """Count a text in the raw bytes of every file memkit owns here, live copies included, by file name."""
        require(self._principal, "admin")
        if not isinstance(text, str) or not text:
            raise Refused("NOTHING_TO_SWEEP", "the text is empty or no text; pass the words to look for")
        return {name: max(found, default=0) for name, found in raw_counts(self._db, pieces(text)).items()}

    def rebuild(self) -> None:
        """Drop the indexes; the next recall builds them anew from the record."""
        require(self._principal, "admin")
        with self._db.read():  # its turn: nobody searches meanwhile
            for index in self._derived:
                index.clear()
