"""flop_count as students write it: each known mistake in several styles, right ones, unlisted ones."""

from __future__ import annotations

import math

import numpy as np
import torch


def product(m, k, p):
    return 2 * m * k * p


def stage_by_stage(n, d_model, h):
    d_k = d_model // h
    flops = 0
    for _ in range(h):
        for _ in ("q", "k", "v"):
            flops += product(n, d_model, d_k)
        flops += product(n, d_k, n)
        flops += product(n, n, d_k)
    return flops + product(n, h * d_k, d_model)


def by_dictionary(n, d_model, h):
    stages = dict.fromkeys(("q", "k", "v", "out"), 2 * n * d_model**2)
    stages["scores"] = stages["mix"] = h * product(n, d_model // h, n)
    return sum(stages.values())


def shapes_multiplied(n, d_model, h):
    d_k = d_model // h
    products = [(n, d_model, d_model)] * 4 + [(n, d_k, n), (n, n, d_k)] * h
    return int(2 * np.prod(np.array(products, dtype=np.int64), axis=1).sum())


def counted_in_a_profile(n, d_model, h):
    from torch.utils.flop_counter import FlopCounterMode

    x, w = torch.zeros(n, d_model, device="meta"), torch.zeros(d_model, d_model, device="meta")
    with FlopCounterMode(display=False) as counter:
        q, k, v = ((x @ w).view(n, h, -1).transpose(0, 1) for _ in range(3))
        heads = (q @ k.mT) @ v
        heads.transpose(0, 1).reshape(n, d_model) @ w
    return counter.get_total_flops()


RIGHT = [
    lambda n, d, h: 8 * n * d**2 + 4 * n**2 * d,
    lambda n, d, h: 4 * n * d * (2 * d + n),
    lambda n, d, h: h * (3 * 2 * n * d * (d // h) + 2 * 2 * n * n * (d // h)) + 2 * n * d * d,
    lambda n, d, h: sum([2 * n * d * d] * 4 + [2 * n * (d // h) * n, 2 * n * n * (d // h)] * h),
    stage_by_stage,
    by_dictionary,
    shapes_multiplied,
    counted_in_a_profile,
    lambda n, d, h: torch.tensor([8 * n * d * d, 4 * n * n * d]).sum(),
    lambda n, d, h: (n * d * (2 * d + n)) << 2,
]


def without_doubling(n, d_model, h):
    d_k = d_model // h
    flops = 4 * n * d_model * d_model
    for _ in range(h):
        flops += n * n * d_k
        flops += n * n * d_k
    return flops


def projections(n, d_model, h):
    return sum(product(n, d_model, d_model) for _ in "qkvo")


def scores_and_mix(n, d_model, h):
    d_k = d_model // h
    return h * (product(n, d_k, n) + product(n, n, d_k))


def three_projections(n, d_model, h):
    return product(n, d_model, 3 * d_model) + scores_and_mix(n, d_model, h)


def without_the_mix(n, d_model, h):
    total = projections(n, d_model, h)
    for _ in range(h):
        total += product(n, d_model // h, n)
    return total


def wide_heads(n, d_model, h):
    total = projections(n, d_model, h)
    for _ in range(h):
        total += product(n, d_model, n) + product(n, n, d_model)
    return total


def single_head(n, d_model, h):
    d_k = d_model // h
    return projections(n, d_model, h) + product(n, d_k, n) + product(n, n, d_k)


def all_of_one_head(n, d_model, h):
    d_k = d_model // h
    total = 3 * product(n, d_model, d_k) + product(n, d_k, d_model)
    return total + product(n, d_k, n) + product(n, n, d_k)


def wide_projections(n, d_model, h):
    total = sum(product(n, d_model, d_model) for _ in range(h) for _ in "qkvo")
    return total + scores_and_mix(n, d_model, h)


def all_wide(n, d_model, h):
    return sum(4 * product(n, d_model, d_model) + 2 * product(n, d_model, n) for _ in range(h))


def twice_the_parameters(n, d_model, h):
    return 2 * (4 * d_model * d_model) + scores_and_mix(n, d_model, h)


def width_by_width(n, d_model, h):
    total = projections(n, d_model, h)
    return total + product(n, d_model, d_model) + product(n, d_model, d_model)


def one_projection(n, d_model, h):
    return product(n, d_model, d_model) + scores_and_mix(n, d_model, h)


def with_softmax(n, d_model, h):
    softmax = sum(5 * n * n for _ in range(h))
    return by_dictionary(n, d_model, h) + softmax


def with_scaling(n, d_model, h):
    scaling = h * n**2
    return stage_by_stage(n, d_model, h) + scaling


def exact(m, k, p):
    return m * p * (k + k - 1)


def exact_count(n, d_model, h):
    d_k = d_model // h
    return 4 * exact(n, d_model, d_model) + sum(exact(n, d_k, n) + exact(n, n, d_k) for _ in range(h))


def float_count(n, d_model, h):
    d_k = d_model / h
    return 8 * n * d_model**2 + h * 2 * (2 * n * n * d_k)


WRONG = [
    ("multiply-adds", lambda n, d, h: sum(n * d * d for _ in range(4)) + h * 2 * n * n * (d // h)),
    ("multiply-adds", without_doubling),
    ("projections-only", projections),
    ("projections-only", lambda n, d, h: n * (2 * d) ** 2 * 2),
    ("attention-only", scores_and_mix),
    ("attention-only", lambda n, d, h: (2 * n) ** 2 * d),
    ("w_o-left-out", lambda n, d, h: 3 * 2 * n * d * d + 2 * (2 * n * n * d)),
    ("w_o-left-out", three_projections),
    ("weighted-sum-left-out", without_the_mix),
    ("weighted-sum-left-out", lambda n, d, h: 2 * n * d * (4 * d + n)),
    ("heads-at-full-width", wide_heads),
    ("heads-at-full-width", lambda n, d, h: 4 * n * d * (2 * d + n * h)),
    ("one-head-only", single_head),
    ("one-head-only", lambda n, d, h: 8 * n * d**2 + 4 * n**2 * d // h),
    ("one-head-everything", all_of_one_head),
    ("one-head-everything", lambda n, d, h: (8 * n * d**2 + 4 * n**2 * d) // h),
    ("projections-times-h", wide_projections),
    ("projections-times-h", lambda n, d, h: 4 * n * d * (2 * d * h + n)),
    ("everything-times-h", all_wide),
    ("everything-times-h", lambda n, d, h: 4 * n * d * h * (2 * d + n)),
    ("parameters-for-flops", twice_the_parameters),
    ("parameters-for-flops", lambda n, d, h: 4 * d * (2 * d + n * n)),
    ("width-squared-in-scores", width_by_width),
    ("width-squared-in-scores", lambda n, d, h: 12 * n * d**2),
    ("one-projection", one_projection),
    ("one-projection", lambda n, d, h: 2 * n * d * (d + 2 * n)),
    ("softmax-counted", with_softmax),
    ("softmax-counted", lambda n, d, h: 4 * n * d * (2 * d + n) + 5 * n * n * h),
    ("scale-counted", with_scaling),
    ("scale-counted", lambda n, d, h: n * (8 * d * d + 4 * n * d + n * h)),
    ("one-less-addition", exact_count),
    (
        "one-less-addition",
        lambda n, d, h: 8 * n * d**2 - 4 * n * d + 4 * n * n * d - h * n * n - n * d,
    ),
    ("float-division", float_count),
    ("float-division", lambda n, d, h: (16 * n * d * d + 8 * n * n * d) / 2),
]

UNLISTED = [
    ("n and d_model have changed places", lambda n, d, h: 8 * n * n * d + 4 * n * d * d),
    ("forward and a backward pass", lambda n, d, h: 3 * (8 * n * d * d + 4 * n * n * d)),
    ("divided by n: this is the share of one token", lambda n, d, h: 8 * d * d + 4 * n * d),
    ("as under a causal mask", lambda n, d, h: 8 * n * d * d + 2 * n * (n + 1) * d),
    ("no matrix product", lambda n, d, h: 8 * n * d * d + 4 * n * n * d + 3 * h * n * n),
    ("a bias, a sum", lambda n, d, h: 8 * n * d * d + 4 * n * n * d + 4 * n * d),
    ("W_O is missing.*One product inside the heads", lambda n, d, h: 6 * n * d * d + 2 * n * n * d),
    ("Everything is multiplied by n", lambda n, d, h: n * (8 * n * d * d + 4 * n * n * d)),
    ("without a width: no matrix product", lambda n, d, h: 8 * n * d * d + 4 * n * n),
    (
        "n is a side of each only once",
        lambda n, d, h: 8 * n * d * d + 4 * n * d,
    ),
    ("projections are missing.*at full width", lambda n, d, h: 4 * n * n * d * h),
    ("n and h have changed places", lambda n, d, h: 8 * h * d * d + 4 * h * h * d),
    ("no product has these three sides", lambda n, d, h: 8 * n * d * d + 4 * n * d * h),
    ("no sum of products", lambda n, d, h: int(n * d * math.log2(d))),
    ("n makes no difference", lambda n, d, h: 8 * d * int(d**1.5) // h),
    ("d_k by d_k", lambda n, d, h: 8 * n * (d // h) ** 2 + 4 * n * n * d),
    ("whatever the sizes are", lambda n, d, h: 1_000_000),
    ("n three times", lambda n, d, h: 8 * n * d * d + 4 * n**3),
    ("n² and d_model² at once", lambda n, d, h: 8 * n * d * d + 4 * n * n * d * d),
    ("it is a float", lambda n, d, h: 8.0 * n * d * d + 2 * n * n * d / h),
    (
        "Three projections are counted of one head only",
        lambda n, d, h: 6 * n * d * (d // h) + 2 * n * d * d + 4 * n * n * d,
    ),
    ("feed-forward part", lambda n, d, h: 24 * n * d * d + 4 * n * n * d),
    ("`\\^` is no power", lambda n, d, h: 8 * n * d ^ 2 + 4 * n ^ 2 * d),
    ("other units", lambda n, d, h: (8 * n * d * d + 4 * n * n * d) / 1e9),
    ("logarithm of the right number", lambda n, d, h: math.log(8 * n * d * d + 4 * n * n * d)),
    ("counted as one operation.*W_O is missing", lambda n, d, h: 3 * n * d * d + 2 * n * n * d),
    ("counted as one operation.*at full width", lambda n, d, h: 4 * n * d * d + 2 * h * n * n * d),
    ("counted as one operation.*One product inside", lambda n, d, h: 4 * n * d * d + n * n * d),
    ("Three products inside the heads are counted", lambda n, d, h: 8 * n * d * d + 6 * n * n * d),
    ("Five projections are counted", lambda n, d, h: 10 * n * d * d + 4 * n * n * d),
    ("as for training", lambda n, d, h: 24 * n * d * d),
    ("counted twice.*not four", lambda n, d, h: 16 * n * d * d + 8 * n * n * d),
]


UNLISTED += [
    ("n is a side of each only once", lambda n, d, h: 2 * n * d * (4 * d + 2)),
    ("a width is missing, and h stands there", lambda n, d, h: 8 * n * d**2 + 4 * h * n**2),
    ("n \\* d_k \\* d_k", lambda n, d, h: 8 * n * d**2 + 4 * h * n * (d // h) ** 2),
    ("in thousands", lambda n, d, h: (8 * n * d * d + 4 * n * n * d) // 1000),
]
