"""offset_score as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch


def looped(
    weights,
    offset,
    special,
    *,
    hide=True,
    rows=True,
    targets=True,
    sign=1,
    edges=False,
    wrap=False,
    abs_=False,
    miss=False,
    share=True,
    hit=None,
):
    gone = [bool(s) for s in special]
    n = len(gone)
    kept = [i for i in range(n) if not gone[i]]
    scores = []
    for one in weights:
        hits = count = 0
        for i in range(n):
            if rows and gone[i]:
                continue
            target = i + sign * offset
            if wrap:
                target = kept[(kept.index(i) + offset) % len(kept)]
            there = 0 <= target < n and not (targets and gone[target])
            if not there and not edges:
                continue
            count += 1
            row = [float(one[i, j]) if not (hide and gone[j]) else -1.0 for j in range(n)]
            at = row.index(max(row))
            if hit:
                hits += hit(row[target]) if there else 0
            elif abs_:
                hits += abs(at - i) == abs(offset)
            else:
                hits += (at == target) != miss
        scores.append(hits / count if share else float(hits))
    return torch.tensor(scores)


def cut(weights, special):
    inner = (~special).nonzero().squeeze(1)
    return weights.index_select(1, inner).index_select(2, inner)


def by_distance(weights, offset, special, *, maps=cut, axis=2, better=None, denominator=None, wrong=False):
    w = maps(weights, special)
    n = w.shape[1]
    distance = w.argmax(axis) - torch.arange(n)
    hits = distance == offset if better is None else better(distance)
    if wrong:
        hits = ~hits
    rows = slice(max(0, -offset), n - max(0, offset))
    hits = hits[:, rows].float()
    return hits.sum(1) / (denominator(n, hits) if denominator else n - abs(offset))


def by_numpy(weights, offset, special):
    w, inner = weights.numpy(), np.flatnonzero(~special.numpy())
    w = w[:, inner][:, :, inner]
    n = len(inner)
    rows = np.arange(max(0, -offset), min(n, n - offset))
    return torch.from_numpy((w.argmax(-1)[:, rows] == rows + offset).mean(-1)).float()


def by_diagonal(weights, offset, special):
    w = cut(weights, special)
    largest = w == w.amax(-1, keepdim=True)
    return largest.diagonal(offset, 1, 2).float().mean(-1)


def by_masking(weights, offset, special):
    w = weights.masked_fill(special[None, None], float("-inf"))
    n = len(special)
    q = torch.arange(n)
    t = q + offset
    there = (t >= 0) & (t < n)
    there &= ~special & ~special[t.clamp(0, n - 1)]
    return ((w.argmax(-1) == t) & there).sum(-1) / there.sum()


def on_the_diagonal(weights, offset, special, *, of=lambda a: a):
    return of(cut(weights, special).diagonal(offset, 1, 2)).float().mean(-1)


def whole(weights, special):
    return weights


def rolled(weights, offset, special):
    w = cut(weights, special)
    n = w.shape[1]
    return (w.argmax(-1) == torch.arange(n).roll(-offset)).float().mean(-1)


def _columns(weights, offset, special):
    w = cut(weights, special)
    n = w.shape[1]
    shares = []
    for one in w:
        live = [i for i in range(n) if 0 <= i + offset < n]
        shares.append(sum(int(one[:, i].argmax()) == i + offset for i in live) / len(live))
    return torch.tensor(shares)


def columns_left(weights, offset, special):
    looks = weights.argmax(-1)[:, ~special]
    places = torch.arange(len(special))[~special]
    low, high = places[0], places[-1]
    live = (places + offset >= low) & (places + offset <= high)
    return (looks == places + offset)[:, live].float().mean(1)


def rows_left(weights, offset, special):
    w = weights.clone()
    w[:, :, special] = 0
    n = len(special)
    rows = [i for i in range(n) if 0 <= i + offset < n]
    return torch.stack([(w[:, i].argmax(1) == i + offset).float() for i in rows], 1).mean(1)


WRONG = [
    ("special-kept", partial(looped, hide=False, rows=False, targets=False)),
    ("special-kept", partial(by_distance, maps=whole)),
    ("special-columns-kept", partial(looped, hide=False)),
    ("special-columns-kept", columns_left),
    ("special-rows-counted", partial(looped, rows=False, targets=False)),
    ("special-rows-counted", rows_left),
    ("only-special", lambda weights, offset, special: by_numpy(weights, offset, ~special)),
    ("only-special", lambda weights, offset, special: by_diagonal(weights, offset, ~special)),
    ("other-direction", partial(looped, sign=-1)),
    ("other-direction", lambda weights, offset, special: by_distance(weights, -offset, special)),
    ("edges-counted-as-misses", partial(looped, edges=True)),
    ("edges-counted-as-misses", partial(by_distance, denominator=lambda n, hits: n)),
    ("hits-counted", partial(looped, share=False)),
    ("hits-counted", partial(by_distance, denominator=lambda n, hits: 1)),
    ("columns-for-rows", partial(by_distance, axis=1)),
    ("columns-for-rows", _columns),
    ("weight-for-hits", partial(looped, hit=lambda a: a)),
    ("weight-for-hits", on_the_diagonal),
    ("more-than-half", partial(looped, hit=lambda a: a > 0.5)),
    ("more-than-half", partial(on_the_diagonal, of=lambda a: a > 0.5)),
    ("wrapped-around", partial(looped, wrap=True, edges=True, targets=False)),
    ("wrapped-around", rolled),
    ("sign-lost", partial(looped, abs_=True)),
    (
        "sign-lost",
        lambda weights, offset, special: by_distance(
            weights, offset, special, better=lambda d: d.abs() == abs(offset)
        ),
    ),
    ("own-weight-left-out", lambda w, o, s: looped(w * (1 - torch.eye(len(s), dtype=w.dtype)), o, s)),
    (
        "own-weight-left-out",
        partial(by_distance, maps=lambda w, s: cut(w, s) - 2 * torch.eye(int((~s).sum()))),
    ),
    ("misses-counted", partial(looped, miss=True)),
    ("misses-counted", partial(by_distance, wrong=True)),
    ("heads-averaged-first", lambda w, offset, special: by_numpy(w.mean(0).expand_as(w), offset, special)),
    (
        "heads-averaged-first",
        lambda w, offset, special: torch.stack([looped(w.mean(0)[None], offset, special)[0]] * len(w)),
    ),
]

RIGHT = [
    looped,
    by_distance,
    by_numpy,
    by_diagonal,
    by_masking,
    lambda w, o, s: 1 - by_distance(w, o, s, wrong=True),
]

UNLISTED = [
    ("at the left end are left out", lambda w, o, s: _left_cut(w, o, s)),
    (
        "special pieces are counted as misses",
        lambda w, o, s: by_numpy(w, o, s) * _live(o, s) / (_live(o, s) + s.sum()),
    ),
    ("all pieces, special ones too", lambda w, o, s: by_numpy(w, o, s) * _live(o, s) / len(s)),
    ("Only the first head", lambda w, offset, special: by_numpy(w, offset, special)[0]),
    ("Every share is 0", lambda w, offset, special: torch.zeros(len(w))),
    ("rounded to one decimal", lambda w, offset, special: by_numpy(w, offset, special).round(decimals=1)),
    ("per cent", lambda w, offset, special: 100 * by_numpy(w, offset, special)),
    ("averaged", lambda w, offset, special: by_numpy(w, offset, special).mean().expand(len(w))),
    ("Only the first piece", lambda w, o, s: by_numpy(w, o, torch.arange(len(s)) == 0)),
    ("two largest", lambda w, o, s: _two(w, o, s)),
    ("count for one", lambda w, o, s: _one_may_look(w, o, s)),
]


def _live(offset, special):
    return int((~special).sum()) - abs(offset)


def _left_cut(weights, offset, special):
    w = cut(weights, special)
    return (w.argmax(-1) == torch.arange(w.shape[1]) + offset)[:, abs(offset) :].float().mean(-1)


def _two(weights, offset, special):
    w = cut(weights, special)
    n = w.shape[1]
    q = torch.arange(n)
    live = (q + offset >= 0) & (q + offset < n)
    near = (w.topk(2, -1).indices == (q + offset)[:, None]).any(-1)
    return near[:, live].float().mean(-1)


def _one_may_look(weights, offset, special):
    q = torch.arange(len(special))
    live = ~special & (q + offset >= 0) & (q + offset < len(q))
    return (weights.argmax(-1) == q + offset)[:, live].float().mean(-1)
