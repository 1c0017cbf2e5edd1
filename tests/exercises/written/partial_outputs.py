"""partial_outputs as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import torch
import torch.nn.functional as F

from mha_course.layers import MultiHeadAttention
from mha_course.variants import tensor_parallel


def attend(q, k, v, *, scale=None, axis=-1):
    scores = q @ k.mT
    scores = scores / math.sqrt(q.shape[-1]) if scale is None else scores / scale
    return scores.softmax(axis) @ v


def by_head(
    x,
    w_q,
    w_k,
    w_v,
    w_o,
    h,
    devices,
    *,
    of=lambda r, j, h, devices: r * (h // devices) + j,
    block=lambda i, d, w: (slice(i * d, (i + 1) * d), slice(i * d, (i + 1) * d)),
    one=attend,
    times=lambda head, rows: head @ rows,
    end=torch.stack,
):
    """Head by head: each device adds up the shares of its own."""
    d = x.shape[-1] // h
    shares = []
    for r in range(devices):
        share = 0
        for j in range(h // devices):
            columns, rows = block(of(r, j, h, devices), d, w_o)
            head = one(x @ w_q[:, columns], x @ w_k[:, columns], x @ w_v[:, columns])
            share = share + times(head, w_o[rows])
        shares.append(share)
    return end(shares)


def by_slices(
    x,
    w_q,
    w_k,
    w_v,
    w_o,
    h,
    devices,
    *,
    own=lambda r, width, d: slice(r * width, (r + 1) * width),
    rows=None,
    project=lambda x, w, s: x @ w[:, s],
    heads=lambda t, each: t.unflatten(-1, (each, -1)).transpose(1, 2),
    each=lambda h, devices: h // devices,
    scale=lambda d, d_model, width: math.sqrt(d),
    axis=-1,
    join=lambda z: z.transpose(1, 2).flatten(2),
    with_w_o=True,
    end=torch.stack,
):
    """Device by device, all of its heads at once."""
    d_model = x.shape[-1]
    d, width = d_model // h, d_model // devices
    shares = []
    for r in range(devices):
        mine = own(r, width, d)
        q, k, v = (heads(project(x, w, mine), each(h, devices)) for w in (w_q, w_k, w_v))
        z = join(attend(q, k, v, scale=scale(d, d_model, width), axis=axis))
        shares.append(z @ (w_o[mine] if rows is None else rows(w_o, r, width)) if with_w_o else z)
    return end(shares)


def all_heads(x, w_q, w_k, w_v, h):
    d = x.shape[-1] // h
    q, k, v = ((x @ w).unflatten(-1, (h, d)).transpose(1, 2) for w in (w_q, w_k, w_v))
    return attend(q, k, v)  # (b, h, n, d)


def contributions(x, w_q, w_k, w_v, w_o, h):
    d = x.shape[-1] // h
    return torch.einsum("bhnd,hdm->hbnm", all_heads(x, w_q, w_k, w_v, h), w_o.unflatten(0, (h, d)))


def grouped(x, w_q, w_k, w_v, w_o, h, devices):
    """Contributions of all heads, added up within each device."""
    return contributions(x, w_q, w_k, w_v, w_o, h).unflatten(0, (devices, -1)).sum(1)


def by_chunks(x, w_q, w_k, w_v, w_o, h, devices):
    parts = zip(*(w.chunk(devices, 1) for w in (w_q, w_k, w_v)), w_o.chunk(devices, 0), strict=True)
    shares = []
    for a, b, c, o in parts:
        q, k, v = ((x @ w).unflatten(-1, (h // devices, -1)).transpose(1, 2) for w in (a, b, c))
        shares.append(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2) @ o)
    return torch.stack(shares)


def zeroed(x, w_q, w_k, w_v, w_o, h, devices):
    """All heads, and for each device a concatenation in which the others' features are 0."""
    concat = all_heads(x, w_q, w_k, w_v, h).transpose(1, 2).flatten(2)
    owner = torch.arange(concat.shape[-1]) // (concat.shape[-1] // devices)
    return torch.stack([(concat * (owner == r)) @ w_o for r in range(devices)])


def batched(x, w_q, w_k, w_v, w_o, h, devices):
    """Devices as an axis of one batched product."""
    d_model = x.shape[-1]
    ws = (w.unflatten(1, (devices, -1)).movedim(1, 0)[:, None] for w in (w_q, w_k, w_v))
    q, k, v = ((x @ w).unflatten(-1, (h // devices, -1)).transpose(2, 3) for w in ws)
    z = attend(q, k, v, scale=(d_model / h) ** 0.5).transpose(2, 3).flatten(3)
    return z @ w_o.unflatten(0, (devices, -1))[:, None]


def whole(x, w_q, w_k, w_v, w_o, h):
    return all_heads(x, w_q, w_k, w_v, h).transpose(1, 2).flatten(2) @ w_o


def by_package(x, w_q, w_k, w_v, w_o, h, devices):
    layer = MultiHeadAttention(x.shape[-1], h).to(x.dtype)
    for linear, w in zip((layer.w_q, layer.w_k, layer.w_v, layer.w_o), (w_q, w_k, w_v, w_o), strict=True):
        linear.weight.data = w.T
    return torch.stack([part(x) for part in tensor_parallel.shards(layer, devices)])


def looped_split(t, each):
    return torch.stack(t.chunk(each, -1), 1)


def viewed(t, each):
    return t.reshape(t.shape[0], each, t.shape[1], -1)


def dealt(r, width, d):
    return slice(r, None)


def heads_in_turn(x, w_q, w_k, w_v, w_o, h, devices):
    each = contributions(x, w_q, w_k, w_v, w_o, h)
    return torch.stack([each[r::devices].sum(0) for r in range(devices)])


def strided(*given):
    *_, h, devices = given
    return by_slices(*given, own=lambda r, width, d: slice(r, None, devices))


def strided_by_index(*given):
    *_, devices = given
    return by_slices(*given, own=lambda r, width, d: torch.arange(width) * devices + r)


WRONG = [
    ("added-up", partial(by_slices, end=sum)),
    ("added-up", lambda *given: whole(*given[:-1])),
    ("averaged", partial(by_slices, end=lambda s: torch.stack(s).mean(0))),
    ("averaged", lambda *given: whole(*given[:-1]) / given[-1]),
    ("side-by-side", partial(by_slices, end=lambda s: torch.cat(s, -1))),
    ("side-by-side", lambda *given: grouped(*given).movedim(0, 2).flatten(2)),
    ("devices-behind-sentences", partial(by_head, end=lambda s: torch.stack(s, 1))),
    ("devices-behind-sentences", lambda *given: grouped(*given).transpose(0, 1)),
    ("one-device-a-head", lambda *given: contributions(*given[:-1])),
    ("one-device-a-head", lambda *given: by_head(*given[:-1], given[-2])),
    ("dealt-in-turn", partial(by_head, of=lambda r, j, h, devices: r + j * devices)),
    ("dealt-in-turn", heads_in_turn),
    ("features-dealt", strided),
    ("features-dealt", strided_by_index),
    ("first-heads-everywhere", partial(by_head, of=lambda r, j, h, devices: j)),
    ("first-heads-everywhere", partial(by_slices, own=lambda r, width, d: slice(width))),
    ("first-rows-everywhere", partial(by_slices, rows=lambda w_o, r, width: w_o[:width])),
    (
        "first-rows-everywhere",
        lambda *given: torch.stack([z @ given[4][: z.shape[-1]] for z in by_slices(*given, with_w_o=False)]),
    ),
    ("devices-in-reverse-order", partial(by_head, end=lambda s: torch.stack(s[::-1]))),
    ("devices-in-reverse-order", lambda *given: grouped(*given).flip(0)),
    ("no-w_o", partial(by_slices, with_w_o=False)),
    (
        "no-w_o",
        lambda *given: torch.stack(
            all_heads(*given[:4], given[5]).transpose(1, 2).flatten(2).chunk(given[-1], -1)
        ),
    ),
    ("columns-of-w_o", lambda *given: torch.stack(whole(*given[:-1]).chunk(given[-1], -1))),
    ("columns-of-w_o", lambda *given: _columns(*given)),
    ("rows-of-the-others", partial(by_slices, project=lambda x, w, s: x @ w[s].T)),
    ("rows-of-the-others", lambda x, q, k, v, o, h, devices: by_slices(x, q.T, k.T, v.T, o, h, devices)),
    ("input-cut", lambda *given: _input_cut(*given)),
    ("input-cut", partial(by_slices, project=lambda x, w, s: x[..., s] @ w[s, s])),
    ("whole-layer-everywhere", lambda *given: torch.stack([whole(*given[:-1])] * given[-1])),
    (
        "whole-layer-everywhere",
        lambda *given: whole(*given[:-1]).expand(given[-1], -1, -1, -1).contiguous(),
    ),
    ("whole-layer-shared-out", lambda *given: torch.stack([whole(*given[:-1]) / given[-1]] * given[-1])),
    ("whole-layer-shared-out", lambda *given: grouped(*given).mean(0).expand(given[-1], -1, -1, -1)),
    (
        "one-wide-head",
        partial(by_slices, each=lambda h, devices: 1, scale=lambda d, d_model, width: math.sqrt(width)),
    ),
    ("one-wide-head", lambda x, q, k, v, o, h, devices: by_chunks(x, q, k, v, o, devices, devices)),
    (
        "h-heads-everywhere",
        lambda x, q, k, v, o, h, devices: by_chunks(x, q, k, v, o, h * devices, devices),
    ),
    ("h-heads-everywhere", lambda *given: _h_heads(*given)),
    ("no-scale", partial(by_slices, scale=lambda d, d_model, width: 1.0)),
    ("no-scale", partial(by_head, one=partial(attend, scale=1))),
    ("scaled-by-d_model", partial(by_slices, scale=lambda d, d_model, width: math.sqrt(d_model))),
    (
        "scaled-by-d_model",
        lambda *given: by_head(*given, one=partial(attend, scale=given[0].shape[-1] ** 0.5)),
    ),
    (
        "scaled-by-the-width-of-a-device",
        partial(by_slices, scale=lambda d, d_model, width: math.sqrt(width)),
    ),
    (
        "scaled-by-the-width-of-a-device",
        lambda *given: by_head(*given, one=partial(attend, scale=(given[0].shape[-1] / given[-1]) ** 0.5)),
    ),
    ("softmax-over-queries", partial(by_slices, axis=-2)),
    ("softmax-over-queries", partial(by_head, one=partial(attend, axis=-2))),
    ("softmax-over-heads", partial(by_slices, axis=1)),
    ("softmax-over-heads", lambda *given: by_slices(*given, heads=looped_split, axis=-3)),
    ("heads-without-transpose", partial(by_slices, heads=viewed)),
    (
        "heads-without-transpose",
        partial(by_slices, heads=lambda t, each: t.view(len(t), each, -1, t.shape[-1] // each)),
    ),
    (
        "features-interleaved",
        partial(by_slices, heads=lambda t, each: torch.stack([t[..., j::each] for j in range(each)], 1)),
    ),
    (
        "features-interleaved",
        partial(by_slices, heads=lambda t, each: t.unflatten(-1, (-1, each)).permute(0, 3, 1, 2)),
    ),
    ("joined-without-transpose", partial(by_slices, join=lambda z: z.reshape(z.shape[0], z.shape[2], -1))),
    (
        "joined-without-transpose",
        partial(by_slices, join=lambda z: z.flatten(1).view(len(z), z.shape[2], -1)),
    ),
]

RIGHT = [by_head, by_slices, grouped, by_chunks, zeroed, batched]

UNLISTED = [
    ("[Ww]_V have changed places", lambda x, q, k, v, o, *sizes: by_slices(x, q, v, k, o, *sizes)),
    ("transposed", lambda x, q, k, v, o, *sizes: by_slices(x, q, k, v, o.T, *sizes)),
    ("cumsum", partial(by_slices, end=lambda s: torch.stack(s).cumsum(0))),
    ("stand below one another", partial(by_slices, end=torch.cat)),
    ("share of the last device", partial(by_slices, end=lambda s: s[-1])),
    ("d_k, not by its root", partial(by_slices, scale=lambda d, d_model, width: d)),
    ("divided by the number of devices", partial(by_slices, end=lambda s: torch.stack(s) / len(s))),
    ("overlap", lambda *given: _overlapping(*given)),
    ("made of heads", lambda *given: _swapped(*given)),
    ("counts 2 times", lambda *given: _first_twice(*given)),
    (
        "no weighted sum of its own",
        partial(by_slices, heads=lambda t, each: looped_split(t, each).roll(1, 3)),
    ),
    ("dot products are", partial(by_slices, scale=lambda d, d_model, width: 1.3 * math.sqrt(d))),
    ("multiplied by 0.9", partial(by_slices, join=lambda z: 0.9 * z.transpose(1, 2).flatten(2))),
    ("rows", lambda *given: _other_rows(*given)),
    ("returns a list|a list|things", partial(by_slices, end=tuple)),
    ("course's own", by_package),
]


def _columns(x, w_q, w_k, w_v, w_o, h, devices):
    concat = all_heads(x, w_q, w_k, w_v, h).transpose(1, 2).flatten(2)
    return torch.stack([concat @ part for part in w_o.chunk(devices, 1)])


def _input_cut(x, w_q, w_k, w_v, w_o, h, devices):
    shares = []
    for r, part in enumerate(x.chunk(devices, -1)):
        blocks = (w.chunk(devices, 0)[r].chunk(devices, 1)[r] for w in (w_q, w_k, w_v))
        q, k, v = (looped_split(part @ w, h // devices) for w in blocks)
        shares.append(attend(q, k, v).transpose(1, 2).flatten(2) @ w_o.chunk(devices, 0)[r])
    return torch.stack(shares)


def _h_heads(x, w_q, w_k, w_v, w_o, h, devices):
    shares = []
    for r in range(devices):
        q, k, v = (
            (x @ w.chunk(devices, 1)[r]).unflatten(-1, (h, -1)).transpose(1, 2) for w in (w_q, w_k, w_v)
        )
        shares.append(torch.cat(attend(q, k, v).unbind(1), -1) @ w_o.chunk(devices)[r])
    return torch.stack(shares)


def _overlapping(*given):
    each = contributions(*given[:-1])
    many = given[-2] // given[-1]
    return torch.stack([each[r : r + many].sum(0) for r in range(given[-1])])


def _swapped(*given):
    each = contributions(*given[:-1])[[1, *range(2, given[-2]), 0]]
    return each.unflatten(0, (given[-1], -1)).sum(1)


def _first_twice(*given):
    shares = grouped(*given)
    shares[0] += contributions(*given[:-1])[0]
    return shares


def _other_rows(*given):
    x, q, k, v, o, h, devices = given
    shares = [z @ (o[: z.shape[-1]] + o[-z.shape[-1] :]) for z in by_slices(*given, with_w_o=False)]
    return torch.stack(shares)
