"""BugHunt in real JupyterLab: a hunt by keyboard, two at once, a second run, both themes, a narrow window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage, LabServer

CELLS = [
    "from mha_course import bug_hunt, widgets",
    "widgets.BugHunt()",
    "widgets.BugHunt(6)",
    'bug_hunt.probe("empty_row", bug_hunt.suspect(3)).plot()',
]


@pytest.fixture
def page(lab: LabPage) -> Iterator[LabPage]:
    lab.server.write_notebook("bug_hunt.ipynb", CELLS)
    lab.open("bug_hunt.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == []
    yield lab


def suspect(hunt: Locator, number: int) -> Locator:
    return hunt.locator(f"[data-control=suspect] [data-value='{number}']")


def test_a_hunt_by_keyboard(page: LabPage) -> None:
    keys, both = page.page.keyboard, page.page.locator(".mha-widget.mha-hunt")
    expect(both).to_have_count(2)
    assert page.pictures_without_alt() == []
    first, second = both.nth(0), both.nth(1)
    expect(first.locator(".mha-box-empty")).to_contain_text("Suspect 1 waits")

    # To the third suspect, and from there by Tab to the first probe.
    suspect(first, 1).focus()
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    expect(suspect(first, 3)).to_have_attribute("aria-checked", "true")
    expect(first.locator(".mha-box-empty")).to_contain_text("Suspect 3 waits")
    keys.press("Tab")
    keys.press("Enter")
    rows = first.locator("[data-evidence=rows]")
    expect(rows).to_have_attribute("data-apart", "false")
    expect(first.locator("[data-probe=rows]")).to_be_focused()
    first.locator("[data-probe=empty_row]").press("Enter")
    empty = first.locator("[data-evidence=empty_row]")
    expect(empty).to_have_attribute("data-apart", "true")
    expect(first.locator(".mha-sr[role=status]")).to_contain_text("Differs from the sound layer")
    # The new finding is open and on top, the earlier one is folded.
    expect(first.locator("[data-evidence]").first).to_have_attribute("data-evidence", "empty_row")
    assert not rows.evaluate("e => e.open") and empty.evaluate("e => e.open")
    expect(empty.locator("tbody tr.is-apart th")).to_have_text(
        ["sum of the empty row", "largest number in its output", "share of nan in the gradients"]
    )
    expect(empty.locator(".mha-hunt-map")).to_have_count(2)
    expect(empty.locator(".mha-hunt-map[data-who='suspect 3'] .mha-hunt-nan")).to_have_count(7)
    empty.locator(".mha-hunt-map[data-who='suspect 3'] svg").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown"):
        keys.press(key)
    expect(first.locator(".mha-tooltip")).to_have_text("query 3, key 0: nan, blocked by the mask")

    # A wrong name meets the probe that was run; the right one opens the lines.
    name, button = first.locator("select[data-control=name]"), first.locator("[data-name-it]")
    button.press("Enter")
    expect(first.locator(".mha-hunt-ask")).to_contain_text("Choose a name first.")
    name.select_option("mask-reversed")
    button.press("Enter")
    expect(first.locator("[data-verdict=warn]")).to_contain_text(
        "“A row that sees nothing” speaks against it"
    )
    expect(first.locator("[data-lines]")).to_have_count(0)
    name.select_option("empty-row-nan")
    button.press("Enter")
    expect(first.locator("[data-verdict=ok]")).to_contain_text("Suspect 3: found")
    expect(button).to_be_focused()
    expect(suspect(first, 3)).to_have_attribute("aria-label", "suspect 3, found")
    expect(first.locator("[data-fact=found]")).to_have_text("1 of 12 found")
    expect(first.locator(".mha-lesson-link")).to_have_attribute("data-cell", "l04-poison-print")
    expect(first.locator("[data-lines='3'] .mha-hunt-line.is-new").first).to_contain_text("empty = ~mask.any")
    expect(first.locator("[data-overview] tbody tr")).to_have_count(1)

    # The other hunt has its own suspect and its own evidence.
    expect(suspect(second, 6)).to_have_attribute("aria-checked", "true")
    expect(second.locator("[data-evidence]")).to_have_count(0)
    second.locator("[data-insist]").click()
    expect(second.locator("[data-lines='6']")).to_contain_text("scores + mask.to(scores.dtype)")
    expect(second.locator("[data-lines='6']")).to_contain_text("You have not named it yet")
    expect(second.locator("[data-fact=found]")).to_have_text("1 of 12 found")

    page.set_theme("dark")
    assert first.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 23, 28)"
    shade = "e => getComputedStyle(e.querySelector('.mha-hunt-map rect')).fill"
    dark = empty.evaluate(shade)
    page.set_theme("light")
    expect(empty.locator(".mha-hunt-map")).to_have_count(2)
    assert empty.evaluate(shade) != dark


def test_found_suspects_stay_found_when_the_cell_runs_again(page: LabPage) -> None:
    hunt = page.page.locator(".mha-widget.mha-hunt").first
    suspect(hunt, 9).click()
    hunt.locator("[data-probe=gradients]").click()
    expect(hunt.locator("[data-evidence=gradients]")).to_contain_text("W_O 0%")
    hunt.locator("select[data-control=name]").select_option("without-w-o")
    hunt.locator("[data-name-it]").click()
    expect(hunt.locator("[data-verdict=ok]")).to_contain_text("Suspect 9: found")
    before = hunt.element_handle()
    page.run_cell(1)
    page.page.wait_for_function("e => !e.isConnected", arg=before)
    again = page.page.locator(".mha-widget.mha-hunt").first
    expect(suspect(again, 9)).to_have_attribute("aria-label", "suspect 9, found")
    suspect(again, 9).click()
    expect(again.locator("[data-verdict=ok]")).to_contain_text("To mend it")
    expect(again.locator("[data-lines='9']")).to_contain_text("return concat")


def test_narrow_window(server: LabServer, lab: LabPage) -> None:
    page = lab.narrow(620)
    server.write_notebook("narrow_bug_hunt.ipynb", CELLS)
    page.open("narrow_bug_hunt.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    hunt = page.page.locator(".mha-widget.mha-hunt").nth(1)
    suspect(hunt, 7).click()
    for key in ("features", "future", "neighbours"):
        hunt.locator(f"[data-probe={key}]").click()
        expect(hunt.locator(f"[data-evidence={key}]")).to_be_visible()
    hunt.locator("[data-insist]").click()
    expect(hunt.locator("[data-lines='7']")).to_be_visible()
    hunt.scroll_into_view_if_needed()
    assert hunt.evaluate("e => e.scrollWidth <= e.clientWidth")
    for target in hunt.locator("button, select, summary").all():
        assert target.bounding_box()["height"] >= 24, target.evaluate("e => e.outerHTML")
    small = """e => [...e.querySelectorAll('*')].filter(one => one.getClientRects().length
        && !one.closest('.mha-sr')
        && [...one.childNodes].some(child => child.nodeType === 3 && child.textContent.trim())
        && parseFloat(getComputedStyle(one).fontSize) < 11).map(one => one.outerHTML.slice(0, 90))"""
    assert hunt.evaluate(small) == []
