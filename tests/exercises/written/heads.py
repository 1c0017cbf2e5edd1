"""Four ways to write all heads, each with exchangeable steps, and the steps that are numbers or matrices."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F


def looped(
    x,
    w_q,
    w_k,
    w_v,
    h,
    *,
    scale=lambda d_k, d_model, h, n: math.sqrt(d_k),
    which=lambda i, h: (i, i, i),
    matrices=lambda h, *w: w,
    take=lambda y, i, d_k, h: y[..., i * d_k : (i + 1) * d_k],
    weigh=lambda s: s.softmax(dim=-1),
    mix=lambda a, v: a @ v,
    join=lambda heads: torch.cat(heads, dim=-1),
):
    """torch, one head after the other: slices of the projections in a list, then concat."""
    d_k, heads = x.shape[-1] // h, []
    projections = [x @ w for w in matrices(h, w_q, w_k, w_v)]
    for i in range(h):
        q, k, v = (take(y, j, d_k, h) for y, j in zip(projections, which(i, h), strict=True))
        scores = q @ k.transpose(1, 2) / scale(d_k, x.shape[-1], h, x.shape[1])
        heads.append(mix(weigh(scores), v))
    return join(heads)


def softened(s, axis=-1):
    powers = np.exp(s - s.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def numpied(
    x,
    w_q,
    w_k,
    w_v,
    h,
    *,
    scale=lambda d_k, d_model, h, n: math.sqrt(d_k),
    which=lambda i, h: (i, i, i),
    matrices=lambda h, *w: w,
    take=lambda y, i, d_k, h: np.split(y, h, axis=2)[i],
    weigh=softened,
    mix=np.matmul,
    join=lambda heads: np.concatenate(heads, axis=2),
):
    """NumPy, one head after the other: columns of the matrices first, softmax by hand."""
    heads = []
    matrices = [w.numpy() for w in matrices(h, w_q, w_k, w_v)]
    for i in range(h):
        d_k = x.shape[2] // h
        at = which(i, h)
        q, k, v = (
            take(np.einsum("bnd,de->bne", x.numpy(), w), j, d_k, h) for w, j in zip(matrices, at, strict=True)
        )
        scores = np.einsum("bqd,bkd->bqk", q, k) / scale(d_k, x.shape[2], h, x.shape[1])
        heads.append(mix(weigh(scores), v))
    return torch.from_numpy(np.ascontiguousarray(join(heads))).to(x.dtype)


def einsummed(
    x,
    w_q,
    w_k,
    w_v,
    h,
    *,
    scale=lambda d_k, d_model, h, n: d_k**0.5,
    which=lambda i, h: (i, i, i),
    matrices=lambda h, *w: w,
    cut=lambda y, h: y.unflatten(2, (h, -1)).permute(0, 2, 1, 3),
    weigh=lambda s: F.softmax(s, dim=3),
    mix=lambda a, v: torch.einsum("bhqk,bhkd->bhqd", a, v),
    join=lambda z: z.permute(0, 2, 1, 3).flatten(2),
):
    """einsum, all heads at once."""
    parts = [cut(torch.einsum("bnd,de->bne", x, w), h) for w in matrices(h, w_q, w_k, w_v)]
    order = list(zip(*(which(i, h) for i in range(h)), strict=True))
    if order[0] != tuple(range(h)) or len(set(order)) > 1:
        parts = [part[:, list(heads)] for part, heads in zip(parts, order, strict=True)]
    q, k, v = parts
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k)
    return join(mix(weigh(scores / scale(x.shape[2] // h, x.shape[2], h, x.shape[1])), v))


def folded(
    x,
    w_q,
    w_k,
    w_v,
    h,
    *,
    scale=lambda d_k, d_model, h, n: np.sqrt(d_k),
    which=lambda i, h: (i, i, i),
    matrices=lambda h, *w: w,
    fold=lambda y, h: y.view(*y.shape[:2], h, -1).transpose(1, 2),
    weigh=lambda s: torch.softmax(s, dim=2),
    mix=torch.bmm,
    unfold=lambda z: z.transpose(1, 2).contiguous().view(z.shape[0], z.shape[2], -1),
):
    """Sentences and heads folded into one axis, `torch.bmm`, and unfolded again."""
    b, n, d_model = x.shape
    folds = []
    for place, w in enumerate(matrices(h, w_q, w_k, w_v)):
        heads = fold(F.linear(x, w.T), h)
        moved = [which(i, h)[place] for i in range(h)]
        heads = heads if moved == list(range(h)) else torch.stack([heads[:, i] for i in moved], 1)
        folds.append(heads.reshape(-1, *heads.shape[2:]))
    q, k, v = folds
    scores = torch.baddbmm(
        torch.zeros(()).to(x.dtype), q, k.mT, beta=0, alpha=1 / float(scale(d_model // h, d_model, h, n))
    )
    z = mix(weigh(scores), v)
    return unfold(z.view(b, -1, *z.shape[1:]))


# Divisors by size.
SCALES: dict[str, Callable] = {
    "no-scale": lambda d_k, d_model, h, n: 1,
    "scale-sqrt-d_model": lambda d_k, d_model, h, n: math.sqrt(d_model),
    "scale-d_k": lambda d_k, d_model, h, n: d_k,
    "scale-d_model": lambda d_k, d_model, h, n: d_model,
    "scale-multiplied": lambda d_k, d_model, h, n: d_k**-0.5,
    "scale-sqrt-h": lambda d_k, d_model, h, n: h**0.5,
    "scale-sqrt-n": lambda d_k, d_model, h, n: n**0.5,
    "scale-fourth-root": lambda d_k, d_model, h, n: d_k**0.25,
    "scale-h": lambda d_k, d_model, h, n: h,
    "scale-n": lambda d_k, d_model, h, n: n,
    "scale-half-d_k": lambda d_k, d_model, h, n: d_k * 0.5,
    "scale-twice-d_k": lambda d_k, d_model, h, n: 1 / (d_k**-1 / 2),
    "scale-whole-root": lambda d_k, d_model, h, n: int(math.sqrt(d_k)),
    "opposite-scores": lambda d_k, d_model, h, n: -(d_k**0.5),
}

# The heads whose queries, keys and values head i works with.
WHICH: dict[str, Callable] = {
    "keys-of-the-next-head": lambda i, h: (i, (i + 1) % h, i),
    "keys-of-the-previous-head": lambda i, h: (i, i - 1 if i else h - 1, i),
    "values-of-the-previous-head": lambda i, h: (i, i, (i + h - 1) % h),
    "values-of-the-next-head": lambda i, h: (i, i, (i + 1) % h),
    "first-keys-for-all": lambda i, h: (i, 0, i),
    "first-values-for-all": lambda i, h: (i, i, 0),
    "first-queries-for-all": lambda i, h: (0, i, i),
    "first-keys-and-values-for-all": lambda i, h: (i, 0, 0),
    "first-slice-for-all": lambda i, h: (0, 0, 0),
    "heads-reversed": lambda i, h: (h - 1 - i,) * 3,
    "heads-in-wrong-places": lambda i, h: ((i - 1) % h,) * 3,
    "last-head-for-all": lambda i, h: (h - 1,) * 3,
}


def one(w):
    return torch.eye(len(w), dtype=w.dtype)


def diagonal_blocks(h, w):
    out, d_k = torch.zeros_like(w), len(w) // h
    for i in range(0, len(w), d_k):
        out[i : i + d_k, i : i + d_k] = w[i : i + d_k, i : i + d_k]
    return out


def shifted_columns(h, w):
    d_k = w.shape[1] // h
    return torch.cat([w[:, i : i + d_k] for i in range(h)], 1)


def cut_in_each_head(h, fused):
    d_k = fused.shape[0] // h
    blocks = fused.split(d_k, dim=1)
    return [torch.cat(blocks[i::3], 1) for i in range(3)]


# The matrices that are used for queries, keys and values.
MATRICES: dict[str, Callable] = {
    "queries-and-keys-swapped": lambda h, w_q, w_k, w_v: (w_k, w_q, w_v),
    "keys-and-values-swapped": lambda h, w_q, w_k, w_v: (w_q, w_v, w_k),
    "queries-and-values-swapped": lambda h, w_q, w_k, w_v: (w_v, w_k, w_q),
    "keys-for-values": lambda h, w_q, w_k, w_v: (w_q, w_k, w_k),
    "queries-for-keys": lambda h, w_q, w_k, w_v: (w_q, w_q, w_v),
    "keys-for-queries": lambda h, w_q, w_k, w_v: (w_k, w_k, w_v),
    "queries-for-values": lambda h, w_q, w_k, w_v: (w_q, w_k, w_q),
    "values-not-projected": lambda h, w_q, w_k, w_v: (w_q, w_k, one(w_v)),
    "keys-not-projected": lambda h, w_q, w_k, w_v: (w_q, one(w_k), w_v),
    "queries-not-projected": lambda h, w_q, w_k, w_v: (one(w_q), w_k, w_v),
    "nothing-projected": lambda h, w_q, w_k, w_v: (one(w_q),) * 3,
    "projections-transposed": lambda h, *w: [m.T for m in w],
    "query-matrix-transposed": lambda h, w_q, w_k, w_v: (w_q.T, w_k, w_v),
    "key-matrix-transposed": lambda h, w_q, w_k, w_v: (w_q, w_k.T, w_v),
    "value-matrix-transposed": lambda h, w_q, w_k, w_v: (w_q, w_k, w_v.T),
    "query-and-key-matrices-transposed": lambda h, w_q, w_k, w_v: (w_q.T, w_k.T, w_v),
    "columns-shifted": lambda h, *w: [torch.cat([m[:, 1:], m[:, :1]], 1) for m in w],
    "fused-product-cut-otherwise": lambda h, *w: cut_in_each_head(h, torch.cat(w, 1)),
    "values-for-keys": lambda h, w_q, w_k, w_v: (w_q, w_v, w_v),
    "projected-twice": lambda h, *w: [m @ m for m in w],
    "matrices-reshaped": lambda h, *w: [torch.cat(m.reshape(h, len(m), -1).unbind(), -1) for m in w],
    "input-sliced": lambda h, *w: [diagonal_blocks(h, m) for m in w],
    "interleaved": lambda h, *w: [torch.cat([m[:, i::h] for i in range(h)], 1) for m in w],
    "overlapping-slices": lambda h, *w: [shifted_columns(h, m) for m in w],
    "keys-averaged": lambda h, w_q, w_k, w_v: (w_q, sum(w_k.chunk(h, 1)).repeat(1, h) / h, w_v),
}


def hidden(s, above=None):
    """Scores with the diagonal (or what lies above it) at -inf."""
    place = torch.ones(s.shape[-2:], dtype=torch.bool)
    return s.masked_fill(place.triu(1) if above else torch.eye(len(place), dtype=torch.bool), -torch.inf)
