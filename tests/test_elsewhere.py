"""A file that is gone is missing, with a hint where its content now is; the hint changes no verdict and recall never looks for it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import memkit
from memkit.record.elsewhere import MOST_FILES
from memkit.record.evidence import Reader, check, observe
from memkit.record.model import Verdict
from memkit.record.sources import Texts

NOW = datetime(2026, 1, 2, tzinfo=UTC)
BEFORE = {
    "conf/prod.cfg": "timeout = 30\n",
    "shop.py": "def pay():\n    return 1\n",
    "guide.md": "# A\none\n\n# B\ntwo\n",
    "other.cfg": "retries = 3\n",
}


class Counting(Texts):
    """Texts that remember which names were read."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__(texts)
        self.seen: list[str] = []

    def read(self, name: str) -> bytes:
        self.seen.append(name)
        return super().read(name)


def why(cite: str, after: dict[str, str]) -> str:
    evidence = observe(cite, Reader(Texts(dict(BEFORE))), NOW)
    done = check(evidence, Reader(Texts(dict(after))), search=True)
    assert done.verdict is Verdict.MISSING
    return done.why


@pytest.mark.parametrize(
    ("cite", "after", "hint"),
    [
        ("conf/prod.cfg#key=timeout", {"prod.cfg": "timeout = 30\n"}, "; the same stands in prod.cfg"),
        ("conf/prod.cfg#key=timeout", {"prod.cfg": "# moved\ntimeout: 30\n"}, "; the same stands in prod.cfg"),
        ("conf/prod.cfg#key=timeout", {"prod.cfg": "timeout = 60\n"}, ""),
        ("conf/prod.cfg#key=timeout", {"a.cfg": "# x\ntimeout=30", "z.cfg": "timeout = 30\n"}, "; the same stands in z.cfg"),
        ("conf/prod.cfg#key=timeout", {"b.cfg": "timeout=30", "a.cfg": "timeout=30"}, "; the same stands in a.cfg, b.cfg"),
        ("conf/prod.cfg#key=timeout", {f"{c}.cfg": "timeout=30" for c in "abcde"}, "; the same stands in a.cfg, b.cfg, c.cfg and 2 more"),
        ("conf/prod.cfg", {"notes.txt": "timeout = 30\n"}, "; the same stands in notes.txt"),
        ("shop.py#def=pay", {"lib/shop.py": "import x\ndef pay(): return 1"}, "; the same stands in lib/shop.py"),
        ("guide.md#section=A", {"README.md": "## B\n# A\none\n# C"}, "; the same stands in README.md"),
        ("guide.md#quote=one", {"README.md": "just one"}, "; the same stands in README.md"),
        ("guide.md#lines=1-2", {"README.md": "# A\none\n"}, "; the same stands in README.md"),
        ("guide.md#section=A", {"bad.md": "\0", "b.md": "# B"}, ""),
    ],
)
def test_a_renamed_file_is_missing_with_a_hint(cite: str, after: dict[str, str], hint: str) -> None:
    assert why(cite, after) == f"{cite.partition('#')[0]} is not there any more{hint}"


def test_the_search_is_bounded_and_looks_at_files_named_alike_first() -> None:
    evidence = observe("conf/prod.cfg#key=timeout", Reader(Texts(dict(BEFORE))), NOW)
    texts = Counting({f"{n:04}.cfg": "x = 1" for n in range(3 * MOST_FILES)} | {"z/prod.cfg": "timeout = 30\n"})
    done = check(evidence, Reader(texts), search=True)
    assert done.why.endswith("; the same stands in z/prod.cfg")
    assert (texts.seen[1], len(texts.seen)) == ("z/prod.cfg", MOST_FILES + 1)


def test_recall_never_reads_other_files_and_check_does() -> None:
    texts = Counting(dict(BEFORE))
    scope = memkit.Scope(workspace="shop")
    with memkit.open(sources={}) as kit:
        kit.sources = texts
        kit.learn("timeout", "a payment waits timeout = 30 s", scope=scope, cite="conf/prod.cfg#key=timeout")
        texts["prod.cfg"] = str(texts["conf/prod.cfg"])
        del texts["conf/prod.cfg"]
        texts.seen.clear()
        skipped = kit.recall("payment timeout", scope=scope, budget=100).skipped
        assert ([skip.reason for skip in skipped], texts.seen) == (["MISSING_SOURCE"], ["conf/prod.cfg"])
        assert [piece.why for piece in kit.check(scope=scope)] == ["conf/prod.cfg is not there any more; the same stands in prod.cfg"]
        assert "prod.cfg" in texts.seen


def test_a_key_that_is_gone_from_a_file_that_is_there_starts_no_search() -> None:
    evidence = observe("conf/prod.cfg#key=timeout", Reader(Texts(dict(BEFORE))), NOW)
    done = check(evidence, Reader(Texts({"conf/prod.cfg": "x = 1", "prod.cfg": "timeout = 30\n"})), search=True)
    assert (done.verdict, done.why) == (Verdict.MISSING, "conf/prod.cfg has no key timeout")
