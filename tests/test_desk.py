"""The source desk without a browser: exactly the right memories fall, and everything hostile is shown as text."""

from __future__ import annotations

import asyncio
import hashlib
import html.parser
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from desks import NOON, PROD, SCOPES, SHOP, TEST, filled, shop_kit, workspace
from ipywidgets.widgets.widget import _instances
from views import walk

import memkit
from memkit.errors import Conflict, NotFound, Refused
from memkit.widgets.desk import SourceDesk
from memkit.widgets.markup import esc, plain

ROOT = Path(__file__).resolve().parents[1]
QUERY = "how long does a payment call wait?"
HELD = {"package manager": "VALID", "retries": "VALID", "timeout": "VALID", "tone": "UNVERSIONED", "约定": "VALID"}


@pytest.fixture
def place(tmp_path):
    return workspace(tmp_path)


@pytest.fixture
def desk(place):
    with shop_kit(place) as kit:
        found = SourceDesk(kit, SCOPES, workspace=place, query=QUERY, watch=False)
        yield found
        found.close()


def cards(desk: SourceDesk) -> str:
    return "".join(card.value for card in desk.controls.cards.children)


def test_what_was_not_re_read_says_since_when_and_is_not_called_verified(desk):
    said = "not re-checked since 2026-03-02"
    desk.ask("how long should answers be?")
    views = [cards(desk), desk.controls.recalled.value, desk.snapshot(), desk.as_text()]
    assert [view.count(said) for view in views] == [1, 1, 2, 1]


# --- exactly the right memories fall


def test_at_first_every_memory_of_the_environment_holds(desk):
    assert desk.verdicts == HELD
    assert desk.file == "prod.cfg"
    assert "5 memories hold." in desk.controls.status.value


@pytest.mark.parametrize(
    ("edit", "fell"),
    [
        (("prod.cfg", "timeout=30", "timeout=60"), {"timeout": "CHANGED"}),
        (("prod.cfg", "retries=3", "retries=4"), {"retries": "CHANGED"}),
        (("prod.cfg", "timeout=30\nretries=3\n", ""), {"timeout": "MISSING", "retries": "MISSING"}),
        (("prod.cfg", "region=eu-west", "region=us-east"), {}),
        (("prod.cfg", "# Settings", "\n\n# All settings"), {}),
        (("test.cfg", "timeout=5", "timeout=6"), {}),
        (("package.json", "pnpm@9.12.0", "npm@10.0.0"), {"package manager": "CHANGED"}),
        (("package.json", '"private": true,', "private"), {"package manager": "UNREADABLE"}),
        (("docs/约定.md", "不用浮点数", "可用浮点数"), {"约定": "CHANGED"}),
        (("README.md", "Vue", "React"), {}),
    ],
)
def test_typing_in_a_source_fells_exactly_what_rested_on_the_place(desk, place, edit, fell):
    name, old, new = edit
    desk.controls.chooser.value = name
    text = desk.controls.text.value
    assert text.count(old) == 1
    desk.controls.text.value = text.replace(old, new)
    assert place.read(name) == text.replace(old, new)
    assert desk.verdicts == HELD | fell
    desk.controls.text.value = text
    assert desk.verdicts == HELD
    assert desk.error == ""


def test_a_fallen_card_says_why_and_shows_old_and_new(desk):
    desk.edit("prod.cfg", "timeout=60\nretries=3\n")
    assert "CHANGED" in cards(desk)
    assert "It fell:</b> prod.cfg#key=timeout is not what it was" in cards(desk)
    assert ">30</pre>" in cards(desk)
    assert ">60</pre>" in cards(desk)
    assert desk.status == "You changed prod.cfg. Fell just now: timeout."
    desk.restore("prod.cfg")
    assert "It fell" not in cards(desk)
    assert desk.status == "You restored prod.cfg. Holds again: timeout."


def test_only_the_card_that_changed_is_drawn_anew(desk):
    before = {card.model_id: card.value for card in desk.controls.cards.children}
    desk.edit("prod.cfg", "timeout=60\nretries=3\n")
    after = {card.model_id: card.value for card in desk.controls.cards.children}
    assert before.keys() == after.keys()
    assert sum(before[key] != after[key] for key in before) == 1


def test_deleting_renaming_and_restoring_a_source(desk, place):
    fell = HELD | {"timeout": "MISSING", "retries": "MISSING"}
    desk.controls.delete.click()
    assert desk.verdicts == fell
    assert ("prod.cfg (gone)", "prod.cfg") in desk.controls.chooser.options
    assert desk.controls.text.disabled
    desk.controls.restore_one.click()
    assert desk.verdicts == HELD
    desk.controls.new_name.value = "production.cfg"
    desk.controls.rename.click()
    assert (desk.verdicts, desk.file, desk.error) == (fell, "production.cfg", "")
    desk.controls.restore_all.click()
    assert (desk.verdicts, desk.error) == (HELD, "")
    assert "production.cfg" not in place.names()


def test_switching_the_environment_shows_what_applies_there(desk):
    desk.controls.environment.value = "test"
    assert desk.verdicts == {key: verdict for key, verdict in HELD.items() if key != "retries"}
    assert "In tests a payment call waits 5 s." in cards(desk)
    assert "waits 30 s." not in cards(desk)
    desk.edit("test.cfg", "timeout=9")
    assert desk.verdicts["timeout"] == "CHANGED"
    desk.switch("prod")
    assert desk.verdicts == HELD


def test_of_one_key_in_two_visible_scopes_both_have_a_card_and_the_narrower_one_its_verdict(desk):
    desk.kit.remember("timeout", "Elsewhere a call waits 10 s.", scope=SHOP)
    desk.edit("prod.cfg", "timeout=60\nretries=3\n")
    assert desk.verdicts["timeout"] == "CHANGED"
    assert "Elsewhere a call waits 10 s." in cards(desk)
    assert [label for label, _ in desk.controls.fallen.options] == ["timeout (prod, shop)"]


# --- recall


def test_recall_shows_what_an_agent_would_get_and_what_is_withheld(desk):
    assert [hit.memory.key for hit in desk.ask(QUERY, 200).hits] == ["timeout", "retries"]
    assert "A payment call waits 30 s." in desk.controls.recalled.value
    desk.edit("prod.cfg", "timeout=60\nretries=3\n")
    shown = desk.controls.recalled.value
    assert "STALE_SOURCE" in shown
    assert "A payment call waits 30 s." not in shown
    desk.controls.budget.value = 0
    assert "OVER_BUDGET" in desk.controls.recalled.value
    desk.controls.query.value = "价格"
    desk.controls.budget.value = 500
    assert "价格一律以分为单位的整数保存。" in desk.controls.recalled.value
    desk.controls.query.value = "  "
    assert "Ask something" in desk.controls.recalled.value
    assert desk.error == ""


# --- learning anew


def test_learning_anew_makes_a_revision_and_keeps_the_old_one_in_the_card(desk):
    desk.edit("prod.cfg", "timeout=60\nretries=3\n")
    assert desk.controls.content.value == "A payment call waits 60 s."
    desk.controls.relearn.click()
    assert (desk.error, desk.verdicts) == ("", HELD)
    memory = desk.kit.current("timeout", scope=PROD)
    assert (memory.revision, memory.content, memory.trust) == (2, "A payment call waits 60 s.", "VERIFIED")
    assert "revision 1, SUPERSEDED: A payment call waits 30 s." in cards(desk)
    assert desk.controls.repair.layout.display == "none"
    assert desk.call.splitlines()[0] == (
        "kit.learn('timeout', 'A payment call waits 60 s.', scope=prod, cite='prod.cfg#key=timeout', expected=1)"
    )


def test_learning_anew_may_cite_another_place(desk):
    desk.rename("prod.cfg", "production.cfg")
    desk.relearn("timeout", "A payment call waits 30 s.", cite="production.cfg#key=timeout")
    assert desk.verdicts == HELD | {"retries": "MISSING"}


def test_a_draft_that_was_corrected_survives_another_question(desk):
    desk.edit("prod.cfg", "timeout=60\nretries=3\n")
    desk.controls.content.value = "A payment call waits a whole minute."
    desk.controls.query.value = "minute"
    assert desk.controls.content.value == "A payment call waits a whole minute."
    desk.edit("prod.cfg", "timeout=90\nretries=3\n")
    assert desk.controls.content.value == "A payment call waits 90 s."


def test_the_calls_shown_can_be_run_as_they_stand(desk):
    desk.edit("prod.cfg", "timeout=60\nretries=3\n")
    names = {"kit": desk.kit, "memkit": memkit, "prod": PROD, "test": TEST}
    for line in desk.call.splitlines():
        eval(line, names)
    assert desk.call.splitlines() == ["kit.check(scope=prod)", f"kit.recall({QUERY!r}, scope=prod, budget=200)"]
    desk.edit("package.json", '{"packageManager": "npm@10"}')
    desk.relearn("package manager", "It uses npm@10.")
    call = desk.call.splitlines()[0]
    assert "scope=memkit.Scope(workspace='shop')" in call
    assert eval(call.replace("expected=1", "expected=2"), names).reason == "ALREADY_KNOWN"


# --- errors


def test_an_error_in_a_callback_is_shown_and_the_desk_stays_usable(desk):
    desk.controls.new_name.value = "../outside"
    desk.controls.rename.click()
    assert desk.error.startswith("UnsafePath: ")
    assert 'role="alert"' in desk.error_area.value
    desk.controls.text.value = desk.controls.text.value.replace("timeout=30", "timeout=60")
    assert (desk.error, desk.verdicts) == ("", HELD | {"timeout": "CHANGED"})


def test_a_revision_written_meanwhile_is_a_conflict_in_view(desk):
    desk.edit("prod.cfg", "timeout=60\nretries=3\n")
    desk.kit.learn("timeout", "It waits 60 s.", scope=PROD, cite="prod.cfg#key=timeout", expected=1)
    desk.controls.relearn.click()
    assert isinstance(desk.failure, Conflict)
    desk.refresh()
    assert desk.verdicts == HELD


def test_calls_made_by_code_raise_as_any_call_does(desk):
    with pytest.raises(NotFound, match="no environment 'staging'; there are: prod, test"):
        desk.switch("staging")
    with pytest.raises(NotFound, match="no source 'nowhere'"):
        desk.choose("nowhere")
    with pytest.raises(NotFound, match="no memory 'colour'"):
        desk.relearn("colour", "red")


def test_a_desk_without_a_scope_or_over_another_folder_is_refused(desk, tmp_path):
    with pytest.raises(Refused, match="scopes is empty"):
        SourceDesk(desk.kit, {})
    with pytest.raises(Refused, match="not the folder that kit reads"):
        SourceDesk(desk.kit, SCOPES, workspace=workspace(tmp_path / "other"))


# --- other sources than a copy


def test_a_dict_of_texts_is_edited_in_place():
    with memkit.open(sources={"a.cfg": "x=1"}) as kit:
        kit.learn("x", "x is 1", scope=SHOP, cite="a.cfg#key=x")
        desk = SourceDesk(kit, {"shop": SHOP}, watch=False)
        desk.edit("a.cfg", "x=2")
        assert (kit.sources["a.cfg"], desk.verdicts) == ("x=2", {"x": "CHANGED"})
        desk.rename("a.cfg", "b.cfg")
        assert desk.verdicts == {"x": "MISSING"}
        desk.restore()
        assert (dict(kit.sources), desk.verdicts) == ({"a.cfg": "x=1"}, {"x": "VALID"})
        kit.sources["a.cfg"] = "x=3"
        desk.refresh()
        assert desk.verdicts == {"x": "CHANGED"}
        desk.close()


def test_a_folder_of_ones_own_is_shown_followed_and_never_written(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.0"\n')
    (tmp_path / "other.txt").write_text("not cited")
    with memkit.open(root=tmp_path) as kit:
        kit.learn("version", "the version is 1.0", scope=SHOP, cite="pyproject.toml#key=project.version")
        desk = SourceDesk(kit, {"shop": SHOP}, watch=False)
        assert [name for _, name in desk.controls.chooser.options] == ["pyproject.toml"]
        assert "version = &quot;1.0&quot;" in desk.controls.reading.value
        shown = {id(widget) for widget in walk(desk)}
        assert not shown & {
            id(button) for button in (desk.controls.text, desk.controls.delete, desk.controls.rename, desk.controls.restore_all)
        }
        desk.controls.text.value = "changed"
        assert desk.error.startswith("Refused: these sources are your own folder")
        assert (tmp_path / "pyproject.toml").read_text() == '[project]\nversion = "1.0"\n'
        (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.1"\n')
        desk.refresh()
        assert desk.verdicts == {"version": "CHANGED"}
        assert "version = &quot;1.1&quot;" in desk.controls.reading.value
        desk.close()


# --- following


def following(desk: SourceDesk, act: Callable[[], object], until: Callable[[], bool]) -> None:
    """Act, then wait on a running loop until the desk shows it."""

    async def run() -> None:
        desk._start_following()
        await asyncio.sleep(0.3)
        act()
        end = time.monotonic() + 20
        while not until():
            assert time.monotonic() < end, desk.as_text()
            await asyncio.sleep(0.02)
        assert desk.watching
        desk.close()
        assert not desk.watching

    asyncio.run(run())


def test_an_edit_by_another_process_changes_the_desk_without_a_click(desk, place):
    program = "import pathlib, sys; p = pathlib.Path(sys.argv[1]); p.write_text(p.read_text().replace('timeout=30', 'timeout=60'))"

    def act() -> None:
        subprocess.run([sys.executable, "-c", program, str(place.folder / "prod.cfg")], check=True)

    following(desk, act, lambda: desk.verdicts == HELD | {"timeout": "CHANGED"})
    assert "timeout=60" in desk.controls.text.value
    assert desk.status == "Changed outside this widget: prod.cfg. The text shown is the disk's. Fell just now: timeout."


def test_an_edit_that_keeps_size_and_time_changes_the_desk(desk, place):
    file = place.folder / "prod.cfg"
    kept = file.stat()

    def act() -> None:
        file.write_bytes(file.read_bytes().replace(b"timeout=30", b"timeout=60"))
        os.utime(file, ns=(kept.st_atime_ns, kept.st_mtime_ns))

    following(desk, act, lambda: desk.verdicts == HELD | {"timeout": "CHANGED"})


def test_the_desks_own_writes_are_not_called_somebody_elses(desk, place):
    desk.edit("prod.cfg", "timeout=60\nretries=3\n")
    desk._look_again()
    assert desk.status == "You changed prod.cfg. Fell just now: timeout."


def test_a_memory_forgotten_elsewhere_is_gone_from_the_desk_at_the_next_look(desk):
    desk.kit.forget("timeout", scope=PROD, expected=1, reason="asked")
    desk._look_again()
    assert "timeout" not in desk.verdicts
    for shown in (cards(desk), desk.snapshot(), desk.as_text(), desk.controls.recalled.value):
        assert "waits 30 s" not in shown
        assert "Keep answers short." in shown or shown is desk.controls.recalled.value


def test_a_closed_store_ends_the_following_with_a_sentence(desk):
    desk.kit.close()
    assert desk.guard(desk._look_again) is True
    assert "this store is closed" in desk.controls.note.value


def test_running_a_cell_again_closes_the_old_desk_and_its_watcher(place):
    async def run() -> None:
        with shop_kit(place) as kit:
            first = SourceDesk(kit, SCOPES, workspace=place)
            assert first.watching
            second = SourceDesk(kit, SCOPES, workspace=place)
            assert (first.watching, first.comm, second.watching) == (False, None, True)
            second.close()

    asyncio.run(run())


# --- hostile text

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><b>&amp;</pre></div></details>\u202ecod"


class Tags(html.parser.HTMLParser):
    """Collects every tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.depth, self.unbalanced = 0, False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))
        self.depth += tag != "br"

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1
        self.unbalanced |= self.depth < 0


def test_hostile_content_keys_names_and_queries_are_shown_as_text(tmp_path):
    name = "<img onerror=x>.cfg"
    with memkit.open(sources={name: "x=1", "b.txt": HOSTILE}) as kit:
        kit.learn("".join(filter(str.isprintable, HOSTILE))[:150], HOSTILE, scope=memkit.Scope(workspace="<i>w</i>"), cite=["b.txt", name])
        desk = SourceDesk(kit, {"<u>": memkit.Scope(workspace="<i>w</i>")}, query="alert", watch=False)
        desk.edit("b.txt", f"{HOSTILE} changed")
        desk.edit(name, "x=<script>")
        desk.guard(desk.switch, "<script>")
        pages = [desk.snapshot(), *(w.value for w in walk(desk) if type(w).__name__ == "HTML")]
        assert sum("&lt;script&gt;" in page for page in pages) >= 4
        for page in pages:
            tags = Tags(page)
            assert {tag for tag, _ in tags.found} <= {
                "div", "b", "span", "code", "pre", "table", "tr", "th", "td", "details", "summary", "i", "br", "ul", "li"
            }  # fmt: skip
            assert {name for _, attributes in tags.found for name in attributes} <= {"style", "title", "role", "aria-live"}
            assert (tags.depth, tags.unbalanced) == (0, False)
            assert "\u202e" not in page
        desk.close()


def test_plain_text_holds_no_control_character(desk):
    desk.kit.remember("bell", "a\x07\x1b[31mred\nline two", scope=SHOP)
    desk.refresh()
    assert "\x1b" not in desk.as_text()
    assert "red line two" in desk.as_text()


def test_escaping_keeps_every_printable_text_and_chinese():
    assert esc("价格　<&>'\"\t\n") == "价格　&lt;&amp;&gt;&#x27;&quot;\t\n"
    assert plain("价格\n一律") == "价格 一律"


# --- snapshot

SNAPSHOT = """
import sys
from pathlib import Path
sys.path.insert(0, "tests")
from desks import SCOPES, shop_kit, workspace
from memkit.widgets.desk import SourceDesk
place = workspace(Path(sys.argv[1]))
with shop_kit(place) as kit:
    desk = SourceDesk(kit, SCOPES, workspace=place, query="payment", watch=False)
    desk.edit("prod.cfg", "timeout=60\\nretries=3\\n")
    desk.relearn("timeout", "A payment call waits 60 s.")
    desk.edit("prod.cfg", "timeout=90\\nretries=3\\n")
    sys.stdout.buffer.write(desk.snapshot().encode())
"""


def test_a_snapshot_is_the_same_in_every_process(tmp_path):
    seen = {
        subprocess.run(
            [sys.executable, "-c", SNAPSHOT, str(tmp_path / name)],
            check=True,
            capture_output=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout
        for name, seed in (("one", "1"), ("two", "2"))
    }
    assert len(seen) == 1
    assert b"revision 1, SUPERSEDED" in seen.pop()


def test_a_snapshot_survives_a_sanitiser_and_says_nothing_of_this_machine(desk, place, tmp_path):
    desk.edit("prod.cfg", "timeout=60\nretries=3\n")
    desk.relearn("timeout", "A payment call waits 60 s.")
    desk.edit("prod.cfg", "timeout=90\nretries=3\n")
    page = desk.snapshot().replace("not re-checked since 2026-03-02", "")  # the one time it tells: the record's, not the present
    for word in ("CHANGED", "VALID", "STATED", "It fell:", "SUPERSEDED", "when it was learned", "STALE_SOURCE", "kit.check(scope=prod)"):
        assert word in page
    tags = Tags(page)
    assert {"script", "style", "svg", "link"}.isdisjoint(tag for tag, _ in tags.found)
    assert {name for _, attributes in tags.found for name in attributes} <= {"style", "title"}
    assert "var(" not in page
    for private in (str(tmp_path), str(place.folder), str(NOON.year), desk.model_id, desk.kit.current("timeout", scope=PROD).id):
        assert private not in page
    for tag, attributes in tags.found:
        style = attributes.get("style") or ""
        coloured = [part.split(":")[0].strip() for part in style.split(";")]
        assert ("color" in coloured) == ("background" in coloured), (tag, style)


def test_a_display_carries_view_snapshot_and_text(desk):
    bundle = desk._repr_mimebundle_()
    assert bundle["text/html"] == desk.snapshot()
    assert bundle["text/plain"].startswith("Environment prod: 5 memories hold.")
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == desk.model_id


def test_every_control_says_what_it_is_for(desk):
    controls = [w for w in walk(desk) if type(w).__name__ in {"Text", "Textarea", "Dropdown", "BoundedIntText", "Button", "ToggleButtons"}]
    assert len(controls) >= 14
    assert [w for w in controls if not (w.description or w.tooltip)] == []


def test_a_secret_in_a_source_or_a_question_is_in_no_view_that_is_kept(desk):
    secret = "".join(("ghp", "_", hashlib.sha256(b"x").hexdigest()[:36]))
    desk.edit("prod.cfg", f"timeout={secret}\nretries=3\n")
    desk.ask(f"timeout {secret}")
    assert desk.verdicts["timeout"] == "CHANGED"
    assert secret in desk.controls.text.value
    for kept in (desk.snapshot(), desk.as_text(), cards(desk)):
        assert secret not in kept
        assert "timeout" in kept


def test_a_secret_in_ones_own_folder_is_masked_in_the_live_view_too(tmp_path):
    secret = "".join(("ghp", "_", hashlib.sha256(b"y").hexdigest()[:36]))
    (tmp_path / ".env").write_text(f"TOKEN={secret}\nMODE=fast\n")
    with memkit.open(root=tmp_path) as kit:
        kit.learn("mode", "the mode is fast", scope=SHOP, cite=".env#key=MODE")
        desk = SourceDesk(kit, {"shop": SHOP}, watch=False)
        assert "MODE=fast" in desk.controls.reading.value
        assert [w for w in walk(desk) if secret in str(getattr(w, "value", ""))] == []
        desk.close()


def test_filled_teaches_the_six_memories(place):
    with memkit.open(root=place.folder) as kit:
        assert sorted(memory.memory.key for scope in (PROD, TEST) for memory in filled(kit).check(scope=scope))[-1] == "约定"


def test_typing_makes_no_widgets_and_closing_leaves_none(desk):
    desk.edit("prod.cfg", "timeout=31\nretries=3\n")
    living = set(_instances)
    for number in range(32, 36):
        desk.edit("prod.cfg", f"timeout={number}\nretries=3\n")
    assert set(_instances) == living
    own = {widget.model_id for widget in walk(desk)}
    assert own <= living
    desk.close()
    assert own.isdisjoint(_instances)
