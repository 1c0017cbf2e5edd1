"""The course model: an encoder that writes the gloss of a sentence, four answers for each word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from mha_course.attention_maps import AttentionMaps
from mha_course.layers import AttentionTrace
from mha_course.text.course_language.gloss import ENDINGS, LIAISONS, MUTATIONS, PARTS, stems, vocabulary_words
from mha_course.text.tokens import tokenize
from mha_course.text.vocabulary import Vocabulary
from mha_course.transformer import Encoder, TokenEmbedding


@dataclass(frozen=True)
class GlossSizes:
    """The sizes of a course model."""

    d_model: int = 128
    h: int = 8
    n_layers: int = 2
    d_ff: int = 256
    dropout: float = 0.1


class GlossModel(nn.Module):
    """Token ids to the logits of stem, ending, mutation and liaison of every word.

    An embedding with sinusoidal positions, pre-norm encoder layers, and one linear map for each part.

    Raises: ValueError as `Encoder` and `TokenEmbedding`.
    """

    def __init__(self, sizes: GlossSizes | None = None) -> None:
        super().__init__()
        self.sizes = GlossSizes() if sizes is None else sizes
        self.vocabulary = Vocabulary(vocabulary_words())
        chosen = self.sizes
        self.read = TokenEmbedding(len(self.vocabulary), chosen.d_model, chosen.dropout)
        self.encoder = Encoder(chosen.n_layers, chosen.d_model, chosen.h, chosen.d_ff, chosen.dropout)
        classes = (len(stems()), len(ENDINGS), len(MUTATIONS), len(LIAISONS))
        self.parts = nn.ModuleDict(
            {part: nn.Linear(chosen.d_model, count) for part, count in zip(PARTS, classes, strict=True)}
        )

    def forward(self, ids: Tensor, kept: list[AttentionTrace] | None = None) -> Mapping[str, Tensor]:
        """ids (b, n), 0 where there is no word -> for each part logits (b, n, classes)."""
        real = ids != self.vocabulary.encode([Vocabulary.PAD])[0]
        mask = None if bool(real.all()) else real[:, None, None, :]
        x = self.encoder(self.read(ids), mask, kept)
        return {part: linear(x) for part, linear in self.parts.items()}

    @torch.no_grad()
    def attend(self, words: str | Sequence[str]) -> AttentionMaps:
        """The attention of every layer and head on one sentence: words, or a text that is cut into them.

        A text is read in small letters. Raises: ValueError for no words.
        """
        if isinstance(words, str):
            words = [token.lower() for token in tokenize(words)]
        if not len(words):
            raise ValueError("no words: there is nothing to attend to.")
        kept: list[AttentionTrace] = []
        self(torch.tensor([self.vocabulary.encode(words)]), kept)
        return AttentionMaps.from_traces(kept, words)

    def described(self) -> dict[str, float | int]:
        """The sizes, as they go into a file."""
        return asdict(self.sizes)
