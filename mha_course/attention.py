"""Attention as pure functions on tensors: scores, softmax, weighted sum, split and merge.

These few functions are the whole idea. `layers.py` adds the learned projections around them.
Symbols: batch b, query length n_q, key length n_k, d_model, heads h, d_k = d_v = d_model / h.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.masks import fit_mask
from mha_course.sizes import check_sizes, is_whole_number


def scaled_scores(q: Tensor, k: Tensor, scale: float | None = None) -> Tensor:
    """Similarity of every query with every key: q k^T times the scale.

    q: (..., n_q, d_k), k: (..., n_k, d_k). scale defaults to 1 / sqrt(d_k), which keeps the
    variance of the scores at 1 when the components of q and k are independent, with mean 0 and
    variance 1.

    Returns: (..., n_q, n_k).
    Raises: ValueError for a width of 0, which has no default scale.
    Source: Vaswani et al. 2017, section 3.2.1.
    """
    check_tensors(q=q, k=k)
    if scale is None:
        if q.shape[-1] == 0:
            raise ValueError("queries and keys of width d_k=0 have no scale 1 / sqrt(d_k).")
        scale = 1 / math.sqrt(q.shape[-1])
    # The queries are scaled, not the products: in float16 those can pass 65504 and become infinite.
    return (q * scale) @ k.transpose(-2, -1)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Turn each row of scores into weights that sum to 1, over the keys that the mask allows.

    scores: (..., n_q, n_k). mask: bool, True = may attend, any shape that `masks.fit_mask` accepts.
    A query with no key to attend to gets a row of zeros, and gradients stay finite.
    Half-precision scores are handled in float32 inside, since their exponentials lose too much.

    Returns: weights like scores; hidden entries are exactly 0.
    Raises: ValueError for scores that are not floating-point, and for a mask that is not boolean or
    does not fit.
    """
    check_tensors(scores=scores)
    if not scores.is_floating_point():
        raise ValueError(f"scores must be floating-point numbers; got {scores.dtype}.")
    wide = scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores
    mask = fit_mask(mask, scores.shape)
    if mask is None:
        return wide.softmax(dim=-1).to(scores.dtype)
    # A row of nothing but -inf would become 0/0 = NaN. Such rows are softmaxed over zeros
    # instead and set to 0 afterwards, which keeps NaN out of the gradients too.
    empty = ~mask.any(dim=-1, keepdim=True)
    wide = wide.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return wide.softmax(dim=-1).masked_fill(empty, 0.0).to(scores.dtype)


def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    dropout_p: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V, with the weights it used.

    q: (..., n_q, d_k), k: (..., n_k, d_k), v: (..., n_k, d_v), with the same leading axes: none,
    (b,) or (b, h). mask: bool, True = may attend. scale: 1 / sqrt(d_k) unless given. dropout_p: the
    share of weights dropped before the weighted sum, in [0, 1).

    Returns: output (..., n_q, d_v) and weights (..., n_q, n_k). The weights are those before
    dropout, so every row sums to 1 (or to 0 where the mask leaves no key).
    Raises: ValueError for shapes or dtypes that don't go together, and for masks that don't fit.
    Source: Vaswani et al. 2017, section 3.2.1.
    """
    _check_qkv(q, k, v)
    if not 0 <= dropout_p < 1:
        raise ValueError(f"dropout_p={dropout_p} must lie in [0, 1).")
    weights = masked_softmax(scaled_scores(q, k, scale), mask)
    used = F.dropout(weights, dropout_p) if dropout_p > 0 else weights
    return used @ v, weights


def split_heads(x: Tensor, h: int) -> Tensor:
    """Cut the features of every token into h heads: (b, n, d_model) -> (b, h, n, d_k).

    Head i (from 0) gets the features i * d_k to (i + 1) * d_k - 1 of each token. The view cuts, the
    transpose brings the head axis before the token axis; no number changes and none is copied.

    Raises: ValueError unless x has three axes and h divides d_model.
    """
    check_tensors(x=x)
    if x.ndim != 3:
        raise ValueError(f"split_heads takes x of shape (b, n, d_model); got {tuple(x.shape)}.")
    b, n, d_model = x.shape
    d_k = head_size(d_model, h)
    return x.reshape(b, n, h, d_k).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Lay the heads side by side again: (b, h, n, d_k) -> (b, n, h * d_k). Undoes `split_heads`.

    Raises: ValueError unless x has four axes.
    """
    check_tensors(x=x)
    if x.ndim != 4:
        raise ValueError(f"merge_heads takes x of shape (b, h, n, d_k); got {tuple(x.shape)}.")
    b, h, n, d_k = x.shape
    return x.transpose(1, 2).reshape(b, n, h * d_k)


def head_size(d_model: int, h: int) -> int:
    """Features per head, d_k = d_model / h.

    Raises: ValueError that names both numbers, and each h that would work, when h is not a divisor.
    """
    check_sizes(d_model=d_model)
    if not is_whole_number(h) or h < 1 or d_model % h:
        possible = divisors_in_words(d_model)
        raise ValueError(f"d_model={d_model} cannot be split into h={h!r} equal heads; h can be {possible}.")
    return int(d_model // h)


def multi_head_sizes(
    d_model: int, h: int, d_k: int | None, d_v: int | None, n_kv_heads: int | None
) -> tuple[int, int, int]:
    """d_k, d_v and n_kv_heads of a layer, with d_model / h, d_model / h and h for those left out.

    Raises: ValueError for sizes below 1, for a left-out width when h does not divide d_model, and for an
    h that is not a multiple of n_kv_heads.
    """
    check_sizes(d_model=d_model, h=h)
    d_k = head_size(d_model, h) if d_k is None else d_k
    d_v = head_size(d_model, h) if d_v is None else d_v
    n_kv_heads = h if n_kv_heads is None else n_kv_heads
    check_sizes(d_k=d_k, d_v=d_v, n_kv_heads=n_kv_heads)
    if h % n_kv_heads:
        possible = divisors_in_words(h)
        raise ValueError(
            f"h={h} query heads cannot share n_kv_heads={n_kv_heads} evenly; it can be {possible}."
        )
    return int(d_k), int(d_v), int(n_kv_heads)


def check_tensors(**tensors: object) -> None:
    """Raise ValueError unless each of the named arguments is a tensor."""
    for name, x in tensors.items():
        if not isinstance(x, Tensor):
            raise ValueError(
                f"{name} must be a torch tensor; got {type(x).__name__}. torch.as_tensor({name}) makes one."
            )


def divisors(d_model: int) -> list[int]:
    """Every h that splits d_model evenly, from 1 up to d_model."""
    return [h for h in range(1, d_model + 1) if d_model % h == 0]


def divisor_at_most(d_model: int, h: int) -> int:
    """The largest number of heads up to h that splits d_model evenly; where a slider's h has to move to."""
    return max(i for i in divisors(d_model) if i <= max(1, h))


def divisors_in_words(d_model: int) -> str:
    """The divisors of d_model as they read in a sentence: "1, 2, 5 or 10"."""
    numbers = [str(h) for h in divisors(d_model)]
    return numbers[0] if len(numbers) == 1 else f"{', '.join(numbers[:-1])} or {numbers[-1]}"


def repeat_kv_heads(x: Tensor, h: int) -> Tensor:
    """Let h query heads share fewer key/value heads: (b, n_kv_heads, n, d) -> (b, h, n, d).

    Query heads 0 .. h / n_kv_heads - 1 read key/value head 0, the next group head 1, and so on.
    Source: Ainslie et al. 2023 (grouped-query attention).
    """
    groups = h // x.shape[1]
    return x if groups == 1 else x.repeat_interleave(groups, dim=1)


def _check_qkv(q: Tensor, k: Tensor, v: Tensor) -> None:
    check_tensors(q=q, k=k, v=v)
    shapes = f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
    if not (q.ndim == k.ndim == v.ndim and 2 <= q.ndim <= 4):
        raise ValueError(f"q, k and v need the same number of axes, two to four; got {shapes}.")
    if not q.dtype == k.dtype == v.dtype:
        raise ValueError(f"q, k and v need one dtype; got {q.dtype}, {k.dtype} and {v.dtype}.")
    if not q.is_floating_point():
        raise ValueError(
            f"q, k and v must hold floating-point numbers; got {q.dtype}. Write q.float() first."
        )
    if q.shape[:-2] != k.shape[:-2] or k.shape[:-2] != v.shape[:-2]:
        raise ValueError(f"the axes before the last two must agree; got {shapes}.")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"queries and keys need the same width d_k; got {shapes}.")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"every key needs one value, so n_k must agree; got {shapes}.")
