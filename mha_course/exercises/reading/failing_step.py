"""The step that stopped an answer, in words: which tensors meet there, and why they can't."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from torch import Tensor

from mha_course.exercises.asked_shapes import AXES, named, symbol, with_symbol
from mha_course.exercises.evidence import in_a_row
from mha_course.exercises.exercise import Case, Exercise
from mha_course.exercises.watching import Origin, Step, Watch, fits

_PRODUCTS = {"matmul", "__matmul__", "__rmatmul__", "bmm", "mm", "mv"}
_TIMES = {"mul", "__mul__", "__rmul__", "multiply", "mul_"}
_CHANGES_AXES = {"reshape", "view", "expand", "cat", "stack", "split", "chunk", "unflatten", "linear"}

Said = tuple[str, str]


def failing_step(exercise: Exercise, case: Case, call: Callable[[tuple[Any, ...]], Any]) -> Said:
    """Why the step at which the answer stops can't be done, and where to look; ("", "") when unknown."""
    arguments = case.fresh()
    names = dict(zip(inspect.signature(exercise.reference).parameters, arguments, strict=False))
    watch = Watch(names)
    with watch:
        out = call(arguments)
    step = watch.stopped
    if step is None or out.error is None:
        return "", ""
    if step.name == "einsum":
        return _letters(case, step)
    if step.name in ("__getitem__", "__setitem__"):
        return _index(case, step, names, out.error_text)
    if step.name in _CHANGES_AXES or len(step.tensors) < 2 or "size" not in out.error_text:
        return "", ""
    a, b = step.tensors[:2]
    if step.name in _PRODUCTS:
        return _product(case, a, b, watch) if a.ndim and b.ndim else ("", "")
    return _entry_by_entry(case, step, watch, "@" in exercise.source())


def _entry_by_entry(case: Case, step: Step, watch: Watch, product: bool) -> Said:
    """product: whether there is a matrix product in a right answer, which `*` may stand for."""
    pairs = [(a, b) for a in step.tensors for b in step.tensors if a is not b]
    pairs = [(a, b) for a, b in pairs if not fits(a.shape, b.shape)]
    for a, b in pairs:
        gone = watch.origin(a).dropped
        if gone and len(gone.before) > a.ndim and fits(gone.kept(), b.shape):
            ends = zip(reversed(a.shape), reversed(b.shape), strict=False)
            one, other = next(pair for pair in ends if pair[0] != pair[1] and 1 not in pair)
            return (
                f"`{gone.step}` takes its axis away: of {named(case, gone.before)} it leaves "
                f"{named(case, a.shape)}. Sizes are compared from the right, so "
                f"{with_symbol(case, one)} meets {with_symbol(case, other)}.",
                f"`{gone.step}`: how the axis that it goes over is kept, with size 1 (`keepdim`).",
            )
    for a, b in pairs:
        a_from, b_from = watch.origin(a), watch.origin(b)
        if a.ndim < 2 or not a_from.names or not fits(a.mT.shape, b.shape):
            continue
        if a_from.turned or "mask" in a_from.names:
            other = _swapped(b_from, case, b)
            if other and not a_from.turned:
                return other, "the order in the product of queries and keys."
            turned = "is turned" if a_from.turned else "lies the other way round"
            return (
                f"{_listed(a_from)} {turned}: {named(case, a.shape)} meets {named(case, b.shape)}.",
                "the two last axes of both.",
            )
    for a, b in pairs:
        meet = a.ndim > 1 and b.ndim > 1 and a.shape[-1] in (b.shape[-1], b.shape[-2])
        if step.name in _TIMES and product and meet:
            return (
                f"`*` goes entry by entry, {named(case, a.shape)} with {named(case, b.shape)}: row 0 "
                "meets row 0 only. Here each row of the first meets all of the second: a matrix product.",
                "`*` and `@`.",
            )
    for a, b in pairs:
        axis = _lies_at(a, b)
        if axis is not None:
            return (
                f"{_who(watch.origin(a))} has shape {named(case, a.shape)}, and sizes are compared from the "
                f"right: it is laid along the last axis of {named(case, b.shape)}, "
                f"`{symbol(case, b.shape[-1])}`, and belongs to axis {axis}.",
                "along which axis each tensor lies; an axis of size 1 at the end moves it.",
            )
    return "", ""


def _lies_at(a: Tensor, b: Tensor) -> int | None:
    """The axis of b to which the axes of a belong, where that is not its end."""
    places = [i for i in range(b.ndim - a.ndim) if a.ndim and b.shape[i : i + a.ndim] == a.shape]
    return places[0] if len(places) == 1 else None


def _product(case: Case, a: Tensor, b: Tensor, watch: Watch) -> Said:
    a_from, b_from = watch.origin(a), watch.origin(b)
    row, column = a.shape[-1], b.shape[-2] if b.ndim > 1 else b.shape[0]
    left, right = f"{_who(a_from)} {named(case, a.shape)}", f"{_who(b_from, False)} {named(case, b.shape)}"
    if row == column:
        if a.ndim < 3 or b.ndim < 3:
            return "", ""
        moved = "Turning it has moved the axes in front, too." if b_from.turned or a_from.turned else ""
        front = f"{_sizes(case, a.shape[:-2])} meets {_sizes(case, b.shape[:-2])}"
        return (
            f"{left} on the left, {right} on the right: in front, {front}. {moved}".rstrip(),
            "which axes change places: only the last two take part in a product.",
        )
    says = f"{left} on the left, {right} on the right: {with_symbol(case, row)} is joined with "
    says += f"{with_symbol(case, column)}. {_why(case, a, b, a_from, b_from)}"
    return says.rstrip(), "the two axes that are summed over: both should count the same things."


def _why(case: Case, a: Tensor, b: Tensor, a_from: Origin, b_from: Origin) -> str:
    if a_from.softened and a_from.product and len(set.union(*map(set, a_from.product))) == 1:
        (only,) = a_from.product[0]
        return f"These weights were made of `{only}` and `{only}`: it was compared with itself."
    if a.ndim < 2 or b.ndim < 2:
        flipped = a.ndim > 1 and b.shape[0] == a.shape[-2]
        return "The two factors have changed places." if flipped else ""
    if a.shape[-2] == b.shape[-2]:
        if a_from.turned:
            return "The first factor is turned (transposed), and should not be."
        swapped = _swapped(a_from, case, a)
        return swapped or "The first factor would have to be turned."
    if a.shape[-1] == b.shape[-1]:
        if b_from.turned:
            return "The second factor is turned in other axes than its last two (or twice)."
        axis = with_symbol(case, b.shape[-1])
        return f"{_who(b_from)} is not turned (transposed): the axis that fits, {axis}, is its last."
    if a_from.turned and not b_from.turned and b.shape[-1] == a.shape[-2]:
        return "The first factor is turned (transposed), and the second is not."
    return "The two factors have changed places." if b.shape[-1] == a.shape[-2] else ""


def _swapped(origin: Origin, case: Case, tensor: Tensor) -> str:
    """Scores made with the keys first, in words; "" for others."""
    if origin.product is None or origin.product != (frozenset(["k"]), frozenset(["q"])):
        return ""
    return (
        f"Queries and keys have changed places in the scores: {named(case, tensor.shape)} has a row for each "
        "key, and each query needs one."
    )


def _letters(case: Case, step: Step) -> Said:
    """A letter of einsum that stands for two sizes."""
    equation = step.arguments[0] if step.arguments and isinstance(step.arguments[0], str) else ""
    inputs, _, output = equation.replace(" ", "").partition("->")
    sizes: dict[str, list[int]] = {}
    for letters, tensor in zip(inputs.split(","), step.tensors, strict=False):
        front, dots, back = letters.partition("...")
        if not dots and len(front) != tensor.ndim:
            there = f"{tensor.ndim}: {named(case, tensor.shape)}"
            return (
                f"`{letters}` names {len(front)} axes, and the tensor has {there}.",
                "the letters of each tensor, one for each axis.",
            )
        shape = list(tensor.shape)
        pairs = [*zip(front, shape, strict=False), *zip(reversed(back), reversed(shape), strict=False)]
        for letter, size in pairs:
            sizes.setdefault(letter, []).append(size)
    for letter, found in sizes.items():
        if len({size for size in found if size > 1}) > 1:
            each = in_a_row([with_symbol(case, size) for size in dict.fromkeys(found)])
            summed = "" if letter in output else " A letter that is not in the result is summed over."
            says = f"The letter `{letter}` stands for two different axes: {each}.{summed}"
            return says, "the letters: the same one only where two tensors have the same axis in common."
    return "", ""


def _index(case: Case, step: Step, names: dict[str, Any], text: str) -> Said:
    tensor, index = step.tensors[0], step.arguments[1]
    parts = index if isinstance(index, tuple) else (index,)
    masks = [part for part in parts if isinstance(part, Tensor) and str(part.dtype) == "torch.bool"]
    if masks and "mask" in text:
        shape = masks[0].shape
        axis = next(
            (i for i in range(1, tensor.ndim) if tensor.shape[i : i + len(shape)] == shape and len(shape)),
            None,
        )
        belongs = f" It goes with axis {axis}." if axis is not None else ""
        return (
            f"A boolean index of shape {named(case, shape)} is laid on the first axis of "
            f"{named(case, tensor.shape)}, {with_symbol(case, tensor.shape[0])}.{belongs}",
            "on which axes a boolean index lies; `masked_fill` and `where` compare from the right.",
        )
    far = re.search(r"index (-?\d+) is out of bounds for (?:dimension|axis) (\d+) with size (\d+)", text)
    if not far:
        return "", ""
    at, axis, size = (int(number) for number in far.groups())
    what = AXES.get(symbol(case, size), "entries")
    source = next((name for name, given in names.items() if isinstance(given, list) and at in given), "")
    last = f" Counting starts at 0, so the last one is {size - 1}." if at == size else ""
    comes = f" It is one of `{source}`, and those count along another axis." if source else last
    return (
        f"`{at}` chooses among the {size} {what} here, axis {axis} of {named(case, tensor.shape)}.{comes}",
        "which index counts what: the axes stand in the order of the shape.",
    )


def _who(origin: Origin, starts: bool = True) -> str:
    """A tensor in words, by where it comes from."""
    if origin.argument:
        return f"`{origin.argument}`"
    the = "The" if starts else "the"
    if origin.softened:
        return f"{the} weights" if not origin.turned else f"{the} turned weights"
    if not origin.names:
        return f"{'A' if starts else 'a'} tensor"
    made = _listed(origin)
    if origin.turned and len(origin.names) == 1:
        return f"{the} turned {made}"
    return f"{'What' if starts else 'what'} is made of {made},"


def _listed(origin: Origin) -> str:
    return in_a_row([f"`{name}`" for name in sorted(origin.names)])


def _sizes(case: Case, sizes: Any) -> str:
    return in_a_row([with_symbol(case, size) for size in sizes])
