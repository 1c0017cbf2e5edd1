"""Which columns and rows are left where heads are taken out: read from matrices that hold their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome

_WANTED = ([0, 1, 4, 5], [0, 1, 4, 5], [0, 1, 2, 6, 7, 8], [0, 1, 2, 6, 7, 8])


def read_kept_places(
    evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]
) -> Finding | None:
    """Which columns of three matrices, and which rows of W_O, are left of heads 0 and 2 of three."""
    out, twice = call(_numbered(1.0)), call(_numbered(2.0))
    if out.error is not None or twice.error is not None or not len(out.leaves) == len(twice.leaves) == 4:
        return None
    names = ("W_Q", "W_K", "W_V", "W_O")
    for name, leaf, other, want in zip(names, out.leaves, twice.leaves, _WANTED, strict=True):
        # What is no choice of places comes out otherwise when the numbers are twice as large.
        if leaf.ndim != 2 or leaf.shape != other.shape or not torch.equal(2 * leaf, other):
            return None
        kept = leaf.T if name == "W_O" else leaf
        if not _alike(kept):
            return None
        have = [float(x) for x in kept[0]] if len(kept) else []
        if have != want and all(x in range(9) for x in have):
            what = "rows" if name == "W_O" else "columns"
            width = "3 rows" if name == "W_O" else f"{3 if name == 'W_V' else 2} columns"
            says = (
                f"With three heads of {width} in {name} and `kept` [0, 2], its {what} {_listed(want)} should "
                f"be left; yours are {_listed(have) or 'none'}."
            )
            return Finding("other-places-kept", says, look=f"where a head's {what} start and end in {name}.")
    return None


def _numbered(factor: float) -> tuple[Any, ...]:
    """Matrices for three heads of which each column, in W_O each row, holds its own number times a factor."""
    wide = [factor * torch.arange(float(n)).expand(4, n).clone() for n in (6, 6, 9, 9)]
    return (*wide[:3], wide[3].T.contiguous(), 3, [0, 2])


def _alike(kept: Tensor) -> bool:
    return all(bool((row == kept[0]).all()) for row in kept)


def _listed(places: list[float]) -> str:
    return ", ".join(str(int(x)) for x in places)
