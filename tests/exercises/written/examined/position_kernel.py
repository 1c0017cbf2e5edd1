"""position_kernel: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import math

import numpy as np
import torch


def pair(m, f):
    return torch.cos(m[:, None] * f)


def loop(m, f):
    out = []
    for d in m.tolist():
        out.append(sum(math.cos(d * w) for w in f.tolist()))
    return torch.tensor(out, dtype=m.dtype)


def viaPE(m, f):
    a = m[:, None] * f
    b = torch.zeros_like(a)
    return (a.sin() * b.sin() + a.cos() * b.cos()).sum(1)


WRONG = [
    ("sine-for-cosine", lambda m, f: (m[:, None] * f).sin().sum(1)),
    ("sines-added", lambda m, f: ((m[:, None] * f).sin() + (m[:, None] * f).cos()).sum(1)),
    ("mean-for-sum", lambda m, f: pair(m, f).mean(1)),
    ("summed-over-distances", lambda m, f: pair(m, f).sum(0)),
    ("not-summed", pair),
    ("counted-twice", lambda m, f: 2 * pair(m, f).sum(1)),
    ("product-for-sum", lambda m, f: pair(m, f).prod(1)),
    ("cosine-of-the-sum", lambda m, f: (m * f.sum()).cos()),
    ("divided-by-frequency", lambda m, f: (m[:, None] / f).cos().sum(1)),
    ("first-frequency-only", lambda m, f: pair(m, f)[:, 0]),
    ("gap-for-kernel", lambda m, f: (1 - pair(m, f)).sum(1)),
]

RIGHT = [
    loop,
    viaPE,
    lambda m, f: torch.from_numpy(np.cos(np.outer(m.numpy(), f.numpy())).sum(1)),
    lambda m, f: torch.exp(1j * torch.outer(m, f)).real.sum(-1),
    lambda m, f: torch.stack([(d * f).cos().sum() for d in m]),
    lambda m, f: torch.einsum("nj->n", torch.cos(torch.einsum("n,j->nj", m, f))),
    lambda m, f: sum(torch.cos(w * m) for w in f),
]

UNLISTED = [
    (
        "The result should have shape `\\(n\\)` = `\\(7,\\)`; yours has `\\(\\)`\\. Read as",
        lambda m, f: pair(m, f).sum(),
    ),
    ("The cosines are squared\\.", lambda m, f: (pair(m, f) ** 2).sum(1)),
    ("The cosines lose their sign\\.", lambda m, f: pair(m, f).abs().sum(1)),
    ("The frequencies are averaged first\\.", lambda m, f: len(f) * (m * f.mean()).cos()),
    (
        "Distance and frequency are added; the angle is their product\\.",
        lambda m, f: (m[:, None] + f).cos().sum(1),
    ),
    ("The first frequency's cosine is left out\\.", lambda m, f: pair(m, f)[:, 1:].sum(1)),
    ("The last frequency's cosine is left out\\.", lambda m, f: pair(m, f)[:, :-1].sum(1)),
    ("The sum is divided by the root of d_model\\.", lambda m, f: pair(m, f).sum(1) / math.sqrt(2 * len(f))),
    ("The sum is divided by d_model\\.", lambda m, f: pair(m, f).sum(1) / (2 * len(f))),
    ("The cosines have the wrong sign\\.", lambda m, f: -pair(m, f).sum(1)),
    ("This is cos\\(m\\) times the sum of the frequencies\\.", lambda m, f: (m.cos()[:, None] * f).sum(1)),
    ("The cosines are weighed by their frequencies\\.", lambda m, f: (f * pair(m, f)).sum(1)),
    (
        "The frequencies given are not used: 10000 to the power of -2j /",
        lambda m, f: torch.cos(m[:, None] * 10000 ** (-2 * torch.arange(len(f)) / (2 * len(f)))).sum(1),
    ),
    ("The angle is multiplied by 2π\\.", lambda m, f: torch.cos(2 * math.pi * m[:, None] * f).sum(1)),
    (
        "The place in the list stands for the distance: 0, 1, 2, \\.\\.\\.",
        lambda m, f: torch.cos(torch.arange(len(m))[:, None] * f).sum(1),
    ),
    ("The exponential of the angles is taken\\.", lambda m, f: (m[:, None] * f).exp().sum(1)),
    (
        "The numbers are summed up one by one \\(`cumsum`\\) along the axis `n`;",
        lambda m, f: pair(m, f).sum(1).cumsum(0),
    ),
    ("1 is taken off the distances\\.", lambda m, f: pair(m - 1, f).sum(1)),
    ("The sum is divided by the largest of all\\.", lambda m, f: pair(m, f).sum(1) / pair(m, f).sum(1).max()),
    (
        "Sine squared and cosine squared are added, which is always 1\\.",
        lambda m, f: ((m[:, None] * f).sin() ** 2 + (m[:, None] * f).cos() ** 2).sum(1),
    ),
    (
        "Sine and cosine are multiplied\\.",
        lambda m, f: ((m[:, None] * f).sin() * (m[:, None] * f).cos()).sum(1),
    ),
    (
        "Cosine of the distance and cosine of the frequency are multiplied\\.",
        lambda m, f: (m.cos()[:, None] * f.cos()).sum(1),
    ),
    (
        "The result should have shape `\\(n\\)` = `\\(7,\\)`; yours has `\\(7, 1\\)`\\. The",
        lambda m, f: pair(m, f).sum(1, keepdim=True),
    ),
    (
        "The numbers are right\\. The result is a list; a tensor is wanted\\.",
        lambda m, f: ([float(x) for x in pair(m, f).sum(1)]),
    ),
    ("stops with an error", lambda m, f: torch.cos(m * f).sum()),
    ("stops with an error", lambda m, f: torch.cos(m @ f)),
    ("The angle is halved\\.", lambda m, f: torch.cos(m[:, None] * f / 2).sum(1)),
    ("The angle is doubled\\.", lambda m, f: torch.cos(2 * m[:, None] * f).sum(1)),
    ("The largest cosine is taken; they should be added\\.", lambda m, f: pair(m, f).max(1).values),
    ("The frequencies are squared\\.", lambda m, f: torch.cos(m[:, None] * f**2).sum(1)),
    (
        "A softmax is taken along the axis `n`; before that the result was",
        lambda m, f: pair(m, f).sum(1).softmax(0),
    ),
    ("The sum is multiplied by the distance\\.", lambda m, f: torch.cos(m[:, None] * f).sum(1) * m),
    ("The distances are cut to whole numbers\\.", lambda m, f: torch.cos(m.long()[:, None] * f).sum(1)),
    (
        "1 is added to the distances\\.",
        lambda m, f: m.mul_(2) and 0 if False else torch.cos(m.add_(1)[:, None] * f).sum(1),
    ),
    ("The hyperbolic cosine is taken\\.", lambda m, f: torch.cosh(m[:, None] * f).sum(1)),
]
