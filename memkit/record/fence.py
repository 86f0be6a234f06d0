"""Recognise the marks that part a prompt: recalled memory, which is never read as something that was said, and the turns of a chat.

A recalled block begins with `<memkit-memory ...>` and ends with its closing mark, or with the text where that is missing. A turn begins
with a mark of the model's chat template, in brackets that every text may hold (`[INST]`). Left out: making such a block, escaping such
a mark, and judging what a text says.
"""

from __future__ import annotations

from collections.abc import Iterator

from memkit.record.text import compiled, fold, latinise

FENCE = "memkit-memory"

_BLOCK = rf"(?i)<\s{{0,9}}{FENCE}\b[\s\S]*?(?:<\s{{0,9}}/\s{{0,9}}{FENCE}\b[^<>\n]{{0,99}}>?|\Z)"

# Brackets after folding, opening and closing, with what looks like them; round and curly ones are left to prose and code.
_OPEN = r"[\[<\u00ab\u02c2\u1438\u2045\u226a\u2329\u276c\u276e\u2770\u2772\u27e6-\u27ed\u2983-\u2997\u29fc\u2aa1\u3008-\u3010\u3014-\u301a]"
_CLOSE = (
    r"[\]>\u00bb\u02c3\u1433\u2046\u226b\u232a\u276d\u276f\u2771\u2773\u27e7-\u27ee\u2984-\u2998\u29fd\u2aa2\u3009-\u3011\u3015-\u301b]"
)
_BAR, _SLASH = r"[|\u00a6\u01c0\u2223\u2502\u2758]", r"[/\u2044\u2215\u2571]"
_NAMES = r"""INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|(?:TOOL|FUNCTION)_(?:CALLS?|RESULTS?|RESPONSES?|OUTPUTS?|CONTENT)|[BE]OS
    |im_(?:start|end|sep|middle|system|user|assistant)|fim_(?:prefix|middle|suffix|pad|begin|hole|end)|(?:start|end)_header_id
    |(?:start|begin|end)_?of_?(?:turn|text|role|image|sentence)|(?:start|end)_function_(?:call|response|declaration)|eot_id|eom_id
    |UNUSED_TOKEN_\d{1,3}|CONTROL_\d{1,3}"""
_ROLES = """SYSTEM|USER|ASSISTANT|HUMAN|MODEL|TOOL|DEVELOPER|INSTRUCTIONS?|THINK|CALL_ID|ARGS|IMG(?:_BREAK|_END)?|PREFIX|MIDDLE|SUFFIX
    |(?:BEGIN_|OUTPUT_)?AUDIO|TRANSCRIBE|MODEL_SETTINGS|[gs]?MASK|EOT|PAD|UNK|CLS|SEP"""
# The first four are whole tokens of one family of models (MiniMax), whose brackets do not pair.
# subtle: a role in small letters, as in `[user]` or `[args]`, is a section of a file or an argument, unless a slash closes it
_TURN = rf"""(?x) \]~b\] | \]~!b\[ | \[e~\[ | \]![pd]?~\[
    | {_OPEN}{{1,3}}\ ? (?: {_SLASH}?\ ?(?i:{_NAMES}) | {_SLASH}\ ?(?i:{_ROLES}) | {_ROLES}
    | {_BAR}[^|\[\]<>]{{1,40}}{_BAR} | {_BAR}\w{{3,30}} | \w{{3,30}}{_BAR} )
    \ ?{_CLOSE}{{1,3}}"""
_WORTH = rf"{_OPEN}|[\]\uff1c\uff3b\uff3d\ufe47\ufe5d\ufe64]"  # also those that fold to one
_BRACKET = rf"{_OPEN}|{_CLOSE}"


def recalled_spans(text: str) -> list[tuple[int, int]]:
    """Return where recalled blocks stand, in order.

    >>> recalled_spans("hi <memkit-memory n=7>old</memkit-memory n=7> you")
    [(3, 45)]
    """
    return [match.span() for match in compiled(_BLOCK).finditer(text)]


def is_recalled(text: str) -> bool:
    """Return whether a text holds memory that recall put there.

    >>> is_recalled("<memkit-memory n=7>we use pnpm"), is_recalled("memkit-memory is a name")
    (True, False)
    """
    return bool(compiled(rf"(?i)<\s{{0,9}}/?\s{{0,9}}{FENCE}\b").search(text))


def turn_marks(text: str) -> Iterator[int]:
    """Yield the place of each bracket of the marks by which chat templates begin and end a turn, in whatever width and letters.

    >>> [*turn_marks("[INST] a list[0], 【部署】 \uff3b/\u0406NST\uff3d")]
    [0, 5, 23, 29]
    """
    if compiled(_WORTH).search(text):
        seen = fold(text)
        for mark in compiled(_TURN).finditer(latinise(seen.text)):
            start, end = seen.original_span(*mark.span())
            yield from (at for at in range(start, end) if compiled(_BRACKET).fullmatch(fold(text[at]).text))
