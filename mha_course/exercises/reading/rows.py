"""Reading weights row by row: something added to them, and sums that are not 1."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.reading.weights import Reading, near


def mixed_rows(weights: Tensor, have: Tensor, opened: Tensor) -> Reading | None:
    """Right weights with something added to each, or mixed with equal ones."""
    extra = torch.where(opened, have - weights, torch.nan)
    row = extra.nanmean(-1, keepdim=True)
    if bool((extra - row).abs().nan_to_num(0.0).max() > 2e-5) or bool(row.abs().max() < 1e-4):
        x, y = weights[opened], have[opened]
        slope = float(
            ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum().clamp_min(1e-12)
        )
        level = float(y.mean() - slope * x.mean())
        if (
            0.01 < slope < 0.999
            and level > 1e-4
            and torch.allclose(slope * x + level, y, rtol=1e-3, atol=1e-5)
        ):
            says = (
                f"The weights are mixed with equal ones: {slope:.3g} times the right one, plus {level:.3g}."
            )
            return Reading("weights-mixed", says, "what is added to the weights.")
        return _row_by_row(weights, have, opened)
    if float(row.max() - row.min()) < 2e-5:
        says = f"To every weight {float(row.mean()):.3g} is added, so that rows don't sum to 1."
    else:
        says = "To all weights of a row the same number is added, another one for each row."
    return Reading("added-to-weights", says, "what is added to the weights, or to what they are made of.")


def _row_by_row(weights: Tensor, have: Tensor, opened: Tensor) -> Reading | None:
    """Rows that are a mix of the right one and equal weights, in another measure each."""
    if not bool(opened.all()) or weights.shape[-1] < 4:
        return None
    x, y = weights - weights.mean(-1, keepdim=True), have - have.mean(-1, keepdim=True)
    slope = (x * y).sum(-1, keepdim=True) / (x * x).sum(-1, keepdim=True).clamp_min(1e-12)
    sums = have.sum(-1)
    if not near(slope * x, y) or bool((slope > 0.9995).any()) or not near(sums, torch.ones_like(sums)):
        return None
    says = (
        "Every row is the right one mixed with equal weights, as when a number is added to each exponential "
    )
    says += "before the division."
    return Reading("weights-mixed", says, "what is added before the division.")


def row_sums(scores: Tensor, have: Tensor) -> Reading | None:
    """Rows that are right up to a factor of their own."""
    sums = have.sum(-1)
    if near(sums, torch.ones_like(sums)):
        return None
    look = "the divisor of each row."
    raw, shifted = scores.exp().sum(-1), (scores - scores.amax(-1, keepdim=True)).exp().sum(-1)
    for total in (shifted, raw):
        extra = total / sums - total
        if float(extra.max() - extra.min()) < 5e-3 * float(extra.abs().max()) + 1e-6:
            more = float(extra.mean())
            says = f"To the sum that divides each row {more:.3g} is added: rows sum to less than 1."
            return Reading("rows-do-not-sum-to-one", says, look)
        running = total / sums
        if near(running, total.cumsum(-1)):
            says = "The sum that divides goes on from row to row: it isn't begun anew for each."
            return Reading("rows-do-not-sum-to-one", says, look)
        for which, words in ((0, "first"), (-1, "last")):
            if near(total / sums, total[..., which : which + 1 or None].expand_as(total)):
                says = f"All rows are divided by the sum of the {words} one."
                return Reading("rows-do-not-sum-to-one", says, look)
    if float(sums.max() - sums.min()) < 1e-3:
        first = float(sums.flatten()[0])
        says = f"The rows sum to {first:.4g}, not to 1; within a row the proportions are right."
    else:
        says = "Within a row the proportions are right, but not their sums: "
        says += f"one sums to {float(sums.min()):.3g}, one to {float(sums.max()):.3g}."
    return Reading("rows-do-not-sum-to-one", says, look)
