"""Exercises of lesson 09: LayerNorm, feed-forward, the decoder's input and mask, cross-attention."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_cross_attention import CROSS_MISTAKES
from mha_course.exercises.mistakes.of_decoder_inputs import DECODER_MASK_MISTAKES, SHIFT_MISTAKES
from mha_course.exercises.mistakes.of_feed_forward import FEED_MISTAKES
from mha_course.exercises.mistakes.of_layer_norm import NORM_MISTAKES
from mha_course.exercises.mistakes.workbench import hide_with_large_negative
from mha_course.exercises.reading.cross import read_cross
from mha_course.exercises.reading.decoder_masks import read_decoder_mask
from mha_course.exercises.reading.feed_probes import read_feed
from mha_course.exercises.reading.norm_probes import read_norm
from mha_course.exercises.reading.shifted import read_shifted


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """Every token brought to mean 0 and spread 1, then stretched and moved: (b, n, d_model)."""
    mean = x.mean(dim=-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(dim=-1, keepdim=True)
    # Where all numbers of a token are equal the variance is 0: a little is added before the root.
    return (x - mean) / torch.sqrt(variance + 1e-5) * gain + bias


def feed_forward(x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor) -> Tensor:
    """Two linear maps with a ReLU between them, token by token: (b, n, d_model)."""
    inner = torch.relu(x @ w_1 + b_1)  # (b, n, d_ff); without the ReLU both maps were one
    return inner @ w_2 + b_2


def shift_right(targets: Tensor, start: int) -> Tensor:
    """What the decoder reads while it is asked for the targets: (b, n) ids, one place on."""
    first = torch.full((len(targets), 1), start, dtype=targets.dtype)
    # Nothing is written after the last word, so it need not be read.
    return torch.cat([first, targets[:, :-1]], dim=1)


def decoder_mask(lengths: Tensor, n: int) -> Tensor:
    """No later words and no padding: (b, 1, n, n) bool, True = may attend."""
    position = torch.arange(n)
    earlier = position[None, :] <= position[:, None]  # (n, n)
    real = position[None, :] < lengths[:, None]  # (b, n)
    # Keys run along the last axis: what is hidden of the padding are columns, not rows.
    return earlier & real[:, None, None, :]


def cross_attention(
    y: Tensor,
    memory: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    h: int,
    mask: Tensor | None = None,
) -> Tensor:
    """The target asks the source: y (b, n_q, d_model), memory (b, n_k, d_model) -> (b, n_q, d_model)."""
    d_k = y.shape[-1] // h
    # Queries come from what is being written, keys and values from what was read.
    q = (y @ w_q).unflatten(-1, (h, d_k)).transpose(1, 2)
    k, v = ((memory @ w).unflatten(-1, (h, d_k)).transpose(1, 2) for w in (w_k, w_v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)  # (b, h, n_q, n_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    heads = torch.softmax(scores, dim=-1) @ v
    return heads.transpose(1, 2).flatten(2) @ w_o


def _norm_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, n: int, d_model: int, spread: float = 3.0, **options: bool) -> Case:
        dtype = torch.float64 if label == "in float64" else torch.float32
        x = draw(g, b, n, d_model, spread=spread, dtype=dtype) + spread
        gain, bias = draw(g, d_model, dtype=dtype) + 2, draw(g, d_model, dtype=dtype)
        return Case(label, (x, gain, bias), {"b": b, "n": n, "d_model": d_model}, **options)

    equal = case("where all numbers of a token are equal", 2, 4, 6)
    equal.arguments[0][1, 2] = 5.0
    return [
        case("for a batch of tokens", 3, 5, 8),
        case("for a batch of tokens", 2, 7, 4),
        case("for one sentence", 1, 5, 6),
        case("with very small numbers", 2, 5, 9, spread=0.01),
        equal,
        case("in float64", 3, 5, 8, required=False),
    ]


def _feed_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, n: int, d_model: int, d_ff: int, **options: bool) -> Case:
        dtype = torch.float64 if label == "in float64" else torch.float32
        shapes = ((b, n, d_model), (d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,))
        sizes = {"b": b, "n": n, "d_model": d_model, "d_ff": d_ff}
        return Case(label, tuple(draw(g, *shape, dtype=dtype) for shape in shapes), sizes, **options)

    return [
        case("with a wide middle", 2, 5, 4, 16),
        case("with a wide middle", 3, 7, 6, 24),
        case("with a narrow middle", 2, 5, 8, 3),
        case("for one token", 2, 1, 4, 9),
        case("in float64", 2, 5, 4, 16, required=False),
    ]


def _shift_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, n: int, start: int, **options: bool) -> Case:
        ids = torch.randperm(60, generator=g)[: b * n].reshape(b, n) + 4
        return Case(label, (ids, start), {"b": b, "n": n}, **options)

    return [
        case("for several sentences", 3, 5, 2),
        case("for several sentences", 2, 7, 3),
        case("for one sentence", 1, 4, 2),
        case("for sentences of one word", 3, 1, 3, edge=True),
    ]


def _mask_inputs(g: Generator) -> list[Case]:
    def case(label: str, lengths: list[int], n: int, **options: bool) -> Case:
        return Case(label, (torch.tensor(lengths), n), {"b": len(lengths), "n": n}, **options)

    return [
        case("for sentences of different lengths", [4, 2, 5], 6),
        case("for sentences of different lengths", [3, 6, 1, 5], 7),
        case("for two sentences", [1, 4], 5),
    ]


def _cross_inputs(g: Generator) -> list[Case]:
    def case(
        label: str, b: int, n_q: int, n_k: int, h: int, d_k: int, lengths: list[int] | None, **options: bool
    ) -> Case:
        dtype, d_model = torch.float64 if label == "in float64" else torch.float32, h * d_k
        y, memory = (draw(g, b, n, d_model, dtype=dtype) for n in (n_q, n_k))
        matrices = [draw(g, d_model, d_model, spread=1.5 * d_model**-0.5, dtype=dtype) for _ in range(4)]
        mask = None
        if lengths:
            mask = (torch.arange(n_k)[None, :] < torch.tensor(lengths)[:, None])[:, None, None, :]
        sizes = {"b": b, "n_q": n_q, "n_k": n_k, "d_model": d_model, "h": h} | ({"d_k": d_k} if h > 1 else {})
        return Case(label, (y, memory, *matrices, h, mask), sizes, **options)

    return [
        case("without a mask", 2, 5, 7, 3, 4, None),
        case("without a mask", 3, 9, 6, 2, 5, None),
        case("with one head", 2, 5, 3, 1, 6, None),
        case("with the padding of the source hidden", 2, 5, 7, 3, 4, [4, 6]),
        case("with the padding of the source hidden", 3, 4, 8, 2, 5, [7, 2, 8]),
        case("in float64", 2, 5, 7, 3, 4, None, required=False),
    ]


EXERCISES = (
    Exercise(
        name="layer_norm",
        lesson="09",
        title="LayerNorm",
        prompt=(
            "Bring every token to mean 0 and variance 1, then multiply by `gain` and add `bias`. `x` is "
            "`(b, n, d_model)`, `gain` and `bias` are `(d_model,)`. Add 1e-5 to the variance before the root."
        ),
        signature="layer_norm(x, gain, bias) -> (b, n, d_model)",
        reference=layer_norm,
        inputs=_norm_inputs,
        returns=(Returned("result", ("b", "n", "d_model")),),
        mistakes=NORM_MISTAKES,
        hints=(
            "Whose mean, whose variance? Think of one token, and of nothing else.",
            "Mean and variance along the features, with `keepdim=True`. The variance is divided by d_model.",
            "mean and variance of each token\ntake off the mean, divide by the root\ntimes gain, plus bias",
        ),
        why="No token sees another one here, nor another sentence; so a batch of one gives the same.",
        twins=("transformer.block.Residual.forward",),
        readers=(read_norm,),
    ),
    Exercise(
        name="feed_forward",
        lesson="09",
        title="Feed-forward",
        prompt=(
            "Two linear maps with a ReLU between them. `w_1` is `(d_model, d_ff)`, `w_2` is `(d_ff, "
            "d_model)`; both multiply from the right, and each is followed by its bias."
        ),
        signature="feed_forward(x, w_1, b_1, w_2, b_2) -> (b, n, d_model)",
        reference=feed_forward,
        inputs=_feed_inputs,
        returns=(Returned("output", ("b", "n", "d_model")),),
        mistakes=FEED_MISTAKES,
        hints=(
            "Four things happen to a token: map, bend, map; and each map has a bias.",
            "The bias belongs to its map, so it comes before the ReLU, which sets negative numbers to 0.",
            "inner = first map of x\nnegative numbers of inner become 0\nsecond map of inner",
        ),
        why="The same two maps serve every token. Words meet in attention; here each is worked on alone.",
        twins=("transformer.block.FeedForward.forward",),
        readers=(read_feed,),
    ),
    Exercise(
        name="shift_right",
        lesson="09",
        title="Shift right",
        prompt=(
            "The decoder is asked for `targets`, `(b, n)` ids. Return what it reads meanwhile, `(b, n)` as "
            "well: `start` first, then the targets, one place further on."
        ),
        signature="shift_right(targets, start) -> (b, n)",
        reference=shift_right,
        inputs=_shift_inputs,
        returns=(Returned("result", ("b", "n")),),
        mistakes=SHIFT_MISTAKES,
        hints=(
            "To write word 3 it has read which words?",
            "A column of `start`, and all targets but the last, side by side.",
            "first = one start a sentence\njoin first and all targets but the last",
        ),
        why="So the word asked for is never among those read, though the mask opens the diagonal.",
        readers=(read_shifted,),
    ),
    Exercise(
        name="decoder_mask",
        lesson="09",
        title="The decoder's mask",
        prompt=(
            "The mask of the decoder's self-attention, `(b, 1, n, n)`: query down, key along, True = may "
            "attend. A word sees itself and earlier words, and nobody sees padding. `lengths` is a tensor, "
            "one number of real words for each sentence."
        ),
        signature="decoder_mask(lengths, n) -> (b, 1, n, n)",
        reference=decoder_mask,
        inputs=_mask_inputs,
        returns=(Returned("mask", ("b", "1", "n", "n"), kind="bool"),),
        mistakes=DECODER_MASK_MISTAKES,
        hints=(
            "You have written both masks in lesson 04. When is a key open for a query?",
            "One mask `(n, n)`, one `(b, 1, 1, n)`; a key is open where both are True.",
            "earlier = key at or before the query\nreal = key below the length\nboth at once",
        ),
        why="Both masks broadcast to the same four axes. The first word is always open, so no row is empty.",
        readers=(read_decoder_mask,),
        twins=("masks.causal_mask", "masks.padding_mask"),
    ),
    Exercise(
        name="cross_attention",
        lesson="09",
        title="Cross-attention",
        prompt=(
            "The target asks the source. `y` is `(b, n_q, d_model)`, `memory` is `(b, n_k, d_model)`; the "
            "four matrices are `(d_model, d_model)` and multiply from the right. `mask` is `(b, 1, 1, n_k)`, "
            "True = may attend, or None. Return `(b, n_q, d_model)`."
        ),
        signature="cross_attention(y, memory, w_q, w_k, w_v, w_o, h, mask=None) -> (b, n_q, d_model)",
        reference=cross_attention,
        inputs=_cross_inputs,
        returns=(Returned("output", ("b", "n_q", "d_model")),),
        mistakes=CROSS_MISTAKES,
        hints=(
            "It is the layer of lesson 07 with two inputs. Who asks, and who is asked?",
            "Queries are made of `y`, keys and values of `memory`. Scores have n_q rows and n_k columns.",
            "q from y; k and v from memory; split into heads\nscores, scaled; hide; softmax over the source\n"
            "heads side by side, times W_O",
        ),
        why="The output has a row for each target word, whatever the length of the source.",
        styles=({"hide": hide_with_large_negative},),
        readers=(read_cross,),
        twins=("layers.MultiHeadAttention.forward", "layers.MultiHeadAttention.trace"),
    ),
)
