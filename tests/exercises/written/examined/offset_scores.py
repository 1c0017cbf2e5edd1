"""offset_scores: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import numpy as np
import torch


def loops(w, o):
    out = []
    for head in w:
        hit = tot = 0
        for q, row in enumerate(head):
            if 0 <= q + o < len(row):
                tot += 1
                hit += int(row.argmax()) == q + o
        out.append(hit / tot)
    return torch.tensor(out)


def loops_notot(w, o):
    out = []
    for head in w:
        hit = 0
        for q, row in enumerate(head):
            if 0 <= q + o < len(row):
                hit += int(row.argmax()) == q + o
        out.append(hit / len(head))
    return torch.tensor(out)


def neg_guard(w, o):
    out = []
    for head in w:
        hit = tot = 0
        for q, row in enumerate(head):
            if q + o >= 0:
                tot += 1
                hit += int(row.argmax()) == q + o
        out.append(hit / tot)
    return torch.tensor(out)


def off1(w, o):
    out = []
    for head in w:
        hit = tot = 0
        for q, row in enumerate(head):
            if 0 < q + o < len(row):
                tot += 1
                hit += int(row.argmax()) == q + o
        out.append(hit / tot)
    return torch.tensor(out)


def upto_incl(w, o):
    out = []
    for head in w:
        hit = tot = 0
        for q, row in enumerate(head):
            if 0 <= q + o <= len(row):
                tot += 1
                hit += int(row.argmax()) == q + o
        out.append(hit / tot)
    return torch.tensor(out)


def A(w, dim=-1):
    return w.argmax(dim)


def P(w):
    return torch.arange(w.shape[-1])


def live(w, o):
    t = P(w) + o
    return (t >= 0) & (t < w.shape[-1])


def diag_mean(w, o):
    return torch.stack([h.diagonal(o).mean() for h in w])


def diag_right(w, o):
    best = w == w.amax(-1, keepdim=True)
    return torch.stack([b.diagonal(o).float().mean() for b in best])


def npv(w, o):
    a = w.numpy().argmax(-1)
    q = np.arange(a.shape[1])
    m = (q + o >= 0) & (q + o < a.shape[1])
    return torch.from_numpy((a - q == o)[:, m].mean(1).astype(np.float32))


WRONG = [
    ("edges-counted-as-misses", loops_notot),
    ("weight-for-hits", diag_mean),
    ("columns-for-rows", lambda w, o: (A(w, 1) == P(w) + o)[:, live(w, o)].float().mean(1)),
    ("other-direction", lambda w, o: (A(w) == P(w) - o)[:, live(w, -o)].float().mean(1)),
    ("wrapped-around", lambda w, o: (A(w) == (P(w) + o) % w.shape[-1]).float().mean(1)),
    ("pushed-inside", lambda w, o: (A(w) == (P(w) + o).clamp(0, w.shape[-1] - 1)).float().mean(1)),
    ("hits-not-divided", lambda w, o: (A(w) == P(w) + o).sum(1).float()),
    ("either-side", lambda w, o: ((A(w) - P(w)).abs() == abs(o))[:, live(w, o)].float().mean(1)),
    ("one-number-for-all", lambda w, o: (A(w) == P(w) + o)[:, live(w, o)].float().mean()),
    ("percent", lambda w, o: 100 * (A(w) == P(w) + o)[:, live(w, o)].float().mean(1)),
    ("smallest-weight", lambda w, o: (w.argmin(-1) == P(w) + o)[:, live(w, o)].float().mean(1)),
    ("misses-for-hits", lambda w, o: (A(w) != P(w) + o)[:, live(w, o)].float().mean(1)),
    ("own-position", lambda w, o: (A(w) == P(w)).float().mean(1)),
    ("more-than-half", lambda w, o: torch.stack([(h.diagonal(o) > 0.5).float().mean() for h in w])),
    ("heads-averaged-first", lambda w, o: (A(w.mean(0)) == P(w) + o)[live(w, o)].float().mean()),
]

RIGHT = [
    loops,
    diag_right,
    npv,
    lambda w, o: ((A(w) - P(w) == o) & live(w, o)).sum(-1) / live(w, o).sum(),
    lambda w, o: (A(w) == P(w) + o).sum(-1) / (w.shape[-1] - abs(o)),
    lambda w, o: torch.nn.functional.one_hot(A(w), w.shape[-1]).diagonal(o, 1, 2).float().mean(-1),
]

UNLISTED = [
    ("Only the left end is looked after\\.", neg_guard),
    ("Queries whose target is position 0 are left out: 0 is a position\\.", off1),
    ("A query one beyond the end counts: positions end at n - 1\\.", upto_incl),
    (
        "These are the shares for offset 1; -1 was asked for\\.",
        lambda w, o: (A(w) == P(w) - o)[:, live(w, o)].float().mean(1),
    ),
    (
        "The dtype should be `torch\\.float32`; yours is `torch\\.int64`\\.",
        lambda w, o: (A(w) == P(w) + o).sum(1),
    ),
    (
        "The result should have shape `\\(h\\)` = `\\(3,\\)`; yours has `\\(10,\\)`\\.",
        lambda w, o: (A(w) == P(w) + o)[:, live(w, o)].float().mean(0),
    ),
    (
        "Everything at or behind the target counts as a hit\\.",
        lambda w, o: (A(w) >= P(w) + o)[:, live(w, o)].float().mean(1),
    ),
    (
        "The hits are divided by n - 1, whatever the offset is\\.",
        lambda w, o: (A(w) == P(w) + o).sum(1) / (w.shape[-1] - 1),
    ),
    (
        "The hits are divided by n - offset; n - \\|offset\\| queries have such a",
        lambda w, o: (A(w) == P(w) + o).sum(1) / (w.shape[-1] - o),
    ),
    (
        "The hits are divided by n \\+ offset; n - \\|offset\\| queries have such a",
        lambda w, o: (A(w) == P(w) + o).sum(1) / (w.shape[-1] + o),
    ),
    ("The hits are divided by the number of heads\\.", lambda w, o: (A(w) == P(w) + o).sum(1) / w.shape[0]),
    ("The target is always the position before\\.", lambda w, o: (A(w) == P(w) - 1)[:, 1:].float().mean(1)),
    (
        "The weight on the target is taken; a hit is 0 or 1\\. And: The numbers",
        lambda w, o: torch.stack([h.diagonal(o).sum() for h in w]),
    ),
    (
        "The sign of the offset is turned round\\. And: The weight on the target",
        lambda w, o: torch.stack([h.diagonal(-o).mean() for h in w]),
    ),
    (
        "The place of the largest weight is averaged; hits are wanted\\. And:",
        lambda w, o: w.flatten(1).argmax(1).float(),
    ),
    (
        "The result should have shape `\\(h\\)` = `\\(3,\\)`; yours has `\\(11,\\)`\\. Read",
        lambda w, o: (w.argmax(0) == P(w) + o).float().mean(1),
    ),
    (
        "Queries at both ends are left out; at one of them they have such a",
        lambda w, o: (A(w) == P(w) + o)[:, abs(o) : -abs(o)].float().mean(1),
    ),
    (
        "Queries at the wrong end are left out\\.",
        lambda w, o: (A(w) == P(w) + o)[:, live(w, -o)].float().mean(1),
    ),
    ("Query 0 is left out, and no other\\.", lambda w, o: (A(w) == P(w) + o)[:, 1:].float().mean(1)),
    (
        "Every query counts, also those that have no such position\\. And: The",
        lambda w, o: (A(w) - P(w)).float().mean(1),
    ),
    (
        "Every query counts, also those that have no such position\\. And: The",
        lambda w, o: (w * (P(w)[None, :] - P(w)[:, None])).sum(-1).mean(-1),
    ),
    (
        "The dtype should be `torch\\.float32`; yours is `torch\\.bool`\\.",
        lambda w, o: (A(w) == P(w) + o)[:, live(w, o)].any(1),
    ),
    (
        "The result should have shape `\\(h\\)` = `\\(3,\\)`; yours has `\\(3, 1\\)`\\. The",
        lambda w, o: (A(w) == P(w) + o)[:, live(w, o)].float().mean(1, keepdim=True),
    ),
    (
        "The numbers are right\\. The result is a list; a tensor is wanted\\.",
        lambda w, o: loops(w, o).tolist(),
    ),
    ("stops with an error", lambda w, o: (w.argmax(-1) == torch.arange(len(w)) + o).mean(1)),
    (
        "The two largest weights count\\.",
        lambda w, o: (w.topk(2, -1).indices == (P(w) + o)[:, None]).any(-1)[:, live(w, o)].float().mean(1),
    ),
    (
        "Every query counts, also those that have no such position\\. And: The",
        lambda w, o: (P(w) - A(w) == o).float().mean(1),
    ),
    (
        "The heads' shares are sorted\\.",
        lambda w, o: (A(w) == P(w) + o)[:, live(w, o)].float().mean(1).sort().values,
    ),
]
