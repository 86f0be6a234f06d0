"""What A may not see has no effect on what A gets: recall equals recall on a store that holds only what A may see.

Which rows those are is decided here by an oracle of a few lines that shares nothing with memkit's own scopes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

import memkit
from memkit.read import recall as recalling
from memkit.read.follow import Index
from memkit.record.database import Database

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = "timeout retry cache deploy payment cart v1.2.3 src/app.py user_id maxRetry 超时 部署 缓存策略 支付接口 回滚 什么".split()  # noqa: SIM905
NAMES = {  # some hold the separators of a stored scope, some begin alike, some are look-alikes
    "workspace": ["shop", "shop2", "店铺", "shop&env=prod"],
    "branch": ["main", "maiñ"],
    "env": ["prod", "test"],
    "session": ["s1", "s1 "],
}
PEOPLE = [memkit.Principal(tenant=tenant, user=user) for tenant in ("acme", "acme&user=ann") for user in ("ann", "Ann")]
VIEWS, QUERIES = 20, 10  # of each store; times the stores: triples of principal, scope and query

Dimensions = dict[str, str]
Result = tuple[list[tuple[str, float]], list[tuple[str, float, str]], int]


@dataclass
class Store:
    """A store of many tenants and users, and for each memory whose it is and where it applies, as this test gave it."""

    kit: memkit.Kit
    sources: dict[str, str]
    rows: list[tuple[str, Dimensions, str]] = field(default_factory=list)  # tenant, dimensions, stored scope


def some_text(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 8)))


def some_scope(rng: random.Random) -> dict[str, object]:
    named: dict[str, object] = {name: rng.choice(values) for name, values in NAMES.items() if rng.random() < 0.45}
    if rng.random() < 0.4 or not named:
        named["user"] = True
    return named


def dimensions(named: dict[str, object], who: memkit.Principal) -> Dimensions:
    return {name: who.user if name == "user" else str(value) for name, value in named.items()}


def may_see(who: memkit.Principal, here: Dimensions, tenant: str, there: Dimensions) -> bool:
    """The oracle: a memory applies where the tenant is the same and every dimension it names is matched."""
    return tenant == who.tenant and all(here.get(name) == value for name, value in there.items())


def filled(rng: random.Random, memories: int = 60) -> Store:
    sources = {"a.cfg": "x=1", "b.cfg": "x=1"}
    store = Store(memkit.open(sources=sources, clock=lambda: NOW), sources)
    for number in range(memories):
        who, named = rng.choice(PEOPLE), some_scope(rng)
        kit, scope = store.kit.acting_as(who), memkit.Scope(**named)  # type: ignore[arg-type]
        ends = NOW + timedelta(days=1) if rng.random() < 0.1 else None
        key = f"k{rng.randrange(memories // 4)}"
        if number % 5 == 0:
            cite = rng.choice(["a.cfg#key=x", "b.cfg"])
            done = kit.learn(key, some_text(rng), scope=scope, cite=cite, expected=memkit.ANY)
        elif number % 5 == 1:
            said = kit.record(rng.choice(["monday", "tuesday"]), "user", f"{some_text(rng)}, so it is {number}", scope=scope)
            done = kit.learn(key, some_text(rng), scope=scope, cite=f"{said.source}#quote=so it is {number}", expected=memkit.ANY)
        else:
            done = kit.remember(key, some_text(rng), scope=scope, expected=memkit.ANY, expires_at=ends)
        assert done.memory is not None
        store.rows.append((who.tenant, dimensions(named, who), done.memory.scope))
    sources["b.cfg"] = "x=2"  # what rests on it is stale from now on
    return store


def reduced(store: Store, who: memkit.Principal, here: Dimensions) -> memkit.Kit:
    """Return a store that holds exactly the rows that the oracle lets `who` see from `here`, and nothing else."""
    allowed = {(tenant, scope) for tenant, there, scope in store.rows if may_see(who, here, tenant, there)}
    small = memkit.open(sources=store.sources, clock=lambda: NOW, principal=who)
    with store.kit.db.read() as tx:
        revisions = [row for row in tx.execute("select * from revision").fetchall() if (row[1], row[2]) in allowed]
        kept = {row[0] for row in revisions}
        evidence = [row for row in tx.execute("select * from evidence").fetchall() if row[2] in kept]
        said = [row for row in tx.execute("select id, tenant, scope, * from episode").fetchall() if row[1:3] in allowed]
    with small.db.write() as tx:
        for table, rows in (("revision", revisions), ("evidence", evidence), ("episode", [row[3:] for row in said])):
            if rows:
                tx.conn.executemany(f"insert into {table} values ({', '.join('?' * len(rows[0]))})", rows)
    return small


def result(kit: memkit.Kit, query: str, scope: memkit.Scope, how: dict[str, object]) -> Result:
    found = kit.recall(query, scope=scope, **how)  # type: ignore[arg-type]
    hits = [(hit.memory.id, hit.score) for hit in found.hits]
    return hits, [(skip.memory.id, skip.score, skip.reason) for skip in found.skipped], found.tokens


def assert_same(one: Result, other: Result) -> None:
    assert [id for id, _ in one[0]] == [id for id, _ in other[0]]
    assert [(id, reason) for id, _, reason in one[1]] == [(id, reason) for id, _, reason in other[1]]
    assert one[2] == other[2]
    scores = [[*(score for _, score in side[0]), *(score for _, score, _ in side[1])] for side in (one, other)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-9, rel=0)


def pairs(rng: random.Random, stores: int, *recipes: memkit.Recipe) -> Iterator[tuple[Result, Result]]:
    """Yield what somebody got from a store of everybody's, and from one that holds only what they may see."""
    for _ in range(stores):
        store = filled(rng)
        views = {who: store.kit.acting_as(who) for who in PEOPLE}
        for _ in range(VIEWS):
            who, named = rng.choice(PEOPLE), some_scope(rng)
            scope = memkit.Scope(**named)  # type: ignore[arg-type]
            with reduced(store, who, dimensions(named, who)) as small:
                for _ in range(QUERIES):
                    query, recipe = some_text(rng), rng.choice(recipes)
                    how = {"budget": rng.choice([0, 12, 40, 10_000]), "limit": rng.choice([None, None, 1, 3]), "recipe": recipe}
                    yield result(views[who], query, scope, how), result(small, query, scope, how)
        store.kit.close()


@pytest.mark.parametrize("stores", [8, pytest.param(50, marks=pytest.mark.long)])
def test_recall_equals_recall_on_a_store_of_only_what_one_may_see(stores: int) -> None:
    compared = found = skipped = 0
    for everything, own in pairs(random.Random(11), stores, memkit.TFIDF, memkit.BALANCED):
        assert_same(everything, own)
        compared, found, skipped = compared + 1, found + bool(own[0]), skipped + len({reason for *_, reason in own[1]})
    assert compared == stores * VIEWS * QUERIES
    assert found > compared / 4 and skipped > compared / 5, "most queries really found, and skipped, something"


def test_a_foreign_row_that_is_made_visible_does_change_something() -> None:
    rng = random.Random(12)
    for _ in range(10):
        store = filled(rng)
        who, named = rng.choice(PEOPLE), some_scope(rng)
        here, scope = dimensions(named, who), memkit.Scope(**named)  # type: ignore[arg-type]
        foreign = [(tenant, where) for tenant, there, where in store.rows if not may_see(who, here, tenant, there)]
        with store.kit.db.read() as tx:
            columns = [name for _, name, *_ in tx.execute("pragma table_info(revision)").fetchall()]
            rows = [dict(zip(columns, row, strict=True)) for row in tx.execute("select * from memory").fetchall()]
        row = next(row for row in rows if (row["tenant"], row["scope"]) in foreign)
        moved = row | {"seq": None, "tenant": who.tenant, "scope": scope.stored(who), "key": "it was foreign", "revision": 1, "op": "ADD"}
        view = store.kit.acting_as(who)
        before = view.recall("cache 部署 timeout", scope=scope, budget=10_000)
        assert seen(before, foreign) == [] and "it was foreign" not in {memory.key for memory in seen(before)}
        with store.kit.db.write() as tx:
            tx.execute(f"insert into revision values ({', '.join(':' + name for name in columns)})", moved)
        view.admin.rebuild()
        query = f"{row['content']} cache 部署 timeout"
        assert "it was foreign" in {memory.key for memory in seen(view.recall(query, scope=scope, budget=10_000))}
        store.kit.close()


def seen(found: memkit.Recall, where: list[tuple[str, str]] | None = None) -> list[memkit.Memory]:
    memories = [item.memory for item in (*found.hits, *found.skipped)]
    return [memory for memory in memories if where is None or (memory.tenant, memory.scope) in where]


def differs(monkeypatch: pytest.MonkeyPatch, rank: object) -> bool:
    monkeypatch.setattr(recalling, "rank", rank)
    try:
        for everything, own in pairs(random.Random(13), 1, memkit.TFIDF):
            assert_same(everything, own)
    except AssertionError:
        return True
    return False


def everywhere(db: Database, index: Index) -> list[str]:
    with db.read() as tx:
        return [scope for (scope,) in tx.execute("select distinct scope from memory where tenant = ?", [index.tenant]).fetchall()]


def test_a_recall_that_filters_after_ranking_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sabotaged twin: the same rows come back, but weighed by what the caller may not see."""
    honest = recalling.rank

    def filters_afterwards(db, index, query, scopes, **how):  # type: ignore[no-untyped-def]
        found = honest(db, index, query, sorted({*everywhere(db, index), *scopes}), **how)
        kept = [match.memory.scope in scopes for match in found.read(found.found.rows.tolist())]
        found._scopes, found._last = list(scopes), found._last[kept]
        found._tokens, found._open = found._tokens[kept], found._open[kept]
        few = found.found
        found.found = replace(few, rows=few.rows[kept], scores=few.scores[kept], enough=few.enough[kept])
        found._order = found.found.order
        return found

    assert not differs(monkeypatch, honest)
    assert differs(monkeypatch, filters_afterwards)


def test_a_recall_that_lets_a_foreign_value_hide_an_own_one_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = recalling.rank

    def looks_at_every_key(db, index, query, scopes, **how):  # type: ignore[no-untyped-def]
        found = honest(db, index, query, scopes, **how)
        found._scopes, found._several = everywhere(db, index), True
        return found

    assert differs(monkeypatch, looks_at_every_key)
