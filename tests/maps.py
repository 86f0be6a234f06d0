"""A store with memories in many scopes and a map over them, for the tests of the scope map."""

from __future__ import annotations

from datetime import UTC, datetime

import memkit
from memkit.kit import Kit
from memkit.record.scope import Principal, Scope

SHOP, BLOG = Scope(workspace="shop"), Scope(workspace="blog")
PROD, TEST = Scope(workspace="shop", env="prod"), Scope(workspace="shop", env="test")
FEATURE, MINE = Scope(workspace="shop", branch="feature/pay"), Scope(workspace="shop", user=True)
PLACES = {"shop": SHOP, "prod": PROD, "test": TEST, "feature": FEATURE, "mine": MINE, "blog": BLOG}
ME, BO = Principal(), Principal(user="bo")
PEOPLE = {"me": ME, "bo": BO}
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
QUESTION = "how is the api module built?"


def map_kit() -> Kit:
    """Return a kit with seven memories of three keys, a clock that stands still and ids that count."""
    counter = iter(range(10_000))
    kit = memkit.open(sources={}, clock=lambda: NOON, ids=lambda: f"id-{next(counter)}")
    kit.remember("build", "Build the api module with make.", scope=SHOP)
    kit.remember("build", "Build the api module with pnpm.", scope=BLOG)
    kit.remember("build", "Build the api module with make RELEASE=1.", scope=PROD)
    kit.remember("build", "Build the api module with make PAY=1.", scope=FEATURE)
    kit.remember("reply", "Reply in English.", scope=MINE)
    kit.acting_as(BO).remember("reply", "回复请用中文。", scope=MINE)
    kit.remember("restart", "Restart one server at a time.", scope=Scope(env="prod"))
    return kit
