"""argmax_share: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import numpy as np
import torch


def A(w):
    return w.masked_fill(torch.eye(w.shape[-1], dtype=torch.bool), -1.0).argmax(-1)


def loop(w, t):
    o = []
    for h in w:
        hit = tot = 0
        for q in range(len(t)):
            if t[q] < 0:
                continue
            best = max((k for k in range(len(t)) if k != q), key=lambda k: float(h[q, k]))
            tot += 1
            hit += best == int(t[q])
        o.append(hit / tot)
    return torch.tensor(o)


def npx(w, t):
    a = w.numpy().copy()
    t = t.numpy()
    i = np.arange(len(t))
    a[:, i, i] = -np.inf
    m = t != -1
    return torch.from_numpy((a.argmax(2)[:, m] == t[m]).mean(1).astype(np.float32))


def inpl(w, t):
    for h in w:
        h.fill_diagonal_(0)
    return (A(w) == t)[:, t >= 0].float().mean(1)


def D(w):
    return w - torch.diag_embed(w.diagonal(dim1=1, dim2=2))


WRONG = [
    ("own-weight-kept", lambda w, t: (w.argmax(-1) == t)[:, t >= 0].float().mean(1)),
    ("divided-by-all-words", lambda w, t: (A(w) == t).float().mean(1)),
    (
        "largest-of-the-column",
        lambda w, t: (w.masked_fill(torch.eye(len(t)).bool(), -1).argmax(1) == t)[:, t >= 0].float().mean(1),
    ),
    (
        "weight-for-hits",
        lambda w, t: torch.stack([h[torch.arange(len(t)), t.clamp(min=0)][t >= 0].mean() for h in w]),
    ),
    ("hits-counted", lambda w, t: (A(w) == t).sum(1).float()),
    ("shares-averaged", lambda w, t: (A(w) == t)[:, t >= 0].float().mean()),
    ("misses-counted", lambda w, t: (A(w) != t)[:, t >= 0].float().mean(1)),
    (
        "more-than-half",
        lambda w, t: torch.stack(
            [(h[torch.arange(len(t)), t.clamp(min=0)][t >= 0] > 0.5).float().mean() for h in w]
        ),
    ),
    (
        "heads-averaged-first",
        lambda w, t: (A(w.mean(0, keepdim=True)) == t)[:, t >= 0].float().mean(1).expand(len(w)),
    ),
    ("one-place-on", lambda w, t: (A(w) == t - 1)[:, t >= 0].float().mean(1)),
]

RIGHT = [
    loop,
    npx,
    lambda w, t: ((A(w) == t) & (t >= 0)).sum(-1) / (t >= 0).sum(),
    lambda w, t: (A(w) == t).sum(1) / (t != -1).sum(),
    lambda w, t: ((w * (1 - torch.eye(len(t)))).argmax(-1) == t)[:, t != -1].float().mean(1),
    lambda w, t: torch.stack([(A(h[None])[0][t >= 0] == t[t >= 0]).float().mean() for h in w]),
]

UNLISTED = [
    ("The dtype should be `torch\\.float32`; yours is `torch\\.int64`\\.", lambda w, t: (A(w) == t).sum(1)),
    (
        "The result should have shape `\\(h\\)` = `\\(3,\\)`; yours has `\\(6,\\)`\\.",
        lambda w, t: (A(w) == t)[:, t >= 0].float().mean(0),
    ),
    (
        "Words whose target is word 0 are left out: 0 is a position\\.",
        lambda w, t: (A(w) == t)[:, t > 0].float().mean(1),
    ),
    ("The hits are divided by n - 1\\.", lambda w, t: (A(w) == t).sum(1) / (len(t) - 1)),
    ("The hits are divided by one word too many\\.", lambda w, t: (A(w) == t).sum(1) / ((t >= 0).sum() + 1)),
    ("These are per cent\\.", lambda w, t: 100 * (A(w) == t)[:, t >= 0].float().mean(1)),
    ("The function changes its argument `weights`; whoever called it loses", inpl),
    (
        "Everything is 0: nothing of the input is in it\\.",
        lambda w, t: (
            (w.masked_fill(~torch.eye(len(t)).bool(), -1).argmax(-1) == t)[:, t >= 0].float().mean(1)
        ),
    ),
    (
        "A word's weight on itself is not left out\\. And: Words that look at",
        lambda w, t: torch.stack(
            [
                ((h.argmax(-1) == t) & (t >= 0)).sum()
                / ((t >= 0) & (h.argmax(-1) != torch.arange(len(t)))).sum()
                for h in w
            ]
        ),
    ),
    (
        "A word's weight on itself is not left out\\. And: All words that don't",
        lambda w, t: torch.stack(
            [((h.argmax(-1) == t) & (t >= 0)).sum() / (h.argmax(-1) != torch.arange(len(t))).sum() for h in w]
        ),
    ),
    (
        "The weight on the target, made to sum to 1 without the word itself,",
        lambda w, t: torch.stack(
            [
                (D(w) / D(w).sum(-1, keepdim=True))[i][torch.arange(len(t)), t.clamp(min=0)][t >= 0].mean()
                for i in range(len(w))
            ]
        ),
    ),
    (
        "A word's weight on itself is not left out\\. And: The two largest",
        lambda w, t: (w.topk(2, -1).indices == t[:, None]).any(-1)[:, t >= 0].float().mean(1),
    ),
    (
        "The two largest weights count\\.",
        lambda w, t: (D(w).topk(2, -1).indices == t[:, None]).any(-1)[:, t >= 0].float().mean(1),
    ),
    (
        "A word's weight on itself is not left out\\. And: It is asked whether",
        lambda w, t: torch.stack(
            [
                torch.tensor([float(h[int(t[q])].argmax() == q) for q in range(len(t)) if t[q] >= 0]).mean()
                for h in w
            ]
        ),
    ),
    (
        "Words without a target are among those that are counted\\. And: Words",
        lambda w, t: ((A(w) == t) | (t < 0)).float().mean(1),
    ),
    (
        "Words without a target are among those that are counted\\. And: Words",
        lambda w, t: (A(w) == t.clamp(min=0)).float().mean(1),
    ),
    (
        "The distance is compared with the target's position\\.",
        lambda w, t: (A(w) - torch.arange(len(t)) == t)[:, t >= 0].float().mean(1),
    ),
    ("The hits are divided by the number of heads\\.", lambda w, t: (A(w) == t).sum(1) / len(w)),
    (
        "The result should have shape `\\(h\\)` = `\\(3,\\)`; yours has `\\(\\)`\\. Read as",
        lambda w, t: (A(w) == t)[:, t >= 0].float().mean(1).max(),
    ),
    (
        "The result should have shape `\\(h\\)` = `\\(3,\\)`; yours has `\\(\\)`\\. Read as",
        lambda w, t: (A(w) == t)[:, t >= 0].float().mean(1).argmax(),
    ),
    (
        "The numbers are right\\. The result is a list; a tensor is wanted\\.",
        lambda w, t: loop(w, t).tolist(),
    ),
    (
        "The result should have shape `\\(h\\)` = `\\(3,\\)`; yours has `\\(3, 1\\)`\\. The",
        lambda w, t: loop(w, t)[:, None],
    ),
    (
        "A word's own weight is cut out of the row, so that the places behind",
        lambda w, t: torch.stack(
            [
                torch.tensor(
                    [
                        float(torch.cat([h[q, :q], h[q, q + 1 :]]).argmax() == t[q])
                        for q in range(len(t))
                        if t[q] >= 0
                    ]
                ).mean()
                for h in w
            ]
        ),
    ),
    (
        "Only what comes behind a word is looked at\\.",
        lambda w, t: (w.triu(1).argmax(-1) == t)[:, t >= 0].float().mean(1),
    ),
    (
        "Only what comes before a word is looked at\\.",
        lambda w, t: (w.tril(-1).argmax(-1) == t)[:, t >= 0].float().mean(1),
    ),
    ("Word 0 is left out\\.", lambda w, t: (A(w) == t)[:, 1:][:, t[1:] >= 0].float().mean(1)),
    (
        "The dtype should be `torch\\.float32`; yours is `torch\\.int64`\\.",
        lambda w, t: (A(w) == t).sum(1) // (t >= 0).sum(),
    ),
    (
        "The dtype should be `torch\\.float32`; yours is `torch\\.bool`\\.",
        lambda w, t: (A(w) == t)[:, t >= 0].any(1),
    ),
    (
        "Targets are moved by one place to the right\\.",
        lambda w, t: (A(w) == t + 1)[:, t >= 0].float().mean(1),
    ),
    ("stops with an error", lambda w, t: (A(w)[t >= 0] == t[t >= 0]).float().mean(-1)),
    (
        "The first head's share stands for all\\.",
        lambda w, t: (
            (w.masked_fill(torch.eye(len(t)).bool(), -1)[0].argmax(-1) == t)[t >= 0]
            .float()
            .mean()
            .expand(len(w))
        ),
    ),
    (
        "One place beside the target counts as a hit, too\\.",
        lambda w, t: ((A(w) - t).abs() <= 1)[:, t >= 0].float().mean(1),
    ),
    (
        "Every number is 1\\.5 times what it should be, in another case 1 times\\.",
        lambda w, t: (A(w) == t).sum(1) / len(t.unique()),
    ),
    (
        "The numbers are right\\. The dtype is `torch\\.float64`, the inputs have",
        lambda w, t: (A(w) == t)[:, t >= 0].double().mean(1),
    ),
]
