"""Known mistakes of `clear_difference`: the means, the spreads, which limit counts, what is set to 0."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def spread(losses: Tensor) -> Tensor:
    """The largest loss minus the smallest, over seeds."""
    return losses.amax(-1) - losses.amin(-1)


def _zero_below(gap: Tensor, limit: Tensor) -> Tensor:
    return torch.where(gap.abs() < limit, torch.zeros_like(gap), gap)


def difference_with(
    losses: Tensor,
    plain: Tensor,
    *,
    middle: Step = lambda losses: losses.mean(-1),
    gap: Step = lambda row, plain: row - plain,
    of_spread: Step = spread,
    limit: Step = torch.maximum,
    widen: Step = lambda limit: limit,
    judge: Step = _zero_below,
    whole: Step | None = None,
) -> Tensor:
    """The differences with the steps given; right without any: (rows,)."""
    if whole is not None:
        return whole(losses, plain)
    limits = widen(limit(of_spread(losses), of_spread(plain)))
    return judge(gap(middle(losses), middle(plain)), limits)


def _overlapping(losses: Tensor, plain: Tensor) -> Tensor:
    apart = (losses.amin(-1) > plain.max()) | (losses.amax(-1) < plain.min())
    return torch.where(apart, losses.mean(-1) - plain.mean(), 0.0)


def _by_all(losses: Tensor, plain: Tensor) -> Tensor:
    limit = torch.maximum(losses.max() - losses.min(), spread(plain))
    return _zero_below(losses.mean(-1) - plain.mean(), limit)


def _by_widest(losses: Tensor, plain: Tensor) -> Tensor:
    limit = torch.maximum(spread(losses).max(), spread(plain))
    return _zero_below(losses.mean(-1) - plain.mean(), limit)


_with = partial(Otherwise, difference_with)

DIFFERENCE_MISTAKES = (
    Mistake(
        "sign-turned",
        _with(gap=lambda row, plain: plain - row),
        "The difference is turned round: asked for is the row's mean minus that of plain heads, which is "
        "negative where the row is better.",
        "the order of the two means.",
    ),
    Mistake(
        "smaller-spread",
        _with(limit=torch.minimum),
        "The smaller one of the two spreads counts. The larger one does: two rows are told apart no better "
        "than the less certain one is known.",
        "which of the two spreads is taken.",
    ),
    Mistake(
        "own-spread-alone",
        _with(limit=lambda row, plain: row),
        "Only the row's own spread counts. Plain heads vary from seed to seed as well.",
        "where the spread of `plain` is used.",
    ),
    Mistake(
        "plain-spread-alone",
        _with(limit=lambda row, plain: plain.expand_as(row)),
        "Only the spread of plain heads counts. The row varies from seed to seed as well.",
        "where the spread of the row is used.",
    ),
    Mistake(
        "spreads-added",
        _with(limit=lambda row, plain: row + plain),
        "The two spreads are added. The larger one is asked for.",
        "how the two spreads meet.",
    ),
    Mistake(
        "spreads-averaged",
        _with(limit=lambda row, plain: (row + plain) / 2),
        "The two spreads are averaged. The larger one is asked for.",
        "how the two spreads meet.",
    ),
    Mistake(
        "standard-deviation",
        _with(of_spread=lambda losses: losses.std(-1)),
        "The spread is a standard deviation. Asked for is the largest loss minus the smallest.",
        "how a spread is computed.",
    ),
    Mistake(
        "half-the-spread",
        _with(widen=lambda limit: limit / 2),
        "Half of the spread counts. The whole one is asked for.",
        "what the difference is compared with.",
    ),
    Mistake(
        "better-rows-lost",
        _with(judge=lambda gap, limit: torch.where(gap < limit, torch.zeros_like(gap), gap)),
        "The difference is compared with its sign: a negative one is smaller than any spread, so that rows "
        "that are better become 0.",
        "what stands on the left of `<`.",
    ),
    Mistake(
        "turned-round",
        _with(judge=lambda gap, limit: torch.where(gap.abs() < limit, gap, torch.zeros_like(gap))),
        "The clear differences become 0, and the others stay: the comparison is turned round.",
        "the direction of the comparison, and the order in `where`.",
    ),
    Mistake(
        "nothing-set-to-0",
        _with(judge=lambda gap, limit: gap),
        "No difference is set to 0, however small it is beside the spread.",
        "what is done with the spread.",
    ),
    Mistake(
        "signs-alone",
        _with(judge=lambda gap, limit: gap.sign() * (gap.abs() >= limit)),
        "What comes back says which row is better, as -1, 0 and 1. Asked for is the difference itself.",
        "what is returned where the difference is clear.",
    ),
    Mistake(
        "without-sign",
        _with(judge=lambda gap, limit: _zero_below(gap, limit).abs()),
        "The difference has lost its sign: better and worse look alike.",
        "where the sign is taken away.",
    ),
    Mistake(
        "limit-subtracted",
        _with(judge=lambda gap, limit: gap.sign() * (gap.abs() - limit).clamp_min(0)),
        "The spread is subtracted from the difference. It only decides whether the difference counts.",
        "what is returned where the difference is clear.",
    ),
    Mistake(
        "nan-for-0",
        _with(judge=lambda gap, limit: gap.masked_fill(gap.abs() < limit, float("nan"))),
        "NaN stands where there is no clear difference. It should be 0.",
        "what is put in the place of small differences.",
    ),
    Mistake(
        "best-seeds",
        _with(middle=lambda losses: losses.amin(-1)),
        "The best seed of each is compared. That rewards rows that vary much; the means are asked for.",
        "what stands for a row.",
    ),
    Mistake(
        "medians",
        _with(middle=lambda losses: losses.median(-1).values),
        "Medians are compared. The means are asked for.",
        "what stands for a row.",
    ),
    Mistake(
        "row-means",
        _with(gap=lambda row, plain: row),
        "The rows' means come back. The mean of plain heads should be subtracted.",
        "where the mean of `plain` is used.",
    ),
    Mistake(
        "in-shares",
        _with(judge=lambda gap, limit: _zero_below(gap, limit), gap=lambda row, plain: (row - plain) / plain),
        "The difference is divided by the mean of plain heads. The difference itself is asked for.",
        "divisions.",
    ),
    Mistake(
        "ranges-overlap",
        _with(whole=_overlapping),
        "A difference counts where no seed of the row lies among those of plain heads. Asked for is another "
        "rule: the means lie at least the larger spread apart.",
        "what decides whether a difference counts.",
    ),
    Mistake(
        "spread-of-all-rows",
        _with(whole=_by_all),
        "The spread is taken over all rows together. Each row has its own.",
        "the axis along which largest and smallest are looked for.",
    ),
    Mistake(
        "widest-row-for-all",
        _with(whole=_by_widest),
        "All rows are measured by the widest spread of any. Each row has its own.",
        "what the maximum goes over.",
    ),
    Mistake(
        "over-rows",
        _with(
            whole=lambda losses, plain: _zero_below(
                losses.mean(0) - plain.mean(), torch.maximum(spread(losses.T), spread(plain))
            )
        ),
        "Means and spreads go over the rows, so that one number for each seed comes out. They go over seeds.",
        "the axis of mean, largest and smallest.",
    ),
)
