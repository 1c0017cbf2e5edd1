"""parameter_count as students write it: each known mistake in several styles, right ones, unlisted ones."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn


def total(*shapes):
    return sum(math.prod(shape) for shape in shapes)


def module_count(d_model, h, bias):
    layers = nn.ModuleList(nn.Linear(d_model, d_model, bias=bias) for _ in range(4))
    return sum(p.numel() for p in layers.parameters())


def head_by_head(d_model, h, bias):
    d_k = d_model // h
    count = 0
    for _ in range(h):
        for _ in ("q", "k", "v"):
            count += d_model * d_k
            if bias:
                count += d_k
    count += (h * d_k) * d_model
    return count + d_model * int(bias)


def shapes_listed(d_model, h, bias):
    d_k = d_model // h
    shapes = [(d_model, d_k)] * 3 * h + [(h * d_k, d_model)]
    shapes += [(d_k,)] * 3 * h + [(d_model,)] if bias else []
    return total(*shapes)


def tensors_made(d_model, h, bias):
    made = [torch.empty(d_model, d_model) for _ in range(4)] + [torch.empty(d_model)] * (4 if bias else 0)
    return sum(t.numel() for t in made)


RIGHT = [
    lambda d, h, bias: 4 * d**2 + 4 * d * bias,
    lambda d, h, bias: 3 * h * d * (d // h) + d * d + (h * 3 * (d // h) + d if bias else 0),
    lambda d, h, bias: sum(p.numel() for p in nn.MultiheadAttention(d, h, bias=bias).parameters()),
    lambda d, h, bias: 4 * d * (d + int(bias)),
    lambda d, h, bias: np.int64(4 * d * d) + np.int64(4 * d if bias else 0),
    module_count,
    head_by_head,
    shapes_listed,
    tensors_made,
    lambda d, h, bias: (d + bool(bias)) * (d << 2),
    lambda d, h, bias: torch.tensor(4 * d * d + (4 * d if bias else 0)),
]


def full_width_heads(d_model, h, bias):
    layers = [nn.Linear(d_model, d_model, bias=False) for _ in range(4 * h)]
    return sum(p.numel() for layer in layers for p in layer.parameters()) + (4 * d_model if bias else 0)


def only_qkv(d_model, h, bias):
    qkv = nn.Linear(d_model, 3 * d_model, bias=bias)
    return sum(p.numel() for p in qkv.parameters())


def in_proj_only(d_model, h, bias):
    shapes = [(3 * d_model, d_model)]
    if bias:
        shapes += [(3 * d_model,), (d_model,)]
    return total(*shapes)


def first_head(d_model, h, bias):
    d_k = d_model // h
    count = 0
    for _ in ("q", "k", "v", "o"):
        count += d_model * d_k + (d_k if bias else 0)
    return count


def one_head_then_w_o(d_model, h, bias):
    d_k = d_model // h
    qkv = [(d_model, d_k)] * 3
    out = (d_model, d_model)
    return total(*qkv, out) + (total((d_model,)) * 4 if bias else 0)


def one_linear(d_model, h, bias):
    return sum(p.numel() for p in nn.Linear(d_model, d_model, bias).parameters())


def bias_unread(d_model, h, bias):
    weights = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), d_model * d_model)
    return sum(weights.values())


def bias_read_as_present(d_model, h, bias):
    return total(*[(d_model, d_model), (d_model,)] * 4)


def upside_down(d_model, h, bias):
    count = 4 * d_model**2
    if not bias:
        count += 4 * d_model
    return count


def qkv_biases(d_model, h, bias):
    count = total(*[(d_model, d_model)] * 4)
    for _ in range(3 if bias else 0):
        count += d_model
    return count


def last_bias(d_model, h, bias):
    weights = sum(d_model * d_model for _ in range(4))
    return weights + d_model if bias else weights


def scalar_biases(d_model, h, bias):
    return sum(d_model**2 + (1 if bias else 0) for _ in range(4))


def bias_in_every_head(d_model, h, bias):
    count = 4 * d_model * d_model
    for _ in range(h):
        count += 4 * d_model if bias else 0
    return count


def narrow_biases(d_model, h, bias):
    d_k = d_model // h
    return total(*[(d_model, d_model)] * 4, *([(d_k,)] * 4 if bias else []))


def plus_flag(d_model, h, bias):
    return sum([d_model * d_model] * 4 + [bias])


def divided(d_model, h, bias):
    d_k = d_model / h
    return (3 * d_model * d_k) * h + d_model * d_model + (4 * d_model if bias else 0)


WRONG = [
    ("times-h", lambda d, h, bias: sum(4 * d * d for _ in range(h)) + 4 * d * bias),
    ("times-h", full_width_heads),
    ("w_o-left-out", only_qkv),
    ("w_o-left-out", lambda d, h, bias: 3 * h * (d + bias) * (d // h)),
    ("w_o-left-out-bias-in", lambda d, h, bias: 3 * d**2 + 4 * d * bias),
    ("w_o-left-out-bias-in", in_proj_only),
    ("one-head-only", first_head),
    ("one-head-only", lambda d, h, bias: 4 * (d // h) * (d + bias)),
    ("one-head-projections", one_head_then_w_o),
    ("one-head-projections", lambda d, h, bias: d * (3 * (d // h) + d + 4 * bias)),
    ("one-matrix", one_linear),
    ("one-matrix", lambda d, h, bias: (d + bias) * d),
    ("biases-forgotten", bias_unread),
    ("biases-forgotten", lambda d, h, bias: (2 * d) ** 2),
    ("biases-always", bias_read_as_present),
    ("biases-always", lambda d, h, bias: 4 * (d + 1) * d),
    ("biases-turned", upside_down),
    ("biases-turned", lambda d, h, bias: 4 * d * (d + 1 - bias)),
    ("three-biases", qkv_biases),
    ("three-biases", lambda d, h, bias: 3 * (d + bias) * d + d * d),
    ("one-bias", last_bias),
    ("one-bias", lambda d, h, bias: d * (4 * d + bias)),
    ("one-number-a-bias", scalar_biases),
    ("one-number-a-bias", lambda d, h, bias: 4 * (d * d + bias)),
    ("biases-times-h", bias_in_every_head),
    ("biases-times-h", lambda d, h, bias: 4 * d * (d + h * bias)),
    ("biases-of-one-head", narrow_biases),
    ("biases-of-one-head", lambda d, h, bias: 4 * (d * d + bias * (d // h))),
    ("true-as-one", plus_flag),
    ("true-as-one", lambda d, h, bias: 4 * d**2 + int(bias)),
    ("float-division", divided),
    ("float-division", lambda d, h, bias: (4 * d * d + 4 * d * bias) / 1),
    ("float-division", lambda d, h, bias: math.pow(2 * d, 2) + 4 * d * bias),
]


def block(d_model, h, bias):
    layer = nn.TransformerEncoderLayer(d_model, h, 4 * d_model, bias=bias)
    return sum(p.numel() for p in layer.parameters())


UNLISTED = [
    ("count 12 matrices of d_model by d_model", lambda d, h, bias: 12 * d * d + 4 * d * bias),
    ("count 12 matrices", block),
    (
        "three matrices .* one matrix of d_model by d_k",
        lambda d, h, bias: 3 * d * d + d * (d // h) + 4 * d * bias,
    ),
    ("Everything is multiplied by h", lambda d, h, bias: (4 * d * d + 4 * d * bias) * h),
    ("counted twice", lambda d, h, bias: 8 * d * d + 8 * d * bias),
    ("d_k by d_k", lambda d, h, bias: 4 * (d // h) ** 2 + 4 * d * bias),
    ("d_model and h have changed places", lambda d, h, bias: 4 * h * h + 4 * h * bias),
    ("no part of the layer has that shape", lambda d, h, bias: 4 * d**3 + 4 * d * bias),
    ("something is subtracted", lambda d, h, bias: 4 * d * d - 4 * d * bias),
    ("three rows of d_k numbers", lambda d, h, bias: 4 * d * d + (3 * (d // h) + d) * bias),
    ("weights are right. For the biases, you count two rows", lambda d, h, bias: 4 * d * d + 2 * d * bias),
    ("whatever the sizes are", lambda d, h, bias: 4 * 512 * 512 + (2048 if bias else 0)),
    ("of one number for every head", lambda d, h, bias: 4 * d * d + 4 * h * bias),
    (
        "for every head \\(a head's are only d_model / h wide",
        lambda d, h, bias: 4 * d * d * (1 + h) + 4 * d * bias,
    ),
    ("whole matrices; a bias is one row", lambda d, h, bias: 4 * d * d + 4 * d * d * bias),
    (
        "Without biases .* is a sum of products of the sizes, with them it is none",
        lambda d, h, bias: 4 * d * d + int(math.sqrt(d // h)) * bias,
    ),
    ("Without biases the count is 0", lambda d, h, bias: 4 * d * bias),
    ("three matrices of d_model by d_model, and no biases", lambda d, h, bias: 3 * d * d),
    ("it is a float", lambda d, h, bias: 3.0 * d * d + 4 * d * bias),
    ("no part of the layer has that shape", lambda d, h, bias: 4 * d * d * (4 * d if bias else 1)),
    ("It returns nothing", lambda d, h, bias: print(end="")),
    ("float", lambda d, h, bias: np.float64(2 * d * d)),
    ("`h²` numbers .no part", lambda d, h, bias: 4 * d * d + h * h + 4 * d * bias),
    ("whether|biases or not", lambda d, h, bias: 4 * d * d + d + 4 * d * bias),
    ("cover more than the biases", lambda d, h, bias: 4 * d * d + 4 * d if bias else 0),
    ("`\\^` is no power", lambda d, h, bias: 4 * (d ^ 2) + 4 * d * bias),
    ("five matrices of d_model by d_model, each with its bias", lambda d, h, bias: 5 * d * (d + bias)),
    ("there is a minus", lambda d, h, bias: -4 * d * (d + bias)),
    ("as bytes", lambda d, h, bias: 16 * d * (d + bias)),
    ("three matrices .* for every head .* each with its bias", lambda d, h, b: (3 * h + 1) * d * (d + b)),
    ("`numel`", lambda d, h, bias: len(list(nn.MultiheadAttention(d, h, bias=bias).parameters()))),
    ("NaN", lambda d, h, bias: float("nan")),
]
