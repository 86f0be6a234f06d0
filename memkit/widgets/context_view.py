"""What a view of a context shows, as HTML and as plain text: its bytes layer by layer, and what a prefix cache keeps of them.

Each layer says its name, its role and its size in words; the colour only repeats it. Not here: controls, or any decision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memkit.read.context import Context, Layer
from memkit.read.prefix import Stable
from memkit.widgets.markup import Paint, box, esc, plain
from memkit.widgets.tables import note, status, title
from memkit.write.redact import redact

COLOURS = {
    "prefix": ("#e7eaf0", "#22303f", "#5b6b7f", "stable prefix"),
    "rules": ("#f3e8fa", "#3b1d52", "#7b3fa3", "rules"),
    "snapshot": ("#dff3e6", "#0f3d1f", "#1b6e35", "memory snapshot"),
    "goal": ("#fff3d6", "#4a3500", "#946b00", "goal"),
    "session": ("#fdeee3", "#53290b", "#b05a1c", "session"),
    "tool": ("#e3f1fb", "#0c3550", "#1f6fa5", "tool result"),
    "memory": ("#d8f0ee", "#0b3d39", "#0e7a71", "recalled memories"),
}
"""Layer -> background, letters, edge, and its name in words."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything shown: a context, how it compares with the one before it (None: it is the first), and the call."""

    context: Context
    stable: Stable | None
    call: str


def masked(seen: Seen) -> Seen:
    """Return the same with secrets masked in what a person typed and in the caller's own texts: memory and the query are masked already."""
    layers = tuple(replace(layer, text=redact(layer.text).text) for layer in seen.context.layers)
    return replace(seen, context=replace(seen.context, layers=layers), call=redact(seen.call).text)


def summary(seen: Seen) -> str:
    """Return the context in one sentence."""
    context = seen.context
    skipped = f", {len(context.skipped)} skipped" if context.skipped else ""
    shown = f"{len(context.profile)} in the snapshot, {len(context.hits)} recalled{skipped}"
    return f"{len(context.layers)} layers. Memory takes {context.tokens} of {context.budget:,} tokens: {shown}. Audit {context.audit_id}."


def cache(seen: Seen) -> str:
    """Return what a prefix cache keeps of the context before, in one sentence."""
    stable = seen.stable
    if stable is None:
        return "This is the first context; change something to see what a prefix cache keeps."
    if not stable.changed:
        return f"Not a byte differs from the context before: a prefix cache keeps all {stable.of_bytes:,} bytes."
    kept = ", ".join(_words(name) for name in dict.fromkeys(stable.layers)) or "no whole layer"
    sizes = f"{stable.bytes:,} of {stable.of_bytes:,} bytes, {stable.share:.0%}"
    return f"A prefix cache keeps {kept} ({sizes}). The first layer that differs: {_words(stable.changed)}."


def layers(seen: Seen, paint: Paint) -> str:
    """Return the bytes of each layer under its name."""
    pieces = [_layer(layer, note, paint) for layer, note in _fates(seen)]
    return "".join(pieces) or note("Nothing at all: no text of the caller's, and no memory.", paint)


def left_out(seen: Seen, paint: Paint) -> str:
    """Return what was skipped and why, and the warnings."""
    context = seen.context
    told = [f"Skipped {skip.memory.key}: {skip.reason}, {skip.why}" for skip in context.skipped]
    told += [f"Warning {warning.reason}: {warning.why}" for warning in context.warnings]
    return "".join(note(line, paint) for line in told)


def page(seen: Seen, paint: Paint) -> str:
    """Return the whole view."""
    call = f'<pre style="{paint.code}margin:4px 0 0;padding:6px 10px;white-space:pre-wrap;overflow-wrap:anywhere">{esc(seen.call)}</pre>'
    parts = [
        title("Context view", paint),
        note(f"query: {seen.context.query}", paint),
        status(summary(seen), paint, good=True, live=False),
        note(cache(seen), paint),
        layers(seen, paint),
        left_out(seen, paint),
        call,
    ]
    return f'<div style="{paint.card}padding:10px 12px">{"".join(parts)}</div>'


def as_text(seen: Seen) -> str:
    """Return the whole view as plain text."""
    lines = [f"Context view. {summary(seen)}", cache(seen)]
    return "\n".join([*lines, *(f"  {_head(layer, fate)}: {plain(layer.text, 60)}" for layer, fate in _fates(seen))])


def _fates(seen: Seen) -> Iterator[tuple[Layer, str]]:
    """Yield each layer with what a prefix cache makes of it, in words; nothing for a first context."""
    kept = None if seen.stable is None else len(seen.stable.layers)
    for number, layer in enumerate(seen.context.layers):
        yield layer, "" if kept is None else "kept by the cache" if number < kept else "computed again"


def _layer(layer: Layer, fate: str, paint: Paint) -> str:
    back, letters, edge, _ = COLOURS[layer.name]
    style = f"background:{back};color:{letters};"
    head = (
        f'<div style="{style}border-left:6px solid {edge};padding:2px 8px;font-size:12px;font-weight:600">{esc(_head(layer, fate))}</div>'
    )
    mono = f"{style}border-left:6px solid {edge};font-family:monospace;font-size:12px;"
    return f'<div style="{paint.text}margin:4px 0">{head}{box(layer.text, mono)}</div>'


def _head(layer: Layer, fate: str) -> str:
    size = f"{len(layer.text.encode('utf-8', 'surrogatepass')):,} bytes, {layer.tokens} tokens"
    return " · ".join(filter(None, (_words(layer.name), f"as {layer.role}", size, fate)))


def _words(name: str) -> str:
    return COLOURS[name][3]
