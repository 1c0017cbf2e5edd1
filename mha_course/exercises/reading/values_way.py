"""The way of the values through a layer, read with all scores equal: W_Q and W_K are set to 0."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from mha_course.exercises.evidence import Finding, in_a_row
from mha_course.exercises.reading.layer_probes import Asked, Call, drawn, fitted

_START = "With all scores equal (W_Q and W_K set to 0) the output should be the mean of the values, times W_O"
_HEADS = "With all scores equal (W_Q and W_K set to 0) every head should give the mean of its values"


def values_way(call: Call, with_w_o: bool) -> Finding | None:
    """What the values meet on their way, and which tokens and features end up where."""
    asked = drawn(40, 3, 2, 5, seed=8)
    zero = torch.zeros_like(asked.w_q)
    start = _START if with_w_o else _HEADS
    out = asked.asked(call, with_w_o, w_q=zero, w_k=zero)
    if out is None:
        return None
    if not bool(out.abs().max() > 1e-5):
        found = _made_with_others(asked, call, with_w_o, zero)
        says = f"{start}. Yours is 0 then: {found or 'W_Q or W_K take part in the way of the values.'}"
        return Finding("values-another-way", says, look="what makes the values.")
    want = asked.x.mean(1, keepdim=True) @ asked.w_v
    want = (want @ asked.w_o if with_w_o else want).expand_as(out)
    if torch.allclose(out, want, atol=1e-3):
        says = "With all scores equal (W_Q and W_K set to 0) the output is right. With others it isn't."
        return Finding("scores-are-wrong", says, look="the steps from queries and keys to weights.")
    matrix = fitted(asked.x.reshape(asked.b, -1), out.reshape(asked.b, -1))
    if matrix is None:
        says = f"{start}. Yours is no weighted sum of the inputs at all: something else bends the numbers."
        return Finding("values-bent", says, look="what happens to the values besides products.")
    d = asked.d_model
    # (token in, feature in, token out, feature out)
    matrix = matrix.reshape(asked.n, d, asked.n, d)
    first = matrix[0, :, 0]
    same = (matrix - first[None, :, None, :]).abs().max() < 2e-3
    if bool(same):
        return _met(asked, first * asked.n, start, with_w_o)
    shares = matrix.abs().amax((1, 3))
    own = shares.diagonal().min() > 1e-3 and (shares - shares.diagonal().diag()).max() < 1e-3
    if bool(own):
        says = f"{start}. In yours each token keeps to itself: nothing is mixed."
        return Finding("nothing-mixed", says, look="the product of weights and values.")
    equal = (matrix.sum(0) - matrix.sum(0)[:, :1]).abs().max() < 2e-3
    if bool(equal):
        says = f"{start}, the same for every query. In yours tokens count differently all the same."
        return Finding(
            "tokens-count-differently", says, look="what is added besides the heads, and a mask inside."
        )
    says = (
        f"{start}, the same for every query. In yours the tokens' outputs differ: pieces of tokens end up in "
        "other rows, or something besides the heads is added."
    )
    return Finding("tokens-mixed", says, look="`view` and `transpose` in the split and in the merge.")


def _made_with_others(asked: Asked, call: Call, with_w_o: bool, zero: Tensor) -> str:
    """Whether the values are made with W_Q or W_K, seen with the other one at 0."""
    for name, other in (("W_Q", {"w_k": zero}), ("W_K", {"w_q": zero})):
        out = asked.asked(call, with_w_o, **other)
        if out is None:
            continue
        want = asked.x.mean(1, keepdim=True) @ getattr(asked, name.lower())
        want = want @ asked.w_o if with_w_o else want
        if torch.allclose(out, want.expand_as(out), atol=1e-3):
            return f"the values are made with {name}."
    return ""


def _met(asked: Asked, have: Tensor, start: str, with_w_o: bool) -> Finding:
    """Which matrices the mean of x meets. have: (d_model, d_model), W_V W_O when it is right."""
    named: dict[str, Tensor] = {}
    for name in ("w_q", "w_k", "w_v", "w_o") if with_w_o else ("w_q", "w_k", "w_v"):
        w = getattr(asked, name).double()
        symbol = f"W_{name[-1].upper()}"
        named[symbol], named[f"{symbol} transposed"] = w, w.T
    look = "which matrices the values meet, and in which order."
    tried: list[tuple[str, Tensor]] = [("no matrix", torch.eye(asked.d_model).double())]
    tried += list(named.items())
    tried += [
        (f"{a}, then {b}", one @ two) for (a, one), (b, two) in itertools.product(named.items(), repeat=2)
    ]
    for words, made in tried:
        factor = _times(have, made)
        if factor is not None:
            often = "" if abs(factor - 1) < 5e-3 else f", {factor:.4g} times"
            right = words == ("W_V, then W_O" if with_w_o else "W_V")
            meets = f"{start}. In yours " + (
                f"it comes out {factor:.4g} times" if right else f"the mean of x meets {words}{often}"
            )
            return Finding("values-another-way", f"{meets}.", look=look)
    w_v, w_o = asked.w_v.double(), asked.w_o.double() if with_w_o else torch.eye(asked.d_model).double()
    between = torch.linalg.inv(w_v) @ have @ torch.linalg.inv(w_o)
    between = torch.where(between.abs() < 5e-3, torch.zeros_like(between), between)
    if int((between != 0).sum()) <= 2 * asked.d_model:
        return Finding("values-rearranged", f"{start}. {_rearranged(asked, between)}", look=look)
    says = (
        f"{start}. In yours the mean of x meets something else than {'W_V and W_O' if with_w_o else 'W_V'}."
    )
    return Finding("values-another-way", says, look=look)


def _rearranged(asked: Asked, between: Tensor) -> str:
    """Where the features of the values end up in the concatenation."""
    d_k = asked.d_k
    for j in range(asked.d_model):
        to = between[j].nonzero()[:, 0].tolist()
        if to != [j]:
            what = f"feature {j % d_k} of head {j // d_k + 1}"
            if not to:
                return f"In yours {what} gets lost."
            places = in_a_row([f"feature {t % d_k} of head {t // d_k + 1}" for t in to])
            return f"In yours {what} comes out as {places}: split and merge don't fit each other."
    factors = sorted({round(float(f), 3) for f in between.diagonal()})
    return f"In yours features count differently: {in_a_row([f'{f:g}' for f in factors[:4]])} times."


def _times(have: Tensor, made: Tensor) -> float | None:
    """c where `have` is c times `made`, or None."""
    c = float((have * made).sum() / (made * made).sum())
    return c if abs(c) > 1e-3 and torch.allclose(have, c * made, atol=5e-3) else None
