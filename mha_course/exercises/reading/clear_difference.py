"""What wrong differences between rows are: which mean, spread, limit or comparison was done otherwise."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_clear_difference import DIFFERENCE_MISTAKES, difference_with, spread
from mha_course.exercises.reading.asked_plainly import Question, asked_plainly, plain
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_MIDDLES = (
    rare("The worst seed of each is compared.", lambda x: x.amax(-1)),
    rare("The first seed of each is compared.", lambda x: x[..., 0]),
    rare("The last seed of each is compared.", lambda x: x[..., -1]),
    rare("Sums are compared, not means.", lambda x: x.sum(-1)),
    rare("The middle between best and worst is compared.", lambda x: (x.amax(-1) + x.amin(-1)) / 2),
    rare("Sums are divided by the number of seeds less one.", lambda x: x.sum(-1) / (x.shape[-1] - 1)),
    rare("The mean of a row goes over all rows.", lambda x: x.mean().expand(x.shape[:-1])),
    rare("Spreads are compared, not means.", lambda x: x.amax(-1) - x.amin(-1)),
)
_GAPS = (
    rare("The mean of the row is divided by that of plain heads.", lambda row, plain: row / plain),
    rare("The means are added.", lambda row, plain: row + plain),
    rare(
        "The mean over all rows is subtracted, not that of plain heads.", lambda row, plain: row - row.mean()
    ),
    rare("The best row's mean is subtracted, not that of plain heads.", lambda row, plain: row - row.min()),
    rare(
        "The first row's mean is subtracted, not that of plain heads.", lambda row, plain: row - row[..., :1]
    ),
    rare("The square of the difference is taken.", lambda row, plain: (row - plain) ** 2),
)
_SPREADS = (
    rare("The spread is a variance.", lambda x: x.var(-1)),
    rare("The spread is the standard deviation without the correction.", lambda x: x.std(-1, correction=0)),
    rare("The spread is the largest loss.", lambda x: x.amax(-1)),
    rare("The spread is the smallest loss.", lambda x: x.amin(-1)),
    rare("The spread is the largest minus the mean.", lambda x: x.amax(-1) - x.mean(-1)),
    rare("The spread is the mean minus the smallest.", lambda x: x.mean(-1) - x.amin(-1)),
    rare(
        "The spread is the mean distance from the mean.",
        lambda x: (x - x.mean(-1, keepdim=True)).abs().mean(-1),
    ),
    rare("The spread is the last seed minus the first.", lambda x: x[..., -1] - x[..., 0]),
    rare("The spread has the wrong sign: smallest minus largest.", lambda x: x.amin(-1) - x.amax(-1)),
    rare("The spread is the largest plus the smallest.", lambda x: x.amax(-1) + x.amin(-1)),
    rare("The spread is a standard error.", lambda x: x.std(-1) / x.shape[-1] ** 0.5),
    rare("The spread is twice the standard deviation.", lambda x: 2 * x.std(-1)),
)
_LIMITS = (
    rare("The spreads are multiplied.", lambda row, plain: row * plain),
    rare(
        "The spreads are added as squares, under a root (`hypot`).",
        lambda row, plain: (row**2 + plain**2).sqrt(),
    ),
    rare(
        "The larger spread of all rows counts, and not that of plain heads.",
        lambda r, p: r.max().expand_as(r),
    ),
    rare("The mean spread of all rows counts.", lambda row, plain: row.mean().expand_as(row)),
    rare("The difference of the spreads counts.", lambda row, plain: (row - plain).abs()),
)
_WIDENS = (
    rare("Twice the spread counts.", lambda limit: 2 * limit),
    rare("The spread is squared.", lambda limit: limit**2),
    rare("The limit is fixed, whatever the spreads: 0.01.", lambda limit: torch.full_like(limit, 0.01)),
    rare("The limit is fixed, whatever the spreads: 0.05.", lambda limit: torch.full_like(limit, 0.05)),
    rare("The limit is fixed, whatever the spreads: 0.1.", lambda limit: torch.full_like(limit, 0.1)),
    rare("The root of the spread counts.", lambda limit: limit.sqrt()),
)
_JUDGES = (
    rare("Rows that are worse become 0, however clear it is.", lambda gap, limit: gap * (gap <= -limit)),
    rare(
        "The limit stands where there is no clear difference.",
        lambda gap, limit: limit.where(gap.abs() < limit, gap),
    ),
    rare(
        "1 stands where there is no clear difference.",
        lambda gap, limit: torch.ones_like(gap).where(gap.abs() < limit, gap),
    ),
    rare(
        "Small differences are left out, so that rows are missing.",
        lambda gap, limit: gap[gap.abs() >= limit],
    ),
    rare("True and False come back.", lambda gap, limit: gap.abs() >= limit),
    rare(
        "1 comes back where the difference is clear, else 0.", lambda gap, limit: (gap.abs() >= limit).to(gap)
    ),
    rare("Differences are divided by the larger spread.", lambda gap, limit: gap / limit),
    rare("Differences are cut off at the spread.", lambda gap, limit: gap.clamp(-limit, limit)),
    rare("The spreads come back, not differences.", lambda gap, limit: limit),
    rare("The spread is subtracted from every difference.", lambda gap, limit: gap - limit),
    rare(
        "Everything is 0 unless all rows differ clearly.", lambda gap, limit: gap * (gap.abs() >= limit).all()
    ),
)
_WHOLES = (
    rare(
        "Means of rows come back where the difference is clear, else 0.", lambda x, p: _kept(x, p, x.mean(-1))
    ),
    rare("Largest losses go by rows, the smallest over all rows.", lambda x, p: _by_lowest(x, p)),
    rare("The difference is taken seed by seed.", lambda x, p: x - p.mean()),
    rare(
        "A row counts as soon as one of its seeds is clear of plain heads.", lambda x, p: _by_one_seed(x, p)
    ),
)


def _kept(losses: Tensor, plain_losses: Tensor, kept: Tensor) -> Tensor:
    limit = torch.maximum(spread(losses), spread(plain_losses))
    return kept * ((losses.mean(-1) - plain_losses.mean()).abs() >= limit)


def _by_lowest(losses: Tensor, plain_losses: Tensor) -> Tensor:
    gap, limit = losses.mean(-1) - plain_losses.mean(), losses.amax(-1) - losses.min()
    return gap * (gap.abs() >= torch.maximum(limit, spread(plain_losses)))


def _by_one_seed(losses: Tensor, plain_losses: Tensor) -> Tensor:
    outside = (losses > plain_losses.max()) | (losses < plain_losses.min())
    return (losses.mean(-1) - plain_losses.mean()) * outside.any(-1)


def _slot(name: str, look: str, ways: tuple[Way, ...]) -> Slot:
    return Slot(name, look, (*ways_of(DIFFERENCE_MISTAKES, name), *ways))


_RECIPE = Recipe(
    difference_with,
    (
        _slot("middle", "what stands for a row.", _MIDDLES),
        _slot("gap", "how the two means meet.", _GAPS),
        _slot("of_spread", "how a spread is computed.", _SPREADS),
        _slot("limit", "how the two spreads meet.", _LIMITS),
        _slot("widen", "what the difference is compared with.", _WIDENS),
        _slot("judge", "what is returned, and where it is 0.", _JUDGES),
        _slot("whole", "what decides whether a difference counts.", _WHOLES),
    ),
)


def _asked() -> tuple[Question, ...]:
    def asked(rows: list[list[float]], plain_losses: list[float], look: str) -> Question:
        shown = " and ".join(f"({', '.join(f'{x:g}' for x in row)})" for row in rows)
        listed = ", ".join(f"{x:g}" for x in plain_losses)
        return Question(
            f"With losses {shown}, and plain heads ({listed}),", (plain(rows), plain(plain_losses)), look
        )

    return (
        asked([[3, 3, 3]], [1, 1], "the difference of the means: nothing varies here."),
        asked([[1, 1, 1]], [3, 3], "its sign: below 0 where the row is better."),
        asked([[2, 4, 6]], [1, 1], "the row's spread, 4, beside a difference of 3."),
        asked([[2, 2, 2]], [0, 3], "the spread of plain heads, 3, beside a difference of 1/2."),
        asked([[2, 5, 8]], [0, 1], "the row's spread, 6, beside a difference of 4.5."),
        asked([[4, 4.5, 5]], [1, 3], "the larger spread, 2, beside a difference of 2.5."),
        asked([[4, 6]], [1, 2.5], "the larger spread, 2, not the sum of both, beside a difference of 3.25."),
        asked([[1, 3]], [4, 5], "a better row: -2.5 beside a spread of 2."),
        asked([[3, 4, 5]], [2.05, 2.05], "the row's spread, 2, beside a difference of 1.95."),
        asked([[6, 6, 6]], [1, 1, 4], "all seeds of plain heads: their spread is 3, their mean 2."),
        asked([[3, 3, 3], [2, 4, 6]], [1, 1], "each row by itself."),
    )


read_difference = (_RECIPE.read, asked_plainly(_asked))
