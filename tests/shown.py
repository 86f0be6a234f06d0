"""Read a rendered context back: one parser a form, written from the form's own rules and not from memkit's code."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

from markdown_it import MarkdownIt

STRING = r'"(?:[^"\\]|\\.)*"'
LINE = re.compile(
    rf"(m-[0-9a-f]{{16}}) (\S+(?: [\d.]+)?) in (\S+) from ({STRING}(?:, {STRING})*)(?:, ([^\"]+))?: ({STRING}) = ({STRING})"
    rf"(?: task {STRING} verification {STRING})?"
)
BLOCK = re.compile(r"<memkit-memory-([a-p]{8})>\n(.*?)\n</memkit-memory-\1>", re.DOTALL)

MARK = r"(?i)[<＜‹]\s*/?\s*memkit-memory"

Memory = tuple[str, str, str, list[str], str, str]  # id, trust, scope, sources, key, content


def memories(text: str, form: str) -> list[Memory]:
    """Return the memories that stand in a context, in order; fail on anything that looks like a memory's fence and is none."""
    return {"text": of_text, "markdown": of_markdown, "xml": of_xml, "chat": of_chat}[form](text)


def of_text(text: str) -> list[Memory]:
    blocks = BLOCK.findall(text)
    assert len(re.findall(MARK, text)) == 2 * len(blocks), "one opening and one closing mark for each block"
    return [of_line(line) for _, body in blocks for line in body.splitlines()[1:]]


def of_chat(text: str) -> list[Memory]:
    return [memory for message in json.loads(text) for memory in of_text(message["content"])]


def of_markdown(text: str) -> list[Memory]:
    tokens = MarkdownIt("commonmark").parse(text)
    marks = [token.content for token in tokens if token.type == "html_block"]
    assert len(re.findall(MARK, text)) == len(marks) == 2 * len([token for token in tokens if token.type == "fence"])
    return [of_line(line) for token in tokens if token.type == "fence" for line in token.content.splitlines()]


def of_xml(text: str) -> list[Memory]:
    root = ElementTree.fromstring(f"<context>{text}</context>")
    blocks = [element for element in root if element.tag.startswith("memkit-memory")]
    assert all(block[0].tag == "notice" for block in blocks)
    return [of_element(child) for block in blocks for child in block if child.tag == "memory"]


def of_element(element: ElementTree.Element) -> Memory:
    told = element.attrib
    assert not list(element)
    return (told["id"], told["trust"], told["scope"], _strings(told["source"]), json.loads(told["key"]), json.loads(element.text or ""))


def of_line(line: str) -> Memory:
    match = LINE.fullmatch(line)
    assert match, f"no memory: {line!r}"
    identity, trust, scope, sources, _, key, content = match.groups()
    return identity, trust, scope, _strings(sources), json.loads(key), json.loads(content)


def _strings(text: str) -> list[str]:
    return [json.loads(found) for found in re.findall(STRING, text)]
