"""Fonts: every script is drawn by a font that holds it, or spelt out; never a box, never a warning."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from matplotlib.font_manager import fontManager

from mha_course import plots
from mha_course.plots import canvas, fonts, labels
from mha_course.plots.canvas import text_width
from mha_course.text.readable import readable

SCRIPTS = {
    "Chinese": "三月",
    "Japanese": "ラーメン",
    "Korean": "안녕",
    "Arabic": "العربية",
    "Hebrew": "שלום",
    "Devanagari": "नमस्ते",
    "emoji": "🎉",
    "joined emoji": "👩‍👩‍👧",
    "flag": "🇫🇷",
    "skin tone": "👍🏽",
    "private use": "\ue123",
    "mixed": "a🎉b 三",
    "control": "a\x07b",
    "direction override": "a\u202eb",
}


def held(text: str, families: tuple[str, ...]) -> bool:
    return all(
        any(fonts._holds(family, ord(char), False, fonts._fonts_installed()) for family in families)
        for char in text
    )


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_is_drawn_has_a_glyph(script: str) -> None:
    shown = fonts.drawable(SCRIPTS[script])
    assert shown.text and held(shown.text, shown.families)
    assert not any(name.startswith("Last Resort") for name in shown.families)
    assert shown.has_stand_in == ("U+" in shown.text)


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_script_writes_warnings(
    script: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture
) -> None:
    text = SCRIPTS[script]
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        picture = plots.heatmap(np.eye(2), [text, "b"], title=f"About {text}", note=text)
        assert picture.png("light") and picture.png("dark")
    assert not caplog.records and capfd.readouterr().err == ""
    assert readable(text).split()[0] in picture.alt


def test_scripts_of_the_fonts_that_come_with_matplotlib_are_drawn_as_they_are() -> None:
    for script in ("Arabic", "Hebrew"):
        shown = fonts.drawable(SCRIPTS[script])
        assert shown.text == SCRIPTS[script] and not shown.has_stand_in


def test_stand_ins_are_short_and_small() -> None:
    absent = "\U0010fffd"
    assert fonts.drawable(absent).text == "U+10FFFD"
    assert fonts.drawable(f"a{absent}b").text == "a U+10FFFD b"
    assert fonts.drawable(absent * 5).text == "U+10FFFD U+10FFFD …"
    joined = f"{absent}\u200d{absent}\ufe0f\u200d{absent}"
    assert fonts.drawable(joined).text == "U+10FFFD…"
    full = fonts.font_for("abc", 11)[1].get_size_in_points()
    assert 0.7 * full <= fonts.font_for(absent, 11)[1].get_size_in_points() < full


def test_letters_that_look_like_a_stand_in_are_letters() -> None:
    shown = fonts.drawable("U+1F389")
    assert shown.text == "U+1F389" and not shown.has_stand_in


def test_only_installed_families_are_named() -> None:
    installed = set(fontManager.get_font_names())
    for script in SCRIPTS.values():
        assert set(fonts.drawable(script).families) <= installed
        assert set(fonts.drawable(script, code=True).families) <= installed


@pytest.fixture
def chinese_font(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A machine on which a single font holds Chinese, and has no bold: whatever others are installed here."""
    name, real = "DejaVu Serif", fonts._holds
    caches = (fonts._drawable, fonts._family_holding, canvas._measured)
    for cached in caches:
        cached.cache_clear()

    def holds(family: str, point: int, *rest: object) -> bool:
        return family == name if point > 0x3000 else real(family, point, *rest)

    monkeypatch.setattr(fonts, "_holds", holds)
    monkeypatch.setattr(fonts, "_weights", lambda f, i: frozenset({400} if f == name else {400, 700}))
    yield name
    for cached in caches:
        cached.cache_clear()


def test_a_font_that_holds_the_script_is_used(chinese_font: str) -> None:
    shown = fonts.drawable("a三月")
    assert shown.text == "a三月" and not shown.has_stand_in
    assert shown.families[0] != chinese_font and chinese_font in shown.families


def test_a_font_without_bold_is_not_asked_for_bold(chinese_font: str) -> None:
    assert fonts.drawable("abc", bold=True).bold
    assert not fonts.drawable("a三月", bold=True).bold


def test_east_asian_labels_are_stacked_and_their_neighbours_upright(chinese_font: str) -> None:
    stacked, upright = labels.top_labels(["三月", "friend"], 25)
    assert (stacked.way, upright.way, upright.turn) == ("stacked", "turned", 90.0)
    assert stacked.rise > 2 * labels.SIZE and stacked.overhang < labels.SIZE
    long = labels.top_labels(["一二三四五六七八"], 25)[0]
    assert long.text == "一二三四五⋮"


def test_text_is_measured_with_the_font_it_is_drawn_in() -> None:
    assert 2.4 * text_width("ab") < text_width("abcdef") < 3.6 * text_width("ab")
    assert text_width("word", 24) == pytest.approx(2 * text_width("word", 12), rel=0.05)
    assert text_width("word", 12, bold=True) > text_width("word", 12)
    assert text_width("") == 0
