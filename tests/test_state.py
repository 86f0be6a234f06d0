"""record/state.py and govern/steps.py: task state, looked up by name and never searched."""

from __future__ import annotations

from pathlib import Path

import pytest

import memkit
from memkit.read import follow

SHOP = memkit.Scope(workspace="shop")
OTHER = memkit.Scope(workspace="other")


def test_a_plan_is_never_reported_as_done() -> None:
    with memkit.open(sources={"report.json": '{"passed": true}'}) as kit:
        kit.state.plan("step 1", "write the patch", scope=SHOP)
        state = kit.state.get("step 1", scope=SHOP)
        assert state is not None and (state.phase, state.proof) == ("PLANNED", ())
        with pytest.raises(memkit.Refused, match="use plan"):
            kit.state.done("step 1", "patch written", scope=SHOP, proof=[])
        with pytest.raises(memkit.BadLocator):
            kit.state.done("step 1", "patch written", scope=SHOP, proof="report.json#key=missing")
        assert kit.state.get("step 1", scope=SHOP) == state
        done = kit.state.done("step 1", "patch written, tests pass", scope=SHOP, proof="report.json#key=passed")
        assert kit.state.get("step 1", scope=SHOP) == done and done.phase == "DONE"


def test_state_is_exact_in_name_and_scope() -> None:
    with memkit.open() as kit:
        kit.state.plan("branch", "feature/pay", scope=SHOP)
        assert kit.state.get("Branch", scope=SHOP) is None and kit.state.get("branc", scope=SHOP) is None
        assert kit.state.get("branch", scope=OTHER) is None
        assert kit.acting_as(memkit.Principal(tenant="other")).state.get("branch", scope=SHOP) is None
        kit.state.plan("branch", "main", scope=SHOP)
        state = kit.state.get("branch", scope=SHOP)
        assert state is not None and state.value == "main"


def test_asking_for_state_never_touches_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    def poisoned(*_: object) -> None:
        raise AssertionError("the index was touched")

    with memkit.open() as kit:
        kit.remember("branch", "the branch is feature/pay", scope=SHOP)
        kit.state.plan("branch", "main", scope=SHOP)
        assert [hit.memory.key for hit in kit.recall("main branch", scope=SHOP, budget=100).hits] == ["branch"]
        monkeypatch.setattr(follow.Index, "partitions", poisoned)
        state = kit.state.get("branch", scope=SHOP)
        assert state is not None and state.value == "main"
        with pytest.raises(AssertionError, match="touched"):
            kit.recall("branch", scope=SHOP, budget=100)


def test_after_a_restart_each_step_is_compared_with_the_world(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (root / name).write_text("written\n")
    with memkit.open(tmp_path / "memory.db", root=root) as kit:
        for name in ("a", "b", "c"):
            kit.state.done(name, f"{name} is written", scope=SHOP, proof=f"{name}.txt")
        kit.state.plan("d", "write d", scope=SHOP, proof="d.txt")
        kit.state.plan("e", "write e", scope=SHOP, proof="e.txt")
    (root / "b.txt").write_text("something else\n")
    (root / "c.txt").unlink()
    (root / "d.txt").write_text("written, but the process died before it said so\n")
    with memkit.open(tmp_path / "memory.db", root=root) as kit:
        found = {result.state.name: (result.state.phase, result.repeat) for result in kit.state.reconcile(scope=SHOP)}
        assert found == {
            "a": ("DONE", False),
            "b": ("PLANNED", None),
            "c": ("PLANNED", True),
            "d": ("PLANNED", None),
            "e": ("PLANNED", True),
        }
        state = kit.state.get("c", scope=SHOP)
        assert state is not None and state.phase == "PLANNED" and state.awaited == ("c.txt",)
        assert [event.reason for event in kit.events(scope=SHOP)].count("PROOF_LOST") == 2


def test_state_is_redacted_and_checked() -> None:
    token = "gh" + "p_" + "a1B2" * 9
    with memkit.open() as kit:
        state = kit.state.plan("login", f"use {token}", scope=SHOP)
        assert token not in state.value and state.name == "login"
        with pytest.raises(memkit.Refused):
            kit.state.plan(token, "x", scope=SHOP)
        with pytest.raises(memkit.Refused):
            kit.state.plan("x", "y", scope=SHOP, proof=f"a.txt#quote={token}")
        with pytest.raises(memkit.BadScope):
            kit.state.plan("x", "y", scope=None)  # type: ignore[arg-type]
        assert kit.admin.sweep(token) == {":memory:": 0}


@pytest.mark.parametrize(
    ("value", "proof", "error"),
    [
        ("x", 3, memkit.BadLocator),
        ("x", [None], memkit.BadLocator),
        ("x", "a.txt#key=", memkit.BadLocator),
        ("x", "../a.txt", memkit.UnsafePath),
        ("x", ["a.txt"] * 51, memkit.Refused),
        ("x" * 20_001, "a.txt", memkit.Refused),
        ("\ud800", "a.txt", memkit.Refused),
        (3, "a.txt", memkit.Refused),
    ],
)
def test_what_could_never_be_kept_or_cited_is_refused_when_it_is_planned(value: str, proof: str, error: type[Exception]) -> None:
    with memkit.open(sources={"a.txt": "x"}) as kit:
        with pytest.raises(error):
            kit.state.plan("step", value, scope=SHOP, proof=proof)
        with pytest.raises(error):
            kit.state.done("step", value, scope=SHOP, proof=proof)
        assert kit.state.get("step", scope=SHOP) is None
        assert kit.state.plan("step", "x", scope=SHOP, proof="later.txt").awaited == ("later.txt",)
