"""content_bias as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch


def looped(
    w_k,
    b_q,
    h,
    *,
    columns=lambda i, h, d_k: slice(i * d_k, (i + 1) * d_k),
    entries=lambda i, h, d_k: slice(i * d_k, (i + 1) * d_k),
    meet=lambda w, b: w @ b,
    dim=0,
):
    """Head by head: a matrix times a vector."""
    d_k = len(b_q) // h
    return torch.stack([meet(w_k[:, columns(i, h, d_k)], b_q[entries(i, h, d_k)]) for i in range(h)], dim)


def by_einsum(w_k, b_q, h, *, formula="dhk,hk->hd", bias=lambda b: b, last=lambda c, d_k: c):
    cut = w_k.unflatten(1, (h, -1))
    return last(torch.einsum(formula, cut, bias(b_q.view(h, -1))), cut.shape[-1])


def by_view(w_k, b_q, h, *, meet=lambda w, b: w @ b, last=lambda c: c):
    heads = w_k.view(len(w_k), h, -1).transpose(0, 1)
    return last(meet(heads, b_q.view(h, -1, 1)).squeeze(-1))


def by_rows(w_k, b_q, h):
    """Features as rows, as in the weight of a Linear."""
    rows = w_k.T.reshape(h, -1, len(w_k))
    return (rows * b_q.reshape(h, -1, 1)).sum(dim=1)


def by_blocks(w_k, b_q, h):
    """The bias on a block diagonal."""
    blocks = torch.block_diag(*b_q.view(h, 1, -1).unbind(0))
    return blocks @ w_k.T


def by_numpy(w_k, b_q, h):
    w, b = w_k.numpy(), b_q.numpy()
    c = np.stack([part @ entries for part, entries in zip(np.split(w, h, 1), np.split(b, h), strict=True)])
    return torch.from_numpy(c)


def by_numbers(w_k, b_q, h):
    d_k = w_k.shape[1] // h
    rows = []
    for i in range(h):
        row = []
        for a in range(len(w_k)):
            row.append(sum(w_k[a, i * d_k + j] * b_q[i * d_k + j] for j in range(d_k)))
        rows.append(torch.stack(row))
    return torch.stack(rows)


def by_scores(w_k, b_q, h):
    """What the bias gives on unit vectors as tokens."""
    tokens = torch.eye(len(w_k), dtype=w_k.dtype)
    keys = (tokens @ w_k).view(len(w_k), h, -1).transpose(0, 1)
    return (keys * b_q.view(h, 1, -1)).sum(-1)


def by_grouped_sums(w_k, b_q, h):
    c = torch.zeros(h, len(w_k), dtype=w_k.dtype)
    owner = torch.arange(len(b_q)) // (len(b_q) // h)
    return c.index_add(0, owner, (w_k * b_q).T)


def strided(i, h, d_k):
    return slice(i, None, h)


def first(i, h, d_k):
    return slice(0, d_k)


WRONG = [
    ("heads-added-up", lambda w, b, h: w @ b),
    ("heads-added-up", partial(by_einsum, formula="dhk,hk->d")),
    ("all-heads-in-each", lambda w, b, h: (w @ b).repeat(h, 1)),
    ("all-heads-in-each", lambda w, b, h: torch.stack([torch.mv(w, b) for _ in range(h)])),
    ("features-dealt-in-turn", partial(looped, columns=strided, entries=strided)),
    ("features-dealt-in-turn", lambda w, b, h: (w * b).unflatten(1, (-1, h)).sum(1).T),
    ("columns-dealt-in-turn", partial(looped, columns=strided)),
    (
        "columns-dealt-in-turn",
        lambda w, b, h: torch.einsum("dkh,hk->hd", w.view(len(w), -1, h), b.view(h, -1)),
    ),
    ("bias-dealt-in-turn", partial(looped, entries=strided)),
    (
        "bias-dealt-in-turn",
        lambda w, b, h: torch.einsum("dhk,kh->hd", w.view(len(w), h, -1), b.view(-1, h)),
    ),
    (
        "cut-without-transpose",
        lambda w, b, h: (w.reshape(h, len(w), -1) @ b.view(h, -1, 1)).squeeze(-1),
    ),
    (
        "cut-without-transpose",
        lambda w, b, h: torch.einsum("hdk,hk->hd", w.view(h, len(w), len(b) // h), b.view(h, -1)),
    ),
    ("products-without-transpose", lambda w, b, h: (w * b).reshape(h, len(w), -1).sum(-1)),
    (
        "products-without-transpose",
        lambda w, b, h: torch.einsum("hdk->hd", (w * b[None, :]).view(h, w.shape[0], w.shape[1] // h)),
    ),
    ("taken-for-rows", lambda w, b, h: torch.einsum("hkd,hk->hd", w.reshape(h, -1, len(w)), b.view(h, -1))),
    (
        "taken-for-rows",
        lambda w, b, h: (w.reshape(h, -1, len(w)) * b.view(h, -1)[..., None]).sum(1),
    ),
    ("columns-for-heads", partial(by_einsum, formula="dhk,hk->dh")),
    ("columns-for-heads", partial(looped, dim=1)),
    ("scaled-already", partial(by_einsum, last=lambda c, d_k: c / d_k**0.5)),
    ("scaled-already", partial(looped, meet=lambda w, b: w @ b / math.sqrt(len(b)))),
    ("not-summed", partial(by_einsum, formula="dhk,hk->hkd")),
    ("not-summed", partial(looped, meet=lambda w, b: (w * b).T)),
    ("not-summed-features-last", partial(by_einsum, formula="dhk,hk->hdk")),
    ("not-summed-features-last", partial(looped, meet=lambda w, b: w * b)),
    ("averaged", partial(looped, meet=lambda w, b: (w * b).mean(1))),
    ("averaged", partial(by_einsum, last=lambda c, d_k: c / d_k)),
    ("first-bias-for-all", partial(looped, entries=first)),
    ("first-bias-for-all", partial(by_einsum, bias=lambda b: b[:1].expand_as(b))),
    ("first-keys-for-all", partial(looped, columns=first)),
    ("first-keys-for-all", lambda w, b, h: b.view(h, -1) @ w[:, : len(b) // h].T),
    ("bias-left-out", partial(looped, meet=lambda w, b: w.sum(dim=1))),
    ("bias-left-out", partial(by_einsum, bias=torch.ones_like)),
    ("bias-added", partial(looped, meet=lambda w, b: (w + b).sum(1))),
    ("bias-added", lambda w, b, h: (w + b).unflatten(1, (h, -1)).sum(-1).T),
]

RIGHT = [
    looped,
    by_einsum,
    by_view,
    by_rows,
    by_blocks,
    by_numpy,
    by_numbers,
    by_scores,
    by_grouped_sums,
]

UNLISTED = [
    ("reverse", lambda w, b, h: by_einsum(w, b, h).flip(0)),
    ("parts of .b_q. are in reverse", partial(by_einsum, bias=lambda b: b.flip(0))),
    ("mean of all parts|mean over", partial(by_einsum, bias=lambda b: b.mean(0, keepdim=True).expand_as(b))),
    ("one number for each head", lambda w, b, h: by_einsum(w, b, h).sum(1)),
    ("in one row", lambda w, b, h: by_einsum(w, b, h).flatten()),
    ("largest product", partial(looped, meet=lambda w, b: (w * b).amax(1))),
    ("Absolute values", partial(looped, meet=lambda w, b: (w * b).abs().sum(1))),
    ("bias alone", lambda w, b, h: b.view(h, -1).sum(1, keepdim=True).expand(-1, len(w))),
    ("sum goes over d_model", partial(by_einsum, formula="dhk,hk->hk")),
    ("first head's vector", lambda w, b, h: by_einsum(w, b, h)[0]),
    ("subtracted from the columns", partial(looped, meet=lambda w, b: (w - b).sum(1))),
    ("mean of its part", partial(looped, meet=lambda w, b: w.sum(1) * b.mean())),
    ("root of d_k", partial(by_einsum, last=lambda c, d_k: c * d_k**0.5)),
    ("one vector for each of the d_k", lambda w, b, h: (w * b).unflatten(1, (h, -1)).sum(1).T),
    ("without any sum", lambda w, b, h: w * b),
    ("axis too many", lambda w, b, h: by_einsum(w, b, h)[None]),
    ("signs", partial(by_einsum, bias=torch.abs)),
    ("opposite", lambda w, b, h: -by_einsum(w, b, h)),
    ("nothing", lambda w, b, h: print(by_einsum(w, b, h))),
]
