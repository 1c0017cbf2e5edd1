"""The PositionHead in real JupyterLab: sliders by keyboard and mouse, the walk over the map, themes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage, LabServer

CELLS = ["from mha_course import widgets", "widgets.PositionHead(offset=-1, beta=16, n=12)"]


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    lab.server.write_notebook("position_head.ipynb", CELLS)
    lab.open("position_head.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == []
    yield lab


def found(page: LabPage) -> Locator:
    widget = page.page.locator(".mha-widget.mha-pos")
    widget.scroll_into_view_if_needed()
    return widget


def test_sliders_walk_and_themes(page: LabPage) -> None:
    keys, widget = page.page.keyboard, found(page)
    assert page.pictures_without_alt() == []
    fact = {name: widget.locator(f"[data-fact={name}]") for name in ("least", "gap", "confidence", "enough")}
    expect(fact["least"]).to_have_text("0.999")
    expect(fact["gap"]).to_have_text("0.515")
    expect(fact["enough"]).to_have_text("13.6")
    expect(widget.locator(".mha-pos-words")).to_contain_text("Query 0 has no such position")

    widget.locator("[role=slider][data-control=d_k]").focus()
    keys.press("Home")
    expect(fact["least"]).to_have_text("0.645")
    expect(widget.locator(".mha-pos-words")).to_contain_text("nearest rival is 6 places away")
    widget.locator("[role=slider][data-control=beta]").focus()
    keys.press("Home")
    expect(widget.locator(".mha-pos-words")).to_contain_text("every weight is 1/12")
    expect(fact["confidence"]).to_have_text("0.083")
    keys.press("End")

    widget.locator("[role=slider][data-control=offset]").focus()
    keys.press("End")
    expect(widget.locator(".mha-pos-words")).to_contain_text("Each of 8 queries")
    assert widget.locator(".mha-pos-targets circle").count() == 8
    last = widget.locator(".mha-slider-ticks").last.locator("span").last
    last.click()  # a number below a slider is a target, too: n = 64
    expect(widget.locator(".mha-pos-targets circle")).to_have_count(60)
    assert widget.locator("canvas.mha-cells").evaluate("e => [e.width, e.height]") == [64, 64]

    widget.locator(".mha-pos-map .mha-frame").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        keys.press(key)
    expect(widget.locator(".mha-tooltip")).to_contain_text("1 → 1")
    keys.press("Escape")
    expect(widget.locator(".mha-tooltip")).to_be_hidden()

    page.set_theme("dark")
    assert widget.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 23, 28)"
    page.set_theme("light")


def test_narrow_window(server: LabServer, lab: LabPage) -> None:
    page = lab.narrow(480)
    server.write_notebook("narrow_position_head.ipynb", CELLS)
    page.open("narrow_position_head.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    widget = found(page)
    assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
    for target in widget.locator("[role=slider]").all():
        assert target.bounding_box()["height"] >= 24
