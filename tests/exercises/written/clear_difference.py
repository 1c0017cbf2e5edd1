"""clear_difference as students write it: wrong in known ways, right, wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch


def spread(x):
    return x.max(-1).values - x.min(-1).values


def by_where(
    losses, plain, *, mean=lambda x: x.mean(-1), wide=spread, limit=torch.maximum,
    gap=lambda row, plain: row - plain, judge=None,
):  # fmt: skip
    d = gap(mean(losses), mean(plain))
    most = limit(wide(losses), wide(plain))
    return torch.where(d.abs() < most, torch.zeros_like(d), d) if judge is None else judge(d, most)


def in_a_loop(
    losses, plain, *, middle=lambda x: sum(x) / len(x), wide=lambda x: max(x) - min(x), limit=max,
    small=lambda d, limit: abs(d) < limit, give=lambda d, limit: d, instead=0.0,
):  # fmt: skip
    p, out = plain.tolist(), []
    for row in losses.tolist():
        d, most = middle(row) - middle(p), limit(wide(row), wide(p))
        out.append(instead if small(d, most) else give(d, most))
    return torch.tensor(out, dtype=losses.dtype)


def by_mask(losses, plain, *, keep=lambda d, limit: d.abs() >= limit, sign=1):
    d = sign * (losses.mean(1) - plain.mean())
    limit = spread(losses).clamp_min(float(spread(plain)))
    return d * keep(d, limit)


def by_writing(losses, plain, *, value=0):
    d = losses.mean(dim=1) - plain.mean()
    s = torch.stack((losses.amax(1) - losses.amin(1), (plain.max() - plain.min()).expand(len(losses)))).amax(
        0
    )
    d[(d < s) & (d > -s)] = value
    return d


def by_sorting(losses, plain, *, pick=lambda one, other: torch.where(one > other, one, other)):
    ordered, p = losses.sort(1).values, plain.sort().values
    limit = pick(ordered[:, -1] - ordered[:, 0], (p[-1] - p[0]).expand(len(losses)))
    d = losses.mean(1) - p.mean()
    return d.masked_fill(d.abs() < limit, 0)


def by_numpy(losses, plain):
    losses, plain = losses.numpy(), plain.numpy()
    d = losses.mean(1) - plain.mean()
    return torch.from_numpy(
        np.where(np.abs(d) < np.maximum(np.ptp(losses, 1), np.ptp(plain)), 0, d).astype(losses.dtype)
    )


def by_hardshrink(losses, plain):
    """In units of the larger spread nothing below 1 is left."""
    limit = torch.maximum(spread(losses), spread(plain))
    d = (losses.mean(1) - plain.mean()) / limit
    return torch.where(d.abs() >= 1, d, 0.0) * limit


def ranges_apart(losses, plain):
    d = losses.mean(1) - plain.mean()
    overlap = (losses.amin(1) <= plain.amax()) & (losses.amax(1) >= plain.amin())
    return d * ~overlap


def ranges_apart_in_a_loop(losses, plain):
    out = []
    for row in losses:
        apart = bool((row > plain.max()).all()) or bool((row < plain.min()).all())
        out.append(row.mean() - plain.mean() if apart else torch.zeros(()))
    return torch.stack(out)


WRONG = [
    ("sign-turned", partial(by_where, gap=lambda row, plain: plain - row)),
    ("sign-turned", partial(by_mask, sign=-1)),
    ("smaller-spread", partial(by_where, limit=torch.minimum)),
    ("smaller-spread", partial(in_a_loop, limit=min)),
    ("own-spread-alone", partial(by_where, limit=lambda row, plain: row)),
    ("own-spread-alone", partial(by_sorting, pick=lambda one, other: one)),
    ("plain-spread-alone", partial(by_where, limit=lambda row, plain: plain)),
    ("plain-spread-alone", partial(in_a_loop, limit=lambda row, plain: plain)),
    ("spreads-added", partial(by_where, limit=torch.add)),
    ("spreads-added", partial(in_a_loop, limit=lambda row, plain: row + plain)),
    ("spreads-averaged", partial(by_where, limit=lambda row, plain: (row + plain) / 2)),
    ("spreads-averaged", partial(by_sorting, pick=lambda one, other: torch.stack((one, other)).mean(0))),
    ("standard-deviation", partial(by_where, wide=lambda x: x.std(-1))),
    ("standard-deviation", partial(in_a_loop, wide=lambda x: float(np.std(x, ddof=1)))),
    ("half-the-spread", partial(by_where, wide=lambda x: spread(x) / 2)),
    ("half-the-spread", partial(in_a_loop, small=lambda d, limit: abs(d) < 0.5 * limit)),
    ("better-rows-lost", partial(by_mask, keep=lambda d, limit: d >= limit)),
    ("better-rows-lost", partial(in_a_loop, small=lambda d, limit: d < limit)),
    ("turned-round", partial(by_mask, keep=lambda d, limit: d.abs() < limit)),
    ("turned-round", partial(in_a_loop, small=lambda d, limit: abs(d) >= limit)),
    ("nothing-set-to-0", lambda losses, plain: losses.mean(1) - plain.mean()),
    ("nothing-set-to-0", partial(in_a_loop, small=lambda d, limit: False)),
    ("signs-alone", lambda losses, plain: by_where(losses, plain).sign()),
    ("signs-alone", partial(in_a_loop, give=lambda d, limit: 1.0 if d > 0 else -1.0)),
    ("without-sign", lambda losses, plain: by_where(losses, plain).abs()),
    ("without-sign", partial(in_a_loop, give=lambda d, limit: abs(d))),
    ("limit-subtracted", partial(by_where, judge=lambda d, limit: (d - limit).relu() - (-d - limit).relu())),
    ("limit-subtracted", partial(in_a_loop, give=lambda d, limit: d - limit if d > 0 else d + limit)),
    ("nan-for-0", partial(by_writing, value=float("nan"))),
    ("nan-for-0", partial(in_a_loop, instead=float("nan"))),
    ("best-seeds", partial(by_where, mean=lambda x: x.min(-1).values)),
    ("best-seeds", partial(in_a_loop, middle=min)),
    ("medians", partial(by_where, mean=lambda x: x.median(-1).values)),
    ("medians", partial(in_a_loop, middle=lambda x: sorted(x)[(len(x) - 1) // 2])),
    ("row-means", partial(by_where, gap=lambda row, plain: row)),
    (
        "row-means",
        lambda losses, plain: _only(losses.mean(1), spread(losses).clamp_min(float(spread(plain)))),
    ),
    ("in-shares", partial(by_where, gap=lambda row, plain: row / plain - 1)),
    ("in-shares", partial(by_where, gap=lambda row, plain: (row - plain) / plain)),
    ("ranges-overlap", ranges_apart),
    ("ranges-overlap", ranges_apart_in_a_loop),
    ("spread-of-all-rows", partial(by_where, wide=lambda x: x.max() - x.min())),
    (
        "spread-of-all-rows",
        lambda losses, plain: in_a_loop(losses, plain, wide=lambda x: _of_all(x, losses, plain)),
    ),
    ("widest-row-for-all", partial(by_where, limit=lambda row, plain: torch.maximum(row.max(), plain))),
    ("widest-row-for-all", partial(by_where, limit=lambda row, plain: torch.cat((row, plain[None])).max())),
    ("over-rows", lambda losses, plain: by_where(losses.T, plain)),
    ("over-rows", lambda losses, plain: by_sorting(losses.mT.contiguous(), plain)),
]

RIGHT = [by_where, in_a_loop, by_mask, by_writing, by_sorting, by_numpy, by_hardshrink]

UNLISTED = [
    ("Twice the spread", partial(by_where, wide=lambda x: 2 * spread(x))),
    ("worst seed", partial(by_where, mean=lambda x: x.max(-1).values)),
    ("variance", partial(by_where, wide=lambda x: x.var(-1))),
    ("largest minus the mean", partial(by_where, wide=lambda x: x.amax(-1) - x.mean(-1))),
    ("Sums are compared", partial(in_a_loop, middle=sum)),
    ("True and False|bool", partial(by_where, judge=lambda d, limit: d.abs() >= limit)),
    ("divided by the larger spread", partial(by_where, judge=lambda d, limit: d / limit)),
    ("cut off at the spread", partial(by_where, judge=lambda d, limit: d.clamp(-limit, limit))),
    ("spreads are multiplied", partial(by_where, limit=torch.mul)),
    ("under a root", partial(by_where, limit=torch.hypot)),
    ("seed by seed|axis of its own|shape", lambda losses, plain: losses - plain.mean()),
    ("worse become 0", partial(by_mask, keep=lambda d, limit: d <= -limit)),
    ("divided by that of plain", partial(by_where, gap=lambda row, plain: row / plain)),
    ("rows are missing|shape", partial(by_where, judge=lambda d, limit: d[d.abs() >= limit])),
    ("fixed", partial(by_where, limit=lambda row, plain: torch.full_like(row, 0.1))),
    ("mean over all rows", partial(by_where, gap=lambda row, plain: row - row.mean())),
    ("spreads come back", partial(by_where, judge=lambda d, limit: limit)),
    ("should be", partial(by_where, mean=lambda x: x.square().mean(-1).sqrt())),
    ("nothing", lambda losses, plain: print(by_where(losses, plain).tolist())),
]


def _only(values, limit):
    return values * (values.abs() >= limit)


def _of_all(x, losses, plain):
    return float(spread(plain)) if len(x) == len(plain) else float(losses.max() - losses.min())
