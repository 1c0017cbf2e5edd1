"""The numbers and blocks behind the drawings of the layer: one small layer, really traced."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch.nn import functional as F

from mha_course import theme as themes
from mha_course.layers import AttentionTrace, MultiHeadAttention
from mha_course.plots.attention_map import rgb_table
from mha_course.plots.canvas import Canvas

N, D_MODEL, H = 5, 12, 3
CELL = 5.0


@lru_cache(maxsize=1)
def small_trace() -> tuple[torch.Tensor, AttentionTrace]:
    """A layer of d_model = 12 and h = 3 traced over five tokens, always the same numbers."""
    generator = torch.Generator().manual_seed(7)
    # A student's own random numbers must come out the same with or without this drawing.
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        layer = MultiHeadAttention(D_MODEL, H)
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / D_MODEL**0.5)
        x = 1.5 * torch.randn(1, N, D_MODEL, generator=generator)
        return x, layer.trace(x)


def shades(values: np.ndarray, least: float = 0.22) -> np.ndarray:
    """Sizes of numbers as strengths from `least` to 1."""
    size = np.abs(values)
    return least + (1 - least) * size / (size.max() or 1.0)


def tinted(strength: np.ndarray, colours: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """Colours mixed into the ground: strength (rows, columns), colours (rows, columns, 3) or (3,)."""
    return ground + (colours - ground) * strength[..., None]


def grid(canvas: Canvas, x: float, y: float, rgb: np.ndarray, ground: str, frame: bool = False) -> None:
    """A block of cells whose upper left corner is (x, y), with hairlines in the ground's colour."""
    rows, columns = rgb.shape[:2]
    x, y, width, height = round(x), round(y), columns * CELL, rows * CELL
    canvas.cells(x, y, width, height, np.round(rgb))
    _hairlines(canvas, x, y, rows, columns, ground)
    if frame:
        canvas.rect(x - 0.5, y - 0.5, width + 1, height + 1, edge="edge", stroke=0.75, z=2)


def _hairlines(canvas: Canvas, x: float, y: float, rows: int, columns: int, ground: str) -> None:
    across = [((x, y + i * CELL), (x + columns * CELL, y + i * CELL)) for i in range(1, rows)]
    down = [((x + j * CELL, y), (x + j * CELL, y + rows * CELL)) for j in range(1, columns)]
    canvas.lines(across + down, ground, 0.75, z=1.5)


def head_rgb(theme: themes.Theme) -> np.ndarray:
    """Colours of the three heads, (3, 3)."""
    return rgb_table([themes.head_colour(i, theme) for i in range(H)]).astype(float)


def mixed(
    canvas: Canvas, middle: float, y: float, trace: AttentionTrace, strength: float, ground: str
) -> None:
    """The output: each cell in stripes, one a head, as strong as that head's share of the number."""
    shares = trace.contributions[0]
    stripes = shades(
        shares.permute(1, 0, 2).reshape(N * H, D_MODEL).numpy(), 0.2 if canvas.theme == "light" else 0.5
    )
    heads = np.tile(head_rgb(canvas.theme), (N, 1))[:, None]
    back = rgb_table([canvas.colour(ground)])[0].astype(float)
    rgb = tinted(strength * stripes, np.broadcast_to(heads, (*stripes.shape, 3)), back)
    left, top = round(middle - D_MODEL * CELL / 2), round(y)
    canvas.cells(left, top, D_MODEL * CELL, N * CELL, np.round(rgb))
    _hairlines(canvas, left, top, N, D_MODEL, ground)


def block_outputs() -> tuple[torch.Tensor, torch.Tensor]:
    """What stands after the first and after the second add and norm of a small block, each (n, d_model)."""
    x, trace = small_trace()
    generator = torch.Generator().manual_seed(11)
    first = F.layer_norm(x[0] + trace.output[0], (D_MODEL,))
    wide = torch.relu(first @ torch.randn(D_MODEL, 4 * D_MODEL, generator=generator))
    inner = wide @ torch.randn(4 * D_MODEL, D_MODEL, generator=generator) / 12
    return first, F.layer_norm(first + inner, (D_MODEL,))
