"""Leaderboard in real JupyterLab, two on a page: rows by mouse and keyboard, a row trained again, widths."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage

SOON = 240_000
CELLS = [
    "import os\nos.environ['MHA_COURSE_STEPS'] = '110'\nfrom mha_course import widgets",
    "widgets.Leaderboard(variant='mixture')",
    "digits = widgets.Leaderboard('digits', variant='overlapping')\ndigits",
    "digits.run._process.wait(20), digits.live()[-1][0]",
]


@pytest.fixture
def closing(lab: LabPage) -> Iterator[LabPage]:
    """Afterwards the kernel goes, and with it the processes that train."""
    yield lab
    lab.menu("Kernel", "Shut Down Kernel")


def row_button(widget: Locator, key: str) -> Locator:
    return widget.locator(f"button[data-row-button='{key}']")


def keys_of(widget: Locator) -> list[str]:
    return widget.locator("tbody tr[data-row]").evaluate_all("all => all.map((tr) => tr.dataset.row)")


def test_rows_curves_and_a_row_trained_again(closing: LabPage) -> None:
    lab = closing
    lab.server.write_notebook("leaderboard.ipynb", CELLS)
    lab.open("leaderboard.ipynb")
    for cell in range(3):
        lab.run_cell(cell)
    page, keys = lab.page, lab.page.keyboard
    gloss, digits = (page.locator(".mha-widget.mha-board").nth(i) for i in (0, 1))
    for widget in (gloss, digits):
        expect(widget).to_have_attribute("data-state", "new", timeout=SOON)
        expect(widget.locator("[data-fact=words]")).to_contain_text("Nothing runs yet")
    assert lab.error_outputs() == [] and lab.pictures_without_alt() == []

    # Rows: one is in words, a click on another shows it and its curve, a second click takes it away.
    told = gloss.locator("[data-fact=told]")
    expect(told).to_contain_text("Mixture of heads, h = 8 (Jin et al. 2024)")
    assert gloss.locator("tbody tr[data-row]").count() >= 5
    curves = gloss.locator("svg.mha-board-curves g[data-curve]")
    expect(curves).to_have_count(2)
    row_button(gloss, "plain|2").click()
    expect(told).to_contain_text("Plain heads, h = 2")
    expect(curves).to_have_count(3)
    expect(row_button(gloss, "plain|2")).to_have_attribute("aria-pressed", "true")
    row_button(gloss, "plain|2").click()
    expect(curves).to_have_count(2)
    expect(told).to_contain_text("Mixture of heads")

    # By keyboard: up and down the rows, Enter shows one; along the numbers; sorted and as listed.
    best = keys_of(gloss)
    row_button(gloss, "mixture|8").focus()
    keys.press("Home")
    expect(row_button(gloss, best[0])).to_be_focused()
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(gloss.locator(f"tr[data-row='{best[1]}']")).to_have_class(re.compile("is-chosen"))
    gloss.locator("[data-control=number] [data-value=loss]").focus()
    expect(gloss.locator("[data-control=threshold]")).to_be_hidden()
    keys.press("ArrowRight")
    expect(told).to_contain_text("steps to a held-out loss of 1.5")
    threshold = gloss.locator("[role=slider][data-control=threshold]")
    threshold.focus()
    keys.press("ArrowLeft")
    expect(told).to_contain_text("steps to a held-out loss of 2 ")
    expect(gloss.locator(".mha-board-level")).to_have_count(1)
    gloss.locator("[role=switch][data-control=sort]").click()
    letters = gloss.locator("tbody tr .mha-chip").all_inner_texts()
    assert letters == sorted(letters) and letters[0] == "A"
    gloss.locator("[data-control=number] [data-value=flops]").click()
    expect(told).to_contain_text("FLOPs")
    frame = gloss.locator(".mha-board-frame")
    frame.focus()
    keys.press("ArrowRight")
    expect(gloss.locator(".mha-tooltip:visible")).to_contain_text(re.compile(r"h = \d+, step [\d,]+: loss"))

    # The digits, to the end of a short run; the gloss is started beside it by keyboard, and stopped.
    gloss.locator("button[data-control=run]").focus()
    keys.press("Enter")
    expect(gloss.locator("button[data-control=run]")).to_have_text("Stop", timeout=SOON)
    digits.locator("button[data-control=run]").click()
    expect(digits).to_have_attribute("data-state", "finished", timeout=SOON)
    expect(digits.locator("[data-fact=words]")).to_contain_text("Finished: step 110 of 110")
    expect(digits.locator("[data-fact=again]")).to_contain_text("overlapping, h = 8, seed 0")
    expect(digits.locator("g[data-curve=live] circle")).to_have_count(3)  # after 50, 100 and 110 steps
    assert gloss.get_attribute("data-state") in ("starting", "running")
    gloss.locator("button[data-control=run]").click()
    expect(gloss).to_have_attribute("data-state", re.compile("stopped|finished"), timeout=SOON)
    lab.run_cell(3)  # the process of what is finished has gone
    expect(page.locator(".jp-CodeCell").nth(3).locator(".jp-OutputArea-output")).to_contain_text("(0, 110)")

    # Another row has a run of its own, and the finished one is still there.
    row_button(digits, "plain|8").click()
    expect(digits).to_have_attribute("data-state", "new")
    row_button(digits, "overlapping|8").click()
    expect(digits).to_have_attribute("data-state", "finished")

    lab.set_theme("dark")
    assert gloss.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 23, 28)"
    lab.set_theme("light")
    page.emulate_media(reduced_motion="reduce")
    keys.press("Control+b")  # the file browser away, as one does in a narrow window
    for width in (933, 620, 420):  # 933: what is left of 1400 px at 150 %
        page.set_viewport_size({"width": width, "height": 900})
        for widget in (gloss, digits):
            expect(widget.locator("svg.mha-board-curves")).to_be_visible()
            assert widget.evaluate("e => e.scrollWidth <= e.clientWidth"), width
    assert row_button(gloss, "plain|8").bounding_box()["height"] >= 24
