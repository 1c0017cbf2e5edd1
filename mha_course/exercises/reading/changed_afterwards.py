"""The right result with something done to it afterwards, number by number or along an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.evidence import Finding
from mha_course.exercises.reading.factors import scale_of

_EACH: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("Negative numbers are set to 0 (a ReLU)", torch.relu),
    ("The sign of the numbers is lost", torch.abs),
    ("The numbers are squared", torch.square),
    ("The third power of the numbers is taken", lambda x: x**3),
    ("The exponential of the numbers is taken", torch.exp),
    ("The logarithm of the numbers is taken", torch.log),
    ("The root of the numbers is taken", torch.sqrt),
    ("1 is divided by the numbers", lambda x: 1 / x),
    ("A tanh is applied to the numbers", torch.tanh),
    ("A sigmoid is applied to the numbers", torch.sigmoid),
    ("A GELU is applied to the numbers", F.gelu),
    ("A sine is applied to the numbers", torch.sin),
    ("Only the signs of the numbers are left", torch.sign),
    ("The numbers are rounded to whole ones", torch.round),
    ("The numbers are rounded down to whole ones", torch.floor),
    ("The numbers are cut to whole ones", torch.trunc),
    ("The numbers are rounded to one decimal", lambda x: x.round(decimals=1)),
    ("The numbers are rounded to two decimals", lambda x: x.round(decimals=2)),
    ("The numbers are clamped to -1 ... 1", lambda x: x.clamp(-1, 1)),
    ("The numbers are clamped to 0 ... 1", lambda x: x.clamp(0, 1)),
    ("The mean of all numbers is subtracted", lambda x: x - x.mean()),
    ("All numbers together are standardised", lambda x: (x - x.mean()) / x.std()),
    ("The length of all numbers together divides them", lambda x: x / x.norm()),
    ("The largest of all numbers divides them", lambda x: x / x.max()),
)
_ALONG: tuple[tuple[str, Callable[[Tensor, int], Tensor]], ...] = (
    ("The numbers are summed up one by one (`cumsum`) along {0}", lambda x, a: x.cumsum(a)),
    ("A softmax is taken along {0}", lambda x, a: x.softmax(a)),
    ("The order along {0} is reversed", lambda x, a: x.flip(a)),
    ("The numbers are sorted along {0}", lambda x, a: x.sort(a).values),
    ("Everything is shifted by one along {0}", lambda x, a: x.roll(1, a)),
    ("Everything is shifted by one along {0}", lambda x, a: x.roll(-1, a)),
    ("The mean along {0} is subtracted", lambda x, a: x - x.mean(a, keepdim=True)),
    ("The numbers are standardised along {0}", lambda x, a: _standardised(x, a, 0)),
    ("The numbers are standardised along {0}", lambda x, a: _standardised(x, a, 1)),
    ("The length along {0} divides the numbers", lambda x, a: F.normalize(x, dim=a)),
    ("The sum along {0} divides the numbers", lambda x, a: x / x.sum(a, keepdim=True)),
    ("Everything is replaced by its mean along {0}", lambda x, a: x.mean(a, keepdim=True).expand_as(x)),
    ("Everything is replaced by its sum along {0}", lambda x, a: x.sum(a, keepdim=True).expand_as(x)),
    ("The first entry along {0} stands everywhere", lambda x, a: x.narrow(a, 0, 1).expand_as(x)),
    ("The last entry along {0} stands everywhere", lambda x, a: x.narrow(a, -1, 1).expand_as(x)),
)
_LOOK = "what happens to the result at the end."


def _standardised(x: Tensor, axis: int, correction: int) -> Tensor:
    return (x - x.mean(axis, keepdim=True)) / x.std(axis, keepdim=True, correction=correction)


def changed_afterwards(want: Tensor, have: Tensor, axes: tuple[str, ...]) -> Finding | None:
    """What was done to the right result, alone or together with a factor; None when nothing fits.

    want, have: of the same shape. axes: their names as symbols, where they are known.
    """
    if not want.is_floating_point() or not have.is_floating_point() or want.numel() < 3:
        return None
    want, have = want.double(), have.double()
    made = list(_made(want, axes if len(axes) == want.ndim else ()))
    for words, one in made:
        if torch.allclose(one, have, rtol=1e-3, atol=2e-5) and not torch.allclose(
            one, want, rtol=2e-3, atol=4e-5
        ):
            return Finding("changed-afterwards", f"{words}; before that the result was right.", look=_LOOK)
    for words, one in made:
        if scale_of(want, one) is not None:
            continue  # a factor alone, which says nothing of how it came about
        scale = scale_of(one, have) if want.numel() > 5 else None  # of a few numbers that holds by chance
        if scale is not None and float(one.std()) > 1e-3:
            says = f"{words}, and every number is {scale:.4g} times what it is then."
            return Finding("changed-afterwards", says, look=_LOOK)
    return None


def _made(want: Tensor, axes: tuple[str, ...]) -> Iterator[tuple[str, Tensor]]:
    for words, each in _EACH:
        yield words, each(want)
    for axis in range(want.ndim):
        if want.shape[axis] > 1:
            name = f"the axis `{axes[axis]}`" if axes and axes[axis] else f"axis {axis}"
            for words, along in _ALONG:
                yield words.format(name), along(want, axis)
