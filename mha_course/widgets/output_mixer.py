"""OutputMixer: switch heads on and off and see what W_O makes of the rest, for one token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import traitlets
from torch import Tensor, nn

from mha_course.layers import AttentionTrace
from mha_course.models.random_layer import random_layer
from mha_course.models.word_vectors import token_vectors
from mha_course.text.readable import readable
from mha_course.text.tokens import tokenize
from mha_course.widgets.base import CourseWidget
from mha_course.widgets.mixer_numbers import mixer_numbers
from mha_course.widgets.mixer_payload import MOST_HEADS, mixer_payload

__all__ = ["OutputMixer"]

MOST_TOKENS = 64


class OutputMixer(CourseWidget):
    """Each head's share of the output of one token: concat, W_O in bands, shares, switches, stacked bars.

    trace: of a MultiHeadAttention, its first sentence is shown; w_o (h · d_v, d_model) multiplies concat
    from the right (or pass the layer's nn.Linear). Without a trace, a layer of d_model and h with weights
    drawn from the seed runs on the sentence, in float64. tokens name the rows of the trace, token is the
    one to begin with (an index or a word). feature_names name the d_model outputs, head_feature_names the
    d_v values of each head.
    Raises: ValueError where shapes or names do not fit, or w_o does not belong to the trace.
    Source: Vaswani et al. 2017, section 3.2.2; W_O as a sum over heads: Elhage et al. 2021.
    """

    js = (
        "svg_pieces.js",
        "cell_tips.js",
        "mixer_matrices.js",
        "mixer_chart.js",
        "mixer_frame.js",
        "output_mixer.js",
    )
    css = ("pieces.css", "output_mixer.css")
    root = "mha-mix"

    on = traitlets.List(traitlets.Bool()).tag(sync=True)
    token = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        trace: AttentionTrace | None = None,
        w_o: Tensor | nn.Linear | None = None,
        tokens: Sequence[str] | None = None,
        token: int | str | None = None,
        sentence: str = "My friend plays the oboe every day.",
        d_model: int = 16,
        h: int = 4,
        seed: int = 0,
        feature_names: Sequence[str] | None = None,
        head_feature_names: Sequence[Sequence[str]] | None = None,
    ) -> None:
        if trace is None:
            if w_o is not None:
                raise ValueError("w_o needs the trace that it belongs to: OutputMixer(trace, w_o)")
            words = [readable(t) for t in tokens] if tokens is not None else tokenize(sentence)
            words = words[:MOST_TOKENS]
            if not words:
                raise ValueError("the sentence is empty: one word is enough")
            layer = random_layer(d_model, h, seed).double()
            with torch.no_grad():
                trace = layer.trace(token_vectors(words, d_model, seed=seed).double().unsqueeze(0))
            w_o = layer.w_o
        else:
            if not isinstance(trace, AttentionTrace):
                raise ValueError(
                    "trace is what MultiHeadAttention.trace returns; this is of the type "
                    f"{type(trace).__name__}."
                )
            b, _, n, _ = trace.heads.shape
            if not b or not n:
                raise ValueError(f"the trace has b={b} sentences of n={n} tokens: nothing to show")
            words = [readable(t) for t in tokens] if tokens is not None else [f"token {t}" for t in range(n)]
        if w_o is None:
            raise ValueError("a trace does not hold W_O: pass w_o=mha.w_o as well")
        weight = w_o.weight.T if isinstance(w_o, nn.Linear) else w_o
        if len(words) != trace.heads.shape[2]:
            raise ValueError(f"{len(words)} tokens for a trace of {trace.heads.shape[2]}: one name a row")
        self.numbers = mixer_numbers(trace.heads[0], weight, trace.bias, trace.output[0])
        self.words = words
        start = _token_index(token, words)
        self._sent = mixer_payload(self.numbers, words, feature_names, head_feature_names)
        super().__init__(on=[True] * len(self._sent["groups"]), token=start)

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Everything that the view needs for all tokens; switches and sums are its own."""
        return self._sent, b""

    def still_png(self) -> bytes | None:
        """The chosen token's output with the heads that are on, split into shares."""
        from mha_course.plots import bars

        on, shares = self.heads_on(), self.numbers.shares[self.token]
        sizes = [float(share.norm()) if kept else 0.0 for share, kept in zip(shares, on, strict=True)]
        names = [f"head {i + 1}" + ("" if kept else " (off)") for i, kept in enumerate(on)]
        listed = ", ".join(f"{name} {size:.2f}" for name, size in zip(names, sizes, strict=True))
        word = self.words[self.token]
        self.alt = f"Length of each head's share of the output of token {word}: {listed}."
        title = f"Each head's share of the output of “{word}”"
        return bars(names, sizes, title, "length of the share", heads=range(len(names)), decimals=2).png()

    @traitlets.validate("on")
    def _a_switch_a_group(self, proposal: Mapping) -> list[bool]:
        switches, groups = proposal["value"], len(self._sent["groups"])
        if len(switches) != groups:
            raise traitlets.TraitError(f"on has {len(switches)} switches for {groups} groups: one a group")
        return switches

    @traitlets.validate("token")
    def _token_in_range(self, proposal: Mapping) -> int:
        return max(0, min(proposal["value"], self.numbers.n - 1))

    def heads_on(self) -> list[bool]:
        """Return for each head whether it is on; heads beyond the twelfth share one switch."""
        switches = list(self.on)
        drawn = min(self.numbers.h, MOST_HEADS)
        rest = switches[drawn] if self.numbers.h > MOST_HEADS and len(switches) > drawn else True
        return [bool(switches[i]) if i < drawn else bool(rest) for i in range(self.numbers.h)]

    def output(self) -> Tensor:
        """Return the chosen token's output (d_model) with the heads that are on."""
        return self.numbers.mixed(self.token, self.heads_on())

    def moved(self) -> float:
        """Return how far the switches move the chosen token's output, in lengths of the whole output."""
        return self.numbers.moved(self.token, self.heads_on())


def _token_index(token: int | str | None, words: Sequence[str]) -> int:
    if token is None:
        return len(words) // 2
    if isinstance(token, str):
        if token not in words:
            raise ValueError(
                f"the sentence has no token {token!r}; it has {', '.join(map(repr, words[:12]))}"
            )
        return list(words).index(token)
    if not -len(words) <= token < len(words):
        raise ValueError(f"token={token}: the sentence has {len(words)} tokens, counted from 0")
    return token % len(words)
