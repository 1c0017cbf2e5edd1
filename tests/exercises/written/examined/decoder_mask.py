"""decoder_mask: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import numpy as np
import torch

ar = torch.arange


def pad(lengths, n):
    return (ar(n) < lengths[:, None])[:, None, None, :]


def ca(n):
    return torch.ones(n, n).tril().bool()


def loop(lengths, n):
    o = torch.zeros(len(lengths), 1, n, n, dtype=torch.bool)
    for s in range(len(lengths)):
        for q in range(n):
            for k in range(n):
                o[s, 0, q, k] = k <= q and k < int(lengths[s])
    return o


def rows(lengths, n):
    return (ar(n) < lengths[:, None])[:, None, :, None]


WRONG = [
    ("only-causal", lambda lengths, n: ca(n).expand(len(lengths), 1, n, n)),
    ("only-padding", lambda lengths, n: pad(lengths, n).expand(len(lengths), 1, n, n)),
    ("or-for-and", lambda lengths, n: ca(n) | pad(lengths, n)),
    ("queries-hidden", lambda lengths, n: ca(n) & rows(lengths, n)),
    ("queries-hidden", lambda lengths, n: ca(n) & pad(lengths, n) & rows(lengths, n)),
    ("future-for-past", lambda lengths, n: ca(n).T & pad(lengths, n)),
    ("itself-hidden", lambda lengths, n: torch.ones(n, n).tril(-1).bool() & pad(lengths, n)),
    ("next-word-open", lambda lengths, n: torch.ones(n, n).tril(1).bool() & pad(lengths, n)),
    ("one-too-many", lambda lengths, n: ca(n) & (ar(n) <= lengths[:, None])[:, None, None, :]),
    ("one-too-few", lambda lengths, n: ca(n) & (ar(n) < lengths[:, None] - 1)[:, None, None, :]),
    ("polarity", lambda lengths, n: ~(ca(n) & pad(lengths, n))),
    ("padding-polarity", lambda lengths, n: ca(n) & ~pad(lengths, n)),
    ("without-the-head-axis", lambda lengths, n: ca(n) & pad(lengths, n)[:, 0]),
    ("head-axis-in-front", lambda lengths, n: (ca(n) & pad(lengths, n)).transpose(0, 1)),
    ("first-length-for-all", lambda lengths, n: ca(n) & pad(lengths[:1], n).expand(len(lengths), 1, n, n)),
    ("longest-for-all", lambda lengths, n: ca(n) & pad(lengths.max()[None], n).expand(len(lengths), 1, n, n)),
    (
        "shortest-for-all",
        lambda lengths, n: ca(n) & pad(lengths.min()[None], n).expand(len(lengths), 1, n, n),
    ),
    ("only-causal", lambda lengths, n: ca(n) & pad(torch.full_like(lengths, n), n)),
    ("or-for-and", lambda lengths, n: ca(n).int() + pad(lengths, n).int() >= 1),
    ("only-causal", lambda lengths, n: ca(n) & (pad(lengths, n) | ~rows(lengths, n))),
    ("queries-hidden", lambda lengths, n: ca(n) & (ar(n)[:, None] < lengths[:, None, None])[:, None]),
    ("causal-mask-alone", lambda lengths, n: ca(n)),
    ("padding-mask-alone", lambda lengths, n: pad(lengths, n)),
    ("lengths-sorted", lambda lengths, n: ca(n) & pad(lengths.sort().values, n)),
    ("queries-hidden", lambda lengths, n: ca(n) & rows(lengths, n)),
    (
        "one-too-few",
        lambda lengths, n: (
            ca(n) & pad(lengths.add_(0), n) & (ar(n) < lengths.sub_(1)[:, None])[:, None, None, :]
        ),
    ),
]

RIGHT = [
    loop,
    lambda lengths, n: ca(n) & pad(lengths, n),
    lambda lengths, n: ca(n)[None, None].expand(len(lengths), 1, n, n).logical_and(pad(lengths, n)),
    lambda lengths, n: torch.from_numpy(
        np.tril(np.ones((n, n), bool))[None, None]
        & (np.arange(n)[None, None, None] < lengths.numpy()[:, None, None, None])
    ),
    lambda lengths, n: (
        ar(n).view(1, 1, 1, n) < torch.minimum(lengths.view(-1, 1, 1, 1), ar(1, n + 1).view(1, 1, n, 1))
    ),
    lambda lengths, n: ~(torch.ones(n, n, dtype=torch.bool).triu(1) | ~pad(lengths, n)),
    lambda lengths, n: (
        torch.stack(
            [
                torch.block_diag(ca(int(m)), torch.zeros(n - int(m), n - int(m), dtype=torch.bool)).index_put(
                    (ar(int(m), n)[:, None], ar(int(m))), torch.tensor(True)
                )
                for m in lengths
            ]
        )[:, None]
        if False
        else ca(n) * pad(lengths, n)
    ),
]

UNLISTED = [
    (
        "A mask is boolean here: True = may attend\\. Yours holds numbers, 1",
        lambda lengths, n: (ca(n) & pad(lengths, n)).float(),
    ),
    (
        "A mask is boolean here: True = may attend\\. Yours holds numbers, 1",
        lambda lengths, n: (ca(n) & pad(lengths, n)).long(),
    ),
    (
        "A mask is boolean here: True = may attend\\. Yours holds numbers\\.",
        lambda lengths, n: torch.zeros(len(lengths), 1, n, n).masked_fill(
            ~(ca(n) & pad(lengths, n)), float("-inf")
        ),
    ),
    (
        "A key is open where exactly one of the two masks opens it; both have",
        lambda lengths, n: ca(n) ^ pad(lengths, n),
    ),
    ("Rows and columns have changed places\\.", lambda lengths, n: (ca(n) & pad(lengths, n)).mT),
    ("A word sees only itself\\.", lambda lengths, n: torch.eye(n).bool() & pad(lengths, n)),
    (
        "Padding is looked for at the left end; it stands at the right\\.",
        lambda lengths, n: ca(n) & (ar(n) >= n - lengths[:, None])[:, None, None, :],
    ),
    ("Everything is open\\.", lambda lengths, n: torch.ones(len(lengths), 1, n, n).bool()),
    ("Everything is hidden\\.", lambda lengths, n: torch.zeros(len(lengths), 1, n, n).bool()),
    (
        "Padding sees itself; nobody should see it\\.",
        lambda lengths, n: ca(n) & (pad(lengths, n) | torch.eye(n).bool()),
    ),
    (
        "The rows of padding see everything\\. And: The lengths play no part:",
        lambda lengths, n: ca(n) & pad(lengths, n) | ~rows(lengths, n),
    ),
    (
        "The result should have shape `\\(b, 1, n, n\\)` = `\\(3, 1, 6, 6\\)`; yours",
        lambda lengths, n: (ca(n) & pad(lengths, n)).permute(0, 2, 3, 1),
    ),
    (
        "A word sees itself and the one before, and none that is farther back\\.",
        lambda lengths, n: ca(n) & ~torch.ones(n, n).tril(-2).bool() & pad(lengths, n),
    ),
    (
        "The numbers are right\\. The result is a list; a tensor is wanted\\.",
        lambda lengths, n: (ca(n) & pad(lengths, n)).tolist(),
    ),
    (
        "Real words are hidden, and the first piece of padding too; the rest",
        lambda lengths, n: ca(n) & (ar(n) > lengths[:, None])[:, None, None, :],
    ),
    ("Key 0 is hidden from all\\.", lambda lengths, n: ca(n) & pad(lengths, n) & (ar(n) > 0)),
    (
        "Every sentence gets the length of the sentence before\\.",
        lambda lengths, n: ca(n) & pad(lengths.roll(1), n),
    ),
    (
        "The number of padding pieces, n minus length, stands for the length\\.",
        lambda lengths, n: ca(n) & pad(n - lengths, n),
    ),
    ("The columns run from the last key to the first\\.", lambda lengths, n: ca(n).flip(1) & pad(lengths, n)),
    ("The rows run from the last query to the first\\.", lambda lengths, n: ca(n).flip(0) & pad(lengths, n)),
    (
        "The second key is open for all, whatever the rules are\\.",
        lambda lengths, n: ca(n) & pad(lengths, n) | (ar(n) == 1),
    ),
    (
        "Order plays no part: later words are open\\. And: The rows of padding",
        lambda lengths, n: pad(lengths, n) & rows(lengths, n),
    ),
    (
        "Only the first piece of padding is hidden\\.",
        lambda lengths, n: ca(n) & (ar(n) != lengths[:, None])[:, None, None, :],
    ),
]
