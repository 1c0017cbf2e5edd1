"""Browser tests share one server and one Chromium; without a browser they are skipped, loudly."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

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


@pytest.fixture
def lab(server: LabServer, chromium: Chromium) -> Iterator[LabPage]:
    """A fresh page. Afterwards nothing may have left the machine, and the console must be clean."""
    earlier = server.kernels()
    page = chromium.page(server)
    yield page
    page.page.context.close()
    server.end_kernels(but=earlier)
    assert page.foreign_requests == []
    assert page.dialogs == []
    assert page.console_errors == []
