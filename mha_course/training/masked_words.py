"""Ordinary language modelling on the same sentences: hide some words and have the same encoder guess them."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.models.gloss_model import GlossModel
from mha_course.text.vocabulary import Vocabulary
from mha_course.training.gloss_batches import NO_ANSWER, GlossData, endless_batches, with_unknown_words
from mha_course.training.train_gloss import Recipe, Step, rate_at

HIDDEN = 0.15  # share of the words (Devlin et al. 2019)


def train_masked_words(model: GlossModel, data: GlossData, recipe: Recipe, seed: int) -> Iterator[Step]:
    """Train the model's embedding and encoder in place; yields after every update.

    A classifier over the vocabulary stands in the place of the four parts of the gloss, and goes when the
    training ends. Batches, optimiser and rates are those of the recipe. Source of the task: Devlin et al.
    2019 (here a hidden word is always replaced by <unk>).
    """
    g = torch.Generator().manual_seed(seed)
    unknown = model.vocabulary.encode([Vocabulary.UNKNOWN])[0]
    guess = nn.Linear(model.sizes.d_model, len(model.vocabulary))
    learned = [*model.read.parameters(), *model.encoder.parameters(), *guess.parameters()]
    optimiser = torch.optim.AdamW(learned, recipe.rate, betas=(0.9, 0.98), weight_decay=recipe.weight_decay)
    model.train()
    for number, batch in enumerate(endless_batches(data, recipe.tokens, g), 1):
        if number > recipe.steps:
            return
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * rate_at(number, recipe)
        ids = with_unknown_words(batch.ids, HIDDEN, unknown, g)
        logits, answers = _guesses(model, guess, ids), hidden_words(batch.ids, ids)
        loss = F.cross_entropy(logits.flatten(0, 1), answers.flatten(), ignore_index=NO_ANSWER)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, recipe.longest_gradient)
        optimiser.step()
        asked = answers != NO_ANSWER
        right = float((logits.argmax(-1) == answers)[asked].float().mean())
        yield Step(number, float(loss.detach()), {"hidden word": right})


def hidden_words(ids: Tensor, shown: Tensor) -> Tensor:
    """The right answers (b, n): the word's id where it is hidden in `shown`, -100 elsewhere."""
    return ids.masked_fill(ids == shown, NO_ANSWER)


def _guesses(model: GlossModel, guess: nn.Linear, ids: Tensor) -> Tensor:
    real = ids != model.vocabulary.encode([Vocabulary.PAD])[0]
    mask = None if bool(real.all()) else real[:, None, None, :]
    return guess(model.encoder(model.read(ids), mask))
