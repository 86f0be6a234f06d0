"""The view of a context and the arena as panels, without a browser: what is done, what is shown, and what stays out of HTML."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import memkit
from memkit.lab import arena, clock, ids
from memkit.widgets.arena import Arena
from memkit.widgets.context import ContextView
from memkit.widgets.markup import esc

SHOP, ME = memkit.Scope(workspace="shop"), memkit.Scope(user=True)
MINE = memkit.Scope(workspace="shop", user=True)


@pytest.fixture
def kit() -> Iterator[memkit.Kit]:
    with memkit.open(clock=clock("2026-03-02T09:00+00:00"), ids=ids()) as kit:
        kit.remember("theme", "I like dark themes", scope=ME)
        kit.remember("deploy", "deploy with make, 部署用 make", scope=SHOP, kind="fact")
        yield kit


def panel(kit: memkit.Kit, **given) -> ContextView:
    return ContextView(kit, scope=MINE, query="deploy", prefix="You help.", rules=["Be kind."], **given)


def test_each_layer_stands_under_its_name_with_role_and_size(kit):
    view = panel(kit, goal="ship", tool_results=["ls: ok"])
    heads = [
        "stable prefix · as system · 9 bytes",
        "rules · as system",
        "memory snapshot · as user",
        "goal · as user",
        "tool result · as tool",
    ]
    for html in (view.layers.value, view.snapshot()):
        assert [head for head in [*heads, "recalled memories · as user"] if head not in html] == []
    assert view.as_text().splitlines()[0].startswith("Context view. 6 layers. Memory takes ") and "first context" in view.cached.value


def test_the_bytes_that_are_shown_are_those_of_the_context(kit):
    view = panel(kit)
    for layer in view.context.layers:
        assert esc(layer.text) in view.snapshot()


def test_a_correction_says_what_the_cache_keeps_and_can_be_pasted(kit):
    view = panel(kit)
    view.key.value, view.content.value = "theme", "I like light themes"
    view.correcting.click()
    assert (view.error, view.stable.layers, view.stable.changed) == ("", ("prefix", "rules"), "snapshot")
    assert "A prefix cache keeps stable prefix, rules" in view.cached.value and "computed again" in view.layers.value
    assert view.call.splitlines()[0] == (
        "kit.remember('theme', 'I like light themes', scope=memkit.Scope(user=True), expected=1, kind='preference')"
    )
    assert kit.current("theme", scope=ME).content == "I like light themes" and view.content.value == ""
    view.again.click()
    assert "Not a byte differs" in view.cached.value and "kept by the cache" in view.layers.value


def test_every_control_asks_again_and_every_look_is_audited(kit):
    view = panel(kit)
    numbers = [view.context.audit_id]
    for control, value in ((view.query, "nothing of the kind"), (view.form, "xml"), (view.budget, 0)):
        control.value = value
        numbers.append(view.context.audit_id)
    assert numbers == [1, 2, 3, 4] and view.context.text.count("memkit-memory") == 0 and view.key.options == ()
    assert "kit.context('nothing of the kind', scope=memkit.Scope(workspace='shop', user=True), budget=0, form='xml', **given)" in view.call


def test_a_correction_of_nothing_is_refused_in_view_and_the_panel_goes_on(kit):
    view = panel(kit)
    view.correcting.click()
    assert "choose a memory" in view.error and 'role="alert"' in view.error_area.value
    kit.remember("theme", "I like grey themes", scope=ME, expected=1)
    view.content.value = "light"
    view.key.value = "theme"
    view.correcting.click()
    assert view.error.startswith("Conflict: ")
    view.again.click()
    view.correcting.click()
    assert view.error == "" and kit.current("theme", scope=ME).content == "light"


def test_what_was_skipped_and_warned_of_is_said(kit):
    view = panel(kit)
    view.budget.value = 130
    assert "Skipped deploy: OVER_BUDGET" in view.left_out.value and "OVER_BUDGET" in view.snapshot()


def test_an_attack_is_tried_under_each_defence_and_the_worst_is_shown():
    panel = Arena()
    assert [trial.verdict for trial in panel.trials] == ["OUTSIDE", "OUTSIDE", "RECORD", "HELD"]
    assert "It breaks (OUTSIDE)" in panel.verdict.value and panel.call == "lab.arena.tried('fixed marks', text)"
    panel.defence.value = "memkit"
    assert "It holds" in panel.verdict.value and "after the block" in panel.prompt.value
    assert "memkit: HELD" in panel.as_text()


def test_a_memory_of_ones_own_and_one_from_the_list_can_enter():
    panel = Arena("honest <script>alert(1)</script>\u202e")
    assert panel.chosen.value is None and "<script>" not in panel.snapshot() + panel.prompt.value and "[U+202E]" in panel.snapshot()
    panel.chosen.value = next(label for label in panel.chosen.options if "一" in label)
    assert panel.text.value == panel.texts[panel.chosen.value]
    panel.text.value = "  "
    assert "the memory is empty" in panel.error
    panel.text.value = "make"
    assert panel.error == "" and {trial.verdict for trial in panel.trials} == {"HELD"}


def test_the_counts_are_those_of_the_lab():
    panel = Arena("make")
    assert panel.rates.value == ""
    panel.counting.click()
    assert panel.rows == arena.measure() and "5%" in panel.rates.value and arena.as_table(panel.rows) in panel.as_text()
    assert "does not make a model disregard" in panel.snapshot() and panel.call == "lab.arena.measure()"


def test_snapshots_survive_a_sanitiser(kit):
    for shown in (panel(kit).snapshot(), Arena().snapshot()):
        assert [bad for bad in ("<style", "var(", "role=", "aria-", " id=", "<svg") if bad in shown] == []


def test_a_secret_that_is_typed_or_handed_over_is_not_kept_in_the_snapshot(kit):
    secret = "ghp_" + "Ab3dEf6h" * 4 + "Zz19"
    view = ContextView(
        kit, scope=MINE, query=f"deploy with {secret}", prefix=secret, goal=f"log in with {secret}", session=[("user", secret)]
    )
    view.correct("theme", f"dark, {secret}")
    assert secret in view.context.text and secret not in view.call
    assert secret not in view.snapshot() + view.as_text() and "memory snapshot" in view.snapshot()


def test_a_large_budget_is_neither_cut_nor_shown_as_another() -> None:
    with memkit.open() as kit:
        panel = ContextView(kit, scope=memkit.Scope(workspace="shop"), query="x", budget=3_000_000)
        assert panel.budget.value == 3_000_000 and "budget=3000000" in panel.call.replace("_", "")
        panel.close()


def test_the_live_view_masks_what_a_person_typed_too() -> None:
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    with memkit.open() as kit:
        panel = ContextView(kit, scope=memkit.Scope(workspace="shop"), query="x", goal=f"use {secret}")
        assert secret not in panel.layers.value + panel.call + panel.call_area.value
        assert "[redacted:" in panel.layers.value
        panel.close()
