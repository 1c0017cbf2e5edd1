"""head_size as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import torch


def careful(compute: Callable[[int, int], object]) -> Callable[[int, int], object]:
    """Refuses what can't be split; the rest is up to `compute`."""

    def size(d_model, h):
        if d_model % h != 0:
            raise ValueError(f"{d_model} features don't make {h} equal heads")
        return compute(d_model, h)

    return size


def instead(answer: Callable[[int, int], object]) -> Callable[[int, int], object]:
    """Right where h divides d_model, and something else where it should refuse."""

    def size(d_model, h):
        quotient, rest = divmod(d_model, h)
        return quotient if rest == 0 else answer(d_model, h)

    return size


def raising(make: Callable[[int, int], BaseException]) -> Callable[[int, int], object]:
    """Refuses with an error of its own making."""

    def size(d_model, h):
        if d_model % h:
            raise make(d_model, h)
        return d_model // h

    return size


def refusing_when(condition: Callable[[int, int], object]) -> Callable[[int, int], int]:
    """The whole quotient behind another condition."""

    def size(d_model, h):
        if condition(d_model, h):
            raise ValueError(f"d_model={d_model}, h={h}")
        return d_model // h

    return size


def counted_down(d_model, h):
    size = 0
    while d_model >= h:
        d_model -= h
        size += 1
    return size


def asserted(d_model, h):
    assert d_model % h == 0, f"{d_model} and {h} do not fit"
    return d_model // h


def first_slice(d_model, h):
    return len(torch.zeros(d_model).chunk(h)[0])


def rounding_half_up(d_model, h):
    return int(d_model / h + 0.5)


def float_checked(d_model, h):
    size = d_model / h
    if size != int(size):
        raise ValueError(f"{d_model} / {h} leaves a rest")
    return size


def quiet(d_model, h):
    try:
        if d_model % h:
            raise ValueError(f"{d_model} % {h}")
    except ValueError:
        return None
    return d_model // h


def falls_off_the_end(d_model, h):
    if d_model % h == 0:
        return d_model // h


def printed(d_model, h):
    if d_model % h:
        print(f"{d_model} can't be split into {h}")
        return None
    return d_model // h


def minus_one_at_first(d_model, h):
    size = -1
    if d_model % h == 0:
        size = d_model // h
    return size


def zero_at_first(d_model, h):
    size = 0
    if not d_model % h:
        size = d_model // h
    return size


def all_or_nothing(d_model, h):
    fits = d_model % h == 0
    return fits and d_model // h


def backwards(d_model, h):
    if d_model % h == 0:
        raise ValueError(f"h={h} does not divide d_model={d_model}")
    return d_model // h


def backwards_by_remainder(d_model, h):
    quotient, rest = divmod(d_model, h)
    if rest:
        return quotient
    raise ValueError(d_model, h)


def warned(d_model, h):
    if d_model % h:
        warnings.warn(f"{d_model} does not fit {h}", stacklevel=2)
    return d_model // h


def count_of_parts(d_model, h):
    if d_model % h:
        raise ValueError(f"{d_model}, {h}")
    return len(torch.zeros(d_model).chunk(h))


def rest_of_the_division(d_model, h):
    quotient, rest = divmod(d_model, h)
    if rest:
        raise ValueError(f"{d_model} = {quotient} * {h} + {rest}")
    return rest


def summed_up(d_model, h):
    if d_model % h:
        raise ValueError(f"{h} heads, {d_model} features")
    return sum(d_model for _ in range(h))


def kept_whole(d_model, h):
    if d_model % h:
        raise ValueError(f"{h} does not divide {d_model}")
    return torch.zeros(2, d_model).shape[-1]


def inverted(d_model, h):
    if d_model / h != d_model // h:
        raise ValueError(f"{d_model} over {h}")
    return np.divide(h, d_model)


WRONG = [
    ("full-width", kept_whole),
    ("upside-down", inverted),
    ("silently-floored", lambda d, h: int(d / h)),
    ("silently-floored", counted_down),
    ("silently-floored", warned),
    ("silently-floored", lambda d, h: math.floor(d / h)),
    ("silently-floored", lambda d, h: np.floor_divide(d, h)),
    ("float-division", float_checked),
    ("float-division", careful(lambda d, h: np.float64(d) / h)),
    ("float-division", lambda d, h: d / h if d % h == 0 else [][h]),
    ("float-and-no-refusal", lambda d, h: d * (1 / h)),
    ("float-and-no-refusal", lambda d, h: float(d) / float(h)),
    ("rounded", rounding_half_up),
    ("rounded", lambda d, h: int(np.rint(d / h))),
    ("rounded-up", lambda d, h: math.ceil(d / h)),
    ("rounded-up", first_slice),
    ("rounded-up", lambda d, h: len(range(0, d, h))),
    ("rounded-up", lambda d, h: (d + h - 1) // h),
    ("full-width", careful(lambda d, h: d // h * h)),
    ("full-width", careful(max)),
    ("number-of-heads", count_of_parts),
    ("number-of-heads", careful(math.gcd)),
    ("remainder", rest_of_the_division),
    ("remainder", careful(lambda d, h: d - d // h * h)),
    ("multiplied", summed_up),
    ("multiplied", careful(lambda d, h: d * h)),
    ("upside-down", careful(lambda d, h: 1 / (d // h))),
    ("upside-down", careful(lambda d, h: h / d)),
    ("none-for-impossible", quiet),
    ("none-for-impossible", falls_off_the_end),
    ("none-for-impossible", printed),
    ("zero-for-impossible", zero_at_first),
    ("zero-for-impossible", lambda d, h: (d % h == 0) * (d // h)),
    ("minus-one-for-impossible", minus_one_at_first),
    ("minus-one-for-impossible", instead(lambda d, h: -1)),
    ("false-for-impossible", all_or_nothing),
    ("false-for-impossible", instead(lambda d, h: not d)),
    ("refuses-the-wrong-ones", backwards),
    ("refuses-the-wrong-ones", backwards_by_remainder),
    ("refuses-the-wrong-ones", lambda d, h: d // h if d % h else int("none")),
]


def own_error(d_model, h):
    class NoFit(ValueError):
        pass

    if d_model // h * h != d_model:
        raise NoFit("these do not fit", d_model, h)
    return d_model // h


def grouped_digits(d_model, h):
    if d_model % h:
        raise ValueError(f"{d_model:,} % {h} is not 0.")
    return d_model // h


def divided_with_rest(d_model, h):
    size, rest = divmod(d_model, h)
    if rest != 0:
        raise ValueError(f"{d_model} features, {h} heads: {rest} left over")
    return size


def searched(d_model, h):
    for size in range(1, d_model + 1):
        if size * h == d_model:
            return size
    raise ValueError(f"no size times {h} is {d_model}")


def from_an_assert(d_model, h):
    try:
        assert d_model % h == 0
    except AssertionError as error:
        raise ValueError(f"d_model={d_model} is not a multiple of h={h}") from error
    return d_model // h


def by_views(d_model, h):
    try:
        return torch.zeros(d_model).view(h, -1).shape[1]
    except RuntimeError:
        raise ValueError("h = " + str(h) + " and d_model = " + str(d_model)) from None


RIGHT = [
    own_error,
    grouped_digits,
    divided_with_rest,
    searched,
    from_an_assert,
    by_views,
    lambda d, h: d // h if d % h == 0 else (_ for _ in ()).throw(ValueError(f"{d} {h}")),
    lambda d, h: range(0, d, d // h)[1] if d % h == 0 and h > 1 else divided_with_rest(d, h),
    careful(lambda d, h: int(d / h)),
    careful(lambda d, h: np.int64(d) // h),
    refusing_when(lambda d, h: math.gcd(d, h) != h),
    raising(lambda d, h: ValueError("no equal heads", {"d_model": d, "h": h})),
]


def half_and_more(d_model, h):
    if d_model % h > 1:
        raise ValueError(f"{d_model} {h}")
    return d_model // h


def swapped(h, d_model):
    if d_model % h:
        raise ValueError(f"{d_model} {h}")
    return d_model // h


def swallowed(d_model, h):
    try:
        if d_model % h:
            raise ValueError(f"{d_model} {h}")
    except ValueError as error:
        print(end=str(error)[:0])
    return max(1, d_model // h)


def made_not_raised(d_model, h):
    if d_model % h:
        ValueError(f"{d_model} and {h}")
    return max(1, d_model // h)


def lowering(d_model, h):
    while d_model % h:
        h -= 1
    return d_model // h


def endless(d_model, h):
    return 0 if d_model == 0 else 1 + endless(d_model - h, h)


def asserted_and_one_more(d_model, h):
    assert d_model % h == 0
    return d_model // h + 1


UNLISTED = [
    (r"1 more than the quotient[^$]*Besides: .*`AssertionError`", asserted_and_one_more),
    (r"but at least 1", lambda d, h: max(1, d // h)),
    (r"caught by `except`", swallowed),
    (r"by name only", lambda *, d_model, h: d_model // h),
    (r"made, but nothing raises it", made_not_raised),
    (r"a smaller h, one that divides", lowering),
    (r"10 and 3: it calls itself without end", endless),
    (r"512 divided by h: d_model is not used", lambda d, h: 512 // h),
    (r"the `f` in front", raising(lambda d, h: ValueError("{d_model} is no multiple of {h}"))),
    (r"comes out is h, the number of heads.* not refused", lambda d, h: h),
    (r"comes out is d_model, the whole width.* not refused", lambda d, h: d),
    (r"remainder, d_model % h.* not refused", lambda d, h: d % h),
    (r"the greatest common divisor", math.gcd),
    (r"1 more than the quotient", careful(lambda d, h: d // h + 1)),
    (r"1 less than the quotient", careful(lambda d, h: d // h - 1)),
    (r"the root of the quotient", careful(lambda d, h: math.sqrt(d / h))),
    (r"1 divided by the root of the quotient", careful(lambda d, h: (d / h) ** -0.5)),
    (r"upside down", lambda d, h: h // d),
    (r"h \* h", careful(lambda d, h: d // h**2)),
    (r"64, whatever the sizes are", careful(lambda d, h: 64)),
    (r"divided by 8: h is not used", careful(lambda d, h: d // 8)),
    (r"2 times the quotient", careful(lambda d, h: 2 * d // h)),
    (r"3 times the quotient", careful(lambda d, h: 3 * (d // h))),
    (r"0.5 times the quotient", careful(lambda d, h: d / h / 2)),
    (r"the wrong sign", careful(lambda d, h: -(d // h))),
    (r"d_model - h", careful(lambda d, h: d - h)),
    (r"d_model \+ h", careful(lambda d, h: d + h)),
    (r"d_model // \(h \+ 1\)", careful(lambda d, h: d // (h + 1))),
    (r"1 for .*, 1 for .*, 4 for", careful(lambda d, h: d >> h)),
    (r"tuple with one thing", careful(lambda d, h: (d // h,))),
    (r"a list; one whole number", careful(lambda d, h: [d // h] * h)),
    (r"type `str`", careful(lambda d, h: str(d // h))),
    (r"tuple of 2 numbers, `\(4, 0\)`; one whole number", divmod),
    (r"returns nothing", careful(lambda d, h: print(d // h))),
    (r"whole number is wanted; yours is `True`", lambda d, h: d % h == 0),
    (r"is a float.* not refused", lambda d, h: np.floor(d / h)),
    (r"raises `AssertionError`; a `ValueError` is wanted", asserted),
    (r"raises `Exception`; a `ValueError`", raising(lambda d, h: Exception(f"{d} {h}"))),
    (r"raises `TypeError`; a `ValueError`", raising(lambda d, h: TypeError(f"{d} {h}"))),
    (r"raises `NotImplementedError`; a `ValueError`", raising(lambda d, h: NotImplementedError())),
    (r"raises `ZeroDivisionError`; a `ValueError`", instead(lambda d, h: d / 0)),
    (r"doesn't name both numbers: 10 and 3 are", raising(lambda d, h: ValueError())),
    (r"doesn't name both numbers: 10 and 3 are", raising(lambda d, h: ValueError("d_model and h don't fit"))),
    (r"doesn't name both numbers: 10 and 3 are", raising(lambda d, h: ValueError("{d_model} {h}"))),
    (r"doesn't name both numbers: 3 is", raising(lambda d, h: ValueError(f"{d} can't be split"))),
    (r"doesn't name both numbers: 10 is", raising(lambda d, h: ValueError(f"{h} heads are too many"))),
    (r"yours gives `'not divisible'`", instead(lambda d, h: "not divisible")),
    (r"returns an error as if it were a value", instead(lambda d, h: ValueError(d, h))),
    (r"returns an error as if it were a value", instead(lambda d, h: ValueError)),
    (r"it gives `nan`", instead(lambda d, h: math.nan)),
    (r"it gives 1, whatever", instead(lambda d, h: 1)),
    (r"it gives d_model, the whole width", instead(lambda d, h: d)),
    (r"it gives h, the number", instead(lambda d, h: h)),
    (r"it gives the remainder", instead(lambda d, h: d % h)),
    (r"10 and 3: it ends the program; a `ValueError`", instead(lambda d, h: raise_exit())),
    (r"refuses `head_size\(4, 6\)`, as it should, but takes", refusing_when(lambda d, h: d < h)),
    (r"takes `head_size\(10, 3\)`", half_and_more),
    (r"refuses `head_size\(35, 5\)` and `head_size\(7, 1\)`, which can", refusing_when(lambda d, h: d % 2)),
    (r"refuses every pair that can be split", refusing_when(lambda d, h: True)),
    (r"refuses `head_size\(8, 8\)`, which can", refusing_when(lambda d, h: d % h or h >= d)),
    (r"refuses `head_size\(7, 1\)`, which can", refusing_when(lambda d, h: d % h or h == 1)),
    (r"refuses .*which can be split", refusing_when(lambda d, h: h % d)),
    (r"yours names them `\(h, d_model\)`", swapped),
]


def raise_exit():
    raise SystemExit
