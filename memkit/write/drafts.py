"""Make proposals of what an extractor found: read and hash what it quotes, then propose it, or say why not.

What a user said literally says so and is STATED once a person admits it; everything else stays INFERRED. What a memory or a waiting
proposal that was made by hand rests on already is not proposed again. A request to forget becomes one request to withdraw for each current
value it means; nothing is ever forgotten by itself. Left out: what is stated where (`extract.py`), and reading sessions (`episodes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlite_utils import Database as SqliteUtils

from memkit.errors import BadLocator, NotFound, Refused
from memkit.record import masking, store
from memkit.record.database import Database
from memkit.record.evidence import Reader, mentions, one_line
from memkit.record.model import Candidate, Decision, Episode, Evidence, Kind, Memory, Op, Proposal, Role, Trust
from memkit.record.quotes import folded
from memkit.record.scope import visible_from
from memkit.record.sessions import is_session
from memkit.record.suggest import suggest
from memkit.record.text import normalise
from memkit.write.arguments import LONGEST_KEY, check_key, confidence_of, flags_of, kind_of
from memkit.write.citing import first_hand, observed
from memkit.write.commit import Place, clean
from memkit.write.duplicates import same_statement
from memkit.write.extract import MOST_TOKENS, Extracted
from memkit.write.policy import RedactionPolicy
from memkit.write.proposals import BY_ITSELF, FORGET, SAID, WAITS, not_kept, propose_inside, waiting_on
from memkit.write.redact import redact
from memkit.write.unwanted import REASONS


@dataclass(frozen=True, slots=True)
class Draft:
    """A candidate with its evidence, and why it will wait; or the decision by which it is none. `texts`: the episodes cited, folded."""

    candidate: Candidate
    flags: tuple[str, ...] = ()
    reason: str = WAITS
    refused: Decision | None = None
    subject: str = ""
    texts: tuple[tuple[str, str], ...] = ()


def draft(
    one: Extracted, episodes: Mapping[int, Episode], reader: Reader, now: datetime, *, policy: RedactionPolicy, count: Callable[[str], int]
) -> Draft:
    """Read and hash what was quoted, and say why the candidate would wait. What cannot be kept comes back as refused, with the reason.

    `count` counts the tokens of a text; whichever extractor found it, a fact has at most 160.
    """
    candidate = Candidate(one.key, one.content, one.kind, Trust.INFERRED, one.confidence, "session")
    candidate = replace(candidate, task=one.task, verification=one.verification)
    if masking.MARK in f"{one.content}{one.quote}":
        return _refused(candidate, "FORGOTTEN", "words of it were forgotten")
    try:
        confidence_of(one.confidence)
        cited = [(episodes[number], quote) for number, quote in ((one.episode, one.quote), *one.also)]
        cites = [_cite(episode, quote, reader) for episode, quote in cited]
        candidate = replace(candidate, kind=kind_of(one.kind), evidence=observed(cites, reader, now, policy))
        first_hand(candidate.evidence, reader, one.kind)
        check_key(one.key)
        candidate = candidate if one.content is None else clean(candidate, policy)
        if count(candidate.content or "") > MOST_TOKENS:
            raise Refused("TOO_LONG", REASONS["TOO_LONG"].why)
    except Refused as error:
        return _refused(candidate, error.reason, str(error))
    except (BadLocator, NotFound, KeyError):
        return _refused(candidate, "QUOTE_NOT_THERE", "the quoted words do not stand in the episode that was named")
    flags = tuple(dict.fromkeys([*one.flags, *flags_of(one.content)]))
    texts = tuple((episode.source, reader.reading(episode.source).parsed(folded)) for episode, _ in cited)
    if one.content is not None:
        return Draft(candidate, flags, SAID if said_by_user(candidate, reader) else WAITS, texts=texts)
    if not all(_speaks_for_the_user(episode) for episode, _ in cited):
        return _refused(candidate, "NOT_A_PERSON", "only a user may ask to forget, and this is not a user's word")
    return Draft(candidate, flags, FORGET, subject=one.subject, texts=texts)


def settle(tx: SqliteUtils, db: Database, one: Draft, place: Place, now: datetime) -> list[Proposal]:
    """Propose a draft, inside a transaction that holds the write lock, and return what became of it."""
    if one.reason == FORGET:
        meant = [replace(one.candidate, key=memory.key, kind=memory.kind) for memory in _meant(tx, one, place)]
        return [propose_inside(tx, db, each, place, flags=one.flags, now=now, reason=FORGET) for each in meant or [one.candidate]]
    known = "" if one.refused else _by_hand(tx, one, place)
    if refused := Decision(Op.NOOP, "STORED_BY_HAND", f"{known} and rests on the same words") if known else one.refused:
        return [not_kept(tx, one.candidate, place, refused, flags=one.flags, now=now)]
    return [propose_inside(tx, db, one.candidate, place, flags=one.flags, now=now, reason=one.reason)]


def said_by_user(candidate: Candidate, reader: Reader) -> bool:
    """Return whether the content stands literally, as whole words, in what a user said, by an episode that is cited and trusted."""
    if candidate.kind is Kind.INFERENCE or candidate.content is None or reader.sessions is None:
        return False
    cited = [reader.sessions.episode(piece.source) for piece in candidate.evidence if is_session(piece.source)]
    spoken = [reader.reading(one.source).parsed(one_line) for one in cited if _speaks_for_the_user(one) and one.text]
    return any(mentions(text, candidate.content) for text in spoken)


def _refused(candidate: Candidate, reason: str, why: str) -> Draft:
    key = redact(str(candidate.key)).text[:LONGEST_KEY]
    return Draft(replace(candidate.withdrawn(), key=key), refused=Decision(Op.NOOP, reason, why))


def _speaks_for_the_user(episode: Episode) -> bool:
    return episode.role is Role.USER and episode.trusted


def _cite(episode: Episode, quote: str, reader: Reader) -> str:
    """Return the narrowest citation of quoted words: where they stand twice, with some of what stands around them."""
    if reader.sessions is None:
        raise NotFound("no sessions can be read here; open the store with memkit.open")
    return suggest(episode.source, quote, sources=reader)[0]


def _by_hand(tx: SqliteUtils, one: Draft, place: Place) -> str:
    """Say what no extraction made, is visible here and rests on the same words of the same episode: a memory, or what waits; "" for none.

    What waits under the same key and says the same is left to the inbox, where both become one; what gives orders stands for nothing.
    """
    tenant, scopes, texts = place.principal.tenant, visible_from(place.scope), dict(one.texts)
    for piece in one.candidate.evidence:
        held = [one for one in store.resting_on(tx, tenant, piece.source, scopes) if one.source not in BY_ITSELF]
        found = [(f"{memory.key!r} was stored by hand", memory.evidence) for memory in held]
        for each in waiting_on(tx, tenant, piece.source, scopes):
            known = each.key == one.candidate.key and same_statement(each.content or "", one.candidate.content or "")
            if not (known or each.flags):
                found.append((f"proposal {each.id} ({each.key!r}) waits", each.candidate.evidence))
        for said, evidence in found:
            same = [other for other in evidence if other.source == piece.source]
            if any(_overlap(texts.get(piece.source, ""), piece, other) for other in same):
                return said
    return ""


def _overlap(text: str, one: Evidence, other: Evidence) -> bool:
    at, there = text.find(first := folded(one.quote)), text.find(second := folded(other.quote))
    return at >= 0 and there >= 0 and at < there + len(second) and there < at + len(first)


def _meant(tx: SqliteUtils, one: Draft, place: Place) -> list[Memory]:
    """Return the current values of this scope that a request to forget means: by their key, or because they state its words."""
    names = {_name(one.candidate.key), _name(one.subject)} - {""}
    current = store.current_memories(tx, place.principal.tenant, [place.scope])
    said = one.subject.strip()
    return [held for held in current if _name(held.key) in names or (said and masking.states(held.content or "", said))]


def _name(key: str) -> str:
    return normalise(key.replace("-", " ").replace("_", " "))
