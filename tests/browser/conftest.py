"""Browser tests share one server and one Chromium; without a browser they are skipped, loudly."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Chromium, LabPage, LabServer, find_chromium

TESTS_OF_A_PAGE = 12
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


class Desk:
    """One page for many tests: to load JupyterLab takes longer than most of them."""

    def __init__(self, server: LabServer, chromium: Chromium) -> None:
        self._server, self._chromium = server, chromium
        self._page: LabPage | None = None
        self._used = 0

    def page(self) -> LabPage:
        """A page with nothing open; a new one after a failure, and after so many tests."""
        if self._page is None or self._used >= TESTS_OF_A_PAGE:
            self.throw_away()
            self._page, self._used = self._chromium.page(self._server), 0
        self._used += 1
        return self._page

    def throw_away(self) -> None:
        if self._page is not None:
            self._page.page.context.close()
            self._page = None


@pytest.fixture(scope="session")
def desk(server: LabServer, chromium: Chromium) -> Iterator[Desk]:
    desk = Desk(server, chromium)
    yield desk
    desk.throw_away()


@pytest.fixture
def lab(desk: Desk, server: LabServer, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    """A page with nothing open. Afterwards nothing may have left the machine, and the console is clean."""
    earlier = server.kernels()
    page = desk.page()
    for noted in (page.foreign_requests, page.dialogs, page.console_errors):
        noted.clear()
    failed = request.session.testsfailed
    yield page
    noted = page.foreign_requests, page.dialogs, page.console_errors
    if page.page.is_closed() or request.session.testsfailed > failed or any(noted):
        desk.throw_away()
    else:
        page.clear_away()
    server.end_kernels(but=earlier)
    assert noted == ([], [], [])
