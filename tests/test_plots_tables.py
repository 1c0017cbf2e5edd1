"""matrix, matrices, blocks, split_picture, layer_map: tables and the drawing of the layer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

from mha_course import plots, theme
from mha_course.attention import split_heads
from mha_course.masks import causal_mask
from mha_course.plots import layer_stages
from mha_course.plots.canvas import Canvas
from mha_course.plots.layer_map import _INSET, _STEPS, STEPS, _chevron, _runs
from mha_course.plots.matrices import _Table


def words_in(picture: plots.Picture) -> list[str]:
    return [text.get_text() for text in picture.figure.findobj(Text)]


def rgb(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def cell_colours(values: object, largest: float, which: theme.Theme = "light") -> np.ndarray:
    """The colour in a corner of each cell, where no number stands: (rows, columns, 3)."""
    table = _Table(values, None, None, None, None, None, None, 800)
    canvas = Canvas(table.width + 20, table.height + 20, which)
    table.paint(canvas, 10, 10, largest)
    canvas.figure.canvas.draw()
    pixels = np.asarray(canvas.figure.canvas.buffer_rgba())[..., :3]
    left, top = round(10 + table.left), round(10 + table.top)
    ys = [int(2 * (top + i * table.cell_height)) + 5 for i in range(table.rows)]
    xs = [int(2 * (left + j * table.cell_width)) + 5 for j in range(table.columns)]
    return pixels[np.ix_(ys, xs)].astype(int)


@pytest.mark.parametrize("which", ["light", "dark"])
def test_matrix_is_symmetric_about_zero_which_is_the_ground(which: theme.Theme) -> None:
    values = [[2.0, -2.0, 0.0], [1.0, -1.0, 0.5]]
    colours, ramp = cell_colours(values, 2.0, which), theme.diverging(which)
    assert colours[0, 0].tolist() == rgb(ramp[255]) and colours[0, 1].tolist() == rgb(ramp[0])
    assert colours[0, 2].tolist() == rgb(theme.colours(which)["surface"])
    assert colours[1, 2].tolist() == rgb(ramp[round(255 * 1.25 / 2)])
    assert colours.shape == (2, 3, 3)


def test_matrix_writes_numbers_where_they_fit() -> None:
    small = plots.matrix([[1.25, -0.5, 3.0], [0.0, 2.0, 11.5]])
    assert {"1.25", "−0.50", "11.50"} <= set(words_in(small))
    assert "−0.50" not in words_in(plots.matrix([[1.25, -0.5]], numbers=False))
    crowded = words_in(plots.matrix(torch.full((30, 50), 0.25)))
    assert crowded.count("0.25") == 1, "only the end of the scale"
    assert {"0.7071", "−0.5000"} <= set(words_in(plots.matrix([[0.70711, -0.5]], numbers="{:.4f}")))


def test_matrix_alt_holds_small_tables_whole_and_the_ends_of_large_ones() -> None:
    alt = plots.matrix([[1, -2, 3], [4, 5, 6]], ["old", "cat"], title="Scores").alt
    assert alt.startswith("Scores.") and "old: 1, −2, 3; cat: 4, 5, 6" in alt
    large = torch.zeros(9, 11)
    large[7, 2], large[1, 10] = -4.5, 9.25
    alt = plots.matrix(large).alt
    assert "smallest −4.50 at 7, 2" in alt and "largest 9.25 at 1, 10" in alt


def test_masked_scores_are_hatched_and_leave_the_scale_alone() -> None:
    scores = torch.tensor([[0.5, float("-inf")], [1.5, -0.25]])
    colours = cell_colours(scores, 1.5)
    assert colours[1, 0].tolist() == rgb(theme.diverging("light")[255])
    picture = plots.matrix(scores)
    assert "−∞" in words_in(picture) and "1.50" in words_in(picture)
    assert picture.png() != plots.matrix(scores.clamp(min=0)).png()


def test_mask_shows_hatch_for_false_and_says_so() -> None:
    picture = plots.matrix(causal_mask(3, 4), ["a", "b", "c"], ["w", "x", "y", "z"], row_name="query ↓")
    assert "9 of 12 cells are True" in picture.alt and "a: 11xx; b: 111x; c: 1111" in picture.alt
    assert {"True, may attend", "False", "query ↓"} <= set(words_in(picture))


def test_matrix_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="x\\[0\\]"):
        plots.matrix(torch.zeros(2, 3, 4))
    with pytest.raises(ValueError, match="row_labels has 1"):
        plots.matrix(torch.zeros(2, 3), ["a"])
    with pytest.raises(ValueError, match="regular table"):
        plots.matrix([[1, 2], [3]])


def test_matrices_share_one_scale_and_show_signs_and_shapes() -> None:
    left, right = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[1.0], [0.0], [-8.0]])
    picture = plots.matrices({"x": left, "W": right, "x W": left @ right}, ["·", "="])
    assert {"x", "W", "x W", "·", "=", "(1, 3)", "(3, 1)", "(1, 1)", "−23", "23"} <= set(words_in(picture))
    with pytest.raises(ValueError, match="2 gaps"):
        plots.matrices({"x": left, "W": right, "y": left}, ["·"])


def test_row_labels_go_to_every_table_with_as_many_rows() -> None:
    tables = {"x": torch.zeros(2, 3), "W": torch.ones(3, 4), "x W": torch.zeros(2, 4)}
    texts = words_in(plots.matrices(tables, "·", row_labels=["old", "cat"]))
    assert texts.count("old") == 2 and texts.count("cat") == 2


def test_column_labels_go_to_every_table_with_as_many_columns() -> None:
    tables = {"P": torch.zeros(5, 2), "Q": torch.ones(4, 3), "R": torch.zeros(6, 2)}
    texts = words_in(plots.matrices(tables, column_labels=["head 1", "head 2"]))
    assert texts.count("head 1") == 2 and texts.count("head 2") == 2


def test_scale_without_negative_numbers_starts_at_zero() -> None:
    assert "−3" not in words_in(plots.matrix([[0, 3], [1, 2]]))
    assert "−3" in words_in(plots.matrix([[0, 3], [-1, 2]]))


def filled(picture: plots.Picture) -> list[tuple[float, ...]]:
    boxes = picture.figure.findobj(lambda artist: isinstance(artist, FancyBboxPatch))
    return [tuple(round(255 * c) for c in box.get_facecolor()[:3]) for box in boxes if box.get_facecolor()[3]]


def test_blocks_wear_the_colour_of_their_owner() -> None:
    values = torch.arange(10).view(2, 5)
    colours = filled(plots.blocks(values, [[0, 0, 1, 1, 1], [2, 2, 2, 2, -1]]))
    counts = [colours.count(tuple(rgb(theme.head_colour(i)))) for i in range(3)]
    # One chip of the legend for each head on top of its cells.
    assert counts == [3, 4, 5] and colours.count(tuple(rgb(theme.colours()["mute"]))) == 1


def test_blocks_fill_only_the_lit_row() -> None:
    picture = plots.blocks(torch.arange(12).view(3, 4), [0, 0, 1, 1], highlight=-1)
    assert filled(picture).count(tuple(rgb(theme.head_colour(1)))) == 3
    assert "2 (lit): head 1: 8, 9; head 2: 10, 11" in picture.alt


def test_blocks_of_heads_are_named_in_code_and_counted_from_one() -> None:
    x = torch.arange(24).view(1, 3, 8)
    picture = plots.blocks(split_heads(x, 4)[0], names=[f"heads[0, {i}]" for i in range(4)])
    assert {"heads[0, 3]", "4", "23"} <= set(words_in(picture))
    assert "0: head 1: 0, 1; head 2: 2, 3; head 3: 4, 5; head 4: 6, 7" in picture.alt
    with pytest.raises(ValueError, match="owners of shape"):
        plots.blocks(torch.zeros(3, 4), [0, 1, 2])


@pytest.mark.parametrize(("d_model", "h", "token", "n"), [(12, 3, 2, 5), (8, 2, 0, 4), (30, 5, 3, 6)])
def test_split_picture_says_what_split_heads_does(d_model: int, h: int, token: int, n: int) -> None:
    picture = plots.split_picture(d_model, h, token, n)
    heads = split_heads(torch.arange(n * d_model).view(1, n, d_model), h)
    d_k = d_model // h
    for i in range(h):
        row = heads[0, i, token]
        features = f"features {i * d_k} to {(i + 1) * d_k - 1} ({row[0]} to {row[-1]})"
        assert f"{features} are row {token} of heads[0, {i}], head {i + 1}" in picture.alt
    assert f"token {token}" in words_in(picture) and f"(n, d_model) = ({n}, {d_model})" in words_in(picture)


def test_split_picture_refuses_with_the_numbers() -> None:
    with pytest.raises(ValueError, match="d_model=10 .*h=3"):
        plots.split_picture(10, 3)
    with pytest.raises(ValueError, match="token=5"):
        plots.split_picture(8, 2, token=5, n=5)


def test_layer_map_lights_each_step_differently() -> None:
    pictures = {step: plots.layer_map(step) for step in (*STEPS, None, "block")}
    assert len({picture.png() for picture in pictures.values()}) == 10
    for i, step in enumerate(STEPS):
        assert f"Lit: step {i + 1}, {step}." in pictures[step].alt
        assert set(STEPS) <= set(words_in(pictures[step]))
    assert "Lit" not in pictures[None].alt and "LayerNorm" in pictures["block"].alt
    with pytest.raises(ValueError, match="step='softmax'"):
        plots.layer_map("softmax")


def test_layer_map_lights_several_steps_and_frames_neighbours_together() -> None:
    several = plots.layer_map("weights", "scores", "output", "heads")
    assert "Lit: step 4, scores, step 5, weights, step 6, heads, step 8, output." in several.alt
    assert _runs([3, 4, 5, 7]) == [(3, 5), (7, 7)]
    assert several.png() != plots.layer_map("weights").png()
    for wrong in (("block", "x"), ("x", None), (None, "x"), ("x", "softmax")):
        with pytest.raises(ValueError, match="alone block or None"):
            plots.layer_map(*wrong)


@pytest.mark.parametrize("lit", [[], *([i] for i in range(len(STEPS))), [3, 4, 5], [0, 7]])
def test_marks_between_steps_touch_neither_frames_nor_blocks(lit: list[int]) -> None:
    for i in range(1, len(STEPS)):
        before, after, at = _STEPS[i - 1], _STEPS[i], _chevron(i, lit)
        # The mark is 4 px wide; at least 4 px of air stand on each side.
        assert at - 2 >= before.right - before.width / 2 + 4 and at + 2 <= after.width / 2 - after.left - 4
        if (i - 1 in lit) != (i in lit):
            frame = -_INSET if i - 1 in lit else _INSET
            assert abs(at - frame) - 2 >= 4


def test_layer_map_opens_a_lesson_wide_and_low() -> None:
    canvas = plots.layer_map("concat")._canvas("light")
    assert canvas.width == 838 and canvas.height < 190


def test_the_numbers_behind_the_layer_map_are_a_real_trace() -> None:
    x, trace = layer_stages.small_trace()
    assert x.shape == (1, 5, 12) and trace.heads.shape == (1, 3, 5, 4)
    torch.testing.assert_close(trace.weights.sum(dim=-1), torch.ones(1, 3, 5))
    torch.testing.assert_close(trace.contributions.sum(dim=1), trace.output)
    first, last = layer_stages.block_outputs()
    torch.testing.assert_close(last.mean(dim=-1), torch.zeros(5), atol=1e-5, rtol=0)
    assert not torch.allclose(first, last)
