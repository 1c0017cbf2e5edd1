"""How the main model's heads take their roles: scores at every checkpoint of every training run
(data/models/forming.json)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import torch

from mha_course.heads.criteria import NEXT, PREVIOUS, RAREST
from mha_course.heads.roles import RoleScores
from mha_course.models.course_models import read_model
from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.training.all_seeds import seed_path
from mha_course.training.live import best_of_each_role
from mha_course.training.record import (
    CHECKPOINTS,
    SCORING_SEED,
    held_out,
    right_answers,
    scores_of,
    word_counts,
)

FILE = "forming.json"
SCORED_SENTENCES = 600


def record_forming(
    folder: Path, runs: Iterable[tuple[GlossSizes, int, GlossModel]], seeds_folder: Path
) -> None:
    """Score every checkpoint of every run and write forming.json.

    runs: sizes, seed and finished model; the checkpoints on the way lie in seeds_folder.
    """
    sentences = [sentence.parsed for sentence in held_out(SCORED_SENTENCES, SCORING_SEED)]
    counts, told = word_counts(), []
    for sizes, seed, finished in runs:
        for step in (*CHECKPOINTS, None):
            model = finished if step is None else read_model(seed_path(seeds_folder, sizes, seed, step))
            scores = scores_of(model, sentences, counts)
            right = {part: round(share, 4) for part, share in right_answers(model).items()}
            told.append(
                {
                    "seed": seed,
                    "step": step,
                    "accuracy": right,
                    "best": best_of_each_role(scores),
                    "heads": head_labels(scores),
                }
            )
            print(f"seed {seed}, checkpoint {step}: {right}", flush=True)
    (folder / FILE).write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def head_labels(scores: RoleScores) -> list[list[dict[str, object] | None]]:
    """For every layer and head the role that it passes on both halves of the sentences; None for none.

    A head with several roles is called after its position first, then after the rarest word, then after the
    relation with most hits beyond what the best fixed distance hits. Relations to punctuation are left out.
    """
    passing, all_scores = scores.passing(), scores.scores
    baselines = [role.baseline for role in scores.found(resamples=1)]
    asked = scores.hits.asked.sum(0).tolist()
    first = {PREVIOUS: 2, NEXT: 2, RAREST: 1}
    labels = []
    for layer in range(passing.shape[0]):
        row = []
        for head in range(passing.shape[1]):
            held = torch.nonzero(passing[layer, head]).flatten().tolist()
            ranked = []
            for i in held:
                criterion, score = scores.criteria[i], float(all_scores[layer, head, i])
                if criterion.relation == "punct" or criterion.kind == "rare" and criterion.name != RAREST:
                    continue
                gained = (score - baselines[i]) * asked[i]
                ranked.append((first.get(criterion.name, 0), gained, i, score))
            row.append(_label(scores, baselines, *max(ranked)[2:]) if ranked else None)
        labels.append(row)
    return labels


def _label(scores: RoleScores, baselines: list[float], i: int, score: float) -> dict[str, object]:
    criterion = scores.criteria[i]
    return {
        "kind": criterion.kind,
        "name": criterion.name,
        "score": round(score, 3),
        "baseline": round(baselines[i], 3),
    }
