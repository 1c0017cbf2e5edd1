"""head_at_its_mean as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import torch


def looped(
    heads,
    real,
    i,
    *,
    count_all=False,
    turned=False,
    divide=None,
    head=None,
    only=None,
    empty=None,
    value=None,
):
    b, h, n, d_v = heads.shape
    head = i if head is None else head(i)
    total, count = torch.zeros(d_v, dtype=heads.dtype), 0
    for s in range(b):
        for t in range(n):
            if count_all or bool(real[s, t]) != turned:
                total = total + heads[s, head, t]
                count += 1
    mean = total / (count if divide is None else divide(b, n, count))
    mean = mean if value is None else value(mean)
    out = heads.clone()
    for s in range(b):
        for t in range(n):
            if only is None or bool(real[s, t]) == only:
                out[s, head, t] = mean
            elif empty:
                out[s, head, t] = 0
    return out


def put(heads, i, mean):
    out = heads.clone()
    out[:, i] = mean
    return out


def by_sums(heads, real, i, *, over=(0, 1), count=None, keep=False):
    kept = real.to(heads.dtype)[..., None]
    total = (heads[:, i] * kept).sum(over, keepdim=keep)
    return put(heads, i, total / (kept.sum(over, keepdim=keep) if count is None else count))


def by_where(heads, real, i):
    mean = heads[:, i][real].mean(0)
    chosen = torch.arange(heads.shape[1]) == i
    return torch.where(chosen[:, None, None], mean, heads)


def by_cat(heads, real, i, *, others=lambda x: x):
    mean = heads[:, i : i + 1].transpose(1, 2)[real].mean(0)
    here = mean[None, :, None].expand(heads.shape[0], 1, heads.shape[2], -1)
    return torch.cat([others(heads[:, :i]), here, others(heads[:, i + 1 :])], dim=1)


def by_numpy(heads, real, i):
    x = heads.numpy().copy()
    x[:, i] = x[:, i][real.numpy()].mean(axis=0)
    return torch.from_numpy(x)


def by_einsum(heads, real, i):
    mean = torch.einsum("bnd,bn->d", heads[:, i], real.to(heads.dtype)) / real.sum()
    return torch.stack(
        [mean.expand_as(heads[:, j]) if j == i else heads[:, j] for j in range(heads.shape[1])], 1
    )


def by_nan(heads, real, i):
    mean = heads[:, i].masked_fill(~real[..., None], float("nan")).flatten(0, 1).nanmean(0)
    return put(heads, i, mean)


def by_scatter(heads, real, i):
    words = torch.cat([heads[s, i, real[s]] for s in range(len(heads))])
    return heads.index_copy(
        1, torch.tensor([i]), words.mean(0).expand(heads.shape[0], 1, heads.shape[2], -1).contiguous()
    )


def sentence_means(heads, real, i):
    return torch.stack([heads[s, i, real[s]].mean(0) for s in range(len(heads))])


def everyone(heads, real, i):
    out = torch.empty_like(heads)
    for j in range(heads.shape[1]):
        out[:, j] = heads[:, j][real].mean(0)
    return out


def minus(heads, real, i):
    return put(heads, i, heads[:, i] - heads[:, i][real].mean(0))


WRONG = [
    ("padding-counted", partial(looped, count_all=True)),
    ("padding-counted", lambda x, r, i: put(x, i, x[:, i].mean((0, 1)))),
    ("divided-by-all-places", partial(looped, divide=lambda b, n, count: b * n)),
    ("divided-by-all-places", lambda x, r, i: put(x, i, (x[:, i] * r[..., None]).mean((0, 1)))),
    ("mean-of-the-padding", partial(looped, turned=True)),
    ("mean-of-the-padding", lambda x, r, i: put(x, i, x[:, i][~r].mean(0))),
    ("each-sentence-its-own", partial(by_sums, over=1, keep=True)),
    ("each-sentence-its-own", lambda x, r, i: put(x, i, sentence_means(x, r, i)[:, None])),
    ("means-averaged", lambda x, r, i: put(x, i, sentence_means(x, r, i).mean(0))),
    ("means-averaged", lambda x, r, i: put(x, i, by_sums(x, r, i, over=1, keep=True)[:, i, 0].mean(0))),
    ("each-place-its-own", lambda x, r, i: put(x, i, x[:, i].mean(0))),
    ("each-place-its-own", lambda x, r, i: put(x, i, sum(s[i] for s in x) / len(x))),
    ("one-number", lambda x, r, i: put(x, i, x[:, i][r].mean())),
    ("one-number", partial(looped, value=lambda mean: mean.mean())),
    ("sum-for-mean", partial(looped, divide=lambda b, n, count: 1)),
    ("sum-for-mean", partial(by_sums, count=1)),
    ("silenced", lambda x, r, i: put(x, i, 0.0)),
    ("silenced", lambda x, r, i: x * (torch.arange(x.shape[1]) != i)[:, None, None]),
    ("counted-from-one", partial(looped, head=lambda i: i - 1)),
    ("counted-from-one", lambda x, r, i: put(x, i - 1, x[:, i - 1][r].mean(0))),
    ("every-head", everyone),
    ("every-head", lambda x, r, i: torch.zeros_like(x) + x.transpose(1, 2)[r].mean(0)[:, None]),
    ("padding-kept", partial(looped, only=True)),
    ("padding-kept", lambda x, r, i: torch.where(r[:, None, :, None], by_sums(x, r, i), x)),
    ("padding-emptied", partial(looped, only=True, empty=True)),
    ("padding-emptied", lambda x, r, i: put(x, i, by_sums(x, r, i)[:, i] * r[..., None])),
    ("others-emptied", partial(by_cat, others=torch.zeros_like)),
    ("others-emptied", lambda x, r, i: put(torch.zeros_like(x), i, x[:, i][r].mean(0))),
    ("mean-of-all-heads", lambda x, r, i: put(x, i, x.transpose(1, 2)[r].mean((0, 1)))),
    ("mean-of-all-heads", lambda x, r, i: put(x, i, everyone(x, r, i)[0, :, 0].mean(0))),
    ("mean-subtracted", minus),
    (
        "mean-subtracted",
        lambda x, r, i: x - (torch.arange(x.shape[1]) == i)[:, None, None] * x[:, i][r].mean(0),
    ),
]

RIGHT = [looped, by_sums, by_where, by_cat, by_numpy, by_einsum, by_nan, by_scatter]

UNLISTED = [
    ("changes|changed|copy", lambda x, r, i: _in_place(x, r, i)),
    ("first sentence only", lambda x, r, i: put(x, i, x[0, i][r[0]].mean(0))),
    ("last sentence only", lambda x, r, i: put(x, i, x[-1, i][r[-1]].mean(0))),
    ("head after", lambda x, r, i: by_sums(x, r, (i + 1) % x.shape[1])),
    ("median", lambda x, r, i: put(x, i, x[:, i][r].median(0).values)),
    ("Only padding is replaced", partial(looped, only=False)),
    ("added to the head", lambda x, r, i: put(x, i, x[:, i] + x[:, i][r].mean(0))),
    ("halfway", lambda x, r, i: put(x, i, (x[:, i] + x[:, i][r].mean(0)) / 2)),
    ("Every head gets the mean of head", lambda x, r, i: torch.zeros_like(x) + x[:, i][r].mean(0)),
    ("Only head `i` comes back", lambda x, r, i: by_sums(x, r, i)[:, i]),
    ("as it came", lambda x, r, i: x.clone()),
    ("over the features", lambda x, r, i: put(x, i, x[:, i].mean(-1, keepdim=True))),
    ("set to 0 in every head", lambda x, r, i: by_sums(x, r, i) * r[:, None, :, None]),
    ("Everything is 0", lambda x, r, i: torch.zeros_like(x)),
    ("divided by n, the number of places", lambda x, r, i: by_sums(x, r, i, count=r.shape[1])),
    ("over the other heads", lambda x, r, i: put(x, i, ((x.sum(1) - x[:, i]) / (x.shape[1] - 1))[r].mean(0))),
    ("mean alone", lambda x, r, i: x[:, i][r].mean(0)),
]


def _in_place(x, r, i):
    x[:, i] = x[:, i][r].mean(0)
    return x
