"""Verdicts, hints and solutions in JupyterLab: readable in both themes, operable by keyboard."""

from __future__ import annotations

import re

import pytest

from mha_course.theme import colours, contrast
from tests.browser.lab import LabPage, LabServer

CELLS = [
    "import torch\nfrom mha_course.exercises import catalogue, check, hint, solution",
    "def split_heads(x, h):\n    return x.view(x.shape[0], h, x.shape[1], -1)",
    'check("split_heads", split_heads)',
    'check("split_heads", lambda x, h: torch.stack(x.chunk(h, -1), 1))',
    'check("merge_heads", lambda x: ...)',
    'hint("split_heads")',
    'solution("split_heads")',
    "catalogue()",
    "def fails(x, h):\n    raise RuntimeError('<img src=x onerror=alert(1)>')\n\ncheck('split_heads', fails)",
]


def hex_of(colour: str) -> str:
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return f"#{red:02X}{green:02X}{blue:02X}"


@pytest.fixture
def page(lab: LabPage, server: LabServer) -> LabPage:
    lab.open(server.write_notebook("exercises.ipynb", CELLS))
    lab.run_all()
    return lab


def test_verdicts_are_readable_in_both_themes(page: LabPage) -> None:
    assert page.error_outputs() == []
    for theme in ("light", "dark"):
        page.set_theme(theme)
        palette = colours(theme)
        for kind, ground in (("warn", "warn_ground"), ("ok", "surface"), ("open", "surface")):
            found = page.page.locator(f".mhx-{kind}").first.evaluate(
                """box => [getComputedStyle(box).backgroundColor, ...['.mhx-title', 'p:not(.mhx-title)']
                  .map(part => getComputedStyle(box.querySelector(part)).color)]"""
            )
            background, *words = map(hex_of, found)
            assert background == palette[ground], (theme, kind)
            assert all(contrast(word, background) >= 4.5 for word in words), (theme, kind, words)
        code = page.page.locator(".mhx pre").first
        assert hex_of(code.evaluate("e => getComputedStyle(e).backgroundColor")) == palette["raised"]
        assert hex_of(code.evaluate("e => getComputedStyle(e).color")) == palette["ink"]
    page.set_theme("light")


def test_hints_open_by_keyboard_and_nothing_a_student_wrote_becomes_markup(page: LabPage) -> None:
    first = page.page.locator(".mhx summary", has_text="Nudge")
    assert not page.page.get_by_text("Only the features are cut").is_visible()
    first.focus()
    page.page.keyboard.press("Enter")
    assert page.page.get_by_text("Only the features are cut").is_visible()
    assert page.page.locator(".mhx img").count() == 0
    assert page.page.get_by_text("onerror=alert(1)").first.is_visible()
    assert page.page.locator(".mhx tr").count() > 20
