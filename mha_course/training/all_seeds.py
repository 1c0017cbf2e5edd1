"""The models of all settings and seeds, trained again: data/models keeps the weights of few of them.

What was trained lies in a folder of its own and is not trained twice. Each new model is held against its
card: the same seed gives the same weights on the same kind of machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mha_course.models.course_models import MAIN, Card, card_of, file_name, read_model, save_model
from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.training.gloss_batches import GlossData
from mha_course.training.record import CHECKPOINTS, TRAINING_SEED, right_answers, run
from mha_course.training.train_gloss import Recipe, fresh_model, training_data

REBUILT = "rebuilt.json"


def seed_path(folder: Path, sizes: GlossSizes, seed: int, step: int | None = None) -> Path:
    """Where the model of one seed lies, or a checkpoint of it: each seed has a folder of its own."""
    return folder / f"seed{seed}" / file_name(sizes, step)


def all_seeds(
    settings: Sequence[GlossSizes],
    seeds: Sequence[int],
    folder: Path,
    say: Callable[[str], None] = print,
    recipe: Recipe | None = None,
    kept: Path | None = None,
) -> Iterator[tuple[GlossSizes, int, GlossModel]]:
    """The model of every setting and seed, as it is kept (half precision); what is missing is trained.

    folder: where the models lie; stopped and started again, this goes on after the last whole model. say:
    gets a line for every model that was trained, with what it has in common with its card. kept: a folder of
    models that needn't be trained again, such as data/models; None trains every one.
    """
    recipe, data = recipe or Recipe(), None
    for sizes in settings:
        for seed in seeds:
            path = seed_path(folder, sizes, seed)
            if kept is not None and (known := kept / file_name(sizes, seed=seed)).exists():
                path = known
            if not path.exists():
                data = data or training_data(recipe, fresh_model(sizes, 0).vocabulary, TRAINING_SEED)
                say(_train(sizes, seed, recipe, data, path))
            yield sizes, seed, read_model(path)


def main_first(settings: Sequence[GlossSizes]) -> list[GlossSizes]:
    """The settings with the most telling ones first: the main model, its width, a quarter of it, the rest."""
    return sorted(settings, key=lambda s: (s != MAIN, s.d_model not in (MAIN.d_model, 32), -s.d_model, s.h))


def compared(card: Card | None, seed: int, weights: Path, right: dict[str, float]) -> dict[str, object]:
    """What a new model has in common with the one of the card: the file's bytes, and the right answers.

    Of the first seed the card knows the bytes; of the others right answers alone. None stands for unknown.
    """
    known = next((one for one in card.seeds if one["seed"] == seed), None) if card else None
    rounded = {part: round(share, 4) for part, share in right.items()}
    first = known is not None and card.seeds[0] is known
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    return {
        "accuracy": rounded,
        "same_accuracy": None if known is None else rounded == known["accuracy"],
        "same_bytes": digest == card.sha256 if first else None,
    }


def _train(sizes: GlossSizes, seed: int, recipe: Recipe, data: GlossData, path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    keep = CHECKPOINTS if sizes == MAIN else ()
    model, seconds = run(sizes, recipe, seed, data, keep=keep, folder=path.parent)
    unfinished = path.with_suffix(".unfinished")
    save_model(model, unfinished)
    found = compared(_card(sizes), seed, unfinished, right_answers(model))
    named = {"file": path.name, "seed": seed, "seconds": round(seconds, 1)}
    _note(path.parents[1] / REBUILT, {**named, **found})
    unfinished.rename(path)  # a file with this name is a whole one
    return f"{path.name}, seed {seed}: {seconds:.0f} s, {found}"


def _card(sizes: GlossSizes) -> Card | None:
    try:
        return card_of(sizes.d_model, sizes.h)
    except FileNotFoundError:
        return None


def _note(path: Path, found: dict[str, object]) -> None:
    notes = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    notes = [one for one in notes if (one["file"], one["seed"]) != (found["file"], found["seed"])] + [found]
    path.write_text(json.dumps(notes, indent=1) + "\n", encoding="utf-8")
