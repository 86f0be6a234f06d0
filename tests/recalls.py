"""A small shop to ask, in two languages and two places, for the tests of the recall lab."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import memkit

SHOP, PROD = memkit.Scope(workspace="shop"), memkit.Scope(workspace="shop", env="prod")
PLACES = {"prod": PROD, "shop": SHOP}
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
QUESTION = "What is the payment timeout? Who keeps the rota?"


def asked_kit(clock: Callable[[], datetime] = lambda: NOON) -> memkit.Kit:
    """Return a kit with six memories, one of them stale, ids that count."""
    counter = iter(range(10_000))
    sources: dict[str, str | bytes] = {"prod.cfg": "timeout=30\nretries=3\n"}
    kit = memkit.open(sources=sources, clock=clock, ids=lambda: f"id-{next(counter)}")
    kit.learn("timeout", "The payment timeout is 30 seconds.", scope=PROD, cite="prod.cfg#key=timeout")
    kit.learn("retries", "A failed payment is retried 3 times.", scope=PROD, cite="prod.cfg#key=retries")
    kit.remember("oncall", "Priya keeps the on-call rota.", scope=SHOP)
    kit.remember("runbook", "After a payment timeout, wait for two minutes and cancel by hand, never twice.", scope=SHOP)
    kit.remember("deploy", "We deploy on Tuesday.", scope=SHOP)
    kit.remember("退款", "退款超时是三天。", scope=SHOP)
    sources["prod.cfg"] = "timeout=45\nretries=3\n"
    return kit
