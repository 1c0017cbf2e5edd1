"""What each device's share is made of, found backwards: rows of W_O, heads, weighted sums, weights."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Finding
from mha_course.exercises.mistakes.of_devices import in_order, shares_with
from mha_course.exercises.mistakes.workbench import split
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.factors import factor_finding, softmax_scale

_B, _N, _H, _D_K, _DEVICES = 4, 5, 6, 7, 3  # few tokens, so that weights follow from what a head holds
_SIZES = {"b": _B, "n": _N, "n_k": _N, "h": _H, "d_k": _D_K, "d_model": _H * _D_K, "devices": _DEVICES}


@functools.cache
def _asked() -> tuple[Any, ...]:
    """Arguments whose matrices can be inverted well, in float64."""
    g, d = torch.Generator().manual_seed(29), _H * _D_K
    x = torch.randn(_B, _N, d, generator=g, dtype=torch.float64)
    matrices = [torch.randn(d, d, generator=g, dtype=torch.float64) * d**-0.5 for _ in range(3)]
    w_o = torch.linalg.qr(torch.randn(d, d, generator=g, dtype=torch.float64)).Q
    return (x, *matrices, w_o, _H, _DEVICES)


def read_backwards(call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The first step, seen from the end, that does not fit; None where shares don't have their shape."""
    x, w_q, w_k, w_v, w_o, h, devices = asked = _asked()
    out = call(tuple(a.clone() if isinstance(a, Tensor) else a for a in asked))
    if out.error is not None:
        code = out.error_text.replace("`", "'")
        sizes = ", ".join(f"{name}={_SIZES[name]}" for name in ("b", "n", "h", "d_k", "devices"))
        says = f"The numbers are not right, and with other sizes ({sizes}) it stops with `{code}`."
        look = "sizes that fit by chance: print every shape."
        return Finding("stops-elsewhere", says, look=look)
    if len(out.leaves) != 1 or out.leaves[0].shape != (devices, *x.shape):
        return None
    have = out.leaves[0].double()
    if not bool(have.isfinite().all()) or _close(have, shares_with(*asked)):
        return None
    silent = call((x.clone(), w_q.clone(), w_k.clone(), w_v.clone(), torch.zeros_like(w_o), h, devices))
    if silent.error is None and silent.leaves and float(silent.leaves[0].abs().max()) > 1e-6:
        says = "With zeros for W_O the shares are not 0: something is added that W_O takes no part in."
        return Finding("something-added", says, look="sums behind W_O.")
    own = in_order(h, devices, _D_K)
    concat = have @ torch.linalg.inv(w_o)  # (devices, b, n, d_model): what each row of W_O was multiplied by
    for r in range(devices):
        found = _of_rows(concat[r], own[r].tolist(), r)
        if found:
            return found
    for r in range(devices):
        heads = split(concat[r][..., own[r]], h // devices)
        q, k, v = (split(x @ w[:, own[r]], h // devices) for w in (w_q, w_k, w_v))
        found = _of_values(heads, v, r)
        if found:
            return found
    return _of_weights(concat, own, x, w_q, w_k, w_v)


def _of_rows(concat: Tensor, own: list[int], r: int) -> Finding | None:
    """Whether a share takes the device's rows of W_O and no others."""
    used = (concat.abs().amax((0, 1)) > 1e-3).nonzero().flatten().tolist()
    if set(used) == set(own):
        return None
    wanted = f"{own[0]} to {own[-1]}"
    look = "how W_O is cut, and what it is multiplied by."
    if not used:
        return Finding("empty-share", f"The share of device {r + 1} is 0.", look="what is collected.")
    if set(used) < set(own):
        says = f"Of the rows {wanted} of W_O the share of device {r + 1} takes {len(used)} only."
        return Finding("rows-missing", says, look=look)
    outside = [row for row in used if row not in own]
    says = (
        f"With d_model = {_H * _D_K} and {_DEVICES} devices, device {r + 1} holds the rows {wanted} of W_O. "
        f"Its share takes {len(outside)} more, from row {outside[0]} on."
    )
    if len(outside) == len(used):
        says = says.replace(f"takes {len(outside)} more", f"takes none of them, but {len(outside)} others")
    return Finding("other-rows", says, look=look)


def _of_values(heads: Tensor, v: Tensor, r: int) -> Finding | None:
    """Whether every head holds sums of its own values, one weight for each token of the sentence."""
    for j in range(heads.shape[1]):
        weights = _weights(heads[:, j], v[:, j])
        if not _close(weights @ v[:, j], heads[:, j]):
            says = (
                f"The rows of W_O fit. But head {j + 1} of device {r + 1} holds no weighted sum of its own "
                "values: features, tokens or sentences come in that don't belong to it, or numbers are "
                "changed on the way."
            )
            look = "how features become heads, and how heads become rows again."
            return Finding("not-its-values", says, look=look)
    return None


def _of_weights(
    concat: Tensor, own: list[Tensor], x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor
) -> Finding | None:
    """What the weights of all heads have in common: a factor of the scores, or sums that are not 1."""
    scales, look = [], "what is done with the scores."
    for r, places in enumerate(own):
        many = len(places) // _D_K
        q, k, v = (split(x @ w[:, places], many) for w in (w_q, w_k, w_v))
        weights = _weights(split(concat[r][..., places], many), v)
        sums = weights.sum(-1)
        if not _close(sums, torch.ones_like(sums)):
            worst = float(sums.flatten()[(sums - 1).abs().argmax()])
            says = f"Heads hold weighted sums of their values, but the weights of a row sum to {worst:.4g}."
            return Finding("rows-do-not-sum-to-one", says, look="the softmax, and its axis.")
        scale = softmax_scale(q @ k.mT / _D_K**0.5, weights)
        scales.append(scale)
    if all(scale is not None for scale in scales):
        found = factor_finding([_SIZES] * len(scales), scales, "")
        if found:
            return found
    says = (
        "Values and rows of W_O fit, and weights sum to 1. But they are no softmax of the products of a "
        "head's queries and keys."
    )
    return Finding("other-weights", says, look=f"how queries and keys become heads, and {look}")


def _weights(heads: Tensor, v: Tensor) -> Tensor:
    """The weights (..., n, n) that make the heads from the values, as well as any can."""
    return heads @ torch.linalg.pinv(v)


def _close(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a, b, rtol=1e-3, atol=1e-3)
