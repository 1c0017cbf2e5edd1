"""Where a wrong layer first goes wrong: weights, the values' way, the mask, or behind the concatenation."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.probing import probe
from mha_course.exercises.reading.behind_concat import behind_the_concatenation
from mha_course.exercises.reading.layer_probes import Asked, Call, drawn, fitted, seen_weights
from mha_course.exercises.reading.layer_weights import read_head_weights, read_hidden
from mha_course.exercises.reading.values_way import values_way


def read_layer(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """A wrong `multi_head_attention`, stage by stage."""
    return _read(evidence, i, call, with_w_o=True)


def read_heads(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """The same for all heads up to their concatenation."""
    return _read(evidence, i, call, with_w_o=False)


def _read(evidence: Evidence, i: int, call: Call, with_w_o: bool) -> Finding | None:
    if len(evidence.got[i].leaves) != 1 or not evidence.got[i].leaves[0].is_floating_point():
        return None
    if evidence.got[i].leaves[0].shape != evidence.expected[i].leaves[0].shape:
        return None
    masked = len(evidence.cases[i].arguments) > 6 and evidence.cases[i].arguments[6] is not None
    if masked:
        return read_hidden(evidence.cases[i].arguments[6], call)
    found = _heads_or_behind(call, with_w_o)
    if found is not None:
        return found[0]
    # An argument that has no effect says more than what comes out.
    return probe(evidence, i, call) or values_way(call, with_w_o)


def read_inside(call: Call) -> Finding | None:
    """A layer asked from outside alone, without a mask; None where it is right, or no layer."""
    found = _heads_or_behind(call, with_w_o=True)
    return found[0] if found is not None else values_way(call, with_w_o=True)


def _heads_or_behind(call: Call, with_w_o: bool) -> tuple[Finding | None] | None:
    """What is behind the concatenation or in the heads' weights; None where neither can be read."""
    wide = drawn(12, 5, 3, 4, seed=5)
    out = wide.asked(call, with_w_o)
    if out is None:
        return (None,)
    if torch.allclose(out, wide.concat() @ wide.w_o if with_w_o else wide.concat(), atol=1e-4):
        return (None,)  # right here: what is wrong depends on the sizes
    found = _behind(wide, out, with_w_o)
    if found:
        return (found,)
    narrow = drawn(2, 4, 3, 5, seed=6)
    weights = seen_weights(narrow, call, with_w_o)
    if weights is not None:
        other = drawn(3, 5, 2, 6, seed=7)
        return (read_head_weights(narrow, weights, other, seen_weights(other, call, with_w_o)),)
    return None


def _behind(asked: Asked, out: Tensor, with_w_o: bool) -> Finding | None:
    """Right heads, and something else than W_O behind them."""
    rows = asked.b * asked.n
    table = torch.cat([asked.concat(), asked.x, torch.ones(asked.b, asked.n, 1)], -1).reshape(rows, -1)
    matrix = fitted(table, out.reshape(rows, -1))
    if matrix is None:
        return None
    d = asked.d_model
    w_o = asked.w_o if with_w_o else torch.eye(d)
    return behind_the_concatenation(
        asked, w_o.double(), matrix[:d], matrix[d : 2 * d], matrix[2 * d], with_w_o
    )
