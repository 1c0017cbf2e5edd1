"""Fonts for still pictures: which installed font holds a character, and what to draw where none does."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.ft2font import LoadFlags

TEXT_FAMILIES = ("Segoe UI", "Helvetica Neue", "Noto Sans", "DejaVu Sans")
CODE_FAMILIES = ("Cascadia Mono", "Menlo", "Noto Sans Mono", "DejaVu Sans Mono")

# Looked through first, so that Chinese isn't set in some odd font that also happens to hold it.
_PREFERRED = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans",
    "Hiragino Sans GB",
    "Yu Gothic",
    "Malgun Gothic",
    "Apple SD Gothic Neo",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Noto Sans KR",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Nirmala UI",
    "Kohinoor Devanagari",
    "Lohit Devanagari",
    "Segoe UI Emoji",
    "Segoe UI Symbol",
    "Noto Emoji",
    "Arial Unicode MS",
)
# It has a box for every character there is: the very thing that must not be drawn.
_LAST_RESORT = "Last Resort"

_JOINERS = {0x200C, 0x200D, *range(0xFE00, 0xFE10)}
_SKIN_TONES = range(0x1F3FB, 0x1F400)


@dataclass(frozen=True)
class Drawable:
    """A text as it can be drawn: the text itself, the font families that hold it, and whether
    escapes such as U+1F389 stand for characters that no installed font can draw."""

    text: str
    families: tuple[str, ...]
    has_stand_in: bool


def drawable(text: str, code: bool = False, bold: bool = False) -> Drawable:
    """The text with fonts that hold all of it; characters without a font become escapes like U+1F389."""
    return _drawable(text, code, bold, _fonts_installed())


def is_east_asian(char: str) -> bool:
    """True for characters that fill a square and are never turned: Chinese, Japanese, Korean."""
    return unicodedata.east_asian_width(char) in "WF" and not is_emoji(char)


def is_emoji(char: str) -> bool:
    """True for pictographs and the parts of flags."""
    return 0x1F000 <= ord(char) <= 0x1FAFF or 0x2600 <= ord(char) <= 0x27BF


def _fonts_installed() -> int:
    """Changes when a font is added, so that cached answers don't outlive their reason."""
    return len(fontManager.ttflist)


@lru_cache(maxsize=4096)
def _drawable(text: str, code: bool, bold: bool, fonts_installed: int) -> Drawable:
    base = _base_families(code, fonts_installed)
    families = list(base)
    drawn: list[str] = []
    stand_in = joined = False
    for char in text:
        point = ord(char)
        if not char.isprintable() and point not in _JOINERS:
            # Control and direction characters would act on the text around them.
            family = None
        elif any(_holds(known, point, bold, fonts_installed) for known in families):
            drawn.append(char)
            joined = False
            continue
        elif point in _JOINERS or (point in _SKIN_TONES and drawn):
            joined = joined or point == 0x200D
            continue
        else:
            family = _family_holding(point, bold, fonts_installed)
        if family is not None:
            families.append(family)
            drawn.append(char)
        elif joined and drawn and drawn[-1].startswith("U+"):
            # One picture made of several: name the first, the dots say that there is more.
            drawn[-1] = drawn[-1].rstrip("…") + "…"
        else:
            drawn.append(f"U+{point:04X}")
            stand_in = True
        joined = False
    spaced = (f" {part} " if part.startswith("U+") and len(part) > 2 else part for part in drawn)
    shown = "".join(spaced) if stand_in else "".join(drawn)
    return Drawable(shown.strip() if stand_in else shown, tuple(families), stand_in)


@lru_cache(maxsize=8)
def _base_families(code: bool, fonts_installed: int) -> tuple[str, ...]:
    """The first installed family of our list; a family that isn't there would flood stderr."""
    installed = set(fontManager.get_font_names())
    wanted = CODE_FAMILIES if code else TEXT_FAMILIES
    first = next((name for name in wanted if name in installed), wanted[-1])
    # Both DejaVu fonts come with Matplotlib and hold arrows, ticks and marks that others lack.
    return tuple(dict.fromkeys((first, wanted[-1], "DejaVu Sans")))


@lru_cache(maxsize=1024)
def _family_holding(point: int, bold: bool, fonts_installed: int) -> str | None:
    installed = {name for name in fontManager.get_font_names() if not name.startswith(_LAST_RESORT)}
    ordered = [name for name in _PREFERRED if name in installed]
    ordered += sorted(installed - set(ordered))
    return next((name for name in ordered if _holds(name, point, bold, fonts_installed)), None)


@lru_cache(maxsize=16384)
def _holds(family: str, point: int, bold: bool, fonts_installed: int) -> bool:
    """Whether the font file behind the family has an outline for the character."""
    try:
        font = get_font(findfont(_properties(family, bold), fallback_to_default=False))
        if not font.scalable or not font.get_char_index(point):
            return False
        # Colour fonts list emoji whose outlines are empty: Agg would draw nothing.
        glyph = font.load_char(point, LoadFlags.NO_HINTING)
    except (ValueError, RuntimeError, OSError):
        return False
    return (
        chr(point).isspace() or point in _JOINERS or glyph.width > 0 or unicodedata.combining(chr(point)) > 0
    )


@lru_cache(maxsize=256)
def _properties(family: str, bold: bool) -> FontProperties:
    return FontProperties(family=[family], weight="bold" if bold else "normal")


def font_for(text: str, size: float, bold: bool = False, code: bool = False) -> tuple[str, FontProperties]:
    """The drawable text and its font. size: CSS px, 100 to the inch. Stand-ins make the text smaller."""
    shown = drawable(text, code, bold)
    if shown.has_stand_in:
        size = min(size, max(9.0, 0.8 * size))
    return shown.text, _sized(shown.families, round(0.72 * size, 3), bold)


@lru_cache(maxsize=1024)
def _sized(families: tuple[str, ...], points: float, bold: bool) -> FontProperties:
    return FontProperties(family=list(families), size=points, weight="bold" if bold else "normal")
