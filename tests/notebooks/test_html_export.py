"""A page made by nbconvert, read without a network: every widget left its still picture and its words."""

from __future__ import annotations

import re

import nbformat
from nbconvert import HTMLExporter
from nbconvert.preprocessors import ExecutePreprocessor
from traitlets.config import Config

from mha_course.launcher.environment import STILLS_IN_EXPORTS

CELLS = (
    "from mha_course import widgets",
    "widgets.ShapeTracer()",
    "widgets.OutputMixer()",
    "widgets.SoftmaxExplorer()",
    "widgets.predict('03-export', 'What comes <b>out</b>?', ['a', 'b'])",
    "widgets.AttentionExplorer()",
    "widgets.ask('03-split-before-projection')",
    "widgets.parsons('split_heads')",
)


def test_every_widget_is_a_picture_in_an_exported_page(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    execute = ExecutePreprocessor(config=Config(STILLS_IN_EXPORTS), kernel_name="python3", timeout=120)
    execute.preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
    page, _ = HTMLExporter().from_notebook_node(notebook)
    outputs = re.split(r'<div class="[^"]*jp-OutputArea-output[^"]*"', page)[1:]
    assert len(outputs) == len(CELLS) - 1
    for output, cell in zip(outputs, CELLS[1:], strict=True):
        assert "widget-view+json" not in output, cell
        if "predict" in cell:
            assert "What comes &lt;b&gt;out&lt;/b&gt;?" in output
        elif "ask" in cell:
            assert "Does a split of <code>x</code> itself" in output and "block-diagonal" not in output
        elif "parsons" in cell:
            assert "def split_heads(x, h):" in output and "return heads" in output
        else:
            assert re.search(r'<img[^>]+alt="[^"]{20,}"', output), cell
