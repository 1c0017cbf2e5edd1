"""A trained layer with fewer features a head, each head cut on its own: the rival of sharing features.

Both keep `width` features in W_Q and W_K. Collaborative heads let every head read all of them; here each head
gets width / h of its own, the best that it can have alone.
"""

from __future__ import annotations

import torch

from mha_course.layers import MultiHeadAttention
from mha_course.sizes import check_sizes
from mha_course.variants.collaborative import CollaborativeHeads


@torch.no_grad()
def narrowed(layer: MultiHeadAttention, width: int) -> CollaborativeHeads:
    """The layer given with W_Q and W_K of `width` features in all, width / h for each head.

    Every W_Q^(i) W_K^(i)T is replaced by the nearest product of rank width / h (its largest singular values).
    Biases, values, W_O and scale stay, as in `CollaborativeHeads.from_layer`. Written as collaborative heads
    with blocks of ones, which are plain heads.

    Raises: ValueError for a width that h doesn't divide, or above h * d_k, and for a layer whose heads are
    not plain, as `from_layer`.
    Source: Eckart and Young 1936 (the nearest product of a given rank).
    """
    check_sizes(width=width)
    whole = CollaborativeHeads.from_layer(layer)
    h, d_k = layer.h, layer.d_k
    if width % h or width > h * d_k:
        raise ValueError(f"width={width} must be a multiple of h={h} up to h * d_k={h * d_k}.")
    each = width // h
    made = CollaborativeHeads(
        layer.d_model,
        h,
        width,
        own=d_k,
        d_v=layer.d_v,
        content_bias=whole.content_bias is not None,
        bias=layer.w_v.bias is not None,
        dropout=layer.dropout,
    ).to(layer.w_q.weight.device, layer.w_q.weight.dtype)
    made.load_state_dict(whole.state_dict() | {n: made.state_dict()[n] for n in _RESIZED})
    w_q, w_k = (part.weight.double().view(h, d_k, -1) for part in (whole.w_q, whole.w_k))
    left, singular, right = torch.linalg.svd(torch.einsum("hka,hkb->hab", w_q, w_k), full_matrices=False)
    queries = left[..., :each] * singular[:, None, :each]
    made.w_q.weight.copy_(queries.transpose(1, 2).flatten(0, 1))
    made.w_k.weight.copy_(right[:, :each].flatten(0, 1))
    made.scale = whole.scale
    return made.train(layer.training)


_RESIZED = ("w_q.weight", "w_k.weight", "mixing")
