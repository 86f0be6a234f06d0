"""Reach into sessions: mask what was forgotten in every episode that states it, and in what other memories quote of these words.

A value of 12 characters or more is masked wherever the tenant's sessions say it, in any spelling; what the forgotten memory quoted is
masked in the episode it was quoted from, however short. The rest of an episode stays, so a sibling that rests on other words of it still
holds. Episodes that are private to another user are left alone. Left out: paraphrases, and a short value where nothing cites it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlite_utils import Database as SqliteUtils

from memkit.errors import BadLocator
from memkit.record import store, tombstone
from memkit.record.locate import NotThere, locate, sha256
from memkit.record.locator import Locator, quote_parts, quote_value
from memkit.record.masking import MARK, masked, places
from memkit.record.scope import Principal, named_dimensions
from memkit.record.sessions import FORGOTTEN, PREFIX, is_session
from memkit.record.sources import Unreadable
from memkit.record.text import normalise

MASK = "update episode set text = :text where id = :id"


@dataclass(frozen=True, slots=True)
class Said:
    """An episode that states what is forgotten: these words in it, and what is left without them."""

    id: int
    source: str
    words: tuple[str, ...]
    left: str | None


def said_in(tx: SqliteUtils, principal: Principal, values: Iterable[str], cited: Iterable[tuple[str, str, str]]) -> list[Said]:
    """Find every episode that states one of the values, or that was cited for one: `cited` is (source, locator, quote) of each citation."""
    cited = [(source, locator, quote) for source, locator, quote in cited if is_session(source)]
    reach = [text for text in [*values, *(quote for *_, quote in cited)] if len(normalise(text)) >= tombstone.REACHES_SCOPE]
    query = "select id, session, number, scope, text from episode where tenant = :tenant and text is not null order by id"
    found = []
    for row in store.select(tx, query, {"tenant": principal.tenant}) if reach or cited else []:
        if named_dimensions(row["scope"]).get("user", principal.user) != principal.user:
            continue
        source, text = f"{PREFIX}{row['session']}/{row['number']}", row["text"]
        wanted = [*reach, *(_whole(source, locator, quote, text) for name, locator, quote in cited if name == source)]
        words = tuple(text[start:end] for start, end in places(text, *wanted))
        if words:
            found.append(Said(row["id"], source, words, masked(text, wanted)))
    return found


def unsay(tx: SqliteUtils, tenant: str, said: Iterable[Said]) -> None:
    """Mask the words in the episodes and in what is quoted of them; evidence that quoted them never holds again."""
    for one in said:
        tx.execute(MASK, {"text": one.left, "id": one.id})
        query = "select id, locator, digest, quote from evidence where tenant = :tenant and source = :source"
        for row in store.select(tx, query, {"tenant": tenant, "source": one.source}):
            quote = _without(row["quote"], one.words)
            digest = row["digest"] if quote == row["quote"] else FORGOTTEN
            changed = {"quote": quote, "digest": digest, "locator": _narrowed(row["locator"], one.words)}
            changed |= {"id": row["id"], "version": sha256((one.left or "").encode())}  # the old one would let the words be guessed
            update = "update evidence set quote = :quote, digest = :digest, locator = :locator, source_version = :version where id = :id"
            tx.execute(update, changed)


def still_said(tx: SqliteUtils, said: Iterable[Said]) -> int:
    """Count the episodes that still state what was masked in them."""
    left = 0
    for one in said:
        rows = tx.execute("select text from episode where id = :id and text is not null", {"id": one.id}).fetchall()
        left += any(next(places(text, *one.words), None) is not None for (text,) in rows)
    return left


def _whole(source: str, locator: str, quote: str, text: str) -> str:
    """Return all that was cited: what is kept as a quote may be cut."""
    try:
        kind, _, value = locator.partition("=")
        return locate(Locator(source, kind, value) if locator else Locator(source), text.encode()).text
    except (NotThere, BadLocator, Unreadable):
        return quote


def _without(text: str, words: Iterable[str]) -> str:
    left = masked(text, words)
    return MARK if left is None else left


def _narrowed(locator: str, words: Iterable[str]) -> str:
    if not locator.startswith("quote="):
        return locator
    parts = quote_parts(locator.removeprefix("quote="))
    clean = [part and _without(part, words) for part in parts]
    return locator if clean == [*parts] else f"quote={quote_value(*clean)}"
