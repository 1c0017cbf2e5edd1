"""Known mistakes of causal masks: polarity, off by one, the wrong triangle, numbers for booleans."""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake

NEG_INF = float("-inf")


def _lower(n: int, diagonal: int = 0) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril(diagonal)


CAUSAL_MISTAKES = (
    Mistake(
        "polarity",
        lambda n: ~_lower(n),
        (
            "True and False have changed places: True = may attend, and a token may attend to itself and "
            "the past."
        ),
        "what True means; `nn.MultiheadAttention` has it the other way round.",
    ),
    Mistake(
        "future-for-past",
        lambda n: _lower(n).T,
        "The upper triangle is open: tokens see themselves and the *future*. (Query down, key along.)",
        "`tril` and `triu`, or which of the two positions must be the smaller one.",
    ),
    Mistake(
        "self-hidden",
        lambda n: _lower(n, -1),
        "The diagonal is hidden: a token can't see itself, and the first one sees nothing.",
        "`<` and `<=`, or the diagonal of the triangle.",
    ),
    Mistake(
        "one-ahead",
        lambda n: _lower(n, 1),
        "Each token sees one token of the future.",
        "the diagonal of the triangle: off by one.",
    ),
    Mistake(
        "self-hidden-opposite",
        lambda n: ~_lower(n, 1),
        "Only what lies at least two tokens ahead is open.",
        "what True means, and the diagonal.",
    ),
    Mistake(
        "everything-open",
        lambda n: torch.ones(n, n, dtype=torch.bool),
        "Everything is open: tokens see the future.",
        "the condition that closes the future.",
    ),
    Mistake(
        "only-itself",
        lambda n: torch.eye(n, dtype=torch.bool),
        "A token sees itself alone.",
        "`==`, or `eye`.",
    ),
    Mistake(
        "other-diagonal",
        lambda n: _lower(n).flip(1),
        "The triangle leans on the other diagonal.",
        "a flip, or a sum of positions where they should be compared.",
    ),
    Mistake(
        "numbers-for-booleans",
        lambda n: torch.ones(n, n).tril(),
        (
            "The pattern is right, in numbers 1 and 0. A mask is boolean here, so that it can't be added by "
            "mistake."
        ),
        "the dtype of what you return.",
    ),
    Mistake(
        "added-mask",
        lambda n: torch.zeros(n, n).masked_fill(~_lower(n), NEG_INF),
        "This is a mask to be *added* to the scores, 0 and -inf. Here it is boolean, True = may attend.",
        "the dtype of what you return.",
    ),
    Mistake(
        "blocked-numbers",
        lambda n: torch.ones(n, n).triu(1),
        "These are numbers, 1 = blocked. Here a mask is boolean, True = may attend.",
        "the dtype, and what True means.",
    ),
    Mistake(
        "large-negative-numbers",
        lambda n: torch.zeros(n, n).masked_fill(~_lower(n), -1e9),
        "This is a mask to be *added* to the scores, 0 and -1e9. Here it is boolean, True = may attend.",
        "the dtype of what you return.",
    ),
    Mistake(
        "with-head-axes",
        lambda n: _lower(n)[None, None],
        (
            "The pattern is right, with axes for sentences and heads in front. `(n, n)` is wanted; it "
            "broadcasts by itself."
        ),
        "the shape of what you return.",
    ),
    Mistake(
        "one-row-too-many",
        lambda n: _lower(n + 1),
        "The mask has a row and a column too many.",
        "the size: off by one.",
    ),
    Mistake(
        "one-row-too-few",
        lambda n: _lower(n - 1),
        "The mask has a row and a column too few.",
        "the size: off by one.",
    ),
    Mistake(
        "everything-closed",
        lambda n: torch.zeros(n, n, dtype=torch.bool),
        "Nothing is open: no token sees anything, not even itself.",
        "the condition that opens the past.",
    ),
    Mistake(
        "zero-times-infinity",
        lambda n: torch.ones(n, n).triu(1) * NEG_INF,
        "It holds NaN: 0 times infinity. And a mask is boolean here, True = may attend.",
        "the product with infinity, and the dtype.",
    ),
    Mistake(
        "neighbours-on-both-sides",
        lambda n: _lower(n, 1) & _lower(n, 1).T,
        "A token sees its neighbours on both sides: one of the future, and of the past one alone.",
        "an absolute distance, or two triangles that meet.",
    ),
    Mistake(
        "one-column-for-all",
        lambda n: (torch.arange(n) <= n // 2).expand(n, n),
        "Every query sees the same keys, the first half: its own position takes no part.",
        "what is compared with what: a query's position with a key's.",
    ),
    Mistake(
        "fixed-window",
        lambda n: _lower(n) & ~_lower(n, -3),
        "Only the last three tokens are open. The whole past should be.",
        "the lower limit.",
    ),
)

# The same in whole numbers, whatever their dtype.
CAUSAL_MISTAKES += tuple(
    dataclasses.replace(mistake, wrong=lambda n, mistake=mistake: mistake.wrong(n).long())
    for mistake in CAUSAL_MISTAKES
    if mistake.id in ("numbers-for-booleans", "blocked-numbers", "large-negative-numbers")
)
