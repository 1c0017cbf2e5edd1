"""`python -m mha_course.training main` trains the course model, `sweep` all sizes, `translation` the
translator; `controls`, `forming` and `patterns` record what becomes of heads, `gates` which of them the main
model can do without. See data/README.md."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import torch

from mha_course.data_files import DATA_FOLDER
from mha_course.models.course_models import MAIN, file_name, save_model
from mha_course.models.gloss_model import GlossSizes
from mha_course.models.translator import FILE, TranslatorSizes, read_translator, save_translator
from mha_course.training.all_seeds import all_seeds, main_first
from mha_course.training.controls import record_controls
from mha_course.training.forming import record_forming
from mha_course.training.patterns import record_patterns
from mha_course.training.record import (
    CHECKPOINTS,
    SCORING_SEED,
    TRAINING_SEED,
    held_out,
    put_card,
    right_answers,
    run,
    scores_of,
    told,
    word_counts,
)
from mha_course.training.record_gates import record_gates
from mha_course.training.record_translation import (
    held_out_pairs,
    put_translator_card,
    train_one,
    training_pairs,
)
from mha_course.training.record_translation import told as told_of_translator
from mha_course.training.train_gloss import Recipe, Step, fresh_model, training_data
from mha_course.training.train_translation import RECIPE, TranslationStep

SEEDS = (0, 1, 2)
WIDTHS, HEADS = (16, 32, 64, 128), (1, 2, 4, 8)
SCORED_SENTENCES = 1_000


def main() -> None:
    """Read the command line, train what is missing, and say how it goes."""
    parser = argparse.ArgumentParser(prog="python -m mha_course.training", description=__doc__)
    choices = ["main", "sweep", "translation", "controls", "forming", "patterns", "gates"]
    parser.add_argument("what", choices=choices)
    parser.add_argument("--to", type=Path, default=DATA_FOLDER / "models", help="folder for the models")
    parser.add_argument(
        "--seeds",
        type=Path,
        default=DATA_FOLDER.parent / "build" / "seeds",
        help="folder for the models of all seeds, which `forming` and `patterns` train and measure",
    )
    parser.add_argument(
        "--anew", action="store_true", help="`patterns` trains the models of data/ again, too"
    )
    chosen = parser.parse_args()
    torch.set_num_threads(1)  # two threads are slower than one at these sizes
    chosen.to.mkdir(parents=True, exist_ok=True)
    if chosen.what == "translation":
        train_translator(chosen.to)
        return
    if chosen.what == "controls":
        record_controls(chosen.to, SEEDS)
        return
    if chosen.what == "gates":
        record_gates(chosen.to, SEEDS, _print)
        return
    swept = [GlossSizes(d_model=d, h=h, d_ff=2 * d) for d in WIDTHS for h in HEADS]
    if chosen.what == "forming":
        record_forming(chosen.to, all_seeds([MAIN], SEEDS, chosen.seeds, _print), chosen.seeds)
        return
    if chosen.what == "patterns":
        kept = None if chosen.anew else DATA_FOLDER / "models"
        models = all_seeds(main_first(swept), SEEDS, chosen.seeds, _print, kept=kept)
        record_patterns(models, chosen.to)
        return
    for sizes in [MAIN] if chosen.what == "main" else [one for one in swept if one != MAIN]:
        if _done(chosen.to, sizes):
            print(f"{file_name(sizes)}: there already", flush=True)
            continue
        train_setting(sizes, chosen.to, CHECKPOINTS if sizes == MAIN else ())


def train_setting(sizes: GlossSizes, folder: Path, keep: tuple[int, ...]) -> None:
    """Train all seeds of a setting, keep the first one's weights (of the main model all), write its card."""
    recipe = Recipe()
    data = training_data(recipe, fresh_model(sizes, 0).vocabulary, TRAINING_SEED)
    sentences = [sentence.parsed for sentence in held_out(SCORED_SENTENCES, SCORING_SEED)]
    counts, runs = word_counts(recipe), []
    for seed in SEEDS:
        first = seed == SEEDS[0]
        model, seconds = run(sizes, recipe, seed, data, _say(sizes, seed), keep if first else (), folder)
        if first or sizes == MAIN:
            save_model(model, folder / file_name(sizes, seed=seed))
        runs.append(told(seed, seconds, right_answers(model), scores_of(model, sentences, counts)))
        print(f"{file_name(sizes)} seed {seed}: {seconds:.0f} s, {runs[-1]['accuracy']}", flush=True)
    put_card(folder, sizes, recipe, runs)


def train_translator(folder: Path) -> None:
    """Train all seeds of the translator, keep the first one's weights, and write its card."""
    sizes, pairs, runs = TranslatorSizes(), training_pairs(RECIPE), []
    tested = held_out_pairs(pairs)
    for seed in SEEDS:
        model, seconds = train_one(sizes, RECIPE, seed, pairs, _say_words(seed))
        if seed == SEEDS[0]:
            save_translator(model, folder / FILE)
            model = read_translator(folder / FILE)  # measured as it is kept, in half precision
        runs.append(told_of_translator(model, seed, seconds, tested))
        print(f"{FILE} seed {seed}: {seconds:.0f} s, {runs[-1]['held_out']}", flush=True)
    put_translator_card(folder, sizes, RECIPE, runs)


def _done(folder: Path, sizes: GlossSizes) -> bool:
    path = folder / "cards.json"
    cards = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return any(card["file"] == file_name(sizes) for card in cards)


def _print(line: str) -> None:
    print(line, flush=True)


def _say(sizes: GlossSizes, seed: int) -> Callable[[Step], None]:
    def say(step: Step) -> None:
        if step.number % 300 == 0:
            parts = ", ".join(f"{part} {share:.3f}" for part, share in step.accuracy.items())
            print(
                f"  d_model {sizes.d_model}, h {sizes.h}, seed {seed}, step {step.number}: {parts}",
                flush=True,
            )

    return say


def _say_words(seed: int) -> Callable[[TranslationStep], None]:
    def say(step: TranslationStep) -> None:
        if step.number % 500 == 0:
            print(f"  seed {seed}, step {step.number}: {step.right:.3f} of the words right", flush=True)

    return say


if __name__ == "__main__":
    main()
