"""circuits as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch


def in_a_loop(
    w_q, w_k, w_v, w_o, h, *, scale=lambda d_k: math.sqrt(d_k), compare=lambda q, k: q @ k.T,
    write=lambda v, o: v @ o, ov_scale=lambda d_k: 1, head=lambda i, h: i,
):  # fmt: skip
    d_k, d_v = w_q.shape[1] // h, w_v.shape[1] // h
    qk, ov = [], []
    for i in range(h):
        i = head(i, h)
        keys, values = slice(i * d_k, (i + 1) * d_k), slice(i * d_v, (i + 1) * d_v)
        qk.append(compare(w_q[:, keys], w_k[:, keys]) / scale(d_k))
        ov.append(write(w_v[:, values], w_o[values]) / ov_scale(d_k))
    return torch.stack(qk), torch.stack(ov)


def by_einsum(
    w_q,
    w_k,
    w_v,
    w_o,
    h,
    *,
    cut=lambda w, h: w.unflatten(1, (h, -1)),
    how="dik,eik->ide",
    out="div,ive->ide",
    power=-0.5,
):
    q, k, v = (cut(w, h) for w in (w_q, w_k, w_v))
    d_k = w_q.shape[1] // h
    return torch.einsum(how, q, k) * d_k**power, torch.einsum(out, v, w_o.unflatten(0, (h, -1)))


def by_chunks(w_q, w_k, w_v, w_o, h):
    qk = [q @ k.T / q.shape[1] ** 0.5 for q, k in zip(w_q.chunk(h, 1), w_k.chunk(h, 1), strict=True)]
    return torch.stack(qk), torch.stack([v @ o for v, o in zip(w_v.chunk(h, 1), w_o.chunk(h), strict=True)])


def by_view(
    w_q, w_k, w_v, w_o, h, *, columns=lambda w, h: w.view(len(w), h, -1).transpose(0, 1),
    rows=lambda w, h: w.view(h, -1, w.shape[1]), root=lambda q, v: q.shape[-1], end=lambda qk, ov: (qk, ov),
):  # fmt: skip
    q, k, v = (columns(w, h) for w in (w_q, w_k, w_v))
    return end(torch.bmm(q, k.mT) / math.sqrt(root(q, v)), torch.bmm(v, rows(w_o, h)))


def by_masks(w_q, w_k, w_v, w_o, h):
    """Whole products with all other heads' features set to 0."""
    qk, ov = [], []
    for i in range(h):
        keys = (torch.arange(w_q.shape[1]) // (w_q.shape[1] // h) == i).to(w_q.dtype)
        values = (torch.arange(w_v.shape[1]) // (w_v.shape[1] // h) == i).to(w_q.dtype)
        qk.append((w_q * keys) @ w_k.T * (w_q.shape[1] / h) ** -0.5)
        ov.append((w_v * values) @ w_o)
    return torch.stack(qk), torch.stack(ov)


def by_numpy(*given):
    *matrices, h = given
    q, k, v, o = (w.detach().numpy() for w in matrices)
    d, d_k = len(q), q.shape[1] // h
    q, k, v = (np.moveaxis(w.reshape(d, h, -1), 1, 0) for w in (q, k, v))
    scale = np.sqrt(d_k).astype(q.dtype)
    return torch.from_numpy(q @ k.swapaxes(1, 2) / scale), torch.from_numpy(v @ o.reshape(h, -1, d))


def by_scaled_queries(w_q, w_k, w_v, w_o, h):
    w_q = w_q / math.sqrt(w_q.shape[1] // h)
    turned = w_k.T.reshape(h, -1, len(w_k))
    return w_q.T.reshape(h, -1, len(w_q)).transpose(1, 2) @ turned, by_chunks(w_q, w_k, w_v, w_o, h)[1]


def dealt(w, h):
    return torch.stack([w[:, i::h] for i in range(h)])


def rows_dealt(w, h):
    return torch.stack([w[i::h] for i in range(h)])


def dealt_by_view(w, h):
    return w.view(len(w), -1, h).permute(2, 0, 1)


def rows_dealt_by_view(w, h):
    return w.view(-1, h, w.shape[1]).transpose(0, 1)


def pieces(w, h):
    return w.reshape(h, w.shape[0], -1)


def pieces_by_hand(w, h):
    size = w.numel() // h
    return torch.stack([w.flatten()[i * size : (i + 1) * size].view(len(w), -1) for i in range(h)])


WRONG = [
    ("keys-first", partial(in_a_loop, compare=lambda q, k: k @ q.T)),
    ("keys-first", partial(by_einsum, how="eik,dik->ide")),
    ("not-scaled", partial(in_a_loop, scale=lambda d_k: 1)),
    ("not-scaled", partial(by_einsum, power=0)),
    ("divided-by-d-k", partial(in_a_loop, scale=lambda d_k: d_k)),
    ("divided-by-d-k", partial(by_einsum, power=-1)),
    ("root-of-d-model", partial(by_view, root=lambda q, v: q.shape[1])),
    ("root-of-d-model", lambda q, k, v, o, h: in_a_loop(q, k, v, o, h, scale=lambda d_k: len(q) ** 0.5)),
    ("root-of-the-whole-width", partial(by_view, root=lambda q, v: q.shape[0] * q.shape[2])),
    (
        "root-of-the-whole-width",
        lambda q, k, v, o, h: in_a_loop(q, k, v, o, h, scale=lambda d_k: q.shape[1] ** 0.5),
    ),
    ("root-of-d-v", partial(by_view, root=lambda q, v: v.shape[-1])),
    ("root-of-d-v", lambda q, k, v, o, h: in_a_loop(q, k, v, o, h, scale=lambda d_k: (len(o) // h) ** 0.5)),
    ("ov-scaled-too", partial(in_a_loop, ov_scale=math.sqrt)),
    ("ov-scaled-too", lambda q, k, v, o, h: by_chunks(q, k, v / math.sqrt(q.shape[1] // h), o, h)),
    ("scale-at-ov", partial(in_a_loop, scale=lambda d_k: 1, ov_scale=math.sqrt)),
    ("scale-at-ov", lambda q, k, v, o, h: by_einsum(q, k, v, o / math.sqrt(q.shape[1] // h), h, power=0)),
    ("all-heads-together", lambda q, k, v, o, h: (q @ k.T / math.sqrt(q.shape[1] // h), v @ o)),
    ("all-heads-together", lambda *given: tuple(part.sum(0) for part in by_chunks(*given))),
    ("columns-dealt", partial(by_view, columns=dealt)),
    ("columns-dealt", partial(by_view, columns=dealt_by_view)),
    ("rows-dealt", partial(by_view, rows=rows_dealt)),
    ("rows-dealt", partial(by_view, rows=rows_dealt_by_view)),
    ("all-dealt", partial(by_view, columns=dealt, rows=rows_dealt)),
    ("all-dealt", partial(by_view, columns=dealt_by_view, rows=rows_dealt_by_view)),
    ("pieces-of-rows", partial(by_view, columns=pieces)),
    ("pieces-of-rows", partial(by_view, columns=pieces_by_hand)),
    ("within-the-head", partial(in_a_loop, compare=lambda q, k: q.T @ k, write=lambda v, o: o @ v)),
    ("within-the-head", partial(by_einsum, how="dik,dij->ikj", out="div,iwd->iwv")),
    ("ov-turned", partial(in_a_loop, write=lambda v, o: o.T @ v.T)),
    ("ov-turned", partial(by_einsum, out="div,ive->ied")),
    ("circuits-swapped", lambda *given: by_chunks(*given)[::-1]),
    ("circuits-swapped", partial(by_view, end=lambda qk, ov: (ov, qk))),
    ("first-head-for-all", partial(in_a_loop, head=lambda i, h: 0)),
    ("first-head-for-all", partial(by_view, end=lambda qk, ov: (qk[:1].expand_as(qk), ov[:1].expand_as(ov)))),
    ("heads-in-the-middle", partial(by_einsum, how="dik,eik->die", out="div,ive->die")),
    ("heads-in-the-middle", partial(by_view, end=lambda qk, ov: (qk.transpose(0, 1), ov.transpose(0, 1)))),
    ("queries-twice", partial(in_a_loop, compare=lambda q, k: q @ q.T)),
    ("queries-twice", lambda q, k, v, o, h: by_chunks(q, q, v, o, h)),
    ("keys-twice", partial(in_a_loop, compare=lambda q, k: k @ k.T)),
    ("keys-twice", lambda q, k, v, o, h: by_chunks(k, k, v, o, h)),
]

RIGHT = [in_a_loop, by_einsum, by_chunks, by_view, by_masks, by_numpy, by_scaled_queries]

UNLISTED = [
    ("Both circuits are transposed", lambda *given: tuple(part.mT for part in by_chunks(*given))),
    ("multiplied by the root", partial(in_a_loop, scale=lambda d_k: 1 / math.sqrt(d_k))),
    ("fourth root", partial(by_einsum, power=-0.25)),
    ("reverse order", partial(in_a_loop, head=lambda i, h: h - 1 - i)),
    ("circuits of the last one", partial(in_a_loop, head=lambda i, h: h - 1)),
    ("softmax", partial(by_view, end=lambda qk, ov: (qk.softmax(-1), ov))),
    ("QK circuits come back twice", partial(by_view, end=lambda qk, ov: (qk, qk))),
    ("identity is added", partial(by_view, end=lambda qk, ov: (qk, ov + torch.eye(ov.shape[1])))),
    ("axis of heads comes last", partial(by_view, end=lambda qk, ov: (qk.movedim(0, -1), ov.movedim(0, -1)))),
    ("QK times OV", partial(by_view, end=lambda qk, ov: (qk, qk @ ov))),
    ("wrong sign", partial(in_a_loop, write=lambda v, o: -v @ o)),
    ("root of d_v", partial(in_a_loop, write=lambda v, o: v @ o / math.sqrt(v.shape[1]))),
    ("symmetric", partial(in_a_loop, compare=lambda q, k: (q @ k.T + k @ q.T) / 2)),
    (
        "Only W_Q's columns",
        lambda q, k, v, o, h: by_chunks(dealt(q, h).transpose(0, 1).flatten(1), k, v, o, h),
    ),
    ("averaged over the heads", partial(by_view, end=lambda qk, ov: (qk.mean(0), ov.mean(0)))),
    ("of head 1 is right", partial(by_view, end=lambda qk, ov: (_first_right(qk), ov))),
    ("QK circuits are right. In a layer", partial(by_view, end=lambda qk, ov: (qk, ov.sin()))),
    ("circuit of head 1 should have", partial(by_view, end=lambda qk, ov: (qk.sin(), ov.cos()))),
    ("alone|one thing", lambda *given: by_chunks(*given)[0]),
    ("nothing", lambda *given: print(by_chunks(*given)[0].shape)),
]


def _first_right(qk):
    return torch.cat((qk[:1], qk[1:].sin()))
