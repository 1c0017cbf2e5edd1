"""Known mistakes of `attend_with_cache`: what is joined, who sees whom, what is returned."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise
from mha_course.exercises.mistakes.workbench import once, over_keys, products, root_of_d_k

Step = Callable[..., Any]


def behind(cached: Tensor, new: Tensor) -> Tensor:
    """New tokens behind those in the cache."""
    return torch.cat((cached, new), dim=2)


def later(n: int, n_k: int, diagonal: int = 1) -> Tensor:
    """(n, n_k), True where a key stands behind the query; queries are the last of the keys' tokens."""
    return torch.ones(n, n_k, dtype=torch.bool).triu(n_k - n + diagonal)


def hide_later(scores: Tensor) -> Tensor:
    """Later tokens hidden before the softmax."""
    return scores.masked_fill(later(*scores.shape[-2:]), float("-inf"))


def cached_with(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cached_k: Tensor,
    cached_v: Tensor,
    *,
    given: Step = lambda q, k, v, cached_k, cached_v: (q, k, v, cached_k, cached_v),
    grow: Step = behind,
    sees: Step = lambda keys, values, k, v, cached_k, cached_v: (keys, values),
    compare: Step = products,
    factor: Step = root_of_d_k,
    hide: Step = hide_later,
    soften: Step = over_keys,
    afterwards: Step = lambda weights: weights,
    mix: Step = lambda weights, keys, values: weights @ values,
    keep: Step = lambda keys, values, k, v, cached_k, cached_v: (keys, values),
    finish: Step = lambda output: output,
) -> tuple[Tensor, Tensor, Tensor]:
    """Output and longer cache with the steps given; right without any."""
    q, k, v, cached_k, cached_v = parts = given(q, k, v, cached_k, cached_v)
    longer = once(grow, cached_k, k), once(grow, cached_v, v)
    keys, values = sees(*longer, *parts[1:])
    scores = once(compare, q, keys) * factor(q, n=keys.shape[2], d_v=v.shape[-1], h=q.shape[1])
    weights = afterwards(soften(hide(scores)))
    return (finish(mix(weights, keys, values)), *keep(*longer, *parts[1:]))


def _only_itself(scores: Tensor) -> Tensor:
    n, n_k = scores.shape[-2:]
    open_ = torch.arange(n_k) < n_k - n
    return scores.masked_fill(
        ~(open_ | (torch.arange(n_k) - (n_k - n) == torch.arange(n)[:, None])), -math.inf
    )


def _upper_left(scores: Tensor) -> Tensor:
    return scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)


_with = partial(Otherwise, cached_with)

CACHED_MISTAKES = (
    Mistake(
        "no-mask",
        _with(hide=lambda scores: scores),
        "New tokens see the new tokens behind them. One new token needs no mask; several do.",
        "who may see whom among the new tokens.",
    ),
    Mistake(
        "mask-at-the-upper-left",
        _with(hide=_upper_left),
        "The causal mask is aligned at the upper left: the first new token sees the first key only. It "
        "stands behind the whole cache.",
        "the diagonal of the mask, when there are more keys than queries.",
    ),
    Mistake(
        "not-itself",
        _with(hide=lambda scores: scores.masked_fill(later(*scores.shape[-2:], 0), -math.inf)),
        "A new token does not see itself (the first one behind an empty cache then sees nothing).",
        "the diagonal of the mask.",
    ),
    Mistake(
        "one-ahead",
        _with(hide=lambda scores: scores.masked_fill(later(*scores.shape[-2:], 2), -math.inf)),
        "A new token sees the next one as well. The mask is off by one.",
        "the diagonal of the mask.",
    ),
    Mistake(
        "only-itself",
        _with(hide=_only_itself),
        "A new token sees the cache and itself, and none of the new tokens before it.",
        "who may see whom among the new tokens.",
    ),
    Mistake(
        "mask-turned-round",
        _with(hide=lambda scores: scores.masked_fill(~later(*scores.shape[-2:]), -math.inf)),
        "The mask is turned round: what should be seen is hidden.",
        "what True means in the mask.",
    ),
    Mistake(
        "hidden-by-zero",
        _with(hide=lambda scores: scores.masked_fill(later(*scores.shape[-2:]), 0.0)),
        "Hidden scores become 0, and exp(0) is 1: later tokens still get weight.",
        "what a hidden score becomes.",
    ),
    Mistake(
        "hidden-afterwards",
        _with(
            hide=lambda scores: scores,
            afterwards=lambda weights: weights.masked_fill(later(*weights.shape[-2:]), 0.0),
        ),
        "Weights are hidden behind the softmax, so that the rows of new tokens sum to less than 1.",
        "what comes first, mask or softmax.",
    ),
    Mistake(
        "new-tokens-first",
        _with(grow=lambda cached, new: torch.cat((new, cached), 2)),
        "New tokens are put in front of the cache. They come behind it.",
        "the order in `cat`.",
    ),
    Mistake(
        "cache-not-attended",
        _with(sees=lambda keys, values, k, v, old_k, old_v: (k, v)),
        "The new tokens attend to new tokens only. What the cache is for takes no part.",
        "the keys in the scores.",
    ),
    Mistake(
        "cache-not-grown",
        _with(keep=lambda keys, values, k, v, old_k, old_v: (old_k, old_v)),
        "The cache comes back as it was. The next token would not see these ones.",
        "what is returned.",
    ),
    Mistake(
        "only-new-ones-returned",
        _with(keep=lambda keys, values, k, v, old_k, old_v: (k, v)),
        "Keys and values of the new tokens come back alone. All so far are asked for.",
        "what is returned.",
    ),
    Mistake(
        "window-slides",
        _with(grow=lambda cached, new: torch.cat((cached, new), 2)[:, :, new.shape[2] :]),
        "As many old tokens are dropped as new ones come. The cache should grow.",
        "slices of the cache.",
    ),
    Mistake(
        "cache-twice",
        _with(grow=lambda cached, new: torch.cat((cached, cached, new), 2)),
        "The cache is there twice.",
        "what is put together.",
    ),
    Mistake(
        "new-tokens-twice",
        _with(grow=lambda cached, new: torch.cat((cached, new, new), 2)),
        "The new tokens are there twice.",
        "what is put together, and how often.",
    ),
    Mistake(
        "keys-for-values",
        _with(mix=lambda weights, keys, values: weights @ keys),
        "Keys are summed up in the place of values.",
        "the weighted sum.",
    ),
    Mistake(
        "no-scale",
        _with(factor=lambda q, **sizes: 1.0),
        "The scores are not divided by the root of d_k.",
        "what is done with the scores.",
    ),
    Mistake(
        "scaled-by-length",
        _with(factor=lambda q, n, **sizes: 1 / math.sqrt(n)),
        "The scores are divided by the root of the number of keys. A product is a sum over d_k features.",
        "the size under the root.",
    ),
    Mistake(
        "scaled-by-d_v",
        _with(factor=lambda q, d_v, **sizes: 1 / math.sqrt(d_v)),
        "The scores are divided by the root of d_v. A product is a sum over d_k features.",
        "the size under the root.",
    ),
    Mistake(
        "softmax-over-queries",
        _with(soften=lambda s: s.softmax(-2)),
        "The softmax is taken over the queries. The weights of each query sum to 1.",
        "the axis of the softmax.",
    ),
    Mistake(
        "last-row-only",
        _with(finish=lambda output: output[:, :, -1:]),
        "Only the last new token's output comes back. Each has one.",
        "slices of the output.",
    ),
)
