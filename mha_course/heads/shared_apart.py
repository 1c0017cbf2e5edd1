"""A control for collaborative heads: as many shared factors, and no common directions.

Converted to `width` shared features, a head may use all of them, so its product has rank `width`. Cut for
itself it has rank width / h. If shared features do better, is it for what heads have in common, or for the
rank? Here each head is first turned into a space of its own, then all are decomposed together into `width`
shared factors, then each is turned back. So the ranks are those of shared features, and nothing is common.
"""

from __future__ import annotations

import torch

from mha_course.heads.shared_space import head_rotations, heads_turned, shared_space
from mha_course.layers import MultiHeadAttention
from mha_course.sizes import check_sizes
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.three_factors import three_factors


@torch.no_grad()
def shared_apart(
    layer: MultiHeadAttention, width: int, seed: int = 0, sweeps: int = 300
) -> CollaborativeHeads:
    """The layer given, with each head's product as `width` factors shared with heads that were turned apart.

    seed: of the rotations, and of the factors that the search starts from. Biases, values, W_O and scale
    stay, as in `CollaborativeHeads.from_layer`. Turned back, every head has features of its own, so the
    layer that is returned has h * width of them: it is there to be compared, and saves nothing.

    Raises: ValueError as `heads_turned`, and for a width or sweeps below 1.
    """
    (width,) = check_sizes(width=width)
    turned = shared_space(heads_turned(layer, seed)).products
    mixing, queries, keys = three_factors(turned, width, seed, sweeps)
    of_queries, of_keys = head_rotations(layer, seed)
    whole = CollaborativeHeads.from_layer(layer)
    made = CollaborativeHeads(
        layer.d_model,
        layer.h,
        layer.h * width,
        own=layer.d_k,
        d_v=layer.d_v,
        content_bias=whole.content_bias is not None,
        bias=layer.w_v.bias is not None,
        dropout=layer.dropout,
    ).to(layer.w_q.weight.device, layer.w_q.weight.dtype)
    fresh = made.state_dict()
    made.load_state_dict(whole.state_dict() | {name: fresh[name] for name in _RESIZED})
    # Turned products are R_Q^T W R_K, so factors go back by R.
    made.w_q.weight.copy_((of_queries @ (queries * mixing[:, None])).transpose(1, 2).flatten(0, 1))
    made.w_k.weight.copy_((of_keys @ keys).transpose(1, 2).flatten(0, 1))
    made.scale = whole.scale
    return made.train(layer.training)


_RESIZED = ("w_q.weight", "w_k.weight", "mixing")
