"""How many queries' scores an answer holds at once, read from the size of every tensor that it makes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.exercise import draw
from mha_course.exercises.measuring import Measured, measure

# Long sentences and narrow heads: one head's map of one sentence is larger than a block of all scores, and
# that is larger than the three projections together.
B, N, H, D_K, ROWS = 2, 120, 3, 2, 7
LIMIT = B * H * ROWS * N
_WHEN = f"With b={B}, n={N}, h={H}, d_model={H * D_K} and rows={ROWS}"
_LOOK = "which tensors are made for all queries, before the blocks are cut or beside them."

_KEYS_CUT = (
    "One remark: keys are cut here, not queries, so that all queries have some of their scores at once. That "
    "takes as little room and is what fused kernels do; asked for were blocks of queries, whose rows are "
    "whole and need no sums carried along."
)


def scores_at_once(evidence: Evidence, fn: Callable[..., Any]) -> tuple[Finding | None, str]:
    """What keeps right numbers from passing: more scores at once than asked for; and a remark."""
    took = measure(fn, _arguments())
    if took is None:
        return None, f"One remark: {_WHEN} it stops with an error, so that its tensors could not be measured."
    if took.largest is None:
        return None, "One remark: none of its tensors could be seen, so that their size is not measured."
    fused = max(took.queries_of_fused, default=0)
    if fused > ROWS:
        says = (
            "PyTorch's own attention gets all queries at once, and `rows` is left out. It works in blocks of "
            "its own inside; here they are yours to make."
        )
        return Finding("rows-left-out", says, f"{_WHEN} it gets {fused} queries at once.", _LOOK), ""
    finding = _too_large(took) or _kept_too_long(took)
    if finding is None and _keys_are_cut(took):
        return None, _KEYS_CUT
    remark = ""
    if finding is None and fused:
        remark = (
            "One remark: PyTorch's own attention works inside each block. From scratch means that part, too."
        )
    return finding, remark


def _too_large(took: Measured) -> Finding | None:
    """The largest tensor, where it holds more than the scores of one block."""
    largest = took.largest
    if largest is None or largest.numbers <= LIMIT:
        return None
    seen = (
        f"{_WHEN} a block's scores are {LIMIT:,} numbers; `{largest.step}` makes `{largest.shape}`, "
        f"{largest.numbers:,} numbers."
    )
    start = "The output is right, but it takes too much room."
    product = took.largest_product
    if largest.numbers % (N * N) == 0 and (product is None or product.numbers <= LIMIT):
        says = (
            f"{start} No scores are too large, but another tensor of floats has a number for every query and "
            "every key, as `allowed` has once it is turned into numbers. Cut `allowed` first, then turn the "
            "part into numbers."
        )
        return Finding("floats-for-all-pairs", says, seen, "what is made of `allowed` in front of the loop.")
    if largest.numbers % (N * N) == 0:
        maps = largest.numbers // (N * N)
        whose = {
            B * H: "the scores of all queries, in all heads, are made at once",
            B: "the scores of all queries are made at once, one head after the other",
            H: "the scores of all queries are made at once, one sentence after the other",
            1: "a whole map of queries by keys is made at once, if one at a time",
        }.get(maps, "tensors are made that have every query beside every key")
        says = f"{start} Of the queries, at most `rows` may have their scores at once; here {whose}."
        return Finding("scores-of-all-queries", says, seen, _LOOK)
    queries, rest = divmod(largest.numbers, B * H * N)
    if rest == 0 and queries == -(-N // ROWS):
        says = f"{start} `rows` is taken for the number of blocks. It is how many queries a block has."
        return Finding("rows-counts-blocks", says, seen, _LOOK)
    if rest == 0:
        says = f"{start} A block has {queries} queries in place of `rows` = {ROWS}."
        return Finding("blocks-too-large", says, seen, "where a block ends.")
    says = f"{start} A tensor is made that holds more than the scores of `rows` queries."
    return Finding("too-large", says, seen, _LOOK)


def _keys_are_cut(took: Measured) -> bool:
    """Whether the mask is cut along its keys, and nowhere along its queries."""
    ends = {shape[-2:] for shape in took.masks if len(shape) > 1}
    return any(q == N and 1 < k <= ROWS for q, k in ends) and not any(1 < q <= ROWS for q, _ in ends)


def _kept_too_long(took: Measured) -> Finding | None:
    """Blocks that are small one by one, and all still there at the end."""
    whole = B * H * N * N
    if took.peak < whole:
        return None
    says = (
        "The output is right and no block is too large, but the scores or weights of every block are kept "
        "until the end: together they are as large as all scores at once."
    )
    seen = f"{_WHEN} {took.peak:,} numbers are kept at once; all scores together are {whole:,}."
    return Finding("blocks-kept", says, seen, "lists that collect scores or weights: collect results.")


@functools.cache
def _drawn() -> tuple[Any, ...]:
    g, d_model = Generator().manual_seed(16), H * D_K
    matrices = [draw(g, d_model, d_model, spread=d_model**-0.5) for _ in range(4)]
    allowed = torch.rand(B, 1, N, N, generator=g) < 0.5
    return (draw(g, B, N, d_model), *matrices, H, allowed, ROWS)


def _arguments() -> tuple[Any, ...]:
    return tuple(a.clone() if isinstance(a, Tensor) else a for a in _drawn())
