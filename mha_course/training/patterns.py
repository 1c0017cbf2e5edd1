"""What all heads of all settings and seeds look like, trained and untrained (data/models/patterns.json)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

from mha_course.heads.roles import score_roles
from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.text.course_language.grammar import CourseSentence
from mha_course.training.forming import head_labels
from mha_course.training.pattern_measures import Patterns, maps_of, measure_patterns
from mha_course.training.record import CONTROL_SEED, SCORING_SEED, held_out, word_counts
from mha_course.training.train_gloss import fresh_model

FILE = "patterns.json"
SCORED_SENTENCES = 1_000
MEASURES = tuple(field.name for field in fields(Patterns) if field.name != "chance")


def record_patterns(models: Iterable[tuple[GlossSizes, int, GlossModel]], folder: Path) -> None:
    """Measure every model and an untrained one of the same sizes beside it, and write patterns.json.

    models: sizes, seed and model of every run. The file is written once, when all are measured.
    """
    sentences, counts = held_out(SCORED_SENTENCES, SCORING_SEED), word_counts()
    runs, chance = [], 0.0
    for sizes, seed, model in models:
        control = fresh_model(sizes, CONTROL_SEED + seed).eval()
        for trained, one in ((True, model), (False, control)):
            measures, roles, chance = measured(one, sentences, counts)
            at = {"d_model": sizes.d_model, "h": sizes.h, "seed": seed, "trained": trained}
            runs.append({**at, "measures": measures, "roles": roles})
        print(f"d_model {sizes.d_model}, h {sizes.h}, seed {seed}: measured", flush=True)
    runs.sort(key=lambda run: (run["d_model"], run["h"], run["seed"], not run["trained"]))
    head = {"sentences": len(sentences), "words": sum(len(s.words) for s in sentences), "chance": chance}
    lines = ",\n".join("  " + json.dumps(run, ensure_ascii=False) for run in runs)
    text = json.dumps(head)[:-1] + f', "runs": [\n{lines}\n]}}\n'  # one run a line
    (folder / FILE).write_text(text, encoding="utf-8")


def measured(
    model: GlossModel, sentences: Sequence[CourseSentence], counts: Counter[str]
) -> tuple[dict[str, list[list[float | None]]], list[list[list[str] | None]], float]:
    """Of one model: each measure for every layer and head, the role that a head passes (kind and name, or
    None), and chance, the mean of 1/n."""
    groups, apiece = [], [None] * len(sentences)
    for places, maps in maps_of(model, [s.words for s in sentences]):
        groups.append(maps)
        for i, own in zip(places, maps, strict=True):
            apiece[i] = own
    patterns = measure_patterns(groups)
    measures = {name: [_rounded(row) for row in getattr(patterns, name).tolist()] for name in MEASURES}
    labels = head_labels(score_roles(apiece, [s.parsed for s in sentences], counts))
    roles = [[label and [label["kind"], label["name"]] for label in row] for row in labels]
    return measures, roles, round(patterns.chance, 4)


def _rounded(row: Sequence[float]) -> list[float | None]:
    return [None if math.isnan(value) else round(value, 4) for value in row]
