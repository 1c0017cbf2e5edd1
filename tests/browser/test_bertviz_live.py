"""BertViz in real JupyterLab, in an untrusted notebook and in an exported page: it works, nothing runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
import torch
from nbconvert import HTMLExporter
from playwright.sync_api import Frame, Locator, Page, expect

from mha_course import widgets
from mha_course.attention_maps import AttentionMaps
from mha_course.widgets.bertviz.token_texts import spelled
from tests.browser.lab import Chromium, LabPage, LabServer
from tests.test_bertviz_texts import HOSTILE, odd_maps, shown_in_parts

LIVE = [
    "from mha_course import widgets",
    "from mha_course.models.course_models import load_course_model",
    "from mha_course.models.translator import load_translator",
    "words = 'two small dogs near the bridge chase the white cat .'.split()",
    "maps, translated = load_course_model().attend(words), load_translator().attend(words)",
]
SETUP = "\n".join(LIVE)
VIEWS = [
    SETUP,
    "widgets.bertviz_head_view(maps, layer=2, heads=[1, 4])",
    "widgets.bertviz_model_view(translated)",
    "widgets.bertviz_head_view(translated)",
]
ODD = [
    "from mha_course import widgets\nfrom tests.test_bertviz_texts import odd_maps, shown_in_parts",
    *(f"widgets.bertviz_head_view(odd_maps(shown_in_parts()[{i}]))" for i in range(len(shown_in_parts()))),
    *(f"widgets.bertviz_model_view(odd_maps(shown_in_parts()[{i}]))" for i in range(len(shown_in_parts()))),
]
ROOT = Path(__file__).resolve().parents[2]


def frames(page: Page, count: int) -> list[Frame]:
    """The frames of the views, in the order of the cells, once each has drawn its lines."""
    found = page.locator(".mha-bertviz iframe")
    expect(found).to_have_count(count, timeout=60_000)
    inside = []
    for one in found.element_handles():
        frame = one.content_frame()
        frame.locator("svg line").first.wait_for(state="attached")
        inside.append(frame)
    return inside


def view(page: Page, index: int) -> Locator:
    return page.locator(".mha-bertviz").nth(index)


def assert_fits(frame: Frame) -> None:
    """Neither a scroll bar nor more than a few px of empty space below."""
    inner, outer = frame.evaluate("[document.body.getBoundingClientRect().height, innerHeight]")
    assert 0 <= outer - inner < 3


def opacity_of_head(frame: Frame, head: int) -> float:
    lines = frame.locator(f"#attention .headAttention[head-index='{head - 1}'] line")
    return max(
        float(value) for value in lines.evaluate_all("e => e.map(x => x.getAttribute('stroke-opacity'))")
    )


def check_head_view(frame: Frame) -> None:
    """The layer list, the squares and hovering, on the head view of the course model."""
    squares = frame.locator("svg > g > rect[width='20']")
    expect(squares).to_have_count(8)
    assert frame.locator("select#layer").input_value() == "2"
    assert [*map(str.strip, frame.locator("select#layer option").all_inner_texts())] == ["1", "2"]
    assert opacity_of_head(frame, 1) > 0.5 and opacity_of_head(frame, 4) > 0.5
    assert opacity_of_head(frame, 2) == 0
    squares.nth(1).click()
    assert opacity_of_head(frame, 2) > 0.4
    squares.nth(1).focus()
    squares.nth(1).press("Space")
    assert opacity_of_head(frame, 2) == 0
    assert [square.get_attribute("aria-checked") for square in squares.all()] == [
        "true" if head in (1, 4) else "false" for head in range(1, 9)
    ]
    squares.nth(2).dblclick()
    assert [opacity_of_head(frame, head) > 0 for head in range(1, 9)] == [False, False, True] + [False] * 5

    first = frame.locator("#attention line").first
    lit = "#attention line[visibility='visible']"
    frame.locator("#left text").nth(4).hover()
    expect(frame.locator(lit)).to_have_count(8 * 11)
    lit_heads = frame.locator("#right .attentionBoxes g[head-index='2'] rect")
    shades = lit_heads.evaluate_all("e => e.map(x => +x.style.opacity)")
    assert sum(shades) == pytest.approx(1, abs=0.02)
    frame.locator("select#layer").hover()
    expect(frame.locator(lit)).to_have_count(0)
    before = first.get_attribute("stroke-opacity")
    weights = frame.locator("#attention [head-index='2'] line")
    of_layer_2 = weights.evaluate_all("e => e.map(x => x.getAttribute('stroke-opacity')).join()")
    frame.locator("select#layer").select_option("1")
    of_layer_1 = weights.evaluate_all("e => e.map(x => x.getAttribute('stroke-opacity')).join()")
    assert of_layer_1 != of_layer_2 and before is not None


def check_model_view(frame: Frame) -> None:
    """Enlarging a head, hovering in it, and another kind of attention, on the translator's model view."""
    small = frame.locator("svg > g > rect[style*='opacity: 0']")
    expect(small).to_have_count(8)
    small.nth(5).click(position={"x": 8, "y": 8})
    expect(frame.locator("text.detail")).to_have_text("Layer 2, Head 2")
    expect(frame.locator("#leftText text.token")).to_have_count(11)
    frame.locator("#leftText text.token").nth(2).hover()
    groups = frame.locator("g.detail .attn-line-group")
    assert groups.evaluate_all("e => e.map(x => x.style.opacity).join('')") == "00100000000"
    assert frame.locator("#leftText .highlight").nth(2).evaluate("e => e.style.opacity") == "1"
    frame.locator("select#filter").select_option(label="Cross")
    expect(frame.locator(".detail")).to_have_count(0)
    small.nth(5).click(position={"x": 8, "y": 8})
    expect(frame.locator("text.detail")).to_have_text("Layer 2, Head 2")
    assert frame.locator("#leftText text.token").last.text_content() == "<end>"
    assert frame.locator("#rightText text.token").first.text_content() == "two"


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    lab.server.write_notebook("bertviz.ipynb", VIEWS)
    lab.open("bertviz.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == []
    yield lab


def test_hover_click_and_choose_in_several_views_at_once(page: LabPage) -> None:
    head, model, translated = frames(page.page, 3)
    assert page.pictures_without_alt() == []
    for frame in (head, model):
        assert_fits(frame)
    check_head_view(head)
    check_model_view(model)
    expect(translated.locator("#left text")).to_have_count(11)
    translated.locator("select#filter").select_option(label="Decoder")
    assert translated.locator("#left text").first.text_content() == "<start>"
    outer = view(page.page, 0)
    expect(outer.locator(".mha-bertviz-still").first).to_be_hidden()
    expect(outer.locator("iframe")).to_have_attribute("title", "BertViz head view: 2 layers, 8 heads")
    expect(outer.locator(".mha-bertviz-dark")).to_be_hidden()
    page.set_theme("dark")
    expect(outer.locator(".mha-bertviz-dark")).to_be_visible()
    assert outer.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(255, 255, 255)"
    page.set_theme("light")
    # No way out of the frame, whatever might run in it.
    for script in ("parent.document.title", "localStorage.length", "document.cookie"):
        assert (
            head.evaluate(f"() => {{ try {{ {script}; return 'open'; }} catch {{ return 'shut'; }} }}")
            == "shut"
        )


def test_fifty_hostile_texts_are_shown_and_nothing_runs(lab: LabPage) -> None:
    said: list[str] = []
    lab.page.on("console", lambda message: said.append(message.text))
    lab.server.write_notebook(
        "bertviz_odd.ipynb", [f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{ODD[0]}", *ODD[1:]]
    )
    lab.open("bertviz_odd.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == []
    parts = shown_in_parts()
    found = frames(lab.page, 2 * len(parts))
    for frame, tokens in zip(found[: len(parts)], parts, strict=True):
        expect(frame.locator("#left text")).to_have_count(len(tokens))
        tips = frame.locator("#left title").evaluate_all("e => e.map(x => x.textContent)")
        assert tips == [spelled(token) for token in tokens]
        # Nothing sticks out on the left, however long it is.
        assert (
            frame.locator("#left text").evaluate_all(
                "e => Math.min(...e.filter(x => x.textContent).map(x => x.getBoundingClientRect().left))"
            )
            >= 11
        )
    for frame, tokens in zip(found[len(parts) :], parts, strict=True):
        frame.locator("svg > g > rect[style*='opacity: 0']").first.click(position={"x": 8, "y": 8})
        tips = frame.locator("#leftText title").evaluate_all("e => e.map(x => x.textContent)")
        assert tips == [spelled(token) for token in tokens]
        box = frame.locator("rect.detail").bounding_box()
        for name in ("#leftText", "#rightText"):
            for text in frame.locator(f"{name} text.token").all():
                inside = text.bounding_box()
                assert (
                    not inside
                    or inside["x"] >= box["x"]
                    and (inside["x"] + inside["width"] <= box["x"] + box["width"])
                )
    assert len(lab.page.frames) == 1 + len(found)
    assert not [words for words in said if "executed" in words]


def saved_notebook() -> nbformat.NotebookNode:
    """A notebook as it is saved: with outputs, which no one on this machine has signed."""
    maps = AttentionMaps(torch.eye(5).expand(2, 3, 5, 5), HOSTILE[:5], HOSTILE[:5], note=HOSTILE[0])
    cells = []
    for made in (widgets.bertviz_head_view(maps), widgets.bertviz_model_view(odd_maps(("a", "b", "c", "d")))):
        data, metadata = made._repr_mimebundle_()
        output = nbformat.v4.new_output("execute_result", data, metadata=metadata, execution_count=1)
        cells.append(nbformat.v4.new_code_cell("made", outputs=[output], execution_count=1))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def test_an_untrusted_notebook_shows_the_stills(lab: LabPage) -> None:
    nbformat.write(saved_notebook(), lab.server.root / "bertviz_saved.ipynb")
    lab.open("bertviz_saved.ipynb")
    pictures = lab.page.locator(".mha-bertviz-still img, .jp-OutputArea img")
    expect(pictures).to_have_count(2)
    for i in range(2):
        picture = pictures.nth(i)
        picture.scroll_into_view_if_needed()
        expect(picture).to_be_visible()
        assert picture.evaluate("e => e.complete && e.naturalWidth > 400")
    assert lab.page.locator("iframe").count() == 0
    assert lab.pictures_without_alt() == []
    shown = lab.page.locator(".jp-OutputArea-output")
    expect(shown.first).to_contain_text("Run the cell for the live view")
    expect(shown.first).not_to_contain_text("Hover over", use_inner_text=True)


def test_an_exported_page_is_live_without_a_network_and_prints_the_still(
    chromium: Chromium, server: LabServer, tmp_path: Path
) -> None:
    page, _ = HTMLExporter(require_js_url="", mathjax_url="").from_notebook_node(saved_notebook())
    path = tmp_path / "exported.html"
    path.write_text(page, encoding="utf-8")
    opened = chromium.page(server)
    opened.page.goto(path.as_uri())
    head, model = frames(opened.page, 2)
    assert_fits(head)
    head.locator("#left text").nth(2).hover()
    expect(head.locator("#attention line[visibility='visible']")).to_have_count(3 * 5)
    model.locator("svg > g > rect[style*='opacity: 0']").first.click()
    expect(model.locator("#leftText text.token").first).to_have_text("a")
    still = view(opened.page, 0).locator(".mha-bertviz-still img")
    expect(still).to_be_hidden()
    opened.page.emulate_media(media="print")
    expect(still).to_be_visible()
    expect(view(opened.page, 0).locator("iframe")).to_be_hidden()
    assert opened.foreign_requests == [] and opened.console_errors == [] and opened.dialogs == []
    opened.page.context.close()


def test_a_narrow_window_scrolls_the_picture(chromium: Chromium, server: LabServer, tmp_path: Path) -> None:
    made = widgets.bertviz_model_view(odd_maps(("a", "b", "c", "d")))
    path = tmp_path / "narrow.html"
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8>{made._repr_html_()}", encoding="utf-8")
    opened = chromium.page(server, width=420, height=700)
    opened.page.goto(path.as_uri())
    (frame,) = frames(opened.page, 1)
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert frame.evaluate("document.documentElement.scrollWidth") > 600
    opened.page.context.close()
