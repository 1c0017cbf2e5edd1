"""balance_loss as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import torch


def flat(p, c, *, of_p=lambda p, c: p, of_f=lambda p, c: c, end=lambda p, f: p.shape[-1] * (p * f).sum()):
    """All tokens in one row, then the means."""
    p, c = p.reshape(-1, p.shape[-1]), c.reshape(-1, c.shape[-1]).to(p.dtype)
    return end(of_p(p, c).mean(0), of_f(p, c).mean(0))


def sums(p, c, *, p_by=None, f_by=None, factor=None):
    """Sums divided by what they count."""
    b, n, routed = p.shape
    of_p = p.sum((0, 1)) / (b * n if p_by is None else p_by(b, n))
    of_f = c.sum((0, 1)) / (b * n if f_by is None else f_by(b, n))
    return (routed if factor is None else factor(routed)) * (of_p * of_f).sum()


def in_loops(
    p, c, *, counts=lambda p, c, i: True, here=lambda p, c, i: float(c[i]), put=lambda total, x: total + x
):
    routed, total = p.shape[-1], 0.0
    tokens = [(p[i, j], c[i, j]) for i in range(p.shape[0]) for j in range(p.shape[1])]
    for head in range(routed):
        mean = sum(prob[head] for prob, chosen in tokens if counts(prob, chosen, head)) / len(tokens)
        share = sum(here(prob, chosen, head) for prob, chosen in tokens) / len(tokens)
        total = put(total, mean * share)
    return routed * total


def by_einsum(p, c):
    b, n, routed = p.shape
    return torch.einsum("bnr,cmr->", p, c.to(p.dtype)) * routed / (b * n) ** 2


def by_dot(p, c):
    return p.shape[2] * torch.dot(p.mean(1).mean(0), c.to(p.dtype).mean(1).mean(0))


def as_in_the_code(p, c):
    return (p.mean((0, 1)) * c.to(p.dtype).mean((0, 1))).mean() * p.shape[-1] ** 2


def by_where(p, c):
    share = torch.where(c, 1.0, 0.0).flatten(0, 1).mean(0).to(p.dtype)
    return (p.flatten(0, 1).mean(0) @ share) * len(share)


def by_counts(p, c):
    tokens = p[..., 0].numel()
    share = torch.tensor([int(c[..., i].sum()) / tokens for i in range(p.shape[-1])], dtype=p.dtype)
    return (p.sum(1).sum(0) / tokens * share).sum() * p.shape[-1]


def each_sentence(p, c):
    return torch.stack([flat(a, b) for a, b in zip(p, c, strict=True)]).mean()


def number(t, p):
    return t.to(p.dtype)


WRONG = [
    ("multiplied-before-the-mean", lambda p, c: p.shape[-1] * (p * c).mean((0, 1)).sum()),
    ("multiplied-before-the-mean", lambda p, c: p.shape[-1] * p[c].sum() / (p.shape[0] * p.shape[1])),
    ("sentence-by-sentence", each_sentence),
    ("sentence-by-sentence", lambda p, c: p.shape[2] * (p.mean(1) * number(c, p).mean(1)).sum(-1).mean()),
    ("factor-missing", partial(sums, factor=lambda routed: 1)),
    ("factor-missing", lambda p, c: flat(p, c, end=torch.dot)),
    ("factor-squared", partial(sums, factor=lambda routed: routed**2)),
    ("factor-squared", lambda p, c: by_einsum(p, c) * p.shape[-1]),
    ("factor-missing", lambda p, c: flat(p, c, end=lambda p, f: p.shape[-1] * (p * f).mean())),
    ("factor-missing", lambda p, c: p.mean((0, 1)) @ number(c, p).mean((0, 1))),
    ("not-added-up", lambda p, c: flat(p, c, end=lambda p, f: len(p) * p * f)),
    (
        "not-added-up",
        lambda p, c: torch.stack(
            [p.shape[-1] * p[..., i].mean() * number(c, p)[..., i].mean() for i in range(p.shape[-1])]
        ),
    ),
    ("p-twice", lambda p, c: p.shape[-1] * (p.mean((0, 1)) ** 2).sum()),
    ("p-twice", partial(flat, of_f=lambda p, c: p)),
    ("f-twice", lambda p, c: p.shape[-1] * (number(c, p).mean((0, 1)) ** 2).sum()),
    ("f-twice", partial(flat, of_p=lambda p, c: c)),
    ("p-of-the-chosen", partial(flat, of_p=lambda p, c: p * c)),
    ("p-of-the-chosen", partial(in_loops, counts=lambda p, c, i: c[i])),
    ("share-of-choices", lambda p, c: p.shape[-1] * (p.mean((0, 1)) * c.sum((0, 1)) / c.sum()).sum()),
    ("share-of-choices", lambda p, c: flat(p, c, end=lambda p, f: len(p) * (p @ f) / f.sum())),
    ("first-choice-alone", lambda p, c: flat(p, p == p.amax(-1, keepdim=True))),
    ("first-choice-alone", partial(in_loops, here=lambda p, c, i: float(p.argmax() == i))),
    ("one-not-divided", partial(sums, f_by=lambda b, n: 1)),
    ("one-not-divided", lambda p, c: p.shape[-1] * (p.mean((0, 1)) * c.sum((0, 1))).sum()),
    ("one-not-divided", partial(sums, p_by=lambda b, n: 1)),
    ("one-not-divided", lambda p, c: p.shape[-1] * (p.flatten(0, 1).sum(0) @ number(c, p).mean((0, 1)))),
    ("neither-divided", partial(sums, p_by=lambda b, n: 1, f_by=lambda b, n: 1)),
    ("neither-divided", lambda p, c: torch.einsum("bnr,cmr->", p, number(c, p)) * p.shape[-1]),
    ("divided-by-words", partial(sums, p_by=lambda b, n: n, f_by=lambda b, n: n)),
    ("divided-by-words", lambda p, c: p.shape[-1] * (p.mean(1).sum(0) @ number(c, p).mean(1).sum(0))),
    ("left-alone", lambda p, c: flat(p, ~c)),
    ("left-alone", partial(in_loops, here=lambda p, c, i: float(not c[i]))),
    ("added-not-multiplied", lambda p, c: flat(p, c, end=lambda p, f: len(p) * (p + f).sum())),
    (
        "added-not-multiplied",
        lambda p, c: p.shape[-1] * (p.mean((0, 1)).sum() + number(c, p).mean((0, 1)).sum()),
    ),
    ("differences", lambda p, c: flat(p, c, end=lambda p, f: len(p) * (p - f).square().sum())),
    ("differences", lambda p, c: p.shape[-1] * torch.dist(p.mean((0, 1)), number(c, p).mean((0, 1))) ** 2),
    ("mean-over-the-wrong-axes", lambda p, c: p.shape[-1] * (p.mean(-1) * number(c, p).mean(-1)).sum()),
    (
        "mean-over-the-wrong-axes",
        lambda p, c: p.shape[-1] * (p.mean(2, keepdim=True) * number(c, p).mean(2, keepdim=True)).sum(),
    ),
]

RIGHT = [flat, sums, in_loops, by_einsum, by_dot, as_in_the_code, by_where, by_counts]

UNLISTED = [
    ("number of tokens in a sentence", lambda p, c: by_dot(p, c) / p.shape[-1] * p.shape[1]),
    ("number of sentences", lambda p, c: by_dot(p, c) / p.shape[-1] * len(p)),
    ("0.01", lambda p, c: 0.01 * by_dot(p, c)),
    ("wrong sign|opposite sign", lambda p, c: -by_dot(p, c)),
    ("one less than", partial(sums, factor=lambda routed: routed - 1)),
    ("tokens of one sentence", partial(sums, f_by=lambda b, n: n)),
    ("even case", lambda p, c: by_dot(p, c) - c.sum(-1).double().mean().to(p.dtype)),
    ("largest product", lambda p, c: flat(p, c, end=lambda p, f: len(p) * (p * f).max())),
    ("P is divided by f", lambda p, c: flat(p, c + 0.01 * 0, end=lambda p, f: len(p) * (p / f).sum())),
    ("logarithm of P", lambda p, c: flat(p, c, end=lambda p, f: len(p) * (f * p.log()).sum())),
    ("last head is left out", lambda p, c: flat(p, c, end=lambda p, f: len(p) * (p * f)[:-1].sum())),
    ("first sentence", lambda p, c: flat(p[:1], c[:1])),
    ("last token", lambda p, c: flat(p[:, -1:], c[:, -1:])),
    (
        "places of a sentence|Each place",
        lambda p, c: p.shape[2] * (p.mean(0) * number(c, p).mean(0)).sum(-1).mean(),
    ),
    ("softmax already", partial(flat, of_p=lambda p, c: p.softmax(-1))),
    ("probabilities of the chosen", partial(flat, of_f=lambda p, c: p * c)),
    ("averaged over everything", lambda p, c: (p * c).mean()),
    ("root of the product", lambda p, c: flat(p, c, end=lambda p, f: len(p) * (p * f).sqrt().sum())),
    ("one axis|shape", lambda p, c: flat(p, c, end=lambda p, f: len(p) * (p * f).sum(-1, keepdim=True))),
    ("should be", lambda p, c: flat(p.sin(), c)),
    ("nothing", lambda p, c: print(by_dot(p, c))),
]
