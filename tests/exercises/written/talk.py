"""talk as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

INF = float("inf")


def mixed(maps, p):
    return torch.einsum("bimn,ij->bjmn", maps, p)


def turned(maps, p):
    return torch.einsum("bjmn,ij->bimn", maps, p)


def by_einsum(s, p, w, mask, *, first=mixed, second=mixed, hidden=-INF, dim=-1, end=lambda out: out):
    s = first(s, p).masked_fill(~mask, hidden)
    return end(second(F.softmax(s, dim=dim), w))


def by_movedim(s, p, w, mask, *, soft=lambda z: z.softmax(-1)):
    """Heads to the last axis, where `@` mixes them."""
    z = (s.movedim(1, -1) @ p).movedim(-1, 1)
    z = soft(torch.where(mask, z, -torch.inf))
    return (z.movedim(1, -1) @ w).movedim(-1, 1)


def in_loops(s, p, w, mask, *, share=lambda p, i, j: p[i, j], both=True):
    b, h, n_q, n_k = s.shape
    weights = []
    for j in range(h):
        z = sum(s[:, i] * (share(p, i, j) if both else p[i, j]) for i in range(h))
        weights.append(z.masked_fill(mask == False, -INF).softmax(-1))  # noqa: E712
    return torch.stack([sum(weights[i] * share(w, i, j) for i in range(h)) for j in range(h)], 1)


def by_matmul(s, p, w, mask, *, order=lambda p, w: (p.T, w.T)):
    p, w = order(p, w)
    b, h, n_q, n_k = s.shape
    z = (p @ s.reshape(b, h, -1)).reshape(b, h, n_q, n_k)
    z = (z + torch.zeros_like(mask, dtype=z.dtype).masked_fill(~mask, -INF)).softmax(-1)
    return (w @ z.reshape(b, h, -1)).reshape(b, h, n_q, n_k)


def by_broadcast(s, p, w, mask):
    z = (s[:, :, None] * p[None, :, :, None, None]).sum(1)
    z = z.masked_fill(mask.logical_not(), -1e9).softmax(-1)
    return (z[:, :, None] * w[None, :, :, None, None]).sum(1)


def by_numpy(s, p, w, mask):
    z = np.einsum("bimn,ij->bjmn", s.detach().numpy(), p.detach().numpy())
    z = np.where(mask.numpy(), z, -np.inf)
    e = np.exp(z - z.max(-1, keepdims=True))
    return torch.from_numpy(np.einsum("bimn,ij->bjmn", e / e.sum(-1, keepdims=True), w.detach().numpy()))


def by_linear(s, p, w, mask):
    z = F.linear(s.permute(0, 2, 3, 1), p.T).permute(0, 3, 1, 2)
    e = (z - z.amax(-1, keepdim=True)).exp() * mask
    e = e / e.sum(-1, keepdim=True)
    return F.linear(e.permute(0, 2, 3, 1), w.T).permute(0, 3, 1, 2)


def masked_first(s, p, w, mask, hidden=-INF):
    s = s.masked_fill(~mask, hidden)
    return mixed(mixed(s, p).softmax(-1), w)


def masked_first_in_loops(s, p, w, mask, hidden=-INF):
    s = torch.where(mask, s, hidden)
    h = s.shape[1]
    z = torch.stack([sum(s[:, i] * p[i, j] for i in range(h)) for j in range(h)], 1).softmax(-1)
    return torch.stack([sum(z[:, i] * w[i, j] for i in range(h)) for j in range(h)], 1)


def unmasked(s, p, w, mask=None, late=lambda z, mask: z):
    return mixed(late(mixed(s, p).softmax(-1), mask), w)


def diagonal(maps, p):
    return maps * torch.diag(p).view(-1, 1, 1)


WRONG = [
    ("masked-before-mixing", masked_first),
    ("masked-before-mixing", masked_first_in_loops),
    ("large-negative-mixed", lambda s, p, w, mask: masked_first(s, p, w, mask, -1e9)),
    ("large-negative-mixed", lambda s, p, w, mask: masked_first_in_loops(s, p, w, mask, -1e9)),
    ("not-masked", unmasked),
    ("not-masked", lambda s, p, w, mask: by_einsum(s, p, w, torch.ones_like(mask))),
    ("mask-turned", lambda s, p, w, mask: by_einsum(s, p, w, ~mask)),
    ("mask-turned", lambda s, p, w, mask: mixed(torch.where(mask, -torch.inf, mixed(s, p)).softmax(-1), w)),
    ("hidden-scores-0", lambda s, p, w, mask: mixed((mixed(s, p) * mask).softmax(-1), w)),
    ("hidden-scores-0", partial(by_einsum, hidden=0.0)),
    ("masked-after-softmax", lambda s, p, w, mask: unmasked(s, p, w, mask, lambda z, mask: z * mask)),
    ("masked-after-softmax", lambda s, p, w, mask: unmasked(s, p, w).masked_fill(~mask, 0)),
    (
        "masked-late-and-divided",
        lambda s, p, w, mask: _to_1(unmasked(s, p, w).masked_fill(~mask, 0)),
    ),
    ("masked-late-and-divided", lambda s, p, w, mask: _to_1(unmasked(s, p, w, mask, torch.mul))),
    ("scores-mixed-transposed", partial(by_einsum, first=turned)),
    ("scores-mixed-transposed", lambda s, p, w, mask: by_movedim(s, p.T, w, mask)),
    ("weights-mixed-transposed", partial(by_einsum, second=turned)),
    ("weights-mixed-transposed", partial(in_loops, share=lambda p, i, j: p[j, i], both=False)),
    ("both-transposed", partial(in_loops, share=lambda p, i, j: p[j, i])),
    ("both-transposed", partial(by_matmul, order=lambda p, w: (p, w))),
    ("matrices-swapped", lambda s, p, w, mask: by_einsum(s, w, p, mask)),
    ("matrices-swapped", partial(by_matmul, order=lambda p, w: (w.T, p.T))),
    ("scores-not-mixed", lambda s, p, w, mask: mixed(s.masked_fill(~mask, -INF).softmax(-1), w)),
    ("scores-not-mixed", partial(by_einsum, first=lambda s, p: s)),
    ("weights-not-mixed", lambda s, p, w, mask: mixed(s, p).masked_fill(~mask, -INF).softmax(-1)),
    ("weights-not-mixed", partial(by_einsum, second=lambda s, w: s)),
    ("both-before-softmax", lambda s, p, w, mask: mixed(mixed(s, p), w).masked_fill(~mask, -INF).softmax(-1)),
    ("both-before-softmax", lambda s, p, w, mask: mixed(s, p @ w).masked_fill(~mask, -1e9).softmax(-1)),
    ("softmax-over-queries", partial(by_einsum, dim=-2)),
    ("softmax-over-queries", partial(by_movedim, soft=lambda z: z.mT.softmax(-1).mT)),
    ("softmax-over-heads", partial(by_einsum, dim=1)),
    ("softmax-over-heads", partial(by_movedim, soft=lambda z: z.softmax(-3))),
    ("no-softmax", lambda s, p, w, mask: mixed(mixed(s, p) * mask, w)),
    ("no-softmax", partial(by_movedim, soft=lambda z: z.nan_to_num(neginf=0.0))),
    ("rows-made-to-sum-to-1", partial(by_einsum, end=lambda out: out / out.sum(-1, keepdim=True))),
    ("rows-made-to-sum-to-1", lambda s, p, w, mask: _normalised(in_loops(s, p, w, mask))),
    ("softmax-again", partial(by_einsum, end=lambda out: out.softmax(-1))),
    ("softmax-again", lambda s, p, w, mask: F.softmax(by_matmul(s, p, w, mask), 3)),
    ("negative-cut-off", partial(by_einsum, end=torch.relu)),
    ("negative-cut-off", lambda s, p, w, mask: by_matmul(s, p, w, mask).clamp(min=0)),
    ("own-map-alone", partial(by_einsum, first=diagonal, second=diagonal)),
    ("own-map-alone", partial(in_loops, share=lambda p, i, j: p[i, j] * (i == j))),
    ("shares-through-softmax", lambda s, p, w, mask: by_einsum(s, p.softmax(0), w.softmax(0), mask)),
    ("shares-through-softmax", partial(by_matmul, order=lambda p, w: (p.T.softmax(-1), w.T.softmax(-1)))),
    ("divided-by-heads", lambda s, p, w, mask: by_einsum(s, p / len(p), w / len(w), mask)),
    ("divided-by-heads", lambda s, p, w, mask: _by_means(s, p, w, mask)),
]

RIGHT = [by_einsum, by_movedim, in_loops, by_matmul, by_broadcast, by_numpy, by_linear]

UNLISTED = [
    ("used for both", lambda s, p, w, mask: by_einsum(s, p, p, mask)),
    ("used for both", lambda s, p, w, mask: by_einsum(s, w, w, mask)),
    ("log_softmax", partial(by_movedim, soft=lambda z: z.log_softmax(-1))),
    ("sigmoid", partial(by_movedim, soft=torch.sigmoid)),
    ("softmax is taken twice", partial(by_movedim, soft=lambda z: z.softmax(-1).softmax(-1))),
    ("inverted", lambda s, p, w, mask: by_einsum(s, torch.linalg.inv(p), torch.linalg.inv(w), mask)),
    (
        "identity is added",
        lambda s, p, w, mask: by_einsum(s, p + torch.eye(len(p)), w + torch.eye(len(p)), mask),
    ),
    ("mixed scores are added to", partial(by_einsum, first=lambda s, p: s + mixed(s, p))),
    ("mixed weights are added to", partial(by_einsum, second=lambda s, p: s + mixed(s, p))),
    (
        "the result should be",
        partial(by_einsum, second=lambda z, w: mixed(z * z, w) / z.square().sum(-1, keepdim=True)),
    ),
    ("number of heads", lambda s, p, w, mask: by_einsum(s, p / len(p), w, mask)),
    ("causal mask", lambda s, p, w, mask: by_einsum(s, p, w, _lower(mask))),
    ("Both mixings stand after", lambda s, p, w, mask: mixed(by_einsum(s, torch.eye(len(p)), p, mask), w)),
    ("without their sign|absolute", partial(by_einsum, end=torch.abs)),
    ("Queries and keys have changed|axes", partial(by_einsum, end=lambda out: out.mT)),
    ("averaged over the heads", partial(by_einsum, end=lambda out: out.mean(1))),
    (
        "row of shares",
        lambda s, p, w, mask: by_einsum(s, p, w, mask, first=lambda s, p: s * p.sum(1)[:, None, None]),
    ),
    ("mixed twice", partial(by_einsum, first=lambda s, p: mixed(mixed(s, p), p))),
    ("not hidden", partial(by_einsum, hidden=-1.0)),
    ("should be", partial(by_einsum, first=lambda s, p: mixed(s.tanh(), p))),
    (
        "after the softmax.*second softmax",
        lambda s, p, w, mask: unmasked(s, p, w).where(mask, -INF).softmax(-1),
    ),
    ("after the softmax.*second softmax", lambda s, p, w, mask: (unmasked(s, p, w) * mask).softmax(-1)),
    ("after the softmax.*-inf", lambda s, p, w, mask: unmasked(s, p, w).where(mask, -INF)),
    ("nothing", lambda s, p, w, mask: print(by_einsum(s, p, w, mask).shape)),
]


def _to_1(weights):
    return weights / weights.sum(dim=3, keepdim=True)


def _normalised(out):
    return torch.stack([row / row.sum() for row in out.flatten(0, 2)]).view_as(out)


def _by_means(s, p, w, mask):
    z = (s[:, :, None] * p[None, :, :, None, None]).mean(1).masked_fill(~mask, -INF).softmax(-1)
    return (z[:, :, None] * w[None, :, :, None, None]).mean(1)


def _lower(mask):
    n_q, n_k = mask.shape
    return torch.ones_like(mask).tril(n_k - n_q)
