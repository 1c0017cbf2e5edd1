"""Wrong factors: which expression of the sizes a result is too large or too small by, in words."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import close
from mha_course.exercises.reading.size_expressions import ORDER, POWERS, TIMES, Sizes, expressions


def named_factor(sizes: Sequence[Sizes], factors: Sequence[float], closely: float = 1e-3) -> str | None:
    """What the factors of several cases are, in words: "divided by the root of n_k", or None.

    sizes: of each case. factors: what the numbers were multiplied by there. closely: how near, relatively.
    """
    if not factors or not all(math.isfinite(f) and f for f in factors):
        return None
    if len({f > 0 for f in factors}) > 1:
        return None
    minus = " and by -1" if factors[0] < 0 else ""
    found = _positive([_derived(s) for s in sizes], [abs(f) for f in factors], closely)
    if found and minus and found.startswith("not "):
        return "multiplied by -1, and not scaled otherwise"
    if found and minus:
        return f"{found}, with a minus in front" if found.startswith("divided") else f"{found}{minus}"
    return found


def times_right(evidence: Evidence) -> Finding | None:
    """The same expression of the sizes times too much in every case that counts, or None."""
    pairs = _pairs(evidence)
    scales = [scale_of(want, have) for _, want, have in pairs]
    if not scales or any(scale is None for scale in scales):
        return None
    if all(abs(scale - 1) < 1e-3 for scale in scales):
        return None
    sizes = [s for s, _, _ in pairs]
    words = named_factor(sizes, scales) if len(pairs) > 1 else None
    if all(abs(scale + 1) < 1e-4 for scale in scales):
        return Finding("opposite-sign", "Every number has the opposite sign.", look="a minus.")
    if words is None and all(want.numel() == 1 for _, want, _ in pairs):
        return None  # any number is some number times another one
    if words is None:
        first = next((s for s in scales if abs(s - 1) > 1e-3), scales[0])
        says = f"Every number is {first:.4g} times what it should be."
        if len(scales) > 1 and len({round(s, 3) for s in scales}) > 1:
            says = f"{says[:-1]}, in another case {scales[-1]:.4g} times."
        return Finding("scaled", says, look="the factor, and which size it is made of.")
    says = f"Every number is what it should be, {words}."
    return Finding("scaled", says, look="the factor, and which size it is made of.")


def scores_factor(evidence: Evidence) -> Finding | None:
    """Scores with a wrong factor: what the dot products were multiplied by. Not for the right one."""
    pairs = _pairs(evidence)
    scales = [scale_of(want, have) for _, want, have in pairs]
    return None if any(s is None for s in scales) else factor_finding([s for s, _, _ in pairs], scales, "")


def factor_finding(sizes: Sequence[Sizes], scales: Sequence[float], inside: str) -> Finding | None:
    """What to say about scores that are `scales` times the right ones, in each case.

    inside: where the scores were read, as a clause (" on their way into the softmax"), or "".
    """
    if not scales or all(abs(scale - 1) < 2e-3 for scale in scales):
        return None
    made = [scale / math.sqrt(_derived(s)["d_k"]) for s, scale in zip(sizes, scales, strict=True)]
    words = named_factor(sizes, made, closely=2e-3)
    look = "the factor: which size it is made of, and whether it divides."
    before = f"The scores are wrong by a factor:{inside}"
    if words:
        says = f"{before} the dot products are {words}."
    elif max(scales) - min(scales) < 2e-3 * abs(scales[0]):
        says = f"{before} they are {scales[0]:.4g} times what they should be."
    else:
        worst = max(scales, key=lambda scale: abs(scale - 1))
        says = f"{before} in one case they are {worst:.4g} times what they should be, in others not."
    return Finding("wrong-scale", says, look=look)


def scale_of(want: Tensor, have: Tensor) -> float | None:
    """c where `have` is c times `want` in every entry, or None."""
    if want.shape != have.shape or not want.numel() or want.dtype == torch.bool or have.is_complex():
        return None
    want, have = want.double(), have.double()
    if not (bool(want.isfinite().all()) and bool(have.isfinite().all())):
        return None
    scale = float((want * have).sum() / (want * want).sum().clamp_min(1e-30))
    # A factor near 1 is one only where it holds more closely than it differs from 1.
    rtol = min(1e-3, max(abs(scale - 1) / 20, 1e-5))
    if abs(scale) < 1e-9 or not torch.allclose(have / scale, want, rtol=rtol, atol=2e-5):
        return None
    return scale


def softmax_scale(scores: Tensor, weights: Tensor) -> float | None:
    """c where the weights are a softmax of c times the scores, along each row, or None.

    Read from differences of logarithms, which the sum of a row does not touch. Hidden keys (-inf in
    `scores`) are left out.
    """
    scores, weights = scores.double(), weights.double()
    open_ = scores.isfinite() & (weights > 1e-12)
    if weights.shape != scores.shape or not bool(open_.any()) or bool((weights[scores.isfinite()] < 0).any()):
        return None
    if bool((weights[~scores.isfinite()].abs() > 1e-6).any()):
        return None
    count = open_.sum(-1, keepdim=True).clamp_min(1)
    x = torch.where(open_, scores, 0.0)
    y = torch.where(open_, weights.clamp_min(1e-300).log(), 0.0)
    x = torch.where(open_, x - x.sum(-1, keepdim=True) / count, 0.0)
    y = torch.where(open_, y - y.sum(-1, keepdim=True) / count, 0.0)
    spread = float((x * x).sum())
    if spread < 1e-9:
        return None
    scale = float((x * y).sum()) / spread
    if abs(scale) < 1e-3:
        return None  # equal weights: no factor makes them
    # Where a weight has vanished its score must have been far below.
    return scale if torch.allclose(y, scale * x, rtol=5e-3, atol=5e-3 * max(1.0, abs(scale))) else None


def factor_by_trying(evidence: Evidence) -> Finding | None:
    """A wrong factor before the softmax, where only the output shows: found by trying factors.

    Works for exercises whose known mistakes are settings of a workbench that takes `factor`. Two cases are
    enough to name it; whether it holds in the others is looked at afterwards.
    """
    base = _workbench(evidence)
    judged = [
        i
        for i, case in enumerate(evidence.cases)
        if evidence.counts[i] and evidence.got[i].error is None and "d_k" in _derived(case.sizes)
    ]
    first = evidence.first_wrong()
    if base is None or first not in judged:
        return None
    sizes = [_derived(case.sizes) for case in evidence.cases]
    others = [i for i in judged if sizes[i]["d_k"] != sizes[first]["d_k"]] or [
        i for i in judged if i != first
    ]
    scales = []
    for i in (first, *others[:1]):
        factor = _tried(base, evidence.cases[i].fresh(), evidence.got[i].leaves)
        if factor is None:
            return None
        scales.append(factor * math.sqrt(sizes[i]["d_k"]))
    return factor_finding([sizes[i] for i in (first, *others[:1])], scales, " on their way into the softmax")


def _workbench(evidence: Evidence) -> Callable[..., Any] | None:
    for mistake in evidence.exercise.mistakes:
        if isinstance(mistake.wrong, functools.partial) and set(mistake.wrong.keywords) == {"factor"}:
            return mistake.wrong.func
    return None


def _tried(base: Callable[..., Any], arguments: tuple[Any, ...], got: Sequence[Tensor]) -> float | None:
    """The factor with which the workbench gives what came, or None. A search along one line."""

    def given(factor: float) -> tuple[Tensor, ...]:
        result = base(*arguments, factor=lambda q, **s: factor)
        return result if isinstance(result, tuple) else (result,)

    def gap(factor: float) -> float:
        return sum(
            float((a.double() - b.double()).square().sum()) for a, b in zip(given(factor), got, strict=True)
        )

    if [leaf.shape for leaf in given(1.0)] != [leaf.shape for leaf in got]:
        return None
    for sign in (1.0, -1.0):
        grid = [sign * 2.0**k for k in range(-7, 6)]
        gaps = [gap(factor) for factor in grid]
        at = min(range(len(grid)), key=gaps.__getitem__)
        if not math.isfinite(gaps[at]):
            return None
        factor = _narrowed(gap, grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)])
        if all(close(a, b) for a, b in zip(given(factor), got, strict=True)):
            return factor
    return None


def _narrowed(gap: Callable[[float], float], low: float, high: float) -> float:
    """Golden section: the place of the least gap between low and high."""
    ratio = (math.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    gap_a, gap_b = gap(a), gap(b)
    for _ in range(26):
        if gap_a < gap_b:
            high, b, gap_b = b, a, gap_a
            a = high - ratio * (high - low)
            gap_a = gap(a)
        else:
            low, a, gap_a = a, b, gap_b
            b = low + ratio * (high - low)
            gap_b = gap(b)
    return (low + high) / 2


def _pairs(evidence: Evidence) -> list[tuple[Sizes, Tensor, Tensor]]:
    """Sizes, what was wanted and what came, for each judged case with one result and no error."""
    return [
        (case.sizes, want.leaves[0], have.leaves[0])
        for case, want, have, counts in zip(
            evidence.cases, evidence.expected, evidence.got, evidence.counts, strict=True
        )
        if counts and want.error is None and have.error is None and len(have.leaves) == 1
    ]


def _derived(sizes: Sizes) -> Sizes:
    known = dict(sizes)
    if "h" in known and "d_model" in known:
        known.setdefault("d_k", known["d_model"] // known["h"])
    for name in ("n_q", "n_k") if "n" in known else ():
        known.setdefault(name, known["n"])
    return known


def _positive(sizes: Sequence[Sizes], factors: Sequence[float], closely: float) -> str | None:
    names = [name for name in ORDER if all(name in s for s in sizes)]
    # One case can't tell a size from a number.
    names = names if len(sizes) > 1 else [n for n in names if n == "d_k"]

    def fits(values: Sequence[float]) -> bool:
        return all(abs(f - value) <= closely * value for f, value in zip(factors, values, strict=True))

    if fits([1.0] * len(sizes)):
        return "not scaled at all"
    for words, value in expressions(names):
        values = [value(s) for s in sizes]
        if len(sizes) > 1 and max(values) - min(values) < 1e-9:
            continue  # the size is the same everywhere: a fixed number as far as can be seen
        if not all(v > 0 for v in values):
            continue
        if fits([1 / v for v in values]):
            return f"divided by {words}"
        if fits(values):
            return f"multiplied by {words}"
    if max(factors) - min(factors) <= closely * max(factors):
        f = factors[0]
        whole = round(1 / f)
        if whole > 1 and abs(whole * f - 1) <= closely:
            return f"divided by {whole}, whatever the sizes are"
        return f"multiplied by {f:.4g}, whatever the sizes are"
    for power, words in POWERS:
        for name in names:
            values = [s[name] ** power for s in sizes]
            text = words.format(name)
            for times in TIMES:
                if fits([times / v for v in values]):
                    return f"divided by {text}" + (
                        f" times {1 / times:.4g}" if times < 1 else f" and multiplied by {times:.4g}"
                    )
                if fits([times * v for v in values]):
                    return f"multiplied by {text} and by {times:.4g}"
    return _with_extra(names, sizes, factors, closely)


def _with_extra(
    names: Sequence[str], sizes: Sequence[Sizes], factors: Sequence[float], closely: float
) -> str | None:
    """A divisor with a fixed number added, inside or outside a root; or a power that nobody thinks of."""
    if len(sizes) < 2:
        return None
    inverse = [1 / f for f in factors]
    for name in names:
        for text, value in (("the root of {}", math.sqrt), ("{}", float)):
            extra = [i - value(s[name]) for i, s in zip(inverse, sizes, strict=True)]
            if (
                abs(extra[0]) > 1e-4
                and max(extra) - min(extra) <= 2 * closely * abs(extra[0]) + 1e-6 * inverse[0]
            ):
                return f"divided by ({text.format(name)} {'+' if extra[0] > 0 else '-'} {abs(extra[0]):.3g})"
        inside = [i * i - s[name] for i, s in zip(inverse, sizes, strict=True)]
        if abs(inside[0]) > 1e-4 and max(inside) - min(inside) <= 5 * closely * abs(inside[0]):
            return f"divided by the root of ({name} {'+' if inside[0] > 0 else '-'} {abs(inside[0]):.3g})"
        if sizes[0][name] != sizes[1][name] and min(s[name] for s in sizes) > 1:
            powers = [-math.log(f) / math.log(s[name]) for f, s in zip(factors, sizes, strict=True)]
            if max(powers) - min(powers) < 2e-3 and 0.05 < abs(powers[0]) < 6:
                return f"divided by {name} to the power of {powers[0]:.3g}"
    return None
