"""The door: whatever a verb is given, it takes it, or says no in memkit's own words and leaves the record as it was."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import memkit
from memkit.write.extract import Extracted, Extraction, NotKept
from memkit.write.fuse import Fuse
from memkit.write.plan import tidy

SHOP, PROD = memkit.Scope(workspace="shop"), memkit.Scope(workspace="shop", env="prod")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TIMES = dict.fromkeys(("valid_from", "valid_to", "review_at", "expires_at"))


class Touchy:
    """What can be neither hashed nor compared nor asked whether it is true, like an array of numbers."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    def __bool__(self) -> bool:
        raise RuntimeError("asked for its truth")


WRONG: list[object] = [
    None, 5, -1, 7.5, float("nan"), True, "x", "", "\ud800", b"x", [], [5], ["x"], [["x"]], {}, {"a": 1}, set(), (), (1, 2),
    2**80, object(), Touchy(), SHOP, NOON.replace(tzinfo=None), iter("ab"), int, lambda *given: None,
]  # fmt: skip


def opened() -> memkit.Kit:
    kit = memkit.open(sources={"a.cfg": "x=1"}, clock=lambda: NOON)
    kit.record("s", "user", "We use pnpm.", scope=SHOP)
    kit.remember("k", "v", scope=SHOP)
    return kit


def calls(kit: memkit.Kit) -> dict[str, dict[str, Any]]:
    """Return for each verb arguments that it takes."""
    memory, proposal = kit.current("k", scope=SHOP), kit.propose("q", "w", scope=SHOP)
    words = {"query": "v", "scope": SHOP, "budget": 300, "limit": None, "recipe": None}
    kept = {"task": None, "verification": None}
    around = {
        "rules": (),
        "prefix": "",
        "goal": "",
        "session": (),
        "tool_results": (),
        "form": "text",
        "profile_quota": 500,
        "window": None,
    }
    return {
        "record": {"session": "s", "role": "user", "text": "hi", "scope": SHOP, "visible": True, "trusted": None},
        "episodes": {"session": "s", "scope": SHOP, "after": 0},
        "extract": {"session": "s", "scope": SHOP, "extractor": None},
        "flush": {"session": "s", "tokens_left": 5_000, "scope": SHOP, "threshold": 4_000, "extractor": None},
        "reextract": {"session": "s", "scope": SHOP, "extractor": None, "progress": None},
        "remember": {"key": "a", "content": "v", "scope": SHOP, "expected": 0, "kind": "fact"} | kept | TIMES,
        "learn": {"key": "b", "content": "x is 1", "scope": SHOP, "cite": "a.cfg#key=x", "support": "all", "expected": 0, "kind": "fact"}
        | kept | TIMES | {"second_hand": False},
        "propose": {"key": "c", "content": "v", "scope": SHOP, "kind": "inference", "confidence": 0.5, "cite": (), "expires_at": None}
        | kept | {"second_hand": False},
        "rescope": {"key": "k", "scope": SHOP, "to": PROD, "expected": 1},
        "inbox": {"scope": SHOP, "status": "PENDING"},
        "admit": {"proposal": proposal},
        "reject": {"proposal": proposal, "why": ""},
        "consolidate": {"scope": SHOP, "dry_run": False, "planner": tidy, "fuse": Fuse(), "progress": None},
        "is_due": {"scope": SHOP},
        "current": {"key": "k", "scope": SHOP},
        "history": {"key": "k", "scope": SHOP},
        "as_of": {"when": NOON, "scope": SHOP, "known_at": None},
        "events": {"scope": SHOP, "key": None, "after": 0},
        "check": {"scope": SHOP},
        "affected": {"source": "a.cfg", "scope": SHOP},
        "why": {"memory": memory},
        "recall": words,
        "warm": {"scope": SHOP, "progress": None},
        "context": words | around,
        "replay": {"audit_id": kit.context("v", scope=SHOP, budget=300).audit_id},
        "confirm": {"memory": memory, "episode": None},
        "contradict": {"memory": memory, "why": "no", "episode": None},
        "forget": {"key": "k", "scope": SHOP, "expected": 1, "reason": "r"},
        "restore_right": {"key": "k", "scope": SHOP, "reason": "r"},
        "acting_as": {"principal": kit.principal},
        "state.plan": {"name": "n", "value": "v", "scope": SHOP, "proof": ()},
        "state.done": {"name": "n", "value": "v", "scope": SHOP, "proof": "a.cfg#key=x"},
        "state.get": {"name": "n", "scope": SHOP},
        "state.reconcile": {"scope": SHOP},
        "admin.sweep": {"text": "v"},
    }  # fmt: skip


def verb(kit: memkit.Kit, name: str) -> Callable[..., object]:
    owner, _, rest = name.rpartition(".")
    return getattr(getattr(kit, owner) if owner else kit, rest)  # type: ignore[no-any-return]


def kept(kit: memkit.Kit) -> list[str]:
    """Return the whole record but the leases and the log of failures: those say only that a job was tried."""
    lines = kit.db._connection.iterdump()
    return [line for line in lines if '"lease"' not in line and "'FAILED'" not in line]


with opened() as _kit:
    EVERY = sorted((name, argument) for name, given in calls(_kit).items() for argument in given)


def test_every_verb_and_every_argument_of_it_is_tried() -> None:
    kit = opened()
    public = [name for name, _ in inspect.getmembers(memkit.Kit, inspect.isfunction) if not name.startswith("_")]
    below = [f"{room}.{name}" for room in ("state", "admin") for name in dir(getattr(kit, room)) if not name.startswith("_")]
    tried = calls(kit)
    assert set(tried) == {*public, *below} - {"close", "admin.rebuild"}
    for name, given in tried.items():
        assert set(inspect.signature(verb(kit, name)).parameters) == set(given)


@pytest.mark.parametrize(("name", "argument"), EVERY)
def test_a_wrong_argument_is_taken_or_refused_and_never_half_written(name: str, argument: str) -> None:
    kit = given = before = None
    for wrong in WRONG:
        if argument in ("planner", "progress") and callable(wrong):
            continue  # it is called, and what it raises is its own
        if kit is None:
            kit = opened()
            given, before = calls(kit)[name], kept(kit)
        try:
            verb(kit, name)(**{**given, argument: wrong})
            kit = None  # type: ignore[assignment]
        except memkit.MemkitError as error:
            assert len(str(error)) >= 20
            assert kept(kit) == before


@pytest.mark.parametrize(
    ("name", "wrong", "reason"),
    [
        ("consolidate", {"planner": 5}, "BAD_PLANNER"),
        ("consolidate", {"planner": lambda seen: None}, "BAD_PLAN"),
        ("consolidate", {"fuse": 7}, "BAD_FUSE"),
        ("consolidate", {"dry_run": "no"}, "BAD_DRY_RUN"),
        ("learn", {"second_hand": 1}, "BAD_SECOND_HAND"),
        ("propose", {"second_hand": ()}, "BAD_SECOND_HAND"),
        ("record", {"role": []}, "BAD_ROLE"),
        ("record", {"text": 5}, "EMPTY_TEXT"),
        ("record", {"session": {}}, "EMPTY_SESSION"),
        ("state.get", {"name": []}, "EMPTY_KEY"),
        ("confirm", {"memory": []}, "BAD_MEMORY"),
    ],
)
def test_what_was_wrong_is_named(name: str, wrong: dict[str, object], reason: str) -> None:
    with opened() as kit, pytest.raises(memkit.Refused, match="; (pass|return) ") as error:
        verb(kit, name)(**(calls(kit)[name] | wrong))
    assert error.value.reason == reason


@pytest.mark.parametrize("name", ["admit", "reject"])
@pytest.mark.parametrize("wrong", [True, [1], {}, "1", None])
def test_what_is_no_proposal_is_not_found(name: str, wrong: object) -> None:
    with opened() as kit:
        assert calls(kit)["admit"]["proposal"].id == 1
        with pytest.raises(memkit.NotFound, match="kit.inbox"):
            verb(kit, name)(wrong)


def found(**but: Any) -> Extracted:
    given = {"key": "k2", "content": "We use pnpm", "kind": memkit.Kind.FACT, "confidence": 0.9, "episode": 1} | but
    return Extracted(**{"quote": "We use pnpm", "subject": "it"} | given)


BY_ITEM = ("kind", "confidence")  # what a model may get wrong: that candidate alone is refused
FORMS = [name for name in inspect.signature(Extracted).parameters if name not in BY_ITEM]
WRONG_PARTS = [("also", (("x", 1),)), ("also", (5,)), ("flags", (5,)), ("flags", ("\ud800",))]


@pytest.mark.parametrize(
    ("part", "wrong"),
    [*WRONG_PARTS, *((name, wrong) for name in FORMS for wrong in (Touchy(), 7.5, [], b"x"))],
)
def test_a_candidate_of_another_form_cannot_be_made_and_nothing_is_kept(part: str, wrong: object) -> None:

    class Careless:
        def extract(self, said: object) -> Extraction:
            return Extraction((found(), found(**{part: wrong})))

    with opened() as kit:
        before = kept(kit)
        with pytest.raises(memkit.Refused, match="; pass ") as error:
            kit.extract("s", scope=SHOP, extractor=Careless())
        assert error.value.reason == "BAD_EXTRACTION" and kept(kit) == before


@pytest.mark.parametrize(("part", "wrong"), [(name, wrong) for name in BY_ITEM for wrong in (Touchy(), 7.5, [], b"x", None, "x")])
def test_a_candidate_of_another_kind_or_confidence_is_refused_alone(part: str, wrong: object) -> None:

    class Careless:
        def extract(self, said: object) -> Extraction:
            return Extraction((found(**{part: wrong}), found()))

    with opened() as kit:
        first, *_ = kit.extract("s", scope=SHOP, extractor=Careless())
        assert (first.id, first.reason) == (0, f"BAD_{part.upper()}")
        assert [waits.content for waits in kit.inbox(scope=SHOP) if waits.key == "k2"] == ["We use pnpm"]


@pytest.mark.parametrize("returned", [None, [], (), 5, "x", {}, Touchy(), Extraction, [found()], iter(())])
def test_an_extractor_that_returns_something_else_is_refused_and_nothing_is_kept(returned: object) -> None:
    class Careless:
        def extract(self, said: object) -> object:
            return returned

    with opened() as kit:
        before = kept(kit)
        with pytest.raises(memkit.Refused, match="the extractor returned .*; return an Extraction") as error:
            kit.extract("s", scope=SHOP, extractor=Careless())  # type: ignore[arg-type]
        assert error.value.reason == "BAD_EXTRACTION" and kept(kit) == before


@pytest.mark.parametrize("parts", [{"candidates": [found()]}, {"candidates": (5,)}, {"refused": (found(),)}, {"refused": None}])
def test_an_extraction_holds_candidates_and_refusals_alone(parts: dict[str, Any]) -> None:
    with pytest.raises(memkit.Refused, match="; pass "):
        Extraction(**parts)
    with pytest.raises(memkit.Refused, match="start of NotKept"):
        NotKept(1, "0", 2, "OUTPUT", "it is")  # type: ignore[arg-type]


def test_what_an_extractor_raises_is_passed_on_and_nothing_is_kept() -> None:
    class Broken:
        def extract(self, said: object) -> Extraction:
            raise KeyError("its own")

    with opened() as kit:
        before = kept(kit)
        with pytest.raises(KeyError, match="its own"):
            kit.extract("s", scope=SHOP, extractor=Broken())
        assert kept(kit) == before


@pytest.mark.parametrize("part", ["percent", "least", "window", "patience"])
@pytest.mark.parametrize("wrong", [None, "25", 2.5, Touchy()])
def test_a_fuse_of_another_form_cannot_be_made(part: str, wrong: object) -> None:
    assert replace(Fuse(), percent=10, window=timedelta(1))
    with pytest.raises(memkit.Refused, match=f"{part} of Fuse is .*; pass ") as error:
        Fuse(**{part: wrong})  # type: ignore[arg-type]
    assert error.value.reason == "BAD_FUSE"


@pytest.mark.parametrize("wrong", [{"leave": 5}, {"leave": [["email"]]}, {"refuse": 1}])
def test_a_policy_of_another_form_cannot_be_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(memkit.Refused) as error:
        memkit.RedactionPolicy(**wrong)
    assert error.value.reason == "BAD_POLICY"


def test_sources_that_are_no_dict_are_refused_when_the_store_is_opened() -> None:
    with pytest.raises(memkit.Refused, match="pass a dict of names and texts"):
        memkit.open(sources=5)  # type: ignore[arg-type]
