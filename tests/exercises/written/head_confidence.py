"""head_confidence as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch


def looped(
    weights,
    lengths,
    *,
    rows=lambda length, n: range(length),
    columns=lambda length, n: range(length - 1),
    best=max,
    skip=lambda row, length: False,
    divide=None,
    by_sentence=False,
):
    b, h, n, _ = weights.shape
    values = []
    for i in range(h):
        found, means = [], []
        for s in range(b):
            length, mine = int(lengths[s]), []
            for q in rows(length, n):
                row = weights[s, i, q].tolist()
                if not skip(row, length):
                    mine.append(best([row[k] for k in columns(length, n)]))
            found += mine
            means.append(sum(mine) / max(len(mine), 1))
        mean = sum(found) / len(found) if divide is None else sum(found) / divide(b, n)
        values.append(sum(means) / b if by_sentence else mean)
    return torch.tensor(values)


def cut(weights, lengths, *, rows=0, columns=1, start=0, dim=-1, change=lambda w: w, join=None):
    """One sentence after the other, each cut to its size."""
    parts = []
    for w, length in zip(weights, lengths.tolist(), strict=True):
        parts.append(change(w[:, : length - rows, start : length - columns]).amax(dim))
    return torch.cat(parts, 1).mean(1) if join is None else join(parts)


def masked(
    weights, lengths, *, rows=0, columns=1, hide=0.0, average=None, change=lambda w: w, last=lambda c: c
):
    place = torch.arange(weights.shape[-1])[None]
    row = place < lengths[:, None] - rows
    column = place < lengths[:, None] - columns
    largest = (
        change(weights).where(column[:, None, None], torch.tensor(hide, dtype=weights.dtype)).max(-1).values
    )
    if average is not None:
        return average(largest, row)
    return last(torch.einsum("bhq,bq->h", largest, row.to(largest.dtype)) / row.sum())


def by_index(weights, lengths):
    w = weights.clone()
    for s, length in enumerate(lengths):
        w[s, :, :, length - 1] = 0
    n = w.shape[-1]
    real = torch.arange(n).expand(len(lengths), n) < lengths.unsqueeze(1)
    return w.max(dim=-1)[0].transpose(1, 2)[real].mean(dim=0)


def by_numpy(weights, lengths):
    w, sizes = weights.numpy(), lengths.numpy()
    rows = [w[s, :, : sizes[s], : sizes[s] - 1].max(-1) for s in range(len(sizes))]
    return torch.from_numpy(np.concatenate(rows, axis=1).mean(1))


def by_scatter(weights, lengths):
    ends = (lengths - 1).view(-1, 1, 1, 1).expand(*weights.shape[:3], 1)
    largest = weights.scatter(-1, ends, 0.0).amax(-1)
    alive = (torch.arange(weights.shape[2]) < lengths[:, None]).to(weights.dtype)
    return (largest * alive[:, None]).sum(2).sum(0) / lengths.sum()


def by_nan(weights, lengths):
    n = weights.shape[-1]
    end = torch.nn.functional.one_hot(lengths - 1, n).bool()
    padding = torch.arange(n) >= lengths[:, None]
    largest = weights.masked_fill(end[:, None, None], -1.0).amax(-1)
    return largest.masked_fill(padding[:, None], float("nan")).transpose(0, 1).flatten(1).nanmean(1)


def mean_of(parts):
    return torch.stack([part.mean(1) for part in parts]).mean(0)


def end_looked_at(row, length):
    return row.index(max(row)) == length - 1


def scaled_row(row):
    return max(row) / sum(row)


def _over_queries(w, lengths, *, hide, targets):
    """The largest weight that each column gets from a real token, averaged over columns."""
    place = torch.arange(w.shape[-1])
    real, target = place < lengths[:, None], place < lengths[:, None] - 1
    if hide:
        w = w.masked_fill(~target[:, None, None], 0)
    largest = w.masked_fill(~real[:, None, :, None], 0).max(dim=-2).values
    counted = target if targets else real
    return (largest * counted[:, None]).sum((0, 2)) / counted.sum()


WRONG = [
    ("end-is-a-target", partial(looped, columns=lambda length, n: range(length))),
    ("end-is-a-target", partial(cut, columns=0)),
    ("end-has-no-row", partial(looped, rows=lambda length, n: range(length - 1))),
    ("end-has-no-row", partial(masked, rows=1)),
    ("row-for-column", partial(cut, rows=1, columns=0)),
    ("row-for-column", partial(looped, rows=lambda k, n: range(k - 1), columns=lambda k, n: range(k))),
    ("padding-averaged", partial(looped, rows=lambda length, n: range(n))),
    ("padding-averaged", partial(masked, average=lambda largest, row: largest.mean((0, 2)))),
    ("divided-by-all-rows", partial(looped, divide=lambda b, n: b * n)),
    (
        "divided-by-all-rows",
        partial(masked, average=lambda largest, row: (largest * row[:, None]).mean((0, 2))),
    ),
    ("sentences-averaged", partial(cut, join=mean_of)),
    ("sentences-averaged", partial(looped, by_sentence=True)),
    ("rows-added-up", partial(looped, divide=lambda b, n: 1)),
    ("rows-added-up", partial(cut, join=lambda parts: torch.cat(parts, 1).sum(1))),
    ("rescaled", partial(cut, change=lambda w: w / w.sum(-1, keepdim=True))),
    ("rescaled", partial(looped, best=scaled_row)),
    ("looks-at-the-end-left-out", partial(looped, skip=end_looked_at)),
    ("looks-at-the-end-left-out", lambda w, lengths: _kept_rows(w, lengths)),
    ("last-column", lambda w, lengths: _last(w, lengths)),
    ("last-column", partial(looped, columns=lambda length, n: range(n - 1))),
    ("first-column", partial(cut, start=1, columns=0)),
    ("first-column", partial(looped, columns=lambda length, n: range(1, length))),
    ("one-too-many-hidden", partial(masked, columns=2)),
    ("one-too-many-hidden", partial(looped, columns=lambda length, n: range(length - 2))),
    ("one-row-too-many", partial(masked, rows=-1)),
    ("one-row-too-many", partial(looped, rows=lambda length, n: range(min(length + 1, n)))),
    ("along-the-columns", lambda w, lengths: _columns(w, lengths)),
    ("along-the-columns", lambda w, lengths: _columns_looped(w, lengths)),
    ("maps-averaged-first", partial(masked, change=lambda w: w.mean(0, keepdim=True).expand_as(w))),
    ("maps-averaged-first", lambda w, lengths: cut(torch.stack([sum(w) / len(w)] * len(w)), lengths)),
    ("heads-averaged", partial(masked, last=torch.mean)),
    ("heads-averaged", lambda w, lengths: sum(looped(w, lengths)) / w.shape[1]),
]

RIGHT = [looped, cut, masked, by_index, by_numpy, by_scatter, by_nan]

UNLISTED = [
    ("per cent", partial(masked, last=lambda c: 100 * c)),
    ("1 minus", partial(masked, last=lambda c: 1 - c)),
    ("weights of each row are averaged", lambda w, n: masked(_with_pick(w, n, lambda v: v.mean(-1)), n)),
    ("second largest", lambda w, n: masked(_with_pick(w, n, lambda v: v.topk(2, -1).values[..., 1]), n)),
    ("above 1/2", lambda w, n: masked(_with_pick(w, n, lambda v: (v.amax(-1) > 0.5).float()), n)),
    ("largest of all rows", partial(masked, average=lambda m, r: m.transpose(1, 2)[r].amax(0))),
    ("median of all rows", partial(masked, average=lambda m, r: m.transpose(1, 2)[r].median(0).values)),
    (
        "sums of the sentences are averaged",
        partial(masked, average=lambda m, r: (m * r[:, None]).sum((0, 2)) / len(r)),
    ),
    (
        "for each sentence and head",
        partial(masked, average=lambda m, r: (m * r[:, None]).sum(2) / r.sum(1)[:, None]),
    ),
    ("changed places", partial(masked, change=lambda w: w.mT)),
    ("softmax", partial(masked, change=lambda w: w.softmax(-1))),
    ("longest sentence", lambda w, n: _end_at(w, n, int(n.max()))),
    ("first row is left out", partial(looped, rows=lambda length, n: range(1, length))),
    ("Only the end token's row", partial(looped, rows=lambda length, n: [length - 1])),
    ("shape|[Mm]aps|first", lambda w, n: w.amax(-1)),
    ("largest weight of each column", partial(_over_queries, hide=False, targets=True)),
    ("largest weight of each column", partial(_over_queries, hide=True, targets=True)),
    ("largest weight of each column", partial(_over_queries, hide=True, targets=False)),
    ("largest weight of each column", lambda w, n: _over_queries_looped(w, n)),
    ("Rows are counted", lambda w, n: _counted(w, n)),
    ("made to sum to 1", partial(masked, last=lambda c: c / c.sum())),
]


def _kept_rows(w, lengths):
    place = torch.arange(w.shape[-1])
    real = (place < lengths[:, None])[:, None]
    kept = real & (w.argmax(-1) != (lengths - 1)[:, None, None])
    return (w.amax(-1) * kept).sum((0, 2)) / kept.sum((0, 2))


def _last(w, lengths):
    largest = w[..., :-1].amax(-1)
    real = torch.arange(w.shape[2]) < lengths[:, None]
    return largest.transpose(1, 2)[real].mean(0)


def _columns(w, lengths):
    place = torch.arange(w.shape[-1])
    hidden = w * (place < lengths[:, None] - 1)[:, None, None]
    return hidden.amax(2).transpose(1, 2)[place < lengths[:, None]].mean(0)


def _columns_looped(w, lengths):
    values = []
    for i in range(w.shape[1]):
        found = []
        for s, length in enumerate(lengths.tolist()):
            found += [float(w[s, i, :, k].max()) if k < length - 1 else 0.0 for k in range(length)]
        values.append(sum(found) / len(found))
    return torch.tensor(values)


def _with_pick(w, lengths, pick):
    """Maps whose largest weight in each row is what `pick` makes of the row."""
    hidden = w * (torch.arange(w.shape[-1]) < lengths[:, None] - 1)[:, None, None]
    return torch.zeros_like(w).index_copy(3, torch.tensor([0]), pick(hidden)[..., None].to(w.dtype))


def _end_at(w, lengths, end):
    hidden = w.clone()
    hidden[..., end - 1] = 0
    real = torch.arange(w.shape[2]) < lengths[:, None]
    return hidden.amax(-1).transpose(1, 2)[real].mean(0)


def _over_queries_looped(w, lengths):
    found = [w[s, :, : int(m), : int(m) - 1].amax(1) for s, m in enumerate(lengths)]
    return torch.cat(found, -1).mean(-1)


def _counted(w, lengths):
    place = torch.arange(w.shape[-1])
    hidden = w * (place < lengths[:, None] - 1)[:, None, None]
    sure = (hidden.amax(-1) > 0.5) & (place < lengths[:, None])[:, None]
    return sure.sum((0, 2)) // (place < lengths[:, None]).sum()
