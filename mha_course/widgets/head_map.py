"""HeadMap: what each head of a model does, with thresholds under sliders, and every head on a sentence."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import traitlets
from torch import Tensor

from mha_course.attention_maps import AttentionMaps
from mha_course.heads.head_table import HeadTable
from mha_course.heads.measured import Measured
from mha_course.heads.shuffled import followed, shuffled_order
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.head_map_chart import chart_of, most_telling, question_of, roles_at
from mha_course.widgets.head_map_examples import Examples, Ranked, Targets, over_words, targets_of, unparsed
from mha_course.widgets.head_map_words import (
    alt_text,
    closed_notice,
    cut_notice,
    empty_notice,
    rank_words,
    unknown_notice,
)
from mha_course.widgets.head_sources import Reading, source_of

__all__ = ["HeadMap"]

MODES = ("best", "worst", "stay", "own")
MAX_CHARACTERS = 2_000
LEAST_KEPT = 0.01
MOVED_IN_VIEW = {"sync": True, "echo_update": False}


class HeadMap(CourseWidget):
    """Heads coloured by role, thresholds under sliders, the chosen head on its best and worst sentence.

    source: None (the course model), "treebank", "known treebank", "MiniLM" (recorded heads), a model, or any
    `HeadSource`, see `source_of`.
    layer, head: the chosen head, counted from 1; None takes the one that is most above its baseline. mode:
    which sentence is shown: "best" or "worst" example of the chosen head, "stay" with one example, "own".
    example: which one, from 0, for "stay". sentence: one's own; giving one means "own". thresholds: a share
    for some of the keys of `thresholds`, such as {"syntactic": 0.15}. special: show the model's own tokens.

    Traits: thresholds, layer, head, mode, example, sentence, special, shuffle (0, or which order of words).
    `roles()` names the heads on show, `maps()` gives their weights, `table` holds all scores.
    Raises: ValueError for a head, mode, example or threshold that there isn't; TypeError for no source.
    """

    js = (
        "token_labels.js",
        "hatch.js",
        "heatmap.js",
        "tooltip.js",
        "arcs.js",
        "bars_below.js",
        "svg_pieces.js",
        "cell_tips.js",
        "head_map_roles.js",
        "head_map_grid.js",
        "head_map_thresholds.js",
        "head_map_bars.js",
        "head_map_sentence.js",
        "head_map_picker.js",
        "head_map.js",
    )
    css = ("heatmap.css", "pieces.css", "role_grid.css", "head_map.css")
    root = "mha-headmap"
    settings = ("layer", "head", "mode", "example", "step", "sentence", "special", "shuffle")

    chart = traitlets.Dict().tag(sync=True)
    thresholds = traitlets.Dict().tag(**MOVED_IN_VIEW)
    layer = traitlets.Int(1).tag(**MOVED_IN_VIEW)
    head = traitlets.Int(1).tag(**MOVED_IN_VIEW)
    mode = traitlets.Enum(MODES, "best").tag(**MOVED_IN_VIEW)
    example = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(0).tag(**MOVED_IN_VIEW)  # raised and lowered by the buttons beside the list
    sentence = Text("").tag(**MOVED_IN_VIEW)
    special = traitlets.Bool(False).tag(**MOVED_IN_VIEW)
    shuffle = traitlets.Int(0, min=0).tag(**MOVED_IN_VIEW)

    def __init__(
        self,
        source: object = None,
        layer: int | None = None,
        head: int | None = None,
        mode: str = "best",
        example: int = 0,
        sentence: str = "",
        thresholds: Mapping[str, float] | None = None,
        special: bool = False,
    ) -> None:
        self.source = source_of(source)
        if self.source.closed and (sentence or mode == "own"):
            raise ValueError(f"{self.source.name} has no sentence of your own. {self.source.closed}")
        self._examples = Examples(self.source)
        self._check_sizes()
        self._roles = {role.key: role for role in self.table.roles()}
        self._stepped = 0
        self._asking: str | None = None
        best = most_telling(self.table) if layer is None or head is None else (1, 1)
        start = {key: float(role.threshold) for key, role in self._roles.items()}
        super().__init__(
            chart=chart_of(self.table)
            | {
                "can_read": not self.source.closed,
                "closed": self.source.closed,
                "has_special": self.source.has_special,
                "placeholder": self.source.known_sentence,
            },
            thresholds={**start, **(thresholds or {})},
            layer=best[0] if layer is None else layer,
            head=best[1] if head is None else head,
            mode="own" if sentence else mode,
            example=example,
            sentence=str(sentence),
            special=bool(special) and self.source.has_special,
        )
        self.observe(self._on_thresholds, names="thresholds")

    @property
    def table(self) -> HeadTable:
        """All that was measured."""
        return self.source.table

    def roles(self) -> dict[str, list[tuple[int, int]]]:
        """What is on show: for each role the heads that reach its threshold, as (layer, head) from 1."""
        return roles_at(self.table, self.thresholds)

    def maps(self) -> AttentionMaps:
        """The maps on show, of all heads. Raises: ValueError when there is no sentence."""
        with self._lock, torch.no_grad():
            reading = self._read()[0]
        if reading is None:
            raise ValueError("there is no sentence, so there are no maps.")
        return reading.maps

    @traitlets.validate("layer", "head", "example")
    def _is_there(self, proposal: Mapping) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        if name == "example":
            first, last, what = 0, len(self._examples) - 1, "examples count"
        else:
            first, last = 1, self.table.n_layers if name == "layer" else self.table.n_heads
            what = f"{name}s count"
        if not first <= value <= last:
            raise traitlets.TraitError(f"{name}={value}: {what} from {first} to {last}.")
        return value

    @traitlets.validate("thresholds")
    def _known_roles(self, proposal: Mapping) -> dict[str, float]:
        asked = dict(proposal["value"])
        if unknown := sorted(set(asked) - set(self._roles)):
            known = ", ".join(self._roles)
            raise traitlets.TraitError(f"thresholds for {', '.join(map(str, unknown))}: there are {known}.")
        if any(not isinstance(value, (int, float)) or not -1 <= value <= 1 for value in asked.values()):
            raise traitlets.TraitError(f"thresholds are shares from -1 to 1; got {asked}.")
        return {key: float(asked.get(key, role.threshold)) for key, role in self._roles.items()}

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Maps (layers, heads, n, n) and what each row kept (layers, heads, n) as uint16, 65535 = 1.

        For a model with a mask the allowed cells (n, n) follow as bytes.
        """
        measure = self._question()
        self._asking = measure.name if measure else None
        ranked = self._examples.ranked(measure, self.layer, self.head)
        place = self._choose(ranked)
        reading, sentence, order = self._read()
        header = {
            "tokens": [],
            "unknown": [],
            "notices": [],
            "note": "",
            "at": [self.layer, self.head],
            "question": None,
            "targets": [],
            "rank": rank_words(self.mode, measure, ranked, place, self.example, len(self._examples)),
            "can_step": [place is None or place > 0, place is None or place < len(ranked) - 1],
            "shuffle": None,
            "masked": False,
        }
        self.alt = alt_text(self.table, self.roles(), self.layer, self.head, header["rank"])
        if reading is None:
            closed = self.source.closed
            header["notices"] = [
                closed_notice(closed) if closed else empty_notice(self.source.known_sentence)
            ]
            return header, b""
        tokens = list(reading.maps.query_tokens)
        notices = [
            unknown_notice([tokens[i] for i in reading.unknown], self.source.known_sentence),
            cut_notice(reading.cut, len(reading.places)),
        ]
        weights = reading.maps.weights
        kept = weights.sum(-1)
        header |= {
            "tokens": tokens,
            "unknown": list(reading.unknown),
            "notices": [notice for notice in notices if notice],
            "note": self._said(reading.maps),
            "masked": reading.maps.allowed is not None,
            "question": self._asking,
            "targets": self._targets(measure, sentence, order, reading),
        }
        if order is not None:
            header["shuffle"] = self._followed(sentence, reading, order)
        # Where only words are shown, a row is rescaled to what it gave to words. One that gave them next to
        # nothing stays blank: rescaled it would be noise.
        shown = (weights / kept.clamp(min=1e-6)[..., None]) * (kept >= LEAST_KEPT)[..., None]
        payload = _packed(shown) + _packed(kept)
        if header["masked"]:
            payload += reading.maps.allowed.to(torch.uint8).numpy().tobytes()
        return header, payload

    def still_png(self) -> bytes | None:
        """The map with the roles on show."""
        from mha_course.plots.role_map import role_map

        return role_map(self.table, self.thresholds, chosen=(self.layer, self.head)).png()

    def _check_sizes(self) -> None:
        of_table = self.table.n_layers, self.table.n_heads
        of_maps = tuple(self.source.maps(0).maps.weights.shape[:2])
        if of_table != of_maps:
            raise ValueError(f"the table is of (layers, heads) {of_table}, but the maps are of {of_maps}.")

    def _question(self) -> Measured | None:
        at = (self.layer - 1, self.head - 1)
        passed = [
            key for key, role in self._roles.items() if role.having(self.thresholds[key] - 1e-9)[at].item()
        ]
        return question_of(self.table, self.layer, self.head, passed[0] if passed else None)

    def _choose(self, ranked: list[Ranked]) -> int | None:
        """Move `example` to where mode and steps say; its place in the ranking, None when it isn't there."""
        places = {one.i: place for place, one in enumerate(ranked)}
        place = places.get(self.example)
        steps, self._stepped = self.step - self._stepped, self.step
        if self.mode in ("best", "worst") and ranked:
            place = 0 if self.mode == "best" else len(ranked) - 1
        elif self.mode == "stay" and steps and ranked:
            place = max(0, min(len(ranked) - 1, (place if place is not None else 0) + steps))
        if place is not None and self.mode != "own":
            self.example = ranked[place].i
        return place

    def _read(self) -> tuple[Reading | None, ParsedSentence | None, list[int] | None]:
        """The maps on show, their sentence as it was, and the order of its words when they are shuffled."""
        special = self.special and self.source.has_special
        if self.mode == "own":
            straight = self.source.read(self.sentence[:MAX_CHARACTERS], special)
            if straight is None:
                return None, None, None
            sentence = unparsed([straight.maps.query_tokens[i] for i in straight.places])
        else:
            sentence = self._examples.sentences[self.example]
            straight = None if self.shuffle else self.source.maps(self.example, special)
        if not self.shuffle or self.source.closed:
            return straight or self.source.maps(self.example, special), sentence, None
        order = shuffled_order(len(sentence), self.shuffle)
        return self.source.read([sentence.words[i] for i in order], special), sentence, order

    def _followed(
        self, sentence: ParsedSentence, shuffled: Reading, order: list[int]
    ) -> dict[str, list[int]]:
        """For every head, layer after layer, what it kept through the shuffle."""
        straight = self.source.read(list(sentence.words))
        before, after = over_words(straight), over_words(shuffled)
        found = followed(before, after, order, sentence.words)
        return {name: getattr(found, name).flatten().int().tolist() for name in ("asked", "place", "word")}

    def _targets(
        self,
        measure: Measured | None,
        sentence: ParsedSentence,
        order: list[int] | None,
        reading: Reading,
    ) -> Targets:
        """The right words for the question, as places among the tokens on show."""
        if measure is None or self.mode == "own" and measure.kind == "syntactic":
            return []
        if order is not None and measure.kind == "positional":
            sentence, order = unparsed([sentence.words[i] for i in order]), None
        pairs = targets_of(sentence, measure, self.source.counts)
        if order is not None:  # the tree goes with the words
            now = {word: place for place, word in enumerate(order)}
            pairs = [(now[q], now[k]) for q, k in pairs]
        return [(reading.places[q], reading.places[k]) for q, k in pairs]

    def _said(self, maps: AttentionMaps) -> str:
        said = []
        if self.source.has_special:
            left_out = (
                "Special tokens are left out of the map, and its rows rescaled to sum to 1; a row that kept "
                "less than 0.01 is blank."
            )
            said.append("Special tokens are shown." if self.special else left_out)
        if maps.allowed is not None:
            said.append("Hatched: no word may look at a later one.")
        return " ".join(said)

    def _on_thresholds(self, change: object) -> None:
        """A threshold can change what the chosen head is called, and so what it is asked."""
        measure = self._question()
        if self._ready and (measure.name if measure else None) != self._asking:
            self.refresh(force=True)


def _packed(values: Tensor) -> bytes:
    """uint16, 65535 = 1."""
    return (values.clamp(0, 1) * 65535).round().to(torch.int32).numpy().astype("<u2").tobytes()
