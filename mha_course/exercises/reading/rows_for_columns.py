"""Heads cut out of the other axis of a matrix: rows for columns, as if `nn.Linear` kept the weights."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome

_NAMES = ("W_Q", "W_K", "W_V", "W_O")
_SIZE = 6  # three heads, two places each, in matrices with as many rows as columns


@functools.cache
def _squares() -> tuple[Tensor, ...]:
    """Four matrices in which no two rows are alike, and no two columns."""
    g = torch.Generator().manual_seed(83)
    return tuple(torch.randn(_SIZE, _SIZE, generator=g) for _ in _NAMES)


def read_rows_for_columns(evidence: Evidence, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """Which of four matrices have lost rows for columns, or the other way round; None when none has.

    Asked with square matrices: in others a slice along the wrong axis stops with an error, ends early or
    gives another shape, so that what was meant can't be seen.
    """
    squares = _squares()
    out = call((*(w.clone() for w in squares), 3, [0, 2]))
    if out.error is not None or len(out.leaves) != len(_NAMES):
        return None
    turned = [
        name
        for name, w, leaf in zip(_NAMES, squares, out.leaves, strict=True)
        if _are_rows(*((leaf.T, w.T) if name == "W_O" and leaf.ndim == 2 else (leaf, w)))
    ]
    if not turned:
        return None
    before = [name for name in turned if name != "W_O"]
    parts = [f"of {in_a_row(before)} rows are taken"] if before else []
    parts += ["of W_O columns are taken" if not before else "of W_O columns"] if "W_O" in turned else []
    says = " and ".join(parts)
    says = (
        f"{says[:1].upper()}{says[1:]}, as if `nn.Linear` kept these weights. Here inputs stand on the left"
    )
    says += ", `x @ w_q` and `concat @ w_o`: a head owns columns of W_Q, W_K and W_V, and rows of W_O."
    names = in_a_row([f"`{name.lower()}`" for name in turned])
    return Finding("rows-for-columns", says, look=f"along which axis {names} {_is(turned)} cut.")


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _are_rows(leaf: Tensor, w: Tensor) -> bool:
    """Whether what is left are some of the rows of w, whole."""
    if leaf.ndim != 2 or leaf.shape[1] != _SIZE or not 0 < len(leaf) < _SIZE:
        return False
    return bool((leaf[:, None] == w).all(-1).any(-1).all())
