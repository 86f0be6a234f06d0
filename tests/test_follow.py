"""read/follow.py: what follows the log never keeps half of what was written, nor words that another process forgot."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import memkit
from memkit.read.analyze import _cached_terms, analyze
from memkit.read.index import Partition

SHOP, NOON = memkit.Scope(workspace="shop"), datetime(2026, 3, 2, 12, tzinfo=UTC)
LATENT = replace(memkit.BALANCED, name="latent", weights={"bm25": 1.0, "latent": 0.5})
NEEDS = {"semantic": "wordllama", "latent": "sklearn"}


def test_what_is_interrupted_while_it_follows_the_log_is_not_taken_for_followed(tmp_path, monkeypatch):
    with memkit.open(tmp_path / "memory.db") as kit, memkit.open(tmp_path / "memory.db") as other:
        other.remember("a", "the zebra is here", scope=SHOP)
        assert len(kit.recall("zebra", scope=SHOP, budget=100).hits) == 1
        other.remember("b", "a zebra is there", scope=SHOP)
        with monkeypatch.context() as patch:
            patch.setattr(Partition, "put", lambda *what: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                kit.recall("zebra", scope=SHOP, budget=100)
        assert {hit.memory.key for hit in kit.recall("zebra", scope=SHOP, budget=100).hits} == {"a", "b"}


@pytest.mark.parametrize("asked", [True, False])
def test_the_words_seen_lately_are_dropped_where_another_process_forgot(tmp_path, asked):
    with memkit.open(tmp_path / "memory.db") as kit, memkit.open(tmp_path / "memory.db") as other:
        other.remember("a", "the zanzibarferry is here", scope=SHOP)
        if asked:
            kit.recall("who is here?", scope=SHOP, budget=100)
        other.forget("a", scope=SHOP, expected=1, reason="asked")
        analyze("zanzibarferry")  # as the process of `kit` would have it from before
        assert _cached_terms.cache_info().currsize > 0
        assert kit.recall("", scope=SHOP, budget=100).hits == () and _cached_terms.cache_info().currsize == 0


@pytest.mark.parametrize("recipe", [memkit.TFIDF, memkit.BALANCED, memkit.THOROUGH, memkit.SEMANTIC, LATENT], ids=lambda one: one.name)
def test_following_the_log_and_rebuilding_give_the_same_scores_parts_and_order_by_every_recipe(recipe):
    pytest.importorskip(NEEDS.get(recipe.name, "memkit"), reason=f"what {recipe.name} needs is not installed")
    draw, words = random.Random(1), ["deploy", "cache", "timeout", "friday", "redis", "npm"]
    with memkit.open(sources={"f.txt": "x\n" * 300}, clock=lambda: NOON) as kit:
        kit.remember("first", "deploy", scope=SHOP)
        kit.warm(scope=SHOP)
        for n in range(130):  # more that are equally good than share with their neighbours
            kit.learn(f"k{n}", f"deploy u{n}", scope=SHOP, cite=f"f.txt#lines={n + 1}")
        for n in range(30):
            kit.remember(f"w{n}", " ".join(draw.choices(words, k=6)), scope=SHOP)
        kit.forget("first", scope=SHOP, expected=1, reason="asked")  # the last row takes its place
        questions = ("deploy", "deploy timeout npm", "u1")
        followed = [kit.recall(question, scope=SHOP, budget=10**6, recipe=recipe) for question in questions]
        kit.admin.rebuild()
        rebuilt = [kit.recall(question, scope=SHOP, budget=10**6, recipe=recipe) for question in questions]
        assert [len(found.hits) > 0 for found in followed] == [True] * 3 and followed == rebuilt
        assert [hit.parts for found in followed for hit in found.hits] == [hit.parts for found in rebuilt for hit in found.hits]
