"""Finding the steps behind a result whose axes are mixed: turn, cut the row of numbers anew, turn again."""

from __future__ import annotations

import functools
from itertools import permutations

import numpy as np

from mha_course.exercises.reading.coded_axes import Axes

# Turns of the input, then the sizes laid over the row of numbers, then the turn of those.
Steps = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def steps_behind(axes: Axes, codes: np.ndarray) -> str:
    """In words, the fewest steps that give the result, the order within each axis aside; "" for none."""
    table = _table(axes.sizes, axes.input_axes)
    for turned in range(1 << codes.ndim):
        flipped = [axis for axis in range(codes.ndim) if turned >> axis & 1]
        found = table.get(np.flip(codes, flipped).astype(np.int16).tobytes())
        if found:
            extra = [f"turned round along axis {axis}" for axis in flipped]
            return _words(axes, found, codes.shape, extra)
    return ""


@functools.cache
def _table(sizes: tuple[int, ...], input_axes: tuple[int, ...]) -> dict[bytes, Steps]:
    """For each result of three steps, as bytes, the steps; the first and fewest are kept."""
    shape, at = [], 0
    for holds in input_axes:
        shape.append(int(np.prod(sizes[at : at + holds])))
        at += holds
    x = np.arange(int(np.prod(sizes)), dtype=np.int16).reshape(shape)
    table: dict[bytes, Steps] = {}
    turns = list(permutations(range(len(sizes))))
    for first in permutations(range(len(shape))):
        flat = x.transpose(first).ravel()
        for cut in dict.fromkeys(permutations(sizes)):
            laid = flat.reshape(cut)
            for turn in turns:
                table.setdefault(laid.transpose(turn).tobytes(), (first, cut, turn))
    return table


def _words(axes: Axes, steps: Steps, shape: tuple[int, ...], extra: list[str]) -> str:
    first, cut, turn = steps
    by_size = dict(zip(axes.sizes, axes.symbols, strict=True))
    said = []
    if first != tuple(range(len(first))):
        said.append(f"turned to `({', '.join(axes.input_symbols[i] for i in first)})`")
    named = [by_size[size] for size in cut]
    said.append(f"the row of all numbers is cut anew into `({', '.join(named)})`")
    if turn != tuple(range(len(turn))):
        said.append(f"turned to `({', '.join(named[i] for i in turn)})`")
    if len(shape) != len(cut):
        said.append(f"given the shape `{shape}`")
    said += extra
    listed = f"{', '.join(said[:-1])}, then {said[-1]}" if len(said) > 1 else said[0]
    return f"Your result is what comes out when the input is taken and {listed}."
