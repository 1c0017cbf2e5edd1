"""Where the weights of an explorer come from: one entry a source.

A source turns tokens, d_model, h and a seed into a layer and the vectors it reads. To offer another
kind of weights, add one entry to `SOURCES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from torch import Tensor

from mha_course.layers import MultiHeadAttention
from mha_course.models.random_layer import random_layer
from mha_course.models.word_vectors import token_vectors
from mha_course.positions import sinusoidal_encoding


@dataclass(frozen=True)
class Prepared:
    """A layer and what it reads: x is (n, d_model). head_names: one a head, or empty.

    note: the sentence under the maps. describe(weights): (heading, text) pairs worth a box, from the
    weights (h, n, n) that came out.
    """

    layer: MultiHeadAttention
    x: Tensor
    note: str
    head_names: tuple[str, ...] = ()
    describe: Callable[[Tensor], list[tuple[str, str]]] | None = None


@dataclass(frozen=True)
class Source:
    """One choice of the weights control. label: the word on it. uses_seed: whether a new seed changes it."""

    label: str
    prepare: Callable[[Sequence[str], int, int, int], Prepared]
    uses_seed: bool = False


def random_source(tokens: Sequence[str], d_model: int, h: int, seed: int) -> Prepared:
    """Untrained weights: what a new layer makes of the sentence. Arguments as in `Source.prepare`."""
    x = token_vectors(tokens, d_model) + _positions(len(tokens), d_model)
    note = (
        f"Maps: a new layer with random weights (seed {seed}). Each word is a random vector plus the "
        "sinusoidal vector of its position. Nothing has been learned yet."
    )
    return Prepared(_random_layer(d_model, h, seed), x, note)


@lru_cache(maxsize=32)
def _random_layer(d_model: int, h: int, seed: int) -> MultiHeadAttention:
    return random_layer(d_model, h, seed)


@lru_cache(maxsize=64)
def _positions(n: int, d_model: int) -> Tensor:
    # Sine and cosine come in pairs; an odd width takes all but the last column of the next even one.
    return sinusoidal_encoding(n, d_model + d_model % 2)[:, :d_model]


SOURCES: dict[str, Source] = {
    "random": Source("random", random_source, uses_seed=True),
}
