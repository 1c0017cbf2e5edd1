"""The palette keeps what the look promises: contrasts, and scales that everyone reads the same way."""

from __future__ import annotations

import numpy as np
import pytest

from mha_course import theme
from mha_course.theme import colours, contrast, diverging, head_colour, sequential, text_on

THEMES = ("light", "dark")

# Linear RGB as seen with complete deuteranopia, protanopia, tritanopia (Machado, Oliveira, Fernandes 2009).
SIGHT = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def linear(colour: str) -> np.ndarray:
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(colour: str, sight: str = "normal") -> np.ndarray:
    """CIE L*, a*, b* under D65 of a colour, as seen with a kind of sight."""
    seen = np.clip(SIGHT[sight] @ linear(colour), 0, 1)
    to_xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ]
    )
    ratio = to_xyz @ seen / np.array([0.95047, 1.0, 1.08883])
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


# The look states each contrast to one decimal.
STATED = {
    "light": {
        "ink": 16.7, "ink2": 8.3, "ink3": 5.4, "edge": 3.3, "focus": 6.4, "warn": 7.3, "ok": 6.8,
    },
    "dark": {
        "ink": 15.6, "ink2": 9.9, "ink3": 6.8, "edge": 4.2, "focus": 8.2, "warn": 10.1, "ok": 9.5,
    },
}  # fmt: skip


@pytest.mark.parametrize("which", THEMES)
def test_contrasts_on_the_surface_are_as_stated(which: theme.Theme) -> None:
    tokens = colours(which)
    measured = {name: contrast(tokens[name], tokens["surface"]) for name in STATED[which]}
    assert measured == pytest.approx(STATED[which], abs=0.06)


@pytest.mark.parametrize("which", THEMES)
def test_words_reach_four_and_a_half_on_every_ground(which: theme.Theme) -> None:
    tokens = colours(which)
    for word in ("ink", "ink2", "ink3"):
        assert contrast(tokens[word], tokens["surface"]) >= 4.5
        assert contrast(tokens[word], tokens["raised"]) >= 4.5
    assert contrast(tokens["warn"], tokens["warn_ground"]) >= 4.5
    assert contrast(tokens["edge"], tokens["raised"]) >= 3.0, "frames and hatch reach 3:1"


@pytest.mark.parametrize("which", THEMES)
def test_zero_is_the_surface_itself(which: theme.Theme) -> None:
    surface = colours(which)["surface"]
    assert sequential(which)[0].upper() == surface.upper()
    middle = diverging(which)
    assert len(sequential(which)) == len(middle) == 256
    assert max(np.abs(lab(middle[i]) - lab(surface)).max() for i in (127, 128)) < 2


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("which", THEMES)
def test_weights_grow_steadily_for_every_kind_of_sight(which: theme.Theme, sight: str) -> None:
    lightness = np.array([lab(colour, sight)[0] for colour in sequential(which)])
    steps = np.diff(lightness) * (-1 if which == "light" else 1)
    # Rounding to 8 bits a channel allows a tiny step back between neighbours, none over four of them.
    assert steps.min() > -0.35
    four = (lightness[4:] - lightness[:-4]) * (-1 if which == "light" else 1)
    assert four.min() > 0


@pytest.mark.parametrize("which", THEMES)
def test_grey_print_keeps_the_proportions(which: theme.Theme) -> None:
    lightness = np.array([lab(colour)[0] for colour in sequential(which)])
    straight = np.linspace(lightness[0], lightness[-1], 256)
    assert np.abs(lightness - straight).max() < 1.2, "L* runs in a straight line"
    ends = (lightness[0], lightness[-1])
    assert ends == pytest.approx((100, 16) if which == "light" else (8, 93), abs=1)


@pytest.mark.parametrize("which", THEMES)
def test_both_arms_of_the_diverging_scale_are_equally_strong(which: theme.Theme) -> None:
    lightness = np.array([lab(colour)[0] for colour in diverging(which)])
    assert np.abs(lightness[:128] - lightness[:127:-1]).max() < 1.0
    assert (np.sign(np.diff(lightness[:128])) == (1 if which == "light" else -1)).mean() > 0.98


@pytest.mark.parametrize("sight", ["normal", "deuteranopia", "protanopia"])
@pytest.mark.parametrize("which", THEMES)
def test_below_and_above_zero_differ_by_colour_too(which: theme.Theme, sight: str) -> None:
    ramp = diverging(which)
    for offset in range(16, 128, 8):
        below, above = lab(ramp[127 - offset], sight), lab(ramp[128 + offset], sight)
        assert np.hypot(*(below - above)[1:]) > 15


@pytest.mark.parametrize("which", THEMES)
def test_numbers_in_cells_can_be_read(which: theme.Theme) -> None:
    for ramp in (sequential(which), diverging(which)):
        assert min(contrast(text_on(colour), colour) for colour in ramp) >= 4.5


@pytest.mark.parametrize("which", THEMES)
def test_twelve_heads_stand_off_the_ground_and_off_each_other(which: theme.Theme) -> None:
    surface = colours(which)["surface"]
    heads = [head_colour(i, which) for i in range(12)]
    assert min(contrast(colour, surface) for colour in heads) >= 3.0
    assert min(contrast(text_on(colour), colour) for colour in heads) >= 4.5, "the number on the chip"
    for sight in ("normal", "deuteranopia", "protanopia"):
        seen = [lab(colour, sight) for colour in heads]
        least = min(np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i])
        assert least > (20 if sight == "normal" else 10)
    assert head_colour(12, which) == heads[0]


@pytest.mark.parametrize("which", THEMES)
def test_one_thirty_second_of_weight_is_a_visible_step(which: theme.Theme) -> None:
    ramp = sequential(which)
    steps = [np.linalg.norm(lab(ramp[i + 8]) - lab(ramp[i])) for i in range(0, 248, 8)]
    assert min(steps) > 2
