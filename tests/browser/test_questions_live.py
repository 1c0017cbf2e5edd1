"""Quick questions and Parsons problems in real JupyterLab: keys alone, mouse, two at once, themes, zoom."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from mha_course.exercises.shown.parsons_lines import LAYER_LINES, SPLIT_LINES
from mha_course.theme import colours, contrast
from tests.browser.lab import Chromium, LabPage, LabServer

HOSTILE = "<img src=x onerror=alert(1)> `<b>x</b>` 三月 العربية 👩‍👩‍👧"
ENTRY = {
    "question": f"Which? {HOSTILE}",
    "choices": [
        {"text": HOSTILE, "right": False, "because": f"No. {HOSTILE}"},
        {"text": "`b`", "right": True, "because": f"Yes. {HOSTILE}"},
    ],
}
CELLS = [
    "from mha_course import widgets\n"
    "from mha_course.widgets.question import QuickQuestion\n"
    "from mha_course.widgets.question_texts import read_question",
    f"QuickQuestion(read_question('90-hostile', {ENTRY!r}))",
    "first = widgets.ask('03-check-with-ones')\nfirst",
    "widgets.ask('03-split-before-projection')",
    "widgets.parsons('split_heads')",
    "layer = widgets.parsons('multi_head_attention')\nlayer",
    "layer",
    "import time, torch\ntorch.manual_seed(3)\ndrawn, pause = [], 0.0",
    "for i in range(70):\n"
    "    time.sleep(pause)\n"
    "    drawn.append(torch.rand(1).item())\n"
    "    print(i, end=' ')\n"
    "torch.manual_seed(3)\n"
    "print('same', drawn == [torch.rand(1).item() for _ in drawn])",
]
SPLIT = [line.text for line in SPLIT_LINES if not line.because]
LAYER = [line.text for line in LAYER_LINES if not line.because]


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    yield opened(lab, "questions.ipynb")


def opened(page: LabPage, name: str) -> LabPage:
    # Answers of an earlier test in this session would be shown again.
    for kept in (page.server.folder / "my_course").glob("progress.json"):
        kept.unlink()
    page.server.write_notebook(name, CELLS)
    page.open(name)
    page.run_all(120)
    assert page.error_outputs() == []
    return page


def widget(page: LabPage, name: str, nth: int = 0) -> Locator:
    found = page.page.locator(f".mha-widget.{name}").nth(nth)
    found.scroll_into_view_if_needed()
    return found


def unfolded(page: LabPage, nth: int = 0) -> Locator:
    puzzle = widget(page, "mha-parsons-box", nth)
    puzzle.locator("[data-open]").click()
    return puzzle


def inside(puzzle: Locator) -> list[str]:
    return puzzle.locator("[data-list=function] .mha-line-code").all_text_contents()


def line(puzzle: Locator, text: str) -> Locator:
    code = puzzle.page.locator(".mha-line-code").get_by_text(re.compile(f"^{re.escape(text)}$"))
    return puzzle.locator(".mha-line").filter(has=code)


def hex_of(colour: str) -> str:
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return f"#{red:02X}{green:02X}{blue:02X}"


def test_a_question_is_answered_by_keys_alone(page: LabPage) -> None:
    keys = page.page.keyboard
    form = widget(page, "mha-ask-box", 2)
    cells = page.page.locator(".jp-Cell").count()
    form.locator("[data-choice='0']").focus()
    keys.press("Tab")
    expect(form.locator("[data-check]")).to_be_focused()
    keys.press("Enter")
    expect(form.locator(".mha-ask-hint")).to_have_text("Choose one first.")
    keys.press("Shift+Tab")
    keys.press("Space")
    keys.press("Enter")  # as in any form
    wrong = form.locator(".mha-ask-said [data-verdict=warn]")
    expect(wrong).to_contain_text("block-diagonal")
    expect(form.locator(".mha-ask-said")).to_have_attribute("role", "status")
    expect(form.locator("[data-choice='0']")).to_be_focused()
    keys.press("Enter")
    expect(form.locator(".mha-ask-hint")).to_contain_text("has been checked")
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    keys.press("Enter")
    right = form.locator("[data-verdict=ok]")
    expect(right).to_contain_text("Project first")
    expect(right.locator("li").first).to_be_hidden()
    right.locator("summary").focus()
    keys.press("Enter")
    expect(right.locator("li").first).to_be_visible()
    assert right.locator("li").count() == 2
    expect(form.locator(".mha-ask-mark.is-wrong")).to_have_count(1)
    # No key has reached the notebook: no cell was added, cut, or run.
    assert page.page.locator(".jp-Cell").count() == cells

    page.run_cell(3)
    again = widget(page, "mha-ask-box", 2)
    expect(again.locator("[data-choice='2']")).to_be_checked()
    expect(again.locator("[data-verdict=ok]")).to_contain_text("Project first")


def test_several_choices_and_hostile_text(page: LabPage) -> None:
    form = widget(page, "mha-ask-box", 1)
    form.get_by_text("without a transpose").click()
    form.locator("[data-check]").click()
    expect(form.locator("[data-verdict=warn]")).to_contain_text("Something is missing")
    for words in ("every third", "wrong order"):
        form.get_by_text(words).click()
    form.locator("[data-check]").click()
    expect(form.locator("[data-verdict=ok]")).to_contain_text("Interleaved heads")

    hostile = widget(page, "mha-ask-box")
    shown = HOSTILE.replace("`", "")
    expect(hostile.locator("legend")).to_have_text(f"Question. Which? {shown}")
    hostile.locator("[data-choice='0']").check()
    hostile.locator("[data-check]").click()
    expect(hostile.locator("[data-verdict=warn]")).to_contain_text(f"No. {shown}")
    hostile.locator("[data-choice='1']").check()
    hostile.locator("[data-check]").click()
    expect(hostile.locator("[data-verdict=ok]")).to_contain_text(f"Yes. {shown}")
    assert hostile.locator("img, b").count() == 0
    assert hostile.locator("code.mha-marked").first.inner_text() == "<b>x</b>"


def test_the_split_is_put_in_order_by_keys_alone(page: LabPage) -> None:
    keys = page.page.keyboard
    puzzle = widget(page, "mha-parsons-box")
    spoken = puzzle.locator(".mha-sr[aria-live]")
    cells = page.page.locator(".jp-Cell").count()
    expect(puzzle.locator(".mha-line").first).to_be_hidden()
    puzzle.locator("[data-open]").focus()
    keys.press("Enter")
    keys.press("Tab")
    expect(puzzle.locator("[data-list=bank] .mha-line").first).to_be_focused()

    def walk_to(text: str) -> None:
        keys.press("Home")
        shown = puzzle.locator(".mha-line-code").all_text_contents()
        for _ in range(shown.index(text)):
            keys.press("ArrowDown")
        expect(line(puzzle, text)).to_be_focused()

    for text in (SPLIT[1], SPLIT[0], SPLIT[3], SPLIT[4]):
        walk_to(text)
        keys.press("Space")
    expect(spoken).to_have_text("Taken in as line 5: return heads")
    assert inside(puzzle) == [SPLIT[1], SPLIT[0], SPLIT[3], SPLIT[4]]
    walk_to(SPLIT[0])
    keys.press("Alt+ArrowUp")
    expect(spoken).to_have_text("Moved to line 2: b, n, d_model = x.shape")
    expect(line(puzzle, SPLIT[0])).to_be_focused()
    # From the bank a line comes in at the end, and goes up from there.
    walk_to(SPLIT[2])
    for _ in range(3):
        keys.press("Alt+ArrowUp")
    assert inside(puzzle) == SPLIT
    # Below the end it goes out again, and Space takes it in.
    walk_to(SPLIT[4])
    keys.press("Alt+ArrowDown")
    assert inside(puzzle) == SPLIT[:4]
    walk_to(SPLIT[4])
    keys.press("Space")
    puzzle.locator("[data-check]").focus()
    keys.press("Enter")
    expect(puzzle.locator("[data-verdict=ok]")).to_contain_text("It does what it should")
    expect(puzzle.locator(".mha-parsons-done")).to_be_visible()
    expect(puzzle.locator(".mha-parsons-said")).to_have_attribute("role", "status")
    assert page.page.locator(".jp-Cell").count() == cells

    page.run_cell(4)
    again = widget(page, "mha-parsons-box")
    expect(again.locator(".mha-parsons-done")).to_be_visible()
    expect(again.locator(".mha-line").first).to_be_hidden()


def drag(page: LabPage, source: Locator, to: Locator, below: bool) -> None:
    """Press on a line's text, move in steps, let go at the upper or lower edge of another element."""
    source.scroll_into_view_if_needed()
    box = source.locator(".mha-line-code").bounding_box()
    mouse = page.page.mouse
    mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
    mouse.down()
    aim = to.bounding_box()
    mouse.move(box["x"] + 24, box["y"] + box["height"] / 2 + 9)
    mouse.move(aim["x"] + 60, aim["y"] + (aim["height"] - 3 if below else 3), steps=8)
    mouse.up()


def test_lines_are_dragged_by_mouse(page: LabPage) -> None:
    puzzle = unfolded(page)
    drag(page, line(puzzle, SPLIT[4]), puzzle.locator(".mha-lines-empty"), True)
    assert inside(puzzle) == [SPLIT[4]]
    for text in SPLIT[:4]:
        drag(page, line(puzzle, text), line(puzzle, SPLIT[4]), False)
    assert inside(puzzle) == SPLIT
    drag(page, line(puzzle, SPLIT[3]), line(puzzle, SPLIT[0]), False)
    assert inside(puzzle) == [SPLIT[3], *SPLIT[:3], SPLIT[4]]
    puzzle.locator("[data-check]").click()
    verdict = puzzle.locator("[data-verdict=warn]")
    expect(verdict).to_contain_text(
        "Line 2, heads = cut.transpose(1, 2), uses cut, and it is made in line 5 only."
    )
    expect(puzzle.locator(".mha-line.is-marked")).to_have_count(1)
    expect(verdict.locator(".mha-before")).to_be_hidden()
    drag(page, line(puzzle, SPLIT[3]), puzzle.locator("[data-list=bank]"), True)
    assert inside(puzzle) == [*SPLIT[:3], SPLIT[4]]
    expect(verdict.locator(".mha-before")).to_be_visible()
    expect(puzzle.locator(".mha-line.is-marked")).to_have_count(0)
    drag(page, line(puzzle, SPLIT[3]), line(puzzle, SPLIT[2]), True)
    assert inside(puzzle) == SPLIT
    assert page.page.locator(".mha-drop-marker, .is-dragged, .is-dragging").count() == 0
    puzzle.locator("[data-check]").click()
    expect(puzzle.locator("[data-verdict=ok]")).to_be_visible()
    puzzle.locator("[data-again]").click()
    assert inside(puzzle) == []


def test_two_views_and_two_puzzles_at_once(page: LabPage) -> None:
    split, layer, twin = unfolded(page), unfolded(page, 1), unfolded(page, 2)
    for text in LAYER:
        first = text.splitlines()[0]
        bank = layer.locator("[data-list=bank] .mha-line")
        # Two blocks begin alike; their second lines tell them apart.
        bank.filter(has_text=text.splitlines()[-1].strip()).first.get_by_role(
            "button", name="Take in"
        ).click()
        assert inside(layer)[-1].startswith(first)
    assert inside(layer) == LAYER
    expect(twin.locator("[data-list=function] .mha-line")).to_have_count(len(LAYER))
    assert inside(twin) == LAYER and inside(split) == []
    layer.locator("[data-check]").click()
    for view in (layer, twin):
        expect(view.locator("[data-verdict=ok]")).to_contain_text("with a causal mask")
        expect(view.locator(".mha-parsons-done")).to_be_visible()
    assert split.locator("[data-verdict]").count() == 0
    # Buttons: the same line goes up as often as it is pressed, and keeps the focus.
    up = line(twin, LAYER[9]).get_by_role("button", name="Move up")
    up.focus()
    page.page.keyboard.press("Enter")
    page.page.keyboard.press("Enter")
    expect(up).to_be_focused()
    assert inside(twin).index(LAYER[9]) == 7
    twin.locator("[data-check]").click()
    expect(twin.locator("[data-verdict=warn]")).to_contain_text("Line 10, return concat @ w_o, uses concat")


def test_a_check_while_a_cell_runs_is_answered_and_leaves_the_cell_alone(page: LabPage) -> None:
    puzzle = unfolded(page)
    for text in SPLIT:
        line(puzzle, text).get_by_role("button", name="Take in").click()
    # The first answer of a widget goes the slow way; get it over with.
    puzzle.locator("[data-check]").click()
    expect(puzzle).to_have_attribute("data-drawn-stamp", "1")
    output = page.page.locator(".jp-CodeCell").nth(8).locator(".jp-OutputArea-output")
    page.page.locator(".jp-CodeCell").nth(7).locator(".cm-content").click()
    page.page.keyboard.press("ControlOrMeta+a")
    page.page.keyboard.insert_text("import time, torch\ntorch.manual_seed(3)\ndrawn, pause = [], 0.12")
    page.page.keyboard.press("Shift+Enter")
    page.page.keyboard.press("Shift+Enter")
    expect(output).to_contain_text("2 3 4")
    for drawn in range(2, 5):
        puzzle.locator("[data-check]").click()
        expect(puzzle).to_have_attribute("data-drawn-stamp", str(drawn))
    expect(puzzle.locator("[data-verdict=ok]")).to_be_visible()
    assert "same" not in output.inner_text(), "the cell had ended before the checks"
    # No line that it printed is lost, and no random number was drawn by anyone else or drawn again.
    expect(output).to_have_text(" ".join(map(str, range(70))) + " same True", timeout=30_000)


def test_both_are_readable_in_both_themes(page: LabPage) -> None:
    form, puzzle = widget(page, "mha-ask-box", 2), unfolded(page)
    form.locator("[data-choice='1']").check()
    form.locator("[data-check]").click()
    line(puzzle, SPLIT_LINES[6].text).get_by_role("button", name="Take in").click()
    puzzle.locator("[data-check]").click()
    expect(puzzle.locator("[data-verdict=warn]")).to_be_visible()
    for theme in ("light", "dark"):
        page.set_theme(theme)
        palette = colours(theme)
        for root in (form, puzzle):
            pairs = root.evaluate(
                """root => {
                  const ground = e => {
                    for (; e; e = e.parentElement) {
                      const c = getComputedStyle(e).backgroundColor;
                      if (c !== 'rgba(0, 0, 0, 0)' && c !== 'transparent') return c;
                    }
                  };
                  const texts = [...root.querySelectorAll('*')].filter(e =>
                    e.offsetParent && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()));
                  return texts.filter(e => e.getAttribute('aria-disabled') !== 'true')
                    .map(e => [getComputedStyle(e).color, ground(e), e.textContent.slice(0, 40)]);
                }"""
            )
            assert len(pairs) > 8
            weak = [p for p in pairs if contrast(hex_of(p[0]), hex_of(p[1])) < 4.5]
            assert weak == [], theme
            paper = root.evaluate("e => getComputedStyle(e).backgroundColor")
            assert hex_of(paper) == palette["surface"]
    page.set_theme("light")


@pytest.mark.parametrize(("width", "height", "scale"), [(933, 667, 1.5), (800, 900, 1), (480, 800, 1)])
def test_zoomed_and_narrow_windows(
    server: LabServer, chromium: Chromium, width: int, height: int, scale: float
) -> None:
    # Zoomed to 150 %, a window of 1400 by 1000 has 933 by 667 CSS pixels of one and a half device pixels.
    page = chromium.page(server, width=width, height=height, device_scale_factor=scale)
    page.page.goto("about:blank")
    for kept in (server.folder / "my_course").glob("progress.json"):
        kept.unlink()
    server.write_notebook("zoomed.ipynb", CELLS)
    page.open("zoomed.ipynb")
    page.page.keyboard.press("Control+b")
    page.run_all(120)
    puzzle = unfolded(page, 1)
    drag(page, line(puzzle, LAYER[0]), puzzle.locator("[data-list=function]"), False)
    assert inside(puzzle) == [LAYER[0]]
    line(puzzle, LAYER[3]).get_by_role("button", name="Take in").click()
    puzzle.locator("[data-check]").click()
    expect(puzzle.locator("[data-verdict=warn]")).to_contain_text("uses d_k")
    form = widget(page, "mha-ask-box", 1)
    form.locator("[data-choice='3']").check()
    form.locator("[data-check]").click()
    expect(form.locator("[data-verdict=warn]")).to_be_visible()
    for root in (form, puzzle):
        assert root.evaluate("e => e.scrollWidth <= e.clientWidth")
        sticking_out = root.evaluate(
            """root => [...root.querySelectorAll('button, code, p, input, summary')]
              .filter(e => e.offsetParent)
              .filter(e => e.getBoundingClientRect().right > root.getBoundingClientRect().right)
              .map(e => e.textContent)"""
        )
        assert sticking_out == []
    small = page.page.evaluate(
        """() => [...document.querySelectorAll('.mha-widget :is(button, summary, label)')]
          .filter(e => e.offsetParent && e.getBoundingClientRect().height < 23.5)
          .map(e => e.outerHTML.slice(0, 90))"""
    )
    assert small == []
    assert page.console_errors == [] and page.foreign_requests == []
    page.page.context.close()
