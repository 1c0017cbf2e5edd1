"""heatmap and head_grid: the pixels are the weights, hatch is not blank, words carry the numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from matplotlib.text import Text

from mha_course import plots, theme
from mha_course.attention_maps import AttentionMaps
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask, padding_mask
from mha_course.plots import attention_map, labels
from mha_course.plots.canvas import Canvas

CELL, LEFT, TOP = 20, 40, 30


def drawn(
    weights: np.ndarray, mask: np.ndarray | None = None, which: theme.Theme = "light", vmax: float = 1.0
):
    """One map at a known place, as pixels (height, width, 3)."""
    one = attention_map.build(np.asarray(weights, dtype=float), None, None, mask)
    n_q, n_k = one.weights.shape
    canvas = Canvas(LEFT + CELL * n_k + 20, TOP + CELL * n_q + 20, which)
    attention_map.draw(canvas, LEFT, TOP, CELL, one, vmax, left=False, top=False, numbers=False)
    return pixels_of(canvas)


def pixels_of(canvas: Canvas) -> np.ndarray:
    canvas.figure.canvas.draw()
    return np.asarray(canvas.figure.canvas.buffer_rgba())[..., :3].astype(int)


def cell(pixels: np.ndarray, q: int, k: int) -> np.ndarray:
    """The inner pixels of a cell, (36, 36, 3) and less the gap."""
    y, x = 2 * (TOP + q * CELL), 2 * (LEFT + k * CELL)
    return pixels[y + 3 : y + 2 * CELL - 3, x + 3 : x + 2 * CELL - 3]


def shade(weight: float, which: theme.Theme = "light", vmax: float = 1.0) -> list[int]:
    colour = theme.sequential(which)[round(255 * min(1.0, weight / vmax))]
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def words_in(picture: plots.Picture) -> list[str]:
    return [text.get_text() for text in picture.figure.findobj(Text)]


@pytest.mark.parametrize("which", ["light", "dark"])
def test_every_cell_has_the_colour_of_its_weight(which: theme.Theme) -> None:
    weights = np.array([[0.1, 0.2, 0.7, 0.0, 0.0], [0.003, 0.9, 0.05, 0.047, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]])
    pixels = drawn(weights, which=which)
    for q in range(3):
        for k in range(5):
            expected = shade(weights[q, k] if weights[q, k] >= 0.004 else 0.0, which)
            assert (cell(pixels, q, k) == expected).all(), (q, k)


def test_swapped_axes_are_another_picture() -> None:
    weights = np.eye(4, 6)
    weights[0] = [0, 0, 0, 0, 0, 1]
    pixels = drawn(weights)
    assert (cell(pixels, 0, 5) == shade(1.0)).all() and (cell(pixels, 3, 0) == shade(0.0)).all()
    assert pixels.shape != drawn(weights.T / weights.T.sum(axis=1, keepdims=True).clip(1)).shape


def test_vmax_is_the_dark_end_and_is_written() -> None:
    weights = np.full((2, 3), 0.25)
    assert (cell(drawn(weights, vmax=0.25), 1, 2) == shade(1.0)).all()
    assert (cell(drawn(weights), 1, 2) == shade(0.25)).all()
    assert "0.25" in words_in(plots.heatmap(weights, vmax=0.25))


def test_not_allowed_is_hatched_and_zero_is_blank() -> None:
    mask = np.array([[True, True, False], [True, True, True]])
    pixels = drawn(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]), mask)
    blank, hatched = cell(pixels, 1, 2), cell(pixels, 0, 2)
    assert (blank == 255).all(), "weight 0 that may attend is the bare ground"
    assert (cell(pixels, 0, 1) == 255).all()
    share = (hatched.sum(axis=-1) < 700).mean()
    assert 0.08 < share < 0.5, "hatch: thin lines over the ground"


def test_weight_in_a_cell_that_is_not_allowed_is_not_drawn_as_weight() -> None:
    pixels = drawn(np.array([[0.5, 0.5], [0.4, 0.6]]), np.array([[True, False], [True, True]]))
    assert not (cell(pixels, 0, 1) == shade(0.5)).all(axis=-1).any()


def test_query_with_nothing_to_attend_to_is_hatched_as_a_row() -> None:
    weights = np.array([[0.2, 0.3, 0.5], [0.0, 0.0, 0.0]])
    pixels = drawn(weights)
    for k in range(3):
        assert cell(pixels, 1, k).min() < 200 and (cell(pixels, 0, k) == shade(weights[0, k])).all()
    assert "b: nothing to attend to" in plots.heatmap(weights, ["a", "b"], ["x", "y", "z"]).alt


def test_nan_is_named_and_neither_blank_nor_hatched() -> None:
    weights = np.array([[0.2, 0.8], [float("nan")] * 2, [1.0, 0.0]])
    picture = plots.heatmap(weights, ["a", "b", "c"], ["x", "y"])
    assert "b: not a number" in picture.alt and "2 weights are NaN" in picture.alt
    assert words_in(picture).count("NaN") == 2


def test_words_say_query_and_key() -> None:
    for picture in (plots.heatmap(np.eye(3)), plots.head_grid(np.stack([np.eye(3)] * 2))):
        assert {"query ↓", "key →"} <= set(words_in(picture))


def test_small_maps_print_every_weight_that_is_not_nothing() -> None:
    weights = np.array([[0.45, 0.55], [0.97, 0.03], [0.998, 0.002]])
    texts = words_in(plots.heatmap(weights, ["a", "b", "c"], ["x", "y"]))
    assert sorted(t for t in texts if "." in t) == [".03", ".45", ".55", ".97", "1.00"]
    for hidden in ({"cell": 21}, {"numbers": False}):
        assert ".55" not in words_in(plots.heatmap(weights, ["a", "b", "c"], ["x", "y"], **hidden))


def test_larger_maps_print_weights_from_one_half_on() -> None:
    # Ten keys: one more than a map may have to print all. A half in float32 is a half.
    weights = np.zeros((3, 10))
    weights[0, [0, 1]], weights[1, [2, 3]], weights[2, 4] = [0.4999999, 0.5000001], [0.48, 0.52], 1.0
    names = [f"k{i}" for i in range(10)]
    texts = words_in(plots.heatmap(weights, ["a", "b", "c"], names))
    assert sorted(t for t in texts if "." in t) == [".50", ".50", ".52", "1.00"]
    assert ".48" in words_in(plots.heatmap(weights, ["a", "b", "c"], names, numbers=True))


def test_lone_punctuation_stands_in_quotes_as_a_label_only() -> None:
    shown = [
        labels.shown(t) for t in (".", "...", "–", "(", "…", "'", "[PAD]", "cat.", "%", "。", "”", "−", "")
    ]
    assert shown == ["“.”", "“...”", "“–”", "“(”", "“…”", "“'”", "[PAD]", "cat.", "%", "。", "”", "−", "∅"]
    picture = plots.heatmap(np.array([[0.3, 0.7], [0.2, 0.8]]), ["a", "."])
    assert "“.”" in words_in(picture) and "a → . 0.70" in picture.alt and "“" not in picture.alt


def test_four_heads_of_a_longer_sentence_stand_two_and_two() -> None:
    wide, square = (plots.head_grid(torch.full((4, n, n), 1 / n)) for n in (8, 9))
    assert square._width < 0.85 * wide._width and square._height > 1.5 * wide._height


def test_spread_can_wait_until_it_is_explained() -> None:
    weights = torch.full((3, 7, 7), 1 / 7)
    told, quiet = plots.head_grid(weights), plots.head_grid(weights, spread=False)
    assert "spread 1.00" in told.alt and "spread 1.00" in words_in(told)
    assert "spread" not in quiet.alt and not any("spread" in word for word in words_in(quiet))


def test_alt_holds_the_largest_weight_of_each_query() -> None:
    weights = np.array([[0.1, 0.2, 0.7], [0.85, 0.11, 0.04]])
    alt = plots.heatmap(weights, ["old", "cat"], ["the", "old", "cat"], title="Finding").alt
    assert alt.startswith("Finding.") and "2 queries (rows) by 3 keys (columns)" in alt
    assert "old → cat 0.70; cat → the 0.85" in alt


def test_alt_counts_hatched_cells() -> None:
    mask = causal_mask(5)
    weights = torch.softmax(torch.zeros(5, 5).masked_fill(~mask, float("-inf")), dim=-1)
    assert "10 of 25 cells are hatched" in plots.heatmap(weights, list("abcde"), mask=mask).alt


def test_leading_axes_of_one_are_dropped_and_others_refused() -> None:
    weights = torch.softmax(torch.randn(1, 1, 3, 4), dim=-1)
    assert plots.heatmap(weights, list("abc"), list("wxyz")).alt == plots.heatmap(
        weights[0, 0], list("abc"), list("wxyz")
    ).alt  # fmt: skip
    with pytest.raises(ValueError, match="head_grid"):
        plots.heatmap(weights.expand(1, 2, 3, 4))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"query_tokens": ["a"]}, "n_q=3"),
        ({"query_tokens": list("abc"), "key_tokens": list("ab")}, "n_k=4"),
        ({"mask": np.ones((3, 4), dtype=int)}, "True = may attend"),
        ({"mask": np.ones((4, 3), dtype=bool)}, "doesn't fit"),
        ({"mask": np.ones((2, 1, 1, 4), dtype=bool)}, "mask holds 2 sentences"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(arguments: dict, says: str) -> None:
    arguments = {"query_tokens": list("abc"), "key_tokens": list("wxyz")} | arguments
    with pytest.raises(ValueError, match=says):
        plots.heatmap(np.full((3, 4), 0.25), **arguments)


def test_queries_alone_do_not_name_the_keys_of_a_wide_map() -> None:
    with pytest.raises(ValueError, match="key_tokens"):
        plots.heatmap(np.full((3, 4), 0.25), list("abc"))


def test_scores_are_no_weights() -> None:
    with pytest.raises(ValueError, match="plots.matrix"):
        plots.heatmap(np.array([[0.2, 1.7], [0.1, 0.9]]))


def test_grid_takes_maps_trace_and_weights_alike() -> None:
    torch.manual_seed(3)
    layer, tokens = MultiHeadAttention(12, 3), ["old", "cats", "sleep", "here", "today"]
    x = torch.randn(2, 5, 12)
    trace = layer.trace(x, mask=causal_mask(5))
    maps = AttentionMaps.from_trace(trace, tokens, sentence=1)
    from_maps = plots.head_grid(maps)
    from_trace = plots.head_grid(trace, tokens, sentence=1)
    from_weights = plots.head_grid(trace.weights, tokens, mask=causal_mask(5), sentence=1)
    from_three = plots.head_grid(trace.weights[1], tokens, mask=causal_mask(5))
    pictures = [from_trace, from_weights, from_three]
    assert all(one.alt == from_maps.alt and one.png() == from_maps.png() for one in pictures)
    assert plots.head_grid(trace, tokens).png() != from_maps.png(), "the first sentence is another one"
    for i, spread in enumerate(maps.spread()[0]):
        assert f"head {i + 1}: spread {spread:.2f}" in from_maps.alt


def test_grid_shows_padding_of_its_own_sentence() -> None:
    mask = padding_mask(torch.tensor([4, 2]), 4)
    weights = torch.softmax(torch.zeros(2, 3, 4, 4).masked_fill(~mask, float("-inf")), dim=-1)
    assert "hatched" not in plots.head_grid(weights, list("abcd"), mask=mask).alt
    assert "8 of 16 cells are hatched" in plots.head_grid(weights, list("abcd"), mask=mask, sentence=1).alt


def test_grid_of_one_sentence_takes_a_mask_for_each_head() -> None:
    mask = torch.ones(3, 4, 4, dtype=torch.bool)
    mask[2] = causal_mask(4)
    weights = torch.softmax(torch.zeros(3, 4, 4).masked_fill(~mask, float("-inf")), dim=-1)
    picture = plots.head_grid(weights, list("abcd"), mask=mask)
    assert picture.png() != plots.head_grid(weights, list("abcd"), mask=causal_mask(4)).png()
    assert "hatched" not in picture.alt, "head 1 may attend everywhere"


def test_grid_counts_heads_from_one_and_names_cross_tokens() -> None:
    weights = torch.softmax(torch.randn(3, 2, 5), dim=-1)
    picture = plots.head_grid(weights, ["le", "chat"], ["the", "old", "cat", "sleeps", "."])
    texts = words_in(picture)
    assert {"head 1", "head 2", "head 3", "le", "chat", "sleeps"} <= set(texts) and "head 0" not in texts


def test_grid_of_layers_names_layers_and_shares_one_scale() -> None:
    weights = torch.softmax(2 * torch.randn(4, 6, 7, 7), dim=-1)
    picture = plots.head_grid(
        AttentionMaps(weights, tuple("abcdefg"), tuple("abcdefg"), note="Special tokens left out.")
    )
    texts = words_in(picture)
    assert {"layer 1", "layer 4", "6"} <= set(texts) and texts.count("1") >= 1
    assert "layer 4 head 6" in picture.alt and picture.alt.endswith("Special tokens left out.")


def test_more_tokens_than_fit_are_thinned_and_it_says_so() -> None:
    weights = np.full((64, 64), 1 / 64)
    picture = plots.heatmap(weights, [f"w{i}" for i in range(64)])
    shown = [text for text in words_in(picture) if text.startswith("w") and text[1:].isdigit()]
    assert 10 < len(set(shown)) < 64
    assert "64 tokens: every second is named" in picture.alt
    assert "is named" not in plots.heatmap(np.full((9, 9), 1 / 9), [f"w{i}" for i in range(9)]).alt


def test_very_long_sentences_are_cut_and_it_says_so() -> None:
    picture = plots.heatmap(np.full((400, 400), 1 / 400))
    assert "the first 320 of 400 tokens" in picture.alt


def test_one_token_is_a_map_too() -> None:
    picture = plots.head_grid(np.ones((2, 1, 1)), ["cat"])
    assert "cat → cat 1.00" in picture.alt and picture.png()


@pytest.mark.parametrize(
    ("token", "label"),
    [("", "∅"), (" ", "␣"), ("\n", "⏎"), (" the", "␣the"), ("twelve chars", "twelve chars"),
     ("thirteen-char", "thirteen-ch…"), ("##dis", "##dis")],
)  # fmt: skip
def test_labels_are_cut_and_blanks_made_visible(token: str, label: str) -> None:
    assert labels.shown(token) == label


def test_labels_turn_further_where_cells_are_narrow_and_stand_beside_stacked_ones() -> None:
    assert {label.turn for label in labels.top_labels(["old", "cat"], 15)} == {60.0}
    assert {label.turn for label in labels.top_labels(["old", "cat"], 25)} == {50.0}
