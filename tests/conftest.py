"""What several tests share: a real browser, skipped or compulsory."""

from __future__ import annotations

import os

import pytest

from memkit.lab.doctor import find_chromium


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of a Chromium; without one, skip, or fail where MEMKIT_REQUIRE_BROWSER=1 says that it must be there."""
    found = find_chromium()
    if found is None:
        if os.environ.get("MEMKIT_REQUIRE_BROWSER") == "1":
            pytest.fail("MEMKIT_REQUIRE_BROWSER=1, and there is no Chromium on the PATH")
        pytest.skip("there is no Chromium on the PATH: `memkit doctor` prints the command that installs it")
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let a test that drives a real browser be run once more: front end, kernel and browser share the machine with whatever else runs.

    What was run again is counted in the last line of the report; a fault that is in the code fails both times.
    """
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
