"""A line of text in whatever fonts this machine has, emoji in colour: for names no plain font can draw."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import regex
from matplotlib.font_manager import findSystemFonts, fontManager, get_font
from PIL import Image, ImageDraw, ImageFont

# Fonts of coloured bitmaps know a few sizes only; the large ones are scaled down.
_BITMAP_SIZES = (109, 136, 160, 128, 96, 64)
_RIGHT_TO_LEFT = regex.compile(r"\p{bc=R}|\p{bc=AL}")
_LEFT_TO_RIGHT = regex.compile(r"\p{bc=L}")
_JOINS = {0x200C, 0x200D, *range(0xFE00, 0xFE10)}


def image_of(text: str, size: int, colour: str, ground: str) -> np.ndarray | None:
    """The text as pixels (rows, columns, 3), `size` to a letter's height with room above and below.

    None when some of it is in no font of this machine.
    """
    runs = _runs(text)
    if runs is None:
        return None
    pieces = [_piece(run, path, size, colour) for run, path in runs]
    if _reads_right_to_left(text):
        pieces.reverse()
    line = Image.new("RGBA", (max(1, sum(piece.width for piece in pieces)), 2 * size), ground)
    x = 0
    for piece in pieces:
        line.alpha_composite(piece, (x, 0))
        x += piece.width
    return np.asarray(line.convert("RGB"))


def _runs(text: str) -> list[tuple[str, str]] | None:
    """The text cut where the font changes, each part with the file of its font."""
    runs: list[tuple[str, str]] = []
    for letter in regex.findall(r"\X", text):
        points = frozenset(ord(char) for char in letter) - _JOINS
        # A blank stays in the font before it, so that words keep their order, but a picture's is too wide.
        stays = letter.isspace() and runs and runs[-1][1] not in _colour_fonts()
        path = runs[-1][1] if stays else _file_with(points, _is_picture(letter))
        if path is None:
            return None
        if runs and runs[-1][1] == path:
            runs[-1] = (runs[-1][0] + letter, path)
        else:
            runs.append((letter, path))
    return runs


def _is_picture(letter: str) -> bool:
    return bool(regex.search(r"\p{Emoji_Presentation}|\ufe0f", letter))


@lru_cache(maxsize=512)
def _file_with(points: frozenset[int], picture: bool) -> str | None:
    """A font file that holds all these characters; for a picture one with colours first."""
    coloured, plain = _colour_fonts(), _plain_fonts()
    ordered = (*coloured, *plain) if picture else (*plain, *coloured)
    return next((path for path in ordered if _holds(path, points)), None)


@lru_cache(maxsize=1)
def _colour_fonts() -> tuple[str, ...]:
    return tuple(sorted(path for path in findSystemFonts() if "emoji" in Path(path).name.lower()))


@lru_cache(maxsize=1)
def _plain_fonts() -> tuple[str, ...]:
    """The files of upright fonts for text: bold ones of DejaVu first, then any that could be bold or not."""
    upright = [font for font in fontManager.ttflist if font.style == "normal" and font.stretch == "normal"]
    sound = [font for font in upright if not font.name.startswith(("Last Resort", "STIX", "cm"))]

    def order(font: object) -> tuple[bool, bool, str, str]:
        weight = font.weight if isinstance(font.weight, int) else 700 if font.weight == "bold" else 400
        return (font.name != "DejaVu Sans", weight < 500 or weight > 700, font.name, font.fname)

    return tuple(dict.fromkeys(font.fname for font in sorted(sound, key=order)))


def _holds(path: str, points: frozenset[int]) -> bool:
    try:
        font = get_font(path)
        return all(font.get_char_index(point) for point in points)
    except (OSError, RuntimeError, ValueError):
        return False


def _piece(run: str, path: str, size: int, colour: str) -> Image.Image:
    """One run on a clear ground, 2 x size high, its base line at 1.4 of the size."""
    try:
        font = ImageFont.truetype(path, size)
    except OSError:
        return _picture(run, path, size)
    width = max(1, round(font.getlength(run)))
    piece = Image.new("RGBA", (width, 2 * size), (0, 0, 0, 0))
    draw = ImageDraw.Draw(piece)
    draw.text((0, round(1.4 * size)), run, font=font, fill=colour, anchor="ls", embedded_color=True)
    return piece


def _picture(run: str, path: str, size: int) -> Image.Image:
    """Coloured bitmaps, scaled so that they stand a little above and below the letters."""
    for known in _BITMAP_SIZES:
        try:
            font = ImageFont.truetype(path, known)
            break
        except OSError:
            continue
    else:
        raise OSError(f"{path} can be drawn in no known size")
    left, top, right, bottom = font.getbbox(run)
    drawn = Image.new("RGBA", (max(1, right - left), max(1, bottom - top)), (0, 0, 0, 0))
    ImageDraw.Draw(drawn).text((-left, -top), run, font=font, embedded_color=True)
    high = round(1.15 * size)
    wide = max(1, round(drawn.width * high / drawn.height))
    piece = Image.new("RGBA", (wide, 2 * size), (0, 0, 0, 0))
    piece.alpha_composite(
        drawn.resize((wide, high), Image.Resampling.LANCZOS), (0, round(1.55 * size) - high)
    )
    return piece


def _reads_right_to_left(text: str) -> bool:
    """Whether the first letter with a direction runs from right to left."""
    right, left = _RIGHT_TO_LEFT.search(text), _LEFT_TO_RIGHT.search(text)
    return right is not None and (left is None or right.start() < left.start())
