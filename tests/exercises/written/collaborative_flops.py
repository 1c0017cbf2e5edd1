"""collaborative_flops as students write it: each known mistake in several styles, right and unlisted ones."""

from __future__ import annotations

import math

import numpy as np
import torch


def product(m, k, p):
    return 2 * m * k * p


def step_by_step(n, d_model, h, width):
    flops = 0
    for _ in ("queries", "keys"):
        flops += product(n, d_model, width)
    for _ in range(h):
        flops += product(n, width, n)
    return flops


def by_dictionary(n, d_model, h, width):
    stages = dict.fromkeys(("q", "k"), product(n, d_model, width))
    stages["scores"] = h * product(n, width, n)
    return sum(stages.values())


def shapes_multiplied(n, d_model, h, width):
    products = [(n, d_model, width)] * 2 + [(n, width, n)] * h
    return int(2 * np.prod(np.array(products, dtype=np.int64), axis=1).sum())


def counted_in_a_profile(n, d_model, h, width):
    from torch.utils.flop_counter import FlopCounterMode

    x, w = torch.zeros(n, d_model, device="meta"), torch.zeros(d_model, width, device="meta")
    m = torch.ones(h, 1, width, device="meta")
    with FlopCounterMode(display=False) as counter:
        q, k = x @ w, x @ w
        (m * q) @ k.T
    return counter.get_total_flops()


RIGHT = [
    lambda n, d, h, w: 4 * n * d * w + 2 * n**2 * h * w,
    lambda n, d, h, w: 2 * n * w * (2 * d + n * h),
    lambda n, d, h, w: sum([2 * n * d * w] * 2 + [2 * n * n * w] * h),
    step_by_step,
    by_dictionary,
    shapes_multiplied,
    counted_in_a_profile,
    lambda n, d, h, w: torch.tensor([4 * n * d * w, 2 * n * n * h * w]).sum(),
]


def projections(n, d, h, w):
    return 2 * product(n, d, w)


def scores(n, d, h, w):
    return h * product(n, w, n)


def in_heads(n, d, h, w):
    """As if each head had width / h of the features."""
    return projections(n, d, h, w) + sum(2 * n * n * w / h for _ in range(h)).__round__()


def of_plain_heads(n, d, h, w):
    own = d // h
    return projections(n, d, h, w) + h * product(n, own, n) + (d - own * h) * 2 * n * n


def exact(m, k, p):
    return m * p * (k + (k - 1))


WRONG = [
    ("features-shared-out", in_heads),
    ("features-shared-out", lambda n, d, h, w: 2 * n * w * (2 * d + n)),
    ("plain-heads", of_plain_heads),
    ("plain-heads", lambda n, d, h, w: 2 * n * d * (2 * w + n)),
    ("plain-projections", lambda n, d, h, w: 2 * product(n, d, d) + scores(n, d, h, w)),
    ("plain-projections", lambda n, d, h, w: (2 * d) ** 2 * n + 2 * n**2 * h * w),
    ("projections-for-each-head", lambda n, d, h, w: h * (projections(n, d, h, w) + product(n, w, n))),
    ("projections-for-each-head", lambda n, d, h, w: 2 * n * h * w * (2 * d + n)),
    ("multiply-adds", lambda n, d, h, w: n * d * w + n * d * w + h * n * n * w),
    ("multiply-adds", lambda n, d, h, w: step_by_step(n, d, h, w) // 2),
    ("one-projection", lambda n, d, h, w: product(n, d, w) + scores(n, d, h, w)),
    ("one-projection", lambda n, d, h, w: 2 * n * w * (d + n * h)),
    ("values-and-output-too", lambda n, d, h, w: 4 * product(n, d, w) + scores(n, d, h, w)),
    ("values-and-output-too", lambda n, d, h, w: 2 * n * w * (4 * d + n * h)),
    ("values-too", lambda n, d, h, w: sum(product(n, d, w) for _ in "qkv") + scores(n, d, h, w)),
    ("values-too", lambda n, d, h, w: 2 * n * w * (3 * d + n * h)),
    ("scores-only", scores),
    ("scores-only", lambda n, d, h, w: sum(2 * n**2 * w for _ in range(h))),
    ("projections-only", projections),
    ("projections-only", lambda n, d, h, w: (2 * n) * (2 * d) * w),
    ("weighted-sum-too", lambda n, d, h, w: projections(n, d, h, w) + 2 * scores(n, d, h, w)),
    ("weighted-sum-too", lambda n, d, h, w: 4 * n * w * (d + n * h)),
    ("weighing-counted", lambda n, d, h, w: step_by_step(n, d, h, w) + n * h * w),
    ("weighing-counted", lambda n, d, h, w: n * w * (4 * d + 2 * n * h + h)),
    ("scale-counted", lambda n, d, h, w: step_by_step(n, d, h, w) + h * n**2),
    ("scale-counted", lambda n, d, h, w: 4 * n * d * w + n * n * h * (2 * w + 1)),
    ("mixing-as-a-product", lambda n, d, h, w: step_by_step(n, d, h, w) + product(n, w, h)),
    ("mixing-as-a-product", lambda n, d, h, w: 2 * n * w * (2 * d + n * h + h)),
    ("one-token", lambda n, d, h, w: 2 * product(1, d, w) + scores(n, d, h, w)),
    ("one-token", lambda n, d, h, w: 2 * w * (2 * d + n * n * h)),
    ("one-query", lambda n, d, h, w: projections(n, d, h, w) + h * product(1, w, n)),
    ("one-query", lambda n, d, h, w: 2 * n * w * (2 * d + h)),
    ("scores-at-full-width", lambda n, d, h, w: projections(n, d, h, w) + h * product(n, d, n)),
    ("scores-at-full-width", lambda n, d, h, w: 2 * n * d * (2 * w + n * h)),
    ("one-less-addition", lambda n, d, h, w: 2 * exact(n, d, w) + h * exact(n, w, n)),
    (
        "one-less-addition",
        lambda n, d, h, w: 4 * n * d * w - 2 * n * w + 2 * n * n * h * w - n * n * h,
    ),
    ("float-division", lambda n, d, h, w: (8 * n * d * w + 4 * n * n * h * w) / 2),
    ("float-division", lambda n, d, h, w: 2.0 * n * w * (2 * d + n * h)),
]

UNLISTED = [
    ("counted twice", lambda n, d, h, w: 2 * step_by_step(n, d, h, w)),
    ("changed places", lambda n, d, h, w: step_by_step(n, d, w, h)),
    ("changed places", lambda n, d, h, w: step_by_step(d, n, h, w)),
    ("Everything is multiplied by h|multiplied by n", lambda n, d, h, w: n * step_by_step(n, d, h, w)),
    (
        "counted as .*: with the width twice",
        lambda n, d, h, w: 4 * n * d * w + 2 * n * n * h * w * w,
    ),
    ("in M", lambda n, d, h, w: step_by_step(n, d, h, w) + h * w),
    ("plain heads", lambda n, d, h, w: 4 * n * d * d + 2 * n * n * d),
    ("no matrix product", lambda n, d, h, w: step_by_step(n, d, h, w) + 5 * h * n * n),
    ("subtracted", lambda n, d, h, w: step_by_step(n, d, h, w) - n * n * h),
    ("are counted as", lambda n, d, h, w: 4 * n * d * w + 3 * n * n * h * w),
    ("whatever the sizes are", lambda n, d, h, w: step_by_step(n, d, h, w) + 1),
    ("whatever the sizes are", lambda n, d, h, w: 4),
    ("no power", lambda n, d, h, w: 4 * n * d * w + 2 * (n ^ 2) * h * w),
    ("other units", lambda n, d, h, w: step_by_step(n, d, h, w) / 1e9),
    ("logarithm", lambda n, d, h, w: math.log(step_by_step(n, d, h, w))),
    ("no sum of products", lambda n, d, h, w: int(n * d * w**0.5)),
    ("h twice", lambda n, d, h, w: 4 * n * d * w + 2 * n * n * h * h * w),
    ("counted as `2 n² width / h`", lambda n, d, h, w: 4 * n * d * w + 2 * n * n * (w // h)),
    ("are counted as .*: from `width`", lambda n, d, h, w: 4 * n * w * w + 2 * n * n * h * w),
    # A float of a known mistake is that mistake, in its words.
    ("counted once, .*And it is a float", lambda n, d, h, w: 4 * n * d * w + 2 * n * n * (w / h) * h),
    ("of plain heads, .*And it is a float", lambda n, d, h, w: 4 * n * d * w + 2 * n * n * (d / h) * h),
    ("counted as one.*And it is a float", lambda n, d, h, w: (4 * n * d * w + 2 * n * n * h * w) / 2),
    ("nothing", lambda n, d, h, w: print(step_by_step(n, d, h, w))),
]
