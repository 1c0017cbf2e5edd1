"""What wrong roofs do: the intensity, the sloping part, the flat part, how both are joined, the units."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.of_roofline import ROOF_MISTAKES, roof_with, seconds
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, of_the_whole, rare
from mha_course.exercises.reading.units import unit_of


def _where(condition: Tensor, yes: Tensor, no: Tensor) -> Tensor:
    return torch.where(condition, yes, no)


_INTENSITIES = (
    Way("The FLOPs are not divided by the bytes.", lambda f, m: f),
    rare("FLOPs and bytes are multiplied.", lambda f, m: f * m),
    rare("Bytes are subtracted from FLOPs.", lambda f, m: f - m),
    rare("FLOPs and bytes are added up.", lambda f, m: f + m),
    rare("The intensity is rounded down (`//`).", lambda f, m: f // m),
    rare("The FLOPs of each stage are divided by the bytes of all.", lambda f, m: f / m.sum()),
    rare("The FLOPs of all stages are divided by the bytes of each.", lambda f, m: f.sum() / m),
    rare("The mean intensity stands for all stages.", lambda f, m: (f / m).mean().expand_as(f)),
    rare("The largest intensity stands for all stages.", lambda f, m: (f / m).max().expand_as(f)),
    rare("The smallest intensity stands for all stages.", lambda f, m: (f / m).min().expand_as(f)),
    rare("A multiply-add is counted twice once more: FLOPs are doubled.", lambda f, m: 2 * f / m),
    rare("The FLOPs are halved.", lambda f, m: f / m / 2),
    rare("The bytes take part as bits.", lambda f, m: f / (8 * m)),
    rare("The stages are in reverse order.", lambda f, m: (f / m).flip(0)),
    rare("FLOPs of one stage are divided by bytes of another.", lambda f, m: f / m.flip(0)),
    rare("The intensity is the number of bytes.", lambda f, m: m),
    rare("The intensity is a share of all FLOPs.", lambda f, m: f / f.sum()),
)
_SLOPES = (
    Way("The intensity is multiplied by `peak`; it should be by `bandwidth`.", lambda i, z: i * z.peak),
    Way("The intensity itself is compared with the peak.", lambda i, z: i),
    Way("The bandwidth is divided by the intensity.", lambda i, z: z.bandwidth / i),
    rare("The bandwidth is added to the intensity.", lambda i, z: i + z.bandwidth),
    rare("The intensity is subtracted from the bandwidth.", lambda i, z: z.bandwidth - i),
    rare("The bandwidth is subtracted from the intensity.", lambda i, z: i - z.bandwidth),
    rare("The intensity is divided by the peak.", lambda i, z: i / z.peak),
    rare("The intensity is divided by the ridge, peak / bandwidth.", lambda i, z: i / z.peak * z.bandwidth),
    rare("The FLOPs are multiplied by the bandwidth.", lambda i, z: z.flops * z.bandwidth),
    rare("The intensity is multiplied by the FLOPs; it should be by `bandwidth`.", lambda i, z: i * z.flops),
    rare("The intensity is multiplied by the bytes: that gives the FLOPs back.", lambda i, z: i * z.moved),
    rare("The intensity is multiplied by itself; it should be by `bandwidth`.", lambda i, z: i * i),
    rare("The bytes are divided by the bandwidth: seconds.", lambda i, z: z.moved / z.bandwidth),
    rare("The FLOPs are divided by the bandwidth.", lambda i, z: z.flops / z.bandwidth),
    rare("The intensity is multiplied by the ridge.", lambda i, z: i * z.peak / z.bandwidth),
    rare("The intensity is squared.", lambda i, z: i**2 * z.bandwidth),
    rare("The bandwidth is squared.", lambda i, z: i * z.bandwidth**2),
    rare("Moving counts in both directions: the bandwidth is halved.", lambda i, z: i * z.bandwidth / 2),
    rare("The bandwidth is doubled.", lambda i, z: 2 * i * z.bandwidth),
    rare("The number of bytes is missing: the slope is FLOPs.", lambda i, z: z.flops),
)
_FLATS = (
    Way("The flat roof is the bandwidth; it should be the peak.", lambda z: z.bandwidth),
    Way("The flat roof is the ridge, peak / bandwidth.", lambda z: z.peak / z.bandwidth),
    rare("The flat roof is bandwidth / peak.", lambda z: z.bandwidth / z.peak),
    rare("The flat roof is peak times bandwidth.", lambda z: z.peak * z.bandwidth),
    rare("The flat roof is 1.", lambda z: 1.0),
    rare("The flat roof is 0.", lambda z: 0.0),
    rare("The flat roof is half of the peak.", lambda z: z.peak / 2),
    rare("The flat roof is twice the peak.", lambda z: 2 * z.peak),
    rare("The flat roof is the peak divided by the FLOPs.", lambda z: z.peak / z.flops),
    rare("The flat roof is the FLOPs divided by the peak: seconds.", lambda z: z.flops / z.peak),
    rare("The flat roof is the FLOPs of the stage.", lambda z: z.flops),
    rare("The flat roof is the peak shared out to the stages.", lambda z: z.peak / len(z.flops)),
    rare("The flat roof is the peak times the intensity.", lambda z: z.peak * z.flops / z.moved),
)
_JOINS = (
    Way("The two roofs are added up.", lambda s, f, z: s + f),
    Way("The mean of the two roofs is taken.", lambda s, f, z: (s + f) / 2),
    rare("The two roofs are multiplied.", lambda s, f, z: s * f),
    rare("The difference of the two roofs is taken.", lambda s, f, z: s - f),
    rare("The difference of the two roofs is taken.", lambda s, f, z: f - s),
    rare("The product is divided by the sum of the two roofs.", lambda s, f, z: s * f / (s + f)),
    rare("The root of the product of both roofs is taken.", lambda s, f, z: (s * f).sqrt()),
    rare("Above the ridge there is 0.", lambda s, f, z: _where(s < f, s, 0 * f)),
    rare("Below the ridge there is 0.", lambda s, f, z: _where(s < f, 0 * s, f)),
    rare("Above the ridge there is the intensity.", lambda s, f, z: _where(s < f, s, z.flops / z.moved)),
    rare("Below the ridge there is the intensity.", lambda s, f, z: _where(s < f, z.flops / z.moved, f)),
    rare("Above the ridge there is the bandwidth.", lambda s, f, z: _where(s < f, s, 0 * f + z.bandwidth)),
    rare("Above the ridge there are the FLOPs.", lambda s, f, z: _where(s < f, s, z.flops)),
    rare("Below the ridge there are the FLOPs.", lambda s, f, z: _where(s < f, z.flops, f)),
    rare("Below the ridge there are the bytes.", lambda s, f, z: _where(s < f, z.moved, f)),
    rare(
        "The roof is chosen by comparing the intensity with `peak`; they have different units.",
        lambda s, f, z: _where(z.flops / z.moved < z.peak, s, f),
    ),
    rare(
        "The roof is chosen by comparing the intensity with `bandwidth`; they have different units.",
        lambda s, f, z: _where(z.flops / z.moved < z.bandwidth, s, f),
    ),
    rare(
        "The roof is chosen by comparing the intensity with 1. The ridge is peak / bandwidth.",
        lambda s, f, z: _where(z.flops / z.moved < 1, s, f),
    ),
    rare(
        "The roof is chosen by comparing the intensity with bandwidth / peak, the ridge upside down.",
        lambda s, f, z: _where(z.flops / z.moved < z.bandwidth / z.peak, s, f),
    ),
    rare(
        "The roof is chosen by comparing FLOPs with bytes.", lambda s, f, z: _where(z.flops < z.moved, s, f)
    ),
    rare(
        "The roof is chosen once for all stages, by all FLOPs and bytes together.",
        lambda s, f, z: s if z.flops.sum() / z.moved.sum() < z.peak / z.bandwidth else f,
    ),
    rare(
        "The roof is chosen once for all stages, by the first of them.",
        lambda s, f, z: s if s[0] < f[0] else f,
    ),
    rare(
        "The smaller one over all stages and both roofs stands for all.",
        lambda s, f, z: 0 * s + min(s.min(), f[0]),
    ),
    rare("True and False come back: whether memory is the limit.", lambda s, f, z: s < f),
    rare("True and False come back: whether computing is the limit.", lambda s, f, z: s >= f),
)
_FINISHES = (
    rare("The stages are added up. Each has its own.", lambda r, z: r.sum()),
    rare("The stages are averaged. Each has its own.", lambda r, z: r.mean()),
    rare("The lowest stage alone comes back.", lambda r, z: r.min()),
    rare("The highest stage alone comes back.", lambda r, z: r.max()),
    rare("The highest number stands for all stages.", lambda r, z: r.max().expand_as(r)),
    rare("The mean stands for all stages.", lambda r, z: r.mean().expand_as(r)),
    rare("Each is divided by the FLOPs of its stage.", lambda r, z: r / z.flops),
    rare("Each is divided by the bytes of its stage.", lambda r, z: r / z.moved),
    rare("Each is multiplied by the FLOPs of its stage.", lambda r, z: r * z.flops),
    rare("Each is multiplied by the bytes of its stage.", lambda r, z: r * z.moved),
    rare("Each is divided by the bandwidth.", lambda r, z: r / z.bandwidth),
    rare("Each is multiplied by its intensity.", lambda r, z: r * z.flops / z.moved),
    rare("These are the seconds of computing.", lambda r, z: seconds(z)[0]),
    rare("These are the seconds of moving.", lambda r, z: seconds(z)[1]),
    rare("These are the seconds of computing and moving, added up.", lambda r, z: sum(seconds(z))),
    rare("These are the shorter ones of the two times.", lambda r, z: torch.minimum(*seconds(z))),
    rare(
        "The FLOPs are divided by the shorter of the two times.",
        lambda r, z: z.flops / torch.minimum(*seconds(z)),
    ),
    rare(
        "The times are multiplied by the FLOPs, not divided into them.",
        lambda r, z: z.flops * torch.maximum(*seconds(z)),
    ),
    rare("1 is divided by the seconds.", lambda r, z: r / z.flops),
    rare("The bytes are divided by the seconds.", lambda r, z: r * z.moved / z.flops),
    rare("A share of the sum over all stages comes back.", lambda r, z: r / r.sum()),
    rare("The numbers are rounded down.", lambda r, z: r.floor()),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, Tensor, float, float], ...]:
    """Other stages on other machines; some far from the ridge, some near."""
    g = torch.Generator().manual_seed(11)
    return tuple(
        (90 * torch.rand(n, generator=g) + 1, 9 * torch.rand(n, generator=g) + 1, peak, bandwidth)
        for n, peak, bandwidth in ((7, 60.0, 8.0), (4, 3.0, 5.0))
    )


def _slot(name: str, look: str, ways: tuple[Way, ...]) -> Slot:
    return Slot(name, look, (*ways_of(ROOF_MISTAKES, name), *ways))


_RECIPE = Recipe(
    roof_with,
    (
        _slot("join", "how the two roofs become one.", _JOINS),
        _slot("slope", "the sloping part of the roof.", _SLOPES),
        _slot("flat", "the flat part of the roof.", _FLATS),
        _slot("intensity", "the fraction.", _INTENSITIES),
        _slot("finish", "the last step, and the units.", _FINISHES),
    ),
    _more,
)

_MACHINES = ((48.0, 6.0), (5.0, 20.0))  # peak and bandwidth of those that are asked about
_RIDGES = (0.125, 0.5, 0.9, 1.25, 2.0, 6.0)  # intensities of the stages, as shares of the ridge


def read_roof(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The steps done otherwise where they are known; else what stages below and above the ridge get."""
    found = _RECIPE.read(evidence, i, call)
    if found:
        return found
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    if have.shape != want.shape or not have.is_floating_point():
        return None
    factors = (have.double() / want.double()).tolist()
    if max(factors) - min(factors) < 1e-4 * abs(factors[0]) and abs(factors[0] - 1) > 1e-3:
        unit = unit_of(factors[0], "FLOPs")
        if unit:
            says = f"These are {unit}, a second. FLOPs a second are asked for."
            return Finding("other-unit", says, look="what the numbers are divided by at the end.")
        units = "" if 0.01 < abs(factors[0]) < 100 else " Are these other units?"
        says = f"Every number is {factors[0]:.4g} times what it should be.{units}"
        return Finding("scaled", says, look="the factor, and the units.")
    if of_the_whole(evidence, i) and float(have.max()) > float(have.min()):
        return None  # of the whole, which is told elsewhere
    return next((found for machine in _MACHINES if (found := _asked(call, *machine))), None)


def _asked(call: Callable[[tuple[Any, ...]], Outcome], peak: float, bandwidth: float) -> Finding | None:
    """What stages get whose intensities are known shares of the ridge."""
    moved = torch.tensor([4.0, 2.0, 5.0, 3.0, 6.0, 2.5])
    flops = moved * torch.tensor(_RIDGES) * peak / bandwidth

    def yours(f: Tensor, m: Tensor) -> Tensor | None:
        out = call((f.clone(), m.clone(), peak, bandwidth))
        fits = out.error is None and len(out.leaves) == 1 and out.leaves[0].shape == f.shape
        return out.leaves[0].double() if fits and bool(out.leaves[0].isfinite().all()) else None

    few = [5, 1, 0]
    once, twice, other = yours(flops, moved), yours(2 * flops, 2 * moved), yours(flops[few], moved[few])
    if once is None or twice is None or other is None:
        return None
    if not torch.allclose(once, twice, rtol=1e-3):
        says = "With twice the operations and twice the bytes the result changes. Only their quotient counts."
        return Finding("not-only-intensity", says, look="where `flops` and `moved` take part.")
    if abs(float(other[1] - once[1])) > 1e-3 * abs(float(once[1])):
        says = "What one stage gets depends on what the others are. Each stage has its own roof."
        return Finding("stages-mix", says, look="sums, means, and the order of the stages.")
    for share, have in zip(_RIDGES, once.tolist(), strict=True):
        wanted = peak * min(1.0, share)
        if abs(have - wanted) > 1e-3 * wanted:
            where = "half of that of the ridge" if share == 0.5 else f"{share:g} times that of the ridge"
            says = (
                f"With `peak`={peak:g} and `bandwidth`={bandwidth:g}, a stage whose intensity is {where} "
                f"should get {wanted:g}; yours gets {have:.4g}."
            )
            part = "the flat part of the roof." if share > 1 else "the sloping part of the roof."
            return Finding("other-roof", says, look=part)
    return None
