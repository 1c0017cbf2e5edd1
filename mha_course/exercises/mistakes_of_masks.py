"""Known mistakes of causal and padding masks: polarity, off by one, wrong axes, numbers for booleans."""

from __future__ import annotations

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
        "fixed-window",
        lambda n: _lower(n) & ~_lower(n, -3),
        "Only the last three tokens are open. The whole past should be.",
        "the lower limit.",
    ),
)


def _real(lengths: object, n: int, shift: int = 0) -> Tensor:
    return torch.arange(n)[None, :] < torch.as_tensor(lengths)[:, None] + shift


def _four(mask: Tensor) -> Tensor:
    return mask[:, None, None, :]


PADDING_MISTAKES = (
    Mistake(
        "polarity",
        lambda lengths, n: _four(~_real(lengths, n)),
        "True stands on the padding. True = may attend, so it belongs on the real tokens.",
        "what True means; `nn.MultiheadAttention` has it the other way round.",
    ),
    Mistake(
        "one-too-many",
        lambda lengths, n: _four(_real(lengths, n, 1)),
        "One token too many is open: the first piece of padding.",
        "`<` and `<=`: positions count from 0.",
    ),
    Mistake(
        "one-too-few",
        lambda lengths, n: _four(_real(lengths, n, -1)),
        "The last real token is hidden.",
        "`<` and `<=`: positions count from 0.",
    ),
    Mistake(
        "padding-in-front",
        lambda lengths, n: _four(_real(lengths, n)).flip(-1),
        "The open places are the last ones. Here the padding stands behind the sentence.",
        "from which end positions are counted.",
    ),
    Mistake(
        "without-the-middle-axes",
        lambda lengths, n: _real(lengths, n),
        (
            "The pattern is right, of shape `(b, n)`. Against scores `(b, h, n, n)` it would be read as "
            "(query, key): two axes are missing."
        ),
        "the shape `(b, 1, 1, n)`.",
    ),
    Mistake(
        "one-axis-missing",
        lambda lengths, n: _real(lengths, n)[:, None, :],
        (
            "The pattern is right; one axis is missing. `(b, 1, n)` meets `(b, h, n, n)` from the right, so "
            "b would meet h."
        ),
        "the shape `(b, 1, 1, n)`.",
    ),
    Mistake(
        "hides-queries",
        lambda lengths, n: _real(lengths, n)[:, None, :, None],
        (
            "The queries of the padding are hidden, `(b, 1, n, 1)`, not its keys. Then rows are empty, and "
            "everyone still looks at padding."
        ),
        "which of the last two axes holds the keys.",
    ),
    Mistake(
        "axes-in-front",
        lambda lengths, n: _real(lengths, n)[None, None],
        "The two axes of size 1 stand in front, `(1, 1, b, n)`.",
        "where the new axes go.",
    ),
    Mistake(
        "axes-behind",
        lambda lengths, n: _real(lengths, n)[:, :, None, None],
        "The two axes of size 1 stand behind, `(b, n, 1, 1)`.",
        "where the new axes go.",
    ),
    Mistake(
        "rows-and-columns",
        lambda lengths, n: _four(_real(lengths, n)) & _real(lengths, n)[:, None, :, None],
        (
            "Rows of the padding are hidden as well, so they have nothing to attend to. Hiding its *keys* "
            "is enough; the loss leaves out its rows."
        ),
        "the shape `(b, 1, 1, n)`.",
    ),
    Mistake(
        "written-out",
        lambda lengths, n: _four(_real(lengths, n)).expand(-1, 1, n, n),
        "The pattern is right, written out for every query. A 1 there broadcasts by itself.",
        "the shape `(b, 1, 1, n)`.",
    ),
    Mistake(
        "numbers-for-booleans",
        lambda lengths, n: _four(_real(lengths, n).float()),
        "The pattern is right, in numbers. A mask is boolean here, so that it can't be added by mistake.",
        "the dtype of what you return.",
    ),
    Mistake(
        "added-mask",
        lambda lengths, n: torch.zeros(len(lengths), 1, 1, n).masked_fill(~_four(_real(lengths, n)), NEG_INF),
        "This is a mask to be *added* to the scores, 0 and -inf. Here it is boolean, True = may attend.",
        "the dtype of what you return.",
    ),
    Mistake(
        "only-the-last-token",
        lambda lengths, n: _four(torch.arange(n)[None, :] == torch.as_tensor(lengths)[:, None] - 1),
        "Only the last real token is open.",
        "`==`.",
    ),
    Mistake(
        "everything-open",
        lambda lengths, n: torch.ones(len(lengths), 1, 1, n, dtype=torch.bool),
        "Everything is open, the padding as well.",
        "where `lengths` takes part.",
    ),
    Mistake(
        "longest-for-all",
        lambda lengths, n: _four(
            (torch.arange(n) < max(int(i) for i in lengths))[None].expand(len(lengths), -1)
        ),
        "Every sentence gets the length of the longest one.",
        "where `lengths` takes part.",
    ),
    Mistake(
        "cut-to-the-longest",
        lambda lengths, n: _four(_real(lengths, max(int(i) for i in lengths))),
        "The mask is as long as the longest sentence. The batch is filled up to n = {n}.",
        "the last axis.",
    ),
)
