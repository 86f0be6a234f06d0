"""A small shop, its memories and a desk over them, for the tests of the widgets."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import memkit
from memkit.kit import Kit
from memkit.lab import Workspace, reset
from memkit.record.scope import Scope

PROD = Scope(workspace="shop", env="prod")
TEST = Scope(workspace="shop", env="test")
SHOP = Scope(workspace="shop")
SCOPES = {"prod": PROD, "test": TEST}
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def filled(kit: Kit) -> Kit:
    """Teach a kit over the shop's sources six memories."""
    kit.learn("timeout", "A payment call waits 30 s.", scope=PROD, cite="prod.cfg#key=timeout")
    kit.learn("retries", "A payment is tried again 3 times.", scope=PROD, cite="prod.cfg#key=retries")
    kit.learn("timeout", "In tests a payment call waits 5 s.", scope=TEST, cite="test.cfg#key=timeout")
    kit.learn("package manager", "The front end uses pnpm@9.12.0.", scope=SHOP, cite="package.json#key=packageManager")
    kit.learn("约定", "价格一律以分为单位的整数保存。", scope=SHOP, cite="docs/约定.md")
    kit.remember("tone", "Keep answers short.", scope=SHOP)
    return kit


def workspace(folder: Path) -> Workspace:
    """Return a private copy of the shop under a folder of the test."""
    return Workspace(reset("shop", to=folder / "_work"))


def shop_kit(place: Workspace) -> Kit:
    """Return a filled kit over a copy, with a clock that stands still and ids that count."""
    counter = iter(range(10_000))
    return filled(memkit.open(root=place.folder, clock=lambda: NOON, ids=lambda: f"id-{next(counter)}"))
