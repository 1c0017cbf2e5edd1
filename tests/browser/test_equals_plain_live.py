"""EqualsPlain and LowRank in real JupyterLab: by keyboard, two at once, both themes, a narrow window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.lab import LabPage, LabServer

CELLS = [
    "from mha_course import widgets",
    "widgets.EqualsPlain('talking')",
    "widgets.EqualsPlain('mixture', t=0.3)",
    "widgets.LowRank()",
    "widgets.LowRank('bell', 1)",
]


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    lab.server.write_notebook("equals_plain.ipynb", CELLS)
    lab.open("equals_plain.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == []
    yield lab


def test_equals_plain_by_keyboard(page: LabPage) -> None:
    keys, both = page.page.keyboard, page.page.locator(".mha-widget.mha-near")
    expect(both).to_have_count(2)
    assert page.pictures_without_alt() == []
    first, second = both.nth(0), both.nth(1)
    expect(first.locator("[data-fact=words]")).to_contain_text("Apart")
    apart = second.locator("[data-fact=output]").inner_text()
    first.locator("[role=slider][data-control=t]").focus()
    keys.press("Home")
    expect(first.locator("[data-fact=words]")).to_contain_text("Equal to plain heads")
    expect(first.locator("[data-fact=output]")).to_contain_text("10⁻¹⁵")
    expect(first.locator("[data-moving='P of the scores'] .mha-matrix-number")).to_have_text(
        [str(int(i == j)) for i in range(4) for j in range(4)]
    )
    expect(second.locator("[data-fact=output]")).to_have_text(apart)  # the other one stays
    keys.press("ArrowRight")
    expect(first.locator("[data-fact=words]")).to_contain_text("a tenth of t")

    # The maps answer to arrow keys, and keep who walks in them while an answer comes in.
    first.locator("[data-map=plain-2]").focus()
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    expect(first.locator(".mha-tooltip")).to_contain_text("1 → 2")
    expect(first.locator(".mha-tooltip")).to_contain_text("plain head 2")
    expect(first.locator(".mha-tooltip")).to_be_visible()

    second.locator("[role=slider][data-control=option]").focus()
    keys.press("ArrowLeft")
    expect(second.locator("[data-fact=words]")).to_contain_text("1 of the 3 routed heads is left out")
    page.set_theme("dark")
    assert second.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 23, 28)"
    page.set_theme("light")


def test_low_rank_by_keyboard(page: LabPage) -> None:
    keys, both = page.page.keyboard, page.page.locator(".mha-widget.mha-rank")
    expect(both).to_have_count(2)
    first, second = both.nth(0), both.nth(1)
    expect(first.locator("[data-fact=scores]")).to_have_text("2")
    expect(first.locator("[data-fact=map]")).to_have_text("8")
    expect(first.locator("[data-chart=scores] .mha-rank-dot.is-zero")).to_have_count(6)
    first.locator("[role=slider][data-control=d_k]").focus()
    for _ in range(5):
        keys.press("ArrowRight")
    expect(first.locator("[data-fact=divergence]")).to_have_text("0")
    expect(first.locator("[data-fact=words]")).to_contain_text("exactly enough")
    expect(first.locator("[data-chart=divergence] .is-now[data-bar]")).to_have_attribute("data-bar", "7")
    expect(second.locator("[data-fact=scores]")).to_have_text("1")
    first.locator("[data-control=pattern] [data-value='soft identity']").focus()
    keys.press("ArrowLeft")
    expect(first.locator("[data-control=pattern] [aria-checked=true]")).to_have_text("random")
    expect(first.locator("[data-fact=remark]")).to_contain_text("every feature helps")
    first.locator("[data-map=wanted]").focus()
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    expect(first.locator(".mha-tooltip")).to_contain_text("2 → 1")


def test_narrow_window(server: LabServer, lab: LabPage) -> None:
    page = lab.narrow(480)
    server.write_notebook("narrow_equals_plain.ipynb", CELLS)
    page.open("narrow_equals_plain.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    for widget in page.page.locator(".mha-widget").all():
        widget.scroll_into_view_if_needed()
        assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
        for target in widget.locator("[role=slider], [role=radio]").all():
            assert target.bounding_box()["height"] >= 24
