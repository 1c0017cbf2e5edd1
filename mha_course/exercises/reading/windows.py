"""What wrong windows over features hold: steps done otherwise; else what stands in one head's row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.of_windows import WINDOW_MISTAKES, around, windows_with, zeros
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, of_the_whole, rare
from mha_course.exercises.reading.slid_windows import read_slid

_REACHES = (
    Way("The windows reach one feature too far on either side.", lambda o, own: o + 1),
    Way("The windows reach one feature less than they should on either side.", lambda o, own: o - 1),
    Way("The windows reach twice as far as they should.", lambda o, own: 2 * o),
    rare("The windows reach over the whole neighbour, whatever `overlap` says.", lambda o, own: own),
    rare("The windows reach own - overlap features to either side.", lambda o, own: own - o),
    rare("The windows reach one feature to either side, whatever `overlap` says.", lambda o, own: 1),
)
_READS = (
    Way("The window lacks its last feature.", lambda s, own, o: around(s, own, o)[:-1]),
    Way("The window lacks its first feature.", lambda s, own, o: around(s, own, o)[1:]),
    Way("The features of each window are in reverse order.", lambda s, own, o: around(s, own, o)[::-1]),
    rare("There is one feature more at the end.", lambda s, own, o: [*around(s, own, o), s + own + o]),
    rare("The head's own features come last.", lambda s, own, o: _own_last(s, own, o)),
    rare(
        "The neighbours' features come first, the right one's before the left one's.",
        lambda s, own, o: [*range(s + own, s + own + o), *range(s - o, s), *range(s, s + own)],
    ),
    rare("The neighbours' features are read from outside in.", lambda s, own, o: _mirrored(s, own, o)),
    rare(
        "The head's own edge is repeated in place of the neighbours' features.",
        lambda s, own, o: [*([s] * o), *range(s, s + own), *([s + own - 1] * o)],
    ),
    rare(
        "The head's own edges are reflected in place of the neighbours' features.",
        lambda s, own, o: [*range(s, s + o), *range(s, s + own), *range(s + own - o, s + own)],
    ),
    rare(
        "Where the neighbours' features should stand, there are zeros.",
        lambda s, own, o: [*([-1] * o), *range(s, s + own), *([-1] * o)],
    ),
    rare(
        "The left neighbour's first features are read; its last ones are next to the head's own.",
        lambda s, own, o: [*range(s - own, s - own + o), *range(s, s + own + o)],
    ),
    rare(
        "The right neighbour's last features are read; its first ones are next to the head's own.",
        lambda s, own, o: [*range(s - o, s + own), *range(s + 2 * own - o, s + 2 * own)],
    ),
)
_STARTS = (
    rare("The heads are in reverse order.", lambda h, own, o: [i * own for i in range(h)][::-1]),
    rare("The last head is missing.", lambda h, own, o: [i * own for i in range(h - 1)]),
    rare(
        "Only the heads with two neighbours are there.", lambda h, own, o: [i * own for i in range(1, h - 1)]
    ),
    rare("Every head has the window of head 1.", lambda h, own, o: [0] * h),
    rare("There is a window for every feature.", lambda h, own, o: list(range(h * own))),
    rare("Windows are one feature apart.", lambda h, own, o: list(range(h))),
    rare("Windows are own + overlap apart.", lambda h, own, o: [i * (own + o) for i in range(h)]),
    rare("Windows are own - overlap apart.", lambda h, own, o: [i * (own - o) for i in range(h)]),
    rare("Windows are own - 2 * overlap apart.", lambda h, own, o: [i * (own - 2 * o) for i in range(h)]),
    rare("Windows are shifted by a whole head.", lambda h, own, o: [(i + 1) * own for i in range(h)]),
    rare("Windows are shifted by a whole head.", lambda h, own, o: [(i - 1) * own for i in range(h)]),
    rare("Windows are shifted by `overlap`.", lambda h, own, o: [i * own - o for i in range(h)]),
    rare("There are as many windows as features in a head.", lambda h, own, o: [i * own for i in range(own)]),
    rare(
        "Features are dealt to the heads in turn before windows are cut.",
        lambda h, own, o: list(range(h)),
    ),
)
_ENDS = (
    Way("Where there is no neighbour the features are reflected.", lambda p, d: _reflected(p, d)),
    rare(
        "Where there is no neighbour the first feature stands.",
        lambda p, d: torch.where(zeros(p, d) == d, 0, p),
    ),
    rare(
        "Where there is no neighbour on the left, it goes round to the last head.",
        lambda p, d: torch.where(p < 0, p % d, zeros(p, d)),
    ),
    rare(
        "Where there is no neighbour on the right, it goes round to the first head.",
        lambda p, d: torch.where(p >= d, p % d, zeros(p, d)),
    ),
    rare("On the left the outermost feature is repeated.", lambda p, d: zeros(p.clamp(min=0), d)),
    rare("On the right the outermost feature is repeated.", lambda p, d: zeros(p.clamp(max=d - 1), d)),
)
_FINISHES = (
    Way("The last two axes have changed places.", lambda w, x: w.mT),
    Way("Windows are put side by side, (b, n, h * width).", lambda w, x: w.transpose(1, 2).flatten(2)),
    rare("Heads come first, sentences second.", lambda w, x: w.transpose(0, 1)),
    rare("Heads and sentences are one axis.", lambda w, x: w.flatten(0, 1)),
    rare("Heads and tokens are one axis.", lambda w, x: w.flatten(1, 2)),
    rare("The tokens are in reverse order.", lambda w, x: w.flip(2)),
    rare("The sentences are in reverse order.", lambda w, x: w.flip(0)),
    rare("The windows are added up.", lambda w, x: w.sum(1)),
    rare("Only the first window comes back.", lambda w, x: w[:, 0]),
    rare("Each window is divided by the root of its width.", lambda w, x: w / w.shape[-1] ** 0.5),
    rare("The features stand in front of the heads.", lambda w, x: w.permute(0, 3, 2, 1)),
)
_WHOLES = (
    rare("Only zeros were added; no windows are cut.", lambda x, h, o: F.pad(x, (o, o))),
    rare(
        "Zeros are added around the tokens, not around the features.", lambda x, h, o: _padded_tokens(x, h, o)
    ),
    rare("`x` is cut into heads; there are no windows.", lambda x, h, o: x.unflatten(-1, (h, -1))),
    rare(
        "Features are dealt to the heads in turn, and each head gets zeros around.",
        lambda x, h, o: F.pad(x.unflatten(-1, (-1, h)).movedim(-1, 1), (o, o)),
    ),
)


def _own_last(s: int, own: int, o: int) -> list[int]:
    near = around(s, own, o)
    return [*near[:o], *near[o + own :], *near[o : o + own]]


def _mirrored(s: int, own: int, o: int) -> list[int]:
    near = around(s, own, o)
    return [*near[:o][::-1], *near[o : o + own], *near[o + own :][::-1]]


def _reflected(places: Tensor, d: int) -> Tensor:
    inside = places.abs()
    return torch.where(inside >= d, 2 * d - 2 - inside, inside)


def _padded_tokens(x: Tensor, h: int, o: int) -> Tensor:
    return F.pad(x.unflatten(-1, (h, -1)).transpose(1, 2), (0, 0, o, o))


def _slot(name: str, look: str, ways: tuple[Way, ...]) -> Slot:
    return Slot(name, look, (*ways_of(WINDOW_MISTAKES, name), *ways))


_RECIPE = Recipe(
    windows_with,
    (
        _slot("reach", "how far a window reaches.", _REACHES),
        _slot("reads", "the features of a window, and their order.", _READS),
        _slot("starts", "the step from one window to the next.", _STARTS),
        _slot("ends", "what stands where there is no neighbour.", _ENDS),
        _slot("finish", "the order of the axes.", _FINISHES),
        _slot("whole", "the axis along which windows slide.", _WHOLES),
    ),
)


def read_windows(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The steps done otherwise where they are known; else what a head's first row holds."""
    found = _RECIPE.read(evidence, i, call) or read_slid(evidence, i)
    if found:
        return found
    x, h, _ = evidence.cases[i].arguments
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    if have.ndim != 4 or have.shape[:3] != want.shape[:3] or of_the_whole(evidence, i):
        return None
    if have.shape[3] != want.shape[3]:
        says = f"The windows are {have.shape[3]} features wide, not {want.shape[3]}. Head 1 holds "
        says += f"{_held(x, have[0, 0, 0])}; it should hold {_held(x, want[0, 0, 0])}."
        return Finding("other-width", says, look="where a window starts and ends.")
    head = next(head for head in range(h) if not close(want[:, head], have[:, head]))
    says = f"Head {head + 1}, first token: the window holds {_held(x, have[0, head, 0])}. It should hold "
    says += f"{_held(x, want[0, head, 0])}."
    return Finding("other-features", says, look="which features are put together for each head.")


def _held(x: Tensor, row: Tensor) -> str:
    """What stands in a window, feature by feature: numbers say where they come from."""
    d, names = x.shape[-1], []
    for value in row.tolist():
        place = round(value) - 1
        if value == 0:
            names.append("zero")
        elif abs(value - 1 - place) > 1e-3 or not 0 <= place < x.numel():
            names.append("no number of `x`")
        elif place < d:
            names.append(f"feature {place}")
        else:
            names.append(f"feature {place % d} of another token")
    shown = names[:9] + (["..."] if len(names) > 9 else [])
    return ", ".join(shown) if shown else "nothing"
