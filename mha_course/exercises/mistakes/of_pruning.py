"""Known mistakes of `prune_heads`: which columns are a head's, W_O's rows, and heads counted otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]
Matrices = tuple[Tensor, Tensor, Tensor, Tensor]


def blocks(count: int, h: int, kept: Sequence[int]) -> list[int]:
    """The places of the heads that stay among `count`, where a head's stand next to one another."""
    width = count // h
    return [head * width + j for head in kept for j in range(width)]


def dealt(count: int, h: int, kept: Sequence[int]) -> list[int]:
    """The places, where place j belongs to head j % h."""
    return [head + j * h for head in kept for j in range(count // h)]


def columns_of(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    """The columns of the heads that stay."""
    return w[:, blocks(w.shape[1], h, kept)]


def rows_of(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    """The rows of the heads that stay."""
    return w[blocks(w.shape[0], h, kept)]


def pruning_with(
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    h: int,
    kept: Sequence[int],
    *,
    heads: Step = lambda kept, h: kept,
    query: Step = columns_of,
    key: Step = columns_of,
    value: Step = columns_of,
    fuse: Step = rows_of,
    finish: Step = lambda q, k, v, o: (q, k, v, o),
    whole: Step | None = None,
) -> Matrices:
    """The four smaller matrices with the steps given; right without any."""
    if whole is not None:
        return whole(w_q, w_k, w_v, w_o, h, kept)
    stay = heads(kept, h)
    return finish(query(w_q, h, stay), key(w_k, h, stay), value(w_v, h, stay), fuse(w_o, h, stay))


def _silenced(w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, h: int, kept: Sequence[int]) -> Matrices:
    gone = [head for head in range(h) if head not in kept]
    parts = [w.clone() for w in (w_q, w_k, w_v, w_o)]
    for w in parts[:3]:
        w[:, blocks(w.shape[1], h, gone)] = 0
    parts[3][blocks(w_o.shape[0], h, gone)] = 0
    return tuple(parts)


def as_wide_as_keys(
    w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, h: int, kept: Sequence[int]
) -> Matrices:
    """The same places in all four, those of the queries."""
    places = blocks(w_q.shape[1], h, kept)
    return w_q[:, places], w_k[:, places], w_v[:, places], w_o[places]


def each_way(step: Step) -> dict[str, Step]:
    """The same step for the three matrices that make queries, keys and values."""
    return {"query": step, "key": step, "value": step}


def untouched(w: Tensor, h: int, kept: Sequence[int]) -> Tensor:
    """Nothing taken out."""
    return w


_with = partial(Otherwise, pruning_with)

PRUNING_MISTAKES = (
    Mistake(
        "w_o-whole",
        _with(fuse=untouched),
        "W_O keeps all its rows. It would meet a concat that has become narrower.",
        "`w_o`.",
    ),
    Mistake(
        "columns-of-w_o",
        _with(fuse=columns_of),
        "Of W_O columns are taken. Its columns are features of the output, of every head; a head owns rows.",
        "the axis of `w_o` that has h · d_v places.",
    ),
    Mistake(
        "w_v-whole",
        _with(value=untouched),
        "W_V keeps all its columns.",
        "`w_v`.",
    ),
    Mistake(
        "w_k-whole",
        _with(key=untouched),
        "W_K keeps all its columns. Queries of the heads that stay would meet keys of others.",
        "`w_k`.",
    ),
    Mistake(
        "others-kept",
        _with(heads=lambda kept, h: [head for head in range(h) if head not in kept]),
        "The heads in `kept` are taken out, and the others stay. It is the other way round.",
        "what `kept` says.",
    ),
    Mistake(
        "counted-from-one",
        _with(heads=lambda kept, h: [head - 1 for head in kept]),
        "These are the heads before those in `kept`, which counts from `0`.",
        "where a head's places start.",
    ),
    Mistake(
        "first-ones-kept",
        _with(heads=lambda kept, h: list(range(len(kept)))),
        "The first heads are kept, as many as there are in `kept`. It says which ones.",
        "where `kept` is used.",
    ),
    Mistake(
        "one-place-a-head",
        _with(
            **each_way(lambda w, h, kept: w[:, list(kept)]),
            fuse=lambda w, h, kept: w[list(kept)],
        ),
        "Of each head one column is kept. A head has d_k = {d_k} columns of W_Q and d_v = {d_v} of W_V.",
        "what the numbers in `kept` are used to index.",
    ),
    Mistake(
        "features-dealt",
        _with(
            **each_way(lambda w, h, kept: w[:, dealt(w.shape[1], h, kept)]),
            fuse=lambda w, h, kept: w[dealt(w.shape[0], h, kept)],
        ),
        "Columns are dealt out, as if the first of every head came first. A head's columns stand together.",
        "the order of the two axes that the columns are cut into.",
    ),
    Mistake(
        "w_o-dealt",
        _with(fuse=lambda w, h, kept: w[dealt(w.shape[0], h, kept)]),
        "W_O's rows are dealt out, as if the first of every head came first. A head's rows stand together.",
        "the order of the two axes that W_O's rows are cut into.",
    ),
    Mistake(
        "rows-of-w_q",
        _with(**each_way(rows_of)),
        "Of W_Q, W_K and W_V rows are taken, as if `nn.Linear` kept them. Here inputs stand on the left, "
        "`x @ w_q`: rows are features of the input, and a head owns columns.",
        "the axis that has h · d_k places.",
    ),
    Mistake(
        "d_k-everywhere",
        _with(whole=as_wide_as_keys),
        "Values are cut as wide as keys, d_k = {d_k}. In W_V and W_O a head is d_v = {d_v} wide.",
        "the width of a head in `w_v` and `w_o`.",
    ),
    Mistake(
        "silenced-only",
        _with(whole=_silenced),
        "The heads that go are set to 0, and stay. Nothing becomes smaller, and nothing faster.",
        "the shapes of what you return.",
    ),
    Mistake(
        "w_o-in-another-order",
        _with(fuse=lambda w, h, kept: rows_of(w, h, list(reversed(kept)))),
        "In W_O the heads stand in reverse order, so that each meets the rows of another.",
        "the order of the heads in `w_o`.",
    ),
    Mistake(
        "w_o-scaled-up",
        _with(fuse=lambda w, h, kept: rows_of(w, h, kept) * (h / len(kept))),
        "W_O is multiplied by h over the number of heads that stay, as dropout does. The layer then computes "
        "something else.",
        "a factor in front of `w_o`.",
    ),
    Mistake(
        "q-and-k-swapped",
        _with(finish=lambda q, k, v, o: (k, q, v, o)),
        "W_Q and W_K have changed places. Then everybody asks with keys, and is found by queries.",
        "the order of what you return.",
    ),
    Mistake(
        "transposed",
        _with(finish=lambda q, k, v, o: (q.T, k.T, v.T, o.T)),
        "All four are transposed, as `nn.Linear` keeps its weights. Here inputs stand on the left.",
        "`.T`.",
    ),
)
