"""LiveTraining in real JupyterLab: start, stop as the first click beside a busy cell, interrupt, going on."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage, LabServer

STEPS = 4_000  # more than any of these tests waits for
SOON = 60_000
FIRST = "import os\nfrom mha_course import widgets\n"
SHORT = FIRST + "os.environ['MHA_COURSE_STEPS'] = '{steps}'\nlive = widgets.LiveTraining(seed={seed})"


def notebook(lab: LabPage, name: str, *cells: str) -> Locator:
    lab.server.write_notebook(name, list(cells))
    lab.open(name)
    lab.run_all(120)
    assert lab.error_outputs() == []
    widget = lab.page.locator(".mha-widget.mha-live").last
    widget.scroll_into_view_if_needed()
    return widget


def button(widget: Locator) -> Locator:
    return widget.locator("button[data-control=run]")


def step(widget: Locator) -> int:
    return int(widget.locator("[role=progressbar]").get_attribute("aria-valuenow"))


def type_and_run(lab: LabPage, code: str) -> None:
    """Put code in the place of the last cell's, and run it; doesn't wait for its end."""
    lab.page.locator(".jp-CodeCell .cm-content").last.click()
    lab.page.keyboard.press("Control+a")
    lab.page.keyboard.type(code)
    lab.page.keyboard.press("Shift+Enter")
    expect(lab.page.locator(".jp-CodeCell .jp-InputArea-prompt", has_text="[*]")).to_have_count(1)


@pytest.fixture
def closing(lab: LabPage) -> Iterator[LabPage]:
    """Afterwards the kernel goes, and with it the process that trains."""
    yield lab
    lab.menu("Kernel", "Shut Down Kernel")


def test_untouched_it_waits_and_a_short_training_ends(closing: LabPage) -> None:
    lab = closing
    widget = notebook(lab, "live_short.ipynb", SHORT.format(steps=30, seed=1), "live")
    expect(widget).to_have_attribute("data-state", "new")
    assert lab.pictures_without_alt() == []
    expect(widget.locator("[data-fact=words]")).to_contain_text("Nothing runs yet")
    lab.page.wait_for_timeout(1_000)
    expect(widget).to_have_attribute("data-state", "new")
    button(widget).click()
    expect(widget).to_have_attribute("data-state", "finished", timeout=SOON)
    expect(button(widget)).to_be_disabled()
    expect(widget.locator("[data-fact=words]")).to_contain_text("Finished: step 30 of 30")
    for part in ("stem", "ending", "mutation", "liaison"):
        expect(widget.locator(f"[data-accuracy={part}]")).to_have_text(re.compile(r"0\.\d\d"))
    assert widget.locator("svg.mha-live-heads polyline").count() == 4
    expect(widget.locator("tr[data-role=rarest] [data-cell=rule]")).to_contain_text("longest word")
    lab.set_theme("dark")
    assert widget.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 23, 28)"
    lab.set_theme("light")


def test_stop_is_the_first_click_while_a_cell_is_busy(closing: LabPage) -> None:
    lab = closing
    cells = (SHORT.format(steps=STEPS, seed=2), "live", "live.start()", "1")
    widget = notebook(lab, "live_first_click.ipynb", *cells)
    expect(widget.locator("[data-fact=words]")).to_contain_text("loss", timeout=SOON)
    type_and_run(lab, "import time; begun = time.monotonic()\nwhile time.monotonic() < begun + 25: pass")
    busy = lab.page.locator(".jp-CodeCell .jp-InputArea-prompt", has_text="[*]")
    expect(busy).to_have_count(1)
    before = step(widget)
    expect(widget.locator("[role=progressbar]")).not_to_have_attribute(
        "aria-valuenow", str(before), timeout=10_000
    )
    button(widget).click()
    expect(widget).to_have_attribute("data-state", "stopped", timeout=8_000)
    expect(busy).to_have_count(1)  # the cell had not ended
    stood = step(widget)
    lab.page.wait_for_timeout(1_500)
    assert step(widget) == stood


def test_interrupt_stops_and_the_same_cell_goes_on(closing: LabPage) -> None:
    lab = closing
    cells = (SHORT.format(steps=STEPS, seed=3), "live = widgets.LiveTraining(seed=3)\nlive", "1")
    widget = notebook(lab, "live_interrupt.ipynb", *cells)
    button(widget).click()
    expect(widget.locator("[data-fact=words]")).to_contain_text("loss", timeout=SOON)
    lab.menu("Kernel", "Interrupt Kernel")
    expect(widget).to_have_attribute("data-state", "stopped", timeout=SOON)
    expect(widget.locator("[data-fact=words]")).to_contain_text("Stopped at step")
    stood = step(widget)

    lab.run_cell(1)
    again = lab.page.locator(".mha-widget.mha-live").last
    expect(again).to_have_attribute("data-state", "running", timeout=SOON)
    moved_on = again.locator("[role=progressbar]")
    expect(moved_on).not_to_have_attribute("aria-valuenow", str(stood), timeout=SOON)
    assert step(again) > stood
    # An interrupt while a cell runs stops the cell and the training.
    type_and_run(lab, "import time; time.sleep(60)")
    lab.menu("Kernel", "Interrupt Kernel")
    expect(again).to_have_attribute("data-state", "stopped", timeout=SOON)
    expect(lab.page.locator(".jp-CodeCell .jp-InputArea-prompt", has_text="[*]")).to_have_count(0)
    stood = step(again)
    button(again).click()
    expect(again).to_have_attribute("data-state", "running", timeout=SOON)
    button(again).click()
    expect(again).to_have_attribute("data-state", "stopped", timeout=SOON)
    assert step(again) >= stood


def test_a_restarted_kernel_is_noticed_while_it_trains(closing: LabPage) -> None:
    lab = closing
    widget = notebook(lab, "live_restart.ipynb", SHORT.format(steps=STEPS, seed=3), "live")
    button(widget).click()
    expect(widget).to_have_attribute("data-state", "running", timeout=SOON)
    lab.menu("Kernel", "Restart Kernel…")
    lab.page.locator(".jp-Dialog button", has_text="Restart").first.click()
    quiet = widget.locator(".mha-live-quiet")
    expect(quiet).to_contain_text("run the cells from the top again", timeout=SOON)
    lab.run_all(120)
    expect(widget).to_have_attribute("data-state", "new")
    expect(quiet).to_have_count(0)


def test_narrow_window(server: LabServer, lab: LabPage) -> None:
    page = lab.narrow(480)
    page.server.write_notebook("live_narrow.ipynb", [SHORT.format(steps=20, seed=4), "live"])
    page.open("live_narrow.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    widget = page.page.locator(".mha-widget.mha-live")
    widget.scroll_into_view_if_needed()
    assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert button(widget).bounding_box()["height"] >= 24
