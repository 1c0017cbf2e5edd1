"""Known mistakes of `head_confidence`: the end token, padding, the axis of the maximum, and the mean."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def first_places(n: int, counts: Tensor) -> Tensor:
    """True at the first so many of n places: (b,) -> (b, n)."""
    return torch.arange(n) < counts[:, None]


def over_all_rows(largest: Tensor, rows: Tensor) -> Tensor:
    """The mean over the rows that count, of all sentences: (b, h, n), (b, n) -> (h,)."""
    return (largest * rows[:, None]).sum((0, 2)) / rows.sum()


def confidence_with(
    weights: Tensor,
    lengths: Tensor,
    *,
    maps: Step = lambda w: w,
    targets: Step = lambda n, lengths: first_places(n, lengths - 1),
    rows: Step = first_places,
    hide: Step = lambda w, targets: w.masked_fill(~targets[:, None, None], 0.0),
    pick: Step = lambda w: w.amax(-1),
    average: Step = over_all_rows,
    finish: Step = lambda confidence: confidence,
) -> Tensor:
    """The mean largest weight of a row with the steps given; right without any: (h,)."""
    n = weights.shape[-1]
    w = hide(maps(weights), targets(n, lengths))
    return finish(average(pick(w), rows(n, lengths)))


def _over_all_places(largest: Tensor, rows: Tensor) -> Tensor:
    return (largest * rows[:, None]).sum((0, 2)) / rows.numel()


def _of_sentences(largest: Tensor, rows: Tensor) -> Tensor:
    return ((largest * rows[:, None]).sum(2) / rows.sum(1)[:, None]).mean(0)


def rescaled(w: Tensor, targets: Tensor) -> Tensor:
    """Rows sum to 1 again without the end token."""
    kept = w * targets[:, None, None]
    return kept / kept.sum(-1, keepdim=True).clamp(min=1e-12)


def without_end_looks(w: Tensor, targets: Tensor) -> Tensor:
    """NaN in the rows whose largest weight is no target."""
    hits = targets[:, None, None].expand_as(w).gather(-1, w.argmax(-1, keepdim=True))
    return w.where(hits, float("nan"))


def _over_known_rows(largest: Tensor, rows: Tensor) -> Tensor:
    live = rows[:, None] & ~largest.isnan()
    return (largest.nan_to_num() * live).sum((0, 2)) / live.sum((0, 2))


_with = partial(Otherwise, confidence_with)

CONFIDENCE_MISTAKES = (
    Mistake(
        "end-is-a-target",
        _with(targets=first_places),
        "The end token counts as a target. Heads park weight there, and then seem sure of something.",
        "which columns the largest weight may lie in.",
    ),
    Mistake(
        "end-has-no-row",
        _with(rows=lambda n, lengths: first_places(n, lengths - 1)),
        "The end token's row is left out as well. It is no target, but a token that looks at others.",
        "which rows are averaged.",
    ),
    Mistake(
        "row-for-column",
        _with(targets=first_places, rows=lambda n, lengths: first_places(n, lengths - 1)),
        "The end token's row is left out, and its column counts. It is the other way round.",
        "rows are axis 2 of the maps, columns axis 3.",
    ),
    Mistake(
        "padding-averaged",
        _with(rows=lambda n, lengths: torch.ones(len(lengths), n, dtype=torch.bool)),
        "Rows of padding are averaged as well. Nobody reads them.",
        "which rows are averaged.",
    ),
    Mistake(
        "divided-by-all-rows",
        _with(average=_over_all_places),
        "Rows of padding add nothing to the sum, but they are counted: it is divided by all b · n rows.",
        "what the sum is divided by.",
    ),
    Mistake(
        "sentences-averaged",
        _with(average=_of_sentences),
        "The means of the sentences are averaged. Then a row of a short sentence counts more than others.",
        "one mean over all rows, or a mean of means.",
    ),
    Mistake(
        "rows-added-up",
        _with(average=lambda largest, rows: (largest * rows[:, None]).sum((0, 2))),
        "The largest weights are added up. Their mean is asked for.",
        "`sum` and `mean`.",
    ),
    Mistake(
        "rescaled",
        _with(hide=rescaled),
        "Without the end token the weights of a row are made to sum to 1 again. They stay as they are.",
        "a division by a sum.",
    ),
    Mistake(
        "looks-at-the-end-left-out",
        _with(hide=without_end_looks, average=_over_known_rows),
        "Rows whose largest weight is on the end token are left out. They count, with the largest of the "
        "others.",
        "which rows are averaged, and what is looked for in them.",
    ),
    Mistake(
        "last-column",
        _with(targets=lambda n, lengths: first_places(n, torch.full_like(lengths, n - 1))),
        "The last column is left out in every sentence. The end token stands at the end of its own sentence.",
        "`lengths`, and which columns are hidden.",
    ),
    Mistake(
        "first-column",
        _with(
            targets=lambda n, lengths: first_places(n, lengths) & ~first_places(n, torch.ones_like(lengths))
        ),
        "The first token is left out as a target. It is the last one that is the end token.",
        "which columns are hidden.",
    ),
    Mistake(
        "one-too-many-hidden",
        _with(targets=lambda n, lengths: first_places(n, lengths - 2)),
        "The token before the end token is hidden, too.",
        "where the columns that count end.",
    ),
    Mistake(
        "one-row-too-many",
        _with(rows=lambda n, lengths: first_places(n, lengths + 1)),
        "The first row of padding is averaged as well.",
        "`<` and `<=`.",
    ),
    Mistake(
        "along-the-columns",
        _with(pick=lambda w: w.amax(-2)),
        "This takes the largest weight of each column. A head is sure where one weight of a row is large.",
        "the axis of the maximum.",
    ),
    Mistake(
        "maps-averaged-first",
        _with(maps=lambda w: w.mean(0, keepdim=True).expand_as(w)),
        "The maps of all sentences are averaged first. Rows of different sentences have nothing in common.",
        "the order of mean and maximum.",
    ),
    Mistake(
        "heads-averaged",
        _with(finish=lambda confidence: confidence.mean()),
        "All heads are averaged. Each one has its own number.",
        "the last mean.",
    ),
)
