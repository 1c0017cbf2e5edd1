"""What a wrong position encoding does: by which angle each pair turns from one position to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, close
from mha_course.positions import angular_frequencies

_LOOK = "how the frequency of a pair is made."


def read_encoding(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """A reading of position vectors from their first two rows; None where they say nothing."""
    n, d_model = evidence.cases[i].arguments
    got = evidence.got[i].leaves
    if len(got) != 1 or got[0].shape != (n, d_model) or n < 2 or not bool(got[0].isfinite().all()):
        return None
    if close(got[0].flip(0), evidence.expected[i].leaves[0]):
        return None  # in reversed order, which is told elsewhere
    rows = got[0].double().view(n, d_model // 2, 2)
    on_circle = (rows.square().sum(-1) - 1).abs().amax(0) < 1e-3
    if not bool(on_circle.all()):
        return _off_the_circle(rows, on_circle)
    frequencies = angular_frequencies(d_model)
    if _turned_by(rows[1], 1 / frequencies):
        says = "Frequencies rise from pair to pair. They should fall."
        return Finding("rising-frequencies", says, look="the sign of the exponent.")
    first = torch.atan2(rows[0, :, 0], rows[0, :, 1])
    if float(first.abs().max()) > 1e-3:
        j = int((first.abs() > 1e-3).nonzero()[0])
        says = f"At position 0 every angle is 0; that of pair {j} is {float(first[j]):.4g}."
        return Finding("starts-elsewhere", says, look="the first position, and what is added to angles.")
    step = torch.atan2(rows[1, :, 0], rows[1, :, 1])
    wrong = ((step - frequencies).abs() > 1e-3 * frequencies).nonzero().flatten().tolist()
    if not wrong:
        return None
    j = wrong[0]
    says = (
        f"From one position to the next, pair {j} (columns {2 * j} and {2 * j + 1}) turns by "
        f"{float(step[j]):.4g}; its frequency should be {float(frequencies[j]):.4g}."
    )
    return Finding("wrong-frequency", says, look=_LOOK)


def _turned_by(row: Tensor, angle: Tensor) -> bool:
    """Whether the pairs stand at these angles; generously, since large angles leave float32 few digits."""
    return torch.allclose(row, torch.stack([angle.sin(), angle.cos()], -1), atol=0.02)


def _off_the_circle(rows: Tensor, on_circle: Tensor) -> Finding | None:
    if not bool(rows.any()):
        return None
    lengths = rows.norm(dim=-1)
    if float((lengths - lengths[0, 0]).abs().max()) < 1e-3:
        return None  # one factor for all, which is told elsewhere
    j = int((~on_circle).nonzero()[0])
    says = (
        f"Columns {2 * j} and {2 * j + 1} are no sine and cosine of the same angle: their squares don't add "
        "up to 1."
    )
    return Finding("not-a-pair", says, look="which angle goes into which column.")
