"""Which heads the course model can do without: gates learned live, and recorded in data/models/gates.json."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.heads.gating import HeadGates
from mha_course.heads.pruning import GateRecipe, GateStep, gate_values, gates_for, learn_gates, pruned_model
from mha_course.models.gloss_model import GlossModel
from mha_course.text.course_language.gloss import PARTS
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.text.vocabulary import Vocabulary
from mha_course.training.gloss_batches import (
    NO_ANSWER,
    GlossBatch,
    GlossData,
    endless_batches,
    gloss_data,
    with_unknown_words,
)
from mha_course.training.live import sentences_for
from mha_course.training.record import TRAINING_SEED
from mha_course.training.train_gloss import Recipe

SENTENCES = 8_000  # of the 40,000 that the model knows; drawing them takes a few seconds


@dataclass(eq=False)
class GateTrainer:
    """Gates that are being learned on a copy of a trained model; whoever asks for the next step learns on.

    model: the trained model, which stays as it is; learned: the copy. seed: of batches, hidden words and the
    gates' noise. Use one thread: two are slower.
    """

    model: GlossModel
    recipe: GateRecipe = field(default_factory=GateRecipe)
    seed: int = 0

    def __post_init__(self) -> None:
        self.learned: GlossModel = deepcopy(self.model)
        self.gates: list[HeadGates] = gates_for(self.learned, self.recipe.start, self.seed)

    def steps(self, data: GlossData | None = None) -> Iterator[GateStep]:
        """Learn, with a report after every update.

        data: None draws `SENTENCES` training sentences first, fewer where they would last for fewer steps.
        """
        if data is None:
            data = gate_sentences(self.model.vocabulary, sentences_for(self.recipe.steps, SENTENCES))
        g = torch.Generator().manual_seed(self.seed)
        batches = shown_batches(data, self.model.vocabulary, g)
        return learn_gates(self.learned, self.gates, batches, gloss_loss, self.recipe)

    def values(self) -> tuple[Tensor, ...]:
        """For each layer (h,): the gates without noise."""
        return gate_values(self.gates)

    def pruned(self) -> GlossModel:
        """The model that is left, with the closed heads taken out for good."""
        return pruned_model(self.learned, self.values()).requires_grad_(False).eval()


def gate_sentences(vocabulary: Vocabulary, count: int = SENTENCES) -> GlossData:
    """The first of the sentences that the course models are trained on. The caller's own, to change."""
    return deepcopy(_drawn(tuple(vocabulary.tokens), count))


@lru_cache(maxsize=4)
def _drawn(tokens: tuple[str, ...], count: int) -> GlossData:
    return gloss_data(list(draw_sentences(count, TRAINING_SEED)), Vocabulary(tokens))


def shown_batches(data: GlossData, vocabulary: Vocabulary, g: torch.Generator) -> Iterator[GlossBatch]:
    """Batches without end as in training: about 512 words, some of them hidden as <unk>."""
    recipe, unknown = Recipe(), vocabulary.encode([Vocabulary.UNKNOWN])[0]
    for batch in endless_batches(data, recipe.tokens, g):
        ids = with_unknown_words(batch.ids, recipe.unknown, unknown, g)
        answers = {**batch.answers, "stem": batch.answers["stem"].masked_fill(ids == unknown, NO_ANSWER)}
        yield GlossBatch(ids, answers)


def gloss_loss(model: GlossModel, batch: GlossBatch) -> Tensor:
    """The loss that the model was trained with: cross-entropy a word, summed over the four parts."""
    logits = model(batch.ids)
    return sum(
        F.cross_entropy(logits[part].flatten(0, 1), batch.answers[part].flatten(), ignore_index=NO_ANSWER)
        for part in PARTS
    )


def sentence_losses(model: GlossModel, batch: GlossBatch) -> Tensor:
    """(b,): the same for every sentence by itself, as `importance.gradient_importance` asks for."""
    logits, total = model(batch.ids), 0.0
    for part in PARTS:
        answers = batch.answers[part]
        each = F.cross_entropy(
            logits[part].transpose(1, 2), answers, ignore_index=NO_ANSWER, reduction="none"
        )
        total = total + each.sum(1) / (answers != NO_ANSWER).sum(1).clamp(min=1)
    return total
