"""The TranslationStepper in real JupyterLab: step on and back, another head, another sentence, dark theme."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage, LabServer

CELLS = [
    "from mha_course import widgets",
    "widgets.TranslationStepper('two small dogs near the bridge chase the white cat .', layer=2, head=2)",
]


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    lab.server.write_notebook("translation_stepper.ipynb", CELLS)
    lab.open("translation_stepper.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == []
    yield lab


def button(widget: Locator, name: str) -> Locator:
    return widget.locator(f"button[data-control={name}]")


def test_step_through_choose_and_rewrite(page: LabPage) -> None:
    keys, widget = page.page.keyboard, page.page.locator(".mha-widget.mha-step")
    widget.scroll_into_view_if_needed()
    assert page.pictures_without_alt() == []
    source, written = widget.locator("[data-source]"), widget.locator(".mha-step-target button[data-step]")
    words, lit = widget.locator(".mha-step-words"), widget.locator(".mha-step-chip.is-lit")
    expect(source).to_have_count(11)
    expect(written).to_have_count(1)
    expect(lit).to_have_text("bridge")
    expect(words).to_contain_text("looks at “bridge” most")

    button(widget, "next").click()
    expect(written).to_have_count(2)
    expect(lit).to_have_text("near")
    button(widget, "all").click()
    expect(words).to_contain_text("The translation ends here")
    expect(button(widget, "next")).to_be_disabled()
    total = written.count()
    assert total == 10
    button(widget, "back").focus()
    keys.press("Enter")
    expect(written).to_have_count(total - 1)
    written.nth(2).click()  # a written word leads back to its step
    expect(written).to_have_count(3)
    expect(lit).to_have_text("two")
    shares = [float(e.get_attribute("data-weight")) for e in source.all()]
    assert sum(shares) == pytest.approx(1, abs=0.01) and max(shares) == shares[0]
    assert widget.locator(".mha-step-likely").count() == 4

    widget.locator("[data-control=layer] [data-value='1']").click()
    expect(words).to_contain_text("layer 1, head 2")
    expect(written).to_have_count(3)
    field = widget.locator("input[data-control=sentence]")
    field.fill("the <b>ocelot</b> sleeps")
    field.press("Enter")
    expect(widget.locator(".mha-box")).to_contain_text("that the translator doesn’t know: <, b, >, ocelot, /")
    expect(widget.locator(".mha-step-source b")).to_have_count(0)
    field.fill("the old cat sleeps near the house while two dogs watch a bird")
    field.press("Enter")
    expect(widget.locator(".mha-box")).to_contain_text("longer, so expect slips")
    field.fill("cat " * 30)
    field.press("Enter")
    expect(widget.locator(".mha-box").first).to_contain_text("30 tokens, the first 23 are read")
    field.fill("")
    field.press("Enter")
    expect(words).to_contain_text("Write a sentence")
    expect(source).to_have_count(0)
    expect(button(widget, "first")).to_be_disabled()
    widget.locator(".mha-box button").click()  # the example in the empty box
    expect(source).to_have_count(11)


def test_dark_theme_repaints(page: LabPage) -> None:
    widget = page.page.locator(".mha-widget.mha-step")
    chip = widget.locator(".mha-step-chip").first
    before = chip.evaluate("e => e.style.background")
    page.set_theme("dark")
    expect(widget).to_have_attribute("data-theme", "dark")
    assert chip.evaluate("e => e.style.background") != before
    page.set_theme("light")


def test_narrow_window(server: LabServer, lab: LabPage) -> None:
    page = lab.narrow(480)
    server.write_notebook("narrow_translation_stepper.ipynb", CELLS)
    page.open("narrow_translation_stepper.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    widget = page.page.locator(".mha-widget.mha-step")
    button(widget, "all").click()
    assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
    for target in widget.locator("button").all():
        assert target.bounding_box()["height"] >= 24
    field = widget.locator("input[data-control=sentence]")
    field.fill("x" * 3_000)
    field.press("Enter")
    expect(widget.locator(".mha-step-words")).to_contain_text("x" * 23 + "…")
    assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
