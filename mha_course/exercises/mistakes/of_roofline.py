"""Known mistakes of `attainable_flops`: the wrong roof, the wrong fraction, times added up, one for all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


class Stages(NamedTuple):
    """The arguments: operations and bytes of each stage, and what the machine can do."""

    flops: Tensor
    moved: Tensor
    peak: float
    bandwidth: float


def roof_with(
    flops: Tensor,
    moved: Tensor,
    peak: float,
    bandwidth: float,
    *,
    intensity: Step = lambda flops, moved: flops / moved,
    slope: Step = lambda intensity, z: intensity * z.bandwidth,
    flat: Step = lambda z: z.peak,
    join: Step = lambda slope, flat, z: torch.minimum(slope, flat),
    finish: Step = lambda roof, z: roof,
) -> Tensor:
    """What the roofline allows with the steps given; right without any: (stages,)."""
    z = Stages(flops, moved, peak, bandwidth)
    rising = slope(intensity(flops, moved), z)
    return finish(join(rising, torch.as_tensor(flat(z)).to(rising).expand_as(rising), z), z)


def seconds(z: Stages) -> tuple[Tensor, Tensor]:
    """How long computing takes, and how long moving."""
    return z.flops / z.peak, z.moved / z.bandwidth


_with = partial(Otherwise, roof_with)

ROOF_MISTAKES = (
    Mistake(
        "larger-of-the-two",
        _with(join=lambda slope, flat, z: torch.maximum(slope, flat)),
        "The larger of the two roofs is taken (or the condition is turned round). Neither can be exceeded.",
        "what happens when one roof is lower than the other.",
    ),
    Mistake(
        "memory-only",
        _with(join=lambda slope, flat, z: slope),
        "Only memory is a limit here. No stage computes faster than `peak`.",
        "where `peak` takes part.",
    ),
    Mistake(
        "peak-for-all",
        _with(join=lambda slope, flat, z: flat),
        "Every stage gets the peak. Some wait for memory.",
        "where `bandwidth` takes part.",
    ),
    Mistake(
        "bytes-per-flop",
        _with(intensity=lambda flops, moved: moved / flops),
        "The intensity is upside down: bytes per FLOP.",
        "the fraction.",
    ),
    Mistake(
        "divided-by-bandwidth",
        _with(slope=lambda intensity, z: intensity / z.bandwidth),
        "The intensity is divided by the bandwidth. FLOPs per byte times bytes a second are FLOPs a second.",
        "the units.",
    ),
    Mistake(
        "peak-and-bandwidth-swapped",
        _with(slope=lambda intensity, z: intensity * z.peak, flat=lambda z: z.bandwidth),
        "`peak` and `bandwidth` have changed places.",
        "which of the two is a roof by itself.",
    ),
    Mistake(
        "intensity-only",
        _with(slope=lambda intensity, z: intensity, join=lambda slope, flat, z: slope),
        "This is the intensity of each stage, FLOPs per byte. FLOPs a second are asked for.",
        "the units.",
    ),
    Mistake(
        "cut-at-the-ridge",
        _with(
            slope=lambda intensity, z: intensity,
            flat=lambda z: z.peak / z.bandwidth,
        ),
        "This is the intensity, cut off at the ridge. FLOPs a second are asked for.",
        "the units.",
    ),
    Mistake(
        "share-of-the-peak",
        _with(finish=lambda roof, z: roof / z.peak),
        "This is a share of the peak, at most 1. FLOPs a second are asked for.",
        "the last step.",
    ),
    Mistake(
        "seconds",
        _with(finish=lambda roof, z: z.flops / roof),
        "These are the seconds that each stage takes at least. FLOPs a second are asked for.",
        "the units.",
    ),
    Mistake(
        "one-after-the-other",
        _with(finish=lambda roof, z: z.flops / sum(seconds(z))),
        "The times for computing and for moving are added up. In the roofline both go on at once, and the "
        "longer one counts.",
        "how the two times are joined.",
    ),
    Mistake(
        "one-intensity-for-all",
        _with(intensity=lambda flops, moved: (flops.sum() / moved.sum()).expand_as(flops)),
        "All stages together have one intensity here. Each has its own.",
        "sums.",
    ),
    Mistake(
        "bandwidth-below-the-ridge",
        _with(
            join=lambda slope, flat, z: torch.where(slope < flat, torch.full_like(slope, z.bandwidth), flat)
        ),
        "Below the ridge every stage gets the bandwidth itself. The roof rises there: the intensity takes "
        "part.",
        "the sloping part of the roof.",
    ),
    Mistake(
        "intensity-left-out",
        _with(slope=lambda intensity, z: torch.full_like(intensity, z.bandwidth)),
        "The smaller of `peak` and `bandwidth` is taken, whatever the stage does.",
        "where `flops` and `moved` take part.",
    ),
    Mistake(
        "only-moved",
        _with(slope=lambda intensity, z: z.moved * z.bandwidth),
        "`moved` itself is multiplied by the bandwidth. FLOPs *per byte* are missing.",
        "where `flops` takes part.",
    ),
    Mistake(
        "flops-cut-off",
        _with(join=lambda slope, flat, z: torch.minimum(z.flops, flat)),
        "The number of operations is cut off at the peak: FLOPs are compared with FLOPs a second.",
        "the units.",
    ),
    Mistake(
        "bytes-a-second",
        _with(finish=lambda roof, z: roof / (z.flops / z.moved)),
        "These are the bytes that each stage moves a second. FLOPs a second are asked for.",
        "the units.",
    ),
    Mistake(
        "slowest-for-all",
        _with(finish=lambda roof, z: roof.min().expand_as(roof)),
        "The lowest number stands for all stages. Each has its own.",
        "a minimum over the stages.",
    ),
)
