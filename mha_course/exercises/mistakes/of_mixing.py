"""Known mistakes of `mixing_of_blocks` and `collaborative_scores`: how blocks are cut, what heads weigh."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def rounded_up(h: int, width: int) -> int:
    """Features of one block."""
    return -(-width // h)


def blocks_with(
    h: int,
    width: int,
    *,
    size: Step = rounded_up,
    own: Step = lambda head, r, size, h: (r >= head * size) & (r < (head + 1) * size),
    finish: Step = lambda mixing, size: mixing.float(),
) -> Tensor:
    """M with the steps given; right without any: (h, width). own: which features r are a head's."""
    cut = size(h, width)
    return finish(own(torch.arange(h)[:, None], torch.arange(width), cut, h), cut)


def evenly(head: Tensor, r: Tensor, size: int, h: int) -> Tensor:
    """Blocks that differ by one feature at most, the larger ones first."""
    small, more = divmod(len(r), h)
    start = head * small + head.clamp(max=more)
    return (r >= start) & (r < start + small + (head < more))


def _rest_to_the_last(head: Tensor, r: Tensor, size: int, h: int) -> Tensor:
    return (r >= head * size) & ((r < (head + 1) * size) | (head == h - 1))


_blocks = partial(Otherwise, blocks_with)

BLOCK_MISTAKES = (
    Mistake(
        "rounded-down",
        _blocks(size=lambda h, width: width // h),
        "width / h is rounded down. Where it is no whole number, the last features belong to no head.",
        "how long a block is.",
    ),
    Mistake(
        "rest-to-the-last",
        _blocks(size=lambda h, width: width // h, own=_rest_to_the_last),
        "width / h is rounded down, and the last head gets all that is left. Blocks are rounded up; the last "
        "is shorter, not longer.",
        "how long a block is.",
    ),
    Mistake(
        "spread-evenly",
        _blocks(own=evenly),
        "The features are spread as evenly as can be. Here every block is rounded up, and later heads get "
        "what is left.",
        "how long a block is. (`tensor_split` and `array_split` even blocks out; `split` and `chunk` don't.)",
    ),
    Mistake(
        "dealt-in-turn",
        _blocks(own=lambda head, r, size, h: r % h == head),
        "Features are dealt in turn: 1, 2, ..., 1, 2, ... A head should get neighbours.",
        "`%` and `//`.",
    ),
    Mistake(
        "columns-for-heads",
        _blocks(finish=lambda mixing, size: mixing.float().T),
        "Rows and columns have changed places: M has a row for each head, (h, width).",
        "the order of the two axes.",
    ),
    Mistake(
        "ones-everywhere",
        _blocks(own=lambda head, r, size, h: (r >= 0).expand(h, -1)),
        "Every head reads all features. Then all heads have the same scores.",
        "where 1 should stand, and where 0.",
    ),
    Mistake(
        "rows-sum-to-one",
        _blocks(finish=lambda mixing, size: mixing.float() / size),
        "The ones are divided by the length of a block. Scores are sums over features, no averages.",
        "what is written into a block.",
    ),
    Mistake(
        "up-to-its-block",
        _blocks(own=lambda head, r, size, h: r < (head + 1) * size),
        "Each head reads its own block and all before it.",
        "where a block starts.",
    ),
    Mistake(
        "from-its-block-on",
        _blocks(own=lambda head, r, size, h: r >= head * size),
        "Each head reads its own block and all behind it.",
        "where a block ends.",
    ),
    Mistake(
        "blocks-in-reverse",
        _blocks(own=lambda head, r, size, h: (r >= (h - 1 - head) * size) & (r < (h - head) * size)),
        "The blocks are in reverse order: the first head should have the first block.",
        "the order of the heads.",
    ),
    Mistake(
        "one-feature-too-many",
        _blocks(own=lambda head, r, size, h: (r >= head * size) & (r <= (head + 1) * size)),
        "Each block is one feature too long, so that two heads share it.",
        "the end of a slice, which is not part of it.",
    ),
    Mistake(
        "blocks-from-feature-one",
        _blocks(own=lambda head, r, size, h: (r >= head * size + 1) & (r < (head + 1) * size + 1)),
        "Every block starts one feature too late: the first feature belongs to nobody.",
        "from which number features are counted.",
    ),
    Mistake(
        "one-feature-each",
        _blocks(own=lambda head, r, size, h: r == head),
        "Each head has one feature, the one with its own number. It should have a block of them.",
        "how many features a head has.",
    ),
    Mistake(
        "no-floats",
        _blocks(finish=lambda mixing, size: mixing.long()),
        "The numbers are right, as whole numbers. `float32` is wanted: M is a parameter, and learns.",
        "the dtype of the result.",
    ),
    Mistake(
        "mask-for-numbers",
        _blocks(finish=lambda mixing, size: mixing),
        "This is a mask: `True` in a head's block. Numbers are wanted, 1 and 0 in `float32`.",
        "the dtype of the result.",
    ),
)


def root(q: Tensor, mixing: Tensor, d_k: int) -> float:
    """The right factor, 1 / sqrt(d_k)."""
    return 1 / math.sqrt(d_k)


def scores_with(
    q: Tensor,
    k: Tensor,
    mixing: Tensor,
    d_k: int,
    *,
    given: Step = lambda mixing: mixing,
    weigh: Step = lambda q, k, m: (q * m, k),
    compare: Step = lambda q, k: q @ k.mT,
    factor: Step = root,
    finish: Step = lambda scores: scores,
) -> Tensor:
    """Scores of all heads with the steps given; right without any: (b, h, n_q, n_k).

    weigh: gets queries and keys (b, 1, n, width) and M as (h, 1, width).
    """
    queries, keys = weigh(q[:, None], k[:, None], given(mixing)[:, None])
    return finish(compare(queries, keys) * factor(q, mixing, d_k))


_scores = partial(Otherwise, scores_with)

SCORE_MISTAKES = (
    Mistake(
        "scale-of-the-width",
        _scores(factor=lambda q, m, d_k: q.shape[-1] ** -0.5),
        "Scores are divided by the root of the width. Wanted is the root of the `d_k` given: a layer that is "
        "compressed to another width should keep its scores.",
        "the size under the root.",
    ),
    Mistake(
        "scale-of-the-width-per-head",
        _scores(factor=lambda q, m, d_k: (q.shape[-1] / len(m)) ** -0.5),
        "Scores are divided by the root of width / h, as in the authors' code. Where the width is not "
        "h * d_k, all scores of a converted layer change by that.",
        "the size under the root.",
    ),
    Mistake(
        "no-scale",
        _scores(factor=lambda q, m, d_k: 1.0),
        "The division by the root of `d_k` is missing.",
        "what is done with `d_k`.",
    ),
    Mistake(
        "divided-by-d_k",
        _scores(factor=lambda q, m, d_k: 1 / d_k),
        "Scores are divided by `d_k` itself, not by its root.",
        "what is done with `d_k`.",
    ),
    Mistake(
        "multiplied-by-the-root",
        _scores(factor=lambda q, m, d_k: d_k**0.5),
        "Scores are multiplied by the root of `d_k`, not divided.",
        "what is done with `d_k`.",
    ),
    Mistake(
        "weighed-twice",
        _scores(weigh=lambda q, k, m: (q * m, k * m)),
        "Queries and keys are both weighed, so each product is weighed with the square. Ones and zeros hide "
        "that; a learned M, with negative numbers too, does not.",
        "where `mixing` takes part.",
    ),
    Mistake(
        "not-weighed",
        _scores(weigh=lambda q, k, m: (q.expand(-1, len(m), -1, -1), k)),
        "`mixing` has no effect: all heads have the same scores.",
        "where `mixing` takes part.",
    ),
    Mistake(
        "weights-added",
        _scores(weigh=lambda q, k, m: (q + m, k)),
        "`mixing` is added to the features. It multiplies them.",
        "where `mixing` takes part.",
    ),
    Mistake(
        "weights-made-positive",
        _scores(given=lambda m: m.softmax(-1)),
        "There is a softmax over the rows of `mixing`. The numbers are used as they are, negative ones too.",
        "what is done with `mixing` before it is used.",
    ),
    Mistake(
        "one-row-for-all",
        _scores(given=lambda m: m[:1].expand_as(m)),
        "Every head weighs with the first row of `mixing`. Each has a row of its own.",
        "the axis of the heads.",
    ),
    Mistake(
        "rows-in-reverse",
        _scores(given=lambda m: m.flip(0)),
        "The heads are in reverse order: head 1 has the first row of `mixing`.",
        "the order of the heads.",
    ),
    Mistake(
        "heads-last",
        _scores(finish=lambda s: s.movedim(1, -1)),
        "The heads stand last, (b, n_q, n_k, h). Wanted is (b, h, n_q, n_k).",
        "the order of the axes.",
    ),
    Mistake(
        "heads-behind-queries",
        _scores(finish=lambda s: s.transpose(1, 2)),
        "The heads stand behind the queries, (b, n_q, h, n_k). Wanted is (b, h, n_q, n_k).",
        "the order of the axes.",
    ),
    Mistake(
        "heads-first",
        _scores(finish=lambda s: s.transpose(0, 1)),
        "The heads stand in front of the sentences, (h, b, n_q, n_k). Wanted is (b, h, n_q, n_k).",
        "the order of the axes.",
    ),
    Mistake(
        "heads-added-up",
        _scores(finish=lambda s: s.sum(1)),
        "The scores of all heads are added up. Each head keeps its own.",
        "which axes are summed.",
    ),
    Mistake(
        "keys-for-queries",
        _scores(finish=lambda s: s.mT),
        "Rows are keys and columns are queries. Wanted are rows of queries, (b, h, n_q, n_k).",
        "which of the two is transposed.",
    ),
    Mistake(
        "softmax-too",
        _scores(finish=lambda s: s.softmax(-1)),
        "There is a softmax at the end. Scores are asked for.",
        "the last step.",
    ),
)
