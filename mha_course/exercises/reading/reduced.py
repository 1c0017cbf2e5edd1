"""Results that hold no numbers of the input: sums, means, softmaxes, zeros, or numbers changed one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations

import numpy as np

from mha_course.exercises.evidence import Finding, in_a_row
from mha_course.exercises.reading.axis_maps import names, plural
from mha_course.exercises.reading.coded_axes import Axes

_OVER: dict[str, Callable[..., np.ndarray]] = {
    "are added up": np.sum,
    "are averaged": np.mean,
    "are multiplied with each other": np.prod,
    "are reduced to the largest": np.max,
    "are reduced to the smallest": np.min,
    "are reduced to their spread": np.std,
}


def _softmax(x: np.ndarray, axis: tuple[int, ...]) -> np.ndarray:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def _jointly(x: np.ndarray, over: tuple[int, ...], change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A change of rows, where a row runs through all these axes."""
    last = tuple(range(x.ndim - len(over), x.ndim))
    rows = np.moveaxis(x, over, last)
    changed = change(rows.reshape(*rows.shape[: last[0]], -1)).reshape(rows.shape)
    return np.moveaxis(changed, last, over)


_ALONG: dict[str, Callable[[np.ndarray, tuple[int, ...]], np.ndarray]] = {
    "A softmax is taken over the {0}.": _softmax,
    "The mean over the {0} is subtracted.": lambda x, a: x - x.mean(axis=a, keepdims=True),
    "The numbers are standardised over the {0} (mean 0, spread 1).": lambda x, a: (
        (x - x.mean(axis=a, keepdims=True)) / x.std(axis=a, keepdims=True)
    ),
    "The numbers are divided by their sum over the {0}.": lambda x, a: x / x.sum(axis=a, keepdims=True),
    "The numbers are divided by their length over the {0}.": lambda x, a: (
        x / np.sqrt((x * x).sum(axis=a, keepdims=True))
    ),
    "The numbers are divided by the largest of the {0}.": lambda x, a: x / x.max(axis=a, keepdims=True),
    "The numbers are sorted along the {0}.": lambda x, a: _jointly(x, a, lambda row: np.sort(row, axis=-1)),
    "The numbers are sorted along the {0}, largest first.": lambda x, a: _jointly(
        x, a, lambda row: -np.sort(-row, axis=-1)
    ),
    "Each number is the sum of all {0} up to there (a running sum).": lambda x, a: _jointly(
        x, a, lambda row: np.cumsum(row, axis=-1)
    ),
}

_EACH: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Every number is squared.": lambda x: x * x,
    "Every number is its square root.": lambda x: np.sqrt(np.where(x < 0, np.nan, x)),
    "Negative numbers have lost their sign.": np.abs,
    "Negative numbers have become 0.": lambda x: np.maximum(x, 0),
    "Positive numbers have become 0.": lambda x: np.minimum(x, 0),
    "The digits behind the point are lost: numbers are cut off to whole ones.": np.trunc,
    "Numbers are rounded to whole ones.": np.round,
    "Numbers are rounded down to whole ones.": np.floor,
    "Every number went through `exp`.": np.exp,
    "Every number went through `tanh`.": np.tanh,
    "Every number went through a sigmoid.": lambda x: 1 / (1 + np.exp(-x)),
    "Every number went through `sin`.": np.sin,
    "Every number is turned into 1 or 0 (or -1).": np.sign,
}


_LOOK = "any step that does more than move numbers."


def reduced(axes: Axes, have: np.ndarray, wanted: tuple[int, ...]) -> Finding | None:
    """What was done to the numbers themselves, or None. have: the result; wanted: the right shape."""
    with np.errstate(all="ignore"):
        return (
            _nothing_of_it(have, wanted)
            or _each_changed(axes, have, wanted)
            or _unfilled(axes, have, wanted)
            or _over_axes(axes, have)
            or _changed_along(axes, have, wanted)
            or _coarser(axes, have, wanted)
            or _off_by(axes, have, wanted)
        )


def _nothing_of_it(have: np.ndarray, wanted: tuple[int, ...]) -> Finding | None:
    if have.shape != wanted or have.size < 2 or not (have == have.flat[0]).all():
        return None
    says = f"Every number is {have.flat[0]:.4g}: nothing of the input is in it."
    return Finding("always-the-same", says, look="where the input's numbers should come in.")


def _unfilled(axes: Axes, have: np.ndarray, wanted: tuple[int, ...]) -> Finding | None:
    """Zeros where numbers should be: parts of the result to which nothing was written."""
    if have.shape != wanted:
        return None
    right = axes.source[axes.right()]
    have = have.reshape(right.shape)
    empty = (have == 0) & (right != 0)
    if empty.sum() < 2 or not (_runs(have == 0) & empty).any():
        return None
    whole, slices = [], []
    for axis, i in enumerate(axes.order):
        gone = [k for k in range(right.shape[axis]) if empty.take(k, axis=axis).mean() > 0.99]
        gone = gone or [k for k in range(right.shape[axis]) if not have.take(k, axis=axis).any()]
        if gone and axes.sizes[i] > 1:
            inside = " of each head" if axes.symbols[i] == "d_k" else ""
            whole.append(names(axes.words[i], gone) + inside)
            slices += [(axis, k) for k in gone]
    covered = np.zeros_like(empty)
    for axis, k in slices:
        index: list[slice | int] = [slice(None)] * right.ndim
        index[axis] = k
        covered[tuple(index)] = True
    rest = int((empty & ~covered).sum())
    fine = np.allclose(have[~empty], right[~empty], rtol=1e-4, atol=1e-4)
    written = _written_over(axes, have)
    if whole and not written:
        are = "are" if len(whole) > 1 or "s " in whole[0] else "is"
        says = f"{in_a_row(whole)} {are} 0 throughout"
        says += f", and {rest} numbers elsewhere: no number" if rest else ": no number"
    else:
        says = f"{int(empty.sum())} of {have.size} numbers are 0"
        says += f", and {written}" if written else ": no number"
        if written:
            return Finding("never-filled", f"{says}.", look="where each block begins, and how wide it is.")
    says = f"{says[0].upper()}{says[1:]} of the input is there." + (" All others are right." if fine else "")
    return Finding("never-filled", says, look="which places your loop or assignment reaches.")


def _written_over(axes: Axes, have: np.ndarray) -> str:
    """Where the blocks of the heads begin, when they were laid over one another; "" when it isn't that."""
    if axes.groups[-1] < 2:
        return ""
    h, d_k = have.shape[-2:]
    columns = have.reshape(-1, h * d_k)
    right = axes.source[axes.right()].reshape(-1, h * d_k)
    starts: dict[int, int] = {}
    for place in range(h * d_k):
        same = [c for c in range(h * d_k) if np.allclose(columns[:, place], right[:, c])]
        if not same and columns[:, place].any():
            return ""
        if same and same[0] % d_k == 0:
            starts[same[0] // d_k] = place
    if len(starts) < h or all(place == i * d_k for i, place in starts.items()):
        return ""
    listed = in_a_row([f"head {i + 1} begins in column {place}" for i, place in sorted(starts.items())])
    return f"the blocks lie over one another: {listed}"


def _runs(zero: np.ndarray) -> np.ndarray:
    """Zeros with another zero next to them along some axis: one copied 0 of the input has none."""
    near = np.zeros_like(zero)
    for axis in range(zero.ndim):
        both = np.minimum(
            zero.take(range(1, zero.shape[axis]), axis=axis),
            zero.take(range(zero.shape[axis] - 1), axis=axis),
        )
        for shift in (0, 1):
            index: list[slice] = [slice(None)] * zero.ndim
            index[axis] = slice(shift, shift + both.shape[axis])
            near[tuple(index)] |= both
    return near


def _subsets(axes: Axes) -> Iterator[tuple[int, ...]]:
    real = [i for i, size in enumerate(axes.sizes) if size > 1]
    for many in range(1, len(real) + 1):
        yield from combinations(real, many)


def _named(axes: Axes, over: tuple[int, ...]) -> str:
    return in_a_row([plural(axes.words[i]) for i in over])


def _over_axes(axes: Axes, have: np.ndarray) -> Finding | None:
    x, flat = axes.source.reshape(axes.sizes), have.ravel()
    for over in _subsets(axes):
        for words, reduce in _OVER.items():
            less = reduce(x, axis=over, keepdims=True)
            spread = flat.size == x.size and len(over) < x.ndim
            if flat.size not in (less.size, x.size):
                continue
            full = np.broadcast_to(less, x.shape) if spread else less
            if abs(flat.sum() - full.sum()) > 1e-3 * (1 + abs(full.sum())):
                continue  # in whatever order, the sum is the same
            for order in permutations(range(x.ndim)):
                if _alike(flat, full.transpose(order).ravel()):
                    says = f"The {_named(axes, over)} {words}"
                    says += (
                        f", and that stands in the place of each {axes.words[over[0]]}." if spread else "."
                    )
                    return Finding("reduced", says, look="how the parts are put together: all are kept.")
    return None


def _each_changed(axes: Axes, have: np.ndarray, wanted: tuple[int, ...]) -> Finding | None:
    x = axes.source.reshape(axes.sizes)
    for words, change in _EACH.items():
        order = _order(axes, change(x), have.ravel())
        if order:
            return Finding("numbers-changed", words + _aside(axes, order, have.shape, wanted), look=_LOOK)
    return None


def _changed_along(axes: Axes, have: np.ndarray, wanted: tuple[int, ...]) -> Finding | None:
    x = axes.source.reshape(axes.sizes)
    for over in _subsets(axes):
        for words, along in _ALONG.items():
            order = _order(axes, along(x, over), have.ravel())
            if order:
                says = words.format(_named(axes, over)) + _aside(axes, order, have.shape, wanted)
                return Finding("numbers-changed", says, look=_LOOK)
    return None


def _order(axes: Axes, new: np.ndarray, flat: np.ndarray) -> tuple[int, ...] | None:
    """The order of axes in which these numbers, read in a row, are the result's; None for other numbers."""
    if flat.size != new.size or not np.isfinite(new).all() or (new == axes.source.reshape(new.shape)).all():
        return None
    # Whatever the order, sums are the same: this tells most of them apart at once.
    if abs(flat.sum() - new.sum()) > 1e-3 * (1 + np.abs(new).sum()):
        return None
    orders = (axes.order, *permutations(range(new.ndim)))
    return next((order for order in orders if _alike(flat, new.transpose(order).ravel())), None)


def _aside(axes: Axes, order: tuple[int, ...], shape: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    return "" if order == axes.order and shape == wanted else " The axes are in the wrong order, too."


def _coarser(axes: Axes, have: np.ndarray, wanted: tuple[int, ...]) -> Finding | None:
    """Nearly right: digits were lost on the way, by rounding or in a coarser dtype."""
    if have.shape != wanted:
        return None
    right = axes.source[axes.right()]
    gap = np.abs(have.reshape(right.shape) - right)
    if (gap > 0.06).any() or (gap > 0.1 * np.abs(right)).mean() > 0.1:
        return None
    says = f"Every number is nearly right, at most {gap.max():.2g} away: digits are lost on the way."
    return Finding("digits-lost", says, look="rounding, and conversions to a coarser dtype and back.")


def _off_by(axes: Axes, have: np.ndarray, wanted: tuple[int, ...]) -> Finding | None:
    """Right but for an amount, or a factor, that depends on one or two axes only."""
    if have.shape != wanted:
        return None
    right = axes.source[axes.right()]
    have = have.reshape(right.shape)
    ratio = np.where(np.abs(right) > 1e-6, have / right, np.nan)
    for what, amount in (("added to", have - right), ("multiplied into", ratio)):
        for over in [s for many in (1, 2) for s in combinations(range(right.ndim), many)]:
            other = tuple(a for a in range(right.ndim) if a not in over)
            if any(right.shape[a] == 1 for a in over):
                continue
            if (np.nanmax(amount, axis=other) - np.nanmin(amount, axis=other) < 1e-3).all():
                mean = np.nanmean(amount, axis=other).ravel()
                seen = ", ".join(f"{value:.4g}" for value in mean[:3])
                words = in_a_row([axes.words[axes.order[a]] for a in over])
                says = f"Something is {what} the right numbers that depends on the {words} alone: {seen}, ..."
                return Finding("numbers-changed", says, look=_LOOK)
    return None


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=2e-4, atol=1e-4))
