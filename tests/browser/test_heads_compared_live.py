"""HeadsCompared in real JupyterLab: choose, light a row in both, shuffle, count, go back."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.lab import LabPage, LabServer

CELLS = [
    "from mha_course import widgets\nfrom mha_course.models.course_models import load_course_model",
    "model, untrained = load_course_model(), load_course_model(step=0)\n"
    "widgets.HeadsCompared(model, left=(2, 1), right=(1, 7), control=untrained)",
]


def test_choose_light_shuffle_and_count(lab: LabPage) -> None:
    lab.server.write_notebook("heads_compared.ipynb", CELLS)
    lab.open("heads_compared.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == [] and lab.pictures_without_alt() == []
    widget = lab.page.locator(".mha-widget.mha-compare")
    left, right = (widget.locator(f".mha-compare-side.is-{name}") for name in ("left", "right"))
    expect(left.locator("h4")).to_have_text("Layer 2, head 1")
    expect(left.locator(".mha-compare-line")).to_contain_text("old → farmer")
    widget.locator(".mha-arcs .mha-word").nth(5).click()
    for side in (left, right):
        expect(side.locator(".mha-query.mha-lit")).to_have_text("barns")
    right.locator(".mha-frame").focus()
    lab.page.keyboard.press("ArrowDown")
    for side in (left, right):
        expect(side.locator(".mha-query.mha-lit")).to_have_text("sees")
    right.locator("[data-control=right-head] [data-value='4']").click()
    expect(right.locator("h4")).to_have_text("Layer 1, head 4")

    expect(widget.locator(".mha-compare-table")).not_to_be_visible()
    before = widget.locator(".mha-arcs").get_attribute("aria-label")
    widget.locator("[data-control=shuffle]").click()
    expect(widget.locator("[data-fact=order]")).to_contain_text("Shuffled")
    expect(left.locator("[data-mark=place]").first).to_be_attached()
    assert left.locator("[data-mark=place]").count() == left.locator("[data-mark=word]").count()
    expect(left.locator(".mha-compare-line")).to_contain_text("before: →")
    widget.locator("[data-control=count]").click()
    expect(widget.locator(".mha-compare-group")).to_have_count(3)
    verdicts = widget.locator("td[data-verdict]")
    expect(verdicts.nth(2)).to_have_text("follows the place")
    widget.locator("[data-control=written]").click()
    expect(left.locator("[data-mark]")).to_have_count(0)
    widget.locator(".mha-arcs .mha-word").nth(1).click()
    assert widget.locator(".mha-arcs").get_attribute("aria-label") != before

    field = widget.locator("input[data-control=sentence]")
    field.fill("the <b>ocelot</b> sees the שלום 猫 .")
    field.press("Enter")
    expect(widget.locator(".mha-box")).to_contain_text("ocelot")
    expect(widget.locator(".mha-box b, .mha-map b")).to_have_count(0)
    field.fill("")
    field.press("Enter")
    expect(widget.locator(".mha-box-empty")).to_be_visible()
    expect(left).not_to_be_visible()
    canvas = left.locator("canvas").first
    widget.locator(".mha-link").click()
    expect(left).to_be_visible()
    light = canvas.evaluate("e => e.toDataURL()")
    lab.set_theme("dark")
    assert canvas.evaluate("e => e.toDataURL()") != light
    lab.set_theme("light")


def test_narrow_window(server: LabServer, lab: LabPage) -> None:
    page = lab.narrow(480)
    server.write_notebook("narrow_heads_compared.ipynb", CELLS)
    page.open("narrow_heads_compared.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    widget = page.page.locator(".mha-widget.mha-compare")
    widget.locator("[data-control=shuffle]").click()
    expect(widget.locator(".mha-compare-table")).to_be_visible()
    assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
    for target in widget.locator("button:visible").all():
        assert target.bounding_box()["height"] >= 24
    page.set_theme("dark")  # while it changes nothing has a width
    assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
    expect(widget).to_have_class(re.compile("is-stacked"))
    page.set_theme("light")
