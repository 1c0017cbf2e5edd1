"""Small PNG files: a figure's pixels with a palette instead of three bytes each."""

from __future__ import annotations

import io

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

_PALETTE_SIZE = 256
# A colour that fills at least this many pixels is a cell, a line or the ground, and is kept exactly ...
_FLAT = 150
_MOST_EXACT = 128
# ... while the in-between shades at the edges of letters may move by this much, of 255.
_TOLERANCE = 4.0


def encode(figure: Figure) -> bytes:
    """The figure as a PNG with at most 256 colours, a half to a third of the size of a full one.

    Lessons hold many pictures, each in light and dark, inside the notebook file.
    """
    figure.canvas.draw()
    rgb = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    packed = rgb[..., 0].astype(np.uint32) << 16
    packed |= rgb[..., 1].astype(np.uint32) << 8
    packed |= rgb[..., 2]
    colours, counts = _colours(packed)
    index, palette = _reduced(_unpack(colours), counts)
    index_of = np.zeros(1 << 24, dtype=np.uint8)
    index_of[colours] = index
    image = Image.fromarray(index_of[packed], mode="P")
    image.putpalette(palette.astype(np.uint8).tobytes())
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=6, dpi=(figure.dpi, figure.dpi))
    return file.getvalue()


def _colours(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The colours of the picture and how many pixels each fills."""
    flat = packed.ravel()
    # Flat areas are long runs: counting runs first leaves little to sort.
    starts = np.flatnonzero(np.concatenate(([True], flat[1:] != flat[:-1])))
    lengths = np.diff(np.append(starts, flat.size))
    colours, inverse = np.unique(flat[starts], return_inverse=True)
    return colours, np.bincount(inverse, weights=lengths)


def _reduced(colours: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each colour its place in a palette of at most 256, and that palette.

    Colours that fill areas come first and exactly. The others, most frequent first, join a chosen colour
    within the tolerance or become one themselves; the tolerance widens until the palette is large enough.
    """
    order = np.argsort(-counts, kind="stable")
    if len(order) <= _PALETTE_SIZE:
        return np.arange(len(colours)).astype(np.uint8), colours
    exact = order[:_MOST_EXACT][counts[order[:_MOST_EXACT]] >= _FLAT]
    # Pictures with very many shades would need several rounds: begin further up.
    tolerance = _TOLERANCE * (1 if len(order) < 1500 else 1.8)
    while True:
        chosen = list(exact)
        distance = _distances(colours, colours[exact]).min(axis=1)
        for i in order:
            if distance[i] > tolerance**2:
                chosen.append(i)
                if len(chosen) > _PALETTE_SIZE:
                    break
                distance = np.minimum(distance, ((colours - colours[i]) ** 2).sum(axis=1))
        if len(chosen) <= _PALETTE_SIZE:
            palette = colours[chosen]
            return _distances(colours, palette).argmin(axis=1).astype(np.uint8), palette
        tolerance *= 1.6


def _distances(colours: np.ndarray, palette: np.ndarray) -> np.ndarray:
    """Squared distances of every colour to every entry of the palette."""
    squares = (colours**2).sum(axis=1)[:, None] + (palette**2).sum(axis=1)
    return squares - 2 * colours @ palette.T


def _unpack(packed: np.ndarray) -> np.ndarray:
    return np.stack([packed >> 16, (packed >> 8) & 255, packed & 255], axis=-1).astype(np.float64)
