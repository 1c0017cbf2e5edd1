"""Two ways in which the whole layer is written, with every step open to a slip: a loop, and einsum."""

from __future__ import annotations

import math

import numpy as np
import torch


def own_columns(x, w, i, d_k, h):
    return x @ w[:, i * d_k : (i + 1) * d_k]


def as_they_are(q, k, v, x):
    return q, k, v


def looped(
    x,
    w_q,
    w_k,
    w_v,
    w_o,
    h,
    mask=None,
    *,
    part=own_columns,
    order=as_they_are,
    compare=lambda q, k: q @ k.T,
    divisor=lambda d_k, d_model, h, n: math.sqrt(d_k),
    hide=lambda s, m: torch.where(m, s, torch.full_like(s, -math.inf)),
    soft=lambda s: (
        torch.exp(s - s.max(1, keepdim=True)[0]) / torch.exp(s - s.max(1, keepdim=True)[0]).sum(1, True)
    ),
    late=lambda w, m: w,
    mix=lambda w, q, k, v: w.mm(v),
    index=lambda i, h: (i, i, i),
    join=lambda heads: torch.cat(heads, 1),
    out=lambda concat, w_o, h, x: concat.mm(w_o),
):
    """One sentence after the other, one head after the other, matrices with two axes."""
    b, n, d_model = x.shape
    d_k = d_model // h
    result = []
    for s in range(b):
        heads = []
        for i in range(h):
            places = index(i, h)
            q, k, v = (part(x[s], w, p, d_k, h) for w, p in zip((w_q, w_k, w_v), places, strict=True))
            q, k, v = order(q, k, v, x[s, :, i * d_k : (i + 1) * d_k])
            scores = compare(q, k) / divisor(d_k, d_model, h, n)
            m = None if mask is None else mask.expand(b, h, n, n)[s, i]
            scores = scores if m is None else hide(scores, m)
            weights = soft(scores)
            weights = weights if m is None else late(weights, m)
            heads.append(mix(weights, q, k, v))
        result.append(out(join(heads), w_o, h, x[s]))
    return torch.stack(result)


def einsum_layer(
    x,
    w_q,
    w_k,
    w_v,
    w_o,
    h,
    mask=None,
    *,
    cut=lambda x, w, h: torch.einsum("bnd,dhk->bhnk", x, w.unflatten(1, (h, -1))),
    order=as_they_are,
    scores="bhqd,bhkd->bhqk",
    scale=lambda d_k, d_model, h, n: d_k**-0.5,
    hide=lambda s, m: s + torch.zeros(m.shape, dtype=s.dtype).masked_fill(m.logical_not(), -1e9),
    soft=lambda s: torch.softmax(s, dim=3),
    late=lambda w, m: w,
    mix=lambda w, q, k, v: torch.einsum("bhqk,bhkd->bhqd", w, v),
    join=lambda z: torch.einsum("bhnd->bnhd", z).flatten(2),
    out=lambda concat, w_o, h, x: torch.einsum("bqm,md->bqd", concat, w_o),
):
    """All heads at once, products named by their letters."""
    q, k, v = (cut(x, w, h) for w in (w_q, w_k, w_v))
    q, k, v = order(q, k, v, x.unflatten(2, (h, -1)).movedim(2, 1))
    d_model, n = x.shape[-1], x.shape[1]
    s = torch.einsum(scores, q, k) * scale(d_model // h, d_model, h, n)
    s = s if mask is None else hide(s, mask)
    weights = soft(s)
    weights = weights if mask is None else late(weights, mask)
    return out(join(mix(weights, q, k, v)), w_o, h, x)


def numpy_layer(
    x,
    w_q,
    w_k,
    w_v,
    w_o,
    h,
    mask=None,
    *,
    scale=lambda d_k, d_model, h, n: 1 / np.sqrt(d_k),
    axis=-1,
    hide=lambda s, m: np.where(m, s, -np.inf),
    turn=lambda w: w,
    split=lambda y, h: y.reshape(*y.shape[:2], h, -1).swapaxes(1, 2),
    merge=lambda z: z.swapaxes(1, 2).reshape(z.shape[0], z.shape[2], -1),
    w_out=lambda w: w,
    roles=(0, 1, 2),
):
    """Arrays in place of tensors."""
    x, *matrices, w_o = (t.numpy() for t in (x, w_q, w_k, w_v, w_o))
    matrices = [matrices[r] for r in roles]
    q, k, v = (split(x @ turn(w), h) for w in matrices)
    d_model = x.shape[-1]
    s = q @ k.swapaxes(-1, -2) * scale(d_model // h, d_model, h, x.shape[1])
    s = s if mask is None else hide(s, mask.numpy())
    s = np.exp(s - s.max(axis, keepdims=True))
    weights = s / s.sum(axis, keepdims=True)
    return torch.from_numpy((merge(weights @ v) @ w_out(w_o)).astype(x.dtype))
