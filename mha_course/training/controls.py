"""What becomes of the heads when the task is another one; recorded in data/models/controls.json."""

from __future__ import annotations

import json
import time
from collections import deque
from pathlib import Path

import torch

from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.training.gloss_batches import GlossData
from mha_course.training.live import best_of_each_role
from mha_course.training.masked_words import train_masked_words
from mha_course.training.record import (
    SCORING_SEED,
    TRAINING_SEED,
    held_out,
    right_answers,
    run,
    scores_of,
    word_counts,
)
from mha_course.training.train_gloss import Recipe, fresh_model, training_data

FILE = "controls.json"
PLAIN = "without mutation and liaison"
WORDS = "hidden words guessed"
SCORED_SENTENCES = 1_000
LAST_STEPS = 100  # over which the share of hidden words found is averaged


def record_controls(folder: Path, seeds: tuple[int, ...]) -> None:
    """Train every control for every seed that is not in controls.json yet, and write the file."""
    path, recipe = folder / FILE, Recipe()
    told = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {PLAIN: [], WORDS: []}
    data = training_data(recipe, fresh_model(GlossSizes(), 0).vocabulary, TRAINING_SEED)
    sentences = [sentence.parsed for sentence in held_out(SCORED_SENTENCES, SCORING_SEED)]
    counts = word_counts(recipe)
    for name, runs in told.items():
        for seed in seeds:
            if any(one["seed"] == seed for one in runs):
                continue
            train = _without_neighbours if name == PLAIN else _hidden_words
            model, seconds, right = train(recipe, data, seed)
            roles = best_of_each_role(scores_of(model, sentences, counts))
            runs.append({"seed": seed, "seconds": round(seconds, 1), "accuracy": right, "roles": roles})
            path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print(f"{name}, seed {seed}: {seconds:.0f} s, {right}", flush=True)


def _without_neighbours(
    recipe: Recipe, data: GlossData, seed: int
) -> tuple[GlossModel, float, dict[str, float]]:
    parts = ("stem", "ending")
    model, seconds = run(GlossSizes(), recipe, seed, data, parts=parts)
    right = right_answers(model)
    return model, seconds, {part: round(right[part], 4) for part in parts}


def _hidden_words(recipe: Recipe, data: GlossData, seed: int) -> tuple[GlossModel, float, dict[str, float]]:
    model, start = fresh_model(GlossSizes(), seed), time.process_time()
    with torch.random.fork_rng():
        torch.manual_seed(seed)  # dropout draws from the global generator
        steps = train_masked_words(model, data, recipe, seed)
        last = deque((step.accuracy["hidden word"] for step in steps), maxlen=LAST_STEPS)
    right = {"hidden word": round(sum(last) / len(last), 4)}
    return model.eval(), time.process_time() - start, right
