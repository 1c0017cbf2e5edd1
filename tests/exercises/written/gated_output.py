"""gated_output as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import nn


def looped(
    heads, w_o, gates, *, change=lambda g, gates: g, meet=lambda head, g: head * g, order=None, w=None
):
    b, h, n, d_v = heads.shape
    w_o = w_o if w is None else w(w_o)
    rows = []
    for s in range(b):
        tokens = []
        for t in range(n):
            row = [meet(heads[s, i, t], change(gates[i], gates)) for i in range(h)]
            tokens.append(torch.cat(row[::-1] if order else row))
        rows.append(torch.stack(tokens) @ w_o)
    return torch.stack(rows)


def by_broadcast(heads, w_o, gates, *, gate=lambda g: g, last=lambda y, g: y, concat=None, fuse=torch.matmul):
    b, h, n, d_v = heads.shape
    x = heads * gate(gates).view(1, h, 1, 1)
    x = x.permute(0, 2, 1, 3).reshape(b, n, h * d_v) if concat is None else concat(x)
    return last(fuse(x, w_o), gates)


def behind_concat(heads, w_o, gates, *, spread=lambda g, d_v: g.repeat_interleave(d_v)):
    b, h, n, d_v = heads.shape
    concat = torch.cat([heads[:, i] for i in range(h)], dim=-1)
    return (concat * spread(gates, d_v)) @ w_o


def rows_of_w_o(heads, w_o, gates, *, also=False):
    b, h, n, d_v = heads.shape
    scaled = (w_o.view(h, d_v, -1) * gates[:, None, None]).view_as(w_o)
    heads = heads * gates[:, None, None] if also else heads
    return heads.transpose(1, 2).flatten(2) @ scaled


def shares(heads, w_o, gates, *, factor=lambda gates, i: gates[i]):
    d_v = heads.shape[3]
    return sum(factor(gates, i) * (heads[:, i] @ w_o[i * d_v : (i + 1) * d_v]) for i in range(heads.shape[1]))


def by_einsum(heads, w_o, gates, *, letters="h"):
    blocks = w_o.reshape(heads.shape[1], heads.shape[3], -1)
    return torch.einsum("bhnv,h,hvd->bnd", heads, gates, blocks)


def by_numpy(heads, w_o, gates):
    x = heads.numpy() * gates.numpy()[None, :, None, None]
    x = np.concatenate(list(np.moveaxis(x, 1, 0)), axis=-1)
    return torch.from_numpy(x @ w_o.numpy())


def by_linear(heads, w_o, gates):
    x = torch.einsum("bhnv,h->bnhv", heads, gates).flatten(-2)
    return nn.functional.linear(x, w_o.T)


def by_diagonal(heads, w_o, gates):
    x = heads.transpose(1, 2).flatten(2)
    return x @ torch.diag(torch.kron(gates, torch.ones(heads.shape[3], dtype=gates.dtype))) @ w_o


def only_open(heads, w_o, gates):
    """Closed heads are left out of the sum; they add nothing anyway."""
    d_v = heads.shape[-1]
    out = heads.new_zeros(heads.shape[0], heads.shape[2], w_o.shape[1])
    for i, g in enumerate(gates):
        if g > 0:
            out = out + g * heads[:, i] @ w_o[i * d_v : (i + 1) * d_v]
    return out


WRONG = [
    ("gates-ignored", lambda x, w, g: x.transpose(1, 2).flatten(2) @ w),
    ("gates-ignored", partial(looped, change=lambda g, gates: 1.0)),
    ("open-or-closed", partial(looped, change=lambda g, gates: 1.0 if g else 0.0)),
    ("open-or-closed", partial(by_broadcast, gate=lambda g: g.ceil())),
    ("rounded", partial(by_broadcast, gate=torch.round)),
    ("rounded", partial(shares, factor=lambda g, i: float(g[i] > 0.5))),
    ("one-minus-gate", partial(looped, change=lambda g, gates: 1 - g)),
    ("one-minus-gate", lambda x, w, g: x.transpose(1, 2).flatten(2) @ w - by_einsum(x, w, g)),
    ("gated-twice", partial(rows_of_w_o, also=True)),
    ("gated-twice", partial(looped, change=lambda g, gates: g * g)),
    ("gates-sum-to-one", lambda x, w, g: by_einsum(x, w, g / g.sum())),
    ("gates-sum-to-one", partial(looped, change=lambda g, gates: g / sum(gates))),
    ("softmax-of-gates", partial(by_broadcast, gate=lambda g: torch.softmax(g, 0))),
    ("softmax-of-gates", partial(looped, change=lambda g, gates: g.exp() / gates.exp().sum())),
    ("sigmoid-of-gates", partial(by_broadcast, gate=torch.sigmoid)),
    ("sigmoid-of-gates", partial(looped, change=lambda g, gates: 1 / (1 + torch.exp(-g)))),
    ("gates-added", partial(looped, meet=lambda head, g: head + g)),
    ("gates-added", lambda x, w, g: (x + g.view(-1, 1, 1)).transpose(1, 2).flatten(2) @ w),
    ("mean-gate", lambda x, w, g: g.mean() * (x.transpose(1, 2).flatten(2) @ w)),
    ("mean-gate", partial(looped, change=lambda g, gates: sum(gates) / len(gates))),
    ("made-up-for", partial(by_broadcast, last=lambda y, g: y / g.mean())),
    ("made-up-for", partial(looped, change=lambda g, gates: g * len(gates) / gates.sum())),
    ("gates-in-turn", partial(behind_concat, spread=lambda g, d_v: g.repeat(d_v))),
    (
        "gates-in-turn",
        lambda x, w, g: x.transpose(1, 2).flatten(2) @ (w * torch.cat([g] * x.shape[3])[:, None]),
    ),
    ("gates-of-others", partial(by_broadcast, gate=lambda g: g.flip(0))),
    ("gates-of-others", partial(shares, factor=lambda g, i: g[-1 - i])),
    ("no-transpose", partial(by_broadcast, concat=lambda x: x.reshape(x.shape[0], x.shape[2], -1))),
    (
        "no-transpose",
        lambda x, w, g: torch.stack([(s * g[:, None, None]).flatten().view(x.shape[2], -1) @ w for s in x]),
    ),
    ("features-alternate", partial(by_broadcast, concat=lambda x: x.permute(0, 2, 3, 1).flatten(2))),
    (
        "features-alternate",
        lambda x, w, g: torch.stack([x[:, i] * g[i] for i in range(len(g))], dim=-1).flatten(2) @ w,
    ),
    ("no-fusion", lambda x, w, g: torch.cat([x[:, i] * g[i] for i in range(len(g))], -1)),
    ("no-fusion", partial(by_broadcast, fuse=lambda x, w: x)),
    ("w_o-transposed", partial(looped, w=lambda w: w.T)),
    ("w_o-transposed", partial(by_broadcast, fuse=lambda x, w: nn.functional.linear(x, w))),
]

RIGHT = [
    looped,
    by_broadcast,
    behind_concat,
    rows_of_w_o,
    shares,
    by_einsum,
    by_numpy,
    by_linear,
    by_diagonal,
    only_open,
]

UNLISTED = [
    ("divided by how many gates are open", partial(by_broadcast, last=lambda y, g: y / (g > 0).sum())),
    ("root", partial(by_broadcast, gate=torch.sqrt)),
    ("cubed", partial(by_broadcast, gate=lambda g: g**3)),
    ("moved on by one", partial(by_broadcast, gate=lambda g: g.roll(1))),
    ("reverse order", partial(looped, order=True)),
    ("divided by their gates", partial(looped, meet=lambda head, g: head / g)),
    ("largest gate", partial(by_broadcast, gate=lambda g: g.max().expand_as(g))),
    (
        "right with open and closed heads, and wrong with three",
        partial(by_broadcast, gate=lambda g: (g == 1).float()),
    ),
    ("all others are silent", partial(by_broadcast, gate=lambda g: (g == 0).float())),
    ("last gate", lambda x, w, g: by_broadcast(x, w, g[-1:].expand_as(g))),
    (
        "tokens are averaged",
        lambda x, w, g: by_einsum(x, w, g).mean(1, keepdim=True).expand(-1, x.shape[2], -1),
    ),
    ("added up before W_O", lambda x, w, g: (x * g[:, None, None]).sum(1).repeat(1, 1, len(g)) @ w),
    ("mean over tokens, not at 0", lambda x, w, g: by_einsum(x, w, g) + by_einsum(_still(x), w, 1 - g)),
    ("doubled", lambda x, w, g: by_einsum(x, w, g) + by_einsum(x, w, g)),
    ("minus", partial(by_broadcast, gate=lambda g: -g)),
    ("times|shape", lambda x, w, g: x * g[:, None, None]),
]


def _still(x):
    return x.mean(2, keepdim=True).expand_as(x)
