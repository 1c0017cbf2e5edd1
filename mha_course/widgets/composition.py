"""Composition: how the heads of a trained model meet at one pair of words, and what it does to their maps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
import traitlets
from torch import Tensor

from mha_course.models.gloss_model import GlossModel
from mha_course.plots.numerals import number
from mha_course.sizes import check_sizes
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.talking_heads import TalkingHeads
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.composition_numbers import (
    NAMES,
    STAGES,
    branch_names,
    branches,
    compose,
)
from mha_course.widgets.gloss_reader import MAX_TOKENS, GlossReader
from mha_course.widgets.gloss_without_heads import examples

__all__ = ["Composition"]

ROWS = ("alone", "weights", "output")  # of maps, from the top


class Composition(CourseWidget):
    """W of one pair of words with its branches, and the maps of all heads without, with half, with composing.

    model: "composable" or "talking", the trained rows of the leaderboard, or a GlossModel with such heads;
    None takes "composable". text: at most 16 words and marks are read, in small letters; None takes a
    sentence that the model was not trained on. layer: from 1. query, key: words, from 1; the second and the
    first when left out. stage: "before" or "after" the softmax, of which W is shown. on, a trait: the
    branches that are on, before and after the softmax of the chosen layer; without the static one the
    identity stands in its place.

    The widget works on a copy of the model. Raises: TypeError for another model or text; ValueError for a
    name, layer, word or stage that there isn't; FileNotFoundError when data/ is missing.
    Source: Xiao et al. 2024 (composable heads); Shazeer et al. 2020 (talking heads).
    """

    js = (
        "svg_pieces.js",
        "cell_tips.js",
        "token_labels.js",
        "word_select.js",
        "signed_grid.js",
        "small_maps.js",
        "composition.js",
    )
    css = ("pieces.css", "signed_grid.css", "composition.css")
    root = "mha-compose"
    settings = ("sentence", "layer", "stage", "query", "key", "on")

    sentence = Text("").tag(sync=True, echo_update=False)
    layer = traitlets.Int(1).tag(sync=True)
    stage = traitlets.Enum(STAGES, "before").tag(sync=True)
    query = traitlets.Int(1).tag(sync=True)
    key = traitlets.Int(1).tag(sync=True)
    on = traitlets.List(traitlets.Unicode()).tag(sync=True)
    layers = traitlets.Int(1).tag(sync=True)
    branches = traitlets.List().tag(sync=True)
    examples = traitlets.List().tag(sync=True)

    def __init__(
        self,
        model: GlossModel | str | None = None,
        text: str | None = None,
        layer: int = 1,
        query: int | None = None,
        key: int = 1,
        stage: str = "before",
    ) -> None:
        kinds = (DynamicallyComposableHeads, TalkingHeads)
        self._reader = GlossReader("composable" if model is None else model, kinds, ("composable", "talking"))
        if text is not None and not isinstance(text, str):
            raise TypeError(f"text must be a sentence; got {type(text).__name__}.")
        query = 2 if query is None else query  # a sentence of one word moves it to that
        check_sizes(layer=layer, query=query, key=key)
        if layer > len(self._reader.layers):
            raise ValueError(f"layer={layer}: the model has {len(self._reader.layers)} layers, from 1.")
        if stage not in STAGES:
            raise ValueError(f"stage={stage!r} must be 'before' or 'after', the softmax.")
        sentence = examples()[0] if text is None else text
        words = self._reader.read(sentence).words
        for name, place in (("query", query), ("key", key)):
            if place > max(2, len(words)):
                raise ValueError(f"{name}={place}: of this text {len(words)} words are read, counted from 1.")
        has = {name for each in self._reader.layers for name in branch_names(each)}
        self._names = names = tuple(name for name in NAMES if name in has)
        super().__init__(
            sentence=sentence,
            layer=int(layer),
            stage=stage,
            query=int(query),
            key=int(key),
            on=list(names),
            layers=len(self._reader.layers),
            # Talking heads have nothing but the matrix itself, P.
            branches=[[name, NAMES[name] if len(names) > 1 else "P"] for name in names],
            examples=list(examples()),
        )

    @traitlets.validate("layer")
    def _is_there(self, proposal: Mapping) -> int:
        layer = proposal["value"]
        if not 1 <= layer <= len(self._reader.layers):
            raise ValueError(f"layer={layer}: the model has {len(self._reader.layers)} layers, from 1.")
        return layer

    @traitlets.validate("query", "key")
    def _counts(self, proposal: Mapping) -> int:
        check_sizes(**{proposal["trait"].name: proposal["value"]})
        return proposal["value"]

    @traitlets.validate("on")
    def _known(self, proposal: Mapping) -> list[str]:
        known = self._names
        if unknown := [name for name in proposal["value"] if name not in known]:
            raise ValueError(f"on={unknown[0]!r} is no branch; there are {', '.join(known)}.")
        return [name for name in known if name in proposal["value"]]

    @property
    def matrix(self) -> Tensor | None:
        """W (h, h) of the pair on show, from heads i to heads j; None without a word."""
        return None if self._found is None else self._found.matrices[self.stage][self._pair].clone()

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """The pair's W and its branches, its numbers in and out; maps of all heads at three stages."""
        read = self._reader.read(self.sentence)
        layer = self._reader.layers[self.layer - 1]
        header = {
            "words": read.words,
            "unknown": read.unknown,
            "cut": read.found if read.found > len(read.words) else 0,
            "most": MAX_TOKENS,
            "h": layer.h,
            "talking": isinstance(layer, TalkingHeads),
        }
        if not read.words:
            self._found, self._pair = None, (0, 0)
            self.alt = "Composition of heads, without a sentence."
            return header, b""
        x, n = read.inputs[self.layer - 1], len(read.words)
        self._found = found = compose(layer, x, self.on)
        self._pair = t, s = min(self.query, n) - 1, min(self.key, n) - 1
        used = found.matrices[self.stage][t, s]
        parts = {
            name: numbers[min(t, len(numbers) - 1), min(s, numbers.shape[1] - 1)]
            for name, numbers in branches(layer, self.stage, x).items()
        }
        into = (found.scores if self.stage == "before" else found.weights)[:, t, s]
        out = (found.composed_scores if self.stage == "before" else found.output)[:, t, s]
        self.alt = in_words(
            "P" if header["talking"] else "W", self.stage, self.layer, read.words[t], read.words[s], used
        )
        header |= {
            "pair": [t, s],
            "matrix": _rounded(used),
            "parts": {name: _rounded(one) for name, one in parts.items()},
            "into": _rounded(into),
            "out": _rounded(out),
            "top": float(max(found.output.abs().max(), 1.0)),
            "moved": float((found.weights - found.alone).abs().max()),
            "told": self.alt,
        }
        maps = torch.stack([getattr(found, row) for row in ROWS])
        return header, maps.to(torch.float32).numpy().astype("<f4").tobytes()

    def still_png(self) -> bytes | None:
        """W of the pair as a table of numbers."""
        from mha_course.plots import matrix

        if self._found is None:
            return None
        heads = [str(i + 1) for i in range(self.answer["h"])]
        return matrix(
            np.asarray(self.answer["matrix"]),
            heads,
            heads,
            title=f"{'P' if self.answer['talking'] else 'W'} {self.stage} the softmax, layer {self.layer}: "
            f"“{self.answer['words'][self._pair[0]]}” to “{self.answer['words'][self._pair[1]]}”",
            row_name="from head ↓",
            column_name="to head →",
        ).png()


def in_words(letter: str, stage: str, layer: int, query: str, key: str, matrix: Tensor) -> str:
    """What stands out in the matrix of one pair, W or P."""
    h = len(matrix)
    others = matrix.clone()
    others.fill_diagonal_(0)
    at = int(others.abs().argmax())
    begin = f"{letter} {stage} the softmax in layer {layer}, query “{query}”, key “{key}”: "
    if h == 1 or float(others.flatten()[at]) == 0:
        return f"{begin}no head takes anything from another one."
    own = matrix.diagonal()
    return (
        f"{begin}the most from another head is {number(float(others.flatten()[at]), 2)}, from head "
        f"{at // h + 1} to head {at % h + 1}; a head's own share lies between {number(float(own.min()), 2)} "
        f"and {number(float(own.max()), 2)}."
    )


def _rounded(numbers: Tensor) -> list:
    return np.round(numbers.double().numpy(), 4).tolist()
