"""composition_matrices as students write it: wrong in known ways, right, wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch


def diagonal(g):
    return torch.eye(g.shape[-1], dtype=g.dtype) * g[:, None, :]


def by_parts(
    w_b, q1, q2, gq, k1, k2, gk, *, product=lambda a, b: a @ b, gates=diagonal, put=lambda p, g: p + g,
    static=lambda w: w, meet=lambda b, q, k: b + q[:, None] + k[None], end=lambda out: out,
):  # fmt: skip
    of_q, of_k = put(product(q1, q2), gates(gq)), put(product(k1, k2), gates(gk))
    return end(meet(static(w_b), of_q, of_k))


def in_loops(
    w_b, q1, q2, gq, k1, k2, gk, *, pair=lambda b, q, k: b + q + k, of=lambda a, b, g: a @ b + torch.diag(g)
):
    rows = []
    for t in range(len(gq)):
        of_q = of(q1[t], q2[t], gq[t])
        rows.append(torch.stack([pair(w_b, of_q, of(k1[s], k2[s], gk[s])) for s in range(len(gk))]))
    return torch.stack(rows)


def number_by_number(w_b, q1, q2, gq, k1, k2, gk, *, skip=lambda name, i, j: False):
    h, r = w_b.shape[0], q1.shape[-1]
    out = torch.zeros(len(gq), len(gk), h, h, dtype=w_b.dtype)
    for i in range(h):
        for j in range(h):
            out[:, :, i, j] += w_b[i, j] * (not skip("static", i, j))
            for k in range(r):
                if not skip("branches", k, k):
                    out[:, :, i, j] += (q1[:, i, k] * q2[:, k, j])[:, None] + k1[:, i, k] * k2[:, k, j]
            if i == j or skip("diagonal", i, j):
                out[:, :, i, j] += gq[:, None, i] + gk[None, :, i]
    return out


def by_einsum(w_b, q1, q2, gq, k1, k2, gk, *, how="nir,nrj->nij"):
    eye = torch.eye(len(w_b), dtype=w_b.dtype)
    of_q = torch.einsum(how, q1, q2) + torch.einsum("ni,ij->nij", gq, eye)
    of_k = torch.einsum(how, k1, k2) + torch.einsum("ni,ij->nij", gk, eye)
    return of_q.unsqueeze(1) + of_k.unsqueeze(0) + w_b


def by_numpy(*given):
    w_b, q1, q2, gq, k1, k2, gk = (a.detach().numpy() for a in given)
    eye = np.eye(len(w_b), dtype=w_b.dtype)
    q, k = q1 @ q2 + gq[..., None] * eye, k1 @ k2 + gk[..., None] * eye
    return torch.from_numpy(w_b + q[:, None] + k)


def by_joined_factors(w_b, q1, q2, gq, k1, k2, gk):
    """One product for both sides: branches of query and key side by side."""
    n_q, n_k = len(gq), len(gk)
    first = torch.cat((q1[:, None].expand(-1, n_k, -1, -1), k1[None].expand(n_q, -1, -1, -1)), -1)
    second = torch.cat((q2[:, None].expand(-1, n_k, -1, -1), k2[None].expand(n_q, -1, -1, -1)), -2)
    return first @ second + w_b + torch.diag_embed(gq[:, None] + gk)


def by_writing_the_diagonal(w_b, q1, q2, gq, k1, k2, gk):
    out = (q1 @ q2)[:, None] + (k1 @ k2)[None] + w_b
    out.diagonal(dim1=-2, dim2=-1).add_(gq[:, None] + gk[None])
    return out


def by_bmm(w_b, q1, q2, gq, k1, k2, gk):
    of_q = torch.bmm(q1, q2).diagonal_scatter(torch.bmm(q1, q2).diagonal(dim1=1, dim2=2) + gq, dim1=1, dim2=2)
    of_k = torch.bmm(k1, k2) + gk.diag_embed()
    return w_b[None, None] + of_q[:, None, :, :] + of_k[None, :, :, :]


def zeros(a, b):
    return torch.zeros(len(a), a.shape[1], b.shape[2], dtype=a.dtype)


def nothing(g):
    return torch.zeros(len(g), g.shape[1], g.shape[1], dtype=g.dtype)


def rms(w):
    return w / (w.pow(2).mean(1, keepdim=True) + 1e-6).sqrt()


WRONG = [
    ("keys-first", partial(by_parts, meet=lambda b, q, k: b + q + k[:, None])),
    ("keys-first", lambda *w: by_einsum(*w).transpose(0, 1)),
    ("gate-for-a-column", partial(by_parts, gates=lambda g: g[:, None])),
    (
        "gate-for-a-column",
        lambda b, q1, q2, gq, k1, k2, gk: b + (q1 @ q2)[:, None] + k1 @ k2 + (gq[:, None] + gk)[:, :, None],
    ),
    ("gate-for-a-row", partial(by_parts, gates=lambda g: g[..., None])),
    ("gate-for-a-row", partial(number_by_number, skip=lambda name, i, j: name == "diagonal")),
    ("no-gates", partial(by_parts, gates=nothing)),
    ("no-gates", partial(in_loops, of=lambda a, b, g: a @ b)),
    ("gates-alone", partial(by_parts, product=zeros)),
    ("gates-alone", partial(in_loops, of=lambda a, b, g: torch.diag(g))),
    ("gates-multiplied", partial(by_parts, put=lambda p, g: g @ p)),
    ("gates-multiplied", partial(in_loops, of=lambda a, b, g: g[:, None] * (a @ b))),
    ("static-missing", partial(by_parts, static=lambda w: 0)),
    ("static-missing", partial(number_by_number, skip=lambda name, i, j: name == "static")),
    ("identity-for-static", partial(by_parts, static=lambda w: torch.eye(len(w), dtype=w.dtype))),
    ("identity-for-static", partial(in_loops, pair=lambda b, q, k: torch.eye(len(b)) + q + k)),
    ("identity-added", partial(by_parts, static=lambda w: w + torch.eye(len(w), dtype=w.dtype))),
    ("identity-added", lambda b, q1, q2, gq, k1, k2, gk: by_bmm(b, q1, q2, gq + 1, k1, k2, gk)),
    ("static-twice", partial(in_loops, pair=lambda b, q, k: (b + q) + (b + k))),
    ("static-twice", lambda b, *rest: by_einsum(2 * b, *rest)),
    ("queries-alone", partial(by_parts, meet=lambda b, q, k: (b + q)[:, None].expand(-1, len(k), -1, -1))),
    ("queries-alone", partial(in_loops, pair=lambda b, q, k: b + q)),
    ("keys-alone", partial(by_parts, meet=lambda b, q, k: (b + k).expand(len(q), -1, -1, -1))),
    ("keys-alone", partial(in_loops, pair=lambda b, q, k: b + k)),
    ("product-turned", partial(by_parts, product=lambda a, b: b.mT @ a.mT)),
    ("product-turned", partial(by_einsum, how="njr,nri->nij")),
    ("branches-summed-first", partial(by_einsum, how="nir,nsj->nij")),
    (
        "branches-summed-first",
        partial(in_loops, of=lambda a, b, g: torch.outer(a.sum(1), b.sum(0)) + torch.diag(g)),
    ),
    ("first-branch-alone", partial(by_parts, product=lambda a, b: a[..., 0, None] * b[:, 0, None])),
    ("first-branch-alone", partial(number_by_number, skip=lambda name, i, j: name == "branches" and i > 0)),
    ("sides-multiplied", partial(by_parts, meet=lambda b, q, k: b + q[:, None] @ k)),
    ("sides-multiplied", partial(in_loops, pair=lambda b, q, k: b + q @ k)),
    ("static-multiplied", partial(by_parts, meet=lambda b, q, k: b @ (q[:, None] + k))),
    ("static-multiplied", partial(in_loops, pair=lambda b, q, k: b @ q + b @ k)),
    ("factors-normalised", lambda b, q1, q2, gq, k1, k2, gk: by_einsum(b, rms(q1), q2, gq, rms(k1), k2, gk)),
    (
        "factors-normalised",
        partial(in_loops, of=lambda a, b, g: a * (a.square().mean(0) + 1e-6).rsqrt() @ b + g.diag()),
    ),
    ("gates-through-tanh", partial(by_parts, gates=lambda g: torch.tanh(g).diag_embed())),
    ("gates-through-tanh", lambda b, q1, q2, gq, k1, k2, gk: by_bmm(b, q1, q2, gq.tanh(), k1, k2, gk.tanh())),
    ("sides-averaged", partial(by_parts, meet=lambda b, q, k: b + (q[:, None] + k) / 2)),
    ("sides-averaged", partial(in_loops, pair=lambda b, q, k: b + torch.stack((q, k)).mean(0))),
    ("pairs-in-a-row", lambda *w: by_einsum(*w).reshape(-1, len(w[0]), len(w[0]))),
    ("pairs-in-a-row", lambda *w: torch.cat(list(in_loops(*w)))),
]

RIGHT = [
    by_parts,
    in_loops,
    number_by_number,
    by_einsum,
    by_numpy,
    by_joined_factors,
    by_writing_the_diagonal,
    by_bmm,
]

UNLISTED = [
    ("transposed", partial(by_parts, static=lambda w: w.T)),
    ("transposed", lambda *w: by_einsum(*w).mT),
    ("wrong sign", partial(by_parts, product=lambda a, b: -a @ b)),
    ("subtracted", partial(by_parts, gates=lambda g: -diagonal(g))),
    ("sigmoid", partial(by_parts, gates=lambda g: diagonal(g.sigmoid()))),
    ("1 is added", partial(by_parts, gates=lambda g: diagonal(1 + g))),
    ("last one takes part", partial(by_parts, product=lambda a, b: a[..., -1:] @ b[:, -1:])),
    ("number of branches", partial(by_parts, product=lambda a, b: a @ b / b.shape[1])),
    ("entry by entry", partial(by_parts, meet=lambda b, q, k: b + q[:, None] * k)),
    ("key's side has the wrong sign", partial(by_parts, meet=lambda b, q, k: b + q[:, None] - k)),
    ("diagonal alone", partial(by_parts, product=lambda a, b: (a @ b) * torch.eye(a.shape[1]))),
    (
        "query's side is the same for all",
        partial(by_parts, meet=lambda b, q, k: b + q[:1, None].expand(len(q), -1, -1, -1) + k),
    ),
    (
        "key's side is the same for all: the mean",
        partial(by_parts, meet=lambda b, q, k: b + q[:, None] + k.mean(0).expand_as(k)),
    ),
    ("averaged over the keys", lambda *w: by_einsum(*w).mean(1)),
    ("first two axes", lambda *w: by_einsum(*w).permute(2, 3, 0, 1)),
    ("softmax", lambda *w: by_einsum(*w).softmax(-1)),
    ("from the right", partial(by_parts, put=lambda p, g: p @ g)),
    ("used twice", partial(by_parts, product=lambda a, b: a @ a.mT)),
    ("sum|every entry", partial(by_parts, gates=lambda g: g.sum(-1)[:, None, None])),
    ("should be", partial(by_parts, product=lambda a, b: (a @ b).sin())),
    ("nothing", lambda *w: print(by_einsum(*w).shape)),
]
