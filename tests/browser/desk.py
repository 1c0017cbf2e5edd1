"""Pages that are used again: to load JupyterLab takes longer than most tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.browser.lab import Chromium, LabPage, LabServer

TESTS_OF_A_PAGE = 16
SIZES_KEPT = 3


class Desk:
    """Pages of a server for one test after the other: a wide one, and narrow ones by their size.

    A window that was narrow keeps other widths of its panels than one that was not: no page is used again
    after its size was changed, nor after a failure, nor after so many tests.
    """

    def __init__(self, server: LabServer, chromium: Chromium) -> None:
        self.server, self._chromium = server, chromium
        self._kept: dict[tuple[int, int] | None, LabPage] = {}
        self._used: dict[LabPage, int] = {}
        self._in_use: list[LabPage] = []

    @contextmanager
    def for_a_test(self, request: pytest.FixtureRequest) -> Iterator[LabPage]:
        """The wide page with nothing open. Afterwards kernels are ended and nothing bad was noted."""
        earlier, failed = self.server.kernels(), request.session.testsfailed
        yield self._page(None)
        noted = self._put_away(failed=request.session.testsfailed > failed)
        self.server.end_kernels(but=earlier)
        for page in [*self._kept.values()][:1]:  # what is said of kernels that are gone, is said now
            page.page.wait_for_timeout(400)
        assert not noted, noted

    def narrow(self, width: int, height: int) -> LabPage:
        """A page of this size with nothing open, beside the wide one."""
        return self._page((width, height))

    def _page(self, size: tuple[int, int] | None) -> LabPage:
        page = self._kept.get(size)
        if page is None or page in self._in_use or self._used[page] >= TESTS_OF_A_PAGE:
            if page is not None and page not in self._in_use:
                self._throw_away(page)
            page = self._new(size)
        self._used[page] += 1
        for noted in (page.foreign_requests, page.dialogs, page.console_errors):
            noted.clear()
        self._in_use.append(page)
        return page

    def _new(self, size: tuple[int, int] | None) -> LabPage:
        narrow = [kept for kept in self._kept if kept is not None and self._kept[kept] not in self._in_use]
        if size is not None and len(narrow) >= SIZES_KEPT:
            self._throw_away(self._kept[narrow[0]])
        page = self._chromium.page(self.server)
        if size is not None:
            page.page.set_viewport_size({"width": size[0], "height": size[1]})
        page.page_of_size = self.narrow
        self._kept[size], self._used[page] = page, 0
        return page

    def _throw_away(self, page: LabPage) -> None:
        page.page.context.close()
        self._used.pop(page)
        self._kept = {size: kept for size, kept in self._kept.items() if kept is not page}

    def _put_away(self, failed: bool) -> list[str]:
        """Close what is open on the pages in use. Returns what was noted on them."""
        noted = []
        for page in self._in_use:
            # What JupyterLab says when notebooks are closed under its hands is no matter of the test's.
            said = [*page.foreign_requests, *page.dialogs, *page.console_errors]
            noted += said
            spoilt = (
                page not in self._kept.values() or page.page.is_closed() or page.used_up or failed or said
            )
            if spoilt or page.page.evaluate("Boolean(window.mhaResized)"):
                self._throw_away(page)
            else:
                page.clear_away()
        self._in_use.clear()
        return noted

    def close(self) -> None:
        """Close all pages."""
        for page in list(self._used):
            self._throw_away(page)
