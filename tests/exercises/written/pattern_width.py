"""pattern_width as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch


def counted(
    weights,
    *,
    scores=torch.log,
    shift=lambda s: s - s.mean(-1, keepdim=True),
    last=lambda count, weights: count,
    above=1e-8,
):
    """Singular values above rounding."""
    values = torch.linalg.svdvals(shift(scores(weights)))
    return last(int((values > above).sum()), weights)


def ranked(weights, *, make=torch.log, centre=lambda s: s - s.mean(dim=1, keepdim=True)):
    return torch.linalg.matrix_rank(centre(make(weights))).item()


def against_the_first_key(weights):
    """The first key's score of every row becomes 0."""
    return torch.linalg.matrix_rank(torch.log(weights / weights[:, :1]))


def row_by_row(weights):
    rows = []
    for row in weights:
        logs = torch.log(row)
        rows.append(logs - sum(logs) / len(logs))
    return int(torch.linalg.matrix_rank(torch.stack(rows), atol=1e-8))


def by_projection(weights):
    n_k = weights.shape[1]
    away = torch.eye(n_k, dtype=weights.dtype) - 1 / n_k
    return int(torch.linalg.matrix_rank(weights.log() @ away, atol=1e-9))


def by_numpy(weights):
    logs = np.log(weights.numpy())
    return int(np.linalg.matrix_rank(logs - logs.mean(axis=1, keepdims=True), tol=1e-9))


def by_eigenvalues(weights):
    centred = weights.log() - weights.log().mean(1, keepdim=True)
    return int((torch.linalg.eigvalsh(centred @ centred.T) > 1e-10).sum())


def by_elimination(weights):
    """Gauss, with the largest entry as pivot."""
    left, rank = weights.log() - weights.log().mean(1, keepdim=True), 0
    while left.numel() and float(left.abs().max()) > 1e-9:
        place = int(left.abs().argmax())
        i, j = divmod(place, left.shape[1])
        left = left - left[:, j : j + 1] * left[i] / left[i, j]
        left[i], left[:, j] = 0, 0
        rank += 1
    return rank


def by_difference(weights):
    """Neighbouring keys compared: what is added to a row falls out."""
    return int(torch.linalg.matrix_rank(weights.log().diff(dim=1), atol=1e-9))


def as_they_are(s):
    return s


def by_columns(s):
    return s - s.mean(0, keepdim=True)


def doubly(s):
    return s - s.mean(0, keepdim=True) - s.mean(1, keepdim=True) + s.mean()


WRONG = [
    ("rank-of-the-weights", lambda p: int(torch.linalg.matrix_rank(p))),
    ("rank-of-the-weights", partial(counted, scores=as_they_are, shift=as_they_are)),
    ("rank-of-the-weights", lambda p: int(np.linalg.matrix_rank(p.numpy()))),
    ("rows-not-shifted", partial(ranked, centre=as_they_are)),
    ("rows-not-shifted", partial(counted, shift=as_they_are)),
    ("always-one-less", partial(counted, shift=as_they_are, last=lambda count, p: count - 1)),
    ("always-one-less", lambda p: int(torch.linalg.matrix_rank(p.log())) - 1),
    ("columns-shifted", partial(counted, shift=by_columns)),
    ("columns-shifted", partial(ranked, centre=lambda s: s - s[0])),
    ("rows-and-columns-shifted", partial(counted, shift=doubly)),
    (
        "rows-and-columns-shifted",
        lambda p: by_numpy((p.log() - p.log().mean(0)).exp()),
    ),
    ("one-number-for-all", partial(counted, shift=lambda s: s - s.mean())),
    ("one-number-for-all", lambda p: int(torch.linalg.matrix_rank(p.log() - p.log().mean(), atol=1e-9))),
    ("weights-centred", partial(counted, scores=as_they_are)),
    ("weights-centred", partial(ranked, make=lambda p: p)),
    (
        "one-less-than-the-weights",
        partial(counted, scores=as_they_are, shift=as_they_are, last=lambda count, p: count - 1),
    ),
    ("one-less-than-the-weights", lambda p: int(torch.linalg.matrix_rank(p)) - 1),
    ("as-many-as-tokens", lambda p: min(p.shape)),
    ("as-many-as-tokens", lambda p: min(len(p), len(p[0]))),
    ("tokens-less-one", lambda p: min(p.shape) - 1),
    ("tokens-less-one", lambda p: sorted(p.shape)[0] - 1),
    ("different-rows", lambda p: len({tuple(row) for row in p.numpy().round(9)})),
    ("different-rows", lambda p: len(torch.unique(p.round(decimals=8), dim=0))),
    ("one-more", partial(counted, last=lambda count, p: count + 1)),
    ("one-more", lambda p: by_projection(p) + 1),
    ("one-at-least", partial(counted, last=lambda count, p: max(count, 1))),
    ("one-at-least", lambda p: by_difference(p) or 1),
]

RIGHT = [
    counted,
    ranked,
    against_the_first_key,
    row_by_row,
    by_projection,
    by_numpy,
    by_eigenvalues,
    by_elimination,
    by_difference,
]

UNLISTED = [
    ("number of rows", len),
    ("number of columns", lambda p: p.shape[1]),
    ("one too small", partial(counted, last=lambda count, p: count - 1)),
    ("doubled", partial(counted, last=lambda count, p: 2 * count)),
    ("float", partial(counted, last=lambda count, p: float(count))),
    ("sum of the singular values", lambda p: torch.linalg.svdvals(p.log() - p.log().mean(1, True)).sum()),
    ("below about (1|0.99) are left out", partial(counted, above=1.0)),
    ("below about 0.1 are left out", partial(counted, above=0.1)),
    (r"below about 0\.05 are left out", partial(counted, above=0.05)),
    (r"below about 0\.001 are left out", partial(counted, above=1e-3)),
    (
        r"below about 0\.001 times the largest are left out",
        lambda p: _beside_the_largest(p, 1e-3),
    ),
    (r"below about 0\.03 times the largest are left out", lambda p: _beside_the_largest(p, 0.03)),
    (
        r"below about 0\.01 times the largest are left out",
        lambda p: int(torch.linalg.matrix_rank(p.log() - p.log().mean(1, True), rtol=0.01)),
    ),
    ("99 %", lambda p: _most(p, 0.99)),
    ("Singular values come back", lambda p: torch.linalg.svdvals(p.log() - p.log().mean(1, True))),
    ("answer is 0; yours is 3", lambda p: 3),
    ("largest score", partial(counted, shift=lambda s: s - s.max())),
    ("number of keys less", partial(counted, last=lambda count, p: p.shape[1] - count)),
    ("answer is 0; yours is 1|effective rank", lambda p: _effective(p)),
    ("90 %", lambda p: _most(p, 0.9)),
    ("negative", partial(counted, last=lambda count, p: -count)),
    ("the answer is", lambda p: min(by_numpy(p), 4)),
    ("rank of the weights. .*And it is a float", lambda p: float(torch.linalg.matrix_rank(p))),
    ("nothing", lambda p: print(by_numpy(p))),
]


def _effective(p):
    values = torch.linalg.svdvals(p.log() - p.log().mean(1, True))
    share = values / values.sum()
    return torch.exp(-(share * share.log()).nansum())


def _most(p, part):
    values = torch.linalg.svdvals(p.log() - p.log().mean(1, True))
    return int((values.cumsum(0) < part * values.sum()).sum()) + 1


def _beside_the_largest(p, part):
    values = torch.linalg.svdvals(p.log() - p.log().mean(1, True))
    return sum(v > part * values[0] for v in values.tolist())
