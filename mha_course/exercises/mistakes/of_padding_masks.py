"""Known mistakes of padding masks: polarity, off by one, wrong axes, wrong lengths, numbers for booleans."""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake

NEG_INF = float("-inf")


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
        "polarity-strict",
        lambda lengths, n: _four(torch.arange(n)[None, :] > torch.as_tensor(lengths)[:, None]),
        "The comparison is turned round: the padding is open (all but its first place), the rest hidden.",
        "`<` and `>`.",
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
        "sentences-behind",
        lambda lengths, n: _real(lengths, n).T[None, None],
        "The sentences stand behind the tokens, `(1, 1, n, b)`: that is a table (key, sentence).",
        "which of positions and lengths goes down, and which along.",
    ),
    Mistake(
        "transposed",
        lambda lengths, n: _real(lengths, n).T,
        "The shape is `(n, b)`: tokens down, sentences along; and two axes are missing.",
        "which of positions and lengths goes down, and the shape `(b, 1, 1, n)`.",
    ),
    Mistake(
        "rows-and-columns-of-three-axes",
        lambda lengths, n: _real(lengths, n)[:, None, :] & _real(lengths, n)[:, :, None],
        "Rows of the padding are hidden as well, `(b, n, n)`, and there is no axis for the heads.",
        "the shape `(b, 1, 1, n)`.",
    ),
    Mistake(
        "lengths-sorted",
        lambda lengths, n: _four(_real(sorted(int(i) for i in lengths), n)),
        "The lengths were sorted: sentences get each other's length.",
        "the order of `lengths`.",
    ),
    Mistake(
        "lengths-added-up",
        lambda lengths, n: _four(_real(torch.as_tensor(lengths).cumsum(0), n)),
        "The lengths are added up from sentence to sentence.",
        "a `cumsum`, or a counter that is not set back.",
    ),
    Mistake(
        "first-length-for-all",
        lambda lengths, n: _four(_real([int(lengths[0])] * len(lengths), n)),
        "Every sentence gets the length of the first one.",
        "where `lengths` takes part.",
    ),
    Mistake(
        "shortest-for-all",
        lambda lengths, n: _four(_real([min(int(i) for i in lengths)] * len(lengths), n)),
        "Every sentence gets the length of the shortest one.",
        "where `lengths` takes part.",
    ),
    Mistake(
        "padding-in-front-polarity",
        lambda lengths, n: _four(~_real(lengths, n)).flip(-1),
        "Open are as many places as there is padding, counted from the front: True stands for padding.",
        "what True means, and from which end positions are counted.",
    ),
    Mistake(
        "triangle-for-lengths",
        lambda lengths, n: _four(torch.arange(n)[None, :] <= torch.arange(len(lengths))[:, None]),
        "Sentence i has its first i tokens open, whatever its length is.",
        "what positions are compared with: a length, not an index.",
    ),
    Mistake(
        "first-token-hidden",
        lambda lengths, n: _four(_real(lengths, n) & (torch.arange(n) > 0)),
        "The first token of every sentence is hidden.",
        "positions that count from 1, or a lower limit.",
    ),
    Mistake(
        "positions-from-one",
        lambda lengths, n: _four(_real(lengths, n, 1) & (torch.arange(n) > 0)),
        "Everything is one place too far behind: the first token is hidden, the first piece of padding open.",
        "where positions start: they count from 0.",
    ),
    Mistake(
        "one-mask-for-all",
        lambda lengths, n: (torch.arange(n) < max(int(i) for i in lengths))[None, None, None],
        "There is one mask, `(1, 1, 1, n)`, for all sentences, with the longest length.",
        "the axis of the sentences.",
    ),
    Mistake(
        "large-negative-numbers",
        lambda lengths, n: torch.zeros(len(lengths), 1, 1, n).masked_fill(~_four(_real(lengths, n)), -1e9),
        "This is a mask to be *added* to the scores, 0 and -1e9. Here it is boolean, True = may attend.",
        "the dtype of what you return.",
    ),
    Mistake(
        "blocked-numbers",
        lambda lengths, n: _four((~_real(lengths, n)).float()),
        "These are numbers, 1 = padding. Here a mask is boolean, True = may attend.",
        "the dtype, and what True means.",
    ),
    Mistake(
        "numbers-without-axes",
        lambda lengths, n: _real(lengths, n).float(),
        "The pattern is right, in numbers of shape `(b, n)`: the dtype and two axes are missing.",
        "the dtype, and the shape `(b, 1, 1, n)`.",
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

# The same in whole numbers, whatever their dtype.
PADDING_MISTAKES += tuple(
    dataclasses.replace(mistake, wrong=lambda lengths, n, mistake=mistake: mistake.wrong(lengths, n).long())
    for mistake in PADDING_MISTAKES
    if mistake.id
    in ("numbers-for-booleans", "numbers-without-axes", "blocked-numbers", "large-negative-numbers")
)
