"""Read YAML as the same tree of values as the other formats, from its nodes: no object is ever made, whatever a tag says.

A key is its text as written (`on`, `8080`), a value what a safe YAML 1.1 reader makes of it. A key that stands twice holds TWICE. `<<`
merges, aliases stand for what they name. A value with a tag of its own is `{tag: value}`, as in `key=Url."!Sub"`. One document is the
tree itself; of several the tree is the list, so `key=0.kind` names the first. Left out: keys that are not scalars, cycles, and expansions
out of proportion.
"""

from __future__ import annotations

import base64
from collections.abc import Hashable

import yaml
from yaml.constructor import SafeConstructor

LONGEST = 512 * 1024  # characters of YAML; the parser needs seconds for this much
MOST_EXPANDED = 4 * 1024 * 1024  # characters after every alias is replaced by what it names

_READER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the compiled one where it was built: ten times as fast
_MERGE = "tag:yaml.org,2002:merge"
_EQUALS = "tag:yaml.org,2002:value"  # what YAML 1.1 takes a lone = for, and readers take for text
_PLAIN = {f"tag:yaml.org,2002:{kind}" for kind in ("map", "seq", "set", "omap", "pairs")}


def tree(text: str, twice: object) -> object:
    """Return the values of `text`, with `twice` where a key stands twice; raises ValueError and yaml.YAMLError.

    >>> tree("base: &b {port: 80}\\non: {<<: *b, wait: 1_0}", None)
    {'base': {'port': 80}, 'on': {'port': 80, 'wait': 10}}
    """
    documents = [_Document(twice).value(node) for node in yaml.compose_all(text, Loader=_READER)]
    return documents[0] if len(documents) == 1 else documents or None


class _Document:
    """One document while it is read: what was made of each node, and how long that is with its aliases written out."""

    def __init__(self, twice: object) -> None:
        self._twice, self._scalars = twice, SafeConstructor()
        self._made: dict[int, tuple[object, int] | None] = {}

    def value(self, node: yaml.Node) -> object:
        return self._sized(node)[0]

    def _sized(self, node: yaml.Node) -> tuple[object, int]:
        if id(node) not in self._made:
            self._made[id(node)] = None
            self._made[id(node)] = self._make(node)
        made = self._made[id(node)]
        if made is None or made[1] > MOST_EXPANDED:
            raise ValueError("an alias names what holds it, or the aliases expand out of proportion")
        return made

    def _make(self, node: yaml.Node) -> tuple[object, int]:
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node), len(node.value) + 1
        parts = [part for item in node.value for part in (item if isinstance(item, tuple) else (item,))]
        size = 1 + sum(self._sized(part)[1] for part in parts)
        made = self._mapping(node) if isinstance(node, yaml.MappingNode) else [self.value(item) for item in node.value]
        return (made if node.tag in _PLAIN else {node.tag: made}), size

    def _scalar(self, node: yaml.ScalarNode) -> object:
        if node.tag not in SafeConstructor.yaml_constructors:
            return node.value if node.tag == _EQUALS else {node.tag: node.value}
        made = self._scalars.construct_object(node)
        return {"$binary": base64.b64encode(made).decode()} if isinstance(made, bytes) else made

    def _mapping(self, node: yaml.MappingNode) -> dict[str, object]:
        own: dict[str, object] = {}
        merged: dict[str, object] = {}
        spelled: dict[Hashable, str] = {}
        for key, item in node.value:
            if key.tag == _MERGE:
                merged = {**self._merged(item), **merged}
                continue
            name, meant = self._key(key)
            first = spelled.setdefault(meant, name)  # subtle: 8080 and 0x1F90 are one key to a reader
            again = first != name or name in own
            own[name] = own[first] = self._twice if again else self.value(item)
        return {**merged, **own}

    def _merged(self, node: yaml.Node) -> dict[str, object]:
        merged: dict[str, object] = {}
        for item in reversed(node.value if isinstance(node, yaml.SequenceNode) else [node]):
            value = self.value(item)
            if not isinstance(value, dict):
                raise ValueError("<< merges what is not a mapping")
            merged |= value
        return merged

    def _key(self, node: yaml.Node) -> tuple[str, Hashable]:
        made = self.value(node)
        if not isinstance(node, yaml.ScalarNode) or not isinstance(made, Hashable):
            raise ValueError("a key is not a plain value")
        return node.value, (type(made), made)
