"""The input's axes down to heads and features, and where each number of a result comes from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from mha_course.exercises.exercise import Case, Returned
from mha_course.exercises.outcome import tolerance

_FACTORS = (2, 3, 0.5, -1)
_SYMBOLS = {
    "sentence": "b",
    "token": "n",
    "head": "h",
    "feature": "d_k",
    "row": "d_model",
    "column": "d_k",
}


@dataclass(frozen=True)
class Axes:
    """The smallest axes of an input whose numbers all differ: features of a token are heads times d_k.

    words, symbols, sizes: of each axis, in the order of the input; order: the axes as the right result has
    them; groups: how many of them the right result joins in each of its own axes; source: the input's
    numbers, flat; input_axes: how many of the smallest axes each axis of the input holds.
    """

    words: tuple[str, ...]
    symbols: tuple[str, ...]
    sizes: tuple[int, ...]
    order: tuple[int, ...]
    groups: tuple[int, ...]
    source: np.ndarray
    input_axes: tuple[int, ...]

    @property
    def input_symbols(self) -> tuple[str, ...]:
        """The axes of the input by their symbols."""
        return ("b", "n", "d_model") if len(self.input_axes) < len(self.sizes) else self.symbols

    def digits(self, codes: np.ndarray) -> list[np.ndarray]:
        """For places in the input: the index along each of the smallest axes."""
        return list(np.unravel_index(codes, self.sizes))

    def right(self) -> np.ndarray:
        """Places in the input as the right result holds them, one axis for each of the smallest."""
        return np.arange(len(self.source)).reshape(self.sizes).transpose(self.order)


def axes_of(case: Case, returned: Returned) -> Axes | None:
    """The axes of a case whose first argument names them; None when they can't be told."""
    source: Tensor = case.arguments[0]
    words, sizes, holds = list(case.coded), list(source.shape), [1] * source.ndim
    if not words or len(words) != source.ndim:
        return None
    if "head" not in words:  # the last axis holds the features of all heads
        h = case.sizes["h"]
        words[-1:], sizes[-1:], holds[-1] = ["head", "feature"], [h, sizes[-1] // h], 2
    symbols = [_SYMBOLS[word] for word in words]
    order, groups = [], []
    for axis in returned.axes:
        parts = [axis] if axis in symbols else ["h", "d_k"]
        order += [symbols.index(part) for part in parts]
        groups.append(len(parts))
    return Axes(
        tuple(words),
        tuple(symbols),
        tuple(sizes),
        tuple(order),
        tuple(groups),
        source.double().numpy().ravel(),
        tuple(holds),
    )


def places(axes: Axes, values: np.ndarray, like: Tensor) -> np.ndarray | None:
    """For each value its place in the input; None when one of them doesn't stand there."""
    by_value = np.argsort(axes.source, kind="stable")
    ordered = axes.source[by_value]
    right = np.clip(np.searchsorted(ordered, values), 1, len(ordered) - 1)
    right -= values - ordered[right - 1] < ordered[right] - values
    relative, absolute = tolerance(like, like)
    if (np.abs(ordered[right] - values) > absolute + relative * np.abs(values) * 0.1).any():
        return None
    return by_value[right]


def changed_evenly(axes: Axes, values: np.ndarray, like: Tensor) -> tuple[float, float] | None:
    """(a, c) such that the values are a * input + c, in whatever order; None when there are none."""
    source, given = np.sort(axes.source), np.sort(values.ravel())
    if given.shape != source.shape:
        # Some are missing or there twice; then only a factor can be told.
        factors = (given[-1] / source[-1], given[0] / source[0], *_FACTORS, axes.sizes[-1] ** -0.5)
        found = (a for a in factors if a and places(axes, values / a, like) is not None)
        factor = next(found, None)
        return None if factor is None else (float(factor), 0.0)
    if not given[-1] > given[0]:
        return None
    for ordered in (given, given[::-1]):
        a = (ordered[-1] - ordered[0]) / (source[-1] - source[0])
        c = ordered[0] - a * source[0]
        if np.allclose(a * source + c, ordered, rtol=1e-4, atol=1e-4 * abs(a)):
            return float(a), float(c)
    return None
