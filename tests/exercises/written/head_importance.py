"""head_importance as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch


def looped(heads, slopes, *, number=lambda x: x, token=lambda x: x, sentence=abs, end=None, tokens=None):
    b, h, n, d_v = heads.shape
    values = []
    for i in range(h):
        of_each = []
        for s in range(b):
            parts = []
            for t in range(n):
                products = [number(float(heads[s, i, t, j]) * float(slopes[s, i, t, j])) for j in range(d_v)]
                parts.append(token(sum(products)))
            total = sum(parts) if tokens is None else tokens(parts, d_v)
            of_each.append(sentence(total))
        values.append(sum(of_each) / b if end is None else end(of_each))
    return torch.tensor(values)


def by_einsum(heads, slopes, *, last=lambda of_each: of_each.abs().mean(0)):
    return last(torch.einsum("bhnd,bhnd->bh", heads, slopes))


def by_flattening(heads, slopes, *, meet=torch.mul, after=lambda s: s):
    b, h = heads.shape[:2]
    products = meet(heads, slopes).reshape(b, h, -1)
    return after(products.sum(-1).abs().sum(0) / b)


def by_matmul(heads, slopes):
    a, c = heads.flatten(2).unsqueeze(-2), slopes.flatten(2).unsqueeze(-1)
    return (a @ c)[..., 0, 0].abs().mean(dim=0)


def by_numpy(heads, slopes):
    products = heads.numpy() * slopes.numpy()
    return torch.from_numpy(np.abs(products.sum(axis=(2, 3))).mean(axis=0))


def by_mask(heads, slopes):
    """The slope of a mask at 1, of a loss that has these slopes."""
    xi = torch.ones(heads.shape[:2], dtype=heads.dtype, requires_grad=True)
    loss = (heads * xi[..., None, None] * slopes).sum()
    return torch.autograd.grad(loss, xi)[0].abs().mean(0)


def by_heads(heads, slopes):
    values = []
    for i in range(heads.shape[1]):
        of_each = torch.stack(
            [torch.dot(a[i].flatten(), c[i].flatten()) for a, c in zip(heads, slopes, strict=True)]
        )
        values.append(of_each.norm(p=1) / len(of_each))
    return torch.stack(values)


def by_vmap(heads, slopes):
    one = torch.vmap(lambda a, c: (a * c).sum())
    return torch.vmap(one)(heads, slopes).abs().mean(0)


def mean(parts):
    return sum(parts) / len(parts)


WRONG = [
    ("no-absolute-value", partial(looped, sentence=lambda x: x)),
    ("no-absolute-value", lambda h, s: (h * s).sum((2, 3)).mean(0)),
    ("absolute-after-the-mean", partial(looped, sentence=lambda x: x, end=lambda of: abs(mean(of)))),
    ("absolute-after-the-mean", lambda h, s: ((h * s).sum((0, 2, 3)) / len(h)).abs()),
    ("absolute-of-each-number", partial(looped, number=abs)),
    ("absolute-of-each-number", lambda h, s: (h * s).abs().sum((-2, -1)).mean(0)),
    ("absolute-of-each-token", partial(looped, token=abs)),
    ("absolute-of-each-token", lambda h, s: torch.einsum("bhnd,bhnd->bhn", h, s).abs().sum(-1).mean(0)),
    ("absolute-of-each-feature", lambda h, s: (h * s).sum(2).abs().sum(2).mean(0)),
    ("absolute-of-each-feature", lambda h, s: torch.einsum("bhnd,bhnd->bhd", h, s).norm(p=1, dim=-1).mean(0)),
    ("sentences-added-up", partial(looped, end=sum)),
    ("sentences-added-up", partial(by_einsum, last=lambda s: s.abs().sum(0))),
    ("mean-over-tokens", partial(looped, tokens=lambda parts, d_v: mean(parts))),
    ("mean-over-tokens", lambda h, s: (h * s).sum(-1).mean(-1).abs().mean(0)),
    ("mean-over-features", partial(looped, tokens=lambda parts, d_v: sum(parts) / d_v)),
    ("mean-over-features", lambda h, s: (h * s).mean(-1).sum(-1).abs().mean(0)),
    ("mean-within-a-sentence", partial(looped, tokens=lambda parts, d_v: mean(parts) / d_v)),
    ("mean-within-a-sentence", lambda h, s: (h * s).mean((2, 3)).abs().mean(0)),
    ("squared", partial(looped, sentence=lambda x: x * x)),
    ("squared", partial(by_einsum, last=lambda s: s.square().mean(0))),
    ("root-of-mean-square", partial(looped, sentence=lambda x: x * x, end=lambda of: mean(of) ** 0.5)),
    ("root-of-mean-square", partial(by_einsum, last=lambda s: s.pow(2).mean(0).sqrt())),
    ("slopes-alone", lambda h, s: s.sum((2, 3)).abs().mean(0)),
    ("slopes-alone", lambda h, s: looped(torch.ones_like(h), s)),
    ("heads-alone", lambda h, s: h.flatten(2).sum(2).abs().mean(0)),
    ("heads-alone", lambda h, s: looped(h, torch.ones_like(s))),
    ("divided-by-the-norm", partial(by_flattening, after=lambda s: torch.nn.functional.normalize(s, dim=0))),
    ("divided-by-the-norm", lambda h, s: looped(h, s) / looped(h, s).square().sum().sqrt()),
    ("shares", partial(by_flattening, after=lambda s: s / s.sum())),
    ("shares", lambda h, s: looped(h, s) / sum(looped(h, s))),
    ("heads-averaged", lambda h, s: by_einsum(h, s).mean()),
    ("heads-averaged", lambda h, s: (h * s).sum((2, 3)).abs().mean()),
    ("sentences-kept", lambda h, s: (h * s).sum((2, 3)).abs()),
    ("sentences-kept", partial(by_einsum, last=torch.abs)),
]

RIGHT = [looped, by_einsum, by_flattening, by_matmul, by_numpy, by_mask, by_heads, by_vmap]

UNLISTED = [
    ("Negative slopes are set to 0", partial(by_einsum, last=lambda s: s.relu().mean(0))),
    ("largest sentence", partial(by_einsum, last=lambda s: s.abs().amax(0))),
    ("median", partial(by_einsum, last=lambda s: s.abs().median(0).values)),
    ("deviation over the sentences", partial(by_einsum, last=lambda s: s.std(0))),
    ("are added\\. They are multiplied", partial(by_flattening, meet=torch.add)),
    (
        "lengths of heads and of slopes",
        lambda h, s: (h.flatten(2).norm(dim=2) * s.flatten(2).norm(dim=2)).mean(0),
    ),
    ("each for itself", lambda h, s: (h.sum((2, 3)) * s.sum((2, 3))).abs().mean(0)),
    ("cosine", lambda h, s: torch.cosine_similarity(h.flatten(2), s.flatten(2), dim=-1).abs().mean(0)),
    ("divided by the largest", partial(by_flattening, after=lambda s: s / s.max())),
    ("divided by h", partial(by_einsum, last=lambda s: s.abs().sum(0) / s.shape[1])),
    ("one number a sentence", partial(by_einsum, last=lambda s: s.abs().mean(1))),
    ("absolute values of the slopes are taken first", lambda h, s: by_einsum(h, s.abs())),
    ("root", lambda h, s: by_einsum(h, s).sqrt()),
    ("first sentence", lambda h, s: by_einsum(h[:1], s[:1])),
    ("Everything is 0", lambda h, s: torch.zeros(h.shape[1])),
    ("mean absolute slope", lambda h, s: s.abs().mean((0, 2, 3))),
]
