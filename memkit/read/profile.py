"""The profile: what the user stated of themselves, always shown, within a small fixed quota.

It is the stated preferences of the scopes that are the user's own, oldest first, whatever the query is, so that its bytes change only
when one of them does. A preference of a workspace is everybody's there and is recalled when it fits the query. Nothing is cut and nothing
summarised here: what does not fit is left out whole, and can still be recalled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sqlite_utils import Database as SqliteUtils

from memkit.read.audit import heading
from memkit.read.context import Caution
from memkit.read.recall import Skipped, rivals, stands, withheld
from memkit.read.render import NONCE, Item, Tokens, frame_price, line_price
from memkit.record import store
from memkit.record.model import Kind, Memory, Trust, Verdict
from memkit.record.scope import named_dimensions


def stated(tx: SqliteUtils, tenant: str, scopes: Sequence[str], now: datetime, flagged: Mapping[str, int]) -> list[Item]:
    """Return the stated preferences of the user's own scopes that may be shown, oldest first."""
    own = store.current_memories(tx, tenant, [scope for scope in scopes if "user" in named_dimensions(scope)])
    found = [memory for memory in own if memory.kind is Kind.PREFERENCE and memory.trust is Trust.STATED]
    rest = store.current_memories(tx, tenant, scopes, sorted({memory.key for memory in found}))
    return sorted(_shown(found, rest, now, flagged), key=lambda item: (item.memory.created_at, item.memory.id))


def within(items: Sequence[Item], quota: int, form: str, tokens: Tokens) -> tuple[list[Item], int, list[Skipped]]:
    """Take the items that fit into a quota whole, in order; return them, what they cost with their frame, and what was left out."""
    price = frame_price(form, tokens, heading("")) + 2 * NONCE
    taken, left_out, used = list[Item](), list[Skipped](), price
    for item in items:
        needs = line_price(item.memory, False, form, None, tokens)
        if used + needs <= quota:
            taken.append(item)
            used += needs
        else:
            why = f"it needs {needs} tokens of the profile's {quota:,} and {max(0, quota - used):,} are left"
            left_out.append(Skipped(item.memory, 0.0, "OVER_QUOTA", why))
    return taken, used if taken else 0, left_out


def over_quota(left_out: Sequence[Skipped], quota: int) -> Iterator[Caution]:
    """Yield the warning that the profile has outgrown its quota."""
    if left_out:
        names = ", ".join(repr(skipped.memory.key) for skipped in left_out[:3])
        more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        why = f"the profile has outgrown its {quota:,} tokens: {names}{more} did not fit; let consolidation summarise it"
        yield Caution("PROFILE_OVER_QUOTA", why)


def _shown(found: Sequence[Memory], rest: Sequence[Memory], now: datetime, flagged: Mapping[str, int]) -> Iterator[Item]:
    for memory in found:
        others = [other for other in rest if other.key == memory.key and other.id != memory.id]
        true_now = [other for other in others if stands(other, now)]
        if not withheld(memory, true_now, now, flagged):
            yield Item(memory, Verdict.UNVERSIONED, bool(rivals(memory, true_now)))
