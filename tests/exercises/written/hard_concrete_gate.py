"""hard_concrete_gate as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
from torch.nn import functional


def one(a, u, beta, gamma, zeta, *, noise=None, warm=None, stretch=None, cut=True, last=lambda g: g):
    """One gate, with numbers."""
    x = math.log(u) - math.log(1 - u) if noise is None else noise(u)
    x = (x + a) / beta if warm is None else warm(x, a, beta)
    s = 1 / (1 + math.exp(-x))
    s = s * (zeta - gamma) + gamma if stretch is None else stretch(s, gamma, zeta)
    return last(min(1.0, max(0.0, s)) if cut else s)


def looped(log_alpha, u, beta, gamma, zeta, *, fn=one, **options):
    pairs = zip(log_alpha.flatten().tolist(), u.flatten().tolist(), strict=True)
    return torch.tensor([fn(a, v, beta, gamma, zeta, **options) for a, v in pairs]).reshape(log_alpha.shape)


def by_logit(
    log_alpha,
    u,
    beta,
    gamma,
    zeta,
    *,
    noise=torch.logit,
    add=torch.add,
    soften=None,
    way=None,
    cut=None,
    end=None,
):
    x = add(noise(u), log_alpha)
    s = torch.sigmoid(x / beta) if soften is None else soften(noise(u), log_alpha, beta)
    s = gamma + (zeta - gamma) * s if way is None else way(s, gamma, zeta)
    s = torch.clamp(s, min=0.0, max=1.0) if cut is None else cut(s)
    return s if end is None else end(s)


def by_quotient(log_alpha, u, beta, gamma, zeta):
    odds = (u / (1 - u) * log_alpha.exp()) ** (1 / beta)
    s = odds / (1 + odds)
    return torch.minimum(torch.ones_like(s), torch.maximum(torch.zeros_like(s), s * (zeta - gamma) + gamma))


def by_numpy(log_alpha, u, beta, gamma, zeta):
    a, v = log_alpha.numpy(), u.numpy()
    s = 1 / (1 + np.exp(-(np.log(v) - np.log1p(-v) + a) / beta))
    return torch.from_numpy(np.clip(s * (zeta - gamma) + gamma, 0, 1).astype(a.dtype))


def by_lerp(log_alpha, u, beta, gamma, zeta):
    s = functional.sigmoid((u.log() - torch.log1p(-u) + log_alpha) / beta)
    low, high = torch.full_like(s, gamma), torch.full_like(s, zeta)
    return torch.lerp(low, high, s).clamp(0.0, 1.0)


def by_hardtanh(log_alpha, u, beta, gamma, zeta):
    s = ((torch.log(u / (1 - u)) + log_alpha) / beta).sigmoid()
    return functional.hardtanh(s * zeta + (1 - s) * gamma, 0.0, 1.0)


def by_where(log_alpha, u, beta, gamma, zeta):
    s = 0.5 + 0.5 * torch.tanh((torch.logit(u) + log_alpha) / (2 * beta))
    s = s * (zeta - gamma) + gamma
    s = torch.where(s < 0, torch.zeros_like(s), s)
    return torch.where(s > 1, torch.ones_like(s), s)


def by_relu(log_alpha, u, beta, gamma, zeta):
    s = torch.sigmoid((torch.logit(u) + log_alpha) / beta) * (zeta - gamma) + gamma
    return functional.relu(s) - functional.relu(s - 1)


WRONG = [
    ("not-stretched", partial(looped, stretch=lambda s, gamma, zeta: s)),
    ("not-stretched", lambda a, u, beta, gamma, zeta: torch.sigmoid((torch.logit(u) + a) / beta)),
    ("not-cut", partial(looped, cut=False)),
    ("not-cut", partial(by_logit, cut=lambda s: s)),
    (
        "not-cut",
        lambda a, u, beta, g, z: torch.sigmoid((torch.logit(u) + a) / beta).clamp(0, 1) * (z - g) + g,
    ),
    ("not-cut", partial(looped, cut=False, stretch=lambda s, g, z: g + min(1.0, max(0.0, s)) * (z - g))),
    ("noise-turned", partial(looped, noise=lambda u: math.log(1 - u) - math.log(u))),
    ("noise-turned", partial(by_logit, noise=lambda u: -torch.logit(u))),
    ("logs-added", partial(looped, noise=lambda u: math.log(u) + math.log(1 - u))),
    ("logs-added", partial(by_logit, noise=lambda u: torch.log(u * (1 - u)))),
    ("log-u-alone", partial(looped, noise=math.log)),
    ("log-u-alone", partial(by_logit, noise=torch.log)),
    ("u-itself", partial(looped, noise=lambda u: u)),
    ("u-itself", lambda a, u, beta, g, z: (((a + u) / beta).sigmoid() * (z - g) + g).clamp(0, 1)),
    ("no-noise", partial(looped, noise=lambda u: 0.0)),
    ("no-noise", lambda a, u, beta, g, z: (torch.sigmoid(a / beta) * (z - g) + g).clamp(0, 1)),
    ("after-training", partial(looped, warm=lambda x, a, beta: a)),
    ("after-training", lambda a, u, beta, g, z: (torch.sigmoid(a) * (z - g) + g).clamp(0, 1)),
    ("no-temperature", partial(looped, warm=lambda x, a, beta: x + a)),
    ("no-temperature", lambda a, u, beta, g, z: by_logit(a, u, 1.0, g, z)),
    ("times-beta", partial(looped, warm=lambda x, a, beta: (x + a) * beta)),
    ("times-beta", lambda a, u, beta, g, z: by_hardtanh(a, u, 1 / beta, g, z)),
    ("brackets-missing", partial(looped, warm=lambda x, a, beta: x + a / beta)),
    ("brackets-missing", partial(by_logit, soften=lambda x, a, beta: (x + a / beta).sigmoid())),
    ("noise-alone-divided", partial(looped, warm=lambda x, a, beta: x / beta + a)),
    ("noise-alone-divided", partial(by_logit, soften=lambda x, a, beta: (a + x / beta).sigmoid())),
    ("log-alpha-subtracted", partial(looped, warm=lambda x, a, beta: (x - a) / beta)),
    ("log-alpha-subtracted", partial(by_logit, add=torch.sub)),
    ("alpha-itself", partial(looped, warm=lambda x, a, beta: (x + math.exp(a)) / beta)),
    ("alpha-itself", partial(by_logit, add=lambda x, a: x + torch.exp(a))),
    ("log-twice", partial(by_logit, add=lambda x, a: x + torch.log(a))),
    (
        "log-twice",
        lambda a, u, beta, g, z: (((u * a / (1 - u)).log() / beta).sigmoid() * (z - g) + g).clamp(0, 1),
    ),
    ("stretched-too-far", partial(looped, stretch=lambda s, gamma, zeta: s * zeta + gamma)),
    ("stretched-too-far", partial(by_logit, way=lambda s, gamma, zeta: gamma + zeta * s)),
    ("gamma-subtracted", partial(looped, stretch=lambda s, gamma, zeta: s * (zeta - gamma) - gamma)),
    ("gamma-subtracted", partial(by_logit, way=lambda s, gamma, zeta: s * (zeta - gamma) + abs(gamma))),
    ("stretched-by-the-sum", partial(looped, stretch=lambda s, gamma, zeta: s * (zeta + gamma) + gamma)),
    ("stretched-by-the-sum", partial(by_logit, way=lambda s, gamma, zeta: zeta * s + (1 + s) * gamma)),
    ("zero-or-one", partial(looped, last=lambda g: float(g > 0.5))),
    ("zero-or-one", partial(by_logit, end=torch.round)),
    ("closed-for-open", partial(looped, last=lambda g: 1 - g)),
    ("closed-for-open", partial(by_logit, end=lambda g: 1 - g)),
]

RIGHT = [looped, by_logit, by_quotient, by_numpy, by_lerp, by_hardtanh, by_where, by_relu]

UNLISTED = [
    ("below 0 is cut off", partial(by_logit, cut=lambda s: s.relu())),
    ("above 1 is cut off", partial(by_logit, cut=lambda s: s.clamp(max=1))),
    ("at both ends", partial(by_logit, cut=lambda s: s * ((s > 0) & (s < 1)))),
    ("no sigmoid", partial(by_logit, soften=lambda x, a, beta: (x + a) / beta)),
    ("tanh", partial(by_logit, soften=lambda x, a, beta: ((x + a) / beta).tanh())),
    ("base 2", partial(by_logit, noise=lambda u: u.log2() - (1 - u).log2())),
    ("odds", partial(by_logit, noise=lambda u: u / (1 - u))),
    ("choice among many", partial(by_logit, noise=lambda u: -torch.log(-torch.log(u)))),
    ("starts at 0", partial(by_logit, way=lambda s, gamma, zeta: s * (zeta - gamma))),
    ("wrong way", partial(by_logit, way=lambda s, gamma, zeta: s * gamma + (1 - s) * zeta)),
    ("way back", partial(by_logit, way=lambda s, gamma, zeta: (s - gamma) / (zeta - gamma))),
    ("root of beta", lambda a, u, beta, g, z: by_logit(a, u, math.sqrt(beta), g, z)),
    ("multiplied\\. They are added", partial(by_logit, add=torch.mul)),
    ("`zeta` stands", lambda a, u, beta, g, z: by_logit(a, u, z, g, z)),
    ("Only the noise is there", lambda a, u, beta, g, z: by_logit(a * 0, u, beta, g, z)),
    ("Gates are averaged", partial(by_logit, end=torch.mean)),
    ("above 0 counts as 1", partial(by_logit, end=lambda g: (g > 0).long())),
    ("Gates are counted that are open", partial(by_logit, end=torch.count_nonzero)),
    ("compared with a limit", partial(by_logit, end=lambda g: (g > 0.2).int())),
    ("above 0 counts as 1", partial(by_logit, end=lambda g: (g > 0).float())),
    ("softmax", partial(by_logit, soften=lambda x, a, beta: ((x + a) / beta).softmax(-1))),
]
