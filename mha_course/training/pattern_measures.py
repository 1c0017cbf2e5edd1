"""What a head's maps look like, whatever they are for: how much on itself, how near zero, how alike.

Every number is a mean over the words that look (the rows of the maps), so that each word counts alike.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.layers import AttentionTrace
from mha_course.models.gloss_model import GlossModel

HUNDREDTH = 0.01
TENTH_OF_EVEN = 0.1  # of 1/n, what looking evenly would give
SHORTEST = 2  # words; a sentence of one word has nowhere else to look


@dataclass(frozen=True, eq=False)
class Patterns:
    """One number for each head, (layers, heads); all but `apart` lie between 0 and 1.

    self_weight: weight on the word itself. self_share, previous_share, next_share: words whose largest weight
    lies on the word itself, on the word before, on the word after; for the last two the word's own weight is
    left out first, and words without such a neighbour aren't asked. previous_weight, next_weight: weight on
    the neighbours, of the words that have one. below_hundredth: share of the weights under 0.01;
    below_tenth_of_even: under 1/(10 n). spread: entropy over log n. confidence: the largest weight. apart:
    the mean Jensen-Shannon divergence from the other heads of the layer, in nats (0 to 0.69), nan for a
    single head. chance: 1/n, the mean over the words, for `self_share` and `self_weight`.
    """

    self_weight: Tensor
    self_share: Tensor
    previous_share: Tensor
    next_share: Tensor
    previous_weight: Tensor
    next_weight: Tensor
    below_hundredth: Tensor
    below_tenth_of_even: Tensor
    spread: Tensor
    confidence: Tensor
    apart: Tensor
    chance: float


def measure_patterns(maps: Sequence[Tensor]) -> Patterns:
    """Measure all heads of a model.

    maps: tensors (b, layers, heads, n, n), rows are queries; n may differ between them, and so may b.
    Raises: ValueError for no maps, and for sentences of a single word.
    Source: Clark et al. 2019, sections 3 and 6 (weight on the current and neighbouring token, entropy,
    Jensen-Shannon divergence between heads).
    """
    if not maps:
        raise ValueError("there are no maps to measure.")
    if short := [m.shape[-1] for m in maps if m.shape[-1] < SHORTEST]:
        raise ValueError(f"a sentence of {short[0]} word has no other word to look at.")
    sums: dict[str, Tensor | float] = defaultdict(float)
    rows = pairs = sentences = 0
    for w in maps:
        b, n = w.shape[0], w.shape[-1]
        rows, pairs, sentences = rows + b * n, pairs + b * (n - 1), sentences + b
        for name, value in _summed(w.double()).items():
            sums[name] = sums[name] + value
    of_pairs = {"previous_share", "next_share", "previous_weight", "next_weight"}
    means = {name: (value / (pairs if name in of_pairs else rows)).float() for name, value in sums.items()}
    return Patterns(**means, chance=sentences / rows)


@torch.no_grad()
def maps_of(model: GlossModel, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], Tensor]]:
    """The maps of a model, sentences of one length together: their places in the list, and
    (b, layers, heads, n, n)."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for i, words in enumerate(sentences):
        by_length[len(words)].append(i)
    for places in by_length.values():
        kept: list[AttentionTrace] = []
        model(torch.tensor([model.vocabulary.encode(sentences[i]) for i in places]), kept)
        yield places, torch.stack([trace.weights for trace in kept], dim=1)


def _summed(w: Tensor) -> dict[str, Tensor]:
    """w (b, layers, heads, n, n) -> for each measure its sum over sentences and rows, (layers, heads)."""
    n = w.shape[-1]
    own = w.diagonal(dim1=-2, dim2=-1)
    best = w.argmax(-1)
    elsewhere = w.masked_fill(torch.eye(n, dtype=torch.bool), -1.0).argmax(-1)
    at = torch.arange(n)
    entropy = -torch.special.xlogy(w, w).sum(-1)
    by_row = {
        "self_weight": own,
        "self_share": best == at,
        "previous_share": (elsewhere == at - 1)[..., 1:],
        "next_share": (elsewhere == at + 1)[..., :-1],
        "previous_weight": w.diagonal(-1, dim1=-2, dim2=-1),
        "next_weight": w.diagonal(1, dim1=-2, dim2=-1),
        "below_hundredth": (w < HUNDREDTH).double().mean(-1),
        "below_tenth_of_even": (w < TENTH_OF_EVEN / n).double().mean(-1),
        "spread": entropy / math.log(n),
        "confidence": w.amax(-1),
        "apart": _apart(w, entropy),
    }
    return {name: value.double().sum((0, -1)) for name, value in by_row.items()}


def _apart(w: Tensor, entropy: Tensor) -> Tensor:
    """For each head and row the mean divergence from the other heads of the layer, (b, layers, heads, n)."""
    heads = w.shape[2]
    if heads == 1:
        return torch.full_like(entropy, torch.nan)
    total = torch.zeros_like(entropy)
    for other in range(1, heads):  # every head against the one `other` places on, round and round
        middle = (w + w.roll(other, dims=2)) / 2
        mixed = -torch.special.xlogy(middle, middle).sum(-1)
        total += mixed - (entropy + entropy.roll(other, dims=2)) / 2
    return (total / (heads - 1)).clamp(min=0)
