"""Known mistakes of `content_bias`: which columns a head owns, what is summed, what comes back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def in_order(w_k: Tensor, h: int) -> Tensor:
    """(d_model, h * d_k) -> (h, d_model, d_k): a head owns neighbouring columns."""
    return w_k.unflatten(1, (h, -1)).transpose(0, 1)


def dealt(w_k: Tensor, h: int) -> Tensor:
    """(d_model, h * d_k) -> (h, d_model, d_k): column j goes to head j % h."""
    return w_k.unflatten(1, (-1, h)).movedim(-1, 0)


def content_with(
    w_k: Tensor,
    b_q: Tensor,
    h: int,
    *,
    cut: Step = in_order,
    cut_bias: Step = lambda b_q, h: b_q.unflatten(0, (h, -1)),
    meet: Step = lambda keys, bias: keys * bias[:, None],
    add: Step = lambda products: products.sum(-1),
    finish: Step = lambda c, d_k: c,
    whole: Step | None = None,
) -> Tensor:
    """The vectors c_i with the steps given; right without any: (h, d_model)."""
    if whole is not None:
        return whole(w_k * b_q, h)
    keys = cut(w_k, h)
    return finish(add(meet(keys, cut_bias(b_q, h))), len(b_q) // h)


_with = partial(Otherwise, content_with)

CONTENT_MISTAKES = (
    Mistake(
        "heads-added-up",
        _with(finish=lambda c, d_k: c.sum(0)),
        "All heads are added up to one vector: `w_k @ b_q` sums over the features of every head. Each head "
        "has a vector of its own.",
        "over which features the sum goes.",
    ),
    Mistake(
        "all-heads-in-each",
        _with(finish=lambda c, d_k: c.sum(0).expand_as(c)),
        "Every head gets the sum over the features of all heads. Its own d_k features are enough.",
        "over which features the sum goes.",
    ),
    Mistake(
        "features-dealt-in-turn",
        _with(cut=dealt, cut_bias=lambda b_q, h: b_q.unflatten(0, (-1, h)).T),
        "Features are dealt to the heads in turn. Head i owns d_k neighbours.",
        "the order of `h` and `d_k` where an axis is cut.",
    ),
    Mistake(
        "columns-dealt-in-turn",
        _with(cut=dealt),
        "The columns of `w_k` are dealt to the heads in turn, and those of `b_q` are not.",
        "the order of `h` and `d_k` where `w_k` is cut.",
    ),
    Mistake(
        "bias-dealt-in-turn",
        _with(cut_bias=lambda b_q, h: b_q.unflatten(0, (-1, h)).T),
        "`b_q` is dealt to the heads in turn, and the columns of `w_k` are not.",
        "the order of `h` and `d_k` where `b_q` is cut.",
    ),
    Mistake(
        "cut-without-transpose",
        _with(cut=lambda w_k, h: w_k.reshape(h, len(w_k), -1)),
        "`w_k` is cut straight into (h, d_model, d_k): `view` counts along rows, and a row of `w_k` holds "
        "all heads. So heads get rows of other features.",
        "what `view` does to the order of the numbers, and which axis should be cut.",
    ),
    Mistake(
        "products-without-transpose",
        _with(whole=lambda products, h: products.reshape(h, len(products), -1).sum(-1)),
        "The products of `w_k` and `b_q` are right, and cut straight into (h, d_model, d_k): `view` counts "
        "along rows, and a row holds all heads.",
        "what `view` does to the order of the numbers, and which axis should be cut.",
    ),
    Mistake(
        "taken-for-rows",
        _with(cut=lambda w_k, h: w_k.reshape(h, -1, len(w_k)).mT),
        "`w_k` is cut into (h, d_k, d_model), as if its rows were features of heads. It multiplies from the "
        "right: features of heads are columns.",
        "which axis of `w_k` belongs to the heads.",
    ),
    Mistake(
        "columns-for-heads",
        _with(finish=lambda c, d_k: c.mT),
        "The result is (d_model, h). Wanted is a row for each head, (h, d_model).",
        "the order of the two axes.",
    ),
    Mistake(
        "scaled-already",
        _with(finish=lambda c, d_k: c / d_k**0.5),
        "The division by the root of d_k is done already. Here c is what is added before it.",
        "a factor.",
    ),
    Mistake(
        "not-summed",
        _with(add=lambda products: products.mT),
        "There is a vector for each feature of a head, (h, d_k, d_model). A score sums over the features.",
        "the axis of d_k.",
    ),
    Mistake(
        "not-summed-features-last",
        _with(add=lambda products: products),
        "There is a number for each feature of a head, (h, d_model, d_k). A score sums over the features.",
        "the axis of d_k.",
    ),
    Mistake(
        "averaged",
        _with(add=lambda products: products.mean(-1)),
        "The products are averaged over the features. A score is a sum.",
        "`sum` and `mean`.",
    ),
    Mistake(
        "first-bias-for-all",
        _with(cut_bias=lambda b_q, h: b_q.unflatten(0, (h, -1))[:1].expand(h, -1)),
        "Every head uses the bias of head 1.",
        "the axis of the heads in `b_q`.",
    ),
    Mistake(
        "first-keys-for-all",
        _with(cut=lambda w_k, h: in_order(w_k, h)[:1].expand(h, -1, -1)),
        "Every head uses the key matrix of head 1.",
        "the axis of the heads in `w_k`.",
    ),
    Mistake(
        "bias-left-out",
        _with(meet=lambda keys, bias: keys),
        "`b_q` has no effect: the columns of `w_k` are added up as they are.",
        "what the columns are multiplied by.",
    ),
    Mistake(
        "bias-added",
        _with(meet=lambda keys, bias: keys + bias[:, None]),
        "`b_q` is added to the columns of `w_k`. A score multiplies the two.",
        "what the columns are multiplied by.",
    ),
)
