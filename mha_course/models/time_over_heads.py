"""Does h cost anything? One layer at every number of heads, its FLOPs counted and its stages timed.

By FLOPs of the matrix products h costs nothing: 8 n d_model^2 + 4 n^2 d_model. What grows with h all the same
is the softmax, h n^2 exponentials, and the scores and weights that are written and read, h n^2 numbers each.
And products of narrow heads, d_k columns, make less of a processor than wide ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mha_course import cost
from mha_course.attention import divisors
from mha_course.models.own_machine import Setting, measured_seconds
from mha_course.sizes import check_sizes

INNER = ("scores", "softmax", "weighted_sum")


@dataclass(frozen=True)
class HeadsTimed:
    """One layer with h heads. flops: of all matrix products; kept_bytes: of the weights, float32; seconds: by
    stage; fused_seconds: of scores, softmax and weighted sum when one kernel does them and keeps neither.
    """

    h: int
    d_k: int
    flops: int
    kept_bytes: int
    seconds: Mapping[str, float]
    fused_seconds: float

    @property
    def total(self) -> float:
        """Seconds of the layer, stage by stage."""
        return sum(self.seconds.values())

    @property
    def fused_total(self) -> float:
        """Seconds of the layer with the fused kernel."""
        return self.fused_seconds + sum(self.seconds[name] for name in self.seconds if name not in INNER)

    @property
    def softmax_share(self) -> float:
        """The softmax's share of all the time, stage by stage."""
        return self.seconds["softmax"] / self.total


def time_over_heads(
    n: int = 256,
    d_model: int = 128,
    b: int = 1,
    heads: Sequence[int] | None = None,
    seconds: float = 0.03,
    rounds: int = 1,
) -> list[HeadsTimed]:
    """Time a layer with every number of heads. heads: 1, 2, 4 ... d_model when left out.

    They take turns, `rounds` times, and the fastest try of each stage counts. seconds: for each stage and
    round. Raises: ValueError for an h that doesn't divide d_model, and for rounds below 1.
    """
    check_sizes(rounds=rounds)
    if heads is None:
        heads = [h for h in divisors(d_model) if h & (h - 1) == 0]
    best: dict[int, dict[str, float]] = {h: {} for h in heads}
    for _ in range(rounds):
        for h, times in best.items():
            setting = Setting(b, n, d_model, h)
            new = measured_seconds(setting, False, seconds)
            new |= measured_seconds(setting, True, seconds, only=("attention",))
            times |= {name: min(times.get(name, math.inf), one) for name, one in new.items()}
    return [_timed(b, n, d_model, h, times) for h, times in best.items()]


def _timed(b: int, n: int, d_model: int, h: int, times: Mapping[str, float]) -> HeadsTimed:
    flops = cost.attention_flops(n, d_model, h, b)["total"]
    stages = {name: one for name, one in times.items() if name not in ("attention", "total")}
    kept = cost.kept_weights_bytes(b, h, n, n)
    return HeadsTimed(h, d_model // h, flops, kept, stages, times["attention"])
