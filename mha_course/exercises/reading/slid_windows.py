"""Windows that were slid along the features with other zeros, another width or another step."""

from __future__ import annotations

import itertools
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding

# Zeros in front of the features and behind them, in overlaps.
_ZEROS = {
    (1, 1): "",
    (0, 0): "There are no zeros in front of the features and behind them.",
    (2, 2): "On either side of the features there are 2 * overlap zeros.",
    (2, 0): "All zeros stand in front of the features.",
    (0, 2): "All zeros stand behind the features.",
    (1, 0): "There are zeros in front of the features, and none behind.",
    (0, 1): "There are zeros behind the features, and none in front.",
}
# How wide a window is, and how far one is from the next: in widths of a head, overlaps, heads, and ones.
_LENGTHS = {
    (1, 2, 0, 0): "d_model / h + 2 * overlap",
    (1, 0, 0, 0): "d_model / h",
    (1, 1, 0, 0): "d_model / h + overlap",
    (0, 0, 1, 0): "h",
    (0, 2, 1, 0): "h + 2 * overlap",
    (0, 1, 0, 0): "overlap",
    (0, 2, 0, 0): "2 * overlap",
    (0, 2, 0, 1): "2 * overlap + 1",
    (1, -1, 0, 0): "d_model / h - overlap",
    (1, -2, 0, 0): "d_model / h - 2 * overlap",
    (0, 0, 0, 1): "one feature",
}
_WIDTH, _STEP = (1, 2, 0, 0), (1, 0, 0, 0)


def read_slid(evidence: Evidence, i: int) -> Finding | None:
    """Which of zeros, width and step is another one, where windows were slid as `unfold` does it."""
    out, wanted = evidence.got[i], evidence.expected[i].leaves[0]
    if len(out.leaves) != 1 or out.leaves[0].ndim != 4:
        return None
    ways = itertools.product(_ZEROS, _LENGTHS, _LENGTHS, (False, True), (False, True))
    others = [k for k, case in enumerate(evidence.cases) if evidence.counts[k] and not case.edge]
    # The fewest differences first: of several ways that give the same, the plainest is told.
    for zeros, width, step, tokens, behind in sorted(ways, key=_faults):
        given = zeros, width, step, tokens, behind
        if _gives(evidence, i, *given) and all(_gives(evidence, k, *given) for k in others):
            count = out.leaves[0].shape[2 if behind else 1]
            return _told(*given, count, wanted.shape[1])
    return None


def _faults(way: tuple[Any, ...]) -> int:
    zeros, width, step, tokens, behind = way
    return (zeros != (1, 1)) + (width != _WIDTH) + (step != _STEP) + tokens + behind


def _gives(evidence: Evidence, i: int, zeros: Any, width: Any, step: Any, tokens: bool, behind: bool) -> bool:
    """Whether windows slid in this way are what the answer gave in case i."""
    x, h, overlap = evidence.cases[i].arguments
    leaves = evidence.got[i].leaves
    units = x.shape[-1] // h, overlap, h, 1
    wide, far = (sum(a * b for a, b in zip(length, units, strict=True)) for length in (width, step))
    front, back = (overlap * side for side in zeros)
    around = x.shape[-1] + (0 if tokens else front + back)
    if evidence.got[i].error is not None:
        # `unfold` stops where a window is wider than all there is, and without a step.
        return far < 1 or not 1 <= wide <= around
    if len(leaves) != 1 or far < 1 or not 1 <= wide <= around:
        return False
    heads, n = (around - wide) // far + 1, x.shape[1] + (front + back if tokens else 0)
    shape = (len(x), n, heads, wide) if behind else (len(x), heads, n, wide)
    if leaves[0].shape != shape:
        return False
    padded: Tensor = F.pad(x, (0, 0, front, back) if tokens else (front, back))
    windows = padded.unfold(-1, wide, far)
    return bool((windows if behind else windows.transpose(1, 2)).eq(leaves[0]).all())


def _told(zeros: Any, width: Any, step: Any, tokens: bool, behind: bool, count: int, h: int) -> Finding:
    said, look = [], []
    if tokens:
        said.append("The zeros stand around the tokens, not around the features.")
        look.append("the axis to which zeros are added.")
    elif _ZEROS[zeros]:
        said.append(_ZEROS[zeros])
        look.append("what stands where there is no neighbour.")
    if width != _WIDTH:
        wide = _LENGTHS[width] + ("" if width == (0, 0, 0, 1) else " features")
        said.append(f"Windows are {wide} wide.")
        look.append("how far a window reaches.")
    if step != _STEP:
        apart = "as far apart as they are wide: they don't overlap" if step == width else ""
        said.append(f"Windows are {apart or _LENGTHS[step] + ' apart'}.")
        look.append("the step from one window to the next.")
    if behind:
        said.append("Windows stand behind tokens.")
        look.append("the order of the axes.")
    if count != h:
        said.append(f"So there are {count} of them in place of {h}.")
    return Finding("slid-otherwise", " ".join(said), look=" And: ".join(look))
