"""Things done to all heads that are rarer than the known mistakes: settings of the workbench, with words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.mistakes.workbench import merge, split, without_transpose

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


def _by_number(s: Tensor, power: float, first: int) -> Tensor:
    """Scores whose scale is replaced by a power of the head's number."""
    number = torch.arange(first, first + s.shape[1], dtype=s.dtype).view(1, -1, 1, 1)
    return s / number**power


_CUT = "how each of the three becomes `(b, h, n, d_k)`."
BEND = "what happens between the projections and the scores."
AFTER = "what happens between the heads and the `return` line."
_SCORES = "the product of queries and keys."
BENDS: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
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
    "qv": "Queries and values",
}

SETTINGS: tuple[tuple[Words, dict[str, Any]], ...] = (
    *(
        ((f"{_PARTS[parts]} are changed before heads attend: {words}.", BEND), _bent(bend, parts))
        for parts in _PARTS
        for words, bend in BENDS
    ),
    *(((f"The result is changed behind the heads: {words}.", AFTER), _behind(bend)) for words, bend in BENDS),
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
    *(
        (
            (f"{_PARTS[parts]} are split by `view` alone; the rest is split as it should be.", _CUT),
            _bent(lambda t: without_transpose(merge(t), t.shape[1]), parts),
        )
        for parts in ("qk", "kv", "qv")
    ),
    (
        ("Scores are added up from head to head.", "what is carried from one round of the loop to the next."),
        {"soften": lambda s: s.cumsum(1).softmax(-1)},
    ),
    (
        ("Each head's result is transposed and reshaped: tokens and features mix.", AFTER),
        {"join": lambda z: merge(z.mT.reshape(z.shape))},
    ),
    *(
        (
            (
                "Each head has a divisor of its own, made of its number.",
                "the divisor: it is the same for all.",
            ),
            {
                "factor": factor,
                "soften": lambda s, power=power, first=first: _by_number(s, power, first).softmax(-1),
            },
        )
        for power in (0.5, 1.0)
        for first in (1, 2)
        for factor in (_one, lambda q, **s: q.shape[-1] ** -0.5)
    ),
    (
        (
            "h and d_k have changed places in the cut (not in the scale): there are d_k heads of width h.",
            "how often the loop runs, and how wide a slice is.",
        ),
        {
            "cut": lambda y, h: split(y, y.shape[-1] // h),
            "factor": lambda q, h, d_model, **s: (d_model / h) ** -0.5,
        },
    ),
    (
        (
            "Tokens and features change places before the heads are cut: heads hold pieces of all tokens.",
            _CUT,
        ),
        {"cut": lambda y, h: y.mT.reshape(y.shape[0], h, y.shape[1], y.shape[2] // h)},
    ),
    (
        (
            "The keys get the shape `(b, h, d_k, n)` by `view` alone, which moves no number: tokens and "
            "features mix.",
            _CUT,
        ),
        {"meet": lambda h, q, k, v: (q, merge(k).reshape(*k.shape[:2], k.shape[3], k.shape[2]).mT, v)},
    ),
    (
        (
            "The weights are flattened and cut again by `view` in another order: rows of several heads mix.",
            "the shapes around the softmax.",
        ),
        {
            "soften": lambda s: (
                s.flatten(1, 2).softmax(-1).view(s.shape[0], s.shape[2], s.shape[1], -1).transpose(1, 2)
            )
        },
    ),
    (("The keys are added to the weighted sum.", AFTER), {"mix": lambda w, k, v: w @ v + k}),
    (("The weighted sum is taken from the values.", AFTER), {"mix": lambda w, k, v: v - w @ v}),
    (("The tokens of the result stand in reversed order.", AFTER), _behind(lambda y: y.flip(1))),
    (("The features of the result stand in reversed order.", AFTER), _behind(lambda y: y.flip(2))),
    (("The sentences of the result have changed places.", AFTER), _behind(lambda y: y.flip(0))),
    (("The sentences of the result have changed places.", AFTER), _behind(lambda y: y.roll(1, 0))),
    (("The result is shifted by one token.", AFTER), _behind(lambda y: y.roll(1, 1))),
    (("The result is shifted by one token.", AFTER), _behind(lambda y: y.roll(-1, 1))),
    (("The result is summed up along the tokens.", AFTER), _behind(lambda y: y.cumsum(1))),
    (
        ("Every token gets the mean of the result over the tokens.", AFTER),
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
        ("The heads are multiplied with each other. Concat keeps all their numbers, side by side.", AFTER),
        {"join": lambda z: z.prod(1)},
    ),
    (
        ("The smallest number over the heads is taken. Concat keeps them all.", AFTER),
        {"join": lambda z: z.amin(1)},
    ),
    (
        ("The largest number over the heads stands in every place.", AFTER),
        {"join": lambda z: merge(z.amax(1, keepdim=True).expand_as(z))},
    ),
)
