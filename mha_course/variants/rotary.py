"""Rotary positions in the two layouts in use: pairs of neighbours (LLaMA) and pairs of halves (Hugging Face).

Both turn pair j of a query or key at position p by the angle p * base^(-2j / d_k), and so the product of the
two depends on their distance only. They differ in which two features make a pair, which is a matter of the
order of the rows of W_Q and W_K; `to_neighbours` translates.
Source: Su et al. 2021; LLaMA 3 code, base 500,000.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from mha_course.attention import check_tensors
from mha_course.positions import rotate_by_position, turns
from mha_course.sizes import check_sizes

Pairs = Literal["neighbours", "halves"]
PAIRS = ("neighbours", "halves")
LLAMA_BASE = 500_000.0


def rotated(x: Tensor, start: int = 0, base: float = LLAMA_BASE, pairs: Pairs = "neighbours") -> Tensor:
    """Turn the rows of x (..., n, d_k) by their positions start .. start + n - 1.

    pairs: "neighbours" are features 2j and 2j + 1, "halves" are j and j + d_k / 2.
    Returns: like x.
    Raises: ValueError for a start below 0 and other pairs, and as `positions.turns`.
    """
    check_tensors(x=x)
    (start,) = check_sizes(0, start=start)
    check_pairs(pairs)
    if pairs == "neighbours":
        return rotate_by_position(x, start, base)
    cosine, sine = turns(x, start, base)
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


def to_neighbours(weight: Tensor, h: int) -> Tensor:
    """Reorder W_Q or W_K (h * d_k, d_model), made for pairs of halves, for pairs of neighbours.

    The scores stay the same. Raises: ValueError unless h equal heads of even width fit.
    """
    check_tensors(weight=weight)
    (h,) = check_sizes(h=h)
    rows, d_model = weight.shape
    if rows % (2 * h):
        raise ValueError(f"{rows} rows can't be h={h} heads of an even width.")
    return weight.view(h, 2, rows // h // 2, d_model).transpose(1, 2).reshape(rows, d_model)


def check_pairs(pairs: str) -> None:
    """Raise ValueError for other pairs than "neighbours" and "halves"."""
    if pairs not in PAIRS:
        raise ValueError(f'pairs={pairs!r} must be "neighbours" or "halves".')
