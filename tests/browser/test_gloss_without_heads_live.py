"""GlossWithoutHeads in real JupyterLab: a role off, a head back on, random heads, another sentence."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.lab import LabPage, LabServer

CELLS = ["from mha_course import widgets", "widgets.GlossWithoutHeads()"]


def test_switch_heads_off_and_on(lab: LabPage) -> None:
    lab.server.write_notebook("gloss_without_heads.ipynb", CELLS)
    lab.open("gloss_without_heads.ipynb")
    lab.run_all(120)
    assert lab.error_outputs() == [] and lab.pictures_without_alt() == []
    widget = lab.page.locator(".mha-widget.mha-without")
    words, off = widget.locator("[data-fact=words]"), widget.locator(".mha-gloss-head[aria-pressed=false]")
    mutation = widget.locator(".mha-gloss-meters [data-part=mutation]")
    expect(words).to_contain_text("All heads are on.")
    expect(widget.locator(".mha-gloss-part.is-changed")).to_have_count(0)
    widget.locator("[data-control=group-previous]").click()
    expect(words).to_contain_text("Off: layer 2 head 2, layer 2 head 4.")
    expect(off).to_have_count(2)
    changed = widget.locator(".mha-gloss-part.is-changed")
    expect(changed.first).to_have_attribute("data-part", "mutation")
    expect(changed.locator("s").first).to_be_visible()
    expect(mutation.locator("[data-cell=lost]")).to_contain_text("−1")
    widget.locator("[data-control=against]").click()
    expect(mutation.locator("[data-cell=random]")).to_contain_text("most")
    widget.locator("[data-control=random]").click()
    expect(off).to_have_count(2)
    expect(words).not_to_contain_text("layer 2 head 2")
    off.first.focus()
    lab.page.keyboard.press("Enter")
    expect(off).to_have_count(1)
    widget.locator("[data-control=all]").click()
    expect(off).to_have_count(0)

    before = widget.locator(".mha-gloss-source").all_inner_texts()
    widget.locator("[data-control=another]").click()
    expect(widget.locator(".mha-gloss-source").nth(1)).not_to_have_text(before[1])
    expect(words).to_contain_text("parts are right")
    field = widget.locator("input[data-control=sentence]")
    field.fill("the <b>ocelot</b> sleeps .")
    field.press("Enter")
    expect(widget.locator(".mha-box")).to_contain_text("ocelot")
    expect(words).to_contain_text("sentences of the grammar only")
    expect(widget.locator(".mha-gloss-source b, .mha-box b")).to_have_count(0)
    lab.set_theme("dark")
    expect(widget).to_have_attribute("data-theme", "dark")
    lab.set_theme("light")


def test_narrow_window(server: LabServer, lab: LabPage) -> None:
    page = lab.narrow(460)
    server.write_notebook("narrow_gloss_without_heads.ipynb", CELLS)
    page.open("narrow_gloss_without_heads.ipynb")
    page.page.keyboard.press("Control+b")  # the file browser away, as one does in a narrow window
    page.run_all(120)
    widget = page.page.locator(".mha-widget.mha-without")
    widget.locator("[data-control=group-rarest]").click()
    expect(widget.locator(".mha-gloss-head[aria-pressed=false]")).to_have_count(2)
    widget.locator("[data-control=against]").click()
    expect(widget.locator(".mha-gloss-meters [data-cell=random]").first).to_contain_text("most")
    assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
    for target in widget.locator("button:visible").all():
        assert target.bounding_box()["height"] >= 24
