"""causal_mask as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def by_loop(keep: Callable[[int, int], object]) -> Callable[[int], torch.Tensor]:
    """A mask filled entry by entry: keep(query, key)."""

    def mask(n):
        rows = []
        for query in range(n):
            rows.append([keep(query, key) for key in range(n)])
        return torch.tensor(rows)

    return mask


def assigned(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for query in range(n):
        mask[query, : query + 1] = True
    return mask


def assigned_without_itself(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for query in range(n):
        mask[query, :query] = True
    return mask


def assigned_one_further(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for query in range(n):
        mask[query, : query + 2] = True
    return mask


def assigned_from_the_end(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for query in range(n):
        mask[query, n - query - 1 :] = True
    return mask


def assigned_upwards(n):
    mask = torch.full((n, n), False)
    for query in range(n):
        mask[query, query:] = True
    return mask


def last_three(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for query in range(n):
        mask[query, max(0, query - 2) : query + 1] = True
    return mask


def added(n):
    mask = torch.zeros(n, n)
    mask[torch.triu(torch.ones(n, n, dtype=torch.bool), 1)] = float("-inf")
    return mask


def very_negative(n):
    mask = torch.zeros(n, n)
    for query, key in itertools.product(range(n), range(n)):
        if key > query:
            mask[query, key] = -1e9
    return mask


def growing_range(n):
    mask = torch.zeros(n + 1, n + 1, dtype=torch.bool)
    for query in range(n + 1):
        mask[query, : query + 1] = True
    return mask


def no_condition(n):
    mask = torch.zeros(n, n)
    for query in range(n):
        for key in range(n):
            mask[query, key] = 1
    return mask.bool()


def off_the_end(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        mask[i, : i - 1] = True
    return mask


WRONG: list[tuple[str, Callable]] = [
    ("polarity", lambda n: torch.triu(torch.ones(n, n), diagonal=1).bool()),
    ("polarity", lambda n: torch.arange(n)[None, :] > torch.arange(n)[:, None]),
    ("polarity", by_loop(lambda query, key: query < key)),
    ("future-for-past", lambda n: torch.triu(torch.ones(n, n, dtype=torch.bool))),
    ("future-for-past", lambda n: torch.arange(n).view(n, 1) <= torch.arange(n)),
    ("future-for-past", assigned_upwards),
    ("self-hidden", by_loop(lambda query, key: key < query)),
    ("self-hidden", lambda n: torch.from_numpy(np.tril(np.ones((n, n)), -1)) > 0),
    ("self-hidden", assigned_without_itself),
    ("one-ahead", lambda n: torch.ones(n, n).tril(diagonal=1) == 1),
    ("one-ahead", assigned_one_further),
    ("one-ahead", by_loop(lambda query, key: key <= query + 1)),
    ("self-hidden-opposite", lambda n: torch.triu(torch.ones(n, n), 2).to(torch.bool)),
    ("self-hidden-opposite", by_loop(lambda query, key: key - query >= 2)),
    ("everything-open", lambda n: torch.full((n, n), True)),
    ("everything-open", no_condition),
    ("only-itself", lambda n: torch.diag(torch.ones(n)).bool()),
    ("only-itself", lambda n: torch.arange(n)[:, None] == torch.arange(n)),
    ("other-diagonal", assigned_from_the_end),
    ("other-diagonal", lambda n: torch.arange(n) + torch.arange(n)[:, None] >= n - 1),
    ("other-diagonal", lambda n: torch.fliplr(torch.ones(n, n).tril()).bool()),
    ("numbers-for-booleans", lambda n: torch.from_numpy(np.tri(n)).long()),
    ("numbers-for-booleans", by_loop(lambda query, key: 1.0 if key <= query else 0.0)),
    ("added-mask", added),
    ("added-mask", nn.Transformer.generate_square_subsequent_mask),
    ("added-mask", lambda n: torch.triu(torch.full((n, n), float("-inf")), diagonal=1)),
    ("blocked-numbers", lambda n: 1 - torch.tril(torch.ones(n, n))),
    ("blocked-numbers", by_loop(lambda query, key: int(key > query))),
    ("large-negative-numbers", lambda n: torch.triu(torch.ones(n, n), 1) * -1e9),
    ("large-negative-numbers", very_negative),
    ("with-head-axes", lambda n: torch.tril(torch.ones(1, 1, n, n)).bool()),
    ("with-head-axes", lambda n: assigned(n).unsqueeze(0).unsqueeze(0)),
    ("one-row-too-many", growing_range),
    ("one-row-too-many", lambda n: torch.arange(n + 1)[None] <= torch.arange(n + 1)[:, None]),
    ("one-row-too-few", lambda n: torch.tril(torch.ones(n - 1, n - 1)).bool()),
    ("one-row-too-few", lambda n: torch.arange(1, n)[None] <= torch.arange(1, n)[:, None]),
    ("everything-closed", lambda n: torch.zeros(n, n).bool()),
    ("everything-closed", by_loop(lambda query, key: key < query and key > query)),
    ("zero-times-infinity", lambda n: (1 - torch.tril(torch.ones(n, n))) * float("-inf")),
    ("zero-times-infinity", lambda n: (torch.arange(n) > torch.arange(n)[:, None]) * -torch.inf),
    ("neighbours-on-both-sides", lambda n: (torch.arange(n)[:, None] - torch.arange(n)).abs() <= 1),
    ("neighbours-on-both-sides", lambda n: torch.ones(n, n).tril(1).triu(-1).bool()),
    ("one-column-for-all", lambda n: (torch.arange(n) < n // 2 + 1).repeat(n, 1)),
    ("one-column-for-all", lambda n: torch.stack([torch.arange(n) <= n // 2] * n)),
    ("fixed-window", last_three),
    ("fixed-window", by_loop(lambda query, key: query - 2 <= key <= query)),
]

RIGHT: list[Callable] = [
    assigned,
    by_loop(lambda query, key: key <= query),
    lambda n: torch.ones(n, n).tril().bool(),
    lambda n: torch.ones(n, n, dtype=torch.bool).tril(),
    lambda n: ~torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1),
    lambda n: torch.arange(n).unsqueeze(1).ge(torch.arange(n)),
    lambda n: torch.from_numpy(np.tri(n, dtype=bool)),
    lambda n: torch.tril(torch.ones(n, n)) == 1,
    lambda n: torch.ones(n, n).cumsum(1) <= torch.arange(1, n + 1)[:, None],
    lambda n: torch.ones(n, n, dtype=torch.bool).triu().T,
    lambda n: nn.Transformer.generate_square_subsequent_mask(n) == 0,
    lambda n: torch.eye(n).cumsum(0).to(torch.bool),
    lambda n: torch.stack([F.pad(torch.ones(i + 1), (0, n - i - 1)) for i in range(n)]) > 0.5,
    lambda n: torch.logical_not(torch.arange(n)[:, None] < torch.arange(n)[None, :]),
    lambda n: torch.BoolTensor(np.fromfunction(lambda q, k: k <= q, (n, n))),
    lambda n: torch.zeros(n, n, dtype=torch.bool).index_put_(
        tuple(torch.tril_indices(n, n)), torch.tensor(True)
    ),
]

# The pattern that the message must match, and the answer.
UNLISTED: list[tuple[str, Callable]] = [
    ("to 2 tokens ahead.*future", lambda n: torch.ones(n, n, dtype=torch.bool).tril(2)),
    ("to 2 tokens back.*not see itself", lambda n: torch.ones(n, n, dtype=torch.bool).tril(-2)),
    ("from 1 token back to itself", by_loop(lambda query, key: query - 1 <= key <= query)),
    ("from 2 tokens back to 2 tokens ahead", by_loop(lambda query, key: abs(query - key) <= 2)),
    ("sees the keys 1 token back, and no others", by_loop(lambda q, k: k == q - 1)),
    ("(?s)numbers, 0 and 1.*boolean", lambda n: torch.triu(torch.ones(n, n))),
    ("changed places.*numbers, -inf and 0", lambda n: torch.zeros(n, n).masked_fill(assigned(n), -torch.inf)),
    ("diagonal is hidden.*numbers, 0 and 1", lambda n: torch.tril(torch.ones(n, n), -1)),
    ("one token of the future.*numbers", lambda n: torch.tril(torch.ones(n, n, dtype=torch.uint8), 1)),
    ("one token of the future.*1 too many", lambda n: torch.ones(n + 1, n + 1).tril(1).bool()),
    ("not square", lambda n: torch.ones(n, n + 1).tril().bool()),
    ("not square", lambda n: torch.ones(n - 1, n).tril().bool()),
    ("3 axes", lambda n: assigned(n)[None]),
    ("3 axes.*|changed places.*3 axes", lambda n: ~assigned(n)[None]),
    ("2 too few", lambda n: assigned(n)[1:-1, 1:-1]),
    ("other diagonal", lambda n: assigned(n).flip(0)),
    ("other diagonal", lambda n: torch.arange(n) + torch.arange(n)[:, None] < n),
    ("All rows are alike", lambda n: (torch.arange(n) < 2).expand(n, n)),
    ("Whole rows are open or closed", lambda n: (torch.arange(n) < 2).expand(n, n).T),
    ("can't see itself, and sees everything else", lambda n: ~torch.eye(n, dtype=torch.bool)),
    ("different numbers", lambda n: torch.arange(n)[:, None] - torch.arange(n)),
    ("different numbers", lambda n: torch.ones(n, n).tril().cumsum(0)),
    ("different numbers", lambda n: torch.tril(torch.ones(n, n)) / torch.arange(1, n + 1)[:, None]),
    ("Column 0 is closed throughout", lambda n: assigned(n) & (torch.arange(n) > 0)),
    ("Row 4 is closed throughout", lambda n: assigned(n) & (torch.arange(n) < n - 1)[:, None]),
    ("Row 0 is closed throughout", lambda n: assigned(n) & (torch.arange(n) > 0)[:, None]),
    (
        "Row 0 is unlike the others.*not see itself",
        lambda n: assigned_without_itself(n) | (torch.arange(n) == 0)[:, None],
    ),
    ("Row 0 is unlike the others.*2 tokens back", off_the_end),
    ("end of their block of 2", lambda n: (torch.arange(n) // 2)[:, None] >= torch.arange(n) // 2),
    ("back to the last one. That includes the future", lambda n: torch.ones(n, n).triu(-1).bool()),
    ("numbers, 0 and 2", lambda n: assigned(n) * 2),
    ("Everything is NaN", lambda n: assigned(n) * torch.nan),
    ("For one token nothing is open", lambda n: assigned(n) if n > 1 else ~assigned(n)),
    ("past is missing", lambda n: assigned(n) & (torch.arange(n) != 1)[:, None] | torch.eye(n).bool()),
    ("Column 4 is open throughout", lambda n: assigned(n) | (torch.arange(n) == n - 1)),
    ("Column 1 is open throughout", lambda n: assigned(n) | (torch.arange(n) <= 1)),
    ("same on both sides", lambda n: (torch.arange(n)[:, None] % 2) == (torch.arange(n) % 2)),
    ("NaN", lambda n: torch.tril(torch.ones(n, n)) * torch.inf),
    (r"shape.*\(5,\)", lambda n: torch.arange(n) <= n),
    ("list", lambda n: [[key <= query for key in range(n)] for query in range(n)]),
    ("NumPy", lambda n: np.tri(n, dtype=bool)),
    ("different results", lambda n: torch.rand(n, n) > 0.5),
]
