"""Known mistakes of attention in blocks of queries: where a block ends, and what is cut with it."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.blocks_of_queries import Span, Step, frugal_with, spans, weights_of_rows
from mha_course.exercises.mistakes.workbench import merge, split


def _filled_up(parts: list[Tensor], n: int) -> Tensor:
    """The blocks there are, and zeros behind them."""
    done = torch.cat(parts, 2)
    return torch.cat([done, done.new_zeros(*done.shape[:2], n - done.shape[2], done.shape[3])], 2)


def _full_blocks(n: int, rows: int) -> list[Span]:
    """Without the shorter block at the end; where there is no other, that one stays."""
    return [span for span in spans(n, rows) if span[1] - span[0] == rows] or spans(n, rows)


def _over_key_blocks(merge_parts: Step) -> Step:
    """Cuts the keys in place of the queries, with a softmax in each block of keys."""

    def layer(
        x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, h: int, allowed: Tensor, rows: int
    ) -> Tensor:
        q, k, v = (split(x @ w, h) for w in (w_q, w_k, w_v))
        parts = []
        for start, end in spans(x.shape[1], rows):
            scores = q @ k[:, :, start:end].transpose(-2, -1) / math.sqrt(q.shape[-1])
            parts.append(weights_of_rows(scores, allowed[..., start:end]) @ v[:, :, start:end])
        return merge(merge_parts(torch.stack(parts))) @ w_o

    return layer


def _restarted(allowed: Tensor, start: int, end: int, rows: int) -> Tensor:
    """A causal mask that counts the queries of each block from 0."""
    places = torch.arange(end - start)
    return (torch.arange(allowed.shape[-1]) <= places[:, None]).expand(len(allowed), 1, -1, -1)


def _causal_itself(allowed: Tensor, start: int, end: int, rows: int) -> Tensor:
    """A causal mask of its own, in the right place; padding is open."""
    places = torch.arange(start, end)
    return (torch.arange(allowed.shape[-1]) <= places[:, None]).expand(len(allowed), 1, -1, -1)


def _last_in_its_place(parts: list[Tensor], n: int) -> Tensor:
    """Each block is written over the one before; nothing but the last is left, at the start."""
    out = parts[0].new_zeros(*parts[0].shape[:2], n, parts[0].shape[3])
    for part in parts:
        out[:, :, : part.shape[2]] = part
    return out


def _nan_rows(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, float("-inf")).softmax(-1)


_BLOCKS: tuple[tuple[str, dict[str, Step], str, str], ...] = (
    (
        "last-block-lost",
        {"blocks": _full_blocks},
        (
            "The last queries are missing: only full blocks of `rows` are taken, and what is left at the end "
            "is lost."
        ),
        "how many blocks there are, where `rows` does not divide `n`.",
    ),
    (
        "last-block-zero",
        {"blocks": _full_blocks, "join": _filled_up},
        (
            "The last queries get 0: only full blocks of `rows` are worked on, and what is left at the end "
            "stays as it was made."
        ),
        "how many blocks there are, where `rows` does not divide `n`.",
    ),
    (
        "mask-of-the-first-block",
        {"mask": lambda allowed, start, end, rows: allowed[:, :, : end - start]},
        "Every block is masked with the first rows of `allowed`. Each query has a row of its own.",
        "where `allowed` is cut: it has to move along with the block.",
    ),
    (
        "mask-of-the-last-block",
        {"mask": lambda allowed, start, end, rows: allowed[:, :, start - end :]},
        "Every block is masked with the last rows of `allowed`. Each query has a row of its own.",
        "where `allowed` is cut: it has to move along with the block.",
    ),
    (
        "one-row-for-the-block",
        {"mask": lambda allowed, start, end, rows: allowed[:, :, start : start + 1]},
        "All queries of a block are masked with the row of its first query.",
        "how many rows of `allowed` belong to a block.",
    ),
    (
        "last-row-for-the-block",
        {"mask": lambda allowed, start, end, rows: allowed[:, :, end - 1 : end]},
        "All queries of a block are masked with the row of its last query.",
        "how many rows of `allowed` belong to a block.",
    ),
    (
        "mask-ignored",
        {"mask": lambda allowed, start, end, rows: torch.ones_like(allowed[:, :, start:end])},
        "`allowed` has no effect: every query attends to everything.",
        "where `allowed` is used.",
    ),
    (
        "mask-polarity",
        {"mask": lambda allowed, start, end, rows: ~allowed[:, :, start:end]},
        "`allowed` is read the wrong way round: the allowed keys are hidden. True = may attend.",
        "`masked_fill` fills where its mask is True.",
    ),
    (
        "causal-restarts",
        {"mask": _restarted},
        (
            "In place of `allowed` stands a causal mask that counts from 0 in every block, so that the first "
            "query of a block sees key 0 alone."
        ),
        "what `allowed` holds, and which of its rows belong to a block.",
    ),
    (
        "causal-in-its-place",
        {"mask": _causal_itself},
        "In place of `allowed` stands a causal mask: padding is open, and what else `allowed` hides.",
        "where `allowed` is used.",
    ),
    (
        "keys-of-the-block-only",
        {
            "keys": lambda k, start, end: k[:, :, start:end],
            "mask": lambda allowed, start, end, rows: allowed[:, :, start:end, start:end],
        },
        (
            "Keys and values are cut along with the queries: a block attends to nothing but itself. Only "
            "queries are taken in blocks; each still sees every allowed key."
        ),
        "which tensors are cut: queries, keys, values.",
    ),
    (
        "first-queries-again",
        {"queries": lambda q, start, end, rows: q[:, :, : end - start]},
        "Every block takes the first queries again; only its mask moves on.",
        "where the queries are cut.",
    ),
    (
        "blocks-in-reverse",
        {"join": lambda parts, n: torch.cat(parts[::-1], 2)},
        "The blocks are put together from the last one to the first.",
        "the order in which blocks are collected.",
    ),
    (
        "first-block-only",
        {"join": lambda parts, n: parts[0]},
        "Only the first block comes back: the function returns before the others are done.",
        "the indentation of `return`.",
    ),
    (
        "last-block-only",
        {"join": lambda parts, n: parts[-1]},
        "Only the last block comes back: each one takes the place of the one before.",
        "what is kept of a block when the next one starts.",
    ),
    (
        "written-over-each-other",
        {"join": _last_in_its_place},
        "All blocks are written into the first places, one over the other; the rest stays 0.",
        "the places into which a block's result goes.",
    ),
    (
        "dealt-in-turn",
        {
            "blocks": lambda n, rows: [(i, i) for i in range(math.ceil(n / rows))],
            "queries": lambda q, i, _, rows: q[:, :, i :: math.ceil(q.shape[2] / rows)],
            "mask": lambda allowed, i, _, rows: allowed[:, :, i :: math.ceil(allowed.shape[2] / rows)],
        },
        (
            "Queries are dealt to the blocks in turn, every so many, and the blocks are put side by side: "
            "the rows stand in another order."
        ),
        "the step of a slice, and the order of the rows at the end.",
    ),
    (
        "one-row-left-out",
        {
            "queries": lambda q, start, end, rows: q[:, :, start : max(end - 1, start + 1)],
            "mask": lambda allowed, start, end, rows: allowed[:, :, start : max(end - 1, start + 1)],
        },
        "The last query of each block is left out, so that rows are missing.",
        "the end of a slice: it is not part of it.",
    ),
    (
        "one-row-twice",
        {
            "queries": lambda q, start, end, rows: q[:, :, start : end + 1],
            "mask": lambda allowed, start, end, rows: allowed[:, :, start : end + 1],
        },
        "Blocks overlap: each has the first query of the next one as well, so that there are too many rows.",
        "the end of a slice: it is not part of it.",
    ),
    (
        "over-the-block",
        {"weigh": lambda s, m: s.masked_fill(~m, -1e9).softmax(-2) * m.any(-1, keepdim=True)},
        (
            "The softmax goes over the queries of the block: a query's weights depend on which others stand "
            "beside it."
        ),
        "the axis of the softmax.",
    ),
    (
        "no-scale",
        {"divisor": lambda d_k, rows: 1.0},
        "The scores are not divided by the root of d_k.",
        "the step after the product of queries and keys.",
    ),
    (
        "scale-sqrt-rows",
        {"divisor": lambda d_k, rows: math.sqrt(rows)},
        "The scores are divided by the root of `rows`. How many queries there are at once plays no part.",
        "the divisor.",
    ),
    (
        "mask-after-softmax",
        {"weigh": lambda s, m: s.softmax(-1) * m},
        "The mask comes after the softmax. The weights that are left no longer sum to 1.",
        "the order of mask and softmax.",
    ),
    (
        "empty-rows-nan",
        {"weigh": _nan_rows},
        "A query with nothing to attend to becomes NaN: a softmax of nothing but -inf is 0/0.",
        "rows of `allowed` without a single True.",
    ),
    (
        "empty-rows-uniform",
        {"weigh": lambda s, m: s.masked_fill(~m, -1e9).softmax(-1)},
        "A query with nothing to attend to gets equal weights, and looks at exactly what was hidden.",
        "rows of `allowed` without a single True, after the softmax.",
    ),
)

_OF_KEYS: tuple[tuple[str, Step, str], ...] = (
    (
        "softmax-in-each-block",
        _over_key_blocks(lambda parts: parts.sum(0)),
        (
            "The keys are cut into blocks, each gets a softmax of its own, and the results are added: every "
            "block hands out a weight of 1. Cut the queries; a row of scores stays whole."
        ),
    ),
    (
        "blocks-of-keys-averaged",
        _over_key_blocks(lambda parts: parts.mean(0)),
        (
            "The keys are cut into blocks, each gets a softmax of its own, and the results are averaged: "
            "every block counts alike, whatever its scores. Cut the queries; a row of scores stays whole."
        ),
    ),
)


def _joined_along(axis: int) -> Step:
    """Blocks joined along another axis, and brought into the shape that is wanted all the same."""

    def layer(*given: Any) -> Tensor:
        x = given[0]
        parts = [split(part, given[5]) for part in frugal_with(*_without_w_o(given)).split(given[7], 1)]
        return torch.cat(parts, axis).transpose(1, 2).reshape(x.shape) @ given[4]

    return layer


def _without_w_o(given: tuple[Any, ...]) -> tuple[Any, ...]:
    x, w_q, w_k, w_v, w_o, *rest = given
    return (x, w_q, w_k, w_v, torch.eye(len(w_o), dtype=w_o.dtype), *rest)


_JOINED = (
    "The blocks are joined along the axis of {}, and brought into shape afterwards: rows hold pieces of "
    "other queries. Blocks are parts of the axis of queries."
)
_OTHER_AXES = ((0, "sentences"), (1, "heads"), (3, "features"))

FRUGAL_MISTAKES = (
    *(
        Mistake(f"joined-along-the-{name}", _joined_along(axis), _JOINED.format(name), "the axis of `cat`.")
        for axis, name in _OTHER_AXES
    ),
    *(Mistake(i, partial(frugal_with, **change), says, look) for i, change, says, look in _BLOCKS),
    *(Mistake(i, wrong, says, "the axis of the scores that is cut.") for i, wrong, says in _OF_KEYS),
)
