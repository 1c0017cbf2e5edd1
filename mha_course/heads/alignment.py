"""Cross-attention against the right alignment: for each head how often its largest weight is on the word
that the written one stands for, beside what rules without any attention would hit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

SHIFTS = tuple(range(-6, 7))


@dataclass(frozen=True, eq=False)
class AlignmentScores:
    """Shares of rows whose answer is right.

    heads: (layers, heads). offset: of the best rule "source place = target place + k". shift: that k.
    diagonal: of the rule that stretches the target evenly over the source. chance: of any word at random.
    asked: how many rows there were.
    """

    heads: Tensor
    offset: float
    shift: int
    diagonal: float
    chance: float
    asked: int

    def best(self) -> tuple[int, int]:
        """Layer and head, both from 0, with the highest share."""
        return divmod(int(self.heads.argmax()), self.heads.shape[1])


def score_alignment(
    weights: Iterable[Tensor], aligned: Sequence[Sequence[int]], lengths: Sequence[int]
) -> AlignmentScores:
    """Ask every head about every word of every translation.

    weights: for each pair (layers, heads, n_q, n_k), of which the first len(aligned) rows count. aligned:
    for each pair the source place of every word. lengths: n_k of each pair, without padding.

    Raises: ValueError when there are no rows, and when the lists are not equally long.
    """
    hits, rules, even, chance, asked = 0.0, torch.zeros(len(SHIFTS)), 0.0, 0.0, 0
    for w, gold, n_k in zip(weights, aligned, lengths, strict=True):
        places = torch.tensor(gold)
        rows = torch.arange(len(gold))
        hits = hits + (w[:, :, : len(gold), :n_k].argmax(-1) == places).sum(-1)
        rules += (rows + torch.tensor(SHIFTS)[:, None] == places).sum(-1)
        even += int(((rows * (n_k - 1) / max(1, len(gold) - 1)).round() == places).sum())
        chance += len(gold) / n_k
        asked += len(gold)
    if not asked:
        raise ValueError("there is no word to ask about.")
    best = int(rules.argmax())
    return AlignmentScores(
        hits / asked, float(rules[best]) / asked, SHIFTS[best], even / asked, chance / asked, asked
    )
