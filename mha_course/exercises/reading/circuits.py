"""What wrong circuits are: which step was done otherwise, which heads and which circuit are right."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.mistakes.of_circuits import (
    CIRCUIT_MISTAKES,
    circuits_with,
    columns,
    columns_dealt,
    pieces,
    rows,
    rows_dealt,
)
from mha_course.exercises.outcome import Outcome, close, run
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare
from mha_course.exercises.witness import number

_TAKES = (
    rare("W_Q and W_K have changed places.", lambda q, k, v, o: (k, q, v, o)),
    rare("W_Q, W_K and W_V are squared, number by number.", lambda q, k, v, o: (q * q, k * k, v * v, o)),
)
_CUTS = (
    Way("The columns' heads are in reverse order.", lambda w, h: columns(w, h).flip(0)),
    rare("A head's columns are in reverse order.", lambda w, h: columns(w, h).flip(2)),
    rare("The columns are off by one.", lambda w, h: columns(w.roll(-1, 1), h)),
    rare("Every head has the columns of the first one.", lambda w, h: _first(columns(w, h))),
    rare("Every head has the columns of the last one.", lambda w, h: columns(w, h)[-1:].expand(h, -1, -1)),
    rare("The heads are off by one.", lambda w, h: columns(w, h).roll(1, 0)),
)
_CUTS_O = (
    Way("The rows' heads are in reverse order.", lambda w, h: rows(w, h).flip(0)),
    rare("A head's rows are in reverse order.", lambda w, h: rows(w, h).flip(1)),
    rare("W_O is cut into pieces, and each is turned.", lambda w, h: w.reshape(h, w.shape[1], -1).mT),
    rare("Every head has the first rows of W_O.", lambda w, h: _first(rows(w, h))),
    rare("Every head has the last rows of W_O.", lambda w, h: rows(w, h)[-1:].expand(h, -1, -1)),
    rare("W_O's heads are off by one.", lambda w, h: rows(w, h).roll(1, 0)),
    rare("W_O is divided by the number of heads.", lambda w, h: rows(w, h) / h),
)
_COMPARES = (
    rare("The QK circuits are made symmetric.", lambda q, k: (q @ k.mT + k @ q.mT) / 2),
    rare(
        "The circuit of each query's head is made with the next head's keys.",
        lambda q, k: q @ k.roll(-1, 0).mT,
    ),
    rare("Every head's queries meet the sum of all heads' keys.", lambda q, k: q @ k.sum(0).mT),
)
_FACTORS = (
    rare("The QK circuits are multiplied by the root of d_k.", lambda d_k, **sizes: math.sqrt(d_k)),
    rare("The QK circuits are multiplied by d_k.", lambda d_k, **sizes: d_k),
    rare("The QK circuits are divided by the root of h.", lambda h, **sizes: 1 / math.sqrt(h)),
    rare("The root of d_k is rounded down.", lambda d_k, **sizes: 1 / math.isqrt(d_k)),
    rare("The QK circuits are divided by the fourth root of d_k.", lambda d_k, **sizes: d_k**-0.25),
    rare("The QK circuits have the wrong sign.", lambda d_k, **sizes: -1 / math.sqrt(d_k)),
    rare("The QK circuits are divided by d_model.", lambda d_model, **sizes: 1 / d_model),
    rare("The QK circuits are divided by h.", lambda h, **sizes: 1 / h),
    rare("The QK circuits are divided by d_k and by its root.", lambda d_k, **sizes: d_k**-1.5),
)
_WRITES = (
    rare("Every head writes with the sum of all rows of W_O.", lambda v, o: v @ o.sum(0)),
    rare("Every head's values meet the next head's rows of W_O.", lambda v, o: v @ o.roll(-1, 0)),
    rare("The OV circuits have the wrong sign.", lambda v, o: -(v @ o)),
)
_QKS = (
    rare(
        "A softmax goes over the QK circuits. It belongs to the scores of tokens.", lambda qk: qk.softmax(-1)
    ),
    rare("The QK circuits are added up over the heads.", lambda qk: qk.sum(0)),
    rare("The QK circuits are averaged over the heads.", lambda qk: qk.mean(0)),
    rare("The QK circuits of heads and features have changed axes.", lambda qk: qk.transpose(0, 1)),
    rare("The QK circuits are in reverse order.", lambda qk: qk.flip(0)),
)
_OVS = (
    rare("The OV circuits are divided by the root of d_v.", lambda ov, d_v, **sizes: ov / math.sqrt(d_v)),
    rare("The OV circuits are divided by d_v.", lambda ov, d_v, **sizes: ov / d_v),
    rare("The OV circuits are divided by h.", lambda ov, h, **sizes: ov / h),
    rare("The OV circuits are multiplied by h.", lambda ov, h, **sizes: ov * h),
    rare("The OV circuits are added up over the heads.", lambda ov, **sizes: ov.sum(0)),
    rare("The OV circuits are averaged over the heads.", lambda ov, **sizes: ov.mean(0)),
    rare(
        "The identity is added to the OV circuits: that is the residual path.",
        lambda ov, **sizes: ov + torch.eye(ov.shape[-1]),
    ),
    rare("The OV circuits are in reverse order.", lambda ov, **sizes: ov.flip(0)),
)
_BOTHS = (
    Way("Both circuits are transposed.", lambda c: c.mT, "the axes of the results."),
    rare("The axis of heads comes last.", lambda c: c.movedim(0, -1)),
    rare("The circuits are added up over the heads.", lambda c: c.sum(0)),
    rare("The circuits are averaged over the heads.", lambda c: c.mean(0)),
    rare("The heads are in reverse order.", lambda c: c.flip(0)),
    rare("All heads have the circuits of the last one.", lambda c: c[-1:].expand_as(c)),
    rare("The circuits are multiplied by their number.", lambda c: c * len(c)),
    rare("The circuits are divided by their number.", lambda c: c / len(c)),
    rare("Only the first head's circuits come back.", lambda c: c[0]),
    rare("Only the last head's circuits come back.", lambda c: c[-1]),
    rare("The heads' circuits stand below one another.", lambda c: c.flatten(0, 1)),
    rare("The heads' circuits stand side by side.", lambda c: c.transpose(0, 1).flatten(1)),
)
_GATHERS = (
    rare("The QK circuits come back twice.", lambda qk, ov: (qk, qk)),
    rare("The OV circuits come back twice.", lambda qk, ov: (ov, ov)),
    rare("The second result is QK times OV.", lambda qk, ov: (qk, qk @ ov)),
    rare("The second result is OV times QK.", lambda qk, ov: (qk, ov @ qk)),
)
_WHOLES = (
    rare(
        "W_Q, W_K and W_V are cut into pieces of rows, and W_O's rows are dealt in turn.",
        lambda *w: circuits_with(*w, cut=pieces, cut_o=rows_dealt),
    ),
    rare("Only W_Q's columns are dealt in turn.", lambda *w: _cut_alone(0, *w)),
    rare("Only W_K's columns are dealt in turn.", lambda *w: _cut_alone(1, *w)),
    rare("Only W_V's columns are dealt in turn.", lambda *w: _cut_alone(2, *w)),
)


def _first(parts: Tensor) -> Tensor:
    return parts[:1].expand(len(parts), -1, -1)


def _cut_alone(which: int, *given: Any) -> tuple[Tensor, Tensor]:
    *matrices, h = given
    w = matrices[which]
    matrices[which] = columns_dealt(w, h).transpose(0, 1).flatten(1)
    return circuits_with(*matrices, h)


def _slot(name: str, look: str, ways: tuple[Way, ...]) -> Slot:
    return Slot(name, look, (*ways_of(CIRCUIT_MISTAKES, name), *ways))


_RECIPE = Recipe(
    circuits_with,
    (
        _slot("take", "which matrix is used for what.", _TAKES),
        _slot("cut", "how columns are cut into heads.", _CUTS),
        _slot("cut_o", "how rows of W_O are cut into heads.", _CUTS_O),
        _slot("compare", "how queries meet keys.", _COMPARES),
        _slot("factor", "the factor of the scores.", _FACTORS),
        _slot("write", "how values meet W_O.", _WRITES),
        _slot("qk", "the first result.", _QKS),
        _slot("ov", "the second result.", _OVS),
        _slot("both", "the last step.", _BOTHS),
        _slot("gather", "what is returned.", _GATHERS),
        _slot("whole", "how heads are cut.", _WHOLES),
    ),
)

# Small layers in which every circuit can be done in one's head: a name, the five arguments.
_SMALL = (
    ("one head of one feature", ([[1], [2]], [[3], [4]], [[1], [2]], [[5, 6]], 1)),
    (
        "one head of four features, all 1 in W_Q and W_K",
        ([[1] * 4] * 2, [[1] * 4] * 2, [[1], [2]], [[5, 6]], 1),
    ),
    (
        "two heads of one feature",
        ([[1, 10], [2, 20]], [[3, 1], [4, 1]], [[1, 0], [0, 1]], [[5, 6], [7, 8]], 2),
    ),
)


def read_circuits(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The steps done otherwise where they are known; else the first small layer that comes out wrong."""
    found = _RECIPE.read(evidence, i, call)
    if found:
        return found
    want, have = evidence.expected[i].leaves, evidence.got[i].leaves
    if [leaf.shape for leaf in want] != [leaf.shape for leaf in have]:
        return None
    return _of_heads(want, have) or _of_small_layers(evidence, call, _which(want, have))


def _which(want: Any, have: Any) -> str:
    """What is right already, as the start of a sentence."""
    right = [name for name, a, b in zip(("QK", "OV"), want, have, strict=True) if close(a, b)]
    return f"The {right[0]} circuits are right. " if right else ""


def _of_heads(want: Any, have: Any) -> Finding | None:
    """Some heads right and others not, in one of the results."""
    for name, a, b in zip(("QK", "OV"), want, have, strict=True):
        right = [i + 1 for i in range(len(a)) if close(a[i], b[i])]
        if 0 < len(right) < len(a):
            listed = in_a_row([str(head) for head in right])
            says = f"Of {len(a)} {name} circuits, that of head {listed} is right, and the others are not."
            return Finding("not-all-heads", says, look="where the number of the head takes part.")
    return None


def _of_small_layers(
    evidence: Evidence, call: Callable[[tuple[Any, ...]], Outcome], before: str
) -> Finding | None:
    for k, (asks, (*matrices, h)) in enumerate(_SMALL):
        given = (*(torch.tensor(w, dtype=torch.float32) for w in matrices), h)
        right, out = run(evidence.exercise.reference, given, quiet=True), call(given)
        if out.error is not None or len(out.leaves) != 2:
            continue
        for name, a, b in zip(("QK", "OV"), right.leaves, out.leaves, strict=True):
            if a.shape == b.shape and not close(a, b):
                place = tuple((a - b).abs().nan_to_num(1e9).argmax().unsqueeze(0).tolist())[0]
                head, row, column = place // 4, place // 2 % 2, place % 2
                says = (
                    f"{before}In a layer with {asks}, the {name} circuit of head {head + 1} should have "
                    f"`{number(a[head, row, column])}` in row {row + 1}, column {column + 1}; yours has "
                    f"`{number(b[head, row, column])}`."
                )
                return Finding(f"small-layer-{k + 1}", says, look="the product of that circuit.")
    return None
