"""What W_O is for, and which biases can matter."""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import nn

from mha_course import cost
from mha_course.attention import merge_heads, scaled_scores
from mha_course.interview.drawn import drawn
from mha_course.interview.proof import Shown, proof
from mha_course.layers import MultiHeadAttention
from mha_course.models.random_layer import random_layer
from mha_course.variants.rotary import rotated


@proof
def w_o_lets_heads_meet() -> Shown:
    """Change head 2: its columns move in concat, every column after W_O. With one head W_O is redundant."""
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0))
    layer = random_layer(12, h=3)
    trace = layer.trace(x)
    heads = trace.heads.clone()
    heads[:, 1] += 1
    in_concat = int((merge_heads(heads) != trace.concat).flatten(0, 1).any(dim=0).sum())
    in_output = (layer.w_o(merge_heads(heads)) - trace.output).abs().flatten(0, 1).amax(dim=0)
    written = int((in_output > 1e-6).sum())
    assert (in_concat, written) == (4, 12), "head 2 owns 4 columns of concat and may write to all 12"
    one = random_layer(12, h=1)
    w_ov = one.w_v.weight.T @ one.w_o.weight.T  # W_V and W_O in one matrix
    gap = (one.trace(x).weights[:, 0] @ x @ w_ov - one(x)).abs().max().item()
    assert gap < 1e-5, "with one head the two matrices should merge into one"
    columns = {"columns of concat that change": in_concat, "columns of the output": written}
    return Shown("Head 2 of three was changed.", columns | {"one head without W_O differs by": gap})


@proof
def the_key_bias_does_nothing() -> Shown:
    """Drop one bias after the other; fold the value bias into the output's; let rotary bring b_K back."""
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(1)).double()
    layer, moved = drawn(lambda: MultiHeadAttention(12, 3, bias=True)).double(), {}
    for name in ("w_q", "w_k", "w_v", "w_o"):
        dropped = deepcopy(layer)
        getattr(dropped, name).bias.zero_()
        moved[f"without the bias of {name}"] = (dropped(x) - layer(x)).abs().max().item()
    assert moved["without the bias of w_k"] < 1e-9 < 0.01 < sorted(moved.values())[1], "b_K alone is idle"
    folded = deepcopy(layer)
    folded.w_o.bias += folded.w_v.bias @ layer.w_o.weight.T
    folded.w_v.bias.zero_()
    moved["value bias folded"] = (folded(x) - layer(x)).abs().max().item()
    q, k, b_k = layer.w_q(x)[..., :4], layer.w_k(x)[..., :4], layer.w_k.bias[:4]
    with_b, without = (scaled_scores(rotated(q), rotated(z)).softmax(dim=-1) for z in (k, k - b_k))
    moved["rotary: key bias"] = (with_b - without).abs().max().item()
    assert moved["value bias folded"] < 1e-9 < 1e-3 < moved["rotary: key bias"], "folding, or rotary"
    return Shown("How far the output moves; in the last row, a weight.", moved)


@proof
def biases_are_few_and_one_passes_the_norm() -> Shown:
    """Four biases are 4 d_model numbers of 4 d_model²; a norm swallows a constant, not a bias."""
    without, with_bias = (cost.parameter_count(512, h=8, bias=bias) for bias in (False, True))
    assert with_bias - without == 4 * 512, "one number for each output of each projection"
    generator = torch.Generator().manual_seed(2)
    y, b_o = torch.randn(6, 12, generator=generator), torch.randn(12, generator=generator)

    def norm_moves(shift: torch.Tensor) -> float:
        normed = (nn.functional.layer_norm(z, (12,)) for z in (y, y + shift))
        return torch.sub(*normed).abs().max().item()

    constant, bias = norm_moves(torch.full((12,), 3.0)), norm_moves(b_o)
    assert constant < 1e-5 < 0.1 < bias, "LayerNorm removes the mean over features and no more"
    added = {"biases, share of the weights": (with_bias - without) / without}
    moves = {"after LayerNorm, 3 everywhere moves it": constant, "a bias moves it": bias}
    return Shown("Few numbers; and LayerNorm doesn't swallow them.", added | moves)
