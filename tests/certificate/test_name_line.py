"""Names in any script: drawn in the fonts of this machine, in their order, or refused as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from mha_course.certificate.name_line import image_of

INK, PAPER = "#1A1E26", "#FFFFFF"


def drawn(text: str, size: int = 48) -> np.ndarray:
    pixels = image_of(text, size, INK, PAPER)
    if pixels is None:
        pytest.skip(f"no font of this machine holds {text!r}")
    return pixels


def columns(pixels: np.ndarray) -> np.ndarray:
    """The numbers of the columns that hold something."""
    return np.flatnonzero(pixels.min(axis=(0, 2)) < 128)


def test_latin_letters_are_drawn_in_ink_on_paper() -> None:
    pixels = drawn("Ada Ø")
    assert pixels.shape[0] == 96 and (pixels[0, 0] == 255).all()
    assert pixels.min(axis=(0, 1)).tolist() == [0x1A, 0x1E, 0x26]
    assert columns(drawn("Ada Ada")).max() > 1.8 * columns(drawn("Ada")).max()


def test_two_letters_of_one_script_differ_and_none_is_a_box() -> None:
    assert not np.array_equal(drawn("三"), drawn("月"))
    assert not np.array_equal(drawn("م"), drawn("ع"))


def test_emoji_are_in_colour_and_as_high_as_letters() -> None:
    pixels = drawn("🎉").astype(int)
    assert (pixels.max(axis=2) - pixels.min(axis=2)).max() > 60
    rows = np.flatnonzero(pixels.min(axis=(1, 2)) < 200)
    assert 48 <= rows.max() - rows.min() <= 64
    # One picture made of several characters is one picture.
    assert drawn("👩\u200d🚀").shape[1] < 1.5 * pixels.shape[1]


def test_a_blank_beside_a_picture_is_no_wider_than_a_blank() -> None:
    beside = drawn("🎉 🎉").shape[1] - 2 * drawn("🎉").shape[1]
    assert 0 < beside < 30


def test_what_reads_from_right_to_left_begins_at_the_right() -> None:
    mixed, letters, picture = drawn("אבגד 🎉"), drawn("אבגד"), drawn("🎉")
    colour = mixed.astype(int).max(axis=2) - mixed.astype(int).min(axis=2)
    coloured = np.flatnonzero(colour.max(axis=0) > 60)
    assert coloured.max() <= picture.shape[1] < mixed.shape[1] - letters.shape[1] / 2
    other = drawn("Abcd 🎉").astype(int)
    assert (
        np.flatnonzero((other.max(axis=2) - other.min(axis=2)).max(axis=0) > 60).min() > letters.shape[1] / 2
    )


def test_what_no_font_holds_is_refused_as_a_whole() -> None:
    assert image_of("Ada \U000e0abc", 48, INK, PAPER) is None
