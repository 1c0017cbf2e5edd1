"""What is measured of a translator on sentences it was not trained on, and written down about it."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from mha_course.heads.alignment import AlignmentScores, score_alignment
from mha_course.models.translator import CARD, FILE, Translator, TranslatorSizes, fresh_translator
from mha_course.text.course_language.translation import LONGEST_PAIR, Pair, draw_pairs
from mha_course.training.train_gloss import Recipe
from mha_course.training.train_translation import TranslationStep, train_translation
from mha_course.training.translation_batches import PairBatch, pair_batch
from mha_course.transformer import DecoderTraces

TRAINING_SEED, TESTING_SEED, LONGER_SEED, CONTROL_SEED = 44, 55, 66, 1_000
TESTED, LONGER = 1_000, (LONGEST_PAIR + 1, LONGEST_PAIR + 3)


def training_pairs(recipe: Recipe) -> list[Pair]:
    """The pairs that the translator is trained on."""
    return list(draw_pairs(recipe.sentences, TRAINING_SEED))


def held_out_pairs(trained_on: Sequence[Pair], count: int = TESTED) -> list[Pair]:
    """Pairs of the same lengths that it was not trained on."""
    seen = {pair.sentence.words for pair in trained_on}
    fresh = (p for p in draw_pairs(2 * count, TESTING_SEED) if p.sentence.words not in seen)
    return list(islice(fresh, count))


def longer_pairs(count: int = TESTED // 2) -> list[Pair]:
    """Pairs whose English side is one to three words longer than any that was trained on."""
    return list(draw_pairs(count, LONGER_SEED, *LONGER))


def train_one(
    sizes: TranslatorSizes,
    recipe: Recipe,
    seed: int,
    pairs: Sequence[Pair],
    watch: Callable[[TranslationStep], None] | None = None,
) -> tuple[Translator, float]:
    """Train one translator; returns it with the seconds of processor time."""
    model, start = fresh_translator(sizes, seed), time.process_time()
    with torch.random.fork_rng():
        torch.manual_seed(seed)  # dropout draws from the global generator
        for step in train_translation(model, pairs, recipe, seed):
            if watch is not None:
                watch(step)
    return model.eval(), time.process_time() - start


@torch.no_grad()
def right_words(model: Translator, pairs: Sequence[Pair]) -> dict[str, float]:
    """Shares: exact (whole translations, greedy), decoded (words in their place, greedy), forced (words
    that are right when all words before are given). `END` counts as a word.
    """
    batch = pair_batch(pairs, model)
    real = batch.written != 0
    forced = model(batch.source, batch.read(model.start)).argmax(-1) == batch.written
    decoded = _as_long(model.greedy(batch.source), batch.written.shape[1]) == batch.written
    return {
        "exact": float((decoded | ~real).all(1).float().mean()),
        "decoded": float(decoded[real].float().mean()),
        "forced": float(forced[real].float().mean()),
    }


@torch.no_grad()
def cross_attention(model: Translator, batch: PairBatch) -> Tensor:
    """(b, layers, heads, n_q, n_k) while the right translation is read."""
    kept = DecoderTraces()
    transformer = model.transformer
    memory = transformer.encode(batch.source)
    transformer.decode(memory, batch.source, batch.read(model.start), kept)
    return torch.stack([trace.weights for trace in kept.cross], dim=1)


def alignment_of(model: Translator, pairs: Sequence[Pair]) -> AlignmentScores:
    """Every head of the cross-attention against the right alignment."""
    aligned = [pair.translation.source for pair in pairs]
    lengths = [len(pair.sentence.words) for pair in pairs]
    return score_alignment(cross_attention(model, pair_batch(pairs, model)), aligned, lengths)


def hits_as_read(model: Translator, pairs: Sequence[Pair], layer: int, head: int) -> float:
    """How often a head of the cross-attention (counted from 0) looks at the source word of what was *read*
    in a row, where a hit otherwise is the source word of what is written next."""
    batch = pair_batch(pairs, model)
    looks = cross_attention(model, batch)[:, layer, head].argmax(-1)[:, 1:]
    asked = (batch.aligned[:, 1:] >= 0) & (batch.aligned[:, :-1] >= 0)
    return float((looks == batch.aligned[:, :-1])[asked].float().mean())


def told(model: Translator, seed: int, seconds: float, pairs: Sequence[Pair]) -> dict[str, object]:
    """What the card says of one run. The best head is picked on one half of the pairs, told of the other."""
    half = len(pairs) // 2
    picked, held = alignment_of(model, pairs[:half]), alignment_of(model, pairs[half:])
    control = alignment_of(fresh_translator(model.sizes, CONTROL_SEED + seed).eval(), pairs[half:])
    layer, head = picked.best()
    return {
        "seed": seed,
        "seconds": round(seconds, 1),
        "held_out": _rounded(right_words(model, pairs)),
        "longer": _rounded(right_words(model, longer_pairs())),
        "alignment": {
            "heads": [[round(share, 3) for share in row] for row in held.heads.tolist()],
            "best": [layer, head],
            "best_head": round(float(held.heads[layer, head]), 3),
            "best_head_as_read": round(hits_as_read(model, pairs[half:], layer, head), 3),
            "offset": round(held.offset, 3),
            "shift": held.shift,
            "diagonal": round(held.diagonal, 3),
            "chance": round(held.chance, 3),
            "control": round(float(control.heads.max()), 3),
            "asked": held.asked,
        },
    }


def put_translator_card(
    folder: Path, sizes: TranslatorSizes, recipe: Recipe, runs: Sequence[dict[str, object]]
) -> None:
    """Write the card of the translator."""
    card = {
        "file": FILE,
        "sha256": hashlib.sha256((folder / FILE).read_bytes()).hexdigest(),
        "task": f"translation of sentences of the course language with up to {LONGEST_PAIR} words",
        "sizes": asdict(sizes),
        "recipe": asdict(recipe),
        "machine": f"{platform.processor() or platform.machine()}, 1 thread, torch {torch.__version__}",
        "seeds": list(runs),
    }
    (folder / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def _as_long(ids: Tensor, n: int) -> Tensor:
    """(b, anything) cut or filled up with 0s to (b, n)."""
    return torch.nn.functional.pad(ids, (0, max(0, n - ids.shape[1])))[:, :n]


def _rounded(shares: dict[str, float]) -> dict[str, float]:
    return {name: round(share, 4) for name, share in shares.items()}
