"""Things done to all heads that are no settings of the workbench: other inputs, other orders, other axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from mha_course.exercises.mistakes.workbench import attend_with, heads_with, merge, split
from mha_course.exercises.reading.heads_otherwise import AFTER, BENDS, Words


def _one_after_the_other(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    """Each head writes its result into x, and the next one reads it there."""
    d_k, y = x.shape[-1] // h, x.clone()
    for i in range(h):
        mine = slice(i * d_k, (i + 1) * d_k)
        q, k, v = (y @ w[:, mine] for w in (w_q, w_k, w_v))
        y[..., mine] = (q @ k.mT / d_k**0.5).softmax(-1) @ v
    return y


def _with_queries(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    return heads_with(x, w_q, w_k, w_v, h) + x @ w_q


def _values_from_heads(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    return heads_with(x, w_q, w_k, w_v, h) @ w_v


def _weights_twice(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    q, k, v = (split(x @ w, h) for w in (w_q, w_k, w_v))
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return merge(weights @ (weights @ v))


def _tokens_as_sentences(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    return heads_with(x.transpose(0, 1), w_q, w_k, w_v, h).transpose(0, 1)


def _first_axes_confused(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    b, n, d_model = x.shape
    return heads_with(x.reshape(n, b, d_model), w_q, w_k, w_v, h).reshape(b, n, d_model)


def _tokens_shared_out(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    """Tokens, not features, are cut into h pieces; each piece attends within itself at full width."""
    return _within(((x @ w).chunk(h, 1) for w in (w_q, w_k, w_v)), (x.shape[-1] // h) ** -0.5)


def _tokens_shared_out_evenly(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    return _within(((x @ w).tensor_split(h, 1) for w in (w_q, w_k, w_v)), (x.shape[-1] // h) ** -0.5)


def _within(pieces: Iterable[tuple[Tensor, ...]], scale: float) -> Tensor:
    q, k, v = pieces
    return torch.cat([(a @ b.mT * scale).softmax(-1) @ c for a, b, c in zip(q, k, v, strict=True)], 1)


def _all_one_sentence(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    return heads_with(x.reshape(1, -1, x.shape[-1]), w_q, w_k, w_v, h).reshape(x.shape)


def _read_along_the_tokens(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    """(b, n, d_model) taken for (n, b, d_model) and folded: (n, b * h, d_k)."""
    n, b, d_model = x.shape
    q, k, v = ((x @ w).reshape(n, b * h, -1).transpose(0, 1) for w in (w_q, w_k, w_v))
    z = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v
    return z.transpose(0, 1).reshape(n, b, d_model)


def _of_changed_input(bend: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda x, *others: heads_with(bend(x), *others)


def _chained(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    """x = x @ w_q, and so on: each projection starts from the one before."""
    q = x @ w_q
    k = q @ w_k
    parts = (split(y, h) for y in (q, k, k @ w_v))
    return merge(attend_with(*parts)[0])


def _chained_queries(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    return heads_with(x, w_q @ w_k, w_k, w_v, h)


_INPUTS: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    *BENDS,
    ("it is multiplied by the root of d_model", lambda x: x * x.shape[-1] ** 0.5),
    ("it is divided by the root of d_model", lambda x: x / x.shape[-1] ** 0.5),
    ("it is halved", lambda x: x / 2),
    ("it is doubled", lambda x: x * 2),
    ("the mean over the tokens is taken off", lambda x: x - x.mean(1, keepdim=True)),
    ("the mean over the features is taken off", lambda x: x - x.mean(-1, keepdim=True)),
    ("the number of each place is added", lambda x: x + torch.arange(x.shape[1], dtype=x.dtype)[:, None]),
    ("its tokens stand in reversed order", lambda x: x.flip(1)),
    ("its features stand in reversed order", lambda x: x.flip(2)),
)
_SEQUENCE_FIRST = "which axis holds sentences and which tokens: x is `(b, n, d_model)`."
FUNCTIONS: tuple[tuple[Words, Callable[..., Tensor]], ...] = (
    (
        (
            "Each head reads what the heads before it have written into `x`. All should read the original.",
            "what is assigned to inside the loop.",
        ),
        _one_after_the_other,
    ),
    *(
        (
            (f"The input is changed first: {words}.", "what happens to `x` before it is projected."),
            _of_changed_input(bend),
        )
        for words, bend in _INPUTS
    ),
    (
        ("Each projection starts from the one before: `x` is overwritten.", "what `w_k` and `w_v` multiply."),
        _chained,
    ),
    (("The queries are projected by `w_q` and then by `w_k`.", "what `w_k` multiplies."), _chained_queries),
    (("The queries are added to the output.", AFTER), _with_queries),
    (
        ("The concatenation is multiplied by `w_v` once more, as if that were W_O.", AFTER),
        _values_from_heads,
    ),
    (("The weights are applied twice.", "how often the weights multiply."), _weights_twice),
    (
        ("Tokens are taken for sentences: each place attends across the batch.", _SEQUENCE_FIRST),
        _tokens_as_sentences,
    ),
    (
        (
            "The two axes in front are confused: `(b, n)` is read as `(n, b)`, and sentences mix.",
            _SEQUENCE_FIRST,
        ),
        _first_axes_confused,
    ),
    (
        (
            "The two axes in front are confused: `(b, n)` is read as `(n, b)`, and sentences mix.",
            _SEQUENCE_FIRST,
        ),
        _read_along_the_tokens,
    ),
    *(
        (
            (
                "The tokens are cut into pieces, not the features: tokens attend within their piece only.",
                "the axis that is cut, and the one along which the pieces are joined.",
            ),
            shared_out,
        )
        for shared_out in (_tokens_shared_out, _tokens_shared_out_evenly)
    ),
    (
        ("All sentences are joined to one: tokens attend to those of other sentences.", "axis 0 and axis 1."),
        _all_one_sentence,
    ),
)
