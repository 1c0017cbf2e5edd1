"""What a wrong kernel of distances did: another angle, another wave, another sum."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from mha_course.exercises.reading.recipes import Recipe, Slot, Step, Way, rare


def kernel_with(
    distances: Tensor,
    frequencies: Tensor,
    *,
    far: Step = lambda m: m,
    fast: Step = lambda w: w,
    angle: Step = lambda m, w: m[:, None] * w,
    wave: Step = torch.cos,
    reduce: Step = lambda waves, w: waves.sum(-1),
    finish: Step = lambda kernel, m, w: kernel,
) -> Tensor:
    """The kernel with the steps given; without any it is right: (n,)."""
    w = fast(frequencies)
    m = far(distances)
    return finish(reduce(wave(angle(m, w)), w), m, w)


_FAR = (
    Way("The sign of the distances is lost, which a sine would show.", torch.abs),
    Way(
        "The place in the list stands for the distance: 0, 1, 2, ...",
        lambda m: torch.arange(len(m), dtype=m.dtype),
    ),
    Way("The distances are cut to whole numbers.", torch.trunc),
    Way("1 is taken off the distances.", lambda m: m - 1),
    Way("1 is added to the distances.", lambda m: m + 1),
    Way("The distances are taken from the first one.", lambda m: m - m[0]),
    rare("The distances stand in reverse order.", lambda m: m.flip(0)),
    rare("The distances are divided by their number.", lambda m: m / len(m)),
)
_FAST = (
    Way(
        "The frequencies given are not used: 10000 to the power of -2j / d_model stands there.",
        lambda w: 10_000.0 ** (-2 * torch.arange(len(w), dtype=w.dtype) / (2 * len(w))),
    ),
    Way("The first frequency is left out.", lambda w: w[1:]),
    Way("The last frequency is left out.", lambda w: w[:-1]),
    Way("Only the first frequency is used.", lambda w: w[:1]),
    Way("Only the last frequency is used.", lambda w: w[-1:]),
    Way("Every frequency counts twice.", lambda w: torch.cat([w, w])),
    Way("The frequencies are squared.", torch.square),
    Way("The periods, 1 / frequency, stand for the frequencies.", lambda w: 1 / w),
    rare("The frequencies are sorted by size and summed up one by one.", lambda w: w.cumsum(0)),
    rare("The frequencies are averaged first.", lambda w: w.mean().expand_as(w)),
    rare("The frequencies are added up first.", lambda w: w.sum()[None]),
)
_ANGLES = (
    Way("Distance and frequency are added; the angle is their product.", lambda m, w: m[:, None] + w),
    Way("The frequency is taken off the distance; the angle is their product.", lambda m, w: m[:, None] - w),
    Way("The distance is divided by the frequency; the angle is their product.", lambda m, w: m[:, None] / w),
    Way("The frequency is divided by the distance; the angle is their product.", lambda m, w: w / m[:, None]),
    Way("The frequencies play no part in the angle.", lambda m, w: m[:, None].expand(-1, len(w))),
    Way("The distances play no part in the angle.", lambda m, w: w.expand(len(m), -1)),
    Way("The angle is multiplied by 2π.", lambda m, w: 2 * math.pi * m[:, None] * w),
    Way("The angle is multiplied by π.", lambda m, w: math.pi * m[:, None] * w),
    Way("The angle is halved.", lambda m, w: m[:, None] * w / 2),
    Way("The angle is doubled.", lambda m, w: m[:, None] * w * 2),
    Way("The angle is squared.", lambda m, w: (m[:, None] * w) ** 2),
    Way("The angle is taken for degrees.", lambda m, w: torch.deg2rad(m[:, None] * w)),
    Way("The frequency is raised to the power of the distance.", lambda m, w: w ** m[:, None]),
)
_WAVES = (
    Way("Sines are added up, not cosines.", torch.sin),
    Way("Sine and cosine are added up.", lambda a: a.sin() + a.cos()),
    Way("Sine and cosine are multiplied.", lambda a: a.sin() * a.cos()),
    Way(
        "Sine squared and cosine squared are added, which is always 1.", lambda a: a.sin() ** 2 + a.cos() ** 2
    ),
    Way("The cosine is missing: angles are added up.", lambda a: a),
    Way("The cosines are squared.", lambda a: a.cos() ** 2),
    Way("The cosines lose their sign.", lambda a: a.cos().abs()),
    Way("The cosines are taken off 1.", lambda a: 1 - a.cos()),
    Way("The cosines have the wrong sign.", lambda a: -a.cos()),
    Way("Every cosine counts twice, for sine and cosine.", lambda a: 2 * a.cos()),
    Way("The cosines are halved.", lambda a: a.cos() / 2),
    Way("1 is added to each cosine.", lambda a: 1 + a.cos()),
    rare("The hyperbolic cosine is taken.", torch.cosh),
    rare("The exponential of the angles is taken.", torch.exp),
    rare("The exponential of minus the angles is taken.", lambda a: (-a).exp()),
    rare("The cosine is taken twice.", lambda a: a.cos().cos()),
    rare("The tangent is taken.", torch.tan),
    rare("The inverse cosine is taken.", torch.acos),
)
_REDUCES = (
    Way("The cosines are averaged; a product of two vectors is a sum.", lambda c, w: c.mean(-1)),
    Way("The cosines are multiplied with each other; they should be added.", lambda c, w: c.prod(-1)),
    Way("The largest cosine is taken; they should be added.", lambda c, w: c.amax(-1)),
    Way("The smallest cosine is taken; they should be added.", lambda c, w: c.amin(-1)),
    Way("Only the first frequency's cosine is taken.", lambda c, w: c[:, 0]),
    Way("Only the last frequency's cosine is taken.", lambda c, w: c[:, -1]),
    Way("The first frequency's cosine is left out.", lambda c, w: c[:, 1:].sum(-1)),
    Way("The last frequency's cosine is left out.", lambda c, w: c[:, :-1].sum(-1)),
    Way("The cosines are weighed by their frequencies.", lambda c, w: (c * w).sum(-1)),
    Way("The cosines are divided by their frequencies.", lambda c, w: (c / w).sum(-1)),
    Way("The sum is divided by d_model.", lambda c, w: c.sum(-1) / (2 * c.shape[-1])),
    Way("The sum is divided by the root of d_model.", lambda c, w: c.sum(-1) / (2 * c.shape[-1]) ** 0.5),
    Way(
        "The sum is divided by the root of the number of frequencies.",
        lambda c, w: c.sum(-1) / c.shape[-1] ** 0.5,
    ),
    Way("Every distance gets the sum over all distances.", lambda c, w: c.sum().expand(len(c))),
    rare("The squares are added up, and the root is taken.", lambda c, w: c.norm(dim=-1)),
    rare("The logarithm of the sum of exponentials is taken.", lambda c, w: c.logsumexp(-1)),
)
_FINISHES = (
    Way("The sum is multiplied by the distance.", lambda s, m, w: s * m),
    Way("The sum is divided by its value at distance 0.", lambda s, m, w: s / len(w)),
    Way("The sum is divided by the largest of all.", lambda s, m, w: s / s.max()),
    Way("The sum is taken off its value at distance 0.", lambda s, m, w: len(w) - s),
    rare("This is cos(m) times the sum of the frequencies.", lambda s, m, w: m.cos() * w.sum()),
    rare(
        "Cosine of the distance and cosine of the frequency are multiplied.",
        lambda s, m, w: (m.cos()[:, None] * w.cos()).sum(-1),
    ),
    rare(
        "This is the cosine of the distance times all frequencies added up.",
        lambda s, m, w: (m * w.sum()).cos(),
    ),
    rare(
        "This is the cosine at the mean frequency, times their number.",
        lambda s, m, w: len(w) * (m * w.mean()).cos(),
    ),
    rare("This is the cosine at the mean frequency.", lambda s, m, w: (m * w.mean()).cos()),
)
KERNEL = Recipe(
    kernel_with,
    (
        Slot("angle", "the angle: it is made of one distance and one frequency.", _ANGLES),
        Slot("wave", "sin a sin b + cos a cos b, in one function.", _WAVES),
        Slot("reduce", "how many numbers become one for each distance.", _REDUCES),
        Slot("fast", "which frequencies take part.", _FAST),
        Slot("far", "which distances take part.", _FAR),
        Slot("finish", "the last step.", _FINISHES),
    ),
)
