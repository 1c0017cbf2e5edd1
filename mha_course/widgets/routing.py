"""Routing: which heads each word chooses in a trained mixture of heads, and how they are weighed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import traitlets
from torch import Tensor

from mha_course.models.gloss_model import GlossModel
from mha_course.sizes import check_sizes
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.gloss_reader import MAX_TOKENS, GlossReader
from mha_course.widgets.gloss_without_heads import examples
from mha_course.widgets.routing_numbers import (
    SENTENCES,
    choices,
    held_out_inputs,
    routing_with,
    saved,
    steps_of,
)

__all__ = ["Routing"]

GATES = ("code", "paper")


class Routing(CourseWidget):
    """The gates of every word and head, how one word's gates come about, and how often heads are chosen.

    model: "mixture", the trained row of the leaderboard, or a GlossModel with such heads; None takes
    "mixture". text: at most 16 words and marks are read, in small letters; None takes a sentence that the
    model was not trained on. layer, token: from 1. gates: those of the authors' "code" or of the "paper", for
    the chosen layer as it is shown; the layers before it work as the model was trained.

    How often heads are chosen is counted over the words of 200 held-out sentences. The widget works on a copy
    of the model. Raises: TypeError for another model or text; ValueError for a name, layer, token or gates
    that there aren't; FileNotFoundError when data/ is missing. Source: Jin et al. 2024.
    """

    js = ("svg_pieces.js", "cell_tips.js", "token_labels.js", "word_select.js", "gate_table.js", "routing.js")
    css = ("pieces.css", "routing.css")
    root = "mha-route"
    settings = ("sentence", "layer", "gates", "token")

    sentence = Text("").tag(sync=True, echo_update=False)
    layer = traitlets.Int(1).tag(sync=True)
    gates = traitlets.Enum(GATES, "code").tag(sync=True)
    token = traitlets.Int(1).tag(sync=True)
    layers = traitlets.Int(1).tag(sync=True)
    examples = traitlets.List().tag(sync=True)

    def __init__(
        self,
        model: GlossModel | str | None = None,
        text: str | None = None,
        layer: int = 1,
        token: int = 1,
        gates: str = "code",
    ) -> None:
        self._reader = GlossReader("mixture" if model is None else model, (MixtureOfHeads,), ("mixture",))
        if text is not None and not isinstance(text, str):
            raise TypeError(f"text must be a sentence; got {type(text).__name__}.")
        check_sizes(layer=layer, token=token)
        self._check_layer(layer)
        if gates not in GATES:
            raise ValueError(f"gates={gates!r} can be 'code' or 'paper'.")
        sentence = examples()[0] if text is None else text
        words = self._reader.read(sentence).words
        if token > max(1, len(words)):
            raise ValueError(f"token={token}: of this text {len(words)} words are read, counted from 1.")
        self._held_out = held_out_inputs(self._reader, SENTENCES)
        super().__init__(
            sentence=sentence,
            layer=int(layer),
            gates=gates,
            token=int(token),
            layers=len(self._reader.layers),
            examples=list(examples()),
        )

    def _check_layer(self, layer: int) -> None:
        if not 1 <= layer <= len(self._reader.layers):
            raise ValueError(f"layer={layer}: the model has {len(self._reader.layers)} layers, from 1.")

    @traitlets.validate("layer")
    def _is_there(self, proposal: Mapping) -> int:
        self._check_layer(proposal["value"])
        return proposal["value"]

    @traitlets.validate("token")
    def _counts(self, proposal: Mapping) -> int:
        check_sizes(token=proposal["value"])
        return proposal["value"]

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Gates of all words, the steps of one word's gates, choices over held-out words, and FLOPs."""
        read = self._reader.read(self.sentence)
        layer = self._reader.layers[self.layer - 1]
        over = choices(layer, self.gates, self._held_out[self.layer - 1])
        header = {
            "words": read.words,
            "unknown": read.unknown,
            "cut": read.found if read.found > len(read.words) else 0,
            "most": MAX_TOKENS,
            "h": layer.h,
            "shared": layer.shared,
            "chosen": layer.chosen,
            "trained": layer.gates,
            "often": _rounded(over.often),
            "probability": _rounded(over.probability),
            "balance": round(over.balance, 4),
            "even": over.even,
            "collapsed": over.collapsed,
            "tokens": over.tokens,
            "sentences": SENTENCES,
        }
        self._gates = None
        if read.words:
            x, n = read.inputs[self.layer - 1], len(read.words)
            found = routing_with(layer, self.gates, x[None])
            self._gates, at = found.gates[0], min(self.token, n) - 1
            flops, plain = saved(layer, n)
            header |= {
                "token": at,
                "gates": _rounded(found.gates[0]),
                "used": [[True] * layer.shared + row for row in found.chosen[0].tolist()],
                "types": _rounded(found.types[0]),
                "steps": steps_of(layer, found, self.gates, at),
                "flops": flops,
                "plain": plain,
            }
        header["told"] = self.alt = self._in_words(header)
        return header, b""

    def still_png(self) -> bytes | None:
        """The gates of all words and heads as a table of numbers."""
        from mha_course.plots import matrix

        if self._gates is None:
            return None
        shared = self.answer["shared"]
        names = [f"{i + 1} {'shared' if i < shared else 'routed'}" for i in range(self.answer["h"])]
        return matrix(
            np.asarray(self.answer["gates"]),
            self.answer["words"],
            names,
            title=f"Gates of layer {self.layer}, as in the {self.gates}",
            row_name="word ↓",
            column_name="head →",
            decimals=2,
        ).png()

    def _in_words(self, header: Mapping[str, object]) -> str:
        routed = [f"head {header['shared'] + i + 1} {share:.2f}" for i, share in enumerate(header["often"])]
        often = (
            f"Over {header['tokens']} words of {header['sentences']} sentences the routed heads are chosen "
            f"by: {', '.join(routed)}. Balance loss {header['balance']:.3f}, "
            f"where evenly spread {header['even']:.3f}."
        )
        if not header["words"]:
            return f"Routing without a sentence. {often}"
        word = header["words"][header["token"]]
        used = [step for step in header["steps"] if step["chosen"]]
        gates = ", ".join(f"head {step['head']} ({step['kind']}) {step['gate']:.2f}" for step in used)
        return f"Routing in layer {self.layer}, gates as in the {self.gates}: “{word}” uses {gates}. {often}"


def _rounded(numbers: Tensor) -> list:
    return np.round(numbers.double().numpy(), 4).tolist()
