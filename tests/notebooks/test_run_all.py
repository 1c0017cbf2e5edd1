"""Every lesson runs top to bottom from a clean start, where no browser front end is listening."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.notebooks.executed import LESSONS, run_by_itself


@pytest.fixture(scope="module", params=LESSONS)
def executed(request: pytest.FixtureRequest, session_folder: Path) -> nbformat.NotebookNode:
    """The untouched lesson after Run All."""
    return run_by_itself(request.param, session_folder)


def outputs(notebook: nbformat.NotebookNode) -> list[tuple[str, dict]]:
    return [
        (cell.id, output) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    ]


def test_no_warnings_and_no_errors(executed: nbformat.NotebookNode) -> None:
    for cell_id, output in outputs(executed):
        assert output.output_type != "error", f"{cell_id}: {output.get('evalue')}"
        assert output.get("name") != "stderr", f"{cell_id} warns: {output.get('text')}"


def test_exercises_say_not_attempted_yet(executed: nbformat.NotebookNode) -> None:
    checks = [
        cell for cell in executed.cells if cell.cell_type == "code" and cell.source.startswith('check("')
    ]
    assert checks
    for cell in checks:
        shown = "".join(str(output.get("data", {}).get("text/plain", "")) for output in cell.outputs)
        assert "not attempted yet" in shown.lower(), f"{cell.id} shows {shown[:200]!r}"


def test_every_widget_leaves_a_still_picture(executed: nbformat.NotebookNode) -> None:
    widget = "application/vnd.jupyter.widget-view+json"
    shown = [
        (cell_id, output["data"]) for cell_id, output in outputs(executed) if widget in output.get("data", {})
    ]
    assert shown, "a lesson has at least one widget"
    for cell_id, data in shown:
        assert "image/png" in data or "text/html" in data, f"{cell_id} leaves nothing without a front end"


def test_every_still_figure_has_alt_text(executed: nbformat.NotebookNode) -> None:
    found = 0
    for cell_id, output in outputs(executed):
        html = output.get("data", {}).get("text/html", "")
        images = html.count("<img")
        found += images
        assert images == html.count('alt="'), f"{cell_id} shows a picture without alt text"
        assert 'alt=""' not in html, f"{cell_id} shows a picture with empty alt text"
    assert found, "a lesson has at least one figure"
