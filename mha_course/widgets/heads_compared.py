"""HeadsCompared: two heads on one sentence, and what becomes of their patterns when it is shuffled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
import traitlets

from mha_course.attention_maps import AttentionMaps
from mha_course.heads.shuffled import Followed, expected, followed, followed_over, over_words, shuffled_order
from mha_course.text.readable import readable
from mha_course.text.tokens import tokenize
from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.browser_numbers import check_head, checked, packed
from mha_course.widgets.reading_source import ReadingSource

__all__ = ["HeadsCompared"]

EXAMPLE = "the old farmer near the barns sees two small lambs ."
MAX_TOKENS = 24
MAX_CHARACTERS = 2_000
SHUFFLES = 50

Source = AttentionMaps | Callable[[Sequence[str]], AttentionMaps]


class HeadsCompared(CourseWidget):
    """Two heads side by side: arcs above and below one sentence, their maps with a shared row, their numbers.

    maps_or_source: AttentionMaps of one sentence; or what reads words, such as `load_course_model()`,
    `load_pretrained(...)`, their `attend`, or a function from words to AttentionMaps. Only a source lets one
    write another sentence and shuffle its words. left, right: (layer, head), from 1. sentence: at most 24
    words and marks are read. control: a source with untrained weights, counted beside the first. sentences:
    lists of words for the count of what each head follows; None shuffles the sentence on show 50 times.
    seed: of all shuffles. counts: what was counted before, with `trained`, `untrained` (`Followed`) and
    `sentences`, such as `real_heads_shuffled()`; then nothing is counted here, and maps alone show it too.

    Raises: TypeError for what is neither maps nor a source, or a control without a source; ValueError for a
    layer or head that there isn't.
    """

    js = (
        "token_labels.js",
        "hatch.js",
        "heatmap.js",
        "tooltip.js",
        "arcs.js",
        "bars_below.js",
        "browser_frame.js",
        "both_arcs.js",
        "compared_side.js",
        "follow_table.js",
        "heads_compared.js",
    )
    css = ("heatmap.css", "heads_compared.css")
    root = "mha-compare"
    settings = ("sentence", "shuffle", "count")

    sentence = Text(EXAMPLE).tag(sync=True, echo_update=False)
    shuffle = traitlets.Int(0).tag(sync=True, echo_update=False)
    count = traitlets.Bool(False).tag(sync=True, echo_update=False)
    left = traitlets.List(traitlets.Int(), [1, 1]).tag(sync=True)
    right = traitlets.List(traitlets.Int(), [1, 2]).tag(sync=True)
    example = Text(EXAMPLE).tag(sync=True)
    reads = traitlets.Bool(True).tag(sync=True)

    def __init__(
        self,
        maps_or_source: Source,
        left: tuple[int, int] = (1, 1),
        right: tuple[int, int] = (1, 2),
        sentence: str = EXAMPLE,
        control: Source | None = None,
        sentences: Iterable[Sequence[str]] | None = None,
        seed: int = 0,
        counts: object | None = None,
        shuffle: int = 0,
        count: bool = False,
    ) -> None:
        if hasattr(maps_or_source, "pieces"):
            maps_or_source = maps_or_source.pieces()
        fixed = isinstance(maps_or_source, AttentionMaps)
        self._maps = checked(maps_or_source) if fixed else None
        if fixed and control is not None:
            raise TypeError(
                "control: maps can't be compared with another model; give a source that reads words."
            )
        self._source = None if fixed else ReadingSource(maps_or_source)
        self._control = None if control is None else ReadingSource(control)
        self._sentences = None if sentences is None else [list(words) for words in sentences]
        self._seed = int(seed)
        self._counted: dict[object, Followed] = {}
        first = self._maps if fixed else self._source.read(tokenize(EXAMPLE))
        for layer, head in (left, right):
            check_head(first, layer, head)
        self._recorded = counts
        if counts is not None and counts.trained.asked.shape != first.weights.shape[:2]:
            sizes = tuple(counts.trained.asked.shape), tuple(first.weights.shape[:2])
            raise ValueError(f"counts are of {sizes[0]} layers and heads, the maps of {sizes[1]}.")
        super().__init__(
            sentence=" ".join(self._maps.query_tokens) if fixed else str(sentence),
            shuffle=0 if fixed else int(shuffle),
            count=counts is not None or (bool(count) and not fixed),
            left=[int(i) for i in left],
            right=[int(i) for i in right],
            reads=not fixed,
        )

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """The maps in the order on show, and before the shuffle what each row answers; counts of both."""
        header: dict[str, object] = {"notices": [], "unknown": [], "order": None, "over": None, "marks": None}
        if self._recorded is not None:
            header["over"] = self._as_recorded()
        if self._source is None:
            return self._answer(header, self._maps)
        words, found = self._read()
        if found > len(words):
            header["notices"].append([f"{found} tokens, {MAX_TOKENS} are read", "The rest is left out."])
        if not words:
            self.alt = "Two heads compared, without a sentence: no maps."
            return {**header, "maps": None}, b""
        try:
            maps = self._source.read(words)
            header["unknown"] = self._source.unknown(words)
            if self.shuffle > 0 and len(words) > 1:
                maps, header = self._shuffled(words, maps, header)
            if self.count and self._recorded is None:
                header["over"] = self._counts(words)
        except ValueError as refused:
            self.alt = f"Two heads compared, without maps. {refused}"
            return {**header, "maps": None, "refused": readable(str(refused))}, b""
        return self._answer(header, checked(maps))

    def still_png(self) -> bytes | None:
        """The two maps side by side, in the order on show; None without a sentence."""
        from mha_course.plots import head_grid

        maps = self._maps if self._source is None else self._shown_maps()
        if maps is None:
            return None
        chosen = [maps.weights[layer - 1, head - 1] for layer, head in (self.left, self.right)]
        names = [f"layer {layer}, head {head}" for layer, head in (self.left, self.right)]
        note = f"Left: {names[0]}. Right: {names[1]}."
        both = AttentionMaps(
            torch.stack(chosen)[None], maps.query_tokens, maps.key_tokens, allowed=maps.allowed
        )
        return head_grid(both, title="Two heads compared", note=note, spread=False).png()

    def _shown_maps(self) -> AttentionMaps | None:
        words, _ = self._read()
        if not words or self.answer.get("maps") is None:
            return None
        order = self.answer["order"]
        return checked(self._source.read(words if order is None else [words[i] for i in order]))

    def _shuffled(
        self, words: list[str], maps: AttentionMaps, header: dict[str, object]
    ) -> tuple[AttentionMaps, dict[str, object]]:
        """The maps of the new order; where either rule puts the answer of each row, in the new order."""
        order = shuffled_order(len(words), self._seed + self.shuffle)
        after = self._source.read([words[i] for i in order])
        old, new = over_words(maps, words), over_words(after, [words[i] for i in order])
        told = expected(old, order, words)
        before = old.argmax(-1)[..., order]
        marks = {"place": told.place[..., order], "word": told.word[..., order], "before": before}
        header |= {
            "order": order,
            "words": [readable(word) for word in words],
            "marks": {name: places.tolist() for name, places in marks.items()},
            "here": _as_lists(followed(old, new, order, words)),
            "unknown": [order.index(i) for i in header["unknown"]],
        }
        return after, header

    def _counts(self, words: list[str]) -> dict[str, object]:
        """What every head follows over many shuffles, for the source and its control."""
        sentences = [words] * SHUFFLES if self._sentences is None else self._sentences
        key = tuple(words) if self._sentences is None else ""
        found = {}
        for name, source in (("model", self._source), ("control", self._control)):
            if source is None:
                continue
            if (name, key) not in self._counted:
                self._counted[name, key] = followed_over(source.read, sentences, self._seed)
            found[name] = _as_lists(self._counted[name, key])
        return {**found, "sentences": len(sentences), "same": self._sentences is None}

    def _as_recorded(self) -> dict[str, object]:
        found = {"model": _as_lists(self._recorded.trained), "control": _as_lists(self._recorded.untrained)}
        return {**found, "sentences": self._recorded.sentences, "same": False}

    def _answer(self, header: dict[str, object], maps: AttentionMaps) -> tuple[Mapping[str, object], bytes]:
        one, payload = packed(maps)
        self.alt = self._in_words(header, one)
        return {**header, "maps": {**one, "kind": maps.kind, "label": "", "offset": 0}}, payload

    def _in_words(self, header: Mapping[str, object], one: Mapping[str, object]) -> str:
        parts = []
        for layer, head in (self.left, self.right):
            spread = one["spread"][layer - 1][head - 1]
            parts.append(f"layer {layer} head {head}, spread {spread:.2f}")
        order = ", its words shuffled" if header["order"] else ""
        return f"Two heads on one sentence of {len(one['queries'])} tokens{order}: {parts[0]}; {parts[1]}."

    def _read(self) -> tuple[list[str], int]:
        tokens = self._source.spelled(tokenize(self.sentence[:MAX_CHARACTERS]))
        return tokens[:MAX_TOKENS], len(tokens)


def _as_lists(found: Followed) -> dict[str, list]:
    """Counts as nested lists (layers, heads), and each head's verdict."""
    layers, heads = found.asked.shape
    names = ("asked", "place", "word", "itself", "rows")
    lists: dict[str, list] = {name: getattr(found, name).tolist() for name in names}
    for name in ("place_chance", "word_chance"):
        lists[name] = (getattr(found, name) / found.asked.clamp(min=1)).double().tolist()
    lists["verdict"] = [[found.verdict(i, j) for j in range(heads)] for i in range(layers)]
    return lists
