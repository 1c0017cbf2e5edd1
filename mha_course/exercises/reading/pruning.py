"""What wrong prunings hold: heads counted otherwise, and what is cut out of each of the four matrices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_pruning import (
    PRUNING_MISTAKES,
    blocks,
    columns_of,
    dealt,
    each_way,
    pruning_with,
    rows_of,
    untouched,
)
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

Cut = Callable[[Tensor, int, Sequence[int]], Tensor]

_HEADS = (
    Way(
        "These are the heads after those in `kept`, which counts from `0`.",
        lambda kept, h: [(i + 1) % h for i in kept],
    ),
    Way("Only the first head of `kept` is there.", lambda kept, h: kept[:1]),
    Way("Only the last head of `kept` is there.", lambda kept, h: kept[-1:]),
    Way("The first head of `kept` is left out.", lambda kept, h: kept[1:]),
    Way("The last head of `kept` is left out.", lambda kept, h: kept[:-1]),
    Way(
        "All heads from the first to the last of `kept` are there.",
        lambda kept, h: list(range(kept[0], kept[-1] + 1)),
    ),
    Way(
        "The last heads are kept, as many as there are in `kept`.",
        lambda kept, h: list(range(h - len(kept), h)),
    ),
    Way("Heads are counted from the end.", lambda kept, h: [h - 1 - i for i in kept]),
    rare("The heads of `kept` come in reverse order in all four.", lambda kept, h: list(reversed(kept))),
    rare("Every head is kept.", lambda kept, h: list(range(h))),
    rare("No head is kept.", lambda kept, h: []),
)


def _dealt(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    return w[:, dealt(w.shape[1], h, kept)]


def _silent(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    made = torch.zeros_like(w)
    places = blocks(w.shape[1], h, kept)
    made[:, places] = w[:, places]
    return made


def _first(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    return columns_of(w, h, range(len(kept)))


def _others(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    return columns_of(w, h, [i for i in range(h) if i not in kept])


def _single(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    return w[:, list(kept)]


def _alternate(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    return w[:, blocks(w.shape[1], h, kept)].unflatten(1, (len(kept), -1)).transpose(1, 2).flatten(1)


def _merged(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    return w.unflatten(1, (h, -1))[:, list(kept)].mean(1)


def _stack(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    return w.unflatten(1, (h, -1))[:, list(kept)]


def _by_columns(name: str) -> tuple[Way, ...]:
    return (
        rare(f"{name}'s columns are dealt out, as if the first of every head came first.", _dealt),
        rare(f"In {name} the heads that go are set to 0, and stay.", _silent),
        rare(f"Of {name} the first heads are kept, as many as there are in `kept`.", _first),
        rare(f"Of {name} the heads are kept that should go.", _others),
        rare(f"Of {name} one column a head is kept.", _single),
        rare(f"The columns of the heads alternate in {name}. A head's stand together.", _alternate),
        rare(f"{name} keeps an axis for heads. Two axes are wanted, the heads side by side.", _stack),
        rare(f"The heads of {name} are averaged.", _merged),
        rare(f"{name} is transposed.", lambda w, h, kept: columns_of(w, h, kept).T),
        rare(f"{name} is all 0.", lambda w, h, kept: columns_of(w, h, kept) * 0),
        rare(
            f"In {name} the heads stand in reverse order.",
            lambda w, h, kept: columns_of(w, h, list(reversed(kept))),
        ),
        rare(f"Of {name} rows are taken. A head owns columns of it.", rows_of),
        rare(f"In {name} signs are turned round.", lambda w, h, kept: -columns_of(w, h, kept)),
        rare(
            f"{name} is multiplied by the share of heads that stay.",
            lambda w, h, kept: columns_of(w, h, kept) * len(kept) / h,
        ),
        rare(
            f"{name} is multiplied by h over the number of heads that stay.",
            lambda w, h, kept: columns_of(w, h, kept) * h / len(kept),
        ),
    )


def _rows_silent(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    return _silent(w.T, h, kept).T


_FUSES = (
    rare("In W_O the heads that go are set to 0, and stay.", _rows_silent),
    rare(
        "Of W_O the first heads are kept, as many as there are in `kept`.",
        lambda w, h, kept: _first(w.T, h, kept).T,
    ),
    rare("Of W_O the heads are kept that should go.", lambda w, h, kept: _others(w.T, h, kept).T),
    rare("Of W_O one row a head is kept.", lambda w, h, kept: w[list(kept)]),
    rare(
        "The rows of the heads alternate in W_O. A head's stand together.",
        lambda w, h, kept: _alternate(w.T, h, kept).T,
    ),
    rare("W_O is transposed.", lambda w, h, kept: rows_of(w, h, kept).T),
    rare("W_O is all 0.", lambda w, h, kept: rows_of(w, h, kept) * 0),
    rare(
        "W_O keeps an axis for heads. Two axes are wanted, the heads one below the other.",
        lambda w, h, kept: w.unflatten(0, (h, -1))[list(kept)],
    ),
    rare(
        "W_O is multiplied by the share of heads that stay.",
        lambda w, h, kept: rows_of(w, h, kept) * len(kept) / h,
    ),
    rare(
        "W_O is divided by the number of heads that stay.", lambda w, h, kept: rows_of(w, h, kept) / len(kept)
    ),
    rare("In W_O signs are turned round.", lambda w, h, kept: -rows_of(w, h, kept)),
    rare("The heads of W_O are averaged.", lambda w, h, kept: w.unflatten(0, (h, -1))[list(kept)].mean(0)),
    rare(
        "W_O's rows are those of the heads after.",
        lambda w, h, kept: rows_of(w, h, [(i + 1) % h for i in kept]),
    ),
    rare(
        "W_O's rows are those of the heads before.", lambda w, h, kept: rows_of(w, h, [i - 1 for i in kept])
    ),
)


def _all_three(step: Cut) -> Callable[..., tuple[Tensor, ...]]:
    """The three matrices in front of attention by this step, W_O as it should be."""
    return functools.partial(pruning_with, **each_way(step))


def _alike(step: Cut) -> Callable[..., tuple[Tensor, ...]]:
    """All four by this step; W_O by its rows."""
    return functools.partial(pruning_with, **each_way(step), fuse=lambda w, h, kept: step(w.T, h, kept).T)


_WHOLES = (
    rare(
        "Columns of W_Q, W_K and W_V are dealt out, as if the first of every head came first.",
        _all_three(_dealt),
    ),
    rare("In W_Q, W_K and W_V the heads that go are set to 0, and stay.", _all_three(_silent)),
    rare("W_Q, W_K and W_V keep all their columns.", _all_three(untouched)),
    rare("Of W_Q, W_K and W_V one column a head is kept.", _all_three(_single)),
    rare(
        "In W_Q, W_K and W_V the columns of the heads alternate. A head's stand together.",
        _all_three(_alternate),
    ),
    rare("In all four the features of the heads alternate. A head's stand together.", _alike(_alternate)),
    rare("The heads are averaged in all four. They stand side by side.", _alike(_merged)),
    rare(
        "W_Q, W_K and W_V keep an axis for heads. Two axes are wanted, the heads side by side.",
        _all_three(_stack),
    ),
    rare("The heads are averaged in W_Q, W_K and W_V.", _all_three(_merged)),
    rare("Nothing is cut: these are the four as they came.", lambda q, k, v, o, h, kept: (q, k, v, o)),
    rare(
        "W_Q and W_K are cut; W_V and W_O keep everything.",
        functools.partial(pruning_with, value=untouched, fuse=untouched),
    ),
    rare(
        "Heads are cut out of rows in all four; a head owns columns of the first three.",
        lambda q, k, v, o, h, kept: tuple(rows_of(w, h, kept) for w in (q, k, v, o)),
    ),
    rare(
        "Of all four columns are taken; of W_O a head owns rows.",
        functools.partial(pruning_with, fuse=columns_of),
    ),
)


def _swap(*order: int) -> Callable[..., tuple[Tensor, ...]]:
    return lambda q, k, v, o: tuple((q, k, v, o)[i] for i in order)


_FINISHES = (
    rare("W_Q is returned for W_K as well.", _swap(0, 0, 2, 3)),
    rare("W_K is returned for W_Q as well.", _swap(1, 1, 2, 3)),
    rare(
        "The heads are in reverse order in all four.",
        lambda q, k, v, o: (q.flip(1), k.flip(1), v.flip(1), o.flip(0)),
    ),
    rare(
        "W_Q is multiplied by the root of something, or by a factor of its own.",
        lambda q, k, v, o: (2 * q, k, v, o),
    ),
    rare("Each matrix is divided by its norm.", lambda q, k, v, o: tuple(w / w.norm() for w in (q, k, v, o))),
)


@functools.cache
def _more() -> tuple[tuple[Tensor | int | list[int], ...], ...]:
    """Matrices of other sizes than in the cases."""
    g = torch.Generator().manual_seed(79)
    drawn = []
    for d_model, h, d_k, d_v, kept in ((7, 5, 3, 2, [0, 2, 4]), (10, 4, 2, 6, [2, 3])):
        shapes = ((d_model, h * d_k), (d_model, h * d_k), (d_model, h * d_v), (h * d_v, d_model))
        drawn.append((*(torch.randn(shape, generator=g) for shape in shapes), h, kept))
    return tuple(drawn)


_KNOWN = functools.partial(ways_of, PRUNING_MISTAKES)
PRUNING = Recipe(
    pruning_with,
    (
        Slot("heads", "which heads stay.", (*_KNOWN("heads"), *_HEADS)),
        Slot("fuse", "`w_o`.", (*_KNOWN("fuse"), *_FUSES)),
        Slot("value", "`w_v`.", (*_KNOWN("value"), *_by_columns("W_V"))),
        Slot("key", "`w_k`.", (*_KNOWN("key"), *_by_columns("W_K"))),
        Slot("query", "`w_q`.", _by_columns("W_Q")),
        Slot("finish", "what you return.", (*_KNOWN("finish"), *_FINISHES)),
        Slot(
            "whole",
            "which axis a head's places lie on, and how they lie there.",
            (*_KNOWN("whole"), *_WHOLES),
        ),
    ),
    _more,
)
