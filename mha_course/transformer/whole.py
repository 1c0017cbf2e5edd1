"""Encoder and decoder together: from source ids to the logits of the target, and word by word."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mha_course.attention_maps import AttentionMaps
from mha_course.layers import AttentionTrace, KeysAndValues
from mha_course.positions import sinusoidal_encoding
from mha_course.sizes import check_sizes
from mha_course.transformer.block import Norm
from mha_course.transformer.decoder import Decoder, DecoderTraces
from mha_course.transformer.encoder import Encoder


@dataclass(frozen=True, eq=False)
class TransformerMaps:
    """The attention of a whole Transformer for one sentence pair, one AttentionMaps a kind."""

    encoder: AttentionMaps
    decoder: AttentionMaps
    cross: AttentionMaps


@dataclass(frozen=True, eq=False)
class DecodingStep:
    """One word of a translation: its id, the probabilities (target words) and the cross-attention.

    cross: (layers, heads, n_k), the weights from the place at which the word was written.
    """

    id: int
    probabilities: Tensor
    cross: Tensor


class TokenEmbedding(nn.Module):
    """Ids to vectors of width d_model, times sqrt(d_model), plus sinusoidal positions, then dropout.

    The factor lets word and position weigh about the same when embeddings start with a spread of
    1 / sqrt(d_model).

    Source: Vaswani et al. 2017, sections 3.4 and 3.5.
    """

    def __init__(self, n_words: int, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        check_sizes(n_words=n_words)
        self.words = nn.Embedding(n_words, d_model)
        nn.init.normal_(self.words.weight, std=d_model**-0.5)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor) -> Tensor:
        """ids (b, n) -> (b, n, d_model)."""
        x = self.words(ids) * math.sqrt(self.words.embedding_dim)
        places = sinusoidal_encoding(ids.shape[1], x.shape[-1], dtype=x.dtype).to(x.device)
        return self.dropout(x + places)


class Transformer(nn.Module):
    """An encoder-decoder that writes a target sentence while it looks at a source sentence.

    n_source_words, n_target_words: sizes of the two vocabularies. n_layers: of encoder and decoder, or a
    pair. The other arguments as in `EncoderLayer`. pad: the id that fills up shorter sentences; no query
    sees it as a key.

    Raises: ValueError for sizes below 1, an odd d_model, and as `EncoderLayer`.
    Source: Vaswani et al. 2017, section 3.
    """

    def __init__(
        self,
        n_source_words: int,
        n_target_words: int,
        d_model: int = 512,
        h: int = 8,
        n_layers: int | tuple[int, int] = 6,
        d_ff: int | None = None,
        dropout: float = 0.0,
        norm: Norm = "pre",
        bias: bool = True,
        pad: int = 0,
    ) -> None:
        super().__init__()
        deep, also_deep = (n_layers, n_layers) if isinstance(n_layers, int) else n_layers
        self.pad = pad
        self.read = TokenEmbedding(n_source_words, d_model, dropout)
        self.write = TokenEmbedding(n_target_words, d_model, dropout)
        self.encoder = Encoder(deep, d_model, h, d_ff, dropout, norm, bias)
        self.decoder = Decoder(also_deep, d_model, h, d_ff, dropout, norm, bias)
        self.to_words = nn.Linear(d_model, n_target_words, bias=bias)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """source ids (b, n_k), target ids so far (b, n_q) -> logits (b, n_q, n_target_words).

        The logits at position t are about the word at t + 1, and depend on targets up to t only.
        """
        return self.decode(self.encode(source), source, target)

    def encode(self, source: Tensor, kept: list[AttentionTrace] | None = None) -> Tensor:
        """source ids (b, n_k) -> memory (b, n_k, d_model)."""
        return self.encoder(self.read(source), self._open(source), kept)

    def decode(
        self,
        memory: Tensor | Sequence[KeysAndValues],
        source: Tensor,
        target: Tensor,
        kept: DecoderTraces | None = None,
    ) -> Tensor:
        """memory of the source ids (b, n_k), target ids (b, n_q) -> logits (b, n_q, n_target_words)."""
        y = self.decoder(self.write(target), memory, memory_mask=self._open(source), kept=kept)
        return self.to_words(y)

    @torch.no_grad()
    def attend(
        self, source: Tensor, target: Tensor, source_words: Sequence[str], target_words: Sequence[str]
    ) -> TransformerMaps:
        """Every attention of one sentence pair: source ids (1, n_k), target ids (1, n_q), with their words.

        Raises: ValueError for more than one pair, and when ids and words don't go together.
        """
        if source.shape[0] != 1 or target.shape[0] != 1:
            raise ValueError(f"one sentence pair at a time; got {source.shape[0]} and {target.shape[0]}.")
        encoder, decoder = [], DecoderTraces()
        self.decode(self.encode(source, encoder), source, target, decoder)
        return TransformerMaps(
            AttentionMaps.from_traces(encoder, source_words, kind="encoder"),
            AttentionMaps.from_traces(decoder.decoder, target_words, kind="decoder"),
            AttentionMaps.from_traces(decoder.cross, target_words, source_words, kind="cross"),
        )

    @torch.no_grad()
    def translate(self, source: Tensor, start: int, end: int, most: int = 60) -> Iterator[DecodingStep]:
        """Write the likeliest next word again and again, until `end` or `most` words; greedy decoding.

        source: ids (1, n_k). The source's keys and values are computed once, before the first word.
        """
        known = self.decoder.remember(self.encode(source))
        target = torch.tensor([[start]], device=source.device)
        for _ in range(most):
            kept = DecoderTraces()
            logits = self.decode(known, source, target, kept)[0, -1]
            word = int(logits.argmax())
            cross = torch.stack([trace.weights[0, :, -1] for trace in kept.cross])
            yield DecodingStep(word, logits.softmax(-1), cross)
            if word == end:
                return
            target = torch.cat([target, torch.tensor([[word]], device=source.device)], dim=1)

    def _open(self, ids: Tensor) -> Tensor | None:
        """The padding mask (b, 1, 1, n), None when nothing is padded."""
        real = ids != self.pad
        return None if bool(real.all()) else real[:, None, None, :]
