"""layer_norm: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

E = 1e-05


def m(x, d=-1):
    return x.mean(d, keepdim=True)


def va(x, d=-1):
    return x.var(d, unbiased=False, keepdim=True)


def z(x):
    return (x - m(x)) / (va(x) + E).sqrt()


def loop(x, g, b):
    out = []
    for s in x:
        rows = []
        for t in s:
            mu = sum(t) / len(t)
            v = sum((i - mu) ** 2 for i in t) / len(t)
            rows.append((t - mu) / (v + 1e-05) ** 0.5 * g + b)
        out.append(torch.stack(rows))
    return torch.stack(out)


WRONG = [
    (
        "unit-length",
        lambda x, g, b: (x - m(x)) / (((x - m(x)) ** 2).sum(-1, keepdim=True) + E).sqrt() * g + b,
    ),
    (
        "unbiased-variance+eps-outside-the-root",
        lambda x, g, b: (x - m(x)) / (x.std(-1, keepdim=True) + E) * g + b,
    ),
    ("over-the-sentences", lambda x, g, b: (x - m(x, 0)) / (va(x, 0) + E).sqrt() * g + b),
    (
        "over-batch-and-tokens",
        lambda x, g, b: (x - x.mean((0, 1))) / (x.var((0, 1), unbiased=False) + E).sqrt() * g + b,
    ),
]

RIGHT = [
    loop,
    lambda x, g, b: z(x) * g + b,
    lambda x, g, b: F.layer_norm(x, g.shape, g, b, 1e-05),
    lambda x, g, b: torch.from_numpy(
        (x.numpy() - x.numpy().mean(2, keepdims=True))
        / np.sqrt(x.numpy().var(2, keepdims=True) + 1e-05)
        * g.numpy()
        + b.numpy()
    ),
    lambda x, g, b: torch.einsum("bnd,d->bnd", z(x), g) + b,
    lambda x, g, b: (
        g * (x - m(x)) * torch.rsqrt(((x - m(x)) ** 2).sum(-1, keepdim=True) / x.size(-1) + E) + b
    ),
]

UNLISTED = [
    ("The bias is taken off; it should be added\\.", lambda x, g, b: z(x) * g - b),
    ("The bias is a factor; it should be added\\.", lambda x, g, b: z(x) * g * b),
    ("The gain divides; it should multiply\\.", lambda x, g, b: z(x) / g + b),
    (
        "Above the fraction bar the mean over the tokens is taken off\\.",
        lambda x, g, b: (x - m(x, 1)) / (va(x) + E).sqrt() * g + b,
    ),
    (
        "The variance is that of the tokens of a sentence\\. Each token has its",
        lambda x, g, b: (x - m(x)) / (va(x, 1) + E).sqrt() * g + b,
    ),
    (
        "The differences are multiplied by the root; they should be divided by",
        lambda x, g, b: (x - m(x)) * (va(x) + E).sqrt() * g + b,
    ),
    (
        "Above and below the fraction bar have changed places\\.",
        lambda x, g, b: (va(x) + E).sqrt() / (x - m(x)) * g + b,
    ),
    (
        "Above the fraction bar the mean is added, not taken off\\.",
        lambda x, g, b: (x + m(x)) / (va(x) + E).sqrt() * g + b,
    ),
    (
        "x is taken from the mean, so every sign is turned round\\.",
        lambda x, g, b: (m(x) - x) / (va(x) + E).sqrt() * g + b,
    ),
    (
        "The small number under the root is 0\\.001; 1e-5 is wanted\\.",
        lambda x, g, b: (x - m(x)) / (va(x) + 0.001).sqrt() * g + b,
    ),
    (
        "The small number under the root is 1e-06; 1e-5 is wanted\\.",
        lambda x, g, b: (x - m(x)) / (va(x) + 1e-06).sqrt() * g + b,
    ),
    (
        "The small number under the root is 1; 1e-5 is wanted\\.",
        lambda x, g, b: (x - m(x)) / (va(x) + 1).sqrt() * g + b,
    ),
    (
        "Next to nothing is added to the variance, 1e-8 at most; 1e-5 is",
        lambda x, g, b: (x - m(x)) / (va(x) + 1e-12).sqrt() * g + b,
    ),
    (
        "The small number under the root is 0\\.01; 1e-5 is wanted\\.",
        lambda x, g, b: (x - m(x)) / (va(x) + 0.01).sqrt() * g + b,
    ),
    (
        "The root is missing: the variance itself divides\\. And: The absolute",
        lambda x, g, b: (x - m(x)) / ((x - m(x)).abs().mean(-1, keepdim=True) + E) * g + b,
    ),
    (
        "The range \\(largest minus smallest\\) divides, not the root of the",
        lambda x, g, b: (x - m(x)) / (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True) + E) * g + b,
    ),
    (
        "Above the fraction bar the smallest number is taken off, not the",
        lambda x, g, b: (
            (x - x.amin(-1, keepdim=True)) / (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True) + E) * g + b
        ),
    ),
    ("A softmax stands where mean and variance belong\\.", lambda x, g, b: x.softmax(-1) * g + b),
    (
        "Above the fraction bar the median is taken off, not the mean\\.",
        lambda x, g, b: (x - x.median(-1, keepdim=True).values) / (va(x) + E).sqrt() * g + b,
    ),
    (
        "In the variance the mean is not taken off\\.",
        lambda x, g, b: (x - m(x)) / ((x**2).mean(-1, keepdim=True) + E).sqrt() * g + b,
    ),
    (
        "The small number is added to the root, not under it\\. And: The squares",
        lambda x, g, b: (x - m(x)) / ((x - m(x)).abs() + E) * g + b,
    ),
    ("The root is taken twice\\.", lambda x, g, b: (x - m(x)) / (va(x) + E).sqrt().sqrt() * g + b),
    ("The gain is left out\\. And: The gain multiplies x, before anything is", lambda x, g, b: z(x * g) + b),
    ("Gain and bias are left out\\. And: Gain and bias act on x, before", lambda x, g, b: z(x * g + b)),
    ("The bias is left out\\. And: The bias is added to x, before anything is", lambda x, g, b: z(x + b) * g),
    (
        "x is added at the end\\. That is the residual connection around it\\.",
        lambda x, g, b: x + z(x) * g + b,
    ),
    ("The numbers are standardised along the axis `d_model`; before that", lambda x, g, b: z(z(x) * g + b)),
    ("1 is added to the gain\\.", lambda x, g, b: z(x) * (1 + g) + b),
    ("The gain multiplies twice\\.", lambda x, g, b: z(x) * g * g + b),
    ("Before the gain everything is divided by d_model\\.", lambda x, g, b: z(x) / x.shape[-1] * g + b),
    (
        "Before the gain everything is divided by the root of d_model\\.",
        lambda x, g, b: z(x) / x.shape[-1] ** 0.5 * g + b,
    ),
    (
        "The function changes its argument `x`; whoever called it loses the",
        lambda x, g, b: x.sub_(m(x)).div_((va(x) + E).sqrt()).mul_(g).add_(b),
    ),
    ("stops with an error", lambda x, g, b: (x - x.mean(-1)) / x.var(-1) * g + b),
    (
        "Above the fraction bar the mean of all numbers is taken off\\.",
        lambda x, g, b: (x - x.mean()) / (va(x) + E).sqrt() * g + b,
    ),
    (
        "The variance is that of all numbers of the batch\\. Each token has its",
        lambda x, g, b: (x - m(x)) / (x.var(unbiased=False) + E).sqrt() * g + b,
    ),
    (
        "The numbers are right\\. The dtype is `torch\\.float16`, the inputs have",
        lambda x, g, b: (z(x) * g + b).half(),
    ),
    (
        "The numbers are right\\. The result is a NumPy array; a tensor is",
        lambda x, g, b: (z(x) * g + b).numpy(),
    ),
    ("It returns 2 things; it should return one thing: result\\.", lambda x, g, b: ((z(x) * g + b, m(x)))),
    ("The gain's sum multiplies every feature; each has its own\\.", lambda x, g, b: z(x) * g.sum() + b),
    ("The first gain and the first bias serve all features\\.", lambda x, g, b: z(x) * g[0] + b[0]),
    ("The bias is divided with the rest\\.", lambda x, g, b: ((x - m(x)) * g + b) / (va(x) + E).sqrt()),
    (
        "The gain is left out\\. And: The gain multiplies x before the mean is",
        lambda x, g, b: (x * g - m(x)) / (va(x) + E).sqrt() + b,
    ),
    (
        "x is divided first and the mean taken off behind: the mean itself is",
        lambda x, g, b: (x / (va(x) + E).sqrt() - m(x)) * g + b,
    ),
    ("The mean is added again at the end\\.", lambda x, g, b: z(x) * g + b + m(x)),
    (
        "Above the fraction bar the small number is added\\. And: The small",
        lambda x, g, b: (x - m(x) + E) / va(x).sqrt() * g + b,
    ),
    (
        "Next to nothing is added to the variance, 1e-8 at most; 1e-5 is",
        lambda x, g, b: torch.nan_to_num((x - m(x)) / x.std(-1, keepdim=True)) * g + b,
    ),
    ("The gains stand in reverse order\\.", lambda x, g, b: z(x) * g.flip(0) + b),
    (
        "Above the fraction bar stands x: the mean is not taken off\\. And: The",
        lambda x, g, b: F.normalize(x, dim=-1) * g + b,
    ),
    (
        "Next to nothing is added to the variance, 1e-8 at most; 1e-5 is",
        lambda x, g, b: F.normalize(x - m(x), dim=-1) * g + b,
    ),
    ("The result is cut off at -3 and 3\\.", lambda x, g, b: (z(x) * g + b).clamp(-3, 3)),
    (
        "Next to nothing is added to the variance, 1e-8 at most; 1e-5 is",
        lambda x, g, b: (x - m(x)) / va(x).clamp(min=E).sqrt() * g + b,
    ),
]
