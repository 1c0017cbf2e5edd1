"""Numbers that the input does not hold and that no rule explains: something was computed."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from mha_course.exercises.evidence import Finding
from mha_course.exercises.reading.axis_maps import names
from mha_course.exercises.reading.coded_axes import Axes, places

_LOOK = "any step that does more than move numbers."


def computed(axes: Axes, values: np.ndarray, have: Tensor) -> Finding | None:
    """Numbers that the input does not hold, and no rule is known for them."""
    there = [places(axes, value, have) is not None for value in values.reshape(-1, 1)]
    if (values == values.flat[0]).all():
        return None
    if np.mean(there) > 0.5:
        return _computed_in_part(axes, values, np.array(there))
    says = "Most of these numbers don't stand in the input: something is computed, and nothing should be."
    return Finding("numbers-changed", says, look=_LOOK)


def _computed_in_part(axes: Axes, values: np.ndarray, there: np.ndarray) -> Finding | None:
    """Some heads, tokens, ... hold numbers that the input does not hold."""
    right = axes.source[axes.right()]
    if values.size != right.size:
        return None
    there, values = there.reshape(right.shape), values.reshape(right.shape)
    for axis, i in enumerate(axes.order):
        odd = [k for k in range(right.shape[axis]) if there.take(k, axis=axis).mean() < 0.5]
        if odd and len(odd) < right.shape[axis]:
            rest = np.delete(values, odd, axis=axis), np.delete(right, odd, axis=axis)
            fine = " All others are right." if np.allclose(*rest, rtol=1e-4, atol=1e-4) else ""
            hold = "holds" if len(odd) == 1 else "hold"
            named = names(axes.words[i], odd).capitalize()
            says = f"{named} {hold} numbers that don't stand in the input: something is computed.{fine}"
            return Finding("numbers-changed", says, look=_LOOK)
    return None
