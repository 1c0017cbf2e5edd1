"""Trained weights in the AttentionExplorer on a page: layers, roles, unknown words, missing models."""

from __future__ import annotations

from tests.browser.lab import LabPage, LabServer
from tests.browser.test_explorer_live import EXPLORER, Explorer

CELL = EXPLORER + (
    'explorer = widgets.AttentionExplorer("the captain that the sailors follow leaves this oboe .", '
    "d_model=128, h=8)\nexplorer"
)


def test_trained_weights_layers_unknown_words_and_gaps(server: LabServer, lab: LabPage) -> None:
    lab.open(server.write_notebook("trained.ipynb", [CELL]))
    lab.run_all()
    one = Explorer(lab)
    root = one.root
    assert not one.control("layer").is_visible() and root.locator(".mha-lacking").count() == 0
    random = one.pixels()
    one.control("weights").locator('[data-value="trained"]').click()
    second = one.wait_for_change(random)

    # Roles stand below the maps, in full in their titles; layers differ.
    names = " ".join(root.locator(".mha-head-name").all_inner_texts())
    assert "verb → subj" in names and "previous" in names
    assert any("always" in (n.get_attribute("title") or "") for n in root.locator(".mha-head-name").all())
    one.control("layer").locator('[data-value="1"]').click()
    one.wait_for_change(second)
    assert "rarest" in " ".join(root.locator(".mha-head-name").all_inner_texts())

    # The word that the model doesn't know is marked by more than colour, and read out.
    unknown = root.locator(".mha-query.mha-unknown")
    assert unknown.all_inner_texts()[0] == "oboe"
    line = unknown.first.evaluate("e => getComputedStyle(e).textDecorationLine")
    assert line == "underline"
    assert "oboe" in root.locator(".mha-notices .mha-box").inner_text()
    row = 8  # "oboe"
    cells = root.locator("figure.mha-head .mha-cells").first.bounding_box()
    lab.page.mouse.move(cells["x"] + 3, cells["y"] + cells["height"] * (row + 0.5) / 10)
    assert "oboe (read as <unk>)" in root.locator(".mha-tooltip").inner_text()

    # The link offers a sentence whose words are all known.
    root.locator(".mha-notices .mha-link").click()
    unknown.first.wait_for(state="detached")
    assert "harbour" in one.control("sentence").input_value()

    # A width that was not trained is marked before it is chosen, and says so when it is.
    one.control("d_model").focus()
    lab.page.keyboard.press("ArrowLeft")  # 96
    box = root.locator(".mha-notices .mha-box")
    box.get_by_text("No model was trained with d_model = 96").wait_for()
    assert "no trained model" in one.control("d_model").get_attribute("aria-valuetext")
    assert "96" in root.locator(".mha-slider-number.mha-lacking").all_inner_texts()
    assert not root.locator("figure.mha-head").first.is_visible()
    before = one.pixels()
    root.locator(".mha-notices .mha-link").first.click()
    root.locator("figure.mha-head").first.wait_for(state="visible")
    assert (one.value("d_model"), one.heads()) != (96, 0)
    one.control("weights").locator('[data-value="by hand"]').click()
    one.wait_for_change(before)
    root.locator(".mha-lacking").first.wait_for(state="detached")
