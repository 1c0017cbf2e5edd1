"""average_of_targets as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial, reduce

import numpy as np
import torch
import torch.nn.functional as F


def row(values, targets, *, weight):
    weights = torch.zeros(1, len(values), dtype=values.dtype)
    for target in targets:
        weights[0, target] = weight(values, targets)
    return (weights @ values)[0]


def looped(values, targets, *, divide=None, step=0):
    total = torch.zeros_like(values[0])
    for target in targets:
        total = total + values[target + step]
    return total if divide is None else total / divide(values, targets)


def overwritten(values, targets):
    for target in targets:
        out = values[target]
    return out


def returned_at_once(values, targets):
    for target in targets:
        return values[target]


def softened(values, targets):
    scores = [1.0 if place in targets else 0.0 for place in range(len(values))]
    return torch.tensor(scores, dtype=values.dtype).softmax(0) @ values


def softened_exp(values, targets):
    powers = torch.ones(len(values), dtype=values.dtype)
    powers[targets] = np.e
    return (powers[:, None] * values).sum(0) / powers.sum()


def largest(values, targets):
    return reduce(torch.maximum, [values[t] for t in targets])


def concatenated(values, targets):
    return torch.cat([values[t] for t in targets])


def running_mean(values, targets):
    out = values[targets[0]]
    for target in targets[1:]:
        out = (out + values[target]) / 2
    return out


def per_feature(values, targets):
    out = []
    for feature in range(values.shape[1]):
        out.append(sum(values[t, feature] for t in targets) / len(targets))
    return torch.stack(out)


def one_hot(values, targets):
    return F.one_hot(torch.tensor(targets), len(values)).to(values.dtype).mean(0) @ values


def masked(values, targets):
    scores = torch.full((len(values),), -torch.inf, dtype=values.dtype)
    scores[targets] = 0
    return scores.softmax(0) @ values


def with_einsum(values, targets):
    weights = torch.tensor([(t in targets) / len(targets) for t in range(len(values))], dtype=values.dtype)
    return torch.einsum("n,nd->d", weights, values)


def row_of_weights(values, targets):
    weights = torch.zeros(values.shape[0])
    weights[targets] = 1 / len(targets)
    return weights


def whole_division(values, targets):
    weights = torch.zeros(values.shape[0])
    weights[targets] = 1 // len(targets)
    return weights @ values


WRONG = [
    ("sum-for-average", lambda values, targets: sum(values[t] for t in targets)),
    ("sum-for-average", partial(row, weight=lambda v, t: 1.0)),
    ("first-target-only", returned_at_once),
    ("first-target-only", lambda values, targets: values[targets][0]),
    ("last-target-only", overwritten),
    ("last-target-only", lambda values, targets: values[targets[len(targets) - 1]]),
    ("average-of-everything", lambda values, targets: values.sum(0) / len(values)),
    ("average-of-everything", lambda v, t: torch.full((len(v),), 1 / len(v), dtype=v.dtype) @ v),
    ("divided-by-n", partial(looped, divide=lambda v, t: len(v))),
    ("divided-by-n", partial(row, weight=lambda v, t: 1 / v.shape[0])),
    ("always-halved", partial(row, weight=lambda v, t: 0.5)),
    ("always-halved", lambda values, targets: sum(values[t] for t in targets) / 2),
    ("weight-leaks", softened),
    ("weight-leaks", softened_exp),
    ("counted-from-one", partial(looped, divide=lambda v, t: len(t), step=-1)),
    ("counted-from-one", lambda values, targets: values[torch.tensor(targets) - 1].mean(0)),
    ("side-by-side", concatenated),
    ("side-by-side", lambda values, targets: torch.hstack([values[t] for t in targets])),
    ("largest-of-targets", largest),
    ("largest-of-targets", lambda values, targets: values[targets].amax(0)),
    ("rows-not-averaged", lambda values, targets: torch.stack([values[t].mean() for t in targets])),
    ("rows-not-averaged", lambda values, targets: values[targets].sum(1) / values.shape[1]),
]

RIGHT = [
    lambda values, targets: values[targets].mean(0),
    lambda values, targets: sum(values[t] for t in targets) / len(targets),
    lambda values, targets: values.index_select(0, torch.tensor(targets)).mean(dim=0),
    lambda values, targets: torch.from_numpy(values.numpy()[targets].mean(axis=0)),
    partial(looped, divide=lambda v, t: len(t)),
    partial(row, weight=lambda v, t: 1 / len(t)),
    per_feature,
    one_hot,
    masked,
    with_einsum,
    lambda values, targets: torch.stack([values[t] for t in targets], -1).mean(-1),
    lambda values, targets: values.T[:, targets].contiguous().mean(1),
]

UNLISTED = [
    ("The two factors have changed places", lambda v, t: v @ row_of_weights(v, t)),
    ("laid along the last axis", lambda v, t: (row_of_weights(v, t) * v).sum(0)),
    ("`mean` goes over nothing", lambda v, t: v[t[0] : t[1] + 1].mean(0)),
    ("raised to a broken power", lambda v, t: v[t].prod(0) ** (1 / len(t))),
    ("1 // 2 is 0", whole_division),
    ("smallest value", lambda values, targets: values[targets].amin(0)),
    ("middle value", lambda values, targets: values[targets].median(0).values),
    ("multiplied with each other", lambda values, targets: values[targets].prod(0)),
    ("difference", lambda values, targets: values[targets[0]] - values[targets[1:]].sum(0)),
    ("geometric mean", lambda values, targets: values[targets].abs().log().mean(0).exp()),
    ("root of the mean square", lambda values, targets: values[targets].pow(2).mean(0).sqrt()),
    ("harmonic mean", lambda values, targets: len(targets) / (1 / values[targets]).sum(0)),
    ("divided by d_v", partial(looped, divide=lambda v, t: v.shape[1])),
    ("root of the number of targets", partial(looped, divide=lambda v, t: len(t) ** 0.5)),
    ("number of targets \\+ 1", partial(looped, divide=lambda v, t: len(t) + 1)),
    ("divided by 3", partial(row, weight=lambda v, t: 1 / 3)),
    ("multiplied by the number of targets", partial(row, weight=lambda v, t: len(t))),
    ("tokens 1 after the targets", lambda v, t: v.roll(-1, 0)[t].mean(0)),
    ("different weights", running_mean),
    ("different weights", lambda v, t: sum(v[x] * (k + 1) for k, x in enumerate(t)) / sum(range(len(t) + 1))),
    ("Target 1 has no weight", lambda values, targets: values[targets[:-1]].mean(0)),
    ("Target 2 has no weight", lambda v, t: v[t[0]] / 2 + v[t[1]] / 2 if len(t) > 1 else v[t[0]]),
    ("Token 2 has weight", lambda v, t: v[min(t) : max(t) + 1].mean(0)),
    ("Token 0 has weight and is no target", lambda v, t: v[[0, *t]].mean(0)),
    ("Tokens 0, 2 and 4 have weight", lambda v, t: v[[k for k in range(len(v)) if k not in t]].mean(0)),
    ("Half of it is the average of all", lambda v, t: (v[t].mean(0) + v.mean(0)) / 2),
    ("not yet added up", lambda values, targets: values[targets]),
    ("not yet added up", lambda values, targets: values[targets] / len(targets)),
    (
        "sum over the tokens is missing",
        lambda v, t: v * torch.tensor([[(k in t) / len(t)] for k in range(len(v))]),
    ),
    ("These are the weights", lambda v, t: torch.tensor([(k in t) / len(t) for k in range(len(v))])),
    ("once for each token", lambda values, targets: values[targets].mean(0).expand_as(values)),
    ("along the features", lambda v, t: v[:, [x % v.shape[1] for x in t]].mean(1)),
    ("picks one entry", lambda v, t: v[tuple(t[:2])] if len(t) == 2 else v[t].mean(0)),
    ("rounded", lambda values, targets: values[targets].mean(0).round()),
    ("rounded down", lambda values, targets: values[targets].sum(0) // len(targets)),
    ("rounded to one decimal", lambda values, targets: values[targets].mean(0).round(decimals=1)),
    ("ReLU", lambda values, targets: values[targets].mean(0).relu()),
    ("sign of the average is lost", lambda values, targets: values[targets].mean(0).abs()),
    ("opposite sign", lambda values, targets: -values[targets].mean(0)),
    ("divided by its length", lambda values, targets: F.normalize(values[targets].mean(0), dim=0)),
    ("softmax is applied to the average", lambda values, targets: values[targets].mean(0).softmax(0)),
    ("softmax goes over the values", lambda v, t: (v[t].softmax(0) * v[t]).sum(0)),
    ("reversed order of features", lambda values, targets: values[targets].mean(0).flip(0)),
    ("average over everything", lambda values, targets: values[targets].mean()),
    ("last feature of the average is missing", lambda values, targets: values[targets].mean(0)[:-1]),
    ("Everything is 0", lambda values, targets: torch.zeros_like(values[0])),
    ("with one target", lambda v, t: v[t].mean(0) if len(t) > 1 else v[t]),
    ("of one feature", lambda values, targets: values[targets].mean(0).squeeze()),
    ("changes its argument `values`", lambda v, t: v[t].mean(0) + 0 * v.mul_(2).sum()),
    ("different results", lambda v, t: v[t].mean(0) + torch.rand(v.shape[1])),
]
