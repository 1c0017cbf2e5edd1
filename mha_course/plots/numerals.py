"""Numbers as they are written in pictures: true minus, grouped thousands, few digits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

MINUS = "−"
_PREFIXES = ("p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E")
_SMALL = _PREFIXES.index("")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def as_array(values: object, name: str) -> np.ndarray:
    """A tensor, array or nested list as a NumPy array. Raises ValueError when it isn't made of numbers."""
    if hasattr(values, "detach"):
        tensor = values.detach().cpu()
        # NumPy has no bfloat16, so every floating tensor goes through float64.
        values = tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy()
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} must be a regular table of numbers; its rows have unequal lengths."
        ) from None
    if array.dtype == object or not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
        raise ValueError(
            f"{name} must be a regular table of numbers; got {array.dtype} of shape {array.shape}."
        )
    if np.iscomplexobj(array):
        raise ValueError(f"{name} must be real numbers; got {array.dtype}.")
    return array


def number(value: float, decimals: int | None = None) -> str:
    """A number as text: 16,384, 0.42, −1.5, −∞, 3.2×10⁹. decimals=None picks about three digits."""
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    size = abs(value)
    if decimals is None:
        if value == int(value) and size < 1e7:
            decimals = 0
        elif size >= 1e7 or 0 < size < 1e-3:
            return _scientific(value)
        else:
            decimals = (
                0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 0.1 else 3 if size >= 0.01 else 4
            )
    text = f"{value:,.{decimals}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return text.replace("-", MINUS)


def _scientific(value: float) -> str:
    mantissa, exponent = f"{value:.1e}".split("e")
    power = power_of_ten(int(exponent))
    if mantissa in ("1.0", "-1.0"):
        return mantissa[:-3].replace("-", MINUS) + power
    return f"{mantissa.removesuffix('.0').replace('-', MINUS)}×{power}"


def power_of_ten(exponent: int) -> str:
    """10 with a raised exponent."""
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def prefixed(value: float, unit: str = "") -> str:
    """A number with three digits and a prefix in steps of 1,000: 2.04 TB/s, 16.8 M, 1.30 µs.

    Zeros at the end are written where they stand for digits that were rounded away: 60 G is exact, 60.0 G
    is not.
    Raises: ValueError for what is below 0 or not finite.
    """
    value = float(value)
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"a prefix goes with a finite number of at least 0; got {value}.")
    if value == 0:
        return f"0 {unit}".strip()
    # Rounded first: 999.6 has three digits as 1,000, which is 1 k.
    rounded = float(f"{value:.2e}")
    step = min(max(math.floor(math.log10(rounded) / 3 + 1e-9), -_SMALL), len(_PREFIXES) - 1 - _SMALL)
    scaled = rounded / 1000.0**step
    whole = math.isclose(value, rounded, rel_tol=1e-9)
    digits = f"{scaled:,.0f}" if scaled >= 100 else f"{scaled:.3g}" if whole else f"{scaled:#.3g}"
    return f"{digits} {_PREFIXES[step + _SMALL]}{unit}".strip()


def three_digits(value: float) -> str:
    """A number above 0 with three digits, or as many as stand before the point: 0.992, 61.1, 153, 1,365."""
    if not 0 < value < math.inf:
        return number(value)
    return number(value, max(0, 2 - math.floor(math.log10(float(f"{value:.2e}")))))


def weight(value: float) -> str:
    """A weight as in a tooltip: two decimals, and <0.01 for what would read as nothing."""
    return "0" if value == 0 else "<0.01" if 0 < value < 0.005 else number(value, 2)


def in_cell(value: float) -> str:
    """A weight inside a heatmap's cell: .58, or 1.00."""
    return f"{value:.2f}".removeprefix("0")


def ticks(values: Iterable[float]) -> list[str]:
    """Tick labels that share their number of decimals."""
    values = list(values)
    big = max((abs(v) for v in values if math.isfinite(v)), default=0)
    if big >= 1e7 or 0 < big < 1e-3:
        return [number(v) if v else "0" for v in values]
    decimals = 0
    while decimals < 6 and any(abs(round(v, decimals) - v) > 1e-9 * max(1.0, big) for v in values):
        decimals += 1
    return [number(v, decimals) for v in values]


def column_decimals(values: np.ndarray) -> int:
    """How many decimals a small table needs: none for whole numbers, else two, or one from 100 on."""
    finite = values[np.isfinite(values)]
    if finite.size == 0 or bool(np.all(finite == np.round(finite))):
        return 0
    if bool(np.all(np.abs(finite * 10 - np.round(finite * 10)) < 1e-9)):
        return 1
    return 1 if np.abs(finite).max() >= 100 else 2


def listed(parts: Sequence[str], limit: int) -> str:
    """Parts joined by semicolons; after the limit it says how many more there are."""
    more = len(parts) - limit
    return "; ".join(parts[:limit]) + (f"; and {more} more" if more > 0 else "")
