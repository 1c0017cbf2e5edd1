"""A student solves an exercise of lesson 03: wrong, wrong in another way, right; and it is remembered.

The lessons lie in my_course/, answers are typed, and in between the server is stopped and started again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from mha_course.exercises import check
from mha_course.exercises.registry import EXERCISES
from mha_course.theme import contrast
from mha_course.workspace import Workspace, project_root
from tests.browser.lab import Chromium, LabPage, LabServer

VIEW_ALONE = """def split_heads(x, h):
b, n, d_model = x.shape
return x.view(b, h, n, d_model // h)"""
INTERLEAVED = """def split_heads(x, h):
heads = [x[..., i::h] for i in range(h)]
return torch.stack(heads, dim=1)"""
RIGHT = """def split_heads(x, h):
heads = x.chunk(h, dim=-1)
return torch.stack(heads, dim=1)"""


class Course:
    """my_course/ as start.py fills it, and a server on it that can be stopped and started."""

    def __init__(self, folder: Path, chromium: Chromium) -> None:
        self.folder, self.home, self.chromium = folder, folder / "my_course", chromium
        self.home.mkdir()
        self.pages: list[LabPage] = []
        self.server: LabServer | None = None

    def start(self) -> LabPage:
        Workspace(project_root() / "notebooks", self.home).refresh()
        self.server = LabServer(self.folder, self.home)
        self.pages.append(self.chromium.page(self.server))
        return self.pages[-1]

    def stop(self) -> None:
        if self.server is not None:
            self.pages[-1].page.context.close()
            self.server.close()
            self.server = None


@pytest.fixture
def course(tmp_path: Path, chromium: Chromium, monkeypatch: pytest.MonkeyPatch) -> Iterator[Course]:
    course = Course(tmp_path, chromium)
    # What this process checks, to know the words to expect, is not the student's doing.
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "elsewhere"))
    yield course
    course.stop()
    for page in course.pages:
        assert (page.foreign_requests, page.dialogs, page.console_errors) == ([], [], [])


def cell_with(page: Page, text: str) -> Locator:
    return page.locator(".jp-CodeCell").filter(has=page.locator(".cm-content", has_text=text)).first


def verdict_of(page: Page) -> Locator:
    return cell_with(page, 'check("split_heads"').locator(".mhx")


def answer(lab: LabPage, code: str) -> Locator:
    """Replace the student's function by typing, run it and the check below it. Returns the verdict."""
    page = lab.page
    cell = cell_with(page, "def split_heads(x, h):")
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type(code)  # the editor indents after a colon by itself
    old = verdict_of(page).get_attribute("data-seen")
    assert old is None
    verdict_of(page).evaluate("box => box.setAttribute('data-seen', 'yes')")
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    fresh = cell_with(page, 'check("split_heads"').locator(".mhx:not([data-seen])")
    fresh.wait_for()
    return fresh


def run(code: str) -> Callable:
    """The function that the typed code defines."""
    import torch

    names = {"torch": torch}
    head, *body = code.splitlines()
    exec("\n".join([head, *(f"    {line}" for line in body)]), names)
    return names["split_heads"]


def hex_of(colour: str) -> str:
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return f"#{red:02X}{green:02X}{blue:02X}"


def contrasts(box: Locator) -> dict[str, float]:
    """For each run of words in the box, its contrast with the box's own ground."""
    found = box.evaluate(
        """box => {
          const ground = getComputedStyle(box).backgroundColor, words = [];
          const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
          for (let node = walk.nextNode(); node; node = walk.nextNode())
            if (node.data.trim() && node.parentElement.offsetParent)
              words.push([node.data.trim().slice(0, 40), getComputedStyle(node.parentElement).color]);
          return [ground, words];
        }"""
    )
    ground, words = found
    assert re.fullmatch(r"rgb\(.*\)", ground), "the box paints its own ground"
    return {text: contrast(hex_of(colour), hex_of(ground)) for text, colour in words}


def assert_readable(lab: LabPage, box: Callable[[], Locator]) -> None:
    for theme in ("dark", "light"):
        lab.set_theme(theme)
        found = contrasts(box())
        assert len(found) >= 2 and min(found.values()) >= 4.5, (theme, found)


def test_wrong_twice_then_right_and_remembered(course: Course) -> None:
    lab = course.start()
    page = lab.page
    lab.open("03_split.ipynb")
    lab.run_up_to(cell_with(page, 'check("split_heads"'))
    assert lab.error_outputs() == []
    assert "not attempted yet" in verdict_of(page).inner_text()

    for code in (VIEW_ALONE, INTERLEAVED):
        expected = check("split_heads", run(code))
        shown = answer(lab, code).inner_text()
        assert not expected.passed and "not yet right" in shown
        for part in (expected.says, expected.witness, expected.look):
            assert " ".join(part.replace("`", "").split()) in " ".join(shown.split())
    assert_readable(lab, lambda: verdict_of(page))
    assert check("split_heads", run(VIEW_ALONE)).diagnosis != check("split_heads", run(INTERLEAVED)).diagnosis

    # By keyboard alone: out of the editor, along the cell, to the verdict.
    cell_with(page, 'check("split_heads"').locator(".cm-content").click()
    page.keyboard.press("Escape")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.mhx')"):
            break
    focused = page.evaluate(
        "() => [document.activeElement.getAttribute('aria-label'),"
        " getComputedStyle(document.activeElement).outlineStyle]"
    )
    assert focused == ["Check of split_heads", "solid"]

    shown = answer(lab, RIGHT).inner_text()
    assert "✓ split_heads: right" in shown and "not yet right" not in shown
    assert_readable(lab, lambda: verdict_of(page))
    page.keyboard.press("Control+s")
    page.wait_for_function("() => !document.querySelector('.jp-mod-dirty')")
    assert list(json.loads((course.home / "progress.json").read_text(encoding="utf-8"))["solved"]) == [
        "split_heads"
    ]
    course.stop()

    lab = course.start()
    page = lab.page
    lab.open("00_start_here.ipynb")
    lab.run_up_to(cell_with(page, "progress_report()"))
    assert lab.error_outputs() == []
    report = cell_with(page, "progress_report()").locator(".mhx")
    row = report.locator("tr", has_text="03 · Split")
    assert "1 of 3" in row.inner_text()
    assert (
        f"1 of {len(EXERCISES)} exercises" in report.inner_text()
        and "lesson 03 · Split" in report.inner_text()
    )
    assert_readable(lab, lambda: report)
    page.set_viewport_size({"width": 700, "height": 1000})  # beside the open file list
    page.wait_for_timeout(300)
    assert report.evaluate("box => box.clientWidth < 400 && box.scrollWidth <= box.clientWidth")
    assert "Exercises" in row.evaluate("row => getComputedStyle(row.cells[1], '::before').content")
    page.set_viewport_size({"width": 1400, "height": 1000})
    assert lab.console_errors == []
    # From the row to the lesson, where the student's own answer still stands. (Its widgets belong to the
    # kernel that was stopped, and JupyterLab notes that until the lesson is run again.)
    row.locator("a").click()
    page.locator(".lm-TabBar-tabLabel", has_text="03_split.ipynb").first.wait_for()
    cell_with(page, "x.chunk(h, dim=-1)").wait_for(state="attached")
    page.wait_for_timeout(1000)
    assert all("widget model not found" in error for error in lab.console_errors)
    lab.console_errors.clear()
