"""Sentences and their glosses as batches of tensors, short ones with short ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from mha_course.text.course_language.gloss import PARTS, gloss
from mha_course.text.course_language.grammar import CourseSentence
from mha_course.text.vocabulary import Vocabulary

NO_ANSWER = -100  # what cross_entropy leaves out


@dataclass(frozen=True, eq=False)
class GlossBatch:
    """ids (b, n), 0 where there is no word; answers: for each part (b, n), -100 where there is none."""

    ids: Tensor
    answers: dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class GlossData:
    """Many sentences in four flat tensors; sentence i has the places starts[i] .. starts[i + 1] - 1."""

    ids: Tensor
    answers: dict[str, Tensor]
    starts: Tensor

    @property
    def lengths(self) -> Tensor:
        return self.starts.diff()

    def batch(self, chosen: Tensor) -> GlossBatch:
        """The chosen sentences side by side, filled up to the longest."""
        lengths = self.lengths[chosen]
        steps = torch.arange(int(lengths.max()))
        real = steps < lengths[:, None]
        places = (self.starts[chosen][:, None] + steps).clamp(max=len(self.ids) - 1)
        answers = {part: self.answers[part][places].masked_fill(~real, NO_ANSWER) for part in PARTS}
        return GlossBatch(self.ids[places].masked_fill(~real, 0), answers)


def gloss_data(sentences: Sequence[CourseSentence], vocabulary: Vocabulary) -> GlossData:
    """Encode sentences of the grammar together with their right glosses."""
    ids, answers, starts = [], {part: [] for part in PARTS}, [0]
    for sentence in sentences:
        ids += vocabulary.encode(sentence.words)
        right = gloss(sentence)
        for part in PARTS:
            answers[part] += getattr(right, part)
        starts.append(len(ids))
    tensors = {part: torch.tensor(numbers) for part, numbers in answers.items()}
    return GlossData(torch.tensor(ids), tensors, torch.tensor(starts))


def endless_batches(data: GlossData, tokens: int, g: Generator) -> Iterator[GlossBatch]:
    """Batches of about `tokens` words, sentences of nearly equal length together, without end.

    Each round goes through all sentences in a new order.
    """
    while True:
        # A little noise on the length mixes neighbours, so that no two rounds have the same batches.
        order = (data.lengths + torch.rand(len(data.lengths), generator=g) * 2).argsort()
        ends = (data.lengths[order].cumsum(0) // tokens).unique_consecutive(return_counts=True)[1]
        batches = order.split(ends.tolist())
        for i in torch.randperm(len(batches), generator=g).tolist():
            yield data.batch(batches[i])


def with_unknown_words(ids: Tensor, share: float, unknown: int, g: Generator) -> Tensor:
    """Word dropout: a share of the words becomes <unk>, so that <unk> means something later."""
    hidden = (torch.rand(ids.shape, generator=g) < share) & (ids != 0)
    return ids.masked_fill(hidden, unknown)
