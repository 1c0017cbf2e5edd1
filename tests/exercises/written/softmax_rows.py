"""softmax_rows as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def shares(powers, dim=-1):
    return powers / powers.sum(dim, keepdim=True)


def shifted(scores, *, by):
    return shares((scores - by(scores)).exp())


def in_numpy(scores, *, by=lambda s: 0, axis=-1, base=np.exp):
    s = scores.numpy()
    powers = base(s - by(s))
    return torch.from_numpy(powers / powers.sum(axis, keepdims=True))


def in_loops(scores, *, top=max, raise_=math.exp):
    out = torch.zeros_like(scores).reshape(-1, scores.shape[-1])
    for i, row in enumerate(scores.reshape(-1, scores.shape[-1])):
        row = [float(s) for s in row]
        powers = [raise_(s - top(row)) for s in row]
        for j, power in enumerate(powers):
            out[i, j] = power / sum(powers)
    return out.reshape(scores.shape)


def columns_in_loops(scores):
    out = torch.zeros_like(scores)
    for j in range(scores.shape[1]):
        column = scores[:, j]
        powers = torch.exp(column - column.max())
        out[:, j] = powers / powers.sum()
    return out


def flattened(scores):
    return torch.softmax(scores.flatten(), 0).view_as(scores)


def all_together(scores):
    powers = torch.exp(scores - torch.max(scores))
    return powers / torch.sum(powers)


def column_maximum(scores):
    powers = torch.exp(scores - scores.max(0, keepdim=True).values)
    return powers / powers.sum(1, keepdim=True)


def not_divided(scores):
    top, _ = scores.max(dim=1, keepdim=True)
    return torch.exp(scores - top)


def hard(scores):
    out = torch.zeros_like(scores)
    for i, place in enumerate(scores.argmax(dim=1)):
        out[i, place] = 1
    return out


def one_entry_each(scores):
    top = scores.amax(-1, keepdim=True)
    return (scores == top).to(scores.dtype)


def twice(scores):
    for _ in range(2):
        scores = F.softmax(scores, dim=-1)
    return scores


def last_row_left(scores):
    out = scores.softmax(-1)
    out[-1] = 0
    return out


def total_goes_on(scores):
    out, total = torch.zeros_like(scores), 0
    for i, row in enumerate(scores):
        powers = (row - row.max()).exp()
        total = total + powers.sum()
        out[i] = powers / total
    return out


def first_axis(scores):
    out = torch.zeros_like(scores)
    for i in range(scores.shape[0]):
        powers = (scores[i] - scores[i].max()).exp()
        out[i] = powers / powers.sum()
    return out


WRONG = [
    ("over-the-queries", lambda s: torch.stack([F.softmax(c, 0) for c in s.unbind(1)], 1)),
    ("over-the-queries", columns_in_loops),
    ("over-the-queries", lambda s: nn.Softmax(dim=0)(s)),
    ("over-everything", flattened),
    ("over-everything", all_together),
    ("overflow", partial(in_numpy)),
    ("overflow", lambda s: shares(torch.exp(s))),
    ("overflow", lambda s: torch.einsum("qk,q->qk", s.exp(), 1 / s.exp().sum(1))),
    ("one-maximum-for-all-rows", partial(in_numpy, by=np.max)),
    ("one-maximum-for-all-rows", partial(shifted, by=lambda s: s.flatten().sort().values[-1])),
    ("maximum-of-columns", column_maximum),
    ("maximum-of-columns", partial(in_numpy, by=lambda s: s.max(axis=0))),
    ("minimum-subtracted", partial(shifted, by=torch.min)),
    ("minimum-subtracted", partial(in_numpy, by=lambda s: s.min())),
    ("without-exp", shares),
    ("without-exp", lambda s: torch.stack([row / row.sum() for row in s])),
    ("not-normalised", not_divided),
    ("not-normalised", lambda s: torch.exp(s - torch.max(s, dim=1, keepdim=True)[0])),
    ("log-softmax", lambda s: F.log_softmax(s, dim=1)),
    ("log-softmax", lambda s: s - torch.logsumexp(s, -1, keepdim=True)),
    ("sigmoid", lambda s: torch.sigmoid(s)),
    ("sigmoid", lambda s: 1 / (1 + torch.exp(-s))),
    ("powers-of-two", lambda s: (s * math.log(2)).softmax(-1)),
    ("powers-of-two", partial(in_loops, raise_=lambda x: 2**x)),
    ("softmax-twice", twice),
    ("softmax-twice", lambda s: shares(s.softmax(1).exp())),
    ("sign-turned", lambda s: F.softmin(s, dim=-1)),
    ("sign-turned", lambda s: shares((s.amin(-1, keepdim=True) - s).exp())),
    ("only-the-largest", hard),
    ("only-the-largest", one_entry_each),
    ("scaled-by-the-maximum", lambda s: torch.exp(s) / torch.exp(s).max(dim=-1, keepdim=True).values),
    ("scaled-by-the-maximum", lambda s: torch.stack([row.exp() / max(row.exp()) for row in s])),
    ("absolute-values", lambda s: F.normalize(s, p=1, dim=-1).abs()),
    ("absolute-values", lambda s: shares(torch.where(s < 0, -s, s))),
]

RIGHT = [
    first_axis,
    lambda s: torch.stack([torch.exp(r - r.max()) / torch.exp(r - r.max()).sum() for r in s]),
    lambda s: torch.stack([one.flatten().softmax(0).view_as(one) for one in s]),
    in_loops,
    partial(shifted, by=lambda s: s.amax(-1, keepdim=True)),
    partial(in_numpy, by=lambda s: s.max(-1, keepdims=True)),
    lambda s: torch.softmax(s, dim=-1),
    lambda s: (s - s.logsumexp(-1, keepdim=True)).exp(),
    lambda s: F.normalize((s - s.max(-1, keepdim=True)[0]).exp(), p=1, dim=-1),
    lambda s: s.log_softmax(-1).exp(),
    lambda s: torch.einsum("...q,...->...q", (e := (s - s.amax(-1, True)).exp()), 1 / e.sum(-1)),
    lambda s: (s.mT.contiguous()).softmax(-2).mT,
    lambda s: 1 / (s.unsqueeze(-2) - s.unsqueeze(-1)).exp().sum(-1),
    lambda s: nn.Softmax(dim=-1)(s),
]

UNLISTED = [
    ("`sum` takes its axis away.*`n_q` = 4 meets `n_k` = 6", lambda s: s.exp() / s.exp().sum(-1)),
    ("`max` takes its axis away", lambda s: shares((s - s.max(-1).values).exp())),
    ("`logsumexp` takes its axis away", lambda s: (s - torch.logsumexp(s, dim=1)).exp()),
    ("as when they are cut off", lambda s: shares(s.clamp(max=50).exp())),
    ("^`expm1` stands", lambda s: shares(torch.expm1(s - s.amin(-1, keepdim=True)))),
    ("above the diagonal become 0", lambda s: torch.softmax(s.tril(), -1)),
    ("down the columns.*NaN", lambda s: shares(s.exp(), 0)),
    ("down the columns", lambda s: (e := (s - s.amax(-1, True)).exp()) / e.sum(0)),
    ("wrong for a batch.*over the queries", lambda s: s.softmax(1)),
    ("over the whole matrix", lambda s: s.exp() / s.exp().sum()),
    ("not its largest score", partial(shifted, by=lambda s: s.mean(-1, keepdim=True))),
    ("not its largest score", partial(shifted, by=lambda s: s.amin(-1, keepdim=True))),
    ("not its largest score", partial(shifted, by=lambda s: s[..., :1])),
    ("not its largest score", partial(shifted, by=lambda s: s.median(-1, keepdim=True).values)),
    ("clamped", lambda s: s.clamp(-50, 50).softmax(-1)),
    ("all equal", lambda s: s.clamp(max=80).softmax(-1)),
    ("NaN was replaced by 0", lambda s: shares(s.exp()).nan_to_num(0)),
    ("divided by 2", lambda s: (s / 2).softmax(-1)),
    ("root of n_k", lambda s: (s / s.shape[-1] ** 0.5).softmax(-1)),
    ("multiplied by .*2", lambda s: (2 * s).softmax(-1)),
    ("powers of 10", lambda s: (s * math.log(10)).softmax(-1)),
    ("powers of 3", partial(in_loops, raise_=lambda x: 3**x)),
    ("squared", lambda s: (s * s).softmax(-1)),
    ("absolute values go in", lambda s: s.abs().softmax(-1)),
    ("ReLU", lambda s: s.relu().softmax(-1)),
    ("ReLU stands where the exponential", lambda s: shares(s.relu())),
    ("Squares stand where", lambda s: shares(s * s)),
    ("softplus", lambda s: shares(F.softplus(s))),
    ("sigmoid stands where", lambda s: shares(s.sigmoid())),
    ("expm1", lambda s: shares(torch.expm1(s))),
    ("short series", lambda s: shares(1 + s + s * s / 2)),
    ("tanh", lambda s: s.tanh().softmax(-1)),
    ("standardised", lambda s: ((s - s.mean(-1, keepdim=True)) / s.std(-1, keepdim=True)).softmax(-1)),
    ("largest entry before the softmax", lambda s: (s / s.amax(-1, keepdim=True)).softmax(-1)),
    ("length \\(L2 norm\\)", lambda s: F.normalize(s.exp(), dim=-1)),
    ("sums to the number of keys", lambda s: (e := s.exp()) / e.mean(-1, keepdim=True)),
    ("0.01 is added", lambda s: (e := (s - s.amax(-1, True)).exp()) / (e.sum(-1, keepdim=True) + 1e-2)),
    ("too large by 1|1 is added", lambda s: s.exp() / (s.exp().sum(-1, keepdim=True) + 1)),
    (
        "sum of the scores, not of their exponentials",
        lambda s: (s - s.amax(-1, True)).exp() / s.sum(-1, True),
    ),
    ("sums other exponentials", lambda s: (s - s.amax(-1, True)).exp() / s.exp().sum(-1, True)),
    ("logarithm of the sum", lambda s: s.exp() / s.logsumexp(-1, keepdim=True)),
    ("running one", lambda s: s.exp() / s.exp().cumsum(-1)),
    ("goes on from row to row", total_goes_on),
    ("sum of the first one", lambda s: (e := s.exp()) / e[:1].sum()),
    ("squared", lambda s: s.softmax(-1) ** 2),
    ("two decimals", lambda s: s.softmax(-1).round(decimals=2)),
    ("with a minus", lambda s: -s.log_softmax(-1)),
    ("1 minus the weights", lambda s: 1 - s.softmax(-1)),
    ("percentages", lambda s: 100 * s.softmax(-1)),
    ("summed up along the keys", lambda s: s.softmax(-1).cumsum(-1)),
    ("reversed order", lambda s: s.softmax(-1).flip(-1)),
    ("sorted", lambda s: s.softmax(-1).sort(-1).values),
    (
        "3 largest",
        lambda s: s.masked_fill(s < s.topk(min(3, s.shape[-1]), -1).values[..., -1:], -math.inf).softmax(-1),
    ),
    ("Small weights are cut off", lambda s: F.threshold(s.softmax(-1), 0.05, 0.0)),
    ("smallest score", lambda s: F.one_hot(s.argmin(-1), s.shape[-1]).to(s.dtype)),
    ("same weight", lambda s: torch.ones_like(s) / s.shape[-1]),
    ("causal mask", lambda s: s.masked_fill(torch.ones(s.shape[-2:]).triu(1) > 0, -math.inf).softmax(-1)),
    ("last key gets no weight", lambda s: torch.cat([s[..., :-1].softmax(-1), 0 * s[..., -1:]], -1)),
    ("Query 3 gives no weight", last_row_left),
    ("scores of the first one", lambda s: s[..., :1, :].expand_as(s).softmax(-1)),
    ("float16", lambda s: s.softmax(-1).half().float()),
    ("0.01 is added|same number is added|mixed with equal", lambda s: s.softmax(-1) + 0.01),
    ("mixed with equal", lambda s: 0.9 * s.softmax(-1) + 0.1 / s.shape[-1]),
    ("axes stand in another order", lambda s: s.softmax(-1).mT),
    ("for a single query", lambda s: s.softmax(-1).squeeze(0)),
    ("values and places", lambda s: (s - s.max(-1, keepdim=True)).exp()),
    ("different results", lambda s: F.gumbel_softmax(s, dim=-1)),
    ("changes its argument", lambda s: shares(s.sub_(s.amax(-1, keepdim=True)).exp_())),
]
