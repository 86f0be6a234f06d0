"""The memkit call a widget just made, written as code that a learner can paste, with the names the learner knows.

Not here: making the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memkit.record.model import Memory
from memkit.record.scope import Principal, Scope, named_dimensions


def scope_of(stored: str) -> Scope:
    """Return the scope that is stored under this string, for the principal it belongs to.

    >>> scope_of("env=prod&workspace=shop")
    Scope(user=False, workspace='shop', branch=None, env='prod', session=None)
    """
    named = named_dimensions(stored)
    return Scope(user="user" in named, **{name: value for name, value in named.items() if name != "user"})


def scope_code(scope: Scope, known: Mapping[str, Scope]) -> str:
    """Return the name of the variable that holds a scope, where there is one, else how to write it.

    >>> prod = Scope(workspace="shop", env="prod")
    >>> scope_code(prod, {"prod": prod}), scope_code(prod, {})
    ('prod', "memkit.Scope(env='prod', workspace='shop')")
    """
    for label, other in known.items():
        if other == scope and label.isidentifier():
            return label
    named = {name: value for name, value in scope.dimensions(Principal()).items() if name != "user"}
    return f"memkit.Scope({', '.join([f'{name}={value!r}' for name, value in named.items()] + ['user=True'] * scope.user)})"


def check_code(scope: str) -> str:
    """Return a call of `check`; `scope` is code.

    >>> check_code("prod")
    'kit.check(scope=prod)'
    """
    return f"kit.check(scope={scope})"


def recall_code(query: str, scope: str, budget: int) -> str:
    """Return a call of `recall`.

    >>> recall_code("how long?", "prod", 200)
    "kit.recall('how long?', scope=prod, budget=200)"
    """
    return f"kit.recall({query!r}, scope={scope}, budget={budget})"


def learn_code(memory: Memory, content: str, scope: str, cites: Sequence[str]) -> str:
    """Return a call of `learn` that puts `content` on top of the revision of `memory`."""
    cite = cites[0] if len(cites) == 1 else list(cites)
    kind = "" if memory.kind.value == "fact" else f", kind={memory.kind.value!r}"
    return f"kit.learn({memory.key!r}, {content!r}, scope={scope}, cite={cite!r}, expected={memory.revision}{kind})"
