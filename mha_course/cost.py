"""What a multi-head layer costs, counted: parameters and floating-point operations.

One multiplication or one addition is one FLOP, so a multiply-add counts as two. Only matrix
products are counted; the softmax adds about 5 h n_q n_k further operations.
"""

from __future__ import annotations

from mha_course.attention import multi_head_sizes
from mha_course.sizes import check_sizes


def parameter_count(
    d_model: int,
    h: int,
    d_k: int | None = None,
    d_v: int | None = None,
    n_kv_heads: int | None = None,
    bias: bool = False,
) -> int:
    """Learned numbers in W_Q, W_K, W_V and W_O. With the default widths that is 4 d_model^2 for every h.

    Raises: ValueError for sizes that no such layer can have, as `attention.multi_head_sizes`.
    """
    d_k, d_v, n_kv_heads = multi_head_sizes(d_model, h, d_k, d_v, n_kv_heads)
    projected = h * d_k + n_kv_heads * d_k + n_kv_heads * d_v
    weights = d_model * projected + h * d_v * d_model
    return weights + (projected + d_model if bias else 0)


def attention_flops(
    n: int,
    d_model: int,
    h: int,
    b: int = 1,
    n_k: int | None = None,
    d_k: int | None = None,
    d_v: int | None = None,
    n_kv_heads: int | None = None,
) -> dict[str, int]:
    """FLOPs of one forward pass for b sentences of n queries and n_k keys (n when left out), by stage.

    Returns: projections, scores, weighted_sum, output_projection and their total. With the default
    widths and n_k = n the total is b (8 n d_model^2 + 4 n^2 d_model), whatever h is.
    Raises: ValueError for lengths below 0 and for sizes that no such layer can have.
    """
    n_k = n if n_k is None else n_k
    check_sizes(0, n=n, n_k=n_k, b=b)
    d_k, d_v, n_kv_heads = multi_head_sizes(d_model, h, d_k, d_v, n_kv_heads)
    stages = {
        "projections": 2 * b * d_model * (n * h * d_k + n_k * n_kv_heads * (d_k + d_v)),
        "scores": 2 * b * h * n * n_k * d_k,
        "weighted_sum": 2 * b * h * n * n_k * d_v,
        "output_projection": 2 * b * n * h * d_v * d_model,
    }
    return stages | {"total": sum(stages.values())}
