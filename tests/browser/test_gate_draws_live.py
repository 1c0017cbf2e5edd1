"""GateDraws in real JupyterLab: both sliders by keyboard, two at once, themes, a narrow window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage, LabServer

CELLS = ["from mha_course import widgets", "widgets.GateDraws()", "widgets.GateDraws(log_alpha=2)"]


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    lab.server.write_notebook("gate_draws.ipynb", CELLS)
    lab.open("gate_draws.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == []
    yield lab


def facts(widget: Locator) -> dict[str, Locator]:
    return {name: widget.locator(f"[data-fact={name}]") for name in ("zero", "one", "open", "end")}


def test_sliders_move_one_of_two_and_themes(page: LabPage) -> None:
    keys, both = page.page.keyboard, page.page.locator(".mha-widget.mha-gate")
    expect(both).to_have_count(2)
    first, second = facts(both.nth(0)), facts(both.nth(1))
    assert page.pictures_without_alt() == []
    expect(first["open"]).to_have_text("0.688")
    expect(second["open"]).to_have_text("0.942")
    expect(both.nth(0).locator("[data-bar]")).to_have_count(12)
    expect(both.nth(0).locator(".mha-gate-words")).to_contain_text("Both ends are as likely")

    both.nth(0).locator("[role=slider][data-control=log_alpha]").focus()
    keys.press("Home")
    expect(first["end"]).to_have_text("0")
    expect(both.nth(0).locator(".mha-gate-words")).to_contain_text("the head is gone")
    keys.press("End")
    expect(first["end"]).to_have_text("1")
    expect(second["open"]).to_have_text("0.942")  # the other one stays
    both.nth(0).locator("[role=slider][data-control=beta]").focus()
    keys.press("End")
    expect(first["one"]).to_have_text("0.931")

    page.set_theme("dark")
    assert both.nth(0).evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 23, 28)"
    page.set_theme("light")


def test_narrow_window(server: LabServer, lab: LabPage) -> None:
    page = lab.narrow(480)
    server.write_notebook("narrow_gate_draws.ipynb", CELLS[:2])
    page.open("narrow_gate_draws.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    widget = page.page.locator(".mha-widget.mha-gate")
    widget.scroll_into_view_if_needed()
    assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
    for target in widget.locator("[role=slider]").all():
        assert target.bounding_box()["height"] >= 24
