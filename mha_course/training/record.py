"""One training run from start to finish, and what is written down about it."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

import torch

from mha_course.heads.roles import RoleScores, score_roles
from mha_course.models.course_models import MAIN, file_name, save_model
from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.text.course_language.gloss import PARTS
from mha_course.text.course_language.grammar import CourseSentence, draw_sentences
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.training.gloss_batches import GlossData, gloss_data
from mha_course.training.train_gloss import Recipe, Step, accuracy, fresh_model, train_gloss

# Sentences for three purposes that never meet: to train on, to count right answers, to score heads.
TRAINING_SEED, TESTING_SEED, SCORING_SEED = 11, 22, 33
CONTROL_SEED = 1_000
CHECKPOINTS = (0, 150, 300, 450, 600, 750, 900, 1_100, 1_350)


def word_counts(recipe: Recipe | None = None) -> Counter[str]:
    """How often each word occurs in the sentences that the models are trained on."""
    recipe = recipe or Recipe()
    return Counter(word for s in draw_sentences(recipe.sentences, TRAINING_SEED) for word in s.words)


def held_out(count: int, seed: int) -> list[CourseSentence]:
    """Sentences that no model was trained on."""
    seen = _trained_on()
    found = (s for s in draw_sentences(2 * count, seed) if s.words not in seen)
    return [next(found) for _ in range(count)]


def attention_of(model: GlossModel, sentences: list[ParsedSentence]) -> list[torch.Tensor]:
    """For each sentence (layers, heads, n, n)."""
    return [model.attend(sentence.words).weights for sentence in sentences]


def scores_of(model: GlossModel, sentences: list[ParsedSentence], counts: Counter[str]) -> RoleScores:
    """Role scores of a model beside those of an untrained one of the same sizes."""
    control = fresh_model(model.sizes, CONTROL_SEED).eval()
    return score_roles(
        attention_of(model.eval(), sentences), sentences, counts, attention_of(control, sentences)
    )


def run(
    sizes: GlossSizes,
    recipe: Recipe,
    seed: int,
    data: GlossData,
    watch: Callable[[Step], None] | None = None,
    keep: Collection[int] = (),
    folder: Path | None = None,
    parts: Sequence[str] = PARTS,
) -> tuple[GlossModel, float]:
    """Train one model; returns it with the seconds of processor time.

    keep: steps after which a checkpoint is written to `folder`. watch: called after every step. parts: as in
    `train_gloss`.
    """
    model, start = fresh_model(sizes, seed), time.process_time()
    with torch.random.fork_rng():
        torch.manual_seed(seed)  # dropout draws from the global generator
        if 0 in keep:
            save_model(model, folder / file_name(sizes, 0))
        for step in train_gloss(model, data, recipe, seed, parts=parts):
            if watch is not None:
                watch(step)
            if step.number in keep:
                save_model(model, folder / file_name(sizes, step.number))
    return model.eval(), time.process_time() - start


def told(seed: int, seconds: float, right: dict[str, float], scores: RoleScores) -> dict[str, object]:
    """What a card says of one run: accuracy by part, and the roles that hold on the held-out half."""
    roles = [
        {
            "role": found.criterion.name,
            "kind": found.criterion.kind,
            "head": [found.layer, found.head],
            "held": round(found.held, 3),
            "interval": [round(found.low, 3), round(found.high, 3)],
            "rule": found.rule,
            "baseline": round(found.baseline, 3),
            "control": round(found.control, 3),
            "asked": found.asked,
        }
        for found in scores.roles()
    ]
    rounded = {part: round(share, 4) for part, share in right.items()}
    return {"seed": seed, "seconds": round(seconds, 1), "accuracy": rounded, "roles": roles}


def testing_data(model: GlossModel, count: int = 1_500) -> GlossData:
    """Held-out sentences with their glosses."""
    return gloss_data(held_out(count, TESTING_SEED), model.vocabulary)


def put_card(folder: Path, sizes: GlossSizes, recipe: Recipe, runs: list[dict[str, object]]) -> None:
    """Add or replace the card of a setting in cards.json.

    Where other runs than the first are kept as well, each of them is told with its file and SHA-256.
    """
    path, name = folder / "cards.json", file_name(sizes)
    cards = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    runs = [{**run, **_file_of(folder, sizes, run["seed"])} for run in runs]
    card = {
        "file": name,
        "sha256": _sha256(folder / name),
        "task": "word-by-word gloss of the course language",
        "sizes": asdict(sizes),
        "recipe": asdict(recipe),
        "steps": recipe.steps,
        "machine": f"{platform.processor() or platform.machine()}, 1 thread, torch {torch.__version__}",
        "seeds": runs,
    }
    cards = [old for old in cards if old["file"] != name] + [card]
    cards.sort(key=lambda card: (card["sizes"]["d_model"], card["sizes"]["h"]))
    path.write_text(json.dumps(cards, indent=1) + "\n", encoding="utf-8")


def right_answers(model: GlossModel) -> dict[str, float]:
    """Accuracy by part on held-out sentences."""
    return accuracy(model, testing_data(model))


@lru_cache(maxsize=1)
def _trained_on() -> frozenset[tuple[str, ...]]:
    return frozenset(s.words for s in draw_sentences(Recipe().sentences, TRAINING_SEED))


def _file_of(folder: Path, sizes: GlossSizes, seed: int) -> dict[str, str]:
    path = folder / file_name(sizes, seed=seed)
    return {"file": path.name, "sha256": _sha256(path)} if sizes == MAIN and path.exists() else {}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
