"""One entry of a wrong result as evidence: where, what it should be, what it is, where that comes from."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from mha_course.exercises.exercise import Case, Returned
from mha_course.exercises.outcome import differing


def witness(case: Case, returned: Returned, expected: Tensor, got: Tensor, several: bool) -> str:
    """A sentence on the entry that shows the difference best; "" when there is none or the shapes differ."""
    if expected.shape != got.shape:
        return ""
    wrong = differing(expected, got)
    if not bool(wrong.any()):
        return ""
    of = f" of the {returned.name}" if several else ""
    sizes = f" ({case.in_words()})" if case.sizes else ""
    when = f"{case.label[:1].upper()}{case.label[1:]}{sizes}: "
    if expected.ndim == 0:
        return f"{when}the answer{of} is `{number(expected)}`, yours is `{number(got)}`."
    place = _place(case, wrong, expected, got)
    index = ", ".join(str(i) for i in place)
    should, have = expected[place], got[place]
    from_should, from_have = _origin(case, should), _origin(case, have)
    return (
        f"{when}entry `[{index}]`{of} should be `{number(should)}`{from_should}; "
        f"yours is `{number(have)}`{from_have}."
    )


def number(value: Tensor) -> str:
    """One entry as it reads in a sentence: whole numbers as they are, others with enough digits to differ."""
    if value.dtype == torch.bool:
        return str(bool(value))
    x = float(value) if not value.is_complex() else complex(value)
    if isinstance(x, complex):
        return str(x)
    if x != x:
        return "NaN"
    if x in (float("inf"), float("-inf")):
        return "inf" if x > 0 else "-inf"
    if x == int(x) and abs(x) < 1e15:
        return str(int(x))
    return f"{x:.4f}" if 1e-3 <= abs(x) < 1e5 else f"{x:.3g}"


def counted(word: str, index: int) -> int:
    """The number of a thing in words: heads, layers and sentences count from 1; the rest keeps its index.

    Tokens, features, rows and columns are looked up in code all the time, so they are called as there.
    """
    return index + (word in ("head", "layer", "sentence"))


def _place(case: Case, wrong: Tensor, expected: Tensor, got: Tensor) -> tuple[int, ...]:
    if case.coded or expected.dtype == torch.bool:
        return tuple(int(i) for i in wrong.nonzero()[0])
    # The largest difference is the clearest; NaN counts as larger than anything.
    gap = (expected.double() - got.double()).abs().nan_to_num(nan=float("inf"), posinf=float("inf"))
    gap = torch.where(wrong, gap, torch.full_like(gap, -1.0))
    # NumPy's, since PyTorch's loads half a second of other packages when it is first called.
    return tuple(int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))


def _origin(case: Case, value: Tensor) -> str:
    """Where a number of coded input comes from: heads and sentences count from 1, all else by its index."""
    if not case.coded:
        return ""
    source: Tensor = case.arguments[0]
    same = torch.isclose(source.double(), value.double(), rtol=1e-6, atol=1e-6).flatten().nonzero()
    if len(same) != 1:
        return ""
    index = np.unravel_index(int(same[0, 0]), source.shape)
    places = [f"{name} {counted(name, int(i))}" for name, i in zip(case.coded, index, strict=True)]
    return f" ({', '.join(places)})"
