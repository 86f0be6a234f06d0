"""How a memory stands from a place agrees with what recall returns there, for any scopes and any place."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

import memkit
from memkit.lab import clock, known_memories, looked_up, standings

NAMES = {"workspace": ["shop", "shop2", "商店"], "branch": ["main", "a&b"], "env": ["prod", "test"], "session": ["s-1"]}
ME, BO = memkit.Principal(), memkit.Principal(user="bo")

scopes = st.fixed_dictionaries(
    {"user": st.booleans()} | {name: st.none() | st.sampled_from(values) for name, values in NAMES.items()}
).filter(lambda named: any(named.values()))


@settings(max_examples=40, deadline=None)
@given(st.lists(scopes, min_size=1, max_size=5), scopes, st.sampled_from([ME, BO]))
def test_what_stands_as_visible_and_as_hidden_is_what_recall_returns_and_skips(stored, here, who):
    place = memkit.Scope(**here)
    with memkit.open(principal=ME) as kit:
        for number, named in enumerate(stored):
            person = kit.acting_as((ME, BO)[number % 2])
            person.remember("reply", f"answer number {number}", scope=memkit.Scope(**named), expected=memkit.ANY)
        memories = known_memories(kit, [memkit.Scope(**named) for named in stored], [ME, BO])
        found = kit.acting_as(who).recall("answer", scope=place, budget=10_000)
    rows = standings(memories, scope=place, principal=who)
    assert [row.memory for row in rows] == memories
    assert len(memories) == len({memory.scope for memory in memories}) >= 1
    assert {row.memory.id for row in rows if row.stand == "VISIBLE"} == {hit.memory.id for hit in found.hits}
    assert {row.memory.id for row in rows if row.stand == "HIDDEN"} == {skip.memory.id for skip in found.skipped}
    assert {skip.reason for skip in found.skipped} <= {"HIDDEN_BY_NARROWER"}
    by_id = {memory.id: memory.scope for memory in memories}
    rivals = {row.memory.id: set(row.rivals) for row in rows if row.stand == "VISIBLE"}
    assert rivals == {hit.memory.id: {by_id[other] for other in hit.rivals} for hit in found.hits}


def test_each_row_says_why_in_words():
    shop, prod = memkit.Scope(workspace="shop"), memkit.Scope(workspace="shop", env="prod")
    branch, mine = memkit.Scope(workspace="shop", branch="main"), memkit.Scope(user=True)
    with memkit.open() as kit:
        for scope in (shop, prod, branch, memkit.Scope(workspace="blog")):
            kit.remember("build", f"in {scope.stored(ME)}", scope=scope)
        kit.acting_as(BO).remember("reply", "用中文", scope=mine)
        memories = known_memories(kit, [prod, branch, memkit.Scope(workspace="blog"), mine], [ME, BO])
    here = memkit.Scope(workspace="shop", env="prod", branch="main", user=True)
    assert [(row.memory.scope, row.stand.value, row.why) for row in standings(memories, scope=here, principal=ME)] == [
        ("workspace=blog", "ELSEWHERE", "workspace is shop here, not blog"),
        ("workspace=shop", "HIDDEN", "branch=main&workspace=shop has its own value for this key"),
        ("branch=main&workspace=shop", "VISIBLE", "so is the one in env=prod&workspace=shop, neither wider nor narrower"),
        ("env=prod&workspace=shop", "VISIBLE", "so is the one in branch=main&workspace=shop, neither wider nor narrower"),
        ("user=bo", "ELSEWHERE", "user is me here, not bo"),
    ]
    alone = standings(memories[:4], scope=prod, principal=ME)
    assert [row.why for row in alone][1:] == [
        "env=prod&workspace=shop has its own value for this key",
        "branch=main is not named here",
        "the narrowest that applies",
    ]
    assert repr(alone[3]) == "VISIBLE   build in env=prod&workspace=shop: 'in env=prod&workspace=shop' (the narrowest that applies)"


def test_only_places_that_were_named_are_asked_and_an_ended_memory_is_not_known():
    now = clock("2026-03-02T09:00+00:00")
    with memkit.open(clock=now) as kit:
        kit.remember("a", "one", scope=memkit.Scope(workspace="shop"))
        kit.remember("b", "two", scope=memkit.Scope(workspace="blog"))
        kit.remember("c", "three", scope=memkit.Scope(workspace="shop"), expires_at=now() + timedelta(hours=1))
        now.advance(hours=1)
        assert [memory.key for memory in known_memories(kit, [memkit.Scope(workspace="shop")])] == ["a"]
        assert [memory.key for memory in known_memories(kit, [memkit.Scope(workspace=name) for name in ("blog", "shop")])] == ["a", "b"]
        assert known_memories(kit.acting_as(memkit.Principal(tenant="other")), [memkit.Scope(workspace="shop")]) == []


def test_each_string_that_is_looked_up_is_counted():
    prod = memkit.Scope(workspace="shop", env="prod")
    with memkit.open() as kit:
        kit.remember("a", "one", scope=prod)
        kit.remember("b", "two", scope=prod)
        kit.remember("a", "three", scope=memkit.Scope(env="prod"))
        memories = known_memories(kit, [prod])
    assert looked_up(memories, scope=prod, principal=ME) == [("env=prod&workspace=shop", 2), ("env=prod", 1), ("workspace=shop", 0)]
