"""The interview in real JupyterLab: keys alone, two at once, cells run again, themes, links that land."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from mha_course.lesson_places import place_of
from mha_course.theme import colours, contrast
from tests.browser.lab import Chromium, LabPage, LabServer

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
HOSTILE = "<img src=x onerror=alert(1)> `<b>x</b>` 三月 العربية 👩‍👩‍👧"
CELLS = [
    "import torch\n"
    "from mha_course import widgets\n"
    "from mha_course.interview.card import read_card\n"
    "from mha_course.interview.proof import Shown, proof",
    "@proof\n"
    "def row_sums_to_one() -> Shown:\n"
    '    """A row of weights sums to 1."""\n'
    "    row = torch.softmax(torch.tensor([1.0, -2.5, 0.25]), dim=0)\n"
    "    assert abs(row.sum().item() - 1) < 1e-6, 'the row does not sum to 1'\n"
    f"    return Shown('The row sums to 1.', {{'keys': len(row), {HOSTILE!r}: -0.25}})\n"
    "\n"
    "@proof\n"
    "def row_sums_to_two() -> Shown:\n"
    '    """Fails."""\n'
    f"    assert False, {('not 2 ' + HOSTILE)!r}",
    "def card(i):\n"
    f"    entry = {{'question': f'Question {{i}}? ' + {HOSTILE!r} * (i == 1),\n"
    f"        'answer': [f'Answer {{i}}. ' + {HOSTILE!r}, 'Its limit.'], 'pitfall': 'It is faster.',\n"
    "        'follow_up': {'question': 'And h = 1?', 'answer': 'The same.'},\n"
    "        'proof': 'row_sums_to_two' if i == 2 else 'row_sums_to_one',\n"
    "        'evidence': [{'cell': c, 'shows': f'what {c} says'} for c in\n"
    "            ('l03-block-proof', 'l00-recap', 'l15-clock')]}\n"
    "    return read_card(f'card-{i}', f'Topic {i // 4}', entry)\n"
    "deck = {f'card-{i}': card(i) for i in range(7)}",
    "view = widgets.Interview(cards=deck)\nview",
    "view",
    "widgets.Interview('topic 1', cards=deck)",
]


def hex_of(colour: str) -> str:
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return f"#{red:02X}{green:02X}{blue:02X}"


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    yield opened(lab, "interview.ipynb", 6)


def opened(page: LabPage, name: str, cells: int) -> LabPage:
    # Marks of an earlier test in this session would change the order.
    for kept in page.server.root.parent.rglob("progress.json"):
        kept.unlink()
    page.server.write_notebook(name, CELLS[:cells])
    page.open(name)
    page.run_all(120)
    assert page.error_outputs() == []
    return page


def widget(page: LabPage, nth: int = 0) -> Locator:
    found = page.page.locator(".mha-widget.mha-interview").nth(nth)
    found.scroll_into_view_if_needed()
    return found


def question(of: Locator) -> Locator:
    return of.locator("[data-heading]")


def counts(of: Locator) -> list[str]:
    return of.locator("[data-count] strong").all_inner_texts()


def test_a_sitting_by_keys_alone_brings_back_what_was_missed(page: LabPage) -> None:
    keys, first = page.page.keyboard, widget(page)
    cells = page.page.locator(".jp-Cell").count()
    # A click on the text of the card puts the focus inside: 1, 2 and b are no longer the notebook's.
    question(first).click()
    for key in "123bd":
        keys.press(key)
    expect(question(first)).to_contain_text("Question 0?")
    assert page.page.locator(".jp-Cell").count() == cells
    assert page.page.locator(".jp-CodeCell").count() == cells and counts(first)[3] == "7"

    # Typing: blanks and digits are text.
    own = first.locator("[data-own]")
    own.focus()
    keys.type("1 or 2 heads,")
    keys.press("Shift+Enter")
    keys.type("3 at most ")
    keys.insert_text(HOSTILE)
    words = "1 or 2 heads,\n3 at most " + HOSTILE
    expect(own).to_have_value(words)
    keys.press("Tab")
    expect(first.locator("[data-show]")).to_be_focused()
    keys.press("Space")
    answer = first.locator("[data-answer]")
    expect(answer).to_be_focused()
    expect(answer).to_contain_text(f"Answer 0. {HOSTILE.replace('`', '')}")
    expect(first.locator(".is-own.mha-interview-said")).to_have_text(words)

    # Missed, then known thrice: the missed one is the fifth, asked anew and with an empty field.
    keys.press("1")
    for number, mark in ((1, "3"), (2, "3"), (3, "2")):
        expect(question(first)).to_contain_text(f"Question {number}?")
        expect(question(first)).to_be_focused()
        keys.press("3")  # on the front a digit says nothing
        keys.press("Space")
        expect(answer).to_be_focused()
        keys.press(mark)
    expect(question(first)).to_contain_text("Question 0?")
    expect(first.locator(".mha-interview-asked")).to_contain_text("comes back")
    expect(first.locator("[data-own]")).to_have_value("")
    assert counts(first) == ["2", "1", "1", "3"]
    expect(first.locator("[data-last]")).to_contain_text("partly, comes back after 6 others")

    # The last mark is taken back: that card lies there again, turned as it was.
    first.locator("[data-order='take back']").focus()
    keys.press("Enter")
    expect(question(first)).to_contain_text("Question 3?")
    expect(answer).to_be_visible()
    assert counts(first) == ["2", "0", "1", "4"]
    keys.press("3")
    for number in (0, 4, 5, 6):
        expect(question(first)).to_contain_text(f"Question {number}?")
        keys.press("Space")
        expect(answer).to_be_focused()
        keys.press("3")
    expect(first.locator("[data-first]")).to_have_text(
        "Asked: 7 cards. At first you knew 6, knew 0 in part and missed 1."
    )
    expect(first.locator("[data-again]")).to_have_count(1)
    expect(first.locator("[data-again] a")).to_have_count(3)
    assert page.page.locator(".jp-CodeCell").count() == cells
    first.locator("[data-order=begin]").focus()
    keys.press("Enter")
    # The new sitting: the box of what had been missed comes before those that were known at once.
    expect(question(first)).to_contain_text("Question 0?")
    expect(first.locator(".mha-interview-asked")).to_contain_text("known the last time")
    # Ten, where there are as many: what was asked before is not turned in the sitting that begins.
    keys.press("Space")
    expect(answer).to_be_visible()
    first.locator("[data-order=ten]").click()
    expect(first.locator("[data-left]")).to_have_text("7 left in this sitting")
    expect(first.locator("[data-show]")).to_be_visible()
    expect(question(first)).to_be_focused()


def test_proofs_run_and_all_is_readable_in_both_themes_and_narrow(page: LabPage) -> None:
    first = widget(page)
    first.locator("[data-own]").fill(HOSTILE * 12)
    first.locator("[data-show]").click()
    run = first.locator("[data-prove]")
    run.click()
    verdict = first.locator("[data-verdict]")
    expect(verdict).to_have_attribute("data-verdict", "ok")
    expect(verdict).to_contain_text("The row sums to 1.")
    rows = verdict.locator("tr")
    assert rows.all_inner_texts() == ["keys\t3", f"{HOSTILE.replace('`', '')}\t−0.25"]
    expect(verdict).to_contain_text(re.compile(r"computed in this kernel in \d+ ms"))
    expect(run).to_have_text("Run it again")
    code = first.locator(".mha-interview-code")
    expect(code).to_be_hidden()
    first.locator(".is-proof summary").click()
    expect(code).to_contain_text("def row_sums_to_one() -> Shown:")
    assert "@proof" not in code.inner_text() and "<img" in code.inner_text()
    follow = first.locator("[data-follow]")
    expect(follow.locator("p")).to_be_hidden()
    follow.locator("summary").click()
    expect(follow.locator("p")).to_have_text("The same.")

    # Running it leaves the card and what is unfolded as they are.
    run.click()
    expect(run).to_have_text("Run it again")
    expect(code).to_be_visible()
    for _ in range(2):
        first.locator("[data-mark=knew]").click()
        first.locator("[data-show]").click()
    first.locator("[data-prove]").click()
    expect(verdict).to_have_attribute("data-verdict", "warn")
    expect(verdict).to_contain_text(f"not 2 {HOSTILE.replace('`', '')}")
    assert page.page.locator(".mha-interview img").count() == 0
    assert page.pictures_without_alt() == []

    # All that a card can hold, in both themes and in narrow windows.
    first.locator("[data-order='take back']").click()
    expect(question(first)).to_contain_text("Question 1?")
    first.locator("[data-order='take back']").click()
    expect(first.locator(".is-own.mha-interview-said")).to_have_text(HOSTILE * 12)
    for fold in first.locator("summary").all():
        fold.click()
    for theme in ("light", "dark"):
        page.set_theme(theme)
        assert hex_of(first.evaluate("e => getComputedStyle(e).backgroundColor")) == colours(theme)["surface"]
        words = first.evaluate(
            """root => {
              const ground = e => {
                for (; e; e = e.parentElement) {
                  const c = getComputedStyle(e).backgroundColor;
                  if (c !== 'rgba(0, 0, 0, 0)' && c !== 'transparent') return c;
                }
              };
              return [...root.querySelectorAll('*')]
                .filter(e => e.offsetParent && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
                .map(e => [e, getComputedStyle(e)])
                .map(([e, s]) => [s.color, ground(e), parseFloat(s.fontSize), e.outerHTML.slice(0, 60)]);
            }"""
        )
        assert len(words) > 30
        assert [w for w in words if contrast(hex_of(w[0]), hex_of(w[1])) < 4.5] == [], theme
        assert [w for w in words if w[2] < 11] == []
    page.set_theme("light")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    for width in (933, 620, 420):  # 933: what is left of 1400 px at 150 %
        page.page.set_viewport_size({"width": width, "height": 900})
        page.page.wait_for_timeout(300)
        assert first.evaluate("e => e.scrollWidth <= e.clientWidth"), width
        sticking_out = first.evaluate(
            """root => [...root.querySelectorAll('button, p, li, h4, summary, select, textarea, pre, table')]
              .filter(e => e.offsetParent)
              .filter(e => e.getBoundingClientRect().right > root.getBoundingClientRect().right)
              .map(e => e.outerHTML.slice(0, 80))"""
        )
        assert sticking_out == [], width
        small = first.evaluate(
            """root => [...root.querySelectorAll('button, summary, select')]
              .filter(e => e.offsetParent && e.getBoundingClientRect().height < 23.5)
              .map(e => e.outerHTML.slice(0, 90))"""
        )
        assert small == [], width


def test_two_views_two_widgets_and_a_cell_that_is_run_again(page: LabPage) -> None:
    first, twin, part = (widget(page, i) for i in range(3))
    expect(question(part)).to_contain_text("Question 4?")
    first.locator("[data-own]").fill("typed here")
    expect(twin.locator("[data-own]")).to_have_value("typed here")
    twin.locator("[data-show]").click()
    expect(first.locator("[data-answer]")).to_be_visible()
    first.locator("[data-mark=missed]").click()
    for view in (first, twin):
        expect(question(view)).to_contain_text("Question 1?")
    # The other widget counts it too, and keeps its own card.
    expect(part.locator("[data-last]")).to_contain_text("missed, comes back after 3 others")
    expect(question(part)).to_contain_text("Question 4?")
    assert counts(part) == ["0", "0", "0", "3"]
    part.locator("[data-control=topic]").select_option("")
    expect(part.locator("[data-count=missed]")).to_contain_text("1")

    twin.locator("[data-control=topic]").select_option("Topic 0")
    expect(first.locator("[data-control=topic]")).to_have_value("Topic 0")
    first.locator("[data-own]").fill("half a thought")
    question(first).click()
    page.page.wait_for_timeout(500)
    page.run_cell(3)
    again = widget(page)
    expect(again.locator("[data-own]")).to_have_value("half a thought")
    expect(question(again)).to_contain_text("Question 1?")
    expect(again.locator("[data-control=topic]")).to_have_value("Topic 0")
    again.locator("[data-show]").click()
    again.locator("[data-mark=knew]").click()
    expect(question(again)).to_contain_text("Question 2?")
    expect(question(widget(page, 1))).to_contain_text("Question 2?")

    # Only what was missed: the one card that was, and then nothing.
    again.locator("[data-control=missed]").click()
    expect(question(again)).to_contain_text("Question 0?")
    again.locator("[data-show]").click()
    again.locator("[data-mark=knew]").click()
    expect(again.locator("[data-summary]")).to_be_visible()
    again.locator("[data-wider]").click()
    expect(question(again)).to_contain_text("Question 2?")
    expect(again.locator("[data-control=missed]")).to_have_attribute("aria-checked", "false")


def lands(page: LabPage, link: Locator, folder: str) -> None:
    """Follow a link: the lesson of that folder is in front, and the cell in sight, and stays there."""
    place = place_of(link.get_attribute("data-cell"))
    expect(link).to_have_text(re.compile(rf"lesson {place.lesson}, "))
    link.click()
    tab = page.page.locator("#jp-main-dock-panel .lm-TabBar-tab.lm-mod-current")
    expect(tab).to_have_attribute("title", re.compile(rf"Path: {folder}{place.file}"))
    line = max((one.strip("#- ") for one in place.source.splitlines()), key=len)[:40]
    in_sight = """line => {
      const panel = [...document.querySelectorAll('.jp-NotebookPanel')].find(e => e.offsetParent);
      const plain = text => text.replace(/[^\\p{L}\\p{N}]/gu, '');
      const box = panel.querySelector('.jp-WindowedPanel-outer').getBoundingClientRect();
      const cell = panel.querySelector('.jp-Cell.jp-mod-active');
      if (!cell || !plain(cell.textContent).includes(plain(line))) return false;
      const own = cell.getBoundingClientRect();
      return own.height > 0 && own.top >= box.top - 4 && own.top < box.bottom - 40;
    }"""
    # JupyterLab draws a notebook cell by cell; on a busy machine it takes a while to come to this one.
    page.page.wait_for_function(in_sight, arg=line, timeout=120_000)
    page.page.wait_for_timeout(2500)
    assert page.page.evaluate(in_sight, line), f"{place.cell} has moved out of sight"


def put_copy(server: LabServer, file: str, folder: str) -> None:
    """A lesson as a student has it after a while: with cells of one's own at its top."""
    lesson = nbformat.read(NOTEBOOKS / file, as_version=4)
    lesson.cells[1:1] = [nbformat.v4.new_code_cell(f"# my own {i}") for i in range(3)]
    nbformat.write(lesson, server.root / folder / file)


def test_links_land_on_their_cell_from_any_folder(tmp_path: Path, chromium: Chromium) -> None:
    # As a student has it: my_course/ is the server's folder, and cells are drawn as JupyterLab likes best.
    server = LabServer(tmp_path, home=tmp_path / "my_course")
    for setting in (tmp_path / "settings").rglob("tracker.jupyterlab-settings"):
        setting.unlink()
    try:
        for folder, cell in (("", "l03-block-proof"), ("mine/sub/", "l00-recap")):
            (server.root / folder).mkdir(parents=True, exist_ok=True)
            put_copy(server, place_of(cell).file, folder)
            page = chromium.page(server)
            first = widget(opened(page, f"{folder}links.ipynb", 4))
            first.locator("[data-show]").click()
            # The second time the lesson is open, and what was in sight has been scrolled away.
            for _ in range(2):
                lands(page, first.locator(f"a[data-cell={cell}]"), folder)
                page.page.mouse.wheel(0, -9000)
                page.page.locator(".lm-TabBar-tab", has_text="links.ipynb").click()
                expect(first.locator("[data-answer]")).to_be_visible()
            assert page.console_errors == [] and page.foreign_requests == [] and page.dialogs == []
            page.page.context.close()
            server.end_kernels()
    finally:
        server.close()
