"""Trained models of the leaderboard whose weights are kept: a few variants, to look at what they learned."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from mha_course.data_files import data_path
from mha_course.models.digit_model import DigitModel
from mha_course.models.gloss_model import GlossModel
from mha_course.training.leaderboard import Row, Setting, model_of
from mha_course.training.train_digits import DigitSetting, digit_model_of

FIRST_SEED = 0  # of each kept row, the weights of this run
KEPT = {
    "gloss": tuple(Row(name, 8) for name in ("plain", "mixture", "talking", "composable")),
    "digits": tuple(Row(name, 8) for name in ("plain", "overlapping", "mixture")),
}


def row_file(task: str, row: Row) -> str:
    """The name under which the weights of a row are kept."""
    return f"leaderboard-{task}-{row.variant}-h{row.h}.safetensors"


def save_row(model: nn.Module, path: Path) -> None:
    """Write a trained model as safetensors, in half precision; a file with this name is a whole one."""
    part = path.with_suffix(".part")
    save_file({name: tensor.half().contiguous() for name, tensor in model.state_dict().items()}, part)
    part.chmod(0o644)  # safetensors writes files that only their owner may read
    part.replace(path)


@lru_cache(maxsize=4)
def kept_gloss_row(variant: str) -> GlossModel:
    """The leaderboard's trained gloss model with this variant and 8 heads, first seed.

    The model is shared by all who ask for it. Raises: ValueError for a variant whose weights aren't kept."""
    row = _kept("gloss", variant)
    return _filled(model_of(row, Setting(), FIRST_SEED), row_file("gloss", row))


@lru_cache(maxsize=4)
def kept_digit_row(variant: str) -> DigitModel:
    """The leaderboard's trained model of written digits with this variant and 8 heads, first seed.

    The model is shared by all who ask for it. Raises: ValueError for a variant whose weights aren't kept."""
    row = _kept("digits", variant)
    return _filled(digit_model_of(row, DigitSetting(), FIRST_SEED), row_file("digits", row))


def _kept(task: str, variant: str) -> Row:
    for row in KEPT[task]:
        if row.variant == variant:
            return row
    names = ", ".join(row.variant for row in KEPT[task])
    raise ValueError(f"no weights of {variant!r} are kept for the {task}; there are those of {names}.")


def _filled(model: nn.Module, file: str) -> nn.Module:
    path = data_path(f"models/{file}")
    try:
        kept = load_file(path)
        model.load_state_dict({name: tensor.to(torch.float32) for name, tensor in kept.items()})
    except (SafetensorError, RuntimeError) as trouble:
        raise ValueError(f"{path} is damaged: restore it with git checkout -- data.") from trouble
    return model.requires_grad_(False).eval()
