"""feed_forward as students write it: each known mistake twice, right ones, unlisted ones."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.exercises.written.examined import feed_forward as examined


def bent(bend, first=True, second=True):
    """Both maps by F.linear, with another function between them."""

    def feed(x, w_1, b_1, w_2, b_2):
        inner = bend(F.linear(x, w_1.T, b_1 if first else None))
        return F.linear(inner, w_2.T, b_2 if second else None)

    return feed


def summed(bend, first=True, second=True):
    """Every inner feature's share of the output, added up."""

    def feed(x, w_1, b_1, w_2, b_2):
        out = torch.zeros_like(x)
        for j in range(w_1.shape[1]):
            score = (x * w_1[:, j]).sum(-1, keepdim=True)
            out = out + bend(score + b_1[j] if first else score) * w_2[j]
        return out + b_2 if second else out

    return feed


def in_numpy(x, w_1, b_1, w_2, b_2):
    inner = np.maximum(0, x.numpy() @ w_1.numpy() + b_1.numpy())
    return torch.from_numpy(inner @ w_2.numpy() + b_2.numpy())


def sequential(x, w_1, b_1, w_2, b_2):
    net = nn.Sequential(nn.Linear(*w_1.shape), nn.ReLU(), nn.Linear(*w_2.shape)).to(x.dtype)
    with torch.no_grad():
        for parameter, value in zip(net.parameters(), (w_1.T, b_1, w_2.T, b_2), strict=True):
            parameter.copy_(value)
    return net(x)


def token_by_token(x, w_1, b_1, w_2, b_2):
    rows = [[(token @ w_1 + b_1).clamp(min=0) @ w_2 + b_2 for token in sentence] for sentence in x]
    return torch.stack([torch.stack(row) for row in rows])


def same(z):
    return z


def where(z):
    return torch.where(z > 0, z, torch.zeros_like(z))


right = bent(torch.relu)

WRONG = [
    ("no-relu", bent(same)),
    ("no-relu", lambda x, w_1, b_1, w_2, b_2: x @ (w_1 @ w_2) + b_1 @ w_2 + b_2),
    ("relu-at-the-end-only", lambda x, w_1, b_1, w_2, b_2: torch.relu((x @ w_1 + b_1) @ w_2 + b_2)),
    ("relu-at-the-end-only", lambda *a: where(summed(same)(*a))),
    ("relu-at-the-end-too", lambda *a: torch.relu(right(*a))),
    ("relu-at-the-end-too", lambda x, w_1, b_1, w_2, b_2: where(where(x @ w_1 + b_1) @ w_2 + b_2)),
    ("relu-on-the-input", lambda x, *rest: bent(same)(x.relu(), *rest)),
    ("relu-on-the-input", lambda x, w_1, b_1, w_2, b_2: (where(x) @ w_1 + b_1) @ w_2 + b_2),
    ("first-bias-left-out", bent(torch.relu, first=False)),
    ("first-bias-left-out", summed(where, first=False)),
    ("second-bias-left-out", bent(torch.relu, second=False)),
    ("second-bias-left-out", lambda x, w_1, b_1, w_2, b_2: where(x @ w_1 + b_1) @ w_2),
    ("first-bias-after-relu", lambda x, w_1, b_1, w_2, b_2: (torch.relu(x @ w_1) + b_1) @ w_2 + b_2),
    (
        "first-bias-after-relu",
        lambda x, w_1, b_1, w_2, b_2: F.linear(where(x @ w_1), w_2.T) + b_1 @ w_2 + b_2,
    ),
    ("gelu", bent(F.gelu)),
    ("gelu", summed(lambda z: z * 0.5 * (1 + torch.erf(z / 2**0.5)))),
    ("silu", bent(F.silu)),
    ("silu", summed(lambda z: z * torch.sigmoid(z))),
    ("sigmoid", bent(torch.sigmoid)),
    ("sigmoid", summed(lambda z: 1 / (1 + torch.exp(-z)))),
    ("tanh", bent(torch.tanh)),
    ("tanh", summed(lambda z: 2 * torch.sigmoid(2 * z) - 1)),
    ("leaky", bent(F.leaky_relu)),
    ("leaky", summed(lambda z: torch.maximum(z, 0.01 * z))),
    ("elu", bent(F.elu)),
    ("elu", summed(lambda z: torch.where(z > 0, z, torch.exp(z) - 1))),
    ("squared", bent(lambda z: F.relu(z).square())),
    ("squared", summed(lambda z: z * where(z))),
    ("first-bias-left-out+second-bias-left-out", bent(torch.relu, first=False, second=False)),
    ("no-relu+residual-added", lambda x, *rest: x + bent(same)(x, *rest)),
    ("absolute", bent(torch.abs)),
    ("absolute", summed(lambda z: (z * z).sqrt())),
    ("negatives-kept", bent(lambda z: z.clamp(max=0))),
    ("negatives-kept", summed(lambda z: -torch.relu(-z))),
    ("softmax-between", bent(lambda z: z.softmax(-1))),
    (
        "softmax-between",
        lambda x, w_1, b_1, w_2, b_2: F.softmax(torch.einsum("bnm,mf->bnf", x, w_1) + b_1, 2) @ w_2 + b_2,
    ),
    ("residual-added", lambda x, *rest: x + right(x, *rest)),
    ("residual-added", lambda x, w_1, b_1, w_2, b_2: where(x @ w_1 + b_1) @ w_2 + b_2 + x),
    ("norm-in-front", lambda x, *rest: right(F.layer_norm(x, x.shape[-1:]), *rest)),
    (
        "norm-in-front",
        lambda x, *rest: summed(where)(
            (x - x.mean(-1, True)) / (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt(), *rest
        ),
    ),
]

RIGHT = [
    right,
    in_numpy,
    sequential,
    token_by_token,
    summed(where),
    lambda x, w_1, b_1, w_2, b_2: torch.relu(x @ w_1 + b_1) @ w_2 + b_2,
    lambda x, w_1, b_1, w_2, b_2: torch.clamp(x.matmul(w_1) + b_1, min=0.0).matmul(w_2) + b_2,
    lambda x, w_1, b_1, w_2, b_2: torch.einsum("bnf,fm->bnm", F.relu(x @ w_1 + b_1), w_2).add(b_2),
]

UNLISTED = [
    (r"as it came: nothing", lambda x, *rest: x),
    (r"`w_2` and `b_2` have no effect", lambda x, w_1, b_1, w_2, b_2: torch.relu(x @ w_1 + b_1) @ w_1.T),
    (r"opposite sign|multiplied by -1|-1 times", lambda *a: -right(*a)),
    (r"should have shape", lambda x, w_1, b_1, w_2, b_2: torch.relu(x @ w_1 + b_1)),
    (r"stops with an error", lambda x, w_1, b_1, w_2, b_2: torch.relu(x @ w_1.T + b_1) @ w_2 + b_2),
    (r"should have shape", lambda *a: right(*a).mean(1)),
    (r"same amount", lambda *a: right(*a) + 0.25),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
