"""The scope map without a browser: what it shows is what recall does, and everything hostile is shown as text."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from IPython.core.events import EventManager
from maps import BLOG, BO, FEATURE, ME, MINE, PEOPLE, PLACES, PROD, QUESTION, SHOP, TEST, map_kit
from views import Reader

import memkit
from memkit.errors import BadScope, NotFound, Refused
from memkit.record.scope import Scope
from memkit.widgets.markup import LIVE, STATIC
from memkit.widgets.scope_map import ScopeMap

BUILD = {scope: ("build", scope.stored(ME)) for scope in (SHOP, BLOG, PROD, FEATURE)}


@pytest.fixture
def kit():
    with map_kit() as found:
        yield found


@pytest.fixture
def atlas(kit):
    found = ScopeMap(kit, PLACES, people=PEOPLE, query=QUESTION, watch=False)
    yield found
    found.close()


def visible(atlas: ScopeMap) -> list[tuple[str, str]]:
    return [name for name, stand in atlas.stands.items() if stand == "VISIBLE"]


# --- what is visible from where


def test_it_starts_in_the_first_place_and_shows_every_memory_of_all_places(atlas):
    assert atlas.stands == {
        ("build", "workspace=blog"): "ELSEWHERE",
        ("build", "workspace=shop"): "VISIBLE",
        ("build", "branch=feature%2Fpay&workspace=shop"): "ELSEWHERE",
        ("build", "env=prod&workspace=shop"): "ELSEWHERE",
        ("reply", "user=bo&workspace=shop"): "ELSEWHERE",
        ("reply", "user=me&workspace=shop"): "ELSEWHERE",
        ("restart", "env=prod"): "ELSEWHERE",
    }
    assert "1 of 7 memories visible, 6 not applicable." in atlas.status.value
    assert "me asks from workspace=shop." in atlas.status.value
    assert atlas.strings == ["workspace=shop"]


def test_choosing_an_environment_shows_the_narrow_one_and_hides_the_wide_one(atlas):
    atlas.named["env"].value = "prod"
    assert visible(atlas) == [BUILD[PROD], ("restart", "env=prod")]
    assert atlas.stands[BUILD[SHOP]] == "HIDDEN"
    assert "env=prod&amp;workspace=shop has its own value for this key" in atlas.table.value
    assert atlas.strings == ["env=prod&workspace=shop", "env=prod", "workspace=shop"]
    assert "HIDDEN_BY_NARROWER" in atlas.recalled.value
    atlas.named["env"].value = "test"
    assert visible(atlas) == [BUILD[SHOP]]
    assert "env is test here, not prod" in atlas.table.value
    assert atlas.error == ""


def test_two_that_are_neither_wider_nor_narrower_are_marked_in_the_table_and_in_the_recall(atlas):
    atlas.look_from(PROD)
    assert "⇄" not in atlas.table.value + atlas.recalled.value
    atlas.named["branch"].value = "feature/pay"
    assert visible(atlas)[:2] == [BUILD[FEATURE], BUILD[PROD]]
    assert len(atlas.strings) == 7
    assert atlas.table.value.count("⇄ has a rival") == 2
    assert atlas.recalled.value.count("⇄ 1<") == 2


def test_whose_it_is_comes_from_who_asks(atlas):
    atlas.mine.value = True
    assert ("reply", "user=me&workspace=shop") in visible(atlas)
    assert ("reply", "user=bo&workspace=shop") not in visible(atlas)
    atlas.person.value = "bo"
    assert ("reply", "user=me&workspace=shop") not in visible(atlas)
    assert ("reply", "user=bo&workspace=shop") in visible(atlas)
    assert "user is bo here, not me" in atlas.table.value
    atlas.mine.value = False
    assert not [key for key, _ in visible(atlas) if key == "reply"]


def test_a_place_with_every_dimension_looks_up_31_strings_and_folds_them(atlas):
    atlas.look_from(Scope(user=True, workspace="shop", branch="feature/pay", env="prod", session="s-1"))
    assert len(atlas.strings) == len(set(atlas.strings)) == 31
    assert "31 exact strings are looked up" in atlas.lookups.value
    assert "<details>" in atlas.lookups.value
    atlas.look_from(PROD)
    assert "<details open>" in atlas.lookups.value


@pytest.mark.parametrize("name", ["sho", "shop2", "SHOP", "shop&env=prod", "shop%26", "商店"])
def test_a_typed_name_matches_exactly_or_not_at_all(atlas, name):
    atlas.which.value, atlas.typed.value = "workspace", name
    atlas.use.click()
    assert (atlas.error, atlas.named["workspace"].value, visible(atlas)) == ("", name, [])
    atlas.named["workspace"].value = "shop"
    assert visible(atlas) == [BUILD[SHOP]]


# --- saying no


def test_without_a_dimension_the_error_is_in_view_and_nothing_is_looked_up(atlas):
    atlas.named["workspace"].value = ""
    assert isinstance(atlas.failure, BadScope)
    assert "names no dimension" in atlas.error_area.value
    assert (atlas.stands, atlas.strings, atlas.recall) == ({}, [], None)
    assert "No scope: nothing is looked up." in atlas.status.value
    assert "make." not in atlas.table.value + atlas.recalled.value
    assert atlas.call == "memkit.Scope()"
    atlas.mine.value = True
    assert (atlas.error, atlas.strings) == ("", ["user=me"])


def test_a_name_that_cannot_be_one_is_refused_in_view_and_the_map_stays(atlas):
    for name in ("  ", "a\u0007b", "x" * 201):
        atlas.typed.value = name
        atlas.use.click()
        assert isinstance(atlas.failure, BadScope)
        assert visible(atlas) == [BUILD[SHOP]]
    atlas.named["env"].value = "prod"
    assert atlas.error == ""


def test_what_cannot_be_shown_is_said(atlas, kit):
    with pytest.raises(NotFound, match="nobody 'eve'"):
        atlas.become("eve")
    with pytest.raises(Refused, match="pass at least one"):
        ScopeMap(kit, {})
    assert atlas.who == "me"


# --- the calls


def test_the_calls_shown_can_be_run_and_give_what_is_shown(atlas, kit):
    names = {"kit": kit, "memkit": memkit, **PLACES, **PEOPLE}
    for change in (lambda: atlas.look_from(PROD), lambda: atlas.become("bo"), lambda: atlas.look_from(Scope(env="a'b", user=True))):
        change()
        visible_call, recall_call = atlas.call.splitlines()
        assert eval(visible_call, names) == atlas.strings
        assert eval(recall_call, names) == atlas.recall
    atlas.become("me")
    atlas.look_from(TEST)
    assert atlas.call == f"test.visible(kit.principal)\nkit.recall({QUESTION!r}, scope=test, budget=200)"
    atlas.question.value = " "
    assert (atlas.call, atlas.recall) == ("test.visible(kit.principal)", None)
    assert "Ask something" in atlas.recalled.value


def test_budget_and_question_reach_recall(atlas):
    atlas.tokens.value = 0
    assert atlas.recall.hits == ()
    assert "OVER_BUDGET" in atlas.recalled.value
    atlas.look_from(MINE)
    atlas.become("bo")
    atlas.tokens.value = 100
    atlas.question.value = "回复"
    assert [hit.memory.content for hit in atlas.recall.hits] == ["回复请用中文。"]


# --- living


def test_it_follows_what_a_cell_wrote_and_keeps_where_one_stands(atlas, kit):
    atlas.look_from(PROD)
    kit.rescope("build", scope=FEATURE, to=Scope(workspace="shop", branch="main"), expected=1)
    atlas._look_again()
    assert ("build", "branch=feature%2Fpay&workspace=shop") not in atlas.stands  # no place of the map sees it any more
    kit.remember("reply", "Short.", scope=SHOP)
    kit.remember("build", "Build it in Berlin.", scope=Scope(workspace="shop", env="prod", user=True))
    atlas.refresh()
    assert atlas.stands["reply", "workspace=shop"] == "VISIBLE"
    assert (atlas.named["env"].value, atlas.named["workspace"].value) == ("prod", "shop")


def test_it_looks_again_after_each_cell_until_it_is_closed(kit, monkeypatch):
    events = EventManager(None, {"post_run_cell": lambda result: None})
    monkeypatch.setattr("memkit.widgets.follow.get_ipython", lambda: SimpleNamespace(events=events))
    atlas = ScopeMap(kit, PLACES)
    kit.rescope("build", scope=FEATURE, to=TEST, expected=1)
    assert ("build", TEST.stored(ME)) not in atlas.stands
    events.trigger("post_run_cell", None)
    assert atlas.stands["build", TEST.stored(ME)] == "ELSEWHERE"
    atlas.close()
    assert events.callbacks["post_run_cell"] == []


def test_a_closed_store_ends_the_following_without_an_error():
    kit = map_kit()
    atlas = ScopeMap(kit, PLACES, watch=False)
    kit.close()
    atlas.guard(atlas._look_again)
    assert atlas.error == ""
    atlas.close()


def test_running_the_cell_again_closes_the_former_map(kit):
    first = ScopeMap(kit, PLACES, watch=False)
    second = ScopeMap(kit, PLACES, watch=False)
    assert (first._closed, second._closed) == (True, False)
    second.close()


# --- the view without a kernel


def test_the_snapshot_survives_a_sanitiser_and_says_everything_in_words(atlas):
    atlas.look_from(PROD)
    bundle = atlas._repr_mimebundle_()
    reader = Reader()
    reader.feed(bundle["text/html"])
    assert reader.open == []
    assert reader.seen <= {"div", "b", "span", "code", "pre", "table", "tr", "th", "td", "details", "summary"}
    assert {name for name, _ in reader.attributes} <= {"style", "title", "open"}
    styles = " ".join(value for name, value in reader.attributes if name == "style")
    assert "var(" not in styles
    for words in ("hidden by a narrower one", "not applicable", "visible", "3 exact strings are looked up", "kit.recall("):
        assert words in bundle["text/html"]
    assert bundle["text/plain"].splitlines()[0] == (
        "me in env=prod, workspace=shop: 2 of 7 memories visible, 1 hidden by a narrower one, 4 not applicable."
    )


def test_hostile_text_and_names_are_shown_as_text(kit):
    attack = '<img src=x onerror="alert(1)">'
    scope = Scope(workspace=attack)
    kit.remember(attack, f"reply {attack}\u202e", scope=scope)
    atlas = ScopeMap(kit, {"here": scope}, query=attack, watch=False)
    for shown in (
        atlas.snapshot(),
        atlas.table.value,
        atlas.status.value,
        atlas.lookups.value,
        atlas.recalled.value,
        atlas.call_area.value,
    ):
        assert "<img" not in shown and "\u202e" not in shown
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in atlas.table.value
    assert atlas.recall.hits
    atlas.close()


def test_a_secret_in_a_question_or_a_name_is_not_kept_in_the_snapshot(atlas):
    secret = "ghp_" + "Ab3dEf6h" * 4 + "Zz19"
    atlas.ask(f"log in with {secret}")
    atlas.use_name("session", secret)
    assert secret in atlas.call
    assert secret not in atlas.snapshot() + atlas.as_text()
    assert "[redacted:" in atlas.snapshot()


def test_live_and_static_views_differ_in_paint_alone(atlas):
    from_live = re.sub(r' style="[^"]*"', "", atlas.table.value)
    assert from_live in re.sub(r' style="[^"]*"', "", atlas.snapshot())
    assert LIVE.text not in atlas.snapshot()
    assert STATIC.text in atlas.snapshot()
    assert BO.user in atlas.snapshot()
