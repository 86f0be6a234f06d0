"""The progress bar, told by the package itself: it ends where the work ends, and hostile names stay text."""

from __future__ import annotations

from dataclasses import replace

import memkit
from memkit.lab import bench_read
from memkit.lab.measure import Sizes
from memkit.widgets.bar import Bar

SHOP = memkit.Scope(workspace="shop")


def test_it_shows_how_far_indexing_is_at_each_step_and_at_the_end():
    seen = []
    with bench_read.filled(replace(Sizes(), memories=2_500, scopes=1)) as kit:
        bar = Bar("notes")
        assert bar.as_text() == "notes: not begun"
        bar.bar.observe(lambda change: seen.append(change["new"]), names="value")
        assert kit.warm(scope=bench_read.scope(0), progress=bar) == 2_500
    assert seen == [1_000, 2_000, 2_500]
    assert (bar.bar.value, bar.bar.max, bar.label.value) == (2_500, 2_500, "notes: 2,500 of 2,500")
    assert "2,500 of 2,500" in bar.snapshot()
    bar.close()


def test_a_tidying_tells_it_too():
    with memkit.open() as kit:
        for number in range(3):
            kit.propose(f"key {number}", f"the queue {number} is long", scope=SHOP, confidence=0.6)
        bar = Bar()
        kit.consolidate(scope=SHOP, progress=bar)
        assert bar.told is not None and bar.told[0] == bar.told[1] > 0
        bar.close()


def test_a_hostile_name_stays_text_and_nothing_to_do_is_no_error():
    bar = Bar("<script>alert(1)</script>")
    bar(0, 0)
    assert "<script" not in bar.snapshot() + bar.label.value and "0 of 0" in bar.as_text()
    bar.close()
