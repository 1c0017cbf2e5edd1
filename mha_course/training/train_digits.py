"""The leaderboard's second task: which digit is it. One model a row, trained on few pictures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.models.digit_model import DigitModel, digit_images
from mha_course.training.leaderboard import BALANCE, Row, attention_layers, parameters
from mha_course.training.own_chance import with_own_chance
from mha_course.variants.mixture_of_heads import balance_losses

DIGIT_ROWS = (
    Row("plain", 8),
    Row("plain", 1),
    Row("plain", 2),
    Row("plain", 4),
    Row("overlapping", 8),
    Row("mixture", 8),
)
SPLIT_SEED = 44


@dataclass(frozen=True)
class DigitSetting:
    """Sizes of the model and how it is trained: `pictures` of the 1,797 to learn from, the rest to test."""

    d_model: int = 32
    n_layers: int = 2
    d_ff: int = 128
    dropout: float = 0.1
    pictures: int = 500
    steps: int = 600
    batch: int = 50
    rate: float = 2e-3
    weight_decay: float = 0.01


def digit_split(setting: DigitSetting) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Pictures and digits to learn from, then those to test on; the same split for every row and seed."""
    images, digits = digit_images()
    order = torch.randperm(len(digits), generator=torch.Generator().manual_seed(SPLIT_SEED))
    learn, test = order[: setting.pictures], order[setting.pictures :]
    return images[learn], digits[learn], images[test], digits[test]


def digit_model_of(row: Row, setting: DigitSetting, seed: int) -> DigitModel:
    """An untrained model with the row's attention, as many parameters as with plain heads."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        layers, d_ff = attention_layers(row, setting.d_model, setting.n_layers, setting.d_ff, setting.dropout)
        model = DigitModel(setting.d_model, row.h, setting.n_layers, d_ff, setting.dropout)
        for layer, attention in zip(model.encoder.layers, layers, strict=True):
            layer.attention = attention
    return model


def train_digits(
    model: DigitModel, setting: DigitSetting, seed: int, balance: float = BALANCE
) -> Iterator[float]:
    """Train the model in place and yield the loss of every update; stop asking, and it stops.

    Equal seeds give equal runs on one machine. balance: the factor of a mixture's balance loss."""
    yield from with_own_chance(_steps(model, setting, seed, balance), seed)


def _steps(model: DigitModel, setting: DigitSetting, seed: int, balance: float) -> Iterator[float]:
    images, digits, _, _ = digit_split(setting)
    g = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), setting.rate, weight_decay=setting.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, setting.rate, setting.steps)
    model.train()
    with balance_losses(model) as balances:
        for _ in range(setting.steps):
            chosen = torch.randint(len(digits), (setting.batch,), generator=g)
            balances.clear()
            loss = F.cross_entropy(model(images[chosen]), digits[chosen])
            added = balance * torch.stack(balances).mean() if balances else 0.0
            optimiser.zero_grad(set_to_none=True)
            (loss + added).backward()
            optimiser.step()
            schedule.step()
            yield float(loss.detach())


@torch.no_grad()
def digits_right(model: DigitModel, setting: DigitSetting) -> tuple[float, float]:
    """The share of right answers and the mean loss over the pictures that nothing was learned from."""
    _, _, images, digits = digit_split(setting)
    training, _ = model.training, model.eval()
    logits = model(images)
    model.train(training)
    return float((logits.argmax(-1) == digits).float().mean()), float(F.cross_entropy(logits, digits))


def run_digits(
    row: Row, setting: DigitSetting, seed: int, keep: Callable[[DigitModel], None] | None = None
) -> dict[str, object]:
    """Train one model and say how it went: parameters, held-out loss, share right, seconds of processor.

    keep: gets the trained model."""
    model, start = digit_model_of(row, setting, seed), time.process_time()
    for _ in train_digits(model, setting, seed):
        pass
    seconds = time.process_time() - start
    if keep is not None:
        keep(model)
    right, loss = digits_right(model, setting)
    return {
        "parameters": parameters(model),
        "right": round(right, 4),
        "loss": round(loss, 4),
        "seconds": round(seconds, 1),
    }
