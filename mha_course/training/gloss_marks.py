"""Loss and right answers of a course model, sentence by sentence, so that any part of them can judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.models.gloss_model import GlossModel
from mha_course.text.course_language.gloss import PARTS
from mha_course.training.gloss_batches import NO_ANSWER, GlossData
from mha_course.training.kept_answers import kept_answers

PICKS, JUDGES, ALL = slice(0, None, 2), slice(1, None, 2), slice(None)  # every second sentence judges
_WORDS = 6_000  # in one batch


@dataclass(frozen=True, eq=False)
class GlossMarks:
    """What a model got right, in the order of the sentences.

    right: (sentences, parts), right answers; loss: (sentences, parts), cross-entropy in nats, summed over the
    words; words: (sentences, parts), how many were asked. Parts in the order of `PARTS`.
    """

    right: Tensor
    loss: Tensor
    words: Tensor

    def accuracy(self, judge: slice = ALL) -> dict[str, float]:
        """The share of right answers by part, over the words of some sentences."""
        return _by_part(self.right[judge].sum(0) / self.words[judge].sum(0))

    def loss_by_part(self, judge: slice = ALL) -> dict[str, float]:
        """Nats a word, by part."""
        return _by_part(self.loss[judge].sum(0) / self.words[judge].sum(0))

    def total_loss(self, judge: slice = ALL) -> float:
        """Nats a word, summed over the four parts: what the model was trained to make small."""
        return sum(self.loss_by_part(judge).values())


@kept_answers
def gloss_marks(model: GlossModel, data: GlossData) -> GlossMarks:
    """Let a model answer for all sentences. Sentences of one length go together: nothing is filled up."""
    return marks_of(data, answers_of(model, data))


@torch.no_grad()
def answers_of(model: GlossModel, data: GlossData) -> Iterator[tuple[Tensor, Mapping[str, Tensor]]]:
    """Numbers of sentences (b,), all of one length, and their logits by part, (b, n, classes)."""
    model.eval()
    for chosen in equal_lengths(data):
        yield chosen, model(data.batch(chosen).ids)


def marks_of(data: GlossData, answered: Iterable[tuple[Tensor, Mapping[str, Tensor]]]) -> GlossMarks:
    """Mark answers, given as `answers_of` gives them, every sentence in one of the batches."""
    count = len(data.lengths)
    right, loss, words = (torch.zeros(count, len(PARTS), dtype=torch.float64) for _ in range(3))
    for chosen, logits in answered:
        batch = data.batch(chosen)
        for i, part in enumerate(PARTS):
            answers, given = batch.answers[part], logits[part]
            asked = answers != NO_ANSWER
            # One row a word: along another axis than the last it takes three times as long.
            each = F.cross_entropy(
                given.flatten(0, 1), answers.flatten(), ignore_index=NO_ANSWER, reduction="none"
            ).view_as(answers)
            right[chosen, i] = ((given.argmax(-1) == answers) & asked).sum(1).double()
            loss[chosen, i] = each.double().sum(1)
            words[chosen, i] = asked.sum(1).double()
    return GlossMarks(right, loss, words)


def equal_lengths(data: GlossData) -> list[Tensor]:
    """The numbers of all sentences in groups of one length each, the shortest first."""
    lengths = data.lengths
    groups = [(lengths == n).nonzero().flatten() for n in lengths.unique().tolist()]
    return [few for group in groups for few in group.split(max(1, _WORDS // int(lengths[group[0]])))]


def lost_points(whole: GlossMarks, left: GlossMarks, judge: slice = ALL) -> dict[str, float]:
    """By part, how many percentage points of accuracy are lost."""
    before, after = whole.accuracy(judge), left.accuracy(judge)
    return {part: 100 * (before[part] - after[part]) for part in PARTS}


def lost_interval(
    whole: GlossMarks, left: GlossMarks, judge: slice = ALL, resamples: int = 1_000, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """By part, the middle 95 % of the points lost when sentences are drawn again, with replacement.

    Source: Efron 1979.
    """
    words, gone = whole.words[judge], (whole.right - left.right)[judge]
    g = torch.Generator().manual_seed(seed)
    drawn = torch.randint(len(words), (resamples, len(words)), generator=g)
    shares = 100 * gone[drawn].sum(1) / words[drawn].sum(1)
    low, high = shares.quantile(torch.tensor([0.025, 0.975], dtype=shares.dtype), dim=0).tolist()
    return {part: (low[i], high[i]) for i, part in enumerate(PARTS)}


def _by_part(numbers: Tensor) -> dict[str, float]:
    return dict(zip(PARTS, numbers.tolist(), strict=True))
