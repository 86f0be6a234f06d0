"""Read Python as a syntax tree: which definitions there are, and a text of one that comments and layout do not change.

A name is dotted as in `Checkout.pay` (`outer.inner` for what a function defines inside). Functions and classes count, wherever `if`, `try`
or `with` puts them; where a name has none, assignments to it in the module or in a class do. Nothing is imported or run.
Left out: what a name means at run time (imports, decorators that replace it, `global`), and sources this Python's grammar refuses.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterator

from memkit.record.sources import Unreadable

LONGEST = 1024 * 1024  # characters; the parser needs seconds for this much

_INNER = (ast.FunctionDef, ast.AsyncFunctionDef)
_Work = tuple[bool, object]  # (ready to be written, text or what to write)


def definitions(text: str) -> dict[str, list[ast.stmt]]:
    """Return each dotted name with its definitions in the order of the source; raises Unreadable.

    >>> [*definitions("if x:\\n  def f(): pass\\nelse:\\n  f = None\\nclass A:\\n  B = 1")]
    ['f', 'A', 'A.B']
    """
    if len(text) > LONGEST:
        raise Unreadable(f"too long (over {LONGEST} characters) to be read as Python")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}" if isinstance(error, SyntaxError) else type(error).__name__
        raise Unreadable(f"not readable as Python ({where})") from None
    found: dict[str, list[ast.stmt]] = {}
    assigned: dict[str, list[ast.stmt]] = {}
    for name, node in _walk(tree):
        kept = found if isinstance(node, (*_INNER, ast.ClassDef)) else assigned
        kept.setdefault(name, []).append(node)
    return {**found, **{name: nodes for name, nodes in assigned.items() if name not in found}}


def canonical(node: ast.AST) -> str:
    """Return the one JSON text of a syntax tree, the same in every Python that reads the source alike.

    A node is `[name, {field: value}]`, its fields in the grammar's order; those that are None or an empty list are left out, so a field a
    later Python adds changes nothing. Constants other than text are `{type: repr}`. Positions and comments are not in the tree.

    >>> canonical(ast.parse("x = 1  # one").body[0])
    '["Assign",{"targets":[["Name",{"id":"x","ctx":["Store",{}]}]],"value":["Constant",{"value":{"int":"0x1"}}]}]'
    """
    written: list[str] = []
    work: list[_Work] = [(False, node)]
    while work:  # subtle: a loop, because a long chain of + or elif is deeper than Python's own stack
        ready, item = work.pop()
        if ready:
            written.append(str(item))
        elif isinstance(item, ast.AST):
            fields = [(f, v) for f, v in ast.iter_fields(item) if v is not None and v != []]
            pieces = [(True, f'["{type(item).__name__}",{{')]
            for n, (name, value) in enumerate(fields):
                pieces += [(True, f'{"," * (n > 0)}"{name}":'), (False, value)]
            work += reversed([*pieces, (True, "}]")])
        elif isinstance(item, list):
            inner = [piece for n, value in enumerate(item) for piece in ((True, "," * (n > 0)), (False, value))]
            work += reversed([(True, "["), *inner, (True, "]")])
        else:
            written.append(_constant(item))
    return "".join(written)


def shown(node: ast.stmt) -> tuple[str, bool]:
    """Return a definition as text, and whether it is a plain value: of `TIMEOUT = 30` that is 30.

    The text is written from the tree, so what the digest does not see (comments, layout) is not in it either.

    >>> shown(ast.parse("TIMEOUT: int = 30").body[0]), shown(ast.parse("def f( ): # odd\\n  return 1").body[0])
    (('30', True), ('def f():\\n    return 1', False))
    """
    value = getattr(node, "value", None)
    if isinstance(value, ast.Constant) and isinstance(value.value, str | int | float):
        return (value.value if isinstance(value.value, str) else ast.unparse(value)), True
    try:
        return ast.unparse(node), False
    except (ValueError, RecursionError):
        return canonical(node), False


def _constant(value: object) -> str:
    if value is None or isinstance(value, str):
        return json.dumps(value)
    text = hex(value) if isinstance(value, int) and not isinstance(value, bool) else repr(value)  # subtle: repr refuses very long integers
    return f"{{{json.dumps(type(value).__name__)}:{json.dumps(text)}}}"


def _walk(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    work: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while work:
        node, prefix, inside = work.pop()
        if isinstance(node, (*_INNER, ast.ClassDef)):
            prefix, inside = prefix + node.name, inside or isinstance(node, _INNER)
            yield prefix, node
            prefix += "."
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not inside:
            yield from ((f"{prefix}{name}", node) for name in _targets(node))
        children = (n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt | ast.excepthandler | ast.match_case))
        work += [(child, prefix, inside) for child in reversed(list(children))]


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
