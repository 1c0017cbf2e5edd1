"""What the Roofline says: the rows of its table, what limits the stages, what was moved and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mha_course import cost
from mha_course.attention import divisors_in_words
from mha_course.plots import numerals
from mha_course.plots.roofline import STAGE_NAMES, bound_by

__all__ = ["fits_the_peak", "moved_in_words", "stage_rows", "told"]

INNER = ("scores", "softmax", "weighted_sum", "attention")


def stage_rows(
    costs: Mapping[str, cost.StageCost], parameters: Mapping[str, int], machine: cost.Machine
) -> list[dict[str, object]]:
    """For each stage, and for all together, the numbers that are drawn and the texts of the table.

    The least time of the layer is the sum over its stages: they run one after the other.
    """
    rows = []
    for stage, one in costs.items():
        seconds = machine.least_seconds(one)
        rows.append(
            _row(STAGE_NAMES[stage], one, parameters.get(stage, 0), seconds)
            | {
                "stage": stage,
                "intensity": one.intensity,
                "attainable": machine.attainable(one.intensity),
                "bound": bound_by(one, machine),
                "most": numerals.prefixed(machine.attainable(one.intensity), "FLOP/s"),
            }
        )
    seconds = sum(machine.least_seconds(one) for one in costs.values())
    whole = _row("the layer", cost.total_cost(costs), sum(parameters.values()), seconds)
    return [*rows, whole | {"stage": "total", "bound": ""}]


def _row(name: str, one: cost.StageCost, parameters: int, seconds: float) -> dict[str, object]:
    return {
        "name": name,
        "texts": {
            "parameters": numerals.prefixed(parameters) if parameters else "",
            "flops": numerals.prefixed(one.flops),
            "bytes": numerals.prefixed(one.bytes, "B"),
            "intensity": numerals.three_digits(one.intensity),
            "seconds": numerals.prefixed(seconds, "s"),
        },
        "exact": {
            "parameters": f"{parameters:,} parameters" if parameters else "",
            "flops": f"{one.flops:,} FLOPs",
            "bytes": f"{one.bytes:,} bytes",
        },
    }


def told(
    phase: str,
    b: int,
    length: int,
    d_model: int,
    bytes_per_number: int,
    costs: Mapping[str, cost.StageCost],
    machine: cost.Machine,
) -> str:
    """What limits which stage, and what a larger batch would change."""
    by = {
        limit: [STAGE_NAMES[stage] for stage, one in costs.items() if bound_by(one, machine) == limit]
        for limit in ("memory", "compute")
    }
    if not by["compute"]:
        said = "Every stage is bound by memory: numbers arrive more slowly than they could be used."
    elif not by["memory"]:
        said = "Every stage is bound by compute: numbers arrive faster than they can be used."
    else:
        said = f"Bound by memory: {_listed(by['memory'])}. Bound by compute: {_listed(by['compute'])}."
    rows = b if phase == "decode" else b * length
    need = cost.batch_at_the_ridge(machine, d_model, bytes_per_number)
    name = "b" if phase == "decode" else "b · n"
    if math.isinf(need):
        said += (
            f" A square projection of width {d_model:,} stays bound by memory here, however large {name} is."
        )
    else:
        said += (
            f" A square projection of width {d_model:,} is bound by compute from {name} = "
            f"{math.ceil(need):,} on; here {name} is {rows:,}."
        )
    if phase == "decode":
        inner = cost.total_cost(one for stage, one in costs.items() if stage in INNER)
        said += (
            f" Attention over the cache stays at {numerals.three_digits(inner.intensity)} FLOP/byte for "
            "every b: each sequence brings keys and values of its own."
        )
    return said


def fits_the_peak(machine: cost.Machine, bytes_per_number: int, measured: bool) -> str:
    """A warning where the peak holds for another width of numbers; empty where it fits."""
    if measured:
        if "float32" in machine.name and bytes_per_number != 4:
            return (
                "Peak and bandwidth of this machine were measured with 4 bytes a number. With other numbers "
                "its peak is another one."
            )
        return ""
    if bytes_per_number == 2:
        return ""
    return "The peak in the data sheet is for 16-bit numbers, 2 bytes. " + (
        "With 4 bytes a number the device computes more slowly: the true roof is lower."
        if bytes_per_number == 4
        else "With 1 byte a number the device may compute faster: the true roof may be higher."
    )


def moved_in_words(name: str, wished: int, found: int, whole_name: str, whole: int) -> str:
    """Why a size is not what was wished for; empty where it is."""
    if wished == found:
        return ""
    return (
        f"{name} moved from {wished} to {found}: {wished} does not divide {whole_name} = {whole}. "
        f"{name} can be {divisors_in_words(whole)}."
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
