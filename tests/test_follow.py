"""read/follow.py: what follows the log never keeps half of what was written, nor words that another process forgot."""

from __future__ import annotations

import pytest

import memkit
from memkit.read.analyze import _cached_terms, analyze
from memkit.read.index import Partition

SHOP = memkit.Scope(workspace="shop")


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
