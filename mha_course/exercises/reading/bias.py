"""Reading a wrong folded bias: as a sum of the vectors that can be made of two biases and W_O."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading.changed_matrix import changed_matrix

Call = Callable[[tuple[Any, ...]], Outcome]
Made = Callable[[Tensor, Tensor, Tensor], Tensor]

# How it reads, what it is in words, and the vector. W_O multiplies from the right, so rows of W_O meet b_v.
_MADE: tuple[tuple[str, str, Made], ...] = (
    ("b_v W_O", "", lambda v, w, o: v @ w),
    ("b_o", "", lambda v, w, o: o),
    ("b_v", "as it is, without W_O", lambda v, w, o: v),
    ("W_O b_v", "W_O from the other side, or transposed", lambda v, w, o: w @ v),
    ("b_o W_O", "b_o is added behind W_O and doesn't pass it", lambda v, w, o: o @ w),
    ("W_O b_o", "b_o is added behind W_O and doesn't meet it", lambda v, w, o: w @ o),
    ("the sums of W_O's columns", "without b_v", lambda v, w, o: w.sum(0)),
    ("the sums of W_O's rows", "without b_v", lambda v, w, o: w.sum(1)),
    ("the diagonal of W_O", "without b_v", lambda v, w, o: w.diagonal()),
    ("b_v times the diagonal of W_O", "entry by entry", lambda v, w, o: v * w.diagonal()),
    ("b_o times the diagonal of W_O", "entry by entry", lambda v, w, o: o * w.diagonal()),
    ("b_v times the sums of W_O's columns", "entry by entry", lambda v, w, o: v * w.sum(0)),
    ("b_v times the sums of W_O's rows", "entry by entry", lambda v, w, o: v * w.sum(1)),
    ("b_o times the sums of W_O's columns", "entry by entry", lambda v, w, o: o * w.sum(0)),
    ("b_o times the sums of W_O's rows", "entry by entry", lambda v, w, o: o * w.sum(1)),
    ("b_v times b_o", "entry by entry; biases are added", lambda v, w, o: v * o),
    ("(b_v W_O) times b_o", "entry by entry; biases are added", lambda v, w, o: (v @ w) * o),
    ("(W_O b_v) times b_o", "entry by entry; biases are added", lambda v, w, o: (w @ v) * o),
    ("(b_v times b_o) W_O", "the biases are multiplied first", lambda v, w, o: (v * o) @ w),
    ("b_v W_O W_O", "W_O takes part twice", lambda v, w, o: v @ w @ w),
    ("b_o W_O W_O", "W_O takes part twice", lambda v, w, o: o @ w @ w),
    ("b_v W_O with W_O transposed behind it", "W_O takes part twice", lambda v, w, o: v @ w @ w.T),
    ("b_v with W_O transposed, then W_O", "W_O takes part twice", lambda v, w, o: v @ w.T @ w),
    ("b_v times the inverse of W_O", "W_O is undone", lambda v, w, o: _undone(w.T, v)),
    ("b_o times the inverse of W_O", "b_o carried back to the values", lambda v, w, o: _undone(w.T, o)),
    ("the inverse of W_O times b_o", "W_O is undone", lambda v, w, o: _undone(w, o)),
    ("the inverse of W_O times b_v", "W_O is undone", lambda v, w, o: _undone(w, v)),
    ("b_v in reversed order, times W_O", "the order of features", lambda v, w, o: v.flip(0) @ w),
    ("b_v W_O in reversed order", "the order of features", lambda v, w, o: (v @ w).flip(0)),
    ("b_o in reversed order", "the order of features", lambda v, w, o: o.flip(0)),
    ("all of b_v summed", "one number in every place", lambda v, w, o: v.sum().expand_as(v)),
    ("all of b_o summed", "one number in every place", lambda v, w, o: o.sum().expand_as(v)),
    ("all of b_v W_O summed", "one number in every place", lambda v, w, o: (v @ w).sum().expand_as(v)),
    ("all of b_v summed, times b_o", "biases are added", lambda v, w, o: v.sum() * o),
    ("all of b_o summed, times b_v", "biases are added", lambda v, w, o: o.sum() * v),
    ("all of b_v summed, times the sums of W_O's columns", "", lambda v, w, o: v.sum() * w.sum(0)),
    ("all of b_v summed, times the sums of W_O's rows", "", lambda v, w, o: v.sum() * w.sum(1)),
    ("all of W_O summed", "one number in every place", lambda v, w, o: w.sum().expand_as(v)),
    ("all of W_O summed, times b_v", "", lambda v, w, o: w.sum() * v),
    ("one number in every place", "whatever the biases are", lambda v, w, o: torch.ones_like(v)),
)
_RIGHT = (0, 1)
_ON_THE_WAY = "what else is done to a bias than a product and a sum."
_DRAWS = 9


def read_bias(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """A wrong `fold_value_bias` as a sum of such vectors; None when it is no such sum."""
    shape = tuple(evidence.got[i].leaves[0].shape)
    d = evidence.cases[i].sizes["d_model"]
    other = {
        (): "One number comes out. A bias has d_model numbers.",
        (1,): "One number comes out. A bias has d_model numbers.",
        (2 * d,): "Two biases stand behind each other. One bias of d_model numbers is wanted.",
        (2, d): "Two biases are stacked. One bias of d_model numbers is wanted.",
    }
    if shape in other:
        says = f"{other[shape]} Yours has shape `{shape}`."
        return Finding("shape-of-a-bias", says, look="how the two biases become one.")
    if shape == (d,) * 2:
        says = f"A whole matrix comes out, of shape `{shape}`. A bias is one row of d_model numbers."
        return Finding("a-matrix", says, look="`*` and `@`, and what is still to be summed.")
    read = [_coefficients(call, d) for d in (7, 11)]
    if read[0] is None or read[1] is None:
        return _otherwise(evidence) or _unread(call)
    parts = [k for k in range(len(_MADE)) if read[0][k] or read[1][k]]
    factors = {k: _factor(read[0][k], read[1][k]) for k in parts}
    if not parts:
        return Finding("always-zero", "Your bias is 0 whatever goes in.", look="what is returned.")
    if parts == [*_RIGHT] and not any(factors.values()):
        return None
    shown = " + ".join(f"{factors[k]} {_MADE[k][0]}".strip() for k in parts)
    says = f"Your bias reads as {shown.replace('+ -1 ', '- ').replace('+ -', '- ')}."
    for k in parts:
        name, meaning, _ = _MADE[k]
        if k in _RIGHT:
            says += f" {name} belongs there"
            says += f", but once, with a plus: not {factors[k]} times." if factors[k] else "."
            says += " Is a mean taken in place of a sum?" if factors[k] == "1/d_model" else ""
        else:
            says += f" {name[:1].upper() if name[1:2] != '_' else name[:1]}{name[1:]} doesn't belong there"
            says += f" ({meaning})." if meaning else "."
    if 0 not in parts:
        says += " What b_v becomes on its way to the output is missing."
    if 1 not in parts:
        says += " b_o is missing."
    return Finding("another-sum", says, look="the way of each bias to the output.")


def _coefficients(call: Call, d: int) -> list[float] | None:
    """How often each vector is in the answer for d features; None when these don't make it up."""
    g = torch.Generator().manual_seed(d)
    rows, results = [], []
    for _ in range(_DRAWS):
        v, w, o = (torch.randn(shape, generator=g) for shape in ((d,), (d, d), (d,)))
        w = w * 0.4 + torch.eye(d) * 0.5
        out = call((v.clone(), w.clone(), o.clone()))
        if out.error is not None or len(out.leaves) != 1 or out.leaves[0].numel() != d:
            return None
        v, w, o = v.double(), w.double(), o.double()
        rows.append(torch.stack([make(v, w, o) for *_, make in _MADE], -1))
        results.append(out.leaves[0].double().flatten())
    table, result = torch.cat(rows), torch.cat(results)
    if not bool(result.isfinite().all()):
        return None
    size = table.norm(dim=0)
    found = torch.from_numpy(np.linalg.lstsq((table / size).numpy(), result.numpy(), rcond=None)[0]) / size
    keep = found.abs() * size > 1e-4 * size[list(_RIGHT)].max()
    found = torch.where(keep, found, torch.zeros_like(found))
    if float((table @ found - result).abs().max()) > 1e-3 * max(1.0, float(result.abs().max())):
        return None
    if int(keep.sum()) > 6:
        return None  # so many parts would be no reading
    return found.tolist()


def _factor(small: float, large: float) -> str:
    """How often, as it reads: "" for once; by the two sizes 7 and 11 a factor made of d_model shows."""
    known = {
        "": lambda d: 1.0,
        "-1": lambda d: -1.0,
        "d_model": lambda d: d,
        "1/d_model": lambda d: 1 / d,
        "the root of d_model times": math.sqrt,
        "1/(the root of d_model)": lambda d: 1 / math.sqrt(d),
    }
    for text, factor in known.items():
        if abs(small - factor(7)) < 1e-3 and abs(large - factor(11)) < 1e-3:
            return text
    return f"{small:.4g}"


_BENDS: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("goes through a softmax", lambda y: y.softmax(-1)),
    ("goes through a ReLU: negative numbers become 0", torch.relu),
    ("is squeezed by a tanh", torch.tanh),
    ("is squeezed by a sigmoid", torch.sigmoid),
    ("loses its signs (an absolute value)", torch.abs),
    ("is squared", torch.square),
    ("goes through an exponential", torch.exp),
    ("is scaled to length 1", lambda y: y / y.norm()),
    ("is divided by its sum", lambda y: y / y.sum()),
    ("is divided by its largest number", lambda y: y / y.max()),
    ("loses its mean", lambda y: y - y.mean()),
    ("is normalised (LayerNorm)", lambda y: torch.nn.functional.layer_norm(y, y.shape)),
    ("is rounded", torch.round),
    ("is sorted", lambda y: y.sort().values),
    ("is summed up along the features", lambda y: y.cumsum(-1)),
)


def _otherwise(evidence: Evidence) -> Finding | None:
    """One function too much on the way of a bias, another way to join the two, one column for all."""
    made: list[tuple[str, Made]] = []
    for words, bend in _BENDS:
        made += [
            (f"b_v {words} before it meets W_O", lambda v, w, o, bend=bend: bend(v) @ w + o),
            (f"the product of b_v and W_O {words}", lambda v, w, o, bend=bend: bend(v @ w) + o),
            (f"b_o {words} before it is added", lambda v, w, o, bend=bend: v @ w + bend(o)),
            (f"W_O {words}", lambda v, w, o, bend=bend: v @ bend(w) + o),
        ]
    made += [
        ("the larger one of two numbers is taken; they are added", lambda v, w, o: torch.maximum(v @ w, o)),
        ("the smaller one of two numbers is taken; they are added", lambda v, w, o: torch.minimum(v @ w, o)),
        ("the two are averaged; they are added", lambda v, w, o: (v @ w + o) / 2),
    ]
    made += [
        (f"b_v meets {name} of W_O alone, which gives one number for all", fn)
        for name, fn in (
            ("the first column", lambda v, w, o: v @ w[:, 0] + o),
            ("the last column", lambda v, w, o: v @ w[:, -1] + o),
            ("the first row", lambda v, w, o: v @ w[0] + o),
            ("the last row", lambda v, w, o: v @ w[-1] + o),
        )
    ]
    judged = [k for k, counts in enumerate(evidence.counts) if counts]
    for words, fn in made:
        given = [fn(*evidence.cases[k].arguments) for k in judged]
        if all(
            evidence.got[k].error is None
            and evidence.got[k].leaves[0].shape == one.shape
            and close(one, evidence.got[k].leaves[0])
            for k, one in zip(judged, given, strict=True)
        ):
            return Finding(
                "bias-otherwise",
                f"{words[:1].upper() if words[1] != '_' else words[0]}{words[1:]}.",
                look=_ON_THE_WAY,
            )
    return None


def _unread(call: Call) -> Finding | None:
    """What holds of an answer that is no such sum: whether b_o is added to the rest, and as it is."""
    g = torch.Generator().manual_seed(3)
    v, w, o = (torch.randn(shape, generator=g) for shape in ((7,), (7, 7), (7,)))
    outs = [
        call((a.clone(), w.clone(), c.clone()))
        for a, c in ((v, o), (v, torch.zeros(7)), (torch.zeros(7), o), (torch.zeros(7), torch.zeros(7)))
    ]
    if any(out.error is not None or len(out.leaves) != 1 or out.leaves[0].numel() != 7 for out in outs):
        return None
    full, no_o, no_v, neither = (out.leaves[0].double().flatten() for out in outs)
    b_o_added = torch.allclose(full - no_o, o.double(), atol=1e-4)
    said = []
    if b_o_added:
        said.append("b_o is added as it should be; what b_v contributes is not right")
    if float(neither.abs().max()) > 1e-4:
        said.append("with both biases 0 the result should be 0, and yours is not")
    elif not torch.allclose(full, no_o + no_v, atol=1e-4):
        said.append("the two biases don't add up: something other than a product and a sum is in there")
    if not said:
        return None
    said[0] += _of_w_o(call, w) if b_o_added else ""
    text = in_a_row(said)
    text = f"{text[:1].upper() if text[1] != '_' else text[0]}{text[1:]}."
    return Finding("bias-in-part", text, look=_ON_THE_WAY)


def _of_w_o(call: Call, w: Tensor) -> str:
    """How the matrix that b_v is multiplied by differs from W_O: ": ..." in words, or ""."""
    zero = torch.zeros(7)
    outs = [call((row.clone(), w.clone(), zero.clone())) for row in torch.eye(7)]
    if any(out.error is not None or len(out.leaves) != 1 or out.leaves[0].numel() != 7 for out in outs):
        return ""
    matrix = torch.stack([out.leaves[0].flatten() for out in outs]).to(w.dtype)
    twice = call((2 * torch.ones(7), w.clone(), zero.clone())).leaves[0].flatten().to(w.dtype)
    if not torch.allclose(twice, 2 * matrix.sum(0), atol=1e-4):
        return ": it is no product of b_v with a matrix"
    changed = changed_matrix(matrix, w, closely=1e-4)
    if changed:
        return f": with 7 features, {changed}"
    if bool(((matrix.flatten()[:, None] - w.flatten()).abs().amin(1) < 1e-5).all()):
        return ": the numbers of W_O take part, in other places"
    return ": b_v meets another matrix than W_O"


def _undone(w: Tensor, v: Tensor) -> Tensor:
    return torch.from_numpy(np.linalg.solve(w.numpy(), v.numpy()))
