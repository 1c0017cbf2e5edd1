"""AttentionExplorer: every head of a layer on one's own sentence, under sliders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
import traitlets
from torch import Tensor

from mha_course.attention import divisor_at_most, divisors, masked_softmax, scaled_scores
from mha_course.attention_maps import AttentionMaps
from mha_course.cost import attention_flops, parameter_count
from mha_course.masks import causal_mask, padding_mask
from mha_course.text.tokens import tokenize
from mha_course.text.vocabulary import Vocabulary
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.explorer_words import below_a_still, cut_notice, heading, in_words, moved_notice
from mha_course.widgets.named_words import as_sentence
from mha_course.widgets.prepared import NoSuchSetting, Prepared
from mha_course.widgets.weight_sources import SOURCES

EXAMPLE = "my friend likes music and plays the oboe every day ."
MASKS = ("none", "causal", "padding")
CONTROLS = ("sentence", "d_model", "h", "mask", "weights", "layer", "scale")
MAX_TOKENS = 64
MAX_CHARACTERS = 10_000
WINDOW = 24  # tokens shown at once, so that cells can carry labels
WINDOW_OF_ONE_HEAD = 32
N_PADDING = 3
LAYER = 2  # of a trained model: there most of its roles are found
MOST_STILL_HEADS = 12
# The view that moved a setting knows it already: no echo, one message less a step of the slider.
MOVED_IN_VIEW = {"sync": True, "echo_update": False}


class AttentionExplorer(CourseWidget):
    """Heatmaps of all heads for a sentence, with sliders for d_model and h, mask, scale and weights.

    sentence: any text; at most 64 tokens are read. d_model, h: h is moved to the nearest divisor of
    d_model below it. mask: "none", "causal" or "padding" (which appends <pad> tokens). scale: whether
    scores are divided by sqrt(d_k). weights: a key of `SOURCES`, "random", "by hand" (its label does too)
    or "trained". seed: of random weights. layer: which one of a trained model, counted from 1. head: the
    enlarged head, counted from 1, or 0 for none. first, a trait: the first token shown, from 0, when there
    are more than 24; -1 shows all of them. facts: with False the numbers that a reader may not have met stay
    away: d_k, parameters, FLOPs, each head's spread, accuracies, and the switch of the colour scale.
    controls: the settings a reader can move, None = all of `CONTROLS`.

    The maps are `MultiHeadAttention(d_model, h).trace(x)`, nothing else; with trained weights those of a
    course model, for the settings that were trained. Other settings show no maps and say so.
    Raises: ValueError for an unknown mask, source or control, for widths below 1 and for an h that is no
    number of heads.
    """

    js = (
        "token_labels.js",
        "hatch.js",
        "heatmap.js",
        "tooltip.js",
        "arcs.js",
        "bars_below.js",
        "explorer_frame.js",
        "explorer_controls.js",
        "explorer_facts.js",
        "explorer_legend.js",
        "explorer_grid.js",
        "explorer_detail.js",
        "attention_explorer.js",
    )
    css = ("heatmap.css", "attention_explorer.css")
    root = "mha-explorer"
    settings = ("sentence", "d_model", "h", "mask", "scale", "weights", "layer", "seed", "first", "facts")

    sentence = Text(EXAMPLE).tag(**MOVED_IN_VIEW)
    d_model = traitlets.Int(64).tag(**MOVED_IN_VIEW)
    h = traitlets.Int(8).tag(**MOVED_IN_VIEW)
    mask = traitlets.Enum(MASKS, "none").tag(**MOVED_IN_VIEW)
    scale = traitlets.Bool(True).tag(**MOVED_IN_VIEW)
    weights = traitlets.Unicode("random").tag(**MOVED_IN_VIEW)
    layer = traitlets.Int(LAYER).tag(**MOVED_IN_VIEW)
    seed = traitlets.Int(0).tag(**MOVED_IN_VIEW)
    first = traitlets.Int(0).tag(**MOVED_IN_VIEW)
    head = traitlets.Int(0).tag(sync=True)
    facts = traitlets.Bool(True).tag(sync=True)
    controls = traitlets.List(traitlets.Unicode()).tag(sync=True)
    example = traitlets.Unicode(EXAMPLE).tag(sync=True)
    d_model_choices = traitlets.List(traitlets.Int()).tag(sync=True)
    sources = traitlets.List().tag(sync=True)

    def __init__(
        self,
        sentence: str = EXAMPLE,
        d_model: int = 64,
        h: int = 8,
        mask: str = "none",
        scale: bool = True,
        weights: str = "random",
        seed: int = 0,
        d_model_choices: Sequence[int] = (8, 16, 24, 32, 48, 64, 96, 128),
        head: int = 0,
        facts: bool = True,
        controls: Sequence[str] | None = None,
        layer: int = LAYER,
    ) -> None:
        choices = sorted({int(d_model), *map(int, d_model_choices)})
        if choices[0] < 1 or int(h) < 1 or int(layer) < 1:
            raise ValueError(
                f"d_model={choices[0]}, h={h} and layer={layer} must be whole numbers of at least 1."
            )
        if mask not in MASKS:
            raise ValueError(f"mask={mask!r} must be one of {', '.join(MASKS)}.")
        shown = list(CONTROLS) if controls is None else [str(name) for name in controls]
        if isinstance(controls, str) or (unknown := set(shown) - set(CONTROLS)):
            asked = controls if isinstance(controls, str) else sorted(unknown)
            raise ValueError(f"controls={asked!r}: give a list of {', '.join(CONTROLS)}.")
        self._wished_h = int(h)
        self._moved_h = False
        super().__init__(
            sentence=as_sentence(sentence),
            d_model=int(d_model),
            h=int(h),
            mask=mask,
            scale=bool(scale),
            weights=weights,
            seed=int(seed),
            layer=int(layer),
            d_model_choices=choices,
            sources=[
                {"value": name, "label": source.label, "seeded": source.uses_seed}
                for name, source in SOURCES.items()
            ],
            head=int(head),
            facts=bool(facts),
            controls=shown,
        )

    @traitlets.validate("d_model", "h", "layer")
    def _at_least_one(self, proposal: Mapping) -> int:
        if proposal["value"] < 1:
            name = proposal["trait"].name
            raise ValueError(f"{name}={proposal['value']} must be a whole number of at least 1.")
        return proposal["value"]

    @traitlets.validate("weights")
    def _known_source(self, proposal: Mapping) -> str:
        asked = proposal["value"]
        by_label = {source.label: name for name, source in SOURCES.items()}
        if asked not in SOURCES and asked not in by_label:
            raise ValueError(f"weights={asked!r} must be one of {', '.join(SOURCES)}.")
        return asked if asked in SOURCES else by_label[asked]

    @traitlets.observe("h")
    def _wish(self, change: Mapping) -> None:
        if not self._moved_h:
            self._wished_h = change["new"]

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Weights of every head as uint16 (65535 = 1), then the allowed cells as bytes, with the facts."""
        notices = self._fit_h()
        tokens, found = self._read()
        header = self._facts(len(tokens))
        nothing = {**header, "tokens": [], "shown": [0, 0], "notices": notices, "heads": []}
        if not tokens:
            self.alt = "Attention explorer without a sentence: no maps."
            return nothing, b""
        if found > len(tokens):
            notices.append(cut_notice(found, len(tokens)))
        try:
            maps, prepared = self.maps_and_source(tokens)
        except NoSuchSetting as missing:
            self.alt = f"Attention explorer without maps. {missing}"
            offers = [{"d_model": d_model, "h": h} for d_model, h in missing.nearest]
            box = {"heading": missing.heading, "text": missing.text, "offers": offers}
            return {**nothing, "missing": box}, b""
        tokens = list(maps.query_tokens)
        start, stop = self._window(len(tokens))
        weights = maps.weights[0]
        notices += [box._asdict() for box in prepared.boxes]
        window = weights[:, start:stop, start:stop]
        allowed = torch.ones(len(tokens), len(tokens), dtype=torch.bool)
        if maps.allowed is not None:
            allowed = maps.allowed
        header |= self._facts(len(tokens))
        header |= {
            "tokens": tokens,
            "unknown": list(prepared.unknown),
            "shown": [start, stop],
            "notices": notices,
            "note": maps.note,
            "spread": [round(value, 3) for value in maps.spread()[0].tolist()],
            "names": self._of_layer(prepared.head_names, prepared),
            "details": self._of_layer(prepared.head_details, prepared),
            "layer": min(self.layer, prepared.n_layers),
            "layers": prepared.n_layers,
            "max": float(window.max()),
        }
        self.alt = in_words(header, self.mask)
        payload = (window * 65535).round().to(torch.uint16).numpy().tobytes()
        payload += allowed[start:stop, start:stop].to(torch.uint8).numpy().tobytes()
        return header, payload

    def still_png(self) -> bytes | None:
        """All heads as one still picture in light colours; None without a sentence."""
        # Matplotlib takes longer to load than everything else here, and only a still needs it.
        from mha_course.plots import head_grid

        try:
            maps, note = self.maps(), ""
        except ValueError:
            return None  # nothing to show, as the alternative text says
        if self.h > MOST_STILL_HEADS:
            note = f"The first {MOST_STILL_HEADS} of {self.h} heads. "
        first = maps.weights[:, :MOST_STILL_HEADS]
        maps = replace(maps, weights=first, note=note + maps.note + below_a_still(self.answer))
        title = heading(self.h, self.answer["layer"], self.answer["layers"])
        return head_grid(maps, title=title, spread=self.facts).png()

    def maps(self) -> AttentionMaps:
        """The maps on show, all tokens, as `AttentionMaps`. Raises ValueError for an empty sentence."""
        with self._lock, torch.no_grad():
            tokens, _ = self._read()
            if not tokens:
                raise ValueError("the sentence is empty; there are no maps.")
            return self.maps_and_source(tokens)[0]

    def maps_and_source(self, tokens: Sequence[str]) -> tuple[AttentionMaps, Prepared]:
        """Run the layer on tokens under the present settings."""
        tokens = list(tokens)
        n_real = len(tokens)
        if self.mask == "padding":
            tokens = tokens[: MAX_TOKENS - N_PADDING]
            n_real = len(tokens)
            tokens += [Vocabulary.PAD] * N_PADDING
        prepared = SOURCES[self.weights].prepare(tokens, self.d_model, self.h, self.seed)
        mask = None
        if self.mask == "causal":
            mask = causal_mask(len(tokens))
        elif self.mask == "padding":
            mask = padding_mask([n_real], len(tokens))
        trace = prepared.traces(mask)[min(self.layer, prepared.n_layers) - 1]
        note = f"{prepared.note} {prepared.figures}" if prepared.figures and self.facts else prepared.note
        maps = AttentionMaps.from_trace(trace, tokens, note=note)
        if not self.scale:
            weights: Tensor = masked_softmax(scaled_scores(trace.q, trace.k, scale=1.0), trace.mask)
            maps = AttentionMaps(weights, tokens, tokens, allowed=maps.allowed, note=note)
        return maps, prepared

    def _of_layer(self, values: Sequence[str], prepared: Prepared) -> list[str]:
        """Those of the layer on show, of values for all heads, layer after layer."""
        start = (min(self.layer, prepared.n_layers) - 1) * self.h
        return list(values[start : start + self.h])

    def _with_weights(self) -> dict[str, list[int]] | None:
        """Widths and numbers of heads that the source has weights for, beside the present h and d_model."""
        settings = SOURCES[self.weights].settings
        if settings is None:
            return None
        known = set(settings())
        widths = [d for d in self.d_model_choices if (d, divisor_at_most(d, self._wished_h)) in known]
        return {"d_model": widths, "h": [h for h in divisors(self.d_model) if (self.d_model, h) in known]}

    def _fit_h(self) -> list[dict[str, str]]:
        """Move h to a divisor of d_model where it must; say so as long as it isn't what was wished for."""
        fitting = divisor_at_most(self.d_model, self._wished_h)
        if fitting != self.h:
            self._moved_h = True
            try:
                self.h = fitting
            finally:
                self._moved_h = False
        if fitting == self._wished_h:
            return []
        return [moved_notice(self._wished_h, fitting, self.d_model)]

    def _read(self) -> tuple[list[str], int]:
        """The tokens used, and how many the sentence has."""
        tokens = tokenize(self.sentence[:MAX_CHARACTERS])
        return tokens[:MAX_TOKENS], len(tokens)

    def _window(self, n: int) -> tuple[int, int]:
        size = WINDOW_OF_ONE_HEAD if self.h == 1 else WINDOW
        if n <= size or self.first < 0:
            return 0, n
        start = min(self.first, n - size)
        return start, start + size

    def _facts(self, n: int) -> dict[str, object]:
        d_k = self.d_model // self.h
        return {
            "d_model": self.d_model,
            "h": self.h,
            "d_k": d_k,
            "n": n,
            "divisors": divisors(self.d_model),
            "with_weights": self._with_weights(),
            "parameters": parameter_count(self.d_model, self.h),
            "flops": attention_flops(n, self.d_model, self.h)["total"] if n else 0,
            "root": math.sqrt(d_k),
            "scale": self.scale,
            "facts": self.facts,
            "window": WINDOW_OF_ONE_HEAD if self.h == 1 else WINDOW,
        }
