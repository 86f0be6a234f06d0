"""write/episodes.py and record/sessions.py: what happened, in exact order, and what may rest on it."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_races import start

import memkit
from memkit.record.model import Episode, Role

SHOP = memkit.Scope(workspace="shop")
PROD = memkit.Scope(workspace="shop", env="prod")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
AGENT = memkit.Principal(actor="agent")


def opened(**options: object) -> memkit.Kit:
    return memkit.open(clock=lambda: NOON, **options)  # type: ignore[arg-type]


def test_an_episode_is_kept_as_it_was_said_and_numbered_within_its_session() -> None:
    with opened() as kit:
        first = kit.record("monday", "user", "We deploy on Tuesday. 我们用 pnpm。\n", scope=SHOP)
        assert first == Episode("monday", 1, Role.USER, "We deploy on Tuesday. 我们用 pnpm。\n", True, True, NOON, "workspace=shop")
        second = kit.record("monday", "tool", "exit 0", scope=PROD, visible=False)
        assert second == Episode("monday", 2, Role.TOOL, "exit 0", False, False, NOON, "env=prod&workspace=shop")
        assert kit.record("tuesday", "assistant", "done", scope=SHOP).source == "session:tuesday/1"
        assert kit.episodes("monday", scope=PROD) == [first, second]
        assert kit.episodes("monday", scope=PROD, after=1) == [second] and kit.episodes("monday", scope=PROD, after=2) == []
        assert kit.episodes("monday", scope=SHOP) == [first], "what was recorded in a narrower scope is not seen"
        assert repr(first) == "Episode(session:monday/1 user: 'We deploy on Tuesday. 我们用 pnpm。\\n' in workspace=shop)"


def test_a_secret_is_masked_before_an_episode_is_kept(tmp_path: Path) -> None:
    secret = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"
    with opened(path=tmp_path / "memory.db") as kit:
        kept = kit.record("monday", "tool", f"the token is {secret} here", scope=SHOP)
        assert kept.text == "the token is [redacted:forge-token] here" == kit.episodes("monday", scope=SHOP)[0].text
        assert kit.admin.sweep(secret) == {"memory.db": 0, "memory.db.key": 0} and kit.admin.sweep("the token is")["memory.db"] == 1


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"text": ""}, "EMPTY_TEXT"),
        ({"text": " \n"}, "EMPTY_TEXT"),
        ({"text": None}, "EMPTY_TEXT"),
        ({"text": "x" * 100_001}, "LONG_TEXT"),
        ({"text": "a\0b"}, "BAD_TEXT"),
        ({"text": "a\ud800"}, "BAD_TEXT"),
        ({"role": "boss"}, "BAD_ROLE"),
        ({"session": ""}, "EMPTY_SESSION"),
        ({"session": "a\nb"}, "BAD_SESSION"),
        ({"session": "s" * 201}, "LONG_SESSION"),
        ({"session": "ann@example.test"}, "SECRET_IN_SESSION"),
        ({"visible": 1}, "BAD_VISIBLE"),
        ({"trusted": "yes"}, "BAD_TRUSTED"),
    ],
)
def test_what_is_no_episode_is_refused_and_leaves_no_gap(changed: dict[str, object], reason: str) -> None:
    with opened() as kit:
        kit.record("monday", "user", "one", scope=SHOP)
        wanted = {"session": "monday", "role": "user", "text": "two"} | changed
        with pytest.raises(memkit.Refused) as caught:
            kit.record(**wanted, scope=SHOP)  # type: ignore[arg-type]
        assert caught.value.reason == reason
        assert kit.record("monday", "user", "x" * 100_000, scope=SHOP).number == 2
        with pytest.raises(memkit.BadScope):
            kit.record("monday", "user", "two", scope=None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("actor", "role", "trusted", "is_trusted"),
    [
        ("person", "user", None, True),
        ("person", "system", None, True),
        ("person", "tool", None, False),
        ("person", "assistant", None, False),
        ("person", "tool", True, True),
        ("person", "user", False, False),
        ("agent", "user", None, False),
        ("agent", "user", False, False),
        ("job", "system", None, False),
    ],
)
def test_trust_comes_from_who_records_not_from_what_is_said(actor: str, role: str, trusted: bool | None, is_trusted: bool) -> None:
    with opened(principal=memkit.Principal(actor=actor)) as kit:
        assert kit.record("monday", role, "trusted=True", scope=SHOP, trusted=trusted).trusted is is_trusted


def test_an_agent_cannot_vouch_for_an_episode() -> None:
    with opened(principal=AGENT) as kit, pytest.raises(memkit.Refused) as caught:
        kit.record("monday", "user", "I am the user", scope=SHOP, trusted=True)
    assert caught.value.reason == "NOT_YOURS_TO_TRUST"


REWRITES = [
    "update episode set text = 'We deploy on Friday'",
    "update episode set text = 'We deploy on Tuesday [forgotten]'",
    "update episode set text = '[forgotten]', role = 'tool'",
    "update episode set number = 7",
    "update episode set trusted = 0",
    "update episode set scope = 'workspace=other'",
    "delete from episode",
]


@pytest.mark.parametrize("statement", REWRITES)
def test_the_database_itself_refuses_to_rewrite_an_episode(statement: str) -> None:
    with opened() as kit:
        kit.record("monday", "user", "We deploy on Tuesday", scope=SHOP)
        with pytest.raises(sqlite3.DatabaseError, match="not rewritten|not removed"), kit.db.write() as tx:
            tx.execute(statement)
        assert kit.episodes("monday", scope=SHOP)[0].text == "We deploy on Tuesday"


def test_the_database_lets_words_be_masked_and_then_erased_and_never_put_back() -> None:
    with opened() as kit:
        kit.record("monday", "user", "We deploy on Tuesday", scope=SHOP)
        for text in ("'We deploy on [forgotten]'", "'[forgotten] on [forgotten]'", "null"):
            with kit.db.write() as tx:
                tx.execute(f"update episode set text = {text}")
        with pytest.raises(sqlite3.DatabaseError, match="not rewritten"), kit.db.write() as tx:
            tx.execute("update episode set text = '[forgotten]'")
        assert kit.episodes("monday", scope=SHOP)[0].text is None


RECORDER = """
import sys, memkit
with memkit.open(sys.argv[1]) as kit:
    print("ready", flush=True); sys.stdin.readline()
    for n in range(40):
        print(kit.record("monday", "user", f"{sys.argv[2]} {n}", scope=memkit.Scope(workspace="shop")).number, flush=True)
"""


def test_two_processes_interleave_without_gaps_or_doubles(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    opened(path=path).close()
    racers = [start(RECORDER, str(path), name) for name in ("ann", "bob")]
    for racer in racers:
        assert racer.stdout is not None and racer.stdout.readline() == "ready\n"
        assert racer.stdin is not None
    for racer in racers:
        racer.stdin.write("\n")  # type: ignore[union-attr]
        racer.stdin.flush()  # type: ignore[union-attr]
    told = {
        name: [int(line) for line in racer.communicate(timeout=60)[0].split()] for name, racer in zip(("ann", "bob"), racers, strict=True)
    }
    assert sorted(told["ann"] + told["bob"]) == list(range(1, 81)) and all(mine == sorted(mine) for mine in told.values())
    with opened(path=path) as kit:
        texts = {episode.number: episode.text for episode in kit.episodes("monday", scope=SHOP)}
    assert texts == {number: f"{name} {n}" for name, numbers in told.items() for n, number in enumerate(numbers)}


# --- an episode is a source


def test_a_memory_rests_on_the_words_of_an_episode_through_every_verb() -> None:
    with opened() as kit:
        said = kit.record("monday", "user", "We deploy on Tuesday, and tests run with pytest.", scope=SHOP)
        memory = kit.learn("deploy day", "deploys happen on Tuesday", scope=SHOP, cite=f"{said.source}#quote=deploy on Tuesday").memory
        assert memory is not None and [piece.cite for piece in memory.evidence] == ["session:monday/1#quote=deploy on Tuesday"]
        proposal = kit.propose("tests", "tests run with pytest", scope=SHOP, cite=f"{said.source}#quote=tests run with pytest")
        assert kit.admit(proposal).op == "ADD"
        assert [(check.memory.key, check.verdict) for check in kit.check(scope=SHOP)] == [("deploy day", "VALID"), ("tests", "VALID")]
        assert [held.key for held in kit.affected(said.source, scope=SHOP)] == ["deploy day", "tests"]
        assert kit.affected("session:monday/2", scope=SHOP) == []
        assert kit.why(memory).check.verdict == "VALID"
        assert len(kit.recall("deploy Tuesday pytest", scope=PROD, budget=100).hits) == 2


@pytest.mark.parametrize("name", ["a/b", "a#b", "100%", "日志", "session:x", "a b", "..", "/"])
def test_any_name_of_a_session_can_be_cited(name: str) -> None:
    with opened() as kit:
        said = kit.record(name, "user", "We deploy on Tuesday", scope=SHOP)
        cite = said.source.replace("%", "%25").replace("#", "%23")
        assert kit.learn("deploy day", "on Tuesday", scope=SHOP, cite=f"{cite}#quote=on Tuesday").op == "ADD"
        assert [check.verdict for check in kit.check(scope=SHOP)] == ["VALID"]


def test_what_the_assistant_said_is_no_evidence_for_a_fact() -> None:
    with opened() as kit:
        said = kit.record("monday", "assistant", "The timeout is 30 seconds", scope=SHOP)
        for verb in (kit.learn, kit.propose):
            with pytest.raises(memkit.Refused, match="because the assistant said it") as caught:
                verb("timeout", "the timeout is 30 seconds", scope=SHOP, cite=said.source, kind="fact")  # type: ignore[operator]
            assert caught.value.reason == "SECOND_HAND"
        assert kit.propose("timeout", "the timeout is 30 seconds", scope=SHOP, cite=said.source).op == "PROPOSED"
        heard = kit.record("monday", "tool", "timeout: 30 seconds", scope=SHOP)
        assert kit.learn("timeout", "the timeout is 30 seconds", scope=SHOP, cite=f"{heard.source}#quote=30 seconds").op == "ADD"


def test_no_file_and_no_text_can_have_the_name_of_an_episode(tmp_path: Path) -> None:
    with opened(sources={}) as kit, pytest.raises(memkit.UnsafePath):
        kit.sources["session:monday/1"] = "We deploy on Friday"
    with opened(sources={"session:monday/1": "We deploy on Friday"}) as kit:
        with pytest.raises(memkit.NotFound):
            kit.learn("k", "Friday", scope=SHOP, cite="session:monday/1")
        kit.record("monday", "user", "We deploy on Tuesday", scope=SHOP)
        with pytest.raises(memkit.BadLocator):
            kit.learn("k", "Friday", scope=SHOP, cite="session:monday/1#quote=Friday")


@pytest.mark.parametrize(
    "cite", ["session:", "session:monday", "session:monday/0", "session:monday/01", "session:monday/2", "session:monday/1/"]
)
def test_what_is_no_episode_is_not_found(cite: str) -> None:
    with opened() as kit:
        kit.record("monday", "user", "We deploy on Tuesday", scope=SHOP)
        with pytest.raises(memkit.NotFound):
            kit.learn("k", "Tuesday", scope=SHOP, cite=cite)


# --- who may


def test_each_verb_needs_its_grant() -> None:
    with opened() as kit:
        kit.record("monday", "user", "We deploy on Tuesday", scope=SHOP)
        cite = "session:monday/1#quote=on Tuesday"

        def acting(*grants: str) -> memkit.Kit:
            return kit.acting_as(memkit.Principal(grants=frozenset(grants)))

        with pytest.raises(memkit.AccessDenied, match="'write'"):
            acting("read", "history", "search").record("monday", "user", "hi", scope=SHOP)
        with pytest.raises(memkit.AccessDenied, match="'history'"):
            acting("read", "write", "search").episodes("monday", scope=SHOP)
        for attempt in (cite, [cite], "session:monday/1#quote=on Friday", "session:none/1"):  # all alike, or trying would be reading
            with pytest.raises(memkit.AccessDenied, match="'history'"):
                acting("write", "read").learn("k", "on Tuesday", scope=SHOP, cite=attempt)
        assert acting("write").record("monday", "user", "hi", scope=SHOP).number == 2
        assert acting("write", "history").learn("k", "on Tuesday", scope=SHOP, cite=cite).op == "ADD"
        assert [each.number for each in acting("history").episodes("monday", scope=SHOP)] == [1, 2]


def test_a_session_one_may_not_see_reads_exactly_as_none() -> None:
    private = memkit.Scope(user=True)
    with opened(principal=memkit.Principal(tenant="acme", user="ann")) as kit:
        kit.record("diary", "user", "my locker code is 4471-blue", scope=private)
        kit.learn("locker", "4471-blue", scope=private, cite="session:diary/1#quote=4471-blue")
        for who in (memkit.Principal(tenant="acme", user="bob"), memkit.Principal(tenant="other", user="ann")):
            theirs, messages = kit.acting_as(who), []
            for name in ("diary", "nobody"):
                with pytest.raises(memkit.NotFound) as reading:
                    theirs.episodes(name, scope=private)
                with pytest.raises(memkit.NotFound) as learning:
                    theirs.learn("k", "4471-blue", scope=private, cite=f"session:{name}/1#quote=4471-blue")
                with pytest.raises(memkit.NotFound) as proposing:
                    theirs.propose("k", "4471-blue", scope=private, cite=f"session:{name}/1")
                messages += [str(caught.value).replace(name, "...") for caught in (reading, learning, proposing)]
            assert messages[:3] == messages[3:]
            assert theirs.affected("session:diary/1", scope=private) == []
        assert len(kit.episodes("diary", scope=private)) == 1 and [check.verdict for check in kit.check(scope=private)] == ["VALID"]


PEOPLE = [memkit.Principal(tenant=tenant, user=user) for tenant in ("acme", "acme&user=ann") for user in ("ann", "Ann")]
SOME_SCOPE = st.fixed_dictionaries(
    {},
    optional={
        "user": st.just(True),
        "workspace": st.sampled_from(["shop", "shop2", "shop&env=prod"]),
        "env": st.sampled_from(["prod", "test"]),
        "session": st.sampled_from(["s1", "s1 "]),
    },
).filter(bool)
SOMEBODY = st.tuples(st.sampled_from(PEOPLE), SOME_SCOPE, st.sampled_from(["monday", "monday ", "Monday"]))


@settings(max_examples=40, deadline=None)
@given(st.lists(SOMEBODY, min_size=1, max_size=25), st.lists(SOMEBODY, min_size=5, max_size=10))
def test_everybody_sees_exactly_the_episodes_of_their_tenant_whose_dimensions_all_match(written: list, asked: list) -> None:  # type: ignore[type-arg]
    """The oracle decides by dimensions alone and shares nothing with memkit's own scopes."""

    def named(who: memkit.Principal, scope: dict[str, object]) -> dict[str, object]:
        return {name: who.user if name == "user" else value for name, value in scope.items()}

    with opened() as kit:
        for n, (who, scope, session) in enumerate(written):
            kit.acting_as(who).record(session, "user", f"text {n}", scope=memkit.Scope(**scope))
        for who, scope, session in asked:
            here = named(who, scope)
            wanted = [
                f"text {n}"
                for n, (writer, there, name) in enumerate(written)
                if (writer.tenant, name) == (who.tenant, session) and all(here.get(k) == v for k, v in named(writer, there).items())
            ]
            try:
                got = [episode.text for episode in kit.acting_as(who).episodes(session, scope=memkit.Scope(**scope))]
            except memkit.NotFound:
                got = []
            assert got == wanted
