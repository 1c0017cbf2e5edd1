"""Small PNG files: a figure's pixels with a palette instead of three bytes each."""

from __future__ import annotations

import io

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

_PALETTE_SIZE = 256


def encode(figure: Figure) -> bytes:
    """The figure as a PNG with at most 256 colours.

    The most frequent colours (ground, cells, lines) are kept exactly; only rare in-between shades of
    letters' edges move to their nearest neighbour. Lessons hold many pictures, and this makes each
    about a third as large.
    """
    figure.canvas.draw()
    rgb = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    packed = rgb[..., 0].astype(np.uint32) << 16
    packed |= rgb[..., 1].astype(np.uint32) << 8
    packed |= rgb[..., 2]
    colours, counts = _colours(packed)
    kept = colours[np.argsort(-counts, kind="stable")[:_PALETTE_SIZE]]
    palette = _unpack(kept)
    index_of = np.zeros(1 << 24, dtype=np.uint8)
    index_of[colours] = _nearest(_unpack(colours), palette)
    image = Image.fromarray(index_of[packed], mode="P")
    image.putpalette(palette.astype(np.uint8).tobytes())
    file = io.BytesIO()
    dpi = figure.dpi
    image.save(file, "PNG", optimize=False, compress_level=9, dpi=(dpi, dpi))
    return file.getvalue()


def _colours(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The colours of the picture and how often each occurs."""
    flat = packed.ravel()
    # Flat areas are long runs: counting runs first leaves little to sort.
    starts = np.flatnonzero(np.concatenate(([True], flat[1:] != flat[:-1])))
    lengths = np.diff(np.append(starts, flat.size))
    colours, inverse = np.unique(flat[starts], return_inverse=True)
    return colours, np.bincount(inverse, weights=lengths)


def _unpack(packed: np.ndarray) -> np.ndarray:
    return np.stack([packed >> 16, (packed >> 8) & 255, packed & 255], axis=-1).astype(np.float32)


def _nearest(colours: np.ndarray, palette: np.ndarray) -> np.ndarray:
    distance = (palette**2).sum(axis=1) - 2 * colours @ palette.T
    return distance.argmin(axis=1).astype(np.uint8)
