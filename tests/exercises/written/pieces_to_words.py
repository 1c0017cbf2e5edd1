"""pieces_to_words as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch


def looped(weights, word_of, *, to="sum", out="mean", special=None, finish=None):
    of = list(word_of) if special is None else special(list(word_of))
    words = max(of) + 1
    result = torch.zeros(weights.shape[0], words, words, dtype=weights.dtype)
    for a in range(words):
        rows = [i for i, w in enumerate(of) if w == a]
        for b in range(words):
            columns = [j for j, w in enumerate(of) if w == b]
            for head in range(len(weights)):
                parts = [pick([float(weights[head, i, j]) for j in columns], to) for i in rows]
                result[head, a, b] = pick(parts, out)
    return result if finish is None else finish(result)


def pick(parts, how):
    if how == "sum":
        return sum(parts)
    if how == "mean":
        return sum(parts) / len(parts)
    return {"first": parts[0], "last": parts[-1], "max": max(parts)}[how]


def by_matrix(weights, word_of, *, columns=None, rows=None, shift=0):
    of = torch.tensor(word_of) + shift
    n_words = int(of.max()) + 1
    belongs = torch.zeros(len(of), n_words, dtype=weights.dtype)
    for i, w in enumerate(of.tolist()):
        if w >= 0:
            belongs[i, w] = 1
    mean = belongs / belongs.sum(0)
    left = mean if rows is None else rows(belongs, mean)
    right = belongs if columns is None else columns(belongs, mean)
    return torch.einsum("hij,ia,jb->hab", weights, left, right)


def by_index_add(weights, word_of, *, keep=True, out=True):
    of = torch.tensor(word_of)
    w = weights
    if keep:
        inner = of >= 0
        w, of = weights[:, inner][:, :, inner], of[inner]
    else:
        of = of % (max(word_of) + 1)
    words = max(word_of) + 1
    to = torch.zeros(len(w), w.shape[1], words, dtype=w.dtype).index_add(2, of, w)
    result = torch.zeros(len(w), words, words, dtype=w.dtype).index_add(1, of, to)
    return result / torch.bincount(of, minlength=words)[:, None] if out else result


def by_numpy(weights, word_of):
    w, of = weights.numpy(), np.array(word_of)
    words = range(of.max() + 1)
    to = np.stack([w[:, :, of == k].sum(-1) for k in words], -1)
    return torch.from_numpy(np.stack([to[:, of == k].mean(1) for k in words], 1))


def by_groups(weights, word_of):
    groups = {}
    for i, of in enumerate(word_of):
        if of != -1:
            groups.setdefault(of, []).append(i)
    rows = torch.stack([weights[:, g].mean(1) for g in groups.values()], 1)
    return torch.stack([rows[..., g].sum(-1) for g in groups.values()], 2)


def by_splits(weights, word_of):
    inner = [i for i, of in enumerate(word_of) if of >= 0]
    sizes = [word_of.count(k) for k in range(max(word_of) + 1)]
    w = weights[:, inner][:, :, inner]
    w = torch.cat([part.sum(2, keepdim=True) for part in w.split(sizes, 2)], 2)
    return torch.cat([part.mean(1, keepdim=True) for part in w.split(sizes, 1)], 1)


def overwritten(weights, word_of, *, rows=False):
    """A row (or column) is put where another one stood: the last piece stays."""
    words = max(word_of) + 1
    right = by_matrix(weights, word_of, rows=lambda b, m: torch.eye(len(b), dtype=b.dtype))
    left = by_matrix(weights, word_of, columns=lambda b, m: torch.eye(len(b), dtype=b.dtype))
    result = torch.zeros(len(weights), words, words, dtype=weights.dtype)
    for i, of in enumerate(word_of):
        if of >= 0 and rows:
            result[:, of] = right[:, i]
        elif of >= 0:
            result[:, :, of] = left[:, :, i]
    return result


def firsts(b, m):
    """1 at the first piece of each word only."""
    return b * (b.cumsum(0) == 1)


def added_one_by_one(weights, word_of):
    """-1 is never looked for, and writes to the last word."""
    words = max(word_of) + 1
    result = torch.zeros(len(weights), words, words, dtype=weights.dtype)
    for i, a in enumerate(word_of):
        for j, b in enumerate(word_of):
            result[:, a, b] += weights[:, i, j] / word_of.count(a)
    return result


def added_at_once(weights, word_of):
    of, words = torch.tensor(word_of), max(word_of) + 1
    sizes = (of[:, None] == of).sum(0)
    to = torch.zeros(len(weights), len(of), words, dtype=weights.dtype).index_add(2, of % words, weights)
    rows = to / sizes[:, None]
    return torch.zeros(len(weights), words, words, dtype=weights.dtype).index_add(1, of % words, rows)


def own_places(word_of):
    new, k = [], -1
    for i, of in enumerate(word_of):
        if not (i and of >= 0 and word_of[i - 1] == of):
            k += 1
        new.append(k)
    return new


def one_by_one(word_of):
    k, new = 0, []
    for of in word_of:
        new.append(k if of >= 0 else -1)
        k += of >= 0
    return new


def largest(weights, word_of):
    words = range(max(word_of) + 1)
    of = torch.tensor(word_of)
    to = torch.stack([weights[:, :, of == k].max(-1).values for k in words], -1)
    return torch.stack([to[:, of == k].mean(1) for k in words], 1)


def rescaled(words):
    return words / words.sum(-1, keepdim=True)


def rescaled_first(weights, word_of):
    out = []
    for one in by_numpy(weights, word_of):
        out.append(torch.stack([row / row.sum() for row in one]))
    return torch.stack(out)


def modulo(word_of):
    return [of if of >= 0 else max(word_of) for of in word_of]


WRONG = [
    ("mean-to", partial(looped, to="mean")),
    ("mean-to", partial(by_matrix, columns=lambda b, m: m)),
    ("sum-from", partial(looped, out="sum")),
    ("sum-from", partial(by_index_add, out=False)),
    ("sum-and-mean-swapped", partial(looped, to="mean", out="sum")),
    ("sum-and-mean-swapped", partial(by_matrix, columns=lambda b, m: m, rows=lambda b, m: b)),
    ("first-piece-from", partial(looped, out="first")),
    ("first-piece-from", partial(by_matrix, rows=firsts)),
    ("last-piece-from", partial(looped, out="last")),
    ("last-piece-from", partial(overwritten, rows=True)),
    ("first-piece-to", partial(looped, to="first")),
    ("first-piece-to", partial(by_matrix, columns=firsts)),
    ("last-piece-to", partial(looped, to="last")),
    ("last-piece-to", overwritten),
    ("largest-piece-to", partial(looped, to="max")),
    ("largest-piece-to", largest),
    ("rescaled", partial(looped, finish=rescaled)),
    ("rescaled", rescaled_first),
    ("special-are-words", partial(looped, special=own_places)),
    ("special-are-words", lambda weights, word_of: by_groups(weights, own_places(word_of))),
    ("special-in-the-last-word", partial(looped, special=modulo)),
    ("special-in-the-last-word", partial(by_index_add, keep=False)),
    ("special-written-to-the-last-word", added_one_by_one),
    ("special-written-to-the-last-word", added_at_once),
    ("special-in-front", partial(by_matrix, shift=1)),
    ("special-in-front", lambda weights, word_of: _in_front(weights, word_of)),
    ("pieces-kept", partial(looped, special=one_by_one)),
    ("pieces-kept", lambda w, of: w[:, [k >= 0 for k in of]][:, :, [k >= 0 for k in of]]),
    ("transposed", partial(looped, finish=lambda words: words.transpose(1, 2))),
    ("transposed", lambda weights, word_of: torch.einsum("hab->hba", by_groups(weights, word_of))),
]

RIGHT = [looped, by_matrix, by_index_add, by_numpy, by_groups, by_splits]

UNLISTED = [
    ("go to word 0", lambda w, of: by_numpy(w, [max(k, 0) for k in of])),
    ("sum to 1 over the pieces of words first", lambda w, of: by_numpy(_inner(w, of), of)),
    ("Only the first head|first head", lambda w, of: by_numpy(w, of)[:1]),
    ("largest over its pieces", lambda w, of: looped(w, of, out="max")),
    ("columns are made to sum to 1", lambda w, of: by_numpy(w, of) / by_numpy(w, of).sum(1, keepdim=True)),
    ("softmax", lambda w, of: by_numpy(w, of).softmax(-1)),
    ("word before", lambda w, of: by_numpy(w, _to_neighbour(of, -1))),
    ("last word is missing", lambda w, of: by_numpy(w, of)[:, :-1, :-1]),
    ("averaged", lambda w, of: by_numpy(w, of).mean(0)),
    ("nothing has been done", lambda w, of: w),
    ("spread evenly", lambda w, of: _spread(by_numpy(w, of))),
]


def _inner(weights, word_of):
    inside = [k >= 0 for k in word_of]
    return weights / weights[:, :, inside].sum(-1, keepdim=True)


def _in_front(weights, word_of):
    words = max(word_of)
    groups = [[i for i, of in enumerate(word_of) if of == k] for k in range(-1, words + 1)]
    rows = []
    for g in groups:
        row = weights[:, g].sum(1) / max(len(g), 1) if g else weights[:, 0] * float("nan")
        rows.append(torch.stack([row[:, k].sum(1) for k in groups], 1))
    return torch.stack(rows, 1)


def _to_neighbour(word_of, shift):
    new = list(word_of)
    for i, of in enumerate(word_of):
        if of < 0 and 0 <= i + shift < len(word_of):
            new[i] = word_of[i + shift]
    return new


def _spread(words):
    return words + (1 - words.sum(-1, keepdim=True)) / words.shape[-1]
