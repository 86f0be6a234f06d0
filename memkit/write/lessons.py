"""Find what was learned from failures: what failed, what mended it, and what showed that it works again.

The three may stand in one sentence or in several episodes. A person or a tool must have said that it works; what the assistant says of the
mending is told, but nothing rests on it. Left out: failures without a fix, and whether the fix would help elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memkit.record.model import Role
from memkit.record.text import compiled
from memkit.write.subjects import is_chinese, key_of
from memkit.write.table import read

REACH = 8  # episodes between a failure and what is told of it
LONGEST_TOLD = 240  # characters of one sentence that are told


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of one episode: its number there, who said it, and where it stands."""

    episode: int
    role: Role
    start: int
    end: int
    text: str

    @property
    def first_hand(self) -> bool:
        return self.role in (Role.USER, Role.TOOL)


@dataclass(frozen=True, slots=True)
class Lesson:
    """What failed, what mended it, and what showed it (None: nobody said that it works)."""

    failed: Said
    fixed: Said
    works: Said | None

    @property
    def sentences(self) -> list[Said]:
        """Return the sentences it is told in, each once, in order."""
        return list(dict.fromkeys(said for said in (self.failed, self.fixed, self.works) if said))

    @property
    def content(self) -> str:
        """Tell it: the failure and the fix; and the proof, where that is part of the same breath."""
        told = [said.text for said in dict.fromkeys((self.failed, self.fixed))]
        return " ".join(told) if not is_chinese(told[0]) else "".join(told)

    @property
    def key(self) -> str:
        """Name it by what failed."""
        return f"{_what_failed(self.failed.text)}失败" if is_chinese(self.content) else f"{_what_failed(self.failed.text)}-failure"


def lessons(sentences: Iterable[Said]) -> Iterator[Lesson]:
    """Yield every lesson of a session, from its sentences in order."""
    failed: Said | None = None
    fixed: Said | None = None
    for said in sentences:
        if failed and said.episode - failed.episode > REACH:
            failed = fixed = None
        fails, fixes, works = (_tells(said, what) for what in ("failed", "fixed", "works"))
        if fails and not (fixed and works):
            if failed and fixed and failed.first_hand and fixed.role is Role.USER and not fixes:
                yield Lesson(failed, fixed, None)
            if said.first_hand and (fixes or not failed or fixed or said.episode != failed.episode or _is_cause(said)):
                failed, fixed = said, None
        if failed and fixes:
            fixed = fixed if fixed and works else said
        if failed and fixed and works and said.first_hand:
            yield Lesson(failed, fixed, said)
            failed = fixed = None
    if failed and fixed and failed.first_hand and fixed.role is Role.USER:
        yield Lesson(failed, fixed, None)


def _tells(said: Said, what: str) -> bool:
    """Return whether a sentence tells of a failure, a fix or a success; a question tells nothing, and a plan is not a fix."""
    forms = read("lessons.toml")
    text = said.text
    if compiled(r"[?？]\s*$").search(text) or compiled(forms["log"]).match(text) or not compiled(forms[what]).search(text):
        return False
    if what != "fixed":
        return True
    return said.role is not Role.TOOL and not compiled(forms["later"]).search(text)


def _is_cause(said: Said) -> bool:
    forms = read("lessons.toml")
    return bool(compiled(forms["error"]).search(said.text) or compiled(forms["cause"]).search(said.text))


def _what_failed(text: str) -> str:
    forms, chinese = read("lessons.toml"), is_chinese(text)
    found = compiled(forms["chinese_noun" if chinese else "noun"]).search(text)
    name = compiled(r"(?i)^(?:\w+-)?errors?(?:-|$)").sub("", key_of(found[1], "")) if found else ""
    if not name:
        error = compiled(forms["error"]).search(text)
        name = error[1].lower() if error else key_of("", text[:60])
    return name or ("任务" if chinese else "task")
