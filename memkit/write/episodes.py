"""Record what happened in a session: append only, in exact order, redacted before it is kept.

Nothing that was recorded is ever rewritten; forgetting alone masks words in it or erases them, and the schema refuses anything else. What a
person says is trusted where a person records it; what an agent reports of a person, and what tools and the assistant said, is not. Left
out: what an episode says (`extract.py`), and reading it back (`record/sessions.py`).
"""

from __future__ import annotations

from datetime import datetime

from memkit.errors import Refused, shown
from memkit.record import sessions
from memkit.record.database import Database
from memkit.record.model import Episode, Role
from memkit.write.arguments import check_text, choice
from memkit.write.commit import Place
from memkit.write.redact import redact

LONGEST_SESSION = 200  # characters of a session's name
LONGEST_EPISODE = 100_000  # characters


def record(
    db: Database, session: str, role: str, text: str, *, place: Place, visible: bool, trusted: bool | None, now: datetime
) -> Episode:
    """Append an episode with secrets masked, and return it as it is kept. Raises Refused for text that may not be kept."""
    check_session(session)
    check_text("text", text, LONGEST_EPISODE)
    who = choice(Role, "role", role)
    given = trusted_origin(who, trusted, by_a_person=place.principal.actor == "person")
    if not isinstance(visible, bool):
        raise Refused("BAD_VISIBLE", f"visible is {shown(visible)}; pass True where the model saw it, else False")
    episode = Episode(session, 0, who, redact(text).text, visible, given, now, place.scope)
    with db.write() as tx:
        return sessions.add(tx, place.principal.tenant, episode)


def trusted_origin(role: Role, trusted: bool | None, *, by_a_person: bool) -> bool:
    """Return whether an episode's origin is trusted: a payload cannot say so, only a person can.

    >>> trusted_origin(Role.USER, None, by_a_person=True), trusted_origin(Role.TOOL, None, by_a_person=True)
    (True, False)
    """
    if trusted is None:
        return by_a_person and role in (Role.USER, Role.SYSTEM)
    if not isinstance(trusted, bool):
        raise Refused("BAD_TRUSTED", f"trusted is {shown(trusted)}; pass True, False, or None for what the role implies")
    if trusted and not by_a_person:
        raise Refused("NOT_YOURS_TO_TRUST", "only a person may vouch for where an episode comes from; leave trusted out")
    return trusted


def check_session(session: str) -> None:
    """Raise Refused for a session's name that is blank, too long, unprintable, or holds a secret."""
    check_text("session", session, LONGEST_SESSION)
    if not session.isprintable():
        raise Refused("BAD_SESSION", "the session's name has a control or invisible character; name it in printable text")
    if redact(session).findings:
        raise Refused("SECRET_IN_SESSION", "the session's name holds what looks like a secret; names are never erased, so choose another")
