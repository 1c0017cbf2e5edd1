"""Known mistakes of `circuits`: how heads are cut, what meets what, and what is divided."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise
from mha_course.exercises.mistakes.workbench import once

Step = Callable[..., Any]


def columns(w: Tensor, h: int) -> Tensor:
    """The columns of each head: (d_model, h d) -> (h, d_model, d)."""
    return w.unflatten(1, (h, -1)).transpose(0, 1)


def rows(w_o: Tensor, h: int) -> Tensor:
    """The rows of each head: (h d_v, d_model) -> (h, d_v, d_model)."""
    return w_o.unflatten(0, (h, -1))


def columns_dealt(w: Tensor, h: int) -> Tensor:
    """Columns dealt to the heads in turn."""
    return w.unflatten(1, (-1, h)).permute(2, 0, 1)


def rows_dealt(w_o: Tensor, h: int) -> Tensor:
    """Rows dealt to the heads in turn."""
    return w_o.unflatten(0, (-1, h)).transpose(0, 1)


def pieces(w: Tensor, h: int) -> Tensor:
    """Pieces of rows, as view cuts them: no head's columns."""
    return w.reshape(h, len(w), -1)


def _root_of_d_k(d_k: int, **sizes: int) -> float:
    return 1 / math.sqrt(d_k)


def _with_keys(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT


def _with_output(v: Tensor, o: Tensor) -> Tensor:
    return v @ o


def circuits_with(
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    h: int,
    *,
    take: Step = lambda q, k, v, o: (q, k, v, o),
    cut: Step = columns,
    cut_o: Step = rows,
    compare: Step = _with_keys,
    factor: Step = _root_of_d_k,
    write: Step = _with_output,
    qk: Step = lambda qk: qk,
    ov: Step = lambda ov, **sizes: ov,
    both: Step = lambda circuit: circuit,
    gather: Step = lambda qk, ov: (qk, ov),
    whole: Step | None = None,
) -> Any:
    """Both circuits of every head with the steps given; right without any: two of (h, d_model, d_model)."""
    if whole is not None:
        return whole(w_q, w_k, w_v, w_o, h)
    sizes = {"d_k": w_q.shape[1] // h, "d_v": w_v.shape[1] // h, "d_model": len(w_q), "h": h}
    w_q, w_k, w_v, w_o = once(take, w_q, w_k, w_v, w_o)
    of_q, of_k, of_v = (once(cut, w, h) for w in (w_q, w_k, w_v))
    compared = once(compare, of_q, of_k) * factor(**sizes)
    written = ov(once(write, of_v, once(cut_o, w_o, h)), **sizes)
    return gather(both(qk(compared)), both(written))


def _together(q: Tensor, k: Tensor, v: Tensor, o: Tensor, h: int) -> tuple[Tensor, Tensor]:
    return q @ k.T / math.sqrt(q.shape[1] // h), v @ o


def _within(q: Tensor, k: Tensor, v: Tensor, o: Tensor, h: int) -> tuple[Tensor, Tensor]:
    small = columns(q, h).mT @ columns(k, h) / math.sqrt(q.shape[1] // h)
    return small, rows(o, h) @ columns(v, h)


_with = partial(Otherwise, circuits_with)

CIRCUIT_MISTAKES = (
    Mistake(
        "keys-first",
        _with(compare=lambda q, k: k @ q.mT),
        "The QK circuits are transposed: keys stand on the left. Queries do, so that row t of the scores "
        "belongs to query t.",
        "the order of `w_q` and `w_k`.",
    ),
    Mistake(
        "not-scaled",
        _with(factor=lambda **sizes: 1),
        "The QK circuits are not divided by the root of d_k.",
        "the factor of the scores.",
    ),
    Mistake(
        "divided-by-d-k",
        _with(factor=lambda d_k, **sizes: 1 / d_k),
        "The QK circuits are divided by d_k, not by its root.",
        "the factor of the scores.",
    ),
    Mistake(
        "root-of-d-model",
        _with(factor=lambda d_model, **sizes: 1 / math.sqrt(d_model)),
        "The QK circuits are divided by the root of d_model. A head's dot product has {d_k} terms.",
        "the factor of the scores.",
    ),
    Mistake(
        "root-of-the-whole-width",
        _with(factor=lambda d_k, h, **sizes: 1 / math.sqrt(h * d_k)),
        "The QK circuits are divided by the root of all {h} heads' features. A head's dot product has {d_k} "
        "terms.",
        "the factor of the scores.",
    ),
    Mistake(
        "root-of-d-v",
        _with(factor=lambda d_v, **sizes: 1 / math.sqrt(d_v)),
        "The QK circuits are divided by the root of d_v. Values take no part in the scores.",
        "the factor of the scores.",
    ),
    Mistake(
        "ov-scaled-too",
        _with(ov=lambda ov, d_k, **sizes: ov / math.sqrt(d_k)),
        "The OV circuits are divided by the root of d_k, too. Only scores are.",
        "what the factor multiplies.",
    ),
    Mistake(
        "scale-at-ov",
        _with(factor=lambda **sizes: 1, ov=lambda ov, d_k, **sizes: ov / math.sqrt(d_k)),
        "The root of d_k divides the OV circuits in place of the QK circuits.",
        "what the factor multiplies.",
    ),
    Mistake(
        "all-heads-together",
        _with(whole=_together),
        "The heads are not cut: one product of whole matrices is the sum of all heads' circuits.",
        "where `h` is used.",
    ),
    Mistake(
        "columns-dealt",
        _with(cut=columns_dealt),
        "The columns of W_Q, W_K and W_V are dealt to the heads in turn. A head's columns are neighbours.",
        "the two axes that the columns are cut into, and their order.",
    ),
    Mistake(
        "rows-dealt",
        _with(cut_o=rows_dealt),
        "The rows of W_O are dealt to the heads in turn. A head's rows are neighbours.",
        "the two axes that the rows are cut into, and their order.",
    ),
    Mistake(
        "all-dealt",
        _with(cut=columns_dealt, cut_o=rows_dealt),
        "Columns and rows are dealt to the heads in turn. Those of a head are neighbours.",
        "the two axes that features are cut into, and their order.",
    ),
    Mistake(
        "pieces-of-rows",
        _with(cut=pieces),
        "W_Q, W_K and W_V are cut into pieces of rows: view never moves a number. A head has columns.",
        "which axis is cut, and what has to move.",
    ),
    Mistake(
        "within-the-head",
        _with(whole=_within),
        "The products are d_k x d_k and d_v x d_v: they sum over the {d_model} features of tokens. A circuit "
        "goes from token to token, and sums over the features of the head.",
        "over which axis the products sum.",
    ),
    Mistake(
        "ov-turned",
        _with(write=lambda v, o: (v @ o).mT),
        "The OV circuits are transposed, as one writes them for column vectors. Here x multiplies from the "
        "left: first W_V, then W_O.",
        "the order of `w_v` and `w_o`.",
    ),
    Mistake(
        "circuits-swapped",
        _with(gather=lambda qk, ov: (ov, qk)),
        "The two results have changed places: QK comes first.",
        "the order of what is returned.",
    ),
    Mistake(
        "first-head-for-all",
        _with(both=lambda circuit: circuit[:1].expand_as(circuit)),
        "All heads have the circuits of head 1.",
        "the index of the head.",
    ),
    Mistake(
        "heads-in-the-middle",
        _with(both=lambda circuit: circuit.transpose(0, 1)),
        "The axis of heads stands in the middle. It should come first.",
        "the order of the axes.",
    ),
    Mistake(
        "queries-twice",
        _with(take=lambda q, k, v, o: (q, q, v, o)),
        "W_Q meets itself: W_K is not used.",
        "where `w_k` is used.",
    ),
    Mistake(
        "keys-twice",
        _with(take=lambda q, k, v, o: (k, k, v, o)),
        "W_K meets itself: W_Q is not used.",
        "where `w_q` is used.",
    ),
)
