"""Where a head's weight goes on average, whatever the words mean: itself, its neighbours, special tokens,
punctuation, everywhere alike, almost nowhere.

These are means of weights, not counts of largest weights; for counts see `criteria.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import torch
from torch import Tensor

ITSELF, PREVIOUS_TOKEN, NEXT_TOKEN = "itself", "the previous token", "the next token"
FIRST_SPECIAL, LAST_SPECIAL, SPECIAL = "the first special token", "the last special token", "special tokens"
PUNCTUATION, BROAD, ENTROPY = "punctuation", "broad", "entropy"
NEAR_ZERO, LARGEST = "near zero", "largest weight"
HABITS = (
    *(ITSELF, PREVIOUS_TOKEN, NEXT_TOKEN, FIRST_SPECIAL, LAST_SPECIAL, SPECIAL),
    *(PUNCTUATION, BROAD, ENTROPY, NEAR_ZERO, LARGEST),
)
NEAR_ZERO_WEIGHT = 0.01
# Clark et al. 2019, code of the clustering figure: a later rule overrules an earlier one.
CLARK_RULES = (
    ("next", NEXT_TOKEN, 0.5),
    ("previous", PREVIOUS_TOKEN, 0.5),
    ("broad", ENTROPY, 3.8),
    ("[CLS]", FIRST_SPECIAL, 0.6),
    ("[SEP]", LAST_SPECIAL, 0.6),
    ("punctuation", PUNCTUATION, 0.6),
)


@dataclass(frozen=True, eq=False)
class Habits:
    """Totals over the rows of each sentence; divided by the rows they are means.

    totals: (sentences, layers, heads, len(HABITS)). rows: (sentences,), how many rows were counted.
    """

    totals: Tensor
    rows: Tensor

    def mean(self, habit: str) -> Tensor:
        """(layers, heads): the mean over all counted rows. Raises: ValueError for an unknown habit."""
        if habit not in HABITS:
            raise ValueError(f"no habit {habit!r}; there are {', '.join(HABITS)}.")
        return self.totals[..., HABITS.index(habit)].sum(0) / self.rows.sum()


def count_habits(
    weights: Iterable[Tensor],
    special: Iterable[Sequence[int]],
    punctuation: Iterable[Sequence[int]] | None = None,
    near_zero: float = NEAR_ZERO_WEIGHT,
) -> Habits:
    """Sum up the habits of every head.

    weights: for each sentence (layers, heads, n, n) over all tokens, special ones included. special: the
    places of special tokens in each sentence, in order, which may be none. punctuation: the places of
    punctuation marks; None when nobody knows.

    Rows of special tokens are left out; as targets they count. Broad is the entropy of a row over log n, so
    1 is "everywhere alike"; "entropy" is the same in nats. "Near zero" is the share of a row's weights below
    `near_zero`. The first and the last token have one neighbour only, the missing one counts as 0.

    Raises: ValueError when weights are not (layers, heads, n, n), and when there is no sentence.
    Source: Clark et al. 2019, section 3.
    """
    totals, rows = [], []
    marks = iter(punctuation) if punctuation is not None else repeat(())
    for w, places in zip(weights, special, strict=True):
        if w.ndim != 4 or w.shape[-1] != w.shape[-2]:
            raise ValueError(f"weights must be (layers, heads, n, n); got {tuple(w.shape)}.")
        totals.append(_of_one(w, list(places), list(next(marks)), near_zero))
        rows.append(w.shape[-1] - len(places))
    if not totals:
        raise ValueError("there is no sentence.")
    return Habits(torch.stack(totals), torch.tensor(rows, dtype=torch.float))


def clark_categories(
    habits: Habits, rules: Sequence[tuple[str, str, float]] = CLARK_RULES
) -> list[list[str]]:
    """A category for each layer and head, "" for none of them.

    rules: (category, habit, threshold): the mean must be above it; a later rule overrules an earlier one.
    The 3.8 nats of "broad" fit texts of 128 tokens: a sentence of n tokens has at most log n.
    Source: Clark et al. 2019, figure 6 and its code.
    """
    means = {habit: habits.mean(habit) for _, habit, _ in rules}
    layers, heads = habits.totals.shape[1:3]
    found = [[""] * heads for _ in range(layers)]
    for category, habit, threshold in rules:
        for layer, head in (means[habit] > threshold).nonzero().tolist():
            found[layer][head] = category
    return found


def by_layer(habits: Habits) -> Mapping[str, Tensor]:
    """For each habit (layers,), the mean over the heads of a layer."""
    return {habit: habits.mean(habit).mean(1) for habit in HABITS}


def _of_one(w: Tensor, special: list[int], marks: list[int], near_zero: float) -> Tensor:
    n = w.shape[-1]
    real = torch.ones(n, dtype=torch.bool)
    real[special] = False
    rows = w[:, :, real]
    entropy = -torch.special.xlogy(rows, rows).sum((-1, -2))
    nothing = w.new_zeros(w.shape[:2])
    by_habit = {
        ITSELF: w.diagonal(0, -2, -1)[..., real].sum(-1),
        PREVIOUS_TOKEN: w.diagonal(-1, -2, -1)[..., real[1:]].sum(-1),
        NEXT_TOKEN: w.diagonal(1, -2, -1)[..., real[:-1]].sum(-1),
        FIRST_SPECIAL: rows[..., special[0]].sum(-1) if special else nothing,
        LAST_SPECIAL: rows[..., special[-1]].sum(-1) if len(special) > 1 else nothing,
        SPECIAL: rows[..., special].sum((-1, -2)),
        PUNCTUATION: rows[..., marks].sum((-1, -2)),
        BROAD: entropy / math.log(n) if n > 1 else nothing,
        ENTROPY: entropy,
        NEAR_ZERO: (rows < near_zero).float().mean(-1).sum(-1),
        LARGEST: rows.amax(-1).sum(-1),
    }
    return torch.stack([by_habit[habit] for habit in HABITS], -1)
