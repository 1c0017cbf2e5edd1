"""decoder_mask as students write it: each known mistake twice, right ones, unlisted ones."""

from __future__ import annotations

import numpy as np
import torch

from tests.exercises.written.examined import decoder_mask as examined


def by_rule(rule):
    """Entry by entry: rule(query, key, length) says whether it is open."""

    def mask(lengths, n):
        out = torch.zeros(len(lengths), 1, n, n, dtype=torch.bool)
        for s, length in enumerate(lengths.tolist()):
            for query in range(n):
                for key in range(n):
                    out[s, 0, query, key] = rule(query, key, length)
        return out

    return mask


def tril(n, up_to=0):
    return torch.tril(torch.ones(n, n), up_to).bool()


def real(lengths, n):
    return torch.stack([torch.arange(n) < length for length in lengths])[:, None, None]


def right(lengths, n):
    return tril(n) & real(lengths, n)


def same_length(pick):
    return lambda lengths, n: tril(n) & real(torch.full_like(lengths, int(pick(lengths))), n)


def in_numpy(lengths, n):
    i, j = np.indices((n, n))
    return torch.from_numpy((j <= i)[None, None] & (j[None, None] < lengths.numpy()[:, None, None, None]))


def cut_off(lengths, n):
    out = torch.ones(len(lengths), 1, n, n, dtype=torch.bool).tril()
    for row, length in zip(out, lengths, strict=True):
        row[..., length:] = False
    return out


WRONG = [
    ("only-causal", by_rule(lambda q, k, m: k <= q)),
    ("only-causal", lambda lengths, n: torch.stack([tril(n)[None]] * len(lengths))),
    ("only-padding", by_rule(lambda q, k, m: k < m)),
    ("only-padding", lambda lengths, n: real(lengths, n) & torch.ones(n, n, dtype=torch.bool)),
    ("or-for-and", by_rule(lambda q, k, m: k <= q or k < m)),
    ("or-for-and", lambda lengths, n: torch.logical_or(tril(n), real(lengths, n))),
    ("polarity", lambda lengths, n: torch.logical_not(right(lengths, n))),
    ("polarity", by_rule(lambda q, k, m: k > q or k >= m)),
    ("padding-polarity", by_rule(lambda q, k, m: k <= q and k >= m)),
    ("padding-polarity", lambda lengths, n: tril(n) & (torch.arange(n) >= lengths[:, None, None, None])),
    ("causal-polarity", by_rule(lambda q, k, m: q < k < m)),
    ("causal-polarity", lambda lengths, n: torch.ones(n, n).triu(1).bool() & real(lengths, n)),
    ("future-for-past", by_rule(lambda q, k, m: q <= k < m)),
    ("future-for-past", lambda lengths, n: torch.ones(n, n).triu().bool() & real(lengths, n)),
    ("itself-hidden", by_rule(lambda q, k, m: k < q and k < m)),
    ("itself-hidden", lambda lengths, n: tril(n, -1) & real(lengths, n)),
    ("next-word-open", by_rule(lambda q, k, m: k <= q + 1 and k < m)),
    ("next-word-open", lambda lengths, n: tril(n, 1) & real(lengths, n)),
    ("queries-hidden", by_rule(lambda q, k, m: k <= q < m)),
    ("queries-hidden", lambda lengths, n: tril(n) & real(lengths, n).mT),
    ("queries-hidden", by_rule(lambda q, k, m: k <= q < m and k < m)),
    ("queries-hidden", lambda lengths, n: right(lengths, n) * real(lengths, n).mT * real(lengths, n)),
    ("one-too-many", by_rule(lambda q, k, m: k <= q and k <= m)),
    ("one-too-many", lambda lengths, n: right(lengths + 1, n)),
    ("one-too-few", by_rule(lambda q, k, m: k <= q and k < m - 1)),
    ("one-too-few", lambda lengths, n: right(lengths - 1, n)),
    ("without-the-head-axis", lambda lengths, n: right(lengths, n)[:, 0]),
    ("without-the-head-axis", lambda lengths, n: tril(n) & real(lengths, n).squeeze(1)),
    ("head-axis-in-front", lambda lengths, n: right(lengths, n).transpose(0, 1)),
    ("head-axis-in-front", lambda lengths, n: cut_off(lengths, n)[:, 0].unsqueeze(0)),
    ("causal-mask-alone", lambda lengths, n: tril(n)),
    ("causal-mask-alone", lambda lengths, n: torch.arange(n) <= torch.arange(n)[:, None]),
    ("padding-mask-alone", real),
    ("padding-mask-alone", lambda lengths, n: by_rule(lambda q, k, m: k < m)(lengths, n)[:, :, :1]),
    ("keys-reversed", lambda lengths, n: torch.flip(right(lengths, n), [3])),
    (
        "keys-reversed",
        lambda lengths, n: by_rule(lambda q, k, m: n - 1 - k <= q and n - 1 - k < m)(lengths, n),
    ),
    ("lengths-sorted", lambda lengths, n: right(torch.tensor(sorted(lengths.tolist())), n)),
    ("lengths-sorted", lambda lengths, n: cut_off(torch.sort(lengths)[0], n)),
    ("shortest-for-all", same_length(min)),
    ("shortest-for-all", lambda lengths, n: cut_off(lengths.clamp(max=int(lengths.min())), n)),
    ("first-length-for-all", same_length(lambda lengths: lengths[0])),
    ("first-length-for-all", lambda lengths, n: right(lengths[:1], n).repeat(len(lengths), 1, 1, 1)),
    ("longest-for-all", same_length(max)),
    ("longest-for-all", lambda lengths, n: right(lengths * 0 + lengths.amax(), n)),
]

RIGHT = [
    right,
    in_numpy,
    cut_off,
    by_rule(lambda q, k, m: k <= q and k < m),
    lambda lengths, n: torch.logical_and(tril(n)[None, None], real(lengths, n)),
    lambda lengths, n: real(lengths, n).expand(-1, 1, n, n).tril(),
    lambda lengths, n: (tril(n).int() * real(lengths, n).int()) == 1,
    lambda lengths, n: (
        torch.minimum(torch.arange(n)[:, None] + 1, lengths[:, None, None, None]) > torch.arange(n)
    ),
]

UNLISTED = [
    (r"1 where True is wanted", lambda lengths, n: right(lengths, n).float()),
    (r"should have shape", lambda lengths, n: right(lengths, n)[0, 0]),
    (r"Everything is 0", lambda lengths, n: torch.zeros(len(lengths), 1, n, n)),
    (r"stops with an error", lambda lengths, n: tril(n) & real(lengths, n)[:, 0, 0]),
    (r"lengths stand in reverse", lambda lengths, n: right(lengths.flip(0), n)),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
