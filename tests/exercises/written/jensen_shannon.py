"""jensen_shannon as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
from torch.nn import functional


def row(
    p, q, *, half=True, log=math.log, skip=True, both=False, middle=None, sides=(1, 1), turned=False, add=sum
):
    terms_p, terms_q = [], []
    for a, b in zip(p, q, strict=True):
        m = (a + b) / 2 if middle is None else middle(a, b)
        for x, terms in ((a, terms_p), (b, terms_q)):
            if x > 0 and not (both and a * b == 0):
                terms.append(x * log(m / x) if turned else x * log(x / m))
            else:
                terms.append(0.0 if skip or x > 0 else float("nan"))
    total = sides[0] * add(terms_p) + sides[1] * add(terms_q)
    return total / 2 if half else total


def looped(p, q, *, fn=row, **options):
    shape = p.shape[:-1]
    p2, q2 = p.reshape(-1, p.shape[-1]).tolist(), q.reshape(-1, q.shape[-1]).tolist()
    values = [fn(a, b, **options) for a, b in zip(p2, q2, strict=True)]
    return torch.tensor(values).reshape(shape)


def divergence(a, b):
    """Kullback-Leibler, zeros allowed."""
    return torch.where(a > 0, a * (a.clamp(min=1e-30) / b).log(), 0.0).sum(-1)


def by_kl(p, q, *, middle=lambda p, q: 0.5 * (p + q), join=lambda a, b: 0.5 * a + 0.5 * b, turn=False):
    m = middle(p, q)
    return join(divergence(m, p), divergence(m, q)) if turn else join(divergence(p, m), divergence(q, m))


def by_entropies(p, q):
    def entropy(x):
        return torch.special.entr(x).sum(-1)

    return entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2


def by_functional(p, q):
    log_m = ((p + q) / 2).clamp(min=1e-30).log()
    return sum(functional.kl_div(log_m, x, reduction="none").sum(-1) for x in (p, q)) / 2


def by_numpy(p, q):
    a, b = p.numpy().astype(float), q.numpy().astype(float)
    m = (a + b) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(a > 0, a * np.log(a / m), 0).sum(-1)
        right = np.where(b > 0, b * np.log(b / m), 0).sum(-1)
    return torch.as_tensor((left + right) / 2).to(p.dtype)


def by_clamping(p, q):
    p, q = p.clamp(min=1e-9), q.clamp(min=1e-9)
    m = (p + q) / 2
    return (p * (p.log() - m.log()) + q * (q.log() - m.log())).sum(-1) / 2


def by_nansum(p, q):
    m = (p + q) / 2
    return ((p * (p / m).log()).nansum(-1) + (q * (q / m).log()).nansum(-1)) / 2


def raw(p, q):
    m = 0.5 * (p + q)
    return 0.5 * (p * torch.log(p / m)).sum(-1) + 0.5 * (q * torch.log(q / m)).sum(-1)


def kl_row(a, b):
    return sum((x * math.log(x / y) if y > 0 else math.inf) for x, y in zip(a, b, strict=True) if x > 0)


def one_way(p, q):
    return torch.where(p > 0, p * (p.clamp(min=1e-30).log() - q.log()), 0.0).sum(-1)


def from_middle_row(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        m = (x + y) / 2
        for z in (x, y):
            if m > 0:
                total += m * math.log(m / z) / 2 if z > 0 else math.inf
    return total


def both_open(p, q):
    m = (p + q) / 2
    both = (p > 0) & (q > 0)
    left = torch.where(both, p * (p / m).log(), 0.0)
    right = torch.where(both, q * (q / m).log(), 0.0)
    return (left + right).sum(-1) / 2


def mean(parts):
    return sum(parts) / len(parts)


def root_row(a, b):
    return math.sqrt(max(row(a, b), 0.0))


WRONG = [
    ("zero-times-log", raw),
    ("zero-times-log", partial(looped, skip=False)),
    ("p-against-q", partial(looped, fn=kl_row)),
    ("p-against-q", one_way),
    ("each-against-the-other", lambda p, q: (one_way(p, q) + one_way(q, p)) / 2),
    ("each-against-the-other", partial(looped, fn=lambda a, b: 0.5 * kl_row(a, b) + 0.5 * kl_row(b, a))),
    ("middle-not-halved", partial(looped, middle=lambda a, b: a + b)),
    ("middle-not-halved", partial(by_kl, middle=lambda p, q: p + q)),
    ("not-halved", partial(looped, half=False)),
    ("not-halved", partial(by_kl, join=lambda a, b: a + b)),
    ("only-p", partial(looped, sides=(2, 0))),
    ("only-p", partial(by_kl, join=lambda a, b: a)),
    ("in-bits", partial(looped, log=math.log2)),
    ("in-bits", lambda p, q: by_kl(p, q) / math.log(2)),
    ("square-root", lambda p, q: by_kl(p, q).clamp(min=0) ** 0.5),
    ("square-root", partial(looped, fn=root_row)),
    ("from-the-middle", partial(by_kl, turn=True)),
    ("from-the-middle", partial(looped, fn=from_middle_row)),
    ("upside-down", partial(looped, turned=True)),
    ("upside-down", lambda p, q: -by_kl(p, q)),
    ("mean-over-places", partial(looped, add=mean)),
    ("mean-over-places", lambda p, q: by_kl(p, q) / p.shape[-1]),
    ("all-rows-together", lambda p, q: by_kl(p, q).sum()),
    ("all-rows-together", lambda p, q: sum(looped(p, q).flatten())),
    ("rows-averaged", lambda p, q: by_kl(p, q).mean()),
    ("rows-averaged", lambda p, q: torch.mean(looped(p, q))),
    ("terms-with-a-zero-left-out", partial(looped, both=True)),
    ("terms-with-a-zero-left-out", both_open),
]

RIGHT = [looped, by_kl, by_entropies, by_functional, by_numpy, by_clamping, by_nansum]

UNLISTED = [
    ("compares y with x", lambda p, q: _turned_kl(p, q)),
    ("both 0", lambda p, q: (torch.xlogy(p, 2 * p / (p + q)) + torch.xlogy(q, 2 * q / (p + q))).sum(-1) / 2),
    ("cosine", lambda p, q: 1 - functional.cosine_similarity(p, q, dim=-1)),
    ("brackets are missing", partial(by_kl, middle=lambda p, q: p + q / 2)),
    (
        "p's part compares p with q",
        lambda p, q: (one_way(p, q) + divergence(q, (p + q) / 2)) / 2,
    ),
    ("as if p and q were the same", lambda p, q: torch.zeros(p.shape[:-1])),
    ("Absolute differences", lambda p, q: (p - q).abs().sum(-1) / 2),
    ("root of p · q", partial(by_kl, middle=lambda p, q: (p * q).sqrt())),
    ("q is compared with the middle twice|Only q", partial(by_kl, join=lambda a, b: b)),
    ("halved twice", lambda p, q: by_kl(p, q) / 2),
    ("1 minus", lambda p, q: 1 - by_kl(p, q)),
    ("subtracted", partial(by_kl, join=lambda a, b: (a - b) / 2)),
    ("made positive", lambda p, q: _absolute(p, q)),
    ("one number for each place", lambda p, q: _terms(p, q)),
    ("multiplied", partial(by_kl, join=lambda a, b: a * b)),
]


def _turned_kl(p, q):
    m = (p + q) / 2
    return sum(functional.kl_div(x.log(), m, reduction="none").sum(-1) for x in (p, q)) / 2


def _terms(p, q):
    m = (p + q) / 2
    return (torch.xlogy(p, p) - torch.xlogy(p, m) + torch.xlogy(q, q) - torch.xlogy(q, m)) / 2


def _absolute(p, q):
    m = (p + q) / 2
    left, right = torch.xlogy(p, p) - torch.xlogy(p, m), torch.xlogy(q, q) - torch.xlogy(q, m)
    return (left.abs().sum(-1) + right.abs().sum(-1)) / 2
