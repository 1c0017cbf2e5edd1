"""Known mistakes of `composition_matrices`: products, gates, the static part, and how two sides meet."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise
from mha_course.exercises.mistakes.workbench import once

Step = Callable[..., Any]


def _times(first: Tensor, second: Tensor) -> Tensor:
    return first @ second


def _added(product: Tensor, gates: Tensor) -> Tensor:
    return product + gates


def composed_with(
    w_b: Tensor,
    w_q1: Tensor,
    w_q2: Tensor,
    g_q: Tensor,
    w_k1: Tensor,
    w_k2: Tensor,
    g_k: Tensor,
    *,
    first: Step = lambda w: w,
    product: Step = _times,
    squash: Step = lambda g: g,
    gate: Step = torch.diag_embed,
    side: Step = _added,
    base: Step = lambda w_b: w_b,
    query: Step = lambda of_query: of_query,
    key: Step = lambda of_key: of_key,
    meet: Step = lambda base, q, k: base + q[:, None] + k[None],
    finish: Step = lambda matrices: matrices,
    whole: Step | None = None,
) -> Tensor:
    """W of every pair with the steps given; right without any: (n_q, n_k, h, h)."""
    if whole is not None:
        return whole(w_b, w_q1, w_q2, g_q, w_k1, w_k2, g_k)

    def of(w_1: Tensor, w_2: Tensor, g: Tensor) -> Tensor:
        return once(side, once(product, once(first, w_1), w_2), once(gate, once(squash, g)))

    return finish(meet(base(w_b), query(of(w_q1, w_q2, g_q)), key(of(w_k1, w_k2, g_k))))


def identity(w_b: Tensor) -> Tensor:
    """The identity, as wide as W_b."""
    return torch.eye(len(w_b), dtype=w_b.dtype)


def normalised(w_1: Tensor) -> Tensor:
    """Divided by the root mean square over heads, as the layer does before."""
    return w_1 * torch.rsqrt(w_1.square().mean(1, keepdim=True) + 1e-6)


_with = partial(Otherwise, composed_with)

COMPOSITION_MISTAKES = (
    Mistake(
        "keys-first",
        _with(meet=lambda base, q, k: base + q[None] + k[:, None]),
        "Keys come first, (n_k, n_q, h, h). Wanted is the axis of queries first.",
        "where each side gets its new axis.",
    ),
    Mistake(
        "gate-for-a-column",
        _with(gate=lambda g: g[:, None, :].expand(-1, g.shape[-1], -1)),
        "A gate is added to a whole column of the matrix. It stands on the diagonal alone: a head's gate "
        "weighs what the head gives to itself.",
        "how the gates are added to a matrix.",
    ),
    Mistake(
        "gate-for-a-row",
        _with(gate=lambda g: g[:, :, None].expand(-1, -1, g.shape[-1])),
        "A gate is added to a whole row of the matrix. It stands on the diagonal alone: a head's gate weighs "
        "what the head gives to itself.",
        "how the gates are added to a matrix.",
    ),
    Mistake(
        "no-gates",
        _with(side=lambda product, gates: product),
        "The gates are missing.",
        "where `g_q` and `g_k` are used.",
    ),
    Mistake(
        "gates-alone",
        _with(side=lambda product, gates: gates),
        "The low-rank products are missing.",
        "where `w_q1`, `w_q2`, `w_k1` and `w_k2` are used.",
    ),
    Mistake(
        "gates-multiplied",
        _with(side=lambda product, gates: gates @ product),
        "The gates multiply the low-rank product. They are a part of their own, and added.",
        "how a gate meets the product.",
    ),
    Mistake(
        "static-missing",
        _with(base=torch.zeros_like),
        "The static matrix is missing.",
        "where `w_b` is used.",
    ),
    Mistake(
        "identity-for-static",
        _with(base=identity),
        "The identity stands for the static matrix. That is where W_b starts; here it is given.",
        "where `w_b` is used.",
    ),
    Mistake(
        "identity-added",
        _with(base=lambda w_b: w_b + identity(w_b)),
        "The identity is added. W_b is the whole static part already.",
        "`eye`.",
    ),
    Mistake(
        "static-twice",
        _with(base=lambda w_b: 2 * w_b),
        "The static matrix is there twice, once for each side. The pair has one.",
        "where `w_b` is added.",
    ),
    Mistake(
        "queries-alone",
        _with(key=torch.zeros_like),
        "The key's side is missing.",
        "where `w_k1`, `w_k2` and `g_k` are used.",
    ),
    Mistake(
        "keys-alone",
        _with(query=torch.zeros_like),
        "The query's side is missing.",
        "where `w_q1`, `w_q2` and `g_q` are used.",
    ),
    Mistake(
        "product-turned",
        _with(product=lambda first, second: (first @ second).mT),
        "The low-rank products are transposed: w_1 takes the old heads in, w_2 gives the new ones out.",
        "the order and the axes of the two factors.",
    ),
    Mistake(
        "branches-summed-first",
        _with(product=lambda first, second: first.sum(2)[:, :, None] * second.sum(1)[:, None]),
        "The {r} branches are added up in each factor before they meet. Each branch of w_1 belongs to one of "
        "w_2.",
        "over what the product sums.",
    ),
    Mistake(
        "first-branch-alone",
        _with(product=lambda first, second: first[:, :, :1] @ second[:, :1]),
        "Of {r} branches only the first one takes part.",
        "over what the product sums.",
    ),
    Mistake(
        "sides-multiplied",
        _with(meet=lambda base, q, k: base + q[:, None] @ k[None]),
        "The query's side and the key's are multiplied. All parts are added.",
        "how the two sides meet.",
    ),
    Mistake(
        "static-multiplied",
        _with(meet=lambda base, q, k: base @ (q[:, None] + k[None])),
        "The static matrix multiplies the dynamic part. All parts are added.",
        "how `w_b` meets the rest.",
    ),
    Mistake(
        "factors-normalised",
        _with(first=normalised),
        "The first factors are divided by their root mean square. The layer did that already: here they are "
        "used as they come.",
        "what is done with `w_q1` and `w_k1` before the product.",
    ),
    Mistake(
        "gates-through-tanh",
        _with(squash=torch.tanh),
        "The gates go through a tanh. The layer did that already: here they are used as they come.",
        "what is done with the gates.",
    ),
    Mistake(
        "sides-averaged",
        _with(meet=lambda base, q, k: base + (q[:, None] + k[None]) / 2),
        "The two sides are averaged. They are added.",
        "divisions.",
    ),
    Mistake(
        "pairs-in-a-row",
        _with(finish=lambda matrices: matrices.flatten(0, 1)),
        "All pairs stand in one axis. Queries and keys have one each.",
        "the last step.",
    ),
)
