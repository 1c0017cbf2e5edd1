"""What every variant costs, by formula: parameters, FLOPs by stage, and numbers in a cache.

Matrix products only, a multiply-add as two, as in `cost.attention_flops`. To what the plain layer computes
comes a stage "meeting": what the heads need to share, choose or mix.

    collaborative   scores      2 n n_k h width           (+ 2 n n_k h with a content bias)
                    projections 2 (n + n_k) d_model width; the content bias 2 n_k d_model h as "meeting"
    overlapping     d_k and d_v are own + 2 o in scores, weighted sum and W_O, not in the projections
    mixture         n (shared + chosen) rows of a head in place of n h; routers 2 n d_model (h + 2) at most
    talking         4 n n_k h^2, both matrices
    composable      two sides of the softmax, each (n + n_k) (2 d_model 2Rh + 2 (2Rh)^2 + 2 d_model h) for the
                    tokens and 8 n n_k h R for the pairs, + 2 n n_k h^2 if static

Sources: those of the variants' own files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mha_course.layers import MultiHeadAttention
from mha_course.sizes import check_sizes
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.line_up import cached_numbers
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.talking_heads import TalkingHeads


@dataclass(frozen=True)
class VariantCost:
    """What a layer costs. parameters: learned numbers; flops: of one sentence; cached: numbers that are kept
    of each earlier token when words are written one by one; stages: the FLOPs stage by stage.
    """

    parameters: int
    flops: int
    cached: int
    stages: Mapping[str, int]

    def cache_bytes(self, tokens: int = 1, bytes_per_number: int = 2) -> int:
        """Bytes of so many tokens in the cache. Raises: ValueError for tokens below 0 and bytes below 1."""
        (tokens,), (s,) = check_sizes(0, tokens=tokens), check_sizes(bytes_per_number=bytes_per_number)
        return self.cached * tokens * s


def variant_cost(layer: MultiHeadAttention, n: int, n_k: int | None = None) -> VariantCost:
    """What a layer of any variant costs, for one sentence of n queries and n_k keys (n when left out).

    flops are those that are needed: the layers that compose their maps also compute each head's share of the
    output, to keep it in a trace, and that isn't counted. Of a mixture only chosen heads count.
    Returns: stages "projections", "scores", "weighted_sum", "output_projection" and "meeting".
    Raises: TypeError for what is no layer; ValueError for lengths below 0.
    """
    if not isinstance(layer, MultiHeadAttention):
        raise TypeError(f"layer must be a MultiHeadAttention or a variant; got {type(layer).__name__}.")
    n, n_k = check_sizes(0, n=n, n_k=n if n_k is None else n_k)
    stages = _stages(layer, n, n_k)
    return VariantCost(_parameters(layer), sum(stages.values()), cached_numbers(layer), stages)


def _stages(layer: MultiHeadAttention, n: int, n_k: int) -> dict[str, int]:
    d_model, h, kv = layer.d_model, layer.h, layer.n_kv_heads
    # Widths of what is projected and of what a head works in differ where features are shared.
    of_q, of_k, of_v = h * layer.d_k, kv * layer.d_k, kv * layer.d_v
    used, meeting = h, 0  # heads that a token uses; h unless it chooses
    if isinstance(layer, CollaborativeHeads):
        of_q = of_k = layer.width
        meeting = 0 if layer.content_bias is None else 2 * n_k * d_model * h
    elif isinstance(layer, OverlappingHeads):
        of_q = of_k = of_v = h * layer.own
    elif isinstance(layer, MixtureOfHeads):
        used = layer.shared + layer.chosen
        of_q = used * layer.d_k
        meeting = 2 * n * _router_numbers(layer)
    elif isinstance(layer, TalkingHeads):
        meeting = 2 * 2 * n * n_k * h * h
    elif isinstance(layer, DynamicallyComposableHeads):
        meeting = sum(_composing(layer, part.rank, part.w_b is not None, n, n_k) for part in _sides(layer))
    rows = n * used
    return {
        "projections": 2 * d_model * (n * of_q + n_k * (of_k + of_v)),
        "scores": 2 * rows * n_k * layer.d_k,
        "weighted_sum": 2 * rows * n_k * layer.d_v,
        "output_projection": 2 * rows * layer.d_v * d_model,
        "meeting": meeting,
    }


def _composing(layer: DynamicallyComposableHeads, rank: int, static: bool, n: int, n_k: int) -> int:
    """One side of the softmax: what the tokens say about composing, and what is done for every pair."""
    d_model, h, hidden = layer.d_model, layer.h, 2 * rank * layer.h
    tokens = (n + n_k) * 2 * (d_model * hidden + hidden * hidden + d_model * h)
    # h numbers become R and those h again, once with the query's w_1 w_2 and once with the key's.
    pairs = n * n_k * (8 * h * rank + (2 * h * h if static else 0))
    return tokens + pairs


def _parameters(layer: MultiHeadAttention) -> int:
    d_model, h, kv = layer.d_model, layer.h, layer.n_kv_heads
    of_q, of_k, of_v = h * layer.d_k, kv * layer.d_k, kv * layer.d_v
    more = 0
    if isinstance(layer, CollaborativeHeads):
        of_q = of_k = layer.width
        more = h * layer.width + (0 if layer.content_bias is None else h * d_model)
    elif isinstance(layer, OverlappingHeads):
        of_q = of_k = of_v = h * layer.own
    elif isinstance(layer, MixtureOfHeads):
        more = _router_numbers(layer)
    elif isinstance(layer, TalkingHeads):
        more = 2 * h * h
    elif isinstance(layer, DynamicallyComposableHeads):
        for part in _sides(layer):
            hidden = 2 * part.rank * h
            more += 2 * (d_model * hidden + hidden * hidden + d_model * h) + (part.w_b is not None) * h * h
    widths = {"w_q": of_q, "w_k": of_k, "w_v": of_v, "w_o": d_model}
    biases = sum(width for name, width in widths.items() if getattr(layer, name).bias is not None)
    return d_model * (of_q + of_k + of_v) + h * layer.d_v * d_model + biases + more


def _router_numbers(layer: MixtureOfHeads) -> int:
    """Columns of the routers there are: one a shared head, one a routed head, two for the types."""
    types = 2 if layer.shared and layer.chosen else 0
    return layer.d_model * (layer.h + types)


def _sides(layer: DynamicallyComposableHeads) -> tuple[object, object]:
    return layer.before, layer.after
