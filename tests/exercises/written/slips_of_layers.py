"""Every known mistake of the whole layer, once in a loop and once with einsum or NumPy."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

from tests.exercises.written.layer_workbenches import einsum_layer, looped, numpy_layer, own_columns

INF = float("inf")


def both(id_, loop, other, bench=einsum_layer):
    return [(id_, partial(looped, **loop)), (id_, partial(bench, **other))]


def blocks(w_o, h):
    return list(w_o.split(w_o.shape[0] // h))


def split(y, h):
    return torch.stack(y.chunk(h, -1), 1)


def projected(x, w, h):
    return split(torch.matmul(x, w), h)


# --- behind the heads
BEHIND = [
    *both(
        "w_o-left-out",
        {"out": lambda c, w, h, x: c},
        {"w_out": lambda w: np.eye(len(w), dtype=w.dtype)},
        numpy_layer,
    ),
    *both("w_o-transposed", {"out": lambda c, w, h, x: F.linear(c, w)}, {"w_out": np.transpose}, numpy_layer),
    *both(
        "w_o-blocks-reversed",
        {"join": lambda heads: torch.cat(heads[::-1], 1)},
        {"out": lambda c, w, h, x: c @ torch.cat(blocks(w, h)[::-1])},
    ),
    *both(
        "w_o-first-block-for-all",
        {"out": lambda c, w, h, x: sum(part @ w[: len(w) // h] for part in c.chunk(h, 1))},
        {"out": lambda c, w, h, x: c @ blocks(w, h)[0].repeat(h, 1)},
    ),
    *both(
        "w_o-averaged",
        {
            "out": lambda c, w, h, x: torch.stack(
                [a @ p for a, p in zip(c.chunk(h, 1), blocks(w, h), strict=True)]
            ).mean(0)
        },
        {"out": lambda c, w, h, x: c / h @ w},
    ),
    *both(
        "w_o-twice",
        {"out": lambda c, w, h, x: torch.linalg.multi_dot([c, w, w])},
        {"out": lambda c, w, h, x: torch.einsum("bqm,md,de->bqe", c, w, w)},
    ),
    *both(
        "residual-added",
        {"out": lambda c, w, h, x: torch.addmm(x, c, w)},
        {"out": lambda c, w, h, x: sum([c @ w, x])},
    ),
    *both(
        "softmax-at-the-end",
        {"out": lambda c, w, h, x: F.softmax(c @ w, dim=1)},
        {"out": lambda c, w, h, x: (c @ w).exp() / (c @ w).exp().sum(2, keepdim=True)},
    ),
    *both(
        "layer-norm-at-the-end",
        {"out": lambda c, w, h, x: torch.nn.LayerNorm(len(w))(c @ w).detach()},
        {"out": lambda c, w, h, x: F.layer_norm(c @ w, (w.shape[1],))},
    ),
    *both(
        "w_o-blocks-moved",
        {"join": lambda heads: torch.cat([*heads[1:], heads[0]], 1)},
        {"out": lambda c, w, h, x: c @ torch.cat([*blocks(w, h)[-1:], *blocks(w, h)[:-1]])},
    ),
    *both(
        "output-scaled",
        {"out": lambda c, w, h, x: c @ w * (h / len(w)) ** 0.5},
        {"order": lambda q, k, v, x: (q, k, v / math.sqrt(v.shape[-1]))},
    ),
    *both(
        "output-relu",
        {"out": lambda c, w, h, x: torch.clamp(c @ w, min=0)},
        {"out": lambda c, w, h, x: F.relu(c @ w)},
    ),
    *both(
        "add-and-norm",
        {"out": lambda c, w, h, x: F.layer_norm(x + c @ w, x.shape[1:])},
        {"out": lambda c, w, h, x: torch.nn.LayerNorm(x.shape[2])(c @ w + x).detach()},
    ),
]

# --- masks
TRIL = torch.ones(9, 9, dtype=torch.bool).tril()


MASKS = [
    *both(
        "mask-transposed",
        {"hide": lambda s, m: s.masked_fill(m.T == 0, -INF).nan_to_num(neginf=-1e9)},
        {"hide": lambda s, m: s + ~m.mT * -1e9},
    ),
    *both(
        "mask-not-a-number",
        {"hide": lambda s, m: s + torch.tensor(-INF) * (~m).float()},
        {"hide": lambda s, m: s * m + m.logical_not() * -INF},
    ),
    *both(
        "mask-always-causal",
        {"hide": lambda s, m: s.masked_fill(torch.triu(torch.ones_like(s), 1) == 1, -INF)},
        {"hide": lambda s, m: torch.where(TRIL[: s.shape[2], : s.shape[3]], s, -1e9)},
    ),
    *both(
        "mask-and-causal",
        {"hide": lambda s, m: s.masked_fill(~m, -1e9).masked_fill(~TRIL[: len(s), : len(s)], -1e9)},
        {"hide": lambda s, m: s.masked_fill(~(m * TRIL[: s.shape[2], : s.shape[3]]), -1e9)},
    ),
    *both(
        "mask-large-after-softmax",
        {"hide": lambda s, m: s, "late": lambda w, m: torch.where(m, w, -1e9)},
        {"hide": lambda s, m: s, "late": lambda w, m: w.masked_fill(m == 0, -1e9)},
    ),
    *both(
        "mask-polarity-and-zero",
        {"hide": lambda s, m: torch.where(m, 0.0, s)},
        {"hide": lambda s, m: s * m.logical_not()},
    ),
    *both(
        "mask-small-negative",
        {"hide": lambda s, m: torch.where(m, s, -10.0)},
        {"hide": lambda s, m: s.masked_fill(m.logical_not(), -10)},
    ),
    *both(
        "mask-ignored", {"hide": lambda s, m: s}, {"hide": lambda s, m: np.where(m | True, s, 0)}, numpy_layer
    ),
    *both(
        "mask-polarity",
        {"hide": lambda s, m: torch.where(m, -INF, s)},
        {"hide": lambda s, m: s.masked_fill(m, -1e9)},
    ),
    *both(
        "mask-added",
        {"hide": lambda s, m: s.add(m)},
        {"hide": lambda s, m: s + m.astype(s.dtype)},
        numpy_layer,
    ),
    *both(
        "mask-zero-score",
        {"hide": lambda s, m: torch.where(m, s, 0.0)},
        {"hide": lambda s, m: np.where(m, s, 1e-9)},
        numpy_layer,
    ),
    *both(
        "mask-minus-one",
        {"hide": lambda s, m: torch.where(m, s, -1.0)},
        {"hide": lambda s, m: np.where(m, s, -1)},
        numpy_layer,
    ),
    *both(
        "mask-after-softmax",
        {"hide": lambda s, m: s, "late": lambda w, m: torch.where(m, w, 0.0)},
        {"hide": lambda s, m: s, "late": lambda w, m: w * m.float()},
    ),
    *both(
        "mask-polarity-after-softmax",
        {"hide": lambda s, m: s, "late": lambda w, m: torch.where(m, 0.0, w)},
        {"hide": lambda s, m: s, "late": lambda w, m: w * (~m)},
    ),
    *both(
        "mask-infinity-after-softmax",
        {"hide": lambda s, m: s, "late": lambda w, m: torch.where(m, w, -INF)},
        {"hide": lambda s, m: s, "late": lambda w, m: w.masked_fill(m.logical_not(), -INF)},
    ),
]


def only_the_first_head(x, w_q, w_k, w_v, w_o, h, mask=None):
    shares = []
    for i, (q, k, v, w) in enumerate(
        zip(*((x @ w).chunk(h, -1) for w in (w_q, w_k, w_v)), w_o.chunk(h), strict=True)
    ):
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None and i == 0:
            s = s.masked_fill(~(mask if mask.ndim == 2 else mask[:, 0]), -1e9)
        shares.append(s.softmax(-1) @ v @ w)
    return torch.stack(shares).sum(0)


def first_head_of_all(x, w_q, w_k, w_v, w_o, h, mask=None):
    q, k, v = (projected(x, w, h) for w in (w_q, w_k, w_v))
    s = q @ k.mT / math.sqrt(q.size(-1))
    if mask is not None:
        s[:, 0] = s[:, 0].masked_fill(~mask.expand(s.shape)[:, 0], -INF)
    return torch.cat((s.softmax(-1) @ v).unbind(1), -1) @ w_o


MASKS += [("mask-in-head-one-only", only_the_first_head), ("mask-in-head-one-only", first_head_of_all)]

# --- which head meets which
MEET = [
    *both(
        "keys-of-the-next-head",
        {"index": lambda i, h: (i, (i + 1) % h, i)},
        {"order": lambda q, k, v, x: (q, torch.cat([k[:, 1:], k[:, :1]], 1), v)},
    ),
    *both(
        "values-of-the-next-head",
        {"index": lambda i, h: (i, i, (i + 1) % h)},
        {"order": lambda q, k, v, x: (q, k, torch.cat([v[:, 1:], v[:, :1]], 1))},
    ),
    *both(
        "first-keys-for-all",
        {"index": lambda i, h: (i, 0, i)},
        {"scores": "bhqd,bgkd->bhqk", "order": lambda q, k, v, x: (q, k[:, :1], v)},
    ),
    *both(
        "first-values-for-all", {"index": lambda i, h: (i, i, 0)}, {"mix": lambda w, q, k, v: w @ v[:, :1]}
    ),
    *both(
        "first-queries-for-all",
        {"index": lambda i, h: (0, i, i)},
        {"order": lambda q, k, v, x: (q[:, :1].repeat(1, q.shape[1], 1, 1), k, v)},
    ),
    *both(
        "first-keys-and-values-for-all",
        {"index": lambda i, h: (i, 0, 0)},
        {"order": lambda q, k, v, x: (q, *(t[:, :1].expand_as(q) for t in (k, v)))},
    ),
    (
        "keys-averaged",
        partial(
            einsum_layer,
            order=lambda q, k, v, x: (q, sum(k.unbind(1)).div(k.shape[1])[:, None].expand_as(k), v),
        ),
    ),
    (
        "one-map-for-all",
        partial(einsum_layer, soft=lambda s: torch.stack([s.softmax(3).mean(1)] * s.shape[1], 1)),
    ),
]


def one_map(x, w_q, w_k, w_v, w_o, h, mask=None):
    maps, values = 0, []
    for q, k, v in zip(*((x @ w).chunk(h, -1) for w in (w_q, w_k, w_v)), strict=True):
        s = q @ k.mT / q.shape[-1] ** 0.5
        s = s if mask is None else s.masked_fill(~(mask if mask.ndim == 2 else mask[:, 0]), -1e9)
        maps = maps + s.softmax(-1) / h
        values.append(v)
    return torch.cat([maps @ v for v in values], -1) @ w_o


def mean_keys(x, w_q, w_k, w_v, w_o, h, mask=None):
    d_k = x.shape[-1] // h
    shared = w_k.reshape(-1, h, d_k).mean(1)
    return looped(
        x,
        w_q,
        shared,
        w_v,
        w_o,
        h,
        mask,
        part=lambda x, w, i, d, h: x @ w[:, -d:] if w.shape[1] == d else own_columns(x, w, i, d, h),
    )


MEET += [("one-map-for-all", one_map), ("keys-averaged", mean_keys)]


def viewed(which):
    def order(q, k, v, x):
        parts = [q, k, v]
        y = parts[which]
        b, h, n, d_k = y.shape
        parts[which] = y.transpose(1, 2).reshape(b, n, h * d_k).reshape(b, h, n, d_k)
        return parts

    return order


def view_of_one(name):
    def layer(x, w_q, w_k, w_v, w_o, h, mask=None):
        b, n, d = x.shape
        parts = {"q": x @ w_q, "k": x @ w_k, "v": x @ w_v}
        heads = {
            key: y.view(b, h, n, d // h) if key == name else y.view(b, n, h, d // h).transpose(1, 2)
            for key, y in parts.items()
        }
        out = F.scaled_dot_product_attention(heads["q"], heads["k"], heads["v"], attn_mask=mask)
        return out.transpose(1, 2).reshape(b, n, d) @ w_o

    return layer


for name, id_ in enumerate(("queries-cut-by-view", "keys-cut-by-view", "values-cut-by-view")):
    MEET += [(id_, partial(einsum_layer, order=viewed(name))), (id_, view_of_one("qkv"[name]))]


def not_moved(x, w_q, w_k, w_v, w_o, h, mask=None, *, join=lambda z: z.flatten(2)):
    q, k, v = ((x @ w).view(*x.shape[:2], h, -1) for w in (w_q, w_k, w_v))
    return join(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)) @ w_o


def each_token_alone(x, w_q, w_k, w_v, w_o, h, mask=None, *, moved=False):
    q, k, v = (torch.stack((x @ w).chunk(h, -1), -2) for w in (w_q, w_k, w_v))
    s = torch.einsum("bnhd,bngd->bnhg", q, k) / q.shape[-1] ** 0.5
    s = s if mask is None else s.masked_fill(~mask, -INF)
    out = torch.einsum("bnhg,bngd->bnhd", s.softmax(-1), v)
    return (out.transpose(1, 2) if moved else out).reshape(x.shape) @ w_o


MEET += [
    ("heads-not-moved", not_moved),
    ("heads-not-moved", each_token_alone),
    (
        "heads-moved-at-the-end-only",
        partial(not_moved, join=lambda z: z.permute(0, 2, 1, 3).flatten(1).view(z.shape[0], z.shape[1], -1)),
    ),
    ("heads-moved-at-the-end-only", partial(each_token_alone, moved=True)),
]

MEET += [
    *both(
        "keys-of-the-previous-head",
        {"index": lambda i, h: (i, i - 1 if i else h - 1, i)},
        {"order": lambda q, k, v, x: (q, torch.cat([k[:, -1:], k[:, :-1]], 1), v)},
    ),
    *both(
        "values-of-the-previous-head",
        {"index": lambda i, h: (i, i, (i + h - 1) % h)},
        {"order": lambda q, k, v, x: (q, k, torch.cat([v[:, -1:], v[:, :-1]], 1))},
    ),
    (
        "scores-added-over-heads",
        partial(
            einsum_layer,
            scores="bgqd,bgkd->bqk",
            hide=lambda s, m: hidden_map(s, m),
            soft=lambda s: one_for_all(s),
        ),
    ),
]


def hidden_map(s, m):
    return s.masked_fill(~(m if m.ndim == 2 else m[:, 0]), -1e9)


def one_for_all(s):
    return s.softmax(-1)[:, None]


def products_of_full_width(x, w_q, w_k, w_v, w_o, h, mask=None):
    s = (x @ w_q) @ (x @ w_k).mT / (x.shape[-1] / h) ** 0.5
    s = s if mask is None else hidden_map(s, mask)
    return torch.cat([s.softmax(-1) @ v for v in (x @ w_v).chunk(h, -1)], -1) @ w_o


MEET += [("scores-added-over-heads", products_of_full_width)]

# --- how matrices and slices are taken
TAKE = [
    *both(
        "overlapping-slices",
        {"part": lambda x, w, i, d_k, h: (x @ w)[:, i : i + d_k]},
        {"cut": lambda x, w, h: (x @ w).unfold(2, x.shape[2] // h, 1)[:, :, :h].transpose(1, 2)},
    ),
    *both(
        "projections-transposed",
        {"part": lambda x, w, i, d_k, h: x @ w[i * d_k : (i + 1) * d_k].T},
        {"turn": np.transpose},
        numpy_layer,
    ),
    *both(
        "input-sliced",
        {"part": lambda x, w, i, d, h: x[:, i * d : i * d + d] @ w[i * d : i * d + d, i * d : i * d + d]},
        {
            "cut": lambda x, w, h: torch.stack(
                [
                    part
                    @ w[i * part.shape[2] : (i + 1) * part.shape[2]][
                        :, i * part.shape[2] : (i + 1) * part.shape[2]
                    ]
                    for i, part in enumerate(x.chunk(h, 2))
                ],
                1,
            )
        },
    ),
    *both(
        "view-without-transpose",
        {"part": lambda x, w, i, d_k, h: (x @ w).view(h, -1, d_k)[i]},
        {"split": lambda y, h: y.reshape(y.shape[0], h, y.shape[1], -1)},
        numpy_layer,
    ),
    *both(
        "interleaved",
        {"part": lambda x, w, i, d_k, h: x @ w[:, i::h]},
        {"split": lambda y, h: np.stack([y[..., i::h] for i in range(h)], 1)},
        numpy_layer,
    ),
    *both(
        "first-slice-for-all",
        {"part": lambda x, w, i, d_k, h: x @ w[:, :d_k]},
        {"split": lambda y, h: np.stack([y[..., : y.shape[-1] // h]] * h, 1)},
        numpy_layer,
    ),
    *both(
        "matrices-reshaped",
        {"part": lambda x, w, i, d_k, h: x @ w.reshape(h, len(w), d_k)[i]},
        {"cut": lambda x, w, h: torch.einsum("bnd,hdk->bhnk", x, w.view(h, w.shape[0], -1))},
    ),
    *both(
        "projected-twice",
        {"part": lambda x, w, i, d_k, h: own_columns(x @ w, w, i, d_k, h)},
        {"turn": lambda w: w @ w},
        numpy_layer,
    ),
]


def undivided(x, w_q, w_k, w_v, w_o, h, mask=None):
    mask = mask if mask is None or mask.ndim == 2 else mask[:, 0]
    return F.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v, attn_mask=mask) @ w_o


def one_wide_head(x, w_q, w_k, w_v, w_o, h, mask=None):
    return einsum_layer(x, w_q, w_k, w_v, w_o, 1, mask)


def h_wide(x, w_q, w_k, w_v, w_o, h, mask=None):
    return fused(*(torch.stack((x @ w).split(h, -1), 1) for w in (w_q, w_k, w_v)), mask) @ w_o


def fused(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)


def exchanged_sizes(x, w_q, w_k, w_v, w_o, h, mask=None):
    b, n, d_model = x.shape
    q, k, v = ((x @ w).view(b, n, d_model // h, h).transpose(1, 2) for w in (w_q, w_k, w_v))
    return fused(q, k, v, mask) @ w_o


def turned(which):
    def layer(x, w_q, w_k, w_v, w_o, h, mask=None):
        w = [w_q, w_k, w_v]
        w[which] = w[which].T
        return fused(*(split(x @ part, h) for part in w), mask) @ w_o

    return layer


def as_linear(name):
    def layer(x, w_q, w_k, w_v, w_o, h, mask=None):
        w = {"q": w_q.T, "k": w_k.T, "v": w_v.T}
        w[name] = w[name].T
        return summed_shares(*(F.linear(x, part) for part in w.values()), w_o, h, mask)

    return layer


def summed_shares(q, k, v, w_o, h, mask):
    q, k, v = (split(t, h) for t in (q, k, v))
    s = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
    s = s if mask is None else s.masked_fill(~mask, -INF)
    return torch.einsum("bhqk,bhkd,hdm->bqm", s.softmax(-1), v, w_o.unflatten(0, (h, -1)))


TAKE += [
    ("heads-not-split", undivided),
    ("heads-not-split", one_wide_head),
    ("h-and-d_k-swapped", h_wide),
    ("h-and-d_k-swapped", exchanged_sizes),
]
for k, id_ in enumerate(("query-matrix-transposed", "key-matrix-transposed", "value-matrix-transposed")):
    TAKE += [(id_, turned(k)), (id_, as_linear("qkv"[k]))]


def both_turned(x, w_q, w_k, w_v, w_o, h, mask=None):
    return fused(*(split(x @ w, h) for w in (w_q.T, w_k.T, w_v)), mask) @ w_o


def linear_for_two(x, w_q, w_k, w_v, w_o, h, mask=None):
    return summed_shares(F.linear(x, w_q), F.linear(x, w_k), x @ w_v, w_o, h, mask)


def thirds_of_each_head(x, w_q, w_k, w_v, w_o, h, mask=None):
    b, n, d_model = x.shape
    qkv = (x @ torch.cat([w_q, w_k, w_v], 1)).view(b, n, h, 3, d_model // h)
    return fused(*(part.transpose(1, 2) for part in qkv.unbind(3)), mask) @ w_o


def chunks_of_each_head(x, w_q, w_k, w_v, w_o, h, mask=None):
    qkv = torch.cat([x @ w for w in (w_q, w_k, w_v)], -1)
    q, k, v = zip(*(part.chunk(3, -1) for part in qkv.chunk(h, -1)), strict=True)
    return summed_shares(*(torch.cat(t, -1) for t in (q, k, v)), w_o, h, mask)


def one_column_late(x, w, i, d_k, h):
    return torch.cat([x @ w[:, 1:], x @ w[:, :1]], 1)[:, i * d_k : (i + 1) * d_k]


TAKE += [
    ("query-and-key-matrices-transposed", both_turned),
    ("query-and-key-matrices-transposed", linear_for_two),
    ("fused-product-cut-otherwise", thirds_of_each_head),
    ("fused-product-cut-otherwise", chunks_of_each_head),
    *both(
        "columns-shifted",
        {"part": one_column_late},
        {"cut": lambda x, w, h: split((x @ w)[..., [*range(1, len(w)), 0]], h)},
    ),
]

# --- scores and scale
SCALES = {
    "no-scale": lambda d_k, d_model, h, n: 1,
    "scale-sqrt-d_model": lambda d_k, d_model, h, n: d_model**0.5,
    "scale-d_k": lambda d_k, d_model, h, n: d_k,
    "scale-d_model": lambda d_k, d_model, h, n: d_model,
    "scale-multiplied": lambda d_k, d_model, h, n: d_k**-0.5,
    "scale-sqrt-h": lambda d_k, d_model, h, n: h**0.5,
    "scale-sqrt-n": lambda d_k, d_model, h, n: n**0.5,
    "scale-fourth-root": lambda d_k, d_model, h, n: d_k**0.25,
    "scale-h": lambda d_k, d_model, h, n: h,
    "scale-n": lambda d_k, d_model, h, n: n,
    "scale-half-d_k": lambda d_k, d_model, h, n: d_k * 0.5,
    "scale-twice-d_k": lambda d_k, d_model, h, n: 2 * d_k,
    "scale-whole-root": lambda d_k, d_model, h, n: int(d_k**0.5),
}


def divided(fn):
    return lambda *sizes: 1 / fn(*sizes)


SCALED = [
    pair
    for id_, divisor in SCALES.items()
    for pair in (
        (id_, partial(looped, divisor=divisor)),
        (id_, partial(einsum_layer, scale=divided(divisor))),
        (id_, partial(numpy_layer, scale=divided(divisor))),
    )
]


def eye(s):
    return torch.eye(s.shape[-1], dtype=torch.bool)


SOFT = [
    *both(
        "causal",
        {"soft": lambda s: s.masked_fill(~TRIL[: len(s), : len(s)], -INF).softmax(1)},
        {"soft": lambda s: torch.where(TRIL[: s.shape[2], : s.shape[3]], s, -INF).softmax(3)},
    ),
    *both(
        "anti-causal",
        {"soft": lambda s: s.masked_fill(torch.ones_like(s).tril(-1).bool(), -INF).softmax(1)},
        {"soft": lambda s: torch.where(TRIL[: s.shape[2], : s.shape[3]].T, s, -INF).softmax(3)},
    ),
    *both(
        "itself-hidden",
        {"soft": lambda s: s.fill_diagonal_(-INF).softmax(1)},
        {"soft": lambda s: s.masked_fill(eye(s), -INF).softmax(3)},
    ),
    *both(
        "opposite-scores",
        {"compare": lambda q, k: -q @ k.T},
        {"scale": lambda d_k, d_model, h, n: -(d_k**-0.5)},
    ),
    *both(
        "values-added",
        {"mix": lambda w, q, k, v: torch.addmm(v, w, v)},
        {"mix": lambda w, q, k, v: (w + torch.eye(w.shape[3])) @ v},
    ),
    *both(
        "scaled-after-softmax",
        {
            "divisor": lambda *sizes: 1,
            "soft": lambda s: s.softmax(1),
            "mix": lambda w, q, k, v: w @ v / q.shape[1] ** 0.5,
        },
        {"scale": lambda *sizes: 1, "mix": lambda w, q, k, v: torch.matmul(w / q.shape[3] ** 0.5, v)},
    ),
    *both("over-the-queries", {"soft": lambda s: F.softmax(s, 0)}, {"axis": 2}, numpy_layer),
    ("over-the-heads", partial(numpy_layer, axis=1)),
    ("over-the-heads", partial(einsum_layer, soft=lambda s: s.exp() / s.exp().sum(1, keepdim=True))),
    ("over-the-sentences", partial(numpy_layer, axis=0)),
    (
        "over-the-sentences",
        partial(einsum_layer, hide=lambda s, m: s.masked_fill(~m, -1e9), soft=lambda s: F.softmax(s, 0)),
    ),
    *both("over-everything", {"soft": lambda s: s.exp() / s.exp().sum()}, {"axis": (2, 3)}, numpy_layer),
    *both("no-softmax", {"soft": lambda s: s}, {"soft": torch.clone}),
    *both("sigmoid", {"soft": lambda s: 1 / (1 + torch.exp(-s))}, {"soft": torch.sigmoid}),
    *both(
        "softmax-twice",
        {"soft": lambda s: F.softmax(F.softmax(s, 1), 1)},
        {"soft": lambda s: torch.softmax(torch.softmax(s, 3), 3)},
    ),
]

# --- roles
ROLES = [
    *both("queries-and-keys-swapped", {"compare": lambda q, k: k @ q.T}, {"roles": (1, 0, 2)}, numpy_layer),
    *both(
        "keys-and-values-swapped", {"order": lambda q, k, v, x: (q, v, k)}, {"roles": (0, 2, 1)}, numpy_layer
    ),
    *both(
        "queries-and-values-swapped",
        {"order": lambda q, k, v, x: (v, k, q)},
        {"roles": (2, 1, 0)},
        numpy_layer,
    ),
    *both("keys-for-values", {"mix": lambda w, q, k, v: w @ k}, {"roles": (0, 1, 1)}, numpy_layer),
    *both(
        "values-for-keys",
        {"compare": lambda q, k: q @ k.T, "order": lambda q, k, v, x: (q, v, v)},
        {"roles": (0, 2, 2)},
        numpy_layer,
    ),
    *both("queries-for-keys", {"compare": lambda q, k: q @ q.T}, {"roles": (0, 0, 2)}, numpy_layer),
    *both("keys-for-queries", {"compare": lambda q, k: k @ k.T}, {"roles": (1, 1, 2)}, numpy_layer),
    *both("queries-for-values", {"mix": lambda w, q, k, v: w @ q}, {"roles": (0, 1, 0)}, numpy_layer),
    *both(
        "values-not-projected",
        {"order": lambda q, k, v, x: (q, k, x)},
        {"order": lambda q, k, v, x: (q, k, x + 0 * v)},
    ),
    *both(
        "keys-not-projected",
        {"order": lambda q, k, v, x: (q, x, v)},
        {"order": lambda q, k, v, x: (q, x * 1, v)},
    ),
    *both(
        "queries-not-projected",
        {"order": lambda q, k, v, x: (x, k, v)},
        {"order": lambda q, k, v, x: (x.clone(), k, v)},
    ),
    *both(
        "nothing-projected",
        {"part": lambda x, w, i, d_k, h: x[:, i * d_k : (i + 1) * d_k]},
        {"cut": lambda x, w, h: split(x, h)},
    ),
    *both(
        "weights-not-used",
        {"mix": lambda w, q, k, v: v.mean(0, keepdim=True).repeat(len(v), 1)},
        {"mix": lambda w, q, k, v: torch.full_like(w, 1 / w.shape[3]) @ v},
    ),
    *both(
        "weights-transposed",
        {"mix": lambda w, q, k, v: w.T @ v},
        {"mix": lambda w, q, k, v: torch.einsum("bhkq,bhkd->bhqd", w, v)},
    ),
    *both(
        "values-alone",
        {"mix": lambda w, q, k, v: v},
        {"mix": lambda w, q, k, v: torch.einsum("bhkd->bhkd", v)},
    ),
]


def chain(x, w_q, w_k, w_v, w_o, h, mask=None):
    x = x @ w_q
    q = x
    x = x @ w_k
    k = x
    x = x @ w_v
    return summed_shares(q, k, x, w_o, h, mask)


def overwriting(x, w_q, w_k, w_v, w_o, h, mask=None):
    parts = []
    for w in (w_q, w_k, w_v):
        x = torch.matmul(x, w)
        parts.append(split(x, h))
    return fused(*parts, mask) @ w_o


def last_two(x, w_q, w_k, w_o, w_v, h, mask=None):
    return fused(*(split(x @ w, h) for w in (w_q, w_k, w_v)), mask) @ w_o


WHOLE = [
    ("projected-in-a-chain", chain),
    ("projected-in-a-chain", overwriting),
    ("w_v-and-w_o-exchanged", last_two),
    ("w_v-and-w_o-exchanged", lambda x, a, b, c, d, h, m=None: summed_shares(x @ a, x @ b, x @ d, c, h, m)),
]

# --- putting heads together
JOIN = [
    *both(
        "merge-without-transpose",
        {"join": torch.stack, "out": lambda z, w, h, x: z.reshape(len(x), -1) @ w},
        {"merge": lambda z: z.reshape(z.shape[0], z.shape[2], -1)},
        numpy_layer,
    ),
    *both(
        "merge-interleaved",
        {"join": lambda heads: torch.stack(heads, -1).flatten(1)},
        {"merge": lambda z: z.transpose(0, 2, 3, 1).reshape(z.shape[0], z.shape[2], -1)},
        numpy_layer,
    ),
    *both(
        "last-head-for-all",
        {"join": lambda heads: heads[-1].repeat(1, len(heads))},
        {"merge": lambda z: np.concatenate([z[:, -1]] * z.shape[1], -1)},
        numpy_layer,
    ),
    *both(
        "only-first-head-kept",
        {"join": lambda heads: F.pad(heads[0], (0, heads[0].shape[1] * (len(heads) - 1)))},
        {"out": lambda c, w, h, x: c[..., : len(w) // h] @ w[: len(w) // h]},
    ),
    *both(
        "only-last-head-kept",
        {"out": lambda c, w, h, x: c[:, -(len(w) // h) :] @ w[-(len(w) // h) :]},
        {"join": lambda z: F.pad(z[:, -1], (z.shape[3] * (z.shape[1] - 1), 0))},
    ),
    *both(
        "sum-in-every-place",
        {"join": lambda heads: torch.cat([sum(heads)] * len(heads), 1)},
        {"join": lambda z: z.sum(1).tile(1, 1, z.shape[1])},
    ),
    *both(
        "mean-in-every-place",
        {"join": lambda heads: torch.stack(heads).mean(0).tile(1, len(heads))},
        {"join": lambda z: torch.cat([z.mean(1)] * z.shape[1], 2)},
    ),
]


def folded_wrongly(x, w_q, w_k, w_v, w_o, h, mask=None):
    b, n, d = x.shape
    z = F.scaled_dot_product_attention(*(split(x @ w, h) for w in (w_q, w_k, w_v)), attn_mask=mask)
    z = z.reshape(b * h, n, d // h).view(h, b, n, d // h)
    return z.permute(1, 2, 0, 3).reshape(b, n, d) @ w_o


def folded_in_another_way(x, w_q, w_k, w_v, w_o, h, mask=None):
    z = einsum_layer(x, w_q, w_k, w_v, torch.eye(len(w_o), dtype=x.dtype), h, mask)
    flat = split(z, h).flatten(0, 1)
    return torch.cat(flat.chunk(h), -1) @ w_o


def stacked_in_front(x, w_q, w_k, w_v, w_o, h, mask=None):
    z = F.scaled_dot_product_attention(*(split(x @ w, h) for w in (w_q, w_k, w_v)), attn_mask=mask)
    return torch.stack(z.unbind(1)).view(x.shape) @ w_o


def joined_in_front(x, w_q, w_k, w_v, w_o, h, mask=None):
    z = einsum_layer(x, w_q, w_k, w_v, torch.eye(len(w_o), dtype=x.dtype), h, mask)
    return torch.cat(z.chunk(h, -1), 0).reshape(x.shape) @ w_o


def turned_round(x, w_q, w_k, w_v, w_o, h, mask=None):
    b, n, d = x.shape
    z = F.scaled_dot_product_attention(*(split(x @ w, h) for w in (w_q, w_k, w_v)), attn_mask=mask)
    z = z.permute(1, 0, 2, 3).reshape(h * b, n, d // h)
    return z.view(b, h, n, d // h).transpose(1, 2).reshape(b, n, d) @ w_o


def concatenated_and_viewed(x, w_q, w_k, w_v, w_o, h, mask=None):
    z = einsum_layer(x, w_q, w_k, w_v, torch.eye(len(w_o), dtype=x.dtype), h, mask)
    flat = torch.cat(z.chunk(h, -1)).view(len(x), h, x.shape[1], -1)
    return torch.cat(flat.unbind(1), -1) @ w_o


def adding(heads):
    total, kept = 0, []
    for z in heads:
        total = total + z
        kept.append(total)
    return torch.cat(kept, 1)


def every_third(x, w_q, w_k, w_v, w_o, h, mask=None):
    out = torch.zeros_like(x)
    for i in range(h):
        q, k, v = (x @ w[:, i::h] for w in (w_q, w_k, w_v))
        m = mask if mask is None or mask.ndim == 2 else mask.expand(-1, h, -1, -1)[:, i]
        out[..., i::h] = F.scaled_dot_product_attention(q, k, v, attn_mask=m)
    return out @ w_o


def d_k_in_front_of_h(x, w_q, w_k, w_v, w_o, h, mask=None):
    b, n, d = x.shape
    q, k, v = ((x @ w).view(b, n, d // h, h).permute(0, 3, 1, 2) for w in (w_q, w_k, w_v))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).permute(0, 2, 3, 1).reshape(b, n, d) @ w_o


JOIN += [
    ("heads-interleaved", every_third),
    ("heads-interleaved", d_k_in_front_of_h),
    ("heads-and-batch-swapped", turned_round),
    ("heads-and-batch-swapped", concatenated_and_viewed),
    *both(
        "heads-added-up-so-far",
        {"join": adding},
        {"join": lambda z: torch.cumsum(z, 1).transpose(1, 2).flatten(2)},
    ),
    ("batch-and-heads-swapped", folded_wrongly),
    ("batch-and-heads-swapped", folded_in_another_way),
    ("heads-in-front-reshaped", stacked_in_front),
    ("heads-in-front-reshaped", joined_in_front),
]

SLIPS = [*BEHIND, *MASKS, *MEET, *TAKE, *SCALED, *SOFT, *ROLES, *WHOLE, *JOIN]
