"""HeadMap in real JupyterLab: thresholds, heads by mouse and keys, sentences, shuffle, themes, two maps."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage, LabServer

CELLS = [
    "from mha_course import widgets",
    "head_map = widgets.HeadMap(layer=1, head=3)\nhead_map",
]
ASKED = (
    'print(len(head_map.roles()["syntactic"]), *head_map.thresholds.values(), head_map.layer, head_map.head)'
)
# Only the grid may be scrolled sideways; labels of a map lean out over its right edge.
STICKING_OUT = """e => [...e.querySelectorAll('*')].filter(x =>
  !x.closest('.mha-headmap-scroll, .mha-sr, .mha-tooltip, .mha-key') && x.getClientRects().length &&
  x.getBoundingClientRect().right > e.getBoundingClientRect().right + 0.5
).map(x => x.className.baseVal ?? x.className)"""


def opened(page: LabPage, name: str, cells: list[str], window: bool = False) -> Locator:
    page.server.write_notebook(name, cells)
    page.open(name)
    if window:
        page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(180)
    assert page.error_outputs() == []
    widget = page.page.locator(".mha-widget.mha-headmap").first
    widget.scroll_into_view_if_needed()
    return widget


def cell(widget: Locator, layer: int, head: int) -> Locator:
    return widget.locator(f"button.mha-role-cell[data-layer='{layer}'][data-head='{head}']")


def pixels(widget: Locator) -> str:
    return widget.locator(".mha-map-left canvas.mha-cells").evaluate("e => e.toDataURL()")


def test_thresholds_heads_and_sentences(lab: LabPage) -> None:
    widget, keys = opened(lab, "head_map.ipynb", CELLS), lab.page.keyboard
    assert lab.pictures_without_alt() == []
    assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
    expect(widget.locator(".mha-role-cell[data-role=syntactic]")).to_have_count(7)
    expect(cell(widget, 1, 3)).to_have_attribute("aria-selected", "true")

    # The slider is a native one: keys move it, the map and the count follow at once.
    strip = widget.locator(".mha-strip[data-role=syntactic]")
    slider = strip.locator("input[type=range]")
    slider.focus()
    for _ in range(25):
        keys.press("ArrowRight")
    expect(strip.locator(".mha-strip-count")).to_have_text("4 of 16 ≥ +35 pts")
    expect(slider).to_have_attribute("aria-valuetext", "+35 pts: 4 of 16 heads")
    expect(widget.locator(".mha-role-cell[data-role=syntactic]")).to_have_count(4)
    expect(strip.locator("circle.is-passing")).to_have_count(4)
    slider.evaluate("e => { e.value = -0.05; e.dispatchEvent(new Event('input', { bubbles: true })); }")
    expect(strip).to_have_class("mha-strip is-below-baseline")
    expect(strip.locator(".mha-strip-count")).to_contain_text("≥ −5 pts")
    widget.locator("[data-control=reset]").click()
    expect(widget.locator(".mha-role-cell[data-role=syntactic]")).to_have_count(7)
    # A press on the strip moves the threshold there, a press on a dot chooses its head.
    strip.locator("svg").click(position={"x": 12, "y": 4})
    expect(strip.locator(".mha-strip-count")).to_contain_text("16 of 16")
    widget.locator("[data-control=reset]").click()
    widget.locator(".mha-strip[data-role=rare] circle[data-head-index='6']").click()
    expect(widget.locator(".mha-head-title")).to_have_text("L1 H7")
    expect(widget.locator(".mha-head-chips")).to_contain_text("rare")

    # By mouse, then by keyboard: arrows move the focus with a tooltip, Enter chooses.
    before = pixels(widget)
    cell(widget, 2, 2).click()
    expect(widget.locator(".mha-head-title")).to_have_text("L2 H2")
    expect(widget.locator("[data-fact=rank]")).to_contain_text("from best to worst at “previous token”")
    assert pixels(widget) != before
    keys.press("ArrowRight")
    expect(cell(widget, 2, 3)).to_be_focused()
    expect(widget.locator(".mha-tooltip:visible")).to_contain_text("L2 H3")
    expect(widget.locator(".mha-head-title")).to_have_text("L2 H2")
    keys.press("Enter")
    expect(widget.locator(".mha-head-title")).to_have_text("L2 H3")
    keys.press("ArrowUp")
    keys.press("Home")
    expect(cell(widget, 1, 1)).to_be_focused()

    # Bars: roamed by arrow keys, each says all of it.
    bars = widget.locator(".mha-scores").nth(1)
    bars.focus()
    keys.press("ArrowDown")
    expect(widget.locator(".mha-score.is-walked")).to_have_count(1)
    expect(widget.locator(".mha-tooltip:visible")).to_contain_text("95 % interval")
    assert "asked" in (
        widget.locator(".mha-headmap-right .mha-score").first.get_attribute("aria-label") or ""
    )

    # Best, worst, and one by one between them.
    rank = widget.locator("[data-fact=rank]")
    best = rank.inner_text()
    walked = widget.locator(".mha-score.is-walked")
    name = walked.get_attribute("data-name")
    # Bars are drawn anew when the kernel answers: who walks there stays (a script's click takes no focus).
    widget.locator("[data-control=mode] [data-value=worst]").evaluate("e => e.click()")
    expect(rank).not_to_have_text(best)
    expect(walked).to_have_attribute("data-name", name)
    expect(widget.locator("[data-control=next-example]")).to_be_disabled()
    worst = rank.inner_text()
    widget.locator("[data-control=previous-example]").click()
    expect(rank).not_to_have_text(worst)
    expect(widget.locator("[data-control=mode] [data-value=stay]")).to_have_attribute("aria-checked", "true")

    # Cells of the map by keyboard.
    widget.locator(".mha-map-left .mha-frame").focus()
    keys.press("ArrowRight")
    expect(widget.locator(".mha-tooltip:visible")).to_contain_text("→")
    field = widget.locator("input[data-control=sentence]")
    field.fill("The zebra sleeps near <b>the</b> workshop .")
    field.press("Enter")
    expect(widget.locator(".mha-box")).to_contain_text("zebra")
    expect(widget.locator(".mha-map-left .mha-query").nth(1)).to_have_text("zebra")
    assert widget.locator(".mha-map-left b").count() == 0
    field.fill("狐狸睡在河边。")
    field.press("Enter")
    expect(widget.locator(".mha-map-left .mha-key").nth(1)).to_have_text("狸")
    field.fill("")
    field.press("Enter")
    expect(widget.locator(".mha-box")).to_contain_text("No sentence yet")
    widget.locator(".mha-box button").click()
    expect(widget.locator(".mha-map-left .mha-query").nth(2)).to_have_text("captain")
    widget.locator("[data-control=shuffle]").click()
    expect(widget.locator("[data-fact=shuffle]")).to_contain_text("Words shuffled.")
    widget.locator("[data-control=unshuffle]").click()
    expect(widget.locator("[data-fact=shuffle]")).to_be_hidden()

    light, size = pixels(widget), cell(widget, 1, 1).bounding_box()["width"]
    lab.set_theme("dark")
    assert cell(widget, 1, 1).bounding_box()["width"] == size
    assert widget.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 23, 28)"
    assert pixels(widget) != light
    lab.set_theme("light")


def test_python_knows_what_was_moved_and_two_maps_keep_apart(lab: LabPage) -> None:
    cells = [*CELLS, "other = widgets.HeadMap('MiniLM')\nother", ASKED]
    widget = opened(lab, "two_maps.ipynb", cells)
    other = lab.page.locator(".mha-widget.mha-headmap").nth(1)
    expect(other.locator(".mha-role-cell")).to_have_count(72)
    chosen = other.locator(".mha-head-title").inner_text()
    expect(other.locator("[data-fact=closed]")).to_contain_text("of this list only")
    expect(other.locator("input[data-control=sentence]")).to_be_hidden()
    strip = widget.locator(".mha-strip[data-role=syntactic]")
    strip.locator("input[type=range]").focus()
    for _ in range(25):
        lab.page.keyboard.press("ArrowRight")
    cell(widget, 2, 8).click()
    expect(widget.locator(".mha-head-title")).to_have_text("L2 H8")
    assert other.locator(".mha-head-title").inner_text() == chosen
    other.locator("[data-control=special]").click()
    expect(other.locator(".mha-map-left .mha-query").first).to_have_text("[CLS]")
    lab.run_cell(3)
    expect(lab.page.get_by_text("4 0.9 0.9 0.35 0.3 0.9 2 8")).to_be_visible()


@pytest.mark.parametrize("width", [620, 360])
def test_narrow_windows(server: LabServer, lab: LabPage, width: int) -> None:
    page = lab.narrow(width)
    widget = opened(
        page,
        f"narrow_map_{width}.ipynb",
        ["from mha_course import widgets", "widgets.HeadMap('MiniLM')"],
        window=True,
    )
    assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
    cell(widget, 1, 3).click()
    expect(widget.locator(".mha-head-title")).to_have_text("L1 H3")
    assert widget.evaluate(STICKING_OUT) == []
