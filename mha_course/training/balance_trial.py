"""What the balance loss of a mixture of heads is for: trained with it, without it, and with much of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import torch
from torch import Tensor

from mha_course.data_files import data_path
from mha_course.models.digit_model import DigitModel
from mha_course.training.leaderboard import BALANCE, Row
from mha_course.training.train_digits import (
    DigitSetting,
    digit_model_of,
    digit_split,
    digits_right,
    train_digits,
)
from mha_course.variants.mixture_of_heads import MixtureOfHeads, Routing

FILE = "balance.json"
FACTORS = (0.0, BALANCE, 1.0)
SEEDS = range(5)
MIXTURE = Row("mixture", 8)  # 2 shared heads, 3 of 6 routed ones chosen


@dataclass(frozen=True)
class BalanceRun:
    """One mixture trained on written digits. factor: of the balance loss; right: share of test pictures.

    chosen: for each layer, the share of the test pictures' patches that choose each routed head. losses: each
    layer's balance loss there: K when evenly spread, at most the number of routed heads."""

    factor: float
    seed: int
    right: float
    chosen: tuple[tuple[float, ...], ...]
    losses: tuple[float, ...]

    @property
    def unused(self) -> int:
        """How many routed heads, of all layers, fewer than one patch in a hundred chooses."""
        return sum(share < 0.01 for layer in self.chosen for share in layer)


def run_balance(factor: float, seed: int, setting: DigitSetting | None = None) -> BalanceRun:
    """Train one mixture on one thread and say who is chosen."""
    torch.set_num_threads(1)
    setting = DigitSetting() if setting is None else setting
    model = digit_model_of(MIXTURE, setting, seed)
    for _ in train_digits(model, setting, seed, factor):
        pass
    routings = routings_of(model, digit_split(setting)[2])
    chosen = tuple(tuple(round(float(s), 4) for s in r.chosen.float().mean((0, 1))) for r in routings)
    losses = tuple(round(float(r.balance), 3) for r in routings)
    return BalanceRun(factor, seed, round(digits_right(model, setting)[0], 4), chosen, losses)


@torch.no_grad()
def routings_of(model: DigitModel, images: Tensor) -> list[Routing]:
    """How each layer's tokens weigh its heads, for pictures (b, 8, 8)."""
    found: list[Routing] = []

    def note(layer: MixtureOfHeads, args: tuple, kwargs: dict) -> None:
        found.append(layer.routing(args[0] if args else kwargs["query"]))

    layers = [layer for layer in model.modules() if isinstance(layer, MixtureOfHeads)]
    hooks = [layer.register_forward_pre_hook(note, with_kwargs=True) for layer in layers]
    training, _ = model.training, model.eval()
    try:
        model(images)
    finally:
        model.train(training)
        for hook in hooks:
            hook.remove()
    return found


@lru_cache(maxsize=1)
def balance_runs() -> tuple[BalanceRun, ...]:
    """The recorded runs: three factors, five seeds each. Raises: FileNotFoundError when data/ is missing."""
    told = json.loads(data_path(f"models/{FILE}").read_text(encoding="utf-8"))
    return tuple(
        BalanceRun(
            run["factor"],
            run["seed"],
            run["right"],
            tuple(map(tuple, run["chosen"])),
            tuple(run["losses"]),
        )
        for run in told
    )


def record_balance(
    path: Path, factors: Sequence[float] = FACTORS, seeds: Sequence[int] = SEEDS, processes: int = 1
) -> None:
    """Train every factor with every seed and write the runs down."""
    # Fresh processes: torch must not be copied with its threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(run_balance, *one) for one in product(factors, seeds)]
        runs = [json.dumps(asdict(future.result())) for future in futures]
    path.write_text("[\n " + ",\n ".join(runs) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    record_balance(data_path("models") / FILE)
