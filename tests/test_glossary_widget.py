"""The glossary's widget: what goes to the view, and what stands where no view runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mha_course.glossary import all_entries
from mha_course.widgets import Glossary
from mha_course.widgets.base import javascript

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("[0-9]*_*.ipynb"))


def test_the_view_gets_every_entry_once_and_asks_for_nothing_more() -> None:
    widget = Glossary()
    assert [entry["key"] for entry in widget.entries] == list(all_entries())
    assert set(widget.answer) == {"stamp", "serial"} and bytes(widget.payload) == b""
    one = next(entry for entry in widget.entries if entry["key"] == "cross-attention")
    assert one["folded"][:2] == ["cross attention", "encoder decoder attention"] and one["lesson"] == "04"
    assert (
        one["place"]["file"] == "04_per_head_attention.ipynb"
        and one["place"]["label"] == "lesson 04, section 7"
    )
    assert len(json.dumps(widget.get_state()["entries"], ensure_ascii=False).encode()) < 150_000


@pytest.mark.parametrize("asked", ["W_O", "output projection", "輸出投影", "Output-Projection"])
def test_it_opens_at_a_term(asked: str) -> None:
    widget = Glossary(asked)
    assert widget.term == "output-projection"
    data, _ = widget._repr_mimebundle_()
    assert data["text/html"].count("<dt>") == 1 and "输出投影 / 輸出投影" in data["text/html"]
    assert "output projection  W_O" in data["text/plain"]


def test_an_unknown_term_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="The nearest: softmax"):
        Glossary("sotfmax")


def test_without_a_front_end_all_terms_lie_folded_away() -> None:
    data, _ = Glossary()._repr_mimebundle_()
    assert data["text/html"].startswith(f"<details><summary>Glossary: {len(all_entries())} terms</summary>")
    assert data["text/html"].count("<dt>") == len(all_entries())
    assert "application/vnd.jupyter.widget-view+json" in data and "image/png" not in data


def test_the_view_is_one_module_of_plain_functions() -> None:
    source = javascript(Glossary.js)
    names = re.findall(r"^(?:function|const|let) (\w+)", source, flags=re.MULTILINE)
    assert len(names) == len(set(names))
    assert "innerHTML" not in source and "https://" not in source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_lesson_has_it_below_its_aims(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    ids = [cell["id"] for cell in cells]
    number = path.name[:2]
    at = ids.index(f"l{number}-glossary")
    assert ids[at - 1] == f"l{number}-aims" and "".join(cells[at]["source"]) == "widgets.Glossary()"
