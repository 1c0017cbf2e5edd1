"""The student's own machine: its peak and bandwidth, and how long the stages of a layer really take on it.

One thread and float32 throughout, so that numbers can be compared with each other. Times are the shortest of
several tries: whatever else the machine does can only make a try longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

import torch
from torch import Tensor

from mha_course import cost
from mha_course.attention import multi_head_sizes
from mha_course.models.one_thread import one_thread
from mha_course.variants.grouped_query import grouped_attention

WIDTH = 768  # of the square product that peaks are measured with
NUMBERS = 24_000_000  # 96 MB: more than the caches of usual processors hold
FEW_ROWS = 16
COPIED_BYTES = 100_000_000  # of a stage's operands, so that no try finds them in a cache


# Time in which others have the processor doesn't count, where the system tells it finely enough.
_FINE = time.get_clock_info("thread_time").resolution < 1e-6
now = time.thread_time if _FINE else time.perf_counter


def shortest(call: Callable[[], object], seconds: float = 0.3, least: int = 3) -> float:
    """Seconds of the fastest try: at least `least` of them, and new ones until `seconds` are over.

    Processor time of this thread where the system measures it to the microsecond, else time on the clock;
    so call inside `one_thread()`.
    """
    call()  # the first one pays for memory that the later ones have
    best, tries, end = float("inf"), 0, time.perf_counter() + seconds
    while tries < least or time.perf_counter() < end:
        start = now()
        call()
        best, tries = min(best, now() - start), tries + 1
    return best


@torch.no_grad()
def measure_machine(seconds: float = 1.5) -> cost.Machine:
    """Peak and bandwidth of one thread in float32, measured.

    Peak: a square product of width 768. Bandwidth: reading a large matrix once, in the faster of two ways, a
    product with one vector and looking for the largest number; which of them is depends on the machine.
    seconds: about how long it takes.
    """
    g = torch.Generator().manual_seed(0)
    with one_thread():
        a = torch.randn(WIDTH, WIDTH, generator=g)
        peak = 2 * WIDTH**3 / shortest(lambda: a @ a, seconds / 3)
        rows = torch.ones(NUMBERS // 6_000, 6_000)
        vector = torch.randn(6_000, generator=g)
        reading = min(shortest(lambda: rows @ vector, seconds / 3), shortest(lambda: rows.max(), seconds / 3))
        bandwidth = 4 * rows.nelement() / reading
    return cost.Machine("this machine, one thread, float32", peak, bandwidth, "measured just now")


@dataclass(frozen=True)
class Setting:
    """One layer at work: b sequences, n new tokens each, `cached` before; sizes as in `cost.stage_costs`."""

    b: int
    n: int
    d_model: int
    h: int
    n_kv_heads: int | None = None
    cached: int = 0

    def costs(self, fused: bool = False) -> Mapping[str, cost.StageCost]:
        """FLOPs and bytes by stage, in float32."""
        return cost.stage_costs(
            self.b,
            self.n,
            self.d_model,
            self.h,
            self.n_kv_heads,
            self.cached,
            bytes_per_number=4,
            fused=fused,
        )


def predicted_seconds(setting: Setting, machine: cost.Machine, fused: bool = False) -> dict[str, float]:
    """For each stage the least time on this machine, by the roofline model, and their total."""
    stages = {name: machine.least_seconds(one) for name, one in setting.costs(fused).items()}
    return stages | {"total": sum(stages.values())}


@torch.no_grad()
def measured_seconds(
    setting: Setting, fused: bool = False, seconds: float = 0.1, only: Collection[str] | None = None
) -> dict[str, float]:
    """For each stage how long it takes here, the shortest of several tries, and their total.

    fused: scores, softmax and weighted sum in one kernel. Numbers are random. Keys and values are laid out as
    a cache keeps them, (b, n_kv_heads, n_k, d_k), and read once a group. Every try gets other copies of its
    operands, so that they come from memory, as they do in a model of many layers; room for results is there
    already. seconds: spent on each stage. only: names of the stages to time, all when left out.

    Raises: ValueError for a name that is no stage.
    """
    every = _stages(setting, fused)
    if unknown := set(only or ()) - set(every):
        raise ValueError(f"{sorted(unknown)} is no stage; there are {', '.join(every)}.")
    stages = {name: _timed(*stage, seconds) for name, stage in every.items() if only is None or name in only}
    return stages | {"total": sum(stages.values())}


def _stages(
    setting: Setting, fused: bool
) -> dict[str, tuple[Callable[..., object], list[Tensor], list[Tensor]]]:
    """For each stage what is called, its operands, and the room for its results."""
    d_k, _, n_kv = multi_head_sizes(setting.d_model, setting.h, None, None, setting.n_kv_heads)
    b, n, n_k, group = setting.b, setting.n, setting.cached + setting.n, setting.h // n_kv
    g = torch.Generator().manual_seed(0)

    def drawn(*sizes: int) -> Tensor:
        return torch.randn(*sizes, generator=g)

    x, w_o = drawn(b * n, setting.d_model), drawn(setting.d_model, setting.d_model)
    weights = [w_o.clone(), *(drawn(setting.d_model, n_kv * d_k) for _ in range(2))]
    projected = [torch.empty(b * n, w.shape[1]) for w in weights]
    rows = drawn(b, n_kv, group * n, d_k)  # the queries of a group below one another
    k, v = drawn(b, n_kv, n_k, d_k), drawn(b, n_kv, n_k, d_k)
    pairs = (b, n_kv, group * n, n_k)
    if fused:
        inner = {"attention": (grouped_attention, [rows, k, v], [])}
    else:
        # For a few queries K Q^T is up to twice as fast as Q K^T: kernels want many rows on the left.
        few = rows.shape[2] < FEW_ROWS
        left, right = (k, rows) if few else (rows, k)
        room = torch.empty(b, n_kv, left.shape[2], right.shape[2])
        scores = (lambda left, right, o: torch.matmul(left, right.mT, out=o), [left, right], [room])
        inner = {
            "scores": scores,
            "softmax": (lambda s, o: torch.softmax(s, -1, out=o), [drawn(*pairs)], [torch.empty(pairs)]),
            "weighted_sum": (
                lambda a, v, o: torch.matmul(a, v, out=o),
                [drawn(*pairs).softmax(-1), v],
                [torch.empty(rows.shape)],
            ),
        }

    def project(x: Tensor, q: Tensor, k: Tensor, v: Tensor, *room: Tensor) -> None:
        for w, o in zip((q, k, v), room, strict=True):
            torch.matmul(x, w, out=o)

    return {
        "projections": (project, [x, *weights], projected),
        **inner,
        "output_projection": (lambda x, w, o: torch.matmul(x, w, out=o), [x, w_o], [torch.empty_like(x)]),
    }


def _timed(
    call: Callable[..., object], operands: Sequence[Tensor], room: Sequence[Tensor], seconds: float
) -> float:
    bytes_of_one = sum(one.nbytes for one in operands)
    copies = cycle([[one.clone() for one in operands] for _ in range(1 + COPIED_BYTES // bytes_of_one)])
    with one_thread():
        return shortest(lambda: call(*next(copies), *room), seconds)
