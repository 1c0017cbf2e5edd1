"""Numbers that are right in another unit: thousands, and steps of 1,024, by their names."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome

_THOUSANDS = (("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12))
_STEPS_OF_1024 = (("Ki", 2**10), ("Mi", 2**20), ("Gi", 2**30), ("Ti", 2**40))


def unit_of(factor: float, unit: str) -> str:
    """In which unit a number is `factor` times what it should be: "GB", "GiB", "TFLOPs"; "" when in none."""
    for letter, size in (*_THOUSANDS, *_STEPS_OF_1024):
        if math.isclose(factor * size, 1, rel_tol=1e-5):
            return f"{letter}{unit}, {size:,} {'FLOPs' if unit == 'FLOPs' else 'bytes'} each"
    return ""


@dataclass(frozen=True)
class InBytes:
    """A reader of one number of bytes made of sizes: told where it is in kB, MiB, GB, ... also when rounded.

    base: sizes whose number of bytes is a multiple of every unit, so that rounding changes nothing.
    right: the number itself.
    """

    base: tuple[int, ...]
    right: Callable[..., float]

    def read(self, evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
        """The unit by its name, where the number is right in it for more than one set of sizes."""
        first = self._unit(call, self.base)
        # Another number of sequences: what is right by chance would be off there.
        if not first or first != self._unit(call, (3 * self.base[0], *self.base[1:])):
            return None
        says = f"This is in {first}. Bytes are asked for, as they are."
        return Finding("other-unit", says, look="what the number is divided by at the end.")

    def _unit(self, call: Callable[[tuple[Any, ...]], Outcome], sizes: tuple[int, ...]) -> str:
        out = call(sizes)
        if out.error is not None or len(out.leaves) != 1 or out.leaves[0].numel() != 1:
            return ""
        leaf = out.leaves[0]
        return "" if leaf.is_complex() else unit_of(float(leaf) / self.right(*sizes), "B")
