"""Sentence pairs as batches of tensors, short ones with short ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from mha_course.models.translator import Translator
from mha_course.text.course_language.translation import Pair


@dataclass(frozen=True, eq=False)
class PairBatch:
    """source (b, n_k) and written (b, n_q) ids, 0 where there is no word; written ends with `END`.

    aligned: (b, n_q), the source place that each written word stands for; -1 for `END` and padding.
    """

    source: Tensor
    written: Tensor
    aligned: Tensor

    def read(self, start: int) -> Tensor:
        """What the decoder reads, (b, n_q): the written words moved one place on, `start` in front."""
        first = torch.full_like(self.written[:, :1], start)
        return torch.cat([first, self.written[:, :-1]], dim=1)


def pair_batch(pairs: Sequence[Pair], model: Translator) -> PairBatch:
    """The pairs side by side, each filled up to the longest."""
    sources = [model.english.encode(pair.sentence.words) for pair in pairs]
    written = [[*model.invented.encode(pair.translation.words), model.end] for pair in pairs]
    aligned = [[*pair.translation.source, -1] for pair in pairs]
    return PairBatch(_filled(sources, 0), _filled(written, 0), _filled(aligned, -1))


def endless_pairs(pairs: Sequence[Pair], model: Translator, size: int, g: Generator) -> Iterator[PairBatch]:
    """Batches of `size` pairs of nearly equal length, without end; each round in a new order."""
    whole = pair_batch(pairs, model)
    long, wide = (whole.source != 0).sum(1), (whole.written != 0).sum(1)
    while True:
        order = (long + torch.rand(len(pairs), generator=g)).argsort().split(size)
        for i in torch.randperm(len(order), generator=g).tolist():
            chosen = order[i]
            n_k, n_q = int(long[chosen].max()), int(wide[chosen].max())
            yield PairBatch(
                whole.source[chosen, :n_k], whole.written[chosen, :n_q], whole.aligned[chosen, :n_q]
            )


def with_unknown_words(batch: PairBatch, share: float, unknown: int, g: Generator) -> PairBatch:
    """Word dropout: a share of the English words becomes <unk>, and so does what stands for them."""
    hidden = (torch.rand(batch.source.shape, generator=g) < share) & (batch.source != 0)
    lost = hidden.gather(1, batch.aligned.clamp(min=0)) & (batch.aligned >= 0)
    return PairBatch(
        batch.source.masked_fill(hidden, unknown), batch.written.masked_fill(lost, unknown), batch.aligned
    )


def _filled(rows: Sequence[Sequence[int]], filler: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows])
