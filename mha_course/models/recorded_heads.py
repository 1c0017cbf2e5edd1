"""Recorded attention of a real model: its heads can be looked at where the model is not installed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch
from safetensors.torch import load_file
from torch import Tensor

from mha_course.attention_maps import AttentionMaps
from mha_course.data_files import data_path
from mha_course.pieces import PieceMaps
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.text.treebank import course_treebank

WEIGHTS, CARD = "real_heads/minilm.safetensors", "real_heads/minilm.json"
LEVELS = 65535  # a weight is kept as a whole number of so many parts
REMADE = "python -m mha_course.models.pretrained.record"


@dataclass(frozen=True, eq=False)
class RecordedHeads:
    """Attention of one model for sentences of the course's treebank.

    name: the model. sentences: with their trees. note: model, licence, rounding, for the line under a
    picture. n_layers, n_heads: of the model. `read` gives one sentence.
    """

    name: str
    sentences: tuple[ParsedSentence, ...]
    n_layers: int
    n_heads: int
    note: str
    _kept: tuple[Tensor, ...]
    _pieces: tuple[tuple[str, ...], ...]
    _word_of: tuple[tuple[int | None, ...], ...]

    def read(self, i: int) -> PieceMaps:
        """The attention for the sentence with index i, over its pieces, [CLS] and [SEP] among them.

        Raises: IndexError when there is no such sentence.
        """
        if not -len(self.sentences) <= i < len(self.sentences):
            raise IndexError(f"there are {len(self.sentences)} recorded sentences; got the index {i}.")
        pieces, words = self._pieces[i], self._word_of[i]
        maps = AttentionMaps(exact(self._kept[i]), pieces, pieces, "encoder", note=self.note)
        return PieceMaps(maps, words, words, self.sentences[i].words, self.sentences[i].words)

    def weights_over_words(self) -> Iterator[Tensor]:
        """For each sentence the weights between its words, (layers, heads, n, n); see `PieceMaps.words`."""
        for i in range(len(self.sentences)):
            yield self.read(i).words().weights


@lru_cache(maxsize=1)
def recorded_heads() -> RecordedHeads:
    """The attention of all-MiniLM-L6-v2 for every fourth sentence of the course's treebank.

    The sentences were given to the model word by word, as the treebank cuts them.

    Raises: FileNotFoundError when data/ is missing; ValueError when the treebank has changed since.
    """
    card = json.loads(data_path(CARD).read_text(encoding="utf-8"))
    known = {sentence.words: sentence for sentence in course_treebank()}
    rows = card["sentences"]
    gone = [row["words"] for row in rows if tuple(row["words"]) not in known]
    if gone:
        raise ValueError(
            f"{len(gone)} recorded sentences are no longer in the treebank, {' '.join(gone[0])!r} for one; "
            f"record them again: {REMADE}"
        )
    weights = load_file(data_path(WEIGHTS))
    kept = tuple(weights[f"sentence {i}"] for i in range(len(rows)))
    return RecordedHeads(
        card["name"],
        tuple(known[tuple(row["words"])] for row in rows),
        *kept[0].shape[:2],
        card["note"],
        kept,
        tuple(tuple(row["pieces"]) for row in rows),
        tuple(tuple(row["word_of"]) for row in rows),
    )


def rounded(weights: Tensor) -> Tensor:
    """Weights as whole numbers of 1/65535, uint16, so that each row still sums to 1 exactly.

    weights: (..., n_k), rows that sum to 1. Each row's leftover parts go to the weights that lost most by
    rounding down, so no weight is off by more than one part.
    """
    parts = weights.double() / weights.double().sum(dim=-1, keepdim=True) * LEVELS
    down = parts.floor()
    left = (LEVELS - down.sum(dim=-1, keepdim=True)).round()
    rank = (parts - down).argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
    return (down + (rank < left)).to(torch.uint16)


def exact(kept: Tensor) -> Tensor:
    """What `rounded` kept, as float weights again."""
    return kept.to(torch.float32) / LEVELS
