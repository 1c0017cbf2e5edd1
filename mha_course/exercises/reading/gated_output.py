"""What wrong gated outputs hold: the gates, what they meet, concat, W_O, and what comes after."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_gated_output import (
    GATED_OUTPUT_MISTAKES,
    gated_output_with,
    in_turn,
)
from mha_course.exercises.mistakes.workbench import merge
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_GATES = (
    Way("Gates above 0.1 count as 1.", lambda g: (g > 0.1).to(g.dtype)),
    Way("A gate counts as 1 only where it is exactly 1.", lambda g: (g >= 1).to(g.dtype)),
    Way("Heads are divided by the largest gate, too.", lambda g: g / g.max()),
    Way("The gates' root is taken.", lambda g: g.sqrt()),
    Way("The gates go into the result with a minus.", lambda g: -g),
    Way("1 is added to every gate, so that none closes.", lambda g: 1 + g),
    rare("The gates are cubed.", lambda g: g**3),
    rare("Gates go to the head after: they are moved on by one.", lambda g: g.roll(1)),
    rare("Gates go to the head before: they are moved back by one.", lambda g: g.roll(-1)),
    rare("Every head gets the first gate.", lambda g: g[:1].expand_as(g)),
    rare("Every head gets the last gate.", lambda g: g[-1:].expand_as(g)),
    rare("Every head is multiplied by the sum of all gates.", lambda g: g.sum().expand_as(g)),
    rare("Every head is multiplied by the largest gate.", lambda g: g.max().expand_as(g)),
    rare("The exponential of the gates is taken.", lambda g: g.exp()),
    rare("The gates are sorted.", lambda g: g.sort().values),
    rare("Closed heads speak, and all others are silent.", lambda g: (g == 0).to(g.dtype)),
    rare("Gates are doubled.", lambda g: 2 * g),
    rare("The tanh of the gates is taken.", lambda g: g.tanh()),
    rare("Gates are divided by their norm.", lambda g: g / g.norm()),
    rare("Gates are divided by their mean.", lambda g: g / g.mean()),
)
_SCALES = (
    rare("Gates are subtracted from the heads.", lambda heads, g: heads - g[:, None, None]),
    rare("Heads are subtracted from the gates.", lambda heads, g: g[:, None, None] - heads),
    rare("Heads are divided by their gates.", lambda heads, g: heads / g[:, None, None]),
    rare("Gates are divided by the heads.", lambda heads, g: g[:, None, None] / heads),
    rare(
        "Only the gates are there: the heads are missing.", lambda heads, g: g[:, None, None].expand_as(heads)
    ),
    rare("Heads are multiplied by themselves.", lambda heads, g: heads * heads),
    rare(
        "Closed heads are at their mean over tokens, not at 0.",
        lambda heads, g: g[:, None, None] * heads + (1 - g[:, None, None]) * heads.mean(2, keepdim=True),
    ),
)


def _summed(heads: Tensor) -> Tensor:
    return heads.sum(1).repeat(1, 1, heads.shape[1])


_JOINS = (
    rare("In concat the heads stand in reverse order.", lambda heads: merge(heads.flip(1))),
    rare("The heads are added up before W_O.", _summed),
    rare("The heads are averaged before W_O.", lambda heads: _summed(heads) / heads.shape[1]),
    rare(
        "Tokens and features have changed places before concat.",
        lambda heads: heads.transpose(2, 3).reshape(heads.shape[0], heads.shape[2], -1),
    ),
    rare("The tokens of each head are in reverse order.", lambda heads: merge(heads.flip(2))),
    rare("Of the heads only the first sentence is there.", lambda heads: merge(heads[:1].expand_as(heads))),
)
_BEHIND = (
    Way("The gates take turns, feature by feature, behind concat: each is used twice.", in_turn),
    rare("Concat is multiplied by the mean gate, too.", lambda concat, g: concat * g.mean()),
    rare(
        "Gates work on the heads and once more, behind concat, on their features.",
        lambda concat, g: concat * g.repeat_interleave(concat.shape[-1] // len(g)),
    ),
)
_FUSES = (
    rare("W_O's rows are in reverse order.", lambda concat, w_o: concat @ w_o.flip(0)),
    rare("W_O's columns are in reverse order.", lambda concat, w_o: concat @ w_o.flip(1)),
    rare("The absolute values of W_O are taken.", lambda concat, w_o: concat @ w_o.abs()),
    rare(
        "The features of each row of W_O are added up.", lambda concat, w_o: concat @ w_o.sum(1, keepdim=True)
    ),
)
_FINISHES = (
    Way("The result is divided by the sum of the gates.", lambda y, g: y / g.sum()),
    Way("The result is divided by how many gates are open.", lambda y, g: y / (g > 0).sum()),
    Way("The result is divided by the number of heads.", lambda y, g: y / len(g)),
    Way("The result is multiplied by the mean gate as well.", lambda y, g: y * g.mean()),
    rare("The result is multiplied by the sum of the gates.", lambda y, g: y * g.sum()),
    rare("The result is divided by the share of open gates.", lambda y, g: y / (g > 0).to(y.dtype).mean()),
    rare("The tokens are averaged.", lambda y, g: y.mean(1, keepdim=True).expand_as(y)),
    rare("The sentences are averaged.", lambda y, g: y.mean(0, keepdim=True).expand_as(y)),
    rare("The tokens are in reverse order.", lambda y, g: y.flip(1)),
    rare("What is below 0 is set to 0.", lambda y, g: y.relu()),
    rare("The absolute value is taken.", lambda y, g: y.abs()),
    rare("A softmax is taken of the result.", lambda y, g: y.softmax(-1)),
    rare("A sigmoid is taken of the result.", lambda y, g: y.sigmoid()),
    rare("The mean of each token's features is subtracted.", lambda y, g: y - y.mean(-1, keepdim=True)),
)
_KNOWN = functools.partial(ways_of, GATED_OUTPUT_MISTAKES)


@functools.cache
def _more() -> tuple[tuple[Tensor, Tensor, Tensor], ...]:
    """Heads and gates of other sizes than in the cases."""
    g = torch.Generator().manual_seed(53)
    drawn = []
    for b, h, n, d_v, d_model in ((2, 4, 3, 5, 6), (3, 5, 2, 4, 20)):
        gates = torch.rand(h, generator=g)
        gates[1] = 0.0
        heads = torch.randn(b, h, n, d_v, generator=g)
        drawn.append((heads, torch.randn(h * d_v, d_model, generator=g), gates))
    return tuple(drawn)


GATED_OUTPUT = Recipe(
    gated_output_with,
    (
        Slot("gate", "what is done with the gates first.", (*_KNOWN("gate"), *_GATES)),
        Slot("scale", "where heads and gates meet.", (*_KNOWN("scale"), *_SCALES)),
        Slot("join", "concat.", (*_KNOWN("join"), *_JOINS)),
        Slot("behind", "what is done with concat.", _BEHIND),
        Slot("fuse", "the product with W_O.", (*_KNOWN("fuse"), *_FUSES)),
        Slot("finish", "the last step.", (*_KNOWN("finish"), *_FINISHES)),
    ),
    _more,
)
