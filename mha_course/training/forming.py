"""How the main model's heads take their roles: scores at every checkpoint (data/models/forming.json)."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from mha_course.heads.criteria import NEXT, PREVIOUS, RAREST
from mha_course.heads.roles import RoleScores
from mha_course.models.course_models import MAIN, checkpoints, load_course_model
from mha_course.training.live import best_of_each_role
from mha_course.training.record import SCORING_SEED, held_out, right_answers, scores_of, word_counts

FILE = "forming.json"
SCORED_SENTENCES = 600


def record_forming(folder: Path) -> None:
    """Score every checkpoint of the main model in data/ and write forming.json."""
    sentences = [sentence.parsed for sentence in held_out(SCORED_SENTENCES, SCORING_SEED)]
    counts, told = word_counts(), []
    for step in (*checkpoints(MAIN.d_model, MAIN.h), None):
        model = load_course_model(step=step)
        scores = scores_of(model, sentences, counts)
        right = {part: round(share, 4) for part, share in right_answers(model).items()}
        told.append(
            {
                "step": step,
                "accuracy": right,
                "best": best_of_each_role(scores),
                "heads": head_labels(scores),
            }
        )
        print(f"checkpoint {step}: {right}", flush=True)
    (folder / FILE).write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def head_labels(scores: RoleScores) -> list[list[dict[str, object] | None]]:
    """For every layer and head the role that it passes on both halves of the sentences; None for none.

    A head with several roles is called after its position first, then after the rarest word, then after the
    relation with the greatest gain over the best fixed offset. Relations to punctuation are left out.
    """
    passing, all_scores = scores.passing(), scores.scores
    baselines = [role.baseline for role in scores.found(resamples=1)]
    order = {PREVIOUS: 3.0, NEXT: 3.0, RAREST: 2.0}
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
                gain = score - baselines[i]
                ranked.append((order.get(criterion.name, gain), i, score))
            row.append(_label(scores, baselines, *max(ranked)[1:]) if ranked else None)
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
