"""Composition and Routing in real JupyterLab: keyboard, two at once, odd words, themes, a narrow window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.lab import LabPage, LabServer

# Small models that need no file; their composing and their routers are far from plain heads.
MODELS = """import torch
from mha_course import widgets
from mha_course.training.leaderboard import Row, Setting, model_of

def model(name, h):
    made, g = model_of(Row(name, h), Setting(d_model=24, d_ff=40), 3), torch.Generator().manual_seed(4)
    with torch.no_grad():
        for key, parameter in made.named_parameters():
            if any(part in key for part in ("before", "after", "p_", "router")):
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=g))
    return made.eval()

text = "the parrot near a school sees his nurses ."
"""
COMPOSED = "widgets.Composition(model('composable', 6), text)"
ROUTED = "widgets.Routing(model('mixture', 8), text)"
CELLS = [MODELS, COMPOSED, "widgets.Composition(model('talking', 4), text, layer=2)", ROUTED, ROUTED]


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    lab.server.write_notebook("meeting_heads.ipynb", CELLS)
    lab.open("meeting_heads.ipynb")
    lab.run_all(240)
    assert lab.error_outputs() == [] and lab.pictures_without_alt() == []
    yield lab


def test_compose_a_pair(page: LabPage) -> None:
    keys, both = page.page.keyboard, page.page.locator(".mha-widget.mha-compose")
    expect(both).to_have_count(2)
    first, second = both.nth(0), both.nth(1)
    cells = first.locator(".mha-compose-matrix .mha-signed-cell")
    told = first.locator(".mha-compose-told")
    expect(cells).to_have_count(36)
    expect(second.locator(".mha-compose-matrix .mha-signed-cell")).to_have_count(16)
    expect(first.locator(".mha-compose-part")).to_have_count(5)
    expect(second.locator(".mha-compose-part")).to_have_count(1)
    expect(first.locator(".mha-stage-map")).to_have_count(18)
    expect(told).to_contain_text("query “parrot”, key “the”")
    other = second.locator(".mha-compose-told").inner_text()

    # Another key by keyboard, another stage, another layer.
    first.locator("select[data-control=key]").focus()
    keys.press("End")
    expect(told).to_contain_text("key “.”")
    first.locator("[data-control=stage] [data-value=before]").focus()
    keys.press("ArrowRight")
    expect(told).to_contain_text("W after the softmax in layer 1")
    first.locator("[data-control=layer] [data-value='1']").focus()
    keys.press("ArrowRight")
    expect(told).to_contain_text("in layer 2")

    # A click in a map chooses the pair under it.
    one = first.locator(".mha-stage-map canvas").first
    size = one.bounding_box()
    one.click(position={"x": 2.5 / 9 * size["width"], "y": 4.5 / 9 * size["height"]})
    expect(told).to_contain_text("query “school”, key “near”")

    # All branches off: nothing is composed any more.
    for name in ("static", "query_rank", "query_gate", "key_rank", "key_gate"):
        first.locator(f"[data-control=branch-{name}]").focus()
        keys.press("Space")
        expect(first.locator(f"[data-control=branch-{name}]")).to_have_attribute("aria-checked", "false")
        expect(first.locator(f"[data-branch={name}]")).to_have_class("mha-compose-part is-off")
    expect(told).to_contain_text("no head takes anything from another one")
    expect(told).to_contain_text("by composing scores: 0.00")

    # Arrow keys walk through a matrix and read its cells out.
    first.locator(".mha-compose-matrix").focus()
    keys.press("ArrowRight")
    keys.press("ArrowDown")
    expect(first.locator(".mha-tooltip:visible")).to_contain_text("from head 2 to head 1: 0.000")
    assert second.locator(".mha-compose-told").inner_text() == other, "the other one stays"


def test_route_words(page: LabPage) -> None:
    keys, both = page.page.keyboard, page.page.locator(".mha-widget.mha-route")
    expect(both).to_have_count(2)
    first, second = both.nth(0), both.nth(1)
    expect(first.locator(".mha-gates-cell")).to_have_count(72)
    expect(first.locator(".mha-gates-cell.is-out")).to_have_count(27)  # 3 of 6 routed heads by 9 words
    expect(first.locator("[data-fact=heads]")).to_have_text("5 of 8")
    expect(first.locator(".mha-route-track")).to_have_count(6)
    expect(first.locator("[data-fact=even]")).to_have_text("3.000")

    word = first.locator(".mha-gates-word").nth(4)
    word.focus()
    keys.press("Enter")
    expect(first.locator(".mha-gates-word").nth(4)).to_have_attribute("aria-pressed", "true")
    expect(first.locator(".mha-gates-word").nth(4)).to_be_focused()
    expect(first.locator(".mha-route-steps")).to_contain_text("the gates of “school”")
    expect(first.locator("select[data-control=token]")).to_have_value("4")

    before = first.locator(".mha-gates-cell").first.inner_text()
    first.locator("[data-control=gates] [data-value=code]").focus()
    keys.press("ArrowRight")
    expect(first.locator("[data-fact=even]")).to_have_text("0.500")
    expect(first.locator(".mha-gates-cell").first).not_to_have_text(before)
    expect(first).to_contain_text("trained with the gates of the code")
    expect(second.locator("[data-fact=even]")).to_have_text("3.000")

    first.locator(".mha-gates").focus()
    keys.press("ArrowRight")
    expect(first.locator(".mha-tooltip:visible")).to_contain_text("the, head 1: gate")
    page.set_theme("dark")
    expect(first).to_have_attribute("data-theme", "dark")
    page.set_theme("light")


def test_odd_words_are_text(page: LabPage) -> None:
    odd = "<img src=x> 猫 مرحبا 🙂 the cat"
    for kind, words in ((".mha-compose", "option"), (".mha-route", ".mha-gates-word")):
        widget = page.page.locator(f".mha-widget{kind}").first
        field = widget.locator("input[data-control=sentence]")
        field.fill(odd)
        field.press("Enter")
        expect(widget.locator(".mha-box")).to_contain_text("read as <unk>")
        expect(widget.locator(words).filter(has_text="猫").first).to_be_attached()
        assert widget.locator("img").count() == 0
        field.fill("")
        field.press("Enter")
        expect(widget.locator(".mha-box")).to_contain_text("No sentence yet")
        widget.locator("[data-control=another]").click()
        expect(widget.locator(".mha-box")).to_have_count(0)


def test_narrow_window(server: LabServer, lab: LabPage) -> None:
    page = lab.narrow(460)
    server.write_notebook("narrow_meeting_heads.ipynb", [MODELS, COMPOSED, ROUTED])
    page.open("narrow_meeting_heads.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(240)
    for kind in (".mha-compose", ".mha-route"):
        widget = page.page.locator(f".mha-widget{kind}")
        widget.scroll_into_view_if_needed()
        assert widget.evaluate("e => e.scrollWidth <= e.clientWidth"), kind
        for target in widget.locator("button:visible, select:visible").all():
            assert target.bounding_box()["height"] >= 24
