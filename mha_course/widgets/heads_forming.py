"""HeadsForming: the heads of the course model on one sentence, from random weights to trained ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import torch
import traitlets
from torch import Tensor

from mha_course.models.course_models import load_course_model
from mha_course.models.gloss_model import GlossModel
from mha_course.models.training_records import forming
from mha_course.sizes import check_sizes
from mha_course.text.tokens import tokenize
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.named_words import as_sentence, named_words

__all__ = ["HeadsForming"]

EXAMPLE = "the old farmer near the barns sees two small lambs ."
MAX_TOKENS = 24
MAX_CHARACTERS = 10_000


class HeadsForming(CourseWidget):
    """Every head's map at every recorded step of the training; a slider and a play button go through them.

    sentence: at most 24 words and marks are read, in small letters; words that the model doesn't know are
    read as <unk> and named. layer, head: the enlarged head, from 1. step, a trait: the step on show, one of
    those recorded. Labels of roles were measured on other sentences than the one on show.
    Raises: ValueError for a layer, head or step that there isn't; FileNotFoundError when data/ is missing.
    """

    js = (
        "token_labels.js",
        "heatmap.js",
        "tooltip.js",
        "svg_pieces.js",
        "live_chart.js",
        "forming_grid.js",
        "heads_forming.js",
    )
    css = ("heatmap.css", "pieces.css", "live_training.css", "heads_forming.css")
    root = "mha-form"
    settings = ("sentence",)

    sentence = Text(EXAMPLE).tag(sync=True, echo_update=False)
    steps = traitlets.List(traitlets.Int()).tag(sync=True)
    step = traitlets.Int().tag(sync=True)
    layer = traitlets.Int(1).tag(sync=True)
    head = traitlets.Int(1).tag(sync=True)
    record = traitlets.List().tag(sync=True)

    def __init__(self, sentence: str = EXAMPLE, layer: int = 2, head: int = 1, step: int = 0) -> None:
        record = forming()
        steps = [checkpoint.step for checkpoint in record]
        layers, heads = len(record[0].heads), len(record[0].heads[0])
        check_sizes(1, layer=layer, head=head)
        check_sizes(0, step=step)
        self._there = {"layer": range(1, layers + 1), "head": range(1, heads + 1), "step": steps}
        super().__init__(
            sentence=as_sentence(sentence),
            layer=int(layer),
            head=int(head),
            step=int(step),
            steps=steps,
            record=[
                {
                    "accuracy": dict(one.accuracy),
                    "best": dict(one.best),
                    "heads": [list(row) for row in one.heads],
                }
                for one in record
            ],
        )

    @traitlets.validate("layer", "head", "step")
    def _recorded(self, proposal: Mapping) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        if value not in self._there[name]:
            there = ", ".join(map(str, self._there[name]))
            raise ValueError(f"{name}={value} was not recorded; there are {there}.")
        return value

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Maps (steps, layers, heads, n, n) as uint16, 65535 = 1; the words, and those that are unknown."""
        tokens, found = self._read()
        header = {"tokens": tokens, "found": found, "most": MAX_TOKENS, "example": EXAMPLE}
        header["unknown"] = [word for word in dict.fromkeys(tokens) if word not in _models()[0].vocabulary]
        header["unknown_named"] = named_words(header["unknown"])
        if not tokens:
            self.alt = "Heads while the model learns, without a sentence: no maps."
            return header, b""
        self.alt = (
            f"Attention maps of 2 layers of 8 heads for {len(tokens)} tokens at {len(self.steps)} steps "
            f"of the training, from {self.steps[0]} to {self.steps[-1]:,}; step {self.step:,} is on show."
        )
        maps = (self._maps(tokens) * 65535).round().to(torch.int32).numpy().astype("<u2")
        return header, maps.tobytes()

    def still_png(self) -> bytes | None:
        """All heads of both layers at the step on show; None without a sentence."""
        from mha_course.plots import head_grid

        tokens, _ = self._read()
        if not tokens:
            return None
        model = _models()[self.steps.index(self.step)]
        title = f"Both layers after {self.step:,} steps"
        return head_grid(model.attend(tokens), title=title, spread=False).png()

    def _maps(self, tokens: list[str]) -> Tensor:
        return torch.stack([model.attend(tokens).weights for model in _models()])

    def _read(self) -> tuple[list[str], int]:
        tokens = [token.lower() for token in tokenize(self.sentence[:MAX_CHARACTERS])]
        return tokens[:MAX_TOKENS], len(tokens)


@cache
def _models() -> tuple[GlossModel, ...]:
    """The model at every recorded step."""
    return tuple(load_course_model(step=checkpoint.name) for checkpoint in forming())
