"""The AttentionExplorer in real JupyterLab: mouse, keyboard, two at once, busy kernel, odd text, themes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator

from tests.browser.lab import Chromium, LabPage, LabServer

PIXELS = """root => {
  const sums = [];
  for (const canvas of root.querySelectorAll("figure.mha-head canvas.mha-cells")) {
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let sum = 0;
    for (let i = 0; i < data.length; i += 4) sum = (sum * 31 + data[i] + 7 * data[i + 1]) | 0;
    sums.push(sum);
  }
  return sums.join(" ");
}"""
EXPLORER = "from mha_course import widgets\n"


class Explorer:
    """One explorer on a page, by the hooks that attention_explorer.js documents."""

    def __init__(self, lab: LabPage, index: int = 0) -> None:
        self.lab = lab
        self.root: Locator = lab.page.locator(".mha-explorer").nth(index)
        self.root.locator("canvas.mha-cells").first.wait_for()
        lab.page.wait_for_timeout(500)

    def pixels(self) -> str:
        return self.root.evaluate(PIXELS)

    def control(self, name: str) -> Locator:
        return self.root.locator(f'[data-control="{name}"]')

    def value(self, name: str) -> int:
        return int(self.control(name).get_attribute("aria-valuenow"))

    def wait_for_change(self, before: str) -> str:
        for _ in range(100):
            now = self.pixels()
            if now != before:
                return now
            self.lab.page.wait_for_timeout(100)
        raise AssertionError("the pixels did not change within 10 s")

    def heads(self) -> int:
        return self.root.locator("figure.mha-head").count()


@pytest.fixture(scope="module")
def one(server: LabServer, chromium: Chromium) -> Iterator[Explorer]:
    """A page with one explorer, shared by the tests of this file that only look and move."""
    page = chromium.page(server)
    page.open(server.write_notebook("one.ipynb", [EXPLORER + "widgets.AttentionExplorer()"]))
    page.run_all()
    yield Explorer(page)
    page.page.context.close()
    assert page.foreign_requests == []
    assert page.console_errors == []
    assert page.dialogs == []


def test_keyboard_moves_d_model_and_the_pixels_change(one: Explorer) -> None:
    before, d_model = one.pixels(), one.value("d_model")
    one.control("d_model").focus()
    one.lab.page.keyboard.press("ArrowLeft")
    one.wait_for_change(before)
    assert one.value("d_model") < d_model
    assert (
        int(one.root.locator('[data-fact="parameters"]').inner_text().replace(",", ""))
        == 4 * one.value("d_model") ** 2
    )


def test_keyboard_moves_h_and_the_number_of_maps_follows(one: Explorer) -> None:
    one.control("h").focus()
    one.lab.page.keyboard.press("Home")
    one.lab.page.wait_for_timeout(700)
    assert one.value("h") == one.heads() == 1
    one.lab.page.keyboard.press("ArrowRight")
    one.lab.page.wait_for_timeout(700)
    assert one.value("h") == one.heads() == 2


def test_only_divisors_are_offered(one: Explorer) -> None:
    stops = [
        int(text)
        for text in one.control("h").locator("xpath=..").locator(".mha-slider-number").all_inner_texts()
    ]
    assert stops
    assert all(one.value("d_model") % stop == 0 for stop in stops)


def test_mouse_moves_both_sliders(one: Explorer) -> None:
    for name in ("d_model", "h"):
        before, value = one.pixels(), one.value(name)
        box = one.control(name).bounding_box()
        for share in (0.02, 0.98):  # one end or the other is somewhere else than now
            one.lab.page.mouse.click(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
            one.lab.page.wait_for_timeout(500)
            if one.value(name) != value:
                break
        one.wait_for_change(before)
        assert one.value(name) != value


def test_mask_scale_and_seed_change_the_picture(one: Explorer) -> None:
    before = one.pixels()
    one.control("mask").locator('[data-value="causal"]').click()
    causal = one.wait_for_change(before)
    one.control("scale").click()
    unscaled = one.wait_for_change(causal)
    assert one.control("scale").get_attribute("aria-checked") == "false"
    one.control("new-seed").click()
    one.wait_for_change(unscaled)
    one.control("mask").locator('[data-value="none"]').click()
    one.control("scale").click()


def test_hover_and_focus_name_query_key_weight_and_head(one: Explorer) -> None:
    frame = one.root.locator('figure.mha-head[data-head="2"] .mha-frame')
    if frame.count() == 0:
        one.control("h").focus()
        one.lab.page.keyboard.press("ArrowRight")
        one.lab.page.wait_for_timeout(700)
    box = frame.bounding_box()
    one.lab.page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.6)
    tip = one.root.locator(".mha-tooltip")
    tip.wait_for()
    assert "→" in tip.inner_text()
    assert "head 2" in tip.inner_text()
    frame.focus()
    one.lab.page.keyboard.press("ArrowDown")
    one.lab.page.keyboard.press("ArrowRight")
    one.lab.page.wait_for_timeout(300)
    said = one.root.locator('[role="status"]').inner_text()
    assert "head 2" in said.lower()


def test_a_click_enlarges_one_head_with_arcs_and_bars(one: Explorer) -> None:
    one.root.locator('figure.mha-head[data-head="1"] .mha-frame').click(position={"x": 20, "y": 20})
    detail = one.root.locator(".mha-detail")
    detail.locator("svg.mha-arcs").wait_for()
    assert "Head 1" in detail.inner_text()
    assert detail.locator("rect[data-bar]").count() > 3
    one.lab.page.keyboard.press("Escape")


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)> and <script>alert(2)</script>",
        "三月 里 的 天气",
        "العربية جميلة",
        "hello 👩‍👩‍👧‍👦 world",
        "one",
        " ".join(f"w{i}" for i in range(64)),
        "",
        "x" * 10_000,
        "word " * 2_000,
        "a\u202eb \u0000 $x$ `y` \\n &amp;",
    ],
    ids=[
        "html",
        "chinese",
        "arabic",
        "emoji",
        "one-token",
        "64-tokens",
        "empty",
        "long-word",
        "10000",
        "odd",
    ],
)
def test_any_text_is_shown_or_refused_with_a_sentence(one: Explorer, text: str) -> None:
    field = one.control("sentence")
    field.fill(text)
    field.press("Enter")
    one.lab.page.wait_for_timeout(900)
    words = one.root.inner_text()
    if text == "":
        assert "sentence" in words.lower()
    else:
        assert one.root.locator("canvas.mha-cells").count() >= 1
    assert one.root.locator("img, script, iframe").count() == 0
    assert one.lab.dialogs == []
    assert one.lab.console_errors == []
    if text.startswith("<img"):
        assert "onerror" in words
    if text.startswith("三月"):
        assert "月" in words
    if text.startswith("word "):
        assert "64" in words


def test_it_comes_back_after_odd_texts(one: Explorer) -> None:
    before = one.pixels()
    one.control("sentence").fill("The owl hears the rain .")
    one.control("sentence").press("Enter")
    one.wait_for_change(before)
    assert "n = 6" in one.root.inner_text()


def test_light_and_dark_follow_the_theme_live(one: Explorer) -> None:
    ground = "root => getComputedStyle(root).backgroundColor"
    assert one.root.evaluate(ground) == "rgb(255, 255, 255)"
    light = one.pixels()
    one.lab.set_theme("dark")
    assert one.root.evaluate(ground) == "rgb(21, 23, 28)"
    assert one.pixels() != light
    one.lab.set_theme("light")
    assert one.root.evaluate(ground) == "rgb(255, 255, 255)"


@pytest.mark.parametrize(("width", "zoom"), [(740, 1.0), (1100, 1.5), (1400, 1.0)])
def test_nothing_sticks_out_in_narrow_windows_and_at_150_percent(
    one: Explorer, width: int, zoom: float
) -> None:
    one.lab.page.set_viewport_size({"width": width, "height": 900})
    one.lab.page.evaluate("zoom => { document.body.style.zoom = zoom; }", zoom)
    one.lab.page.wait_for_timeout(600)
    sticking_out = one.root.evaluate(
        """root => {
          const right = root.getBoundingClientRect().right + 1;
          return [...root.querySelectorAll("button, [role=slider], [role=radio], canvas, h3, p")]
            .filter(e => e.getBoundingClientRect().width > 0 && e.getBoundingClientRect().right > right)
            .map(e => e.outerHTML.slice(0, 120));
        }"""
    )
    one.lab.page.evaluate("() => { document.body.style.zoom = 1; }")
    one.lab.page.set_viewport_size({"width": 1400, "height": 1000})
    assert sticking_out == []


def test_it_moves_while_another_cell_is_computing(lab: LabPage, server: LabServer) -> None:
    cells = [EXPLORER + "widgets.AttentionExplorer()", "import time\ntime.sleep(8)\nprint('slept')"]
    lab.open(server.write_notebook("busy.ipynb", cells))
    lab.run_cell(0)
    explorer = Explorer(lab)
    before = explorer.pixels()
    explorer.control("h").focus()
    lab.page.keyboard.press("ArrowLeft")  # the first event of a widget goes the slow way; get it over with
    before = explorer.wait_for_change(before)
    lab.run_cell(1)
    lab.page.wait_for_timeout(800)
    explorer.control("d_model").focus()
    lab.page.keyboard.press("ArrowLeft")
    explorer.wait_for_change(before)
    assert "slept" not in " ".join(lab.outputs().all_inner_texts())
    lab.page.get_by_text("slept", exact=True).wait_for()


def test_two_explorers_mind_their_own_business(lab: LabPage, server: LabServer) -> None:
    cells = [
        EXPLORER + "widgets.AttentionExplorer(h=2)",
        "widgets.AttentionExplorer('rain falls on the barn', h=4)",
    ]
    lab.open(server.write_notebook("two.ipynb", cells))
    lab.run_all()
    first, second = Explorer(lab, 0), Explorer(lab, 1)
    assert (first.heads(), second.heads()) == (2, 4)
    still = second.pixels()
    before = first.pixels()
    first.control("d_model").focus()
    lab.page.keyboard.press("ArrowLeft")
    first.wait_for_change(before)
    assert second.pixels() == still
    ids = lab.page.evaluate("() => [...document.querySelectorAll('.mha-explorer [id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_running_a_cell_again_leaves_one_explorer(lab: LabPage, server: LabServer) -> None:
    lab.open(server.write_notebook("again.ipynb", [EXPLORER + "widgets.AttentionExplorer(h=2)"]))
    lab.run_all()
    lab.run_all()
    lab.page.wait_for_timeout(1500)
    assert lab.page.locator(".mha-explorer").count() == 1
