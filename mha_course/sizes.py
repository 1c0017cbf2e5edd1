"""What counts as a size, a whole number from a least value on, and what counts as a number, a finite one.

Both may be Python's own or NumPy's; True is neither.
"""

from __future__ import annotations

import math
from numbers import Integral, Real


def is_whole_number(value: object) -> bool:
    """Whether the value can count something: 3 and numpy.int64(3) can, 3.0, "3" and True can't."""
    return isinstance(value, int | Integral) and not isinstance(value, bool)


def as_written(value: object, longest: int = 60) -> str:
    """What was given in place of a size or a name, for an error: its repr, cut where it is long.

    Never raises: an object that can't say what it is is named by its type.
    """
    try:
        said = repr(value)
    except Exception:  # noqa: BLE001
        return f"something of type {type(value).__name__}"
    return said if len(said) <= longest else f"{said[: longest - 1]}…"


def check_sizes(least: int = 1, **sizes: object) -> tuple[int, ...]:
    """Let pass whole numbers from `least` on.

    Returns: the sizes in the order given, as Python's integers: products of NumPy's own can overflow.
    Raises: ValueError that names the first size that is something else.
    """
    for name, size in sizes.items():
        if not is_whole_number(size) or size < least:
            raise ValueError(f"{name}={as_written(size)} must be a whole number of at least {least}.")
    return tuple(int(size) for size in sizes.values())


def check_number(
    least: float = -math.inf, most: float = math.inf, above: float = -math.inf, **numbers: object
) -> None:
    """Let pass finite numbers from `least` to `most`, larger than `above`.

    Raises: ValueError that names the first number that is something else, and its limits.
    """
    for name, number in numbers.items():
        real = isinstance(number, Real) and not isinstance(number, bool)
        if not (real and -math.inf < number < math.inf and least <= number <= most and number > above):
            limits = (("of at least", least), ("of at most", most), ("above", above))
            said = " and ".join(f"{word} {limit:g}" for word, limit in limits if math.isfinite(limit))
            raise ValueError(f"{name}={as_written(number)} must be a finite number{said and ' '}{said}.")
