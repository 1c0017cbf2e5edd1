"""The still picture of a HeadBrowser: all heads of all layers on one scale, put together as a single image.

Many heads are painted pixel by pixel: a figure of 144 maps would take longer than the live picture.
"""

from __future__ import annotations

import io
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mha_course.attention_maps import AttentionMaps
from mha_course.theme import colours, head_colour, sequential, text_on
from mha_course.widgets.browser_numbers import allowed_cells

FEW_HEADS = 16  # up to here the maps are large enough to be drawn one by one, with their labels
NOTHING = 0.004
SHADES = 32  # a step of 1/31 is as fine as an eye tells apart here, and makes a small file
# Two device pixels a CSS pixel, so all sizes here are twice those on the page.
_LEFT, _TOP, _GAP, _PADDING, _WIDEST = 124, 96, 12, 32, 1676


def still_of_all_heads(maps: AttentionMaps) -> bytes:
    """The maps of every head as PNG bytes, two pixels for each CSS pixel."""
    if maps.n_layers * maps.n_heads <= FEW_HEADS:
        from mha_course.plots import head_grid

        title = f"{maps.n_layers} layers of {maps.n_heads} heads"
        return head_grid(maps, title=title, spread=False).png()
    picture = _painted(maps)
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=6)
    return file.getvalue()


def _painted(maps: AttentionMaps) -> Image.Image:
    n_q, n_k = maps.weights.shape[-2:]
    room = (_WIDEST - 2 * _PADDING - _LEFT) / maps.n_heads - _GAP
    # Whole pixels a cell: every cell of a map is as wide as the next one.
    size = max(1, int(min(room, 220) / max(n_q, n_k)))
    pitch_x, pitch_y = size * n_k + _GAP, size * n_q + _GAP
    left, top = _PADDING + _LEFT, _PADDING + _TOP
    width = max(left + maps.n_heads * pitch_x + _PADDING, 900)
    height = top + maps.n_layers * pitch_y + _PADDING
    names, ramp = colours("light"), sequential("light")
    palette = [ramp[round(255 * i / (SHADES - 1))] for i in range(SHADES)]
    place = {name: SHADES + i for i, name in enumerate(("edge", "ink", "ink2"))}
    palette += [names[name] for name in place]
    heads = [head_colour(i) for i in range(min(12, maps.n_heads))]
    palette += [*heads, "#000000", "#FFFFFF"]
    image = np.zeros((height, width), dtype=np.uint8)  # 0 is the surface
    weights = maps.weights.cpu().numpy()
    shade = np.where(weights < NOTHING, 0, np.round((SHADES - 1) * weights)).astype(np.uint8)
    hatched = _hatch(maps, size)
    for layer in range(maps.n_layers):
        for head in range(maps.n_heads):
            x, y = left + head * pitch_x, top + layer * pitch_y
            image[y - 1 : y + size * n_q + 1, x - 1 : x + size * n_k + 1] = place["edge"]
            box = shade[layer, head].repeat(size, axis=0).repeat(size, axis=1)
            image[y : y + size * n_q, x : x + size * n_k] = np.where(hatched, place["edge"], box)
    picture = Image.fromarray(image, mode="P")
    picture.putpalette(bytes.fromhex("".join(colour.removeprefix("#") for colour in palette)))
    pen = ImageDraw.Draw(picture)
    pen.fontmode = "1"  # letters in one colour: a palette has no shades between
    font, small = (_font(points) for points in (26, 20))
    pen.text((_PADDING, _PADDING - 6), f"{maps.n_layers} layers x {maps.n_heads} heads", place["ink"], font)
    axes = f"rows: {n_q} queries, columns: {n_k} keys, white 0, dark 1"
    pen.text((_PADDING + 330, _PADDING - 2), axes, place["ink2"], small)
    for head in range(maps.n_heads):
        x, y = left + head * pitch_x + size * n_k / 2, top - 28
        colour = head % 12
        pen.rounded_rectangle((x - 16, y - 16, x + 16, y + 16), 8, fill=SHADES + 3 + colour)
        letters = palette.index(text_on(heads[colour]), SHADES + 3 + len(heads))
        pen.text((x, y), str(head + 1), letters, small, anchor="mm")
    for layer in range(maps.n_layers):
        y = top + layer * pitch_y + size * n_q / 2
        pen.text((left - 16, y), f"layer {layer + 1}", place["ink2"], small, anchor="rm")
    return picture


@cache
def _font(points: int) -> ImageFont.FreeTypeFont:
    return ImageFont.load_default(points)


def _hatch(maps: AttentionMaps, size: int) -> np.ndarray:
    """Pixels of a map that are a hatch line: at 45 degrees, over cells that may not be used."""
    allowed = allowed_cells(maps)
    shape = [size * n for n in maps.weights.shape[-2:]]
    if allowed is None:
        return np.zeros(shape, dtype=bool)
    blocked = (~allowed.numpy()).repeat(size, axis=0).repeat(size, axis=1)
    rows, columns = np.indices(shape)
    return blocked & ((rows + columns) % 16 < 2)
