"""layer_norm as students write it: each known mistake twice, right ones, unlisted ones."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from tests.exercises.written.examined import layer_norm as examined

EPS = 1e-5


def right(x, gain, bias):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, unbiased=False, keepdim=True)
    return gain * (x - mean) / (variance + EPS).sqrt() + bias


def token_by_token(x, gain, bias):
    out = torch.empty_like(x)
    for s, sentence in enumerate(x):
        for t, token in enumerate(sentence):
            centred = token - token.mean()
            out[s, t] = centred / (centred.pow(2).mean() + EPS) ** 0.5 * gain + bias
    return out


def in_numpy(x, gain, bias):
    a = x.numpy()
    z = (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + EPS)
    return torch.from_numpy(z * gain.numpy() + bias.numpy())


def normed_over(axes):
    """Another mean and variance, written with moments."""

    def normed(x, gain, bias):
        mean = x.double().mean(axes, keepdim=True)
        square = x.double().pow(2).mean(axes, keepdim=True)
        variance = (square - mean**2).clamp(min=0).to(x.dtype)
        return (x - mean).to(x.dtype) * torch.rsqrt(variance + EPS) * gain + bias

    return normed


def by_var_mean(axes):
    def normed(x, gain, bias):
        variance, mean = torch.var_mean(x, dim=axes, correction=0, keepdim=True)
        return torch.addcmul(bias, (x - mean) / torch.sqrt(variance + EPS), gain)

    return normed


def annotated(x, gain, bias):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, unbiased=False, keepdim=True)
    return gain * (x - mean) / (std + EPS) + bias


def no_eps(x, gain, bias):
    z = x - x.mean(2, keepdim=True)
    return z / z.square().mean(2, keepdim=True).sqrt() * gain + bias


def plain(x):
    return F.layer_norm(x, x.shape[-1:])


WRONG = [
    (
        "unbiased-variance",
        lambda x, g, b: (x - x.mean(-1, True)) / (x.var(-1, keepdim=True) + EPS).sqrt() * g + b,
    ),
    (
        "unbiased-variance",
        lambda x, g, b: b + g * (x - x.mean(2)[..., None]) / (x.std(2)[..., None] ** 2 + EPS) ** 0.5,
    ),
    (
        "mean-not-subtracted",
        lambda x, g, b: x / (x.var(-1, unbiased=False, keepdim=True) + EPS).sqrt() * g + b,
    ),
    (
        "mean-not-subtracted",
        lambda x, g, b: g * x * torch.rsqrt(plain_variance(x) + EPS) + b,
    ),
    ("root-mean-square", lambda x, g, b: F.rms_norm(x, x.shape[-1:], g, EPS) + b),
    ("root-mean-square", lambda x, g, b: x * (x.pow(2).mean(-1, keepdim=True) + EPS) ** -0.5 * g + b),
    ("only-centred", lambda x, g, b: (x - x.mean(-1, keepdim=True)) * g + b),
    ("only-centred", lambda x, g, b: torch.addcmul(b, x - x.mean(2).unsqueeze(2), g)),
    (
        "divided-by-the-variance",
        lambda x, g, b: (x - x.mean(-1, True)) / (x.var(-1, correction=0, keepdim=True) + EPS) * g + b,
    ),
    ("divided-by-the-variance", lambda x, g, b: (x - x.mean(2, True)) / (plain_variance(x) + EPS) * g + b),
    (
        "unit-length",
        lambda x, g, b: (
            (x - x.mean(-1, True)) / ((x - x.mean(-1, True)).pow(2).sum(-1, True) + EPS).sqrt() * g + b
        ),
    ),
    (
        "unit-length",
        lambda x, g, b: g * (x - x.mean(2, True)) * torch.rsqrt(x.shape[2] * plain_variance(x) + EPS) + b,
    ),
    ("over-the-tokens", normed_over(1)),
    ("over-the-tokens", by_var_mean(-2)),
    ("over-the-sentences", normed_over(0)),
    ("over-the-sentences", by_var_mean(0)),
    ("over-batch-and-tokens", normed_over((0, 1))),
    (
        "over-batch-and-tokens",
        lambda x, g, b: F.batch_norm(x.mT, None, None, g, b, training=True, eps=EPS).mT,
    ),
    ("over-the-whole-sentence", by_var_mean((1, 2))),
    ("over-the-whole-sentence", lambda x, g, b: F.layer_norm(x, x.shape[1:]) * g + b),
    ("over-everything", lambda x, g, b: (x - x.mean()) / (x.var(correction=0) + EPS).sqrt() * g + b),
    ("over-everything", lambda x, g, b: F.layer_norm(x, x.shape) * g + b),
    ("not-normalised", lambda x, g, b: x * g + b),
    ("not-normalised", lambda x, g, b: torch.addcmul(b, g, x)),
    (
        "unbiased-variance+eps-outside-the-root",
        lambda x, g, b: g * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + EPS) + b,
    ),
    (
        "unbiased-variance+eps-left-out",
        lambda x, g, b: (x - x.mean(-1, True)) / x.std(-1, keepdim=True) * g + b,
    ),
    (
        "unbiased-variance+over-the-tokens",
        lambda x, g, b: (x - x.mean(1, True)) / (x.var(1, keepdim=True) + EPS).sqrt() * g + b,
    ),
    (
        "unbiased-variance+bias-left-out",
        lambda x, g, b: (x - x.mean(2, True)) / (x.var(2, keepdim=True) + EPS).sqrt() * g,
    ),
    ("gain-left-out", lambda x, g, b: plain(x) + b),
    ("gain-left-out", lambda x, g, b: F.layer_norm(x, x.shape[-1:], bias=b)),
    ("bias-left-out", lambda x, g, b: g * plain(x)),
    ("bias-left-out", lambda x, g, b: F.layer_norm(x, x.shape[-1:], g)),
    ("gain-and-bias-left-out", lambda x, g, b: plain(x)),
    (
        "gain-and-bias-left-out",
        lambda x, g, b: (x - x.mean(-1, True)) / (plain_variance(x) + EPS).sqrt(),
    ),
    ("gain-and-bias-swapped", lambda x, g, b: F.layer_norm(x, x.shape[-1:], b, g)),
    ("gain-and-bias-swapped", lambda x, g, b: plain(x) * b + g),
    ("bias-before-gain", lambda x, g, b: g * (plain(x) + b)),
    ("bias-before-gain", lambda x, g, b: torch.mul(F.layer_norm(x, x.shape[-1:], bias=b), g)),
    ("gain-added", lambda x, g, b: plain(x) + g + b),
    ("gain-added", lambda x, g, b: sum((g, b, plain(x)))),
    ("eps-outside-the-root", annotated),
    (
        "eps-outside-the-root",
        lambda x, g, b: g * ((x - x.mean(2, True)) / (plain_variance(x) ** 0.5 + EPS)) + b,
    ),
    ("eps-left-out", no_eps),
    ("eps-left-out", lambda x, g, b: (x - x.mean(-1, True)) / x.std(-1, correction=0, keepdim=True) * g + b),
]


def plain_variance(x):
    return (x - x.mean(-1, keepdim=True)).square().sum(-1, keepdim=True) / x.shape[-1]


def module(x, gain, bias):
    norm = torch.nn.LayerNorm(x.shape[-1], dtype=x.dtype)
    with torch.no_grad():
        norm.weight.copy_(gain)
        norm.bias.copy_(bias)
    return norm(x)


RIGHT = [
    right,
    token_by_token,
    in_numpy,
    module,
    by_var_mean(-1),
    lambda x, g, b: F.layer_norm(x, x.shape[-1:], g, b),
    lambda x, g, b: plain(x).mul(g).add(b),
    lambda x, g, b: g * ((x - x.mean(2)[:, :, None]) * torch.rsqrt(plain_variance(x) + EPS)) + b,
]

UNLISTED = [
    (r"as it came: nothing", lambda x, g, b: x),
    (r"`bias` has no effect", lambda x, g, b: plain(x) * g * g),
    (r"Everything is 0", lambda x, g, b: torch.zeros_like(x)),
    (r"opposite sign|multiplied by -1|-1 times", lambda x, g, b: -right(x, g, b)),
    (r"stops with an error", lambda x, g, b: (x - x.mean(-1)) / x.std(-1) * g + b),
    (r"should have shape", lambda x, g, b: right(x, g, b).mean(1)),
    (r"have no effect", lambda x, g, b: x.softmax(-1)),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
