"""head_contributions as students write it: each known mistake twice or more, right ones, unlisted ones."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.exercises.written.errors_of_heads import SHARES


def one_number_at_a_time(heads, w_o):
    b, h, n, d_v = heads.shape
    out = torch.zeros(b, h, n, w_o.shape[1], dtype=heads.dtype)
    for i in range(h):
        for p in range(d_v):
            out[:, i] += heads[:, i, :, p, None] * w_o[i * d_v + p]
    return out


def padded_concat(heads, w_o):
    b, h, n, d_v = heads.shape
    out = []
    for i in range(h):
        concat = torch.zeros(b, n, h * d_v, dtype=heads.dtype)
        concat[..., i * d_v : (i + 1) * d_v] = heads[:, i]
        out.append(concat @ w_o)
    return torch.stack(out, dim=1)


def masked_concat(heads, w_o):
    b, h, n, d_v = heads.shape
    concat = heads.transpose(1, 2).reshape(b, 1, n, h * d_v)
    owner = torch.arange(h * d_v) // d_v
    keep = (owner == torch.arange(h)[:, None]).to(heads.dtype)
    return (concat * keep[:, None]) @ w_o


def with_numpy(heads, w_o):
    z, w = heads.numpy(), np.split(w_o.numpy(), heads.shape[1], axis=0)
    return torch.from_numpy(np.stack([z[:, i] @ w[i] for i in range(z.shape[1])], axis=1))


def block_diagonal(heads, w_o):
    b, h, n, d_v = heads.shape
    wide = torch.cat([heads[:, i] @ w_o[i * d_v : (i + 1) * d_v] for i in range(h)], dim=-1)
    return wide.view(b, n, h, -1).transpose(1, 2)


RIGHT = [
    lambda z, w: torch.einsum("bhnd,hdm->bhnm", z, w.view(z.shape[1], z.shape[3], -1)),
    lambda z, w: torch.stack([z[:, i] @ w.chunk(z.shape[1])[i] for i in range(z.shape[1])], dim=1),
    lambda z, w: z @ w.unflatten(0, (z.shape[1], -1)),
    lambda z, w: torch.stack(
        [z[:, i] @ w[i * z.shape[3] : (i + 1) * z.shape[3]] for i in range(z.shape[1])], 1
    ),
    lambda z, w: torch.stack(
        [F.linear(a, p.T) for a, p in zip(z.unbind(1), w.split(z.size(3)), strict=True)], 1
    ),
    lambda z, w: (z.unsqueeze(-1) * w.reshape(1, z.shape[1], 1, z.shape[3], -1)).sum(-2),
    one_number_at_a_time,
    padded_concat,
    masked_concat,
    with_numpy,
    block_diagonal,
]


def looped(heads, w_o, rows, keep=lambda i, shares: shares):
    out = []
    for i in range(heads.shape[1]):
        out.append(heads[:, i] @ w_o[rows(i, heads.shape[1], heads.shape[3])])
    return torch.stack(out, 1)


def right(z, w):
    return torch.einsum("bhnd,hdm->bhnm", z, w.unflatten(0, (z.shape[1], z.shape[3])))


def full_concat(z, w):
    return torch.cat(z.unbind(1), -1) @ w


def never_reset(heads, w_o):
    total, out = 0, []
    for z, block in zip(heads.unbind(1), w_o.chunk(heads.shape[1]), strict=True):
        total = total + z @ block
        out.append(total)
    return torch.stack(out, 1)


def only_places(heads, w_o):
    h, d_v = heads.shape[1], heads.shape[3]
    return torch.stack([F.pad(z, (i * d_v, (h - 1 - i) * d_v)) for i, z in enumerate(heads.unbind(1))], 1)


def places_by_mask(heads, w_o):
    h, d_v = heads.shape[1], heads.shape[3]
    own = torch.arange(h)[:, None, None] == torch.arange(h * d_v) // d_v
    return heads.repeat(1, 1, 1, h) * own


def transposed_then_cut(z, w):
    return z @ w.T.contiguous().view(z.shape[1], z.shape[3], -1)


def cut_then_transposed(z, w):
    blocks = w.view(z.shape[1], w.shape[1], z.shape[3])
    return torch.einsum("bhnd,hmd->bhnm", z, blocks)


def last_first(z, w):
    out = []
    for i in range(z.shape[1]):
        out.insert(0, z[:, i] @ w[i * z.shape[3] : (i + 1) * z.shape[3]])
    return torch.stack(out, 1)


WRONG = [
    (
        "columns-for-rows",
        lambda z, w: torch.stack([z[:, i] @ c.T for i, c in enumerate(w.chunk(z.shape[1], 1))], 1),
    ),
    ("columns-for-rows", transposed_then_cut),
    ("reshape-without-order", cut_then_transposed),
    ("reshape-without-order", lambda z, w: z @ w.view(z.shape[1], -1, z.shape[3]).mT),
    ("rows-interleaved", lambda z, w: looped(z, w, lambda i, h, d_v: slice(i, None, h))),
    ("rows-interleaved", lambda z, w: torch.einsum("bhnd,dhm->bhnm", z, w.view(z.shape[3], z.shape[1], -1))),
    ("blocks-reversed", lambda z, w: looped(z, w, lambda i, h, d: slice((h - 1 - i) * d, (h - i) * d))),
    (
        "blocks-reversed",
        lambda z, w: torch.stack([z[:, i] @ w.chunk(z.shape[1])[-1 - i] for i in range(z.shape[1])], 1),
    ),
    ("first-block-for-all", lambda z, w: torch.einsum("bhnd,dm->bhnm", z, w[: z.shape[3]])),
    ("first-block-for-all", lambda z, w: looped(z, w, lambda i, h, d_v: slice(0, d_v))),
    ("summed", full_concat),
    ("summed", lambda z, w: torch.einsum("bhnd,hdm->bnm", z, w.view(z.shape[1], z.shape[3], -1))),
    ("averaged", lambda z, w: right(z, w) / z.shape[1]),
    ("averaged", lambda z, w: right(z / z.shape[1], w)),
    ("output-for-every-head", lambda z, w: torch.stack([full_concat(z, w)] * z.shape[1], 1)),
    (
        "output-for-every-head",
        lambda z, w: right(z, w).sum(1, keepdim=True).repeat(1, z.shape[1], 1, 1),
    ),
    ("w_o-left-out", only_places),
    ("w_o-left-out", places_by_mask),
    ("running-sum", never_reset),
    ("running-sum", lambda z, w: torch.cumsum(right(z, w), dim=1)),
    ("heads-reversed", last_first),
    ("heads-reversed", lambda z, w: torch.stack(right(z, w).unbind(1)[::-1], 1)),
    ("heads-behind-tokens", lambda z, w: torch.stack(right(z, w).unbind(1), 2)),
    ("heads-behind-tokens", lambda z, w: torch.einsum("bhnm->bnhm", right(z, w))),
    ("heads-in-front", lambda z, w: torch.stack(list(right(z, w).unbind(1)))),
    ("heads-in-front", lambda z, w: right(z, w).permute(1, 0, 2, 3)),
]


def overlapping(z, w):
    return looped(z, w, lambda i, h, d_v: slice(i, i + d_v))


def only_the_first(z, w):
    out = torch.zeros(*z.shape[:3], w.shape[1])
    out[:, 0] = z[:, 0] @ w[: z.shape[3]]
    return out


UNLISTED = [
    ("heads are moved on by one place", lambda z, w: right(z, w).roll(1, 1)),
    (
        "in the place of head 1 stands the share of head 3|In the place of head 1",
        lambda z, w: right(z.roll(1, 1), w),
    ),
    ("head 2 meets rows 1, 2, 3 and 4", overlapping),
    ("multiplied by 2", lambda z, w: 2 * right(z, w)),
    ("divided by the root of d_v", lambda z, w: right(z, w) / math.sqrt(z.shape[3])),
    ("multiplied by h", lambda z, w: right(z, w) * z.shape[1]),
    ("softmax", lambda z, w: right(z, w).softmax(-1)),
    ("something is added", lambda z, w: right(z, w) + 1),
    ("holds heads 1, 2 and 3", lambda z, w: right(z, w) + torch.cat(z.unbind(1), -1)[:, None]),
    ("every head meets columns 0, 1, 2 and 3", lambda z, w: z @ w[:, : z.shape[3]].T),
    ("own rows, in another order", lambda z, w: right(z.flip(-1), w)),
    ("Tokens are mixed", lambda z, w: right(z.transpose(1, 2).reshape(z.shape), w)),
    ("blocks of W_O are averaged", lambda z, w: z @ w.unflatten(0, (z.shape[1], -1)).mean(0)),
    ("Heads 2 and 3 are 0 throughout", only_the_first),
    ("ReLU", lambda z, w: right(z, w).relu()),
    ("mean of each row", lambda z, w: right(z, w) - right(z, w).mean(-1, keepdim=True)),
    ("rows of W_O are moved on by one place", lambda z, w: right(z, w.roll(1, 0))),
    ("tokens are summed up", lambda z, w: right(z, w).cumsum(2)),
    ("the axes stand in another order", lambda z, w: right(z, w).permute(0, 2, 3, 1)),
    ("axis of heads is gone|heads are averaged", lambda z, w: right(z, w).mean(1)),
    ("axis of tokens is gone|tokens are averaged", lambda z, w: right(z, w).mean(2)),
    ("shape", lambda z, w: torch.cat([z[:, i] @ w[: z.shape[3]] for i in range(z.shape[1])], 1)),
    ("opposite", lambda z, w: -right(z, w)),
    (
        "(?i)every head meets the last block",
        lambda z, w: looped(z, w, lambda i, h, d: slice(-d, None)),
    ),
    (
        "share of head 3",
        lambda z, w: torch.einsum(
            "bhnd,hmd->bhnm", z, w.view(z.shape[1], z.shape[3], -1).flip(0).transpose(1, 2)
        ).flip(1),
    ),
    ("normalised", lambda z, w: F.layer_norm(right(z, w), w.shape[1:])),
    ("more than a product|squared|opposite sign", lambda z, w: right(z * z, w)),
    ("sentence", lambda z, w: right(z, w).flip(0)),
    ("as it came|no matrix product", lambda z, w: z),
    ("beside each other along the features", lambda z, w: torch.cat(right(z, w).unbind(1), -1)),
    ("behind each other along the sentences", lambda z, w: torch.cat(right(z, w).unbind(1), 0)),
    ("behind each other along the tokens", lambda z, w: torch.cat(right(z, w).unbind(1), 1)),
    ("Only head 1 of 3 comes out|only the first of the heads", lambda z, w: z[:, 0] @ w[: z.shape[3]]),
    ("One head is missing", lambda z, w: right(z, w)[:, :-1]),
    ("added up; and every head meets the first block", lambda z, w: (z @ w[: z.shape[3]]).sum(1)),
    ("joined by `reshape` alone", lambda z, w: by_reshape(z, w)),
    (
        "blocks of W_O are added up",
        lambda z, w: torch.einsum("bhnd,gdm->bhnm", z, w.unflatten(0, (z.shape[1], -1))),
    ),
    ("block of the head before it", lambda z, w: z @ w.unflatten(0, (z.shape[1], -1)).roll(1, 0)),
    ("stands in front of the batch.* And: .*rows 0, 3, 6 and 9", lambda z, w: dealt(z, w).transpose(0, 1)),
    ("(?i)signs are dropped", lambda z, w: right(z, w.abs())),
    ("Everything is 0", lambda z, w: right(z, w) * 0),
    ("Everything is NaN", lambda z, w: right(z, w) * float("nan")),
    ("Sentence 2 is 0", lambda z, w: right(z, w) * (torch.arange(len(z)) < 1).view(-1, 1, 1, 1)),
    ("d_model other than", lambda z, w: z @ w.reshape(w.shape[1] // z.shape[3], -1, w.shape[1])),
    ("d_model other than", lambda z, w: z @ w.reshape(z.shape[1], z.shape[3], z.shape[1] * z.shape[3])),
]


def by_reshape(z, w):
    d_v = z.shape[3]
    concat = z.reshape(z.shape[0], z.shape[2], -1)
    parts = [concat[..., i * d_v : (i + 1) * d_v] @ w[i * d_v : (i + 1) * d_v] for i in range(z.shape[1])]
    return torch.stack(parts, 1)


def dealt(z, w):
    return z @ torch.stack([w[i :: z.shape[1]] for i in range(z.shape[1])])


UNLISTED += SHARES


def rows_by_tokens(z, w):
    d_v = w.shape[0] // z.shape[2]
    return torch.stack([z[:, i] @ w[i * d_v : (i + 1) * d_v] for i in range(z.shape[1])], 1)


UNLISTED += [
    ("`n` = 5, and `w_o`.* has none", lambda z, w: z @ w.reshape(z.shape[2], z.shape[3], -1)),
    ("4 features and meets 2 rows of W_O", rows_by_tokens),
]
