"""Known mistakes of `overlapping_windows`: which features a window holds, what stands at the ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]
Places = list[int]


def around(start: int, own: int, overlap: int) -> Places:
    """Own features and `overlap` on either side; places outside of x stand for zeros."""
    return list(range(start - overlap, start + own + overlap))


def zeros(places: Tensor, d: int) -> Tensor:
    """Places outside of x become place d, where a zero stands."""
    return torch.where((places < 0) | (places >= d), d, places)


def windows_with(
    x: Tensor,
    h: int,
    overlap: int,
    *,
    reach: Step = lambda overlap, own: overlap,
    reads: Step = around,
    starts: Step = lambda h, own, overlap: [i * own for i in range(h)],
    ends: Step = zeros,
    finish: Step = lambda windows, x: windows,
    whole: Step | None = None,
) -> Tensor:
    """Windows over the features with the steps given; right without any: (b, h, n, width)."""
    if whole is not None:
        return whole(x, h, overlap)
    d = x.shape[-1]
    own = d // h
    overlap = reach(overlap, own)
    places = torch.tensor([reads(start, own, overlap) for start in starts(h, own, overlap)])
    return finish(F.pad(x, (0, 1))[..., ends(places, d)].transpose(1, 2), x)


def _own_first(start: int, own: int, overlap: int) -> Places:
    near = around(start, own, overlap)
    return [*near[overlap : overlap + own], *near[:overlap], *near[overlap + own :]]


def _far_ends(start: int, own: int, overlap: int) -> Places:
    """The far features of the neighbours: the first ones of the left, the last ones of the right."""
    left, right = start - own, start + own
    return [
        *range(left, left + overlap),
        *range(start, start + own),
        *range(right + own - overlap, right + own),
    ]


def _sides_exchanged(start: int, own: int, overlap: int) -> Places:
    near = around(start, own, overlap)
    return [*near[overlap + own :], *near[overlap : overlap + own], *near[:overlap]]


def _tokens(x: Tensor, h: int, overlap: int) -> Tensor:
    """Windows over tokens: each head's own features of a token and of `overlap` tokens on either side."""
    padded = F.pad(x.unflatten(-1, (h, -1)).transpose(1, 2), (0, 0, overlap, overlap))
    return padded.unfold(2, 2 * overlap + 1, 1).flatten(-2)


def _cut_straight(x: Tensor, h: int, overlap: int) -> Tensor:
    right = windows_with(x, h, overlap).transpose(1, 2)
    return right.reshape(len(x), h, x.shape[1], -1)


_with = partial(Otherwise, windows_with)
_NO_NEIGHBOUR = "Zeros should stand there: heads stand in a row, not in a ring."

WINDOW_MISTAKES = (
    Mistake(
        "in-a-ring",
        _with(ends=lambda places, d: places % d),
        f"The first head reads features of the last one, and the other way round. {_NO_NEIGHBOUR}",
        "what stands where there is no neighbour. (`roll` and negative indices go round.)",
    ),
    Mistake(
        "edge-repeated",
        _with(ends=lambda places, d: places.clamp(0, d - 1)),
        "Where there is no neighbour the outermost feature is repeated. Zeros should stand there.",
        "what stands where there is no neighbour.",
    ),
    Mistake(
        "pushed-inside",
        _with(ends=lambda places, d: places + (-places[:, :1]).clamp(0) - (places[:, -1:] - d + 1).clamp(0)),
        "The windows of the first and the last head are pushed inside, where there are features. Zeros "
        "should stand where there is no neighbour, so that every head's own features keep their place.",
        "what happens at the two ends.",
    ),
    Mistake(
        "left-side-only",
        _with(reads=lambda start, own, o: around(start, own, o)[: own + o]),
        "Each head reads from its left neighbour only. There is one on the right as well.",
        "the end of a window.",
    ),
    Mistake(
        "right-side-only",
        _with(reads=lambda start, own, o: around(start, own, o)[o:]),
        "Each head reads from its right neighbour only. There is one on the left as well.",
        "the start of a window.",
    ),
    Mistake(
        "all-from-the-right",
        _with(reads=lambda start, own, o: list(range(start, start + own + 2 * o))),
        "All the features more come from the right: windows start at the head's own first feature. Half of "
        "them should come from the left.",
        "the start of a window.",
    ),
    Mistake(
        "all-from-the-left",
        _with(reads=lambda start, own, o: list(range(start - 2 * o, start + own))),
        "All the features more come from the left. Half of them should come from the right.",
        "the start of a window.",
    ),
    Mistake(
        "own-features-first",
        _with(reads=_own_first),
        "The head's own features come first, those of its neighbours behind them. They should stand in the "
        "order of `x`, so that W_O meets the same feature at the same place.",
        "the order in which the parts are put together.",
    ),
    Mistake(
        "far-ends",
        _with(reads=_far_ends),
        "The neighbours' far features are read: the first ones of the left neighbour, the last ones of the "
        "right. The features next to the head's own are wanted.",
        "the slices that are taken from the neighbours.",
    ),
    Mistake(
        "sides-exchanged",
        _with(reads=_sides_exchanged),
        "The features of the right neighbour stand on the left, and the other way round.",
        "the order in which the parts are put together.",
    ),
    Mistake(
        "no-overlap",
        _with(reads=lambda start, own, o: list(range(start, start + own))),
        "Every head has its own features only: `overlap` has no effect.",
        "where `overlap` takes part.",
    ),
    Mistake(
        "neighbours-only",
        _with(reads=lambda s, own, o: [*range(s - o, s), *range(s + own, s + own + o)]),
        "Only the neighbours' features are there; the head's own are missing.",
        "the parts of a window.",
    ),
    Mistake(
        "overlap-in-all",
        _with(reach=lambda overlap, own: overlap // 2),
        "Each window is `overlap` wider in all, half of it on either side. Wanted is `overlap` on each side.",
        "how far a window reaches.",
    ),
    Mistake(
        "windows-too-far-apart",
        _with(starts=lambda h, own, o: [i * (own + 2 * o) for i in range(h)]),
        "The windows are as far apart as they are wide, so that they don't overlap. Own features lie "
        "d_model / h apart.",
        "the step from one window to the next.",
    ),
    Mistake(
        "one-feature-early",
        _with(reads=lambda start, own, o: [place - 1 for place in around(start, own, o)]),
        "Every window starts one feature too early.",
        "the first feature of a window.",
    ),
    Mistake(
        "one-feature-late",
        _with(reads=lambda start, own, o: [place + 1 for place in around(start, own, o)]),
        "Every window starts one feature too late.",
        "the first feature of a window.",
    ),
    Mistake(
        "tokens-for-features",
        _with(whole=_tokens),
        "The windows go over tokens: neighbours in the sentence, not in the row of features.",
        "the axis along which windows slide.",
    ),
    Mistake(
        "heads-behind-tokens",
        _with(finish=lambda windows, x: windows.transpose(1, 2)),
        "Heads stand behind tokens, (b, n, h, width). Wanted is (b, h, n, width).",
        "the order of the axes.",
    ),
    Mistake(
        "cut-straight",
        _with(whole=_cut_straight),
        "The shape is right, but the heads are made of pieces of different tokens: `view` and `reshape` "
        "never move a number.",
        "how the axis of heads gets in front of that of tokens.",
    ),
)
