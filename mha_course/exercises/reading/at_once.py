"""Whether a right layer takes all heads and sentences at once: its products are counted and compared."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Generator

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.exercise import draw
from mha_course.exercises.measuring import Measured, measure

# Three projections, scores, the weighted sum, W_O.
AT_ONCE = 6
_FUSED = (
    "PyTorch's own attention works on scores, softmax and values here. From scratch means these, too; write "
    "them once more without it."
)


def loops_counted(evidence: Evidence, fn: Callable[..., Any]) -> tuple[Finding | None, str]:
    """A remark on a loop over heads or sentences, with what it costs in matrix products."""
    return None, loop_remark(fn)


def loop_remark(fn: Callable[..., Any]) -> str:
    """What more heads, sentences or queries do to the number of products and steps, in words, or ""."""
    small = measure(fn, _layer(1, 1, 3))
    if small is None:
        return ""
    if small.queries_of_fused:
        return f"One remark: {_FUSED}"
    larger = {"heads": (1, 6, 3), "sentences": (5, 1, 3), "queries": (1, 1, 9)}
    over = [name for name, sizes in larger.items() if _grows(small, measure(fn, _layer(*sizes)))]
    all_of_it = measure(fn, _layer(5, 6, 9))
    if not over or all_of_it is None:
        return ""
    taken = f"{all_of_it.products} matrix products"
    if all_of_it.products <= AT_ONCE:
        taken = f"{all_of_it.steps} steps of PyTorch"
    return (
        f"One remark: it takes the {in_a_row(over)} one by one. With 5 sentences, 6 heads and 9 queries that "
        f"makes {taken}; all at once {AT_ONCE} products do, since `@` treats the axes in front of the last "
        "two alike."
    )


def _grows(small: Measured, large: Measured | None) -> bool:
    return large is not None and (large.products > small.products or large.steps > small.steps + 2)


@functools.cache
def _drawn(b: int, h: int, n: int) -> tuple[Any, ...]:
    g, d_model = Generator().manual_seed(b + h), 12
    matrices = [draw(g, d_model, d_model, spread=d_model**-0.5) for _ in range(4)]
    allowed = torch.ones(n, n, dtype=torch.bool).tril().expand(b, 1, n, n).clone()
    return (draw(g, b, n, d_model), *matrices, h, allowed)


def _layer(b: int, h: int, n: int) -> tuple[Any, ...]:
    return tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in _drawn(b, h, n))
