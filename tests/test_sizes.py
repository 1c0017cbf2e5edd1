"""What counts as a size and as a number: Python's and NumPy's, and never True."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mha_course.sizes import check_number, check_sizes


@pytest.mark.parametrize("size", [2, np.int8(2), 10**30])
def test_sizes_pass(size: object) -> None:
    check_sizes(2, h=size)
    with pytest.raises(ValueError, match="h="):
        check_sizes(10**31, h=size)


@pytest.mark.parametrize("number", [0.25, 1, np.float32(0.5), np.int64(1), Fraction(1, 3)])
def test_numbers_pass(number: object) -> None:
    check_number(above=0, most=1, share=number)
    with pytest.raises(ValueError, match=r"share=.* must be a finite number of at least 1\.5\."):
        check_number(1.5, share=number)


@pytest.mark.parametrize("wrong", [True, math.nan, math.inf, -math.inf, "1", None, [1.0], 1j, 0, 2.5])
def test_what_is_no_number_or_beyond_the_limits_is_named(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"rate=.* finite number of at most 2 and above 0\."):
        check_number(most=2, above=0, good=1.5, rate=wrong)
