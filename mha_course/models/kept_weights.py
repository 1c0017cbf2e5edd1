"""Memory of the attention weights: what keeping them takes, measured, beside b h n^2 numbers by formula."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from mha_course import cost
from mha_course.layers import MultiHeadAttention
from mha_course.models.one_thread import one_thread
from mha_course.models.peak_memory import peak_bytes


@dataclass(frozen=True)
class WeightsKept:
    """Bytes for one layer. formula: one set of weights, b h n^2 numbers of 4 bytes; kept: the most that lives
    at once when every stage is kept (`trace`); fused: the same when none is (`forward`).
    """

    b: int
    h: int
    n: int
    d_model: int
    formula: int
    kept: int
    fused: int

    @property
    def sets(self) -> float:
        """How many sets of weights the difference is: 2, the scores and the weights, and a little more."""
        return (self.kept - self.fused) / self.formula


def memory_of_weights(
    lengths: Iterable[int] = (128, 256, 512, 1024), d_model: int = 64, h: int = 8, b: int = 2
) -> list[WeightsKept]:
    """For each length the memory that a layer takes anew, with its weights kept and without.

    No gradients are kept, as when a trained model is used. Raises: ValueError for sizes no layer can have.
    """
    layer, g = MultiHeadAttention(d_model, h), torch.Generator().manual_seed(0)
    found = []
    with one_thread():
        for n in lengths:
            x = torch.randn(b, n, d_model, generator=g)
            formula = cost.kept_weights_bytes(b, h, n, n)
            kept = peak_bytes(lambda x=x: layer.trace(x))
            fused = peak_bytes(lambda x=x: layer(x))
            found.append(WeightsKept(b, h, n, d_model, formula, kept, fused))
    return found
