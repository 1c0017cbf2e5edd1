"""permutation_p as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import operator
import statistics
from functools import partial

import numpy as np
import torch


def gap(distances, layers, *, mean=statistics.fmean, near=False):
    d, layer = distances.tolist(), layers.tolist()
    within, between = [], []
    for i in range(len(layer)):
        for j in range(i + 1, len(layer)):
            if layer[i] == layer[j]:
                within.append(d[i][j])
            elif not near or abs(layer[i] - layer[j]) == 1:
                between.append(d[i][j])
    return mean(between) - mean(within)


def looped(
    distances,
    layers,
    orders,
    *,
    better=operator.ge,
    of=gap,
    relabel=None,
    bound=None,
    share=None,
    change=None,
):
    real = of(distances, layers)
    if change:
        real = change(real)
    hits = 0
    for order in orders:
        new = layers[order] if relabel is None else relabel(layers, order)
        one = of(distances, new)
        hits += better(change(one) if change else one, real if bound is None else bound)
    return torch.tensor(hits / len(orders) if share is None else share(hits, len(orders), len(layers)))


def vector(distances, layers, orders, *, count=lambda gaps, real: gaps >= real, moved=False, rows=False):
    m = len(layers)
    upper = torch.triu(torch.ones(m, m, dtype=torch.bool), 1)
    all_layers = torch.cat([layers[None], layers.expand(len(orders), m) if moved else layers[orders]])
    same = all_layers[:, :, None] == all_layers[:, None, :]
    d = distances.expand(len(same), m, m)
    if moved:
        d = torch.stack([distances, *(distances[o] if rows else distances[o][:, o] for o in orders)])
        upper = ~torch.eye(m, dtype=torch.bool)
    between, within = ~same & upper, same & upper
    gaps = (d * between).sum((1, 2)) / between.sum((1, 2)) - (d * within).sum((1, 2)) / within.sum((1, 2))
    return count(gaps[1:], gaps[0]).float().mean()


def by_between(distances, layers, orders):
    """The total never changes, so the larger the sum between, the larger the gap."""

    def between(layer):
        return distances[layer[:, None] != layer].sum()

    real = between(layers)
    return sum((between(layers[o]) >= real).float() for o in orders) / len(orders)


def by_within(distances, layers, orders):
    def within(layer):
        same = layer[:, None] == layer
        return distances[same].sum()  # the diagonal is 0

    return torch.tensor([float(within(layers[o]) <= within(layers)) for o in orders]).mean()


def by_numpy(distances, layers, orders):
    d, of = distances.numpy(), layers.numpy()
    i, j = np.triu_indices(len(of), 1)

    def one(layer):
        same = layer[i] == layer[j]
        return d[i, j][~same].mean() - d[i, j][same].mean()

    real = one(of)
    return torch.tensor(np.mean([one(of[o]) >= real for o in orders.numpy()]), dtype=torch.float32)


def heads_moved(distances, layers, orders):
    """Heads are moved rather than labels: the inverse relabeling, and each order comes with its inverse."""
    return vector(distances, layers, orders, moved=True)


def as_float(distances, layers, orders):
    real = gap(distances, layers)
    return sum(gap(distances, layers[o]) >= real for o in orders) / len(orders)


def backwards(distances, layers, *, mean=statistics.fmean):
    return -gap(distances, layers, mean=mean)


def all_at_once(distances, layers, orders):
    both = [vector(distances[o][:, o], layers[o], torch.arange(len(layers))[None]) for o in orders]
    return torch.stack(both).mean()


def median(parts):
    return sorted(parts)[(len(parts) - 1) // 2]


def median_of(distances, layers):
    same = layers[:, None] == layers
    other = ~torch.eye(len(layers), dtype=torch.bool)
    return distances[~same].median() - distances[same & other].median()


def neighbours(distances, layers):
    apart = (layers[:, None] - layers).abs()
    pairs = torch.ones_like(apart).triu(1).bool()
    return distances[(apart == 1) & pairs].mean() - distances[(apart == 0) & pairs].mean()


def rows_moved(distances, layers, orders):
    real, hits = gap_of_rows(distances, layers), []
    for order in orders:
        hits.append(gap_of_rows(distances[order], layers) >= real)
    return torch.tensor(hits).float().mean()


def gap_of_rows(distances, layers):
    same = layers[:, None] == layers
    within = same.clone().fill_diagonal_(False)
    return distances[~same].mean() - distances[within].mean()


def own_layers(distances, layers, orders):
    real, hits = gap_of_rows(distances, layers), 0
    for order in orders:
        hits += int(gap_of_rows(distances, order) >= real)
    return torch.tensor(hits / len(orders))


WRONG = [
    ("equals-left-out", partial(looped, better=operator.gt)),
    ("equals-left-out", partial(vector, count=lambda gaps, real: gaps > real)),
    ("other-end", partial(looped, of=backwards)),
    ("other-end", partial(vector, count=lambda gaps, real: gaps <= real)),
    ("smaller-counted", partial(looped, better=operator.lt)),
    ("smaller-counted", lambda d, layers, orders: 1 - vector(d, layers, orders)),
    ("two-sided", partial(looped, change=abs)),
    ("two-sided", partial(vector, count=lambda gaps, real: gaps.abs() >= real.abs())),
    ("not-divided", partial(looped, share=lambda hits, r, m: float(hits))),
    ("not-divided", lambda d, layers, orders: vector(d, layers, orders) * len(orders)),
    ("divided-by-heads", partial(looped, share=lambda hits, r, m: hits / m)),
    ("divided-by-heads", lambda d, layers, orders: vector(d, layers, orders) * len(orders) / orders.shape[1]),
    ("real-one-added", partial(looped, share=lambda hits, r, m: (hits + 1) / (r + 1))),
    (
        "real-one-added",
        lambda d, layers, orders: by_numpy(d, layers, torch.cat([orders, torch.arange(len(layers))[None]])),
    ),
    ("all-counted", all_at_once),
    ("all-counted", lambda d, layers, orders: _both_looped(d, layers, orders)),
    ("rows-alone-moved", rows_moved),
    ("rows-alone-moved", partial(vector, moved=True, rows=True)),
    ("none-counted", own_layers),
    ("none-counted", lambda d, layers, orders: _labels_from(d, layers, orders)),
    ("compared-with-zero", partial(looped, bound=0)),
    ("compared-with-zero", partial(vector, count=lambda gaps, real: gaps >= 0)),
    ("medians", partial(looped, of=partial(gap, mean=median))),
    ("medians", lambda d, layers, orders: _by_quantile(d, layers, orders)),
    ("next-layer-only", partial(looped, of=partial(gap, near=True))),
    ("next-layer-only", partial(looped, of=neighbours)),
    ("real-gap-returned", lambda d, layers, orders: gap_of_rows(d, layers)),
    ("real-gap-returned", lambda d, layers, orders: torch.tensor(gap(d, layers))),
]

RIGHT = [as_float, looped, vector, by_between, by_within, by_numpy, heads_moved]

UNLISTED = [
    ("Only the first relabeling", lambda d, layers, orders: _hits(d, layers, orders)[0] / len(orders)),
    ("number of relabelings that reach", lambda d, layers, orders: int(_hits(d, layers, orders).sum())),
    ("no share of it", lambda d, layers, orders: torch.tensor(0.05)),
    ("orders.2.` is counted, and should not be", lambda d, layers, orders: _largest(d, layers, orders)),
    ("About each relabeling alone", lambda d, layers, orders: _carried_along(d, layers, orders)),
    ("exactly the real gap", partial(looped, better=operator.eq)),
    ("with their mean", partial(vector, count=lambda gaps, real: gaps >= gaps.mean())),
    ("doubled", lambda d, layers, orders: 2 * vector(d, layers, orders)),
    ("first relabeling is left out", lambda d, layers, orders: vector(d, layers, orders[1:])),
    ("gaps themselves", partial(vector, count=lambda gaps, real: gaps)),
    ("[Ee]ach layer's mean", partial(looped, of=lambda d, layers: _layer_means(d, layers))),
    ("per cent", lambda d, layers, orders: 100 * vector(d, layers, orders)),
    ("one number for each", lambda d, layers, orders: _hits(d, layers, orders)),
]


def _both_looped(distances, layers, orders):
    real, hits = gap(distances, layers), []
    for order in orders:
        d, new = torch.zeros_like(distances), layers[order]
        for i in range(len(layers)):
            d[i] = distances[order[i], order]
        hits.append(gap(d, new) >= real)
    return torch.tensor(hits).float().mean()


def _labels_from(distances, layers, orders):
    values = [vector(distances, order, torch.arange(len(layers))[None]) for order in orders]
    return torch.stack(values).mean() if len(values) else torch.tensor(0.0)


def _by_quantile(distances, layers, orders):
    hits = [median_of(distances, layers[o]) >= median_of(distances, layers) for o in orders]
    return torch.stack(hits).float().mean()


def _layer_means(distances, layers):
    same = layers[:, None] == layers
    other = ~torch.eye(len(layers), dtype=torch.bool)
    means = [distances[(layers == k)[:, None] & same & other].mean() for k in layers.unique()]
    return distances[~same].mean() - torch.stack(means).mean()


def _largest(distances, layers, orders):
    def largest(of):
        return distances[of[:, None] != of].max()

    return torch.stack([largest(layers[o]) >= largest(layers) for o in orders]).float().mean()


def _carried_along(distances, layers, orders):
    real, hits = gap(distances, layers), 0
    for order in orders:
        layers = layers[order]
        hits += gap(distances, layers) >= real
    return hits / len(orders)


def _hits(distances, layers, orders):
    real = gap(distances, layers)
    return torch.tensor([float(gap(distances, layers[o]) >= real) for o in orders])
