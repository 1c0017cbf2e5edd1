"""AttentionExplorer: every head of a layer on one's own sentence, under sliders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
import traitlets
from torch import Tensor

from mha_course.attention import divisor_at_most, divisors, divisors_in_words, masked_softmax, scaled_scores
from mha_course.attention_maps import AttentionMaps
from mha_course.cost import attention_flops, parameter_count
from mha_course.masks import causal_mask, padding_mask
from mha_course.text.tokens import tokenize
from mha_course.text.vocabulary import Vocabulary
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.weight_sources import SOURCES, Prepared

EXAMPLE = "my friend likes music and plays the oboe every day ."
MASKS = ("none", "causal", "padding")
CONTROLS = ("sentence", "d_model", "h", "mask", "weights", "scale")
MAX_TOKENS = 64
MAX_CHARACTERS = 10_000
WINDOW = 24  # tokens shown at once, so that cells can carry labels
WINDOW_OF_ONE_HEAD = 32
N_PADDING = 3
MOST_STILL_HEADS = 12
# The view that moved a setting knows it already: no echo, one message less a step of the slider.
MOVED_IN_VIEW = {"sync": True, "echo_update": False}


class AttentionExplorer(CourseWidget):
    """Heatmaps of all heads for a sentence, with sliders for d_model and h, mask, scale and weights.

    sentence: any text; at most 64 tokens are read. d_model, h: h is moved to the nearest divisor of
    d_model below it. mask: "none", "causal" or "padding" (which appends <pad> tokens). scale: whether
    scores are divided by sqrt(d_k). weights: a key of `SOURCES`, "random" or "by hand" (its label does
    too). seed: of random weights. head: the enlarged head, counted from 1, or 0 for none. first, a
    trait: the first token shown, from 0, when there are more than 24; -1 shows all of them. facts: with
    False the numbers that a reader may not have met stay away: d_k, parameters, FLOPs, each head's spread,
    and the switch of the colour scale. controls: the settings a reader can move, None = all of `CONTROLS`.

    The maps are `MultiHeadAttention(d_model, h).trace(x)`, nothing else.
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
    settings = ("sentence", "d_model", "h", "mask", "scale", "weights", "seed", "first", "facts")

    sentence = Text(EXAMPLE).tag(**MOVED_IN_VIEW)
    d_model = traitlets.Int(64).tag(**MOVED_IN_VIEW)
    h = traitlets.Int(8).tag(**MOVED_IN_VIEW)
    mask = traitlets.Enum(MASKS, "none").tag(**MOVED_IN_VIEW)
    scale = traitlets.Bool(True).tag(**MOVED_IN_VIEW)
    weights = traitlets.Unicode("random").tag(**MOVED_IN_VIEW)
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
    ) -> None:
        choices = sorted({int(d_model), *map(int, d_model_choices)})
        if choices[0] < 1 or int(h) < 1:
            raise ValueError(f"d_model={choices[0]} and h={h} must be whole numbers of at least 1.")
        if mask not in MASKS:
            raise ValueError(f"mask={mask!r} must be one of {', '.join(MASKS)}.")
        shown = list(CONTROLS) if controls is None else [str(name) for name in controls]
        if isinstance(controls, str) or (unknown := set(shown) - set(CONTROLS)):
            asked = controls if isinstance(controls, str) else sorted(unknown)
            raise ValueError(f"controls={asked!r}: give a list of {', '.join(CONTROLS)}.")
        self._wished_h = int(h)
        self._moved_h = False
        super().__init__(
            sentence=str(sentence),
            d_model=int(d_model),
            h=int(h),
            mask=mask,
            scale=bool(scale),
            weights=weights,
            seed=int(seed),
            d_model_choices=choices,
            sources=[
                {"value": name, "label": source.label, "seeded": source.uses_seed}
                for name, source in SOURCES.items()
            ],
            head=int(head),
            facts=bool(facts),
            controls=shown,
        )

    @traitlets.validate("d_model", "h")
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
        if not tokens:
            self.alt = "Attention explorer without a sentence: no maps."
            return {**header, "tokens": [], "shown": [0, 0], "notices": notices, "heads": []}, b""
        if found > len(tokens):
            notices.append(_cut_notice(found, len(tokens)))
        maps, prepared = self.maps_and_source(tokens)
        tokens = list(maps.query_tokens)
        start, stop = self._window(len(tokens))
        weights = maps.weights[0]
        notices += [{"heading": heading, "text": text} for heading, text in prepared.boxes]
        window = weights[:, start:stop, start:stop]
        allowed = torch.ones(len(tokens), len(tokens), dtype=torch.bool)
        if maps.allowed is not None:
            allowed = maps.allowed
        header |= self._facts(len(tokens))
        header |= {
            "tokens": tokens,
            "shown": [start, stop],
            "notices": notices,
            "note": maps.note,
            "spread": [round(value, 3) for value in maps.spread()[0].tolist()],
            "names": list(prepared.head_names),
            "max": float(window.max()),
        }
        self.alt = self._describe(header)
        payload = (window * 65535).round().to(torch.uint16).numpy().tobytes()
        payload += allowed[start:stop, start:stop].to(torch.uint8).numpy().tobytes()
        return header, payload

    def still_png(self) -> bytes | None:
        """All heads as one still picture in light colours; None without a sentence."""
        # Matplotlib takes longer to load than everything else here, and only a still needs it.
        from mha_course.plots import head_grid

        if not self._read()[0]:
            return None
        maps, note = self.maps(), ""
        if self.h > MOST_STILL_HEADS:
            note = f"The first {MOST_STILL_HEADS} of {self.h} heads. "
        first = maps.weights[:, :MOST_STILL_HEADS]
        maps = replace(maps, weights=first, note=note + maps.note)
        return head_grid(maps, title=_heading(self.h), spread=self.facts).png()

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
        trace = prepared.layer.trace(prepared.x[None], mask=mask)
        maps = AttentionMaps.from_trace(trace, tokens, note=prepared.note)
        if not self.scale:
            weights: Tensor = masked_softmax(scaled_scores(trace.q, trace.k, scale=1.0), trace.mask)
            maps = AttentionMaps(weights, tokens, tokens, allowed=maps.allowed, note=prepared.note)
        return maps, prepared

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
        text = f"{self._wished_h} does not divide d_model = {self.d_model}. "
        text += f"h can be {divisors_in_words(self.d_model)}."
        return [{"heading": f"h moved from {self._wished_h} to {fitting}", "text": text}]

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
            "parameters": parameter_count(self.d_model, self.h),
            "flops": attention_flops(n, self.d_model, self.h)["total"] if n else 0,
            "root": math.sqrt(d_k),
            "scale": self.scale,
            "facts": self.facts,
            "window": WINDOW_OF_ONE_HEAD if self.h == 1 else WINDOW,
        }

    def _describe(self, header: Mapping) -> str:
        names = header["names"] or [f"head {i + 1}" for i in range(self.h)]
        shown = ", ".join(
            f"{name} spread {spread:.2f}" if self.facts else name
            for name, spread in list(zip(names, header["spread"], strict=False))[:8]
        )
        more = "" if self.h <= 8 else f", and {self.h - 8} more"
        return (
            f"Attention weights of {self.h} head{'s' if self.h > 1 else ''} for {header['n']} tokens, "
            f"d_model {self.d_model}, mask {self.mask}: {shown}{more}."
        )


def _heading(h: int) -> str:
    return "One head, one sentence" if h == 1 else f"{h} heads, one sentence"


def _cut_notice(found: int, used: int) -> dict[str, str]:
    return {
        "heading": f"{found:,} tokens, the explorer reads the first {used}",
        "text": "Maps of a longer text would have cells too small to see.",
    }
