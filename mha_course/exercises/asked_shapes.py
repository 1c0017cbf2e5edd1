"""Errors about sizes in words: which symbols meet in them, and which axis was cut."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import combinations
from math import prod

from mha_course.exercises.exercise import Case

AXES = {
    "b": "sentences",
    "n": "tokens",
    "h": "heads",
    "n_q": "queries",
    "n_k": "keys",
    "d_model": "features",
}


def sizes_at_work(case: Case, text: str) -> str:
    """What an error about sizes says in the symbols of the case; "" for other errors.

    text: kind and message in one line, as PyTorch gives them.
    """
    asked = re.search(r"shape '\[([\d, -]+)\]' is invalid for input of size (\d+)", text)
    if asked:
        return _asked(case, _sizes(asked[1]), int(asked[2]))
    pieces = re.search(r"equal size, but got \[([\d, ]+)\] at entry 0 and \[([\d, ]+)\]", text)
    if pieces:
        return _pieces(case, _sizes(pieces[1]), _sizes(pieces[2]))
    put = re.search(r"Target sizes: \[([\d, ]+)\]\.\s+Tensor sizes: \[([\d, ]+)\]", text)
    if put:
        there, given = (named(case, _sizes(sizes)) for sizes in put.groups())
        return f"A tensor of shape {given} is put where there is room for {there}."
    meet = re.search(
        r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at .*dimension (\d+)", text
    )
    if meet:
        one, other = (with_symbol(case, int(size)) for size in meet.groups()[:2])
        return f"Along axis {meet[3]} {one} meets {other}."
    cut = re.search(r"size of dim (-?\d+) \((\d+)\)", text)
    if cut:
        return _cut(case, int(cut[1]), int(cut[2]))
    cut = re.search(r"sum exactly to (\d+) \(input tensor's size at dimension (-?\d+)\)", text)
    return _cut(case, int(cut[2]), int(cut[1])) if cut else ""


def _asked(case: Case, sizes: list[int], there: int) -> str:
    shape = named(case, sizes)
    if -1 in sizes:
        known = prod(size for size in sizes if size != -1)
        return f"{there} numbers can't be cut that way: {known} is no divisor."
    return f"The sizes asked for, {shape}, have room for {prod(sizes)} numbers; there are {there}."


def _pieces(case: Case, one: list[int], other: list[int]) -> str:
    apart = [axis for axis, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    if len(one) != len(other) or len(apart) != 1:
        return ""
    axis = apart[0]
    for tensor in case.arguments:
        shape = list(getattr(tensor, "shape", ()))
        if len(shape) == len(one) > 1 and all(shape[i] == one[i] for i in range(len(one)) if i != axis):
            what = AXES.get(symbol(case, shape[axis]), "places")
            if axis == len(shape) - 1:
                return (
                    f"The pieces differ in their {what}: {one[axis]} in the first, {other[axis]} in another."
                )
            return f"Axis {axis}, the {what}, is the one cut: into pieces of {one[axis]} and {other[axis]}."
    return f"The pieces differ along axis {axis}: {one[axis]} and {other[axis]}."


def _cut(case: Case, axis: int, size: int) -> str:
    what = AXES.get(symbol(case, size), "")
    of = f" the {what}," if what else ""
    return f"Axis {axis} is cut here:{of} size {size}."


def named(case: Case, sizes: Iterable[int]) -> str:
    """A shape in the symbols of the case."""
    return f"`({', '.join(symbol(case, size) for size in sizes)})`"


def with_symbol(case: Case, size: int) -> str:
    """A size with its symbol in front, where it has one."""
    name = symbol(case, size)
    return f"{size}" if name == str(size) else f"`{name}` = {size}"


def symbol(case: Case, size: int) -> str:
    """The one symbol that has this size, or the product of two; the number where none or several have."""
    names = [name for name, known in case.sizes.items() if known == size]
    pairs = combinations([name for name, known in case.sizes.items() if known > 1], 2)
    names = names or [f"{a} * {b}" for a, b in pairs if case.sizes[a] * case.sizes[b] == size]
    return names[0] if len(names) == 1 else str(size)


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]
