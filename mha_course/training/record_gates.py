"""Pruning recorded in data/models/gates.json: gates at many prices, and heads removed by other rules.

Each entry is one run; what is in the file already is not computed again.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import product
from pathlib import Path

import torch
from torch import Tensor

from mha_course.heads.ablation import Head, all_heads, without_heads
from mha_course.heads.gating import FixedGates, gated
from mha_course.heads.importance import confidence, gradient_importance, normalised, removal_order
from mha_course.heads.pruning import GateRecipe, survivors
from mha_course.heads.roles import score_roles
from mha_course.models.course_models import MAIN, file_name, read_model
from mha_course.models.gloss_model import GlossModel
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.training.forming import head_labels
from mha_course.training.gates import SENTENCES, GateTrainer, gate_sentences, sentence_losses
from mha_course.training.gloss_batches import GlossBatch, GlossData
from mha_course.training.record import SCORING_SEED, attention_of, held_out, testing_data
from mha_course.training.scored_sentences import training_word_counts
from mha_course.training.train_gloss import accuracy

FILE = "gates.json"
STRENGTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
RANDOM_ORDERS = 5
RETRAINED = (8, 6, 4)  # heads kept, when a removal is followed by as much training as the gates get
SCORED_SENTENCES, JUDGED_SENTENCES = 600, 400
IMPORTANCE, CONFIDENCE, RANDOM = "importance", "confidence", "random"
RETRAINED_ORDERS = (IMPORTANCE, CONFIDENCE, f"{RANDOM} 1")


def record_gates(folder: Path, seeds: Sequence[int], say: Callable[[str], None] = print) -> None:
    """Learn gates at every price for every training run of the main model, then remove heads by other rules.

    folder: of the models, gets gates.json. Stopped and started again, this goes on after the last whole run.
    """
    book = RunBook(folder / FILE)
    data = gate_sentences(read_model(folder / file_name(MAIN)).vocabulary)
    sentences = [sentence.parsed for sentence in held_out(SCORED_SENTENCES, SCORING_SEED)]
    models = {seed: read_model(folder / file_name(MAIN, seed=seed)) for seed in seeds}
    tested = testing_data(models[seeds[0]])
    orders = {seed: dict(removal_orders(model, sentences, seed)) for seed, model in models.items()}
    for seed, model in models.items():
        book.put("whole", {"seed": seed}, partial(_whole, model, tested))
        for name, order in orders[seed].items():
            book.put("removed", {"seed": seed, "by": name}, partial(_removed, model, order, tested))
    say("removal by importance, by confidence and at random: there")
    plain = GateRecipe()
    for weight_rate, strength, (seed, model) in product((plain.weight_rate, 0.0), STRENGTHS, models.items()):
        recipe = replace(plain, strength=strength, weight_rate=weight_rate)
        key = {"seed": seed, "strength": strength, "frozen": not weight_rate}
        run = book.put("gates", key, partial(_learned, model, recipe, seed, data, tested, sentences))
        say(f"gates {key}: {run['kept']} heads kept, {run['accuracy']}")
    for name, kept, (seed, model) in product(RETRAINED_ORDERS, RETRAINED, models.items()):
        key, order = {"seed": seed, "by": name, "kept": kept}, orders[seed][name]
        run = book.put("retrained", key, partial(_retrained, model, order, kept, seed, data, tested))
        say(f"retrained {key}: {run['accuracy']}")


def removal_orders(
    model: GlossModel, sentences: Sequence[ParsedSentence], seed: int
) -> Iterator[tuple[str, list[Head]]]:
    """Name and order, the first to go first: by gradient importance, by confidence, and some at random."""
    judged = gate_sentences(model.vocabulary, JUDGED_SENTENCES)
    slopes = gradient_importance(model, in_batches(judged), sentence_losses)
    yield IMPORTANCE, removal_order(normalised(slopes))
    yield CONFIDENCE, removal_order(confidence(attention_of(model, list(sentences))))
    for number in range(1, RANDOM_ORDERS + 1):
        heads = all_heads(model)
        random.Random(100 * seed + number).shuffle(heads)
        yield f"{RANDOM} {number}", heads


def in_batches(data: GlossData, sentences: int = 40) -> Iterator[GlossBatch]:
    """All sentences once, those of equal length together."""
    for chosen in data.lengths.argsort().split(sentences):
        yield data.batch(chosen)


def _learned(
    model: GlossModel,
    recipe: GateRecipe,
    seed: int,
    data: GlossData,
    tested: GlossData,
    sentences: list[ParsedSentence],
) -> dict[str, object]:
    trainer, start = GateTrainer(model, recipe, seed), time.process_time()
    path = [step.kept for step in trainer.steps(data)]
    seconds, values = time.process_time() - start, trainer.values()
    with gated(trainer.learned, [FixedGates(one) for one in values]):
        # The layers behind must see what they get in the pruned model.
        scores = score_roles(attention_of(trainer.learned, sentences), sentences, training_word_counts())
    roles = head_labels(scores)
    return {
        "recipe": {**asdict(recipe), "sentences": SENTENCES},
        "seconds": round(seconds, 1),
        "kept": len(survivors(values)),
        "on_the_way": path[19::20],
        "log_alpha": [_list(gate.log_alpha) for gate in trainer.gates],
        "gates": [_list(one) for one in values],
        "accuracy": _rounded(accuracy(trainer.pruned(), tested)),
        "heads": [
            [role if gate > 0 else None for role, gate in zip(row, one.tolist(), strict=True)]
            for row, one in zip(roles, values, strict=True)
        ],
    }


def _whole(model: GlossModel, tested: GlossData) -> dict[str, object]:
    return {"accuracy": _rounded(accuracy(model, tested))}


def _removed(model: GlossModel, order: Sequence[Head], tested: GlossData) -> dict[str, object]:
    """Accuracy without the first 0, 1, 2 ... heads of the order, without any training afterwards."""
    right = []
    for count in range(len(order) + 1):
        with without_heads(model, order[:count]):
            right.append(_rounded(accuracy(model, tested)))
    return {"order": [list(head) for head in order], "accuracy": right}


def _retrained(
    model: GlossModel, order: Sequence[Head], kept: int, seed: int, data: GlossData, tested: GlossData
) -> dict[str, object]:
    """Remove heads, then train as long as gates are learned."""
    steps = GateRecipe().steps
    recipe = replace(GateRecipe(), strength=0.0, gate_rate=0.0, ramp=0, settle=steps)
    trainer = GateTrainer(model, recipe, seed)
    gone = set(order[: len(order) - kept])
    for layer, gate in enumerate(trainer.gates, 1):
        # So far from 0 that the gates are exactly 0 and 1.
        closed = [-9.0 if (layer, head) in gone else 9.0 for head in range(1, len(gate.log_alpha) + 1)]
        gate.log_alpha.data = torch.tensor(closed)
    for _ in trainer.steps(data):
        pass
    return {"accuracy": _rounded(accuracy(trainer.pruned(), tested))}


class RunBook:
    """A file of runs by kind. A run is known by its key and computed only when it isn't there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kinds = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def put(
        self, kind: str, key: dict[str, object], compute: Callable[[], dict[str, object]]
    ) -> dict[str, object]:
        """The run of this kind and key, computed and written when it isn't there."""
        runs = self.kinds.setdefault(kind, [])
        for run in runs:
            if all(run.get(name) == value for name, value in key.items()):
                return run
        runs.append({**key, **compute()})
        lines = (
            f"{json.dumps(name)}: [\n"
            + ",\n".join(json.dumps(run, ensure_ascii=False) for run in entries)
            + "\n]"
            for name, entries in self.kinds.items()
        )
        unfinished = self.path.with_suffix(".unfinished")
        unfinished.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n")
        unfinished.replace(self.path)  # a file with this name is a whole one
        return runs[-1]


def _list(numbers: Tensor) -> list[float]:
    return [round(number, 4) for number in numbers.tolist()]


def _rounded(right: dict[str, float]) -> dict[str, float]:
    return {part: round(share, 4) for part, share in right.items()}
