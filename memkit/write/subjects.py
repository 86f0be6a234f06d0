"""Find what a statement is about, and name it: the same subject gives the same key, so that a correction meets what it corrects.

`subjects.toml` knows what people talk about in a code project; anything else is named by its own words. Chinese text gets Chinese keys.
Left out: whether the statement should be kept, and synonyms beyond the table.
"""

from __future__ import annotations

import re
from functools import cache

from memkit.record.text import compiled
from memkit.record.tokens import CJK
from memkit.write.table import read

LONGEST_KEY = 40  # characters; a key is a name, not a sentence
_MOST_WORDS = 4


def is_chinese(text: str) -> bool:
    """Return whether a text is Chinese, also with Latin names in it.

    >>> is_chinese("测试用 pytest"), is_chinese("tests use pytest")
    (True, False)
    """
    return bool(compiled(CJK).search(text))


def topic(text: str, *, names_only: bool = False) -> re.Match[str] | None:
    """Return the first place where a known topic is named, or shown by one of its values; `lastgroup` is its number in `topics()`."""
    return compiled(_pattern(names_only)).search(text)


def topic_key(text: str, *, names_only: bool = False, chinese: bool | None = None) -> str:
    """Return the key of the first topic of a text, or "".

    >>> topic_key("we use pnpm here"), topic_key("单元测试用 pytest"), topic_key("hello")
    ('package-manager', '测试框架', '')
    """
    found = topic(text, names_only=names_only)
    if not found:
        return ""
    name = list(read("subjects.toml")["topic"])[int((found.lastgroup or "t0")[1:])]
    return str(read("subjects.toml")["topic"][name]["zh"]) if (is_chinese(text) if chinese is None else chinese) else name


def key_of(subject: str, rest: str) -> str:
    """Name what is said of `subject` (which may be vague: "we", "the project", nothing) by `rest`, the other words of the statement.

    >>> key_of("the payment service", "listens on port 8081"), key_of("we", "use pnpm"), key_of("支付服务的超时", "是 30 秒")
    ('payment-service-port', 'package-manager', '支付服务超时')
    """
    chinese = is_chinese(subject + rest)
    bare = _bare(subject)
    named = topic(bare, names_only=True)
    if named:
        key = topic_key(bare, names_only=True, chinese=chinese)
        bare = f"{bare[: named.start()]} {key} {bare[named.end() :]}"
        return _joined(bare, chinese, LONGEST_KEY)
    across = topic(subject + rest, names_only=True) if chinese else None
    if across and across.start() < len(subject) < across.end():
        return topic_key(across[0], names_only=True, chinese=True)
    of_rest = topic_key(rest, chinese=chinese)
    if bare and topic(bare) and topic_key(bare) == topic_key(rest):
        of_rest = ""
    if of_rest.startswith(bare.lower().rstrip("s")) and bare:  # "tests run with pytest": the topic says it all
        return of_rest
    if bare:
        return _joined(f"{bare} {of_rest}", chinese, LONGEST_KEY)
    return of_rest or _joined(_bare(rest, also="verbs"), chinese, LONGEST_KEY)


def is_vague(subject: str) -> bool:
    """Return whether a subject names nothing by itself.

    >>> is_vague("We"), is_vague("the API")
    (True, False)
    """
    return not _bare(subject)


def _bare(text: str, also: str = "") -> str:
    """Leave out the words that name nothing; "the timeout of the API" is the API's timeout."""
    text = compiled(r"(?:(?:on|in|since|the week of|by|at) )?\d{4}-\d\d(?:-\d\d)?").sub(" ", text)
    turned = text if also else compiled(r"(?i)^(.{1,60}?) (?:of|for|in|on) (?:the |our |my )?(.{1,40})$").sub(r"\2 \1", text.strip())
    words = read("subjects.toml")["vague"]
    english = "|".join([*words["english"], *(words["verbs"] if also else [])])
    chinese = "|".join([*words["chinese"], *(words["chinese_verbs"] if also else [])])
    left = compiled(rf"(?i)(?<![\w'-])(?:{english})(?![\w'-])").sub(" ", turned)
    return " ".join(compiled(rf"(?:{chinese})").sub(" ", left).split()) if is_chinese(left) else " ".join(left.split())


def _joined(text: str, chinese: bool, longest: int) -> str:
    """Join the words of a name: Chinese ones directly, others by hyphens; paths and versions keep their own marks.

    >>> _joined("Payment  service's Port", False, 40), _joined("支付 服务 超时", True, 40)
    ('payment-service-port', '支付服务超时')
    """
    words = compiled(r"[\w./+#-]*\w[+#]*").findall(compiled(r"['’]s\b").sub("", text).lower() if not chinese else text)
    words = [word.strip("./") for word in words]
    if chinese:
        joined = "".join(words[:6])
        return joined[:12] if joined[:12].isascii() is False else joined[:longest]
    return "-".join(words[:_MOST_WORDS])[:longest].strip("-")


@cache
def _pattern(names_only: bool) -> str:
    rows = read("subjects.toml")["topic"].values()
    found = [row["names"] + ([] if names_only else row["values"]) for row in rows]
    edged = ["|".join(_edged(form) for form in forms) for forms in found]
    return "(?i)" + "|".join(f"(?P<t{number}>{forms})" for number, forms in enumerate(edged))


def _edged(form: str) -> str:
    """Let a Latin form match whole words only; a Chinese one has no edges."""
    return form if is_chinese(form) else rf"(?<![A-Za-z0-9_./-])(?:{form})(?![A-Za-z0-9_]|[./-][A-Za-z0-9_])"
