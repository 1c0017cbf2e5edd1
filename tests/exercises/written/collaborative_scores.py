"""collaborative_scores as students write it: wrong in known ways, right, wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch


def looped(
    q,
    k,
    mixing,
    d_k,
    *,
    root=lambda width, h, d_k: math.sqrt(d_k),
    term=lambda a, m, c: a * m * c,
    row=lambda mixing, i: mixing[i],
    stack=1,
):
    """Head by head, feature by feature."""
    heads = []
    for i in range(len(mixing)):
        score = 0
        for r in range(q.shape[-1]):
            score = score + term(q[..., r][:, :, None], row(mixing, i)[r], k[..., r][:, None, :])
        heads.append(score / root(q.shape[-1], len(mixing), d_k))
    return torch.stack(heads, dim=stack)


def by_einsum(q, k, mixing, d_k, *, formula="bqr,hr,bkr->bhqk", scale=lambda q, m, d_k: d_k**-0.5):
    return torch.einsum(formula, q, mixing, k) * scale(q, mixing, d_k)


def broadcast(
    q, k, mixing, d_k, *, meet=torch.mul, before=lambda m: m, divisor=lambda d_k: d_k**0.5, after=None
):
    weighed = meet(q.unsqueeze(1), before(mixing).unsqueeze(1))
    scores = weighed.matmul(k.unsqueeze(1).mT) / divisor(d_k)
    return scores if after is None else after(scores)


def on_the_keys(q, k, mixing, d_k):
    return q[:, None] @ (k[:, None] * mixing[None, :, None]).transpose(2, 3) / d_k**0.5


def by_diagonals(q, k, mixing, d_k):
    return torch.stack([q @ torch.diag(m) @ k.mT for m in mixing], dim=1) / math.sqrt(d_k)


def by_numpy(q, k, mixing, d_k):
    scores = np.einsum("bqr,hr,bkr->bhqk", q.numpy(), mixing.numpy(), k.numpy())
    return torch.from_numpy((scores / np.sqrt(d_k)).astype(q.numpy().dtype))


def all_products(q, k, mixing, d_k):
    products = q[:, :, None] * k[:, None]  # (b, n_q, n_k, width)
    return (products @ mixing.T).permute(0, 3, 1, 2) / d_k**0.5


def by_linear(q, k, mixing, d_k):
    products = torch.einsum("bqr,bkr->bqkr", q, k)
    return torch.nn.functional.linear(products, mixing).movedim(-1, 1).div(math.sqrt(d_k))


def in_one_axis(q, k, mixing, d_k):
    b, n_q, width = q.shape
    weighed = (q[:, None] * mixing[:, None]).reshape(b, -1, width)
    return torch.bmm(weighed, k.mT).view(b, len(mixing), n_q, -1) / math.sqrt(d_k)


WRONG = [
    ("scale-of-the-width", partial(looped, root=lambda width, h, d_k: math.sqrt(width))),
    ("scale-of-the-width", partial(by_einsum, scale=lambda q, m, d_k: q.shape[-1] ** -0.5)),
    ("scale-of-the-width-per-head", partial(looped, root=lambda width, h, d_k: math.sqrt(width / h))),
    (
        "scale-of-the-width-per-head",
        partial(by_einsum, scale=lambda q, m, d_k: math.sqrt(len(m) / m.shape[1])),
    ),
    ("no-scale", partial(broadcast, divisor=lambda d_k: 1)),
    ("no-scale", partial(by_einsum, scale=lambda q, m, d_k: 1.0)),
    ("divided-by-d_k", partial(broadcast, divisor=lambda d_k: d_k)),
    ("divided-by-d_k", partial(looped, root=lambda width, h, d_k: d_k)),
    ("multiplied-by-the-root", partial(broadcast, divisor=lambda d_k: d_k**-0.5)),
    ("multiplied-by-the-root", lambda q, k, m, d_k: all_products(q, k, m, d_k) * d_k),
    ("weighed-twice", partial(looped, term=lambda a, m, c: (a * m) * (c * m))),
    ("weighed-twice", lambda q, k, m, d_k: on_the_keys(q, k, m**2, d_k)),
    (
        "weighed-twice",
        lambda q, k, m, d_k: (q[:, None] * m[:, None]) @ (k[:, None] * m[:, None]).mT / d_k**0.5,
    ),
    ("not-weighed", partial(looped, term=lambda a, m, c: a * c)),
    (
        "not-weighed",
        lambda q, k, m, d_k: torch.stack([q @ k.mT / math.sqrt(d_k) for _ in m], dim=1),
    ),
    ("weights-added", partial(broadcast, meet=torch.add)),
    ("weights-added", partial(looped, term=lambda a, m, c: (a + m) * c)),
    ("weights-made-positive", partial(broadcast, before=lambda m: m.softmax(dim=-1))),
    ("weights-made-positive", lambda q, k, m, d_k: by_diagonals(q, k, torch.softmax(m, 1), d_k)),
    ("one-row-for-all", partial(looped, row=lambda mixing, i: mixing[0])),
    ("one-row-for-all", lambda q, k, m, d_k: on_the_keys(q, k, m[:1], d_k).expand(-1, len(m), -1, -1)),
    ("rows-in-reverse", partial(looped, row=lambda mixing, i: mixing[-1 - i])),
    ("rows-in-reverse", partial(broadcast, after=lambda s: s.flip(1))),
    ("heads-last", partial(looped, stack=-1)),
    ("heads-last", partial(by_einsum, formula="bqr,hr,bkr->bqkh")),
    ("heads-behind-queries", partial(looped, stack=2)),
    ("heads-behind-queries", partial(by_einsum, formula="bqr,hr,bkr->bqhk")),
    ("heads-first", partial(looped, stack=0)),
    ("heads-first", partial(by_einsum, formula="bqr,hr,bkr->hbqk")),
    ("heads-added-up", partial(by_einsum, formula="bqr,hr,bkr->bqk")),
    ("heads-added-up", lambda q, k, m, d_k: (q * m.sum(0)) @ k.mT / d_k**0.5),
    ("keys-for-queries", partial(by_einsum, formula="bqr,hr,bkr->bhkq")),
    ("keys-for-queries", lambda q, k, m, d_k: broadcast(k, q, m, d_k)),
    ("softmax-too", partial(broadcast, after=lambda s: s.softmax(dim=-1))),
    ("softmax-too", lambda q, k, m, d_k: torch.softmax(by_einsum(q, k, m, d_k), 3)),
]

RIGHT = [
    looped,
    by_einsum,
    broadcast,
    on_the_keys,
    by_diagonals,
    by_numpy,
    all_products,
    by_linear,
    in_one_axis,
]

UNLISTED = [
    ("divided by the root of h", partial(by_einsum, scale=lambda q, m, d_k: len(m) ** -0.5)),
    ("root of d_k / h|root of h", partial(by_einsum, scale=lambda q, m, d_k: (d_k / len(m)) ** -0.5)),
    ("softmax is taken over the heads", partial(broadcast, after=lambda s: s.softmax(1))),
    ("softmax is taken over the queries|softmax.*n_q", partial(broadcast, after=lambda s: s.softmax(-2))),
    ("mean over all heads|averaged over the heads", partial(broadcast, after=lambda s: s.mean(1))),
    ("sum of each row", partial(broadcast, before=lambda m: m / m.sum(1, keepdim=True))),
    ("become 0", partial(broadcast, before=torch.relu)),
    ("signs of .mixing. get lost", partial(broadcast, before=torch.abs)),
    ("divided by .mixing.", partial(broadcast, meet=torch.div)),
    ("softmax is taken over the heads of .mixing.", partial(broadcast, before=lambda m: m.softmax(0))),
    ("distances", lambda q, k, m, d_k: -torch.cdist(q[:, None] * m[:, None], k[:, None]) / d_k**0.5),
    ("keys take no part", lambda q, k, m, d_k: by_einsum(q, q, m, d_k)),
    ("queries take no part", lambda q, k, m, d_k: by_einsum(k, k, m, d_k)),
    ("result should be .6.; yours is .12", lambda q, k, m, d_k: by_einsum(q**2, k, m, d_k)),
    ("third root", partial(broadcast, divisor=lambda d_k: d_k ** (1 / 3))),
    ("opposite", lambda q, k, m, d_k: -by_einsum(q, k, m, d_k)),
    ("nothing", lambda q, k, m, d_k: print(by_einsum(q, k, m, d_k).shape)),
]
