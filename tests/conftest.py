"""What several tests share: a real browser, skipped or compulsory."""

from __future__ import annotations

import os

import pytest

from memkit.lab.doctor import find_chromium

LESSONS = {"test_lessons.py", "test_notebooks_clean.py", "test_sandbox.py", "test_serve.py"}


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
    """Let a test that drives a real browser be run once more, and say which tests may not run side by side.

    Front end, kernel and browser share the machine with whatever else runs; what was run again is counted in the last line of the report,
    and a fault that is in the code fails both times. Where several processes share the tests (`-n 2 --dist loadgroup`), what works in the
    lessons' folder stays in one of them, and so does each other file.
    """
    for item in items:
        browser = item.get_closest_marker("browser") is not None
        if browser:
            item.add_marker(pytest.mark.flaky(reruns=1))
        lesson = browser or item.path.suffix == ".ipynb" or item.path.name in LESSONS
        item.add_marker(pytest.mark.xdist_group("lessons" if lesson else str(item.path)))
