"""Answers far from anything listed, and strange on purpose: none may stay unnamed."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.exercises.written.examined import cross_attention as CA
from tests.exercises.written.examined import sinusoidal_encoding as SE
from tests.exercises.written.examined import warm_up_rates as WR

E = 1e-05
enc = SE.base
L = WR.L


def ln_loop_prev(x, g, b):
    out = torch.empty_like(x)
    mu = 0
    for s in range(x.shape[0]):
        for t in range(x.shape[1]):
            mu = x[s].mean()
            v = x[s, t].var(unbiased=False)
            out[s, t] = (x[s, t] - mu) / (v + E).sqrt() * g + b
    return out


def ff_tok(x, a, c, d, e):
    out = torch.zeros_like(x)
    for t in range(x.shape[1] - 1):
        out[:, t] = torch.relu(x[:, t] @ a + c) @ d + e
    return out


def sr_loop(t, s):
    o = torch.zeros_like(t)
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            o[i, j] = s if j == 0 else t[i, j - 2]
    return o


def dm_loop(lengths, n):
    o = torch.zeros(len(lengths), 1, n, n, dtype=torch.bool)
    for b in range(len(lengths)):
        for q in range(int(lengths[b])):
            for k in range(q):
                o[b, 0, q, k] = True
    return o


STRANGE = {
    "layer_norm": [
        ln_loop_prev,
        lambda x, g, b: F.layer_norm(x, x.shape[-1:], g, None) + b.mean(),
        lambda x, g, b: F.layer_norm(x.relu(), x.shape[-1:], g, b),
        lambda x, g, b: F.layer_norm(x, x.shape[-1:], g.softmax(0), b),
        lambda x, g, b: F.instance_norm(x) * g + b,
        lambda x, g, b: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) ** 2 + E) * g + b,
        lambda x, g, b: F.layer_norm(x, x.shape[-1:], g, b).relu(),
        lambda x, g, b: F.group_norm(x.transpose(1, 2), 1).transpose(1, 2) * g + b,
        lambda x, g, b: (
            (x - x.mean(-1, keepdim=True))
            / ((x - x.mean(-1, keepdim=True)).abs().amax(-1, keepdim=True) + E)
            * g
            + b
        ),
        lambda x, g, b: x / (x.abs().mean(-1, keepdim=True) + E) * g + b,
        lambda x, g, b: F.layer_norm(x, x.shape[-1:], g + b),
        lambda x, g, b: (F.layer_norm(x, x.shape[-1:]) + b / g) * g * g,
        lambda x, g, b: (
            (x - x.mean(-1, keepdim=True))
            / ((x.pow(2).mean(-1, keepdim=True) - x.mean(-1, keepdim=True)).abs() + E).sqrt()
            * g
            + b
        ),
        lambda x, g, b: F.layer_norm(x, x.shape[-1:], g, b) * x.shape[-1] ** 0.5,
    ],
    "feed_forward": [
        ff_tok,
        lambda x, a, c, d, e: torch.relu(x @ a + c) @ d + e + c.mean(),
        lambda x, a, c, d, e: (torch.relu(x @ a + c) @ d + e) * 2,
        lambda x, a, c, d, e: torch.relu(x @ a + c).mean(-1, keepdim=True) @ d.mean(0, keepdim=True) + e,
        lambda x, a, c, d, e: torch.relu(torch.relu(x) @ a + c) @ d + e,
        lambda x, a, c, d, e: torch.relu(x @ a + c).roll(1, 1) @ d + e,
        lambda x, a, c, d, e: torch.relu(x @ a + c) @ d.abs() + e,
        lambda x, a, c, d, e: F.hardtanh(x @ a + c) @ d + e,
        lambda x, a, c, d, e: torch.relu(x.flip(-1) @ a + c) @ d + e,
        lambda x, a, c, d, e: (torch.relu(x @ a + c) * torch.relu(x @ a + c)).sqrt().clamp(max=1) @ d + e,
        lambda x, a, c, d, e: torch.relu(x @ a + c) @ d + e @ torch.eye(len(e)) * 0.5,
        lambda x, a, c, d, e: F.threshold(x @ a + c, 0.5, 0) @ d + e,
        lambda x, a, c, d, e: torch.relu(x @ a + c) @ d + x @ torch.zeros_like(a) @ d + 1,
        lambda x, a, c, d, e: F.relu(x @ a + c) @ d.flip(0) + e,
    ],
    "shift_right": [
        sr_loop,
        lambda t, s: torch.cat([torch.full((len(t), 1), s + 1), t[:, :-1]], 1),
        lambda t, s: t.roll(1, 1).clamp(min=s),
        lambda t, s: torch.where(torch.arange(t.shape[1]) == 0, s, t - 1),
        lambda t, s: torch.cat([torch.full((len(t), 1), s), t[:, :-1]], 1).roll(1, 1),
        lambda t, s: torch.cat([torch.full((len(t), 1), s), t[:, :-1]], 1).sort(1).values,
        lambda t, s: torch.cat([torch.full((len(t), 1), s), t[:, -1:], t[:, 1:-1]], 1),
        lambda t, s: torch.cat([torch.full((len(t), 1), s), t[:1, :-1].expand(len(t), -1)], 1),
        lambda t, s: torch.cat([torch.full((len(t), 2), s), t[:, 2:]], 1),
        lambda t, s: torch.zeros_like(t),
        lambda t, s: torch.cat([torch.full((len(t), 1), s), t[:, :-1]], 1) + 1,
        lambda t, s: torch.cat([torch.arange(len(t))[:, None], t[:, :-1]], 1),
    ],
    "decoder_mask": [
        dm_loop,
        lambda row, n: (
            CA
            and torch.ones(n, n).tril().bool()
            & (torch.arange(n) < row[:, None])[:, None, None]
            & (torch.arange(n)[:, None] > 0)
        ),
        lambda row, n: torch.ones(n, n).tril().bool() & (torch.arange(n) < row[:, None] // 2)[:, None, None],
        lambda row, n: (
            (torch.arange(n)[None, :] * torch.arange(n)[:, None] <= torch.arange(n)[:, None])
            & (torch.arange(n) < row[:, None])[:, None, None]
        ),
        lambda row, n: (
            torch.ones(n, n).tril().bool()
            & (torch.arange(n) < row.float().mean())[None, None, None].expand(len(row), 1, 1, n)
        ),
        lambda row, n: (
            (torch.arange(n)[:, None] - torch.arange(n) < 3)
            & (torch.arange(n)[:, None] >= torch.arange(n))
            & (torch.arange(n) < row[:, None])[:, None, None]
        ),
        lambda row, n: (
            torch.ones(n, n).tril().bool() & (torch.arange(n) + 1 <= row[:, None] - 1)[:, None, None]
        ),
        lambda row, n: torch.ones(n, n).triu(1).bool() | (torch.arange(n) >= row[:, None])[:, None, None],
        lambda row, n: (
            torch.ones(n, n).tril().bool() & (torch.arange(n) < row[:, None])[:, None, None]
            | torch.eye(n).bool()[None, None] & (torch.arange(n) == n - 1)
        ),
        lambda row, n: (
            (torch.arange(n)[:, None] % 2 == torch.arange(n) % 2)
            & torch.ones(n, n).tril().bool()
            & (torch.arange(n) < row[:, None])[:, None, None]
        ),
        lambda row, n: (
            torch.ones(n, n).tril().bool() & (torch.arange(n)[:, None] < row[:, None, None, None])
            | (torch.arange(n) < row[:, None])[:, None, None] & False
        ),
    ],
    "cross_attention": [
        CA.P(scale=lambda d, h, n: math.sqrt(d) * h),
        CA.P(sm=lambda s: s.softmax(-1).pow(2)),
        CA.P(post=lambda o, y: o / 2),
        CA.P(sm=lambda s: F.softplus(s) / F.softplus(s).sum(-1, keepdim=True)),
        CA.P(split=lambda t, h: t.view(*t.shape[:2], h, -1).permute(0, 2, 1, 3).flip(2)),
        CA.P(join=lambda t: t.amax(1).repeat(1, 1, t.shape[1])),
        CA.P(hide=lambda s, k: s.masked_fill(~k, s.min())),
        CA.P(hide=lambda s, k: s.masked_fill(~k, -5.0)),
        CA.P(sm=lambda s: F.dropout(s.softmax(-1), 0.0) * 0.9),
        CA.P(mats=lambda a, b, c, d: (a @ b, b, c, d)),
        CA.P(q=lambda y, m: y + 1),
        CA.P(sm=lambda s: F.normalize(s, p=1, dim=-1)),
        CA.P(sm=lambda s: s.exp() / s.exp().amax(-1, keepdim=True)),
        CA.P(post=lambda o, y: torch.tanh(o)),
        CA.P(
            sm=lambda s: (
                s.topk(min(2, s.shape[-1]), -1).values.min(-1, keepdim=True).values.le(s) * s.softmax(-1)
            )
        ),
    ],
}
