"""rarest_word_share as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import torch


def looped(weights, counts, *, own=True, best=min, rows=True, hit=None, miss=False, share=True, value=None):
    counts = counts.tolist()
    n, shares = len(counts), []
    for one in weights:
        hits = asked = 0
        for i in range(n):
            if not rows and counts[i] == best(counts):
                continue
            row = one[i].tolist()
            if not own:
                row[i] = -1.0
            at = row.index(max(row))
            asked += 1
            if value:
                hits += value(row, counts)
            else:
                found = hit(at, counts) if hit else counts[at] == best(counts)
                hits += (not found) if miss else found
        shares.append(hits / asked if share else float(hits))
    return torch.tensor(shares)


def by_mask(weights, counts, *, rare=None, axis=-1, maps=None, rows=None):
    wanted = counts == counts.min() if rare is None else rare(counts)
    w = weights if maps is None else maps(weights)
    hits = wanted[w.argmax(axis)].float()
    return hits.mean(-1) if rows is None else hits[:, rows(wanted)].mean(-1)


def by_numpy(weights, counts):
    look, c = weights.numpy().argmax(-1), counts.numpy()
    return torch.from_numpy((c[look] == c.min()).mean(-1)).float()


def by_one_hot(weights, counts):
    look = torch.nn.functional.one_hot(weights.argmax(-1), len(counts)).float()
    return (look @ (counts == counts.min()).float()).mean(-1)


def by_isin(weights, counts):
    places = (counts == counts.min()).nonzero().flatten()
    return torch.isin(weights.argmax(2), places).float().mean(1)


def by_largest(weights, counts):
    rare = weights[..., counts == counts.min()].amax(-1)
    return (rare >= weights.amax(-1)).float().mean(-1)


def by_head(weights, counts):
    smallest = min(counts.tolist())
    out = []
    for one in weights:
        at = counts.gather(0, one.argmax(1))
        out.append((at <= smallest).sum() / len(counts))
    return torch.stack(out)


def one_place(weights, counts, *, last=False):
    places = (counts == counts.min()).nonzero()
    return (weights.argmax(-1) == places[-1 if last else 0]).float().mean(-1)


def two(counts):
    return torch.isin(counts, torch.tensor(sorted(set(counts.tolist()))[:2]))


def seen(counts):
    some = [c for c in counts.tolist() if c > 0]
    return min(some)


def columns(weights, counts):
    n, out = len(counts), []
    for one in weights:
        out.append(sum(int(counts[one[:, j].argmax()]) == int(counts.min()) for j in range(n)) / n)
    return torch.tensor(out)


def averaged(w):
    return w.mean(0).expand_as(w)


def rare_weight(weights, counts):
    return weights[..., counts == counts.min()].sum(-1)


def half(row, counts):
    return sum(a for a, c in zip(row, counts, strict=True) if c == min(counts)) > 0.5


WRONG = [
    ("most-frequent", partial(looped, best=max)),
    ("most-frequent", partial(by_mask, rare=lambda c: c == c.max())),
    ("first-of-equals", partial(looped, hit=lambda at, counts: at == counts.index(min(counts)))),
    ("first-of-equals", one_place),
    ("last-of-equals", partial(one_place, last=True)),
    (
        "last-of-equals",
        partial(
            looped, hit=lambda at, counts: at == max(i for i, c in enumerate(counts) if c == min(counts))
        ),
    ),
    ("two-rarest", partial(looped, hit=lambda at, counts: counts[at] in sorted(set(counts))[:2])),
    ("two-rarest", partial(by_mask, rare=two)),
    ("zeros-left-out", partial(looped, hit=lambda at, counts: counts[at] == min(c for c in counts if c))),
    ("zeros-left-out", partial(by_mask, rare=lambda c: c == seen(c))),
    ("columns-for-rows", columns),
    ("columns-for-rows", partial(by_mask, axis=1)),
    ("own-weight-left-out", partial(looped, own=False)),
    ("own-weight-left-out", partial(by_mask, maps=lambda w: w - 2 * torch.eye(w.shape[1], dtype=w.dtype))),
    ("rarest-rows-left-out", partial(looped, rows=False)),
    ("rarest-rows-left-out", partial(by_mask, rows=lambda rare: ~rare)),
    ("hits-counted", partial(looped, share=False)),
    ("hits-counted", lambda w, counts: (counts[w.argmax(-1)] == counts.min()).sum(-1).float()),
    ("weight-for-hits", lambda w, counts: rare_weight(w, counts).mean(1)),
    (
        "weight-for-hits",
        partial(
            looped,
            value=lambda row, counts: sum(a for a, c in zip(row, counts, strict=True) if c == min(counts)),
        ),
    ),
    ("more-than-half", lambda w, counts: (rare_weight(w, counts) > 0.5).float().mean(1)),
    ("more-than-half", partial(looped, value=half)),
    ("misses-counted", partial(looped, miss=True)),
    ("misses-counted", lambda w, counts: 1 - by_numpy(w, counts)),
    ("heads-averaged-first", partial(by_mask, maps=averaged)),
    ("heads-averaged-first", lambda w, counts: looped(torch.stack([w.mean(0)] * len(w)), counts)),
    ("mean-count", partial(looped, hit=lambda at, counts: counts[at])),
    ("mean-count", lambda w, counts: counts[w.argmax(-1)].float().mean(1)),
    ("count-for-place", partial(looped, hit=lambda at, counts: at == min(counts))),
    ("count-for-place", lambda w, counts: (w.argmax(-1) == counts.min()).float().mean(1)),
]

RIGHT = [looped, by_mask, by_numpy, by_one_hot, by_isin, by_largest, by_head]

UNLISTED = [
    ("with the one that looks", lambda w, counts: (counts[w.argmax(-1)] < counts).float().mean(-1)),
    ("whether a word is rare", lambda w, c: (w.argmax(-1) == (c == c.min())).float().mean(-1)),
    ("Only the first head", lambda w, counts: by_numpy(w, counts)[0]),
    ("Every share is 0", lambda w, counts: torch.zeros(len(w))),
    ("Every share is 0", lambda w, counts: by_numpy(-w, counts)),
    (
        "two largest",
        lambda w, counts: (counts[w.topk(2, -1).indices] == counts.min()).any(-1).float().mean(-1),
    ),
    ("less often than the mean", partial(by_mask, rare=lambda c: c < c.float().mean())),
    ("per cent", lambda w, counts: 100 * by_numpy(w, counts)),
    ("averaged", lambda w, counts: by_numpy(w, counts).mean().expand(len(w))),
    ("whole map", lambda w, counts: (counts[w.flatten(1).argmax(1) % len(counts)] == counts.min()).float()),
    ("one number for each head and row|not averaged", lambda w, c: (c[w.argmax(-1)] == c.min()).float()),
]
