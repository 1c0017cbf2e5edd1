"""feed_forward: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

R = torch.relu


def loop(x, w1, b1, w2, b2):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            hidden = [max(0.0, float(sum(x[i, j] * w1[:, k]) + b1[k])) for k in range(len(b1))]
            out[i, j] = torch.tensor(hidden, dtype=x.dtype) @ w2 + b2
    return out


def L(x, a, c):
    return x @ a + c


WRONG = [
    ("no-relu", lambda x, a, c, d, e: L(L(x, a, c), d, e)),
    ("relu-at-the-end-only", lambda x, a, c, d, e: R(L(L(x, a, c), d, e))),
    ("relu-at-the-end-too", lambda x, a, c, d, e: R(L(R(L(x, a, c)), d, e))),
    ("relu-on-the-input", lambda x, a, c, d, e: L(L(R(x), a, c), d, e)),
    ("first-bias-after-relu", lambda x, a, c, d, e: L(R(x @ a) + c, d, e)),
    ("gelu", lambda x, a, c, d, e: L(F.gelu(L(x, a, c)), d, e)),
    ("sigmoid", lambda x, a, c, d, e: L(torch.sigmoid(L(x, a, c)), d, e)),
    ("tanh", lambda x, a, c, d, e: L(torch.tanh(L(x, a, c)), d, e)),
    ("absolute", lambda x, a, c, d, e: L(L(x, a, c).abs(), d, e)),
    ("leaky", lambda x, a, c, d, e: L(F.leaky_relu(L(x, a, c)), d, e)),
    ("silu", lambda x, a, c, d, e: L(F.silu(L(x, a, c)), d, e)),
    ("softmax-between", lambda x, a, c, d, e: L(L(x, a, c).softmax(-1), d, e)),
    ("elu", lambda x, a, c, d, e: L(F.elu(L(x, a, c)), d, e)),
    ("negatives-kept", lambda x, a, c, d, e: L(L(x, a, c).clamp(max=0), d, e)),
    ("squared", lambda x, a, c, d, e: L(R(L(x, a, c)) ** 2, d, e)),
    ("first-bias-left-out", lambda x, a, c, d, e: L(R(x @ a), d, e)),
    ("second-bias-left-out", lambda x, a, c, d, e: R(L(x, a, c)) @ d),
    ("first-bias-left-out+second-bias-left-out", lambda x, a, c, d, e: R(x @ a) @ d),
    ("residual-added", lambda x, a, c, d, e: x + L(R(L(x, a, c)), d, e)),
    ("first-bias-after-relu", lambda x, a, c, d, e: R(x @ a) @ d + c @ d + e),
    ("negatives-kept", lambda x, a, c, d, e: L(-R(-L(x, a, c)), d, e)),
    ("silu", lambda x, a, c, d, e: L(L(x, a, c) * torch.sigmoid(L(x, a, c)), d, e)),
    ("first-bias-after-relu", lambda x, a, c, d, e: (R(x @ a) + c) @ d + e),
]

RIGHT = [
    loop,
    lambda x, a, c, d, e: R(x @ a + c) @ d + e,
    lambda x, a, c, d, e: F.linear(F.relu(F.linear(x, a.T, c)), d.T, e),
    lambda x, a, c, d, e: torch.from_numpy(
        np.maximum(0, x.numpy() @ a.numpy() + c.numpy()) @ d.numpy() + e.numpy()
    ),
    lambda x, a, c, d, e: (
        torch.einsum("bnf,fd->bnd", (torch.einsum("bnd,df->bnf", x, a) + c).clamp(min=0), d) + e
    ),
    lambda x, a, c, d, e: (
        torch.where(x @ a + c > 0, x @ a + c, 0.0) @ d + e
        if False
        else torch.addmm(e, R(torch.addmm(c, x.flatten(0, 1), a)), d).view_as(x)
    ),
]

UNLISTED = [
    (
        "Between the maps stands a softplus\\. The paper's is a ReLU\\.",
        lambda x, a, c, d, e: L(F.softplus(L(x, a, c)), d, e),
    ),
    (
        "Between the maps stands 1 for a positive number and 0 for a negative",
        lambda x, a, c, d, e: L((L(x, a, c) > 0).to(x.dtype), d, e),
    ),
    (
        "Between the maps numbers are cut off above 6 \\(ReLU6\\)\\.",
        lambda x, a, c, d, e: L(F.relu6(L(x, a, c)), d, e),
    ),
    (
        "Between the maps numbers are cut off above 1\\.",
        lambda x, a, c, d, e: L(L(x, a, c).clamp(0, 1), d, e),
    ),
    ("The first bias is taken off; it should be added\\.", lambda x, a, c, d, e: L(R(x @ a - c), d, e)),
    ("The second bias is taken off; it should be added\\.", lambda x, a, c, d, e: R(L(x, a, c)) @ d - e),
    ("The first bias is a factor; it should be added\\.", lambda x, a, c, d, e: L(R(x @ a * c), d, e)),
    ("The second bias is a factor; it should be added\\.", lambda x, a, c, d, e: R(L(x, a, c)) @ d * e),
    (
        "x is added and everything is normalised\\. That is the residual",
        lambda x, a, c, d, e: F.layer_norm(x + L(R(L(x, a, c)), d, e), x.shape[-1:]),
    ),
    (
        "`w_2` has no effect: with other numbers in it the result stays the",
        lambda x, a, c, d, e: R(L(x, a, c)) @ a.T + e,
    ),
    (
        "`w_1` has no effect: with other numbers in it the result stays the",
        lambda x, a, c, d, e: R(x @ d.T + c) @ d + e,
    ),
    ("stops with an error", lambda x, a, c, d, e: R(x @ a.T + c) @ d.T + e),
    ("stops with an error", lambda x, a, c, d, e: R(x @ d + c) @ a + e),
    ("The first bias is added twice\\.", lambda x, a, c, d, e: L(R(L(x, a, c) + c), d, e)),
    ("The second bias is added twice\\.", lambda x, a, c, d, e: (R(L(x, a, c)) + 0) @ d + e * 2),
    (
        "The result should have shape `\\(b, n, d_model\\)` = `\\(2, 5, 4\\)`; yours",
        lambda x, a, c, d, e: R(L(x, a, c)),
    ),
    (
        "A softmax is taken along the axis `d_model`; before that the result",
        lambda x, a, c, d, e: L(R(L(x, a, c)), d, e).softmax(-1),
    ),
    (
        "The tokens of a sentence are averaged first\\. Each is worked on alone\\.",
        lambda x, a, c, d, e: L(R(L(x.mean(1, keepdim=True).expand_as(x), a, c)), d, e),
    ),
    (
        "Numbers of different tokens are mixed first: turned, then cut into",
        lambda x, a, c, d, e: L(R(L(x.transpose(1, 2).reshape(x.shape), a, c)), d, e),
    ),
    (
        "Before the second bias is added, the numbers are divided by the root",
        lambda x, a, c, d, e: L(R(L(x, a, c) / x.shape[-1] ** 0.5), d, e),
    ),
    (
        "Before the second bias is added, the numbers are divided by d_ff: a",
        lambda x, a, c, d, e: R(L(x, a, c)) @ d / len(c) + e,
    ),
    (
        "Nothing stands between the two maps\\. And: The ReLU is applied to the",
        lambda x, a, c, d, e: L(x @ R(a) + c, d, e),
    ),
    (
        "Between the maps numbers below 1 become 1: the limit of the ReLU is 0\\.",
        lambda x, a, c, d, e: L(L(x, a, c).maximum(torch.ones(1)), d, e),
    ),
    (
        "Two calls with the same arguments give different results\\.",
        lambda x, a, c, d, e: L(F.dropout(R(L(x, a, c)), 0.1), d, e),
    ),
    (
        "The result should have shape `\\(b, n, d_model\\)` = `\\(2, 5, 4\\)`; yours",
        lambda x, a, c, d, e: L(R(L(x[:, 0], a, c)), d, e),
    ),
    ("The last token stands for all\\.", lambda x, a, c, d, e: L(R(L(x[:, -1:].expand_as(x), a, c)), d, e)),
    (
        "The function changes its argument `x`; whoever called it loses the",
        lambda x, a, c, d, e: L(R(L(x.add_(1).sub_(1), a, c)), d, e),
    ),
    (
        "Before the second bias is added, the numbers are divided by d_ff: a",
        lambda x, a, c, d, e: (R(L(x, a, c)).unsqueeze(-1) * d).mean(2) + e,
    ),
    (
        "The sum of the first bias is added to every feature\\.",
        lambda x, a, c, d, e: L(R(x @ a + c.sum()), d, e),
    ),
    (
        "The sum of the second bias is added to every feature\\.",
        lambda x, a, c, d, e: L(R(L(x, a, c)), d, e.sum()),
    ),
]
