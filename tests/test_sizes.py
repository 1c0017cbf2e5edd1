"""What counts as a size and as a number: Python's and NumPy's, and never True."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mha_course.sizes import as_written, check_number, check_sizes


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


class _Silent:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_what_was_given_is_written_short_whatever_it_is() -> None:
    assert as_written(np.int64(3)) == repr(np.int64(3)) and as_written("3") == "'3'"
    assert len(as_written("x" * 5000)) == 60 and as_written("x" * 5000).endswith("x…")
    assert as_written(_Silent()) == "something of type _Silent"
    with pytest.raises(ValueError, match="^h=something of type _Silent must be a whole number"):
        check_sizes(h=_Silent())
    with pytest.raises(ValueError) as long:
        check_number(0, 1, dropout="1" * 5000)
    assert len(str(long.value)) < 200
