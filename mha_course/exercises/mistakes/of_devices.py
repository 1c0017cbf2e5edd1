"""Known mistakes of `partial_outputs`: which heads a device holds, what is cut, what is done at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise
from mha_course.exercises.mistakes.workbench import (
    attend_with,
    interleaved,
    layer_with,
    merge,
    merge_without_transpose,
    once,
    over_keys,
    root_of_d_k,
    split,
    without_transpose,
)

Step = Callable[..., Any]


def features_of(heads: Sequence[int], d_k: int) -> Tensor:
    """The places of these heads' features."""
    return (torch.tensor(heads)[:, None] * d_k + torch.arange(d_k)).flatten()


def in_order(h: int, devices: int, d_k: int) -> list[Tensor]:
    """For each device the features of its heads: the first h / devices heads, and so on."""
    each = h // devices
    return [features_of(range(r * each, (r + 1) * each), d_k) for r in range(devices)]


def columns_of(w: Tensor, own: Tensor) -> Tensor:
    """A device's part of W_Q, W_K or W_V."""
    return w[:, own]


def rows_of(w_o: Tensor, own: Tensor) -> Tensor:
    """A device's part of W_O."""
    return w_o[own]


def _projected(x: Tensor, w: Tensor, own: Tensor) -> Tensor:
    return x @ w


def _fused(concat: Tensor, w_o: Tensor) -> Tensor:
    return concat @ w_o


def shares_with(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    h: int,
    devices: int,
    *,
    take: Step = lambda q, k, v, o: (q, k, v, o),
    holds: Step = in_order,
    cut: Step = columns_of,
    project: Step = _projected,
    many: Step = lambda h, devices: h // devices,
    heads: Step = split,
    factor: Step = root_of_d_k,
    soften: Step = over_keys,
    join: Step = merge,
    rows: Step = rows_of,
    fuse: Step = _fused,
    gather: Step = torch.stack,
    whole: Step | None = None,
) -> Tensor:
    """What each device computes, with the steps given; right without any: (devices, b, n, d_model)."""
    if whole is not None:
        return whole(x, w_q, w_k, w_v, w_o, h, devices)
    w_q, w_k, w_v, w_o = once(take, w_q, w_k, w_v, w_o)
    shares = []
    for own in once(holds, h, devices, x.shape[-1] // h):
        q, k, v = (
            once(heads, once(project, x, once(cut, w, own), own), many(h, devices)) for w in (w_q, w_k, w_v)
        )
        mixed, _ = attend_with(q, k, v, factor=factor, soften=soften, d_model=x.shape[-1], h=h)
        shares.append(once(fuse, once(join, mixed), once(rows, w_o, own)))
    return gather(shares)


def share_of_the_layer(*given: Any) -> Tensor:
    """The whole layer's output, divided by the number of devices, for each of them."""
    *layer, devices = given
    return torch.stack([layer_with(*layer) / devices] * devices)


def whole_on_each(*given: Any) -> Tensor:
    """The whole layer's output on every device."""
    *layer, devices = given
    return torch.stack([layer_with(*layer)] * devices)


def _columns_of_w_o(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, h: int, devices: int
) -> Tensor:
    """All heads are gathered first; each device then has its columns of W_O."""
    return torch.stack(layer_with(x, w_q, w_k, w_v, w_o, h).chunk(devices, -1))


_with = partial(Otherwise, shares_with)

DEVICE_MISTAKES = (
    Mistake(
        "added-up",
        _with(gather=lambda shares: torch.stack(shares).sum(0)),
        "The shares are added up: that is the layer's output, after the all-reduce. What each device "
        "computes before is asked for.",
        "the sum at the end.",
    ),
    Mistake(
        "averaged",
        _with(gather=lambda shares: torch.stack(shares).mean(0)),
        "The shares are averaged. What each device computes is asked for; and an all-reduce would be a sum.",
        "the mean at the end.",
    ),
    Mistake(
        "side-by-side",
        _with(gather=lambda shares: torch.cat(shares, -1)),
        "The shares are put side by side. Each is as wide as the output, and they stand in an axis of their "
        "own.",
        "`cat` and `stack`.",
    ),
    Mistake(
        "devices-behind-sentences",
        _with(gather=lambda shares: torch.stack(shares, 1)),
        "The axis of devices stands behind that of sentences. It should come first.",
        "the axis of `stack`.",
    ),
    Mistake(
        "one-device-a-head",
        _with(holds=lambda h, devices, d_k: in_order(h, h, d_k), many=lambda h, devices: 1),
        "Every head has a device of its own. There are {devices} devices for {h} heads.",
        "the number of heads a device holds.",
    ),
    Mistake(
        "dealt-in-turn",
        _with(holds=lambda h, devices, d_k: [features_of(range(r, h, devices), d_k) for r in range(devices)]),
        "Heads are dealt to the devices in turn. Each should hold neighbours: the first h / devices heads go "
        "to the first device. (The sum is the same.)",
        "which heads a device holds.",
    ),
    Mistake(
        "features-dealt",
        _with(holds=lambda h, devices, d_k: [torch.arange(r, h * d_k, devices) for r in range(devices)]),
        "Features are dealt to the devices in turn, so that every head is torn. A device holds whole heads.",
        "the slice with a step.",
    ),
    Mistake(
        "first-heads-everywhere",
        _with(holds=lambda h, devices, d_k: in_order(h, devices, d_k)[:1] * devices),
        "Every device holds the first heads. Each has its own.",
        "where the number of the device takes part.",
    ),
    Mistake(
        "first-rows-everywhere",
        _with(rows=lambda w_o, own: w_o[: len(own)]),
        "Every device has the first rows of W_O. The rows belong to the heads that it holds.",
        "how W_O is cut.",
    ),
    Mistake(
        "devices-in-reverse-order",
        _with(gather=lambda shares: torch.stack(shares[::-1])),
        "The devices are in reverse order.",
        "the order in which shares are collected.",
    ),
    Mistake(
        "no-w_o",
        _with(fuse=lambda concat, w_o: concat),
        "The heads of each device come back as they are; W_O is missing.",
        "what comes behind the heads.",
    ),
    Mistake(
        "columns-of-w_o",
        _with(whole=_columns_of_w_o),
        "W_O is cut by columns, and every device then needs the heads of all others. By rows it needs only "
        "its own.",
        "how W_O is cut.",
    ),
    Mistake(
        "rows-of-the-others",
        _with(cut=lambda w, own: w[own].T),
        "W_Q, W_K and W_V are cut by rows, as `nn.Linear` keeps them. Here they multiply from the right, so "
        "heads are columns.",
        "how the three are cut.",
    ),
    Mistake(
        "input-cut",
        _with(project=lambda x, w, own: x[..., own] @ w[own]),
        "Each device gets its part of the features of `x` only. It needs all of them: the columns of its "
        "heads have d_model rows.",
        "what is done with `x`.",
    ),
    Mistake(
        "whole-layer-everywhere",
        _with(whole=whole_on_each),
        "Every device has the output of the whole layer, as after the all-reduce. What it computes itself, "
        "of its own heads, is asked for.",
        "what is cut.",
    ),
    Mistake(
        "whole-layer-shared-out",
        _with(whole=share_of_the_layer),
        "Every device computes the whole layer, and the result is divided by their number. Each should "
        "compute its own heads.",
        "what is cut.",
    ),
    Mistake(
        "one-wide-head",
        _with(many=lambda h, devices: 1),
        "All features of a device make one wide head. It holds h / devices heads, d_k wide.",
        "how the features of a device become heads.",
    ),
    Mistake(
        "h-heads-everywhere",
        _with(many=lambda h, devices: h),
        "The features of a device are cut into h heads. It holds h / devices of them.",
        "the number of heads on a device.",
    ),
    Mistake(
        "no-scale",
        _with(factor=lambda q, **sizes: 1.0),
        "The scores are not divided by the root of d_k.",
        "what is done with the scores.",
    ),
    Mistake(
        "scaled-by-d_model",
        _with(factor=lambda q, d_model, **sizes: 1 / math.sqrt(d_model)),
        "The scores are divided by the root of d_model. A head is d_k wide.",
        "the width under the root.",
    ),
    Mistake(
        "scaled-by-the-width-of-a-device",
        _with(factor=lambda q, **sizes: 1 / math.sqrt(q.shape[1] * q.shape[-1])),
        "The scores are divided by the root of all that a device holds. A head is d_k wide.",
        "the width under the root.",
    ),
    Mistake(
        "softmax-over-queries",
        _with(soften=lambda s: s.softmax(-2)),
        "The softmax is taken over the queries. Each query's weights over the keys sum to 1.",
        "the axis of the softmax.",
    ),
    Mistake(
        "softmax-over-heads",
        _with(soften=lambda s: s.softmax(1)),
        "The softmax is taken over the heads of a device.",
        "the axis of the softmax.",
    ),
    Mistake(
        "heads-without-transpose",
        _with(heads=without_transpose),
        "Heads are made by `view` alone: they hold pieces of other tokens.",
        "the axes before and after the cut.",
    ),
    Mistake(
        "features-interleaved",
        _with(heads=interleaved),
        "Within a device features are dealt to heads in turn. Neighbouring features make a head.",
        "the cut into heads.",
    ),
    Mistake(
        "joined-without-transpose",
        _with(join=merge_without_transpose),
        "Heads are joined by `reshape` alone: a row then holds pieces of other tokens.",
        "the axes before heads are joined.",
    ),
)
