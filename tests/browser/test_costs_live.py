"""Roofline and BatchingTimeline in real JupyterLab: controls, labels, themes, a narrow window."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Chromium, LabPage, LabServer

HOSTILE = "<img src=x onerror=alert(1)> 三月"
CELLS = [
    "from mha_course import cost, widgets",
    "roof = widgets.Roofline()\nroof",
    f"own = cost.Machine({HOSTILE!r}, 60e9, 9.4e9, {HOSTILE!r})\n"
    "widgets.Roofline(own, b=8, length=1024, d_model=512, h=8)",
    "timeline = widgets.BatchingTimeline(seats=3, spread=8)\ntimeline",
    "roof.b = 512; timeline.spread = 1; roof.n_kv_heads, len(timeline.requests())",
]


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    lab.server.write_notebook("costs.ipynb", CELLS)
    lab.open("costs.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == []
    yield lab


def found(page: LabPage, name: str, nth: int = 0) -> Locator:
    widget = page.page.locator(f".mha-widget.{name}").nth(nth)
    widget.scroll_into_view_if_needed()
    return widget


def no_labels_touch(widget: Locator) -> None:
    boxes = widget.locator(".mha-roof-name").evaluate_all(
        "all => all.map(e => e.getBBox()).map(b => [b.x, b.y, b.x + b.width, b.y + b.height])"
    )
    dots = widget.locator(".mha-roof-point").evaluate_all(
        "all => all.map(e => [+e.getAttribute('cx'), +e.getAttribute('cy')])"
    )
    width = widget.locator(".mha-roof-chart").evaluate("e => e.viewBox.baseVal.width")
    assert len(boxes) == len(dots) >= 3
    for one, other in itertools.combinations(boxes, 2):
        across = min(one[2], other[2]) - max(one[0], other[0])
        down = min(one[3], other[3]) - max(one[1], other[1])
        assert across <= 0 or down <= 1, (one, other)  # a line's box is higher than its letters
    for box in boxes:
        assert box[2] <= width + 1
        assert not any(box[0] < x < box[2] and box[1] + 2 < y < box[3] - 2 for x, y in dots)


def cell(widget: Locator, row: str, name: str) -> Locator:
    return widget.locator(f"tr[data-stage='{row}'] td[data-cell={name}]")


def test_by_keyboard_and_mouse(page: LabPage) -> None:
    assert page.pictures_without_alt() == []
    use_the_roofline(page)
    use_the_timeline(page)
    for theme, paper in (("dark", "rgb(21, 23, 28)"), ("light", "rgb(255, 255, 255)")):
        page.set_theme(theme)
        for name in ("mha-roof", "mha-batch"):
            expect(found(page, name)).to_have_css("background-color", paper)


def use_the_roofline(page: LabPage) -> None:
    keys, roof, own = page.page.keyboard, found(page, "mha-roof"), found(page, "mha-roof", 1)
    # The last cell has moved b from Python.
    expect(roof.locator("[role=slider][data-control=b]")).to_have_attribute("aria-valuenow", "512")
    expect(cell(roof, "projections", "bound")).to_have_text("compute")
    expect(cell(roof, "scores", "intensity")).to_have_text("0.992")
    no_labels_touch(roof)

    roof.locator("[role=slider][data-control=b]").focus()
    keys.press("Home")
    expect(cell(roof, "projections", "intensity")).to_have_text("1.00")
    expect(roof.locator("[data-fact=words]")).to_contain_text("Every stage is bound by memory")
    expect(roof.locator(".mha-roof-point[data-bound=memory]")).to_have_count(5)
    no_labels_touch(roof)
    roof.locator("[role=slider][data-control=n_kv_heads]").focus()
    keys.press("Home")
    expect(cell(roof, "scores", "intensity")).to_have_text("25.4")
    roof.locator("[role=slider][data-control=d_model]").focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft"):
        keys.press(key)
    expect(roof.locator("[role=slider][data-control=d_model]")).to_have_attribute("aria-valuenow", "768")
    roof.locator("[role=radio][data-value=prefill]").click()
    expect(roof.locator("[role=slider][data-control=length]")).to_have_attribute(
        "aria-label", "n, tokens of the text"
    )
    roof.locator("[role=switch][data-control=fused]").click()
    expect(roof.locator("tbody tr")).to_have_count(4)
    no_labels_touch(roof)
    roof.locator("select[data-control=device]").select_option("NVIDIA H100 SXM")
    expect(roof.locator("[data-fact=source]")).to_contain_text("NVIDIA H100 data sheet")
    expect(roof.locator("[data-fact=notice]")).to_be_hidden()
    roof.locator("[role=radio][data-value='4']").click()
    expect(roof.locator("[data-fact=notice]")).to_contain_text("the true roof is lower")

    roof.locator("svg.mha-roof-chart").focus()
    keys.press("ArrowRight")
    expect(roof.locator(".mha-tooltip")).to_contain_text("FLOP/byte, at most")
    keys.press("Escape")
    expect(roof.locator(".mha-tooltip")).to_be_hidden()
    cell(roof, "attention", "flops").hover()
    expect(roof.locator(".mha-roof-name.is-lit")).to_contain_text("attention, fused")

    # The other one on the page has stayed as it was; its machine's name is text.
    expect(own.locator("option").first).to_have_text(HOSTILE)
    expect(own.locator("[role=slider][data-control=b]")).to_have_attribute("aria-valuenow", "8")
    assert page.page.locator(".mha-widget img").count() == 0
    no_labels_touch(own)


def use_the_timeline(page: LabPage) -> None:
    keys, line = page.page.keyboard, found(page, "mha-batch")
    runs = line.locator("g[data-way=static] .mha-batch-run")
    expect(line.locator("[role=slider][data-control=spread]")).to_have_attribute("aria-valuenow", "1")
    expect(runs.and_(line.locator("[data-doing=writing]"))).to_have_count(16)
    line.locator("[role=slider][data-control=spread]").focus()
    keys.press("End")
    expect(line.locator("[data-fact=words]")).to_contain_text("times as many tokens a second")
    assert line.locator("g[data-way=static] [data-doing=kept]").count() > 4
    assert line.locator("g[data-way=continuous] [data-doing=kept]").count() == 0
    before = line.locator("[data-fact=words]").inner_text()
    line.locator("[data-control=draw]").click()
    expect(line.locator("[data-fact=words]")).not_to_have_text(before)
    line.locator("[role=slider][data-control=seats]").focus()
    keys.press("Home")
    expect(line.locator("[data-fact=words]")).to_contain_text("with one seat there is nobody to wait for")
    expect(line.locator("tr[data-way=static] td[data-cell=working]")).to_have_text("1.00 of 1")

    line.locator("svg.mha-batch-chart").focus()
    keys.press("ArrowDown")
    expect(line.locator(".mha-tooltip")).to_contain_text(
        "request 1, seat 1: its prompt of 256 tokens is read"
    )
    line.locator("g[data-way=continuous] .mha-batch-box").nth(3).hover()
    expect(line.locator(".mha-batch-run.is-lit")).to_have_count(4)


def test_narrow_window(server: LabServer, chromium: Chromium) -> None:
    page = chromium.page(server, width=620, height=900, reduced_motion="reduce", device_scale_factor=1.5)
    server.write_notebook("narrow_costs.ipynb", CELLS)
    page.open("narrow_costs.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    for name in ("mha-roof", "mha-batch"):
        widget = found(page, name)
        assert widget.evaluate("e => e.scrollWidth <= e.clientWidth"), name
        assert widget.locator(".mha-cost-scroll").evaluate("e => e.scrollWidth <= e.clientWidth + 1"), name
        low = "all => all.filter(e => e.getBoundingClientRect().height < 23.5).map(e => e.className)"
        assert widget.locator("button, select, [role=slider]").evaluate_all(low) == []
    no_labels_touch(found(page, "mha-roof"))
    no_labels_touch(found(page, "mha-roof", 1))
    assert page.console_errors == [] and page.foreign_requests == []
    page.page.context.close()
