"""The trained course models in data/models: which there are, and loading them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from mha_course.data_files import data_path
from mha_course.models.gloss_model import GlossModel, GlossSizes

FOLDER = "models"
MAIN = GlossSizes()
FIRST_SEED = 0  # the run whose weights are kept of every setting; of the main model all are


@dataclass(frozen=True)
class Card:
    """What is known about one trained setting.

    sizes: of the model. steps: updates. seeds: for each training run its seed, seconds, accuracy by part on
    held-out sentences and the roles that were found; of the main model also the run's own file and sha256.
    file: the weights of the first seed. sha256: of the file. machine: where it was trained.
    """

    sizes: GlossSizes
    steps: int
    seeds: tuple[Mapping[str, object], ...]
    file: str
    sha256: str
    machine: str


def file_name(sizes: GlossSizes, step: int | None = None, seed: int = FIRST_SEED) -> str:
    """The name under which a model is kept; step names a checkpoint on the way, seed another run."""
    name = f"gloss-d{sizes.d_model}-h{sizes.h}" + ("" if seed == FIRST_SEED else f"-seed{seed}")
    return f"{name}.safetensors" if step is None else f"{name}-step{step:04d}.safetensors"


def save_model(model: GlossModel, path: Path) -> None:
    """Write a model as safetensors: half precision, its sizes in the file's head."""
    numbers = {name: tensor.half().contiguous() for name, tensor in model.state_dict().items()}
    save_file(numbers, path, metadata={"sizes": json.dumps(model.described())})
    path.chmod(0o644)  # safetensors writes files that only their owner may read


def read_model(path: Path) -> GlossModel:
    """Read a model that `save_model` wrote, in single precision, ready to be used.

    Raises: ValueError for a file that holds no course model.
    """
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata() or {}
        if "sizes" not in metadata:
            raise ValueError(f"{path.name} holds no course model: its sizes are not in the file.")
        numbers = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    with torch.random.fork_rng():
        model = GlossModel(GlossSizes(**json.loads(metadata["sizes"])))
    model.load_state_dict(numbers)
    return model.requires_grad_(False).eval()


@lru_cache(maxsize=8)
def load_course_model(
    d_model: int = MAIN.d_model, h: int = MAIN.h, step: int | None = None, seed: int = FIRST_SEED
) -> GlossModel:
    """The trained course model of these sizes.

    step: a checkpoint from the way there. seed: another training run, see `kept_seeds`.
    The model is shared by all who ask for it: look at it, and change a copy only.

    Raises: ValueError for sizes, a step or a seed without a trained model, with those that have one;
    FileNotFoundError when data/ is missing.
    """
    if (d_model, h) not in trained_settings():
        known = ", ".join(f"({d}, {heads})" for d, heads in trained_settings())
        raise ValueError(
            f"no model was trained with d_model={d_model}, h={h}; there are (d_model, h) = {known}."
        )
    sizes = GlossSizes(d_model=d_model, h=h)
    if seed != FIRST_SEED and seed not in kept_seeds(d_model, h):
        known = ", ".join(map(str, kept_seeds(d_model, h)))
        raise ValueError(f"no model of seed {seed} is kept for d_model={d_model}, h={h}; there are: {known}.")
    if step is not None and seed != FIRST_SEED:
        raise ValueError(f"checkpoints are kept of seed {FIRST_SEED} only; got step={step}, seed={seed}.")
    if step is not None and step not in checkpoints(d_model, h):
        known = ", ".join(map(str, checkpoints(d_model, h))) or "none"
        raise ValueError(f"no checkpoint after step {step} for d_model={d_model}, h={h}; there are: {known}.")
    return read_model(data_path(f"{FOLDER}/{file_name(sizes, step, seed)}"))


@lru_cache(maxsize=1)
def trained_settings() -> tuple[tuple[int, int], ...]:
    """All (d_model, h) with a trained model, smallest first."""
    return tuple(sorted((card.sizes.d_model, card.sizes.h) for card in cards()))


@lru_cache(maxsize=1)
def cards() -> tuple[Card, ...]:
    """The cards of all trained settings."""
    read = json.loads(data_path(f"{FOLDER}/cards.json").read_text(encoding="utf-8"))
    return tuple(
        Card(
            GlossSizes(**card["sizes"]),
            card["steps"],
            tuple(card["seeds"]),
            card["file"],
            card["sha256"],
            card["machine"],
        )
        for card in read
    )


def card_of(d_model: int, h: int) -> Card | None:
    """The card of a setting, None when no such model was trained."""
    return next((c for c in cards() if (c.sizes.d_model, c.sizes.h) == (d_model, h)), None)


def checkpoints(d_model: int, h: int) -> tuple[int, ...]:
    """The steps after which the model of this setting was kept on the way."""
    start = file_name(GlossSizes(d_model=d_model, h=h)).removesuffix(".safetensors") + "-step"
    folder = data_path(FOLDER)
    return tuple(sorted(int(path.stem.removeprefix(start)) for path in folder.glob(f"{start}*.safetensors")))


def kept_seeds(d_model: int = MAIN.d_model, h: int = MAIN.h) -> tuple[int, ...]:
    """The training runs of a setting whose weights are kept: three of the main model, else the first."""
    sizes, folder = GlossSizes(d_model=d_model, h=h), data_path(FOLDER)
    card = card_of(d_model, h)
    seeds = [run["seed"] for run in card.seeds] if card else []
    return tuple(seed for seed in seeds if (folder / file_name(sizes, seed=seed)).exists())
