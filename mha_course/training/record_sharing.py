"""What lesson 14 says of trained models: spectra, conversions to collaborative heads, sparse maps.

    python -m mha_course.training.record_sharing [--to data/models]

About two minutes of one core. The pretrained model's part needs its package (see data/README.md).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from copy import deepcopy
from pathlib import Path

import torch
from torch import Tensor

from mha_course.data_files import DATA_FOLDER
from mha_course.heads.shared_space import dimensions_needed, effective_rank, heads_turned, shared_space
from mha_course.layers import MultiHeadAttention
from mha_course.models.course_models import load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.models.pretrained import load_pretrained
from mha_course.models.pretrained.as_layers import pretrained_layers
from mha_course.models.recorded_heads import recorded_heads
from mha_course.models.sharing_records import FILE, MODELS, WIDTHS
from mha_course.training.gloss_batches import GlossData, gloss_data
from mha_course.training.kept_rows import kept_gloss_row
from mha_course.training.leaderboard import held_out_loss
from mha_course.training.record import CONTROL_SEED, TESTING_SEED, held_out
from mha_course.training.scored_sentences import scored_sentences
from mha_course.training.train_gloss import accuracy, fresh_model
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.narrowed import narrowed
from mha_course.variants.three_factors import relative_error, three_factors

SHARE = 0.9
TESTED = 300
TURNS = 3
SWEEPS = 300
LEAST_WORDS = 8  # in a shorter sentence few weights can be near zero
NEAR_ZERO = 0.01


def record_sharing(folder: Path, say: Callable[[str], None] = print) -> None:
    """Measure everything and write it to one file in the folder."""
    torch.set_num_threads(1)
    course, narrow = load_course_model(), kept_gloss_row("plain")
    untrained = fresh_model(course.sizes, CONTROL_SEED).eval()
    real = load_pretrained("all-MiniLM-L6-v2")
    control = real.untrained()
    layers = {
        MODELS[0]: _attention(course),
        MODELS[1]: _attention(untrained),
        MODELS[2]: pretrained_layers(real),
        MODELS[3]: pretrained_layers(control),
    }
    sentences = scored_sentences()
    recorded = recorded_heads()
    maps = {
        MODELS[0]: (course.attend(sentence.words).weights for sentence in sentences),
        MODELS[1]: (untrained.attend(sentence.words).weights for sentence in sentences),
        MODELS[2]: recorded.weights_over_words(),
        MODELS[3]: control.weights_over_words([list(sentence.words) for sentence in recorded.sentences]),
    }
    told = {
        "share": SHARE,
        "near_zero": NEAR_ZERO,
        "spectra": {name: [_spectra(layer) for layer in found] for name, found in layers.items()},
        "sparse": {name: _sparse(found) for name, found in maps.items()},
        "conversions": {},
    }
    for name, model in (("course", course), ("narrow", narrow)):
        tested = gloss_data(held_out(TESTED, TESTING_SEED), model.vocabulary)
        told["conversions"][name] = _conversions(model, WIDTHS[name], tested, say)
    (folder / FILE).write_text(_in_lines(told), encoding="utf-8")


def _attention(model: GlossModel) -> tuple[MultiHeadAttention, ...]:
    return tuple(layer.attention for layer in model.encoder.layers)


def _spectra(layer: MultiHeadAttention) -> dict[str, object]:
    """Dimensions that hold SHARE of the squared length; `turned` is a mean over rotations."""
    own = shared_space(layer)
    turned = [shared_space(heads_turned(layer, seed)) for seed in range(TURNS)]

    def needed(values: Tensor) -> int:
        return int(dimensions_needed(values, SHARE))

    return {
        "heads": dimensions_needed(own.heads, SHARE).tolist(),
        "d_k": layer.d_k,
        "d_model": layer.d_model,
        "summed": needed(own.summed),
        "summed_turned": round(sum(needed(one.summed) for one in turned) / TURNS, 1),
        "queries": needed(own.queries),
        "queries_turned": round(sum(needed(one.queries) for one in turned) / TURNS, 1),
        "keys": needed(own.keys),
        "keys_turned": round(sum(needed(one.keys) for one in turned) / TURNS, 1),
    }


def _sparse(maps: Iterable[Tensor]) -> dict[str, object]:
    """For every head the share of weights near zero and the effective rank over n, means over sentences."""
    near, rank = [], []
    for weights in maps:
        if weights.shape[-1] >= LEAST_WORDS:
            near.append((weights < NEAR_ZERO).double().mean((-2, -1)))
            rank.append(effective_rank(weights) / weights.shape[-1])
    rounded = {"near_zero": torch.stack(near).mean(0), "rank": torch.stack(rank).mean(0)}
    return {"sentences": len(near)} | {name: _rounded(values) for name, values in rounded.items()}


def _conversions(
    model: GlossModel, widths: tuple[int, ...], tested: GlossData, say: Callable[[str], None]
) -> dict[str, object]:
    """The model as it is, with uniform attention, and with W_Q and W_K of fewer features, in both ways."""
    seen = _seen_by_layers(model, tested)
    uniform = deepcopy(model)
    for layer in _attention(uniform):
        layer.w_q.weight.data.zero_()
        layer.w_q.bias.data.zero_()
    rows = []
    for width in widths:
        rows.append({"way": "shared", "width": width} | _shared(model, width, seen, tested))
        if width % model.sizes.h == 0:
            made = [narrowed(layer, width) for layer in _attention(model)]
            rows.append({"way": "cut", "width": width} | _with_layers(model, made, seen, tested))
        say(f"width {width}: " + ", ".join(f"{row['way']} {row['loss']}" for row in rows[-2:]))
    return {
        "before": _answers(model, tested),
        "uniform": _answers(uniform, tested),
        "rows": rows,
    }


def _shared(
    model: GlossModel, width: int, seen: list[list[tuple[Tensor, Tensor | None]]], tested: GlossData
) -> dict[str, object]:
    layers = _attention(model)
    made = [CollaborativeHeads.from_layer(layer, width, sweeps=SWEEPS) for layer in layers]
    turned = []
    for layer in layers:
        products = shared_space(heads_turned(layer)).products
        # At full width the weights are copied, not searched for, whatever the heads.
        full = width == layer.h * layer.d_k
        found = 0.0 if full else relative_error(products, *three_factors(products, width, 0, SWEEPS))
        turned.append(round(found, 4))
    return _with_layers(model, made, seen, tested) | {"turned_error": turned}


def _with_layers(
    model: GlossModel,
    made: list[CollaborativeHeads],
    seen: list[list[tuple[Tensor, Tensor | None]]],
    tested: GlossData,
) -> dict[str, object]:
    changed = deepcopy(model)
    for block, layer in zip(changed.encoder.layers, made, strict=True):
        block.attention = layer
    pairs = list(zip(_attention(model), made, strict=True))
    return _answers(changed, tested) | {
        "weights_error": [round(_products_error(*pair), 4) for pair in pairs],
        "scores_error": [
            round(_scores_error(*pair, inputs), 4) for pair, inputs in zip(pairs, seen, strict=True)
        ],
    }


def _answers(model: GlossModel, tested: GlossData) -> dict[str, object]:
    right = {part: round(share, 4) for part, share in accuracy(model, tested).items()}
    return {"loss": round(held_out_loss(model, tested), 4), "accuracy": right}


@torch.no_grad()
def _products_error(plain: MultiHeadAttention, made: CollaborativeHeads) -> float:
    products = shared_space(plain).products
    factors = (made.mixing.double(), made.w_q.weight.double().T, made.w_k.weight.double().T)
    return relative_error(products, *factors)


@torch.no_grad()
def _scores_error(
    plain: MultiHeadAttention, made: CollaborativeHeads, inputs: list[tuple[Tensor, Tensor | None]]
) -> float:
    """Length of what the scores miss over their own, row means taken off first: softmax doesn't see those."""
    missed = whole = 0.0
    for x, mask in inputs:
        ours, theirs = (layer.trace(x, mask=mask) for layer in (plain, made))
        allowed = torch.ones_like(ours.scores, dtype=torch.bool) if mask is None else ours.mask
        allowed = allowed.expand_as(ours.scores)
        a, b = (_centred(trace.scores.double(), allowed) for trace in (ours, theirs))
        missed += float((a - b).square().sum())
        whole += float(a.square().sum())
    return (missed / whole) ** 0.5


def _centred(scores: Tensor, allowed: Tensor) -> Tensor:
    kept = scores.masked_fill(~allowed, 0.0)
    mean = kept.sum(-1, keepdim=True) / allowed.sum(-1, keepdim=True).clamp_min(1)
    return (kept - mean).masked_fill(~allowed, 0.0)


@torch.no_grad()
def _seen_by_layers(model: GlossModel, tested: GlossData) -> list[list[tuple[Tensor, Tensor | None]]]:
    """What each attention layer is given for the held-out sentences: input and mask, batch by batch."""
    found: list[list[tuple[Tensor, Tensor | None]]] = [[] for _ in model.encoder.layers]

    def note(place: int) -> Callable:
        return lambda layer, args, kwargs: found[place].append((args[0], kwargs.get("mask")))

    hooks = [
        layer.register_forward_pre_hook(note(place), with_kwargs=True)
        for place, layer in enumerate(_attention(model))
    ]
    held_out_loss(model, tested)
    for hook in hooks:
        hook.remove()
    return found


def _in_lines(told: dict[str, object]) -> str:
    """JSON with one line for each part and model."""

    def line(value: object) -> str:
        if not isinstance(value, dict):
            return json.dumps(value)
        inner = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(part)}" for name, part in value.items())
        return f"{{\n  {inner}\n }}"

    parts = ",\n ".join(f"{json.dumps(name)}: {line(value)}" for name, value in told.items())
    return f"{{\n {parts}\n}}\n"


def _rounded(values: Tensor) -> list:
    return [[round(number, 4) for number in row] for row in values.tolist()]


def main() -> None:
    """Read the command line and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=DATA_FOLDER / "models", help="folder of the record")
    record_sharing(parser.parse_args().to)


if __name__ == "__main__":
    main()
