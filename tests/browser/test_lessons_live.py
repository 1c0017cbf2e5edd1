"""Every lesson, run from its menu in real JupyterLab, cut off from the network."""

from __future__ import annotations

import nbformat
import pytest

from tests.browser.lab import LabPage, LabServer
from tests.notebooks.executed import LESSONS, LIGHT_PICTURES, SHORT_TRAINING, lesson

SHORT = "import os\nos.environ |= {}"
# Widgets of every kind: lessons that are run from top to bottom twice, with their dark pictures, too.
# (tests/notebooks runs each cell of all twice.)
RUN_AGAIN = {"03_split", "11_what_heads_do", "16_final_lab"}
# Something that a student sees as a picture, and its size on screen.
PICTURES = """() => ["img", "canvas", "svg"]
  .flatMap(name => [...document.querySelectorAll(`.jp-OutputArea ${name}`)])
  .map(e => e.getBoundingClientRect()).filter(r => r.width > 0).map(r => [r.width, r.height, r.right])"""

# Results of which nothing is seen, as of a widget that never came, by the number of their cell.
NOTHING_CAME = """() => [...document.querySelectorAll('.jp-CodeCell')].map((cell, i) => [cell, i])
  .filter(([cell]) => [...cell.querySelectorAll('.jp-OutputArea-executeResult .jp-OutputArea-output')]
    .some(e => !e.textContent.trim() && !e.querySelector('svg, canvas, img, input, iframe')))
  .map(([, i]) => i)"""


@pytest.mark.parametrize("stem", LESSONS)
def test_run_all_in_the_browser(lab: LabPage, server: LabServer, stem: str) -> None:
    notebook = lesson(stem)
    settings = SHORT_TRAINING if stem in RUN_AGAIN else SHORT_TRAINING | LIGHT_PICTURES
    notebook.cells.insert(0, nbformat.v4.new_code_cell(SHORT.format(settings)))
    nbformat.write(notebook, server.root / f"{stem}.ipynb")
    lab.open(f"{stem}.ipynb")
    lab.run_all()
    lab.page.wait_for_timeout(1500)
    assert lab.error_outputs() == []
    assert lab.pictures_without_alt() == []
    pictures = lab.page.evaluate(PICTURES)
    assert len(pictures) >= 2
    width = lab.page.viewport_size["width"]
    assert all(right <= width + 1 for _, _, right in pictures), "a picture sticks out of the window"
    text = lab.outputs().all_inner_texts()
    broken = [t for t in text if "Error displaying widget" in t or "model not found" in t.lower()]
    assert broken == []
    assert lab.page.locator(".mha-widget").count() >= 1
    assert lab.page.evaluate(NOTHING_CAME) == []

    if stem not in RUN_AGAIN:
        return
    outputs = lab.page.locator(".jp-OutputArea-child").count()
    lab.run_all()
    lab.page.wait_for_timeout(1500)
    assert lab.page.locator(".jp-OutputArea-child").count() == outputs, "outputs pile up when cells run again"
