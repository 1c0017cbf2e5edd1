"""Training of the translator, step by step, with teacher forcing: it reads the right words so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.models.translator import Translator
from mha_course.text.course_language.translation import Pair
from mha_course.training.train_gloss import Recipe, rate_at
from mha_course.training.translation_batches import endless_pairs, with_unknown_words

RECIPE = Recipe(steps=3_000, rate=3e-3, warm_up=300, sentences=16_000)
PAIRS_A_BATCH = 64


@dataclass(frozen=True)
class TranslationStep:
    """What one update found: its number from 1, the loss a word, and the share of right words."""

    number: int
    loss: float
    right: float


def train_translation(
    model: Translator, pairs: Sequence[Pair], recipe: Recipe, seed: int
) -> Iterator[TranslationStep]:
    """Train the model in place and yield after every update; stop asking, and it stops."""
    g = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(
        model.parameters(), recipe.rate, betas=(0.9, 0.98), weight_decay=recipe.weight_decay
    )
    model.train()
    for number, batch in enumerate(endless_pairs(pairs, model, PAIRS_A_BATCH, g), 1):
        if number > recipe.steps:
            return
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * rate_at(number, recipe)
        batch = with_unknown_words(batch, recipe.unknown, 1, g)
        logits = model(batch.source, batch.read(model.start))
        loss = _loss(logits, batch.written)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.longest_gradient)
        optimiser.step()
        real = batch.written != 0
        right = float((logits.argmax(-1) == batch.written)[real].float().mean())
        yield TranslationStep(number, float(loss.detach()), right)


def _loss(logits: Tensor, written: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), written.flatten(), ignore_index=0)
