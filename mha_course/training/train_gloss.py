"""Training of the course model, step by step, so that it can be watched, stopped and taken up again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.models.gloss_model import GlossModel, GlossSizes
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
from mha_course.training.kept_answers import kept_answers


@dataclass(frozen=True)
class Recipe:
    """How a course model is trained.

    steps: updates. rate: largest learning rate, reached after `warm_up` steps, then falling as a cosine.
    tokens: words a batch. sentences: how many are trained on. unknown: share of words hidden as <unk>.
    """

    steps: int = 1_800
    rate: float = 2e-3
    warm_up: int = 300
    tokens: int = 512
    sentences: int = 40_000
    unknown: float = 0.02
    weight_decay: float = 0.01
    longest_gradient: float = 1.0


@dataclass(frozen=True)
class Step:
    """What one update found: its number from 1, the loss, and the share of right answers by part."""

    number: int
    loss: float
    accuracy: dict[str, float]


def train_gloss(
    model: GlossModel,
    data: GlossData,
    recipe: Recipe,
    seed: int,
    start: int = 0,
    parts: Sequence[str] = PARTS,
    added: Callable[[], Tensor] | None = None,
) -> Iterator[Step]:
    """Train the model in place and yield after every update; stop asking, and it stops.

    seed: for batches and hidden words. start: updates that are done already. parts: of the gloss that are
    asked for; the others add nothing to the loss, and what the model says of them is not learned. added: one
    more loss, asked for once the model has read the batch; it is not part of `Step.loss`.
    """
    g = torch.Generator().manual_seed(seed + 1_000_003 * start)
    optimiser = torch.optim.AdamW(
        model.parameters(), recipe.rate, betas=(0.9, 0.98), weight_decay=recipe.weight_decay
    )
    unknown = model.vocabulary.encode([Vocabulary.UNKNOWN])[0]
    model.train()
    for number, batch in enumerate(endless_batches(data, recipe.tokens, g), start + 1):
        if number > recipe.steps:
            return
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * rate_at(number, recipe)
        ids = with_unknown_words(batch.ids, recipe.unknown, unknown, g)
        answers = {**batch.answers, "stem": batch.answers["stem"].masked_fill(ids == unknown, NO_ANSWER)}
        logits = model(ids)
        loss = sum(_loss(logits[part], answers[part]) for part in parts)
        optimiser.zero_grad(set_to_none=True)
        (loss if added is None else loss + added()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.longest_gradient)
        optimiser.step()
        right = {part: _share_right(logits[part], answers[part]) for part in PARTS}
        yield Step(number, float(loss.detach()), right)


def rate_at(step: int, recipe: Recipe) -> float:
    """The learning rate as a share of the largest: linear warm-up, then half a cosine down to 0."""
    if step <= recipe.warm_up:
        return step / recipe.warm_up
    done = (step - recipe.warm_up) / max(1, recipe.steps - recipe.warm_up)
    return 0.5 * (1 + math.cos(math.pi * done))


@kept_answers
@torch.no_grad()
def accuracy(model: GlossModel, data: GlossData, tokens: int = 4_096) -> dict[str, float]:
    """The share of right answers by part, over all words of all sentences."""
    model.eval()
    right, count = dict.fromkeys(PARTS, 0.0), 0
    for batch in _in_order(data, tokens):
        logits = model(batch.ids)
        real = batch.ids != 0
        count += int(real.sum())
        for part in PARTS:
            right[part] += int(((logits[part].argmax(-1) == batch.answers[part]) & real).sum())
    return {part: number / count for part, number in right.items()}


def _in_order(data: GlossData, tokens: int) -> Iterator[GlossBatch]:
    order = data.lengths.argsort()
    for chosen in order.split(max(1, tokens // int(data.lengths.max()))):
        yield data.batch(chosen)


def fresh_model(sizes: GlossSizes, seed: int) -> GlossModel:
    """An untrained model; the same numbers for the same seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return GlossModel(sizes)


def training_data(recipe: Recipe, vocabulary: Vocabulary, seed: int) -> GlossData:
    """The sentences that a model is trained on."""
    return gloss_data(list(draw_sentences(recipe.sentences, seed)), vocabulary)


def _loss(logits: Tensor, answers: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), answers.flatten(), ignore_index=NO_ANSWER)


def _share_right(logits: Tensor, answers: Tensor) -> float:
    asked = answers != NO_ANSWER
    return float((logits.argmax(-1) == answers)[asked].float().mean())
