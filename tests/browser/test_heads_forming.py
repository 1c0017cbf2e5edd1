"""HeadsForming in real JupyterLab: slider, play button, heads by mouse and keyboard, sentences, themes."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage, LabServer

CELLS = ["from mha_course import widgets", "widgets.HeadsForming(layer=2, head=2)"]


def opened(page: LabPage, name: str) -> Locator:
    page.server.write_notebook(name, CELLS)
    page.open(name)
    page.run_all(120)
    assert page.error_outputs() == []
    widget = page.page.locator(".mha-widget.mha-form")
    widget.scroll_into_view_if_needed()
    return widget


def pixels(widget: Locator, layer: int, head: int) -> str:
    return widget.locator(
        f".mha-form-head[data-layer='{layer}'][data-head='{head}'] canvas.mha-cells"
    ).evaluate("e => e.toDataURL()")


def apart(widget: Locator) -> bool:
    """Whether the numbers in sight below the slider stand clear of one another, with the chosen one."""
    numbers = [number for number in widget.locator(".mha-slider-number").all() if number.is_visible()]
    boxes = sorted(
        (box["x"], box["x"] + box["width"]) for number in numbers if (box := number.bounding_box())
    )
    chosen = widget.locator(".mha-slider-number.mha-chosen").is_visible()
    return chosen and len(boxes) >= 3 and all(a[1] <= b[0] for a, b in zip(boxes, boxes[1:], strict=False))


def test_slider_play_heads_and_sentences(lab: LabPage) -> None:
    widget, keys = opened(lab, "forming.ipynb"), lab.page.keyboard
    assert lab.pictures_without_alt() == []
    words, slider = widget.locator("[data-fact=words]"), widget.locator("[role=slider][data-control=step]")
    expect(words).to_contain_text("After 0 steps: 0 of 16 heads have a role")
    untrained = pixels(widget, 2, 2)
    slider.focus()
    keys.press("End")
    expect(words).to_contain_text("After 1,800 steps")
    assert pixels(widget, 2, 2) != untrained
    expect(widget.locator(".mha-form-head[data-layer='2'][data-head='2'] .mha-form-role")).to_have_text("−1")
    expect(widget.locator(".mha-form-title")).to_contain_text("previous word: 0.9")

    widget.locator(".mha-form-head[data-layer='1'][data-head='7'] .mha-frame").click()
    expect(widget.locator(".mha-form-title")).to_contain_text("layer 1, head 7  rarest word")
    widget.locator(".mha-form-head[data-layer='1'][data-head='7'] .mha-frame").focus()
    keys.press("ArrowDown")
    expect(widget.locator(".mha-form-title")).to_contain_text("layer 2, head 7")
    widget.locator(".mha-form-detail .mha-frame").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        keys.press(key)
    expect(widget.locator(".mha-tooltip")).to_contain_text("old → old")

    # At the end, Play begins again; each stop lasts about a second.
    play = widget.locator("[data-control=play]")
    play.click()
    expect(words).to_contain_text("After 0 steps")
    expect(play).to_have_text("Pause")
    expect(words).to_contain_text("After 300 steps", timeout=8_000)
    play.click()
    expect(play).to_have_text("Play")
    stood = words.inner_text()
    lab.page.wait_for_timeout(1_800)
    assert words.inner_text() == stood

    field = widget.locator("input[data-control=sentence]")
    field.fill("The zebra sleeps near the little workshop .")
    field.press("Enter")
    expect(widget.locator(".mha-box")).to_contain_text("zebra: read as <unk>")
    expect(widget.locator(".mha-form-detail .mha-query").nth(1)).to_have_text("zebra")
    field.fill("")
    field.press("Enter")
    expect(widget.locator(".mha-box")).to_contain_text("No sentence yet")
    widget.locator(".mha-box button").click()
    expect(widget.locator(".mha-form-detail .mha-query").nth(2)).to_have_text("farmer")

    lab.set_theme("dark")
    assert widget.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 23, 28)"
    lab.set_theme("light")


@pytest.mark.parametrize("width", [480])
def test_narrow_window_without_motion(server: LabServer, lab: LabPage, width: int) -> None:
    page = lab.narrow(width)
    page.server.write_notebook("narrow_forming.ipynb", CELLS)
    page.open("narrow_forming.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    widget = page.page.locator(".mha-widget.mha-form")
    widget.scroll_into_view_if_needed()
    assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert apart(widget)
    play = widget.locator("[data-control=play]")
    expect(play).to_have_text("Next")
    play.click()
    expect(widget.locator("[data-fact=words]")).to_contain_text("After 150 steps")
    page.page.wait_for_timeout(1_800)
    expect(widget.locator("[data-fact=words]")).to_contain_text("After 150 steps")
    assert apart(widget)
