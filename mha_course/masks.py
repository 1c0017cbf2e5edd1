"""Who may look at whom: boolean masks, in one convention.

Everywhere in this course a mask is boolean and **True means "may attend"**. PyTorch's
`F.scaled_dot_product_attention` reads it the same way; `nn.MultiheadAttention` reads it the
other way round (True = blocked), which lesson 04 shows.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mha_course.sizes import is_whole_number


def causal_mask(n_q: int, n_k: int | None = None) -> Tensor:
    """Mask in which no query sees a key that comes after it.

    Aligned at the lower right: query t stands at position n_k - n_q + t, so that the last query
    sees every key. That is what a cache needs, where the newest queries meet all the old keys.

    Returns: (n_q, n_k) bool, True = may attend. n_k defaults to n_q.
    Raises: ValueError for lengths that are not whole numbers of at least 1.
    Source: Vaswani et al. 2017, section 3.2.3 (n_q = n_k).
    """
    n_k = n_q if n_k is None else n_k
    for name, length in (("n_q", n_q), ("n_k", n_k)):
        if not is_whole_number(length) or length < 1:
            raise ValueError(f"{name}={length!r}: a mask needs a whole number of at least 1.")
    query_position = torch.arange(n_q)[:, None] + (n_k - n_q)
    key_position = torch.arange(n_k)[None, :]
    return key_position <= query_position


def padding_mask(lengths: Sequence[int] | Tensor, n_k: int | None = None) -> Tensor:
    """Mask that hides the padding behind each sentence of a batch.

    lengths: b whole numbers, the true length of each sentence (0 is allowed: nothing to attend to).
    n_k: padded length; the longest sentence when left out.

    Returns: (b, 1, 1, n_k) bool, True = a real token. The two 1s stand for "every head" and
    "every query".
    Raises: ValueError for lengths that are not whole numbers, are negative, or exceed n_k, and for an
    n_k that is not a whole number of at least 1.
    Source: Vaswani et al. 2017, section 3.2.3.
    """
    try:
        lengths = torch.as_tensor(lengths)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"lengths must hold one whole number a sentence, such as [5, 3]; got {lengths!r}."
        ) from error
    if lengths.ndim != 1 or lengths.numel() == 0:
        raise ValueError(f"lengths must hold one number a sentence, shape (b,); got {tuple(lengths.shape)}.")
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise ValueError(f"lengths are counts of tokens, whole numbers; got dtype {lengths.dtype}.")
    longest = int(lengths.max())
    n_k = max(longest, 1) if n_k is None else n_k
    if not is_whole_number(n_k) or n_k < 1:
        raise ValueError(f"n_k={n_k!r}: a mask needs a whole number of at least 1.")
    if int(lengths.min()) < 0 or longest > n_k:
        raise ValueError(
            f"lengths run from {int(lengths.min())} to {longest}; with n_k={n_k} they must lie in 0..{n_k}."
        )
    real = torch.arange(n_k, device=lengths.device)[None, :] < lengths[:, None]
    return real[:, None, None, :]


def expand_mask(mask: Tensor | None, b: int, h: int, n_q: int, n_k: int) -> Tensor | None:
    """Bring a mask to four axes that broadcast to (b, h, n_q, n_k), or say why it can't be.

    Accepted: (n_q, n_k); (b, n_q, n_k), which gets the head axis; four axes, each 1 or full.
    Returns: a 4-D bool tensor (not yet broadcast), or None for None.
    Raises: ValueError for numbers instead of booleans, for (b, n_k), and for any other shape.
    """
    if mask is None:
        return None
    _refuse_numbers(mask)
    shape = tuple(mask.shape)
    if mask.ndim == 2:
        if shape == (n_q, n_k):
            _refuse_ambiguous(mask, b, n_q, n_k)
            return mask[None, None]
        if shape == (b, n_k):
            raise ValueError(_looks_like_padding(shape))
    elif mask.ndim == 3:
        if shape[0] in (1, b) and shape[1] in (1, n_q) and shape[2] in (1, n_k):
            return mask[:, None]
    elif mask.ndim == 4 and all(
        size in (1, full) for size, full in zip(shape, (b, h, n_q, n_k), strict=True)
    ):
        return mask
    raise ValueError(
        f"mask of shape {shape} does not fit b={b}, h={h}, n_q={n_q}, n_k={n_k}. It can be "
        f"(n_q, n_k)=({n_q}, {n_k}), (b, n_q, n_k)=({b}, {n_q}, {n_k}), or four axes that broadcast "
        f"to (b, h, n_q, n_k)=({b}, {h}, {n_q}, {n_k})."
    )


def fit_mask(mask: Tensor | None, scores_shape: Sequence[int]) -> Tensor | None:
    """Bring a mask to the rank of the scores it belongs to.

    scores_shape: (n_q, n_k), (b, n_q, n_k) or (b, h, n_q, n_k).
    Returns: a bool tensor that broadcasts to scores_shape, or None for None.
    Raises: ValueError as `expand_mask`, and for scores with fewer than two or more than four axes.
    """
    if mask is None:
        return None
    if not 2 <= len(scores_shape) <= 4:
        raise ValueError(
            f"a mask needs scores of shape (n_q, n_k), (b, n_q, n_k) or (b, h, n_q, n_k); "
            f"got {tuple(scores_shape)}."
        )
    *batch_axes, n_q, n_k = scores_shape
    b = batch_axes[0] if batch_axes else 1
    h = batch_axes[1] if len(batch_axes) == 2 else 1
    four_axes = expand_mask(mask, b, h, n_q, n_k)
    if len(batch_axes) == 2:
        return four_axes
    return four_axes[:, 0] if batch_axes else four_axes[0, 0]


def _refuse_numbers(mask: Tensor) -> None:
    if not isinstance(mask, Tensor):
        raise ValueError(f"mask must be a boolean tensor, True = may attend; got {type(mask).__name__}.")
    if mask.dtype != torch.bool:
        raise ValueError(
            f"mask has dtype {mask.dtype}; it must be boolean, True = may attend. Numbers are refused "
            "because they are read in three ways elsewhere (1 = may attend, 1 = blocked, or added to the "
            "scores, where a 0/1 mask hides nothing). Write mask == 1 or mask == 0, whichever you mean."
        )


def _refuse_ambiguous(mask: Tensor, b: int, n_q: int, n_k: int) -> None:
    """With b = n_q the shape can't tell (n_q, n_k) from (b, n_k), so the content has to.

    Two kinds of content are safe: rows that are all alike (both readings then hide the same keys)
    and the causal mask, which nobody means as padding.
    """
    if b != n_q or b == 1:
        return
    if bool((mask == mask[:1]).all()) or torch.equal(mask, causal_mask(n_q, n_k).to(mask.device)):
        return
    raise ValueError(
        f"mask of shape ({n_q}, {n_k}) can be read as (n_q, n_k) or as (b, n_k), because b and n_q are "
        f"both {b}. "
        "Write mask[None] if its rows are queries, or mask[:, None, None, :] if its rows are sentences."
    )


def _looks_like_padding(shape: tuple[int, int]) -> str:
    return (
        f"mask of shape {shape} looks like (b, n_k), one row a sentence. A 2-D mask is (n_q, n_k) here. "
        "For padding use padding_mask(lengths, n_k), or give yours the missing axes: "
        f"mask[:, None, None, :] has shape ({shape[0]}, 1, 1, {shape[1]})."
    )
