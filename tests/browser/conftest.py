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
    """One page for many tests, for to load JupyterLab takes longer than most of them; narrow ones are new.

    A window that was narrow keeps other widths of its panels than one that was not: it is used no more.
    """

    def __init__(self, server: LabServer, chromium: Chromium) -> None:
        self._server, self._chromium = server, chromium
        self._wide: LabPage | None = None
        self._used = 0
        self.in_use: list[LabPage] = []

    def wide(self) -> LabPage:
        """The page with nothing open; a new one after a failure, and after so many tests."""
        if self._wide is not None and self._used >= TESTS_OF_A_PAGE:
            self.throw_away(self._wide)
        if self._wide is None:
            self._wide, self._used = self._chromium.page(self._server), 0
            self._wide.another = self._another
            self._wide.page.add_init_script("addEventListener('resize', () => (window.mhaResized = true))")
        self._used += 1
        for noted in (self._wide.foreign_requests, self._wide.dialogs, self._wide.console_errors):
            noted.clear()
        self.in_use.append(self._wide)
        return self._wide

    def _another(self) -> LabPage:
        self.in_use.append(self._chromium.page(self._server))
        return self.in_use[-1]

    def throw_away(self, page: LabPage) -> None:
        page.page.context.close()
        if page is self._wide:
            self._wide = None

    def put_away(self, failed: bool) -> list[str]:
        """Be ready for the next test. Returns what was noted on the pages in use."""
        noted = []
        for page in self.in_use:
            # What JupyterLab says when notebooks are closed under its hands is no matter of the test's.
            noted += [*page.foreign_requests, *page.dialogs, *page.console_errors]
            spoilt = page is not self._wide or page.page.is_closed() or failed or noted
            if spoilt or page.page.evaluate("Boolean(window.mhaResized)"):
                self.throw_away(page)
            else:
                page.clear_away()
        self.in_use.clear()
        return noted

    def let_go(self) -> None:
        """Let JupyterLab say now that notebooks and kernels are gone, and not in the next test."""
        if self._wide is not None:
            self._wide.page.wait_for_timeout(400)

    def close(self) -> None:
        if self._wide is not None:
            self.throw_away(self._wide)


@pytest.fixture(scope="session")
def desk(server: LabServer, chromium: Chromium) -> Iterator[Desk]:
    desk = Desk(server, chromium)
    yield desk
    desk.close()


@pytest.fixture
def lab(desk: Desk, server: LabServer, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    """A page with nothing open. Afterwards nothing may have left the machine, and the console is clean."""
    earlier, failed = server.kernels(), request.session.testsfailed
    yield desk.wide()
    noted = desk.put_away(failed=request.session.testsfailed > failed)
    server.end_kernels(but=earlier)
    desk.let_go()
    assert noted == []
