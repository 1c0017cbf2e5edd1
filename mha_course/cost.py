"""What a multi-head layer costs, counted: parameters, floating-point operations, bytes moved.

One multiplication or one addition is one FLOP, so a multiply-add counts as two. `attention_flops`
counts matrix products only; the softmax, about 5 h n_q n_k further operations, is a stage of `stage_costs`.
Bytes are the least that can be moved: every operand read once, every result written once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mha_course.attention import multi_head_sizes
from mha_course.sizes import check_number, check_sizes

SOFTMAX_FLOPS = 5  # a score's share of a softmax: largest, difference, exponential, sum, division


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
    return sum(stage_parameters(d_model, h, d_k, d_v, n_kv_heads, bias).values())


def stage_parameters(
    d_model: int,
    h: int,
    d_k: int | None = None,
    d_v: int | None = None,
    n_kv_heads: int | None = None,
    bias: bool = False,
) -> dict[str, int]:
    """Learned numbers by stage: W_Q, W_K and W_V in projections, W_O in output_projection; no other has any.

    Raises: ValueError as `parameter_count`.
    """
    d_model, h = check_sizes(d_model=d_model, h=h)
    d_k, d_v, n_kv_heads = multi_head_sizes(d_model, h, d_k, d_v, n_kv_heads)
    projected, each = h * d_k + n_kv_heads * d_k + n_kv_heads * d_v, int(bool(bias))
    return {
        "projections": projected * (d_model + each),
        "output_projection": (h * d_v + each) * d_model,
    }


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
    n, n_k, b = check_sizes(0, n=n, n_k=n if n_k is None else n_k, b=b)
    d_model, h = check_sizes(d_model=d_model, h=h)
    d_k, d_v, n_kv_heads = multi_head_sizes(d_model, h, d_k, d_v, n_kv_heads)
    stages = {
        "projections": 2 * b * d_model * (n * h * d_k + n_k * n_kv_heads * (d_k + d_v)),
        "scores": 2 * b * h * n * n_k * d_k,
        "weighted_sum": 2 * b * h * n * n_k * d_v,
        "output_projection": 2 * b * n * h * d_v * d_model,
    }
    return stages | {"total": sum(stages.values())}


@dataclass(frozen=True)
class StageCost:
    """FLOPs of one stage and the least number of bytes that it reads and writes."""

    flops: int
    bytes: int

    @property
    def intensity(self) -> float:
        """Arithmetic intensity: FLOPs for every byte moved; nan where nothing is moved."""
        return self.flops / self.bytes if self.bytes else math.nan

    def __add__(self, other: StageCost) -> StageCost:
        return StageCost(self.flops + other.flops, self.bytes + other.bytes)


def stage_costs(
    b: int,
    n: int,
    d_model: int,
    h: int,
    n_kv_heads: int | None = None,
    cached: int = 0,
    bytes_per_number: int = 2,
    d_k: int | None = None,
    d_v: int | None = None,
    fused: bool = False,
) -> dict[str, StageCost]:
    """FLOPs and bytes of one forward pass by stage: b sequences, n new tokens each, `cached` tokens before.

    Prefill: n is the length of the text, cached = 0. Decoding: n = 1. Every new token meets n_k = cached + n
    keys; what a causal mask hides is computed all the same, as the plain kernel does. With s bytes a number
    and g = h / n_kv_heads:

        projections        three products, each 2 b n d_model d_out FLOPs and
                           s (d_model d_out + b n d_model + b n d_out) bytes; d_out = h d_k, n_kv_heads d_k,
                           n_kv_heads d_v
        scores             2 b h n n_k d_k FLOPs, s b (h n d_k + n_kv_heads n_k d_k + h n n_k) bytes
        softmax            5 b h n n_k FLOPs, 2 s b h n n_k bytes
        weighted_sum       2 b h n n_k d_v FLOPs, s b (h n n_k + n_kv_heads n_k d_v + h n d_v) bytes
        output_projection  one product, d_in = h d_v, d_out = d_model

    fused: scores, softmax and weighted_sum become one stage "attention" in which scores and weights never
    leave the chip: 2 b h n n_k (d_k + d_v) FLOPs, those of the two products, and
    s b (h n d_k + n_kv_heads n_k (d_k + d_v) + h n d_v) bytes. For n = 1 and d_k = d_v its intensity is
    (2 / s) g / (1 + g / n_k), whatever b is.

    Raises: ValueError for sizes that no such layer can have, and for counts below 1 (cached: below 0).
    Source: roofline model, Williams, Waterman and Patterson 2009; grouped heads, Ainslie et al. 2023.
    """
    b, n, d_model, h, s = check_sizes(b=b, n=n, d_model=d_model, h=h, bytes_per_number=bytes_per_number)
    d_k, d_v, n_kv_heads = multi_head_sizes(d_model, h, d_k, d_v, n_kv_heads)
    n_k = n + check_sizes(0, cached=cached)[0]
    query, out, pairs = b * n * h * d_k, b * n * h * d_v, b * h * n * n_k
    keys, values = b * n_k * n_kv_heads * d_k, b * n_k * n_kv_heads * d_v
    scores = StageCost(2 * pairs * d_k, s * (query + keys + pairs))
    softmax = StageCost(SOFTMAX_FLOPS * pairs, s * 2 * pairs)
    weighted = StageCost(2 * pairs * d_v, s * (pairs + values + out))
    widths = (h * d_k, n_kv_heads * d_k, n_kv_heads * d_v)
    inner = {"scores": scores, "softmax": softmax, "weighted_sum": weighted}
    if fused:
        inner = {
            "attention": StageCost(scores.flops + weighted.flops, s * (query + keys + values + out)),
        }
    return {
        "projections": total_cost(product_cost(b * n, d_model, width, s) for width in widths),
        **inner,
        "output_projection": product_cost(b * n, h * d_v, d_model, s),
    }


def product_cost(rows: int, d_in: int, d_out: int, bytes_per_number: int = 2) -> StageCost:
    """A matrix product (rows, d_in) by (d_in, d_out), as every projection is one: rows = b n.

    FLOPs: 2 rows d_in d_out. Bytes: s (d_in d_out + rows d_in + rows d_out). With d = d_in = d_out the
    intensity is (2 rows / s) / (1 + 2 rows / d): it grows with the batch.
    """
    rows, d_in, d_out, s = check_sizes(rows=rows, d_in=d_in, d_out=d_out, bytes_per_number=bytes_per_number)
    return StageCost(2 * rows * d_in * d_out, s * (d_in * d_out + rows * d_in + rows * d_out))


def total_cost(stages: Mapping[str, StageCost] | Iterable[StageCost]) -> StageCost:
    """All stages together."""
    return sum(stages.values() if isinstance(stages, Mapping) else stages, StageCost(0, 0))


def kv_cache_bytes(
    b: int,
    length: int,
    d_model: int,
    h: int,
    n_kv_heads: int | None = None,
    n_layers: int = 1,
    bytes_per_number: int = 2,
    d_k: int | None = None,
    d_v: int | None = None,
) -> int:
    """Bytes of the keys and values of b sequences: n_layers b length n_kv_heads (d_k + d_v) s.

    LLaMA 3.1 8B (32 layers, 8 key/value heads of 128) keeps 131,072 bytes a token at 16 bits.
    Raises: ValueError for sizes that no such layer can have, and for counts below 1 (length: below 0).
    """
    d_k, d_v, n_kv_heads = multi_head_sizes(d_model, h, d_k, d_v, n_kv_heads)
    b, n_layers, s = check_sizes(b=b, n_layers=n_layers, bytes_per_number=bytes_per_number)
    (length,) = check_sizes(0, length=length)
    return n_layers * b * length * n_kv_heads * (d_k + d_v) * s


def kept_weights_bytes(b: int, h: int, n_q: int, n_k: int, bytes_per_number: int = 4) -> int:
    """Bytes of the attention weights when they are kept, as `trace` does: b h n_q n_k s. Fused: none.

    Raises: ValueError for counts below 0, and for less than 1 byte a number.
    """
    (s,) = check_sizes(bytes_per_number=bytes_per_number)
    return math.prod(check_sizes(0, b=b, h=h, n_q=n_q, n_k=n_k)) * s


@dataclass(frozen=True)
class Machine:
    """What a machine can do at most. peak: FLOPs a second; bandwidth: bytes a second; source: of both.

    Raises: ValueError for what is not a finite number above 0.
    """

    name: str
    peak: float
    bandwidth: float
    source: str = ""

    def __post_init__(self) -> None:
        check_number(above=0, peak=self.peak, bandwidth=self.bandwidth)

    @property
    def ridge(self) -> float:
        """The intensity above which arithmetic, not memory, is the limit: peak / bandwidth."""
        return self.peak / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """The roof: min(peak, intensity times bandwidth), in FLOPs a second.

        Raises: ValueError for an intensity that is not a finite number of at least 0.
        """
        check_number(0, intensity=intensity)
        return min(self.peak, intensity * self.bandwidth)

    def least_seconds(self, cost: StageCost) -> float:
        """No implementation is faster than max(FLOPs / peak, bytes / bandwidth)."""
        return max(cost.flops / self.peak, cost.bytes / self.bandwidth)


def batch_at_the_ridge(machine: Machine, d: int, bytes_per_number: int = 2) -> float:
    """Rows b n from which a square projection of width d is limited by arithmetic; inf when none are enough.

    From (2 rows / s) / (1 + 2 rows / d) = ridge: rows = (r s / 2) / (1 - r s / d).
    Raises: ValueError for a width below 1, and for less than 1 byte a number.
    """
    d, s = check_sizes(d=d, bytes_per_number=bytes_per_number)
    need = machine.ridge * s
    return need / 2 / (1 - need / d) if need < d else math.inf


# Dense 16-bit matrix products, memory of the package.
PUBLISHED = (
    Machine("NVIDIA A100 SXM 80 GB", 312e12, 2.039e12, "NVIDIA A100 data sheet"),
    Machine("NVIDIA H100 SXM", 989e12, 3.35e12, "NVIDIA H100 data sheet"),
    Machine("NVIDIA H200 SXM", 989e12, 4.8e12, "NVIDIA H200 data sheet"),
)
