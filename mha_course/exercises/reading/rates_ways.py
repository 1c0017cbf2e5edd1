"""Every step of the learning rates, and what people put in its place."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from mha_course.exercises.reading.recipes import Way, rare

RISES = (
    Way("The rise has (update - 1) above the fraction bar: it starts at 0.", lambda i, w, s: (i - 1) / w),
    Way(
        "The rise goes from 0 to 1: (update - 1) / (warm_up - 1). The first update has a rate, too.",
        lambda i, w, s: (i - 1) / max(w - 1, 1),
    ),
    Way("The rise is divided by warm_up + 1, so that it stops short of 1.", lambda i, w, s: i / (w + 1)),
    Way("The rise is divided by warm_up - 1, so that it goes beyond 1.", lambda i, w, s: i / max(w - 1, 1)),
    Way("The rise is divided by all steps.", lambda i, w, s: i / s),
    Way("The rise is divided by the steps after the warm-up.", lambda i, w, s: i / (s - w)),
    rare("The rise has (update + 1) above the fraction bar.", lambda i, w, s: (i + 1) / w),
    Way("The rate does not rise: it is 1 from the first update on.", lambda i, w, s: torch.ones_like(i)),
    rare("During the warm-up the rate is 0.", lambda i, w, s: torch.zeros_like(i)),
    Way("During the warm-up the rate stays at 1 / warm_up.", lambda i, w, s: torch.ones_like(i) / w),
    Way("The rise is the number of the update itself, not divided.", lambda i, w, s: i),
    Way("The rise is rounded down (`//`): 0 until the last moment.", lambda i, w, s: i // w),
    rare("The number of the update is multiplied by warm_up; it should be divided.", lambda i, w, s: i * w),
    rare("warm_up is divided by the number of the update, so that the rate falls.", lambda i, w, s: w / i),
    rare("During the warm-up the rate is warm_up itself.", lambda i, w, s: torch.full_like(i, w)),
    rare("During the warm-up the rate is the number of steps.", lambda i, w, s: torch.full_like(i, s)),
    rare("During the warm-up the rate stays at steps / warm_up.", lambda i, w, s: torch.full_like(i, s / w)),
    Way(
        "The rate rises on a half cosine. It should rise in equal steps.",
        lambda i, w, s: 0.5 * (1 - torch.cos(math.pi * i / w)),
    ),
    rare(
        "The rate rises on a quarter of a sine, not in equal steps.",
        lambda i, w, s: torch.sin(i / w * math.pi / 2),
    ),
    rare("The rise is a root: its steps get smaller.", lambda i, w, s: (i / w) ** 0.5),
    rare("The rise is a square: its steps get larger.", lambda i, w, s: (i / w) ** 2),
    rare("The rise is exponential. It should go in equal steps.", lambda i, w, s: torch.exp(i - w)),
    rare("The rise is exponential. It should go in equal steps.", lambda i, w, s: torch.exp(i / w - 1)),
    Way(
        "The rate rises by the schedule of the 2017 paper, update · warm_up^-1.5.",
        lambda i, w, s: i * w**-1.5,
    ),
    rare("The warm-up falls on the half cosine.", lambda i, w, s: 0.5 * (1 + torch.cos(math.pi * i / w))),
    rare(
        "The first update has rate 0.",
        lambda i, w, s: torch.where(i == i.min(), torch.zeros_like(i), i / w),
    ),
)


DONES = (
    Way("`done` is update / steps: counted from the first update on.", lambda i, w, s, r: i / s),
    Way("`done` is divided by all steps, so that the rate stops above 0.", lambda i, w, s, r: (i - w) / s),
    Way(
        "`done` has the update itself above the fraction bar: warm_up is not taken off.",
        lambda i, w, s, r: i / (s - w),
    ),
    Way("`done` is one update behind: 0 at update warm_up + 1.", lambda i, w, s, r: (i - w - 1) / (s - w)),
    Way("`done` is one update ahead.", lambda i, w, s, r: (i - w + 1) / (s - w)),
    Way(
        "`done` is divided by one update less, steps - warm_up - 1: it goes beyond 1.",
        lambda i, w, s, r: (i - w) / max(s - w - 1, 1),
    ),
    Way(
        "`done` is (update - warm_up - 1) / (steps - warm_up - 1): 0 one update too late.",
        lambda i, w, s, r: (i - w - 1) / max(s - w - 1, 1),
    ),
    Way(
        "`done` is divided by one update more, so that it stops short of 1.",
        lambda i, w, s, r: (i - w) / (s - w + 1),
    ),
    rare("`done` is rounded down (`//`).", lambda i, w, s, r: (i - w) // (s - w)),
    Way("`done` is the number of updates behind, not a share of them.", lambda i, w, s, r: i - w),
    rare("`done` is the number of the update.", lambda i, w, s, r: i),
    rare(
        "`done` is multiplied by the steps that are left; it should be divided.",
        lambda i, w, s, r: (i - w) * (s - w),
    ),
    rare(
        "In `done` above and below the fraction bar have changed places.",
        lambda i, w, s, r: (s - w) / (i - w),
    ),
    rare(
        "In `done` warm_up is added above the fraction bar; it should be taken off.",
        lambda i, w, s, r: (i + w) / (s - w),
    ),
    rare("In `done` warm_up is a factor above the fraction bar.", lambda i, w, s, r: i * w / (s - w)),
    Way(
        "In `done` warm_up is added below the fraction bar; it should be taken off.",
        lambda i, w, s, r: (i - w) / (s + w),
    ),
    rare("In `done` warm_up is a factor below the fraction bar.", lambda i, w, s, r: (i - w) / (s * w)),
    rare("`done` is divided by warm_up.", lambda i, w, s, r: (i - w) / w),
    rare("In `done` the rise stands for the number of the update.", lambda i, w, s, r: (r - w) / (s - w)),
    rare("In `done` steps stands for warm_up above the fraction bar.", lambda i, w, s, r: (i - s) / (s - w)),
    rare(
        "In `done` the rise is taken off above the fraction bar, not warm_up.",
        lambda i, w, s, r: (i - r) / (s - w),
    ),
    rare("In `done` the number of the update stands for steps.", lambda i, w, s, r: (i - w) / (i - w)),
    rare("In `done` the rise stands for steps.", lambda i, w, s, r: (i - w) / (r - w)),
    rare(
        "In `done` the rise is taken off below the fraction bar, not warm_up.",
        lambda i, w, s, r: (i - w) / (s - r),
    ),
    rare(
        "In `done` the number of the update is taken off below the fraction bar.",
        lambda i, w, s, r: (i - w) / (s - i),
    ),
    rare("`done` is divided by half of the steps.", lambda i, w, s, r: (i - w) / (s / 2)),
    rare(
        "`done` runs twice as fast, and stops at 1.", lambda i, w, s, r: (2 * (i - w) / (s - w)).clamp(max=1)
    ),
    rare(
        "`done` is counted from the first update: (update - 1) / (steps - 1).",
        lambda i, w, s, r: (i - 1) / (s - 1),
    ),
)


def _cosine(d: Tensor) -> Tensor:
    return torch.cos(math.pi * d)


FALLS = (
    Way("The half is missing: the fall starts at 2.", lambda d, i, w, s: 1 + _cosine(d)),
    Way(
        "The 1 beside the cosine is missing: the fall starts at 0.5 and goes below 0.",
        lambda d, i, w, s: 0.5 * _cosine(d),
    ),
    Way("The bare cosine runs from 1 to -1.", lambda d, i, w, s: _cosine(d)),
    Way(
        "The rate rises where it should fall: 1 minus the cosine, or `done` counted from the end.",
        lambda d, i, w, s: 0.5 * (1 - _cosine(d)),
    ),
    rare("A sine stands for the cosine.", lambda d, i, w, s: 0.5 * (1 + torch.sin(math.pi * d))),
    Way(
        "π is missing: the cosine is taken of the share itself.", lambda d, i, w, s: 0.5 * (1 + torch.cos(d))
    ),
    Way(
        "The cosine is taken of a whole turn, 2π.", lambda d, i, w, s: 0.5 * (1 + torch.cos(2 * math.pi * d))
    ),
    rare("The cosine is taken of a quarter turn, π/2.", lambda d, i, w, s: torch.cos(0.5 * math.pi * d)),
    rare(
        "The cosine is taken of a quarter turn, π/2.",
        lambda d, i, w, s: 0.5 * (1 + torch.cos(0.5 * math.pi * d)),
    ),
    Way(
        "The cosine is given degrees (180). It takes radians (π).",
        lambda d, i, w, s: 0.5 * (1 + torch.cos(180 * d)),
    ),
    Way("Only the cosine is halved, not the 1 beside it.", lambda d, i, w, s: 1 + _cosine(d) / 2),
    rare("Only the 1 is halved, not the cosine beside it.", lambda d, i, w, s: 0.5 + _cosine(d)),
    Way("The fall is a straight line.", lambda d, i, w, s: 1 - d),
    rare("The fall is a square of what is left.", lambda d, i, w, s: (1 - d) ** 2),
    Way("The cosine is missing: this is the share that is done.", lambda d, i, w, s: d),
    rare(
        "The cosine itself is missing: 1 plus π times the share, halved.",
        lambda d, i, w, s: 0.5 * (1 + math.pi * d),
    ),
    Way("The rate does not fall: it stays at 1.", lambda d, i, w, s: torch.ones_like(d)),
    rare("The rate drops to 0 at once.", lambda d, i, w, s: torch.zeros_like(d)),
    rare("After the warm-up the rate stays at 0.5.", lambda d, i, w, s: torch.full_like(d, 0.5)),
    Way("The rise goes on beyond warm_up.", lambda d, i, w, s: i / w),
    rare(
        "The fall is the root of warm_up / update, as in the 2017 paper.", lambda d, i, w, s: (w / i) ** 0.5
    ),
    Way("The fall is 1 over the root of the update, as in the 2017 paper.", lambda d, i, w, s: i**-0.5),
    rare("The fall is warm_up / update.", lambda d, i, w, s: w / i),
    rare("The fall is exponential.", lambda d, i, w, s: torch.exp(-d)),
    rare("The rate stops at 0.1, not at 0.", lambda d, i, w, s: 0.1 + 0.45 * (1 + _cosine(d))),
    rare(
        "The fall is halved once too often: it starts at 0.5.",
        lambda d, i, w, s: 0.25 * (1 + _cosine(d)),
    ),
    rare("The factor of the fall is 1.5; it should be 0.5.", lambda d, i, w, s: 1.5 * (1 + _cosine(d))),
    rare("The factor of the fall is -0.5; it should be 0.5.", lambda d, i, w, s: -0.5 * (1 + _cosine(d))),
    rare("0.5 is added to the fall; it should multiply it.", lambda d, i, w, s: 1.5 + _cosine(d)),
    rare("2 is added to the cosine; it should be 1.", lambda d, i, w, s: 0.5 * (2 + _cosine(d))),
    rare("1 is taken off the cosine; it should be added.", lambda d, i, w, s: 0.5 * (_cosine(d) - 1)),
    rare(
        "π is added to the share; it should multiply it.",
        lambda d, i, w, s: 0.5 * (1 + torch.cos(math.pi + d)),
    ),
    rare(
        "π is divided by the share; it should multiply it.",
        lambda d, i, w, s: 0.5 * (1 + torch.cos(math.pi / d)),
    ),
    rare(
        "The cosine is taken of the number of the update.",
        lambda d, i, w, s: 0.5 * (1 + torch.cos(math.pi * i)),
    ),
    rare("The cosine is taken of the rise.", lambda d, i, w, s: 0.5 * (1 + torch.cos(math.pi * i / w))),
    rare("After the warm-up the rate is the number of steps.", lambda d, i, w, s: torch.full_like(d, s)),
    rare("After the warm-up the rate is warm_up itself.", lambda d, i, w, s: torch.full_like(d, w)),
    rare("After the warm-up the rate is the number of the update.", lambda d, i, w, s: i),
)


_WHERE = "The two pieces change over elsewhere than at update warm_up"


TURNS = (
    Way(
        "The pieces have changed places: the fall stands in the warm-up, the rise behind it.",
        lambda i, w, s, r, d, f: i > w,
    ),
    Way(
        "The pieces have changed places: the fall stands before update warm_up, the rise from there on.",
        lambda i, w, s, r, d, f: i >= w,
    ),
    Way(f"{_WHERE}: the rise goes on for one more.", lambda i, w, s, r, d, f: i <= w + 1),
    Way(f"{_WHERE}: the rise ends early.", lambda i, w, s, r, d, f: i < w - 1),
    Way("The rise never ends: there is no fall.", lambda i, w, s, r, d, f: i <= s),
    Way("There is no rise: the fall stands everywhere.", lambda i, w, s, r, d, f: i < 0),
    rare(
        f"{_WHERE}: the rise is compared with warm_up, not the number of the update.",
        lambda i, w, s, r, d, f: r <= w,
    ),
    rare(
        f"{_WHERE}: `done` is compared with warm_up, not the number of the update.",
        lambda i, w, s, r, d, f: d <= w,
    ),
    rare(
        f"{_WHERE}: the fall is compared with warm_up, not the number of the update.",
        lambda i, w, s, r, d, f: f <= w,
    ),
    rare(f"{_WHERE}: the number of the update is compared with the rise.", lambda i, w, s, r, d, f: i <= r),
    rare(f"{_WHERE}: the number of the update is compared with `done`.", lambda i, w, s, r, d, f: i <= d),
    rare(f"{_WHERE}: the number of the update is compared with the fall.", lambda i, w, s, r, d, f: i <= f),
    rare(f"{_WHERE}: in the middle of all steps.", lambda i, w, s, r, d, f: i <= s / 2),
)


CHOICES = (
    Way(
        "Rise and fall are multiplied everywhere; each stands alone in its part.", lambda c, r, f, i, d: r * f
    ),
    Way(
        "The rise, up to 1, and the fall are multiplied everywhere.", lambda c, r, f, i, d: r.clamp(max=1) * f
    ),
    Way("The smaller of rise and fall is taken everywhere.", lambda c, r, f, i, d: torch.minimum(r, f)),
    rare("The larger of rise and fall is taken everywhere.", lambda c, r, f, i, d: torch.maximum(r, f)),
    rare("Rise and fall are added everywhere.", lambda c, r, f, i, d: r + f),
    rare("In the warm-up stands `done`, not the rise.", lambda c, r, f, i, d: torch.where(c, d, f)),
    rare("In the warm-up stands the fall as well.", lambda c, r, f, i, d: f),
    rare("After the warm-up stands `done`, not the fall.", lambda c, r, f, i, d: torch.where(c, r, d)),
)


COUNTS = (
    Way("Updates are counted from 0.", lambda s: torch.arange(s)),
    Way("Updates are counted from 2.", lambda s: torch.arange(2, s + 2)),
)
GIVEN = (
    rare(
        "Everything is right for a warm-up of one update more.", lambda steps, warm_up: (steps, warm_up + 1)
    ),
    rare(
        "Everything is right for a warm-up of one update less.", lambda steps, warm_up: (steps, warm_up - 1)
    ),
    rare("Everything is right for one update more in all.", lambda steps, warm_up: (steps + 1, warm_up)),
    rare("Everything is right for one update less in all.", lambda steps, warm_up: (steps - 1, warm_up)),
)
