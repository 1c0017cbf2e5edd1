"""Wrong shares of relabelings, asked about one relabeling at a time: counted or not, and which gap it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.of_relabeling import gap_of
from mha_course.exercises.outcome import Outcome

_ALONE = "With one relabeling alone the share is 0 or 1."


def read_one_relabeling(
    evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]
) -> Finding | None:
    """What an answer says of each relabeling by itself; None where it is right about each."""
    distances, layers, orders = evidence.cases[i].fresh()
    real = float(gap_of(distances, layers))
    first = float(gap_of(distances, layers[orders[0]]) >= real)
    for k, order in enumerate(orders):
        out = call((distances.clone(), layers.clone(), order[None].clone()))
        said = _number(out)
        if said is None:
            return None
        gap = float(gap_of(distances, layers[order]))
        if said not in (0.0, 1.0):
            says = f"{_ALONE} Given `orders[{k}]` alone, yours gives `{said:.4g}`: no share of it."
            look = "what is compared with `>=`: both sides should be one number."
            return Finding("not-one-comparison", says, look=look)
        if said != float(gap >= real):
            counted = "counted, and should not be" if said else "not counted, and should be"
            says = f"`orders[{k}]` is {counted}: its gap is `{gap:.4f}`, and the real one is `{real:.4f}`."
            look = "how the gap is computed, and what it is compared with."
            return Finding("wrong-about-one", says, look=look)
    whole, want = _number(evidence.got[i]), float(evidence.expected[i].leaves[0])
    if whole is not None and abs(whole - want * len(orders)) < 1e-4:
        says = "This is the number of relabelings that reach the real gap. Their share is asked for."
        return Finding("number-for-share", says, look="the last step.")
    if whole is not None and abs(whole * len(orders) - first) < 1e-4:
        says = "Only the first relabeling is counted, and divided by all."
        return Finding("only-the-first", says, look="a `return` inside the loop.")
    says = "About each relabeling alone it is right; the share of all of them is not."
    return Finding("wrong-together", says, look="what is carried along in the loop, and what is divided.")


def _number(out: Outcome) -> float | None:
    leaf: Tensor | None = out.leaves[0] if out.error is None and len(out.leaves) == 1 else None
    return float(leaf) if leaf is not None and leaf.numel() == 1 else None
