"""The clock and the certificate in JupyterLab: ticks, restarts, two clocks, links, print, hostile names."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.desk import Desk
from tests.browser.lab import Chromium, LabPage, LabServer

CLOCK = "from mha_course import widgets\nwidgets.AgainstTheClock(lesson='03')"
PASS = """from mha_course.exercises import check

def split_heads(x, h):
    b, n, d_model = x.shape
    return x.reshape(b, n, h, d_model // h).transpose(1, 2)

check("split_heads", split_heads)"""
NAMES = ["head_size", "split_heads", "stack_heads"]
HOSTILE = "<img src=x onerror=alert(1)> 张三 محمد 🎉"


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory, chromium: Chromium) -> Iterator[Desk]:
    """Pages on a server whose root is the student's folder, as the course is started."""
    folder = tmp_path_factory.mktemp("home")
    server = LabServer(folder, home=folder / "my_course")
    desk = Desk(server, chromium)
    yield desk
    desk.close()
    server.close()


@pytest.fixture
def home(homes: Desk, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    """One of these pages, and an empty folder."""
    for kept in homes.server.root.iterdir():
        kept.unlink() if kept.is_file() else shutil.rmtree(kept)
    with homes.for_a_test(request) as page:
        yield page


def clocks(lab: LabPage) -> Locator:
    return lab.page.locator(".mha-widget.mha-clock")


def shown(lab: LabPage) -> Locator:
    """Run the first cell and wait for its clock: a busy machine takes long to import everything."""
    lab.run_cell(0)
    clock = clocks(lab).first
    clock.wait_for(timeout=240_000)
    return clock


def row(clock: Locator, name: str) -> Locator:
    return clock.locator(f".mha-clock-stage[data-stage={name}]")


def test_a_run_from_the_first_press_to_a_restart(home: LabPage) -> None:
    home.server.write_notebook("clock.ipynb", [CLOCK, PASS, CLOCK])
    home.open("clock.ipynb")
    clock, keys = shown(home), home.page.keyboard
    expect(clock.locator("[data-fact=clock]")).to_have_text("45 min")

    # Without the clock a pass ticks the function, and says so.
    home.run_cell(1)
    expect(row(clock, "split_heads")).to_have_class(re.compile("is-done"))
    expect(row(clock, "split_heads")).to_contain_text("solved")
    expect(clock.locator("[aria-live=polite]")).to_contain_text("Passed: split_heads")
    expect(clock).to_have_attribute("data-state", "new")

    # Another time, and the start, by keyboard alone; the button that is pressed hands the focus on.
    clock.locator("[data-control=minutes] [data-value='45']").focus()
    keys.press("ArrowRight")
    expect(clock.locator("[data-fact=clock]")).to_have_text("60 min")
    clock.locator("button[data-control=start]").focus()
    keys.press("Enter")
    expect(clock).to_have_attribute("data-state", "running")
    expect(clock.locator("[data-fact=clock]")).to_have_text("60 min left")
    expect(clock.locator("button[data-control=stop]")).to_be_focused()
    expect(clock.locator("[aria-live=polite]")).to_contain_text("The clock counts, 60 minutes")
    expect(row(clock, "split_heads")).not_to_have_class(re.compile("is-done"))

    home.run_cell(1)
    expect(row(clock, "split_heads")).to_contain_text(re.compile(r"0:\d\d · at 0:\d\d"))
    expect(clock.locator(".mha-clock-mark[data-stage='2']")).to_have_count(1)
    expect(clock.locator(".mha-clock-best li")).to_contain_text("1 of 3 in 0:")
    took = row(clock, "split_heads").locator(".mha-clock-time").inner_text()

    # A second clock of the notebook shows the same run, and stops it for both.
    home.run_cell(2)
    expect(clocks(home)).to_have_count(2)
    second = clocks(home).nth(1)
    expect(row(second, "split_heads").locator(".mha-clock-time")).to_have_text(took)
    second.locator("button[data-control=stop]").focus()
    keys.press("Space")
    expect(clock).to_have_attribute("data-state", "stopped")
    expect(second.locator("button[data-control=go_on]")).to_be_focused()
    keys.press("Space")
    expect(clock).to_have_attribute("data-state", "running")
    expect(clock.locator("[data-fact=sentence]")).to_contain_text("with 1 break")

    home.menu("Kernel", "Restart Kernel…")
    home.page.locator(".jp-Dialog button", has_text="Restart").first.click()
    home.page.wait_for_selector("#jp-main-statusbar >> text=/\\| Idle/")
    home.page.wait_for_timeout(1500)
    # The outputs of the old kernel go, and the first cell alone makes a new one.
    home.menu("Edit", "Clear Outputs of All Cells")
    expect(clocks(home)).to_have_count(0)
    clock = shown(home)
    expect(clock).to_have_attribute("data-state", "running")
    expect(row(clock, "split_heads").locator(".mha-clock-time")).to_have_text(took)
    assert home.error_outputs() == [] and home.pictures_without_alt() == []


def test_time_over_is_told_quietly(home: LabPage) -> None:
    begun = (datetime.now(UTC) - timedelta(minutes=2)).isoformat()
    run = {"lesson": "03", "minutes": 45, "stages": NAMES, "since": begun, "counted": 0.0, "breaks": 0}
    kept = {"clock": {begun: {**run, "passed": {"head_size": 600.0}}}}
    (home.server.root / "progress.json").write_text(json.dumps(kept), encoding="utf-8")
    home.server.write_notebook("over.ipynb", [CLOCK])
    home.open("over.ipynb")
    clock = shown(home)
    fact, live = clock.locator("[data-fact=clock]"), clock.locator("[aria-live=polite]")
    expect(fact).to_have_text(re.compile(r"^\d\d min left$"))
    looks = "e => { const s = getComputedStyle(e); return [s.color, s.fontSize, s.animationName]; }"
    before = fact.evaluate(looks)
    # The machine's clock moves on, and no word comes from Python.
    later = "ms => { const now = Date.now; Date.now = () => now() + ms; }"
    home.used_up = True
    home.page.evaluate(later, 21 * 60_000)
    expect(live).to_have_text("Half of the time is left: 22 minutes 30 seconds.")
    home.page.evaluate(later, 18 * 60_000)
    expect(live).to_have_text("Five minutes are left.")
    home.page.evaluate(later, 5 * 60_000)
    expect(fact).to_have_text("time is over")
    expect(live).to_have_text("The time is over. You may go on.")
    assert fact.evaluate(looks) == before, "nothing is coloured, grows or blinks"
    expect(clock.locator("[data-fact=sentence]")).to_contain_text("Go on as long as you like")
    expect(clock).to_have_attribute("data-state", "running")
    assert fact.get_attribute("role") == "timer" and fact.get_attribute("aria-live") is None


@pytest.mark.parametrize(("width", "zoom"), [(620, 1.0), (1100, 1.5)])
def test_the_clock_fits_into_a_narrow_window_and_into_a_large_one(
    home: LabPage, width: int, zoom: float
) -> None:
    home.server.write_notebook("narrow.ipynb", [CLOCK])
    lab = home.page_of_size(width, 900)
    lab.open("narrow.ipynb")
    lab.used_up = True
    lab.page.evaluate("z => { document.body.style.zoom = z; }", zoom)
    clock = shown(lab)
    clock.locator("button[data-control=start]").click()
    expect(clock).to_have_attribute("data-state", "running")
    lab.page.wait_for_timeout(500)
    found = clock.evaluate(
        """root => {
          const own = e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
          const texts = [...root.querySelectorAll('*')].filter(
            e => e.checkVisibility() && !e.closest('.mha-sr') && own(e));
          const edge = root.getBoundingClientRect();
          const targets = [...root.querySelectorAll('button, a')].filter(e => e.checkVisibility());
          return {
            wide: root.scrollWidth - root.clientWidth,
            outside: texts.filter(e => e.getBoundingClientRect().right > edge.right + 1)
              .map(e => e.textContent),
            small: texts.map(e => parseFloat(getComputedStyle(e).fontSize)).filter(size => size < 11),
            low: targets.filter(e => e.offsetHeight < 24).map(e => e.textContent),
          };
        }"""
    )
    assert found == {"wide": 0, "outside": [], "small": [], "low": []}


def test_a_certificate_is_shown_and_its_page_opens(home: LabPage) -> None:
    call = f"from mha_course.certificate import certificate\ncertificate({HOSTILE!r})"
    home.server.write_notebook("end.ipynb", [PASS, call])
    home.open("end.ipynb")
    home.run_all()
    picture = home.page.locator(".jp-OutputArea img[alt*='A record of work']")
    expect(picture).to_have_count(1)
    assert HOSTILE in picture.get_attribute("alt") and "exercises solved: 1 of " in picture.get_attribute(
        "alt"
    )
    assert home.pictures_without_alt() == [] and home.error_outputs() == []
    home.set_theme("dark")
    box = home.page.locator(".mhx[aria-label=Certificate]")
    assert box.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 23, 28)"
    home.set_theme("light")
    # The link leads to the page in JupyterLab itself, beside the notebook.
    box.locator("a", has_text="certificate.html").click()
    frame = home.page.frame_locator(".jp-HTMLViewer iframe")
    expect(frame.locator("p.name")).to_have_text(HOSTILE)
    expect(frame.locator("dd").first).to_contain_text("1 of ")
    assert frame.locator("img").count() == 1


def test_the_page_prints_on_one_sheet_in_ink_on_paper(home: LabPage, chromium: Chromium) -> None:
    home.server.write_notebook(
        "print.ipynb", [f"from mha_course.certificate import certificate\ncertificate({HOSTILE!r})"]
    )
    home.open("print.ipynb")
    home.run_all()
    file = (home.server.root / "certificate.html").as_uri()
    page = chromium.browser.new_page(color_scheme="dark")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file)
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(21, 23, 28)"
    dark = page.evaluate("document.querySelector('img').currentSrc")
    page.emulate_media(media="print")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.wait_for_function("dark => document.querySelector('img').currentSrc !== dark", arg=dark)
    pdf = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert page.evaluate("document.documentElement.lang") == "en"
    # On a phone the page is as wide as the screen, and only tables are scrolled.
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()
