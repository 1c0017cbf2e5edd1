"""The exercise of lesson 15 on reading a leaderboard: differences beside the spread over seeds."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_clear_difference import DIFFERENCE_MISTAKES
from mha_course.exercises.reading.clear_difference import read_difference


def clear_difference(losses: Tensor, plain: Tensor) -> Tensor:
    """Each row's mean loss minus that of plain heads, 0 where the spread over seeds is larger: (rows,)."""
    gap = losses.mean(dim=1) - plain.mean()
    spread = losses.amax(dim=1) - losses.amin(dim=1)
    # The less certain one of the two decides how far apart is far enough.
    limit = torch.maximum(spread, plain.amax() - plain.amin())
    return torch.where(gap.abs() < limit, 0.0, gap)


def drawn_losses(
    g: Generator, rows: int, seeds: int, plain_seeds: int, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor]:
    """Losses of rows that vary much and little, and lie clearly and unclearly apart from plain heads."""
    plain = 1.5 + 0.15 * draw(g, plain_seeds, dtype=torch.float64)
    varies = plain.max() - plain.min()
    row = torch.arange(rows)
    # By turns wider and narrower than plain heads, so that either spread can be the larger one.
    first = int(torch.randint(3, (), generator=g))
    wide = varies * torch.tensor([1.3, 0.4, 0.6]).double()[(row + first) % 3]
    noise = draw(g, rows, seeds, dtype=torch.float64)
    noise = (noise - noise.mean(1, keepdim=True)) / (noise.amax(1) - noise.amin(1))[:, None] * wide[:, None]
    # From next to no difference to a clear one, on both sides, so that every rule draws its line elsewhere.
    apart = 2.37 * (row + 0.5) / rows * (1 - 2 * (row // 3 % 2)) * wide.clamp_min(float(varies))
    order = torch.randperm(rows, generator=g)
    losses = (noise + (plain.mean() + apart)[:, None])[order]
    return losses.to(dtype), plain.to(dtype)


def _inputs(g: Generator) -> list[Case]:
    def case(label: str, rows: int, seeds: int, plain_seeds: int, **options: object) -> Case:
        given = drawn_losses(g, rows, seeds, plain_seeds, options.pop("dtype", torch.float32))
        return Case(label, given, {"rows": rows, "seeds": seeds, "plain_seeds": plain_seeds}, **options)

    return [
        case("with three seeds a row", 36, 3, 4),
        case("with five seeds a row", 40, 5, 3),
        case("with more seeds of plain heads", 34, 4, 7),
        case("in float64", 9, 4, 5, dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="clear_difference",
        lesson="15",
        title="No difference",
        prompt=(
            "Read a leaderboard fairly. `losses` is `(rows, seeds)`, the held-out losses of several "
            "variants; `plain` is `(plain_seeds,)`, those of plain heads. The spread of a row is its largest "
            "loss minus its smallest. Return for each row its mean minus the mean of plain heads, `(rows,)`, "
            "but 0 where that difference, without its sign, is smaller than the larger one of the two "
            "spreads, the row's and that of plain heads."
        ),
        signature="clear_difference(losses, plain) -> differences",
        reference=clear_difference,
        inputs=_inputs,
        returns=(Returned("differences", ("rows",)),),
        mistakes=DIFFERENCE_MISTAKES,
        hints=(
            "Three numbers for each row: how far the means lie apart, and two spreads. Which spread counts?",
            "A difference can be negative. What does that do to a comparison with a spread?",
            (
                "gap = means of the rows minus the mean of plain heads: (rows,)\n"
                "limit = for each row, the larger one of its spread and that of plain heads\n"
                "0 where the gap, without its sign, is below the limit; else the gap"
            ),
        ),
        why=(
            "The same layer with another seed moves by as much as its spread. A smaller difference may be "
            "luck, and a table that prints it as a result invites to believe it."
        ),
        learns_through=False,
        readers=read_difference,
    ),
)
