"""What a layer holds on its way from x to the output: every tensor with its name and its axes."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.reading.meeting_tensors import Known

_WORDS = {"q": "queries", "k": "keys", "v": "values"}


def on_the_way_of_heads(arguments: tuple[Any, ...]) -> list[Known]:
    """For functions of (x, w_q, w_k, w_v, h): up to the concatenation."""
    x, w_q, w_k, w_v, h = arguments
    return _of_layer(x, {"q": w_q, "k": w_k, "v": w_v}, h, None)


def on_the_way_of_layer(arguments: tuple[Any, ...]) -> list[Known]:
    """For functions of (x, w_q, w_k, w_v, w_o, h, mask)."""
    x, w_q, w_k, w_v, w_o, h, *rest = arguments
    mask = rest[0] if rest else None
    known = _of_layer(x, {"q": w_q, "k": w_k, "v": w_v}, h, mask)
    return known + _matrix("w_o", w_o, h)


def on_the_way_of_contributions(arguments: tuple[Any, ...]) -> list[Known]:
    """For functions of (heads, w_o)."""
    heads, w_o = arguments
    h, d_v = heads.shape[1], heads.shape[3]
    known = [
        Known("the heads", "head", "all heads", ("b", "h", "n", "d_v"), heads),
        Known(
            "the concatenation",
            "concat",
            "whole",
            ("b", "n", "h * d_v"),
            heads.transpose(1, 2).flatten(2),
        ),
        Known("the sum of the heads", "head", "sum", ("b", "n", "d_v"), heads.sum(1)),
        Known("`w_o`", "w_o", "whole", ("h * d_v", "d_model"), w_o),
    ]
    for i in range(h):
        mine = slice(i * d_v, (i + 1) * d_v)
        known += [
            Known(f"head {i + 1}", "head", "one head", ("b", "n", "d_v"), heads[:, i]),
            Known("rows of `w_o`", "w_o", "rows", ("d_v", "d_model"), w_o[mine]),
            Known("columns of `w_o`", "w_o", "columns", ("h * d_v", "d_v"), w_o[:, mine]),
        ]
    return known


def on_the_way_of_lengths(arguments: tuple[Any, ...]) -> list[Known]:
    """For functions of (lengths, n)."""
    lengths, n = arguments
    return [
        Known("the positions", "positions", "whole", ("n",), torch.arange(n)),
        Known("the lengths", "lengths", "whole", ("b",), torch.as_tensor(lengths)),
    ]


def _matrix(name: str, w: Tensor, h: int) -> list[Known]:
    d_k = w.shape[0] // h
    role = name if name == "w_o" else "w"
    found = [Known(f"`{name}`", role, "whole", ("d_model", "d_model"), w)]
    for i in range(h if h > 1 else 0):
        mine = slice(i * d_k, (i + 1) * d_k)
        found += [
            Known(f"columns of `{name}`", role, "columns", ("d_model", "d_k"), w[:, mine]),
            Known(f"rows of `{name}`", role, "rows", ("d_k", "d_model"), w[mine]),
        ]
    cut = w.reshape(-1, h, d_k)
    return [*found, Known(f"the columns of `{name}`", role, "all heads", ("d_model", "h", "d_k"), cut)]


def _cut(words: str, role: str, y: Tensor, h: int) -> list[Known]:
    """A (b, n, d_model) tensor as it is, cut into heads, and one head of it."""
    b, n, d_model = y.shape
    d_k = d_model // h
    heads = y.reshape(b, n, h, d_k).transpose(1, 2)
    found = [Known(f"the {words}", role, "whole", ("b", "n", "d_model"), y)]
    found += [Known(f"the {words} of all heads", role, "all heads", ("b", "h", "n", "d_k"), heads)]
    found += [
        Known(f"the {words} of one head", role, "one head", ("b", "n", "d_k"), heads[:, i]) for i in range(h)
    ]
    view = y.reshape(b, h, n, d_k)
    turned = y.transpose(1, 2).reshape(b, h, n, d_k)
    by_view = f"the {words}, cut by `view` alone"
    found += [Known(by_view, role, "view", ("b", "h", "n", "d_k"), made) for made in (view, turned)]
    folded = heads.flatten(0, 1)
    return [*found, Known(f"the {words} of all heads", role, "folded", ("b * h", "n", "d_k"), folded)]


def _of_layer(x: Tensor, matrices: dict[str, Tensor], h: int, mask: Tensor | None) -> list[Known]:
    known = (
        _cut("input", "x", x, h) if h > 1 else [Known("the input", "x", "whole", ("b", "n", "d_model"), x)]
    )
    for role, w in matrices.items():
        known += _cut(_WORDS[role], role, x @ w, h) + _matrix(f"w_{role}", w, h)
    three = list(matrices.values())
    known.append(
        Known(
            "`w_q`, `w_k` and `w_v` below each other",
            "w",
            "below",
            ("3 * d_model", "d_model"),
            torch.cat(three),
        )
    )
    b, n, d_model = x.shape
    q, k, v = ((x @ w).reshape(b, n, h, -1).transpose(1, 2) for w in three)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    hidden = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    weights = hidden.softmax(-1)
    for words, role, maps in (("scores", "scores", scores), ("weights", "weights", weights)):
        known.append(Known(f"the {words} of all heads", role, "all heads", ("b", "h", "n_q", "n_k"), maps))
        known += [
            Known(f"the {words} of one head", role, "one head", ("b", "n_q", "n_k"), maps[:, i])
            for i in range(h)
        ]
    z = weights @ v
    known += _cut("results", "head", z.transpose(1, 2).flatten(2), h)[1:]
    known += [
        Known("the concatenation", "concat", "whole", ("b", "n", "d_model"), z.transpose(1, 2).flatten(2)),
        Known("the mean (or the sum) of the heads", "head", "sum", ("b", "n", "d_k"), z.sum(1)),
        Known(
            "the heads behind each other along the tokens",
            "head",
            "along tokens",
            ("b", "h * n", "d_k"),
            z.flatten(1, 2),
        ),
    ]
    if mask is not None:
        axes = ("b", "h", "n_q", "n_k")[4 - mask.ndim :]
        known.append(Known("the mask", "mask", "whole", axes, mask))
    return known
