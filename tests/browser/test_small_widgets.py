"""ShapeTracer, OutputMixer, SoftmaxExplorer and predictions in real JupyterLab: mouse, keyboard, themes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage, LabServer

HOSTILE = "<img src=x onerror=alert(1)> 三月 العربية 👩‍👩‍👧"
CELLS = [
    "from mha_course import widgets",
    "widgets.ShapeTracer(b=2, n=5, d_model=12, h=3, step='split')",
    "widgets.OutputMixer(token='oboe', d_model=16, h=4)",
    f"widgets.SoftmaxExplorer((2.0, 1.0, 0.1), labels=[{HOSTILE!r}, 'two', 'three'])",
    "widgets.predict('90-shape', 'Which shape?', ['(2, 3, 5, 4)', '(2, 5, 3, 4)'])",
    "widgets.predict('90-free', 'Where does it go?')",
    "widgets.reveal('90-free', 'to head 2')",
]


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    lab.server.write_notebook("small_widgets.ipynb", CELLS)
    lab.open("small_widgets.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == []
    yield lab


def widget(page: LabPage, name: str, nth: int = 0) -> Locator:
    found = page.page.locator(f".mha-widget.{name}").nth(nth)
    found.scroll_into_view_if_needed()
    return found


def paper(found: Locator) -> str:
    return found.evaluate("e => getComputedStyle(e).backgroundColor")


def test_small_widgets_by_mouse_and_keyboard(page: LabPage) -> None:
    keys = page.page.keyboard
    assert page.pictures_without_alt() == []

    tracer = widget(page, "mha-shape")
    expect(tracer.locator(".mha-shape-words")).to_contain_text("Features 4 to 7 of token 2 (28, 29, 30, 31)")
    size = tracer.locator("[role=slider][data-control=d_model]")
    size.focus()
    keys.press("ArrowRight")
    expect(tracer.locator(".mha-moved")).to_contain_text("h moved from 3 to 2")
    expect(tracer.locator("[role=tab][data-step=split]")).to_contain_text("(2, 2, 5, 8)")
    tracer.locator("[role=tab][data-step=split]").focus()
    keys.press("End")
    expect(tracer.locator("[role=tabpanel]")).to_have_attribute("data-step", "output")
    expect(tracer.locator("[role=tab][data-step=output]")).to_be_focused()
    tracer.locator(".mha-shape-body").focus()
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    expect(tracer.locator(".mha-tooltip")).to_contain_text("W_O: row 1 (head 1)")
    tracer.locator("[data-go=back]").click()
    tracer.locator("button[data-row='3']").click()
    expect(tracer.locator(".mha-shape-panel h3")).to_contain_text("token 3 gets its heads back")

    mixer = widget(page, "mha-mix")
    ring = mixer.locator(".mha-whole").first.get_attribute("cy")
    line = mixer.locator(".mha-now").first.get_attribute("y1")
    assert ring == line
    mixer.locator("[role=switch][data-head='3']").focus()
    keys.press("Space")
    expect(mixer.locator("[data-part=w_o][data-head='3']")).to_have_attribute("data-off", "true")
    expect(mixer.locator(".mha-mix-statement")).to_contain_text("Head 3 off moves the output by 0.")
    assert mixer.locator(".mha-now").first.get_attribute("y1") != line
    assert mixer.locator(".mha-whole").first.get_attribute("cy") == ring
    mixer.locator("svg.mha-mix-chart").focus()
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    expect(mixer.locator(".mha-mix-read")).to_contain_text("output feature 1: head 1")
    mixer.locator("[data-all=off]").click()
    expect(mixer.locator(".mha-mix-statement")).to_contain_text("Nothing is left of it")

    soft = widget(page, "mha-soft")
    weights = soft.locator("[data-weight]")
    assert weights.all_inner_texts() == ["0.66", "0.24", "0.10"]
    soft.locator("[data-score='1']").focus()
    for _ in range(10):
        keys.press("ArrowRight")
    assert weights.all_inner_texts() == ["0.47", "0.47", "0.07"]
    soft.locator("[data-reset]").click()
    soft.locator("[data-add]").click()
    assert weights.all_inner_texts() == ["0.66", "0.24", "0.10"]
    soft.locator("[data-factor] [role=slider]").focus()
    keys.press("Home")
    assert weights.all_inner_texts() == ["0.33", "0.33", "0.33"]
    assert soft.locator("[data-fact=sum]").inner_text() == "1.00"


def test_predictions_are_kept_and_shown_by_the_next_run(page: LabPage) -> None:
    choice, free = widget(page, "mha-predict-box"), widget(page, "mha-predict-box", 1)
    assert "No prediction kept" in page.page.locator(".mha-reveal").inner_text()
    expect(choice.locator("[data-keep]")).to_be_disabled()
    choice.locator("[data-choice='0']").focus()
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Enter")
    expect(choice.locator(".mha-predict-status")).to_contain_text("Kept")
    free.locator("textarea").fill(HOSTILE)
    free.locator("[data-keep]").click()
    expect(free.locator(".mha-predict-status")).to_contain_text("Kept")
    for cell in (4, 5, 6):
        page.run_cell(cell)
    expect(page.page.locator(".mha-reveal [data-part=said]")).to_have_text(HOSTILE)
    expect(widget(page, "mha-predict-box").locator("[data-choice='1']")).to_be_checked()
    expect(widget(page, "mha-predict-box", 1).locator("textarea")).to_have_value(HOSTILE)
    assert page.page.locator(".mha-widget img, .mha-reveal img").count() == 0


def test_themes_are_followed_live(page: LabPage) -> None:
    names = ("mha-shape", "mha-mix", "mha-soft", "mha-predict-box")
    assert [paper(widget(page, name)) for name in names] == ["rgb(255, 255, 255)"] * 4
    cell = widget(page, "mha-mix").locator("[data-part=w_o] rect").first
    light = cell.evaluate("e => getComputedStyle(e).fill")
    page.set_theme("dark")
    assert [paper(widget(page, name)) for name in names] == ["rgb(21, 23, 28)"] * 4
    cell = widget(page, "mha-mix").locator("[data-part=w_o] rect").first
    assert cell.evaluate("e => getComputedStyle(e).fill") != light
    page.set_theme("light")


def test_narrow_window_without_motion(server: LabServer, lab: LabPage) -> None:
    page = lab.narrow(480)
    server.write_notebook("narrow_widgets.ipynb", CELLS)
    page.open("narrow_widgets.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    tracer = widget(page, "mha-shape")
    expect(tracer.locator("[data-go=next]")).to_be_visible()
    expect(tracer.locator("[data-go=play]")).to_be_hidden()
    for name in ("mha-shape", "mha-mix", "mha-soft", "mha-predict-box"):
        inside = widget(page, name).evaluate("e => e.scrollWidth <= e.clientWidth")
        assert inside, f"{name} is wider than its place"
    small = page.page.evaluate(
        """() => {
          const kinds = 'button, select, textarea, [role=slider], label';
          const targets = [...document.querySelectorAll(`.mha-widget :is(${kinds})`)];
          const low = e => e.offsetParent && e.getBoundingClientRect().height < 23.5;
          return targets.filter(low).map(e => e.outerHTML.slice(0, 90));
        }"""
    )
    assert small == []
    assert page.console_errors == []
