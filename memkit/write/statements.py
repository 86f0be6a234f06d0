"""Read one clause as a statement: a preference, a correction, a fact, a request to remember or to forget, or nothing.

The shapes are in `extract.toml`; a shape that many sentences have ("X is Y") counts only where the clause also names a topic, a number, a
path or the like. Left out: who said it, whether it is wanted (`unwanted.py`), and what was said before (`extract.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from memkit.record.model import Kind
from memkit.record.text import compiled
from memkit.write.subjects import is_chinese, key_of, topic, topic_key
from memkit.write.table import read

_TRAILING = " \t.,;:!。，；：！、~～"
_DATE = r"^(?:(?:on|since|in|as of) )?(?:the week of )?\d{4}-\d\d(?:-\d\d)?(?: 年| 那周)?[，, ]*(?=[^\d\s])"
_CONFIDENCE = {"forget": 0.95, "remember": 0.95, "preference": 0.9, "correction": 0.9, "fact": 0.8}


@dataclass(frozen=True, slots=True)
class Statement:
    """What a clause states. `said` is the clause without its openers; `subject` is "" where it names none; `old` is what it replaces."""

    via: str
    said: str
    subject: str
    predicate: str
    value: str
    old: str = ""
    asked: bool = False
    turned: bool = False
    aspect: str = ""

    @property
    def kind(self) -> Kind:
        """Return PREFERENCE for what a person wants, also where it corrects something; FACT for what is so."""
        wanted = compiled(r"(?i)(?:prefer|want|call it|name it|go with|stick to)$").match(self.predicate)
        order = self.via == "correction" and not self.subject and compiled(r"(?i)use$|用$|使用$").match(self.predicate) and not self.turned
        return Kind.PREFERENCE if self.via == "preference" or wanted or order else Kind.FACT

    @property
    def may_be_an_order(self) -> bool:
        """Return whether it may be an order to change something ("按钮改成蓝色"): a fact only where the thing was known before."""
        changes = compiled("|".join(read("extract.toml")["words"]["zh_changed"])).fullmatch(self.predicate)
        return bool(changes) and not self.turned and not compiled(r"了|已|现在|要|将|会|从|\d{4}-\d\d").search(self.said)

    @property
    def confidence(self) -> float:
        return _CONFIDENCE["remember" if self.asked else self.via]

    @property
    def key(self) -> str:
        """Name what it is about; who owns a thing is said of the thing."""
        chinese = is_chinese(self.said)
        owned = compiled(read("statements.toml")["form"]["owned"]).match(self.predicate)
        if self.via == "forget":
            named = compiled(read("statements.toml")["form"]["told"]).sub("", self.value)
            return key_of(named, "") or key_of("", named)
        if owned or (self.predicate == "由" and compiled(r".{1,20}(?:负责|维护|管理?)$").match(self.value)):
            thing = self.value if owned and owned["by"] is None else self.subject
            return key_of(f"{thing}{'负责人' if chinese else ' owner'}", "")
        for english, aspect in (("start", "开始"), ("end", "结束")):
            if compiled(read("statements.toml")["form"][english]).search(self.predicate):
                return key_of(f"{self.subject}{aspect if chinese else f' {english}'}", "")
        if self.aspect:
            return key_of(f"{self.subject}{'' if chinese else ' '}{self.aspect}", "")
        return key_of(self.subject, f"{self.predicate}{self.value}" if chinese else f"{self.predicate} {self.value}")


def opened(clause: str) -> tuple[str, bool]:
    """Return the clause without the words that only open it, and whether they announce a correction.

    >>> opened("Oh, actually, we use yarn.")
    ('we use yarn', True)
    """
    tables, turned, before = read("extract.toml"), False, ""
    clause = clause.strip(_TRAILING)
    while clause != before:
        before = clause
        for language in ("chinese", "english"):
            clause = compiled(tables["opener"][language]).sub("", clause).strip(_TRAILING)
            left = compiled(tables["turned"][language]).sub("", clause).strip(_TRAILING)
            turned, clause = turned or left != clause, left
            clause = compiled(tables["closer"][language]).sub("", clause).strip(_TRAILING)
    return clause, turned


def statement(clause: str, subject: str = "") -> Statement | None:
    """Read a clause; `subject` is the one it takes over where it has none of its own. None where it states nothing.

    >>> statement("please note that the API listens on port 8081").key
    'api-port'
    """
    said, turned = opened(clause)
    for via in ("forget", "remember"):
        asked = _asked(via, said)
        if asked and via == "forget":
            return Statement("forget", said, "", "", asked, turned=turned)
        if asked:
            inner = statement(asked, subject)
            kept = inner or Statement("fact", opened(asked)[0], "", "", opened(asked)[0])
            return replace(kept, asked=True, turned=turned or kept.turned)
    if subject and said:
        said = _with_subject(said, subject)
    found = _stated(said) or (_pronoun(said) if turned else None)
    return replace(found, turned=turned or found.turned) if found else None


def _asked(via: str, said: str) -> str:
    for language in ("chinese", "english"):
        match = compiled(read("extract.toml")[via][language]).match(said)
        asked = next((group.strip(_TRAILING) for group in match.groupdict().values() if group), "") if match else ""
        if (" " in asked or is_chinese(asked)) and not compiled(read("statements.toml")["form"]["idle"]).match(asked):
            return asked
    return ""


def _with_subject(said: str, subject: str) -> str:
    """Put a subject before a clause that has none, or in the place of its pronoun."""
    bare = compiled(r"(?i)^(?:it|they|that|它们?)\b\s*|^它们?").sub("", said)
    if is_chinese(said):
        return f"{subject}{bare}"
    joint = " is " if compiled(r"(?i)(?:built|hosted|deployed|stored|written)\b").match(bare) else " "
    return f"{subject}{joint}{bare}"


def _stated(said: str) -> Statement | None:
    """Try the shapes in order: what replaces something, what is wished, what is so."""
    language = "chinese" if is_chinese(said) else "english"
    undated = compiled(_DATE).sub("", said)
    for via in ("correction", "preference", "fact"):
        for row in read("extract.toml")[via][language]:
            match = compiled(f"(?i)^(?:{row['find']})$").match(undated)
            dated = row.get("needs") != "dated" or undated != said
            if match and dated and _meets(row.get("needs", ""), match):
                groups = {name: (match.groupdict().get(name) or "").strip(_TRAILING) for name in ("s", "p", "v", "old")}
                found = Statement(via, said, groups["s"], groups["p"], groups["v"], groups["old"])
                if not _empty(found):
                    return _replaced(found)
    return None


def _replaced(found: Statement) -> Statement:
    """Read "Vuex 换成 Pinia" as what is said of their topic, with the first as the old value."""
    old = topic(found.subject) if found.via == "correction" and not found.old else None
    if old and not topic(found.subject, names_only=True) and topic_key(found.subject) == topic_key(found.value):
        return replace(found, subject="", old=old[0])
    return found


def _pronoun(said: str) -> Statement | None:
    """Read "it's 8081", which says something only as a correction of what was said before."""
    match = compiled(read("extract.toml")["pronoun"]["chinese" if is_chinese(said) else "english"]).match(said)
    if not match:
        return None
    found = Statement("correction", said, "", "", match["v"].strip(_TRAILING), (match["old"] or "").strip(_TRAILING), turned=True)
    return None if _empty(found) or compiled(read("statements.toml")["form"]["judged"]).match(found.value) else found


def _empty(found: Statement) -> bool:
    """Return whether a statement says nothing that could be kept: its subject or its value is a mere pointer, or a judgement."""
    empty = read("statements.toml")["empty"]
    return bool(compiled(empty["value"]).match(found.value) or compiled(empty["subject"]).match(found.subject))


def _meets(needs: str, match: re.Match[str]) -> bool:
    return not needs or any(_TESTS[need](match) for need in needs.split())


def _has(name: str) -> Any:
    return lambda match: bool(compiled("(?i)" + "|".join(read("extract.toml")["words"][name])).search(match[0]))


def _shape(match: re.Match[str]) -> bool:
    return bool(compiled("|".join(read("extract.toml")["words"]["shape"])).search(match["v"]))


def _topic(match: re.Match[str]) -> bool:
    return bool(topic(match[0]))


def _form(name: str) -> Any:
    return lambda match: bool(compiled(read("statements.toml")["form"][name]).search(match[0]))


def _habit(match: re.Match[str]) -> bool:
    """A prohibition of a kind of thing ("don't use default exports"), not of one ("don't touch the config")."""
    return not compiled(read("statements.toml")["form"]["pointing"]).search(match["v"])


def _order(match: re.Match[str]) -> bool:
    """A request about a topic, not about one thing to be done now; or a choice between two things."""
    return (_topic(match) and _habit(match)) or bool(compiled(read("statements.toml")["form"]["choice"]).search(match["v"]))


def _named(match: re.Match[str]) -> bool:
    """What is done with something that has a name: a subject of its own, a topic, a shape, or a proper name."""
    subject, value = match["s"].strip(), match["v"].strip()
    form = read("statements.toml")["form"]
    if compiled(form["nobody"]).match(subject):
        return False
    if compiled(form["ours"]).match(f"{subject} {match['p']}") and not compiled(form["pointing"]).search(value):
        return True
    proper = _shape(match) or _topic(match) or bool(compiled(r"^(?:the |our )?[A-Z]").match(value))
    return proper or not compiled(form["anybody"]).match(subject)


def _valued(match: re.Match[str]) -> bool:
    """What something is, where that is a value: a number, a name, a path; or where the subject is known to have one."""
    subject, value = match["s"].strip(), match["v"].strip()
    form = read("statements.toml")["form"]
    if compiled(form["nobody"]).match(subject) or compiled(form["judged"]).match(value):
        return False
    if compiled(r"(?i)(?:our|the|my) ").match(subject) and compiled(form["proper"]).match(value):
        return True
    head = compiled(r" (?:of|for|on|in|to|at|we|that) ").split(subject)[0]
    if topic_key(subject, names_only=True) or compiled(form["attribute"]).search(head):
        return len(value) <= 80
    if _shape(match) or topic(value):
        return not compiled(form["anybody"]).match(subject) and len(subject.split()) <= 5
    if compiled(form["norm"]).search(match["p"]) and not compiled(r"(?i)\w+ed$").match(value):
        return True  # what must or should be so
    return bool(compiled(form["identity"]).match(f"{subject} = {value}"))


_TESTS = {
    "standing": _has("standing"), "topic": _topic, "shape": _shape, "habit": _habit, "order": _order, "named": _named, "valued": _valued,
    "schedule": _form("schedule"),
    "proper": lambda match: bool(compiled(r"[A-Z]").match(match["v"])), "dated": lambda _: True,
    "imperative": _form("imperative"), "names": lambda match: bool(topic_key(match["s"], names_only=True)),
}  # fmt: skip
