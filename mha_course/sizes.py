"""What counts as a size: whole numbers, Python's own or NumPy's, from a least value on."""

from __future__ import annotations

from numbers import Integral


def is_whole_number(value: object) -> bool:
    """Whether the value can count something: 3 and numpy.int64(3) can, 3.0, "3" and True can't."""
    return isinstance(value, int | Integral) and not isinstance(value, bool)


def check_sizes(least: int = 1, **sizes: object) -> None:
    """Let pass whole numbers from `least` on.

    Raises: ValueError that names the first size that is something else.
    """
    for name, size in sizes.items():
        if not is_whole_number(size) or size < least:
            raise ValueError(f"{name}={size!r} must be a whole number of at least {least}.")
