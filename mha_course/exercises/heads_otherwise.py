"""Things done to all heads that are rarer than the known mistakes: settings of the workbench, with words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.wrong_attention import heads_with, merge, split

# What was done, and where to look.
Words = tuple[str, str]


def _bent(bend: Callable[[Tensor], Tensor], parts: str) -> dict[str, Any]:
    """Queries, keys or values put through a function."""
    return {
        "meet": lambda h, q, k, v: tuple(
            bend(part) if name in parts else part for name, part in zip("qkv", (q, k, v), strict=True)
        )
    }


def _by_sum(s: Tensor) -> Tensor:
    return s / s.sum(-1, keepdim=True)


def _one(q: Tensor, **sizes: int) -> float:
    return 1.0


def _features(bend: Callable[[Tensor], Tensor]) -> dict[str, Any]:
    """Linear attention: products of features, divided by their sum."""
    return {"compare": lambda q, k: bend(q) @ bend(k).mT, "factor": _one, "soften": _by_sum}


def _behind(bend: Callable[[Tensor], Tensor]) -> dict[str, Any]:
    return {"join": lambda z: bend(merge(z))}


_BEND = "what happens between the projections and the scores."
_AFTER = "what happens between the heads and the `return` line."
_SCORES = "the product of queries and keys."
_BENDS: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("negative numbers become 0 (a ReLU)", F.relu),
    ("the numbers go through a tanh", torch.tanh),
    ("the numbers go through a sigmoid", torch.sigmoid),
    ("the numbers go through a GELU", F.gelu),
    ("the signs get lost", torch.abs),
    ("a softmax is applied", lambda t: t.softmax(-1)),
    ("they are scaled to length 1", lambda t: F.normalize(t, dim=-1)),
    ("they are standardised (a layer norm)", lambda t: F.layer_norm(t, t.shape[-1:])),
)
_PARTS = {
    "qkv": "Queries, keys and values",
    "qk": "Queries and keys",
    "v": "Values",
    "q": "Queries",
    "k": "Keys",
    "kv": "Keys and values",
}

SETTINGS: tuple[tuple[Words, dict[str, Any]], ...] = (
    *(
        ((f"{_PARTS[parts]} are changed before heads attend: {words}.", _BEND), _bent(bend, parts))
        for parts in _PARTS
        for words, bend in _BENDS
    ),
    *(
        ((f"The result is changed behind the heads: {words}.", _AFTER), _behind(bend))
        for words, bend in _BENDS
    ),
    *(
        (
            (f"Large scores are flattened: they go through a tanh that ends at {c}.", _SCORES),
            {"soften": lambda s, c=c: (c * torch.tanh(s / c)).softmax(-1)},
        )
        for c in (1, 2, 3, 5, 8, 10, 15, 20, 30, 50)
    ),
    *(
        (
            ("Queries and keys are added, not multiplied (additive attention).", _SCORES),
            {
                "compare": lambda q, k, bend=bend: bend(q.unsqueeze(-2) + k.unsqueeze(-3)).sum(-1),
                "factor": factor,
            },
        )
        for bend in (torch.tanh, F.relu, torch.Tensor.clone)
        for factor in (_one, lambda q, **s: q.shape[-1] ** -0.5)
    ),
    (
        ("There is no softmax: products of features (ELU + 1) are divided by their sum.", _SCORES),
        _features(lambda t: F.elu(t) + 1),
    ),
    (
        ("There is no softmax: products of features (ReLU) are divided by their sum.", _SCORES),
        _features(F.relu),
    ),
    (
        (
            "The softmax goes over the features of queries and the tokens of keys, before the product.",
            _SCORES,
        ),
        {"compare": lambda q, k: q.softmax(-1) @ k.softmax(-2).mT, "factor": _one, "soften": lambda s: s},
    ),
    *(
        (
            ("Features attend to features: queries and keys are multiplied along the tokens.", _SCORES),
            {"compare": lambda q, k: q.mT @ k, "mix": mix, "factor": factor},
        )
        for mix in (lambda w, k, v: v @ w, lambda w, k, v: v @ w.mT)
        for factor in (_one, lambda q, **s: q.shape[-1] ** -0.5, lambda q, n, **s: n**-0.5)
    ),
    (
        ("Each query meets only its own key: an elementwise product stands where `@` belongs.", _SCORES),
        {
            "compare": lambda q, k: (q * k).sum(-1, keepdim=True),
            "soften": lambda s: s.softmax(-2),
            "mix": lambda w, k, v: w * v,
        },
    ),
    (
        ("Only the diagonal of the weights is used: each token gets its own value alone.", "`*` and `@`."),
        {"mix": lambda w, k, v: w.diagonal(dim1=-2, dim2=-1).unsqueeze(-1) * v},
    ),
    (
        ("Queries meet the keys of all sentences, summed up: an index of the batch got lost.", _SCORES),
        {"compare": lambda q, k: q @ k.sum(0, keepdim=True).mT},
    ),
    *(
        (
            (
                f"Scores are cut off at {c} (a clamp): larger differences get lost.",
                "what is done to large scores.",
            ),
            {"soften": lambda s, low=low, high=high: s.clamp(low, high).softmax(-1)},
        )
        for c in (1, 2, 3, 4, 5, 8, 10)
        for low, high in ((None, c), (-c, c))
    ),
    (
        (
            "Each column is divided by a row's sum: the sum has lost its axis (`keepdim`).",
            "the shape of the sum that divides.",
        ),
        {"soften": lambda s: s.exp() / s.exp().sum(-1).unsqueeze(-2)},
    ),
    (
        ("The tokens of keys or of values stand in reversed order.", "a flip."),
        {"mix": lambda w, k, v: w @ v.flip(-2)},
    ),
    (("The keys are added to the weighted sum.", _AFTER), {"mix": lambda w, k, v: w @ v + k}),
    (("The weighted sum is taken from the values.", _AFTER), {"mix": lambda w, k, v: v - w @ v}),
    (("The tokens of the result stand in reversed order.", _AFTER), _behind(lambda y: y.flip(1))),
    (("The features of the result stand in reversed order.", _AFTER), _behind(lambda y: y.flip(2))),
    (("The sentences of the result have changed places.", _AFTER), _behind(lambda y: y.flip(0))),
    (("The sentences of the result have changed places.", _AFTER), _behind(lambda y: y.roll(1, 0))),
    (("The result is shifted by one token.", _AFTER), _behind(lambda y: y.roll(1, 1))),
    (("The result is shifted by one token.", _AFTER), _behind(lambda y: y.roll(-1, 1))),
    (("The result is summed up along the tokens.", _AFTER), _behind(lambda y: y.cumsum(1))),
    (
        ("Every token gets the mean of the result over the tokens.", _AFTER),
        _behind(lambda y: y.mean(1, keepdim=True).expand_as(y)),
    ),
    (
        ("Every sentence gets the result of the first one.", "what happens to axis 0."),
        _behind(lambda y: y[:1].expand_as(y)),
    ),
    (
        ("Every sentence gets the result of the last one.", "what happens to axis 0."),
        _behind(lambda y: y[-1:].expand_as(y)),
    ),
    (
        ("Every sentence gets the mean of the results of all.", "what happens to axis 0."),
        _behind(lambda y: y.mean(0, keepdim=True).expand_as(y)),
    ),
    (
        ("The heads are multiplied with each other. Concat keeps all their numbers, side by side.", _AFTER),
        {"join": lambda z: z.prod(1)},
    ),
    (
        ("The smallest number over the heads is taken. Concat keeps them all.", _AFTER),
        {"join": lambda z: z.amin(1)},
    ),
    (
        ("The largest number over the heads stands in every place.", _AFTER),
        {"join": lambda z: merge(z.amax(1, keepdim=True).expand_as(z))},
    ),
)


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


def _all_one_sentence(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    return heads_with(x.reshape(1, -1, x.shape[-1]), w_q, w_k, w_v, h).reshape(x.shape)


def _read_along_the_tokens(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    """(b, n, d_model) taken for (n, b, d_model) and folded: (n, b * h, d_k)."""
    n, b, d_model = x.shape
    q, k, v = ((x @ w).reshape(n, b * h, -1).transpose(0, 1) for w in (w_q, w_k, w_v))
    z = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v
    return z.transpose(0, 1).reshape(n, b, d_model)


_SEQUENCE_FIRST = "which axis holds sentences and which tokens: x is `(b, n, d_model)`."
FUNCTIONS: tuple[tuple[Words, Callable[..., Tensor]], ...] = (
    (
        (
            "Each head reads what the heads before it have written into `x`. All should read the original.",
            "what is assigned to inside the loop.",
        ),
        _one_after_the_other,
    ),
    (("The queries are added to the output.", _AFTER), _with_queries),
    (
        ("The concatenation is multiplied by `w_v` once more, as if that were W_O.", _AFTER),
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
    (
        ("All sentences are joined to one: tokens attend to those of other sentences.", "axis 0 and axis 1."),
        _all_one_sentence,
    ),
)
