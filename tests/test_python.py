"""`def=`: code and docstring count, comments and layout do not; the n-th of a name is the n-th of the source."""

from __future__ import annotations

import ast
import json
from datetime import UTC, datetime

import pytest

from memkit.errors import BadLocator, MemkitError, Refused
from memkit.record.evidence import Reader, check, find, mentions, observe
from memkit.record.model import Verdict
from memkit.record.python import canonical, definitions
from memkit.record.sources import Texts

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SHOP = '''
from typing import overload

TIMEOUT: int = 30  # seconds
NAME = "商店"
A, (B, *C) = 1, (2, 3)

@cache
def pay(n, *, retries=3):
    """Pay."""
    def inner():
        return n
    return inner()

class Checkout:
    LIMIT = 5
    @property
    def total(self): return 1
    @total.setter
    def total(self, value): pass
    async def send(self): await x
    class Inner:
        def deep(self): ...

if x:
    def chosen(): return 1
else:
    def chosen(): return 2
try:
    import fast
except ImportError:
    fast = None
for i in y:
    with z:
        def deep(): pass
match k:
    case 1:
        def matched(): pass
'''


def text(name: str, source: str = SHOP) -> str:
    return find(f"shop.py#def={name}", Reader(Texts({"shop.py": source}))).text


def verdict(name: str, before: str, after: str) -> Verdict:
    evidence = observe(f"shop.py#def={name}", Reader(Texts({"shop.py": before})), NOW)
    return check(evidence, Reader(Texts({"shop.py": after}))).verdict


@pytest.mark.parametrize(
    ("name", "first_line"),
    [
        ("TIMEOUT", "30"),
        ("NAME", "商店"),
        ("B", "A, (B, *C) = (1, (2, 3))"),
        ("C", "A, (B, *C) = (1, (2, 3))"),
        ("pay", "@cache"),
        ("pay.inner", "def inner():"),
        ("Checkout", "class Checkout:"),
        ("Checkout.LIMIT", "5"),
        ("Checkout.total", "@property"),
        ("Checkout.total#2", "@total.setter"),
        ("Checkout.send", "async def send(self):"),
        ("Checkout.Inner.deep", "def deep(self):"),
        ("chosen", "def chosen():"),
        ("deep", "def deep():"),
        ("matched", "def matched():"),
        ("fast", "fast = None"),
    ],
)
def test_a_name_finds_its_definition(name: str, first_line: str) -> None:
    assert text(name).split("\n")[0] == first_line


def test_the_second_of_a_name_is_the_other_branch() -> None:
    assert (text("chosen")[-1], text("chosen#2")[-1]) == ("1", "2")


@pytest.mark.parametrize("name", ["n", "pay.n", "total", "chosen#3", "Checkout.pay", "i", "inner"])
def test_what_is_not_defined_is_not_found(name: str) -> None:
    with pytest.raises(BadLocator, match="names nothing"):
        text(name)


def test_a_definition_goes_before_an_assignment_of_the_same_name() -> None:
    assert text("f", "f = None\nif x:\n    def f(): pass\n") == "def f():\n    pass"


BASE = 'def pay(n, *, retries=3):\n    """Pay."""\n    return n + 1\n'


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (f"import os\n\n\n# new\n{BASE}", Verdict.VALID),
        ('def pay( n,*,retries = 3 ): # odd\n  """Pay."""\n\n  return (n+1)', Verdict.VALID),
        ("def pay(n, *, retries=3,):\n    'Pay.'\n    return n + \\\n        1\n", Verdict.VALID),
        (BASE.replace("\n", "\r\n"), Verdict.VALID),
        (BASE.replace("3", "0x3"), Verdict.VALID),
        (BASE.replace("3", "4"), Verdict.CHANGED),
        (BASE.replace("3", "3.0"), Verdict.CHANGED),
        (BASE.replace("3", '"3"'), Verdict.CHANGED),
        (BASE.replace("Pay.", "Pay!"), Verdict.CHANGED),
        (BASE.replace("n + 1", "n - 1"), Verdict.CHANGED),
        (BASE.replace("def", "async def"), Verdict.CHANGED),
        (BASE.replace("(n,", "(n: int,"), Verdict.CHANGED),
        (f"@cache\n{BASE}", Verdict.CHANGED),
        (f"class A:\n    {BASE.replace(chr(10), chr(10) + '    ')}", Verdict.MISSING),
        (BASE.replace("pay", "paid"), Verdict.MISSING),
        (BASE[:-4], Verdict.CHANGED),
        ("def pay(:", Verdict.UNREADABLE),
    ],
)
def test_code_and_docstring_count_and_layout_does_not(after: str, expected: Verdict) -> None:
    assert verdict("pay", BASE, after) is expected


def test_a_numbered_one_moves_when_one_is_put_before_it() -> None:
    one, two, new = "def f(): return 1\n", "def f(): return 2\n", "def f(): return 0\n"
    assert verdict("f#2", one + two, new + one + two) is Verdict.MOVED
    assert verdict("f#2", one + two, two) is Verdict.MOVED
    assert verdict("f#2", one + two, two + one + "def g(): pass\n") is Verdict.MOVED
    assert verdict("f#2", one + two, two + one + two) is Verdict.AMBIGUOUS
    assert verdict("f#2", one + two, one) is Verdict.MISSING
    assert verdict("f", one + two, new + one + two) is Verdict.CHANGED


def test_the_digest_is_of_canonical_json_that_json_can_read() -> None:
    source = (
        "def f(a=1.5, b=b'x', c=1j, *, d, e=..., **k) -> 'r':\n  return {**a, None: True, u'ü\\ud800': -0x10} if a else f'{a!r:>{b}}'\n"
    )
    node = ast.parse(source).body[0]
    tree = json.loads(canonical(node))
    assert tree[0] == "FunctionDef" and tree[1]["args"][1]["kw_defaults"][0] is None
    assert "type_params" not in tree[1] and "type_comment" not in tree[1]


@pytest.mark.parametrize("one", ["a", "None", "1", "1.0", "True", "'a'", "b'a'", "...", "1j", "[]", "()", "{}", "-1", "f'a'", "u'a'"])
def test_expressions_that_differ_have_trees_that_differ(one: str) -> None:
    others = {"a", "None", "1", "1.0", "True", "'a'", "b'a'", "...", "1j", "[]", "()", "{}", "-1", "f'a'", "u'a'"} - {one}
    ours, theirs = canonical(ast.parse(one)), {canonical(ast.parse(other)) for other in others}
    assert ours not in theirs and len(theirs) == len(others)


def test_two_trees_are_equal_exactly_where_ast_dump_says_so() -> None:
    nodes = [node for found in definitions(SHOP).values() for node in found]
    nodes += [node for found in definitions(SHOP.replace("1", "(1)").replace("Pay.", "Pay")).values() for node in found]
    pairs = [(one, two) for one in nodes for two in nodes]
    assert [canonical(one) == canonical(two) for one, two in pairs] == [ast.dump(one) == ast.dump(two) for one, two in pairs]


def test_only_a_constant_is_a_value_that_a_sentence_can_state() -> None:
    reader = Reader(Texts({"shop.py": SHOP}))
    assert mentions("A payment waits 30 s.", find("shop.py#def=TIMEOUT", reader))
    assert not mentions(text("deep"), find("shop.py#def=deep", reader))


def test_comments_are_not_quoted() -> None:
    secret = "s3" + "cret"
    assert secret not in text("f", f"def f():\n    # {secret}\n    return 1\n")
    assert secret in text("f", f"def f():\n    return '{secret}'\n")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(:\n", r"Python .line 1"),
        ("x = 1\n  y = 2\n", r"Python .line 2"),
        ("(" * 5000, "Python"),
        ("-" * 50_000 + "1", "Python"),
        ("x = " + "1+" * 50_000 + "1", "Python"),
        ("#" * 1024 * 1025, "too long"),
        ("print 'x'\n", r"Python .line 1"),
    ],
)
def test_what_cannot_be_read_says_why(source: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason) as caught:
        text("f", source)
    assert caught.value.reason == "UNREADABLE_SOURCE"


def test_a_long_chain_is_no_trouble() -> None:
    chain = "def f(a):\n    if a == 0: return 0\n" + "".join(f"    elif a == {n}: return {n}\n" for n in range(1, 150))
    assert verdict("f", chain, f"# new\n{chain}") is Verdict.VALID
    assert verdict("f", chain, chain.replace("return 149", "return 150")) is Verdict.CHANGED


def test_odd_escapes_in_a_source_warn_nobody(recwarn: pytest.WarningsRecorder) -> None:
    assert text("f", 'def f(): return "\\d"\n')
    assert recwarn.list == []


def test_def_reads_python_only() -> None:
    with pytest.raises(MemkitError, match=r"reads .py, .pyi files"):
        find("a.txt#def=f", Reader(Texts({"a.txt": "def f(): pass"})))
