"""Noise in heads and models, and ensembles, recorded in data/models/noise.json.

d_model 128, h = 1 and h = 8, three training runs each, 400 held-out sentences. Written by

    python -m mha_course.training.record_noise

which trains the runs that aren't kept, in build/seeds, as `python -m mha_course.training patterns` does. The
rest takes about a quarter of an hour on one thread and goes on where it was stopped.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch

from mha_course.data_files import DATA_FOLDER
from mha_course.models.course_models import MAIN, read_model
from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.training.all_seeds import all_seeds, seed_path
from mha_course.training.ensemble_trial import (
    HIDDEN_SHARES,
    ensemble_accuracy,
    heads_alone,
    heads_voting,
    pairs_voting,
    with_hidden_words,
)
from mha_course.training.gloss_batches import GlossData
from mha_course.training.gloss_without_heads import held_out_glosses
from mha_course.training.noise_trial import (
    ALL_HEADS,
    DRAWS,
    EMBEDDING,
    INTO,
    KINDS,
    OUT_OF,
    SHARES,
    SPREAD,
    noise_costs,
)
from mha_course.training.record_gates import RunBook

FILE = "noise.json"
SEEDS, HEADS = (0, 1, 2), (1, 8)
SENTENCES = 400
# Halfway through training h = 8 answers about as well as h = 1 does at the end: what noise costs there tells
# whether the number of heads matters, or how well a model has learned.
EARLY_STEP = 900
EARLY_KINDS = (ALL_HEADS, SPREAD, INTO, OUT_OF, EMBEDDING)


def record_noise(
    folder: Path,
    models: dict[tuple[int, int], GlossModel],
    data: GlossData,
    say: Callable[[str], None] = print,
    early: dict[int, GlossModel] | None = None,
) -> None:
    """Try every kind of noise on every model, and ensembles of the runs, and write noise.json.

    folder: gets the file. models: by h and seed, three runs of each h. early: by seed, the runs of the
    largest h after `EARLY_STEP` updates, which get some kinds of noise for comparison.
    """
    book = RunBook(folder / FILE)
    book.put("settings", {"shares": list(SHARES)}, lambda: {"sentences": len(data.lengths), "draws": DRAWS})
    for (h, seed), model in models.items():
        book.put("models", {"h": h, "seed": seed}, partial(_model, model, data))
        for kind in KINDS:
            book.put("noise", {"h": h, "seed": seed, "kind": kind}, partial(_noise, model, data, kind))
        say(f"noise, h {h}, seed {seed}")
    for (h, seed), model in models.items():
        if h == max(h for h, _ in models):
            book.put("votes", {"h": h, "seed": seed}, partial(_votes, model, data))
            say(f"heads voting, h {h}, seed {seed}")
    for h in dict.fromkeys(h for h, _ in models):
        runs = [model for (heads, _), model in models.items() if heads == h]
        for share in (0.0, *SHARES):
            key = {"h": h, "noise": "embedding", "share": share}
            book.put("ensemble", key, partial(_ensemble, runs, data, share))
        for share in HIDDEN_SHARES:
            key = {"h": h, "noise": "hidden words", "share": share}
            hidden = with_hidden_words(data, share, runs[0].vocabulary)
            book.put("ensemble", key, partial(_ensemble, runs, hidden, 0.0))
        say(f"ensembles, h {h}")
    for seed, model in (early or {}).items():
        key = {"step": EARLY_STEP, "seed": seed}
        book.put("early models", key, partial(_model, model, data))
        for kind in EARLY_KINDS:
            book.put("early", {**key, "kind": kind}, partial(_noise, model, data, kind))
        say(f"noise after {EARLY_STEP} steps, seed {seed}")


def weights_digest(model: GlossModel) -> str:
    """SHA-256 of all weights in half precision, as files keep them: what was measured can be known again."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode() + tensor.half().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _model(model: GlossModel, data: GlossData) -> dict[str, object]:
    return {"sha256": weights_digest(model), "accuracy": _shares(ensemble_accuracy([model], data))}


def _noise(model: GlossModel, data: GlossData, kind: str) -> dict[str, object]:
    cost = noise_costs(model, data, kind)
    if cost is None:
        return {"points": None, "worst": None}
    points = {part: [round(lost, 2) + 0.0 for lost in row] for part, row in cost.points.items()}
    return {"points": points, "worst": [round(lost, 2) + 0.0 for lost in cost.worst]}


def _ensemble(runs: Sequence[GlossModel], data: GlossData, share: float) -> dict[str, object]:
    """Accuracy by part: each run alone, all runs averaged, and several noisy readings of each run averaged;
    without noise those are all the same.
    """
    alone = [ensemble_accuracy([model], data, share, seed=i) for i, model in enumerate(runs)]
    again = alone
    if share:
        again = [ensemble_accuracy([model] * len(runs), data, share, seed=i) for i, model in enumerate(runs)]
    return {
        "one": [_shares(one) for one in alone],
        "together": _shares(ensemble_accuracy(runs, data, share, seed=len(runs))),
        "read_again": [_shares(one) for one in again],
    }


def _votes(model: GlossModel, data: GlossData) -> dict[str, object]:
    alone = heads_alone(model, data)
    return {
        "whole": _shares(ensemble_accuracy([model], data)),
        "alone": [{"head": list(head), "accuracy": _shares(right)} for head, right in alone.items()],
        "best_alone": round(max(map(statistics.fmean, (one.values() for one in alone.values()))), 4),
        "voting": _shares(heads_voting(model, data)),
        "pairs_voting": _shares(pairs_voting(model, data)),
    }


def _shares(right: dict[str, float]) -> dict[str, float]:
    return {part: round(share, 4) for part, share in right.items()}


def main() -> None:
    """Train what is missing, and record."""
    torch.set_num_threads(1)  # two threads are slower than one at these sizes
    folder, trained = DATA_FOLDER / "models", DATA_FOLDER.parent / "build" / "seeds"
    settings = [GlossSizes(h=h) for h in HEADS]
    found = all_seeds(settings, SEEDS, trained, kept=folder)
    models = {(sizes.h, seed): model for sizes, seed, model in found}
    data = held_out_glosses(SENTENCES)
    early = {
        seed: read_model(seed_path(trained, sizes, seed, EARLY_STEP))
        for sizes, seed, _ in all_seeds([MAIN], SEEDS, trained)
    }
    record_noise(folder, models, data, lambda line: print(line, flush=True), early)


if __name__ == "__main__":
    main()
