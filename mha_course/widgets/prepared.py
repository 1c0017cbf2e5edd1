"""What a source of weights hands to an explorer: a layer, what it reads, and what is to be said about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from mha_course.layers import AttentionTrace, MultiHeadAttention


class Box(NamedTuple):
    """What the reader should see before the maps. sentence: one to try instead, offered as a link."""

    heading: str
    text: str
    sentence: str = ""


@dataclass(frozen=True)
class Prepared:
    """A layer and what it reads: x is (n, d_model).

    note: the sentence under the maps. head_names: one a head, layer after layer, or empty. boxes: shown
    before the maps. head_details: as head_names, what there is to say about each head in full. figures:
    numbers for the note, shown where a lesson shows facts. unknown: places of tokens that the source
    doesn't know.
    """

    layer: MultiHeadAttention
    x: Tensor
    note: str
    head_names: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    head_details: tuple[str, ...] = ()
    figures: str = ""
    unknown: tuple[int, ...] = ()

    @property
    def n_layers(self) -> int:
        return 1

    def traces(self, mask: Tensor | None) -> list[AttentionTrace]:
        """The trace of every layer, in the order in which they are computed."""
        return [self.layer.trace(self.x[None], mask=mask)]


@dataclass(frozen=True)
class Source:
    """One choice of the weights control. label: the word on it. uses_seed: whether a new seed changes it.

    settings: the (d_model, h) that it has weights for; None means any. For others `prepare` raises
    `NoSuchSetting`.
    """

    label: str
    prepare: Callable[[Sequence[str], int, int, int], Prepared]
    uses_seed: bool = False
    settings: Callable[[], Sequence[tuple[int, int]]] | None = None


class NoSuchSetting(ValueError):
    """A source has no weights for this d_model and h. nearest: settings that it has weights for."""

    def __init__(self, heading: str, text: str, nearest: Sequence[tuple[int, int]]) -> None:
        super().__init__(f"{heading}. {text}")
        self.heading, self.text, self.nearest = heading, text, tuple(nearest)
