"""read/follow.py and read/recall.py: what is returned, what is skipped, and what can have no effect on it."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import fsum
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memkit
from memkit.read import recall as recalling
from memkit.read.analyze import analyze
from memkit.record import store
from memkit.record.text import count_tokens

PROD, TEST, SHOP = (memkit.Scope(workspace="shop", **{"env": env} if env else {}) for env in ("prod", "test", None))
START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = ["timeout", "retry", "cache", "deploy", "payment", "超时", "部署", "缓存策略", "user_id", "v1.2.3", "src/app.py"]
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


def keys(found: memkit.Recall) -> list[str]:
    return [hit.memory.key for hit in found.hits]


def reasons(found: memkit.Recall) -> dict[str, str]:
    return {skip.memory.key: skip.reason for skip in found.skipped}


# --- the four situations: unchanged, changed, deleted, another environment


def test_an_unchanged_source_is_recalled() -> None:
    with memkit.open(sources={"prod.cfg": "timeout=30"}) as kit:
        kit.learn("timeout", "timeout=30", scope=PROD, cite="prod.cfg#key=timeout")
        found = kit.recall("timeout", scope=PROD, budget=100)
        assert keys(found) == ["timeout"] and found.skipped == () and found.hits[0].verdict == "VALID"


def test_a_changed_value_is_withheld_with_its_reason() -> None:
    with memkit.open(sources={"prod.cfg": "timeout=30"}) as kit:
        kit.learn("timeout", "timeout=30", scope=PROD, cite="prod.cfg#key=timeout")
        kit.sources["prod.cfg"] = "timeout=45"
        found = kit.recall("timeout", scope=PROD, budget=100)
        assert keys(found) == [] and reasons(found) == {"timeout": "STALE_SOURCE"}
        assert found.skipped[0].check is not None and found.skipped[0].check.evidence[0].found == "45"


def test_a_deleted_file_is_withheld_with_its_reason() -> None:
    with memkit.open(sources={"prod.cfg": "timeout=30"}) as kit:
        kit.learn("timeout", "timeout=30", scope=PROD, cite="prod.cfg#key=timeout")
        del kit.sources["prod.cfg"]
        assert reasons(kit.recall("timeout", scope=PROD, budget=100)) == {"timeout": "MISSING_SOURCE"}


def test_another_environment_does_not_even_count_it() -> None:
    with memkit.open(sources={"prod.cfg": "timeout=30"}) as kit:
        kit.learn("timeout", "timeout=30", scope=PROD, cite="prod.cfg#key=timeout")
        found = kit.recall("timeout", scope=TEST, budget=100)
        assert found.hits == () and found.skipped == ()


# --- exactness and isolation


def oracle(rows: dict[str, str], query: str) -> dict[str, float]:
    """What scikit-learn says: its TfidfVectorizer fitted on exactly these rows."""
    vectorizers = pytest.importorskip(
        "sklearn.feature_extraction.text", reason="scikit-learn is not installed: pip install 'memkit[course]'"
    )
    vectorizer = vectorizers.TfidfVectorizer(analyzer=analyze)
    try:
        matrix = vectorizer.fit_transform(rows.values())
    except ValueError:  # an empty vocabulary
        return {}
    scores = (matrix @ vectorizer.transform([query]).T).toarray().ravel()
    return {key: score for key, score in zip(rows, scores, strict=True) if score > 0}


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["prod", "test", ""]), st.sampled_from("klmnop"), sentences), max_size=25
    ),
    sentences,
    st.sampled_from(["prod", ""]),
)
@settings(max_examples=80, deadline=None)
def test_scores_equal_scikit_learn_on_the_visible_current_rows(writes: list[tuple[str, str, str, str]], query: str, env: str) -> None:
    def scope(workspace: str, env: str) -> memkit.Scope:
        return memkit.Scope(workspace=workspace, env=env or None)

    with memkit.open(clock=lambda: START) as kit:
        for n, (workspace, place, key, text) in enumerate(writes):
            kit.remember(f"{key}-{workspace}-{place}", text, scope=scope(workspace, place), expected=memkit.ANY)
            if n % 3 == 0:
                kit.recall(query, scope=scope("a", env), budget=10**6, recipe=memkit.TFIDF)  # follow the log from here on
        visible = scope("a", env)
        rows = {check.memory.key: check.memory.content or "" for check in kit.check(scope=visible)}
        found = kit.recall(query, scope=visible, budget=10**6, recipe=memkit.TFIDF)
        scores = {item.memory.key: item.score for item in (*found.hits, *found.skipped)}
        assert scores == pytest.approx(oracle(rows, query), abs=1e-6)
        assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
        kit.admin.rebuild()
        assert kit.recall(query, scope=visible, budget=10**6, recipe=memkit.TFIDF) == found


def test_ten_thousand_foreign_rows_change_no_score_and_no_rank() -> None:
    rng = random.Random(7)
    with memkit.open() as kit:
        for n in range(20):
            kit.remember(f"k{n}", " ".join(rng.choices(WORDS, k=5)), scope=SHOP)
        before = kit.recall("payment timeout 超时", scope=SHOP, budget=10**6)
        with kit.db.write() as tx:  # the statements of the write path, without ten thousand commits
            from_me = tx.execute("select * from revision where key = 'k0'").fetchone()
            rows = [(None, "other", *from_me[2:3], f"x{n}", 1, "ADD", "timeout payment " * 3, *from_me[7:]) for n in range(10_000)]
            tx.conn.executemany(f"insert into revision values ({', '.join('?' * len(from_me))})", rows)
        kit.admin.rebuild()
        after = kit.recall("payment timeout 超时", scope=SHOP, budget=10**6)
        assert [(hit.memory.id, hit.score) for hit in after.hits] == [(hit.memory.id, hit.score) for hit in before.hits]
        foreign = kit.acting_as(memkit.Principal(tenant="other")).recall("payment", scope=SHOP, budget=50)
        assert len(foreign.hits) > 0, "the ten thousand rows are really there"


# --- policy


def test_the_narrowest_scope_wins_there_and_only_there() -> None:
    with memkit.open() as kit:
        kit.remember("build", "build with make", scope=SHOP)
        kit.remember("build", "build with ninja", scope=PROD)
        here, there = kit.recall("build", scope=PROD, budget=100), kit.recall("build", scope=TEST, budget=100)
        assert [hit.memory.content for hit in here.hits] == ["build with ninja"] and reasons(here) == {"build": "HIDDEN_BY_NARROWER"}
        assert [hit.memory.content for hit in there.hits] == ["build with make"] and there.skipped == ()


def test_a_narrow_value_hides_the_wide_one_also_while_it_is_stale_but_not_once_it_expired() -> None:
    now = [START]
    with memkit.open(sources={"a.cfg": "x=1"}, clock=lambda: now[0]) as kit:
        kit.remember("x", "x is 9", scope=SHOP)
        kit.learn("x", "x is 1", scope=PROD, cite="a.cfg#key=x", expires_at=START + timedelta(days=1))
        kit.sources["a.cfg"] = "x=2"
        found = kit.recall("x is", scope=PROD, budget=100)
        assert found.hits == () and sorted(skip.reason for skip in found.skipped) == ["HIDDEN_BY_NARROWER", "STALE_SOURCE"]
        now[0] += timedelta(days=1)
        found = kit.recall("x is", scope=PROD, budget=100)
        assert [hit.memory.content for hit in found.hits] == ["x is 9"] and [skip.reason for skip in found.skipped] == ["EXPIRED"]


def test_a_narrow_value_that_is_not_true_yet_hides_nothing() -> None:
    with memkit.open(clock=lambda: START) as kit:
        kit.remember("node", "node 18", scope=SHOP)
        kit.remember("node", "node 20", scope=PROD, valid_from=START + timedelta(days=30))
        found = kit.recall("node", scope=PROD, budget=50)
        assert [hit.memory.content for hit in found.hits] == ["node 18"] and [s.reason for s in found.skipped] == ["NOT_YET_VALID"]


def test_asking_from_many_places_keeps_no_empty_partition() -> None:
    with memkit.open() as kit:
        kit.remember("k", "deploy", scope=SHOP)
        for n in range(50):
            assert len(kit.recall("deploy", scope=memkit.Scope(workspace="shop", session=str(n)), budget=50).hits) == 1
        assert len(kit._index._partitions) == 1


def test_rebuilding_while_others_ask_disturbs_nobody() -> None:
    with memkit.open() as kit, ThreadPoolExecutor(4) as pool:
        kit.remember("k", "deploy", scope=SHOP)
        asked = [pool.submit(lambda: kit.recall("deploy", scope=SHOP, budget=50).hits) for _ in range(200)]
        rebuilt = [pool.submit(kit.admin.rebuild) for _ in range(100)]
        assert {len(each.result()) for each in asked} == {1} and all(each.result() is None for each in rebuilt)


def test_two_values_neither_wider_nor_narrower_are_both_returned_and_marked() -> None:
    with memkit.open() as kit:
        one = kit.remember("style", "style is tabs", scope=memkit.Scope(workspace="shop")).memory
        two = kit.remember("style", "style is spaces", scope=memkit.Scope(user=True)).memory
        assert one is not None and two is not None
        hits = kit.recall("style", scope=memkit.Scope(workspace="shop", user=True), budget=100).hits
        assert {hit.memory.id: hit.rivals for hit in hits} == {one.id: (two.id,), two.id: (one.id,)}


def test_expiry_and_review_are_judged_at_the_instant_in_any_zone() -> None:
    now, day = [START], timedelta(days=1)
    shanghai = ZoneInfo("Asia/Shanghai")
    with memkit.open(clock=lambda: now[0]) as kit:
        kit.remember("lunch", "lunch at noon", scope=SHOP, expires_at=(START + day).astimezone(shanghai))
        kit.remember("menu", "lunch menu", scope=SHOP, review_at=START + day)
        kit.remember("later", "lunch later", scope=SHOP, valid_from=START + 2 * day)
        assert sorted(keys(kit.recall("lunch", scope=SHOP, budget=100))) == ["lunch", "menu"]
        assert kit.current("lunch", scope=SHOP) is not None
        now[0] = START + day - timedelta(microseconds=1)
        assert sorted(keys(kit.recall("lunch", scope=SHOP, budget=100))) == ["lunch", "menu"]
        now[0] = START + day
        assert reasons(kit.recall("lunch", scope=SHOP, budget=100)) == {"lunch": "EXPIRED", "menu": "REVIEW_DUE", "later": "NOT_YET_VALID"}
        assert kit.current("lunch", scope=SHOP) is None and len(kit.history("lunch", scope=SHOP)) == 1


def test_a_corrected_value_is_gone_before_ranking() -> None:
    with memkit.open() as kit:
        kit.remember("node", "node node node 18", scope=SHOP)
        kit.recall("node", scope=SHOP, budget=100)
        kit.remember("node", "node 20", scope=SHOP, expected=1)
        assert [hit.memory.content for hit in kit.recall("node", scope=SHOP, budget=100).hits] == ["node 20"]


def test_what_says_the_same_is_returned_once() -> None:
    with memkit.open() as kit:
        kit.remember("a", "deploy on Friday", scope=SHOP)
        kit.remember("b", "deploy  on Friday", scope=PROD)
        found = kit.recall("deploy", scope=PROD, budget=100)
        assert len(found.hits) == 1 and list(reasons(found).values()) == ["DUPLICATE"]


# --- the budget


def filled(count: int = 12) -> memkit.Kit:
    kit, rng = memkit.open(), random.Random(3)
    for n in range(count):
        kit.remember(f"k{n}", "deploy " + " ".join(rng.choices(WORDS, k=rng.randrange(1, 20))), scope=SHOP)
    return kit


def test_more_budget_never_gives_fewer_tokens_and_none_is_exceeded() -> None:
    with filled() as kit:
        for limit in (None, 3):
            tokens = [kit.recall("deploy 部署", scope=SHOP, budget=budget, limit=limit).tokens for budget in range(0, 250)]
            assert tokens[0] == 0 and tokens == sorted(tokens) and tokens[-1] > 0
            assert all(used <= budget for budget, used in enumerate(tokens))


@given(
    st.lists(st.tuples(sentences, st.sampled_from([SHOP, PROD]), st.integers(1, 12)), min_size=1, max_size=10),
    st.sampled_from(
        ["deploy", "deploy 部署", "What is the timeout, and who deploys? Which branch am I on?", "缓存策略？另外，谁负责部署？"]
    ),
    st.sampled_from([memkit.TFIDF, memkit.BALANCED, memkit.THOROUGH]),
)
@settings(max_examples=12, deadline=None)
def test_the_laws_of_the_budget_hold_for_every_recipe_and_any_number_of_needs(
    texts: list[tuple[str, memkit.Scope, int]], question: str, recipe: memkit.Recipe
) -> None:
    with memkit.open(sources={"prod.cfg": "timeout=30"}) as kit:
        kit.learn("cited", "timeout=30, deploy 部署", scope=PROD, cite="prod.cfg#key=timeout")
        for n, (text, scope, times) in enumerate(texts):
            kit.remember(f"k{n}", " ".join([text] * times), scope=scope)
        kit.sources["prod.cfg"] = "timeout=45"
        most = kit.recall(question, scope=PROD, budget=10**6, recipe=recipe).tokens
        budgets = [*range(0, 30), *range(30, most + 2, 9), 10**6]
        found = [kit.recall(question, scope=PROD, budget=budget, recipe=recipe) for budget in budgets]
        tokens = [one.tokens for one in found]
        assert tokens[0] == 0 and tokens == sorted(tokens) and tokens[-1] == most
        assert all(used <= budget for budget, used in zip(budgets, tokens, strict=True))
        for one in found:
            assert all(hit.score == fsum(hit.parts.values()) for hit in one.hits)
            large = [skip for skip in one.skipped if skip.reason == "OVER_BUDGET"]
            assert all(count_tokens(skip.memory.content or "") > one.budget - one.tokens for skip in large)
            assert "cited" not in keys(one)


def test_an_item_too_large_is_skipped_and_the_fill_goes_on() -> None:
    with memkit.open() as kit:
        kit.remember("long", "deploy deploy deploy " + "payment " * 100, scope=SHOP)
        kit.remember("short", "deploy on Friday or cache it", scope=SHOP)
        found = kit.recall("deploy payment", scope=SHOP, budget=20)
        assert keys(found) == ["short"] and reasons(found) == {"long": "OVER_BUDGET"}


def test_what_matched_is_taken_or_told_also_at_the_very_threshold_and_where_a_count_calls_it_free() -> None:
    draw = random.Random(2)
    with memkit.open() as kit, memkit.open(tokens=lambda text: 0) as free:
        for n in range(12):
            text = " ".join(draw.choices(["deploy", "cache", "payment", "retry", "timeout"], k=draw.randrange(1, 9)))
            kit.remember(f"k{n}", text, scope=SHOP)
            free.remember(f"k{n}", text, scope=SHOP)
        plainly = replace(memkit.BALANCED, coverage=0.0, rerank=0.0)
        shown = kit.recall("deploy cache payment", scope=SHOP, budget=1_000, recipe=plainly).hits
        at_each = [replace(plainly, threshold=round(hit.score, 12)) for hit in shown]
        found = [kit.recall("deploy cache payment", scope=SHOP, budget=1_000, recipe=recipe) for recipe in at_each]
        found.append(free.recall("deploy", scope=SHOP, budget=0))
        assert len(shown) > 6 and found[-1].hits == () and set(reasons(found[-1]).values()) == {"OVER_BUDGET"}
        assert [len(one.hits) + len(one.skipped) for one in found] == [one.matched for one in found]


def test_limit_is_an_upper_bound() -> None:
    with filled() as kit:
        for limit, hits in ((0, 0), (1, 1), (5, 5), (100, 12)):
            found = kit.recall("deploy", scope=SHOP, budget=10**6, limit=limit)
            assert len(found.hits) == hits and [skip.reason for skip in found.skipped] == ["OVER_LIMIT"] * (12 - hits)


def test_only_sources_of_what_would_be_taken_are_read_each_once() -> None:
    reads: list[str] = []

    class Counting(dict[str, str]):
        def __getitem__(self, name: str) -> str:
            reads.append(name)
            return super().__getitem__(name)

    sources = Counting({"a.cfg": "x=1\ny=2", "b.cfg": "z=3"})
    with memkit.open(sources=sources) as kit:
        for key, cite in (("x", "a.cfg#key=x"), ("y", "a.cfg#key=y"), ("z", "b.cfg#key=z")):
            kit.learn(key, f"setting {key}", scope=SHOP, cite=cite)
        reads.clear()
        kit.recall("setting", scope=SHOP, budget=0)
        assert reads == []
        assert len(kit.recall("setting", scope=SHOP, budget=100).hits) == 3 and sorted(reads) == ["a.cfg", "b.cfg"]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The list to which each reading of memories from the record adds how many they were."""
    read: list[int] = []
    honest = store.at

    def counting(tx, tenant, seqs):  # type: ignore[no-untyped-def]
        read.append(len(seqs))
        return honest(tx, tenant, seqs)

    monkeypatch.setattr(store, "at", counting)
    return read


def test_only_the_memories_that_may_be_taken_are_read_however_many_match(monkeypatch: pytest.MonkeyPatch) -> None:
    read = counted(monkeypatch)
    with filled(400) as kit:
        found = kit.recall("deploy", scope=SHOP, budget=10**6, limit=5, recipe=memkit.TFIDF)
        assert len(found.hits) == 5 and found.matched == 400 and sum(read) < 40
        assert "395 more matched" in repr(found) and sum(read) < 40
        assert Counter(skip.reason for skip in found.skipped).keys() == {"OVER_LIMIT", "DUPLICATE"}
        assert len(found.skipped) == 395 and sum(read) == 400, "each match is read once at most"
        read.clear()
        assert kit.recall("deploy", scope=SHOP, budget=0, recipe=memkit.TFIDF).hits == () and read == []


def test_many_that_are_withheld_are_read_in_few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    read = counted(monkeypatch)
    with memkit.open() as kit:
        for n in range(500):
            kit.remember(f"k{n}", "deploy on Friday", scope=SHOP)
        found = kit.recall("deploy", scope=SHOP, budget=20, recipe=memkit.TFIDF)
        assert len(found.hits) == 1 and sum(read) == 500 and len(read) < 12
        assert {skip.reason for skip in found.skipped} == {"DUPLICATE"}


def test_what_is_told_later_of_skipped_memories_is_what_would_have_been_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with filled(120) as kit:
        kit.remember("gone", "deploy once", scope=SHOP, expires_at=datetime.now(UTC) + timedelta(days=9))
        kit.remember("k3", "deploy in prod alone", scope=PROD)
        for budget, limit in ((0, None), (37, None), (200, 4), (500, None), (10**6, 7)):
            late = kit.recall("deploy payment 超时", scope=PROD, budget=budget, limit=limit, recipe=memkit.TFIDF)
            with monkeypatch.context() as patched:
                patched.setattr(recalling, "AT_ONCE", 10**6)
                at_once = kit.recall("deploy payment 超时", scope=PROD, budget=budget, limit=limit, recipe=memkit.TFIDF)
            assert "skipped" not in vars(late) and "skipped" in vars(at_once)
            assert [(skip.memory.id, skip.reason, skip.why) for skip in late.skipped] == [
                (skip.memory.id, skip.reason, skip.why) for skip in at_once.skipped
            ]
            assert len(late.skipped) + len(late.hits) == late.matched == 122


def test_what_was_forgotten_meanwhile_is_not_told_later() -> None:
    with filled(100) as kit:
        found = kit.recall("deploy", scope=SHOP, budget=0)
        kit.forget("k7", scope=SHOP, expected=1, reason="asked")
        assert len(found.skipped) == 99 and "k7" not in {skip.memory.key for skip in found.skipped}


def test_what_was_not_told_before_the_store_closed_is_an_error_and_no_gap() -> None:
    with filled(100) as kit:
        found = kit.recall("deploy", scope=SHOP, budget=30)
    assert found.hits and "more matched" in repr(found)
    with pytest.raises(memkit.MemkitError, match="closed"):
        found.skipped  # noqa: B018


def test_a_thousand_memories_over_two_hundred_sources_are_checked_with_each_source_read_once() -> None:
    reads: Counter[str] = Counter()

    class Counting(dict[str, str]):
        def __getitem__(self, name: str) -> str:
            reads[name] += 1
            return super().__getitem__(name)

    sources = Counting({f"{at}.cfg": "\n".join(f"k{n}={n}" for n in range(at, 1_000, 200)) for at in range(200)})
    with memkit.open(sources=sources) as kit:
        for n in range(1_000):
            kit.learn(f"k{n}", f"k{n} is {n}", scope=SHOP, cite=f"{n % 200}.cfg#key=k{n}")
        reads.clear()
        assert {check.verdict for check in kit.check(scope=SHOP)} == {"VALID"}
        assert reads == Counter(sources.keys())
        reads.clear()
        assert len(kit.recall("k7 is", scope=SHOP, budget=10**6, limit=3).hits) > 0 and 0 < sum(reads.values()) <= 3


# --- input


@pytest.mark.parametrize("query", ["", " ", '"', "a-b", "NOT x OR (", "*", "%_'--", "😀", "שלום", "\0", "\ud800", "的", "x" * 10**6])
def test_any_string_is_a_legal_query(query: str) -> None:
    with memkit.open() as kit:
        kit.remember("k", "deploy 部署", scope=SHOP)
        assert kit.recall(query, scope=SHOP, budget=100).hits == ()


def test_no_part_of_a_secret_comes_back_where_a_long_query_is_cut() -> None:
    secret = "ghp_" + "Ab3dEf6h" * 4 + "Zz19"
    with memkit.open() as kit:
        for before in range(9_950, 10_000, 7):
            found = kit.recall(f"{'x ' * (before // 2)}{secret} deploy", scope=SHOP, budget=100)
            assert 9_900 < len(found.query) <= 10_000 and secret[:8] not in found.query


def test_chinese_and_mixed_queries_find() -> None:
    with memkit.open() as kit:
        kit.remember("pm", "项目使用pnpm安装依赖", scope=SHOP)
        kit.remember("db", "数据库迁移在周三进行", scope=SHOP)
        for query, key in (("安装依赖用什么？", "pm"), ("pnpm", "pm"), ("什么时候迁移数据库", "db")):
            assert keys(kit.recall(query, scope=SHOP, budget=100))[0] == key


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["-", '"', "'", "*", "NEAR/2", "OR", "😀", "שלום", "مرحبا", "\u202e", "\ud800", "部署"])).map(" ".join)
)
@settings(deadline=None, max_examples=200)
def test_any_text_around_a_known_word_is_a_legal_query(text: str) -> None:
    kit = _ONE.setdefault("kit", memkit.open())
    if kit.current("k", scope=SHOP) is None:
        kit.remember("k", "quokka 部署", scope=SHOP)
    assert keys(kit.recall(f"{text} quokka", scope=SHOP, budget=100, recipe=memkit.TFIDF)) == ["k"]


_ONE: dict[str, memkit.Kit] = {}


@pytest.mark.parametrize("budget", [-1, 1.5, None, "10", True])
def test_a_budget_that_is_no_number_of_tokens_is_refused(budget: object) -> None:
    with memkit.open() as kit, pytest.raises(memkit.Refused, match="whole number"):
        kit.recall("x", scope=SHOP, budget=budget)  # type: ignore[arg-type]


@pytest.mark.parametrize("scope", [None, "workspace=shop", {"workspace": "shop"}])
def test_a_missing_scope_is_an_error_on_every_path(scope: object) -> None:
    with memkit.open() as kit:
        for verb in (
            lambda: kit.recall("x", scope=scope, budget=1),  # type: ignore[arg-type]
            lambda: kit.remember("k", "v", scope=scope),  # type: ignore[arg-type]
            lambda: kit.propose("k", "v", scope=scope),  # type: ignore[arg-type]
            lambda: kit.current("k", scope=scope),  # type: ignore[arg-type]
            lambda: kit.history("k", scope=scope),  # type: ignore[arg-type]
            lambda: kit.events(scope=scope),  # type: ignore[arg-type]
            lambda: kit.inbox(scope=scope),  # type: ignore[arg-type]
            lambda: kit.check(scope=scope),  # type: ignore[arg-type]
            lambda: kit.affected("a", scope=scope),  # type: ignore[arg-type]
            lambda: kit.forget("k", scope=scope, expected=1, reason=""),  # type: ignore[arg-type]
        ):
            with pytest.raises(memkit.BadScope, match="memkit.Scope"):
                verb()


def test_each_grant_opens_its_own_verbs() -> None:
    with memkit.open() as kit:
        kit.remember("k", "v", scope=SHOP)
        verbs = {
            "write": lambda who: who.propose("p", "v", scope=SHOP),
            "search": lambda who: who.recall("v", scope=SHOP, budget=1),
            "read": lambda who: who.current("k", scope=SHOP),
            "history": lambda who: who.history("k", scope=SHOP),
            "admin": lambda who: who.admin.sweep("v"),
            "forget": lambda who: who.forget("k", scope=SHOP, expected=1, reason="asked"),
        }
        for grant, verb in verbs.items():
            everything_else = kit.acting_as(memkit.Principal(grants=frozenset(verbs) - {grant}))
            with pytest.raises(memkit.AccessDenied) as caught:
                verb(everything_else)
            assert caught.value.needed == grant
        for verb in verbs.values():
            verb(kit)


def test_a_scope_is_indexed_beforehand_and_says_how_far_it_is():
    kit, told = memkit.open(), []
    shop, other = memkit.Scope(workspace="shop"), memkit.Scope(workspace="other")
    for number in range(2_500):
        kit.remember(f"fact-{number}", f"超时 timeout {number}", scope=shop)
    assert kit.warm(scope=shop, progress=lambda done, total: told.append((done, total))) == 2_500
    assert told == [(1_000, 2_500), (2_000, 2_500), (2_500, 2_500), (2_500, 2_500)]
    assert kit.warm(scope=shop, progress=lambda *numbers: told.append(numbers)) == 2_500
    assert told[4:] == [(2_500, 2_500)], "what is indexed is not indexed again"
    assert kit.warm(scope=other) == 0
    assert kit.recall("timeout 77", scope=shop, budget=30, recipe=memkit.TFIDF).hits[0].memory.key == "fact-77"
    with pytest.raises(memkit.Refused, match="a function of two numbers"):
        kit.warm(scope=shop, progress="bar")


def test_a_progress_that_raises_leaves_the_index_to_be_built_again():
    kit = memkit.open()
    shop = memkit.Scope(workspace="shop")
    kit.remember("wait", "the timeout is 30 s", scope=shop)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kit.warm(scope=shop, progress=stop)
    assert [hit.memory.key for hit in kit.recall("timeout", scope=shop, budget=30).hits] == ["wait"]


def test_no_secret_is_cut_in_two_where_a_long_one_before_it_was_masked():
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    block = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEAabCD1234\n" * 420 + "-----END RSA PRIVATE KEY-----\n"
    with memkit.open() as kit:
        kit.remember("word", "a word", scope=memkit.Scope(workspace="shop"))
        for at in (19_970, 9_990):
            query = block + ("word " * 4_000)[: at - len(block)] + " " + token
            found = kit.recall(query, scope=memkit.Scope(workspace="shop"), budget=100)
            assert "ghp_" not in found.query and len(found.query) <= 10_000
