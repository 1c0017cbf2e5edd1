"""The HeadBrowser in real JupyterLab: pointed at, enlarged, walked by keyboard, in the dark and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from mha_course.text.readable import readable
from tests.browser.lab import Chromium, LabPage, LabServer
from tests.test_bertviz_texts import HOSTILE

ROOT = Path(__file__).resolve().parents[2]
MAPS = """
import torch
from mha_course import widgets
from mha_course.attention_maps import AttentionMaps
from mha_course.masks import causal_mask
from mha_course.transformer.whole import TransformerMaps

def made(layers, heads, n, n_k=None, mask=None):
    words = ["<b>bold</b>", "שלום", "猫", "</script>", "$x$", *(f"word{i}" for i in range(60))]
    w = torch.randn(layers, heads, n, n_k or n, generator=torch.Generator().manual_seed(1)) * 2
    w[0, 1, 2, 3] = 20.0
    w = w if mask is None else w.masked_fill(~mask, -torch.inf)
    return AttentionMaps(w.softmax(-1), words[:n], words[: n_k or n], "self", mask)

many = made(5, 12, 24)
three = TransformerMaps(made(2, 4, 9), made(2, 4, 7, mask=causal_mask(7)), made(2, 4, 7, 9))
"""
CELLS = [MAPS, "widgets.HeadBrowser(many)", "browser = widgets.HeadBrowser(three)\nbrowser"]


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    lab.server.write_notebook("head_browser.ipynb", CELLS)
    lab.open("head_browser.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == []
    yield lab


def widget(page: LabPage, index: int) -> Locator:
    found = page.page.locator(".mha-widget.mha-browse").nth(index)
    expect(found).to_have_attribute("data-painted", "1")
    found.scroll_into_view_if_needed()
    return found


def point(browser: Locator, layer: int, head: int, q: int, k: int, sizes: tuple[int, int, int]) -> None:
    """Put the pointer on a cell. Counted from 0; sizes: layers, heads, tokens. Chips are 22 px high."""
    everything = browser.locator(".mha-browse-all")
    box = everything.bounding_box()
    layers, heads, n = sizes
    pitch = (box["height"] - 24 + 6) / layers
    side = pitch - 6
    x = box["x"] + 54 + head * pitch + (k + 0.5) * side / n
    browser.page.mouse.move(x, box["y"] + 22 + layer * pitch + (q + 0.5) * side / n)


def test_point_enlarge_and_walk(page: LabPage) -> None:
    browser, keys = widget(page, 0), page.page.keyboard
    assert page.pictures_without_alt() == []
    tip, zoomed = browser.locator(".mha-tooltip"), browser.locator(".mha-browse-zoom")
    expect(browser.locator(".mha-browse-word")).to_have_count(24)
    expect(browser.locator(".mha-browse-words b")).to_have_count(0)
    expect(zoomed).to_have_count(0)  # built when it is asked for
    before = browser.locator(".mha-browse-above").evaluate("e => e.toDataURL()")
    point(browser, 0, 1, 2, 3, (5, 12, 24))
    expect(tip).to_have_text("猫 → </script>  1.00  layer 1, head 2")
    expect(browser.locator(".mha-browse-word.is-lit")).to_have_text("猫")
    assert browser.locator(".mha-browse-above").evaluate("e => e.toDataURL()") != before
    page.page.mouse.down()
    page.page.mouse.up()
    expect(zoomed.locator("h4")).to_have_text("Layer 1, head 2")
    page.page.mouse.move(5, 5)
    expect(zoomed.locator(".mha-browse-line")).to_contain_text("猫 → </script>")
    expect(browser.locator("[data-control=layer] [aria-checked=true]")).to_have_text("1")
    expect(browser.locator("[data-control=head] [aria-checked=true]")).to_have_text("2")
    expect(browser.locator(".mha-browse-pair").first).to_contain_text("1.00")

    # From here on by keyboard alone.
    zoomed.locator(".mha-enlarged").focus()
    keys.press("ArrowDown")
    expect(tip).to_contain_text("</script> → </script>")
    keys.press("PageDown")
    keys.press("5")
    expect(zoomed.locator("h4")).to_have_text("Layer 2, head 5")
    keys.press("Escape")
    expect(zoomed).not_to_be_visible()
    keys.press("ArrowRight")
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(zoomed.locator("h4")).to_have_text("Layer 3, head 6")
    expect(zoomed.locator(".mha-enlarged")).to_be_focused()
    browser.locator("[data-control=range] [data-value='0-max']").click()
    browser.locator("[data-control=all]").click()
    expect(zoomed).not_to_be_visible()


def test_three_kinds_and_the_dark(page: LabPage) -> None:
    browser = widget(page, 1)
    heading = browser.locator("h3")
    expect(heading).to_have_text("Encoder self-attention: 2 layers × 4 heads")
    browser.locator("[data-control=kind] [data-value=decoder]").click()
    expect(browser.locator(".mha-browse-note")).to_contain_text("Hatched: not allowed.")
    point(browser, 0, 0, 1, 5, (2, 4, 7))
    expect(browser.locator(".mha-tooltip")).to_contain_text("not allowed")
    browser.locator("[data-control=kind] [data-value=cross]").click()
    browser.locator(".mha-browse-all").focus()
    page.page.keyboard.press("Enter")
    expect(browser.locator(".mha-pair-upper .mha-word")).to_have_count(7)
    expect(browser.locator(".mha-browse-zoom .mha-key")).to_have_count(9)
    cells = browser.locator(".mha-browse-cells")
    light = cells.evaluate("e => e.toDataURL()")
    page.set_theme("dark")
    expect(browser).to_have_attribute("data-theme", "dark")
    assert cells.evaluate("e => e.toDataURL()") != light
    page.set_theme("light")


def test_fifty_hostile_texts_are_shown_and_nothing_runs(lab: LabPage) -> None:
    cells = [
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nimport torch\nfrom mha_course import widgets\n"
        "from mha_course.attention_maps import AttentionMaps\n"
        "from tests.test_bertviz_texts import HOSTILE",
        "w = torch.rand(2, 3, len(HOSTILE), len(HOSTILE)).softmax(-1)\n"
        "maps = AttentionMaps(w, HOSTILE, HOSTILE)\n"
        "widgets.HeadBrowser(maps, zoom=True)",
        "widgets.HeadsCompared(maps)",
        "widgets.HeadBrowser(AttentionMaps(w, HOSTILE, HOSTILE, 'cross'), zoom=True)",
    ]
    lab.server.write_notebook("hostile_head_browser.ipynb", cells)
    lab.open("hostile_head_browser.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == []
    assert len(HOSTILE) >= 50
    for browser in (widget(lab, 0), widget(lab, 1)):
        words = browser.locator(".mha-browse-word")
        expect(words).to_have_count(len(HOSTILE))
        for shown, token in zip(words.all_text_contents(), HOSTILE, strict=True):
            assert shown.strip() != ""
            plain = readable(token)
            if plain and plain.isascii() and plain.isprintable() and len(plain) <= 24 and " " not in plain:
                assert shown == plain
        for i in (0, 10, len(HOSTILE) - 1):
            words.nth(i).hover()
            expect(browser.locator(".mha-browse-line")).not_to_be_empty()
    for picture in lab.page.locator(".mha-widget").all():
        for tag in ("script", "iframe", "img", "b >> script", "style"):
            expect(picture.locator(tag)).to_have_count(0)


def test_narrow_window(server: LabServer, chromium: Chromium) -> None:
    page = chromium.page(server, width=480, height=900, reduced_motion="reduce", device_scale_factor=1.5)
    server.write_notebook("narrow_head_browser.ipynb", CELLS[:2])
    page.open("narrow_head_browser.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    browser = widget(page, 0)
    page.set_theme("dark")  # while it changes nothing has a width
    assert browser.evaluate("e => e.scrollWidth <= e.clientWidth")
    page.set_theme("light")
    browser.locator(".mha-browse-all").click(position={"x": 70, "y": 20})
    expect(browser.locator(".mha-browse-zoom")).to_be_visible()
    assert browser.evaluate("e => e.scrollWidth <= e.clientWidth")
    for target in browser.locator("button:visible").all():
        assert target.bounding_box()["height"] >= 24
    assert page.console_errors == [] and page.foreign_requests == []
    page.page.context.close()
