"""Browser tests share one server and one Chromium; without a browser they are skipped, loudly."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.desk import Desk
from tests.browser.lab import Chromium, LabPage, LabServer, find_chromium

# What is expected is expected soon, but a busy machine may take longer than Playwright's 5 s.
expect.set_options(timeout=30_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser" in item.nodeid.replace("\\", "/"):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    if find_chromium() is None:
        message = "no Chromium found: install one (Debian: apt install chromium) or set MHA_CHROMIUM"
        if os.environ.get("MHA_REQUIRE_BROWSER") or os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(f"BROWSER TESTS NOT RUN: {message}")
    chromium = Chromium()
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    server = LabServer(tmp_path_factory.mktemp("lab"))
    yield server
    server.close()


@pytest.fixture(scope="session")
def desk(server: LabServer, chromium: Chromium) -> Iterator[Desk]:
    desk = Desk(server, chromium)
    yield desk
    desk.close()


@pytest.fixture
def lab(desk: Desk, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    """A page with nothing open. Afterwards nothing may have left the machine, and the console is clean."""
    with desk.for_a_test(request) as page:
        yield page
