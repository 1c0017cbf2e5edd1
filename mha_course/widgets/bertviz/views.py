"""BertViz's head view and model view (Vig 2019) of the course's maps, inline, offline and sealed off."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from functools import cached_property

from mha_course.text.readable import readable
from mha_course.theme import colours
from mha_course.widgets.bertviz import page, still
from mha_course.widgets.bertviz.part_shown import MOST_HEADS, PartShown, part_shown

_HOW = {
    "head_view": "BertViz's head view (Vig 2019). Hover over a word on the left to see where it looks, on "
    "the right to see what looks at it. Click a numbered square to switch its head off or on, twice to have "
    "it alone.",
    "model_view": "BertViz's model view (Vig 2019): a row a layer, a column a head, a line as dark as its "
    "weight. Click a head to enlarge it, then hover over its words on the left.",
}
_ROUNDED = "Weights are rounded to three places."
_STILL = "A still picture. Run the cell for the live view of BertViz."
# The frame hides the still beside it only while it is there: an untrusted notebook loses frame and style
# sheet and keeps the still. Paper gets the still, too.
_STYLE = (
    ".mha-bertviz:has(iframe) .mha-bertviz-still{display:none!important}"
    ".mha-bertviz:has(iframe) .mha-bertviz-live{display:block!important}"
    '[data-jp-theme-light="false"] .mha-bertviz-dark,.vscode-dark .mha-bertviz-dark{display:block!important}'
    "@media print{.mha-bertviz:has(iframe) .mha-bertviz-still{display:block!important}"
    ".mha-bertviz:has(iframe) .mha-bertviz-live{display:none!important}}"
)


def bertviz_head_view(
    maps: object, layer: int = 1, heads: Sequence[int] | None = None, first: int = 0
) -> BertvizView:
    """BertViz's head view: one layer at a time, the words twice, a line for each weight, a colour a head.

    maps: AttentionMaps, or the TransformerMaps of an encoder-decoder. layer: the one shown at first, counted
    from 1. heads: those lit at first, counted from 1, None for all. first: index of the first token shown,
    when there are more than 24. With more than 12 layers or heads only 12 are shown: those around `layer`,
    and the `heads` named.
    Raises: ValueError for maps, a layer or a head that can't be shown; BertvizChanged (a RuntimeError) when
    the installed BertViz isn't the one that the course knows how to make safe.
    Source: Vig (2019), "A Multiscale Visualization of Attention in the Transformer Model".
    """
    part = part_shown(maps, None, None, first, layer)
    if heads is None:
        return BertvizView("head_view", part, layer, None)
    # The others stay in the view to be switched on, unless there are too many for it.
    lit = part_shown(maps, None, heads, first, layer)
    return BertvizView("head_view", part if part.of[1] <= MOST_HEADS else lit, layer, lit.heads)


def bertviz_model_view(
    maps: object,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    first: int = 0,
) -> BertvizView:
    """BertViz's model view: every head of every layer as a small picture; a click enlarges one.

    maps: AttentionMaps, or the TransformerMaps of an encoder-decoder. layers, heads: those shown, counted
    from 1, at most 12 each, None for the first 12. first: index of the first token shown, when there are
    more than 24. `HeadBrowser` shows the same at any size, and sooner.
    Raises: as `bertviz_head_view`.
    Source: Vig (2019), "A Multiscale Visualization of Attention in the Transformer Model".
    """
    part = part_shown(maps, layers, heads, first)
    return BertvizView("model_view", part, part.layers[0], None)


class BertvizView:
    """One view of BertViz as a notebook shows it: live in a sealed frame, or a still picture.

    page: the HTML inside the frame. height: of the frame in px. cut: sentences about what isn't shown.
    alt: what is seen, in words.
    """

    def __init__(self, view: str, part: PartShown, layer: int, lit: tuple[int, ...] | None) -> None:
        self._view, self._part, self._layer = view, part, layer
        self.page = page.page(view, part, layer, lit)
        self.height = page.height(view, part)
        self.cut = part.cut

    @property
    def name(self) -> str:
        """The name of the frame: what, of which attention, and how large."""
        part, what = self._part, self._view.replace("_", " ")
        kinds = "" if "self" in part.maps else " of encoder, decoder and cross-attention"
        sizes = f"{_counted(len(part.layers), 'layer')}, {_counted(len(part.heads), 'head')}"
        return f"BertViz {what}{kinds}: {sizes}"

    @cached_property
    def _stills(self) -> tuple[bytes, str]:
        drawn = still.pictures(self._view, self._part, self._layer)
        return still.joined([one.png() for one in drawn]), " ".join(one.alt for one in drawn)

    @property
    def alt(self) -> str:
        return f"{self.name}. {self._stills[1]}"

    def still_png(self) -> bytes:
        """The same weights as heatmaps, for where no frame can be shown."""
        return self._stills[0]

    def _repr_html_(self) -> str:
        ink = colours("light")
        png, alt = self._stills
        width = int.from_bytes(png[16:20], "big") // 2
        image = (
            f'<img alt="{_escaped(alt)}" width="{width}" style="max-width: 100%; height: auto" '
            f'src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}">'
        )
        # Only scripts are allowed in the frame: no form, no window, no way to the notebook or to its origin.
        frame = (
            f'<iframe title="{_escaped(self.name)}" sandbox="allow-scripts" width="100%" '
            f'height="{self.height}" style="display: block; border: 0; background: #fff" '
            f'srcdoc="{_escaped(self.page)}"></iframe>'
        )
        warned = "".join(
            f'<p style="margin: 4px 0 0; color: {ink["warn"]}">{"⚠ " if not i else ""}{_coded(words)}</p>'
            for i, words in enumerate(self.cut)
        )
        note = " ".join(
            (f"{still.NAMES[kind]}: " if kind in still.NAMES else "") + _sentence(maps.note)
            for kind, maps in self._part.maps.items()
            if maps.note.strip()
        )
        return (
            f"<style>{_STYLE}</style>"
            '<div class="mha-bertviz tex2jax_ignore mathjax_ignore" style="box-sizing: border-box; '
            f"max-width: 1010px; margin: 4px 0; border: 1px solid {ink['edge']}; border-radius: 10px; "
            f'overflow: hidden; background: {ink["surface"]}; color: {ink["ink"]}">'
            f'<div class="mha-bertviz-still" style="padding: 4px">{image}</div>'
            f'<div class="mha-bertviz-live" style="display: none">{frame}</div>'
            f'<div style="padding: 8px 12px 12px; border-top: 1px solid {ink["line"]}; font-size: 13px; '
            f"line-height: 18px; font-family: var(--jp-ui-font-family, system-ui), sans-serif; "
            f'color: {ink["ink2"]}">'
            f'<div class="mha-bertviz-still">{_STILL}</div>'
            # The still tells its own note, and its numbers are not rounded.
            f'<div class="mha-bertviz-live" style="display: none">{_HOW[self._view]}<br>'
            f"{_coded(' '.join(part for part in (note, self._sizes_words()) if part))}</div>"
            '<div class="mha-bertviz-dark" style="display: none">BertViz draws on white in every theme.</div>'
            f"{warned}</div></div>"
        )

    def _sizes_words(self) -> str:
        masked = any(maps.allowed is not None and not maps.allowed.all() for maps in self._part.maps.values())
        broken = sum(int(maps.weights.isnan().sum()) for maps in self._part.maps.values())
        return " ".join(
            [_ROUNDED]
            + ["What may not be looked at has no line."] * masked
            + [f"{broken} weights are NaN, not a number; they have no line."] * bool(broken)
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple[dict, dict]:
        png = base64.b64encode(self.still_png()).decode("ascii")
        data = {"text/plain": self.alt, "text/html": self._repr_html_(), "image/png": png}
        return data, {"image/png": {"alt": self.alt}}

    def __repr__(self) -> str:
        return self.name


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _sentence(words: str) -> str:
    words = words.strip()
    return words if words.endswith((".", "?", "!", "…")) else f"{words}."


def _escaped(text: str) -> str:
    """Text for an attribute in double quotes or between tags."""
    return html.escape(readable(text), quote=False).replace('"', "&quot;")


def _coded(words: str) -> str:
    """A sentence as HTML; what stands in backticks is code."""
    return re.sub(
        r"`([^`]*)`", r'<code style="padding: 0; background: none; color: inherit">\1</code>', _escaped(words)
    )
