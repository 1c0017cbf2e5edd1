"""scatter: points stand where their numbers put them, labels cover nothing, the words hold every number."""

from __future__ import annotations

import pytest
import torch
from matplotlib.lines import Line2D
from matplotlib.text import Text

from mha_course import plots, theme

X, Y = [0.1, 0.4, 0.9], [0.001, 0.1, 10.0]
GROUPS = ["syntax", "none", "syntax"]


def marks(picture: plots.Picture) -> list[tuple[float, float, str, object]]:
    """Left, top, shape and colour of every marker, those of the legend last."""
    drawn = [m for m in picture.figure.findobj(Line2D) if m.get_marker() in ("o", "s", "^", "D")]
    return [
        (float(m.get_xdata()[0]), float(m.get_ydata()[0]), m.get_marker(), m.get_markerfacecolor())
        for m in drawn
    ]


def texts(picture: plots.Picture) -> dict[str, tuple[float, float]]:
    return {t.get_text(): t.get_position() for t in picture.figure.findobj(Text) if t.get_text()}


def test_places_keep_their_ratios_on_a_linear_and_on_a_log_axis() -> None:
    first, second, third = marks(plots.scatter(X, Y, ["a", "b", "c"], GROUPS, log_y=True))[:3]
    assert (third[0] - first[0]) / (second[0] - first[0]) == pytest.approx(0.8 / 0.3, rel=1e-3)
    assert (third[1] - first[1]) / (second[1] - first[1]) == pytest.approx(4 / 2, rel=1e-3)
    assert third[1] < second[1] < first[1]  # up is up


def test_a_group_has_one_shape_and_one_colour_and_stands_in_the_legend() -> None:
    picture = plots.scatter(X, Y, ["a", "b", "c"], GROUPS)
    *points, first, second = marks(picture)
    assert points[0][2:] == points[2][2:] == first[2:] == ("o", theme.head_colour(0))
    assert points[1][2:] == second[2:] == ("s", theme.head_colour(1))
    assert {"syntax", "none"} <= set(texts(picture))


def test_labels_cover_no_point_and_no_other_label() -> None:
    g = torch.Generator().manual_seed(3)
    x, y = torch.rand(2, 25, generator=g) / 5
    names = [f"head {i}" for i in range(25)]
    picture = plots.scatter(x, y, names, ["one"] * 25, width=420, height=260)
    shown = {k: at for k, at in texts(picture).items() if k in names}
    assert len(shown) >= 10
    for i, (left, base) in enumerate(shown.values()):
        for px, py, *_ in marks(picture)[:25]:
            assert not (left < px < left + 30 and base - 9 < py < base)
        for other_left, other_base in list(shown.values())[i + 1 :]:
            assert abs(left - other_left) > 30 or abs(base - other_base) > 12


def test_the_words_hold_every_number() -> None:
    alt = plots.scatter(X, Y, ["L1H2", "", "L2H5"], GROUPS, x_label="importance", y_label="loss").alt
    assert "3 points, across: importance; up: loss" in alt
    assert "L1H2 (syntax): 0.10, 0.0010" in alt and "a point (none): 0.40, 0.10" in alt and "0.90, 10" in alt


def test_one_point_is_drawn_in_both_themes() -> None:
    one = plots.scatter([2.0], [5.0], ["only"], ["all"])
    assert one.png() and one.png("dark")


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"x": [1.0, 2.0]}, "differ"),
        ({"x": [1.0, 2.0, float("nan")]}, "finite"),
        ({"x": [], "y": [], "labels": [], "groups": []}, "finite"),
        ({"y": [0.0, 1.0, 2.0], "log_y": True}, "above 0"),
        ({"x": range(7), "y": range(7), "labels": "abcdefg", "groups": "abcdefg"}, "at most 6"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict, part: str) -> None:
    given = {"x": X, "y": Y, "labels": list("abc"), "groups": GROUPS} | change
    with pytest.raises(ValueError, match=part):
        plots.scatter(**given)
