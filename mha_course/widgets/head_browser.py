"""HeadBrowser: every head of every layer at once, each one click away from its large map."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from mha_course.attention_maps import AttentionMaps
from mha_course.transformer.whole import TransformerMaps
from mha_course.widgets.base import CourseWidget
from mha_course.widgets.browser_numbers import KINDS, check_head, in_words, maps_by_kind, packed
from mha_course.widgets.browser_still import still_of_all_heads

__all__ = ["HeadBrowser"]


class HeadBrowser(CourseWidget):
    """All heads of all layers on one sentence as small maps, one of them enlarged on a click.

    maps: AttentionMaps, or TransformerMaps, whose three kinds (encoder, decoder, cross) can be chosen.
    kind: which one to begin with; None takes the first. layer, head, traits: the chosen head, from 1. zoom, a
    trait: whether it is enlarged. The view needs no kernel once it is there.

    Weights reach the page as whole numbers, 4095 for 1 where there are few, 255 for 1 where there are many:
    `rounding` says which. At most 128 tokens a side are shown; the picture says when there are more.
    Raises: TypeError for anything but maps; ValueError for an unknown kind, a layer or head that there isn't,
    and for maps without a head or a token.
    """

    js = (
        "token_labels.js",
        "hatch.js",
        "heatmap.js",
        "tooltip.js",
        "arcs.js",
        "bars_below.js",
        "pair_arcs.js",
        "browser_frame.js",
        "browser_layout.js",
        "browser_overview.js",
        "browser_words.js",
        "browser_zoom.js",
        "head_browser.js",
    )
    css = ("heatmap.css", "head_browser.css")
    root = "mha-browse"
    settings = ()

    kind = traitlets.Unicode().tag(sync=True)
    layer = traitlets.Int(1).tag(sync=True)
    head = traitlets.Int(1).tag(sync=True)
    zoom = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        maps: AttentionMaps | TransformerMaps,
        kind: str | None = None,
        layer: int = 1,
        head: int = 1,
        zoom: bool = False,
    ) -> None:
        self.maps = maps_by_kind(maps)
        if kind is not None and kind not in self.maps:
            raise ValueError(f"kind={kind!r} must be one of {', '.join(self.maps)}.")
        kind = next(iter(self.maps)) if kind is None else kind
        check_head(self.maps[kind], layer, head)
        self._packed = {name: packed(one) for name, one in self.maps.items()}
        super().__init__(kind=kind, layer=int(layer), head=int(head), zoom=bool(zoom))

    @property
    def rounding(self) -> float:
        """The largest difference between a weight on the page and the model's own: half a step."""
        return max(0.5 / (2 ** header["bits"] - 1) for header, _ in self._packed.values())

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """All kinds: tokens, sizes and numbers of each head; weights of 12 or 8 bits, then masks."""
        kinds, parts, offset = [], [], 0
        for name, (header, payload) in self._packed.items():
            kinds.append({**header, "kind": name, "label": KINDS.get(name, name), "offset": offset})
            parts.append(payload)
            offset += len(payload)
        self.alt = in_words(self.maps)
        return {"kinds": kinds}, b"".join(parts)

    def still_png(self) -> bytes | None:
        """All heads of the kind on show, as one picture."""
        return still_of_all_heads(self.maps[self.kind])
