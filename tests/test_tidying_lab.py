"""The lab of consolidation: an evening to tidy, a night of two jobs, and a kill at every point; each shown what it would miss."""

from __future__ import annotations

import pytest

import memkit
from memkit import lab
from memkit.errors import FuseTripped, MemkitError, Refused
from memkit.lab import killed, tidying
from memkit.lab.night import LONGEST, Night
from memkit.write import consolidate, lease
from memkit.write.fuse import Fuse
from memkit.write.plan import Act, tidy

SHOP = tidying.SHOP


@pytest.fixture
def night():
    found = Night()
    yield found
    found.close()


@pytest.fixture(autouse=True)
def anew():
    """Let no picture of another test, of a memkit that was broken perhaps, be looked at."""
    killed.filmed.cache_clear()
    killed.rehearse.cache_clear()


# --- the evening


def test_each_candidate_of_the_evening_stands_where_it_stands_for_a_reason_of_its_own():
    kit, _ = lab.tidying.shop()
    plan = kit.consolidate(scope=SHOP, dry_run=True).plan
    names = {waits.id: waits.key for waits in kit.inbox(scope=SHOP)}
    assert [(step.stage, step.act, step.key, step.reason) for step in plan.steps] == [
        ("light", "expire", "stock", "EXPIRED"),
        ("light", "merge", "uploads", "DUPLICATE"),
        ("light", "retire", "mondays", "DUPLICATE"),
        ("pattern", "propose", "skill/npm", "PATTERN"),
        ("deep", "admit", "images", "PASSED_THE_GATES"),
        ("deep", "admit", "queue", "PASSED_THE_GATES"),
        ("deep", "admit", "打包", "PASSED_THE_GATES"),
    ]
    assert {names[number]: reason for number, reason in plan.held.items()} == {
        "region": "TOO_FEW_RECALLS",
        "retries": "STALE_SOURCE",
        "invoices": "LOW_CONFIDENCE",
        "days": "ASKS_A_PERSON",
        "refunds": "FLAGGED",
    }
    kit.close()


def test_a_question_counts_for_what_it_would_have_found_once_and_answers_with_nothing():
    kit, _ = tidying.shop()
    before = {waits.key: waits.recalls for waits in kit.inbox(scope=SHOP)}
    assert [tidying.ask(kit, text) for text in ("Region eu-west?", "region  EU-WEST?", "什么时候打包？", "zebra")] == [
        ["region"],
        ["region"],
        ["打包"],
        [],
    ]
    after = {waits.key: waits.recalls for waits in kit.inbox(scope=SHOP)}
    assert after == before | {"region": 2, "打包": 4}
    assert kit.recall("region eu-west", scope=SHOP, budget=100).hits == ()
    kit.close()


@pytest.mark.parametrize("name", tidying.PLANNERS)
def test_only_the_good_planners_are_let_through_and_the_others_leave_every_row_as_it_was(name):
    kit, _ = tidying.shop()
    before = tidying.fingerprint(kit)
    tried = tidying.attempt(kit, tidying.PLANNERS[name])
    good = name in {"the rules", "loses a quarter"}
    assert (tried.error is None, tried.report is not None) == (good, good)
    assert (tidying.fingerprint(kit) == before) is not good
    assert good or type(tried.error) is (FuseTripped if name == "loses half" else Refused)
    kit.close()


def test_a_change_says_what_is_known_and_what_would_be():
    kit, _ = tidying.shop()
    changes = {change.key: change for change in tidying.attempt(kit, dry_run=True).changes}
    kept = [(changes[key].sign, changes[key].before, changes[key].after) for key in ("queue", "images", "mondays", "uploads")]
    assert kept == [
        ("~", "The mail queue is longest at noon", "The mail queue is longest at eleven"),
        ("+", "", "Image uploads fail while the disk is almost full"),
        ("-", "The cache is cold on Mondays, before nine.", ""),
        (" ", "", "Image uploads fail while the disk is almost full."),
    ]
    kit.close()


def test_what_stops_a_job_before_it_planned_is_raised():
    kit, now = tidying.shop()
    tidying.attempt(kit, tidying.loses(50))
    with pytest.raises(Refused, match="try again after") as error:
        tidying.attempt(kit)
    assert error.value.reason == "BACKING_OFF"
    now.advance(minutes=1)
    assert tidying.attempt(kit).error is None
    kit.close()


# --- the night


def test_a_sleeper_who_wakes_after_a_takeover_writes_nothing(night):
    assert (night.start("A").good, night.asleep) == (True, ["A"])
    refused = night.start("B")
    assert (refused.good, refused.told.split(":")[0], night.asleep) == (False, "Refused", ["A"])
    night.wait(11)
    night.start("B")
    assert (night.turns[-1].holder, night.turns[-1].token, night.asleep) == ("B", 2, ["A", "B"])
    assert night.wake("B").memories == 12
    late = night.wake("A")
    assert (late.told.split(":")[0], late.memories, late.holder, late.token) == ("LeaseLost", 12, "", 2)
    assert [memory.revision for memory in night.kit.history("images", scope=SHOP)] == [1]


def test_without_the_token_the_sleeper_is_let_through_to_the_record(night, monkeypatch):
    monkeypatch.setattr(lease, "renew", lambda tx, held, now: held)
    night.start("A")
    night.wait(11)
    night.start("B")
    night.wake("B")
    assert "it looks again" in night.wake("A").told  # what stops it then is that each step compares and swaps


def test_a_late_job_that_nobody_replaced_may_write(night):
    night.start("A")
    night.wait(600)
    assert night.wake("A").told.startswith("7 steps carried out")


def test_a_correction_made_meanwhile_wins_and_the_job_looks_again_where_it_wanted_to_change_it(night):
    night.start("A")
    night.correct("images", "Uploads fail while the scan runs")
    night.correct("mondays", "On Mondays the cache is warm")
    assert "it looks again" in night.wake("A").told
    assert night.asleep == ["A"]
    assert night.wake("A").told == "5 steps carried out (memories: queue, 打包)"
    assert [night.memory(key).content for key in ("images", "mondays")] == [
        "Uploads fail while the scan runs",
        "On Mondays the cache is warm",
    ]


def test_a_night_says_what_cannot_be_done(night):
    with pytest.raises(Refused, match="there is no job of type str; there are A and B"):
        night.start("C")
    with pytest.raises(Refused, match="job A does not sleep"):
        night.wake("A")
    night.start("A")
    with pytest.raises(Refused, match="job A sleeps already"):
        night.start("A")
    with pytest.raises(Refused, match="begin it again"):
        for _ in range(LONGEST):
            night.wait()


def test_closing_a_night_gives_up_who_sleeps():
    night = Night()
    night.start("A")
    night.close()
    assert night.asleep == []


# --- the kills


def test_killed_at_every_point_the_old_or_the_new_is_found_and_the_retry_completes():
    deaths = killed.rehearse()
    assert [death.number for death in deaths] == list(range(1, len(deaths) + 1)) and len(deaths) > 30
    assert {death.phase for death in deaths} == set(killed.PHASES[1:])
    commit = next(death.number for death in deaths if (death.phase, death.point) == ("carry out the plan", "before commit"))
    assert [death.found for death in deaths] == ["old"] * commit + ["new"] * (len(deaths) - commit)
    assert {death.again for death in deaths} == {"complete"}
    points = [death.point for death in deaths if death.phase == "write the snapshot"]
    assert [point for point in points if "flush" in point or "rename" in point] == [
        "before the flush of the file",
        "after the flush of the file",
        "before the rename",
        "after the rename",
    ]


def test_a_job_that_commits_step_by_step_is_caught_half_way(monkeypatch):
    honest = consolidate._carried_out

    def hasty(tx, *rest):
        outcome = honest(tx, *rest)
        tx.execute("commit")
        tx.execute("begin immediate")
        return outcome

    monkeypatch.setattr(consolidate, "_carried_out", hasty)
    assert {death.found for death in killed.rehearse()} == {"old", "half", "new"}


def test_a_process_really_killed_before_the_commit_leaves_the_old_and_after_it_the_new():
    phase, points = "carry out the plan", killed.filmed().points
    commit = points.index((phase, "before commit")) + 1
    assert killed.kill(commit) == killed.Death(commit, phase, "before commit", "old", "complete")
    assert killed.kill(commit + 1).found == "new"
    with pytest.raises(MemkitError, match="was not killed at point 999"):
        killed.kill(999)


# --- the exercises


def test_what_becomes_of_the_candidates_is_compared_and_explained():
    right = {"nightly": "kept", "weekly": "waits", "port": "waits", "indent": "waits", "stock": "expires"}
    assert lab.check.tidying_1(right).right
    for key, wrong in (("nightly", "waits"), ("weekly", "kept"), ("port", "kept"), ("indent", "kept"), ("stock", "kept")):
        answer = lab.check.tidying_1(right | {key: wrong})
        assert (answer.right, answer.why.split()[0]) == (False, repr(key))
    assert [lab.check.tidying_1(nothing).right for nothing in (..., None, {}, right | {"port": ...})] == [False] * 4


def test_a_planner_is_tried_in_several_stores():
    def good(seen):
        return tidying.retiring(seen, tidying.inferred(seen)[: len(seen.memories) * 25 // 100])

    def timid(seen):
        return tidying.retiring(seen, [])

    def fails(seen):
        raise KeyError("<b>")

    assert lab.check.tidying_2(good).right
    told = [lab.check.tidying_2(planner).why for planner in (timid, fails, lambda seen: "plan", tidying.loses(50), 3)]
    assert [text.split(":")[0] for text in told] == [
        "of 11 entries your plan takes 0; it could take 2.",
        "your planner raises KeyError",
        "your planner returns no Plan; lab.tidying.retiring(seen, ...) makes one.",
        "of 11 entries, FuseTripped",
        "pass the function itself",
    ]


def test_a_rule_for_late_jobs_is_compared_in_stories_with_real_leases():
    rules = {
        "an hour late, nothing happened": lambda held, standing, now: now < held.expires_at,
        "an hour late, another job took over": lambda held, standing, now: True,
        "an hour late, the same program was started again, under the same name, and took over": lambda held, standing, now: (
            held.holder == standing.holder
        ),
        "an hour late, it gave the lease back itself": lambda held, standing, now: held.token == standing.token,
    }
    assert {lab.check.tidying_3(rule).why.split(":")[0] for rule in rules.values()} == set(rules)
    assert lab.check.tidying_3(lambda held, standing, now: (held.token, held.holder) == (standing.token, standing.holder)).right
    assert not lab.check.tidying_3("token").right
    assert "ZeroDivisionError" in lab.check.tidying_3(lambda held, standing, now: 1 / 0).why


def test_retiring_accounts_for_every_memory():
    kit, _ = tidying.shop()
    plans = []

    def planner(seen):
        plans.append(tidying.retiring(seen, tidying.inferred(seen)[:2]))
        return plans[-1]

    tried = tidying.attempt(kit, planner, fuse=Fuse(percent=18), dry_run=True)  # 2 of 11 are more than 18 %
    assert isinstance(tried.error, FuseTripped)
    assert sorted([*plans[0].kept, *plans[0].lost]) == sorted(memory.id for memory in tried.seen.memories)
    assert [step.act for step in plans[0].steps] == [Act.RETIRE] * 2
    assert tidy(tried.seen).lost != plans[0].lost
    assert isinstance(kit, memkit.Kit)
    kit.close()
