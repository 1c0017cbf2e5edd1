"""Attention with every step exchangeable: the workbench on which the known mistakes are built.

Called without settings, `attend_with`, `heads_with` and `layer_with` are right. Each setting replaces one
step by a wrong one, and settings of different steps can be combined.
"""

from __future__ import annotations

import contextlib
import gc
import math
from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor

Step = Callable[..., Any]

# What steps gave, while many combinations of them are tried on the same inputs; None at other times.
_numbers: dict[float, float] = {}
_results: dict[tuple[Any, ...], tuple[Any, tuple[Any, ...]]] | None = None


@contextlib.contextmanager
def steps_shared() -> Iterator[None]:
    """Within this, a step called again with the very same tensors gives its result without computing."""
    global _results
    _results = {}
    # Thousands of small objects are made and kept: looking through them for garbage would take long.
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        _results = None
        if collects:
            gc.enable()


def once(step: Step, *arguments: Any) -> Any:
    """Call a step, or look up what it gave for these arguments."""
    if _results is None:
        return step(*arguments)
    key = (step, *map(id, arguments))
    if key not in _results:
        # The arguments are kept: an id means something only as long as its object lives.
        _results[key] = (step(*arguments), arguments)
    return _results[key][0]


def _kept(key: tuple[Any, ...], alive: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """What several steps gave together; `key` holds the ids of what is kept `alive`, and the steps."""
    if _results is None:
        return make()
    if key not in _results:
        _results[key] = (make(), alive)
    return _results[key][0]


def _one_object(factor: float) -> float:
    """The same object for the same number, so that it can be recognised by its id."""
    return factor if _results is None else _numbers.setdefault(factor, factor)


def _scaled(scores: Tensor, factor: float) -> Tensor:
    return scores * factor


def root_of_d_k(q: Tensor, **sizes: int) -> float:
    """The right factor, 1 / sqrt(d_k)."""
    return 1 / math.sqrt(q.shape[-1])


def products(q: Tensor, k: Tensor) -> Tensor:
    """Each query with each key."""
    return q @ k.transpose(-2, -1)


def over_keys(scores: Tensor) -> Tensor:
    """Softmax along each row."""
    return scores.softmax(-1)


def hide_before(scores: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores become -inf."""
    return scores.masked_fill(~mask, float("-inf"))


def hide_with_large_negative(scores: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores become -1e9: the same, as long as something in the row is open."""
    return scores.masked_fill(~mask, -1e9)


def as_it_is(weights: Tensor, mask: Tensor) -> Tensor:
    """Leave the weights alone: the mask has done its work."""
    return weights


def mix_values(weights: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The weighted sum of the values."""
    return weights @ v


def attend_with(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    factor: Step = root_of_d_k,
    compare: Step = products,
    hide: Step = hide_before,
    soften: Step = over_keys,
    hide_late: Step = as_it_is,
    mix: Step = mix_values,
    **sizes: int,
) -> Any:
    """softmax(q k^T / sqrt(d_k)) v with the steps given."""
    scores = _kept(
        (id(q), id(k), compare, factor),
        (q, k),
        lambda: once(_scaled, once(compare, q, k), _one_object(factor(q, n=k.shape[-2], **sizes))),
    )
    weights = once(soften, scores if mask is None else once(hide, scores, mask))
    weights = weights if mask is None else once(hide_late, weights, mask)
    return once(mix, weights, k, v), weights


def columns(x: Tensor, w: Tensor, h: int) -> Tensor:
    """Weights multiply from the right."""
    return x @ w


def split(x: Tensor, h: int) -> Tensor:
    """(b, n, d_model) -> (b, h, n, d_k), neighbouring features to one head."""
    b, n, d_model = x.shape
    return x.reshape(b, n, h, d_model // h).transpose(1, 2)


def merge(heads: Tensor) -> Tensor:
    """(b, h, n, d_k) -> (b, n, h * d_k), heads side by side."""
    b, h, n, d_k = heads.shape
    return heads.transpose(1, 2).reshape(b, n, h * d_k)


def in_order(x: Any, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values (or their matrices) as they are."""
    return q, k, v


def heads_with(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    h: int,
    mask: Tensor | None = None,
    *,
    take: Step = in_order,
    project: Step = columns,
    pick: Step = in_order,
    cut: Step = split,
    meet: Step = in_order,
    join: Step = merge,
    **attention: Step,
) -> Tensor:
    """Take the matrices, project, split, let heads meet, attend in each, concat, with the steps given."""

    def queries_keys_values() -> tuple[Tensor, ...]:
        matrices = once(take, h, w_q, w_k, w_v)
        projected = once(pick, x, *(once(project, x, w, h) for w in matrices))
        return once(meet, h, *(once(cut, part, h) for part in projected))

    def joined() -> Tensor:
        q, k, v = _kept((*given, take, project, pick, cut, meet), alive, queries_keys_values)
        output, _ = attend_with(q, k, v, mask, d_model=x.shape[-1], h=h, **attention)
        return once(join, output)

    alive = (x, w_q, w_k, w_v, h, mask)
    given = tuple(map(id, alive))
    steps = (take, project, pick, cut, meet, join)
    return _kept((*given, steps, *attention.items()), alive, joined)


def fuse_all(concat: Tensor, w_o: Tensor, h: int) -> Tensor:
    """Concat times W_O."""
    return concat @ w_o


def layer_with(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    h: int,
    mask: Tensor | None = None,
    *,
    fuse: Step = fuse_all,
    finish: Step = lambda output, x: output,
    **heads: Step,
) -> Tensor:
    """The whole layer with the steps given."""
    return finish(fuse(heads_with(x, w_q, w_k, w_v, h, mask, **heads), w_o, h), x)


def without_transpose(x: Tensor, h: int) -> Tensor:
    """The right shape from `view` alone: heads hold pieces of other tokens."""
    b, n, d_model = x.shape
    return x.reshape(b, h, n, d_model // h)


def interleaved(x: Tensor, h: int) -> Tensor:
    """Feature j goes to head j % h."""
    b, n, d_model = x.shape
    return x.reshape(b, n, d_model // h, h).permute(0, 3, 1, 2)


def first_for_all(x: Tensor, h: int) -> Tensor:
    """Every head gets head 1's slice."""
    return split(x, h)[:, :1].expand(-1, h, -1, -1)


def merge_without_transpose(heads: Tensor) -> Tensor:
    """The right shape from `reshape` alone: rows hold pieces of other tokens."""
    b, h, n, d_k = heads.shape
    return heads.reshape(b, n, h * d_k)


def merge_interleaved(heads: Tensor) -> Tensor:
    """The features of the heads alternate."""
    return heads.permute(0, 2, 3, 1).flatten(2)


def merge_reversed(heads: Tensor) -> Tensor:
    """The last head comes first."""
    return merge(heads.flip(1))
