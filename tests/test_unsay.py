"""govern/unsay.py: forgetting reaches the words of every session, proves it from the bytes, and leaves the rest of what was said."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from test_extraction_runs import Notes
from test_museum import fails

import memkit
from memkit.govern import unsay
from memkit.record import masking, tombstone

SHOP = memkit.Scope(workspace="shop")
PROD = memkit.Scope(workspace="shop", env="prod")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FERRY, BUS = "the ferry to Zanzibar leaves at nine", "the bus to town leaves at ten"
ANN, BOB = memkit.Principal(tenant="acme", user="ann"), memkit.Principal(tenant="acme", user="bob")


def opened(**options: object) -> memkit.Kit:
    return memkit.open(**{"clock": lambda: NOON} | options)  # type: ignore[arg-type]


def texts(kit: memkit.Kit, session: str, scope: memkit.Scope = SHOP) -> list[str | None]:
    return [episode.text for episode in kit.episodes(session, scope=scope)]


def copies(receipt: object) -> dict[str, tuple[int, int]]:
    return {copy.place: (copy.before, copy.after) for copy in receipt.copies if copy.before}  # type: ignore[attr-defined]


def test_every_episode_that_states_it_loses_it_and_keeps_the_rest(tmp_path: Path) -> None:
    with opened(path=tmp_path / "memory.db") as kit:
        kit.record("monday", "user", f"ferry: {FERRY}\nbus: {BUS}", scope=SHOP)
        kit.record("monday", "assistant", f"So, {FERRY.upper()}! Noted.", scope=SHOP)
        kit.record("tuesday", "tool", f"{FERRY}\u200b.", scope=PROD)
        kit.record("tuesday", "user", "the ferry to Zanzibar leaves at nineteen", scope=SHOP)
        for proposal in kit.extract("monday", scope=SHOP, extractor=Notes()):
            kit.admit(proposal)
        receipt = kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        assert texts(kit, "monday") == [f"ferry: [forgotten]\nbus: {BUS}", "So, [forgotten]! Noted."]
        assert texts(kit, "tuesday", PROD) == [None, "the ferry to Zanzibar leaves at nineteen"]
        rows = {"revision": (1, 0), "proposal": (1, 0), "evidence": (2, 0), "episode": (3, 0)}
        assert copies(receipt) == rows | {"memory.db": (8, 0)}
        assert receipt.verified
        raw = (tmp_path / "memory.db").read_bytes()
        assert raw.count(b"Zanzibar leaves at nine") == 1, "only in nineteen"
        assert b"ZANZIBAR" not in raw and BUS.encode() in raw
        assert [(check.memory.key, check.verdict) for check in kit.check(scope=SHOP)] == [("bus", "VALID")]


def test_an_erasure_that_skips_the_episodes_is_not_called_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """MemOS #2331, mem0 #3245: another copy survived the delete."""

    def check() -> None:
        with opened() as kit:
            kit.remember("ferry", FERRY, scope=SHOP)
            kit.record("monday", "user", f"You know that {FERRY}.", scope=SHOP)
            receipt = kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
            assert copies(receipt)["episode"] == (1, 0) and receipt.verified and kit.admin.sweep("Zanzibar") == {":memory:": 0}

    check()
    monkeypatch.setattr(unsay, "MASK", "select :text, :id")
    with opened() as kit:
        kit.remember("ferry", FERRY, scope=SHOP)
        kit.record("monday", "user", f"You know that {FERRY}.", scope=SHOP)
        receipt = kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        assert not receipt.verified and copies(receipt)["episode"] == (1, 1)
    assert fails(check)


def test_what_was_quoted_is_masked_however_short_and_a_short_value_only_there() -> None:
    with opened() as kit:
        kit.record("monday", "user", "My shelf is 4471. I live at number 4471.", scope=SHOP)
        kit.record("monday", "user", "Room 4471 is free", scope=SHOP)
        kit.learn("shelf", "4471", scope=SHOP, cite="session:monday/1#quote=shelf is 4471")
        receipt = kit.forget("shelf", scope=SHOP, expected=1, reason="asked")
        assert receipt.verified and copies(receipt)["episode"] == (1, 0)
        assert texts(kit, "monday") == ["My [forgotten]. I live at number 4471.", "Room 4471 is free"]


@pytest.mark.parametrize("cite", ["session:monday/1", "session:monday/1#lines=1-2"])
def test_what_was_cited_whole_is_erased_whole_even_beyond_what_is_kept_as_a_quote(cite: str) -> None:
    with opened() as kit:
        kit.record("monday", "user", "a story: " + "word " * 900 + "\nand it ends well", scope=SHOP)
        kit.learn("story", "it ends well", scope=SHOP, cite=cite)
        assert kit.forget("story", scope=SHOP, expected=1, reason="asked").verified
        assert texts(kit, "monday") == [None]
        with pytest.raises(memkit.NotFound):
            kit.learn("again", "word", scope=SHOP, cite="session:monday/1#quote=word")


def test_another_users_private_session_and_another_tenants_are_left_alone() -> None:
    private = memkit.Scope(user=True)
    with opened(principal=ANN) as kit:
        others = [(kit.acting_as(BOB), private), (kit.acting_as(memkit.Principal(tenant="other", user="ann")), private)]
        for other, scope in [*others, (kit, private), (kit.acting_as(BOB), SHOP)]:
            other.record(f"of {other.principal.tenant} {other.principal.user} {scope}", "user", f"{FERRY}, I say", scope=scope)
        kit.remember("ferry", FERRY, scope=SHOP)
        assert copies(kit.forget("ferry", scope=SHOP, expected=1, reason="asked"))["episode"] == (2, 0)
        for other, scope in others:
            assert texts(other, f"of {other.principal.tenant} {other.principal.user} {scope}", scope) == [f"{FERRY}, I say"]
        assert texts(kit, f"of acme ann {private}", private) == ["[forgotten], I say"] == texts(kit, f"of acme bob {SHOP}")


def test_evidence_of_others_that_quoted_it_falls_and_lets_nothing_be_guessed() -> None:
    text = f"{FERRY}, code 4471-blue"
    with opened() as kit:
        kit.record("monday", "user", text, scope=SHOP)
        kit.remember("ferry", FERRY, scope=SHOP)
        kit.learn("plan", "go to Zanzibar", scope=SHOP, cite=f"session:monday/1#quote={text}")
        kit.learn("whole", "be early", scope=SHOP, cite="session:monday/1")
        kit.learn("code", "4471-blue", scope=SHOP, cite="session:monday/1#quote=4471-blue&before=code")
        kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        verdicts = {check.memory.key: check.verdict for check in kit.check(scope=SHOP)}
        assert verdicts == {"plan": "CHANGED", "whole": "CHANGED", "code": "VALID"}
        with kit.db.read() as tx:
            kept = repr(tx.execute("select * from evidence").fetchall())
        for guess in (text, FERRY):
            assert guess not in kept and hashlib.sha256(guess.encode()).hexdigest() not in kept
        found = kit.recall("Zanzibar early", scope=SHOP, budget=100, recipe=memkit.TFIDF)
        assert found.hits == ()
        assert "words of it were forgotten" in next(skip.why for skip in found.skipped if skip.memory.key == "plan")


def test_a_memory_that_two_episodes_support_survives_the_loss_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """graphiti `remove_episode`: a fact supported by two episodes died with the first."""

    def check() -> None:
        with opened() as kit:
            kit.record("monday", "user", f"Ann says that {FERRY} sharp.", scope=SHOP)
            kit.record("tuesday", "user", "Bob says the Zanzibar ferry is a nine o'clock one.", scope=SHOP)
            cites = [f"session:monday/1#quote=that {FERRY} sharp", "session:tuesday/1#quote=a nine o'clock one"]
            memory = kit.learn("departure", "nine", scope=SHOP, cite=cites, support="any").memory
            assert memory is not None
            for key, value, verdicts, found in (
                ("first", FERRY, ["CHANGED", "VALID"], 1),
                ("second", "the Zanzibar ferry is a nine o'clock one", ["CHANGED", "CHANGED"], 0),
            ):
                kit.remember(key, value, scope=SHOP)
                kit.forget(key, scope=SHOP, expected=1, reason="asked")
                assert [piece.verdict for piece in kit.why(memory).check.evidence] == verdicts
                assert len(kit.recall("departure nine", scope=SHOP, budget=100).hits) == found

    check()
    monkeypatch.setattr(memkit.record.evidence, "best", memkit.record.evidence.worst)
    assert fails(check)


def test_a_request_to_forget_is_itself_forgotten() -> None:
    with opened() as kit:
        kit.remember("locker", "4471-blue", scope=SHOP)
        kit.record("monday", "user", "forget 4471-blue", scope=SHOP)
        (proposal,) = kit.extract("monday", scope=SHOP, extractor=Notes())
        kit.admit(proposal)
        assert kit.admin.sweep("4471-blue")[":memory:"] > 0
        assert kit.forget("locker", scope=SHOP, expected=0, reason="asked").verified
        assert kit.admin.sweep("4471-blue") == {":memory:": 0}


@pytest.mark.parametrize("verb", ["learn", "propose", "again"])
def test_words_that_are_forgotten_between_reading_and_writing_are_not_kept(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The citation is read before the write lock is held; what was read then may hold words that are forgotten by now."""
    cite = f"session:monday/1#quote=says that {FERRY} sharp"

    def check() -> None:
        with opened() as kit:
            kit.record("monday", "user", f"Ann says that {FERRY} sharp.", scope=SHOP)
            kit.remember("ferry", FERRY, scope=SHOP)
            if verb == "again":
                kit.propose("plan", "be early at nine", scope=SHOP)
            read = kit._observed

            def forget_meanwhile(*args: object) -> object:
                found = read(*args)  # type: ignore[arg-type]
                kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
                return found

            with monkeypatch.context() as patch:
                patch.setattr(kit, "_observed", forget_meanwhile)
                told = (kit.learn if verb == "learn" else kit.propose)("plan", "be early at nine", scope=SHOP, cite=cite)
            assert (told.op, told.reason) == ("NOOP", "UNSAID") and FERRY not in repr(told)
            assert kit.admin.sweep("Zanzibar leaves") == {":memory:": 0}
            again = kit.learn("plan", "be early at nine", scope=SHOP, cite="session:monday/1#quote=sharp")
            assert again.op == "ADD" and [piece.verdict for piece in kit.check(scope=SHOP)] == ["VALID"]

    check()
    monkeypatch.setattr(memkit.record.sessions, "as_read", lambda *_: True)
    assert fails(check)


def test_evidence_that_is_a_forgotten_value_joins_no_proposal_that_waits() -> None:
    with memkit.open(sources={"notes.md": f"{FERRY}\n", "plan.md": "be early\n"}) as kit:
        kit.remember("ferry", FERRY, scope=SHOP)
        kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
        waiting = kit.propose("plan", "be early", scope=SHOP, cite="plan.md#quote=be early")
        refused = kit.propose("plan", "be early", scope=SHOP, cite=f"notes.md#quote={FERRY}")
        assert (refused.op, refused.reason, refused.content) == ("NOOP", "TOMBSTONED", None)
        assert kit.inbox(scope=SHOP) == [waiting] and kit.admin.sweep("Zanzibar") == {":memory:": 0}


def test_erasing_one_identifier_leaves_a_longer_one_that_begins_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """inbox-zero PR #2669: erasing alice@ also erased alice.smith@."""

    def check() -> None:
        with opened() as kit:
            kit.record("monday", "user", "ticket number TKT-100 is mine, ticket number TKT-1000 is not", scope=SHOP)
            kit.remember("mine", "ticket number TKT-100", scope=SHOP)
            assert kit.forget("mine", scope=SHOP, expected=1, reason="asked").verified
            assert texts(kit, "monday") == ["[forgotten] is mine, ticket number TKT-1000 is not"]

    check()
    monkeypatch.setattr(masking, "joined", lambda text, at: False)
    assert fails(check)


def test_feeding_the_session_again_and_running_every_job_brings_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """openclaw #90466: the job ingested what was named as deleted; here an episode that was forgotten, and one the model never saw."""

    def check() -> None:
        with opened() as kit:
            kit.record("monday", "user", f"ferry: {FERRY}", scope=SHOP)
            kit.record("monday", "tool", "secret: never shown to the model", scope=SHOP, visible=False)
            kit.remember("ferry", FERRY, scope=SHOP)
            kit.forget("ferry", scope=SHOP, expected=1, reason="asked")
            kit.record("monday", "user", f"ferry: {FERRY}\nbus: {BUS}", scope=SHOP)
            for _ in range(3):
                kit.extract("monday", scope=SHOP, extractor=Notes())
                kit.flush("monday", 0, scope=SHOP, extractor=Notes())
                kit.reextract("monday", scope=SHOP, extractor=Notes())
            assert [(one.key, one.content) for one in kit.inbox(scope=SHOP)] == [("bus", BUS)]

    check()
    monkeypatch.setattr(tombstone, "buried_under", lambda tx, tenant, found: [])
    assert fails(check)
