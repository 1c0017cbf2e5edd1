"""expected_open as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
from torch.nn import functional


def looped(log_alpha, beta, gamma, zeta, *, shift=None, one=None, end=None):
    """A sum over all gates, with numbers."""
    total, count = 0.0, 0
    for layer in log_alpha.tolist():
        for a in layer:
            x = a - beta * math.log(-gamma / zeta) if shift is None else shift(a, beta, gamma, zeta)
            total += 1 / (1 + math.exp(-x)) if one is None else one(x)
            count += 1
    return torch.tensor(total if end is None else end(total, count, len(log_alpha)))


def by_tensors(
    log_alpha, beta, gamma, zeta, *, ratio=None, squash=torch.sigmoid, add=torch.sum, put=torch.sub
):
    log = torch.log(torch.tensor(-gamma / zeta if ratio is None else ratio(gamma, zeta)))
    return add(squash(put(log_alpha, beta * log)))


def by_closed(log_alpha, beta, gamma, zeta, *, give=lambda closed, count: count - closed):
    """All gates, less the expected number of closed ones."""
    closed = torch.sigmoid(beta * math.log(-gamma / zeta) - log_alpha).sum()
    return give(closed, log_alpha.numel())


def by_zeta_over(log_alpha, beta, gamma, zeta):
    return torch.sigmoid(log_alpha + beta * math.log(zeta / -gamma)).sum()


def by_two_logs(log_alpha, beta, gamma, zeta):
    return functional.sigmoid(log_alpha - beta * (math.log(-gamma) - math.log(zeta))).flatten().sum(0)


def by_odds(log_alpha, beta, gamma, zeta):
    odds = log_alpha.exp() * (zeta / abs(gamma)) ** beta
    return (odds / (1 + odds)).sum()


def by_numpy(log_alpha, beta, gamma, zeta):
    x = log_alpha.numpy().astype(float) - beta * np.log(-gamma / zeta)
    return torch.tensor((1 / (1 + np.exp(-x))).sum(), dtype=log_alpha.dtype)


def by_layers(log_alpha, beta, gamma, zeta, *, join=sum):
    layers = [torch.sigmoid(layer - beta * math.log(-gamma / zeta)).sum() for layer in log_alpha]
    return join(layers)


def by_coin(log_alpha, beta, gamma, zeta):
    """The gate is 0 where the noise stays below a threshold."""
    threshold = -gamma / (zeta - gamma)
    noise = beta * torch.logit(torch.tensor(threshold)) - log_alpha
    return (1 - torch.sigmoid(noise)).sum()


def after(log_alpha, gamma, zeta):
    return torch.clamp(torch.sigmoid(log_alpha) * (zeta - gamma) + gamma, 0, 1)


def ones(gamma, zeta):
    return (1 - gamma) / (zeta - 1)


WRONG = [
    ("not-shifted", partial(looped, shift=lambda a, beta, gamma, zeta: a)),
    ("not-shifted", lambda a, beta, gamma, zeta: a.sigmoid().sum()),
    ("shift-added", partial(looped, shift=lambda a, beta, gamma, zeta: a + beta * math.log(-gamma / zeta))),
    ("shift-added", partial(by_tensors, ratio=lambda gamma, zeta: -zeta / gamma)),
    ("log-of-a-negative", partial(by_tensors, ratio=lambda gamma, zeta: gamma / zeta)),
    ("log-of-a-negative", lambda a, beta, gamma, zeta: torch.sigmoid(a - beta * np.log(gamma / zeta)).sum()),
    ("exactly-one", partial(by_tensors, ratio=ones)),
    (
        "exactly-one",
        partial(looped, shift=lambda a, beta, gamma, zeta: a - beta * math.log(ones(gamma, zeta))),
    ),
    ("closed-counted", partial(by_closed, give=lambda closed, count: closed)),
    ("closed-counted", partial(looped, end=lambda total, count, layers: count - total)),
    ("beta-missing", partial(looped, shift=lambda a, beta, gamma, zeta: a - math.log(-gamma / zeta))),
    ("beta-missing", lambda a, beta, gamma, zeta: by_tensors(a, 1.0, gamma, zeta)),
    (
        "divided-by-beta",
        partial(looped, shift=lambda a, beta, gamma, zeta: a - math.log(-gamma / zeta) / beta),
    ),
    ("divided-by-beta", lambda a, beta, gamma, zeta: by_two_logs(a, 1 / beta, gamma, zeta)),
    (
        "divided-before-the-shift",
        partial(looped, shift=lambda a, beta, gamma, zeta: a / beta - math.log(-gamma / zeta)),
    ),
    ("divided-before-the-shift", lambda a, beta, gamma, zeta: by_tensors(a / beta, 1.0, gamma, zeta)),
    ("mean-of-all", partial(looped, end=lambda total, count, layers: total / count)),
    ("mean-of-all", partial(by_tensors, add=torch.mean)),
    ("layers-averaged", partial(looped, end=lambda total, count, layers: total / layers)),
    ("layers-averaged", partial(by_layers, join=lambda layers: sum(layers) / len(layers))),
    ("each-layer-its-own", partial(by_tensors, add=lambda p: p.sum(-1))),
    ("each-layer-its-own", partial(by_layers, join=torch.stack)),
    ("not-added-up", partial(by_tensors, add=lambda p: p)),
    ("not-added-up", lambda a, beta, gamma, zeta: 1 / (1 + torch.exp(beta * math.log(-gamma / zeta) - a))),
    ("counted-after-training", lambda a, beta, gamma, zeta: (after(a, gamma, zeta) > 0).float().sum()),
    ("counted-after-training", lambda a, beta, gamma, zeta: float(after(a, gamma, zeta).count_nonzero())),
    ("gates-added-up", lambda a, beta, gamma, zeta: after(a, gamma, zeta).sum()),
    ("gates-added-up", lambda a, beta, gamma, zeta: _gates_looped(a, gamma, zeta)),
    ("likely-ones-counted", partial(by_tensors, squash=lambda x: torch.sigmoid(x).round())),
    ("likely-ones-counted", partial(looped, one=lambda x: 1.0 if x > 0 else 0.0)),
    ("no-sigmoid", partial(looped, one=lambda x: x)),
    ("no-sigmoid", partial(by_tensors, squash=lambda x: x)),
    ("all-open-at-once", partial(by_tensors, add=torch.prod)),
    (
        "all-open-at-once",
        lambda a, beta, gamma, zeta: by_tensors(a, beta, gamma, zeta, add=lambda p: p.log().sum().exp()),
    ),
]

RIGHT = [looped, by_tensors, by_closed, by_zeta_over, by_two_logs, by_odds, by_numpy, by_layers, by_coin]

UNLISTED = [
    ("one axis too many.*number is right", partial(by_tensors, add=lambda p: p.sum().reshape(1))),
    ("2 axes too many.*number is right", partial(by_tensors, add=lambda p: p.sum((0, 1), keepdim=True))),
    ("no logarithm: the fraction", lambda a, beta, gamma, zeta: torch.sigmoid(a + beta * gamma / zeta).sum()),
    ("base 2", lambda a, beta, gamma, zeta: torch.sigmoid(a - beta * math.log2(-gamma / zeta)).sum()),
    ("-gamma / \\(zeta - gamma\\)", partial(by_tensors, ratio=lambda gamma, zeta: -gamma / (zeta - gamma))),
    ("-gamma alone", partial(by_tensors, ratio=lambda gamma, zeta: -gamma)),
    (
        "added to the logarithm",
        lambda a, beta, gamma, zeta: torch.sigmoid(a - beta - math.log(-gamma / zeta)).sum(),
    ),
    ("multiplied", partial(by_tensors, put=torch.mul)),
    ("sigmoid is taken twice", partial(by_tensors, squash=lambda x: x.sigmoid().sigmoid())),
    ("logarithms of the probabilities", partial(by_tensors, squash=functional.logsigmoid)),
    ("largest probability", partial(by_tensors, add=torch.max)),
    ("share of closed gates", partial(looped, end=lambda total, count, layers: 1 - total / count)),
    ("number of gates is rounded", partial(by_tensors, add=lambda p: p.sum().round())),
    ("squares", partial(by_tensors, add=lambda p: (p * p).sum())),
    ("first layer", lambda a, beta, gamma, zeta: by_tensors(a[:1], beta, gamma, zeta)),
    ("without being cut off", lambda a, beta, gamma, zeta: (torch.sigmoid(a) * (zeta - gamma) + gamma).sum()),
    ("whose log alpha is above 0", lambda a, beta, gamma, zeta: float((a > 0).sum())),
    ("more likely open than not.*its probability", partial(by_tensors, add=lambda p: (p > 0.5).sum())),
    ("more likely open than not", partial(by_tensors, add=lambda p: p.round().int().sum())),
    ("open without noise are counted", lambda a, beta, gamma, zeta: after(a, gamma, zeta).count_nonzero()),
    ("log alpha is above 0.*no slope", lambda a, beta, gamma, zeta: (a > 0).sum()),
    ("log alpha is above 0", lambda a, beta, gamma, zeta: int((a > 0).sum())),
    ("number of gates is given", partial(by_tensors, add=torch.numel)),
    ("counted, by a limit.*sum of chances", partial(by_tensors, add=lambda p: (p > 0.1).sum())),
    (
        "bracket ends too early",
        lambda a, beta, gamma, zeta: (torch.sigmoid(a) - beta * math.log(-gamma / zeta)).sum(),
    ),
    ("one gate at least", partial(by_tensors, add=lambda p: 1 - (1 - p).prod())),
]


def _gates_looped(a, gamma, zeta):
    total = 0.0
    for x in a.flatten().tolist():
        total += min(1.0, max(0.0, (zeta - gamma) / (1 + math.exp(-x)) + gamma))
    return total
