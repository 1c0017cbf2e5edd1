"""A kernel of distances asked about one distance and one frequency, then about two."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.kernel import KERNEL
from mha_course.exercises.reading.recipes import beyond_recipes

Call = Callable[[tuple[Any, ...]], Outcome]


def read_kernel(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """The steps done otherwise where they are known; else the smallest thing that goes wrong."""
    found = KERNEL.read(evidence, i, call)
    if found or not beyond_recipes(evidence, i):
        return found
    passed = ""
    for words, m, w in (
        ("one distance", [0.0], [0.5]),
        ("one distance", [1.0], [0.5]),
        ("one distance", [-3.0], [0.5]),
        ("one distance", [4.0], [1.25]),
        ("two distances", [1.0, 4.0], [0.5]),
        ("two frequencies", [1.0], [0.5, 1.25]),
        ("two frequencies", [4.0], [1.25, 0.5]),
        ("three frequencies", [1.0, 2.0], [0.5, 1.25, 0.25]),
    ):
        out = call((torch.tensor(m), torch.tensor(w)))
        if out.error is not None or len(out.leaves) != 1 or out.leaves[0].shape != (len(m),):
            return None
        right = sum(math.cos(m[0] * f) for f in w)
        have = float(out.leaves[0][0])
        if not abs(have - right) < 1e-3:
            terms = " + ".join(f"cos({m[0]:g} · {f:g})" for f in w)
            beside = f", with {m[1]:g} beside it" if len(m) > 1 else ""
            frequencies = f"the frequenc{'ies' if len(w) > 1 else 'y'} {', '.join(f'{f:g}' for f in w)}"
            says = f"For the distance {m[0]:g}{beside} and {frequencies} it should be {terms} = {right:.4f}; "
            says += f"yours is {have:.4f}."
            if passed and passed != words:
                says += f" With {passed} and one frequency it is right."
            return Finding("smallest-example", says, look="this one number.")
        passed = "one distance" if words == "one distance" else passed
    return None
