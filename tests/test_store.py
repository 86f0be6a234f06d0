"""record/store.py: revisions, compare-and-swap, history, events."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from datetime import UTC, datetime, timedelta, timezone
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import memkit
from memkit.record import store

SHOP = memkit.Scope(workspace="shop")
START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def test_only_the_marked_columns_hold_content() -> None:
    schema = files("memkit.record").joinpath("schema.sql").read_text(encoding="utf-8")
    marked = re.findall(r"^\s+(\w+).*-- content", schema, re.M)
    said = ["content", "task", "verification"]
    assert marked == [*said, *said, "value", "awaited", "locator", "quote", "text"]
    word = "zanzibar-quince"
    with memkit.open(sources={"a.txt": f"x {word} y"}) as kit:
        kit.remember("k", word, scope=SHOP)
        kit.learn("l", word, scope=SHOP, cite=f"a.txt#quote={word}")
        kit.propose("p", word, scope=SHOP, cite="a.txt#lines=1")
        kit.remember("e", word, scope=SHOP, kind="experience", task=word, verification=word)
        kit.propose("x", word, scope=SHOP, kind="experience", task=word, verification=word)
        kit.remember("gone", "something else", scope=SHOP)
        kit.forget("gone", scope=SHOP, expected=1, reason=word)
        kit.reject(kit.propose("q", f"{word} again", scope=SHOP), word)
        with pytest.raises(memkit.Conflict):
            kit.remember("k", "other", scope=SHOP, expected=7)
        with kit.db.read() as tx:
            tables = [name for (name,) in tx.execute("select name from sqlite_schema where type = 'table'").fetchall()]
            found = {
                (table, column)
                for table in tables
                for row in store.select(tx, f"select * from {table}", {})
                for column, value in row.items()
                if word in str(value)
            }
    everywhere = {(table, column) for table in ("revision", "proposal") for column in said}
    assert found == everywhere | {("evidence", "locator"), ("evidence", "quote")}


def test_events_cannot_be_rewritten_or_removed() -> None:
    with memkit.open() as kit:
        kit.remember("k", "v", scope=SHOP)
        for statement in ("update event set reason = 'x'", "delete from event"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"), kit.db.write() as tx:
                tx.execute(statement)
        assert [event.reason for event in kit.events(scope=SHOP)] == ["NEW"]


def test_a_wrong_expected_revision_writes_nothing_and_tells_both_numbers() -> None:
    with memkit.open() as kit:
        kit.remember("k", "one", scope=SHOP)
        kit.remember("k", "two", scope=SHOP, expected=1)
        for expected in (0, 1, 3):
            with pytest.raises(memkit.Conflict) as caught:
                kit.remember("k", "three", scope=SHOP, expected=expected)
            assert (caught.value.expected, caught.value.actual) == (expected, 2)
        assert [memory.content for memory in kit.history("k", scope=SHOP)] == ["one", "two"]
        assert len(kit.events(scope=SHOP)) == 2
        assert kit.remember("k", "three", scope=SHOP, expected=memkit.ANY).memory.revision == 3


@pytest.mark.parametrize("expected", [None, True, -2, "1", 1.0])
def test_an_expected_that_is_no_revision_number_is_refused(expected: object) -> None:
    with memkit.open() as kit, pytest.raises(memkit.Refused, match="memkit.ANY"):
        kit.remember("k", "v", scope=SHOP, expected=expected)  # type: ignore[arg-type]


def test_numbers_never_restart_after_forgetting() -> None:
    with memkit.open() as kit:
        kit.remember("k", "one", scope=SHOP)
        kit.forget("k", scope=SHOP, expected=1, reason="asked")
        kit.remember("k", "two", scope=SHOP)
        assert [(m.revision, m.op, m.content, m.status) for m in kit.history("k", scope=SHOP)] == [
            (1, "ADD", None, "SUPERSEDED"),
            (2, "DELETE", None, "RETIRED"),
            (3, "ADD", "two", "CURRENT"),
        ]


def test_an_update_keeps_the_time_of_creation() -> None:
    clock = Clock()
    with memkit.open(clock=clock) as kit:
        kit.remember("k", "one", scope=SHOP)
        clock.now += timedelta(days=1)
        memory = kit.remember("k", "two", scope=SHOP, expected=1).memory
        assert (memory.created_at, memory.recorded_at) == (START, START + timedelta(days=1))


def test_two_clocks_what_was_true_and_what_was_known() -> None:
    clock, day = Clock(), timedelta(days=1)
    with memkit.open(clock=clock) as kit:
        kit.remember("node", "18", scope=SHOP, valid_from=START)
        clock.now = START + 10 * day
        kit.remember("node", "20", scope=SHOP, expected=1, valid_from=START + 5 * day)
        then = {
            (when, known): [m.content for m in kit.as_of(START + when * day, scope=SHOP, known_at=START + known * day)]
            for when in (1, 7)
            for known in (1, 11)
        }
    assert then == {(1, 1): ["18"], (7, 1): ["18"], (1, 11): ["18"], (7, 11): ["20"]}


def test_a_name_with_separators_is_another_scope_and_round_trips() -> None:
    with memkit.open() as kit:
        for name in ("a", "a/b", "a&env=prod", "a=b", "a%26", "店 铺", "A"):
            kit.remember("k", f"of {name}", scope=memkit.Scope(workspace=name))
        for name in ("a", "a/b", "a&env=prod", "a=b", "a%26", "店 铺", "A"):
            memory = kit.current("k", scope=memkit.Scope(workspace=name))
            assert memory is not None and (memory.content, memory.dimensions) == (f"of {name}", {"workspace": name})


def test_another_tenants_row_reads_as_not_there() -> None:
    with memkit.open() as kit:
        other = kit.acting_as(memkit.Principal(tenant="other"))
        kit.remember("k", "mine", scope=SHOP)
        proposal = kit.propose("p", "mine too", scope=SHOP)
        assert other.current("k", scope=SHOP) is None and other.history("k", scope=SHOP) == [] and other.events(scope=SHOP) == []
        assert other.inbox(scope=SHOP) == [] and kit.inbox(scope=SHOP) == [proposal]
        with pytest.raises(memkit.NotFound) as foreign:
            other.admit(proposal)
        with pytest.raises(memkit.NotFound) as absent:
            other.admit(10**6)
        assert str(foreign.value).replace("1", "N") == str(absent.value).replace("1000000", "N")
        with pytest.raises(memkit.NotFound):
            other.forget("k", scope=SHOP, expected=1, reason="not mine")


class AgainstADict(RuleBasedStateMachine):
    """The store against thirty lines of dict."""

    def __init__(self) -> None:
        super().__init__()
        self.kit = memkit.open()
        self.model: dict[tuple[str, str], list[str | None]] = {}

    keys, places, values = st.sampled_from("ab"), st.sampled_from(["x", "y"]), st.sampled_from(["red", "green", "蓝色"])

    def current(self, place: str, key: str) -> tuple[int, str | None]:
        past = self.model.get((place, key), [])
        return (len(past), past[-1]) if past and past[-1] is not None else (0, None)

    @rule(key=keys, place=places, value=values, expected=st.integers(-1, 4))
    def remember(self, key: str, place: str, value: str, expected: int) -> None:
        revision, content = self.current(place, key)
        if value == content:
            assert self.kit.remember(key, value, scope=memkit.Scope(env=place), expected=expected).op == "NOOP"
        elif expected in (-1, revision):
            written = self.kit.remember(key, value, scope=memkit.Scope(env=place), expected=expected).memory
            self.model.setdefault((place, key), []).append(value)
            assert written is not None and written.revision == len(self.model[place, key])
        else:
            with pytest.raises(memkit.Conflict):
                self.kit.remember(key, value, scope=memkit.Scope(env=place), expected=expected)

    @rule(key=keys, place=places)
    def forget(self, key: str, place: str) -> None:
        scope, revision = memkit.Scope(env=place), self.current(place, key)[0]
        if (place, key) not in self.model:
            with pytest.raises(memkit.NotFound):
                self.kit.forget(key, scope=scope, expected=revision, reason="asked")
            return
        assert self.kit.forget(key, scope=scope, expected=revision, reason="asked").verified
        if revision:
            self.model[place, key].append(None)
            self.kit.restore_right(key, scope=scope, reason="the model has no tombstones")

    @invariant()
    def the_same_values_are_current(self) -> None:
        for place in ("x", "y"):
            for key in "ab":
                memory = self.kit.current(key, scope=memkit.Scope(env=place))
                assert (memory.revision if memory else 0, memory.content if memory else None) == self.current(place, key)
                history = self.kit.history(key, scope=memkit.Scope(env=place))
                assert [m.revision for m in history] == list(range(1, len(self.model.get((place, key), [])) + 1))

    def teardown(self) -> None:
        self.kit.close()


AgainstADict.TestCase.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
TestAgainstADict = AgainstADict.TestCase


@given(st.text(min_size=1, max_size=30).filter(lambda t: t.strip()), st.text(min_size=1, max_size=30).filter(lambda t: t.strip()))
@settings(max_examples=60, deadline=None)
def test_two_names_never_share_a_stored_scope(one: str, other: str) -> None:
    try:
        stored = [memkit.Scope(workspace=name).stored(memkit.Principal()) for name in (one, other)]
    except memkit.BadScope:
        return
    assert (stored[0] == stored[1]) == (one == other)


@given(st.text(), st.text(), st.text())
def test_the_id_of_a_memory_is_the_digest_of_its_names_as_json(tenant: str, scope: str, key: str) -> None:
    names = json.dumps([tenant, scope, key])
    assert store.memory_id(tenant, scope, key) == "m-" + hashlib.sha256(names.encode()).hexdigest()[:16]


def test_what_a_write_returns_is_what_the_record_holds() -> None:
    with memkit.open(sources={"a.txt": "blue"}) as kit:
        now = datetime(2026, 3, 1, 8, tzinfo=timezone(timedelta(hours=8)))
        terms = {"kind": "experience", "task": "paint", "verification": "seen", "valid_from": now, "review_at": now + timedelta(days=9)}
        for expected in (0, 1):
            written = kit.learn("door", f"blue {expected}", scope=SHOP, cite="a.txt", expected=expected, **terms).memory
            assert written == kit.current("door", scope=SHOP) and written.task == "paint"
