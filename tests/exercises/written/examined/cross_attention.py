"""cross_attention: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

INF = float("-inf")


def S(t, h):
    return t.view(*t.shape[:2], h, -1).transpose(1, 2)


def J(t):
    return t.transpose(1, 2).flatten(2)


def X(
    y,
    m,
    wq,
    wk,
    wv,
    wo,
    h,
    mask=None,
    *,
    q=lambda y, m: y,
    k=lambda y, m: m,
    v=lambda y, m: m,
    split=S,
    join=J,
    scale=lambda d, h, nk: math.sqrt(d),
    sm=lambda s: s.softmax(-1),
    hide=lambda s, mask: s.masked_fill(~mask, INF),
    mats=lambda a, b, c, d: (a, b, c, d),
    post=lambda o, y: o,
    late=None,
    tr=lambda s: s,
):
    wq, wk, wv, wo = mats(wq, wk, wv, wo)
    Q, K, V = (split(q(y, m) @ wq, h), split(k(y, m) @ wk, h), split(v(y, m) @ wv, h))
    s = tr(Q @ K.mT) / scale(Q.shape[-1], h, K.shape[-2])
    if mask is not None and hide:
        s = hide(s, mask)
    w = sm(s)
    if mask is not None and late:
        w = late(w, mask)
    return post(join(w @ V) @ wo if wo is not None else join(w @ V), y)


def P(**kw):
    return lambda y, m, a, b, c, d, h, mask=None: X(y, m, a, b, c, d, h, mask, **kw)


def loop(y, m, a, b, c, d, h, mask=None):
    dk = y.shape[-1] // h
    outs = []
    for i in range(h):
        sl = slice(i * dk, (i + 1) * dk)
        q, k, v = ((y @ a)[..., sl], (m @ b)[..., sl], (m @ c)[..., sl])
        s = torch.einsum("bqd,bkd->bqk", q, k) / dk**0.5
        if mask is not None:
            s = s.masked_fill(~mask[:, 0], INF)
        outs.append(s.softmax(-1) @ v)
    return torch.cat(outs, -1) @ d


def sdpa(y, m, a, b, c, d, h, mask=None):
    return J(F.scaled_dot_product_attention(S(y @ a, h), S(m @ b, h), S(m @ c, h), mask)) @ d


def npx(y, m, a, b, c, d, h, mask=None):
    y, m, a, b, c, d = (t.numpy() for t in (y, m, a, b, c, d))
    B, n, D = y.shape

    def f(t):
        return t.reshape(B, -1, h, D // h).transpose(0, 2, 1, 3)

    s = f(y @ a) @ f(m @ b).transpose(0, 1, 3, 2) / np.sqrt(D // h).astype(y.dtype)
    if mask is not None:
        s = np.where(mask.numpy(), s, -1000000000.0)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = (e / e.sum(-1, keepdims=True)).astype(y.dtype)
    return torch.from_numpy((w @ f(m @ c)).transpose(0, 2, 1, 3).reshape(B, n, D) @ d)


WRONG = [
    ("target-asks-itself+mask-ignored", P(k=lambda y, m: y, v=lambda y, m: y, hide=None)),
    ("source-asks-itself", P(q=lambda y, m: m)),
    ("roles-exchanged+mask-ignored", P(q=lambda y, m: m, k=lambda y, m: y, v=lambda y, m: y, hide=None)),
    ("no-scale", P(scale=lambda d, h, n: 1)),
    ("scale-sqrt-d_model", P(scale=lambda d, h, n: math.sqrt(d * h))),
    ("over-the-queries", P(sm=lambda s: s.softmax(-2))),
    ("no-softmax", P(sm=lambda s: s, hide=lambda s, k: s.masked_fill(~k, 0))),
    ("mask-ignored", P(hide=None)),
    ("mask-polarity", P(hide=lambda s, k: s.masked_fill(k, INF))),
    ("mask-after-softmax", P(hide=None, late=lambda w, k: w * k)),
    (
        "causal",
        P(tr=lambda s: s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu(1), -1000000000.0)),
    ),
    ("w_o-left-out", P(mats=lambda a, b, c, d: (a, b, c, None))),
    ("w_o-transposed", P(mats=lambda a, b, c, d: (a, b, c, d.T))),
    ("projections-transposed+w_o-transposed", P(mats=lambda a, b, c, d: (a.T, b.T, c.T, d.T))),
    ("key-and-value-matrices-swapped", P(mats=lambda a, b, c, d: (a, c, b, d))),
    ("query-and-key-matrices-swapped", P(mats=lambda a, b, c, d: (b, a, c, d))),
    ("view-without-transpose", P(split=lambda t, h: t.reshape(t.shape[0], h, t.shape[1], -1))),
    ("merge-without-transpose", P(join=lambda t: t.reshape(t.shape[0], t.shape[2], -1))),
    ("residual-added", P(post=lambda o, y: o + y)),
    ("first-head-for-all", P(join=lambda t: J(t[:, :1].expand_as(t)))),
]

RIGHT = [
    loop,
    sdpa,
    npx,
    P(),
    P(hide=lambda s, k: torch.where(k, s, -1000000000.0)),
    P(hide=lambda s, k: s + torch.zeros_like(s).masked_fill(~k, INF)),
    lambda y, m, a, b, c, d, h, mask=None: sum(
        X(
            y,
            m,
            a[:, i::h] if False else a[:, i * (len(a) // h) : (i + 1) * (len(a) // h)],
            b[:, i * (len(a) // h) : (i + 1) * (len(a) // h)],
            c[:, i * (len(a) // h) : (i + 1) * (len(a) // h)],
            d[i * (len(a) // h) : (i + 1) * (len(a) // h)],
            1,
            mask,
        )
        for i in range(h)
    ),
]

UNLISTED = [
    ("stops with an error", P(v=lambda y, m: y)),
    ("stops with an error", P(k=lambda y, m: y, hide=None)),
    ("stops with an error", P(k=lambda y, m: y)),
    ("The scores are divided by d_k, without the root\\.", P(scale=lambda d, h, n: d)),
    (
        "The scores are multiplied by the root of d_k; they should be divided\\.",
        P(scale=lambda d, h, n: 1 / math.sqrt(d)),
    ),
    (
        "Given the same words as target and as source: The scores are wrong by",
        P(scale=lambda d, h, n: math.sqrt(h)),
    ),
    (
        "Given the same words as target and as source: The scores are wrong by",
        P(scale=lambda d, h, n: math.sqrt(n)),
    ),
    ("The softmax runs over the heads\\.", P(sm=lambda s: s.softmax(1))),
    ("A sigmoid stands for the softmax: rows don't sum to 1\\.", P(sm=lambda s: s.sigmoid())),
    (
        "`log_softmax` stands for `softmax`: the weights are negative\\. And:",
        P(sm=lambda s: s.log_softmax(-1), hide=None),
    ),
    (
        "A ReLU and a division by the sum stand for the softmax\\.",
        P(sm=lambda s: s.relu() / (s.relu().sum(-1, keepdim=True) + 1e-09)),
    ),
    ("The scores are rounded down before they are divided\\.", P(tr=lambda s: s.floor())),
    (
        "Only the key with the largest score counts \\(`argmax`\\)\\.",
        P(sm=lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype)),
    ),
    ("The softmax is taken twice\\.", P(sm=lambda s: s.softmax(-1).softmax(-1))),
    ("The exponentials are not divided by their sum\\.", P(sm=torch.exp)),
    ("Scores of padding become 0 before the softmax, which leaves them a", P(hide=lambda s, k: s * k)),
    (
        "Scores of padding become -1, which leaves them a weight\\.",
        P(hide=lambda s, k: s.masked_fill(~k, -1.0)),
    ),
    (
        "Scores of padding become 0 before the softmax, which leaves them a",
        P(hide=lambda s, k: s.masked_fill(~k, 1e-09)),
    ),
    ("The mask \\(1 and 0\\) is added to the scores\\.", P(hide=lambda s, k: s + k)),
    ("The first sentence's mask serves all\\.", P(hide=lambda s, k: s.masked_fill(~k[:1], INF))),
    ("W_Q is transposed\\.", P(mats=lambda a, b, c, d: (a.T, b, c, d))),
    (
        "`w_q` and `w_v` have no effect: with other numbers in them the result",
        P(mats=lambda a, b, c, d: (b, b, b, d)),
    ),
    (
        "Each head takes features that lie h apart; a head owns neighbouring",
        P(split=lambda t, h: t.view(*t.shape[:2], -1, h).permute(0, 3, 1, 2)),
    ),
    ("Nothing is cut: there is one head as wide as d_model\\.", P(split=lambda t, h: t[:, None])),
    (
        "The features of the heads alternate when they are joined\\.",
        P(join=lambda t: t.permute(0, 2, 3, 1).flatten(2)),
    ),
    (
        "The heads are averaged, and the mean stands h times\\.",
        P(join=lambda t: t.mean(1).repeat(1, 1, t.shape[1])),
    ),
    (
        "The heads are added up, and the sum stands h times\\.",
        P(join=lambda t: t.sum(1).repeat(1, 1, t.shape[1])),
    ),
    (
        "The target is added and everything is normalised, as around the layer\\.",
        P(post=lambda o, y: F.layer_norm(o + y, o.shape[-1:])),
    ),
    (
        "Keys and values are made of `memory` and `y`, one behind the other\\.",
        P(k=lambda y, m: torch.cat([m, y], 1), v=lambda y, m: torch.cat([m, y], 1), hide=None),
    ),
    (
        "The result should have shape `\\(b, n_q, d_model\\)` = `\\(2, 5, 12\\)`;",
        lambda y, m, a, b, c, d, h, mask=None: (
            S(y @ a, h) @ S(m @ b, h).mT / math.sqrt(y.shape[-1] // h)
        ).softmax(-1),
    ),
    (
        "`w_q`, `w_k`, `w_v` and `w_o` have no effect: with other numbers in",
        P(mats=lambda a, b, c, d: (torch.eye(len(a)).to(a.dtype),) * 4),
    ),
    (
        "`w_v` has no effect: with other numbers in it the result stays the",
        P(mats=lambda a, b, c, d: (a, b, torch.eye(len(a)).to(a.dtype), d)),
    ),
    (
        "`w_k` has no effect: with other numbers in it the result stays the",
        P(mats=lambda a, b, c, d: (a, torch.eye(len(a)).to(a.dtype), c, d)),
    ),
    ("The heads stand in reverse order\\.", P(join=lambda t: J(t.flip(1)))),
    (
        "Given the same words as target and as source: The scores are wrong by",
        P(scale=lambda d, h, n: math.sqrt(d) * math.sqrt(d * h)),
    ),
    (
        "W_O is multiplied with W_V, before the heads are cut; it belongs",
        P(post=lambda o, y: o, mats=lambda a, b, c, d: (a, b, c @ d, torch.eye(len(a)).to(a.dtype))),
    ),
    (
        "All source words get the same weight, as if they were averaged first\\.",
        P(sm=lambda s: torch.ones_like(s) / s.shape[-1]),
    ),
    ("The scores are squared before they are divided\\.", P(tr=lambda s: s**2)),
    ("The scores lose their sign\\.", P(tr=lambda s: s.abs())),
    ("The scores have the wrong sign\\.", P(tr=lambda s: -s)),
    (
        "`y`, `w_q` and `w_k` have no effect: with other numbers in them the",
        P(k=lambda y, m: m.mean(1, keepdim=True).expand_as(m)),
    ),
    ("The scores of all heads are added up\\.", P(tr=lambda s: s.sum(1, keepdim=True).expand_as(s))),
    ("stops with an error", P(hide=lambda s, k: s.masked_fill(~k.mT, INF))),
    (
        "Nothing is cut: there is one head as wide as d_model\\. And: The mask",
        lambda y, m, a, b, c, d, h, mask=None: (
            (y @ a @ (m @ b).mT / math.sqrt(y.shape[-1])).softmax(-1) @ (m @ c) @ d
        ),
    ),
]
