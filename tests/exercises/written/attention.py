"""attention as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

INF = math.inf


def core(q, k, v, mask=None, *, scale=lambda q, k, v: q.shape[-1] ** -0.5, hide=None, soft=None, late=None):
    """q k^T, scale, hide, soften, mix, with einsum and what is given."""
    scores = torch.einsum("...qd,...kd->...qk", q, k) * scale(q, k, v)
    if mask is not None:
        scores = (hide or (lambda s, m: torch.where(m, s, -INF)))(scores, mask)
    weights = (soft or (lambda s: F.softmax(s, dim=-1)))(scores)
    if mask is not None and late is not None:
        weights = late(weights, mask)
    return torch.einsum("...qk,...kv->...qv", weights, v), weights


def fused(q, k, v, mask=None, *, scale=None):
    """The output from the library, the weights by the way of an identity in place of the values."""
    names = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], -1)
    attend = partial(F.scaled_dot_product_attention, q, k, attn_mask=mask, scale=scale and scale(q, k, v))
    return attend(v), attend(names)


def in_numpy(q, k, v, mask=None, *, scale=lambda d_k, d_v: 1 / math.sqrt(d_k), axis=-1, sign=1):
    scores = np.matmul(q.numpy(), k.numpy().swapaxes(-1, -2)) * scale(q.shape[-1], v.shape[-1])
    if mask is not None:
        scores = np.where(mask.numpy() if sign == 1 else ~mask.numpy(), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    weights = (powers / powers.sum(axis, keepdims=True)).astype(scores.dtype)
    return torch.from_numpy(weights @ v.numpy()).to(v.dtype), torch.from_numpy(weights).to(v.dtype)


def in_loops(q, k, v, mask=None, *, divide=lambda q, k, v: math.sqrt(q.shape[-1]), closed=None):
    lead, n_q, n_k = q.shape[:-2], q.shape[-2], k.shape[-2]
    q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in (q, k, v))
    weights = torch.zeros(len(q), n_q, n_k, dtype=q.dtype)
    for s in range(len(q)):
        for i in range(n_q):
            row = torch.stack([torch.dot(q[s, i], k[s, j]) / divide(q, k, v) for j in range(n_k)])
            if mask is not None and closed is None:
                row[~mask[i]] = -INF
            weights[s, i] = row.softmax(0)
            if mask is not None and closed is not None:
                weights[s, i] = closed(weights[s, i], mask[i])
    output = weights @ v
    return output.reshape(*lead, n_q, -1), weights.reshape(*lead, n_q, n_k)


def bare(q, k):
    return q @ k.mT / math.sqrt(q.shape[-1])


def hidden_at(value):
    return lambda s, m: s.masked_fill(~m, value)


def averaging(q, k, v, mask=None):
    _, weights = core(q, k, v, mask)
    mean = v.sum(-2) / v.shape[-2]
    return torch.stack([mean] * q.shape[-2], -2), weights


def no_mask_given(q, k, v, mask=None, *, weights):
    w = weights(q, k, mask)
    return w @ v, w


def batch_only(q, k, v, mask=None):
    b, n_q, d_k = q.shape
    scores = torch.bmm(q, k.transpose(1, 2)) / d_k**0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(-INF))
    weights = torch.softmax(scores, dim=2)
    return torch.bmm(weights, v), weights


def additive(q, k, v, mask=None):
    scores = bare(q, k)
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask.logical_not(), -1e9)
    return scores.softmax(-1) @ v, scores.softmax(-1)


def renormalised(q, k, v, mask=None):
    powers = (bare(q, k) - bare(q, k).amax(-1, keepdim=True)).exp()
    powers = powers if mask is None else powers * mask
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ v, weights


def without_a_shift(q, k, v, mask=None):
    powers = (q @ k.mT / math.sqrt(q.shape[-1])).exp()  # NaN for large scores: a remark
    powers = powers if mask is None else powers * mask
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ v, weights


def with_gradients(q, k, v, mask=None):
    q.requires_grad_()
    return core(q, k, v, mask)


def by_head(q, k, v, mask=None):
    if q.ndim == 2:
        return core(q, k, v, mask)
    parts = [by_head(a, b, c, mask) for a, b, c in zip(q, k, v, strict=True)]
    return tuple(torch.stack(some) for some in zip(*parts, strict=True))


def cut(weights):
    return weights.masked_fill(weights < 0.1, 0.0)


def top(scores, count=3):
    limit = scores.topk(min(count, scores.shape[-1]), -1).values[..., -1:]
    return scores.masked_fill(scores < limit, -INF).softmax(-1)


def after(change):
    """A right attention whose output is changed afterwards."""

    def attention(q, k, v, mask=None):
        output, weights = core(q, k, v, mask)
        return change(output, weights, v), weights

    return attention


def returning(change):
    """A right output, and something else in the place of the weights."""

    def attention(q, k, v, mask=None):
        output, weights = core(q, k, v, mask)
        return output, change(bare(q, k), weights)

    return attention


def comparing(scores):
    """Another comparison of queries and keys."""

    def attention(q, k, v, mask=None):
        s = scores(q, k) if mask is None else scores(q, k).masked_fill(~mask, -INF)
        return s.softmax(-1) @ v, s.softmax(-1)

    return attention


def with_values(change):
    """Weights of the right kind, and other values."""

    def attention(q, k, v, mask=None):
        _, weights = core(q, k, v, mask)
        return weights @ change(v), weights

    return attention


def scored(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def no_case_without(q, k, v, mask=None):
    weights = scored(q, k).masked_fill(mask == 0, -1e9).softmax(-1)
    return weights @ v, weights


def without_a_mask_missing(q, k, v, mask=None):
    if mask is None:
        raise NotImplementedError("no mask")
    weights = scored(q, k).masked_fill(~mask, -1e9).softmax(-1)
    return weights @ v, weights


def filled(q, k, v, mask=None, *, by=lambda m: ~m, value=-1e9, scores=scored, dim=-1, mix=torch.matmul):
    s = scores(q, k)
    weights = (s if mask is None else s.masked_fill(by(mask), value)).softmax(dim)
    return mix(weights, v), weights


def undivided(q, k):
    return torch.einsum("...qd,...kd->...qk", q, k)


WRONG = [
    ("no-scale+over-the-queries+mask-polarity", partial(filled, by=lambda m: m, scores=undivided, dim=-2)),
    ("no-scale", partial(fused, scale=lambda q, k, v: 1.0)),
    ("no-scale", partial(in_numpy, scale=lambda d_k, d_v: 1)),
    ("scale-d_k", partial(in_loops, divide=lambda q, k, v: q.shape[-1])),
    ("scale-d_k", partial(fused, scale=lambda q, k, v: 1 / q.size(-1))),
    ("scale-multiplied", partial(in_numpy, scale=lambda d_k, d_v: math.sqrt(d_k))),
    ("scale-multiplied", partial(core, scale=lambda q, k, v: k.shape[-1] ** 0.5)),
    ("scale-sqrt-n", partial(core, scale=lambda q, k, v: v.shape[-2] ** -0.5)),
    ("scale-sqrt-n", partial(in_loops, divide=lambda q, k, v: math.sqrt(k.shape[-2]))),
    ("scale-sqrt-d_v", partial(in_numpy, scale=lambda d_k, d_v: d_v**-0.5)),
    ("scale-sqrt-d_v", partial(fused, scale=lambda q, k, v: 1 / math.sqrt(v.shape[-1]))),
    ("over-the-queries", partial(in_numpy, axis=-2)),
    ("over-the-queries", partial(core, hide=hidden_at(-1e9), soft=lambda s: s.mT.softmax(-1).mT)),
    ("no-softmax", partial(core, soft=lambda s: s, hide=hidden_at(-INF))),
    (
        "no-softmax",
        partial(
            no_mask_given,
            weights=lambda q, k, m: bare(q, k) if m is None else torch.where(m, bare(q, k), -INF),
        ),
    ),
    ("sigmoid", partial(core, soft=torch.sigmoid)),
    ("sigmoid", partial(core, hide=hidden_at(-1e9), soft=lambda s: 1 / (1 + (-s).exp()))),
    ("softmax-twice", partial(core, soft=lambda s: torch.softmax(torch.softmax(s, -1), -1))),
    ("softmax-twice", lambda q, k, v, mask=None: ((w := core(q, k, v, mask)[1].softmax(-1)) @ v, w)),
    ("over-the-sentences", partial(core, soft=lambda s: s.softmax(0))),
    ("over-the-sentences", partial(in_numpy, axis=0)),
    ("mask-ignored", lambda q, k, v, mask=None: fused(q, k, v)),
    ("mask-ignored", lambda q, k, v, mask=None: in_loops(q, k, v)),
    ("mask-polarity", partial(in_numpy, sign=-1)),
    (
        "mask-polarity",
        lambda q, k, v, mask=None: fused(q, k, v, None if mask is None else mask.logical_not()),
    ),
    ("mask-polarity", partial(core, hide=lambda s, m: s - 1e9 * m)),
    ("mask-added", partial(core, hide=lambda s, m: s + m.to(s.dtype))),
    ("mask-added", lambda q, k, v, mask=None: fused(q, k, v, None if mask is None else mask.to(q.dtype))),
    ("mask-zero-score", partial(core, hide=hidden_at(0.0))),
    ("mask-zero-score", partial(core, hide=lambda s, m: torch.einsum("...qk,qk->...qk", s, m.to(s.dtype)))),
    ("mask-minus-one", partial(core, hide=lambda s, m: torch.where(m, s, torch.full_like(s, -1)))),
    ("mask-minus-one", partial(core, hide=lambda s, m: s * m - (~m).to(s.dtype))),
    ("mask-after-softmax", partial(in_loops, closed=lambda w, m: w * m)),
    ("mask-after-softmax", partial(core, hide=lambda s, m: s, late=lambda w, m: torch.where(m, w, 0.0))),
    ("mask-polarity-after-softmax", partial(in_loops, closed=lambda w, m: w * ~m)),
    (
        "mask-polarity-after-softmax",
        partial(core, hide=lambda s, m: s, late=lambda w, m: torch.where(m, 0.0, w)),
    ),
    ("mask-infinity-after-softmax", partial(in_loops, closed=lambda w, m: torch.where(m, w, -INF))),
    ("mask-infinity-after-softmax", partial(core, hide=lambda s, m: s, late=hidden_at(-INF))),
    ("weights-not-used", after(lambda o, w, v: v.mean(-2, keepdim=True).expand_as(o))),
    ("weights-not-used", averaging),
    (
        "scale-after-softmax",
        lambda q, k, v, mask=None: tuple(
            t / q.shape[-1] ** 0.5 for t in fused(q, k, v, mask, scale=lambda *a: 1.0)
        ),
    ),
    (
        "scale-after-softmax",
        lambda q, k, v, mask=None: (
            (w := core(q, k, v, mask, scale=lambda *a: 1)[1] / math.sqrt(k.shape[-1])) @ v,
            w,
        ),
    ),
    (
        "no-scale+over-the-queries",
        partial(core, scale=lambda *a: 1, hide=hidden_at(-1e9), soft=lambda s: s.softmax(-2)),
    ),
    ("no-scale+mask-after-softmax", partial(in_loops, divide=lambda *a: 1, closed=lambda w, m: w * m)),
]

RIGHT = [
    core,
    fused,
    in_numpy,
    in_loops,
    batch_only,
    additive,
    renormalised,
    without_a_shift,
    with_gradients,
    by_head,
    partial(core, hide=hidden_at(torch.finfo(torch.float32).min)),
    partial(core, soft=lambda s: s.log_softmax(-1).exp()),
    partial(core, soft=lambda s: (s - s.amax(-1, True)).exp() / (s - s.amax(-1, True)).exp().sum(-1, True)),
    lambda q, k, v, mask=None: core(q.mT.contiguous().mT, k.mT.contiguous().mT, v.mT.contiguous().mT, mask),
]

UNLISTED = [
    ("Scores of plus infinity go into the softmax", partial(filled, value=math.inf)),
    ("`mask` is turned: `\\(n_k, n_q\\)`", partial(filled, by=lambda m: ~m.T)),
    ("first factor is turned", partial(filled, mix=lambda w, v: w.mT @ v)),
    ("made of `q` and `q`", partial(filled, scores=lambda q, k: scored(q, q))),
    ("Queries and keys have changed places", partial(filled, scores=lambda q, k: scored(k, q))),
    ("`\\*` goes entry by entry", partial(filled, mix=torch.mul)),
    ("Turning it has moved the axes in front", partial(filled, scores=lambda q, k: q @ k.permute(1, 2, 0))),
    ("They come with the mask", partial(filled, by=lambda m: ~m[None, None])),
    ("division by the root of d_v", partial(filled, mix=lambda w, v: w @ v / math.sqrt(v.shape[-1]))),
    ("A root is taken of negative numbers", partial(filled, scores=lambda q, k: undivided(q, k).sqrt())),
    ("here is no mask", no_case_without),
    ("NotImplementedError: no mask", without_a_mask_missing),
    (
        "bare dot products.*Those in it: The scores in them are not divided",
        lambda q, k, v, mask=None: (filled(q, k, v, mask, scores=undivided)[0], undivided(q, k)),
    ),
    ("root of n_q", partial(core, scale=lambda q, k, v: q.shape[-2] ** -0.5)),
    ("root of b", partial(core, scale=lambda q, k, v: q.shape[0] ** -0.5)),
    ("divided by 8, whatever", partial(fused, scale=lambda q, k, v: 1 / 8)),
    ("root of d_k times 2", partial(core, scale=lambda q, k, v: q.shape[-1] ** -0.5 / 2)),
    ("d_k times 2", partial(core, scale=lambda q, k, v: 1 / (2 * q.shape[-1]))),
    ("cut down to a whole number", partial(core, scale=lambda q, k, v: 1 / math.isqrt(q.shape[-1]))),
    ("root of d_k times n_k", partial(core, scale=lambda q, k, v: (q.shape[-1] * k.shape[-2]) ** -0.5)),
    ("with a minus", partial(core, scale=lambda q, k, v: -(q.shape[-1] ** -0.5))),
    ("cosines", comparing(lambda q, k: F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT)),
    ("negative distances", comparing(lambda q, k: -torch.cdist(q, k))),
    ("keys stand in reversed order", comparing(lambda q, k: bare(q, k.flip(-2)))),
    ("keys of another sentence", comparing(lambda q, k: bare(q, k.flip(0)))),
    ("first sentence's queries", comparing(lambda q, k: bare(q[:1].expand_as(q), k))),
    ("last feature takes no part", comparing(lambda q, k: q[..., :-1] @ k[..., :-1].mT / q.shape[-1] ** 0.5)),
    ("depends on the key alone", comparing(lambda q, k: bare(q + 1, k))),
    ("0.1 more than the one before", comparing(lambda q, k: bare(q, k) + torch.arange(k.shape[-2]) * 0.1)),
    ("whole numbers|rounded down", comparing(lambda q, k: q @ k.mT // q.shape[-1] ** 0.5)),
    ("absolute values", comparing(lambda q, k: bare(q, k).abs())),
    ("tanh", comparing(lambda q, k: bare(q, k).tanh())),
    ("ReLU", comparing(lambda q, k: bare(q, k).relu())),
    ("squared", comparing(lambda q, k: bare(q, k) ** 2)),
    (
        "everything, all sentences",
        partial(core, soft=lambda s: (s - s.max()).exp() / (s - s.max()).exp().sum()),
    ),
    ("L2 norm", partial(core, soft=lambda s: F.normalize(s.softmax(-1), dim=-1))),
    (
        "exponential is missing",
        partial(core, hide=hidden_at(0.0), soft=lambda s: s / s.sum(-1, keepdim=True)),
    ),
    ("3 largest", partial(core, soft=top)),
    ("Small weights are cut off", partial(core, soft=lambda s: cut(s.softmax(-1)))),
    ("two decimals", partial(core, soft=lambda s: s.softmax(-1).round(decimals=2))),
    ("largest score", partial(core, soft=lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype))),
    (
        "All keys get the same weight",
        lambda q, k, v, mask=None: ((w := torch.ones_like(bare(q, k)) / k.shape[-2]) @ v, w),
    ),
    ("logarithm of the weights", partial(core, hide=hidden_at(-50.0), soft=lambda s: s.log_softmax(-1))),
    (
        "last key gets no weight",
        comparing(lambda q, k: torch.cat([bare(q, k)[..., :-1], bare(q, k)[..., -1:] - 1e9], -1)),
    ),
    (
        "causal mask",
        comparing(
            lambda q, k: bare(q, k).masked_fill(torch.ones(q.shape[-2], k.shape[-2]).triu(1) > 0, -1e9)
        ),
    ),
    ("mixed with equal|is added", partial(core, soft=lambda s: s.softmax(-1) + 0.01)),
    ("set to -10", partial(core, hide=hidden_at(-10.0))),
    ("set to -3", partial(core, hide=hidden_at(-3.0))),
    ("only lose 5", partial(core, hide=lambda s, m: s - 5.0 * ~m)),
    ("multiplied by 0.1 only", partial(core, hide=lambda s, m: torch.where(m, s, s * 0.1))),
    ("Hidden keys win", partial(core, hide=hidden_at(1e9))),
    ("no longer far below", partial(core, hide=hidden_at(-100.0))),
    ("no longer far below", partial(core, hide=lambda s, m: s - 30.0 * ~m)),
    (
        "shifted by one key",
        lambda q, k, v, mask=None: core(q, k, v, mask if mask is None else mask.roll(1, -1)),
    ),
    ("first row is used", lambda q, k, v, mask=None: core(q, k, v, mask if mask is None else mask[:1])),
    (
        "Later keys are hidden besides",
        lambda q, k, v, mask=None: core(
            q, k, v, mask if mask is None else mask.tril() | (mask.tril().sum(-1, keepdim=True) == 0)
        ),
    ),
    (
        "sums of the columns",
        partial(core, hide=lambda s, m: s, late=lambda w, m: (w * m) / (w * m).sum(-2, True)),
    ),
    ("number of open keys", partial(core, hide=lambda s, m: s, late=lambda w, m: w * m / m.sum(-1, True))),
    ("second softmax", partial(core, hide=lambda s, m: s, late=lambda w, m: (w * m).softmax(-1))),
    ("times 0.3 only", partial(core, hide=lambda s, m: s, late=lambda w, m: torch.where(m, w, 0.3 * w))),
    ("NaN", partial(core, hide=lambda s, m: s + ~m * -INF)),
    ("output is right, the weights.*scores", returning(lambda s, w: s)),
    ("output is right, the weights.*logarithm", returning(lambda s, w: (w + 1e-30).log())),
    (
        "output is right, the weights.*averaged over the sentences",
        returning(lambda s, w: w.mean(0, keepdim=True).expand_as(w) if w.ndim > 2 else w),
    ),
    ("output is right, the weights.*mask is ignored", returning(lambda s, w: s.softmax(-1))),
    ("weights are right, the output isn't.*ReLU", after(lambda o, w, v: o.relu())),
    ("weights are right, the output isn't.*softmax", after(lambda o, w, v: o.softmax(-1))),
    ("weights are right, the output isn't.*layer norm", after(lambda o, w, v: F.layer_norm(o, o.shape[-1:]))),
    ("weights are right, the output isn't.*0.5 times", after(lambda o, w, v: o / 2)),
    (
        "weights are right, the output isn't.*average of all values",
        after(lambda o, w, v: o + v.mean(-2, keepdim=True)),
    ),
    ("To every number of the output 1", after(lambda o, w, v: o + 1)),
    ("rounded to two", after(lambda o, w, v: o.round(decimals=2))),
    ("weights are squared", after(lambda o, w, v: w**2 @ v)),
    ("keys stand in reversed order|reversed order", with_values(lambda v: v.flip(-2))),
    ("keys are shifted", with_values(lambda v: v.roll(1, -2))),
    ("softmax is applied to the values", with_values(lambda v: v.softmax(-1))),
    ("values of another sentence", with_values(lambda v: v.flip(0))),
    ("features of the values stand in reversed", with_values(lambda v: v.flip(-1))),
    ("values are normalised", with_values(lambda v: F.normalize(v, dim=-1))),
    ("before the mask", lambda q, k, v, mask=None: (core(q, k, v)[0], core(q, k, v, mask)[1])),
    ("Called with three arguments", lambda q, k, v, mask: core(q, k, v, mask)),
    (
        "for a batch of one sentence",
        lambda q, k, v, mask=None: tuple(t.squeeze(0) for t in core(q, k, v, mask)),
    ),
    (
        "for large scores",
        lambda q, k, v, mask=None: core(q, k, v, mask, soft=lambda s: s.clamp(-50, 50).softmax(-1)),
    ),
    ("changes its argument `q`", lambda q, k, v, mask=None: core(q.mul_(1.0001), k, v, mask)),
    (
        "different results",
        lambda q, k, v, mask=None: core(q, k, v, mask, soft=lambda s: F.dropout(s.softmax(-1), 0.1)),
    ),
]
