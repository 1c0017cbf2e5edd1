"""The glossary in real JupyterLab: search, keys, links into lessons, beside the lesson, narrow, hostile."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from mha_course.glossary import all_entries, find_entry
from mha_course.lesson_places import Place
from mha_course.theme import contrast
from mha_course.widgets import Glossary
from mha_course.widgets.base import javascript
from mha_course.workspace import project_root
from tests.browser.lab import Chromium, LabPage, LabServer

HOSTILE = "<img src=x onerror=alert(1)> `<b>` 三月 العربية 👩‍👩‍👧"
TALL = "print('line\\n' * 90)"
CELLS = ["from mha_course import widgets", "widgets.Glossary()", TALL, "widgets.Glossary('W_O')", TALL]


@pytest.fixture(scope="module")
def searching(chromium: Chromium) -> Iterator[Page]:
    """A bare page with the view's own search and the entries as the view gets them."""
    page = chromium.browser.new_page()
    script = javascript(Glossary.js).replace("export default { render };", "")
    page.add_script_tag(content=f"{script}\nwindow.entries = {json.dumps(Glossary().entries)};")
    yield page
    page.close()


def found(page: Page, *queries: str) -> list[list[str]]:
    """For each query the keys of what is found, best first."""
    return page.evaluate("asked => asked.map(q => searchGlossary(entries, q).map(e => e.key))", list(queries))


def test_search_finds_each_entry_by_each_of_its_names(searching: Page) -> None:
    asked = [(name, key) for key, entry in all_entries().items() for name in entry.names]
    for way in (str, str.upper, lambda name: f"  {name.replace('-', ' ')} "):
        answers = found(searching, *(way(name) for name, _ in asked))
        for (name, key), answer in zip(asked, answers, strict=True):
            assert answer[0] == key, f"{name!r} finds {answer[:3]} first"


def test_search_forgives_a_slip(searching: Page) -> None:
    draw = random.Random(4)
    asked = []
    for key, entry in all_entries().items():
        for name in (entry.term, *entry.also):
            letters = [
                i for i in range(1, len(name) - 2) if name[i : i + 2].isalpha() and name[i] != name[i + 1]
            ]
            if len(name) < 8 or not letters or not name.isascii():
                continue
            i = draw.choice(letters)
            asked += [
                (name[:i] + name[i + 1] + name[i] + name[i + 2 :], key),  # two letters exchanged
                (name[:i] + name[i + 1 :], key),  # one missing
                (name[: i + 1] + name[i:], key),  # one twice
            ]
    assert len(asked) > 300
    answers = found(searching, *(query for query, _ in asked))
    missed = [query for (query, key), answer in zip(asked, answers, strict=True) if key not in answer[:3]]
    assert missed == []


def test_search_as_one_types(searching: Page) -> None:
    assert found(searching, "h")[0][0] == "number-of-heads"
    assert found(searching, "d_")[0][0] in {"d-k", "d-v", "d-ff", "d-model"}
    typed = found(searching, "att", "mask", "遮", "掩码", "softmxa", "head size", "tokne", "future of a mask")
    firsts = [answer[0] for answer in typed[:-1]]
    assert firsts == ["attention", "mask", "mask", "mask", "softmax", "d-k", "token"]
    assert {"causal-mask", "padding-mask"} <= set(typed[1]) and len(typed[2]) >= 5
    assert typed[-1] == []
    # A word of the sentence finds it as well, after all that are named so.
    assert "cross-attention" in found(searching, "sequence")[0][1:]
    assert found(searching, "", "  …", "zzzz", "猫", HOSTILE) == [[], [], [], [], []]


def add_part_of_lesson(server: LabServer, place: Place) -> None:
    """A short copy of the lesson, under its name, with the cell far below its title."""
    lesson = json.loads((project_root() / "notebooks" / place.file).read_text(encoding="utf-8"))
    at = [cell["id"] for cell in lesson["cells"]].index(place.cell)
    lesson["cells"] = [lesson["cells"][0], *lesson["cells"][at - 24 : at + 6]]
    (server.root / place.file).write_text(json.dumps(lesson), encoding="utf-8")


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    for name in ("cross-attention", "output projection"):
        add_part_of_lesson(lab.server, find_entry(name).place)
    lab.server.write_notebook("03_glossary.ipynb", CELLS)
    lab.open("03_glossary.ipynb")
    lab.page.evaluate("localStorage.removeItem('mha-glossary-chinese')")
    lab.run_all(60)
    assert lab.error_outputs() == []
    yield lab


def parts(scope: Locator | Page) -> tuple[Locator, Locator]:
    """The search field and the cards."""
    return scope.locator("input[data-control=search]"), scope.locator(".mha-glossary-card")


def hex_of(colour: str) -> str:
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return f"#{red:02X}{green:02X}{blue:02X}"


def terms(cards: Locator) -> list[str]:
    return cards.evaluate_all("all => all.map(e => e.dataset.term)")


def test_one_line_that_opens(page: LabPage) -> None:
    keys, glossary = page.page.keyboard, page.page.locator(".mha-glossary-box").first
    bar = glossary.locator(".mha-glossary-bar")
    bar.scroll_into_view_if_needed()
    assert glossary.bounding_box()["height"] <= 40
    cells = page.page.locator(".jp-Cell").count()
    search, cards = parts(glossary)
    bar.focus()
    keys.press("Enter")
    expect(bar).to_have_attribute("aria-expanded", "true")
    expect(search).to_be_focused()
    ours = [key for key, entry in all_entries().items() if entry.place.lesson == "03"]
    expect(cards).to_have_count(len(all_entries()) + len(ours))
    expect(glossary.locator("h4").first).to_have_text(f"Explained in lesson 03 ({len(ours)})")
    assert set(terms(cards)[: len(ours)]) == set(ours)

    # Letters that are shortcuts of the notebook are letters here.
    keys.type("padding maks")
    expect(cards.first).to_have_attribute("data-term", "padding-mask")
    expect(cards.first).to_contain_text("(b, 1, 1, n_k)")
    expect(glossary.locator("[role=status]")).to_contain_text("first: padding mask.")
    keys.press("ArrowDown")
    expect(cards.first).to_be_focused()
    keys.press("ArrowUp")
    expect(search).to_be_focused()
    keys.press("Escape")
    expect(search).to_have_value("")
    expect(cards).to_have_count(len(all_entries()) + len(ours))
    search.fill("head")
    expect(cards).to_have_count(8)
    glossary.locator(".mha-link").click()
    expect(cards.nth(8)).to_be_focused()
    search.fill(HOSTILE)
    expect(glossary.locator(".mha-box-empty")).to_contain_text(f"No term is like “{HOSTILE}”")
    assert glossary.locator("img").count() == 0
    keys.press("Escape")
    search.focus()
    keys.press("Escape")
    expect(glossary.locator(".mha-glossary-panel")).to_be_hidden()
    expect(bar).to_be_focused()
    assert page.page.locator(".jp-Cell").count() == cells


def test_simplified_traditional_both_or_none(page: LabPage) -> None:
    glossary = page.page.locator(".mha-glossary-box").first
    glossary.locator(".mha-glossary-bar").click()
    search, cards = parts(glossary)
    chinese = glossary.locator("[data-control=chinese]")
    search.fill("解碼器")
    zh = cards.first.locator(".mha-glossary-zh")
    expect(zh).to_have_text("简解码器繁解碼器")
    chinese.locator("[data-value=both]").focus()
    page.page.keyboard.press("ArrowLeft")
    expect(zh).to_have_text("解碼器")
    expect(zh.locator("[lang=zh-Hant]")).to_have_count(1)
    chinese.locator("[data-value=hans]").click()
    expect(zh).to_have_text("解码器")
    chinese.locator("[data-value=none]").click()
    expect(zh).to_have_count(0)
    chinese.locator("[data-value=both]").click()
    search.fill("mask")
    expect(zh).to_have_text("大陆掩码台灣遮罩")
    # The choice is kept for the next lesson.
    chinese.locator("[data-value=hant]").click()
    page.run_cell(1)
    glossary.locator(".mha-glossary-bar[aria-expanded=false]").click()
    expect(chinese.locator("[data-value=hant]")).to_have_attribute("aria-checked", "true")


def test_a_term_given_is_open_at_once(page: LabPage) -> None:
    glossary = page.page.locator(".mha-glossary-box").nth(1)
    _, cards = parts(glossary)
    expect(cards.first).to_have_attribute("data-term", "output-projection")
    expect(cards.first.locator(".mha-glossary-symbol")).to_have_text("W_O")


def test_a_link_opens_the_lesson_at_the_cell(page: LabPage) -> None:
    glossary = page.page.locator(".mha-glossary-box").first
    glossary.locator(".mha-glossary-bar").click()
    search, cards = parts(glossary)
    search.fill("cross-attention")
    expect(cards.first.locator("a")).to_have_attribute("aria-label", "cross-attention: lesson 04, section 7")
    expect(cards.first.locator("a")).to_have_css("text-decoration-line", "underline")
    search.press("Enter")
    expect(cards.first).to_be_focused()
    page.page.keyboard.press("Enter")
    lesson = page.page.locator(".jp-NotebookPanel:visible")
    expect(lesson.locator("h1")).to_contain_text("04 · Per-head attention", timeout=120_000)
    heading = lesson.get_by_role("heading", name="Queries from here, keys from there")
    expect(heading).to_be_in_viewport(timeout=60_000)


def test_beside_the_lesson(page: LabPage) -> None:
    keys, both = page.page.keyboard, page.page.locator(".jp-OutputArea .mha-glossary-box")
    beside = page.page.locator(".mha-glossary-beside")
    both.first.locator(".mha-glossary-bar").click()
    search, cards = parts(page.page)
    search.first.fill("softmax")
    both.first.locator("[data-control=beside]").click()
    expect(beside).to_have_count(1)
    expect(beside.locator("input[data-control=search]")).to_be_focused()
    expect(beside.locator("input[data-control=search]")).to_have_value("softmax")
    expect(both.first).to_contain_text("stands beside the lesson")

    # It stays while the lesson scrolls, and covers nothing of it.
    stood = beside.bounding_box()
    page.page.locator(".jp-CodeCell").last.scroll_into_view_if_needed()
    expect(both.first).not_to_be_in_viewport()
    assert beside.bounding_box() == stood
    assert page.page.locator(".jp-CodeCell").last.bounding_box()["width"] + 300 < 1400 - 250
    right = page.page.locator(".jp-CodeCell .jp-InputArea").last.bounding_box()
    assert right["x"] + right["width"] <= stood["x"]

    # Only one at a time.
    both.nth(1).locator("[data-control=beside]").click()
    expect(beside).to_have_count(1)
    expect(beside.locator(".mha-glossary-card").first).to_have_attribute("data-term", "output-projection")
    expect(both.first.locator(".mha-glossary-bar")).to_have_attribute("aria-expanded", "false")

    # It is still there in the lesson that a link opens, in either theme.
    beside.locator(".mha-glossary-card").first.locator("a").click()
    expect(page.page.locator(".jp-NotebookPanel:visible h1")).to_contain_text(
        "02 · Why many heads", timeout=120_000
    )
    expect(beside).to_be_visible()
    page.set_theme("dark")
    expect(beside).to_have_attribute("data-theme", "dark")
    colours = beside.evaluate("e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]")
    ink, ground = (hex_of(colour) for colour in colours)
    assert contrast(ink, ground) > 7
    page.set_theme("light")
    page.page.get_by_role("tab", name="03_glossary.ipynb").click()
    beside.locator("[data-control=search]").focus()
    keys.press("Escape")
    keys.press("Escape")
    expect(beside).to_have_count(0)
    assert page.page.locator("style[data-mha-glossary-room]").count() == 0
    expect(page.page.locator(".jp-NotebookPanel:visible .jp-Notebook")).to_have_css("padding-right", "0px")

    # With the cell's output it goes.
    both.nth(1).locator(".mha-glossary-bar").click()
    both.nth(1).locator("[data-control=beside]").click()
    expect(beside).to_have_count(1)
    page.menu("Edit", "Clear Outputs of All Cells")
    expect(beside).to_have_count(0)
    assert page.page.locator("style[data-mha-glossary-room]").count() == 0


def test_it_answers_while_python_computes_and_when_it_is_gone(page: LabPage) -> None:
    glossary = page.page.locator(".mha-glossary-box").first
    glossary.locator(".mha-glossary-bar").click()
    search, cards = parts(glossary)
    page.server.end_kernels()
    search.fill("dropout")
    expect(cards.first).to_have_attribute("data-term", "dropout")
    expect(cards.first).to_contain_text(find_entry("dropout").zh_hant)


def test_narrow_window_and_zoom(server: LabServer, lab: LabPage) -> None:
    server.write_notebook("narrow_glossary.ipynb", CELLS)
    page = lab.narrow(620, 800)
    page.open("narrow_glossary.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(60)
    for zoom in (1, 1.5):
        page.page.evaluate(f"document.body.style.zoom = {zoom}")
        glossary = page.page.locator(".jp-OutputArea .mha-glossary-box").first
        bar = glossary.locator(".mha-glossary-bar")
        bar.scroll_into_view_if_needed()
        bar.click()
        search, _ = parts(glossary)
        for query in ("", "attention"):
            search.fill(query)
            assert glossary.evaluate("e => e.scrollWidth <= e.clientWidth")
            for target in glossary.locator("button:visible, .mha-glossary-card a:visible").all()[:12]:
                assert target.bounding_box()["height"] >= 24 * zoom
        sizes = glossary.evaluate(
            "e => [...e.querySelectorAll('*')].map(x => parseFloat(getComputedStyle(x).fontSize))"
        )
        assert min(sizes) >= 11
        if zoom == 1:
            glossary.locator("[data-control=beside]").click()
            beside = page.page.locator(".mha-glossary-beside.is-below").bounding_box()
            assert beside["x"] >= 0 and beside["x"] + beside["width"] <= 620
            assert 250 < beside["height"] < 400 and beside["y"] + beside["height"] <= 800
            page.page.locator("[data-control=close]").first.click()
        else:
            bar.click()
