"""A LayerNorm asked with simple numbers: what do mean, spread, gain and bias do?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.probing import probe
from mha_course.exercises.reading.norm import NORM, normed
from mha_course.exercises.reading.recipes import beyond_recipes
from mha_course.exercises.witness import number

Call = Callable[[tuple[Any, ...]], Outcome]


def read_norm(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """The steps done otherwise where they are known; else what comes out for simple gain, bias and tokens."""
    found = NORM.read(evidence, i, call)
    if found or not beyond_recipes(evidence, i):
        return found
    unused = probe(evidence, i, call)
    if unused:
        return unused
    g = torch.Generator().manual_seed(3)
    x = 3 * torch.randn(2, 3, 6, generator=g) + 2
    gain, bias = torch.rand(6, generator=g) + 1, torch.randn(6, generator=g)
    one, zero = torch.ones(6), torch.zeros(6)

    def asked(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor | None:
        out = call((x.clone(), gain.clone(), bias.clone()))
        fits = out.error is None and len(out.leaves) == 1 and out.leaves[0].shape == x.shape
        return out.leaves[0] if fits else None

    def right(x: Tensor, gain: Tensor, bias: Tensor) -> bool:
        out = asked(x, gain, bias)
        return out is not None and torch.allclose(out, normed(x, gain, bias), rtol=1e-3, atol=1e-4)

    plain = asked(x, one, zero)
    if plain is None:
        return None
    if right(x, one, zero):
        return _last_step(right, x, gain, bias, one, zero)
    return _normalised(asked, plain, x, one, zero)


def _last_step(
    right: Callable[..., bool], x: Tensor, gain: Tensor, bias: Tensor, one: Tensor, zero: Tensor
) -> Finding:
    """Right with gain 1 and bias 0: which of the two goes wrong."""
    parts = [
        words
        for words, fine in (("the gain", right(x, gain, zero)), ("the bias", right(x, one, bias)))
        if not fine
    ]
    if right(x, gain, bias):
        says = "With tokens of other sizes, gain and bias it is right: what is wrong depends on the numbers."
        return Finding("depends-on-numbers", says, look="the case named, number by number.")
    what = " and ".join(parts) if parts else "gain and bias together"
    takes = "take" if " and " in what else "takes"
    says = f"With gain 1 and bias 0 it is right; {what} {takes} part otherwise than in `z * gain + bias`."
    return Finding("gain-or-bias", says, look="the last step.")


def _normalised(
    asked: Callable[..., Tensor | None], plain: Tensor, x: Tensor, one: Tensor, zero: Tensor
) -> Finding:
    """What becomes of tokens with gain 1 and bias 0."""
    parts = []
    other = x.clone()
    other[0, 1] += torch.arange(6.0)
    moved = asked(other, one, zero)
    if moved is not None and not close(moved[0, 0], plain[0, 0]):
        parts.append("another token of the sentence changes a token's result")
    elif moved is not None and not close(moved[1], plain[1]):
        parts.append("another sentence changes a token's result")
    shifted = asked(x + 5, one, zero)
    if shifted is not None and not torch.allclose(shifted, plain, atol=1e-3):
        parts.append("5 added to all numbers of a token changes its result (so the mean is not taken off)")
    scaled = asked(x * 4, one, zero)
    if scaled is not None and not torch.allclose(scaled, plain, atol=1e-3):
        parts.append("numbers 4 times as large change the result (so it is not divided by their spread)")
    token = plain[0, 0].double()
    says = (
        f"With gain 1 and bias 0 a token should come out with mean 0 and variance 1; yours has mean "
        f"{number(token.mean())} and variance {number(token.var(correction=0))}."
    )
    if parts:
        says += f" Besides, {'; and '.join(parts)}."
    return Finding("not-normalised-right", says, look="mean and variance of one token, in your result.")
