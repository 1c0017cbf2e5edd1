"""PruningReplay in real JupyterLab, two on a page: slider, choices, cells and points, themes, widths."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage

CELLS = [
    "from mha_course import widgets\nreplay = widgets.PruningReplay()",
    "replay",
    "widgets.PruningReplay(0.05, seed=1, part='ending', weights='stay')",
    "replay.set_trait('price', 0.02); replay.alt",
]


def cell(widget: Locator, layer: int, head: int) -> Locator:
    return widget.locator(f"button.mha-role-cell[data-layer='{layer}'][data-head='{head}']")


def fits(widget: Locator) -> bool:
    return widget.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_prices_runs_heads_points_themes_and_widths(lab: LabPage) -> None:
    lab.server.write_notebook("pruning.ipynb", CELLS)
    lab.open("pruning.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == [] and lab.pictures_without_alt() == []
    page, keys = lab.page, lab.page.keyboard
    one, two = page.locator(".mha-widget.mha-pruning").all()
    words, slider = one.locator("[data-fact=words]"), one.locator("[role=slider][data-control=price]")
    other = two.locator("[data-fact=words]").inner_text()
    expect(words).to_contain_text("At a price of 0.02, 12 of 16")  # the last cell moved it
    assert other.startswith("At a price of 0.05, 9 of 16")

    one.scroll_into_view_if_needed()
    slider.focus()
    keys.press("End")
    expect(words).to_contain_text("At a price of 0.8, 1 of 16 heads survives")
    expect(slider).to_have_attribute("aria-valuetext", "price 0.8")
    assert one.locator("button.mha-role-cell.is-gone").count() == 15
    keys.press("ArrowLeft")
    keys.press("ArrowLeft")
    expect(words).to_contain_text("At a price of 0.2, 5 of 16 heads survive")
    assert one.locator("button.mha-role-cell.is-gone").count() == 11
    expect(one.locator("tr[data-role=rare] [data-cell=which]")).to_have_text(re.compile(r"^L1\sH7$"))
    expect(one.locator("svg.mha-kept-chart")).to_have_attribute("aria-label", re.compile("5 of 16 heads"))

    # Which run and how: one stop of Tab each, arrow keys choose.
    one.locator("[data-control=run] [aria-checked=true]").focus()
    keys.press("ArrowRight")
    expect(words).to_contain_text("At a price of 0.2, 6 of 16 heads survive")
    one.locator("[data-control=weights] [data-value=stay]").click()
    expect(words).to_contain_text("The liaison loses 6.4 points, more than 2.")
    expect(one.locator("tr[data-by=random] [data-cell=right]")).to_contain_text("5 orders")
    worst = float(one.locator("tr[data-by=gates] [data-cell=right]").inner_text())
    one.locator("[data-control=part] [data-value=stem]").click()
    stem = one.locator("tr[data-by=gates] [data-cell=right]")
    expect(stem).not_to_have_text(f"{worst:.3f}")
    assert float(stem.inner_text()) > worst

    # A head by keyboard: its gate, its role now, and what it did before.
    assert one.locator("button.mha-role-cell[tabindex='0']").count() == 1
    cell(one, 1, 1).focus()
    keys.press("End")
    keys.press("ArrowDown")
    assert cell(one, 2, 8).evaluate("e => e === document.activeElement")
    expect(one.locator(".mha-tooltip:visible")).to_contain_text("L2 H8  gate 1: open")
    expect(cell(one, 2, 8)).to_have_attribute("aria-label", re.compile("Layer 2, head 8. gate 1: open. det"))
    keys.press("Home")
    expect(cell(one, 2, 1)).to_have_attribute(
        "aria-label", re.compile("gate 0: gone. with all heads: previous word")
    )

    # A point by keyboard, and one of the gates' points by mouse, which takes its price.
    one.locator(".mha-kept-frame").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        keys.press(key)
    expect(one.locator(".mha-kept-point.is-walked")).to_have_count(1)
    expect(one.locator(".mha-tooltip:visible")).to_contain_text(re.compile(r"heads, [01]\.\d{3}"))
    keys.press("Escape")
    expect(one.locator(".mha-tooltip:visible")).to_have_count(0)
    below = one.locator("[data-by=importance] .mha-kept-point")
    all_points = below.count()
    one.locator("[data-control=close]").click()
    expect(below).not_to_have_count(all_points)
    one.locator("[data-by=gates] .mha-kept-point").first.click()
    expect(words).to_contain_text("At a price of 0.01, 13 of 16")
    expect(slider).to_have_attribute("aria-valuenow", "0.01")
    assert two.locator("[data-fact=words]").inner_text() == other

    lab.set_theme("dark")
    assert one.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 23, 28)"
    open_cell = cell(one, 2, 7).evaluate("e => getComputedStyle(e).backgroundColor")
    lab.set_theme("light")
    expect(cell(one, 2, 7)).not_to_have_css("background-color", open_cell)

    page.emulate_media(reduced_motion="reduce")
    keys.press("Control+b")  # the file browser away, as one does in a narrow window
    for width in (933, 620, 420):  # 933: what is left of 1400 px at 150 %
        page.set_viewport_size({"width": width, "height": 900})
        expect(one.locator(".mha-kept-chart")).to_be_visible()
        assert fits(one) and fits(two), width
    heights = [part.bounding_box()["height"] for part in one.locator(".mha-segment").all()]
    assert min(heights) >= 24 and cell(one, 1, 1).bounding_box()["height"] >= 22
