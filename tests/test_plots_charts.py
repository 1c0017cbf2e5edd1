"""lines and bars: lengths and places are the numbers, names stand at their lines, words carry the values."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from mha_course import plots, theme
from mha_course.plots import axes, numerals


def bar_lengths(picture: plots.Picture) -> list[float]:
    """Signed lengths in px of the filled bars, from top to bottom."""
    boxes = [b for b in picture.figure.findobj(Rectangle) if b.get_height() == 18]
    boxes.sort(key=lambda box: box.get_y())
    return [box.get_width() for box in boxes]


def line_of(picture: plots.Picture, series: int) -> Line2D:
    colour = theme.head_colour(series)
    found = [
        one
        for one in picture.figure.findobj(Line2D)
        if one.get_color() == colour and one.get_linestyle() != "None" and len(one.get_xdata()) > 2
    ]
    assert len(found) == 1
    return found[0]


def place_of(picture: plots.Picture, words: str) -> tuple[float, float]:
    found = [t.get_position() for t in picture.figure.findobj(Text) if t.get_text() == words]
    assert found, f"{words!r} is not in the picture"
    return found[0]


def test_bars_are_as_long_as_their_values_from_zero() -> None:
    lengths = bar_lengths(plots.bars(["a", "b", "c"], [0.4, 0.1, 0.25]))
    assert lengths[0] / lengths[1] == pytest.approx(4, rel=0.02)
    assert lengths[2] / lengths[1] == pytest.approx(2.5, rel=0.02)


def test_bars_far_from_zero_still_start_there() -> None:
    lengths = bar_lengths(plots.bars(["a", "b"], [100, 101]))
    assert lengths[0] / lengths[1] == pytest.approx(100 / 101, rel=0.005)


def test_bars_below_zero_go_the_other_way() -> None:
    picture = plots.bars(["a", "b"], [3.0, -1.5], heads=[0, 1])
    boxes = [b for b in picture.figure.findobj(Rectangle) if b.get_height() == 18]
    boxes.sort(key=lambda box: box.get_y())
    assert boxes[1].get_x() + boxes[1].get_width() == pytest.approx(boxes[0].get_x(), abs=1)
    assert boxes[0].get_width() == pytest.approx(2 * boxes[1].get_width(), rel=0.02)


def test_bars_say_values_errors_and_baselines() -> None:
    picture = plots.bars(
        ["det", "amod"],
        [0.8, 0.65],
        "Finding",
        "share",
        note="n = 312 words",
        baseline=[0.59, 0.7],
        errors=[0.02, 0.05],
        baseline_label="best fixed offset",
    )
    assert "det 0.80 (0.78 to 0.82), best fixed offset 0.59" in picture.alt
    assert "amod 0.65 (0.60 to 0.70), best fixed offset 0.70" in picture.alt
    assert picture.alt.startswith("Finding.") and "n = 312 words" in picture.alt
    assert {"0.80", "0.65", "share", "best fixed offset"} <= {
        t.get_text() for t in picture.figure.findobj(Text)
    }


def test_errors_may_be_ends() -> None:
    picture = plots.bars(["a", "b"], [0.5, 0.6], errors=[[0.4, 0.5], [0.7, 0.65]])
    assert "a 0.50 (0.40 to 0.70)" in picture.alt or "a 0.5 (0.40 to 0.70)" in picture.alt


def test_whole_numbers_have_no_decimals_and_thousands_are_grouped() -> None:
    assert "h = 8 1,048,576" in plots.bars(["h = 1", "h = 8"], [1048576, 1048576.0]).alt


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"values": [1, 2, 3]}, "2 labels"),
        ({"baseline": [1, 2, 3]}, "baseline"),
        ({"errors": [1, 2, 3]}, "errors"),
        ({"heads": [0]}, "1 heads"),
    ],
)
def test_bars_that_do_not_fit_are_refused(arguments: dict, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        plots.bars(**({"labels": ["a", "b"], "values": [1, 2]} | arguments))


def test_lines_stand_where_their_numbers_are() -> None:
    picture = plots.lines([0, 1, 4], {"a": [0.0, 1.0, 0.5]}, y_limits=(0, 1))
    xs, ys = line_of(picture, 0).get_xdata(), line_of(picture, 0).get_ydata()
    assert (xs[1] - xs[0]) / (xs[2] - xs[0]) == pytest.approx(0.25)
    assert ys[1] < ys[2] < ys[0], "y runs downwards in px"
    assert (ys[0] - ys[2]) / (ys[0] - ys[1]) == pytest.approx(0.5)


def test_log_axes_space_ratios_evenly() -> None:
    picture = plots.lines([2, 4, 8, 64], {"a": [1, 10, 100, 10000]}, log_x=True, log_y=True)
    xs, ys = np.diff(line_of(picture, 0).get_xdata()), np.diff(line_of(picture, 0).get_ydata())
    assert xs[1] == pytest.approx(xs[0]) and xs[2] == pytest.approx(3 * xs[0])
    assert ys[1] == pytest.approx(ys[0]) and ys[2] == pytest.approx(2 * ys[0])
    with pytest.raises(ValueError, match="above 0"):
        plots.lines([1, 2], {"a": [0.0, 1.0]}, log_y=True)
    with pytest.raises(ValueError, match="above 0"):
        plots.lines([0, 2], {"a": [0.5, 1.0]}, log_x=True)


def test_series_differ_in_dash_and_marker_and_colour() -> None:
    picture = plots.lines([1, 2, 3], {f"s{i}": [i, i, i] for i in range(6)})
    drawn = [line_of(picture, i) for i in range(6)]
    assert len({str(one._unscaled_dash_pattern) for one in drawn}) == 6
    markers = [one.get_marker() for one in picture.figure.findobj(Line2D)]
    assert len({shape for shape in markers if isinstance(shape, str) and len(shape) == 1}) == 6


def test_names_stand_at_the_ends_and_in_order_without_touching() -> None:
    picture = plots.lines([1, 2], {"low": [5, 1.00], "middle": [3, 1.01], "high": [1, 1.02]})
    heights = [place_of(picture, name)[1] for name in ("high", "middle", "low")]
    assert heights[1] - heights[0] >= 14 and heights[2] - heights[1] >= 14


def test_a_bridge_leads_over_nan_without_a_marker_there() -> None:
    row = [0.25, float("nan"), 0.75, 1.0, float("nan")]
    picture = plots.lines([1, 2, 3, 4, 7], {"a": row}, y_limits=(0, 1), bridge=True)
    gap = plots.lines([1, 2, 3, 4, 7], {"a": row}, y_limits=(0, 1))
    there = [place for place, value in zip(line_of(gap, 0).get_xdata(), row, strict=True) if value == value]
    assert list(line_of(picture, 0).get_xdata()) == there
    dots = [
        [one.get_xdata()[0] for one in found.figure.findobj(Line2D) if one.get_marker() == "o"]
        for found in (picture, gap)
    ]
    assert dots[0] == dots[1] == there


def test_gap_at_nan_and_name_at_the_last_number() -> None:
    picture = plots.lines([1, 2, 3, 4], {"a": [0.0, float("nan"), 1.0, float("nan")]}, y_limits=(0, 1))
    assert np.isnan(line_of(picture, 0).get_ydata()).tolist() == [False, True, False, True]
    assert place_of(picture, "a")[1] < 60
    assert "0 at 1, 1 at 3" in picture.alt


def test_lines_alt_holds_the_numbers() -> None:
    x = list(range(20))
    alt = plots.lines(
        x, {"loss": [20.5 - i for i in x]}, "It falls", "step", "loss", bands={"loss": (x, x)}
    ).alt
    assert "Line plot of loss over step" in alt and "Shaded bands around loss" in alt
    assert "from 20.50 at 0 to 1.50 at 19, lowest 1.50 at 19, highest 20.50 at 0" in alt
    assert "a: 0.12 at 2, 4 at 7" in plots.lines([2, 7], {"a": torch.tensor([0.12, 4.0])}).alt


def test_lines_take_names_on_the_x_axis() -> None:
    assert "1 at first, 2 at second" in plots.lines(["first", "second"], {"a": [1, 2]}).alt


@pytest.mark.parametrize(
    ("x", "series", "bands", "says"),
    [
        ([1, 2], {"a": [1, 2, 3]}, None, "x has 2 places"),
        ([1, 1], {"a": [1, 2]}, None, "rise"),
        ([1, 2], {}, None, "at least one line"),
        ([1, 2], {"a": [1, 2]}, {"b": ([1, 2], [1, 2])}, "no series of that name"),
        ([1, 2], {"a": [float("nan")] * 2}, None, "no finite number"),
    ],
)
def test_lines_that_do_not_fit_are_refused(x: list, series: dict, bands: dict | None, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        plots.lines(x, series, bands=bands)


def test_spread_keeps_order_distance_and_bounds() -> None:
    generator = np.random.default_rng(4)
    for count in (1, 2, 5, 9):
        places = list(generator.uniform(0, 200, count))
        moved = axes.spread(places, 18, 0, 200)
        order = np.argsort(places)
        steps = np.diff(np.array(moved)[order])
        assert (steps >= 18 - 1e-9).all() and min(moved) >= -1e-9 and max(moved) <= 200 + 1e-9
    assert axes.spread([10, 90, 170], 18, 0, 200) == [10, 90, 170], "what fits stays where it is"
    assert axes.spread([50, 50], 20, 0, 200) == [40, 60]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-0.0, "0"), (-1.5, "−1.50"), (16384, "16,384"), (0.04567, "0.046"), (123.456, "123.5"),
     (3.2e9, "3.2×10⁹"), (1e8, "10⁸"), (-2e-5, "−2×10⁻⁵"),
     (math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "NaN")],
)  # fmt: skip
def test_numbers_are_written_for_readers(value: float, text: str) -> None:
    assert numerals.number(value) == text


def test_nothing_rounds_to_minus_zero() -> None:
    assert numerals.number(-0.001, 2) == "0.00" and numerals.weight(0.004) == "<0.01"


def test_log_ticks_have_each_their_own_decimals_or_are_all_powers() -> None:
    assert axes.tick_texts([0.1, 1, 10, 1000], log=True) == ["0.1", "1", "10", "1,000"]
    assert axes.tick_texts([2, 5, 10], log=True) == ["2", "5", "10"]
    assert axes.tick_texts([1e-8, 1e-4, 1], log=True) == ["10⁻⁸", "10⁻⁴", "10⁰"]
    assert axes.tick_texts([1e3, 1e6], log=True) == ["10³", "10⁶"]


def test_ticks_share_their_decimals() -> None:
    assert numerals.ticks([0, 0.25, 0.5]) == ["0.00", "0.25", "0.50"]
    assert numerals.ticks([-2, 0, 2]) == ["−2", "0", "2"]


def test_a_share_runs_from_0_to_1_with_a_little_room() -> None:
    rows = {"one": [0.3, 0.62, 1.0], "two": [0.31, 0.4, 0.9999999]}
    picture = plots.lines([1, 2, 5], rows, share=True)
    words = [t.get_text() for t in picture.figure.findobj(Text)]
    assert [w for w in words if w[:2] in ("0.", "1.")] == ["0.00", "0.25", "0.50", "0.75", "1.00"]
    # The axis ends 16 + 8 px below the picture's edge; a level label's base line lies 4 px below its middle.
    unit = place_of(picture, "0.00")[1] - place_of(picture, "1.00")[1]
    assert (place_of(picture, "1.00")[1] - 4.3 - 24) / unit == pytest.approx(0.05, abs=0.01)
    with pytest.raises(ValueError, match="shares lie between 0 and 1"):
        plots.lines([1, 2, 5], {"one": [0.3, 0.62, 1.2]}, share=True)
    with pytest.raises(ValueError, match="leave out"):
        plots.lines([1, 2, 5], rows, share=True, y_limits=(0, 2))


def test_limits_open_no_empty_stretch() -> None:
    low, high = axes.nice_limits(0.0, 1.0000001, False)
    assert low == 0 and 1.0000001 < high < 1.05
    assert axes.nice_limits(0.02, 0.97, False) == (0.0, 1.0)


def test_names_whose_ends_meet_stand_apart() -> None:
    rows = {"first": [3.0, 1.0], "second": [4.0, 1.0], "third": [5.0, 1.0]}
    picture = plots.lines([2, 7], rows)
    levels = sorted(place_of(picture, name)[1] for name in rows)
    assert min(b - a for a, b in zip(levels, levels[1:], strict=False)) >= 19
