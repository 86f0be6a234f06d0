"""The bug museum: faults reported of real memory systems, each as the promise memkit keeps and a sabotaged memkit that breaks it.

Every test runs its check on memkit as it is, breaks memkit in a few lines, and shows that the same check now fails: so nobody passes by
doing nothing. The fault's source is in the docstring. Entries about consolidation, context, episodes and files memkit edits come with
the parts that build them.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import random
import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import memkit
from memkit.govern import forget as forgetting
from memkit.read import follow, index
from memkit.read import recall as recalling
from memkit.read.matches import Matches
from memkit.record import store, tombstone
from memkit.write import commit, policy

SHOP = memkit.Scope(workspace="shop")
PROD = memkit.Scope(workspace="shop", env="prod")
START = datetime(2026, 1, 1, 12, tzinfo=UTC)
FERRY = "the ferry to Zanzibar leaves at nine"
AGENT = memkit.Principal(actor="agent")


def fails(check: Callable[[], object]) -> bool:
    """Return whether a check does not hold; an exception out of a broken memkit is a failure too."""
    try:
        check()
    except (Exception, pytest.fail.Exception):
        return True
    return False


def contents(found: memkit.Recall) -> list[str | None]:
    return [hit.memory.content for hit in found.hits]


def spoil(kit: memkit.Kit, rest: str) -> None:
    """Put another view in the place of `memory`: the newest revision of something else than a key in a scope."""
    with kit.db.write() as tx:
        tx.execute("drop view memory")
        tx.execute(f"create view memory as select r.* from revision r where r.op <> 'DELETE' {rest}")


# --- forgetting


def test_after_forget_every_reading_path_and_every_byte_is_empty_of_it(monkeypatch):
    """mem0 #5066: delete succeeded, search still found it."""

    def check() -> None:
        with memkit.open() as kit:
            kit.remember("ferry", FERRY, scope=SHOP)
            kit.propose("guess", FERRY, scope=SHOP)
            kit.recall("ferry", scope=SHOP, budget=100)
            receipt = kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
            after = [kit.recall("ferry Zanzibar", scope=SHOP, budget=100), kit.check(scope=SHOP), kit.history("ferry", scope=SHOP)]
            after += [kit.inbox(scope=SHOP), kit.inbox(scope=SHOP, status="REJECTED"), kit.events(scope=SHOP), receipt.to_json()]
            assert "Zanzibar" not in repr(after[1:]) and after[0].hits == () == after[0].skipped
            assert kit.admin.sweep("Zanzibar") == {":memory:": 0}

    check()
    monkeypatch.setitem(forgetting.ERASE_QUERIES, "revision", "select :ids")
    assert fails(check)


def test_what_was_forgotten_stays_away_when_its_source_is_fed_again_and_its_sibling_stays(monkeypatch):
    """cognee #3526, gbrain #4696: forget, run the pipeline again, the fact is back."""

    def check() -> None:
        with memkit.open(sources={"timetable.cfg": f"ferry={FERRY}\nbus=the bus to town leaves at ten\n"}) as kit:
            feed(kit)
            kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
            feed(kit)
            feed(kit.acting_as(AGENT))
            kit.admin.rebuild()
            assert contents(kit.recall("leaves", scope=SHOP, budget=100)) == ["the bus to town leaves at ten"]
            assert kit.inbox(scope=SHOP) == []

    def feed(kit: memkit.Kit) -> None:
        for key, text in (("ferry", FERRY), ("bus", "the bus to town leaves at ten")):
            kit.learn(key, text, scope=SHOP, cite=f"timetable.cfg#key={key}", expected=memkit.ANY)

    check()
    monkeypatch.setattr(tombstone, "buried_under", lambda tx, tenant, found: [])
    assert fails(check)


def test_a_person_may_let_it_be_told_again_and_nobody_else(monkeypatch):
    """cognee #3895: remembering again after forget failed."""

    def check() -> None:
        with memkit.open() as kit:
            kit.remember("ferry", FERRY, scope=SHOP)
            kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
            robot = kit.acting_as(AGENT)
            assert robot.propose("ferry", FERRY, scope=SHOP).reason == "TOMBSTONED"
            with pytest.raises(memkit.AccessDenied):
                robot.restore_right("ferry", scope=SHOP, reason="please")
            kit.restore_right("ferry", scope=SHOP, reason="a mistake")
            assert kit.remember("ferry", FERRY, scope=SHOP).op == "ADD"
            assert [event.op for event in kit.events(scope=SHOP)] == ["ADD", "FORGET", "NOOP", "RESTORE_RIGHT", "ADD"]

    check()
    monkeypatch.setattr(tombstone, "lift", lambda tx, tenant, scope, key: 1)
    assert fails(check)


def test_a_tombstone_is_laid_and_looked_up_by_the_same_value_of_any_length(monkeypatch):
    """luke PR #756: the tombstone's key was computed on cut text, the candidate's on the full one."""
    rng = random.Random(8)

    def check() -> None:
        for size in (1, 3, 11, 12, 13, 199, 2_001, 19_000):
            text = "x" + "".join(rng.choices("abc é部署Ａ１ \n\u200b", k=size))
            with memkit.open() as kit:
                kit.remember("k", text, scope=SHOP)
                kit.forget("k", scope=SHOP, expected=1, reason="asked")
                assert [kit.remember("k", again, scope=SHOP).reason for again in (text, f" {text.upper()} ")] == ["TOMBSTONED"] * 2
                assert kit.remember("k", f"{text} but not this", scope=SHOP).reason == "NEW"

    def cut(db, tenant, scope, key, value):
        return tombstone.digests(db, tenant, scope, key, value[:100])

    check()
    monkeypatch.setattr(forgetting, "tombstone", SimpleNamespace(**vars(tombstone) | {"digests": cut}))
    assert fails(check)


def test_forget_takes_an_exact_key():
    """ai-memory-mcp #1601, hermes PR #69103: forgetting by fuzzy match removed the wrong entry."""

    def check(forget: Callable[[memkit.Kit, str], object]) -> None:
        with memkit.open() as kit:
            kit.remember("deploy day", "deploy on Tuesday", scope=SHOP)
            kit.remember("deploy", "deploy with make", scope=SHOP)
            forget(kit, "deploy")
            with pytest.raises(memkit.NotFound):
                forget(kit, "deploys")
            assert [check.memory.key for check in kit.check(scope=SHOP)] == ["deploy day"]

    def exact(kit: memkit.Kit, key: str) -> object:
        return kit.forget(key, scope=SHOP, expected=1, reason="asked")

    def fuzzy(kit: memkit.Kit, words: str) -> object:
        return exact(kit, kit.recall(words, scope=SHOP, budget=100).hits[0].memory.key)

    check(exact)
    assert fails(lambda: check(fuzzy))


def test_erasing_one_identifier_leaves_a_longer_one_that_begins_alike(monkeypatch):
    """inbox-zero PR #2669: erasing alice@ also erased alice.smith@."""

    def check() -> None:
        with memkit.open() as kit:
            kit.remember("one", "ticket TKT-100", scope=SHOP)
            kit.remember("two", "ticket TKT-1000 is open", scope=SHOP)
            assert kit.forget("one", scope=SHOP, expected=1, reason="asked").verified
            assert contents(kit.recall("ticket", scope=SHOP, budget=100)) == ["ticket TKT-1000 is open"]

    check()
    like = "update revision set content = null where instr(content, (select content from revision where seq in "
    monkeypatch.setitem(forgetting.ERASE_QUERIES, "revision", f"{like}(select value from json_each(:ids))))")
    assert fails(check)


# --- revisions


def test_the_second_of_two_writers_is_told_and_writes_nothing(monkeypatch):
    """hermes #85858, qm #339: two writers, the last silently won."""

    def check() -> None:
        with memkit.open() as kit:
            kit.remember("theme", "dark", scope=SHOP)
            kit.remember("theme", "light", scope=SHOP, expected=1)
            with pytest.raises(memkit.Conflict) as caught:
                kit.acting_as(memkit.Principal()).remember("theme", "sepia", scope=SHOP, expected=1)
            assert (caught.value.expected, caught.value.actual) == (1, 2)
            assert [memory.content for memory in kit.history("theme", scope=SHOP)] == ["dark", "light"]
            assert len(kit.events(scope=SHOP)) == 2

    check()
    monkeypatch.setattr(store, "APPEND", store.APPEND.replace("where :expected = -1 or", "where true or :expected = -1 or"))
    assert fails(check)


def test_concurrent_updates_leave_one_current_revision():
    """agentmemory #15: concurrent updates left two "latest"."""

    def check(kit: memkit.Kit) -> None:
        texts = [f"value {number}" for number in range(12)]
        threads = [
            threading.Thread(target=kit.remember, args=("k", text), kwargs={"scope": SHOP, "expected": memkit.ANY}) for text in texts
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with kit.db.read() as tx:
            assert tx.execute("select count(*) from memory where key = 'k'").fetchall() == [(1,)]
        history = kit.history("k", scope=SHOP)
        assert [memory.revision for memory in history] == list(range(1, 13))
        assert [memory.status for memory in history] == ["SUPERSEDED"] * 11 + ["CURRENT"]

    with memkit.open() as kit:
        check(kit)
    with memkit.open() as kit:
        spoil(kit, "")
        assert fails(lambda: check(kit))


def test_names_that_look_alike_are_different_keys_and_creating_over_one_fails():
    """basic-memory #625: creating one note overwrote another whose name mapped to the same key."""
    names = ["Release Notes", "release-notes", "release notes", "release_notes", "release/notes", "release%20notes", "ｒelease notes"]

    def check(key_of: Callable[[str], str]) -> None:
        with memkit.open() as kit:
            for name in names:
                assert kit.remember(key_of(name), f"note called {name}", scope=SHOP).op == "ADD"
            with pytest.raises(memkit.Conflict):
                kit.remember(key_of(names[0]), "another text", scope=SHOP)
            assert [kit.current(key_of(name), scope=SHOP).content for name in names] == [f"note called {name}" for name in names]

    check(str)
    assert fails(lambda: check(lambda name: re.sub(r"[\W_]+", "-", name.lower())))


def test_only_the_same_key_in_the_same_scope_supersedes():
    """graphiti #1728: unrelated facts were invalidated."""

    def check(kit: memkit.Kit) -> None:
        for key, scope in (("cache", SHOP), ("timeout", SHOP), ("timeout", PROD)):
            kit.remember(key, f"{key} is set", scope=scope)
        kit.remember("timeout", "timeout is 45", scope=SHOP, expected=1)
        found = {(check.memory.key, check.memory.scope): check.memory.content for check in kit.check(scope=PROD)}
        assert found == {
            ("cache", "workspace=shop"): "cache is set",
            ("timeout", "workspace=shop"): "timeout is 45",
            ("timeout", "env=prod&workspace=shop"): "timeout is set",
        }

    with memkit.open() as kit:
        check(kit)
    with memkit.open() as kit:
        newer = "select 1 from revision n where n.tenant = r.tenant and n.scope = r.scope and n.seq > r.seq"
        spoil(kit, f"and not exists ({newer})")
        assert fails(lambda: check(kit))


# --- recall


def test_a_superseded_value_is_gone_before_ranking(monkeypatch):
    """symaira-memory #556: the old value outranked its correction."""

    def check() -> None:
        with memkit.open() as kit:
            kit.remember("node", "node node node eighteen", scope=SHOP)
            assert len(kit.recall("eighteen", scope=SHOP, budget=100).hits) == 1
            kit.remember("node", "node twenty", scope=SHOP, expected=1)
            assert kit.recall("eighteen", scope=SHOP, budget=100) == memkit.Recall("eighteen", 100, (), 0)
            assert contents(kit.recall("twenty", scope=SHOP, budget=100)) == ["node twenty"]

    check()
    monkeypatch.setattr(follow.Index, "catch_up", lambda self, tx: None)
    assert fails(check)


def test_a_narrow_correction_wins_where_it_applies_and_only_there(monkeypatch):
    """obsidian-mind #199: a narrow correction lost to the wide old value."""

    def check() -> None:
        with memkit.open() as kit:
            kit.remember("build", "build build build with make", scope=SHOP)
            kit.remember("build", "build with ninja", scope=PROD)
            assert contents(kit.recall("build", scope=PROD, budget=100)) == ["build with ninja"]
            assert contents(kit.recall("build", scope=SHOP, budget=100)) == ["build build build with make"]

    check()
    monkeypatch.setattr(recalling, "is_narrower", lambda one, other: False)
    assert fails(check)


def test_expiry_is_judged_at_the_instant_in_any_zone(monkeypatch):
    """langgraph #8354, mem0 #6931: expired rows came back until a sweep ran; expiry by day in the wrong zone."""
    end = START.astimezone(timezone(timedelta(hours=9)))

    def check() -> None:
        now = [START - timedelta(microseconds=1)]
        with memkit.open(clock=lambda: now[0]) as kit:
            kit.remember("offer", "the offer stands", scope=SHOP, expires_at=end)
            assert contents(kit.recall("offer", scope=SHOP, budget=100)) == ["the offer stands"]
            now[0] = START
            assert [skip.reason for skip in kit.recall("offer", scope=SHOP, budget=100).skipped] == ["EXPIRED"]

    def by_day(memory: memkit.Memory, now: datetime) -> bool:
        return memory.expires_at is not None and memory.expires_at.date() < now.date()

    check()
    monkeypatch.setattr(memkit.record.model.Memory, "ended", by_day)
    assert fails(check)


def test_scopes_compare_exactly_and_separators_in_names_come_back(monkeypatch):
    """langgraph #8478: a namespace prefix matched another tenant."""
    names = ["shop", "shop2", "shop/eu", "shop&env=prod", "shop%26env", "shop ", "Shop", "店铺", "店铺二"]

    def check() -> None:
        with memkit.open() as kit:
            for name in names:
                memory = kit.remember("motto", f"motto of {name!r}", scope=memkit.Scope(workspace=name)).memory
                assert memory is not None and memory.dimensions == {"workspace": name}
            for name in names:
                found = kit.recall("motto", scope=memkit.Scope(workspace=name, env="prod"), budget=1000)
                assert contents(found) == [f"motto of {name!r}"] and found.skipped == ()

    def by_prefix(self: memkit.Kit, scope: memkit.Scope) -> list[str]:
        with self.db.read() as tx:
            everything = [there for (there,) in tx.execute("select distinct scope from revision").fetchall()]
        return [there for there in everything if any(there.startswith(mine) for mine in scope.visible(self.principal))]

    check()
    monkeypatch.setattr(memkit.Kit, "_visible", by_prefix)
    assert fails(check)


def verbs_with_a_scope(kit: memkit.Kit) -> Iterator[tuple[str, Callable[[object], object]]]:
    """Yield every public verb that takes a scope, to be called with one; a new verb is found without a change here."""
    values = {"key": "k", "content": "v", "cite": "a.cfg", "query": "q", "budget": 9, "expected": 0, "reason": "r", "source": "a.cfg"}
    values |= {"to": memkit.Scope(workspace="elsewhere")}
    values |= {"when": START, "session": "monday", "role": "user", "text": "v", "tokens_left": 9}
    for name, verb in inspect.getmembers(kit, inspect.ismethod):
        wanted = inspect.signature(verb).parameters
        if "scope" in wanted and wanted["scope"].default is inspect.Parameter.empty and not name.startswith("_"):
            arguments = {each: values[each] for each in wanted if each in values}
            yield name, lambda scope, verb=verb, arguments=arguments: verb(**arguments, scope=scope)


def test_a_missing_scope_is_an_error_on_every_path(monkeypatch):
    """graphiti PR #1280, cognee #3520: one path forgot the filter; no id meant all."""

    def check() -> None:
        with memkit.open(sources={"a.cfg": "x=1"}) as kit:
            verbs = list(verbs_with_a_scope(kit))
            named = {"remember", "learn", "propose", "recall", "check", "forget", "history", "events", "record", "extract"}
            assert {name for name, _ in verbs} >= named
            for _, verb in verbs:
                with pytest.raises(memkit.BadScope):
                    verb(None)
            optional = inspect.signature(kit.consolidate).parameters["scope"]  # the job's "all" is all that this principal may write
            assert optional.default is None and "consolidate" not in {name for name, _ in verbs}

    check()
    for module in ("base", "reading"):
        monkeypatch.setattr(f"memkit.verbs.{module}.require_scope", lambda scope: scope or SHOP)
    assert fails(check)


def only(matches: Matches, rows: list[int]) -> Matches:
    """Return the same matches without those in other rows."""
    kept = np.isin(matches.found.rows, rows)
    less = copy.copy(matches)
    less.found = dataclasses.replace(matches.found, rows=matches.found.rows[kept], scores=matches.found.scores[kept])
    less._tokens, less._open, less._last = matches._tokens[kept], matches._open[kept], matches._last[kept]
    return less


def test_the_one_own_row_is_found_among_a_thousand_foreign_ones(monkeypatch):
    """TrueMemory #296: ten thousand foreign rows pushed out the one own row."""
    honest = recalling.rank

    def check() -> None:
        with memkit.open() as kit:
            kit.remember("own", "the deploy day of a small shop with many other words in it", scope=SHOP)
            with kit.db.write() as tx:
                row = tx.execute("select * from revision").fetchone()
                rows = [(None, row[1], "workspace=other", f"k{n}", 1, "ADD", "deploy deploy day", *row[7:]) for n in range(1_000)]
                tx.conn.executemany(f"insert into revision values ({', '.join('?' * len(row))})", rows)
            assert [hit.memory.key for hit in kit.recall("deploy day", scope=SHOP, budget=100, limit=1).hits] == ["own"]
            assert len(kit.recall("deploy", scope=memkit.Scope(workspace="other"), budget=10**6).skipped) == 999, "they are there"

    def best_ten_then_filter(db, followed, query, scopes):
        ranked = honest(db, followed, query, [*scopes, "workspace=other"])
        return only(ranked, [match.row for match in ranked.read(ranked.ordered()[:10]) if match.memory.scope in scopes])

    check()
    monkeypatch.setattr(recalling, "rank", best_ten_then_filter)
    assert fails(check)


def test_chinese_japanese_and_korean_queries_find(monkeypatch):
    """openclaw #20730, mem0 #4942: Chinese, Japanese, Korean queries found nothing."""
    told = {"zh": "数据库迁移在周三进行", "ja": "支払いのタイムアウトは三十秒です", "ko": "배포는 화요일에만 합니다"}
    asked = {"zh": "什么时候迁移数据库？", "ja": "タイムアウトは何秒？", "ko": "배포 화요일"}

    def check() -> None:
        with memkit.open() as kit:
            for key, text in told.items():
                kit.remember(key, text, scope=SHOP)
            for key, query in asked.items():
                assert kit.recall(query, scope=SHOP, budget=200).hits[0].memory.key == key

    check()
    monkeypatch.setattr(index, "analyze", lambda text: re.findall("[a-z0-9]+", text.lower()))
    assert fails(check)


def test_any_string_is_a_legal_query(monkeypatch):
    """graphiti #1483, aidevops PR #427: a hyphen or a quote in a query crashed it."""
    honest = recalling.rank
    queries = ["time-out", "don't", '"', "a AND (b OR", "NEAR/2", "%", "_", "'; drop table revision; --", "\0", "\ud800", ""]

    def check() -> None:
        with memkit.open() as kit:
            kit.remember("k", "don't let the time-out pass", scope=SHOP)
            found = [len(kit.recall(query, scope=SHOP, budget=100).hits) for query in queries]
            assert found == [1, 1, *[0] * 9]

    def as_sql(db, followed, query, scopes):
        with db.read() as tx:
            rows = tx.execute(f"select key from memory where content like '%{query}%'").fetchall()
        return only(honest(db, followed, query, scopes), [row for row, _ in enumerate(rows)])

    check()
    monkeypatch.setattr(recalling, "rank", as_sql)
    assert fails(check)


def test_an_oversize_item_is_skipped_and_the_fill_goes_on(monkeypatch):
    """deer-flow PR #4600: one long item stopped the fill. (That the frame counts is in test_museum_use.py.)"""
    honest = recalling.fill

    def check() -> None:
        with memkit.open() as kit:
            kit.remember("long", "deploy deploy deploy " + "payment " * 100, scope=SHOP)
            kit.remember("short", "deploy on Friday or cache it", scope=SHOP)
            found = kit.recall("deploy payment", scope=SHOP, budget=20)
            assert [hit.memory.key for hit in found.hits] == ["short"] and found.tokens <= 20
            assert [(skip.memory.key, skip.reason) for skip in found.skipped] == [("long", "OVER_BUDGET")]

    def stops(ranked, reader, query, given, *, budget, **rest):
        fitting = itertools.takewhile(lambda match: match.tokens <= budget, ranked.read(ranked.ordered()))
        return honest(only(ranked, [match.row for match in fitting]), reader, query, given, budget=budget, **rest)

    check()
    monkeypatch.setattr(recalling, "fill", stops)
    assert fails(check)


# --- secrets and sources


def canary() -> str:
    """Return what looks like an access token, made here so that no such thing stands in a file."""
    return "".join(["gh", "p_", *random.Random(33).choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789", k=36)])


def entries(kit: memkit.Kit, secret: str) -> Iterator[Callable[[], object]]:
    """Yield a call for every way in: key, content, scope, citation, cited text, proposal, reasons, query, and every plain argument."""
    hidden = memkit.Scope(workspace=f"shop {secret}")
    robot = kit.acting_as(AGENT)
    waiting = kit.propose("guess", f"perhaps {secret}", scope=SHOP)
    yield lambda: waiting
    yield lambda: kit.remember("note", f"the token is {secret}", scope=SHOP)
    yield lambda: kit.remember("note", f"the token is {secret}", scope=SHOP)
    yield lambda: kit.remember("note", f"another text {secret}", scope=SHOP, expected=7)
    yield lambda: robot.learn("agent's", f"x=1 and {secret}", scope=SHOP, cite="a.cfg#key=x")
    yield lambda: robot.remember("note", secret, scope=SHOP)
    yield lambda: kit.learn("cited", "a sentence", scope=SHOP, cite="a.cfg#key=token")
    yield lambda: kit.learn("cited", "a sentence", scope=SHOP, cite="a.cfg")
    for cite in (f"{secret}.cfg", f"a.cfg#key={secret}", f'a.cfg#quote="{secret}"', f"../{secret}", f"a.cfg#lines={secret}", secret):
        yield lambda cite=cite: kit.learn("cited", "a sentence", scope=SHOP, cite=cite)
        yield lambda cite=cite: kit.propose("cited", "a sentence", scope=SHOP, cite=cite)
    yield lambda: kit.record("monday", "tool", f"the token is {secret}", scope=SHOP)
    yield lambda: kit.extract("monday", scope=SHOP)
    for name in ("key", "query", "source", "reason", "content", "cite", "session", "text", "role", "extractor", "tokens_left", "trusted"):
        for _, verb in with_argument(kit, name, secret):
            yield verb
    for _, verb in verbs_with_a_scope(kit):
        yield lambda verb=verb: verb(hidden)
        yield lambda verb=verb: verb(secret)
    for name in ("kind", "expected", "confidence", "valid_from", "expires_at", "budget", "limit", "when", "status", "known_at", "after"):
        for _, verb in with_argument(kit, name, secret):
            yield verb
    yield lambda: memkit.Scope(user=secret)  # type: ignore[arg-type]
    yield lambda: memkit.Scope(workspace=secret * 20)
    yield lambda: memkit.Principal(actor=secret)
    yield lambda: memkit.Principal(grants=frozenset({secret}))
    yield lambda: kit.reject(waiting, f"because of {secret}")
    yield lambda: kit.admit(waiting)
    yield lambda: kit.admit(secret)  # type: ignore[arg-type]
    yield lambda: kit.forget("note", scope=SHOP, expected=1, reason=f"because of {secret}")
    yield lambda: kit.restore_right("note", scope=SHOP, reason=f"because of {secret}")
    yield lambda: [kit.check(scope=SHOP), kit.events(scope=SHOP), kit.history("note", scope=SHOP), kit.inbox(scope=SHOP)]


def with_argument(kit: memkit.Kit, name: str, value: object) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield every verb that takes an argument of this name, called with a value for it and plain ones for the others."""
    plain = {"key": "k9", "content": "v", "cite": "a.cfg#key=x", "query": "q", "budget": 9, "expected": 0, "reason": "r", "when": START}
    plain |= {"source": "a.cfg", "scope": SHOP, "to": memkit.Scope(workspace="elsewhere")}
    plain |= {"session": "monday", "role": "user", "text": "hello", "tokens_left": 1}
    for verb_name, verb in inspect.getmembers(kit, inspect.ismethod):
        wanted = inspect.signature(verb).parameters
        if name in wanted and "scope" in wanted and not verb_name.startswith("_"):
            arguments = {each: plain[each] for each in wanted if each in plain} | {name: value}
            yield verb_name, lambda verb=verb, arguments=arguments: verb(**arguments)


def test_a_secret_that_comes_in_by_any_way_is_in_no_byte_and_in_no_answer(monkeypatch, tmp_path):
    """agentmemory #911: a secret was stored through one of the paths."""
    secret = canary()
    paths = (tmp_path / f"{number}.db" for number in itertools.count())

    def check() -> None:
        with memkit.open(next(paths), sources={"a.cfg": f"x=1\ntoken={secret}\n"}) as kit:
            answers = [answer(call) for call in entries(kit, secret)]
            leaks = [text for text in answers if secret in text]
            assert leaks == []
            assert any("[redacted:" in text for text in answers), "something was masked"
            swept = kit.admin.sweep(secret)
            assert set(swept.values()) == {0} and len(swept) == 2
            assert all(secret.encode() not in file.read_bytes() for file in kit.db.files)

    check()
    monkeypatch.setattr(policy, "redact", lambda text, **_: SimpleNamespace(text=text, findings=()))
    assert fails(check)


def answer(call: Callable[[], object]) -> str:
    """Return what a call shows to whoever looks: its result in full, or its error with all that it carries."""
    try:
        return shown(call())
    except memkit.MemkitError as error:
        return f"{error!r} {error} {vars(error)}"


def shown(result: object) -> str:
    if isinstance(result, list | tuple):
        return " ".join(map(shown, result))
    fields = {name: getattr(result, name) for name in getattr(result, "__dataclass_fields__", ())}
    return f"{result!r} {result} {fields}"


def test_ordinary_words_stay_and_sources_are_never_written(monkeypatch, tmp_path):
    """openclaw #130180: the redaction mark was written into the user's own files."""
    ordinary = "the keyboard needs max_tokens=4096, then password_reset; secretary, tokenizer, 密码学"
    file = tmp_path / "notes.txt"

    def check(after: Callable[[], object] = int) -> None:
        file.write_text(f"{ordinary}\n", encoding="utf-8")
        seen = (file.read_bytes(), file.stat().st_mtime_ns)
        with memkit.open(root=tmp_path) as kit:
            memory = kit.learn("words", ordinary, scope=SHOP, cite="notes.txt#lines=1").memory
            assert memory is not None and memory.content == ordinary
            kit.recall("keyboard", scope=SHOP, budget=100)
            kit.forget("words", scope=SHOP, expected=1, reason="asked")
        after()
        assert (file.read_bytes(), file.stat().st_mtime_ns) == seen
        assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]

    check()
    assert fails(lambda: check(lambda: file.write_text("[redacted:password]\n", encoding="utf-8")))
    greedy = re.compile(r"\S*(?:key|token|password)\S*")
    monkeypatch.setattr(commit, "nothing_to_mask", lambda *texts: False)
    monkeypatch.setattr(policy, "redact", lambda text, **_: SimpleNamespace(text=greedy.sub("[redacted:x]", text), findings=()))
    assert fails(check)


def test_a_store_that_cannot_be_reached_is_an_error_never_an_empty_store(tmp_path):
    """cindy #2341: the store's folder was not ready, so writes went to a temporary one and reads said "empty"."""

    def check(opened: Callable[[Path], memkit.Kit]) -> None:
        with pytest.raises(memkit.NotFound):
            opened(tmp_path / "not ready" / "memory.db")
        with pytest.raises(memkit.NotFound):
            memkit.open(root=tmp_path / "not there")
        assert list(tmp_path.iterdir()) == []
        with opened(tmp_path / "memory.db") as kit:
            kit.remember("k", "it went here", scope=SHOP)
            assert kit.db.path == (tmp_path / "memory.db").resolve() and b"it went here" in kit.db.path.read_bytes()
        for path in tmp_path.iterdir():
            path.unlink()

    def lenient(path: Path) -> memkit.Kit:
        try:
            return memkit.open(path)
        except memkit.NotFound:
            return memkit.open()

    check(memkit.open)
    assert fails(lambda: check(lenient))
