"""The page inside the frame: BertViz's view with its libraries, sealed off from everything else."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path

from torch import Tensor

from mha_course.theme import PALETTE
from mha_course.widgets.bertviz.mending import PATCHES, mended, mended_body
from mha_course.widgets.bertviz.part_shown import PartShown
from mha_course.widgets.bertviz.published import libraries, published, rounded
from mha_course.widgets.bertviz.token_texts import label, spelled

PADDING = 12
CHOICE_ROW = 32
# No address can be reached from inside, whatever runs there.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
_WIDGETS = Path(__file__).parents[1]


def page(view: str, part: PartShown, layer: int, lit: tuple[int, ...] | None) -> str:
    """A whole HTML page with BertViz's "head_view" or "model_view", light, offline, safe for any words.

    layer: the one shown at first, counted from 1; lit: the heads lit at first, None for all.
    Raises: BertvizChanged when the installed BertViz isn't the one whose output is known.
    """
    weights = {kind: rounded(maps.weights) for kind, maps in part.maps.items()}
    found = published(view, weights)
    before, after = found.script
    head, tail = mended(f"{before}\0{after}", PATCHES[view]).split("\0")
    params = _filled(found.params, part, weights, view, layer, lit)
    script = f"const mha = bertvizPage({_settings(part)});\n{head}{in_script(params)}{tail}"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>BertViz</title><style>{_file('css')}</style></head><body>{mended_body(found.body)}"
        f"<script>{libraries()}</script><script>{_file('js')}{script}</script></body></html>"
    )


def height(view: str, part: PartShown) -> int:
    """The height of that page in px, by the sizes that BertViz's code uses."""
    layers, heads = len(part.layers), len(part.heads)
    most = max(max(maps.weights.shape[-2:]) for maps in part.maps.values())
    if view == "head_view":
        picture, choice = most * 22.5 + 30, True
    else:
        row = most * min(14, 7 * 12 / heads) + 10
        picture, choice = max(layers * row + 38, most * 18 + 55), len(part.maps) > 1
    return math.ceil(picture) + (CHOICE_ROW if choice else 0) + 2 * PADDING


def in_script(value: object) -> str:
    """JSON that can stand inside a `<script>`: no `<`, `>` or `&`, no line separator, ASCII only."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _filled(
    params: dict,
    part: PartShown,
    weights: dict[str, Tensor],
    view: str,
    layer: int,
    lit: tuple[int, ...] | None,
) -> dict:
    """BertViz's parameters with the words in their places, and layers and heads numbered from 1."""
    filled = dict(params, include_layers=part.layers, head_numbers=part.heads)
    filled["attention"] = [
        {
            **given,
            "attn": _short(weights[kind].tolist()),
            "left_text": [carried(token) for token in part.maps[kind].query_tokens],
            "right_text": [carried(token) for token in part.maps[kind].key_tokens],
        }
        for given, kind in zip(params["attention"], part.maps, strict=True)
    ]
    if view == "head_view":
        return filled | {"layer": layer, "heads": lit and [part.heads.index(head) for head in lit]}
    return filled | {"display_mode": "light", "include_heads": part.heads, "total_heads": len(part.heads)}


def carried(token: str) -> str:
    """The token as JSON can carry it to a browser: the very text, except for halves of surrogate pairs."""
    return token.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _settings(part: PartShown) -> str:
    """What js/bertviz_page.js needs to know: colours, and labels and tooltips where they differ."""
    tokens = {token for maps in part.maps.values() for token in (*maps.query_tokens, *maps.key_tokens)}
    texts = [(carried(token), label(token), spelled(token)) for token in sorted(tokens)]
    return in_script(
        {
            "padding": PADDING,
            "colours": PALETTE["head"]["light"],
            "labels": [(text, shown) for text, shown, _ in texts if shown != text],
            "spelled": [(text, told) for text, _, told in texts if told != text],
        }
    )


def _short(value: object) -> object:
    """The same numbers, whole ones without a point: most weights are near zero."""
    if isinstance(value, list):
        return [_short(item) for item in value]
    return int(value) if value in (0.0, 1.0) else value


@lru_cache(maxsize=2)
def _file(kind: str) -> str:
    return (_WIDGETS / kind / f"bertviz_page.{kind}").read_text(encoding="utf-8")
