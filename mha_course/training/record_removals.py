"""What every head, pair and group of the main model costs when removed, in data/models/removed_heads.json.

Three training runs; single heads on 1,500 held-out sentences, groups and pairs on the first 600 of them.
Written by

    python -m mha_course.training.record_removals

which takes about a quarter of an hour on one thread and goes on where it was stopped.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from mha_course.data_files import DATA_FOLDER
from mha_course.heads.ablation import Head, all_heads
from mha_course.heads.clear_patterns import clear_patterns
from mha_course.heads.importance import confidence, gradient_importance
from mha_course.models.course_models import MAIN, file_name, read_model
from mha_course.models.gloss_model import GlossModel
from mha_course.training.gates import gate_sentences, sentence_losses
from mha_course.training.gloss_batches import GlossData
from mha_course.training.gloss_marks import JUDGES, PICKS, lost_interval
from mha_course.training.gloss_without_heads import role_groups
from mha_course.training.head_tables import scored
from mha_course.training.record import attention_of, testing_data
from mha_course.training.record_gates import JUDGED_SENTENCES, RunBook, in_batches
from mha_course.training.removed_heads import (
    RemovalCost,
    Remover,
    mean_share,
    removed_at_random,
    removed_in_pairs,
)
from mha_course.training.scored_sentences import scored_sentences

FILE = "removed_heads.json"
SEEDS = (0, 1, 2)
SENTENCES, OF_GROUPS = 1_500, 600
RANDOM_GROUPS = 12
DRAWN_SIZES, DRAWN_GROUPS = (4, 8), 40  # groups drawn at random, to ask how well scores foretell them


def record_removals(folder: Path, seeds: Sequence[int], say: Callable[[str], None] = print) -> None:
    """Remove heads of every training run and write removed_heads.json. folder: of the models."""
    book = RunBook(folder / FILE)
    models = {seed: read_model(folder / file_name(MAIN, seed=seed)) for seed in seeds}
    tested, few = (testing_data(models[seeds[0]], count) for count in (SENTENCES, OF_GROUPS))
    for seed, model in models.items():
        remover, groups = Remover(model, tested), Remover(model, few)
        book.put("whole", {"seed": seed}, partial(_whole, remover))
        book.put("scores", {"seed": seed}, partial(_scores, model))
        book.put("mean_share", {"seed": seed}, lambda one=remover: {"share": _rows(mean_share(one))})
        for head in all_heads(model):
            book.put("single", {"seed": seed, "head": list(head)}, partial(_single, remover, head))
        say(f"seed {seed}: single heads")
        for role, heads in role_groups(seed).items():
            book.put("group", {"seed": seed, "role": role}, partial(_group, groups, heads))
        say(f"seed {seed}: groups")
        book.put("patterns", {"seed": seed}, partial(_patterns, model))
        book.put("pairs", {"seed": seed}, partial(_pairs, groups))
        for size in DRAWN_SIZES:
            book.put("drawn", {"seed": seed, "size": size}, partial(_drawn, groups, size, seed))
        say(f"seed {seed}: patterns, pairs and drawn groups")


def importance_of(model: GlossModel, data: GlossData | None = None) -> Tensor:
    """Gradient importance (layers, heads), not normalised, on training sentences; about two seconds.

    data: None takes the first 400 of them.
    """
    data = gate_sentences(model.vocabulary, JUDGED_SENTENCES) if data is None else data
    return gradient_importance(model, in_batches(data), sentence_losses)


def confidence_of(model: GlossModel) -> Tensor:
    """Confidence (layers, heads) on the 240 sentences on which heads are scored.

    The course language has no end-of-sentence token that would have to be left out.
    """
    return confidence(attention_of(model, list(scored_sentences())))


def _whole(remover: Remover) -> dict[str, object]:
    marks = remover.whole
    right = {part: round(share, 4) for part, share in marks.accuracy().items()}
    return {"sentences": len(remover.data.lengths), "accuracy": right, "nats": round(marks.total_loss(), 4)}


def _scores(model: GlossModel) -> dict[str, object]:
    return {"importance": _rows(importance_of(model)), "confidence": _rows(confidence_of(model))}


def _single(remover: Remover, head: Head) -> dict[str, object]:
    left = remover.marks_without([head])
    interval = {part: _rounded(ends, 3) for part, ends in lost_interval(remover.whole, left).items()}
    return {
        **_told(remover.cost_of((head,), left)),
        "interval": interval,
        "picks": _told(remover.cost_of((head,), left, PICKS)),
        "judges": _told(remover.cost_of((head,), left, JUDGES)),
        "at_mean": _told(remover.cost([head], at_mean=True)),
    }


def _group(remover: Remover, heads: tuple[Head, ...]) -> dict[str, object]:
    """The group, random groups, and the group with one of its heads left in."""
    others = removed_at_random(remover, heads, RANDOM_GROUPS)
    left_in = [remover.cost([one for one in heads if one != head]) for head in heads]
    return {
        "heads": _listed(heads),
        **_told(remover.cost(heads)),
        "random": [{"heads": _listed(one.heads), **_told(one)} for one in others],
        "but_one": [{"head": list(h), **_told(one)} for h, one in zip(heads, left_in, strict=True)],
    }


def _pairs(remover: Remover) -> dict[str, object]:
    """In the order of `itertools.combinations`: loss and the points of the worst part; and each head alone on
    the same sentences.
    """
    costs = list(removed_in_pairs(remover))
    return {
        "alone": _rounded([remover.cost([head]).nats for head in all_heads(remover.model)], 4),
        "nats": _rounded([one.nats for one in costs], 4),
        "points": _rounded([one.worst[1] for one in costs], 2),
    }


def _drawn(remover: Remover, size: int, seed: int) -> dict[str, object]:
    heads, rng = all_heads(remover.model), random.Random(1_000 * size + seed)
    groups = [sorted(rng.sample(heads, size)) for _ in range(DRAWN_GROUPS)]
    return {
        "groups": [_listed(group) for group in groups],
        "nats": _rounded([remover.cost(group).nats for group in groups], 4),
    }


def _patterns(model: GlossModel) -> dict[str, object]:
    found = []
    for one in clear_patterns(scored(model, "grammar")):
        score = one.score
        numbers = {
            "picked": one.picked,
            **{name: getattr(score, name) for name in ("value", "low", "high", "baseline", "control")},
        }
        found.append(
            {
                "head": list(one.head),
                **{"name": score.name, "rule": score.rule, "asked": score.asked, "holds": one.holds},
                **{name: round(number, 4) for name, number in numbers.items()},
            }
        )
    return {"heads": found}


def _told(cost: RemovalCost) -> dict[str, object]:
    points = {part: round(lost, 2) + 0.0 for part, lost in cost.points.items()}
    return {"points": points, "nats": round(cost.nats, 4)}


def _listed(heads: Sequence[Head]) -> list[list[int]]:
    return [list(head) for head in heads]


def _rows(table: Tensor | Sequence[Sequence[float]]) -> list[list[float]]:
    return [_rounded(row, 5) for row in torch.as_tensor(table).tolist()]


def _rounded(numbers: Sequence[float], places: int) -> list[float]:
    return [round(number, places) for number in numbers]


if __name__ == "__main__":
    torch.set_num_threads(1)  # two threads are slower than one at these sizes
    record_removals(DATA_FOLDER / "models", SEEDS, lambda line: print(line, flush=True))
