"""Where a token stands: the sinusoidal encoding, the shift that turns it, the product of two of them.

Source for the first two: Vaswani et al. 2017, section 3.5.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.sizes import check_number, check_sizes, is_whole_number


def angular_frequencies(d_model: int, base: float = 10_000.0) -> Tensor:
    """The d_model / 2 frequencies w_j = base^(-2j / d_model), fastest first, as float64.

    Raises: ValueError for an odd or non-positive d_model, since sine and cosine come in pairs, and for a base
    that is not above 0.
    """
    check_number(above=0, base=base)
    if not is_whole_number(d_model):
        raise ValueError(f"d_model={d_model!r} must be an even whole number.")
    if d_model < 2 or d_model % 2:
        raise ValueError(
            f"d_model={d_model}: sine and cosine come in pairs, so the width must be even; "
            f"{max(2, d_model - 1)} or {max(2, d_model + 1)} would work."
        )
    return base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def sinusoidal_encoding(n: int, d_model: int, start: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Position vectors for positions start .. start + n - 1.

    Column 2j holds sin(w_j p) and column 2j + 1 holds cos(w_j p), so every row has length
    sqrt(d_model / 2).

    Returns: (n, d_model).
    Raises: ValueError for an odd d_model, a length n below 0, and a dtype that has no room for fractions.
    """
    check_sizes(0, n=n)
    if not dtype.is_floating_point:
        raise ValueError(f"sines and cosines are fractions; dtype {dtype} would make them -1, 0 or 1.")
    position = torch.arange(start, start + n, dtype=torch.float64)
    angle = position[:, None] * angular_frequencies(d_model)[None, :]
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(n, d_model).to(dtype)


def shift_matrix(k: int, d_model: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """The rotation R(k) that moves every position vector k places: PE(p + k) = R(k) PE(p).

    It is block-diagonal, one 2 x 2 rotation by w_j k for each frequency, the same for every p, and
    orthogonal. For row vectors write PE @ R(k).T.

    Returns: (d_model, d_model).
    Raises: ValueError for an odd d_model.
    """
    angle = angular_frequencies(d_model) * k
    blocks = torch.stack([angle.cos(), angle.sin(), -angle.sin(), angle.cos()], dim=-1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks).to(dtype)


def position_kernel(distance: Tensor, d_model: int, pairs: int | None = None) -> Tensor:
    """The product of two position vectors that many places apart: κ(m) = PE(p) · PE(p + m) for every p.

    It is the sum of cos(w_j m) over the frequencies: d_model / 2 at m = 0, less elsewhere, and the same for m
    and -m. pairs: only the fastest so many frequencies; None takes all. (From the definition of PE.)

    Returns: float64 of the shape of distance.
    Raises: ValueError for an odd d_model, and for pairs outside 1 .. d_model / 2.
    """
    frequencies = angular_frequencies(d_model)
    if pairs is not None:
        check_sizes(1, pairs=pairs)
        if pairs > len(frequencies):
            raise ValueError(f"pairs={pairs}: d_model={d_model} has {len(frequencies)} frequencies.")
    angle = torch.as_tensor(distance).to(torch.float64)[..., None] * frequencies[:pairs]
    return angle.cos().sum(-1)


def rotate_by_position(x: Tensor, start: int = 0, base: float = 10_000.0) -> Tensor:
    """Turn every pair of features by the angle of its position: rotary positions, for queries and keys.

    x: (..., n, d_k). Pair j of the row at position p, columns 2j and 2j + 1, is turned by w_j p. The
    product of a turned query and a turned key depends on their distance only; lengths stay the same.

    Returns: like x.
    Raises: ValueError as `turns`.
    Source: Su et al. 2021.
    """
    cosine, sine = turns(x, start, base)
    first, second = x[..., 0::2], x[..., 1::2]
    turned = first * cosine - second * sine, first * sine + second * cosine
    return torch.stack(turned, dim=-1).flatten(-2)


def turns(x: Tensor, start: int = 0, base: float = 10_000.0) -> tuple[Tensor, Tensor]:
    """Cosine and sine of the angles by which the rows of x (..., n, d_k) are turned, each (n, d_k / 2).

    Returns: both in x's dtype. Raises: ValueError for an odd d_k, fewer than two axes, a base that is not
    above 0, and an x of whole numbers.
    """
    if x.ndim < 2 or not x.is_floating_point():
        raise ValueError(
            f"x must be (..., n, d_k) of floating-point numbers; got {tuple(x.shape)} of {x.dtype}."
        )
    n, d_k = x.shape[-2:]
    # Angles stay in float64 to the end: rounded to 16 bits, those of late positions would be others.
    position = torch.arange(start, start + n, dtype=torch.float64)
    angle = position[:, None] * angular_frequencies(d_k, base)
    return angle.cos().to(x), angle.sin().to(x)
