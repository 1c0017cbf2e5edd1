"""Naming any rearrangement of an input whose numbers all differ: what stands where, and no answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, kind_of
from mha_course.exercises.reading.axis_maps import plural
from mha_course.exercises.reading.coded_axes import Axes, axes_of, changed_evenly, places
from mha_course.exercises.reading.computed import computed
from mha_course.exercises.reading.layouts import read
from mha_course.exercises.reading.mixing import lost_numbers, mixed, right_parts
from mha_course.exercises.reading.reduced import reduced
from mha_course.exercises.reading.regrouping import steps_behind
from mha_course.exercises.witness import witness

_MOVES = {"rearranged", "axes-mixed", "axes-in-another-order", "axes-grouped-otherwise"}
_ONLY_MOVES = "any step that does more than move numbers."
_CHANGES = {"reduced", "numbers-changed", "scaled", "shifted", "opposite-sign"}
_CUT = "the step that cuts or joins: which axis is cut, and do all the others stay whole?"


def rearranged(
    evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome] | None = None
) -> Finding | None:
    """What was done to the numbers of the input in case i, or None where that can't be told.

    The result may have any shape. It is read axis by axis first; where the axes are mixed, the steps are
    looked for that give it; numbers that don't stand in the input are read as sums, means and the like.
    """
    case, expected, got = evidence.cases[i], evidence.expected[i], evidence.got[i]
    if len(got.leaves) != 1 or len(expected.leaves) != 1 or not case.coded:
        return None
    want, have = expected.leaves[0], got.leaves[0]
    first = evidence.got[0].leaves
    if i > 0 and len(first) == 1 and first[0].shape == have.shape and bool((first[0] == have).all()):
        says = "This call gives what the first one gave: something outside the function keeps it."
        return Finding("remembers", says, look="names outside the function that it writes to and reads.")
    axes = axes_of(case, evidence.exercise.returns[0])
    if axes is None or have.numel() < 4 or kind_of(have) not in ("float", "whole"):
        return None
    if kind_of(have) == "whole" and want.shape == have.shape:
        return None
    if not bool(have.isfinite().all()):
        return _not_written(axes, want, have)
    found = _found(axes, want, have)
    if found and i == 0 and "only the shape" in found.says:
        # Elsewhere it is right for some sizes, and two of them can be equal by chance.
        taken = _taken_for_each_other(axes, tuple(have.shape), tuple(want.shape))
        found = dataclasses.replace(found, says=f"{taken} {found.says}".strip())
    if found:
        # 1, 2, 3, ... has more than one reading: the mean of five tokens is the middle one.
        found = _told_apart(evidence, i, found)
    if found is None:
        return None
    if want.shape == have.shape:
        # Where numbers are computed, none of them comes from a place in the input.
        plain = case if found.id in _MOVES else dataclasses.replace(case, coded=())
        seen = witness(plain, evidence.exercise.returns[0], want, have, several=False)
        return Finding(found.id, found.says, seen, found.look)
    seen = f"Wanted is the shape `{tuple(want.shape)}`; yours is `{tuple(have.shape)}`."
    return Finding(found.id, found.says, seen, found.look)


def _not_written(axes: Axes, want: Tensor, have: Tensor) -> Finding | None:
    """NaN in places to which nothing was written: that is what `torch.empty` holds here."""
    if bool(have.isinf().any()) or bool(have.isnan().all()) or want.shape != have.shape:
        return None
    found = reduced(axes, have.nan_to_num(0.0).double().numpy(), tuple(want.shape))
    if found is None or found.id != "never-filled":
        return None
    says = found.says.replace(" 0 throughout", " NaN throughout").replace("numbers are 0", "numbers are NaN")
    return Finding(found.id, says, look=f"{found.look} `torch.empty` holds whatever lay in memory.")


def _told_apart(evidence: Evidence, i: int, found: Finding) -> Finding:
    """What is found in the case with numbers of both signs, where it is more than what the even ones show."""
    for j, case in enumerate(evidence.cases):
        got = evidence.got[j]
        if j == i or evidence.right[j] or not case.coded or got.error is not None or len(got.leaves) != 1:
            continue
        want, have = evidence.expected[j].leaves[0], got.leaves[0]
        axes = axes_of(case, evidence.exercise.returns[0])
        if axes and (axes.source < 0).any() and have.numel() and bool(have.isfinite().all()):
            there = _found(axes, want, have)
            if there and there.id in _CHANGES and there.id != found.id:
                return there
            if there and there.id in _MOVES and found.id in _CHANGES:
                # Even steps from number to number made a move look like a sum.
                axes, have = (
                    axes_of(evidence.cases[i], evidence.exercise.returns[0]),
                    evidence.got[i].leaves[0],
                )
                codes = places(axes, have.double().numpy(), have)
                moved = None if codes is None else _moved(axes, codes, evidence.expected[i].leaves[0].shape)
                return moved or found
            if there and there.id == found.id == "numbers-changed" and there.says[:40] != found.says[:40]:
                return there
    return found


def _found(axes: Axes, want: Tensor, have: Tensor) -> Finding | None:
    values, wanted = have.double().numpy(), tuple(want.shape)
    id_, changed, codes = "", "", places(axes, values, have)
    if values.shape == wanted and values.size > 1 and (values == values.flat[0]).all():
        return reduced(axes, values, wanted)
    if np.sum(values == 0) > 1 and codes is not None:
        empty = reduced(axes, values, wanted)
        if empty and empty.id in ("never-filled", "always-the-same"):
            return empty
    if codes is None:
        opposite = places(axes, -values, have)
        evenly = (-1.0, 0.0) if opposite is not None else changed_evenly(axes, values, have)
        if evenly:
            codes = places(axes, (values - evenly[1]) / evenly[0], have)
            id_, changed = _evenly_changed(*evenly)
    if codes is None:
        return (
            reduced(axes, values, wanted)
            or _with_zeros(axes, values, have, wanted)
            or computed(axes, values, have)
        )
    finding = _moved(axes, codes, wanted)
    if finding and finding.id == "axes-mixed":
        finding = reduced(axes, values, wanted) or finding
    if changed:
        # Words end with the factor where everything stands in its place.
        moved = f" Their places are wrong as well. {finding.says}" if finding else ""
        return Finding(id_, changed + moved, look=_ONLY_MOVES)
    return finding


def _with_zeros(axes: Axes, values: np.ndarray, have: Tensor, wanted: tuple[int, ...]) -> Finding | None:
    """Numbers of the input with zeros around or between them."""
    full = values != 0
    if full.all() or not full.any() or not values.ndim:
        return None
    places_ = np.nonzero(full)
    box = tuple(slice(int(p.min()), int(p.max()) + 1) for p in places_)
    codes = places(axes, values[full], have)
    if codes is None:
        return None
    many = f"{int((~full).sum())} of {values.size} numbers are 0"
    if not full[box].all():
        says = f"{many}, and stand between the numbers of the input."
        return Finding("zeros-between", says, look="how the parts are put together.")
    inner = places(axes, values[box], have)
    finding = None if inner is None else _moved(axes, inner, wanted)
    rest = f" The others: {finding.says}" if finding else " The others are right."
    says = f"{many}: zeros are put on at the edge.{rest}"
    return Finding("zeros-at-the-edge", says, look="padding, and the size of a tensor made beforehand.")


def _evenly_changed(a: float, c: float) -> tuple[str, str]:
    """Id and words for numbers that are all a times what they were, plus c."""
    plus = abs(c) > 1e-3 * abs(a)
    if abs(a - 1) < 1e-4:
        return "shifted", f"Every number is off by the same amount, `{c:.4g}`."
    if abs(a + 1) < 1e-4 and not plus:
        return "opposite-sign", "Every number has the opposite sign."
    more = f", and `{c:.4g}` is added" if plus else ""
    return "scaled", f"Every number is {a:.4g} times what it should be{more}."


def _moved(axes: Axes, codes: np.ndarray, wanted: tuple[int, ...]) -> Finding | None:
    ones = _axis_of_one(axes, codes, wanted)
    if ones:
        return ones
    if codes.size == len(axes.source) and (codes.ravel() == np.arange(codes.size)).all():
        shape = tuple(int(np.prod(part)) for part in _input_shape(axes))
        if codes.shape == shape != wanted:
            named = ", ".join(axes.input_symbols)
            says = f"This is the input as it came, `({named})`: nothing is cut, moved or joined."
            return Finding("unchanged", says, look="what becomes of each axis.")
        if len(shape) == 3 and codes.shape == (*shape[:2], 1, shape[2]) and "head" in axes.words[2]:
            says = "Each token stands alone in a head of its own, with all its features: tokens are cut here."
            return Finding("tokens-cut", says, look="the axis that is cut.")
    reading = read(axes, codes, wanted)
    if reading is not None and reading.cost < 8:
        if not reading.words:
            return None
        id_, look = "rearranged", "the axis that is named, and the step that touches it."
        if reading.layout and not reading.clauses:
            id_ = "axes-grouped-otherwise" if "right order" in reading.layout else "axes-in-another-order"
            look = "the order of the axes, and which of them are joined or cut."
        says = reading.words
        if codes.shape == wanted and id_ != "rearranged":
            says = f"{mixed(axes, codes)} {says}".strip()
        return Finding(id_, says, look=look)
    if codes.size == len(axes.source):
        shifted = _rotated(axes, codes, wanted)
        if shifted:
            return shifted
        steps = steps_behind(axes, codes)
        if steps:
            return Finding(
                "axes-mixed", " ".join(part for part in (mixed(axes, codes), steps) if part), look=_CUT
            )
    lost = lost_numbers(axes, codes)
    fine = right_parts(axes, codes) if codes.shape == wanted else ""
    says = " ".join(part for part in (fine, mixed(axes, codes), lost) if part)
    return Finding("axes-mixed", says, look=_CUT) if says else None


def _axis_of_one(axes: Axes, codes: np.ndarray, wanted: tuple[int, ...]) -> Finding | None:
    """All is right, but an axis of size 1 is gone, or there is one too many."""
    same = codes.size == len(axes.source) and (codes.ravel() == axes.right().ravel()).all()
    if not same or [s for s in codes.shape if s > 1] != [s for s in wanted if s > 1] or codes.shape == wanted:
        return None
    parts, at = [], 0
    for many in axes.groups:
        parts.append([axes.words[k] for k in axes.order[at : at + many]])
        at += many
    gone = [
        f"the axis of {plural(words[-1])}" for words, size in zip(parts, wanted, strict=True) if size == 1
    ]
    if len(codes.shape) < len(wanted):
        says = f"The numbers are right. Here {' and '.join(gone)} has size 1, and it is gone."
        return Finding("axis-of-one", says, look="`squeeze`, an index, or a way of its own for this size.")
    says = "The numbers are right; the shape has an axis of size 1 too many."
    return Finding("axis-of-one", says, look="`unsqueeze`, `None` as an index, or `keepdim`.")


def _taken_for_each_other(axes: Axes, shape: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """Two sizes that were read from the wrong places of the input's shape; "" when it isn't that."""
    if shape == wanted or len(shape) != len(wanted):
        return ""
    for one, other in combinations(range(len(axes.sizes)), 2):
        sizes = list(axes.sizes)
        sizes[one], sizes[other] = sizes[other], sizes[one]
        swapped, at = [], 0
        for many in axes.groups:
            swapped.append(int(np.prod([sizes[k] for k in axes.order[at : at + many]])))
            at += many
        if tuple(swapped) == shape:
            return f"`{axes.symbols[one]}` and `{axes.symbols[other]}` are taken for each other in the shape."
    return ""


def _input_shape(axes: Axes) -> list[tuple[int, ...]]:
    shape, at = [], 0
    for holds in axes.input_axes:
        shape.append(axes.sizes[at : at + holds])
        at += holds
    return shape


def _rotated(axes: Axes, codes: np.ndarray, wanted: tuple[int, ...]) -> Finding | None:
    """All numbers moved on by some places in a row, over the ends of rows."""
    right = axes.right().ravel()
    look = "a `roll` without its axis, or a start that is off."
    if codes.shape != wanted:
        return None
    for given, which in ((codes.ravel(), "result"), (None, "input")):
        if given is None:
            back = np.empty(len(right), dtype=int)
            back[right] = codes.ravel()
            shift = int(back[0])
            same = (back == np.roll(np.arange(len(right)), -shift)).all()
        else:
            shift = int(np.argmax(right == given[0]))
            same = (given == np.roll(right, -shift)).all()
        if same and shift:
            by = shift if shift <= len(right) // 2 else shift - len(right)
            way = "back" if by > 0 else "on"
            says = f"All numbers of the {which} have moved {way} by {_places(by)}, over the ends of rows."
            return Finding("rearranged", says, look=look)
    return None


def _places(by: int) -> str:
    return "one place" if abs(by) == 1 else f"{abs(by)} places"
