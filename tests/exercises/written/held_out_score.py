"""held_out_score as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from tests.exercises.written.examined import held_out_score as examined

EVEN, ODD, ALL = slice(0, None, 2), slice(1, None, 2), slice(None)


def sliced(hits, asked, *, pick=EVEN, judge=ODD, over=None, ratio=None):
    head = int(hits[pick].sum(0).argmax())
    of_head = hits[judge][:, head]
    if ratio is not None:
        return ratio(of_head, asked[judge])
    return of_head.sum() / asked[judge if over is None else over].sum()


def looped(hits, asked, *, pick=lambda i: i % 2 == 0, judge=lambda i: i % 2 == 1, count=None, share=None):
    totals = [sum(float(hits[i, k]) for i in range(len(hits)) if pick(i)) for k in range(hits.shape[1])]
    best = totals.index(max(totals))
    places = [i for i in range(len(hits)) if judge(i)]
    if share is not None:
        return torch.tensor(share([float(hits[i, best]) for i in places], [float(asked[i]) for i in places]))
    found = sum(float(hits[i, best]) for i in places)
    return torch.tensor(found / (count(places, asked) if count else sum(float(asked[i]) for i in places)))


def halves(hits, asked):
    first, second = hits.split([len(hits) // 2, len(hits) - len(hits) // 2])
    return second[:, first.sum(0).argmax()].sum() / asked[len(hits) // 2 :].sum()


def by_numpy(hits, asked):
    h, a = hits.numpy(), asked.numpy()
    return torch.from_numpy(np.asarray(h[1::2, h[::2].sum(axis=0).argmax()].sum() / a[1::2].sum()))


def by_mask(hits, asked):
    even = torch.arange(len(hits)) % 2 == 0
    best = (hits * even[:, None]).sum(0).argmax()
    return (hits[:, best] * ~even).sum() / (asked * ~even).sum()


def by_shares(hits, asked):
    pick = hits[0::2].sum(0) / asked[0::2].sum()
    judge = hits[1::2].sum(0) / asked[1::2].sum()
    return judge[pick.argmax()]


def every_head(hits, asked):
    return torch.stack([hits[1::2, k].sum() / asked[1::2].sum() for k in range(hits.shape[1])])


WRONG = [
    ("judged-where-picked", partial(sliced, judge=EVEN)),
    ("judged-where-picked", partial(looped, judge=lambda i: i % 2 == 0)),
    ("picked-where-judged", partial(sliced, pick=ODD)),
    ("picked-where-judged", partial(looped, pick=lambda i: i % 2 == 1)),
    ("halves-swapped", partial(sliced, pick=ODD, judge=EVEN)),
    ("halves-swapped", partial(looped, pick=lambda i: i % 2, judge=lambda i: not i % 2)),
    ("picked-on-all", partial(sliced, pick=ALL)),
    ("picked-on-all", partial(looped, pick=lambda i: True)),
    ("judged-on-all", partial(sliced, judge=ALL)),
    ("judged-on-all", partial(looped, judge=lambda i: True)),
    ("no-halves", partial(sliced, pick=ALL, judge=ALL)),
    ("no-halves", lambda hits, asked: (hits.sum(0) / asked.sum()).max()),
    ("first-half-and-second", halves),
    (
        "first-half-and-second",
        lambda h, a: looped(h, a, pick=lambda i: i < len(h) // 2, judge=lambda i: i >= len(h) // 2),
    ),
    ("divided-by-all-asked", partial(sliced, over=ALL)),
    ("divided-by-all-asked", partial(looped, count=lambda places, asked: float(asked.sum()))),
    ("divided-by-sentences", partial(sliced, ratio=lambda hits, asked: hits.mean())),
    ("divided-by-sentences", partial(looped, count=lambda places, asked: len(places))),
    ("hits-counted", partial(sliced, ratio=lambda hits, asked: hits.sum())),
    ("hits-counted", partial(looped, count=lambda places, asked: 1)),
    ("mean-of-shares", partial(sliced, ratio=lambda hits, asked: (hits / asked).mean())),
    (
        "mean-of-shares",
        partial(looped, share=lambda h, a: sum(x / y for x, y in zip(h, a, strict=True)) / len(h)),
    ),
    ("all-heads", every_head),
    ("all-heads", lambda hits, asked: hits[1::2].sum(0) / asked[1::2].sum()),
]

RIGHT = [
    sliced,
    looped,
    by_numpy,
    by_mask,
    by_shares,
    lambda hits, asked: every_head(hits, asked)[hits[::2].sum(0).argmax()],
]

UNLISTED = [
    ("share of misses", lambda hits, asked: 1 - sliced(hits, asked)),
    ("per cent", lambda hits, asked: 100 * sliced(hits, asked)),
    ("have no effect", lambda hits, asked: 0 * sliced(hits, asked)),
    ("hits of all heads are added up", lambda hits, asked: hits[1::2].sum() / asked[1::2].sum()),
    ("squared", lambda hits, asked: sliced(hits, asked) ** 2),
    ("a tensor is wanted", lambda hits, asked: float(sliced(hits, asked))),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
