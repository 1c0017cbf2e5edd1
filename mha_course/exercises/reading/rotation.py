"""What wrong rotations do: steps done otherwise; else pair by pair, with one feature at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.of_rotation import (
    ROTATION_MISTAKES,
    end_to_end,
    neighbours,
    rotated_with,
    side_by_side,
    turned,
)
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_POSITIONS = (
    Way("Positions run backwards from `start`.", lambda p, n, s: s - p),
    Way("Positions are in reverse order.", lambda p, n, s: s + n - 1 - p),
    Way("Every position is one too low.", lambda p, n, s: s + p - 1),
    Way("`start` is multiplied by the positions, not added.", lambda p, n, s: s * p),
    rare("`start` is counted twice.", lambda p, n, s: 2 * s + p),
    rare("`start` is subtracted.", lambda p, n, s: p - s),
    rare("Positions are divided by n.", lambda p, n, s: (s + p) / n),
    rare("The last position is `start`.", lambda p, n, s: s + p - n),
    rare("Positions end at `start`, the last one being `start`.", lambda p, n, s: s + p - n + 1),
    rare("Every position is n too high.", lambda p, n, s: s + p + n),
    rare("All positions are 0.", lambda p, n, s: 0 * p),
    rare("Positions are doubled.", lambda p, n, s: 2 * (s + p)),
    rare("Positions are squared.", lambda p, n, s: (s + p) ** 2),
)
_FREQUENCIES = (
    Way("The exponent has no minus, and half of its size.", lambda j, d, base: base ** (j / d)),
    Way("The exponent lacks the division by d_k.", lambda j, d, base: base ** (-2 * j)),
    Way(
        "The exponent is -2j / (d_k - 2), so that the slowest pair has 1 / base.",
        lambda j, d, base: _ends(j, d, base),
    ),
    rare("The exponent is -2j / (d_k - 1).", lambda j, d, base: base ** (-2 * j / (d - 1))),
    rare("The exponent is -(2j + 1) / d_k.", lambda j, d, base: base ** (-(2 * j + 1) / d)),
    rare("Frequencies are divided by the base, not raised to a power.", lambda j, d, base: 2 * j / d / base),
    rare("Frequencies are 1 / (base · 2j / d_k).", lambda j, d, base: 1 / (base * 2 * j / d)),
    rare("The slowest pair comes first.", lambda j, d, base: (base ** (-2 * j / d)).flip(0)),
    rare("Frequencies are exp(-2j / d_k): the base is missing.", lambda j, d, base: torch.exp(-2 * j / d)),
    rare("The exponent has d_k over 2j.", lambda j, d, base: base ** (-d / (2 * j))),
    rare("The minus is missing, the exponent doubled.", lambda j, d, base: base ** (4 * j / d)),
    rare("The frequency is a power of j.", lambda j, d, base: j ** (-2 / d)),
    rare(
        "The logarithm of the base is missing its sign.",
        lambda j, d, base: torch.exp(2 * j / d * math.log(base)),
    ),
    rare(
        "A logarithm to the base of 2 or 10 is taken.",
        lambda j, d, base: torch.exp(-2 * j / d * math.log10(base)),
    ),
    rare("Only the first pair turns.", lambda j, d, base: (j == 0).to(j)),
    rare("All pairs have frequency 0.", lambda j, d, base: 0 * j),
)
_ANGLES = (
    rare("Angles are positions divided by frequencies.", lambda p, w: p / w),
    rare("Position and frequency are added.", lambda p, w: p + w),
    rare("Angles are halved.", lambda p, w: p * w / 2),
    rare("Angles are doubled.", lambda p, w: 2 * p * w),
    rare("There is a factor of pi in the angles.", lambda p, w: math.pi * p * w),
    rare("The frequency is raised to the power of the position.", lambda p, w: w**p),
    rare("Angles are the positions alone.", lambda p, w: p + 0 * w),
    rare("Angles are the frequencies alone.", lambda p, w: 0 * p + w),
)
_CUTS = (
    Way("The two features of a pair have changed places.", lambda x: neighbours(x)[::-1]),
    rare("Both features of a pair are the even one.", lambda x: (x[..., 0::2], x[..., 0::2])),
    rare("Both features of a pair are the odd one.", lambda x: (x[..., 1::2], x[..., 1::2])),
    rare(
        "Pairs are made from both ends.",
        lambda x: (x[..., : x.shape[-1] // 2], x.flip(-1)[..., : x.shape[-1] // 2]),
    ),
    rare(
        "Both features of a pair are from the first half.", lambda x: (x.chunk(2, -1)[0], x.chunk(2, -1)[0])
    ),
)
_TURNS = (
    Way("Only the first feature of a pair turns.", lambda a, b, c, s: (a * c - b * s, b)),
    Way("Only the second feature of a pair turns.", lambda a, b, c, s: (a, a * s + b * c)),
    Way("Both sines have a minus.", lambda a, b, c, s: (a * c - b * s, b * c - a * s)),
    Way(
        "The partner is missing: each feature meets the sine itself.",
        lambda a, b, c, s: (a * c - a * s, b * s + b * c),
    ),
    Way("Each feature is multiplied by cosine plus sine.", lambda a, b, c, s: (a * (c + s), b * (c + s))),
    Way(
        "Each feature is multiplied by its own: one by a cosine, one by a sine.",
        lambda a, b, c, s: (a * c, b * s),
    ),
    rare(
        "Each feature is multiplied by its own: one by a sine, one by a cosine.",
        lambda a, b, c, s: (a * s, b * c),
    ),
    rare("Both features of a pair become the first one.", lambda a, b, c, s: (a * c - b * s, a * c - b * s)),
    rare("Both features of a pair become the second one.", lambda a, b, c, s: (a * s + b * c, a * s + b * c)),
    rare("The second feature's cosine is a sine.", lambda a, b, c, s: (a * c - b * s, a * s + b * s)),
    rare("The second feature's sine is a cosine.", lambda a, b, c, s: (a * c - b * s, a * c + b * c)),
    rare("The first feature's sine is a cosine.", lambda a, b, c, s: (a * c - b * c, a * s + b * c)),
    rare("The first feature's cosine is a sine.", lambda a, b, c, s: (a * s - b * s, a * s + b * c)),
    rare("The first feature lacks its partner.", lambda a, b, c, s: (a * c, a * s + b * c)),
    rare("The second feature lacks its partner.", lambda a, b, c, s: (a * c - b * s, b * c)),
    rare("Of the first feature only its partner's part is there.", lambda a, b, c, s: (b * s, a * s + b * c)),
    rare(
        "Of the first feature only its partner's part is there.", lambda a, b, c, s: (-b * s, a * s + b * c)
    ),
    rare(
        "Of the second feature only its partner's part is there.", lambda a, b, c, s: (a * c - b * s, a * s)
    ),
    rare(
        "The first feature's terms are subtracted the other way round.",
        lambda a, b, c, s: (b * s - a * c, a * s + b * c),
    ),
    rare(
        "The first feature's terms are multiplied, not subtracted.",
        lambda a, b, c, s: (a * c * b * s, a * s + b * c),
    ),
    rare(
        "The second feature's terms are multiplied, not added.",
        lambda a, b, c, s: (a * c - b * s, a * s * b * c),
    ),
    rare("The first feature meets its partner twice.", lambda a, b, c, s: (b * c - b * s, a * s + b * c)),
    rare("The first feature meets itself twice.", lambda a, b, c, s: (a * c - a * s, a * s + b * c)),
    rare("The second feature meets itself twice.", lambda a, b, c, s: (a * c - b * s, b * s + b * c)),
    rare("The second feature meets its partner twice.", lambda a, b, c, s: (a * c - b * s, a * s + a * c)),
    rare("The second feature has the opposite sign.", lambda a, b, c, s: (a * c - b * s, -(a * s + b * c))),
    rare("Cosines are added, not multiplied.", lambda a, b, c, s: (a + c - b * s, a * s + b + c)),
    rare(
        "A pair has its features in the other order afterwards.", lambda a, b, c, s: turned(a, b, c, s)[::-1]
    ),
    rare("The pairs turn the other way, and change places.", lambda a, b, c, s: turned(a, b, c, -s)[::-1]),
)
_JOINS = (
    Way("The two features of a pair change places when they are joined.", lambda a, b: side_by_side(b, a)),
    rare("Pairs are an axis of their own, and not joined.", lambda a, b: torch.stack((a, b), -1)),
    rare("Pairs are an axis of their own, in front of the features.", lambda a, b: torch.stack((a, b), -2)),
    rare("The second features come first, then the first ones.", lambda a, b: end_to_end(b, a)),
    rare("Only the first features of the pairs are there.", lambda a, b: a),
    rare("Only the second features of the pairs are there.", lambda a, b: b),
    rare("The two features of a pair are added up.", lambda a, b: a + b),
)
_GIVEN = (
    rare("`start` and `base` have changed places.", lambda start, base: (base, start)),
    rare("The base is 500,000 whatever `base` says.", lambda start, base: (start, 500_000.0)),
    rare("The base is one more than `base`.", lambda start, base: (start, base + 1)),
    rare("The base is e whatever `base` says.", lambda start, base: (start, math.e)),
    rare("The base is squared.", lambda start, base: (start, base**2)),
    rare("The root of the base is taken.", lambda start, base: (start, base**0.5)),
)
_FINISHES = (
    rare("The input is added to the result.", lambda y, x: y + x),
    rare("The input is subtracted from the result.", lambda y, x: y - x),
    rare("Heads and tokens have changed places.", lambda y, x: y.transpose(1, 2)),
    rare("Heads are put side by side.", lambda y, x: y.transpose(1, 2).flatten(2)),
    rare("Every row is divided by its length.", lambda y, x: y / y.norm(dim=-1, keepdim=True)),
    rare("The result is divided by the root of d_k.", lambda y, x: y / math.sqrt(y.shape[-1])),
    rare(
        "The result is rotated once more by its halves.",
        lambda y, x: torch.cat((-y.chunk(2, -1)[1], y.chunk(2, -1)[0]), -1),
    ),
)


def _ends(j: Tensor, d: int, base: float) -> Tensor:
    return base ** (-2 * j / max(d - 2, 1))


def _slot(name: str, look: str, ways: tuple[Way, ...]) -> Slot:
    return Slot(name, look, (*ways_of(ROTATION_MISTAKES, name), *ways))


_RECIPE = Recipe(
    rotated_with,
    (
        _slot("position", "the positions.", _POSITIONS),
        _slot("frequency", "the exponent.", _FREQUENCIES),
        _slot("turn", "the formula of the rotation.", _TURNS),
        _slot("cut", "how pairs are cut.", _CUTS),
        _slot("join", "how pairs are put together.", _JOINS),
        _slot("angle", "how positions and frequencies make angles.", _ANGLES),
        _slot("given", "where `start` and `base` take part.", _GIVEN),
        _slot("finish", "the last step.", _FINISHES),
        Slot(
            "along",
            "the axis of positions.",
            (rare("The number of the sentence takes the place of the position.", 0),),
        ),
    ),
)


def read_rotation(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The steps done otherwise where they are known; else what becomes of one feature alone."""
    found = _RECIPE.read(evidence, i, call)
    if found:
        return found
    x, start, base = evidence.cases[i].arguments
    if evidence.got[i].leaves[0].shape != x.shape:
        return None

    def yours(given: Tensor) -> Tensor | None:
        out = call((given, start, base))
        fits = out.error is None and len(out.leaves) == 1 and out.leaves[0].shape == given.shape
        return out.leaves[0].double() if fits and bool(out.leaves[0].isfinite().all()) else None

    nothing, once, twice = yours(torch.zeros_like(x)), yours(x.clone()), yours(2 * x)
    if nothing is None or once is None or twice is None:
        return None
    if float(nothing.abs().max()) > 1e-4:
        says = "Where `x` is 0 the result is not: something is added. A rotation only turns what is there."
        return Finding("something-added", says, look="sums that `x` takes no part in.")
    opposite = yours(-x)
    if opposite is None or not torch.allclose(opposite, -once, rtol=1e-3, atol=1e-3):
        says = "The opposite input does not give the opposite result. A rotation keeps signs apart."
        return Finding("not-linear", says, look="steps that are no product with a sine or cosine.")
    if not torch.allclose(2 * once, twice, rtol=1e-3, atol=1e-3):
        says = "Twice the input does not give twice the result. A rotation changes no lengths."
        return Finding("not-linear", says, look="steps that are no product with a sine or cosine.")
    return _pair_by_pair(x, start, base, yours)


def _pair_by_pair(
    x: Tensor, start: int, base: float, yours: Callable[[Tensor], Tensor | None]
) -> Finding | None:
    """Each feature alone: where it goes, how long it is afterwards, by which angle it has turned."""
    n, d = x.shape[-2:]
    for token in range(n):
        made = []
        for feature in range(d):
            alone = torch.zeros_like(x)
            alone[0, 0, token, feature] = 1.0
            made.append(yours(alone))
        if any(one is None for one in made):
            return None
        # Angles mean nothing before it is clear which features turn with which.
        for look_at in (_strays, _partners, _lengths):
            for feature, one in enumerate(made):
                where = f"Feature {feature} of token {token} alone (position {start + token})"
                found = look_at(one, one[0, 0, token], feature, where)
                if found:
                    return found
        for feature, one in enumerate(made):
            found = _angle(one[0, 0, token], feature, token, start, base)
            if found:
                return found
    return None


def _strays(made: Tensor, row: Tensor, feature: int, where: str) -> Finding | None:
    if float((made.square().sum() - row.square().sum()).abs()) < 1e-4:
        return None
    says = f"{where} changes other tokens, heads or sentences. Each row turns by itself."
    return Finding("rows-mix", says, look="reshapes, and the axes that meet in a product.")


def _partners(made: Tensor, row: Tensor, feature: int, where: str) -> Finding | None:
    first = feature - feature % 2
    others = [k for k in range(len(row)) if abs(float(row[k])) > 1e-4 and k not in (first, first + 1)]
    if not others:
        return None
    says = f"{where} comes back in feature {others[0]}. Its pair holds the features {first} and {first + 1}."
    return Finding("other-pairs", says, look="how pairs are cut, and how they are put together.")


def _lengths(made: Tensor, row: Tensor, feature: int, where: str) -> Finding | None:
    length = float(row.norm())
    if abs(length - 1) < 1e-3:
        return None
    says = f"{where} had length 1, and has {length:.4g} afterwards. A rotation keeps lengths."
    return Finding("length-changed", says, look="the formula of the rotation.")


def _angle(row: Tensor, feature: int, token: int, start: int, base: float) -> Finding | None:
    pair, position = feature // 2, start + token
    first, second = float(row[2 * pair]), float(row[2 * pair + 1])
    have = math.atan2(-first, second) if feature % 2 else math.atan2(second, first)
    frequency = base ** (-2 * pair / len(row))
    if _apart(have, position * frequency) < 2e-3:
        return None
    if pair and _apart(have, position / frequency) < 0.03:
        says = "Frequencies rise from pair to pair. They should fall."
        return Finding("rising-frequencies", says, look="the sign of the exponent.")
    wanted = math.remainder(position * frequency, math.tau)
    says = (
        f"Feature {feature} of token {token} alone (position {position}) turns by {have:.4g}; it should by "
        f"{wanted:.4g} (pair {pair})."
    )
    return Finding("wrong-angle", says, look="the angle: position times frequency.")


def _apart(one: float, other: float) -> float:
    return abs(math.remainder(one - other, math.tau))
