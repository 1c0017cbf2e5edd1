"""Weights of the trained course models as a source of an explorer: every layer, accuracy and head roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.layers import AttentionTrace
from mha_course.models.course_models import load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.models.trained_settings import (
    accuracy_by_part,
    labels_of,
    nearest_settings,
    settings_with_models,
    trained_card,
)
from mha_course.widgets.named_words import named_words
from mha_course.widgets.prepared import Box, NoSuchSetting, Prepared

# A sentence of the course language, offered to whoever types words that the models don't know.
KNOWN_SENTENCE = "the old captain that the sailors follow leaves his small ship in the harbour ."
LONGEST_TRAINED = 24  # tokens of the longest sentence that the models were trained on


@dataclass(frozen=True)
class PreparedModel(Prepared):
    """All layers of a course model; `layer` and `x` are the first layer's. ids: (1, n)."""

    model: GlossModel | None = None
    ids: Tensor | None = None

    @property
    def n_layers(self) -> int:
        return len(self.model.encoder.layers)

    def traces(self, mask: Tensor | None) -> list[AttentionTrace]:
        """Every layer reads what the one before made of the sentence under the same mask."""
        kept: list[AttentionTrace] = []
        self.model.encoder(self.model.read(self.ids), mask, kept)
        return kept


def trained_source(tokens: Sequence[str], d_model: int, h: int, seed: int) -> Prepared:
    """The course model of this setting on the sentence, lower-cased; the seed plays no part.

    Raises: NoSuchSetting for a d_model and h that no model was trained with.
    """
    card = trained_card(d_model, h)
    if card is None:
        raise _no_model(d_model, h)
    model = load_course_model(d_model, h)
    words = [token.lower() for token in tokens]
    unknown = tuple(i for i, word in enumerate(words) if word not in model.vocabulary)
    ids = torch.tensor([model.vocabulary.encode(words)])
    first = model.encoder.layers[0]
    labels = labels_of(card)
    note = (
        "Maps: a trained model. It read made-up English sentences and learned to write each word in an "
        f"invented language (d_model {d_model}, h {h}, {card.sizes.n_layers} layers, {card.steps:,} steps)."
    )
    if any(label.short for label in labels):
        note += " The percentage of a head: how often its largest weight hits, on sentences it never saw."
    parts = ", ".join(f"{part} {share}" for part, share in accuracy_by_part(card).items())
    figures = (
        f"Right on sentences it never saw, mean of {len(card.seeds)} training runs (lowest to highest): "
        f"{parts}. The weights are those of the first run."
    )
    return PreparedModel(
        first.attention,
        first.around_attention.norm(model.read(ids))[0],
        note,
        tuple(label.short for label in labels),
        _boxes(tokens, unknown),
        tuple("; ".join(label.full) for label in labels),
        figures,
        unknown,
        model,
        ids,
    )


def _boxes(tokens: Sequence[str], unknown: Sequence[int]) -> tuple[Box, ...]:
    boxes = []
    if unknown:
        words = {tokens[i] for i in unknown}
        many = len(words) > 1
        shown = named_words(tokens[i] for i in unknown)
        heading = f"{len(words)} word{'s' if many else ''} that the model doesn’t know: {shown}"
        read = "It reads each of them" if many else "It reads it"
        text = f"{read} as <unk>, the token for unknown words. Underlined with dots in the maps."
        boxes.append(Box(heading, text, KNOWN_SENTENCE))
    if len(tokens) > LONGEST_TRAINED:
        text = f"The longest sentence that the model was trained on has {LONGEST_TRAINED} tokens."
        boxes.append(Box(f"{len(tokens)} tokens in a row are new to the model", text))
    return tuple(boxes)


def _no_model(d_model: int, h: int) -> NoSuchSetting:
    settings = settings_with_models()
    if not settings:
        text = "The folder data/models is missing. Download the course again, or: git checkout -- data"
        return NoSuchSetting("There are no trained models here", text, ())
    heads: dict[int, list[str]] = {}
    for d, known in settings:
        heads.setdefault(d, []).append(str(known))
    listed = "; ".join(f"d_model {d} with h {', '.join(known)}" for d, known in heads.items())
    heading = f"No model was trained with d_model = {d_model} and h = {h}"
    return NoSuchSetting(heading, f"There are: {listed}.", nearest_settings(d_model, h))
