"""row_evenness as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch


def looped(weights, *, log=math.log, base=math.log, size=None, sign=-1, skip=True, mean=True, total=False):
    h, n_q, n_k = weights.shape
    values = []
    for head in range(h):
        entropies = []
        for i in range(n_q):
            entropy = 0.0
            for a in weights[head, i].tolist():
                if a > 0:
                    entropy += sign * a * log(a)
                elif not skip:
                    entropy = float("nan")
            entropies.append(entropy / n_k if mean is None else entropy)
        value = sum(entropies) if total else sum(entropies) / n_q
        values.append(value / (base(n_k) if size is None else size(n_q, n_k)))
    return torch.tensor(values)


def by_clamp(weights, *, dim=-1, over=-1, log=torch.log, last=None, add="sum", mean="mean"):
    n_k = weights.shape[2]
    terms = -weights * log(weights.clamp(min=1e-12))
    entropy = getattr(terms, add)(dim=dim)
    out = getattr(entropy, mean)(dim=over)
    return out / math.log(n_k) if last is None else last(out, weights)


def by_entr(weights):
    return torch.special.entr(weights).sum(-1).mean(-1) / torch.tensor(float(weights.shape[-1])).log()


def by_nansum(weights):
    return -(weights * weights.log()).nansum(-1).mean(1) / np.log(weights.shape[2])


def in_bits(weights):
    w = weights + 1e-10
    return -(w * w.log2()).sum(2).mean(1) / math.log2(weights.size(2))


def by_categorical(weights):
    entropy = torch.distributions.Categorical(probs=weights).entropy()
    return entropy.mean(-1) / math.log(weights.shape[-1])


def by_einsum(weights):
    logs = weights.log().nan_to_num(neginf=0.0)
    return -torch.einsum("hqk,hqk->h", weights, logs) / weights.shape[1] / math.log(weights.shape[2])


def of_mean_row(weights):
    row = weights.sum(1) / weights.shape[1]
    return torch.special.entr(row).sum(1) / math.log(weights.shape[2])


def of_mean_row_looped(weights):
    return torch.cat([by_clamp(one.mean(0)[None, None]) for one in weights])


def open_looped(weights):
    values = []
    for one in weights:
        rows = []
        for row in one:
            open_ = row[row > 0]
            rows.append(0.0 if len(open_) < 2 else float(-(open_ * open_.log()).sum()) / math.log(len(open_)))
        values.append(sum(rows) / len(rows))
    return torch.tensor(values)


def open_vector(weights):
    entropy = torch.special.entr(weights).sum(-1)
    size = (weights > 0).sum(-1)
    return torch.where(size > 1, entropy / size.float().log(), 0.0).mean(-1)


def effective(weights):
    return torch.exp(torch.special.entr(weights).sum(-1)).mean(-1) / weights.size(-1)


def effective_looped(weights):
    n_k = weights.shape[2]
    return torch.tensor(
        [
            sum(math.exp(float(looped(row[None, None]) * math.log(n_k))) for row in one) / len(one) / n_k
            for one in weights
        ]
    )


WRONG = [
    ("zero-times-log", partial(looped, skip=False)),
    ("zero-times-log", lambda w: -(w * torch.log(w)).sum(-1).mean(-1) / math.log(w.shape[-1])),
    ("no-minus", partial(looped, sign=1)),
    ("no-minus", lambda w: torch.xlogy(w, w).sum(-1).mean(-1) / math.log(w.shape[-1])),
    ("log-of-n_q", partial(looped, size=lambda n_q, n_k: math.log(n_q))),
    ("log-of-n_q", partial(by_clamp, last=lambda e, w: e / math.log(w.size(1)))),
    ("not-divided", partial(looped, size=lambda n_q, n_k: 1)),
    ("not-divided", partial(by_clamp, last=lambda e, w: e)),
    ("divided-by-n_k", partial(looped, size=lambda n_q, n_k: n_k)),
    ("divided-by-n_k", partial(by_clamp, last=lambda e, w: e / w.size(2))),
    ("bits-over-nats", partial(looped, log=math.log2)),
    ("bits-over-nats", partial(by_clamp, log=torch.log2)),
    ("nats-over-bits", partial(looped, base=math.log2)),
    ("nats-over-bits", partial(by_clamp, last=lambda e, w: e / np.log2(w.size(2)))),
    ("rows-added-up", partial(looped, total=True)),
    ("rows-added-up", partial(by_clamp, mean="sum")),
    ("mean-row-first", of_mean_row),
    ("mean-row-first", of_mean_row_looped),
    ("mean-over-keys", partial(looped, mean=None)),
    ("mean-over-keys", partial(by_clamp, add="mean")),
    ("columns-for-rows", partial(by_clamp, dim=1)),
    ("columns-for-rows", lambda w: torch.special.entr(w).sum(1).mean(1) / math.log(w.shape[2])),
    ("heads-averaged", lambda w: looped(w).mean()),
    ("heads-averaged", lambda w: torch.special.entr(w).sum(-1).mean() / math.log(w.shape[-1])),
    ("one-minus", lambda w: 1 - looped(w)),
    ("one-minus", partial(by_clamp, last=lambda e, w: (math.log(w.shape[2]) - e) / math.log(w.shape[2]))),
    ("log-of-the-open", open_looped),
    ("log-of-the-open", open_vector),
    ("effective-number", effective),
    ("effective-number", effective_looped),
]

RIGHT = [looped, by_clamp, by_entr, by_nansum, in_bits, by_categorical, by_einsum]

UNLISTED = [
    ("largest weight of each row is averaged", lambda w: w.amax(-1).mean(-1)),
    ("share of weights above 0.01", lambda w: (w > 0.01).float().mean((1, 2))),
    ("root of what is asked for", lambda w: by_entr(w).sqrt()),
    ("Only the first head", lambda w: by_entr(w)[0]),
    ("averaged first", lambda w: by_entr(w.mean(0).expand_as(w))),
    ("largest entropy", lambda w: torch.special.entr(w).sum(-1).amax(-1) / math.log(w.shape[-1])),
    ("softmax", lambda w: by_entr(w.softmax(-1))),
    ("1 minus their sum", lambda w: (1 - (w * w).sum(-1)).mean(-1) / math.log(w.shape[-1])),
    ("0.01 is added", lambda w: by_entr(w + 0.01)),
    (
        "before the logarithm is missing",
        lambda w: -w.clamp(min=1e-9).log().sum(-1).mean(-1) / math.log(w.shape[-1]),
    ),
    ("per cent", lambda w: 100 * by_entr(w)),
    ("not averaged", lambda w: torch.special.entr(w).sum(-1) / math.log(w.shape[-1])),
    ("squared|square", lambda w: by_entr(w) ** 2),
]
