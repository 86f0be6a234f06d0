"""The extractor that needs no model: keep what was stated, in English and Chinese, and say why the rest was not.

A session is read once, in order. What a person states becomes a candidate; what the assistant says never does, but a correction may refer
to it ("no, it's 8081"); what tools and pages say is of low trust. Left out: anything that needs understanding; `memkit eval extraction`
says how much that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from memkit.record.fence import recalled_spans
from memkit.record.model import Episode, Kind, Role
from memkit.record.text import compiled, count_tokens, normalise
from memkit.record.tokens import whole_places
from memkit.write.dates import absolute
from memkit.write.extract import MOST_TOKENS, Extracted, Extraction, NotKept, readable
from memkit.write.lessons import LONGEST_TOLD, Lesson, Said, lessons
from memkit.write.screen import screen
from memkit.write.split import Piece, pieces, sentences
from memkit.write.statements import Statement, opened, statement
from memkit.write.subjects import is_chinese, is_vague, topic, topic_key
from memkit.write.table import read
from memkit.write.unwanted import REASONS, Reason, unwanted

MOST_SENTENCES, LONGEST_SENTENCE = 2_000, 600  # of one episode, and characters of one; the rest is refused unread
LOW_TRUST = 0.4  # confidence in what a tool or a web page says
FLAGGED = 0.1  # confidence in what reads like an instruction to the assistant
_PRONOUN = r"(?i)(?:it|they)\b|它们?"
_NAMED = r"(?i)\b((?:the|our) (?:[\w`/-]+ ){0,2}[\w`/-]+)(?=[.,;!]|$| (?:today|on|in|at|for|to|and|with|from|is|now|this|that)\b)"
MASK = r"\[redacted:|\[forgotten\]"


class Rules:
    """The extractor that follows rules, in English and Chinese. The same episodes give the same extraction.

    `count` counts the tokens of a text: a statement of more than 160 is not kept.
    """

    def __init__(self, count: Callable[[str], int] = count_tokens) -> None:
        self.count = count

    def extract(self, episodes: Sequence[Episode]) -> Extraction:
        """Return what a session states and what was refused.

        >>> from datetime import UTC, datetime
        >>> said = Episode("s", 1, Role.USER, "We use pnpm here.", True, True, datetime(2026, 11, 30, tzinfo=UTC), "{}")
        >>> [(found.key, found.content) for found in Rules().extract([said]).candidates]
        [('package-manager', 'We use pnpm here')]
        """
        reading = _Reading({episode.number: episode for episode in episodes}, self.count)
        said = {episode.number: list(reading.heard(episode)) for episode in readable(episodes)}
        every = [one for sentences_ in said.values() for one in sentences_]
        asked = {one.episode: one.text for one in every if one.role is Role.USER}
        for lesson in lessons(one for one in every if reading.may_tell(one)):
            before = (asked[number] for number in reversed(asked) if number < lesson.failed.episode)
            reading.learn(lesson, next(before, lesson.failed.text))
        for number, heard in said.items():
            reading.begin(number)
            for one in heard:
                if one not in reading.told:
                    reading.read(one)
        return reading.result()


@dataclass
class _Known:
    """What the session has said of a key so far; `at` is the candidate's place, None where the assistant or a tool said it."""

    key: str
    subject: str
    content: str
    at: int | None


@dataclass
class _Reading:
    """The state of reading one session: what was found, what was refused, and what is known by now."""

    episodes: dict[int, Episode]
    count: Callable[[str], int]
    found: dict[int, Extracted] = field(default_factory=dict)
    refused: list[NotKept] = field(default_factory=list)
    known: list[_Known] = field(default_factory=list)
    told: set[Said] = field(default_factory=set)
    turned: bool = False
    subject: str = ""

    def result(self) -> Extraction:
        order = sorted(self.found.values(), key=lambda one: one.episode)
        return Extraction(tuple(order), tuple(sorted(self.refused, key=lambda one: (one.episode, one.start))))

    def begin(self, number: int) -> None:
        """Begin with an episode: recalled memory in it is refused, and a pronoun refers to nothing yet."""
        self.turned, self.subject = False, ""
        for start, end in recalled_spans(self.episodes[number].text or ""):
            self.refuse(Said(number, self.episodes[number].role, start, end, ""), REASONS["RECALLED"])

    def heard(self, episode: Episode) -> Iterator[Said]:
        """Yield the sentences of an episode; what runs on too long, or comes after too many, is refused and not looked at."""
        text = episode.text or ""
        for place, (start, end) in enumerate(sentences(text)):
            if place == MOST_SENTENCES:
                self.refuse(Said(episode.number, episode.role, start, len(text), ""), REASONS["TOO_MANY"])
                return
            said = Said(episode.number, episode.role, start, end, text[start:end])
            if end - start <= LONGEST_SENTENCE:
                yield said
            else:
                self.refuse(said, REASONS["RUNS_ON"])

    def may_tell(self, said: Said) -> bool:
        """Return whether a sentence may be part of a lesson: not one that supposes, nor one from a page that gives orders."""
        reason = unwanted(said.text)
        return not (reason and reason.name in ("HYPOTHETICAL", "QUESTION")) and not (said.role is Role.TOOL and screen(said.text))

    def refuse(self, said: Said, reason: Reason) -> None:
        self.refused.append(NotKept(said.episode, said.start, said.end, reason.name, reason.why))

    def learn(self, lesson: Lesson, task: str) -> None:
        """Keep a lesson as an experience that rests on what people and tools said."""
        first_hand = [one for one in lesson.sentences if one.first_hand]
        rests = lesson.fixed if lesson.fixed.first_hand else first_hand[0]
        at = self.episodes[rests.episode].at
        content = absolute(opened(lesson.content)[0], at)
        if self.count(content) > MOST_TOKENS:
            content = absolute(lesson.fixed.text, at)
        if self.count(content) > MOST_TOKENS or compiled(MASK).search(content):
            return
        also = tuple((one.episode, one.text) for one in first_hand if one != rests)
        self.told.update(lesson.sentences)
        self._add(Extracted(
            lesson.key, content, Kind.EXPERIENCE, 0.8 if lesson.works else 0.5, rests.episode, rests.text, lesson.key.replace("-", " "),
            lesson.fixed.role is Role.USER, task[:LONGEST_TOLD],
            lesson.works.text if lesson.works else None, also,
        ))  # fmt: skip

    def read(self, said: Said) -> None:
        """Read one sentence: its statements become candidates, or are refused for one reason."""
        episode = self.episodes[said.episode]
        stated = self._statements(episode, said)
        if not stated:
            self._unstated(episode, said)
            return
        for piece, one in stated:
            reason = _refusal(episode, said, one, (episode.text or "")[piece.start : piece.end])
            if one.may_be_an_order and not self._corrected(one):
                reason = reason or unwanted(_ORDER)
            quote = replace(said, start=piece.start, end=piece.end, text=(episode.text or "")[piece.start : piece.end].rstrip(_ENDS))
            if reason:
                self.refuse(quote, reason)
                self.known.append(_Known(one.key, one.subject, one.said, None))
            else:
                self._state(episode, quote, one, said.text)
            self.subject = self.subject if is_vague(one.subject) else one.subject
        self.turned = False

    def _unstated(self, episode: Episode, said: Said) -> None:
        """Note what a sentence without a statement does for the next: it announces a correction, or names what "it" will be."""
        self.turned = opened(said.text) == ("", True)
        named = compiled(_NAMED).findall(said.text)
        self.subject = named[-1] if named else self.subject
        reason = unwanted(said.text) if episode.role is not Role.TOOL else None
        if reason:
            self.refuse(said, reason)

    def _answer(self, said: Said) -> Statement | None:
        """Read a word or two after the assistant's question ("Which package manager?" "pnpm.") as the statement it is."""
        asked = self.episodes.get(said.episode - 1)
        text = compiled(r"(?i)^(?:use|用)\s*").sub("", compiled(r"[，,]").split(opened(said.text)[0])[0])
        found = topic(text) if asked and asked.role is Role.ASSISTANT and (asked.text or "").rstrip().endswith(("?", "？")) else None
        if not found or said.role is not Role.USER or found[0] != text:
            return None
        about = topic_key(text, chinese=is_chinese((asked.text or "") if asked else ""))
        shown = about.replace("-", " ")
        return Statement("fact", f"{shown}{' 是 ' if is_chinese(shown) else ' is '}{text}", shown, "is", text)

    def _statements(self, episode: Episode, said: Said) -> list[tuple[Piece, Statement]]:
        """Return the statements of a sentence; two about one key are one, and a list of things of different topics is several."""
        answer = self._answer(said)
        if answer:
            return [(Piece(said.start, said.end), answer)]
        whole = statement(absolute(said.text, episode.at))
        if whole and whole.via == "correction":
            return [(Piece(said.start, said.end), replace(item, turned=item.turned or self.turned)) for item in _items(whole)]
        found = list[tuple[Piece, Statement]]()
        for piece in pieces(episode.text or "", said.start, said.end, self.subject):
            clause = absolute((episode.text or "")[piece.start : piece.end], episode.at)
            subject = piece.subject or (self.subject if compiled(_PRONOUN).match(opened(clause)[0]) else "")
            one = statement(f"no, {clause}" if self.turned and not subject else clause, subject)
            if not one:
                self.turned = self.turned or opened(clause) == ("", True)
                continue
            one = replace(one, asked=one.asked or bool(found and found[0][1].asked))
            same = bool(found) and found[-1][1].key == one.key
            if same and one.via == "fact" and one.predicate and found[-1][1].predicate not in ("", one.predicate):
                found.append((piece, replace(one, aspect=one.predicate.split(" ")[-1 if one.predicate.startswith(("is ", "are ")) else 0])))
            elif same:
                first, before = found.pop()
                joined = opened(absolute((episode.text or "")[first.start : piece.end], episode.at))[0]
                found.append((Piece(first.start, piece.end), replace(before, said=joined)))
            else:
                found.append((piece, one))
        return [(piece, item) for piece, one in found for item in _items(one)]

    def _state(self, episode: Episode, quote: Said, one: Statement, sentence: str) -> None:
        """Make a candidate of what a person or a tool said; an order anywhere in its sentence flags it."""
        key, subject, said = self._settled(one)
        said_by_person = episode.role is Role.USER and episode.trusted
        flags = tuple(dict.fromkeys(flag.technique for flag in screen(sentence)))
        refusal = self._known_or_long(key, said)
        content: str | None = said
        if one.via == "forget":
            content, refusal = None, None if said_by_person else REASONS["NOT_A_PERSON"]
        if refusal:
            self.refuse(quote, refusal)
            return
        confidence = one.confidence if said_by_person else FLAGGED if flags else LOW_TRUST
        kind = one.kind if said_by_person else Kind.INFERENCE if flags else Kind.FACT
        if content:
            self._supersede(key, one, kind)
        self._add(Extracted(key, content, kind, confidence, episode.number, quote.text, subject, said_by_person, flags=flags))

    def _known_or_long(self, key: str, content: str) -> Reason | None:
        if self.count(content) > MOST_TOKENS:
            return REASONS["TOO_LONG"]
        same = [known for known in self.known if known.key == key and known.at is not None]
        return REASONS["RESTATED"] if any(normalise(known.content) == normalise(content) for known in same) else None

    def _settled(self, one: Statement) -> tuple[str, str, str]:
        """Return key, subject and content; what corrects something takes the key of what it corrects."""
        earlier = self._corrected(one)
        subject = one.key.replace("-", " ") if is_vague(one.subject) else one.subject
        if not earlier:
            return one.key, subject, one.said
        if one.predicate or one.via != "correction":
            return earlier.key, subject, one.said
        about = earlier.subject or earlier.key.replace("-", " ")
        return earlier.key, about, f"{about}{'是' if is_chinese(about) else ' is '}{one.value}"

    def _corrected(self, one: Statement) -> _Known | None:
        """Find what a correction corrects: the same key, what states the old value, or for a bare "it" the last value of the same form."""
        key = one.key  # worked out once: a session may have thousands of statements
        same = next((known for known in reversed(self.known) if known.key == key), None)  # what it is called decides first
        if same or not (one.turned or one.old or one.via in ("forget", "correction")):
            return same
        for words in (one.old, one.value if one.via == "forget" else ""):
            holding = (known for known in reversed(self.known) if words and words in known.content)  # quick, before a closer look
            if held := next((known for known in holding if next(whole_places(known.content, words), None) is not None), None):
                return held
        if one.predicate or one.via == "forget":
            ending = [known for known in self.known if key and known.key.endswith(key)]
            return ending[-1] if len({known.key for known in ending}) == 1 else None
        wanted = bool(compiled(r"\d").search(one.value))
        alike = [known for known in self.known if bool(compiled(r"\d").search(known.content)) == wanted]
        return alike[-1] if alike and one.via == "correction" else None

    def _supersede(self, key: str, one: Statement, kind: Kind) -> None:
        """Turn away what this session said before and now replaces."""
        for known in [known for known in self.known if known.key == key and known.at is not None]:
            before = self.found[known.at or 0]
            if before.kind is kind and (one.turned or one.via == "correction" or _same_form(before.content or "", one)):
                del self.found[known.at or 0]
                text = self.episodes[before.episode].text or ""
                start = max(text.find(before.quote), 0)
                self.refuse(Said(before.episode, Role.USER, start, start + len(before.quote), ""), REASONS["SUPERSEDED"])
                self.known.remove(known)

    def _add(self, one: Extracted) -> None:
        number = next(reversed(self.found), 0) + 1
        self.found[number] = one
        self.known.append(_Known(one.key, one.subject, one.content or "", number if one.content else None))


_ORDER = "把它改掉"  # what an order to change something reads like


def _same_form(before: str, one: Statement) -> bool:
    """Return whether a later fact says the same of its subject with another value: the same words up to it."""
    return bool(one.value) and one.value in one.said and before.startswith(one.said[: one.said.rfind(one.value)].strip())


_ENDS = " \t\n.,;!。，；！、"


def _refusal(episode: Episode, said: Said, one: Statement, clause: str) -> Reason | None:
    """Return why a statement is refused, or None. A question or a supposition is the whole sentence; what points to one place, a clause."""
    if compiled(MASK).search(said.text):
        return REASONS["MASKED"]
    output = not (one.predicate or one.via == "forget") or not compiled(read("statements.toml")["form"]["prose"]).match(said.text)
    if episode.role is Role.TOOL and output:
        return REASONS["OUTPUT"]
    whole = unwanted(said.text)
    listed = whole if whole and whole.name in ("QUESTION", "HYPOTHETICAL") else unwanted(clause)
    if one.asked or one.via == "forget":
        listed = None
    return listed or (REASONS["ASSISTANT_CLAIM"] if episode.role is Role.ASSISTANT else None)


def _items(one: Statement) -> list[Statement]:
    """Split "Redis, Kafka and PostgreSQL" into single facts where each is of a topic of its own."""
    parts = [part.strip() for part in compiled(r",? and |, |、|和|以及").split(one.value) if part.strip()]
    topics = [topic_key(part) for part in parts]
    if one.via not in ("fact", "correction") or len(parts) < 2 or not all(topics) or len(set(topics)) < len(parts):
        return [one]
    head = one.said[: one.said.rfind(one.value)] if one.value in one.said else f"{one.subject} {one.predicate} "
    return [replace(one, said=f"{head}{part}", value=part) for part in parts]
