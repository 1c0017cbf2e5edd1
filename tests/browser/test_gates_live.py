"""GatesLive in real JupyterLab, two on a page: start, stop, interrupt, go on, a run to its end, widths."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage

SOON = 240_000
CELLS = [
    "from mha_course import widgets\nshort = widgets.GatesLive(seed=1, steps=20)\nshort",
    "long = widgets.GatesLive(price=0.2, steps=20_000)\nlong",
    "1",
]


@pytest.fixture
def closing(lab: LabPage) -> Iterator[LabPage]:
    """Afterwards the kernel goes, and with it the processes that learn."""
    yield lab
    lab.menu("Kernel", "Shut Down Kernel")


def button(widget: Locator) -> Locator:
    return widget.locator("button[data-control=run]")


def step(widget: Locator) -> int:
    return int(widget.locator("[role=progressbar]").get_attribute("aria-valuenow"))


def moves_on(lab: LabPage, stood: int) -> None:
    """Wait until the second widget on the page has come further than this."""
    lab.page.wait_for_function(
        """stood => {
          const bar = document.querySelectorAll('.mha-gates [role=progressbar]')[1];
          return bar && Number(bar.getAttribute('aria-valuenow')) > stood;
        }""",
        arg=stood,
        timeout=SOON,
    )


def test_learn_stop_interrupt_go_on_and_end(closing: LabPage) -> None:
    lab = closing
    lab.server.write_notebook("gates.ipynb", CELLS)
    lab.open("gates.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == [] and lab.pictures_without_alt() == []
    page, keys = lab.page, lab.page.keyboard
    short, long = (page.locator(".mha-widget.mha-gates").nth(i) for i in (0, 1))
    for widget in (short, long):
        expect(widget).to_have_attribute("data-state", "new")
        expect(widget.locator("[data-fact=words]")).to_contain_text("Nothing runs yet")
        assert widget.locator(".mha-gate-number", has_text=re.compile("^1$")).count() == 16

    # The long one: started by keyboard, stopped by the button, by an interrupt, and gone on with.
    long.scroll_into_view_if_needed()
    button(long).focus()
    keys.press("Enter")
    moves_on(lab, 0)
    expect(long.locator("[data-fact=words]")).to_contain_text("of 16 heads open")
    button(long).click()
    expect(long).to_have_attribute("data-state", "stopped", timeout=SOON)
    expect(button(long)).to_have_text("Go on")
    stood = step(long)
    button(long).click()
    moves_on(lab, stood)
    lab.menu("Kernel", "Interrupt Kernel")
    expect(long).to_have_attribute("data-state", "stopped", timeout=SOON)
    stood = step(long)
    lab.run_cell(1)  # the same cell goes on
    moves_on(lab, stood)
    gate = long.locator(".mha-gate-number").first
    expect(gate).to_have_text(re.compile(r"^(0\.\d\d|0)$"), timeout=SOON)
    button(long).click()
    expect(long).to_have_attribute("data-state", "stopped", timeout=SOON)

    # The short one, to its end; the other stays where it stopped.
    stood = step(long)
    short.scroll_into_view_if_needed()
    button(short).click()
    expect(short).to_have_attribute("data-state", "finished", timeout=SOON)
    expect(button(short)).to_be_disabled()
    expect(short.locator("[data-fact=words]")).to_contain_text("Finished: step 20 of 20")
    expect(short.locator("[data-fact=left]")).to_contain_text("of 16 heads are left")
    for part in ("stem", "ending", "mutation", "liaison"):
        share = short.locator(f".mha-gloss-meters tr[data-part={part}] [data-cell=share]")
        expect(share).to_have_text(re.compile(r"^(100|\d\d\.\d) %$"))
    expect(short.locator("svg.mha-gates-open")).to_have_attribute("aria-label", re.compile("step 20 of 20"))
    price = short.locator("[role=slider][data-control=price]")
    price.focus()
    keys.press("ArrowRight")
    expect(short).to_have_attribute("data-state", "new")
    expect(price).to_have_attribute("aria-valuetext", "price 0.1")
    keys.press("ArrowLeft")
    expect(short).to_have_attribute("data-state", "finished")
    assert step(long) == stood and long.get_attribute("data-state") == "stopped"

    first = short.locator("button.mha-role-cell[data-layer='1'][data-head='2']")
    first.focus()
    keys.press("ArrowDown")
    expect(short.locator(".mha-tooltip:visible")).to_contain_text("L2 H2  gate")
    expect(first).to_have_attribute("aria-label", re.compile(r"Layer 1, head 2\. gate .*rarest word"))

    lab.set_theme("dark")
    assert short.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 23, 28)"
    lab.set_theme("light")
    page.emulate_media(reduced_motion="reduce")
    keys.press("Control+b")  # the file browser away, as one does in a narrow window
    for width in (933, 620, 420):  # 933: what is left of 1400 px at 150 %
        page.set_viewport_size({"width": width, "height": 900})
        expect(short.locator("svg.mha-gates-open")).to_be_visible()
        assert short.evaluate("e => e.scrollWidth <= e.clientWidth"), width
    assert button(short).bounding_box()["height"] >= 24
