"""Which columns and which rows of a padded map wrong confidences count."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_confidence import first_places
from mha_course.exercises.reading.recipes import Way, rare


def _all(n: int, lengths: Tensor) -> Tensor:
    return torch.ones(len(lengths), n, dtype=torch.bool)


def _none(n: int, lengths: Tensor) -> Tensor:
    return torch.zeros(len(lengths), n, dtype=torch.bool)


def _end(n: int, lengths: Tensor) -> Tensor:
    return first_places(n, lengths) & ~first_places(n, lengths - 1)


def _only_first(n: int, lengths: Tensor) -> Tensor:
    return first_places(n, torch.ones_like(lengths))


def _longest(lengths: Tensor) -> Tensor:
    return torch.full_like(lengths, int(lengths.max()))


TARGETS = (
    rare("Only the end token is a target. It is the one that is none.", _end),
    rare(
        "The end token and the first token are both left out.",
        lambda n, x: first_places(n, x - 1) & ~_only_first(n, x),
    ),
    Way(
        "The end token is looked for at the end of the longest sentence, in every sentence.",
        lambda n, x: first_places(n, _longest(x) - 1),
    ),
    rare(
        "The end token is looked for where the first sentence ends, in every sentence.",
        lambda n, x: first_places(n, torch.full_like(x, int(x[0]) - 1)),
    ),
    rare("Only padding is a target.", lambda n, x: ~first_places(n, x)),
    rare("Only the end token and padding are targets.", lambda n, x: ~first_places(n, x - 1)),
    rare("Only the first token is a target.", _only_first),
    rare("No column is a target.", _none),
    rare(
        "Only what comes after the end token, and the place before it, are targets.",
        lambda n, x: ~first_places(n, x - 2) & ~_end(n, x),
    ),
    rare("Targets start at the length, less two.", lambda n, x: ~first_places(n, x - 2)),
    rare("Targets end where twice the length does.", lambda n, x: first_places(n, 2 * x - 1)),
    rare("Targets end at minus the length.", lambda n, x: first_places(n, -x)),
    rare("Each target is taken for the token before it.", lambda n, x: _end(n, x - 1)),
    rare(
        "The columns that count are those of another sentence.", lambda n, x: first_places(n, x.roll(1) - 1)
    ),
)
ROWS = (
    Way(
        "The last row is left out, and padding is averaged.",
        lambda n, x: first_places(n, torch.full_like(x, n - 1)),
    ),
    Way("The first row is left out.", lambda n, x: first_places(n, x) & ~_only_first(n, x)),
    rare("Two rows are left out at the end of each sentence.", lambda n, x: first_places(n, x - 2)),
    rare("All rows are averaged but the end token's.", lambda n, x: ~_end(n, x)),
    rare("Only the end token's row is there.", _end),
    rare("Only the first row is there.", _only_first),
    rare(
        "Rows of padding but the first are averaged, and nothing else.", lambda n, x: ~first_places(n, x + 1)
    ),
    rare("Rows of padding alone are averaged.", lambda n, x: ~first_places(n, x)),
    rare("Rows of padding and the end token's are averaged.", lambda n, x: ~first_places(n, x - 1)),
    rare(
        "The rows of the longest sentence count in every sentence.", lambda n, x: first_places(n, _longest(x))
    ),
    rare(
        "Only rows of the first sentence count.",
        lambda n, x: first_places(n, x) & (torch.arange(len(x)) < 1)[:, None],
    ),
    rare(
        "Only rows of the last sentence count.",
        lambda n, x: first_places(n, x) & (torch.arange(len(x)) == len(x) - 1)[:, None],
    ),
    rare("The rows that count are those of another sentence.", lambda n, x: first_places(n, x.roll(1))),
    rare("It is only the row at minus the length.", lambda n, x: torch.arange(n) == -x[:, None]),
)
