"""A trained gloss model that reads a sentence for a widget: its words, and what each attention layer gets."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.layers import MultiHeadAttention
from mha_course.models.gloss_model import GlossModel
from mha_course.text.tokens import tokenize
from mha_course.training.kept_rows import kept_gloss_row

MAX_TOKENS = 16
MAX_CHARACTERS = 2_000


@dataclass(frozen=True, eq=False)
class Read:
    """One sentence. words: those that were read; found: how many there were; unknown: places of words that
    the model doesn't know; inputs: for each layer what its attention gets, (n, d_model)."""

    words: list[str]
    found: int
    unknown: list[int]
    inputs: list[Tensor]


class GlossReader:
    """A copy of a gloss model, all of whose attention layers are of the kinds given.

    model: a GlossModel, or the name of a kept row of the leaderboard. kinds: classes of layers; names: kept
    rows that are offered where something else was given.
    Raises: TypeError for anything else, and for a model with other layers; ValueError for a name that isn't
    offered.
    """

    def __init__(self, model: GlossModel | str, kinds: tuple[type, ...], names: tuple[str, ...]) -> None:
        offered = " or ".join(repr(name) for name in names)
        if isinstance(model, str):
            if model not in names:
                raise ValueError(f"model={model!r} can be {offered}, or a GlossModel with such heads.")
            model = kept_gloss_row(model)
        if not isinstance(model, GlossModel):
            raise TypeError(
                f"model must be {offered}, or a GlossModel with such heads; got {type(model).__name__}."
            )
        found = {type(layer.attention).__name__ for layer in model.encoder.layers}
        if not all(isinstance(layer.attention, kinds) for layer in model.encoder.layers):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"every layer of model must have {wanted}; it has {', '.join(sorted(found))}.")
        # Another widget may read the same model at the same time, so this one hooks into a copy.
        self.model: GlossModel = copy.deepcopy(model).requires_grad_(False).eval()

    @property
    def layers(self) -> list[MultiHeadAttention]:
        """The attention of each layer."""
        return [layer.attention for layer in self.model.encoder.layers]

    def read(self, sentence: str) -> Read:
        """The first 16 words and marks of a sentence, in small letters, and the layers' inputs."""
        tokens = [token.lower() for token in tokenize(sentence[:MAX_CHARACTERS])]
        words = tokens[:MAX_TOKENS]
        unknown = [i for i, word in enumerate(words) if word not in self.model.vocabulary]
        ids = torch.tensor([self.model.vocabulary.encode(words)]) if words else None
        return Read(words, len(tokens), unknown, [] if ids is None else [x[0] for x in self.inputs(ids)])

    @torch.no_grad()
    def inputs(self, ids: Tensor) -> list[Tensor]:
        """What each attention layer gets for sentences ids (b, n): (b, n, d_model)."""
        caught: list[Tensor] = []
        hooks = [
            layer.register_forward_pre_hook(
                lambda _, args, kwargs: caught.append(args[0] if args else kwargs["query"]), with_kwargs=True
            )
            for layer in self.layers
        ]
        try:
            self.model(ids)
        finally:
            for hook in hooks:
                hook.remove()
        return caught
