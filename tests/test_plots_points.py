"""points: near chips are near places, every chip is inside, and the words tell how tight groups are."""

from __future__ import annotations

import math

import pytest
import torch
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

from mha_course import plots, theme

PLACES = torch.tensor([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [9.0, 1.0], [9.0, 2.0]])


def spots(picture: plots.Picture) -> dict[str, tuple[float, float]]:
    return {t.get_text(): t.get_position() for t in picture.figure.findobj(Text) if t.get_text()}


def test_distances_keep_their_ratio_on_both_axes() -> None:
    at = spots(plots.points(PLACES, ["a", "b", "c", "d", "e"], [0, 0, 0, 1, 1]))
    across, up = math.dist(at["a"], at["b"]), math.dist(at["a"], at["c"])
    assert up / across == pytest.approx(4 / 3, rel=1e-3)
    assert at["c"][1] < at["a"][1]  # up is up


def test_every_chip_lies_inside_the_picture() -> None:
    wide = torch.tensor([[-100.0, 0.0], [100.0, 0.1], [0.0, 7.0]])
    picture = plots.points(wide, ["first", "2", "the last"], [0, 1, 2], width=500, height=260)
    width, height = picture.figure.get_size_inches() * 72
    scale = width / picture._width
    for box in picture.figure.findobj(FancyBboxPatch):
        x, y, w, h = box.get_x(), box.get_y(), box.get_width(), box.get_height()
        assert x >= 0 and y >= 0 and x + w <= picture._width and y + h <= picture._height
    assert scale > 0 and height > 0


def test_groups_have_their_colours_and_a_legend_that_counts_from_one() -> None:
    picture = plots.points(PLACES, list("abcde"), [0, 0, 0, 3, 3], group_name="layer")
    assert "layer 1" in spots(picture) and "layer 4" in spots(picture) and "layer 2" not in spots(picture)
    fills = {box.get_facecolor() for box in picture.figure.findobj(FancyBboxPatch)}
    from matplotlib.colors import to_rgba

    assert {to_rgba(theme.head_colour(0)), to_rgba(theme.head_colour(3))} <= fills


def test_the_words_tell_how_tight_a_group_is() -> None:
    alt = plots.points(PLACES, list("abcde"), [0, 0, 0, 1, 1], group_name="layer").alt
    distances = torch.pdist(PLACES)
    share = 1 / float(distances.mean())
    assert f"layer 2: 2, apart by {share:.2f} of the mean distance" in alt


def test_one_place_and_equal_places_are_drawn() -> None:
    assert plots.points([[2.0, 5.0]], ["only"], [0]).png()
    assert plots.points([[2.0, 5.0]] * 3, list("abc"), [0, 1, 1]).png("dark")


@pytest.mark.parametrize(
    ("places", "labels", "groups"),
    [
        ([[1.0, 2.0, 3.0]], ["a"], [0]),
        ([[1.0, float("nan")]], ["a"], [0]),
        ([[1.0, 2.0]], ["a", "b"], [0]),
        ([[1.0, 2.0]], ["a"], [0, 1]),
        ([[1.0, 2.0]], ["a"], [-1]),
    ],
)
def test_what_does_not_fit_is_refused(places: list, labels: list, groups: list) -> None:
    with pytest.raises(ValueError):
        plots.points(places, labels, groups)
