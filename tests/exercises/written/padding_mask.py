"""padding_mask as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

from tests.exercises.written.errors_of_heads import LENGTHS


def by_loop(lengths, n):
    mask = torch.zeros(len(lengths), 1, 1, n, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, 0, 0, :length] = True
    return mask


def by_loop_turned(lengths, n):
    mask = torch.zeros(len(lengths), 1, 1, n, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, :, :, length:] = True
    return mask


def by_loop_one_more(lengths, n):
    mask = torch.zeros(len(lengths), 1, 1, n, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, ..., : length + 1] = True
    return mask


def by_loop_one_less(lengths, n):
    rows = []
    for length in lengths:
        rows.append([position < length - 1 for position in range(n)])
    return torch.tensor(rows)[:, None, None]


def by_loop_at_the_end(lengths, n):
    mask = torch.zeros(len(lengths), 1, 1, n, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, 0, 0, n - length :] = True
    return mask


def one_place(lengths, n):
    mask = torch.zeros(len(lengths), 1, 1, n, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, 0, 0, length - 1] = True
    return mask


def a_running_total(lengths, n):
    mask, total = torch.zeros(len(lengths), 1, 1, n, dtype=torch.bool), 0
    for i, length in enumerate(lengths):
        total += length
        mask[i, 0, 0, :total] = True
    return mask


def both_ways(lengths, n):
    mask = torch.zeros(len(lengths), 1, n, n, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, 0, :length, :length] = True
    return mask


def added(lengths, n):
    mask = torch.zeros(len(lengths), 1, 1, n)
    for i, length in enumerate(lengths):
        mask[i, 0, 0, length:] = -torch.inf
    return mask


def very_negative(lengths, n):
    return torch.stack([torch.tensor([0.0] * int(i) + [-1e9] * (n - int(i))) for i in lengths])[:, None, None]


def padded(lengths, n):
    rows = [torch.ones(int(i)) for i in lengths]
    return F.pad(pad_sequence(rows, batch_first=True), (0, n - int(max(lengths)))).bool()[:, None, None, :]


def to_the_longest(lengths, n):
    return pad_sequence([torch.ones(int(i), dtype=torch.bool) for i in lengths], batch_first=True)[
        :, None, None
    ]


def only(mask, sentences):
    out = torch.zeros_like(mask)
    out[sentences] = mask[sentences]
    return out


P = torch.arange
WRONG: list[tuple[str, Callable]] = [
    ("polarity", by_loop_turned),
    ("polarity", lambda lengths, n: P(n)[None, None, None] >= lengths[:, None, None, None]),
    ("polarity-strict", lambda lengths, n: (P(n) > lengths[:, None])[:, None, None]),
    ("polarity-strict", lambda lengths, n: torch.tensor([[[[t > i for t in range(n)]]] for i in lengths])),
    ("one-too-many", lambda lengths, n: torch.stack([P(n) <= i for i in lengths])[:, None, None]),
    ("one-too-many", by_loop_one_more),
    ("one-too-few", by_loop_one_less),
    ("one-too-few", lambda lengths, n: (P(1, n + 1) < lengths[:, None])[:, None, None]),
    ("padding-in-front", by_loop_at_the_end),
    ("padding-in-front", lambda lengths, n: (P(n) >= n - lengths[:, None])[:, None, None]),
    (
        "without-the-middle-axes",
        lambda lengths, n: torch.tensor([[t < i for t in range(n)] for i in lengths]),
    ),
    ("without-the-middle-axes", lambda lengths, n: P(n).expand(len(lengths), n) < lengths.unsqueeze(1)),
    ("one-axis-missing", lambda lengths, n: by_loop(lengths, n)[:, 0]),
    ("one-axis-missing", lambda lengths, n: P(n)[None, None] < torch.as_tensor(lengths)[:, None, None]),
    ("hides-queries", lambda lengths, n: by_loop(lengths, n).transpose(2, 3)),
    ("hides-queries", lambda lengths, n: P(n)[None, None, :, None] < lengths[:, None, None, None]),
    ("axes-in-front", lambda lengths, n: by_loop(lengths, n).squeeze()[None, None]),
    ("axes-in-front", lambda lengths, n: (P(n) < lengths.view(-1, 1)).view(1, 1, -1, n)),
    ("axes-behind", lambda lengths, n: by_loop(lengths, n).permute(0, 3, 1, 2)),
    ("axes-behind", lambda lengths, n: (P(n)[None] < lengths[:, None]).unsqueeze(-1).unsqueeze(-1)),
    ("rows-and-columns", both_ways),
    ("rows-and-columns", lambda lengths, n: by_loop(lengths, n) & by_loop(lengths, n).mT),
    ("sentences-behind", lambda lengths, n: (P(n)[:, None] < lengths[None])[None, None]),
    ("sentences-behind", lambda lengths, n: torch.stack([P(n) < i for i in lengths], -1)[None, None]),
    ("transposed", lambda lengths, n: P(n)[:, None] < lengths),
    ("transposed", lambda lengths, n: torch.tensor([[t < i for i in lengths] for t in range(n)])),
    ("rows-and-columns-of-three-axes", lambda lengths, n: both_ways(lengths, n).squeeze(1)),
    (
        "rows-and-columns-of-three-axes",
        lambda lengths, n: torch.stack([torch.outer(P(n) < i, P(n) < i) for i in lengths]),
    ),
    ("lengths-sorted", lambda lengths, n: (P(n) < lengths.sort().values[:, None])[:, None, None]),
    ("lengths-sorted", lambda lengths, n: by_loop(sorted(lengths), n)),
    ("lengths-added-up", a_running_total),
    ("lengths-added-up", lambda lengths, n: (P(n) < torch.cumsum(lengths, 0)[:, None])[:, None, None]),
    ("first-length-for-all", lambda lengths, n: by_loop([lengths[0] for _ in lengths], n)),
    ("first-length-for-all", lambda lengths, n: (P(n) < lengths[0]).repeat(len(lengths), 1, 1, 1)),
    ("shortest-for-all", lambda lengths, n: by_loop([min(lengths)] * len(lengths), n)),
    ("shortest-for-all", lambda lengths, n: (P(n) < lengths.min()).expand(len(lengths), 1, 1, n)),
    ("padding-in-front-polarity", lambda lengths, n: (P(n) < n - lengths[:, None])[:, None, None]),
    ("padding-in-front-polarity", lambda lengths, n: ~by_loop_at_the_end(lengths, n)),
    ("triangle-for-lengths", lambda lengths, n: by_loop(range(1, len(lengths) + 1), n)),
    ("triangle-for-lengths", lambda lengths, n: torch.ones(len(lengths), n).tril().bool()[:, None, None]),
    ("first-token-hidden", lambda lengths, n: (P(n) < lengths[:, None])[:, None, None] & (P(n) != 0)),
    (
        "first-token-hidden",
        lambda lengths, n: torch.tensor([[[[0 < t < i for t in range(n)]]] for i in lengths]),
    ),
    ("positions-from-one", lambda lengths, n: F.pad(by_loop(lengths, n)[..., :-1], (1, 0))),
    (
        "positions-from-one",
        lambda lengths, n: torch.tensor([[[[t in range(1, i + 1) for t in range(n)]]] for i in lengths]),
    ),
    ("one-mask-for-all", lambda lengths, n: by_loop(lengths, n).any(0, keepdim=True)),
    ("one-mask-for-all", lambda lengths, n: (P(n) < max(lengths)).view(1, 1, 1, n)),
    ("written-out", lambda lengths, n: by_loop(lengths, n).repeat(1, 1, n, 1)),
    ("written-out", lambda lengths, n: torch.stack([(P(n) < i).expand(n, n) for i in lengths]).unsqueeze(1)),
    ("numbers-for-booleans", lambda lengths, n: by_loop(lengths, n).long()),
    ("numbers-for-booleans", lambda lengths, n: 1.0 * (P(n) < lengths.view(-1, 1, 1, 1))),
    ("numbers-without-axes", lambda lengths, n: (P(n) < lengths[:, None]).int()),
    (
        "numbers-without-axes",
        lambda lengths, n: torch.tensor([[1.0] * int(i) + [0.0] * (n - int(i)) for i in lengths]),
    ),
    ("blocked-numbers", lambda lengths, n: 1 - by_loop(lengths, n).float()),
    ("blocked-numbers", lambda lengths, n: (P(n) >= lengths[:, None, None, None]).to(torch.uint8)),
    ("added-mask", added),
    ("added-mask", lambda lengths, n: torch.where(P(n) < lengths[:, None], 0.0, -torch.inf)[:, None, None]),
    ("large-negative-numbers", very_negative),
    ("large-negative-numbers", lambda lengths, n: (1.0 - by_loop(lengths, n).float()) * -1e9),
    ("only-the-last-token", one_place),
    ("only-the-last-token", lambda lengths, n: F.one_hot(lengths - 1, n).bool()[:, None, None]),
    ("everything-open", lambda lengths, n: torch.ones(len(lengths), n).bool().unsqueeze(1).unsqueeze(1)),
    ("everything-open", lambda lengths, n: by_loop([n] * len(lengths), n)),
    ("longest-for-all", lambda lengths, n: (P(n) < lengths.max()).repeat(len(lengths), 1)[:, None, None]),
    ("longest-for-all", lambda lengths, n: by_loop([max(lengths) for _ in lengths], n)),
    ("cut-to-the-longest", to_the_longest),
    ("cut-to-the-longest", lambda lengths, n: (P(max(lengths)) < lengths[:, None])[:, None, None]),
]

RIGHT: list[Callable] = [
    by_loop,
    padded,
    lambda lengths, n: (P(n) < lengths[:, None])[:, None, None],
    lambda lengths, n: (P(n) < torch.tensor(lengths)[:, None])[:, None, None],
    lambda lengths, n: torch.stack([P(n) < i for i in lengths]).unsqueeze(1).unsqueeze(1),
    lambda lengths, n: torch.tensor([[True] * int(i) + [False] * (n - int(i)) for i in lengths])[
        :, None, None
    ],
    lambda lengths, n: P(n).expand(len(lengths), 1, 1, n) < lengths.view(-1, 1, 1, 1),
    lambda lengths, n: ~by_loop_turned(lengths, n),
    lambda lengths, n: (
        torch.ones(n, n + 1, dtype=torch.bool).triu(1).T[torch.as_tensor(lengths)][:, None, None]
    ),
    lambda lengths, n: torch.from_numpy(np.arange(n) < np.array(lengths)[:, None, None, None]),
    lambda lengths, n: lengths[:, None, None, None].gt(P(n)),
    lambda lengths, n: torch.ones(len(lengths), n).cumsum(-1).le(lengths[:, None]).unflatten(0, (-1, 1, 1)),
    lambda lengths, n: by_loop(list(map(int, lengths)), n).expand(-1, 1, 1, -1),
]

# The pattern that the message must match, and the answer.
UNLISTED: list[tuple[str, Callable]] = [
    (r"One token too many.*`\(4, 7\)`", lambda lengths, n: P(n) <= lengths[:, None]),
    (r"(?s)True stands on the padding.*`\(4, 7\)`", lambda lengths, n: P(n) >= lengths[:, None]),
    (r"last real token is hidden.*numbers", lambda lengths, n: by_loop_one_less(lengths, n).float()),
    ("in reversed order", lambda lengths, n: (P(n) < lengths.flip(0)[:, None])[:, None, None]),
    ("length of the one before it", lambda lengths, n: (P(n) < lengths.roll(1)[:, None])[:, None, None]),
    ("were sorted, the longest first", lambda lengths, n: by_loop(sorted(lengths, reverse=True), n)),
    ("sentence's length \\+ 2", lambda lengths, n: (P(n) < lengths[:, None] + 2)[:, None, None]),
    ("sentence's length - 2", lambda lengths, n: (P(n) < lengths[:, None] - 2)[:, None, None]),
    ("up to, not including, the sentence's number", lambda lengths, n: by_loop(range(len(lengths)), n)),
    ("twice the length", lambda lengths, n: by_loop([2 * i for i in lengths], n)),
    ("half the length", lambda lengths, n: by_loop([i // 2 for i in lengths], n)),
    ("mean length", lambda lengths, n: (P(n) < lengths.float().mean()).expand(len(lengths), 1, 1, n)),
    (
        "Only the place right behind each sentence",
        lambda lengths, n: F.one_hot(lengths, n + 1)[:, :n].bool()[:, None, None],
    ),
    ("written out for every query or head", lambda lengths, n: by_loop(lengths, n).expand(-1, 3, n, n)),
    ("written out for every query or head", lambda lengths, n: by_loop(lengths, n).expand(-1, 3, 1, n)),
    ("8 places.*n = 7", lambda lengths, n: by_loop(lengths, n + 1)),
    ("6 places.*n = 7", lambda lengths, n: by_loop(lengths, n)[..., :-1]),
    ("No axis is left for the sentences", lambda lengths, n: by_loop(lengths, n)[0]),
    ("No axis is left for the sentences", lambda lengths, n: by_loop(lengths, n).any(0)),
    ("No axis is left for the tokens", lambda lengths, n: lengths > 0),
    ("Nothing is open", lambda lengths, n: torch.zeros(len(lengths), 1, 1, n).bool()),
    (
        "hidden: |from the sentence's length \\+ 2",
        lambda lengths, n: (P(n) > lengths[:, None] + 1)[:, None, None],
    ),
    ("reshape cuts that anew", lambda lengths, n: (P(n)[:, None] < lengths).reshape(-1, 1, 1, n)),
    ("causal mask is mixed in", lambda lengths, n: by_loop(lengths, n) & torch.ones(n, n).tril().bool()),
    ("This is a causal mask", lambda lengths, n: torch.ones(1, 1, n, n).tril().bool()),
    ("Sentences 2, 3 and 4 of 4 are closed throughout", lambda lengths, n: only(by_loop(lengths, n), [0])),
    ("Sentence 4 of 4 is closed throughout", lambda lengths, n: only(by_loop(lengths, n), slice(0, -1))),
    ("room for 2 sentences", lambda lengths, n: by_loop(lengths, n)[:2]),
    ("one place for all tokens", lambda lengths, n: (lengths != 0)[:, None, None, None]),
    ("length of the one behind it", lambda lengths, n: by_loop([*lengths[1:], lengths[0]], n)),
    ("(?s)It holds numbers, 0 and 1000000000", lambda lengths, n: by_loop_turned(lengths, n) * 1e9),
    ("numbers, 0 and 2", lambda lengths, n: by_loop(lengths, n) * 2),
    ("Everything is NaN", lambda lengths, n: by_loop(lengths, n) * torch.nan),
    ("list", lambda lengths, n: by_loop(lengths, n).tolist()),
    ("NumPy", lambda lengths, n: by_loop(lengths, n).numpy()),
    ("different numbers", lambda lengths, n: (P(n) - lengths[:, None])[:, None, None]),
    ("NaN", lambda lengths, n: (P(n) >= lengths[:, None])[:, None, None] * -torch.inf),
    ("numbers, 0 and 1.*Rows of the padding", lambda lengths, n: both_ways(lengths, n).float()),
]


UNLISTED += LENGTHS


UNLISTED += [
    (
        "causal mask, the same for each sentence",
        lambda lengths, n: torch.ones(len(lengths), 1, n, n).tril().bool(),
    ),
]

UNLISTED += [
    ("pieces differ along axis 0", lambda lengths, n: torch.stack([torch.ones(int(k)) for k in lengths])),
]
