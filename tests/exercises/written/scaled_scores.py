"""scaled_scores as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F


def divided(q, k, *, by):
    return torch.matmul(q, k.transpose(-2, -1)) / by(q, k)


def einsummed(q, k, *, factor, out="bqk"):
    return torch.einsum(f"bqd,bkd->{out}", q, k) * factor(q, k)


def in_loops(q, k, *, scale):
    out = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    for s in range(q.shape[0]):
        for i in range(q.shape[1]):
            for j in range(k.shape[1]):
                out[s, i, j] = torch.dot(q[s, i], k[s, j]) * scale(q, k)
    return out


def in_numpy(q, k, *, scale):
    scores = np.matmul(q.numpy(), np.swapaxes(k.numpy(), -1, -2))
    return torch.from_numpy((scores * scale(q, k)).astype(scores.dtype))


def each_side(q, k, power):
    return (q / q.shape[-1] ** power) @ (k / k.shape[-1] ** power).mT


def root_twice(q, k):
    return q @ k.mT / math.sqrt(math.sqrt(k.size(-1)))


def one_side(q, k):
    return q.div(q.size(-1) ** (1 / 4)) @ k.mT


def softened(q, k):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True)


def cosines(q, k):
    q = q / q.norm(dim=-1, keepdim=True)
    k = k / k.norm(dim=-1, keepdim=True)
    return torch.einsum("bqd,bkd->bqk", q, k)


def distances(q, k):
    gaps = (q[..., :, None, :] - k[..., None, :, :]).square().sum(-1).sqrt()
    return gaps / math.sqrt(q.shape[-1])


def last_key_left(q, k):
    out = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    for j in range(k.shape[-2] - 1):
        out[..., j] = (q * k[..., j : j + 1, :]).sum(-1) / q.shape[-1] ** 0.5
    return out


def root_of_k(q, k):
    return math.sqrt(k.shape[-1])


WRONG = [
    ("wrong-axes-turned", lambda q, k: q @ k.permute(1, 2, 0) / math.sqrt(q.shape[-1])),
    ("no-scale", lambda q, k: torch.einsum("bqd,bkd->bqk", q, k)),
    ("no-scale", partial(in_numpy, scale=lambda q, k: 1)),
    (
        "no-scale",
        lambda q, k: F.scaled_dot_product_attention(q, k, torch.eye(k.shape[-2]), scale=1.0) * 0 + q @ k.mT,
    ),
    ("scale-d_k", lambda q, k: torch.bmm(q, k.mT) / q.size(-1) ** 0.5 / k.size(-1) ** 0.5),
    ("scale-d_k", lambda q, k: (q.unsqueeze(-2) * k.unsqueeze(-3)).mean(-1)),
    ("scale-d_k", partial(each_side, power=0.5)),
    ("scale-multiplied", partial(in_numpy, scale=lambda q, k: math.sqrt(q.shape[2]))),
    ("scale-multiplied", lambda q, k: q @ k.mT / q.shape[-1] ** -0.5),
    ("scale-sqrt-n_k", partial(divided, by=lambda q, k: k.shape[-2] ** 0.5)),
    ("scale-sqrt-n_k", partial(einsummed, factor=lambda q, k: 1 / math.sqrt(k.mT.shape[-1]))),
    ("scale-sqrt-n_q", partial(in_loops, scale=lambda q, k: 1 / math.sqrt(q.shape[1]))),
    ("scale-sqrt-n_q", partial(divided, by=lambda q, k: torch.tensor(float(q.size(-2))).sqrt())),
    ("scale-sqrt-b", partial(divided, by=lambda q, k: math.sqrt(len(q)))),
    ("scale-sqrt-b", partial(einsummed, factor=lambda q, k: k.shape[0] ** -0.5)),
    ("fourth-root", root_twice),
    ("fourth-root", one_side),
    ("queries-and-keys-swapped", partial(einsummed, factor=lambda q, k: q.shape[-1] ** -0.5, out="bkq")),
    ("queries-and-keys-swapped", lambda q, k: torch.bmm(k, q.permute(0, 2, 1)) / math.sqrt(k.shape[-1])),
    ("queries-and-keys-swapped", lambda q, k: divided(q, k, by=root_of_k).transpose(1, 2)),
    ("already-softmax", softened),
    ("already-softmax", lambda q, k: F.softmax(divided(q, k, by=root_of_k), dim=2)),
    ("cosine", cosines),
    ("cosine", lambda q, k: F.cosine_similarity(q.unsqueeze(-2), k.unsqueeze(-3), dim=-1)),
    ("distance", distances),
    ("distance", lambda q, k: (q.unsqueeze(-2) - k.unsqueeze(-3)).norm(dim=-1) / q.shape[-1] ** 0.5),
    ("features-left-apart", lambda q, k: torch.einsum("bqd,bkd->bqkd", q, k) / math.sqrt(q.shape[-1])),
    ("features-left-apart", lambda q, k: q[:, :, None] * k[:, None] / root_of_k(q, k)),
    ("k-not-transposed", lambda q, k: torch.bmm(q, k) / math.sqrt(q.shape[-1])),
    ("k-not-transposed", lambda q, k: torch.matmul(q / q.shape[-1] ** 0.5, k)),
    ("wrong-axes-turned", lambda q, k: q @ k.transpose(0, -1) / math.sqrt(q.shape[-1])),
    ("wrong-axes-turned", lambda q, k: torch.matmul(q, k.swapaxes(0, 2)).div(math.sqrt(q.shape[-1]))),
]

RIGHT = [
    partial(divided, by=root_of_k),
    partial(in_loops, scale=lambda q, k: 1 / root_of_k(q, k)),
    partial(in_numpy, scale=lambda q, k: 1 / root_of_k(q, k)),
    partial(each_side, power=0.25),
    lambda q, k: torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(q.size(2)),
    lambda q, k: torch.bmm(q, k.permute(0, 2, 1)) * q.shape[-1] ** -0.5,
    lambda q, k: (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / q.shape[-1] ** 0.5,
    lambda q, k: torch.stack([a @ c.T for a, c in zip(q, k, strict=True)]) / torch.tensor(q.shape[-1]).sqrt(),
    lambda q, k: (k @ q.mT).mT / np.sqrt(k.shape[-1]),
    lambda q, k: (
        F.linear(q, k) / q.shape[-1] ** 0.5 if q.ndim == 2 else torch.matmul(q * q.shape[-1] ** -0.5, k.mT)
    ),
    lambda q, k: torch.baddbmm(torch.zeros(1, dtype=q.dtype), q, k.mT, beta=0, alpha=1 / root_of_k(q, k)),
    lambda q, k: sum(q[..., :, None, i] * k[..., None, :, i] for i in range(q.shape[-1])) / root_of_k(q, k),
]


def over(text):
    """A divisor as a student would write it, from the names of the sizes."""

    def scores(q, k):
        sizes = {"d_k": q.shape[-1], "n_q": q.shape[-2], "n_k": k.shape[-2], "b": q.shape[0]}
        return q @ k.mT / eval(text, {"math": math, "q": q, "k": k}, sizes)

    return scores


UNLISTED = [
    ("`\\*` goes entry by entry", lambda q, k: (q * k).sum(-1) / math.sqrt(q.shape[-1])),
    ("A root is taken of negative numbers", lambda q, k: torch.sqrt(q @ k.mT) / q.shape[-1]),
    ("The letter `n` stands for two", lambda q, k: torch.einsum("...nd,...ne->...de", q, k) / 2),
    ("first factor is turned .* second is not", lambda q, k: q.mT @ k / math.sqrt(q.shape[-1])),
    ("multiplied by d_k", over("1 / d_k")),
    ("divided by n_k", over("n_k")),
    ("divided by n_q", over("n_q")),
    ("divided by 8, whatever", over("8")),
    ("divided by 2, whatever", over("2")),
    ("multiplied by 0.125|divided by 8", lambda q, k: q @ k.mT * 0.125),
    ("cut down to a whole number", over("int(math.sqrt(d_k))")),
    ("rounded to a whole number", over("round(math.sqrt(d_k))")),
    ("square of d_k", over("d_k ** 2")),
    ("d_k times 2", over("(2 * d_k)")),
    ("root of d_k times 2", over("(2 * math.sqrt(d_k))")),
    ("root of d_k times 1.414", over("math.sqrt(2 * d_k)")),
    ("root of d_k times n_k", over("math.sqrt(d_k * n_k)")),
    ("root of d_k times n_q times b", over("math.sqrt(q.numel())")),
    ("cube root of d_k", over("d_k ** (1 / 3)")),
    ("the logarithm of d_k", over("math.log(d_k)")),
    ("binary logarithm of d_k", over("math.log2(d_k)")),
    ("1 plus the root of d_k", over("(math.sqrt(d_k) + 1)")),
    ("root of \\(d_k \\+ 1\\)", over("math.sqrt(d_k + 1)")),
    ("root of d_k \\+ 0.1\\)", over("(math.sqrt(d_k) + 0.1)")),
    ("root of d_k, with a minus", over("-math.sqrt(d_k)")),
    ("d_k to the power of 0.6", over("d_k ** 0.6")),
    ("standard deviation of the scores", lambda q, k: (s := q @ k.mT) / s.std()),
    ("length of all of `q`", over("q.norm()")),
    ("rounded down", lambda q, k: q @ k.mT // root_of_k(q, k)),
    (
        "division by the root of d_k is missing.*off by the same amount, -2",
        lambda q, k: q @ k.mT - root_of_k(q, k),
    ),
    ("queries are normalised to length 1", lambda q, k: F.normalize(q, dim=-1) @ k.mT / root_of_k(q, k)),
    ("keys are normalised to length 1", lambda q, k: q @ F.normalize(k, dim=-1).mT),
    ("cosines", lambda q, k: cosines(q, k) / root_of_k(q, k)),
    ("negative distances", lambda q, k: -torch.cdist(q, k)),
    ("squared distances", lambda q, k: torch.cdist(q, k) ** 2 / root_of_k(q, k)),
    ("a dot product multiplies", lambda q, k: (q[..., :, None, :] + k[..., None, :, :]).sum(-1)),
    ("Additive attention", lambda q, k: (q[..., :, None, :] + k[..., None, :, :]).tanh().sum(-1)),
    ("last feature takes no part", lambda q, k: q[..., :-1] @ k[..., :-1].mT / root_of_k(q, k)),
    ("Only the first feature", lambda q, k: q[..., :1] @ k[..., :1].mT / root_of_k(q, k)),
    ("by a reshape", lambda q, k: q @ k.reshape(*k.shape[:-2], k.shape[-1], -1) / root_of_k(q, k)),
    ("keys stand in reversed order", lambda q, k: q @ k.flip(-2).mT / root_of_k(q, k)),
    ("keys are shifted by one", lambda q, k: q @ k.roll(1, -2).mT / root_of_k(q, k)),
    ("keys of another sentence", lambda q, k: q @ k.flip(0).mT / root_of_k(q, k)),
    ("first sentence's keys", lambda q, k: q @ k[:1].mT / root_of_k(q, k)),
    (
        "All queries are replaced by their mean",
        lambda q, k: (q.mean(-2, True) @ k.mT / root_of_k(q, k)).expand(*q.shape[:-1], -1),
    ),
    ("ReLU", lambda q, k: (q @ k.mT / root_of_k(q, k)).relu()),
    ("missing.*ReLU", lambda q, k: (q @ k.mT).relu()),
    ("sign of the scores is lost", lambda q, k: (q @ k.mT / root_of_k(q, k)).abs()),
    ("tanh is applied to the scores", lambda q, k: (q @ k.mT / root_of_k(q, k)).tanh()),
    ("exponential of the scores", lambda q, k: (q @ k.mT / root_of_k(q, k)).exp()),
    ("logarithm of a softmax", lambda q, k: (q @ k.mT / root_of_k(q, k)).log_softmax(-1)),
    ("softmax over the queries", lambda q, k: (q @ k.mT / root_of_k(q, k)).softmax(-2)),
    ("missing.*softmax over the keys", lambda q, k: (q @ k.mT).softmax(-1)),
    ("largest score is subtracted", lambda q, k: (s := q @ k.mT / root_of_k(q, k)) - s.amax(-1, True)),
    ("causal mask", lambda q, k: (q @ k.mT / root_of_k(q, k)).tril()),
    (
        "causal mask",
        lambda q, k: (s := over("math.sqrt(d_k)")(q, k)).masked_fill(
            torch.ones(s.shape[-2:]).triu(1) > 0, -math.inf
        ),
    ),
    ("rounded to two decimals", lambda q, k: (q @ k.mT / root_of_k(q, k)).round(decimals=2)),
    ("float16", lambda q, k: (q @ k.mT / root_of_k(q, k)).half().float()),
    ("clamped", lambda q, k: (q @ k.mT / root_of_k(q, k)).clamp(-1, 1)),
    ("right except for key 6", last_key_left),
    ("same amount, 1", lambda q, k: q @ k.mT / root_of_k(q, k) + 1),
    (
        "distance between query and key",
        lambda q, k: (
            over("math.sqrt(d_k)")(q, k)
            - (torch.arange(k.shape[-2]) - torch.arange(q.shape[-2])[:, None]).abs()
        ),
    ),
    ("depends on the key alone", lambda q, k: (q + 1) @ k.mT / root_of_k(q, k)),
    ("Rows and columns are mixed", lambda q, k: filled_the_wrong_way(q, k)),
    ("for a batch of one sentence", lambda q, k: (q @ k.mT / root_of_k(q, k)).squeeze(0)),
    ("`q` has no effect|no effect", lambda q, k: k.sum(-1)[..., None, :].expand(*q.shape[:-1], -1)),
    ("changes its argument `q`", lambda q, k: q.div_(root_of_k(q, k)) @ k.mT),
    ("different results", lambda q, k: F.dropout(q @ k.mT / root_of_k(q, k), 0.1)),
]


def filled_the_wrong_way(q, k):
    scores = q @ k.mT / root_of_k(q, k)
    out, n = torch.zeros_like(scores), min(scores.shape[-2:])
    for i in range(n):
        for j in range(n):
            out[..., j, i] = scores[..., i, j]
    return out
