"""Put the layers of a context together: fill the snapshot, then what the query recalls, and price both. Pure, but for what it is given.

The order is that of `context.py`. Left out: reading the record, and writing the account of it (`audit.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime

from memkit.read import profile
from memkit.read.audit import Shown, Sign
from memkit.read.context import Asked, Context, Layer, after_snapshot, before_memory, too_large, window_full
from memkit.read.recall import Conditions, Recall
from memkit.read.render import Item, Tokens, frame_price, letters, line, line_price
from memkit.record.text import plain

FINGERPRINT = 2 * 8  # letters


def assembled(
    asked: Asked,
    mine: Sequence[Item],
    recalled: Callable[[int, Conditions], Recall],
    *,
    scope: str,
    now: datetime,
    tokens: Tokens,
    sign: Sign,
) -> tuple[Context, Shown]:
    """Return the context, with audit number 0, and what it shows of memory. `recalled` fills a number of tokens."""
    form = asked.form
    before, after = before_memory(asked, tokens), after_snapshot(asked, tokens)
    taken = asked.budget if asked.window is None else asked.window - sum(layer.tokens for layer in (*before, *after))
    room = max(0, min(asked.budget, taken))
    snapshot, used, left_out = profile.within(mine, min(asked.quota, room), form, tokens)
    said = frozenset(plain(item.memory.content or "") for item in snapshot)
    frame = frame_price(form, tokens)
    given = Conditions(lambda memory, disputed: line_price(memory, disputed, form, now, tokens), said=said)
    found = recalled(max(0, room - used - frame), given)
    parts = [scope, asked.rules, [line(item, form, None) for item in snapshot]]
    items = tuple(Item(hit.memory, hit.verdict, bool(hit.rivals)) for hit in found.hits)
    shown = Shown(tuple(snapshot), items, form, letters(sign(json.dumps(parts)), FINGERPRINT), now)
    texts = shown.blocks(sign)
    layers = [
        *before,
        *([Layer("snapshot", "user", texts[0], used)] if snapshot else []),
        *after,
        *([Layer("memory", "user", texts[1], frame + found.tokens)] if items else []),
    ]
    warnings = (*too_large(before[-1:] if asked.rules else [], asked.window), *profile.over_quota(left_out, asked.quota))
    warnings += tuple(window_full(taken, asked))
    profiled = tuple(item.memory for item in snapshot)
    kept = (found, profiled, tuple(left_out), warnings, shown.fingerprint, 0)
    return Context(found.query, form, asked.budget, tuple(layers), *kept), shown
