"""All variants on one task: the same data, the same number of steps, as many parameters as can be.

A row is a number of plain heads, or a variant with 8 heads. Parameters are made alike by the inner width of
the feed-forward part: a variant with a smaller attention layer gets a wider one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mha_course.layers import MultiHeadAttention
from mha_course.models.digit_model import DigitModel
from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.text.course_language.gloss import PARTS
from mha_course.training.gloss_batches import NO_ANSWER, GlossData
from mha_course.training.kept_answers import kept_answers
from mha_course.training.own_chance import with_own_chance
from mha_course.training.record_gates import in_batches
from mha_course.training.train_gloss import Recipe, Step, accuracy, train_gloss
from mha_course.variants.line_up import cached_numbers, variant
from mha_course.variants.mixture_of_heads import balance_losses

BALANCE = 0.01  # beta of the mixture's balance loss (Jin et al. 2024)


@dataclass(frozen=True)
class Row:
    """One line of the leaderboard: a variant and its number of heads."""

    variant: str
    h: int


ROWS = (
    *(Row("plain", h) for h in (8, 1, 2, 4, 16)),
    Row("wide", 16),
    *(
        Row(name, 8)
        for name in (
            "grouped",
            "multi-query",
            "collaborative",
            "collaborative, half",
            "overlapping",
            "mixture",
            "talking",
            "composable",
        )
    ),
)


@dataclass(frozen=True)
class Setting:
    """Where all rows run: sizes of the model, recipe, and how often the held-out loss is looked at.

    As it stands: the setting of the recorded leaderboard. It is narrow on purpose, so that 8 heads stay well
    above the lowest loss that the task allows (about 0.15) and there is something to gain. d_ff is that of
    the plain rows."""

    d_model: int = 48
    n_layers: int = 2
    d_ff: int = 192
    dropout: float = 0.1
    recipe: Recipe = Recipe(steps=1_800, rate=2e-3, sentences=20_000)
    look: int = 50


def model_of(row: Row, setting: Setting, seed: int) -> GlossModel:
    """An untrained model with the row's attention in every layer, as many parameters as with plain heads."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        layers, d_ff = attention_layers(row, setting.d_model, setting.n_layers, setting.d_ff, setting.dropout)
        model = GlossModel(GlossSizes(setting.d_model, row.h, setting.n_layers, d_ff, setting.dropout))
        for layer, attention in zip(model.encoder.layers, layers, strict=True):
            layer.attention = attention
    return model


def attention_layers(
    row: Row, d_model: int, n_layers: int, d_ff: int, dropout: float
) -> tuple[list[MultiHeadAttention], int]:
    """Attention for every layer of a model, and the inner width beside it that makes parameters alike.

    d_ff: what plain heads have beside them. A variant that has more parameters than the whole feed-forward
    part can give leaves it d_model features."""
    make = variant(row.variant).make
    layers = [make(d_model, row.h, dropout) for _ in range(n_layers)]
    spare = parameters(variant("plain").make(d_model, 1, 0.0)) - parameters(layers[0])
    # One more inner feature costs a column, a row and a bias.
    return layers, max(d_model, d_ff + round(spare / (2 * d_model + 1)))


def train_row(
    model: GlossModel, setting: Setting, seed: int, data: GlossData, tested: GlossData
) -> Iterator[tuple[Step, float | None]]:
    """Train the model in place; stop asking, and it stops. Equal seeds give equal runs on one machine.

    Yields: what every update found, with the held-out loss every `setting.look` updates, else None."""
    with balance_losses(model) as balances:

        def added() -> Tensor:
            mean = torch.stack(balances).mean() if balances else torch.zeros(())
            balances.clear()
            return BALANCE * mean

        steps = train_gloss(model, data, setting.recipe, seed, added=added)
        for step in with_own_chance(steps, seed):
            loss = None
            if step.number % setting.look == 0:
                loss = round(held_out_loss(model, tested), 4)
                balances.clear()
                model.train()
            yield step, loss


def run_row(
    row: Row,
    setting: Setting,
    seed: int,
    data: GlossData,
    tested: GlossData,
    keep: Callable[[GlossModel], None] | None = None,
) -> dict[str, object]:
    """Train one model and say how it went: held-out loss on the way, accuracy at the end, cost.

    keep: gets the trained model.

    Returns: parameters of the model and of one attention layer; flops of the encoder for one sentence of 16
    words, counted; cached numbers a token and layer; losses, every `setting.look` steps; accuracy; seconds of
    processor time.
    """
    model, start = model_of(row, setting, seed), time.process_time()
    losses = [loss for _, loss in train_row(model, setting, seed, data, tested) if loss is not None]
    seconds = time.process_time() - start
    if keep is not None:
        keep(model)
    attention = model.encoder.layers[0].attention
    return {
        "parameters": parameters(model),
        "attention_parameters": parameters(attention),
        "flops": encoder_flops(model, 16),
        "cached": cached_numbers(attention),
        "losses": losses,
        "accuracy": {part: round(share, 4) for part, share in accuracy(model, tested).items()},
        "seconds": round(seconds, 1),
    }


@kept_answers
@torch.no_grad()
def held_out_loss(model: GlossModel, tested: GlossData) -> float:
    """Mean loss of a word, the four parts summed, over sentences the model was not trained on."""
    model.eval()
    total, words = 0.0, 0
    for batch in in_batches(tested, 100):
        logits = model(batch.ids)
        words += int((batch.ids != 0).sum())
        for part in PARTS:
            total += float(
                F.cross_entropy(
                    logits[part].flatten(0, 1),
                    batch.answers[part].flatten(),
                    ignore_index=NO_ANSWER,
                    reduction="sum",
                )
            )
    return total / words


def encoder_flops(model: GlossModel | DigitModel, n: int) -> int:
    """FLOPs of the encoder over n words or patches, counted where the fused kernel hides none."""
    x = torch.zeros(1, n, model.encoder.layers[0].attention.d_model)
    model.eval()
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model.encoder(x)
    return int(counter.get_total_flops())


def steps_to(losses: Sequence[float], threshold: float, look: int) -> int | None:
    """The first step at which the held-out loss was seen at or below the threshold, None for never."""
    return next((look * (i + 1) for i, loss in enumerate(losses) if loss <= threshold), None)


def parameters(module: nn.Module) -> int:
    """How many numbers the module learns."""
    return sum(p.numel() for p in module.parameters())
